"""On how many lanes a port runs a speed, by the lanes of the plug; a passive cable has the same plug at both ends."""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from nodrop.hardware import asic, nic, switch
from nodrop.hardware.ports import PortGroup

PlugLanes: TypeAlias = frozenset[tuple[int, int]]
"""At one speed, what can be plugged into a port: (lanes of the plug, lanes of them in use)."""

PAM4_LANE_MBPS = 50_000
"""Lanes from 50 Gb/s carry two bits a symbol, for which RS-FEC is mandatory (IEEE 802.3cd, 802.3ck)."""
LANE_RATES_MBPS = (1_000, 10_000, 25_000, 50_000, 100_000, 200_000)
"""Of IEEE 802.3, rounded: 10 Gb/s stands for the 10.3125 Gb/s of clause 49, and so on."""
_LANE_COUNTS = (1, 2, 4, 8)
_QSFP_LANES = 4


def possible_lane_counts(plugs: PlugLanes) -> frozenset[int]:
    """Return the numbers of lanes on which a port can run."""
    return frozenset(lanes for _, lanes in plugs)


@lru_cache(maxsize=4096)
def pluggable_lanes_of_nic(model: str, speed_mbps: int) -> PlugLanes:
    """Return the plugs of a NIC of the catalogue; its cage has as many lanes as it uses at most."""
    counts = nic(model).lanes
    widest = max(max(lanes) for lanes in counts.values())
    return _pair_widths_and_counts((width for width in _LANE_COUNTS if width <= widest), counts.get(speed_mbps, ()))


@lru_cache(maxsize=4096)
def pluggable_lanes_of_switch_ports(model: str, panels: tuple[int, ...], lanes: int, speed_mbps: int) -> PlugLanes:
    """Return the plugs that all of these panel ports take where a port has so many lanes, whole or a part.

    Ports of unknown number count as those of the first kind.
    """
    facts = switch(model)
    groups = [group for group in facts.ports if not group.panels_set.isdisjoint(panels)] or facts.ports[:1]
    by_module = asic(facts.asic).lanes_by_module
    return frozenset.intersection(
        *(_pluggable_lanes_of_port_group(group, lanes, speed_mbps, by_module) for group in groups)
    )


def _pluggable_lanes_of_port_group(group: PortGroup, lanes: int, speed_mbps: int, by_module: bool) -> PlugLanes:
    """Return the plugs of a kind of ports: with all lanes in use, or fewer if the chip or the rate asks for that."""
    fastest = max(breakout.speeds[0] // breakout.lanes for breakout in group.breakout_options)
    counts = [
        count
        for count in _LANE_COUNTS
        if any(rate * count == speed_mbps for rate in LANE_RATES_MBPS if rate <= fastest)
    ]
    if not by_module:
        return _pair_widths_and_counts([lanes], [lanes] if lanes in counts else counts)
    whole_qsfp_dd = group.connector == "QSFP-DD" and lanes == group.lanes
    return _pair_widths_and_counts([lanes, _QSFP_LANES] if whole_qsfp_dd else [lanes], counts)


def _pair_widths_and_counts(widths: Iterable[int], counts: Iterable[int]) -> PlugLanes:
    every = tuple(counts)
    return frozenset((width, count) for width in widths for count in every if count <= width)
