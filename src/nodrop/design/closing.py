"""The smallest fabric of the given switches that carries the hosts: the hint for a design that cannot work."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import lcm
from typing import NamedTuple

from nodrop.design.cabling import LinkEndKind, can_medium_link
from nodrop.design.joining import JoinChoice, format_slot_settings
from nodrop.design.splits import split_ports
from nodrop.design.topology import GroupJoin, Topology, model_of
from nodrop.hardware import media
from nodrop.intent.schema import EndpointGroup
from nodrop.units import show_speed


class _SmallestFabric(NamedTuple):
    switches: int
    links: int
    endpoint_ports: int
    joined: JoinChoice


def suggest_smallest_fabric(topology: Topology) -> str:
    """Return a hint: how many lower switches, which ports and uplinks would do, all links at the hosts' speed.

    Empty where the groups differ in speed, or no such fabric of two groups exists.
    """
    kinds = {(group.speed, group.split) for group in topology.endpoints.values()}
    join = _join_of_two_groups(topology)
    if join is None or len(kinds) > 1 or join.wanted.lanes or any(group.lanes for group in topology.endpoints.values()):
        return ""
    speed, split = kinds.pop()
    ends = [
        LinkEndKind.of(model, into, model.panels_splittable_at_once(into, speed))
        for model, into in ((model_of(join.lower), split), (model_of(join.upper), join.upper_split_factor))
    ]
    if split != join.split or any(speed not in end.lanes for end in ends):
        return ""
    closed = min(_fabrics_for_hosts(topology.endpoints, join), default=None)
    if closed is None:
        return ""
    uplinks = closed.links * len(join.upper.wanted.ids)
    of_links = _uplink_speed_keys(topology.endpoints, join, speed, ends)
    links = f"{join.words.links}: {closed.links}"
    keys = ", ".join(
        (links, *format_slot_settings(closed.joined), *of_links, *_hosts_per_switch_keys(topology.endpoints, closed))
    )
    load = f"{_count_host_ports(topology.endpoints)} host ports at {join.lower.limit:g}:1"
    ports = f"{closed.endpoint_ports} endpoint ports and {uplinks} uplinks"
    return f"{closed.switches} {join.lower.label} of {ports} carry {load}, {keys}"


def _join_of_two_groups(topology: Topology) -> GroupJoin | None:
    """Return the join of a topology of two groups without pods; None for others."""
    joins = topology.joins if len(topology.groups) == 2 and not topology.sheet else ()
    return next((join for join in joins if not join.stays_in_pod), None)


def _uplink_speed_keys(
    endpoints: Mapping[str, EndpointGroup], join: GroupJoin, speed: int, ends: Sequence[LinkEndKind]
) -> list[str]:
    """Return the keys that make uplinks run at the hosts' speed.

    A medium of the hosts is among them if the stated one does not run at it.
    """
    uplinks = join.wanted
    if uplinks.speed == speed:
        return []
    wanted_uplinks = uplinks.model_copy(update={"speed": speed})
    names = [uplinks.media, *(group.media for group in endpoints.values()), *media()]
    name = next((medium for medium in names if can_medium_link(medium, wanted_uplinks, ends)), uplinks.media)
    return [f"speed: {show_speed(speed)}", *([f"media: {name}"] if name != uplinks.media else [])]


def _hosts_per_switch_keys(endpoints: Mapping[str, EndpointGroup], closed: _SmallestFabric) -> list[str]:
    """Return how many hosts share a switch, or a set of them, where there is one group and that changes."""
    group = next(iter(endpoints.values()))
    share = closed.endpoint_ports // group.host_ports_per_switch
    return [f"leaf_group: {share}"] if len(endpoints) == 1 and share < group.leaf_group else []


def _count_host_ports(endpoints: Mapping[str, EndpointGroup]) -> int:
    return sum(len(group.ids) * group.ports for group in endpoints.values())


def _fabrics_for_hosts(endpoints: Mapping[str, EndpointGroup], join: GroupJoin) -> Iterator[_SmallestFabric]:
    """Yield every fabric that carries the hosts, whole hosts on a switch or set of switches as their groups require."""
    groups, uppers = endpoints.values(), len(join.upper.wanted.ids)
    ports = _count_host_ports(endpoints)
    apart = lcm(*(group.leaves_per_host for group in groups))
    together = lcm(*(group.host_ports_per_switch for group in groups))
    split = join.split
    most = len(model_of(join.lower).panels_splittable_at_once(split, next(iter(groups)).speed))
    for links in range(1, most * split // uppers + 1):
        up = links * uppers
        down = min((most + -up // split) * split, int(up * join.lower.limit)) // together * together
        if down:
            lowers = _round_up_to_multiple(-(-ports // down), apart)
            joined = _find_join_choice(join, lowers, links)
            if joined:
                yield _SmallestFabric(lowers, links, _round_up_to_multiple(-(-ports // lowers), together), joined)


def _round_up_to_multiple(least: int, factor: int) -> int:
    return least + -least % factor


def _find_join_choice(join: GroupJoin, lowers: int, links: int) -> JoinChoice | None:
    """Return how that many lower switches are joined to the upper ones; None if there are too few ports."""
    stated = JoinChoice.of(join, 0)
    ports, ids = split_ports(tuple(range(links * len(join.upper.wanted.ids))), 1), tuple(range(1, lowers + 1))
    return replace(
        stated,
        links=links,
        uppers=replace(stated.uppers, ports=ports, slots=None),
        lowers=replace(stated.lowers, ids=ids, slots=None),
    ).with_ports_for_all_peers()
