"""Where every router sends packets to every destination of hosts, as cables: the routes that the graph follows."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nodrop.analyses._targets import AnnouncedPrefixes, bridged_host_targets, host_and_loopback_targets
from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily
from nodrop.proofs.floods import FabricFloods, FloodedVlan
from nodrop.proofs.tunnels import FabricTunnels, HostPrefixes, TunnelEnds, TunnelWay
from nodrop.routing import ControlPlane
from nodrop.routing.adverts import destinations_of_parts
from nodrop.routing.decision import LearnedTable, LearnedTableEntry
from nodrop.routing.legs import RoutedInterface, WorkingPorts
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import FamilyRoutes, NextHop
from nodrop.routing.speakers import BgpSpeaker
from nodrop.routing.static_routes import is_discard_route, readable_static_routes


class CableDirection(NamedTuple):
    """One direction of a cable: from a router's port to the port of another, whose buffer takes the packets."""

    near: int
    near_port: str
    far: int
    far_port: str


class ForwardingRow(NamedTuple):
    """Destinations, as bits, that a router sends over any of some channels, by their numbers."""

    bits: int
    channels: tuple[int, ...]


class DestinationClass(NamedTuple):
    """Destinations that no router distinguishes: their prefixes, and the routers where they are."""

    prefixes: tuple[Prefix, ...]
    homes: tuple[int, ...]


def bit_positions(bits: int) -> Iterator[int]:
    """Yield the positions of the bits of a number, the lowest first."""
    digits = bin(bits)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


def unite_bits(numbers: Iterable[int]) -> int:
    """Return the bits that any of some numbers has."""
    united = 0
    for bits in numbers:
        united |= bits
    return united


class Forwarding:
    """The forwarding of a fabric in one state: destinations, sources, and rows by router."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane, self.index = plane, plane.index
        self.channels: list[CableDirection] = []
        self._numbers: dict[CableDirection, int] = {}
        self._cabling = WorkingPorts(plane.index)
        self.rows: list[list[ForwardingRow]] = [[] for _ in plane.routers]
        self.own: list[int] = [0] * len(plane.routers)
        """The destinations that end at each router."""
        self.destinations: dict[int, DestinationClass] = {}
        """The destinations of hosts, by their numbers, which are positions of bits."""
        self.every = 0
        """All of them, as bits."""
        self.carried = 0
        """The same, and the far ends of tunnels: all that rows are for."""
        self.fabric_tunnels = FabricTunnels(plane)
        self.tunnels: tuple[TunnelWay, ...] = ()
        """The tunnels through which leaves send up again what came down to them."""
        self.fabric_floods = FabricFloods(plane)
        self.flooded_vlans: tuple[FloodedVlan, ...] = ()
        """The VLANs in which packets of hosts are flooded to other switches."""
        self.assumes_hosts = False
        """Whether no port to hosts is known, so that every announced block counts as one of hosts."""
        self.entries: Mapping[int, tuple[str, ...]] = {}
        """The routers where packets of hosts enter, each with the ports where they do, as far as these are known."""
        self._compute_forwarding()

    def _compute_forwarding(self) -> None:
        hosts = [target for target in host_and_loopback_targets(self.index) if target.kind != "loopback"]
        hosts += bridged_host_targets(self.index)
        entries: defaultdict[int, dict[str, None]] = defaultdict(dict)
        for target in hosts:
            entries[target.router].update(dict.fromkeys(target.leg.ports))
        families = [_FamilyForwarding(self, self.plane.of(family)) for family in ADDRESS_FAMILIES]
        for family in families:
            family.add_host_destinations([target for target in hosts if target.prefix.family == family.family])
        if not any(family.mask for family in families):
            self.assumes_hosts = True
            for family in families:
                family.add_announced_destinations()
                for number in family.origins:
                    entries.setdefault(number, {})
        self.entries = {number: tuple(ports) for number, ports in sorted(entries.items())}
        first = 0
        far_ends: dict[tuple[Prefix, int], int] = {}
        for family in families:
            family.add_tunnel_end_destinations(
                [ends for ends in self.fabric_tunnels.ends if ends.address[0] == family.family]
            )
            family.add_rows_of_all_routers(first)
            far_ends |= {end: first + number for end, number in family.class_of_far_end.items()}
            first += family.destination_class_count
        ways = (
            self.fabric_tunnels.build_tunnel_way(
                ends, far_ends.get((ends.address, ends.far)), self._hosts_at(ends.near), self._hosts_at(ends.far)
            )
            for ends in self.fabric_tunnels.ends
        )
        self.tunnels = tuple(way for way in ways if way is not None)
        exits = unite_bits(1 << tunnel.to for tunnel in self.tunnels)
        self.flooded_vlans = self.fabric_floods.build_flooded_vlans(
            self._destinations_in_subnets,
            self.channel_number,
            self.channels,
            self.entries,
            {number for number, bits in enumerate(self.own) if bits & exits},
        )

    def _destinations_in_subnets(self, number: int, leg: RoutedInterface) -> int:
        """Return the destinations that end at a router, and that have addresses in the subnets of an interface.

        Those of a wider prefix are in another interface where a longer one covers the subnet.
        """
        ends = [(prefix, place) for place, prefixes in self._hosts_at(number).items() for prefix in prefixes]
        router, found = self.plane.routers[number], 0
        others = [subnet for other in router.legs if other.name != leg.name for subnet in other.subnets]
        for subnet in leg.subnets:
            longest = max((prefix.length for prefix, _ in ends if prefix.covers(subnet)), default=-1)
            found |= unite_bits(
                1 << place
                for prefix, place in ends
                if (prefix.length == longest and prefix.covers(subnet))
                or (subnet.covers(prefix) and not any(subnet.covers(one) and one.covers(prefix) for one in others))
            )
        return found

    def _hosts_at(self, number: int) -> HostPrefixes:
        """Return the prefixes of hosts of each destination that ends at a router."""
        return {place: self.destinations[place].prefixes for place in bit_positions(self.own[number] & self.every)}

    def host_destination_bits_by_family(self) -> dict[AddressFamily, int]:
        """Return the destinations of hosts of each family, as bits of its classes."""
        hosts: dict[AddressFamily, int] = {}
        first = 0
        for family in ADDRESS_FAMILIES:
            world = self.plane.of(family).world
            hosts[family] = self.every >> first & world.all_class_bits
            first += world.destinations.count
        return hosts

    def channel_number(self, near: int, near_port: str, far: int, far_port: str) -> int:
        """Return the number of a channel."""
        channel = CableDirection(near, near_port, far, far_port)
        number = self._numbers.setdefault(channel, len(self.channels))
        if number == len(self.channels):
            self.channels.append(channel)
        return number

    def channels_of_hop(
        self, number: int, leg: RoutedInterface, far: int, far_leg: RoutedInterface | None
    ) -> tuple[int, ...]:
        """Return the channels of a next hop: one for each cable of its leg that works and leads to the router."""
        device, far_device = self.plane.routers[number].device.name, self.plane.routers[far].device.name
        ends = self.index.far_ends.get(device, {})
        channels = []
        for port in leg.ports:
            if len(leg.ports) > 1 and not self._cabling.is_port_working(device, port, self.plane.failed):
                continue
            end = ends.get(port)
            if end is not None and end.node == far_device:
                channels.append(self.channel_number(number, port, far, end.port))
            elif end is None and far_leg is not None and len(far_leg.ports) == 1:
                channels.append(self.channel_number(number, port, far, far_leg.ports[0]))
        return tuple(channels)


class _DestinationsSentAlike(NamedTuple):
    """Destinations that a router sends the same way: all of them, and those of hosts as bits of destinations."""

    bits: int
    packed: int
    entry: LearnedTableEntry


class _FamilyForwarding:
    """The forwarding of one address family, which is added to that of the fabric."""

    def __init__(self, whole: Forwarding, routes: FamilyRoutes) -> None:
        self._whole, self._routes, self.family = whole, routes, routes.family
        self._world, self._state = routes.world, routes.state
        self._announced = AnnouncedPrefixes(routes)
        self._homes: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self.mask = 0
        """The classes of hosts and of far ends of tunnels, as bits of the classes of the family."""
        self.class_of_far_end: dict[tuple[Prefix, int], int] = {}
        """By address and router of the far end of a tunnel."""
        self._host_covers: set[Prefix] = set()
        self._without_hosts = 0
        """Of the classes, those without hosts."""
        self._wider: dict[int, int] = {}
        """By wider class, longest prefix first, the classes inside it."""
        self.origins: set[int] = set()
        self._covers: set[Prefix] = set()
        self._first = self._wanted = 0
        self._ways_of: dict[tuple[LearnedTable, int, int], tuple[_DestinationsSentAlike, ...]] = {}

    def add_host_destinations(self, hosts: Iterable[tuple[Prefix, int, RoutedInterface, str]]) -> None:
        """Take the subnets of hosts as destinations, by the longest announced prefix that covers each."""
        class_of = self._world.destinations.class_of
        pairs: dict[tuple[Prefix, int], None] = {}
        covers: dict[int, list[Prefix]] = {}
        for subnet, router, _, _ in hosts:
            if router not in covers:
                covers[router] = self._announced_by(router)
            cover = next((prefix for prefix in covers[router] if prefix.covers(subnet)), None)
            if cover is not None:
                pairs[cover, router] = None
        for cover, router in pairs:
            self._homes[class_of[cover]][router] = None
        self._find_wider_prefixes({cover for cover, _ in pairs})

    def _announced_by(self, router: int) -> list[Prefix]:
        """Return what a router announces, the longest prefix first."""
        return sorted(self._announced.of.get(router, ()), key=lambda prefix: -prefix.length)

    def add_tunnel_end_destinations(self, tunnels: Iterable[TunnelEnds]) -> None:
        """Take the far ends of tunnels as destinations to which no host sends."""
        covers: set[Prefix] = set()
        for ends in tunnels:
            cover = next((prefix for prefix in self._announced_by(ends.far) if prefix.covers(ends.address)), None)
            if cover is not None:
                self.class_of_far_end[ends.address, ends.far] = self._world.destinations.class_of[cover]
                covers.add(cover)
        hosts, self._host_covers = self.mask, self._covers
        if covers:
            self._find_wider_prefixes(self._covers | covers)
            self._without_hosts = self.mask & ~hosts

    def add_announced_destinations(self) -> None:
        """Take announced prefixes as destinations: of more than one address if there are any, else all."""
        every = sorted(prefix for prefix in self._announced.prefixes if prefix in self._world.origins)
        blocks = [prefix for prefix in every if 0 < prefix.length < ADDRESS_BITS[self.family]] or every
        for prefix in blocks:
            for number, *_ in self._world.origins[prefix]:
                self._homes[self._world.destinations.class_of[prefix]][number] = None
                self.origins.add(number)
        self._find_wider_prefixes(set(blocks))

    def _find_wider_prefixes(self, covers: set[Prefix]) -> None:
        """Find the wider announced prefixes, which routers use that lack the longest one."""
        class_of = self._world.destinations.class_of
        self.mask, self._covers = self._world.destinations.class_bits_of_prefixes(covers), covers
        pairs = sorted(
            {
                (-wider.length, class_of[wider], class_of[cover])
                for cover in covers
                for wider in self._announced.find_covering_prefixes(cover)
                if wider != cover
            }
        )
        for _, wider_class, inner in pairs:
            if wider_class != inner:
                self._wider[wider_class] = self._wider.get(wider_class, 0) | 1 << inner

    @property
    def destination_class_count(self) -> int:
        """The classes of the family."""
        return self._world.destinations.count

    def add_rows_of_all_routers(self, first: int) -> None:
        """Add the rows of all routers; classes become destinations from number `first` on."""
        self._first = first
        self._wanted = self.mask
        for wider in self._wider:
            self._wanted |= 1 << wider
        whole, members = self._whole, self._world.destinations.prefixes_by_class
        for number in bit_positions(self.mask & ~self._without_hosts):
            whole.destinations[first + number] = DestinationClass(
                tuple(prefix for prefix in members[number] if prefix in self._host_covers), tuple(self._homes[number])
            )
        whole.every |= (self.mask & ~self._without_hosts) << first
        whole.carried |= self.mask << first
        if not self.mask:
            return
        for router in whole.plane.routers:
            if router.number in self._world.speakers:
                self._add_bgp_rows(router.number)
            self._end_connected_destinations(router)
            if any(not is_discard_route(route) for route, _ in readable_static_routes(router, self.family)):
                self._follow_static_routes(router.number)

    def _add_bgp_rows(self, number: int) -> None:
        speaker, state, rows = self._world.speakers[number], self._state, self._whole.rows[number]
        own = destinations_of_parts(state.originated_parts(number))
        if speaker.summaries:
            own |= state.originated_aggregate_bits(number)
        ways = self._destinations_sent_alike_by_table(speaker, state.table(number))
        rows += [
            ForwardingRow(way.packed, self._channels_of_destinations_sent_alike(number, way))
            for way in ways
            if way.packed
        ]
        has = own
        for way in ways if self._wider else ():
            has |= way.bits
        for wider, inner in self._wider.items():
            missing = inner & ~has & self.mask
            if missing and has >> wider & 1:
                has |= missing
                over = None if own >> wider & 1 else next(way for way in ways if way.bits >> wider & 1)
                if over is None:
                    own |= missing
                else:
                    rows.append(
                        ForwardingRow(missing << self._first, self._channels_of_destinations_sent_alike(number, over))
                    )
        self._whole.own[number] |= (own & self.mask) << self._first

    def _end_connected_destinations(self, router: VrfRouter) -> None:
        """Let destinations end at a router that has all their prefixes on its working legs."""
        up = self._whole.plane.up[router.number]
        subnets = {subnet for leg in router.legs for subnet in leg.subnets if subnet in self._covers and up[leg.name]}
        class_of, members, first = (
            self._world.destinations.class_of,
            self._world.destinations.prefixes_by_class,
            self._first,
        )
        for number in {class_of[subnet] for subnet in subnets}:
            covers = (prefix for prefix in members[number] if prefix in self._covers)
            if subnets.issuperset(covers):
                self._whole.own[router.number] |= 1 << number + first

    def _destinations_sent_alike_by_table(
        self, speaker: BgpSpeaker, table: LearnedTable
    ) -> tuple["_DestinationsSentAlike", ...]:
        """Return what a router sends the same way, by its table; routers with one table share the result."""
        key = (table, speaker.installs, speaker.installs_internal)
        if key not in self._ways_of:
            merged: dict[tuple[object, ...], tuple[int, LearnedTableEntry]] = {}
            for entry in table.entries:
                if bits := entry.bits & speaker.installable_destinations(entry) & self._wanted:
                    place = (entry.hops, entry.vias)
                    merged[place] = merged.get(place, (0,))[0] | bits, entry
            self._ways_of[key] = tuple(itertools.starmap(self._destinations_sent_by_entry, merged.values()))
        return self._ways_of[key]

    def _destinations_sent_by_entry(self, bits: int, entry: LearnedTableEntry) -> "_DestinationsSentAlike":
        hosts = bits & self.mask if self._wider else bits
        return _DestinationsSentAlike(bits, hosts << self._first if self._first else hosts, entry)

    def _channels_of_destinations_sent_alike(self, number: int, way: "_DestinationsSentAlike") -> tuple[int, ...]:
        whole, plane = self._whole, self._whole.plane
        channels: list[int] = []
        if way.entry.vias:
            for hop in self._routes.recursive_next_hops(number, way.entry, None) or ():
                channels += self._channels_of_next_hop(number, hop)
        else:
            links = self._world.speakers[number].links
            for position in way.entry.hops:
                link = links[position]
                near, far, *_ = plane.sessions[link.session]
                if near.router != number:
                    near, far = far, near
                channels += whole.channels_of_hop(number, near.leg, link.far, far.leg)
        return tuple(channels)

    def _channels_of_next_hop(self, number: int, hop: NextHop) -> tuple[int, ...]:
        leg = self._whole.plane.routers[number].leg_by_name.get(hop.leg)
        if hop.router is None or leg is None:
            return ()
        return self._whole.channels_of_hop(number, leg, hop.router, None)

    def _follow_static_routes(self, number: int) -> None:
        """Let static routes to other routers take the destinations that they are for, the longest prefix first."""
        routes = self._routes.non_bgp_routes(number).values()
        for route in sorted(routes, key=lambda route: (-route.prefix.length, route.prefix)):
            hops = [hop for hop in route.hops if hop.router is not None] if route.source == "static" else []
            channels = tuple(channel for hop in hops for channel in self._channels_of_next_hop(number, hop))
            if channels:
                self._send_prefix_over_channels(number, route.prefix, channels)

    def _send_prefix_over_channels(self, number: int, to: Prefix, channels: tuple[int, ...]) -> None:
        """Send the destinations of a static route's prefix over channels.

        A prefix inside a destination takes a part of it: packets of the destination then go both ways.
        """
        whole, members = self._whole, self._world.destinations.prefixes_by_class
        for inner in bit_positions(self.mask):
            bit = 1 << inner + self._first
            if to in members[inner]:
                whole.own[number] &= ~bit
                whole.rows[number] = [ForwardingRow(row.bits & ~bit, row.channels) for row in whole.rows[number]]
            elif any(to.covers(prefix) for prefix in members[inner]):
                if bit & whole.own[number] or any(row.bits & bit for row in whole.rows[number]):
                    continue
            elif not any(prefix.covers(to) for prefix in members[inner]):
                continue
            whole.rows[number].append(ForwardingRow(bit, channels))
