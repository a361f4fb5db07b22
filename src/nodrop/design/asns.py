"""AS numbers after RFC 7938: one for each switch next to hosts, for each pod of a tier between, for the top tier.

`devices.*.asn` gives a switch another one.
"""

from collections.abc import Iterator, Mapping
from itertools import count

from nodrop.design.boxes import PlannedSwitch, PlannedSwitches, stated_settings
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.topology import TierSwitchGroup, Topology
from nodrop.hardware import nearest_word_hint
from nodrop.intent.network import Routing
from nodrop.intent.schema import DeviceSettings
from nodrop.intent.types import MAX_ASN


def asns_by_device(
    topology: Topology,
    routing: Routing,
    devices: Mapping[str, DeviceSettings],
    switches: PlannedSwitches,
    problems: list[IntentFault],
) -> Mapping[str, int]:
    """Return every device's AS number; those that overflow, or that loop detection would reject, are problems."""
    faults = [*_asn_rule_faults(topology, routing), *_pod_rules_without_pods(topology, routing)]
    if faults:
        problems += faults
        return {}
    numbers = {
        group: {node.name: _stated_asn(devices, node) or _asn_of_node(routing, node) for node in nodes}
        for group, nodes in switches.groups.items()
    }
    faults = [fault for group in numbers for fault in _asn_overflows(routing, group, numbers[group])]
    problems += faults or _shared_asns(topology, routing, devices, switches, numbers)
    return {name: number for own_numbers in numbers.values() for name, number in own_numbers.items()}


def _asn_rule_faults(topology: Topology, routing: Routing) -> Iterator[KeyFault]:
    """Yield groups without a rule for AS numbers, and rules for no group."""
    rules, groups = routing.asn, topology.groups
    known = tuple(group.asn_keys[-1] for group in groups)
    for group in groups:
        if group.asn_keys[-1] not in rules:
            yield KeyFault(group.asn_keys[:-1], f"{group.asn_keys[-1]} is missing", _expected_asn_rule(group))
    for name in rules:
        if name not in known:
            yield KeyFault(
                ("routing", "asn", name), f"no switches are called {name}", "", nearest_word_hint(name, known)
            )


def _pod_rules_without_pods(topology: Topology, routing: Routing) -> Iterator[KeyFault]:
    """Yield rules that add the number of the pod for groups that have no pods, with the rule without it."""
    for group in topology.groups:
        base, counted = routing.asn.get(group.asn_keys[-1], (0, ""))
        if counted == "pod" and group.per_pod is None:
            hint = f"{group.asn_keys[-1]}: {base}{'' if group.tier else '+'}"
            yield KeyFault(group.asn_keys, f"+pod, but {group.label} have no pods", _expected_asn_rule(group), hint)


def _expected_asn_rule(group: TierSwitchGroup) -> str:
    if group.tier == 0:
        return "a number with +, to which each switch's id is added"
    return "one number for all" + (", or one with +pod for each pod" if group.per_pod else "")


def _asn_of_node(routing: Routing, node: PlannedSwitch) -> int:
    base, counted = routing.asn[node.group.asn_keys[-1]]
    return base + {"": 0, "id": node.number_in_tier, "pod": node.group.pod(node.id)}[counted]


def _stated_asn(devices: Mapping[str, DeviceSettings], node: PlannedSwitch) -> int | None:
    """Return the AS number that an intent states for a switch; None where its group's rule gives it."""
    return stated_settings(devices, node)[1].asn


def _asn_overflows(routing: Routing, group: TierSwitchGroup, numbers: Mapping[str, int]) -> Iterator[KeyFault]:
    name = max(numbers, key=lambda name: numbers[name])
    if numbers[name] > MAX_ASN:
        base, _ = routing.asn[group.asn_keys[-1]]
        fault = f"{name} would be AS {numbers[name]}"
        hint = f"{group.asn_keys[-1]}: {MAX_ASN - (numbers[name] - base)}+"
        yield KeyFault(group.asn_keys, fault, f"at most {MAX_ASN}", hint)


def _shared_asns(
    topology: Topology,
    routing: Routing,
    devices: Mapping[str, DeviceSettings],
    switches: PlannedSwitches,
    numbers: Mapping[TierSwitchGroup, Mapping[str, int]],
) -> Iterator[KeyFault]:
    """Yield AS numbers that two switches share though one takes routes through the other, with free numbers."""
    above = {number: name for group in numbers if group.tier for name, number in reversed(list(numbers[group].items()))}
    owners: dict[int, PlannedSwitch] = {}
    for group, own_numbers in numbers.items():
        base, counted = routing.asn[group.asn_keys[-1]]
        by_rule = [node for node in switches.groups[group] if _stated_asn(devices, node) is None]
        if group.tier == 0 and not counted and len(by_rule) > 1:
            ids = [node.number_in_tier for node in by_rule]
            starts = count(min(base, MAX_ASN - max(ids) - len(above)))
            free = next(start for start in starts if not any(start + number in above for number in ids))
            fault = f"all {group.label} would be AS {base}"
            hint = f"{group.asn_keys[-1]}: {free}+"
            yield KeyFault(group.asn_keys, fault, f"a number for each {group.name}", hint)
            return
        for node in switches.groups[group]:
            number = own_numbers[node.name]
            owner = owners.setdefault(number, node)
            if owner is not node and not _may_share_asn(topology, owner, node):
                fault = f"{owner.name} and {node.name} would both be AS {number}"
                if exception := next((each for each in (node, owner) if _stated_asn(devices, each) is not None), None):
                    word, _ = stated_settings(devices, exception)
                    holder = owner if exception is node else node
                    expected = f"a number that {holder.name} does not have"
                    yield KeyFault(("devices", word, "asn"), fault, expected, "or leave it out")
                    return
                at = owner if owner.tier > node.tier else node
                other_numbers = numbers[owner.group if at is node else group].values()
                other = (owner if at is node else node).group
                expected = f"a number that no {other.name} has"
                hint = f"{at.group.asn_keys[-1]}: {min(other_numbers) - 1 or max(other_numbers) + 1}"
                yield KeyFault(at.group.asn_keys, fault, expected, "" if at.group is other else hint)
                return


def _may_share_asn(topology: Topology, node: PlannedSwitch, other: PlannedSwitch) -> bool:
    """Whether no route passes two switches: they are of the top tier, or of one pod of a tier between."""
    if node.tier == 0 or node.tier != other.tier:
        return False
    is_top = not any(map(topology.joins_above, (node.group, other.group)))
    return is_top or node.group.pod(node.id) == other.group.pod(other.id)
