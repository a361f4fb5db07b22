"""The smallest fabric of the given switches that carries the hosts: the hint for a design that cannot work."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import lcm
from typing import NamedTuple

from nodrop.design.boxes import Boxes
from nodrop.design.cabling import LinkEnd, can_medium_link
from nodrop.design.joining import Choice, slots_keys
from nodrop.design.splits import spine_split_factor, split_ports
from nodrop.hardware import media
from nodrop.intent.schema import Intent
from nodrop.units import show_speed


class _Closed(NamedTuple):
    leaves: int
    per_spine: int
    endpoint_ports: int
    joined: Choice


def suggest_smallest_fabric(intent: Intent, switches: Boxes) -> str:
    """Return a hint: how many leaves, which ports and uplinks would do, all links at the hosts' speed.

    Empty where the groups differ in speed, or no such fabric of two tiers exists.
    """
    kinds = {(group.speed, group.split) for group in intent.endpoints.values()}
    if len(kinds) > 1 or intent.topology.uplinks.lanes or any(group.lanes for group in intent.endpoints.values()):
        return ""
    speed, split = kinds.pop()
    ends = [
        LinkEnd.of(tier[0].model, into, tier[0].model.usable(into, speed))
        for tier, into in ((switches.leaves, split), (switches.spines, spine_split_factor(intent)))
    ]
    if split != intent.topology.uplinks.split or any(speed not in end.lanes for end in ends):
        return ""
    closed = min(_fabrics_for_hosts(intent, switches), default=None)
    if closed is None:
        return ""
    uplinks = closed.per_spine * len(switches.spines)
    of_links = _uplink_speed_keys(intent, speed, ends)
    keys = ", ".join(
        (f"per_spine: {closed.per_spine}", *slots_keys(closed.joined), *of_links, *_leaf_group_keys(intent, closed))
    )
    load = f"{_count_host_ports(intent)} host ports at {intent.topology.max_oversubscription:g}:1"
    ports = f"{closed.endpoint_ports} endpoint ports and {uplinks} uplinks"
    return f"{closed.leaves} leaves of {ports} carry {load}, {keys}"


def _uplink_speed_keys(intent: Intent, speed: int, ends: Sequence[LinkEnd]) -> list[str]:
    """Return the keys that make uplinks run at the hosts' speed.

    A medium of the hosts is among them if the stated one does not run at it.
    """
    uplinks = intent.topology.uplinks
    if uplinks.speed == speed:
        return []
    wanted_uplinks = uplinks.model_copy(update={"speed": speed})
    names = [uplinks.media, *(group.media for group in intent.endpoints.values()), *media()]
    name = next((medium for medium in names if can_medium_link(medium, wanted_uplinks, ends)), uplinks.media)
    return [f"speed: {show_speed(speed)}", *([f"media: {name}"] if name != uplinks.media else [])]


def _leaf_group_keys(intent: Intent, closed: _Closed) -> list[str]:
    """Return how many hosts share a leaf, or a set of leaves, where there is one group and that changes."""
    group = next(iter(intent.endpoints.values()))
    share = closed.endpoint_ports // (group.ports if group.spread == "one-leaf" else 1)
    return [f"leaf_group: {share}"] if len(intent.endpoints) == 1 and share < group.leaf_group else []


def _count_host_ports(intent: Intent) -> int:
    return sum(len(group.ids) * group.ports for group in intent.endpoints.values())


def _fabrics_for_hosts(intent: Intent, switches: Boxes) -> Iterator[_Closed]:
    """Yield every fabric that carries the hosts, whole hosts on a leaf or set of leaves as their groups require."""
    groups = intent.endpoints.values()
    ports = _count_host_ports(intent)
    apart = lcm(*(group.ports for group in groups if group.spread != "one-leaf"))
    together = lcm(*(group.ports for group in groups if group.spread == "one-leaf"))
    split = intent.topology.uplinks.split
    most = len(switches.leaves[0].model.usable(split, next(iter(groups)).speed))
    for per_spine in range(1, most * split // len(switches.spines) + 1):
        up = per_spine * len(switches.spines)
        down = min((most + -up // split) * split, int(up * intent.topology.max_oversubscription)) // together * together
        if down:
            leaves = _round_up_to_multiple(-(-ports // down), apart)
            joined = _connect_leaves(intent, switches, leaves, per_spine)
            if joined:
                yield _Closed(leaves, per_spine, _round_up_to_multiple(-(-ports // leaves), together), joined)


def _round_up_to_multiple(least: int, factor: int) -> int:
    return least + -least % factor


def _connect_leaves(intent: Intent, switches: Boxes, leaves: int, per_spine: int) -> Choice | None:
    """Return how that many leaves are joined to the spines; None if there are too few ports."""
    stated = Choice.of(intent, switches, 0)
    uplinks, ids = split_ports(tuple(range(per_spine * len(switches.spines))), 1), tuple(range(1, leaves + 1))
    return replace(
        stated,
        per_spine=per_spine,
        spines=replace(stated.spines, ports=uplinks, slots=None),
        leaves=replace(stated.leaves, ids=ids, slots=None),
    ).with_ports()
