"""Routes that a router originates: its networks and redistributed routes, and the legs that these depend on."""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping

from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import Bgp, BgpNeighbor, PrefixRule
from nodrop.model.states import known_rows
from nodrop.routing.adverts import DEFAULT_PREFERENCE, INCOMPLETE, AdvertPart, PathAttributes
from nodrop.routing.destinations import DestinationClasses, PrefixListRules
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.policy import CompiledPolicy, drain_attributes
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.static_routes import find_outgoing_interface, is_static_route_in_table, readable_static_routes
from nodrop.routing.words import PolicyReader, SessionPolicy, neighbor_family_statement, prefix_lists_read_by
from nodrop.units import parse_whole_number

LOCAL_WEIGHT = 32768
"""Weight of a route that a router originates (FRR, bgpd/bgp_attr.h, BGP_ATTR_DEFAULT_WEIGHT)."""


def originated_routes(
    router: VrfRouter,
    reader: PolicyReader,
    family: AddressFamily,
    up: Mapping[str, bool],
    origins: dict[Prefix, int] | None = None,
) -> dict[Prefix, PathAttributes]:
    """Return the routes that a router originates: its networks, if it has a route to them, and redistributed ones.

    `up` gives for each of its legs whether it works. A network statement needs its prefix in the routing table (FRR,
    bgpd/bgp_nexthop.c, bgp_import_check) unless `bgp network import-check` is off. It precedes redistribution, unless
    that has a route map that sets a better weight, preference or MED (bgpd/bgp_route.c, bgp_path_info_cmp). A drained
    router gives all of them one preference first.
    If not all legs are known, a prefix that may be on one of them counts as present. `origins` gets the origins of
    redistributed routes, also of those behind a network statement: an aggregate has the worst of all.
    """
    bgp = router.bgp
    if bgp is None:
        return {}
    connected = {
        subnet: leg.name
        for leg in reversed(router.legs)
        if up[leg.name]
        for subnet in leg.subnets
        if subnet.family == family and not subnet.is_link_local
    }
    static = {
        static_prefix: ""
        for route, static_prefix in readable_static_routes(router, family)
        if is_static_route_in_table(router, route, up)
    }
    rows: dict[Prefix, PathAttributes] = {}
    for text in bgp.networks:
        found_prefix = parse_prefix(text)
        if found_prefix is None or found_prefix.family != family:
            continue
        if (
            bgp.import_check is not True
            or found_prefix in connected
            or found_prefix in static
            or router.unknown_leg_fact_path
        ):
            attributes = PathAttributes(weight=LOCAL_WEIGHT, preference=default_local_preference(bgp))
            rows[found_prefix] = drain_attributes(attributes) if bgp.graceful_shutdown else attributes
    for row in bgp.redistributions:
        if row.family == family and row.source != "kernel":
            taken = dict(sorted((connected if row.source == "connected" else static).items()))
            words = reader.of(row.policy, external=False)
            for found_prefix, attributes in filter_redistributed_routes(
                taken, words, family, default_local_preference(bgp)
            ):
                if bgp.graceful_shutdown:
                    attributes = drain_attributes(attributes)
                if found_prefix not in rows or _route_rank(attributes) < _route_rank(rows[found_prefix]):
                    rows[found_prefix] = attributes
                if origins is not None:
                    origins[found_prefix] = max(attributes.origin, origins.get(found_prefix, 0))
    return rows


def default_local_preference(bgp: Bgp) -> int:
    """Return the LOCAL_PREF of a router's routes that get no other value."""
    return DEFAULT_PREFERENCE if bgp.default_preference is None else bgp.default_preference


def _route_rank(own_attributes: PathAttributes) -> tuple[int, int, int, int, int]:
    """Return the sort key of a router's originated route among those of the same prefix; the least wins."""
    return (
        -own_attributes.weight,
        -own_attributes.preference,
        len(own_attributes.path),
        own_attributes.origin,
        own_attributes.med or 0,
    )


def filter_redistributed_routes(
    redistributed_routes: Mapping[Prefix, str],
    policy_terms: SessionPolicy,
    family: AddressFamily,
    preference: int = DEFAULT_PREFERENCE,
) -> Iterator[tuple[Prefix, PathAttributes]]:
    """Yield the routes of another protocol that pass the route map, by prefix; connected ones have their leg.

    `match interface` is checked against that leg (FRR, bgpd/bgp_routemap.c, route_match_interface).
    """
    attributes = PathAttributes(weight=LOCAL_WEIGHT, origin=INCOMPLETE, preference=preference)
    if policy_terms.rules is None:
        yield from ((network, attributes) for network in redistributed_routes)
        return
    destinations = DestinationClasses(
        family, {network: (network,) for network in redistributed_routes}, prefix_lists_read_by(policy_terms)
    )
    policy = CompiledPolicy(0, policy_terms, destinations)
    over: defaultdict[str, list[Prefix]] = defaultdict(list)
    for leg_network, leg in redistributed_routes.items():
        over[leg if policy_terms.has_interface_match else ""].append(leg_network)
    for leg, prefixes in over.items():
        leg_route = AdvertPart(attributes._replace(interface=leg), destinations.class_bits_of_prefixes(prefixes))
        for changed, bits in policy.apply_to_routes((leg_route,), leg_route.bits):
            new_attrs = changed._replace(interface="")
            yield from ((network, new_attrs) for network in prefixes if bits >> destinations.class_of[network] & 1)


def prefixes_with_neighbor_next_hop(
    router: VrfRouter,
    neighbor: BgpNeighbor,
    family: AddressFamily,
    originated: Container[Prefix],
    up: Mapping[str, bool],
) -> PrefixListRules:
    """Return a list that permits the prefixes which a router announces to a neighbor with its address as next hop.

    The neighbor, in another AS, refuses them. They are redistributed static routes: one keeps its next hop if that is
    in the neighbor's subnet (FRR, bgpd/bgp_updgrp_packet.c, bpacket_reformat_for_peer; bgpd/bgp_route.c, bgp_update).
    `originated` are the prefixes that the router originates; `up` gives for each of its legs whether it works.
    """
    bgp, to = router.bgp, parse_address(neighbor.address or "")
    if bgp is None or to is None or to.family != family or neighbor_family_statement(neighbor, family).next_hop_self:
        return ()
    if not redistributes_static_routes(router, family):
        return ()
    networks = {parse_prefix(text) for text in bgp.networks}
    refused = {
        found_prefix
        for route, found_prefix in readable_static_routes(router, family)
        if parse_address(route.next_hop) == to and found_prefix in originated and found_prefix not in networks
    }
    return tuple(
        PrefixRule(sequence=5, action="permit", prefix=str(found_prefix))
        for found_prefix in sorted(refused)
        if _redistributed_next_hop(router, found_prefix, up) == to
    )


def redistributes_static_routes(router: VrfRouter, family: AddressFamily) -> bool:
    """Whether a router redistributes its static routes of a family."""
    rows = () if router.bgp is None else router.bgp.redistributions
    return bool(rows) and any(row.source == "static" and row.family == family for row in rows)


def _redistributed_next_hop(router: VrfRouter, found_prefix: Prefix, up: Mapping[str, bool]) -> Address | None:
    """Return the next hop of a static route as bgpd gets it; None for one over an interface alone.

    It is the first of zebra's sorted next hops: interfaces come before addresses, and the lowest address first (FRR,
    lib/nexthop.c, nexthop_cmp; bgpd/bgp_zebra.c, zebra_read_route).
    """
    routes = [
        route
        for route, to in readable_static_routes(router, found_prefix.family)
        if to == found_prefix and is_static_route_in_table(router, route, up)
    ]
    least = min((route.distance for route in routes), default=0)
    hops = [parse_address(route.next_hop) for route in routes if route.distance == least]
    return min((hop for hop in hops if hop is not None), default=None) if None not in hops else None


def may_learn_local_weight_route(bgp: Bgp) -> bool:
    """Whether a learned route may weigh as much as one that the router originates."""
    stated = [unicast.weight or 0 for one in known_rows(bgp.neighbors) for unicast in (one, one.ipv6)]
    rules = (rule for route_map in bgp.route_maps for rule in route_map.rules)
    numbers = [parse_whole_number(value) for rule in rules for kind, value in rule.sets if kind == "weight"]
    return any(number is None or number >= LOCAL_WEIGHT for number in (*stated, *numbers))


def fallible_interfaces_by_prefix(
    router: VrfRouter, family: AddressFamily
) -> dict[Prefix, tuple[RoutedInterface, ...]]:
    """On which legs it depends whether a router has a prefix, of those that can be down."""
    legs_by_prefix = {subnet: [leg] for subnet, leg in router.interfaces_by_subnet.items()}
    for route, to in readable_static_routes(router, family):
        if (leg := find_outgoing_interface(router, route)) is not None:
            legs_by_prefix.setdefault(to, []).append(leg)
    return {prefix: tuple(legs) for prefix, legs in legs_by_prefix.items()}
