"""Ports that negotiate or train their lanes differently from the demand of their cable's medium.

Passive copper is trained: each end asks the other to shape its signal (IEEE 802.3 clauses 136 and 162), and
auto-negotiation begins this (clause 73). A transceiver does that itself, and does not answer.
"""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, HitFact
from nodrop.hardware import medium
from nodrop.hardware.lanes import PAM4_LANE_MBPS
from nodrop.model.fabric import End, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown, is_known_off
from nodrop.platforms.kit.traits import newest_traits

RESTS_ON = frozenset({"cables"})
READS_NEARBY_FACTS = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the ports in use, by the cables whose medium is stated."""
    trained = {
        (device.name, port.name)
        for device in index.fabric.devices
        for port in device.interfaces
        if port.link_training is True
    }
    for link in index.fabric.links:
        kind = medium(link.media)
        if kind is None or not (kind.passive or link.a in trained or link.b in trained):
            continue
        for near, far in ((link.a, link.b), (link.b, link.a)):
            port = index.interface(*near)
            if port is None or is_known_off(port.enabled):
                continue
            fault = (
                _find_link_training_fault_at_copper(index, near, port, far)
                if kind.passive
                else _find_autoneg_fault_at_transceiver(port)
            )
            if fault:
                field, state, expected = fault
                facts: dict[str, HitFact] = {
                    "port": str(near),
                    "found": state,
                    "media": kind.name,
                    "expected": expected,
                }
                yield AnalysisHit(subject=tuple(near), at=(*near, field), facts=facts)


def _find_autoneg_fault_at_transceiver(port: Interface) -> tuple[str, str, str] | None:
    """Return the fault of a port at a transceiver: the field, its effect, and the expected value."""
    return ("link_training", "trains its lanes", "no link training") if _is_known_true(port.link_training) else None


def _find_link_training_fault_at_copper(
    index: Index, near: End, port: Interface, far: End
) -> tuple[str, str, str] | None:
    """Return the fault of a port at passive copper."""
    if isinstance(port.autoneg, Unknown) or port.autoneg or _is_known_true(port.link_training):
        return None
    if _has_lanes_that_need_training(port) and _is_covered_by_platform_rule(index.devices[near.node].platform, port):
        return None
    interface = index.interface(*far)
    if interface is not None and _is_known_true(interface.autoneg) and not is_known_off(interface.enabled):
        return "autoneg", f"does not negotiate, though {far} does", "auto-negotiation at both ends"
    if port.autoneg is None or not _has_lanes_that_need_training(port):
        return None
    return "autoneg", "neither negotiates nor trains its lanes", "one of the two"


def _is_known_true(fact: bool | None | Unknown) -> bool:
    return not isinstance(fact, Unknown) and fact is True


def _has_lanes_that_need_training(port: Interface) -> bool:
    """Whether lanes of a port are known to need training; those of 25 Gb/s come up over short copper without it."""
    speed, lanes = port.speed_mbps, port.lanes
    return isinstance(speed, int) and isinstance(lanes, int) and lanes > 0 and speed // lanes >= PAM4_LANE_MBPS


def _is_covered_by_platform_rule(platform: str, port: Interface) -> bool:
    """Whether a rule of the platform reports it: for links between switches, if ports negotiate by default."""
    traits = newest_traits(platform)
    negotiates = traits is not None and traits.autoneg is True
    return not isinstance(port.side, Unknown) and port.side == "fabric" and negotiates
