"""What both ends of a session have to agree on before it opens: AS numbers, router ids, hops and passwords."""

from collections.abc import Sequence

from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import BgpNeighbor, Ipv6Unicast
from nodrop.model.subject import Subject
from nodrop.model.values import replace_fields
from nodrop.routing.prefixes import parse_address
from nodrop.routing.routers import BgpSession, DownSession, SessionDownReason, SessionSide, VrfRouter

SessionHalf = tuple[VrfRouter, BgpNeighbor]
"""A router and what it says of the other one."""


LOCAL_ASN_FACT = "neighbor.local_asn"
"""The fact that is not known where bgpd may have refused it."""
TTL_SECURITY_FACT = "neighbor.ttl_security_hops"
"""The fact that is not known where bgpd may ask for a subnet in common nevertheless."""


def find_session_mismatch(own_half: SessionHalf, far_half: SessionHalf, links: tuple[int, int]) -> DownSession | None:
    """Return why a session between two ends stays down; None if it opens.

    `links` has over how many links packets go, those of the first end and those of the second. Where both ends are at
    fault, it is reported at the first of them.
    """
    (router, neighbor), (other_router, back) = own_half, far_half

    def down(reason: SessionDownReason, *related: Subject, there: bool = False, **facts: str | int) -> DownSession:
        return DownSession(router, neighbor, reason, None, facts, related, there)

    if any(one.local_asn_depends_on_line_order(statement) for one, statement in (own_half, far_half)):
        return down("unread", node="", missing=LOCAL_ASN_FACT)
    for one, own_neighbor, end, other_neighbor in (
        (router, neighbor, other_router, back),
        (other_router, back, router, neighbor),
    ):
        wrong = _mismatched_remote_asn(one, own_neighbor, end.shown_asn(other_neighbor))
        if wrong is not None:
            at = (*one.subject_of_neighbor(own_neighbor), "remote_asn")
            return down("asn", at, where=one.name, expected=wrong, peer=end.name, found=end.shown_asn(other_neighbor))
    is_far = (router.number, neighbor.key) > (other_router.number, back.key)
    at = other_router.subject_of_neighbor(back)
    within = _is_ibgp_neighbor(router, neighbor) or _is_ibgp_neighbor(other_router, back)
    if within and router.router_id == other_router.router_id:
        return down("router-id", (*other_router.bgp_subject, "router_id"), there=is_far, peer=other_router.name)
    if neighbor.passive and back.passive:
        return down("passive", (*at, "passive"), there=is_far, peer=other_router.name)
    if neighbor.password != back.password:
        return down(
            "password",
            (*at, "password"),
            there=is_far,
            peer=other_router.name,
            how=_describe_password_mismatch(neighbor, back),
        )
    inside = _router_asn(router) == _router_asn(other_router)
    ways = ((own_half, far_half, links[0]), (far_half, own_half, links[1]))
    for (sender, says), (receiver, checks), link_count in ways:
        received_ttl = _sent_ttl(says, inside=inside) - (link_count - 1)
        least = 1 if checks.ttl_security_hops is None else _MOST_TTL + 1 - checks.ttl_security_hops
        if received_ttl < least:
            far_receives, ends = receiver is not router, {"sender": sender.name, "receiver": receiver.name}
            return down(
                "hops",
                sender.subject_of_neighbor(says),
                there=far_receives,
                **ends,
                left=max(received_ttl, 0),
                least=least,
            )
    return None


def _describe_password_mismatch(own_neighbor: BgpNeighbor, far: BgpNeighbor) -> str:
    """How the passwords of both ends differ, in the words of a message."""
    if own_neighbor.password is None:
        return "only the other end has one"
    return "only this end has one" if far.password is None else "they differ"


_MOST_TTL = 255


def _sent_ttl(neighbor: BgpNeighbor, *, inside: bool) -> int:
    """Return the TTL of a session's packets: the most with TTL security and inside of an AS (bgpd/bgp_network.c)."""
    if inside or neighbor.ttl_security_hops is not None:
        return _MOST_TTL
    return neighbor.ebgp_multihop or 1


def may_reach_neighbor_over_routers(router: VrfRouter, neighbor: BgpNeighbor) -> bool:
    """Whether a session to an address may go over other routers: bgpd asks for no subnet in common."""
    return neighbor.address is not None and not needs_connected_subnet(router, neighbor)


def needs_connected_subnet(router: VrfRouter, neighbor: BgpNeighbor) -> bool:
    """Whether bgpd reaches a neighbor only over a subnet in common (bgpd/bgp_fsm.c, bgp_peer_reg_with_nht).

    It does at a TTL of 1. TTL security makes it 255, also that of a single hop (bgpd/bgpd.c,
    peer_ttl_security_hops_set).
    """
    is_single_hop = (neighbor.ebgp_multihop or 1) == 1 and neighbor.ttl_security_hops is None
    return is_single_hop and not _is_ibgp_neighbor(router, neighbor) and neighbor.connected_check


def may_need_connected_subnet(router: VrfRouter, neighbor: BgpNeighbor) -> bool:
    """Whether it depends on the order of lines that bgpd reaches a neighbor only over a subnet in common.

    So it does with TTL security: a peer group that states it before it has the neighbor gives it a TTL of 1 (FRR,
    bgpd/bgpd.c, peer_group2peer_config_copy). The same decides whether routes of the neighbor follow others than
    connected ones (bgpd/bgp_zebra.c, bgp_zebra_announce).
    """
    is_secured = neighbor.ttl_security_hops is not None and neighbor.ebgp_multihop is None
    return is_secured and not _is_ibgp_neighbor(router, neighbor) and neighbor.connected_check


def _is_ibgp_neighbor(router: VrfRouter, neighbor: BgpNeighbor) -> bool:
    """Whether a statement is about a neighbor in the router's own AS.

    There bgpd refuses a neighbor with its own router id (bgpd/bgp_packet.c, bgp_open_receive).
    """
    return neighbor.remote_asn == "internal" or neighbor.remote_asn == _router_asn(router)


def _mismatched_remote_asn(router: VrfRouter, neighbor: BgpNeighbor, far_asn: int) -> int | str | None:
    """Return the AS number that a statement asks for, where the other end shows another one, `far_asn`."""
    own_asn, asked = _router_asn(router), neighbor.remote_asn
    if asked is None:
        return "none"
    if asked == "external":
        return None if own_asn != far_asn else "external"
    if asked == "internal":
        return None if own_asn == far_asn else "internal"
    return None if asked == far_asn else asked


def _router_asn(router: VrfRouter) -> int:
    return 0 if router.bgp is None else router.bgp.asn


def can_open_from_expected_address(router: VrfRouter, neighbor: BgpNeighbor, reverse_neighbor: BgpNeighbor) -> bool:
    """Whether an end opens the session over a link from the address that the other end expects.

    From an interface with several addresses of a family any of them may be taken (bgpd/bgp_network.c,
    bgp_update_address).
    """
    source = neighbor.update_source
    if neighbor.passive:
        return False
    if source is None or neighbor.interface is not None:
        return True
    expected = parse_address(reverse_neighbor.address or "")
    if expected is None:
        return True
    leg = router.leg_by_name.get(source)
    own_addresses = [ip for own_leg in router.legs for ip in own_leg.addresses] if leg is None else leg.addresses
    return expected in own_addresses and (leg is not None or parse_address(source) == expected)


def is_family_activated(neighbor: BgpNeighbor, family: AddressFamily) -> bool:
    """Whether one end carries a family: IPv4 on a session to an IPv6 address needs next hops of IPv6 (RFC 8950)."""
    if family == "ipv6":
        return neighbor.ipv6.active
    over_ipv6 = neighbor.address is not None and ":" in neighbor.address
    return neighbor.active and (not over_ipv6 or neighbor.extended_next_hop)


def may_use_ipv4_next_hops(own_routers: Sequence[VrfRouter], first_side: SessionSide, second_side: SessionSide) -> bool:
    """Whether an end may use IPv4 routes that come over IPv6 with next hops of IPv4, or counts them against a maximum.

    They have these where not both ends have extended next hops: the IPv4 address of the sender's interface, else its
    router id (FRR, bgpd/bgp_zebra.c, bgp_zebra_nexthop_set). An end uses one that is in one of its subnets, and any
    that it has a route to where it asks for none: inside an AS, over several hops, or without the check for it
    (bgpd/bgp_route.c, bgp_update).
    """
    if not (first_side.neighbor.active and second_side.neighbor.active) or (
        is_family_activated(first_side.neighbor, "ipv4") and is_family_activated(second_side.neighbor, "ipv4")
    ):
        return False
    if any(side.neighbor.maximum_prefix is not None for side in (first_side, second_side)):
        return True
    return any(
        _can_reach_next_hops(own_routers[far.router], far, own_routers[near.router], near)
        for near, far in ((first_side, second_side), (second_side, first_side))
    )


def _can_reach_next_hops(sender: VrfRouter, far: SessionSide, receiver: VrfRouter, near: SessionSide) -> bool:
    if not needs_connected_subnet(receiver, near.neighbor):
        return True
    hops = [far_address for far_address in far.leg.addresses if far_address.family == "ipv4"]
    named_address = parse_address("" if sender.bgp is None else sender.bgp.router_id or "")
    return any(
        receiver.leg_towards(hop) is not None for hop in hops or ([] if named_address is None else [named_address])
    )


def is_redundant_session(session: BgpSession, sessions: Sequence[BgpSession]) -> bool:
    """Whether the IPv4 routes of a session come over another between the same interfaces too, with the same policies.

    FRR takes one of two paths with one next hop (bgpd/bgp_mpath.c, bgp_path_info_mpath_update).
    """
    ends = _ipv4_end_settings(session)
    return any(
        "ipv4" in other_session.families and _ipv4_end_settings(other_session) == ends
        for other_session in sessions
        if other_session is not session
    )


def _ipv4_end_settings(session: BgpSession) -> frozenset[tuple[int, str, BgpNeighbor]]:
    """Return the interfaces of a session, with the IPv4 settings of its ends."""
    return frozenset(
        (
            side.router,
            side.leg.name,
            replace_fields(
                side.neighbor,
                address=None,
                interface=None,
                remote_asn=None,
                description=None,
                update_source=None,
                ipv6=Ipv6Unicast(),
                extended_next_hop=False,
            ),
        )
        for side in (session.a, session.b)
    )
