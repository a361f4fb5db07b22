"""Why groups, cables and hosts of an intent make no topology: names, tiers, numbers and links that cannot be."""

from collections.abc import Iterator, Mapping

from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.sheet import WHY_NO_LINKS_WITHIN_TIER
from nodrop.design.topology import Topology
from nodrop.hardware import nearest_word_hint, switches
from nodrop.intent.schema import EndpointGroup
from nodrop.intent.topology import CableSheetTopology, LeafSpine, SwitchGroup, Tiers
from nodrop.units import show_ids


def topology_faults(
    topology: Topology, wanted: LeafSpine | Tiers | CableSheetTopology, *, with_sheet: bool = True
) -> Iterator[IntentFault]:
    """Yield names, tiers, numbers and links that make no topology, and hosts at no group of switches.

    Without `with_sheet`, faults of a cabling sheet are left out: where names are faulty, its rows are wrong in turn.
    """
    if not isinstance(wanted, LeafSpine):
        yield from _group_faults(topology, wanted)
        yield from _switch_number_clashes_in_tier(topology)
    if isinstance(wanted, Tiers):
        yield from _uplink_faults(topology, wanted.groups)
    if topology.sheet and with_sheet:
        yield from topology.sheet.problems
    yield from _host_attachment_faults(topology.endpoints, {group.name: group.tier for group in topology.groups})


def _uplink_faults(topology: Topology, groups: Mapping[str, SwitchGroup]) -> Iterator[KeyFault]:
    """Yield uplinks to no group, to one that is not higher, to one in fewer pods, and uplinks without ports there."""
    for name, group in groups.items():
        for upper in group.uplinks:
            keys = ("topology", "groups", name, "uplinks", upper)
            if upper not in groups:
                hint = nearest_word_hint(upper, tuple(groups))
                yield KeyFault(keys, f"no group {upper}", "a group of the topology", hint)
            elif groups[upper].tier <= group.tier:
                fault = f"{upper} is in tier {groups[upper].tier}, and {name} in tier {group.tier}"
                hint = WHY_NO_LINKS_WITHIN_TIER if groups[upper].tier == group.tier else ""
                yield KeyFault(keys, fault, "a group of a higher tier", hint)
    yield from _missing_peer_port_faults(topology)
    yield from _pods_without_peers(topology)


def _group_faults(topology: Topology, wanted: Tiers | CableSheetTopology) -> Iterator[KeyFault]:
    linked, sheet = _groups_with_links_from_below(topology, wanted), topology.sheet
    linking = "a cable of a lower group" if sheet else "uplinks: {{{}: ...}} of a lower group"
    tiers = {group.tier for group in wanted.groups.values()}
    if 1 not in tiers:
        yield KeyFault(("topology", "groups"), "no group of tier 1", "a group next to the hosts")
    for name, group in wanted.groups.items():
        keys = ("topology", "groups", name)
        if name[-1].isdigit():
            yield KeyFault(keys, f"{name} ends in a digit", "a name that ids can be added to")
        if group.tier > 1 and name not in linked and not (sheet and sheet.problems):
            yield KeyFault(keys, f"no group has uplinks to {name}", linking.format(name))
        below = max((tier for tier in tiers if tier < group.tier), default=group.tier - 1)
        if below < group.tier - 1:
            fault = f"{name} is in tier {group.tier}, and no group in tier {group.tier - 1}"
            yield KeyFault((*keys, "tier"), fault, "tiers without a gap", f"tier: {below + 1}")
        if group.tier > 1 and group.ports.endpoints:
            fault = f"endpoint ports in tier {group.tier}"
            yield KeyFault((*keys, "ports", "endpoints"), fault, "hosts at tier 1 alone")


def _groups_with_links_from_below(topology: Topology, wanted: Tiers | CableSheetTopology) -> set[str]:
    if isinstance(wanted, Tiers):
        return {upper for group in wanted.groups.values() for upper in group.uplinks}
    if any(group.model not in switches() for group in wanted.groups.values()):
        return set(wanted.groups)  # cables at ports of an unknown model are not known
    return {join.upper.name for join in topology.joins}


def _switch_number_clashes_in_tier(topology: Topology) -> Iterator[KeyFault]:
    """Yield groups that have a number of their tier in common, with an offset that keeps them apart."""
    taken: dict[tuple[int, int], str] = {}
    for group in topology.groups:
        numbers = [(group.tier, group.offset + number) for number in group.wanted.ids]
        clash = next((number for number in numbers if number in taken), None)
        if clash is not None:
            last = max(number for tier, number in taken if tier == group.tier)
            fault = f"{group.name}{clash[1] - group.offset} and {taken[clash]} are both number {clash[1]} of their tier"
            yield KeyFault((*group.keys, "offset"), fault, "numbers of no other group", f"offset: {last}")
        taken |= {key: f"{group.name}{number}" for key, number in zip(numbers, group.wanted.ids, strict=True)}


def _missing_peer_port_faults(topology: Topology) -> Iterator[KeyFault]:
    """Yield links without ports on upper switches that have links to several groups."""
    for group in topology.groups:
        joins = topology.joins_below(group)
        if len(joins) + len(topology.joins_above(group)) > 1:
            for join in joins:
                if join.upper_ports is None:
                    fault = f"{group.name} has links to several groups"
                    yield KeyFault((*join.keys, "peer_ports"), fault, f"panel ports of {group.name} for these")


def _pods_without_peers(topology: Topology) -> Iterator[KeyFault]:
    """Yield pods of a group without a switch of a group above it."""
    for join in topology.joins:
        if join.pods > 1 and not join.stays_in_pod:
            fault = f"pods, but {join.lower.name} or {join.upper.name} has no per_pod"
            yield KeyFault((*join.keys, "pods"), fault, "per_pod for both groups")
        pods = {join.pod_above(number): join.lower.pod(number) for number in join.lower.wanted.ids}
        lacking = {pods[pod] for pod in pods.keys() - {join.upper.pod(number) for number in join.upper.wanted.ids}}
        if join.stays_in_pod and lacking:
            fault = f"pod {show_ids(lacking)} of {join.lower.name} has no {join.upper.name}"
            yield KeyFault((*join.upper.keys, "ids"), fault, f"a {join.upper.name} in every pod")


def _host_attachment_faults(endpoints: Mapping[str, EndpointGroup], tiers: Mapping[str, int]) -> Iterator[KeyFault]:
    """Yield groups of hosts whose group of switches is not known, not stated, or not next to hosts."""
    lowest = [name for name, tier in tiers.items() if tier == 0]
    for name, group in endpoints.items():
        keys, expected = ("endpoints", name, "leaves"), f"one of {', '.join(lowest)}"
        if group.leaves is None and len(lowest) > 1:
            yield KeyFault(keys, f"{len(lowest)} groups of switches are next to hosts", expected)
        elif group.leaves is not None and group.leaves not in tiers:
            yield KeyFault(keys, f"no group {group.leaves}", expected, nearest_word_hint(group.leaves, tuple(lowest)))
        elif group.leaves is not None and group.leaves not in lowest:
            yield KeyFault(keys, f"{group.leaves} is in tier {tiers[group.leaves] + 1}", expected)
