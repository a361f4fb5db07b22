"""The control plane of a fabric, computed from the model: sessions, what every router learns, and where it sends.

Everything is exact for eBGP between switches of the fabric, in the default VRF and others, for IPv4 and IPv6. What is
not computed is named in `ControlPlane.gaps`: a route through it is not known to be there or not to be.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from nodrop.limits import MAX_DISTANCE
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject
from nodrop.routing.agreement import adds_nothing, may_use_hops_of_ipv4
from nodrop.routing.contested import contested
from nodrop.routing.convergence import State, converge
from nodrop.routing.far_sessions import carries_unfollowed, settle
from nodrop.routing.legs import Cabling
from nodrop.routing.policy import uncomputed
from nodrop.routing.prefix_limits import limit, over_limit
from nodrop.routing.prefixes import FAMILIES, Address, Family, Prefix, address, cut
from nodrop.routing.routers import Down, Router, Session, Side, routers
from nodrop.routing.sessions import Sessions
from nodrop.routing.speakers import World, internal
from nodrop.routing.static_routes import discards, distance_of_bgp, outlet, statics


class Hop(NamedTuple):
    """One of the next hops of a route: the leg that a packet leaves by, and the router that gets it, if one does."""

    leg: str
    router: int | None
    session: int | None = None


class Route(NamedTuple):
    """What a router does with packets to a prefix: `local` ones have arrived, `discard` drops them."""

    prefix: Prefix
    source: Literal["connected", "static", "bgp"]
    hops: tuple[Hop, ...] = ()
    discard: bool = False


class Gap(NamedTuple):
    """Something of a configuration that is not computed: what, and the model path that is not known."""

    subject: Subject
    what: str


class Routes:
    """The routes of one family, after convergence."""

    def __init__(self, plane: "ControlPlane", family: Family, state: State) -> None:
        self.plane, self.family, self.state = plane, family, state
        self.world = state.world
        self._local: dict[int, dict[Prefix, Route]] = {}
        self._lengths: dict[int, tuple[int, ...]] = {}

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of the prefixes that BGP carries, the longest first."""
        return tuple(sorted({one.length for one in self.world.destinations.prefixes}, reverse=True))

    def own(self, number: int) -> Mapping[Prefix, Route]:
        """Return the connected and static routes that a router uses, by prefix.

        A connected one goes before all others, then the one of the least distance (FRR, zebra/zebra_rib.c,
        rib_choose_best).
        """
        if number not in self._local:
            found: dict[Prefix, Route] = {}
            router = self.plane.routers[number]
            up = self.plane.up[number]
            for leg in router.legs:
                for subnet in leg.subnets if up[leg.name] else ():
                    if subnet.family == self.family:
                        found.setdefault(subnet, Route(subnet, "connected", (Hop(leg.name, None),)))
            several: dict[Prefix, dict[int, list[Route]]] = {}
            behind: dict[Prefix, dict[int, list[Address]]] = {}
            for route, prefix in statics(router, self.family):
                if prefix in found or self._is_overridden(number, prefix, route.distance):
                    continue
                row = self._static(router, prefix, route)
                if row is not None:
                    several.setdefault(prefix, {}).setdefault(route.distance, []).append(row)
                elif (far := address(route.next_hop)) is not None:
                    behind.setdefault(prefix, {}).setdefault(route.distance, []).append(far)
            for prefix, by_distance in several.items():
                rows = by_distance[min(by_distance)]
                found[prefix] = rows[0]._replace(hops=tuple(hop for row in rows for hop in row.hops))
            self._local[number] = found
            least = {prefix: min(hops) for prefix, hops in behind.items()}
            self._resolve(
                number,
                {
                    prefix: behind[prefix][distance]
                    for prefix, distance in least.items()
                    if distance < min(several.get(prefix, (MAX_DISTANCE,)))
                },
            )
        return self._local[number]

    def _is_overridden(self, number: int, prefix: Prefix, distance: int) -> bool:
        """Whether a router uses a route of BGP rather than a static one of a distance."""
        if distance <= 1 or (learned := self._learned(number, prefix)) is None:
            return False
        return distance_of_bgp(self.world.speakers[number].bgp, self.family, learned.discard) < distance

    def _resolve(self, number: int, waiting: dict[Prefix, list[Address]]) -> None:
        """Add static routes whose next hops are behind other routes, which they follow.

        These may be of BGP or drop packets, but are no default route (FRR, zebra/zebra_nhg.c, nexthop_active).
        """
        found = self._local[number]
        while waiting:
            added = {}
            for prefix, addresses in waiting.items():
                over = [way for one in addresses if (way := self._over(number, one)) is not None]
                if over:
                    hops = tuple(dict.fromkeys(hop for way in over for hop in way.hops))
                    added[prefix] = Route(prefix, "static", hops, discard=not hops)
            if not added:
                return
            found.update(added)
            self._lengths.pop(number, None)
            waiting = {prefix: addresses for prefix, addresses in waiting.items() if prefix not in added}

    def _over(self, number: int, to: Address) -> Route | None:
        """Return the route to an address; None where there is none but a default route."""
        way = self.towards(number, to)
        return None if way is None or way.prefix.length == 0 else way

    def own_lengths(self, number: int) -> tuple[int, ...]:
        """Return the lengths of the prefixes of a router's connected and static routes, the longest first."""
        if number not in self._lengths:
            self._lengths[number] = tuple(sorted({one.length for one in self.own(number)}, reverse=True))
        return self._lengths[number]

    def _static(self, router: Router, prefix: Prefix, route: StaticRoute) -> Route | None:
        if discards(route):
            return Route(prefix, "static", discard=True)
        leg = outlet(router, route)
        if leg is None or not self.plane.up[router.number][leg.name]:
            return None
        far = address(route.next_hop)
        holder = None if far is None else self.plane.holder(far, router)
        return Route(prefix, "static", (Hop(leg.name, holder),))

    def route(self, number: int, prefix: Prefix) -> Route | None:
        """Return the route of a router to exactly this prefix."""
        own = self.own(number).get(prefix)
        return self._learned(number, prefix) if own is None else own

    def _learned(self, number: int, prefix: Prefix) -> Route | None:
        """Return the route that BGP has to exactly this prefix, if it is one to install."""
        found = self.world.destinations.class_of.get(prefix)
        if found is None or number not in self.world.speakers:
            return None
        speaker = self.world.speakers[number]
        if self.state.summed(number) >> found & 1:
            return Route(prefix, "bgp", discard=True) if speaker.installs_sums >> found & 1 else None
        entry = self.state.table(number).entry(found)
        if (
            entry is None
            or not speaker.installs >> found & 1
            or any(part.bits >> found & 1 for part in self.state.local(number))
        ):
            return None
        return Route(prefix, "bgp", self.hops(number, entry.hops))

    def hops(self, number: int, positions: Sequence[int]) -> tuple[Hop, ...]:
        """Return the next hops at positions among a router's links."""
        links = self.world.speakers[number].links
        made = []
        for position in positions:
            link = links[position]
            side = self.plane.side(number, link.session)
            made.append(Hop(side.leg.name, link.far, link.session))
        return tuple(made)

    def towards(self, number: int, to: Address) -> Route | None:
        """Return the route of a router to an address, which is that of the longest prefix; None where it has none."""
        for length in sorted({*self.own_lengths(number), *self.lengths}, reverse=True):
            route = self.route(number, Prefix(to.family, cut(to.family, to.number, length), length))
            if route is not None:
                return route
        return None

    def routes(self, number: int) -> Iterator[Route]:
        """All routes of a router, sorted by prefix."""
        own = self.own(number)
        yield from (
            found
            for prefix in sorted({*own, *self.world.destinations.prefixes})
            if (found := self.route(number, prefix)) is not None
        )


class ControlPlane:
    """What the control plane of a fabric will do."""

    def __init__(self, index: Index, failed: frozenset[End] = frozenset()) -> None:
        self.index, self.failed = index, failed
        self.routers: tuple[Router, ...] = tuple(routers(index))
        cabling = Cabling(index)
        self.up: tuple[Mapping[str, bool], ...] = tuple(
            {leg.name: cabling.up(one.device.name, leg, failed) for leg in one.legs} for one in self.routers
        )
        found = Sessions(index, self.routers, failed)
        self._found = found
        self.sessions: tuple[Session, ...] = tuple(found.up)
        if found.far:
            self.sessions = (*self.sessions, *settle(found, self._onward, whole=self._is_whole()))
        self.down = tuple(found.down)
        self._disputed: list[Session] = []
        """Sessions of which it hangs on time which goes down for its maximum of prefixes."""
        if any(limit(side.neighbor) for one in self.sessions for side in (one.a, one.b)):
            self._drop_over_limit()

    def _drop_over_limit(self) -> None:
        """Take down sessions over which more prefixes are accepted than an end allows (FRR: until they are cleared)."""
        while over := over_limit(self._worlds(self.sessions), self.sessions):
            kept = [one for number, one in enumerate(self.sessions) if number not in over]
            for number in over if len(over) > 1 else ():
                alone = (*kept, self.sessions[number])
                if len(kept) not in over_limit(self._worlds(alone), alone):
                    self._disputed.append(self.sessions[number])
            for number, (side, most, there) in over.items():
                one = self.sessions[number]
                for own in (one.a, one.b):
                    router = self.routers[own.router]
                    facts: dict[str, str | int] = {
                        "most": most,
                        "prefixes": there,
                        "where": self.routers[side.router].name,
                    }
                    self.down += (Down(router, own.neighbor, "limit", own.leg, facts, there=own is not side),)
            self.sessions = tuple(kept)

    def _worlds(self, sessions: Sequence[Session]) -> Iterator[State]:
        families = [family for family in FAMILIES if any(family in one.families for one in sessions)]
        return (converge(World(family, self.routers, sessions, self.up)) for family in families)

    def side(self, number: int, session: int) -> Side:
        """Return a router's end of a session."""
        one = self.sessions[session]
        return one.a if one.a.router == number else one.b

    def holder(self, far: Address, router: Router) -> int | None:
        """Return the router that has an address, other than the one that asks."""
        return self._found.holder(far, router)

    def _is_whole(self) -> bool:
        """Whether every router and every session that may bring a route is known."""
        known = not any(isinstance(device.bgp, Unknown) for device in self.index.fabric.devices)
        unread = any(down.reason in ("unread", "may-be-filtered") for down in self._found.down)
        return known and not unread and not any(router.unsaid for router in self.routers)

    def _onward(self, number: int, to: Address) -> Iterator[int]:
        """Yield the routers that get a router's packets to an address, by the routes of the sessions so far."""
        route = self.of(to.family).towards(number, to)
        if route is not None and not route.discard:
            for hop in route.hops:
                far = self.holder(to, self.routers[number]) if hop.router is None else hop.router
                if far is not None:
                    yield far

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The families that a session carries."""
        return tuple(one for one in FAMILIES if any(one in session.families for session in self.sessions))

    @cached_property
    def ipv4(self) -> Routes:
        """The routes of IPv4."""
        return self._routes("ipv4")

    @cached_property
    def ipv6(self) -> Routes:
        """The routes of IPv6."""
        return self._routes("ipv6")

    def of(self, family: Family) -> Routes:
        """Return the routes of a family."""
        return self.ipv4 if family == "ipv4" else self.ipv6

    def _routes(self, family: Family) -> Routes:
        return Routes(self, family, converge(World(family, self.routers, self.sessions, self.up)))

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """What is not computed."""
        return tuple(self._gaps())

    def _gaps(self) -> Iterator[Gap]:
        for device in self.index.fabric.devices:
            if isinstance(device.bgp, Unknown):
                yield Gap((device.name,), "device.bgp")
        for router in self.routers:
            bgp = router.bgp
            if bgp is None:
                continue
            if router.unsaid:
                yield Gap((router.device.name,), router.unsaid)
            if isinstance(bgp.neighbors, Unknown):
                yield Gap(router.subject, "device.bgp.neighbors")
            for name, rule, what in uncomputed(bgp):
                yield Gap((*router.subject, "route_maps", name, str(rule.sequence)), what)
            yield from self._unfollowed(router, bgp)
        for session in self._disputed:
            yield Gap(self.routers[session.a.router].at(session.a.neighbor), "which session goes over its limit first")
        for down in self.down:
            if down.neighbor.ebgp_multihop is not None and down.reason in ("port-down", "unread"):
                yield Gap(down.router.at(down.neighbor), "sessions over several hops")
            elif down.reason == "may-be-filtered":
                yield Gap(down.router.at(down.neighbor), f"whether access list {down.facts['list']} drops BGP")
        for session in self.sessions:
            if carries_unfollowed(session):
                side = session.a
                yield Gap(self.routers[side.router].at(side.neighbor), "routes over a session of several hops")
            elif internal(self.routers, session):
                yield Gap(self.routers[session.a.router].at(session.a.neighbor), "routes between routers of one AS")
            elif may_use_hops_of_ipv4(self.routers, session.a, session.b) and not adds_nothing(session, self.sessions):
                where = self.routers[session.a.router].at(session.a.neighbor)
                yield Gap(where, "IPv4 over IPv6 without extended next hops")

    def _unfollowed(self, router: Router, bgp: Bgp) -> Iterator[Gap]:
        """Yield what a router announces that is not followed: routes of the kernel, and static ones to next hops."""
        told = {one.family: one for one in bgp.redistributions if one.source == "static"}
        for one in bgp.redistributions:
            if one.source == "kernel":
                yield Gap((*router.subject, "redistributions", one.key), "routes of the kernel")
        for neighbor in router.neighbors:
            for said in (neighbor, neighbor.ipv6):
                if said.default_policy is not None and not self._only_prefixes(bgp, said.default_policy):
                    yield Gap(router.at(neighbor), "default-originate with a route map of more than prefixes")
        yield from self._uninstalled(router, bgp)
        yield from self._over_aggregates(router)
        kept = {one.address for one in router.neighbors if not one.next_hop_self}
        for family in FAMILIES:
            for route, _ in statics(router, family):
                named = route.prefix in bgp.networks
                if discards(route) or not (named or family in told):
                    continue
                if outlet(router, route) is None:
                    yield Gap((router.device.name, "@static_routes", route.prefix), "next hops behind other routes")
                elif route.next_hop in kept and not named:
                    where = (*router.subject, "redistributions", told[family].key)
                    yield Gap(where, "static routes to a neighbor, which refuses what is told with its own address")

    def _over_aggregates(self, router: Router) -> Iterator[Gap]:
        """Yield static routes that follow an aggregate of the router: in FRR it hangs on time if they are there."""
        up = self.up[router.number]
        for family in FAMILIES:
            for route, prefix in statics(router, family):
                leg = outlet(router, route)
                if discards(route) or (leg is not None and up[leg.name]):
                    continue
                found = self.of(family).own(router.number).get(prefix)
                if found is not None and found.discard:
                    where = (router.device.name, "@static_routes", route.prefix)
                    yield Gap(where, "static routes over a route that drops packets")

    def _uninstalled(self, router: Router, bgp: Bgp) -> Iterator[Gap]:
        """Yield what decides whether routes are installed, and is not followed."""
        for name in (bgp.installed_policy, bgp.installed_policy_ipv6):
            if name is not None and not self._only_prefixes(bgp, name):
                yield Gap(router.subject, "ip protocol bgp with a route map of more than prefixes")
        for route, what in contested(router, bgp, lambda family: self.of(family).world):
            yield Gap((router.device.name, "@static_routes", route.prefix), what)
        for one in bgp.aggregates:
            if one.as_set:
                yield Gap(router.subject, "aggregate-address with as-set")

    @staticmethod
    def _only_prefixes(bgp: Bgp, name: str) -> bool:
        """Whether a route map matches nothing but prefixes, rule by rule."""
        rules = [rule for one in bgp.route_maps if one.name == name for rule in one.rules]
        matches = (kind for rule in rules for kind, _ in rule.matches)
        goes = any(kind in ("call", "on-match") for rule in rules for kind, _ in rule.sets)
        return not goes and all(kind.endswith("address prefix-list") for kind in matches)


def compute(index: Index, failed: frozenset[End] = frozenset()) -> ControlPlane:
    """Return the control plane of a fabric, with the ports in `failed` down; routes are computed when asked for."""
    return ControlPlane(index, failed)
