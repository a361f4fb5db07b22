"""How routers exchange routes with neighbors in the same AS, and with those that are several hops away."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from nodrop.model.addresses import AddressFamily
from nodrop.routing.prefixes import Address, parse_address
from nodrop.routing.routers import BgpSession, SessionSide, VrfRouter
from nodrop.routing.sessions import peer_address_stated_or_derived
from nodrop.routing.words import IbgpOrMultihopPeering, neighbor_family_statement


def is_internal_session(own_routers: Sequence[VrfRouter], session: BgpSession) -> bool:
    """Whether a session is between routers of one AS, and neither shows another number there."""
    a, b = own_routers[session.a.router], own_routers[session.b.router]
    if a.bgp is None or b.bgp is None or a.bgp.asn != b.bgp.asn:
        return False
    return a.local_asn(session.a.neighbor) is None and b.local_asn(session.b.neighbor) is None


def build_ibgp_or_multihop_peering(
    router: VrfRouter, session_side: SessionSide, family: AddressFamily, *, inside: bool, is_multihop: bool
) -> IbgpOrMultihopPeering:
    """Return how a router exchanges routes over a session inside its AS, or with a neighbor that is `far` away."""
    unicast = neighbor_family_statement(session_side.neighbor, family)
    own_router_id = router.router_id
    cluster = None if router.bgp is None else parse_address(router.bgp.cluster_id or "")
    return IbgpOrMultihopPeering(
        internal=inside,
        client=inside and unicast.reflector_client,
        self_hop=unicast.next_hop_self,
        forced=unicast.next_hop_forced,
        over_ipv6=family == "ipv6" or has_rfc8950_next_hops(session_side),
        router_id=own_router_id,
        cluster=own_router_id if cluster is None else cluster.number,
        behind=parse_address(session_side.neighbor.address or "") if is_multihop else None,
    )


def has_rfc8950_next_hops(session_side: SessionSide) -> bool:
    """Whether IPv4 routes over a session have next hops of IPv6 (RFC 8950): always where it is over an interface."""
    neighbor = session_side.neighbor
    return neighbor.interface is not None or neighbor.extended_next_hop


def announced_next_hop_if_global(
    session_side: SessionSide, far_side: SessionSide, family: AddressFamily
) -> Address | None:
    """Return the next hop of a session's routes as others see it; None if it means nothing to others.

    That is a link-local address; a router announces its address instead (FRR, bgpd/bgp_route.c,
    subgroup_announce_check).
    """
    if family == "ipv6" or has_rfc8950_next_hops(session_side):
        own_addresses = (ip for ip in far_side.leg.addresses if ip.family == "ipv6" and not ip.is_link_local)
        return next(own_addresses, None)
    found_address = peer_address_stated_or_derived(session_side.neighbor, session_side.leg)
    return None if found_address is None or found_address.family != "ipv4" else found_address


def find_looping_as_overrides(
    own_routers: Sequence[VrfRouter], sessions: Sequence[BgpSession], family: AddressFamily
) -> Iterator[SessionSide]:
    """Yield the ends of sessions with `as-override` that lead round in a circle.

    A route that is withdrawn goes round there for ever, with a longer path each time: nobody finds its AS number in it
    (FRR, bgpd/bgp_route.c, bgp_peer_as_override). Whether it does hangs on who hears of the withdrawal first.
    """
    edges = [
        (near, far.router)
        for session in sessions
        if family in session.families
        for near, far in ((session.a, session.b), (session.b, session.a))
        if neighbor_family_statement(near.neighbor, family).as_override
        and not is_internal_session(own_routers, session)
    ]
    count = -1
    while len(edges) != count:
        count = len(edges)
        hearing, telling = {far for _, far in edges}, {near.router for near, _ in edges}
        edges = [(near, far) for near, far in edges if near.router in hearing and far in telling]
    yield from (near for near, _ in edges)


def next_hops_beyond_far_end(
    peering_rows: Iterable[tuple[int, IbgpOrMultihopPeering | None, Address | None]],
) -> set[Address]:
    """Return the next hops that a router can hear of and that are not at the far end of its link.

    For each router and session, `peering_rows` have how the router announces routes, and the next hop of those that it
    hears.
    """
    of_router: defaultdict[int, list[tuple[IbgpOrMultihopPeering | None, Address | None]]] = defaultdict(list)
    for router, out, hop in peering_rows:
        of_router[router].append((out, hop))
    addresses: set[Address] = set()
    for sessions in of_router.values():
        peers = [out for out, _ in sessions if out is not None]
        reflects = any(out.client for out in peers)
        sent_hops = {hop for out, hop in sessions if hop is not None and (reflects or out is None or not out.internal)}
        for out in peers:
            if out.behind is not None:
                addresses.add(out.behind)
            if out.internal and not (out.self_hop and (out.forced or not reflects)):
                addresses |= {hop for hop in sent_hops if (hop.family == "ipv6") is out.over_ipv6}
    return addresses
