"""Why a session's policy lets a prefix not pass: which part of it, in words and as a subject."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.model.policy_values import PREFIX_LIST_MATCH_BY_FAMILY
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMap
from nodrop.model.subject import Subject
from nodrop.routing.destinations import is_prefix_permitted
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.words import neighbor_family_statement


class NamedPolicy(NamedTuple):
    """A route map or prefix list that a session names, with the field of the neighbor that does."""

    kind: str
    name: str
    field: str
    there: bool
    of_other_family: bool = False
    """Whether it is not there, but a prefix list of its name for the other address family is."""


def find_referenced_policies(bgp: Bgp, neighbor: BgpNeighbor, family: AddressFamily) -> Iterator[NamedPolicy]:
    """Yield the policies that a neighbor statement names."""
    family_config = neighbor_family_statement(neighbor, family)
    prefix = "" if family == "ipv4" else "ipv6/"
    maps = {route_map.name for route_map in bgp.route_maps}
    lists = {prefix_list.name for prefix_list in bgp.prefix_lists if prefix_list.family == family}
    other_lists = {prefix_list.name for prefix_list in bgp.prefix_lists} - lists
    for direction in ("import", "export"):
        if (name := getattr(family_config, f"{direction}_policy")) is not None:
            yield NamedPolicy("route map", name, f"{prefix}{direction}_policy", name in maps)
        if (name := getattr(family_config, f"{direction}_prefix_list")) is not None:
            field = f"{prefix}{direction}_prefix_list"
            yield NamedPolicy("prefix list", name, field, name in lists, name in other_lists)


class PolicyRefusal(NamedTuple):
    """The cause that removes a prefix: `what` in words, and its part; None if another rule reports it."""

    what: str
    at: Subject


def find_refusal(router: VrfRouter, neighbor: BgpNeighbor, direction: str, prefix: Prefix) -> PolicyRefusal | None:
    """Return the part of a session's policy (`import` or `export`) that removes a prefix.

    None if there is no policy at all, or a named policy does not exist: separate rules report these.
    """
    bgp = router.bgp
    if bgp is None:
        return None
    own_referenced_policies = [
        policy
        for policy in find_referenced_policies(bgp, neighbor, prefix.family)
        if policy.field.startswith((direction, f"ipv6/{direction}"))
    ]
    if not own_referenced_policies or not all(policy.there for policy in own_referenced_policies):
        return None
    for referenced_policy in own_referenced_policies:
        if referenced_policy.kind == "prefix list":
            listed = next(
                row for row in bgp.prefix_lists if (row.name, row.family) == (referenced_policy.name, prefix.family)
            )
            if not is_prefix_permitted(listed, prefix):
                return PolicyRefusal(
                    f"prefix list {referenced_policy.name}",
                    (*router.bgp_subject, "prefix_lists", referenced_policy.name),
                )
    name = next((policy.name for policy in own_referenced_policies if policy.kind == "route map"), None)
    if name is None:
        return None
    route_map = next(row for row in bgp.route_maps if row.name == name)
    return _find_refusal_in_map(router, bgp, route_map, prefix)


def _find_refusal_in_map(router: VrfRouter, bgp: Bgp, route_map: RouteMap, prefix: Prefix) -> PolicyRefusal | None:
    """Return the rule that denies a prefix, the list without which no rule is for it, or the whole route map."""
    subject = (*router.bgp_subject, "route_maps", route_map.name)
    kind = PREFIX_LIST_MATCH_BY_FAMILY[prefix.family]
    lists = {prefix_list.name: prefix_list for prefix_list in bgp.prefix_lists if prefix_list.family == prefix.family}
    looked: list[str] = []
    for rule in sorted(route_map.rules, key=lambda map_rule: map_rule.sequence):
        list_names = [value for match, value in rule.matches if match == kind]
        if any(value not in lists for value in list_names):
            return None
        if any(not is_prefix_permitted(lists[value], prefix) for value in list_names):
            looked += list_names if rule.action == "permit" else ()
        elif rule.action == "deny":
            where = (*subject, "rules", str(rule.sequence))
            return PolicyRefusal(f"rule {rule.sequence} of route map {route_map.name}", where)
    if len(dict.fromkeys(looked)) == 1:
        policy_text = f"prefix list {looked[0]}, route map {route_map.name}"
        return PolicyRefusal(policy_text, (*router.bgp_subject, "prefix_lists", looked[0]))
    return PolicyRefusal(f"route map {route_map.name}", subject)
