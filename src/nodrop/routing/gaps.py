"""The parts of a control plane that are not computed (`ControlPlane.gaps`)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject
from nodrop.routing.agreement import LOCAL_ASN_FACT, is_redundant_session, may_use_ipv4_next_hops
from nodrop.routing.contested import find_timing_dependent_static_routes
from nodrop.routing.far_sessions import carried_but_uncomputed_families, may_have_unread_far_session
from nodrop.routing.kept_next_hops import (
    depends_on_route_age,
    find_sides_with_uncomputed_ipv6_next_hops,
    find_sides_with_uncomputed_kept_next_hops,
    find_sides_with_uncomputed_set_next_hops,
)
from nodrop.routing.next_hop_tracking import neighbors_maybe_reached_by_bgp
from nodrop.routing.originating import may_learn_local_weight_route
from nodrop.routing.peerings import find_looping_as_overrides, is_internal_session
from nodrop.routing.policy_gaps import find_uncomputed_clauses, matches_only_prefixes, prefix_only_map_permits
from nodrop.routing.prefixes import parse_address
from nodrop.routing.route_sources import find_set_src_rules_with_foreign_address
from nodrop.routing.routers import BgpSession, SessionSide, VrfRouter
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.speakers import BgpSpeaker
from nodrop.routing.static_routes import (
    bgp_administrative_distance,
    find_outgoing_interface,
    is_discard_route,
    readable_static_routes,
)
from nodrop.routing.words import neighbor_family_statement

if TYPE_CHECKING:
    from nodrop.routing.control_plane import ControlPlane


class UncomputedPart(NamedTuple):
    """Something of a configuration that is not computed: what, and the model path that is not known."""

    subject: Subject
    what: str


def find_uncomputed_parts(plane: "ControlPlane") -> Iterator[UncomputedPart]:
    """Yield the parts of a control plane that are not computed."""
    for device in plane.index.fabric.devices:
        if isinstance(device.bgp, Unknown):
            yield UncomputedPart((device.name,), "device.bgp")
    for router in plane.routers:
        bgp = router.bgp
        if bgp is None:
            continue
        if router.unknown_leg_fact_path:
            yield UncomputedPart((router.device.name,), router.unknown_leg_fact_path)
        if isinstance(bgp.neighbors, Unknown):
            yield UncomputedPart(router.bgp_subject, "device.bgp.neighbors")
        for name, rule, gap_text in find_uncomputed_clauses(bgp):
            yield UncomputedPart((*router.bgp_subject, "route_maps", name, str(rule.sequence)), gap_text)
        yield from _announcement_gaps(plane, router, bgp)
    yield from _unsettled_session_gaps(plane)
    for session in plane.sessions:
        yield from _session_gaps(plane, session)
    for side in find_sides_with_uncomputed_kept_next_hops(plane.routers, plane.sessions):
        yield UncomputedPart(
            plane.routers[side.router].subject_of_neighbor(side.neighbor), "next hops that a route map keeps"
        )
    for side in dict.fromkeys(
        (
            *find_sides_with_uncomputed_set_next_hops(plane.routers, plane.sessions),
            *find_sides_with_uncomputed_ipv6_next_hops(plane.routers, plane.sessions),
        )
    ):
        yield UncomputedPart(
            plane.routers[side.router].subject_of_neighbor(side.neighbor), "next hops that a route map sets"
        )
    for row in plane.unreached_next_hops():
        if not row.is_certain:
            where = plane.routers[row.side.router].subject_of_neighbor(row.side.neighbor)
            yield UncomputedPart(where, "a next hop of a route map that is not reached")
    for family in plane.families:
        for side in find_looping_as_overrides(plane.routers, plane.sessions, family):
            where = plane.routers[side.router].subject_of_neighbor(side.neighbor)
            yield UncomputedPart(where, "AS numbers that routers override for one another")
        if plane.of(family).world.keeps:
            yield from _indirect_route_gaps(plane, plane.of(family))


def _unsettled_session_gaps(plane: "ControlPlane") -> Iterator[UncomputedPart]:
    """Yield statements and sessions whose state is not computed."""
    for session in plane.unsettled.restless:
        where = plane.routers[session.a.router].subject_of_neighbor(session.a.neighbor)
        yield UncomputedPart(where, "a session over several hops whose routes lead it elsewhere")
    for session in plane.unsettled.disputed:
        yield UncomputedPart(
            plane.routers[session.a.router].subject_of_neighbor(session.a.neighbor),
            "which session goes over its limit first",
        )
    for session in plane.unsettled.barely_over:
        yield UncomputedPart(
            plane.routers[session.a.router].subject_of_neighbor(session.a.neighbor),
            "a session with one prefix over its limit",
        )
    for side in plane.unsettled.keeping:
        yield UncomputedPart(
            plane.routers[side.router].subject_of_neighbor(side.neighbor),
            "routes that a session over its limit brought before",
        )
    for down in plane.down:
        is_open = down.reason == "unread" or (down.router.number, down.neighbor.key) in plane.open_statements
        is_multihop = down.neighbor.ebgp_multihop is not None or down.neighbor.ttl_security_hops is not None
        if (is_multihop and is_open) or may_have_unread_far_session(down):
            yield UncomputedPart(down.router.subject_of_neighbor(down.neighbor), "sessions over several hops")
        elif down.facts.get("missing") == LOCAL_ASN_FACT:
            yield UncomputedPart(
                down.router.subject_of_neighbor(down.neighbor), "a local AS number that FRR may have refused"
            )
        elif down.reason == "may-be-filtered":
            yield UncomputedPart(
                down.router.subject_of_neighbor(down.neighbor), f"whether access list {down.facts['list']} drops BGP"
            )


def _session_gaps(plane: "ControlPlane", session: BgpSession) -> Iterator[UncomputedPart]:
    """Yield the properties of a session that the computation of routes does not follow."""
    for side, far in ((session.a, session.b), (session.b, session.a)):
        far_bgp = None if side.neighbor.local_asn is None else plane.routers[far.router].bgp
        if far_bgp is not None and plane.routers[side.router].local_asn(side.neighbor) == far_bgp.asn:
            yield UncomputedPart(
                plane.routers[side.router].subject_of_neighbor(side.neighbor),
                "a local AS number that is the neighbor's",
            )
    if session.far and carried_but_uncomputed_families(session):
        side = session.a
        yield UncomputedPart(
            plane.routers[side.router].subject_of_neighbor(side.neighbor),
            "IPv6 over addresses of IPv4 and several hops",
        )
    elif any(_may_resolve_over_default_route(plane, side) for side in (session.a, session.b) if session.far):
        yield UncomputedPart(
            plane.routers[session.a.router].subject_of_neighbor(session.a.neighbor), "a session over a default route"
        )
    elif may_use_ipv4_next_hops(plane.routers, session.a, session.b) and not is_redundant_session(
        session, plane.sessions
    ):
        where = plane.routers[session.a.router].subject_of_neighbor(session.a.neighbor)
        yield UncomputedPart(where, "IPv4 over IPv6 without extended next hops")
    elif is_internal_session(plane.routers, session):
        for side in (session.a, session.b):
            yield from _static_next_hop_gaps(plane, plane.routers[side.router], side)


def _may_resolve_over_default_route(plane: "ControlPlane", side: SessionSide) -> bool:
    """Whether a session follows a default route: `ip nht resolve-via-default`, which decides, is not known."""
    to = parse_address(side.neighbor.address or "")
    route = None if to is None else plane.of(to.family).route_towards(side.router, to)
    return route is not None and route.prefix.length == 0


def _static_next_hop_gaps(plane: "ControlPlane", router: VrfRouter, side: SessionSide) -> Iterator[UncomputedPart]:
    """Yield announcements to a router's AS that are not followed: redistributed static routes with next hops."""
    bgp = router.bgp
    for row in () if bgp is None else bgp.redistributions:
        keeps_next_hop = (
            row.source == "static" and not neighbor_family_statement(side.neighbor, row.family).next_hop_self
        )
        if keeps_next_hop and any(
            parse_address(route.next_hop) is not None for route, _ in readable_static_routes(router, row.family)
        ):
            where = (*router.bgp_subject, "redistributions", row.key)
            yield UncomputedPart(where, "static routes announced to the own AS with their next hops")


def _indirect_route_gaps(plane: "ControlPlane", routes: FamilyRoutes) -> Iterator[UncomputedPart]:
    """Yield routers with routes over other legs than their announcing sessions' legs, which valleys follow."""
    for number, speaker in routes.world.speakers.items():
        if speaker.resolver is not None and not routes.are_next_hops_settled(number):
            yield UncomputedPart(speaker.router.bgp_subject, "routes over next hops that lead to one another")
        yield from _uncertain_recursive_hop_gaps(plane, routes, speaker)
        for entry in routes.state.table(number).entries if speaker.resolver is not None else ():
            legs = {hop.leg for hop in routes.next_hops_at_links(number, entry.hops)}
            if entry.vias and not {hop.leg for hop in routes.recursive_next_hops(number, entry, None) or ()} <= legs:
                yield UncomputedPart(speaker.router.bgp_subject, "valleys over next hops that are behind other routers")
                break


def _uncertain_recursive_hop_gaps(
    plane: "ControlPlane", routes: FamilyRoutes, speaker: BgpSpeaker
) -> Iterator[UncomputedPart]:
    """Yield routers with routes over routes of which it is not known whether zebra uses them so."""
    number = speaker.router.number
    entries = routes.state.table(number).entries if speaker.resolver is not None else ()
    followers = [entry for entry in entries if entry.vias]
    if any(routes.may_miss_next_hops(number, entry) for entry in followers):
        yield UncomputedPart(speaker.router.bgp_subject, "routes over a route to its own next hop")
    if any(routes.may_repeat_gateway(number, entry) for entry in followers):
        yield UncomputedPart(speaker.router.bgp_subject, "routes with one gateway twice, which Linux refuses")
    if any(depends_on_route_age(speaker, entry) for entry in followers):
        yield UncomputedPart(speaker.router.bgp_subject, "which of equal routes came first")
    if any(routes.depends_on_ttl_security(number, entry) for entry in followers):
        yield UncomputedPart(speaker.router.bgp_subject, "routes over other routes, of a neighbor with TTL security")


def _announcement_gaps(plane: "ControlPlane", router: VrfRouter, bgp: Bgp) -> Iterator[UncomputedPart]:
    """Yield a router's announcements that are not followed: routes of the kernel, and static ones to next hops."""
    redistributions = {row.family: row for row in bgp.redistributions if row.source == "static"}
    for redistribution in bgp.redistributions:
        if redistribution.source == "kernel":
            yield UncomputedPart((*router.bgp_subject, "redistributions", redistribution.key), "routes of the kernel")
    for neighbor in router.neighbors:
        for family in ADDRESS_FAMILIES:
            policy = neighbor_family_statement(neighbor, family).default_policy
            if policy is None:
                continue
            unused_prefixes = plane.of(family).state.prefixes_without_reached_next_hop
            if not matches_only_prefixes(bgp, policy):
                what = "default-originate with a route map of more than prefixes"
                yield UncomputedPart(router.subject_of_neighbor(neighbor), what)
            elif any(prefix_only_map_permits(bgp, policy, one) for one in unused_prefixes(router.number)):
                what = "default-originate with a route map, beside learned routes that are not used"
                yield UncomputedPart(router.subject_of_neighbor(neighbor), what)
    yield from _route_install_gaps(plane, router, bgp)
    for family in ADDRESS_FAMILIES:
        for route, _ in readable_static_routes(router, family):
            is_network = route.prefix in bgp.networks
            if _may_static_route_follow_bgp(plane, router, route, family):
                yield UncomputedPart(
                    (router.device.name, "@static_routes", route.prefix),
                    "static routes to a neighbor with TTL security",
                )
            if is_discard_route(route) or not (is_network or family in redistributions):
                continue
            if find_outgoing_interface(router, route) is None:
                yield UncomputedPart(
                    (router.device.name, "@static_routes", route.prefix), "next hops behind other routes"
                )
            elif may_learn_local_weight_route(bgp) and not is_network and parse_address(route.next_hop) is not None:
                where = (*router.bgp_subject, "redistributions", redistributions[family].key)
                yield UncomputedPart(where, "static routes to a neighbor, beside routes that weigh as much as own ones")


def _may_static_route_follow_bgp(
    plane: "ControlPlane", router: VrfRouter, route: StaticRoute, family: AddressFamily
) -> bool:
    """Whether it is not known that a static route may follow BGP to a neighbor whose link is down."""
    to = parse_address(route.next_hop)
    if to is None or to not in neighbors_maybe_reached_by_bgp(router):
        return False
    routes = plane.of(family)
    return (
        routes.non_bgp_route_towards(router.number, to) is None and routes.route_towards(router.number, to) is not None
    )


def _route_install_gaps(plane: "ControlPlane", router: VrfRouter, bgp: Bgp) -> Iterator[UncomputedPart]:
    """Yield what decides whether routes are installed, and is not followed."""
    for family, name in zip(ADDRESS_FAMILIES, (bgp.installed_policy, bgp.installed_policy_ipv6), strict=True):
        if name is not None and not matches_only_prefixes(bgp, name):
            yield UncomputedPart(router.bgp_subject, "ip protocol bgp with a route map of more than prefixes")
        for rule in find_set_src_rules_with_foreign_address(router, bgp, family, name):
            where = (*router.bgp_subject, "route_maps", name or "", str(rule.sequence))
            yield UncomputedPart(where, "set src of an address that the switch does not have")
    for route, gap_text in find_timing_dependent_static_routes(router, bgp, lambda family: plane.of(family).world):
        yield UncomputedPart((router.device.name, "@static_routes", route.prefix), gap_text)
    for aggregate in bgp.aggregates:
        if aggregate.as_set:
            yield UncomputedPart(router.bgp_subject, "aggregate-address with as-set")
    if any(_may_install_aggregates_despite_distance_255(plane, router, bgp, family) for family in ADDRESS_FAMILIES):
        yield UncomputedPart(router.bgp_subject, "distance 255 of aggregates")


def _may_install_aggregates_despite_distance_255(
    plane: "ControlPlane", router: VrfRouter, bgp: Bgp, family: AddressFamily
) -> bool:
    """Whether aggregates with the distance 255 may be installed: those that bgpd sends before it reads that line.

    With a new distance it sends learned routes again, but no aggregates (FRR, bgpd/bgp_zebra.c,
    bgp_zebra_announce_table).
    """
    if not bgp.aggregates or bgp_administrative_distance(bgp, family, "aggregate") != MAX_ADMINISTRATIVE_DISTANCE:
        return False
    routes = plane.of(family)
    return router.number in routes.world.speakers and bool(routes.state.originated_aggregate_bits(router.number))
