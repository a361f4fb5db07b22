"""The routes of a router: connected, static and of BGP, with the legs that packets leave by."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model.addresses import ADDRESS_BITS, AddressFamily
from nodrop.model.routing import StaticRoute
from nodrop.routing.agreement import may_need_connected_subnet
from nodrop.routing.convergence import ConvergedState
from nodrop.routing.decision import LearnedTableEntry
from nodrop.routing.next_hop_tracking import neighbors_reached_without_bgp
from nodrop.routing.peerings import is_internal_session
from nodrop.routing.prefixes import Address, Prefix, network_address, parse_address
from nodrop.routing.routers import VrfRouter
from nodrop.routing.static_routes import (
    BgpRouteSource,
    bgp_administrative_distance,
    find_outgoing_interface,
    is_discard_route,
    readable_static_routes,
)

if TYPE_CHECKING:
    from nodrop.routing.control_plane import ControlPlane


_MAX_PREFIX_LENGTH = max(ADDRESS_BITS.values())
_MAX_RESOLUTION_ROUNDS = 50
"""After how many rounds routes that follow one another are taken as they are."""


class NextHop(NamedTuple):
    """One of the next hops of a route: the leg that a packet leaves by, and the router that gets it, if one does."""

    leg: str
    router: int | None
    session: int | None = None


class RouterRoute(NamedTuple):
    """How a router treats packets to a prefix: with source `connected` they have arrived, `discard` drops them."""

    prefix: Prefix
    source: Literal["connected", "static", "bgp"]
    hops: tuple[NextHop, ...] = ()
    discard: bool = False


class FamilyRoutes:
    """The routes of one family, after convergence."""

    def __init__(self, plane: "ControlPlane", family: AddressFamily, state: ConvergedState) -> None:
        self.plane, self.family, self.state = plane, family, state
        self.world = state.world
        self._local: dict[int, dict[Prefix, RouterRoute]] = {}
        self._lengths: dict[int, tuple[int, ...]] = {}
        self._over: dict[int, dict[Prefix, tuple[NextHop, ...] | None]] = {}
        """The next hops of a router's routes that follow others, by prefix; None where such a route is not used."""
        self._ways: defaultdict[int, dict[Address, RouterRoute | None]] = defaultdict(dict)
        """The routes of a router to next hops."""
        self._unsettled: set[int] = set()

    @cached_property
    def bgp_prefix_lengths(self) -> tuple[int, ...]:
        """The lengths of the prefixes that BGP carries, the longest first."""
        return tuple(sorted({prefix.length for prefix in self.world.destinations.prefixes}, reverse=True))

    def non_bgp_routes(self, number: int) -> Mapping[Prefix, RouterRoute]:
        """Return the connected and static routes that a router uses, by prefix.

        A connected one wins over all others, then the one of the least distance (FRR, zebra/zebra_rib.c,
        rib_choose_best).
        """
        if number not in self._local:
            route_by_prefix: dict[Prefix, RouterRoute] = {}
            router = self.plane.routers[number]
            up = self.plane.up[number]
            for leg in router.legs:
                for subnet in leg.subnets if up[leg.name] else ():
                    if subnet.family == self.family:
                        route_by_prefix.setdefault(subnet, RouterRoute(subnet, "connected", (NextHop(leg.name, None),)))
            several: dict[Prefix, dict[int, list[RouterRoute]]] = {}
            behind: dict[Prefix, dict[int, list[Address]]] = {}
            for route, prefix in readable_static_routes(router, self.family):
                if prefix in route_by_prefix or self._is_overridden_by_bgp(number, prefix, route.distance):
                    continue
                row = self._make_static_route(router, prefix, route)
                if row is not None:
                    several.setdefault(prefix, {}).setdefault(route.distance, []).append(row)
                elif (far := parse_address(route.next_hop)) is not None:
                    behind.setdefault(prefix, {}).setdefault(route.distance, []).append(far)
            for prefix, by_distance in several.items():
                rows = by_distance[min(by_distance)]
                route_by_prefix[prefix] = rows[0]._replace(hops=tuple(hop for row in rows for hop in row.hops))
            self._local[number] = route_by_prefix
            least = {prefix: min(hops) for prefix, hops in behind.items()}
            self._add_recursive_static_routes(
                number,
                {
                    prefix: behind[prefix][distance]
                    for prefix, distance in least.items()
                    if distance < min(several.get(prefix, (MAX_ADMINISTRATIVE_DISTANCE,)))
                },
            )
        return self._local[number]

    def _is_overridden_by_bgp(self, number: int, prefix: Prefix, distance: int) -> bool:
        """Whether a router uses a route of BGP rather than a static one of a distance."""
        if distance <= 1 or (entry := self._bgp_entry_to_install(number, prefix)) is None:
            return False
        source: BgpRouteSource = (
            "aggregate" if entry == "aggregate" else "internal" if entry.is_internal else "external"
        )
        return bgp_administrative_distance(self.world.speakers[number].bgp, self.family, source) < distance

    def _add_recursive_static_routes(self, number: int, waiting: dict[Prefix, list[Address]]) -> None:
        """Add static routes whose next hops are behind other routes, which they follow.

        These may be of BGP or drop packets, but are no default route (FRR, zebra/zebra_nhg.c, nexthop_active).
        """
        route_by_prefix = self._local[number]
        near = neighbors_reached_without_bgp(self.plane.routers[number]) if waiting else frozenset()
        if waiting and number in self.world.speakers:
            near |= self.world.speakers[number].ebgp_link_next_hops

        while waiting:
            added = {}
            for prefix, addresses in waiting.items():
                over = [
                    via_route
                    for via in addresses
                    if (via not in near or self.non_bgp_route_towards(number, via) is not None)
                    and (via_route := self._non_default_route(number, via)) is not None
                ]
                if over:
                    hops = tuple(dict.fromkeys(hop for route in over for hop in route.hops))
                    added[prefix] = RouterRoute(prefix, "static", hops, discard=not hops)
            if not added:
                return
            route_by_prefix.update(added)
            self._lengths.pop(number, None)
            self._over.pop(number, None)
            self._ways.pop(number, None)
            waiting = {prefix: addresses for prefix, addresses in waiting.items() if prefix not in added}

    def _non_default_route(self, number: int, to: Address) -> RouterRoute | None:
        """Return the route to an address; None where there is none but a default route.

        Without the default route, which may itself follow the route that this is asked for.
        """
        return self._longest_route(number, to, least=1)

    def _route_to_next_hop(self, number: int, via: Address, prefix: Prefix | None) -> RouterRoute | None:
        """Return the route to the next hop of a route to a prefix; None where it is none that this one may follow."""
        if via not in self._ways[number]:
            self._ways[number][via] = self.plane.of(via.family)._non_default_route(number, via)
        route = self._ways[number][via]
        if route is None or prefix is None or not prefix.contains_address(via):
            return route
        return route if route.prefix.length > prefix.length else None

    def non_bgp_prefix_lengths(self, router_number: int) -> tuple[int, ...]:
        """Return the lengths of the prefixes of a router's connected and static routes, the longest first."""
        if router_number not in self._lengths:
            self._lengths[router_number] = tuple(
                sorted({prefix.length for prefix in self.non_bgp_routes(router_number)}, reverse=True)
            )
        return self._lengths[router_number]

    def _make_static_route(self, router: VrfRouter, prefix: Prefix, route: StaticRoute) -> RouterRoute | None:
        if is_discard_route(route):
            return RouterRoute(prefix, "static", discard=True)
        leg = find_outgoing_interface(router, route)
        if leg is None or not self.plane.up[router.number][leg.name]:
            return None
        far = parse_address(route.next_hop)
        holder = None if far is None else self.plane.router_with_address(far, router)
        return RouterRoute(prefix, "static", (NextHop(leg.name, holder),))

    def route(self, number: int, prefix: Prefix) -> RouterRoute | None:
        """Return the route of a router to exactly this prefix."""
        own_route = self.non_bgp_routes(number).get(prefix)
        return self.learned_route(number, prefix) if own_route is None else own_route

    def learned_route(self, number: int, prefix: Prefix) -> RouterRoute | None:
        """Return the route that BGP has to exactly this prefix, if it is one to install."""
        entry = self._bgp_entry_to_install(number, prefix)
        if entry is None or entry == "aggregate":
            return None if entry is None else RouterRoute(prefix, "bgp", discard=True)
        if not entry.vias:
            return RouterRoute(prefix, "bgp", self.next_hops_at_links(number, entry.hops))
        hops_by_prefix = self._recursive_next_hops_by_prefix(number)
        if prefix not in hops_by_prefix:
            hops_by_prefix[prefix] = self.recursive_next_hops(number, entry, prefix)
        hops = hops_by_prefix[prefix]
        return None if hops is None else RouterRoute(prefix, "bgp", hops, discard=not hops)

    def _bgp_entry_to_install(self, number: int, prefix: Prefix) -> LearnedTableEntry | Literal["aggregate"] | None:
        """Return what BGP has to install for exactly this prefix: a route that it learned, or that it aggregates."""
        found_number = self.world.destinations.class_of.get(prefix)
        if found_number is None or number not in self.world.speakers:
            return None
        speaker = self.world.speakers[number]
        if self.state.originated_aggregate_bits(number) >> found_number & 1:
            return "aggregate" if speaker.installs_sums >> found_number & 1 else None
        entry = self.state.table(number).entry_of_class(found_number)
        if (
            entry is None
            or not speaker.installable_destinations(entry) >> found_number & 1
            or any(local_route.bits >> found_number & 1 for local_route in self.state.originated_parts(number))
        ):
            return None
        return entry

    def next_hops_at_links(self, number: int, positions: Sequence[int]) -> tuple[NextHop, ...]:
        """Return the next hops at positions among a router's links."""
        links = self.world.speakers[number].links
        new_hops = []
        for position in positions:
            link = links[position]
            side = self.plane.side(number, link.session)
            new_hops.append(NextHop(side.leg.name, link.far, link.session))
        return tuple(new_hops)

    def recursive_next_hops(
        self, router_number: int, entry: LearnedTableEntry, prefix: Prefix | None
    ) -> tuple[NextHop, ...] | None:
        """Return the next hops of a route that follows others, none if those drop packets; None if no other is there.

        A route does not follow itself, nor a wider one to a next hop in it, and one of a neighbor of another AS on a
        link follows connected routes alone (FRR, zebra/zebra_nhg.c, nexthop_active; bgpd/bgp_zebra.c,
        bgp_zebra_announce).
        """
        hops: dict[NextHop, None] = {}
        active = False
        follows = self._may_follow_other_routes(router_number, entry)
        for position, via in zip(entry.hops, entry.vias, strict=True):
            route = None if via is None else self._route_to_next_hop(router_number, via, prefix)
            if route is not None and route.source != "connected" and not follows:
                route = None
            active = active or via is None or route is not None
            if via is None:
                hops.update(dict.fromkeys(self.next_hops_at_links(router_number, (position,))))
            elif route is not None and route.source == "connected":
                holder = self.plane.router_with_address(via, self.plane.routers[router_number])
                hops.update({hop._replace(router=holder): None for hop in route.hops})
            elif route is not None:
                hops.update(dict.fromkeys(route.hops))
        return tuple(hops) if active else None

    def depends_on_ttl_security(self, number: int, entry: LearnedTableEntry) -> bool:
        """Whether the next hops of a route depend on the TTL that bgpd has for a neighbor with TTL security."""

        def follows_another(via: Address) -> bool:
            route = self._route_to_next_hop(number, via, None)
            return route is not None and route.source != "connected"

        neighbor = self.plane.side(number, self.world.speakers[number].links[entry.hops[0]].session).neighbor
        is_ttl_uncertain = may_need_connected_subnet(self.plane.routers[number], neighbor)
        return is_ttl_uncertain and self._legs_change_without_hops(number, entry, follows_another)

    def may_miss_next_hops(self, number: int, entry: LearnedTableEntry) -> bool:
        """Whether zebra may leave next hops of a route unused, or seek them elsewhere, because of a route to itself.

        A host may announce itself over a session that goes over another route to it. While zebra replaces that one,
        other routes of the session have no next hop, or follow the next wider route, also one that drops packets, and
        zebra does not look again (FRR, zebra/zebra_nhg.c, nexthop_active).
        """

        def is_elsewhere(via: Address | None) -> bool:
            is_behind = via is not None and self._is_resolved_through_itself(number, via)
            return via is not None and is_behind and self._would_leave_elsewhere(number, entry, via)

        is_missed = self._legs_change_without_hops(
            number, entry, lambda via: self._is_resolved_through_itself(number, via)
        )
        return is_missed or any(map(is_elsewhere, entry.vias))

    def may_repeat_gateway(self, number: int, entry: LearnedTableEntry) -> bool:
        """Whether a route of IPv6 has a next hop on a link, and another one that is reached over that one.

        zebra may then give Linux one gateway twice. Linux refuses the route, and zebra takes it for installed (Linux,
        net/ipv6/route.c, ip6_route_info_append: EEXIST; FRR, zebra/kernel_netlink.c, netlink_parse_error).
        """
        if self.family != "ipv6" or len(entry.vias) < 2:
            return False
        hops = [self._gateway_of_link(number, entry, at) if via is None else via for at, via in enumerate(entry.vias)]
        reached = [(via, self._gateways(number, via)) for via in hops if via is not None]
        on_links = {via for via, gateways in reached if via in gateways}
        return any(via not in on_links and gateways & on_links for via, gateways in reached)

    def _gateway_of_link(self, number: int, entry: LearnedTableEntry, at: int) -> Address | None:
        """Return the next hop of a route of a neighbor in the own AS on a link, None where it is of the link only.

        It is so where the neighbor originates the route (FRR, bgpd/bgp_route.c, subgroup_announce_check).
        """
        session = self.plane.sessions[self.world.speakers[number].links[entry.hops[at]].session]
        near, far = (session.a, session.b) if session.a.router == number else (session.b, session.a)
        is_passed_on = bool(entry.attributes.path) or far.neighbor.ipv6.next_hop_forced
        is_global = is_passed_on and is_internal_session(self.plane.routers, session)
        return parse_address(near.neighbor.address or "") if is_global else None

    def _gateways(self, number: int, via: Address) -> set[Address]:
        """Return the addresses on links that packets to a next hop go to; itself if it is on one."""
        gateways, waiting, seen = set[Address](), [via], {via}
        while waiting:
            gateway = waiting.pop()
            route = self._route_to_next_hop(number, gateway, None)
            if route is None or route.source == "connected":
                gateways |= set() if route is None else {gateway}
                continue
            onward = {*self._gateways_of_route(number, route)} - seen
            seen |= onward
            waiting += onward
        return gateways

    def _gateways_of_route(self, number: int, route: RouterRoute) -> Iterator[Address]:
        """Yield the next hops that a static route or one of BGP states."""
        family = route.prefix.family
        if route.source == "static":
            for static_route, to in readable_static_routes(self.plane.routers[number], family):
                gateway = parse_address(static_route.next_hop)
                if to == route.prefix and gateway is not None:
                    yield gateway
            return
        entry = self.plane.of(family)._bgp_entry_to_install(number, route.prefix)
        if isinstance(entry, LearnedTableEntry):
            yield from (via for via in entry.vias if via is not None)

    def _would_leave_elsewhere(self, number: int, entry: LearnedTableEntry, via: Address) -> bool:
        """Whether a route would leave by other legs if one of its next hops were reached over the next wider route."""
        route = self._route_to_next_hop(number, via, None)
        routes = self.plane.of(via.family)
        wider = None if route is None else routes._longest_route(number, via, least=1, most=route.prefix.length - 1)
        if wider is None or (wider.source != "connected" and not self._may_follow_other_routes(number, entry)):
            return False
        return wider.discard or not {hop.leg for hop in wider.hops} <= {
            hop.leg for hop in self.recursive_next_hops(number, entry, None) or ()
        }

    def _may_follow_other_routes(self, number: int, entry: LearnedTableEntry) -> bool:
        """Whether a route may follow other routes than connected ones."""
        return self.world.speakers[number].links[entry.hops[0]].follows

    def _legs_change_without_hops(
        self, number: int, entry: LearnedTableEntry, is_asked: Callable[[Address], bool]
    ) -> bool:
        """Whether a route would leave by other legs without some of its next hops."""
        paths = list(zip(entry.hops, entry.vias, strict=True))
        kept = [(position, via) for position, via in paths if via is None or not is_asked(via)]
        if not kept or len(kept) == len(paths):
            return not kept
        rest = entry._replace(hops=tuple(row[0] for row in kept), vias=tuple(row[1] for row in kept))
        hops, fewer = (self.recursive_next_hops(number, each, None) or () for each in (entry, rest))
        return {hop.leg for hop in hops} != {hop.leg for hop in fewer}

    def _is_resolved_through_itself(self, number: int, via: Address) -> bool:
        """Whether a next hop is reached over a route of BGP that has a next hop in its own prefix, beside others."""
        route = self._route_to_next_hop(number, via, None)
        if route is None or route.source != "bgp":
            return False
        family_routes = self.plane.of(via.family)
        entry = family_routes._bgp_entry_to_install(number, route.prefix)
        own_vias = () if not isinstance(entry, LearnedTableEntry) else entry.vias
        return any(
            own_via is not None
            and route.prefix.contains_address(own_via)
            and family_routes._route_to_next_hop(number, own_via, route.prefix) is None
            for own_via in own_vias
        )

    def are_next_hops_settled(self, number: int) -> bool:
        """Whether it is known which routes of a router follow which: not of those whose next hops swap for ever."""
        self._recursive_next_hops_by_prefix(number)
        return number not in self._unsettled and self.state.table(number).is_settled

    def _recursive_next_hops_by_prefix(self, number: int) -> dict[Prefix, tuple[NextHop, ...] | None]:
        """Return the next hops of routes that follow others, at least of all that another one of them may follow.

        These are found in rounds, from none: each round looks next hops up in the routes of the round before.
        """
        if number in self._over:
            return self._over[number]
        entries = self._recursive_bgp_entries(number)
        self._over[number] = hops_by_prefix = dict.fromkeys(entries)
        self._unsettled.discard(number)
        for _ in range(_MAX_RESOLUTION_ROUNDS):
            self._ways.pop(number, None)
            changed = {}
            for prefix, entry in entries.items():
                before, hops = hops_by_prefix[prefix], self.recursive_next_hops(number, entry, prefix)
                if (before is None) is not (hops is None) or {*(before or ())} != {*(hops or ())}:
                    changed[prefix] = hops
            if not changed:
                break
            hops_by_prefix.update(changed)
        else:
            self._unsettled.add(number)
            self._ways.pop(number, None)
        return hops_by_prefix

    def _recursive_bgp_entries(self, number: int) -> dict[Prefix, LearnedTableEntry]:
        """Return a router's routes of BGP that follow others, and that have next hops of such routes in them."""
        vias = {via for entry in self.state.table(number).entries for via in entry.vias if via is not None}
        prefixes = {
            Prefix(via.family, network_address(via.family, via.number, length), length)
            for via in vias
            if via.family == self.family
            for length in self.bgp_prefix_lengths
        }
        entries = ((prefix, self._bgp_entry_to_install(number, prefix)) for prefix in sorted(prefixes))
        own_routes = self.non_bgp_routes(number)
        return {
            prefix: entry
            for prefix, entry in entries
            if isinstance(entry, LearnedTableEntry) and entry.vias and prefix.length and prefix not in own_routes
        }

    def route_towards(self, number: int, to: Address) -> RouterRoute | None:
        """Return the route of a router to an address, which is that of the longest prefix; None where it has none."""
        return self._longest_route(number, to)

    def _longest_route(
        self, number: int, to: Address, *, least: int = 0, most: int = _MAX_PREFIX_LENGTH
    ) -> RouterRoute | None:
        """Return the route of the longest prefix to an address, of prefixes with a length from `least` to `most`."""
        for length in sorted({*self.non_bgp_prefix_lengths(number), *self.bgp_prefix_lengths}, reverse=True):
            if not least <= length <= most:
                continue
            route = self.route(number, Prefix(to.family, network_address(to.family, to.number, length), length))
            if route is not None:
                return route
        return None

    def non_bgp_route_towards(self, number: int, to: Address) -> RouterRoute | None:
        """Return the connected or static route of the longest prefix to an address; None without one but a default."""
        own_route_by_prefix = self.non_bgp_routes(number)
        prefixes = (
            Prefix(to.family, network_address(to.family, to.number, length), length)
            for length in self.non_bgp_prefix_lengths(number)
            if length
        )
        return next((own_route_by_prefix[prefix] for prefix in prefixes if prefix in own_route_by_prefix), None)

    def routes(self, number: int) -> Iterator[RouterRoute]:
        """All routes of a router, sorted by prefix."""
        own_route_by_prefix = self.non_bgp_routes(number)
        yield from (
            route
            for prefix in sorted({*own_route_by_prefix, *self.world.destinations.prefixes})
            if (route := self.route(number, prefix)) is not None
        )
