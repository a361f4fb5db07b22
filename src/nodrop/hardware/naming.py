"""How each network OS names the ports of a model: the only place that knows, for design and readers alike."""

import re
from functools import lru_cache

from nodrop.fabric.fabric import Port
from nodrop.hardware import switch, switches

_SONIC = re.compile(r"Ethernet([0-9]{1,5})")


@lru_cache(maxsize=65536)
def port_name(platform: str, model: str, port: Port, splits: int = 1) -> str:
    """Return the name of a port that is one of `splits` parts of its panel port; KeyError for an unknown platform."""
    return {"sonic": _sonic_name}[platform](model, port, splits)


def _sonic_name(model: str, port: Port, splits: int) -> str:
    facts = switch(model)
    group = facts.group(port.panel)
    lanes = group.lanes if group else 1
    return f"Ethernet{(port.panel - 1) * facts.sonic.lane_stride + port.split * lanes // splits}"


@lru_cache(maxsize=65536)
def sonic_port(model: str, name: str, splits: int = 1) -> Port | None:
    """Return the port that a SONiC name means on a model; None where the model has no such port."""
    found = _SONIC.fullmatch(name)
    if not found or model not in switches():
        return None
    facts = switch(model)
    panel, offset = divmod(int(found[1]), facts.sonic.lane_stride)
    group = facts.group(panel + 1)
    if group is None or offset >= group.lanes:
        return None
    return Port(panel + 1, offset * splits // group.lanes)
