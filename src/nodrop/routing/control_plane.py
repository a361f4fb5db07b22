"""The control plane of a fabric, computed from the model: sessions, learned routes, and next hops of every router.

Everything is exact for BGP between switches of the fabric, in the default VRF and others, for IPv4 and IPv6.
`ControlPlane.gaps` names the parts that are not computed: whether a route through them exists is not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.routing.agreement import needs_connected_subnet
from nodrop.routing.convergence import ConvergedState, converge_world
from nodrop.routing.far_sessions import SettledMultihopSessions, settle_multihop_sessions
from nodrop.routing.gaps import UncomputedPart, find_uncomputed_parts
from nodrop.routing.kept_next_hops import (
    find_announced_set_next_hops,
    find_imported_next_hops,
)
from nodrop.routing.legs import WorkingPorts
from nodrop.routing.prefix_limits import find_sides_keeping_lost_routes, has_prefix_limit, sessions_over_limit
from nodrop.routing.prefixes import Address
from nodrop.routing.route_sources import packet_source_addresses_by_way
from nodrop.routing.routers import BgpSession, DownSession, SessionSide, VrfRouter, build_routers
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.sessions import FabricSessions
from nodrop.routing.speakers import FamilySpeakers
from nodrop.routing.stand_ins import index_with_stand_ins

_MAX_FAR_SESSION_ROUNDS = 8
"""After how many rounds sessions over several hops are taken as they are."""


class UnusableSetNextHop(NamedTuple):
    """A next hop that a route map gives the routes of a session, which the router therefore does not use.

    `side` is the end that hears them, `setter` the end with the route map: the same on import, the other on export.
    """

    side: SessionSide
    setter: SessionSide
    hop: Address
    is_own: bool
    """Whether it is an address of the router itself."""
    is_near: bool
    """Whether it has to be on a link."""
    is_certain: bool
    """Whether no unread part may have a route to it."""


class TimingDependentSessions:
    """Sessions of which the state, or what they leave behind, hangs on time."""

    def __init__(self) -> None:
        self.disputed: list[BgpSession] = []
        """Sessions of which it hangs on time which goes down for its maximum of prefixes."""
        self.barely_over: list[BgpSession] = []
        """Sessions with one prefix more than an end allows."""
        self.restless: tuple[BgpSession, ...] = ()
        """Sessions over several hops that go down once they are up, and come up again."""
        self.keeping: tuple[SessionSide, ...] = ()
        """Ends over which a neighbor may keep routes that came over a session before it went over its limit."""


class ControlPlane:
    """The predicted control plane of a fabric."""

    def __init__(self, index: Index, failed: frozenset[End] = frozenset()) -> None:
        self.index, self.failed = index, failed
        self.routers: tuple[VrfRouter, ...] = tuple(build_routers(index))
        cabling = WorkingPorts(index)
        self.up: tuple[Mapping[str, bool], ...] = tuple(
            {leg.name: cabling.is_leg_up(router.device.name, leg, failed) for leg in router.legs}
            for router in self.routers
        )
        self._found = FabricSessions(index, self.routers, self.up, failed)
        self.sessions: tuple[BgpSession, ...] = ()
        self.down: tuple[DownSession, ...] = ()
        self.unsettled = TimingDependentSessions()
        """Sessions whose state or routes hang on time."""
        self.open_statements: frozenset[tuple[int, str]] = frozenset()
        """Statements over dead links that may have a session over routes, by router and neighbor."""
        near_sessions, asked = self._found.up, self._found.far
        self._settle_multihop_sessions(near_sessions, asked)
        if any(has_prefix_limit(neighbor) for router in self.routers for neighbor in router.neighbors):
            self._drop_sessions_over_limit(near_sessions, asked)

    def _settle_multihop_sessions(
        self, near: Sequence[BgpSession], asked: Sequence[DownSession], dropped: Sequence[DownSession] = ()
    ) -> None:
        """Find the sessions over several hops in addition to those over links; they may bring routes to one another."""
        settled = SettledMultihopSessions((), ())
        for _ in range(_MAX_FAR_SESSION_ROUNDS):
            self._replace_sessions((*near, *settled.up))
            found = (
                settle_multihop_sessions(self._found, asked, self, whole=self._is_fully_known()) if asked else settled
            )
            carrying, before = ({one for one in each.up if one.families} for each in (found, settled))
            settled, self.unsettled.restless = found, tuple(carrying ^ before)
            if not self.unsettled.restless:
                break
        if self.unsettled.restless:
            self._replace_sessions((*near, *settled.up))
        self.sessions = (*near, *settled.up)
        self.down = (*self._found.down, *settled.down, *dropped)
        self.open_statements = settled.open

    def _replace_sessions(self, sessions: Sequence[BgpSession]) -> None:
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
        sessions_before, before = self.sessions, tuple(self._converge_families(self.sessions))
        while over := sessions_over_limit(self._converge_families(self.sessions), self.sessions):
            kept_sessions = [kept_session for number, kept_session in enumerate(self.sessions) if number not in over]
            for number in over if len(over) > 1 else ():
                alone = (*kept_sessions, self.sessions[number])
                if len(kept_sessions) not in sessions_over_limit(self._converge_families(alone), alone):
                    self.unsettled.disputed.append(self.sessions[number])
            for number, (side, most, prefix_count) in over.items():
                session = self.sessions[number]
                if prefix_count == most + 1:
                    self.unsettled.barely_over.append(session)
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
            self._settle_multihop_sessions(near, asked, dropped)
        if dropped:
            after = [self.of(state.world.family).state for state in before]
            kept = find_sides_keeping_lost_routes(before, after, sessions_before, self.sessions)
            self.unsettled.keeping = tuple(dict.fromkeys(kept))

    def _converge_families(self, sessions: Sequence[BgpSession]) -> Iterator[ConvergedState]:
        families = [family for family in ADDRESS_FAMILIES if any(family in session.families for session in sessions)]
        return (converge_world(FamilySpeakers(family, self.routers, sessions, self.up)) for family in families)

    def side(self, router_number: int, session: int) -> SessionSide:
        """Return a router's end of a session."""
        bgp_session = self.sessions[session]
        return bgp_session.a if bgp_session.a.router == router_number else bgp_session.b

    def router_with_address(self, far: Address, router: VrfRouter) -> int | None:
        """Return the router that has an address, other than the one that asks."""
        return self._found.router_with_address(far, router)

    def _is_fully_known(self) -> bool:
        """Whether every router and every session that may bring a route is known."""
        is_bgp_known = not any(isinstance(device.bgp, Unknown) for device in self.index.fabric.devices)
        unread = any(down.reason in ("unread", "may-be-filtered") for down in self._found.down)
        return is_bgp_known and not unread and not any(router.unknown_leg_fact_path for router in self.routers)

    def is_resolved_by_nht(self, number: int, to: Address, *, near: bool) -> bool:
        """Return whether bgpd takes an address for reached, over connected and static routes alone if it is `near`.

        It opens no session to one that a single route drops (FRR, bgpd/bgp_nht.c, evaluate_paths).
        """
        routes = self.of(to.family)
        route = routes.non_bgp_route_towards(number, to) if near else routes.route_towards(number, to)
        return route is not None and not route.discard

    def unreached_next_hops(self) -> Iterator[UnusableSetNextHop]:
        """Yield the next hops that route maps give the routes of sessions, and over which a router uses no route.

        Routes of other ASes at the far end of a link need one on a link (`FamilyRoutes.recursive_next_hops`). Others
        may follow routes of BGP, which are certain only where every router and session is known.
        """
        is_known = self._is_fully_known() and not any(down.reason == "unread" for down in self.down)
        rows = [row for family in ADDRESS_FAMILIES for row in self._next_hops_set_by_route_maps(family)]
        for side, setter, hop in rows:
            router, route = self.routers[side.router], self.of(hop.family).route_towards(side.router, hop)
            is_own = any(hop in leg.addresses for leg in router.legs if self.up[side.router][leg.name])
            is_near = needs_connected_subnet(router, side.neighbor)
            is_followed = route is not None and (route.source == "connected" or not is_near)
            if is_own or not is_followed or not self.is_resolved_by_nht(side.router, hop, near=is_near):
                yield UnusableSetNextHop(side, setter, hop, is_own, is_near, is_own or is_near or is_known)

    def _next_hops_set_by_route_maps(self, family: AddressFamily) -> Iterator[tuple[SessionSide, SessionSide, Address]]:
        """Yield the next hops that route maps set, with the end that hears routes with them and the one that sets."""
        yield from ((side, side, hop) for side, hop in find_imported_next_hops(self.routers, self.sessions, family))
        yield from find_announced_set_next_hops(self.routers, self.sessions, family)

    def next_routers_towards(self, number: int, to: Address) -> Iterator[int]:
        """Yield the routers that get a router's packets to an address, by the routes of the sessions so far."""
        route = self.of(to.family).route_towards(number, to)
        if route is not None and not route.discard:
            for hop in route.hops:
                far = self.router_with_address(to, self.routers[number]) if hop.router is None else hop.router
                if far is not None:
                    yield far

    def source_addresses_towards(self, number: int, to: Address) -> tuple[frozenset[Address], ...]:
        """Return the source addresses that a router's packets to an address have, one set for each way to it."""
        route = self.of(to.family).route_towards(number, to)
        return () if route is None else packet_source_addresses_by_way(self.routers[number], route, to, self.up[number])

    def addresses(self, number: int, leg: str) -> frozenset[Address]:
        """Return the addresses that a router has on a leg; none if it has no such leg."""
        found = self.routers[number].leg_by_name.get(leg)
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
        return FamilyRoutes(self, family, converge_world(FamilySpeakers(family, self.routers, self.sessions, self.up)))

    @cached_property
    def gaps(self) -> tuple[UncomputedPart, ...]:
        """Return the parts that are not computed."""
        return tuple(find_uncomputed_parts(self))


def compute_control_plane(index: Index, failed: frozenset[End] = frozenset()) -> ControlPlane:
    """Return the control plane of a fabric, with the ports in `failed` down; routes are computed when asked for.

    Stand-ins for neighbors outside take part (`routing/stand_ins.py`): `ControlPlane.index` has them among its devices.
    """
    return ControlPlane(index_with_stand_ins(index), failed)
