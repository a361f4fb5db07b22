"""`set ip next-hop` of route maps, as far as its effect is computed.

`peer-address` is the address of the neighbor that announces the route; a redistributed one has none (FRR,
bgpd/bgp_routemap.c, route_set_ip_nexthop). `unchanged` marks an imported route: it is announced with the next hop that
it came with, unless a route map to a neighbor in another AS takes the mark away (bgpd/bgp_route.c,
subgroup_announce_check; bgpd/bgp_updgrp_packet.c, bpacket_reformat_for_peer).

An address becomes the next hop of an imported route. Other ASes hear the router's own address instead, except a
neighbor in the subnet of that address. An announced route goes with the address that the route map to the neighbor
sets, or with the router's own for `peer-address`, unless it is reflected.

`set ipv6 next-hop global` sets one of the two next hops that a route of IPv6 has on a link. The other one, link-local,
is used unless a route map sets `prefer-global` on import (bgpd/bgp_nht.c, make_prefix; bgpd/bgp_zebra.c,
bgp_path_info_to_ipv6_nexthop).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from nodrop.model import policy_values as values
from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import Bgp, BgpNeighbor, RouteMapRule
from nodrop.routing.prefixes import Address, parse_address

PEER_ADDRESS_NEXT_HOP = "peer-address"
LITERAL_NEXT_HOP_KEY = "address"
PREFER_GLOBAL_CLAUSE = ("ipv6 next-hop", "prefer-global")
SET_GLOBAL_NEXT_HOP_KIND = "ipv6 next-hop global"
UNCHANGED_HOP_CLAUSE = ("ip next-hop", "unchanged")
"""The clause of a route map that marks the next hop of a route."""


def computed_next_hop_route_maps_by_kind(bgp: Bgp, sessions: Sequence[BgpNeighbor]) -> Mapping[str, Set[str]]:
    """Return the route maps whose `set ip next-hop` is computed, by its value.

    A map is used where it is named, and where a map that calls it is used. A redistributed static route has a next hop
    that `unchanged` keeps; a connected one has none. Of several kinds in the maps of announced routes one would win by
    the order of lines.
    """
    calls = _calls_by_route_map(bgp)
    of_sessions = {route_map.name for route_map in bgp.route_maps} - _reachable_route_maps(
        calls, _route_maps_of_defaults_and_installs(bgp, sessions)
    )
    static = {row.policy for row in bgp.redistributions if row.source != "connected"}
    others = _reachable_route_maps(calls, {row.policy for row in bgp.redistributions})
    exports = {policy for session in sessions for policy in (session.export_policy, session.ipv6.export_policy)}
    mixed = _reachable_route_maps(
        calls,
        {
            policy
            for policy in exports
            if policy and len(_next_hop_kinds_of_route_maps(bgp, _reachable_route_maps(calls, {policy}))) > 1
        },
    )
    return {
        UNCHANGED_HOP_CLAUSE[1]: of_sessions - _reachable_route_maps(calls, static | exports),
        PEER_ADDRESS_NEXT_HOP: of_sessions - mixed,
        LITERAL_NEXT_HOP_KEY: of_sessions - others - mixed,
    }


def _next_hop_kinds_of_route_maps(bgp: Bgp, names: Set[str]) -> set[str]:
    """Return the words of `set ip next-hop` in some route maps."""
    rules = (rule for route_map in bgp.route_maps if route_map.name in names for rule in route_map.rules)
    return {next_hop_kind_of_set_value(value) for rule in rules for kind, value in rule.sets if kind == "ip next-hop"}


def next_hop_kind_of_set_value(value: str) -> str:
    """Return the word of `set ip next-hop`, which is one for all addresses."""
    return LITERAL_NEXT_HOP_KEY if values.is_ipv4_unicast_address(value) else value


def find_set_next_hops(rules: Iterable[RouteMapRule], family: AddressFamily = "ipv4") -> Iterator[Address]:
    """Yield the addresses that rules set as next hops of routes of a family."""
    for rule in rules:
        for kind, value in rule.sets:
            hop = parse_next_hop(kind, value)
            if hop is not None and hop.family == family:
                yield hop


def parse_next_hop(kind: str, value: str) -> Address | None:
    """Return the address that a line of a route map sets as next hop; the global one of IPv6."""
    is_address = (kind == "ip next-hop" and values.is_ipv4_unicast_address(value)) or (
        kind == SET_GLOBAL_NEXT_HOP_KIND and values.parse_global_ipv6_next_hop(value) is not None
    )
    return parse_address(value) if is_address else None


def find_ipv6_only_route_maps(bgp: Bgp, sessions: Sequence[BgpNeighbor]) -> set[str]:
    """Return the route maps whose `set ipv6 next-hop global` may be computed: those of IPv6 sessions alone.

    An IPv4 route gets a next hop of IPv6 by it (FRR, bgpd/bgp_routemap.c, route_set_ipv6_nexthop_global).
    """
    others = {policy for session in sessions for policy in (session.import_policy, session.export_policy)}
    others |= _route_maps_of_defaults_and_installs(bgp, sessions) | {row.policy for row in bgp.redistributions}
    return {route_map.name for route_map in bgp.route_maps} - _reachable_route_maps(_calls_by_route_map(bgp), others)


def find_rules_with_next_hop(bgp: Bgp, policy: str, hop: Address) -> Iterator[tuple[str, RouteMapRule]]:
    """Yield the rules that set a next hop, with their route maps: of a route map and those that it calls."""
    reached = _reachable_route_maps(_calls_by_route_map(bgp), {policy})
    for route_map in bgp.route_maps:
        if route_map.name in reached:
            rules = (rule for rule in route_map.rules if hop in find_set_next_hops([rule], hop.family))
            yield from ((route_map.name, rule) for rule in rules)


def _calls_by_route_map(bgp: Bgp) -> Mapping[str, Set[str]]:
    """Return the route maps that each one calls."""
    calls: defaultdict[str, set[str]] = defaultdict(set)
    for route_map in bgp.route_maps:
        for rule in route_map.rules:
            calls[route_map.name] |= {value for kind, value in rule.sets if kind == "call"}
    return calls


def _route_maps_of_defaults_and_installs(bgp: Bgp, sessions: Sequence[BgpNeighbor]) -> set[str | None]:
    """Return the route maps that announced default routes and installed routes go through."""
    names = {unicast.default_policy for session in sessions for unicast in (session, session.ipv6)}
    return names | {bgp.installed_policy, bgp.installed_policy_ipv6}


def _reachable_route_maps(calls: Mapping[str, Set[str]], names: Set[str | None]) -> set[str]:
    """Return route maps and those that they call."""
    reached, waiting = set[str](), [name for name in names if name is not None]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += calls.get(name, ())
    return reached
