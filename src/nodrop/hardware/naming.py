"""How each network OS names the ports of a model: the only place that knows, for design and readers alike."""

import re
from functools import lru_cache
from typing import NamedTuple

from nodrop.hardware import switch, switches
from nodrop.model.fabric import Port

_SONIC = re.compile(r"Ethernet([0-9]{1,5})")
_ONYX = re.compile(r"Eth[0-9]{1,2}/([1-9][0-9]{0,2})(?:/([1-9][0-9]?))?")
_NVUE = re.compile(r"swp([1-9][0-9]{0,3})(?:s([0-9]{1,2}))?")


class NvuePort(NamedTuple):
    """What an NVUE name says: the port, and whether it is a part of a panel port that was broken out.

    Into how many parts, the name does not say; `link breakout` of the panel port does.
    """

    port: Port
    part: bool


@lru_cache(maxsize=65536)
def port_name(platform: str, model: str, port: Port, splits: int = 1) -> str:
    """Return the name of a port that is one of `splits` parts of its panel port, 1 where that is not broken out.

    KeyError for an unknown platform or, where names follow the lanes, an unknown model or a port that it has not.
    """
    return {"sonic": _sonic_name, "nvue": _nvue_name}[platform](model, port, splits)


def _sonic_name(model: str, port: Port, splits: int) -> str:
    known = switch(model).sonic_ports[port.panel]
    return f"Ethernet{known.number + port.split * len(known.lanes) // splits}"


def _nvue_name(model: str, port: Port, splits: int) -> str:
    return f"swp{port.panel}s{port.split}" if splits > 1 else f"swp{port.panel}"


@lru_cache(maxsize=65536)
def nvue_port(name: str) -> NvuePort | None:
    """Return the port that an NVUE name means: swp3, or swp3s1 for its second part; None where it is no such name."""
    found = _NVUE.fullmatch(name)
    if not found:
        return None
    return NvuePort(Port(int(found[1]), int(found[2] or 0)), found[2] is not None)


@lru_cache(maxsize=65536)
def onyx_port(name: str) -> Port | None:
    """Return the port that an Onyx name means: Eth1/3, or Eth1/3/2 for its second part; None for other names."""
    found = _ONYX.fullmatch(name)
    return Port(int(found[1]), int(found[2] or 1) - 1) if found else None


@lru_cache(maxsize=65536)
def sonic_port(model: str, name: str, splits: int = 1) -> Port | None:
    """Return the port that a SONiC name means on a model; None where the model has no such port."""
    found = _SONIC.fullmatch(name)
    if not found or model not in switches():
        return None
    place = switch(model).sonic_numbers.get(int(found[1]))
    if place is None:
        return None
    panel, offset, lanes = place
    return Port(panel, offset * splits // lanes)
