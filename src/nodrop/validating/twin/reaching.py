"""Fate of packets to each prefix, from every router and host, over every equal path: check `reach`.

Packets may be of several kinds, distinguished by their DSCP: RoCE data and CNPs, which access lists treat differently.
A router's choice depends on its own routes alone. So every path is shown once a packet has left every router by every
one of its next hops, and got there: packets are made to leave by each, and others find their own way.
"""

import errno
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Final, NamedTuple

from nodrop.model.effects import DEFAULT_RDMA_DSCP
from nodrop.model.fabric import Fabric
from nodrop.routing.observation import DELIVERY_FATES, DeliveryFate
from nodrop.routing.prefixes import Address, Prefix, parse_address
from nodrop.routing.roce_opcodes import RC_RDMA_WRITE_ONLY_OPCODE
from nodrop.routing.stand_ins import addresses_outside
from nodrop.validating.twin.kernel import KernelRoute
from nodrop.validating.twin.packets import FIRST_SOURCE_PORT, PacketFlight, PortLocation, ProbePacket, TwinSockets
from nodrop.validating.twin.plan import NamespaceKey, TwinInterface, TwinPlan

_FORBIDDEN_ERROR_TEXTS: Final = frozenset(os.strerror(number) for number in (errno.EACCES, errno.EPERM))
"""How a kernel refuses a packet that a rule or a filter forbids."""
FLOWS_PER_PREFIX: Final = 4
"""How many packets, of different source ports, find their own way from each router to each address."""
_MAX_TARGETS_PER_PREFIX: Final = 2
"""To how many addresses of switches in a prefix packets go: the first configured one, and the last."""


class ReachItem(NamedTuple):
    """Packets from a device, in one of its VRFs, to a prefix."""

    space: NamespaceKey
    prefix: Prefix


class ReachResult(NamedTuple):
    """What became of the packets of an item, and the words for it; no fate where nobody has an address to send to."""

    fate: DeliveryFate | None
    said: str


class PacketKind(NamedTuple):
    """Packets of a DSCP and an opcode, and their name, empty if they are the only ones."""

    dscp: int = DEFAULT_RDMA_DSCP
    name: str = ""
    opcode: int = RC_RDMA_WRITE_ONLY_OPCODE


class DeniedPacket(NamedTuple):
    """A packet that was denied, and the last interface that it came in by, None if it was seen nowhere."""

    packet: ProbePacket
    at: PortLocation | None
    leaves_by: tuple[str, ...]
    """The devices by any of which it would have left its last namespace."""


class _ProbeTarget(NamedTuple):
    """A packet to an address that is at a router."""

    space: NamespaceKey
    target: Address
    kind: PacketKind


class _PacketFlightEdge(NamedTuple):
    fate: DeliveryFate
    said: str
    onward: tuple[_ProbeTarget, ...]


class ReachabilityTest:
    """Packets between the nodes of a twin, by the routes that they have when it is made; `without` one that is gone.

    Packets of each of the `kinds` are sent; `because` gives the reason why a denied one was dropped.
    """

    def __init__(
        self,
        posts: TwinSockets,
        plan: TwinPlan,
        fabric: Fabric,
        without: str = "",
        *,
        kinds: Iterable[PacketKind] = (PacketKind(),),
        because: Callable[[DeniedPacket], str] = lambda _: "",
    ) -> None:
        self._posts, self._plan = posts, plan
        self._hosts = frozenset(host.name for host in fabric.hosts)
        self._without, self._kinds, self._because = without, tuple(kinds), because
        self._tables = {space: post.kernel.routes() for space, post in posts.posts.items()}
        self._outside = addresses_outside(fabric)
        self._owned = {space: list(self._addresses_and_cabling(space)) for space in posts.posts}
        self._edges: dict[_ProbeTarget, list[_PacketFlightEdge]] = {}
        self.packets = 0
        """How many packets were sent."""

    def test_items(self, items: Iterable[ReachItem]) -> dict[ReachItem, ReachResult]:
        """Send what shows the fate of each item, and return it."""
        items = list(items)
        targets = {item: self._target_addresses(item) for item in items}
        places = {
            _ProbeTarget(item.space, target, kind) for item in items for target in targets[item] for kind in self._kinds
        }
        asked = set(places)
        while places:
            self._probe_targets(sorted(places, key=str))
            onward = {place for start in places for edge in self._edges[start] for place in edge.onward}
            places = onward - asked
            asked |= places
        from_hosts = self._send_from_hosts(items, targets)
        return {item: self._reach_result(item, targets[item], from_hosts.get(item, [])) for item in items}

    def _addresses_and_cabling(self, namespace: NamespaceKey) -> Iterator[tuple[bool, Address]]:
        """Yield the addresses of a namespace, and whether each is that of a cable."""
        post = self._posts.posts[namespace]
        names = {device.number: name for name, device in post.devices.items()}
        cabled = {
            name for at, name in self._plan.cable_by_nic if at == namespace and self._plan.cable_by_nic[at, name].b
        }
        for index, own_address, _ in post.kernel.addresses():
            if not own_address.is_link_local and not _is_loopback(own_address):
                yield names.get(index, "") in cabled, own_address

    def _target_addresses(self, item: ReachItem) -> list[Address]:
        """Return addresses in a prefix: all that hosts have, and of switches best those without a longer prefix.

        In a prefix from outside `fabric`, such as the default route, those that stand-ins have.
        """
        own_addresses = {address for _, address in self._owned.get(item.space, ())}
        if item.prefix in self._outside:
            return sorted(set(self._outside[item.prefix]) - own_addresses)
        at_hosts: set[Address] = set()
        at_switches: set[Address] = set()
        for space, rows in self._owned.items():
            host = space.node in self._hosts
            if (host or space.vrf == item.space.vrf) and space.node != self._without:
                addresses = {address for _, address in rows if item.prefix.contains_address(address)} - own_addresses
                (at_hosts if host else at_switches).update(addresses)
        table = self._tables[item.space]
        exact = {
            target
            for target in at_switches
            if (row := table.route_towards(target)) is None or row.prefix == item.prefix
        }
        best = sorted(exact or at_switches)
        return sorted(
            {
                *at_hosts,
                *(best if len(best) <= _MAX_TARGETS_PER_PREFIX else [best[0], *best[1 - _MAX_TARGETS_PER_PREFIX :]]),
            }
        )

    def _source_address(self, place: _ProbeTarget) -> Address | None:
        """Return the address that a router sends from: one of a loopback, if it has one."""
        rows = [row for row in self._owned[place.space] if row[1].family == place.target.family]
        return min(rows)[1] if rows else None

    def _probe_targets(self, places: Iterable[_ProbeTarget]) -> None:
        """Send from routers by each of their next hops, and as they choose."""
        packets: list[ProbePacket] = []
        whose: list[_ProbeTarget] = []
        for place in places:
            self._edges[place] = []
            row = self._tables[place.space].route_towards(place.target)
            hops = row.hops if row is not None and len(row.hops) > 1 else ()
            source = self._source_address(place)
            probe = ProbePacket(
                place.space,
                place.target,
                source,
                port=FIRST_SOURCE_PORT,
                dscp=place.kind.dscp,
                opcode=place.kind.opcode,
            )
            new_packets = [probe._replace(device=hop) for hop in hops]
            new_packets += [probe._replace(port=FIRST_SOURCE_PORT + flow) for flow in range(FLOWS_PER_PREFIX)]
            packets += new_packets
            whose += [place] * len(new_packets)
        self.packets += len(packets)
        for place, packet, flight in zip(whose, packets, self._posts.send_and_trace(packets), strict=True):
            self._edges[place].append(self._edge_of_flight(place.kind, packet, flight))

    def _edge_of_flight(self, kind: PacketKind, packet: ProbePacket, flight: PacketFlight) -> _PacketFlightEdge:
        fate, explanation = self._fate_of_packet(kind, packet, flight)
        onward = tuple(
            _ProbeTarget(space, packet.target, kind)
            for space, _ in flight.arrivals[:1]
            if space != flight.taken_by and space.node not in self._hosts
        )
        return _PacketFlightEdge(fate, explanation, onward)

    def _fate_of_packet(self, kind: PacketKind, packet: ProbePacket, flight: PacketFlight) -> tuple[DeliveryFate, str]:
        if flight.taken_by:
            return "delivered", ""
        by = f" by {packet.device}" if packet.device else ""
        flow_text = f"{kind.name and f'{kind.name} '}from {packet.space.node}{by} to {packet.target}"
        if flight.refused in _FORBIDDEN_ERROR_TEXTS:
            return "denied", f"{flow_text}: {flight.refused}{self._cause_of_loss(packet, None)}"
        if flight.refused:
            return "no route", f"{flow_text}: {flight.refused}"
        if flight.has_loop:
            again = next(arrival for arrival in flight.arrivals if flight.arrivals.count(arrival) > 1)
            return "loop", f"{flow_text}: reaches {again[0].node}:{again[1]} again"
        last = flight.arrivals[-1] if flight.arrivals else None
        row = self._tables[packet.space if last is None else last[0]].route_towards(packet.target)
        seen = f"{flow_text}: seen nowhere" if last is None else f"{flow_text}: last seen at {last[0].node}:{last[1]}"
        if last is not None and _drops_packets(row):
            return "no route", seen
        cause = self._cause_of_loss(packet, last)
        if not cause and row is not None and row.source == "connected":
            return "no route", f"{seen}, and nobody in the subnet has the address"
        return "denied", f"{seen}{cause}"

    def _cause_of_loss(self, packet: ProbePacket, at: PortLocation | None) -> str:
        row = self._tables[packet.space if at is None else at[0]].route_towards(packet.target)
        hops = () if row is None else row.hops
        return self._because(DeniedPacket(packet, at, (packet.device,) if at is None and packet.device else hops))

    def _send_from_hosts(
        self, items: Iterable[ReachItem], targets: Mapping[ReachItem, list[Address]]
    ) -> dict[ReachItem, list[tuple[DeliveryFate, str]]]:
        """Send from every port of hosts to the destinations of its router."""
        behind: defaultdict[NamespaceKey, list[TwinInterface]] = defaultdict(list)
        for wire in self._plan.wires:
            for near, far in ((wire.a, wire.b), (wire.b, wire.a)):
                if near is not None and far is not None and near.space.node in self._hosts:
                    behind[far.space].append(near)
        packets: list[ProbePacket] = []
        whose: list[tuple[ReachItem, PacketKind]] = []
        for item, kind in product(items, self._kinds):
            for nic in behind[item.space]:
                for target in targets[item][:1]:
                    sources = [
                        source
                        for text in nic.addresses
                        if (source := parse_address(text)) and source.family == target.family
                    ]
                    if sources and target not in {host_address for _, host_address in self._owned[nic.space]}:
                        port = FIRST_SOURCE_PORT + len(packets) % 4096
                        probe = ProbePacket(nic.space, target, sources[0], nic.name, port)
                        packets.append(probe._replace(dscp=kind.dscp, opcode=kind.opcode))
                        whose.append((item, kind))
        self.packets += len(packets)
        fates_by_item: defaultdict[ReachItem, list[tuple[DeliveryFate, str]]] = defaultdict(list)
        for (item, kind), packet, flight in zip(whose, packets, self._posts.send_and_trace(packets), strict=True):
            fates_by_item[item].append(self._fate_of_packet(kind, packet, flight))
        return fates_by_item

    def _reach_result(
        self, item: ReachItem, targets: list[Address], from_hosts: list[tuple[DeliveryFate, str]]
    ) -> ReachResult:
        if not targets:
            return ReachResult(None, "no started device has an address in it")
        rows = list(from_hosts)
        for target, kind in product(targets, self._kinds):
            start = _ProbeTarget(item.space, target, kind)
            rows += [
                (edge.fate, edge.said) for place in self._reachable_probe_targets(start) for edge in self._edges[place]
            ]
            rows += [
                ("loop", f"equal paths to {target} lead to {place.space.node} again")
                for place in self._find_forwarding_loop(start)
            ]
        return ReachResult(*min(rows, key=lambda row: DELIVERY_FATES.index(row[0])))

    def _next_probe_targets(self, place: _ProbeTarget) -> list[_ProbeTarget]:
        return sorted({next_place for edge in self._edges[place] for next_place in edge.onward}, key=str)

    def _reachable_probe_targets(self, start: _ProbeTarget) -> Iterator[_ProbeTarget]:
        """Yield all places where packets from one can come."""
        places, remaining_places = {start}, [start]
        while remaining_places:
            place = remaining_places.pop()
            yield place
            further_places = [next_place for next_place in self._next_probe_targets(place) if next_place not in places]
            places.update(further_places)
            remaining_places += further_places

    def _find_forwarding_loop(self, start: _ProbeTarget) -> list[_ProbeTarget]:
        """Return a place that packets from another can reach twice."""
        done: set[_ProbeTarget] = set()
        path: set[_ProbeTarget] = set()

        def visit(place: _ProbeTarget) -> list[_ProbeTarget]:
            path.add(place)
            for next_place in self._next_probe_targets(place):
                if next_place in path:
                    return [next_place]
                if next_place not in done and (places := visit(next_place)):
                    return places
            path.discard(place)
            done.add(place)
            return []

        return visit(start)


def _drops_packets(row: KernelRoute | None) -> bool:
    return row is None or not (row.hops or row.here)


def _is_loopback(ip_address: Address) -> bool:
    return ip_address.number >> 24 == 127 if ip_address.family == "ipv4" else ip_address.number == 1
