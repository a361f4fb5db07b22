"""The effect of a failed cable or switch on a fabric: exact, and computed from the state before.

A failure touches only destinations that a router reaches over the failed part, or that this part originates. For these
alone the routers around it decide again, and then every router that hears something new.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.fabric import End, Link
from nodrop.routing.adverts import AdvertPart, PathAttributes, destinations_of_parts
from nodrop.routing.agreement import may_reach_neighbor_over_routers
from nodrop.routing.control_plane import ControlPlane
from nodrop.routing.convergence import AdvertResultCache
from nodrop.routing.decision import HeardAdverts, LearnedTable
from nodrop.routing.failed import FailedState, FailureResultCache, RouteTableChange, change_between_learned_tables
from nodrop.routing.legs import WorkingPorts
from nodrop.routing.originating import prefixes_with_neighbor_next_hop, redistributes_static_routes
from nodrop.routing.prefixes import Address, Prefix, network_address, parse_address
from nodrop.routing.recomputed import find_routes_with_fewer_hops, routes_after_failure
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.speakers import BgpSpeaker
from nodrop.routing.static_routes import find_outgoing_interface, readable_static_routes
from nodrop.routing.tiers import TierDirections
from nodrop.routing.twins import InterchangeableRouters

_MAX_CACHED_DESTINATION_SETS: Final = 8


class AffectedDestinations(NamedTuple):
    """Destinations, by the bits of their classes, that a router loses or reaches in another way."""

    router: int
    bits: int


class ReducedPaths(NamedTuple):
    """Destinations that a router reaches over fewer next hops than before."""

    router: int
    bits: int
    hops: int
    before: int


class FailureOutcome(NamedTuple):
    """The effect of a failure: unreachable destinations, routers that send up what came down, and fewer next hops."""

    unreachable: tuple[AffectedDestinations, ...] = ()
    valleys: tuple[AffectedDestinations, ...] = ()
    weaker: tuple[ReducedPaths, ...] = ()
    unstable: frozenset[int] = frozenset()
    valleys_searched: bool = True
    """Whether `valleys` has all of them; they are not looked for where routes follow others."""
    state: FailedState | None = None
    """The routes to destinations that are announced otherwise; None without any, or where routes follow others."""


class FailureAnalysis:
    """The failures of a control plane in one family."""

    def __init__(self, plane: ControlPlane, routes: FamilyRoutes) -> None:
        self._plane, self._routes = plane, routes
        self._world, self._state = routes.world, routes.state
        self._cabling = WorkingPorts(plane.index)
        self._tiers = TierDirections(routes.world)
        self._kept: dict[int, FailureResultCache] = {}

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The cables between devices of the fabric."""
        devices = self._plane.index.devices
        return tuple(
            link for link in self._plane.index.fabric.links if link.a.node in devices and link.b.node in devices
        )

    @cached_property
    def _router_numbers_by_device(self) -> Mapping[str, list[int]]:
        """The routers of each device."""
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for router in self._plane.routers:
            numbers[router.device.name].append(router.number)
        return numbers

    @cached_property
    def _sessions_by_port(self) -> Mapping[End, list[int]]:
        """The sessions over each port."""
        sessions: defaultdict[End, list[int]] = defaultdict(list)
        for number, session in enumerate(self._plane.sessions):
            for side in (session.a, session.b):
                device = self._plane.routers[side.router].device.name
                for port in side.leg.ports:
                    sessions[End(device, port)].append(number)
        return sessions

    @cached_property
    def equivalent_links(self) -> Mapping[Link, tuple[Link, ...]]:
        """Return the cables in groups with the same effect but for names, by the first of each group."""
        groups: dict[object, list[Link]] = {}
        for link in self.links:
            over = {number for end in (link.a, link.b) for number in self._sessions_by_port.get(end, ())}
            key: object = link
            if len(over) == 1 and (place := self._link_position_by_session.get(*over)) is not None:
                key = self._speaker_twins.representative_session(*place)
            groups.setdefault(key, []).append(link)
        return {group[0]: tuple(group) for group in groups.values()}

    @cached_property
    def _prefix_lengths(self) -> Mapping[AddressFamily, frozenset[int]]:
        """The lengths of the announced prefixes of each family."""
        return {
            family: frozenset(prefix.length for prefix in self._plane.of(family).world.destinations.prefixes)
            for family in ADDRESS_FAMILIES
        }

    @cached_property
    def equivalent_devices(self) -> Mapping[str, tuple[str, ...]]:
        """Return the devices with BGP in groups with the same effect but for names, by the first of each."""
        groups: dict[object, list[str]] = {}
        for device, numbers in self._router_numbers_by_device.items():
            like = tuple(self._speaker_twins.like[number] for number in numbers if number in self._world.speakers)
            if like:
                groups.setdefault(like, []).append(device)
        return {group[0]: tuple(group) for group in groups.values()}

    @cached_property
    def _speaker_twins(self) -> InterchangeableRouters:
        tied = self._world.tied
        return InterchangeableRouters(
            self._world,
            frozenset(
                speaker
                for speaker in self._world.speakers
                if tied or self.can_originated_routes_depend_on_ports(speaker)
            ),
        )

    @cached_property
    def _link_position_by_session(self) -> Mapping[int, tuple[int, int]]:
        """A router and the position of its link, of every session that carries the family."""
        return {
            link.session: (number, position)
            for number, speaker in self._world.speakers.items()
            for position, link in enumerate(speaker.links)
        }

    def outcome_without_links(self, *links: Link) -> FailureOutcome:
        """Return what becomes of the fabric without these cables."""
        ends = frozenset(end for link in links for end in (link.a, link.b))
        dead = {
            number
            for end in ends
            for number in self._sessions_by_port.get(end, ())
            if not self._is_session_up(number, ends)
        }
        if self._world.keeps or self._does_any_session_reopen(dead, ends) or self._changes_refused_prefixes(ends):
            return self._recompute_outcome(ends, frozenset())
        local = {}
        for node in dict.fromkeys(end.node for end in ends):
            for number in self._router_numbers_by_device.get(node, ()):
                if number in self._world.speakers and self.can_originated_routes_depend_on_ports(number):
                    local[number] = self._world.originated_parts_with_legs(number, self._leg_states(number, ends))
        return self._outcome_of_failure(frozenset(dead), local, frozenset())

    def outcome_without_device(self, name: str) -> FailureOutcome:
        """Return the state of the fabric without a device; destinations that it originates do not count as lost."""
        gone = frozenset(number for number in self._router_numbers_by_device[name] if number in self._world.speakers)
        if self._world.keeps:
            ports = self._plane.index.devices[name].interfaces
            return self._recompute_outcome(frozenset(End(name, port.name) for port in ports), gone)
        dead = frozenset(link.session for number in gone for link in self._world.speakers[number].links)
        return self._outcome_of_failure(dead, dict.fromkeys(gone, ()), gone)

    def _recompute_outcome(self, ends: frozenset[End], gone: frozenset[int]) -> FailureOutcome:
        """Return what becomes of a fabric without some ports where routes follow others; valleys are not looked for."""
        routes = routes_after_failure(self._routes, ends)
        lost: dict[int, int] = {}
        weaker = []
        for number, bits, remaining_hops, previous_hops in find_routes_with_fewer_hops(self._routes, routes, gone):
            if remaining_hops:
                weaker.append(ReducedPaths(number, bits, remaining_hops, previous_hops))
            else:
                lost[number] = lost.get(number, 0) | bits
        return FailureOutcome(_losses_by_router(lost), (), tuple(weaker), routes.state.unstable, valleys_searched=False)

    def _is_session_up(self, number: int, ends: frozenset[End]) -> bool:
        session = self._plane.sessions[number]
        return all(
            self._cabling.is_leg_up(self._plane.routers[side.router].device.name, side.leg, ends | self._plane.failed)
            for side in (session.a, session.b)
        )

    def _does_any_session_reopen(self, dead_sessions: Iterable[int], ends: frozenset[End]) -> bool:
        """Whether any of these sessions over links that fail opens again over other routes."""
        numbers = [number for number in dead_sessions if self._may_reopen(number)]
        if not numbers:
            return False
        plane = ControlPlane(self._plane.index, ends | self._plane.failed)
        keys = {(side.router, side.neighbor.key) for number in numbers for side in self._plane.sessions[number][:2]}
        return any((one.a.router, one.a.neighbor.key) in keys for one in plane.sessions if one.far)

    def _changes_refused_prefixes(self, ends: frozenset[End]) -> bool:
        """Whether a neighbor that is left refuses other prefixes, because a static route loses its first next hop."""
        family, origins = self._world.family, self._world.origins
        for number in {
            number for end in ends for number in self._router_numbers_by_device.get(end.node, ())
        } & self._world.speakers.keys():
            router, up = self._plane.routers[number], self._leg_states(number, ends)
            for neighbor in router.neighbors if redistributes_static_routes(router, family) else ():
                leg = router.leg_towards(to) if (to := parse_address(neighbor.address or "")) is not None else None
                if leg is not None and up[leg.name]:
                    states = (self._plane.up[number], up)
                    before, after = (
                        prefixes_with_neighbor_next_hop(router, neighbor, family, origins, state) for state in states
                    )
                    if before != after:
                        return True
        return False

    def _may_reopen(self, number: int) -> bool:
        """Whether a session may go over several hops, and each end may have another route to the address of the other.

        Such a session is not lost with its link (`routing/far_sessions.py`).
        """
        session = self._plane.sessions[number]
        legs = {side.router: side.leg.name for side in (session.a, session.b)}
        for side in (session.a, session.b):
            router = self._plane.routers[side.router]
            to = parse_address(side.neighbor.address or "")
            if to is None or not may_reach_neighbor_over_routers(router, side.neighbor):
                return False
            routes = readable_static_routes(router, to.family)
            if not (
                any(prefix.contains_address(to) for _, prefix in routes) or self._is_announced_without_legs(to, legs)
            ):
                return False
        return True

    def _is_announced_without_legs(self, to: Address, legs: Mapping[int, str]) -> bool:
        """Whether an address is in a prefix that is announced without these legs too, one of each router."""
        world = self._plane.of(to.family).world
        for length in self._prefix_lengths[to.family]:
            prefix = Prefix(to.family, network_address(to.family, to.number, length), length)
            rows = world.origins.get(prefix)
            if rows is None:
                if prefix in world.destinations.class_of:
                    return True
            elif any({leg.name for leg in over} != {legs.get(number)} for number, _, over in rows):
                return True
        return False

    def can_originated_routes_depend_on_ports(self, number: int) -> bool:
        """Whether the routes that a router originates can depend on its ports."""
        router = self._plane.routers[number]
        bgp = router.bgp
        if bgp is None:
            return False
        over = [leg for leg in router.legs if leg.ports]
        routes = [
            route
            for route, _ in readable_static_routes(router, self._world.family)
            if find_outgoing_interface(router, route) in over
        ]
        return (
            any(row.source == "connected" or (row.source == "static" and routes) for row in bgp.redistributions)
            or any(str(subnet) in bgp.networks for leg in over for subnet in leg.subnets)
            or any(route.prefix in bgp.networks for route in routes)
        )

    def _leg_states(self, number: int, ends: frozenset[End]) -> Mapping[str, bool]:
        router = self._plane.routers[number]
        failed = ends | self._plane.failed
        return {leg.name: self._cabling.is_leg_up(router.device.name, leg, failed) for leg in router.legs}

    def _outcome_of_failure(
        self, dead: frozenset[int], local: Mapping[int, tuple[AdvertPart, ...]], gone: frozenset[int]
    ) -> FailureOutcome:
        """Return what becomes of the fabric: routers at the ends decide again, and their changes spread."""
        ends = {side.router for number in dead for side in self._plane.sessions[number][:2]} | local.keys()
        state, makers = self._state, AdvertResultCache(self._world, self._state.makers)
        weaker: list[ReducedPaths] = []
        unreachable: dict[int, int] = {}
        bits = gone_bits = 0
        for number in gone:
            gone_bits |= destinations_of_parts(self._world.speakers[number].local)
        for number in sorted(ends):
            speaker = self._world.speakers[number]
            before = state.table(number)
            pairs = zip(speaker.links, speaker.hears, strict=True)
            heard = tuple([() if link.session in dead else state.sent_adverts(*whom) for link, whom in pairs])
            table = makers.table(speaker, heard)
            own_routes = local.get(number, speaker.local)
            for policy in {link.outbound.number: link.outbound for link in speaker.links}.values():
                bits |= differing_destinations(
                    state.sent_adverts(number, policy.number),
                    makers.compute_adverts(speaker, own_routes, table, policy),
                )
            if number not in gone:
                changed = change_between_learned_tables(before, table)
                itself = self._destinations_without_learned_route(speaker, own_routes, table, makers)
                weaker += _destinations_with_fewer_links(number, changed, itself)
                unreachable[number] = changed.lost & ~itself & ~gone_bits
        if not bits:
            return FailureOutcome(_losses_by_router(unreachable), (), tuple(weaker))
        if self._world.tied:
            bits = self._world.all_class_bits
        known_cached_result = self._cached_results(bits)
        failed = FailedState(state, dead, local, known_cached_result).converge_from(ends)
        weaker = [row._replace(bits=remaining_bits) for row in weaker if (remaining_bits := row.bits & ~bits)]
        touched = sorted(failed.tables.keys() - gone)
        for number in touched:
            changed = known_cached_result.table_change(failed.table_before(number), failed.tables[number])
            speaker = self._world.speakers[number]
            if changed.lost or changed.weaker:
                itself = self._destinations_without_learned_route(
                    speaker, failed.originated_parts(number), failed.tables[number], known_cached_result.makers
                )
                weaker += _destinations_with_fewer_links(number, changed, itself)
            lost = changed.lost & ~itself & ~gone_bits if changed.lost else 0
            unreachable[number] = (unreachable.get(number, 0) & ~bits) | lost
        valleys = tuple(self._find_new_valleys(failed, touched, known_cached_result))
        return FailureOutcome(_losses_by_router(unreachable), valleys, tuple(weaker), failed.unstable, state=failed)

    def _destinations_without_learned_route(
        self, speaker: BgpSpeaker, own_routes: tuple[AdvertPart, ...], table: LearnedTable, makers: AdvertResultCache
    ) -> int:
        """Return the destinations that a router reaches over no learned route, before or after a failure.

        It originates them, drops packets to them for an aggregate (FRR, bgpd/bgp_zebra.c, bgp_zebra_announce), or does
        not install its learned route to them.
        """
        itself = ~speaker.installs | destinations_of_parts((*own_routes, *speaker.local))
        if speaker.summaries:
            itself |= destinations_of_parts(
                makers.aggregates_and_hidden_bits(speaker, own_routes, table)[0]
            ) | self._state.originated_aggregate_bits(speaker.router.number)
        return itself

    def _cached_results(self, destination_bits: int) -> FailureResultCache:
        """Return the results for these destinations; kept for the next failures, which often affect the same ones."""
        cached_result = self._kept.pop(destination_bits, None) or FailureResultCache(self._world, destination_bits)
        self._kept[destination_bits] = cached_result
        if len(self._kept) > _MAX_CACHED_DESTINATION_SETS:
            self._kept.pop(next(iter(self._kept)))
        return cached_result

    def _find_new_valleys(
        self, failed: FailedState, touched: list[int], cache: FailureResultCache
    ) -> Iterator[AffectedDestinations]:
        """Yield new valleys: at a router that sends something up, or down to another, that it did not before.

        Only those that a leaf's packets go through count.
        """
        bottoms: dict[int, None] = {}
        for number in touched:
            before, table = failed.table_before(number), failed.tables[number]
            if not cache.table_change(before, table).gains:
                continue
            up = self._tiers.uplink_positions(number)
            if _destinations_over_links(table, up) & ~_destinations_over_links(before, up):
                bottoms[number] = None
            links = self._world.speakers[number].links
            for position in {hop for entry in table.entries for hop in entry.hops} & self._tiers.downlink_positions(
                number
            ):
                alone = frozenset((position,))
                if _destinations_over_links(table, alone) & ~_destinations_over_links(before, alone):
                    bottoms[links[position].far] = None
        bits_by_router = {
            number: self._tiers.valley_destinations(number, failed.table_after, failed.originated_parts)
            for number in bottoms
        }
        bits_by_router = {number: bits for number, bits in bits_by_router.items() if bits}
        if not bits_by_router:
            return
        valley_bits = 0
        for bits in bits_by_router.values():
            valley_bits |= bits
        over = self._tiers.destinations_by_router_pair(valley_bits, failed.table_after, failed.originated_parts)
        earlier = self._tiers.destinations_by_router_pair(valley_bits, failed.table_before, failed.originated_parts)
        for number, current_bits in bits_by_router.items():
            current_bits &= self._tiers.destinations_from_above(number, over)
            old = self._tiers.valley_destinations(
                number, failed.table_before, failed.originated_parts
            ) & self._tiers.destinations_from_above(number, earlier)
            if new := current_bits & ~old:
                yield AffectedDestinations(number, new)


def _losses_by_router(rows: Mapping[int, int]) -> tuple[AffectedDestinations, ...]:
    return tuple(AffectedDestinations(number, bits) for number, bits in sorted(rows.items()) if bits)


def _destinations_over_links(table: LearnedTable, positions: frozenset[int]) -> int:
    """Return the destinations that a table sends over any of these links."""
    bits = 0
    for entry in table.entries:
        if not positions.isdisjoint(entry.hops):
            bits |= entry.bits
    return bits


def _destinations_with_fewer_links(number: int, changed: RouteTableChange, own_bits: int) -> Iterator[ReducedPaths]:
    """Yield the destinations that a router reaches over fewer links than before, except its `own_bits`."""
    for bits, hops, before in changed.weaker:
        if remaining_bits := bits & ~own_bits:
            yield ReducedPaths(number, remaining_bits, hops, before)


def differing_destinations(adverts: HeardAdverts, other_adverts: HeardAdverts) -> int:
    """Return the destinations that two routers, or one before and after, announce differently."""
    own_bits, other_bits = _bits_by_attributes(adverts), _bits_by_attributes(other_adverts)
    bits = 0
    for attributes in own_bits.keys() | other_bits.keys():
        bits |= own_bits.get(attributes, 0) ^ other_bits.get(attributes, 0)
    return bits


def _bits_by_attributes(heard: HeardAdverts) -> dict[PathAttributes, int]:
    bits_by_attributes: dict[PathAttributes, int] = {}
    for advert in heard:
        for attributes, bits in advert.parts:
            bits_by_attributes[attributes] = bits_by_attributes.get(attributes, 0) | bits
    return bits_by_attributes
