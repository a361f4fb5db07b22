"""Where a route ends that should go on: what policies and loop rejection take away between two routers.

A route should go down from every router that has it, and up from one that has it from below or from itself; one that
came down and goes up again (a valley) is no loss.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from nodrop.analyses._plane import control_plane_of
from nodrop.analyses._targets import AnnouncedPrefixes, RoutedTarget, host_and_loopback_targets
from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily
from nodrop.model.index import Index
from nodrop.routing import ControlPlane
from nodrop.routing.adverts import AdvertPart, RouteAdvert, destinations_of_parts
from nodrop.routing.decision import LearnedTable
from nodrop.routing.prefixes import Prefix
from nodrop.routing.speakers import SpeakerLink
from nodrop.routing.stand_ins import receives_prefix
from nodrop.routing.tiers import tier_of_device


class DroppedRoutes(NamedTuple):
    """Destinations that a router removes on a session: it does not announce them, or not accept them (`inbound`).

    It rejects the `loop` ones because its AS number is in their paths. `lost` are those that a leaf then has no
    route to.
    """

    router: int
    link: SpeakerLink
    kind: Literal["inbound", "outbound", "loop"]
    bits: int
    lost: int


class _DestinationsByNextHop:
    """The destinations of a table by neighbor, those that the router itself announces not excepted."""

    def __init__(
        self, table: LearnedTable, fars: Sequence[int], ranks: Mapping[int, int | None], own_rank: int | None
    ) -> None:
        self._table = table
        self.over: dict[int, int] = {}
        """The destinations that are reached over each neighbor."""
        self.above = 0
        """Those that are reached over any neighbor above."""
        self._elsewhere: dict[int, int] = {}
        self._below: dict[int, int] = {}
        bits_by_hops: dict[tuple[int, ...], int] = {}
        for entry in table.entries:
            bits_by_hops[entry.hops] = bits_by_hops.get(entry.hops, 0) | entry.bits
        for hops, bits in bits_by_hops.items():
            for far in {fars[hop] for hop in hops}:
                self.over[far] = self.over.get(far, 0) | bits
                tier = ranks[far]
                if own_rank is not None and tier is not None and tier > own_rank:
                    self.above |= bits

    def from_elsewhere(self, far: int) -> int:
        """Return the destinations that are not reached over a neighbor."""
        bits = self._elsewhere.get(far)
        if bits is None:
            bits = self._elsewhere[far] = self._table.bits & ~self.over.get(far, 0)
        return bits

    def from_below(self, far: int) -> int:
        """Return the destinations that are neither reached over a neighbor nor over any above."""
        bits = self._below.get(far)
        if bits is None:
            bits = self._below[far] = self.from_elsewhere(far) & ~self.above
        return bits


class RoutePropagation:
    """The routes that each router has in one family, and where routes end."""

    def __init__(self, index: Index, plane: ControlPlane, family: AddressFamily) -> None:
        self.plane, self.routes = plane, plane.of(family)
        self.world, self.state = self.routes.world, self.routes.state
        self.announced = AnnouncedPrefixes(self.routes)
        self.targets: tuple[RoutedTarget, ...] = tuple(
            target for target in host_and_loopback_targets(index) if target.prefix.family == family
        )
        self.hosts = self._destination_bits_of_target_kind("hosts") | self._destination_bits_of_target_kind("outside")
        """The classes of what hosts are announced in, also those outside the fabric."""
        self.wanted = self.hosts | self._destination_bits_of_target_kind("loopback")
        """The classes of what hosts and loopbacks are announced in."""
        self.ranks = {number: tier_of_device(speaker.router.device) for number, speaker in self.world.speakers.items()}
        self._received_outside = {
            number: self._destination_bits_outside(speaker.router.device.name)
            for number, speaker in self.world.speakers.items()
            if speaker.router.is_stand_in
        }
        """What each neighbor outside receives by its statement."""
        self._own: dict[int, int] = {}
        self._ways_of: dict[int, _DestinationsByNextHop] = {}
        self._shared_ways: dict[tuple[object, ...], _DestinationsByNextHop] = {}
        self._taken: dict[tuple[int, int, int, int], tuple[int, int]] = {}
        self._unannounced: dict[tuple[int, int, bool], int] = {}

    def _destination_bits_of_target_kind(self, kind: str) -> int:
        prefixes = (
            self.announced.longest_covering_prefix(target.prefix, target.router)
            for target in self.targets
            if target.kind == kind
        )
        return self.world.destinations.class_bits_of_prefixes({prefix for prefix in prefixes if prefix is not None})

    def _destination_bits_outside(self, name: str) -> int:
        fabric, destinations = self.plane.index.fabric, self.world.destinations
        return destinations.class_bits_of_prefixes(
            prefix for prefix in destinations.prefixes if receives_prefix(fabric, name, prefix)
        )

    def wanted_by(self, number: int) -> int:
        """Return the destinations that a router should have: a neighbor outside only those stated for it."""
        return self.wanted & self._received_outside.get(number, -1)

    def destinations_announced_by(self, number: int) -> int:
        """Return the destinations that a router announces itself."""
        own = self._own.get(number)
        if own is None:
            own = self._own[number] = destinations_of_parts(self.state.originated_parts(number))
        return own

    def destinations_with_route(self, number: int) -> int:
        """Return the destinations that a router has a route to."""
        return self.state.table(number).bits | self.destinations_announced_by(number)

    def find_dropped_routes(self) -> Iterator[DroppedRoutes]:
        """Yield the destinations that are removed, session by session.

        A router of no known tier may be a spine: those with one AS number need no route to one another's loopbacks.
        """
        lacked = 0
        for number, tier in self.ranks.items():
            if tier in (0, None):
                lacked |= self.wanted_by(number) & ~self.destinations_with_route(number)
        for number, speaker in self.world.speakers.items():
            missing = self.wanted_by(number) & ~self.destinations_with_route(number)
            leaf = self.ranks[number] in (0, None)
            for link, whom in zip(speaker.links, speaker.hears, strict=True):
                adverts = self.state.sent_adverts(*whom)
                loop, refused = self._find_rejected_routes(number, link, adverts)
                if not (refused or (leaf and loop) or self._unannounced_destinations(number, whom)):
                    continue  # most sessions: the far end announces all that it may, and nothing is refused
                far_link = self.world.speakers[link.far].links[link.far_position]
                should = (
                    self.wanted
                    & ~self.destinations_announced_by(number)
                    & self.destinations_to_announce(link.far, number, missing)
                )
                lost = missing if leaf else missing & lacked
                kept_should = should & ~bits_of_adverts(adverts)
                if kept_should := kept_should & ~self._find_destinations_with_wider_route(number, link, kept_should):
                    yield DroppedRoutes(link.far, far_link, "outbound", kept_should, kept_should & lost)
                hidden = loop & should & missing & (-1 if self.ranks[number] == 0 else self.hosts)
                if leaf and hidden:
                    yield DroppedRoutes(number, link, "loop", loop & should, hidden)
                refused &= should
                if refused := refused & ~self._find_destinations_with_wider_route(number, link, refused):
                    yield DroppedRoutes(number, link, "inbound", refused, refused & lost)

    def _unannounced_destinations(self, number: int, whom: tuple[int, int]) -> int:
        """Return the destinations that a speaker has, may announce to routers like this one, and does not announce."""
        far, policy = whom
        far_rank, rank = self.ranks[far], self.ranks[number]
        is_up = far_rank is not None and rank is not None and rank > far_rank
        key = (far, policy, is_up)
        unannounced = self._unannounced.get(key)
        if unannounced is None:
            has = self.destinations_with_route(far)
            if is_up:
                has &= ~self.destinations_reached_from_above(far)
            unannounced = self._unannounced[key] = (
                self.wanted & has & ~bits_of_adverts(self.state.sent_adverts(far, policy))
            )
        return unannounced

    def destinations_reached_over(self, number: int, far: int) -> int:
        """Return the destinations that a router reaches over a neighbor, except own."""
        return self._destinations_by_next_hop(number).over.get(far, 0) & ~self.destinations_announced_by(number)

    def destinations_reached_from_above(self, number: int) -> int:
        """Return the destinations that a router reaches over any neighbor above, except own."""
        return self._destinations_by_next_hop(number).above & ~self.destinations_announced_by(number)

    def _destinations_by_next_hop(self, number: int) -> "_DestinationsByNextHop":
        """Return the destinations by neighbor; routers with one table and the same neighbors share the result."""
        ways = self._ways_of.get(number)
        if ways is None:
            table, fars = self.state.table(number), tuple([link.far for link in self.world.speakers[number].links])
            key = (table, fars, self.ranks[number])
            ways = self._shared_ways.get(key)
            if ways is None:
                ways = self._shared_ways[key] = _DestinationsByNextHop(table, fars, self.ranks, self.ranks[number])
            self._ways_of[number] = ways
        return ways

    def destinations_to_announce(self, router_number: int, far_router: int, missing: int) -> int:
        """Return the destinations that a router should announce to another: of those that it has from elsewhere.

        If one of the two has no tier, only the destinations that the other misses count. A neighbor outside announces
        its own prefixes, and receives those that are stated for it.
        """
        own_rank, far_rank = self.ranks[router_number], self.ranks[far_router]
        own_bits = self.destinations_announced_by(router_number)
        if router_number in self._received_outside:
            return own_bits
        if far_router in self._received_outside:
            ways = self._destinations_by_next_hop(router_number)
            return (ways.from_elsewhere(far_router) | own_bits) & self.wanted_by(far_router)
        if own_rank is None or far_rank is None:
            return (self._destinations_by_next_hop(router_number).from_elsewhere(far_router) | own_bits) & missing
        if own_rank == far_rank:
            return 0
        ways = self._destinations_by_next_hop(router_number)
        learned = ways.from_below(far_router) if far_rank > own_rank else ways.from_elsewhere(far_router)
        return learned | own_bits

    def _find_rejected_routes(
        self, router_number: int, link: SpeakerLink, adverts: tuple[RouteAdvert, ...]
    ) -> tuple[int, int]:
        """Return the routes that a router hears and rejects: because of its AS number, and by its policy."""
        asn = self.world.speakers[router_number].bgp.asn
        loop = refused = 0
        for advert in adverts:
            key = (advert.number, link.inbound.number, asn if asn in advert.numbers else 0, link.repeats)
            if key not in self._taken:
                loop_free_parts = tuple(
                    route_part for route_part in advert.parts if route_part.attributes.path.count(asn) <= link.repeats
                )
                loop_bits = advert.bits & ~destinations_of_parts(loop_free_parts)
                passed: list[AdvertPart] = link.inbound.apply_to_routes(
                    loop_free_parts, destinations_of_parts(loop_free_parts)
                )
                self._taken[key] = loop_bits, advert.bits & ~loop_bits & ~destinations_of_parts(passed)
            loop |= self._taken[key][0]
            refused |= self._taken[key][1]
        return loop, refused

    def _find_destinations_with_wider_route(self, router_number: int, link: SpeakerLink, destination_bits: int) -> int:
        """Of some destinations, those for which a router has a wider route over a link instead."""
        if not destination_bits:
            return 0
        covered = []
        for prefix in self.prefixes(destination_bits):
            for wider in self.announced.find_covering_prefixes(prefix):
                if wider != prefix and (route := self.routes.route(router_number, wider)) is not None:
                    if any(hop.router == link.far for hop in route.hops):
                        covered.append(prefix)
                    break
        return self.world.destinations.class_bits_of_prefixes(covered)

    def prefixes(self, destination_bits: int) -> list[Prefix]:
        """Return the prefixes of some classes, those of loopbacks last."""
        members = self.world.destinations.prefixes_by_class
        found_prefixes: list[Prefix] = []
        while destination_bits:
            low = destination_bits & -destination_bits
            found_prefixes += members[low.bit_length() - 1]
            destination_bits ^= low
        return sorted(found_prefixes, key=lambda prefix: (prefix.length == ADDRESS_BITS[prefix.family], prefix))


def bits_of_adverts(adverts: tuple[RouteAdvert, ...]) -> int:
    """Return the destinations of some adverts."""
    bits = 0
    for advert in adverts:
        bits |= advert.bits
    return bits


def route_propagations_of(index: Index) -> list[RoutePropagation]:
    """Return the routes that each router has, by family that a session carries."""
    plane = control_plane_of(index)
    return index.compute_once(
        "reaches",
        lambda: [RoutePropagation(index, plane, family) for family in ADDRESS_FAMILIES if family in plane.families],
    )


def dropped_routes_of(index: Index) -> list[tuple[RoutePropagation, DroppedRoutes]]:
    """Return all that is taken away, the same to every rule."""
    return index.compute_once("drops", lambda: list(_find_dropped_routes(index)))


def _find_dropped_routes(index: Index) -> Iterator[tuple[RoutePropagation, DroppedRoutes]]:
    unknown = {gap.subject[0] for gap in control_plane_of(index).gaps}
    for reach in route_propagations_of(index):
        for drop in reach.find_dropped_routes():
            if reach.plane.routers[drop.router].device.name not in unknown:
                yield reach, drop
