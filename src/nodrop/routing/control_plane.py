"""The control plane of a fabric, computed from the model: sessions, learned routes, and next hops of every router.

Everything is exact for BGP between switches of the fabric, in the default VRF and others, for IPv4 and IPv6.
`ControlPlane.gaps` names the parts that are not computed: whether a route through them exists is not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nodrop.limits import MAX_DISTANCE
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject
from nodrop.routing.agreement import LOCAL_ASN, is_redundant_session, may_use_hops_of_ipv4, needs_link
from nodrop.routing.contested import find_timing_dependent_routes
from nodrop.routing.convergence import ConvergedState, converge_world
from nodrop.routing.far_sessions import Settled, find_multihop_sessions, is_unread_far_session, unfollowed
from nodrop.routing.kept_next_hops import (
    find_new_hops,
    find_sides_with_kept_hops,
    find_sides_with_new_hops,
    hangs_on_age,
)
from nodrop.routing.legs import CablingState
from nodrop.routing.next_hop_tracking import doubtful_addresses
from nodrop.routing.originating import may_outweigh_local
from nodrop.routing.peerings import find_looping_overrides, is_internal_session
from nodrop.routing.policy_gaps import find_uncomputed_clauses, matches_only_prefixes, permits_prefix
from nodrop.routing.prefix_limits import limit, sessions_over_limit
from nodrop.routing.prefixes import ADDRESS_FAMILIES, Address, AddressFamily, address
from nodrop.routing.route_sources import find_foreign_source_rules, packet_sources
from nodrop.routing.routers import BgpSession, DownSession, Router, SessionSide, routers
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.sessions import FabricSessions
from nodrop.routing.speakers import BgpSpeaker, FamilyWorld
from nodrop.routing.static_routes import (
    bgp_administrative_distance,
    find_outgoing_interface,
    is_discard_route,
    usable_static_routes,
)
from nodrop.routing.words import neighbor_family_statement

_MOST_ROUNDS = 8
"""After how many rounds sessions over several hops are taken as they are."""


class UncomputedPart(NamedTuple):
    """Something of a configuration that is not computed: what, and the model path that is not known."""

    subject: Subject
    what: str


class UnreachedNextHop(NamedTuple):
    """A next hop that a route map gives the routes of a session, which the router therefore does not use."""

    side: SessionSide
    hop: Address
    is_own: bool
    """Whether it is an address of the router itself."""
    is_near: bool
    """Whether it has to be on a link."""
    is_certain: bool
    """Whether no unread part may have a route to it."""


class ControlPlane:
    """The predicted control plane of a fabric."""

    def __init__(self, index: Index, failed: frozenset[End] = frozenset()) -> None:
        self.index, self.failed = index, failed
        self.routers: tuple[Router, ...] = tuple(routers(index))
        cabling = CablingState(index)
        self.up: tuple[Mapping[str, bool], ...] = tuple(
            {leg.name: cabling.up(router.device.name, leg, failed) for leg in router.legs} for router in self.routers
        )
        self._found = FabricSessions(index, self.routers, failed)
        self.sessions: tuple[BgpSession, ...] = ()
        self.down: tuple[DownSession, ...] = ()
        self._disputed: list[BgpSession] = []
        """Sessions of which it hangs on time which goes down for its maximum of prefixes."""
        self._barely_over: list[BgpSession] = []
        """Sessions with one prefix more than an end allows."""
        self._restless: tuple[BgpSession, ...] = ()
        """Sessions over several hops that go down once they are up, and come up again."""
        self._open: frozenset[tuple[int, str]] = frozenset()
        """Statements over dead links that may have a session over routes, by router and neighbor."""
        near_sessions, asked = self._found.up, self._found.far
        self._settle(near_sessions, asked)
        if any(limit(neighbor) for router in self.routers for neighbor in router.neighbors):
            self._drop_sessions_over_limit(near_sessions, asked)

    def _settle(
        self, near: Sequence[BgpSession], asked: Sequence[DownSession], dropped: Sequence[DownSession] = ()
    ) -> None:
        """Find the sessions over several hops in addition to those over links; they may bring routes to one another."""
        settled = Settled((), ())
        for _ in range(_MOST_ROUNDS):
            self._use((*near, *settled.up))
            found = find_multihop_sessions(self._found, asked, self, whole=self._is_fully_known()) if asked else settled
            carrying, before = ({one for one in each.up if one.families} for each in (found, settled))
            settled, self._restless = found, tuple(carrying ^ before)
            if not self._restless:
                break
        if self._restless:
            self._use((*near, *settled.up))
        self.sessions = (*near, *settled.up)
        self.down = (*self._found.down, *settled.down, *dropped)
        self._open = settled.open

    def _use(self, sessions: Sequence[BgpSession]) -> None:
        """Take these sessions, and forget the routes of others."""
        self.sessions = tuple(sessions)
        for name in ("families", "ipv4", "ipv6"):
            self.__dict__.pop(name, None)

    def _drop_sessions_over_limit(self, near: Sequence[BgpSession], asked: Sequence[DownSession]) -> None:
        """Take down sessions over which more prefixes are accepted than an end allows (FRR: until they are cleared).

        bgpd counts the prefixes before it takes another one, so that one prefix more than allowed ends a session only
        where an announcement follows, of any prefix (FRR, bgpd/bgp_route.c, bgp_update).
        """
        dropped: list[DownSession] = []
        while over := sessions_over_limit(self._converge_families(self.sessions), self.sessions):
            kept_sessions = [kept_session for number, kept_session in enumerate(self.sessions) if number not in over]
            for number in over if len(over) > 1 else ():
                alone = (*kept_sessions, self.sessions[number])
                if len(kept_sessions) not in sessions_over_limit(self._converge_families(alone), alone):
                    self._disputed.append(self.sessions[number])
            for number, (side, most, prefix_count) in over.items():
                session = self.sessions[number]
                if prefix_count == most + 1:
                    self._barely_over.append(session)
                for own_side in (session.a, session.b):
                    router = self.routers[own_side.router]
                    facts: dict[str, str | int] = {
                        "most": most,
                        "prefixes": prefix_count,
                        "where": self.routers[side.router].name,
                    }
                    away = own_side is not side
                    dropped.append(DownSession(router, own_side.neighbor, "limit", own_side.leg, facts, there=away))
            gone = {(one.router.number, one.neighbor.key) for one in dropped}
            near = [one for one in near if (one.a.router, one.a.neighbor.key) not in gone]
            asked = [one for one in asked if (one.router.number, one.neighbor.key) not in gone]
            self._settle(near, asked, dropped)

    def _converge_families(self, sessions: Sequence[BgpSession]) -> Iterator[ConvergedState]:
        families = [family for family in ADDRESS_FAMILIES if any(family in session.families for session in sessions)]
        return (converge_world(FamilyWorld(family, self.routers, sessions, self.up)) for family in families)

    def side(self, router_number: int, session: int) -> SessionSide:
        """Return a router's end of a session."""
        bgp_session = self.sessions[session]
        return bgp_session.a if bgp_session.a.router == router_number else bgp_session.b

    def holder(self, far: Address, router: Router) -> int | None:
        """Return the router that has an address, other than the one that asks."""
        return self._found.holder(far, router)

    def _is_fully_known(self) -> bool:
        """Whether every router and every session that may bring a route is known."""
        is_bgp_known = not any(isinstance(device.bgp, Unknown) for device in self.index.fabric.devices)
        unread = any(down.reason in ("unread", "may-be-filtered") for down in self._found.down)
        return is_bgp_known and not unread and not any(router.unsaid for router in self.routers)

    def is_tracked(self, number: int, to: Address, *, near: bool) -> bool:
        """Return whether bgpd takes an address for reached, over connected and static routes alone if it is `near`.

        It opens no session to one that a single route drops (FRR, bgpd/bgp_nht.c, evaluate_paths).
        """
        routes = self.of(to.family)
        route = routes.own_route_towards(number, to) if near else routes.towards(number, to)
        return route is not None and not route.discard

    def unreached_next_hops(self) -> Iterator[UnreachedNextHop]:
        """Yield the next hops that route maps give the routes of sessions, and over which a router uses no route.

        Routes of other ASes at the far end of a link need a next hop on a link (`FamilyRoutes.hops_over`). Others may
        follow routes of BGP, which are certain only where every router and session is known.
        """
        is_known = self._is_fully_known() and not any(down.reason == "unread" for down in self.down)
        for side, hop in find_new_hops(self.routers, self.sessions):
            router, route = self.routers[side.router], self.ipv4.towards(side.router, hop)
            is_own, is_near = any(hop in leg.addresses for leg in router.legs), needs_link(router, side.neighbor)
            is_followed = route is not None and (route.source == "connected" or not is_near)
            if is_own or not is_followed or not self.is_tracked(side.router, hop, near=is_near):
                yield UnreachedNextHop(side, hop, is_own, is_near, is_own or is_near or is_known)

    def onward(self, number: int, to: Address) -> Iterator[int]:
        """Yield the routers that get a router's packets to an address, by the routes of the sessions so far."""
        route = self.of(to.family).towards(number, to)
        if route is not None and not route.discard:
            for hop in route.hops:
                far = self.holder(to, self.routers[number]) if hop.router is None else hop.router
                if far is not None:
                    yield far

    def sources(self, number: int, to: Address) -> tuple[frozenset[Address], ...]:
        """Return the source addresses that a router's packets to an address have, one set for each way to it."""
        route = self.of(to.family).towards(number, to)
        return () if route is None else packet_sources(self.routers[number], route, to, self.up[number])

    def addresses(self, number: int, leg: str) -> frozenset[Address]:
        """Return the addresses that a router has on a leg; none if it has no such leg."""
        found = self.routers[number].by_name.get(leg)
        return frozenset() if found is None else frozenset(found.addresses)

    @cached_property
    def families(self) -> tuple[AddressFamily, ...]:
        """The families that a session carries."""
        return tuple(
            family for family in ADDRESS_FAMILIES if any(family in session.families for session in self.sessions)
        )

    @cached_property
    def ipv4(self) -> FamilyRoutes:
        """The routes of IPv4."""
        return self._routes("ipv4")

    @cached_property
    def ipv6(self) -> FamilyRoutes:
        """The routes of IPv6."""
        return self._routes("ipv6")

    def of(self, family: AddressFamily) -> FamilyRoutes:
        """Return the routes of a family."""
        return self.ipv4 if family == "ipv4" else self.ipv6

    def _routes(self, family: AddressFamily) -> FamilyRoutes:
        return FamilyRoutes(self, family, converge_world(FamilyWorld(family, self.routers, self.sessions, self.up)))

    @cached_property
    def gaps(self) -> tuple[UncomputedPart, ...]:
        """Return the parts that are not computed."""
        return tuple(self._control_plane_gaps())

    def _control_plane_gaps(self) -> Iterator[UncomputedPart]:
        for device in self.index.fabric.devices:
            if isinstance(device.bgp, Unknown):
                yield UncomputedPart((device.name,), "device.bgp")
        for router in self.routers:
            bgp = router.bgp
            if bgp is None:
                continue
            if router.unsaid:
                yield UncomputedPart((router.device.name,), router.unsaid)
            if isinstance(bgp.neighbors, Unknown):
                yield UncomputedPart(router.subject, "device.bgp.neighbors")
            for name, rule, gap_text in find_uncomputed_clauses(bgp):
                yield UncomputedPart((*router.subject, "route_maps", name, str(rule.sequence)), gap_text)
            yield from self._announcement_gaps(router, bgp)
        yield from self._unsettled_session_gaps()
        for session in self.sessions:
            yield from self._session_gaps(session)
        for side in find_sides_with_kept_hops(self.routers, self.sessions):
            yield UncomputedPart(self.routers[side.router].at(side.neighbor), "next hops that a route map keeps")
        for side in find_sides_with_new_hops(self.routers, self.sessions):
            yield UncomputedPart(self.routers[side.router].at(side.neighbor), "next hops that a route map sets")
        for row in self.unreached_next_hops():
            if not row.is_certain:
                where = self.routers[row.side.router].at(row.side.neighbor)
                yield UncomputedPart(where, "a next hop of a route map that is not reached")
        for family in self.families:
            for side in find_looping_overrides(self.routers, self.sessions, family):
                where = self.routers[side.router].at(side.neighbor)
                yield UncomputedPart(where, "AS numbers that routers override for one another")
            if self.of(family).world.keeps:
                yield from self._indirect_route_gaps(self.of(family))

    def _unsettled_session_gaps(self) -> Iterator[UncomputedPart]:
        """Yield statements and sessions whose state is not computed."""
        for session in self._restless:
            where = self.routers[session.a.router].at(session.a.neighbor)
            yield UncomputedPart(where, "a session over several hops whose routes lead it elsewhere")
        for session in self._disputed:
            yield UncomputedPart(
                self.routers[session.a.router].at(session.a.neighbor), "which session goes over its limit first"
            )
        for session in self._barely_over:
            yield UncomputedPart(
                self.routers[session.a.router].at(session.a.neighbor), "a session with one prefix over its limit"
            )
        for down in self.down:
            is_open = down.reason == "unread" or (down.router.number, down.neighbor.key) in self._open
            is_multihop = down.neighbor.ebgp_multihop is not None or down.neighbor.ttl_security_hops is not None
            if (is_multihop and is_open) or is_unread_far_session(down):
                yield UncomputedPart(down.router.at(down.neighbor), "sessions over several hops")
            elif down.facts.get("missing") == LOCAL_ASN:
                yield UncomputedPart(down.router.at(down.neighbor), "a local AS number that FRR may have refused")
            elif down.reason == "may-be-filtered":
                yield UncomputedPart(
                    down.router.at(down.neighbor), f"whether access list {down.facts['list']} drops BGP"
                )

    def _session_gaps(self, session: BgpSession) -> Iterator[UncomputedPart]:
        """Yield the properties of a session that the computation of routes does not follow."""
        for side, far in ((session.a, session.b), (session.b, session.a)):
            far_bgp = self.routers[far.router].bgp
            if far_bgp is not None and self.routers[side.router].local_asn(side.neighbor) == far_bgp.asn:
                yield UncomputedPart(
                    self.routers[side.router].at(side.neighbor), "a local AS number that is the neighbor's"
                )
        if unfollowed(session):
            side = session.a
            yield UncomputedPart(
                self.routers[side.router].at(side.neighbor), "IPv6 over addresses of IPv4 and several hops"
            )
        elif any(self._follows_default_route(side) for side in (session.a, session.b) if session.far):
            yield UncomputedPart(
                self.routers[session.a.router].at(session.a.neighbor), "a session over a default route"
            )
        elif may_use_hops_of_ipv4(self.routers, session.a, session.b) and not is_redundant_session(
            session, self.sessions
        ):
            where = self.routers[session.a.router].at(session.a.neighbor)
            yield UncomputedPart(where, "IPv4 over IPv6 without extended next hops")
        elif is_internal_session(self.routers, session):
            for side in (session.a, session.b):
                yield from self._static_next_hop_gaps(self.routers[side.router], side)

    def _follows_default_route(self, side: SessionSide) -> bool:
        """Whether a session follows a default route: `ip nht resolve-via-default`, which decides, is not known."""
        to = address(side.neighbor.address or "")
        route = None if to is None else self.of(to.family).towards(side.router, to)
        return route is not None and route.prefix.length == 0

    def _static_next_hop_gaps(self, router: Router, side: SessionSide) -> Iterator[UncomputedPart]:
        """Yield announcements to a router's AS that are not followed: redistributed static routes with next hops."""
        bgp = router.bgp
        for row in () if bgp is None else bgp.redistributions:
            keeps_next_hop = (
                row.source == "static" and not neighbor_family_statement(side.neighbor, row.family).next_hop_self
            )
            if keeps_next_hop and any(
                address(route.next_hop) is not None for route, _ in usable_static_routes(router, row.family)
            ):
                where = (*router.subject, "redistributions", row.key)
                yield UncomputedPart(where, "static routes announced to the own AS with their next hops")

    def _indirect_route_gaps(self, routes: FamilyRoutes) -> Iterator[UncomputedPart]:
        """Yield routers with routes over other legs than their announcing sessions' legs, which valleys follow."""
        for number, speaker in routes.world.speakers.items():
            if speaker.resolver is not None and not routes.settles_next_hops(number):
                yield UncomputedPart(speaker.router.subject, "routes over next hops that lead to one another")
            yield from self._missing_hop_gaps(routes, speaker)
            for entry in routes.state.table(number).entries if speaker.resolver is not None else ():
                legs = {hop.leg for hop in routes.hops(number, entry.hops)}
                if entry.vias and not {hop.leg for hop in routes.hops_over(number, entry, None) or ()} <= legs:
                    yield UncomputedPart(speaker.router.subject, "valleys over next hops that are behind other routers")
                    break

    def _missing_hop_gaps(self, routes: FamilyRoutes, speaker: BgpSpeaker) -> Iterator[UncomputedPart]:
        """Yield routers with routes over routes of which it is not known whether zebra uses them so."""
        number = speaker.router.number
        entries = routes.state.table(number).entries if speaker.resolver is not None else ()
        followers = [entry for entry in entries if entry.vias]
        if any(routes.may_miss_next_hops(number, entry) for entry in followers):
            yield UncomputedPart(speaker.router.subject, "routes over a route to its own next hop")
        if any(routes.may_repeat_gateway(number, entry) for entry in followers):
            yield UncomputedPart(speaker.router.subject, "routes with one gateway twice, which Linux refuses")
        if any(hangs_on_age(speaker, entry) for entry in followers):
            yield UncomputedPart(speaker.router.subject, "which of equal routes came first")
        if any(routes.depends_on_ttl_security(number, entry) for entry in followers):
            yield UncomputedPart(speaker.router.subject, "routes over other routes, of a neighbor with TTL security")

    def _announcement_gaps(self, router: Router, bgp: Bgp) -> Iterator[UncomputedPart]:
        """Yield a router's announcements that are not followed: routes of the kernel, and static ones to next hops."""
        redistributions = {row.family: row for row in bgp.redistributions if row.source == "static"}
        for redistribution in bgp.redistributions:
            if redistribution.source == "kernel":
                yield UncomputedPart((*router.subject, "redistributions", redistribution.key), "routes of the kernel")
        for neighbor in router.neighbors:
            for family in ADDRESS_FAMILIES:
                policy = neighbor_family_statement(neighbor, family).default_policy
                if policy is None:
                    continue
                unused_prefixes = self.of(family).state.unused_prefixes
                if not matches_only_prefixes(bgp, policy):
                    what = "default-originate with a route map of more than prefixes"
                    yield UncomputedPart(router.at(neighbor), what)
                elif any(permits_prefix(bgp, policy, one) for one in unused_prefixes(router.number)):
                    what = "default-originate with a route map, beside routes that are not used"
                    yield UncomputedPart(router.at(neighbor), what)
        yield from self._route_install_gaps(router, bgp)
        for family in ADDRESS_FAMILIES:
            for route, _ in usable_static_routes(router, family):
                is_network = route.prefix in bgp.networks
                if self._may_follow_others(router, route, family):
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
                elif may_outweigh_local(bgp) and not is_network and address(route.next_hop) is not None:
                    where = (*router.subject, "redistributions", redistributions[family].key)
                    yield UncomputedPart(
                        where, "static routes to a neighbor, beside routes that weigh as much as own ones"
                    )

    def _may_follow_others(self, router: Router, route: StaticRoute, family: AddressFamily) -> bool:
        """Whether it is not known that a static route may follow BGP to a neighbor whose link is down."""
        to = address(route.next_hop)
        if to is None or to not in doubtful_addresses(router):
            return False
        routes = self.of(family)
        return routes.own_route_towards(router.number, to) is None and routes.towards(router.number, to) is not None

    def _route_install_gaps(self, router: Router, bgp: Bgp) -> Iterator[UncomputedPart]:
        """Yield what decides whether routes are installed, and is not followed."""
        for family, name in zip(ADDRESS_FAMILIES, (bgp.installed_policy, bgp.installed_policy_ipv6), strict=True):
            if name is not None and not matches_only_prefixes(bgp, name):
                yield UncomputedPart(router.subject, "ip protocol bgp with a route map of more than prefixes")
            for rule in find_foreign_source_rules(router, bgp, family, name):
                where = (*router.subject, "route_maps", name or "", str(rule.sequence))
                yield UncomputedPart(where, "set src of an address that the switch does not have")
        for route, gap_text in find_timing_dependent_routes(router, bgp, lambda family: self.of(family).world):
            yield UncomputedPart((router.device.name, "@static_routes", route.prefix), gap_text)
        for aggregate in bgp.aggregates:
            if aggregate.as_set:
                yield UncomputedPart(router.subject, "aggregate-address with as-set")
        if any(self._may_install_aggregates(router, bgp, family) for family in ADDRESS_FAMILIES):
            yield UncomputedPart(router.subject, "distance 255 of aggregates")

    def _may_install_aggregates(self, router: Router, bgp: Bgp, family: AddressFamily) -> bool:
        """Whether aggregates with the distance 255 may be installed: those that bgpd sends before it reads that line.

        With a new distance it sends learned routes again, but no aggregates (FRR, bgpd/bgp_zebra.c,
        bgp_zebra_announce_table).
        """
        is_unused = bgp.aggregates and bgp_administrative_distance(bgp, family, "aggregate") == MAX_DISTANCE
        routes = self.of(family)
        return bool(is_unused and router.number in routes.world.speakers and routes.state.summed(router.number))


def compute(index: Index, failed: frozenset[End] = frozenset()) -> ControlPlane:
    """Return the control plane of a fabric, with the ports in `failed` down; routes are computed when asked for."""
    return ControlPlane(index, failed)
