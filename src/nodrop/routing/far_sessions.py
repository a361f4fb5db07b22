"""BGP sessions between addresses that share no subnet, such as those between loopbacks.

Such a session opens if both ends have a route to the address of the other, and if their packets live long enough (FRR,
bgpd/bgp_nht.c, bgp_find_or_add_nexthop; bgpd/bgp_network.c, bgp_connect). It carries the families that both ends state,
with the address of the announcing end as the next hop of its routes.

Not computed: FRR before 9.0 may not use the routes of a session with another AS whose ends connect at the same moment.
The accepted connection has the hop limit 1, so bgpd looks for the neighbor on a link alone; if the other connection
wins, it goes on so (bgpd/bgpd.c, peer_xfer_config; bgpd/bgp_network.c, bgp_accept).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.routing import BgpNeighbor
from nodrop.routing.agreement import (
    TTL_SECURITY_FACT,
    find_session_mismatch,
    is_family_activated,
    may_need_connected_subnet,
    may_reach_neighbor_over_routers,
    needs_connected_subnet,
)
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.prefixes import Address, parse_address
from nodrop.routing.routers import BgpSession, DownSession, SessionSide, VrfRouter
from nodrop.routing.session_filters import SessionPacketEnd, find_blocking_list
from nodrop.routing.session_packets import single_address_range
from nodrop.routing.sessions import FabricSessions, FarNeighborStatement


class RouteLookup(Protocol):
    """How routers reach addresses with the routes there are."""

    def next_routers_towards(self, number: int, to: Address) -> Iterable[int]:
        """Return the routers that get a router's packets to an address: the next ones, or the one that has it."""
        ...

    def source_addresses_towards(self, number: int, to: Address) -> Sequence[frozenset[Address]]:
        """Return the source addresses that a router's packets to an address have, one set for each way to it."""
        ...

    def addresses(self, number: int, leg: str) -> frozenset[Address]:
        """Return the addresses that a router has on a leg; none if it has no such leg."""
        ...

    def is_resolved_by_nht(self, number: int, to: Address, *, near: bool) -> bool:
        """Return whether bgpd takes an address for reached, over connected and static routes alone if it is `near`."""
        ...


_MOST_HOPS = 255


class SettledMultihopSessions(NamedTuple):
    """What becomes of the statements whose session is over several hops."""

    up: tuple[BgpSession, ...]
    """Those first that carry routes."""
    down: tuple[DownSession, ...]
    open: frozenset[tuple[int, str]] = frozenset()
    """Statements over dead links of which it is not known whether their session goes over routes, by neighbor."""


def settle_multihop_sessions(
    sessions: FabricSessions, asked: Iterable[DownSession], ways: RouteLookup, *, whole: bool
) -> SettledMultihopSessions:
    """Return which sessions over several hops come up with the routes there are, of those that are `asked` for.

    Unless the routes are `whole`, a missing one may come from a router that was not read, or over a session of which it
    is not known whether it is up.
    """
    up: list[BgpSession] = []
    down: list[tuple[DownSession, DownSession]] = []
    partners: dict[tuple[int, str], tuple[int, str]] = {}
    for statement in asked:
        result = _resolve_far_session(sessions, statement, ways)
        if isinstance(result, DownSession):
            down.append((statement, result))
            continue
        ends = [(side.router, side.neighbor.key) for side in (result.a, result.b)]
        partners[ends[0]] = ends[1]
        if ends[0] < ends[1]:
            up.append(result)
    disputed = {end for end, partner in partners.items() if partners.get(partner) != end}
    up = [session for session in up if (session.a.router, session.a.neighbor.key) not in disputed]
    down += [(one, _mark_far_end_unread(one)) for one in asked if (one.router.number, one.neighbor.key) in disputed]
    is_route_unknown = not whole or any(
        _may_have_route_bringing_session(result) for one, result in down if not _has_dead_link(one)
    )
    open_statements = frozenset(
        (one.router.number, one.neighbor.key)
        for one, result in down
        if _has_dead_link(one) and (result.reason == "unread" or (is_route_unknown and result.reason == "no-route"))
    )
    outcomes = [
        _mark_far_end_unread(outcome) if is_route_unknown and outcome.reason == "no-route" else outcome
        for one, result in down
        for outcome in (one if _is_down_by_link(one, result) else result,)
    ]
    return SettledMultihopSessions(
        tuple(sorted(up, key=lambda session: not session.families)), tuple(outcomes), open_statements
    )


def _is_down_by_link(asked: DownSession, result: DownSession) -> bool:
    """Whether a statement has no session for a reason that is about its link, and not about routes to an address."""
    if asked.reason == "missing-there":
        return result.reason in ("missing-there", "source")
    if asked.reason == "no-subnet" or _has_dead_link(asked):
        return True
    return asked.reason != "no-route" and result.reason != "unread"


def _has_dead_link(asked: DownSession) -> bool:
    return asked.reason in ("port-down", "no-member")


def _mark_far_end_unread(down: DownSession) -> DownSession:
    return down._replace(reason="unread", facts={"node": "", "missing": "device.bgp"})


def _may_have_route_bringing_session(down: DownSession) -> bool:
    """Whether a statement may have a session that is not computed, and that brings routes."""
    is_unknown = down.reason in ("unread", "may-be-filtered")
    return is_unknown and any(is_family_activated(down.neighbor, family) for family in ADDRESS_FAMILIES)


def may_have_unread_far_session(down: DownSession) -> bool:
    """Whether a statement may have a session over several hops, to an end that was not read, that brings routes."""
    over_hops = down.leg is None and may_reach_neighbor_over_routers(down.router, down.neighbor)
    return over_hops and down.reason == "unread" and _may_have_route_bringing_session(down)


def carried_but_uncomputed_families(session: BgpSession) -> Sequence[AddressFamily]:
    """Return the families that a session over several hops carries but whose routes are not computed.

    These are routes of IPv6 over addresses of IPv4: their next hops are addresses that no statement names.
    """
    return [family for family in _common_families(session) if session.far and family not in session.families]


def _common_families(session: BgpSession) -> list[AddressFamily]:
    a, b = session.a.neighbor, session.b.neighbor
    return [family for family in ADDRESS_FAMILIES if is_family_activated(a, family) and is_family_activated(b, family)]


def _resolve_far_session(sessions: FabricSessions, asked: DownSession, ways: RouteLookup) -> BgpSession | DownSession:
    router, neighbor = asked.router, asked.neighbor
    to = parse_address(neighbor.address or "")
    owner = None if to is None else sessions.address_owner_in_vrf(to, router)
    if to is None or owner is None:
        return _mark_far_end_unread(asked)
    far, far_leg = owner
    statement = _find_far_statement(sessions, router, neighbor, far, ways, to)
    if statement is None:
        if sessions.are_sessions_unknown(far):
            return asked._replace(reason="unread", facts={"node": far.device.name})
        facts = {"peer": far.name, "port": far_leg.name}
        return asked._replace(reason="missing-there", facts=facts, related=(far.bgp_subject,))
    own_address, leg, back = statement
    opening = _ConnectionAttempt(ways, router.number, neighbor, to, own_address)
    far_opening = _ConnectionAttempt(ways, far.number, back, own_address, to)
    if not back.enabled:
        return asked._replace(
            reason="shutdown", facts={"where": far.name}, related=(far.subject_of_neighbor(back),), there=True
        )

    def leave_unknown(missing: str) -> DownSession:
        return asked._replace(reason="unread", facts={"node": "", "missing": missing})

    def without_route(start: VrfRouter) -> DownSession:
        facts = {"where": start.name, "missing": str(neighbor.address if start is router else back.address)}
        return asked._replace(reason="no-route", facts=facts, there=start is not router)

    if opening.may_take_place_of_other(sessions, far) or far_opening.may_take_place_of_other(sessions, router):
        return leave_unknown("neighbor.update_source")
    links = []
    for start, goal, end, end_leg in ((router, to, far, far_leg), (far, own_address, router, leg)):
        distance = _count_links_to_router(ways, start.number, goal, end.number)
        if distance is None or sessions.is_address_unanswered(end, end_leg, goal):
            return without_route(start)
        links.append(distance)
    wrong = find_session_mismatch((router, neighbor), (far, back), (links[0], links[1]))
    if wrong is not None:
        return asked._replace(reason=wrong.reason, facts=wrong.facts, related=wrong.related, there=wrong.there)
    opens, far_opens = opening.may_use_expected_address(), far_opening.may_use_expected_address()
    if not (opens or far_opens):
        facts = {"peer": far.name, "address": str(back.address)}
        return asked._replace(reason="source", facts=facts, there=router.number > far.number)
    start = router if opens else far
    tracked = (
        opens and _is_next_hop_tracking_resolved(ways, router, neighbor, to),
        far_opens and _is_next_hop_tracking_resolved(ways, far, back, own_address),
    )
    if None in tracked and True not in tracked:
        return leave_unknown(TTL_SECURITY_FACT)
    opens, far_opens = (bool(each) for each in tracked)
    if not (opens or far_opens):
        return without_route(start)
    is_certain = (opens and opening.always_uses_expected_address()) or (
        far_opens and far_opening.always_uses_expected_address()
    )
    if not is_certain:
        return leave_unknown("neighbor.update_source")
    halves = (
        SessionPacketEnd(router.device, _cabled_legs(router), single_address_range(own_address), opens),
        SessionPacketEnd(far.device, _cabled_legs(far), single_address_range(to), far_opens),
    )
    stop = find_blocking_list(sessions.index, *halves, across=True)
    if stop is not None:
        facts = {"where": stop.device, "list": stop.rules.name, "what": stop.what}
        at_peer = stop.device != router.device.name
        return asked._replace(reason=stop.reason, facts=facts, related=(stop.subject,), there=at_peer)
    session = BgpSession(
        SessionSide(router.number, neighbor, leg), SessionSide(far.number, back, far_leg), (), far=True
    )
    followed = [family for family in _common_families(session) if family == "ipv4" or to.family == "ipv6"]
    return session._replace(families=tuple(followed))


def _is_next_hop_tracking_resolved(
    ways: RouteLookup, router: VrfRouter, neighbor: BgpNeighbor, to: Address
) -> bool | None:
    """Whether bgpd takes a neighbor for reached; None where it is not known whether routes of BGP count."""
    if may_need_connected_subnet(router, neighbor) and not ways.is_resolved_by_nht(router.number, to, near=True):
        return None if ways.is_resolved_by_nht(router.number, to, near=False) else False
    return ways.is_resolved_by_nht(router.number, to, near=needs_connected_subnet(router, neighbor))


def _find_far_statement(
    sessions: FabricSessions, router: VrfRouter, neighbor: BgpNeighbor, far: VrfRouter, ways: RouteLookup, to: Address
) -> FarNeighborStatement | None:
    """Return a router's statement about another; if there are several, the one that shares a connection with this one.

    Without a shared connection, statements to an address in a subnet of both are about the session over their link.
    """
    answer = sessions.far_statement_over_link(router, neighbor)
    statements = [
        row for row in sessions.unpaired_statements_about(far, router)[to.family] if row.neighbor is not answer
    ]
    for statement in statements:
        opening = _ConnectionAttempt(ways, router.number, neighbor, to, statement.to)
        far_opening = _ConnectionAttempt(ways, far.number, statement.neighbor, statement.to, to)
        if opening.may_use_expected_address() or far_opening.may_use_expected_address():
            return statement
    over_routes = (one for one in statements if far.leg_towards(one.to) is None)
    return next(over_routes, None) if router.leg_towards(to) is None else None


def _cabled_legs(router: VrfRouter) -> tuple[RoutedInterface, ...]:
    return tuple(leg for leg in router.legs if leg.ports)


class _ConnectionAttempt(NamedTuple):
    """The connection that an end of a session opens, and the address that the other end expects it from."""

    ways: RouteLookup
    number: int
    neighbor: BgpNeighbor
    to: Address
    expected: Address

    def may_use_expected_address(self) -> bool:
        """Return whether the end may open it from the expected address."""
        return any(self.expected in addresses for addresses in self._possible_source_addresses())

    def always_uses_expected_address(self) -> bool:
        """Return whether it opens it from there on every way that its packets may take."""
        return all(self.expected in addresses for addresses in self._possible_source_addresses())

    def may_take_place_of_other(self, sessions: FabricSessions, far: VrfRouter) -> bool:
        """Return whether the far end may take the connection for one of another statement, whose session is up.

        It takes it for that of the statement with the address that it comes from. If that statement's own neighbor
        connects first, as where BGP brings the route that the connection needs, both sessions come up as stated; else
        one statement at each end stays without a session.
        """
        if not self.ways.is_resolved_by_nht(self.number, self.to, near=True):
            return False
        unexpected = frozenset[Address]().union(*self._possible_source_addresses()) - {self.expected}
        others = (far.neighbor_by_address.get(source) for source in unexpected)
        return any(other is not None and sessions.is_up_over_link(far, other) for other in others)

    def _possible_source_addresses(self) -> Sequence[frozenset[Address]]:
        """Return the addresses that it may be opened from: the stated ones, else those of packets to the other end."""
        if self.neighbor.passive:
            return ()
        if self.neighbor.update_source is None:
            return self.ways.source_addresses_towards(self.number, self.to)
        stated = parse_address(self.neighbor.update_source)
        if stated is None:
            return (self.ways.addresses(self.number, self.neighbor.update_source),)
        return (frozenset({stated}),)


def _count_links_to_router(ways: RouteLookup, start: int, to: Address, end: int) -> int | None:
    """Return over how many links packets go to a router; None where they do not arrive on any path."""
    reached, distance = {start}, 0
    while end not in reached and reached and distance < _MOST_HOPS:
        reached = {far for number in reached for far in ways.next_routers_towards(number, to)}
        distance += 1
    return distance if end in reached else None
