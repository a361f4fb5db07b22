"""Missing route maps and lists that a session or a redistribution names; nothing passes there.

A name that only a prefix list of the other address family has is reported where it is read.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses import AnalysisHit
from nodrop.analyses._plane import control_plane_of
from nodrop.analyses._refusals import find_referenced_policies
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.index import Index
from nodrop.model.routing import Bgp
from nodrop.model.subject import Subject
from nodrop.routing.routers import VrfRouter
from nodrop.routing.words import neighbor_family_statement

NEEDS_ROUTING = True

_LIST_TITLE_BY_MATCH = {
    "ip address prefix-list": "prefix list",
    "ipv6 address prefix-list": "prefix list",
    "community": "community list",
    "as-path": "list of AS paths",
}


class _MissingPolicyObject(NamedTuple):
    """A missing object, the part that names it, and the effect."""

    name: str
    at: Subject
    by: str
    effect: str


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield each that is missing once for each router, at the first that names it."""
    for router in control_plane_of(index).routers:
        if router.bgp is None:
            continue
        reported_names: set[str] = set()
        for row in _missing_policies(router, router.bgp):
            if row.name in reported_names:
                continue
            reported_names.add(row.name)
            yield AnalysisHit(
                subject=row.at,
                facts={"device": router.name, "name": row.name, "by": row.by, "effect": row.effect},
            )


def _missing_policies(router: VrfRouter, bgp: Bgp) -> Iterator[_MissingPolicyObject]:
    used: set[str] = set()
    for neighbor in router.neighbors:
        for family in ADDRESS_FAMILIES:
            active = neighbor_family_statement(neighbor, family).active
            for referenced_policy in (
                find_referenced_policies(bgp, neighbor, family) if active and neighbor.enabled else ()
            ):
                used |= {referenced_policy.name} if referenced_policy.kind == "route map" else set()
                if not referenced_policy.there and not referenced_policy.of_other_family:
                    at = (*router.subject_of_neighbor(neighbor), *referenced_policy.field.split("/"))
                    effect = f"no route is {'accepted' if 'import' in referenced_policy.field else 'announced'}"
                    yield _MissingPolicyObject(
                        f"{referenced_policy.kind} {referenced_policy.name}", at, f"neighbor {neighbor.key}", effect
                    )
    maps = {route_map.name: route_map for route_map in bgp.route_maps}
    for row in bgp.redistributions:
        if row.policy is not None:
            used.add(row.policy)
            if row.policy not in maps:
                at = (*router.bgp_subject, "redistributions", row.key, "policy")
                yield _MissingPolicyObject(
                    f"route map {row.policy}", at, f"redistribute {row.source}", "no route is redistributed"
                )
    for name in sorted(used & maps.keys()):
        for rule in maps[name].rules:
            for kind, value in rule.matches:
                if kind in _LIST_TITLE_BY_MATCH and value.split() and not _is_list_defined(bgp, kind, value.split()[0]):
                    at = (*router.bgp_subject, "route_maps", name, "rules", str(rule.sequence))
                    by = f"rule {rule.sequence} of route map {name}"
                    yield _MissingPolicyObject(
                        f"{_LIST_TITLE_BY_MATCH[kind]} {value.split()[0]}", at, by, "the rule matches no route"
                    )


def _is_list_defined(bgp: Bgp, kind: str, name: str) -> bool:
    """Whether a list has the name, a prefix list also of the other address family."""
    if kind == "community":
        return any(community_list.name == name for community_list in bgp.community_lists)
    if kind == "as-path":
        return any(as_path_list.name == name for as_path_list in bgp.as_path_lists)
    return any(prefix_list.name == name for prefix_list in bgp.prefix_lists)
