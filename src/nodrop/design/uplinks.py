"""The links between groups: how many, on which ports; what does not fit is refused with what does."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from nodrop.design.blocks import PeerPortBlocks
from nodrop.design.boxes import PlannedSwitch, PlannedSwitches
from nodrop.design.cabling import (
    CableProperties,
    FabricCable,
    LinkEndKind,
    resolve_cabling,
    splits_at_which_medium_fits,
)
from nodrop.design.closing import suggest_smallest_fabric
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.joining import JoinChoice, suggest_oversubscription_fixes, suggest_port_changes
from nodrop.design.topology import GroupJoin, TierSwitchGroup, Topology, model_of
from nodrop.units import show_speed


def fabric_cables(
    topology: Topology, switches: PlannedSwitches, down_mbps: Mapping[str, int], problems: list[IntentFault]
) -> tuple[FabricCable, ...]:
    """Return the links between the groups, those of lower tiers first.

    `down_mbps` is the bandwidth to hosts of every switch that has any; empty where it is not known.
    """
    cables: list[FabricCable] = []
    down = Counter(down_mbps)
    joins = sorted(topology.joins, key=lambda join: join.lower.tier)
    for join in joins:
        beside = [other for other in topology.joins_above(join.lower) if other is not join]
        of_join = _cables_of_join(topology, switches, join, beside, down, problems)
        if down_mbps:
            down.update(sum_down_mbps(of_join))
        cables += of_join
    return tuple(cables)


def sum_down_mbps(cables: Iterable[FabricCable]) -> Counter[str]:
    """Return the bandwidth of upper switches over some links, in Mb/s."""
    down: Counter[str] = Counter()
    for cable in cables:
        down[cable.upper.name] += cable.cabling.speed_mbps
    return down


def _cables_of_join(
    topology: Topology,
    switches: PlannedSwitches,
    join: GroupJoin,
    beside: Iterable[GroupJoin],
    down_mbps: Mapping[str, int],
    problems: list[IntentFault],
) -> tuple[FabricCable, ...]:
    models = (model_of(join.lower), model_of(join.upper))
    panels = (join.lower_ports, join.upper_panels(models[1]))
    splits = (join.split, join.upper_split_factor)
    ends = [LinkEndKind.of(*end, join.wanted.lanes) for end in zip(models, splits, panels, strict=True)]
    of_group = {node.name: down_mbps[node.name] for node in switches.groups[join.lower] if down_mbps.get(node.name)}
    beside_mbps = sum(other.up_mbps for other in beside)
    choice = JoinChoice.of(join, max(of_group.values(), default=0), beside_mbps)
    split = partial(_would_split_fit, choice)
    link = resolve_cabling(join.keys, join.wanted, ends, problems, split)
    faults = _port_shortage_faults(topology, choice, filter(split, splits_at_which_medium_fits(join.wanted, ends)))
    if of_group and not faults:
        faults += _oversubscription_faults(topology, choice, of_group, problems)
    problems += faults
    return () if link is None or faults else tuple(_build_fabric_cables(switches, choice, link))


def can_upper_switches_connect(topology: Topology, group: TierSwitchGroup, ids: Iterable[int]) -> bool:
    """Whether the switches above a group surely have ports for those with these ids."""
    if topology.sheet:
        return False
    for join in topology.joins_above(group):
        positions = tuple(sorted(set(map(join.lower_position, ids))))
        if replace(JoinChoice.of(join, 0).lowers, ids=positions).explain_clash(join.links):
            return False
    return True


def _would_split_fit(stated: JoinChoice, split_count: int) -> bool:
    """Whether there are ports enough for the links, and these are enough, when both ends are split into so many."""
    choice = JoinChoice.of(stated.join.replace_split_factor(split_count), stated.down_mbps, stated.beside_mbps)
    return stated.join.stated_upper_split is None and choice.has_ports_for_all_peers and not choice.exceeds_ratio


def _port_shortage_faults(topology: Topology, choice: JoinChoice, splits: Iterable[int]) -> list[IntentFault]:
    """Return the faults of the ports, each with changes that fix all of them; `splits` are those that do."""
    join = choice.join
    port_words = [
        *_port_shortage_texts(choice.lowers, join.lower, join.upper, choice.links, ""),
        *_port_shortage_texts(choice.uppers, join.upper, join.lower, choice.links, "uplink "),
    ]
    if not port_words:
        return []
    by_pods = _suggest_pods(topology, choice)
    changes = filter(None, (by_pods, *(f"split: {into}" for into in islice(splits, 1)), suggest_port_changes(choice)))
    hint = ", or ".join(changes) or suggest_smallest_fabric(topology) or "a model with more ports, or fewer switches"
    return [KeyFault((*join.keys, join.words.links), fault, expected, hint) for fault, expected in port_words]


def _suggest_pods(topology: Topology, choice: JoinChoice) -> str:
    """Return the `per_pod` with which links stay in pods, and fit, if only the other group has pods; else empty.

    The top tier has no pods, for these would not reach each other.
    """
    join = choice.join
    if (join.lower.per_pod is None) == (join.upper.per_pod is None) or not topology.joins_above(join.upper):
        return ""
    lacking, other = (join.lower, join.upper) if join.lower.per_pod is None else (join.upper, join.lower)
    pods = max(map(other.pod, other.wanted.ids))
    group = replace(lacking, per_pod=-(-max(lacking.wanted.ids) // pods))
    changed = replace(join, lower=group) if lacking is join.lower else replace(join, upper=group)
    lower_pods, upper_pods = (set(map(end.pod, end.wanted.ids)) for end in (changed.lower, changed.upper))
    if not lower_pods <= upper_pods:
        return ""
    option = JoinChoice.of(changed, choice.down_mbps, choice.beside_mbps)
    keys = ".".join((*lacking.keys, "per_pod"))
    return f"{keys}: {group.per_pod}" if option.has_ports_for_all_peers and not option.exceeds_ratio else ""


def _port_shortage_texts(
    peers: PeerPortBlocks, far: TierSwitchGroup, near: TierSwitchGroup, links: int, kind: str
) -> Iterator[tuple[str, str]]:
    """Yield the found and expected values if the switches of a group have too few ports for their peers."""
    needed, port_count, clash = links * len(peers.ids), len(peers.ports), peers.explain_clash(links)
    if needed > port_count:
        fault = f"{len(peers.ids)} {far.label} × {links} uplinks are {needed} ports of every {near.name}"
        yield fault, f"at most its {port_count} {kind}ports"
    elif clash:
        yield f"on every {near.name}, {clash}", ""


def _describe_uplink_changes(topology: Topology, choice: JoinChoice, problems: list[IntentFault]) -> str:
    """Return the changes that widen the uplinks; with other problems, another fabric, which is reported once."""
    if not problems:
        return suggest_oversubscription_fixes(choice)
    closed = suggest_smallest_fabric(topology)
    return "" if any(problem.hint == closed for problem in problems) else closed


def _oversubscription_faults(
    topology: Topology, choice: JoinChoice, down_mbps: Mapping[str, int], problems: list[IntentFault]
) -> Iterator[KeyFault]:
    """Yield a fault if a switch has too little uplink bandwidth, with the bandwidth between two halves of its group."""
    if choice.exceeds_ratio:
        worst = max(down_mbps, key=down_mbps.__getitem__)
        down, up = choice.down_mbps, choice.up_mbps
        fault = f"{worst} is {down / up:.4g}:1 oversubscribed, {show_speed(down)} down and {show_speed(up)} up"
        total = up * len(choice.join.lower.wanted.ids)
        if total < sum(down_mbps.values()):
            count = total // choice.speed_mbps
            half = f"half of the {show_speed(total)} that all {count} uplinks sum to"
            fault = f"{fault}; one-way bisection is {show_speed(total // 2)}, {half}"
        expected = f"at most {choice.oversubscription_limit:g}:1"
        hint = _describe_uplink_changes(topology, choice, problems)
        yield KeyFault(choice.join.lower.limit_keys, fault, expected, hint)


def _build_fabric_cables(switches: PlannedSwitches, choice: JoinChoice, link: CableProperties) -> Iterator[FabricCable]:
    join, links = choice.join, choice.links
    lower_ports = {position: choice.uppers.block(position, links) for position in choice.uppers.ids}
    upper_ports = {position: choice.lowers.block(position, links) for position in choice.lowers.ids}
    uppers_by_pod: dict[int, list[PlannedSwitch]] = {}
    for upper in switches.groups[join.upper]:
        uppers_by_pod.setdefault(join.upper.pod(upper.id) if join.stays_in_pod else 0, []).append(upper)
    for lower in switches.groups[join.lower]:
        above = upper_ports[join.lower_position(lower.id)]
        for upper in uppers_by_pod.get(join.pod_above(lower.id), ()):
            below = lower_ports[join.upper_position(upper.id)]
            for lower_port, upper_port in zip(below, above, strict=True):
                yield FabricCable(lower=lower, lower_port=lower_port, upper=upper, upper_port=upper_port, cabling=link)
