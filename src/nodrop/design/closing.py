"""The smallest fabric of the switches at hand that carries the hosts: the hint for a design that cannot work."""

from collections.abc import Iterator
from dataclasses import replace
from math import lcm
from typing import NamedTuple

from nodrop.design.boxes import Boxes
from nodrop.design.joining import Choice, slots_keys
from nodrop.intent.schema import Intent


class _Closed(NamedTuple):
    leaves: int
    per_spine: int
    endpoint_ports: int
    joined: Choice


def closing(intent: Intent, switches: Boxes) -> str:
    """Return a hint: how many leaves, which ports and uplinks would do, all links at the hosts' speed.

    Empty where the groups differ in speed, or no such fabric of two tiers exists.
    """
    if len({group.speed for group in intent.endpoints.values()}) > 1:
        return ""
    closed = min(_fabrics(intent, switches), default=None)
    if closed is None:
        return ""
    uplinks = closed.per_spine * len(switches.spines)
    keys = " and ".join((f"per_spine: {closed.per_spine}", *slots_keys(closed.joined)))
    load = f"{_host_ports(intent)} host ports at {intent.topology.max_oversubscription:g}:1"
    return (
        f"{closed.leaves} leaves of {closed.endpoint_ports} endpoint ports and {uplinks} uplinks, {keys}, carry {load}"
    )


def _host_ports(intent: Intent) -> int:
    return sum(len(group.ids) * group.ports for group in intent.endpoints.values())


def _fabrics(intent: Intent, switches: Boxes) -> Iterator[_Closed]:
    """Yield every fabric that carries the hosts, whole hosts on a leaf or on a set of leaves as their groups say."""
    groups = intent.endpoints.values()
    ports = _host_ports(intent)
    apart = lcm(*(group.ports for group in groups if group.spread == "leaves"))
    together = lcm(*(group.ports for group in groups if group.spread == "one-leaf"))
    most = len(switches.leaves[0].model.panels)
    for each in range(1, most // len(switches.spines) + 1):
        up = each * len(switches.spines)
        down = min(most - up, int(up * intent.topology.max_oversubscription)) // together * together
        if down:
            leaves = _multiple(-(-ports // down), apart)
            joined = _joined(intent, switches, leaves, each)
            if joined:
                yield _Closed(leaves, each, _multiple(-(-ports // leaves), together), joined)


def _multiple(least: int, of: int) -> int:
    return least + -least % of


def _joined(intent: Intent, switches: Boxes, leaves: int, each: int) -> Choice | None:
    """Return how that many leaves are joined to the spines; None if there are too few ports."""
    stated = Choice.of(intent, switches, 0)
    uplinks, ids = tuple(range(each * len(switches.spines))), tuple(range(1, leaves + 1))
    return replace(
        stated,
        per_spine=each,
        spines=replace(stated.spines, ports=uplinks, slots=None),
        leaves=replace(stated.leaves, ids=ids, slots=None),
    ).with_ports()
