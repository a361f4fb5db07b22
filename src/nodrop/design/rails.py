"""Rails: port k of every host is on the leaf of rail k, so rail-by-rail traffic crosses one switch.

A set of leaves has one for each rail: leaf k of the set is rail k's.
"""

from collections.abc import Callable, Iterator, Set
from typing import Literal

from nodrop.design.topology import Group, endpoints_of_group, group_of_endpoints, topology_of
from nodrop.errors import Problem
from nodrop.intent.schema import Intent
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.units import show_ids

RAILS = "rails"


def rails_policy(intent: Intent) -> Literal["isolated"] | Unknown:
    """Return that rails are isolated, where their switches have no links upwards; UNKNOWN where nothing says so."""
    topology = topology_of(intent)
    groups = [group_of_endpoints(intent, name) for name, group in intent.endpoints.items() if group.spread == RAILS]
    return "isolated" if any(not topology.joins_above(group) for group in groups) else UNKNOWN


def rail_faults(
    intent: Intent, name: str, leaves: Set[int], wanted_numbers: Set[int], explain_addition: Callable[[Set[int]], str]
) -> Iterator[Problem]:
    """Yield why a group cannot be laid out in rails on the leaves there are.

    `wanted_numbers` are the leaves that its hosts have ports on, `explain_addition` renders the change that brings
    missing ones.
    """
    group, keys = intent.endpoints[name], ("endpoints", name)
    switches = group_of_endpoints(intent, name)
    beside = {key: intent.endpoints[key] for key in endpoints_of_group(intent, switches)}
    if group.spread != RAILS:
        return
    if group.ports == 1:
        fault = f"one port of each {name} makes no rails"
        yield intent.problem((*keys, "spread"), fault, "a port for each rail", "spread: one-leaf")
        return
    rail_group = next(key for key, endpoint in beside.items() if endpoint.spread == RAILS)
    rails = beside[rail_group].ports
    if group.ports != rails:
        fault = f"{name} has {group.ports} rails and {rail_group} has {rails} on the same leaves"
        yield intent.problem((*keys, "ports"), fault, "as many for each", f"ports: {rails}, or spread: leaves")
        return
    missing = wanted_numbers - leaves
    sets = {(leaf - 1) // rails for leaf in missing}
    if any((leaf - 1) // rails in sets for leaf in leaves):
        fault = f"{name} has {rails} ports for {_format_leaves(leaves)}"
        changes = [
            explain_addition(missing),
            f"ports: {len(leaves)}" if _can_use_leaf_count(intent, name, leaves) else "",
        ]
        hint = ", or ".join(filter(None, changes)) or "more spine ports, and leaves"
        yield intent.problem((*keys, "ports"), fault, "a leaf for each rail", hint)
    elif len(leaves) % rails and len(beside) == 1 and leaves > wanted_numbers:
        fault = f"{_format_leaves(leaves)} are no whole sets of {rails} rails"
        hint = f"ids: {show_ids(wanted_numbers)}"
        yield intent.problem((*switches.keys, "ids"), fault, f"a leaf for each of the {rails} ports", hint)
    yield from _parted_rails(intent, name, switches, wanted_numbers)


def _parted_rails(intent: Intent, name: str, switches: Group, leaves: Set[int]) -> Iterator[Problem]:
    """Yield a pod size that parts the rails of a host, with the next one that holds whole sets of rails."""
    rails = intent.endpoints[name].ports
    pods_by_set: dict[int, set[int]] = {}
    for leaf in sorted(leaves):
        pods_by_set.setdefault((leaf - 1) // rails, set()).add(switches.pod(leaf))
    parted = next((pods for pods in pods_by_set.values() if len(pods) > 1), None)
    if parted is not None and switches.per_pod is not None:
        fault = f"the {rails} rails of a {name} are in pods {show_ids(parted)}"
        hint = f"per_pod: {-(-switches.per_pod // rails) * rails}"
        yield intent.problem((*switches.keys, "per_pod"), fault, "all rails of a host in one pod", hint)


def _format_leaves(leaves: Set[int]) -> str:
    return f"leaves {show_ids(leaves)}" if len(leaves) > 1 else f"leaf {show_ids(leaves)} alone"


def _can_use_leaf_count(intent: Intent, name: str, leaves: Set[int]) -> bool:
    """Whether hosts of fewer ports would have exactly the leaves there are, as rails of one set."""
    group = intent.endpoints[name]
    beside = endpoints_of_group(intent, group_of_endpoints(intent, name))
    alone = sum(intent.endpoints[key].spread == RAILS for key in beside) == 1
    one_set = max(group.ids) <= group.leaf_group
    return alone and one_set and len(leaves) > 1 and leaves == set(range(1, len(leaves) + 1))
