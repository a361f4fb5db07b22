"""What route maps match or set and is not computed: gaps of the computed routes (`ControlPlane.gaps`)."""

from collections.abc import Iterable, Iterator, Sequence, Set

from nodrop.model import policy_values as values
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMapRule
from nodrop.model.states import known_rows
from nodrop.routing.destinations import is_prefix_permitted
from nodrop.routing.next_hop_policy import (
    SET_GLOBAL_NEXT_HOP_KIND,
    computed_next_hop_route_maps_by_kind,
    find_ipv6_only_route_maps,
    next_hop_kind_of_set_value,
    parse_next_hop,
)
from nodrop.routing.prefixes import Prefix
from nodrop.syntax.places import sanitize_for_message

_MAX_QUOTED_CHARACTERS = 80
"""Characters of a command that a gap quotes."""


def find_uncomputed_clauses(bgp: Bgp) -> Iterator[tuple[str, RouteMapRule, str]]:
    """Yield (route map, rule, text) of all matches and sets of route maps that are not computed.

    These are words that are not known here, values that FRR refuses or that only the switch knows, and lists with an
    expression or a community that is not known. So is a call of a map that leads back to it, because FRR counts its
    calls across routes (lib/routemap.c, route_map_apply_ext), and a goto that is not to a later rule, which FRR refuses
    (lib/routemap_northbound.c). FRR 8.4 takes a neighbor by its interface only in a peer group (bgpd/bgp_routemap.c,
    route_match_peer).
    """
    if not bgp.route_maps:
        return
    unknown = {
        ("community", community_list.name)
        for community_list in bgp.community_lists
        if not values.are_policy_list_lines_computable(community_list)
    }
    unknown |= {
        ("as-path", as_path.name)
        for as_path in bgp.as_path_lists
        if not values.are_policy_list_lines_computable(as_path)
    }
    sessions = known_rows(bgp.neighbors)
    exports, peers = _export_route_maps(bgp, sessions), {session.address for session in sessions if session.address}
    around, by_leg = _recursive_route_maps(bgp), _route_maps_for_connected_only(bgp, sessions, exports)
    maps_by_word, maps_of_ipv6 = (
        computed_next_hop_route_maps_by_kind(bgp, sessions),
        find_ipv6_only_route_maps(bgp, sessions),
    )
    for route_map in bgp.route_maps:
        for rule in route_map.rules:
            for kind, value in rule.matches:
                if kind == "peer":
                    if route_map.name in exports or value not in peers:
                        yield route_map.name, rule, kind
                elif kind == "interface":
                    if route_map.name not in by_leg:
                        yield route_map.name, rule, kind
                elif kind not in _COMPUTED_ROUTE_MAP_WORDS:
                    yield route_map.name, rule, kind
                elif (
                    not values.is_route_map_clause_computable("match", kind, value)
                    or (kind, value.partition(" ")[0]) in unknown
                ):
                    yield route_map.name, rule, sanitize_for_message(f"match {kind} {value}")[:_MAX_QUOTED_CHARACTERS]
            for kind, value in rule.sets:
                if kind == SET_GLOBAL_NEXT_HOP_KIND and route_map.name in maps_of_ipv6 and parse_next_hop(kind, value):
                    continue
                if kind == "ip next-hop" and route_map.name in maps_by_word.get(next_hop_kind_of_set_value(value), ()):
                    continue
                if kind not in _COMPUTED_ROUTE_MAP_WORDS:
                    yield route_map.name, rule, kind
                elif (
                    not values.is_route_map_clause_computable("set", kind, value)
                    or (kind == "call" and {route_map.name, value} <= around)
                    or (kind == "on-match" and not values.is_valid_route_map_goto(rule.sequence, value))
                ):
                    yield route_map.name, rule, sanitize_for_message(f"set {kind} {value}")[:_MAX_QUOTED_CHARACTERS]


_COMPUTED_ROUTE_MAP_WORDS = frozenset(
    {
        "ip address prefix-list",
        "ipv6 address prefix-list",
        "community",
        "as-path",
        "tag",
        "metric",
        "local-preference",
        "as-path prepend",
        "extcommunity bandwidth",
        "weight",
        "origin",
        "src",  # zebra's alone: bgpd does not know it (zebra/zebra_routemap.c, set_src)
        "ipv6 next-hop",
        "call",
        "on-match",
    }
)


def matches_only_prefixes(bgp: Bgp, name: str) -> bool:
    """Whether a route map matches nothing but prefixes, rule by rule."""
    rules = [rule for route_map in bgp.route_maps if route_map.name == name for rule in route_map.rules]
    matches = (kind for rule in rules for kind, _ in rule.matches)
    goes = any(kind in ("call", "on-match") for rule in rules for kind, _ in rule.sets)
    return not goes and all(kind.endswith("address prefix-list") for kind in matches)


def prefix_only_map_permits(bgp: Bgp, name: str, found_prefix: Prefix) -> bool:
    """Whether a route map that matches nothing but prefixes lets a prefix pass."""
    rules = [rule for route_map in bgp.route_maps if route_map.name == name for rule in route_map.rules]
    first = next((rule for rule in rules if is_prefix_in_lists(bgp, rule.matches, found_prefix)), None)
    return first is not None and first.action == "permit"


def is_prefix_in_lists(bgp: Bgp, matches: Iterable[tuple[str, str]], found_prefix: Prefix) -> bool:
    """Whether all matches of prefix lists permit a prefix; a list that is missing, or of the other family, does not."""
    lists = {row.name: row for row in bgp.prefix_lists if row.family == found_prefix.family}

    def does_list_permit(kind: str, value: str) -> bool:
        listed = lists.get(value) if kind.startswith("ipv6") is (found_prefix.family == "ipv6") else None
        return listed is not None and is_prefix_permitted(listed, found_prefix)

    return all(does_list_permit(kind, value) for kind, value in matches)


def _recursive_route_maps(bgp: Bgp) -> frozenset[str]:
    """Return the route maps that call themselves, at once or through others."""
    calls = {
        route_map.name: {value for rule in route_map.rules for kind, value in rule.sets if kind == "call"}
        for route_map in bgp.route_maps
    }
    around_themselves = set()
    for name, called in calls.items():
        reached, waiting = set(called), [*called]
        while waiting:
            further = calls.get(waiting.pop(), set()) - reached
            reached |= further
            waiting += further
        if name in reached:
            around_themselves.add(name)
    return frozenset(around_themselves)


def _route_maps_for_connected_only(
    bgp: Bgp, sessions: Sequence[BgpNeighbor], exports: Set[str | None]
) -> set[str | None]:
    """Return the route maps that only connected routes go through: of others it is not known over which leg they go."""
    connected = {row.policy for row in bgp.redistributions if row.source == "connected"}
    other_policies = {row.policy for row in bgp.redistributions if row.source != "connected"}
    imports = {unicast.import_policy for session in sessions for unicast in (session, session.ipv6)}
    return connected - other_policies - imports - exports - {bgp.installed_policy, bgp.installed_policy_ipv6}


def _export_route_maps(bgp: Bgp, sessions: Iterable[BgpNeighbor]) -> set[str | None]:
    """Return the route maps that announced routes go through, and those that others call.

    Which neighbor `match peer` means there differs between releases of FRR.
    """
    unicast_rows = [unicast for session in sessions for unicast in (session, session.ipv6)]
    names = {name for unicast in unicast_rows for name in (unicast.export_policy, unicast.default_policy)}
    return names | {
        value for route_map in bgp.route_maps for rule in route_map.rules for kind, value in rule.sets if kind == "call"
    }
