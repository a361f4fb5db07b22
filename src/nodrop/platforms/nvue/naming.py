"""How NVUE names ports: by the number of the panel port, the same on every model."""

import re
from functools import lru_cache
from typing import NamedTuple

from nodrop.model.fabric import Port

_PORT_NAME_PATTERN = re.compile(r"swp([1-9][0-9]{0,3})(?:s([0-9]{1,2}))?")


class ParsedPortName(NamedTuple):
    """The content of an NVUE name: the port, and whether it is a part of a panel port that was broken out.

    The name does not contain the number of parts; `link breakout` of the panel port does.
    """

    port: Port
    part: bool


def port_name(_model: str, port: Port, splits: int) -> str:
    """Return the name of a port."""
    return f"swp{port.panel}s{port.split}" if splits > 1 else f"swp{port.panel}"


@lru_cache(maxsize=65536)
def nvue_port(name: str) -> ParsedPortName | None:
    """Return the port that an NVUE name means: swp3, or swp3s1 for its second part; None for other names."""
    match = _PORT_NAME_PATTERN.fullmatch(name)
    if not match:
        return None
    return ParsedPortName(Port(int(match[1]), int(match[2] or 0)), match[2] is not None)
