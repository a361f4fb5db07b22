"""Rails: port k of every host is on the switch of rail k, so rail-by-rail traffic crosses one switch.

A set of switches has one for each rail: switch k of the set is rail k's. With `ports_per_leaf`, a switch has several
rails, one after the other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Literal

from nodrop.design.faults import KeyFault
from nodrop.design.topology import TierSwitchGroup, Topology, endpoints_of_group, group_of_endpoints
from nodrop.intent.schema import EndpointGroup
from nodrop.model.fabric import Host, Link
from nodrop.model.modes import parts_by_host
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.units import show_ids

RAILS_SPREAD = "rails"


def rails_policy(
    topology: Topology, stated: Literal["joined", "isolated"] | None, hosts: Sequence[Host], links: Sequence[Link]
) -> Literal["joined", "isolated"] | Unknown:
    """Return whether switches are to join the leaves of a host's ports, as stated or as the design shows it.

    Rails whose switches have no links upwards are isolated. Other hosts are expected to be joined, which is stated only
    where they are not.
    """
    groups = [
        group_of_endpoints(topology, name) for name, group in topology.endpoints.items() if group.spread == RAILS_SPREAD
    ]
    if stated is not None:
        return stated
    if any(not topology.joins_above(group) for group in groups):
        return "isolated"
    parts_of = parts_by_host(links, {host.name for host in hosts})
    return "joined" if any(len(parts) > 1 for parts in parts_of.values()) else UNKNOWN


def rail_faults(
    topology: Topology,
    name: str,
    present: Set[int],
    wanted_numbers: Set[int],
    explain_addition: Callable[[Set[int]], str],
    can_share: Callable[[int], bool],
) -> Iterator[KeyFault]:
    """Yield why a group cannot be laid out in rails on the switches that exist.

    `wanted_numbers` are the ids of switches that its hosts have ports on, `explain_addition` renders the change that
    brings missing ones. `can_share` is whether the ports of its hosts fit on so many switches, several on each.
    """
    group, keys = topology.endpoints[name], ("endpoints", name)
    switches = group_of_endpoints(topology, name)
    beside = {key: topology.endpoints[key] for key in endpoints_of_group(topology, switches)}
    if group.spread != RAILS_SPREAD:
        return
    if group.ports == 1:
        fault = f"one port of each {name} makes no rails"
        yield KeyFault((*keys, "spread"), fault, "a port for each rail", "spread: one-leaf")
        return
    rail_group = next(key for key, endpoint in beside.items() if endpoint.spread == RAILS_SPREAD)
    width, wanted_width = group.leaves_per_host, beside[rail_group].leaves_per_host
    if width != wanted_width:
        fault = f"{name} has rails on {width} {switches.label} and {rail_group} on {wanted_width} of the same"
        hint = f"ports: {wanted_width * group.host_ports_per_switch}, or spread: leaves"
        yield KeyFault((*keys, "ports"), fault, "as many for each", hint)
        return
    missing = wanted_numbers - present
    sets = {(number - 1) // width for number in missing}
    if any((number - 1) // width in sets for number in present):
        fault = f"{name} has {group.ports} ports for {_format_switch_ids(switches, present)}"
        usable = _would_fewer_ports_fit(topology, name, present)
        changes = [
            explain_addition(missing),
            f"ports_per_leaf: {group.ports // len(present)}" if usable and can_share(len(present)) else "",
            f"ports: {len(present)}" if usable else "",
        ]
        hint = ", or ".join(filter(None, changes)) or suggest_more_switches(topology, switches)
        yield KeyFault((*keys, "ports"), fault, f"a {switches.name} for each rail", hint)
    elif len(present) % width and len(beside) == 1 and present > wanted_numbers:
        fault = f"{_format_switch_ids(switches, present)} are no whole sets for {group.ports} rails"
        hint = f"ids: {show_ids(wanted_numbers)}"
        expected = f"{width} {switches.label} for each set of {group.ports} ports"
        yield KeyFault((*switches.keys, "ids"), fault, expected, hint)
    yield from _rails_across_pods_faults(topology.endpoints, name, switches, wanted_numbers)


def _rails_across_pods_faults(
    endpoints: Mapping[str, EndpointGroup], name: str, switches: TierSwitchGroup, present: Set[int]
) -> Iterator[KeyFault]:
    """Yield a pod size that parts the rails of a host, with the next one that holds whole sets of rails."""
    width = endpoints[name].leaves_per_host
    pods_by_set: dict[int, set[int]] = {}
    for number in sorted(present):
        pods_by_set.setdefault((number - 1) // width, set()).add(switches.pod(number))
    parted = next((pods for pods in pods_by_set.values() if len(pods) > 1), None)
    if parted is not None and switches.per_pod is not None:
        fault = f"the {endpoints[name].ports} rails of a {name} are in pods {show_ids(parted)}"
        hint = f"per_pod: {-(-switches.per_pod // width) * width}"
        yield KeyFault((*switches.keys, "per_pod"), fault, "all rails of a host in one pod", hint)


def _format_switch_ids(switches: TierSwitchGroup, present: Set[int]) -> str:
    ids = show_ids(present)
    return f"{switches.label} {ids}" if len(present) > 1 else f"{switches.name} {ids} alone"


def suggest_more_switches(topology: Topology, switches: TierSwitchGroup) -> str:
    """Return in words that a group needs more switches, and those above it more ports."""
    above = [f"{join.upper.name} ports" for join in topology.joins_above(switches)]
    return f"more {', '.join([*above, ''])}and {switches.label}" if above else f"more {switches.label}"


def _would_fewer_ports_fit(topology: Topology, name: str, present: Set[int]) -> bool:
    """Whether hosts of fewer ports would have exactly the switches that exist, as rails of one set."""
    group = topology.endpoints[name]
    beside = endpoints_of_group(topology, group_of_endpoints(topology, name))
    alone = sum(topology.endpoints[key].spread == RAILS_SPREAD for key in beside) == 1
    one_set = max(group.ids) <= group.leaf_group
    return alone and one_set and len(present) > 1 and present == set(range(1, len(present) + 1))
