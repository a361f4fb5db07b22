"""How SONiC names the ports of a model: by the number of the first lane, as its port maps have it."""

import re
from functools import lru_cache

from nodrop.hardware import switch, switches
from nodrop.model.fabric import Port

_PORT_NAME_PATTERN = re.compile(r"Ethernet([0-9]{1,5})")


def port_name(model: str, port: Port, splits: int) -> str:
    """Return the name of a port; KeyError for an unknown model, or a port that it does not have."""
    known_sonic_port = switch(model).sonic_ports[port.panel]
    return f"Ethernet{known_sonic_port.number + port.split * len(known_sonic_port.lanes) // splits}"


@lru_cache(maxsize=65536)
def model_port(model: str, name: str, splits: int = 1) -> Port | None:
    """Return the port of a model that a name means; None if the model has no such port."""
    place = panel_and_lane_offset_of_port(model, name)
    if place is None:
        return None
    panel, offset, lanes = place
    return Port(panel, offset * splits // lanes)


def panel_and_lane_offset_of_port(model: str, name: str) -> tuple[int, int, int] | None:
    """Return the panel of a port name, the offset of its first lane there, and the panel's lanes; None if unknown."""
    match = _PORT_NAME_PATTERN.fullmatch(name)
    if not match or model not in switches():
        return None
    return switch(model).panel_and_lanes_by_sonic_number.get(int(match[1]))


@lru_cache(maxsize=65_536)
def port_by_name_and_lanes(model: str, name: str, lanes: int) -> Port | None:
    """Return the port of a model that has this name and so many lanes; None where the model has none."""
    whole_port = model_port(model, name)
    group = switch(model).group(whole_port.panel) if whole_port else None
    return None if group is None else model_port(model, name, max(group.lanes // lanes, 1))
