"""Packets that a switch floods in a VLAN: to a MAC address that it does not know, over every member but the way back.

A router sends packets for a subnet of its VLAN on by the MAC address of the host, and floods them while it does not
know a port for that. Over members that lead to other switches they go up again what came down, whatever the routes
are (Guo et al., SIGCOMM 2016, section 4.2). What follows is in the graph where files decide it: spanning tree cuts a
VLAN that has a loop at a port that no file states, so such a VLAN is left out, and named as an unknown fact.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import inf
from typing import NamedTuple

from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device, End
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact, is_known_off, known_rows
from nodrop.proofs.behaviors import PortBehavior, lossless_behavior_of_profile
from nodrop.routing import ControlPlane
from nodrop.routing.legs import RoutedInterface, WorkingPorts, routed_interfaces_at

ChannelEnds = tuple[int, str, int, str]
"""The router and port where a channel begins, and those where it ends."""


class FloodMember(NamedTuple):
    """A port or bundle of a VLAN that leads to switches.

    `out` are the channels over which it sends, each with the number of the VLAN at a switch that the packets are in
    behind it; None where that switch drops them. `arrivals` are the channels that end at its ports.
    """

    out: tuple[tuple[int, int | None], ...]
    arrivals: frozenset[int]


class FloodedVlan(NamedTuple):
    """A VLAN at a switch. Packets to the destinations `to` (bits) that end at the router can be flooded there."""

    router: int
    vlan: int
    to: int
    members: tuple[FloodMember, ...]


class FloodStep(NamedTuple):
    """What a switch does with packets that it floods: the number of the VLAN there, and where they go.

    `onward` has the channels, each with the step at the next switch; None where that drops them.
    """

    place: int
    onward: tuple[tuple[int, int | None], ...]


class FloodSteps:
    """The steps of all flooded packets: one for each VLAN at a switch, and one more for each member they come in by."""

    def __init__(self, vlans: Sequence[FloodedVlan], channels: Sequence[ChannelEnds]) -> None:
        first, count = [], 0
        for vlan in vlans:
            first.append(count)
            count += 1 + len(vlan.members)
        arrival: dict[tuple[int, int], int] = {
            (place, channel): first[place] + 1 + number
            for place, vlan in enumerate(vlans)
            for number, member in enumerate(vlan.members)
            for channel in member.arrivals
        }
        self.all: tuple[FloodStep, ...] = tuple(
            FloodStep(
                place,
                tuple(
                    (channel, None if far is None else arrival[far, channel])
                    for number, member in enumerate(vlan.members)
                    if number != back
                    for channel, far in member.out
                ),
            )
            for place, vlan in enumerate(vlans)
            for back in (None, *range(len(vlan.members)))
        )
        self.of_hosts: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """By router, the steps that packets of its hosts begin with, each with their destinations."""
        self.behind: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """The same by channel, of packets that are routed to the end of it."""
        for place, vlan in enumerate(vlans):
            if vlan.to:
                self.of_hosts[vlan.router].append((first[place], vlan.to))
        for channel, (_, _, far, _) in enumerate(channels if self.of_hosts else ()):
            for begun, to in self.of_hosts.get(far, ()):
                place = self.all[begun].place
                self.behind[channel].append((arrival.get((place, channel), begun), to))


class _Cable(NamedTuple):
    """A cable of a member: its port and the far one, with the place of the VLAN there and the number of its member.

    `joins` is None where packets end at the far port.
    """

    port: str
    far: End
    joins: int | None
    enters: int


class _Member(NamedTuple):
    """A member of a VLAN, all its ports, how many must work, and its cables to switches."""

    ports: tuple[str, ...]
    least: float
    cables: tuple[_Cable, ...]


class _BridgedVlan(NamedTuple):
    """A VLAN at a switch, with the members that lead to switches.

    `has_hosts` is whether any member leads elsewhere; `is_known` whether files state all that decides the way of
    flooded packets from here.
    """

    device: Device
    vlan: Vlan
    members: tuple[_Member, ...]
    has_hosts: bool
    is_known: bool


class _CableNumbers:
    """The channels of cables: those that routes use, else new ones; each stands for the same buffers."""

    def __init__(
        self,
        plane: ControlPlane,
        channels: Sequence[ChannelEnds],
        number_channel: Callable[[int, str, int, str], int],
    ) -> None:
        self._number_channel = number_channel
        self._names = [router.device.name for router in plane.routers]
        self.router_of: dict[str, int] = {}
        """The router of the default VRF of each switch, else its first."""
        for router in sorted(plane.routers, key=lambda router: bool(router.vrf)):
            self.router_of.setdefault(router.device.name, router.number)
        self._known: defaultdict[tuple[End, End], list[int]] = defaultdict(list)
        self.into: defaultdict[End, set[int]] = defaultdict(set)
        """The channels that end at a port."""
        for channel, ends in enumerate(channels):
            self._add(channel, ends)

    def _add(self, channel: int, ends: ChannelEnds) -> None:
        near, far = End(self._names[ends[0]], ends[1]), End(self._names[ends[2]], ends[3])
        self._known[near, far].append(channel)
        self.into[far].add(channel)

    def channels_of_cable(self, near: End, far: End) -> tuple[int, ...]:
        """Return the channels of a cable in one direction; none where a switch has no forwarding."""
        if (near, far) not in self._known and near.node in self.router_of and far.node in self.router_of:
            ends = self.router_of[near.node], near.port, self.router_of[far.node], far.port
            self._add(self._number_channel(*ends), ends)
        return tuple(self._known.get((near, far), ()))


class FabricFloods:
    """The VLANs over several switches in which packets of hosts are flooded, in one state of a fabric's cables."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane, self._index = plane, plane.index
        self._vlans: Sequence[_BridgedVlan] = self._index.compute_once(
            "bridged VLANs", lambda: _find_bridged_vlans(self._index)
        )
        self._cables = self._find_working_cables() if self._vlans else []
        self._domains = [domain for domain in self._find_domains_without_loop() if self._can_any_stop(domain)]
        self.decided: set[tuple[str, int]] = set()
        """The VLANs, by switch and number, whose floods are all in the graph."""

    def _find_working_cables(self) -> list[list[tuple[_Cable, ...]]]:
        """Return the working cables of each member of each VLAN; packets end behind those to a member that is down."""
        working, failed = WorkingPorts(self._index), self._plane.failed
        ports = [
            [
                {port for port in member.ports if working.is_port_working(vlan.device.name, port, failed)}
                for member in vlan.members
            ]
            for vlan in self._vlans
        ]
        is_up = [
            [len(some) >= member.least for some, member in zip(of_vlan, vlan.members, strict=True)]
            for of_vlan, vlan in zip(ports, self._vlans, strict=True)
        ]
        return [
            [
                tuple(
                    cable if cable.joins is None or is_up[cable.joins][cable.enters] else cable._replace(joins=None)
                    for cable in member.cables
                    if is_up[place][number] and cable.port in ports[place][number]
                )
                for number, member in enumerate(vlan.members)
            ]
            for place, vlan in enumerate(self._vlans)
        ]

    def _find_domains_without_loop(self) -> Iterator[list[int]]:
        """Yield the places of VLANs that cables join, where there is one way at most from each to each."""
        head = list(range(len(self._vlans)))

        def head_of(place: int) -> int:
            while head[place] != place:
                place = head[place]
            return place

        with_loop: set[int] = set()
        joined: set[frozenset[tuple[int, int]]] = set()
        for place, members in enumerate(self._cables):
            for number, cable in ((number, cable) for number, cables in enumerate(members) for cable in cables):
                pair = frozenset({(place, number), (cable.joins or 0, cable.enters)})
                if cable.joins is None or pair in joined:
                    continue
                joined.add(pair)
                one, other = head_of(place), head_of(cable.joins)
                if one == other:
                    with_loop.add(one)
                head[one] = other
        with_loop = {head_of(place) for place in with_loop}
        domains: defaultdict[int, list[int]] = defaultdict(list)
        for place in range(len(self._vlans)):
            if head_of(place) not in with_loop:
                domains[head_of(place)].append(place)
        yield from domains.values()

    def _cables_at(self, place: int) -> Iterator[tuple[End, _Cable]]:
        name = self._vlans[place].device.name
        yield from ((End(name, cable.port), cable) for cables in self._cables[place] for cable in cables)

    def _can_any_stop(self, domain: Iterable[int]) -> bool:
        """Whether any cable over which packets are flooded can stop them."""
        return any(
            can_far_end_stop_port(self._qos_at(near), self._qos_at(cable.far))
            for place in domain
            for near, cable in self._cables_at(place)
        )

    def _qos_at(self, end: End) -> QosProfile | None | Unknown:
        interface = self._index.interface(*end)
        return UNKNOWN if interface is None else interface.qos

    def build_flooded_vlans(
        self,
        destinations_at: Callable[[int, RoutedInterface], int],
        number_channel: Callable[[int, str, int, str], int],
        channels: Sequence[ChannelEnds],
        hosts_at: Container[int],
        tunnel_exits: Container[int],
    ) -> tuple[FloodedVlan, ...]:
        """Return the VLANs of the graph, and add their channels to `channels` through `number_channel`.

        `destinations_at` returns the destinations that end at a router, in the subnets of an interface. Packets of
        hosts enter at the routers `hosts_at`; others come out of tunnels at `tunnel_exits`, and are not followed.
        """
        if not self._domains:
            return ()
        legs = self._host_interfaces_of_vlans()
        to = {place: destinations_at(*leg) for place, leg in legs.items()}
        places = [place for domain in self._domains if any(to.get(one) for one in domain) for place in domain]
        if not places:
            return ()
        numbers = {place: number for number, place in enumerate(places)}
        known = _CableNumbers(self._plane, channels, number_channel)
        over = {
            (near, cable.far): known.channels_of_cable(near, cable.far)
            for place in places
            for near, cable in self._cables_at(place)
        }
        found = []
        for place in places:
            vlan, bits = self._vlans[place], to.get(place, 0)
            name = vlan.device.name
            router = legs[place][0] if bits else known.router_of[name]
            is_followed = router not in tunnel_exits and (router in hosts_at or not vlan.has_hosts)
            cables = list(self._cables_at(place))
            if (
                self._is_way_known(vlan, cables)
                and all(over[near, cable.far] for near, cable in cables)
                and (is_followed if bits else _floods_only_for_others(vlan, cables))
                and not any(self._may_send_into_subnet(cable, legs[place][1]) for _, cable in cables if place in legs)
            ):
                self.decided.add((name, vlan.vlan.id))
            members = (
                FloodMember(
                    tuple(
                        (channel, None if cable.joins is None else numbers[cable.joins])
                        for cable in working
                        for channel in over[End(name, cable.port), cable.far]
                    ),
                    frozenset(channel for port in member.ports for channel in known.into[End(name, port)]),
                )
                for member, working in zip(vlan.members, self._cables[place], strict=True)
            )
            found.append(FloodedVlan(router, vlan.vlan.id, bits, tuple(members)))
        return tuple(found)

    def _host_interfaces_of_vlans(self) -> dict[int, tuple[int, RoutedInterface]]:
        """Return the router and interface of each VLAN that is a subnet of hosts."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place in (place for domain in self._domains for place in domain):
            places[self._vlans[place].device.name].append(place)
        return {
            place: (router.number, leg)
            for router in self._plane.routers
            for place in places.get(router.device.name, ())
            for leg in (router.leg_by_name.get(f"VLAN {self._vlans[place].vlan.id}"),)
            if leg is not None
            and self._plane.up[router.number][leg.name]
            and leg.name not in router.neighbors_by_interface
            and router.subnets_with_neighbors.isdisjoint(leg.subnets)
        }

    def _is_way_known(self, vlan: _BridgedVlan, cables: Iterable[tuple[End, _Cable]]) -> bool:
        """Whether files state all that decides where a switch floods packets, and what stops them there."""
        ends = (end for near, cable in cables for end in (near, cable.far))
        return vlan.is_known and all(_behavior_or_none(self._qos_at(end)) is not None for end in ends)

    def _may_send_into_subnet(self, cable: _Cable, leg: RoutedInterface) -> bool:
        """Whether a switch that is not in the VLAN has its subnet at the far port, and can send packets into it."""
        others = routed_interfaces_at(self._index, cable.far) if cable.joins is None else ()
        return any(
            own.covers(subnet) or subnet.covers(own)
            for other in others
            for subnet in other.subnets
            for own in leg.subnets
        )


def _floods_only_for_others(vlan: _BridgedVlan, cables: Iterable[tuple[End, _Cable]]) -> bool:
    """Whether a switch without an address in a VLAN has only packets to flood that others flooded before."""
    return not vlan.vlan.all_addresses and not vlan.has_hosts and all(cable.joins is not None for _, cable in cables)


def _find_bridged_vlans(index: Index) -> tuple[_BridgedVlan, ...]:
    """Return the VLANs with members that lead to switches, with all cables of these, failed or not."""
    rows = [
        (device, vlan, bundles)
        for device in index.fabric.devices
        for vlans in (known_rows(device.vlans),)
        for bundles in ({channel.name: channel for channel in known_rows(device.port_channels)} if vlans else {},)
        for vlan in vlans
        if any(_leads_to_switch(index, device, member.interface, bundles) for member in vlan.members)
    ]
    members = [
        [one for one in vlan.members if _leads_to_switch(index, device, one.interface, bundles)]
        for device, vlan, bundles in rows
    ]
    places: defaultdict[End, list[_MemberPlace]] = defaultdict(list)
    for place, (device, vlan, bundles) in enumerate(rows):
        for number, member in enumerate(members[place]):
            for port in _ports_of_member(member.interface, bundles):
                places[End(device.name, port)].append(_MemberPlace(place, number, vlan.id, member.tagged))
    found = []
    for (device, vlan, bundles), some in zip(rows, members, strict=True):
        ports = [_ports_of_member(member.interface, bundles) for member in some]
        far_ends = [
            [(port, far) for port in of_member for far in (index.far_end(device.name, port),) if far is not None]
            for of_member in ports
        ]
        cables = [
            tuple(
                _Cable(port, far, *next(((one.place, one.number) for one in joined), (None, 0)))
                for port, far in of_member
                if far.node in index.devices
                for joined in (_places_behind(member, vlan.id, places.get(far, ())),)
            )
            for member, of_member in zip(some, far_ends, strict=True)
        ]
        is_known = not isinstance(device.port_channels, Unknown) and all(
            len(_places_behind(member, vlan.id, places.get(far, ()))) < 2
            and not isinstance(index.devices[far.node].vlans, Unknown)
            and not isinstance(index.devices[far.node].port_channels, Unknown)
            for member, of_member in zip(some, far_ends, strict=True)
            for _, far in of_member
            if far.node in index.devices
        )
        least = [_least_working_ports(bundles.get(member.interface)) for member in some]
        found.append(
            _BridgedVlan(
                device, vlan, tuple(map(_Member, ports, least, cables)), len(some) < len(vlan.members), is_known
            )
        )
    return tuple(found)


class _MemberPlace(NamedTuple):
    """A port in a VLAN: the place of the VLAN, the number of the member there, the VLAN's number, and tags or not."""

    place: int
    number: int
    vlan: int
    tagged: bool


def _places_behind(member: VlanMember, vlan: int, places: Iterable[_MemberPlace]) -> list[_MemberPlace]:
    """Return the VLANs at a far port that take the packets of a member: by the tag, else without one."""
    return [one for one in places if (one.vlan == vlan if member.tagged else not one.tagged)]


def _least_working_ports(bundle: PortChannel | None) -> float:
    """Return how many ports of a member must work; infinite for a bundle that is off."""
    if bundle is None:
        return 1
    return inf if is_known_off(bundle.enabled) else bundle.min_links or 1


def _ports_of_member(name: str, bundles: Mapping[str, PortChannel]) -> tuple[str, ...]:
    return bundles[name].members if name in bundles else (name,)


def _leads_to_switch(index: Index, device: Device, name: str, bundles: Mapping[str, PortChannel]) -> bool:
    ends = (index.far_end(device.name, port) for port in _ports_of_member(name, bundles))
    return any(end is not None and end.node in index.devices for end in ends)


@cache
def can_far_end_stop_port(qos: QosProfile | None | Unknown, far_qos: QosProfile | None | Unknown) -> bool:
    """Whether a priority group at the far end of a cable pauses a priority whose pause the port obeys.

    A pause stops the port that receives it: what the port itself sends does not matter. Unknown facts can be either.
    """
    near, far = _behavior_or_none(qos), _behavior_or_none(far_qos)
    if (near is not None and not near.stops) or (far is not None and not far.pauses):
        return False
    if near is None or far is None:
        return True
    return any(priority in near.stops for priorities in far.pauses.values() for priority in priorities)


@cache
def _behavior_or_none(qos: QosProfile | None | Unknown) -> PortBehavior | None:
    try:
        return lossless_behavior_of_profile(qos)
    except UnknownFact:
        return None
