"""How Onyx names ports: by the number of the panel port, the same on every model."""

import re
from functools import lru_cache

from nodrop.model.fabric import Port

_PORT_NAME_PATTERN = re.compile(r"Eth[0-9]{1,2}/([1-9][0-9]{0,2})(?:/([1-9][0-9]?))?")


@lru_cache(maxsize=65536)
def onyx_port(name: str) -> Port | None:
    """Return the port that an Onyx name means: Eth1/3, or Eth1/3/2 for its second part; None for other names."""
    match = _PORT_NAME_PATTERN.fullmatch(name)
    return Port(int(match[1]), int(match[2] or 1) - 1) if match else None
