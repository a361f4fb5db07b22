"""Where routes with the mark of `set ip next-hop unchanged` go, and what becomes of them there.

A neighbor in another AS that takes only next hops in its own subnets has no use for a route with one that is in none of
them, and refuses a route with its own address (FRR, bgpd/bgp_route.c, bgp_update; bgpd/bgp_nht.c,
bgp_find_or_add_nexthop). What else a neighbor does with such a next hop is not computed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import BgpNeighbor
from nodrop.routing.agreement import may_need_connected_subnet, needs_connected_subnet
from nodrop.routing.decision import LearnedTableEntry
from nodrop.routing.next_hop_policy import SET_GLOBAL_NEXT_HOP_KIND, UNCHANGED_HOP_CLAUSE
from nodrop.routing.originating import redistributes_static_routes
from nodrop.routing.peerings import announced_next_hop_if_global, is_internal_session
from nodrop.routing.prefixes import Address, parse_address
from nodrop.routing.routers import BgpSession, SessionSide, VrfRouter
from nodrop.routing.speakers import BgpSpeaker
from nodrop.routing.words import PolicyReader, has_ipv4_next_hops


def find_sides_with_uncomputed_kept_next_hops(
    own_routers: Sequence[VrfRouter], sessions: Sequence[BgpSession]
) -> Iterator[SessionSide]:
    """Yield the ends of sessions whose announcements with kept next hops are not computed."""
    marking = {
        number for number in _router_numbers_of_sessions(sessions) if _has_unchanged_next_hop_rule(own_routers[number])
    }
    by_router: dict[int, list[tuple[BgpSession, SessionSide, SessionSide]]] = {number: [] for number in marking}
    for session in sessions if marking else ():
        for near, far in ((session.a, session.b), (session.b, session.a)):
            if near.router in marking and "ipv4" in session.families:
                by_router[near.router].append((session, near, far))
    for number, rows in by_router.items():
        bgp = own_routers[number].bgp
        reader = None if bgp is None else PolicyReader(bgp, "ipv4")
        imports = [
            row for row in rows if reader is not None and reader.inbound(row[1].neighbor).sets_next_hop_unchanged
        ]
        for row in rows:
            others = [other for other in imports if other[0] is not row[0]]
            if others and not _is_marked_route_outcome_computed(own_routers, row, others):
                yield row[1]


def find_imported_next_hops(
    own_routers: Sequence[VrfRouter], sessions: Sequence[BgpSession], family: AddressFamily
) -> Iterator[tuple[SessionSide, Address]]:
    """Yield the next hops that route maps give routes of a family, with the end of the session that imports them."""
    for side, _, new_hops, _ in _ends_with_hops_of_route_maps(own_routers, sessions, family):
        yield from ((side, hop) for hop in sorted(new_hops))


def find_announced_set_next_hops(
    own_routers: Sequence[VrfRouter], sessions: Sequence[BgpSession], family: AddressFamily
) -> Iterator[tuple[SessionSide, SessionSide, Address]]:
    """Yield the next hops that route maps give announced routes, with the ends that hear and announce them."""
    for near, far, _, told_hops in _ends_with_hops_of_route_maps(own_routers, sessions, family):
        yield from ((far, near, hop) for hop in sorted(hop for hop in told_hops if hop is not None))


def _ends_with_hops_of_route_maps(
    own_routers: Sequence[VrfRouter], sessions: Sequence[BgpSession], family: AddressFamily
) -> Iterator[tuple[SessionSide, SessionSide, frozenset[Address], frozenset[Address | None]]]:
    """Yield the ends of sessions with the other ends, and the next hops that their route maps set both ways.

    Those of IPv6 are computed between ASes on a link alone.
    """
    readers = {
        number: PolicyReader(bgp, family)
        for number in _routers_setting_hops(own_routers, sessions, family)
        if (bgp := own_routers[number].bgp) is not None
    }
    for session in sessions if readers else ():
        if family not in session.families or (family == "ipv6" and not _is_single_hop_ebgp(own_routers, session)):
            continue
        for near, far in ((session.a, session.b), (session.b, session.a)):
            reader = readers.get(near.router)
            if reader is not None:
                told_hops = reader.outbound(near.neighbor, 0).told_hops
                yield near, far, reader.inbound(near.neighbor).new_hops, told_hops


def _is_single_hop_ebgp(own_routers: Sequence[VrfRouter], session: BgpSession) -> bool:
    """Whether a session is with another AS on a link."""
    return not session.far and not is_internal_session(own_routers, session)


def find_sides_with_uncomputed_ipv6_next_hops(
    own_routers: Sequence[VrfRouter], sessions: Sequence[BgpSession]
) -> Iterator[SessionSide]:
    """Yield the ends of sessions whose routes with global next hops that a route map has set are not computed.

    Such a next hop goes along in the AS, and to a neighbor in its subnet, which may refuse it for its own address.
    """
    hops_by_router: defaultdict[int, set[Address]] = defaultdict(set)
    heard_hops = ((far, hop) for far, _, hop in find_announced_set_next_hops(own_routers, sessions, "ipv6"))
    for side, hop in (*find_imported_next_hops(own_routers, sessions, "ipv6"), *heard_hops):
        hops_by_router[side.router].add(hop)
    setting = _routers_setting_hops(own_routers, sessions, "ipv6")
    for session in sessions if setting else ():
        is_near = _is_single_hop_ebgp(own_routers, session)
        for side in (session.a, session.b) if "ipv6" in session.families else ():
            router, hops = own_routers[side.router], hops_by_router[side.router]
            is_open = any(_may_next_hop_be_passed_on(router, session, side.neighbor, hop) for hop in hops)
            is_open = is_open or parse_address(side.neighbor.address or "") in hops
            if not is_near:
                policies = (side.neighbor.ipv6.import_policy, side.neighbor.ipv6.export_policy)
                is_open = (
                    is_open or (bool(hops) and not session.far) or _do_maps_set_global_ipv6_next_hops(router, policies)
                )
            if is_open:
                yield side


def _do_maps_set_global_ipv6_next_hops(router: VrfRouter, policies: Iterable[str | None]) -> bool:
    """Whether route maps of a router set global next hops of IPv6."""
    reader = None if router.bgp is None else PolicyReader(router.bgp, "ipv6")
    return reader is not None and any(reader.of(policy).named_next_hops("ipv6") for policy in policies)


def find_sides_with_uncomputed_set_next_hops(
    own_routers: Sequence[VrfRouter], sessions: Sequence[BgpSession]
) -> Iterator[SessionSide]:
    """Yield the ends of sessions whose announcements with next hops that a route map has set are not computed.

    A neighbor in the subnet of such a next hop gets it instead of the router's own address. Over next hops of IPv6 what
    a route map to the neighbor sets has no effect on other ASes; in the AS it is not computed (FRR, bgpd/bgp_route.c,
    subgroup_announce_check; bgpd/bgp_updgrp_packet.c, bpacket_reformat_for_peer).
    """
    hops_by_router: defaultdict[int, set[Address]] = defaultdict(set)
    hearing_over_ipv6 = set[int]()
    heard_hops = ((far, hop) for far, _, hop in find_announced_set_next_hops(own_routers, sessions, "ipv4"))
    for side, hop in (*find_imported_next_hops(own_routers, sessions, "ipv4"), *heard_hops):
        hops_by_router[side.router].add(hop)
        if not has_ipv4_next_hops(side.neighbor):
            hearing_over_ipv6.add(side.router)
    setting = _routers_setting_hops(own_routers, sessions, "ipv4")
    for session in sessions if setting else ():
        for near, far in ((session.a, session.b), (session.b, session.a)):
            router, neighbor = own_routers[near.router], near.neighbor
            hops = hops_by_router[near.router]
            told = _next_hops_set_on_export(router, neighbor) if near.router in setting else frozenset[Address | None]()
            if "ipv4" not in session.families or not (hops or told):
                continue
            over_ipv4 = has_ipv4_next_hops(neighbor) and has_ipv4_next_hops(far.neighbor)
            is_internal = is_internal_session(own_routers, session)
            is_open = (bool(told) and not over_ipv4 and is_internal) or (
                None in told and redistributes_static_routes(router, "ipv4")
            )
            if is_internal:
                is_open = is_open or (near.router in hearing_over_ipv6 and not over_ipv4)
            else:
                is_open = is_open or any(_may_next_hop_be_passed_on(router, session, neighbor, hop) for hop in hops)
            if is_open:
                yield near


def _next_hops_set_on_export(router: VrfRouter, neighbor: BgpNeighbor) -> frozenset[Address | None]:
    """Return the next hops that a route map to a neighbor sets, for any next hops of the session."""
    if router.bgp is None or neighbor.export_policy is None:
        return frozenset()
    return PolicyReader(router.bgp, "ipv4").of(neighbor.export_policy).announced_next_hops("ipv4")


def _router_numbers_of_sessions(sessions: Iterable[BgpSession]) -> list[int]:
    """Return the routers of sessions, in order."""
    return sorted({side.router for session in sessions for side in (session.a, session.b)})


def _routers_setting_hops(
    own_routers: Sequence[VrfRouter], sessions: Iterable[BgpSession], family: AddressFamily
) -> list[int]:
    """Return the routers of sessions that have a route map that sets the next hop of routes of a family."""
    return [
        number
        for number in _router_numbers_of_sessions(sessions)
        if _has_map_setting_next_hop(own_routers[number], family)
    ]


def _has_map_setting_next_hop(router: VrfRouter, family: AddressFamily) -> bool:
    """Whether a route map of a router sets the next hop of routes of a family."""
    maps = () if router.bgp is None else router.bgp.route_maps
    word = "ip next-hop" if family == "ipv4" else SET_GLOBAL_NEXT_HOP_KIND
    return any(kind == word for route_map in maps for rule in route_map.rules for kind, _ in rule.sets)


def depends_on_route_age(speaker: BgpSpeaker, entry: LearnedTableEntry) -> bool:
    """Whether it matters which of equal routes came first, of which one has a next hop that a route map has set.

    bgpd takes the first for the best, of routes of other ASes.
    The best one decides whether zebra looks for their next hops behind other routes, and its next hop is passed on
    (FRR, bgpd/bgp_route.c, bgp_path_info_cmp; bgpd/bgp_zebra.c, bgp_zebra_announce).
    """
    if speaker.bgp.compare_router_id or entry.is_internal or len(set(entry.vias)) < 2:
        return False
    new_hops = {hop for link in speaker.links for hop in link.inbound.new_hops | link.inbound.heard_hops}
    if new_hops.isdisjoint(entry.vias):
        return False
    outward = [link.outbound for position, link in enumerate(speaker.links) if position not in entry.hops]
    is_passed_on = any(out.own_hop in entry.vias for out in outward if out.own_hop is not None)
    is_kept = any(out.peering is not None and not out.peering.self_hop for out in outward)
    return is_passed_on or is_kept or len({speaker.links[position].follows for position in entry.hops}) > 1


def _may_next_hop_be_passed_on(router: VrfRouter, session: BgpSession, neighbor: BgpNeighbor, hop: Address) -> bool:
    """Whether a neighbor in another AS may get a next hop that is not its own address."""
    peer = parse_address(neighbor.address or "")
    if peer is None or hop == peer or any(hop in leg.addresses for leg in router.legs):
        return session.far and hop == peer
    return any(
        subnet.contains_address(hop) and subnet.contains_address(peer) for leg in router.legs for subnet in leg.subnets
    )


def _has_unchanged_next_hop_rule(router: VrfRouter) -> bool:
    maps = () if router.bgp is None else router.bgp.route_maps
    return any(UNCHANGED_HOP_CLAUSE in rule.sets for route_map in maps for rule in route_map.rules)


def _is_marked_route_outcome_computed(
    own_routers: Sequence[VrfRouter],
    announcing: tuple[BgpSession, SessionSide, SessionSide],
    imports: Sequence[tuple[BgpSession, SessionSide, SessionSide]],
) -> bool:
    """Whether it is computed what a neighbor does with the marked routes of other sessions."""
    session, near, far = announcing
    if is_internal_session(own_routers, session):
        return not near.neighbor.next_hop_self
    if near.neighbor.export_policy is not None:
        return True
    over_ipv4 = has_ipv4_next_hops(near.neighbor)
    if over_ipv4 is not has_ipv4_next_hops(far.neighbor):
        return False
    for other, heard, teller in imports:
        hop = announced_next_hop_if_global(heard, teller, "ipv4")
        hears_ipv4 = has_ipv4_next_hops(heard.neighbor)
        if hears_ipv4 is not has_ipv4_next_hops(teller.neighbor) or is_internal_session(own_routers, other):
            return False
        is_replaced = hop is None or over_ipv4 is not hears_ipv4
        if not is_replaced and not (
            over_ipv4 and hop is not None and _is_useless_next_hop(own_routers[far.router], far, hop)
        ):
            return False
    return True


def _is_useless_next_hop(router: VrfRouter, side: SessionSide, hop: Address) -> bool:
    """Whether a router has no use for a route with a next hop: it is its own, or in none of its subnets."""
    neighbor = side.neighbor
    if (
        not needs_connected_subnet(router, neighbor)
        or may_need_connected_subnet(router, neighbor)
        or neighbor.maximum_prefix is not None
    ):
        return False
    is_own = any(hop in leg.addresses for leg in router.legs)
    return is_own or not any(subnet.contains_address(hop) for leg in router.legs for subnet in leg.subnets)
