"""The graph of buffers that wait for one another: an acyclic graph proves that no deadlock can form.

A vertex is a lossless buffer between switches: a channel of a cable, and the priority group that its packets enter at
the far end. It waits for another where packets that it holds use a queue that the other one pauses (Dally and
Seitz, IEEE Transactions on Computers 1987; Hu et al., HotNets 2016). Buffers of ports to hosts are no vertices: no
switch waits for them.

Edges go over hubs, so that their number grows with ports rather than with pairs of ports: from a channel to the set of
destinations that come over it, from there to each row of the router's forwarding that has any of these, and from the
row to its channels.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nodrop.model.subject import Subject
from nodrop.proofs.behaviors import LOSSY_BEHAVIOR, DistinctPortBehaviors
from nodrop.proofs.forwarding import Forwarding, ForwardingRow


class Buffer(NamedTuple):
    """A lossless buffer: the channel that fills it, and the priority group that it is."""

    channel: int
    group: int


class MissingFact(NamedTuple):
    """A fact that a claim rests on and no file states: the part of the fabric, and the model path."""

    subject: Subject
    what: str


class PacketStream(NamedTuple):
    """Packets at a router: the behavior of the ports where they entered, and their DSCP.

    Those in a tunnel have its number, and the DSCP of the packet inside. Where no port writes DSCPs and there are no
    tunnels, one stream stands for all, without any of these.
    """

    entered: int | None = None
    dscp: int | None = None
    tunnel: int | None = None
    inside: int | None = None


class ArrivedPackets(NamedTuple):
    """Packets behind a channel: the behavior of the port where they enter, and their DSCP.

    Those in a tunnel have its number, and the DSCP of the packet inside; of others, these are None.
    """

    entered: int
    dscp: int
    tunnel: int | None = None
    inside: int | None = None


class PacketGroupAtRouter(NamedTuple):
    """Packets that reach a router alike, and their destinations."""

    router: int
    packets: ArrivedPackets
    bits: int


class TrafficAtRouters:
    """The destinations of the packets that can be at each router, by stream, with the behaviors of all channels."""

    def __init__(self, forwarding: Forwarding) -> None:
        self.forwarding, self.behaviors = forwarding, DistinctPortBehaviors()
        self.missing: dict[MissingFact, None] = {}
        """Facts that are not known; a port with one counts as a port that pauses nobody."""
        routers = forwarding.plane.routers
        self.left = array("i")
        self.entered = array("i")
        """The behaviors of the two ports of each channel, where packets leave a router and enter the next."""
        names = [router.device.name for router in routers]
        for near, near_port, far, far_port in forwarding.channels:
            self.left.append(self._behavior_of_port(names[near], near_port))
            self.entered.append(self._behavior_of_port(names[far], far_port))
        self._all_entered = frozenset(self.entered)
        self.entries: dict[int, tuple[int, ...]] = {
            number: tuple(self._entry_behaviors(number, ports)) for number, ports in forwarding.entries.items()
        }
        self.tunnels = forwarding.tunnels
        self.tunnels_at: defaultdict[int, list[int]] = defaultdict(list)
        """By router, the numbers of the tunnels into which it sends packets."""
        for place, tunnel in enumerate(self.tunnels):
            self.tunnels_at[tunnel.near].append(place)
        self.kinds = self.behaviors.representative_dscps(self.tunnels)
        self.present: list[dict[PacketStream, int]] = [{} for _ in routers]
        self.tunneled: list[dict[PacketStream, int]] = [{} for _ in self.tunnels]
        """By tunnel, the destinations of the packets that its router puts into it."""
        self._propagate_host_traffic()

    def _behavior_of_port(self, device: str, port: str) -> int:
        interface = self.forwarding.index.interface(device, port)
        found = "interface.qos" if interface is None else self.behaviors.number(interface.qos)
        if isinstance(found, int):
            return found
        self.missing[MissingFact((device, port, "qos"), found)] = None
        return self.behaviors.index_of_behavior(LOSSY_BEHAVIOR)

    def _entry_behaviors(self, number: int, ports: Sequence[str]) -> Iterator[int]:
        """Yield the behaviors of the ports where hosts' packets enter a router; those of all, where none is known."""
        device = self.forwarding.plane.routers[number].device
        names = ports or tuple(port.name for port in device.interfaces)
        yield from dict.fromkeys(self._behavior_of_port(device.name, port) for port in names)

    def host_entry_streams(self, number: int) -> list[PacketStream]:
        """Return the streams of packets where hosts' packets enter a router."""
        if not self.behaviors.is_any_dscp_rewritten and not self.tunnels:
            return [PacketStream()]
        return [PacketStream(entered, dscp) for entered in self.entries.get(number, ()) for dscp in self.kinds]

    def _propagate_host_traffic(self) -> None:
        """Let packets of hosts go from where they enter to where they end, in rounds."""
        forwarding = self.forwarding
        waiting: defaultdict[tuple[int, PacketStream], int] = defaultdict(int)
        for number in self.entries:
            for stream in self.host_entry_streams(number):
                waiting[number, stream] = forwarding.every
        while waiting:
            now, waiting = waiting, defaultdict(int)
            for (number, stream), bits in now.items():
                self._put_into_tunnels(number, stream, bits, waiting)
                known = self.present[number].get(stream, 0)
                new = bits & ~known & ~forwarding.own[number]
                if not new:
                    continue
                self.present[number][stream] = known | new
                for row in forwarding.rows[number]:
                    if going := row.bits & new:
                        for far, next_stream in self._next_streams(row, stream):
                            waiting[far, next_stream] |= going

    def _put_into_tunnels(
        self, number: int, stream: PacketStream, bits: int, waiting: defaultdict[tuple[int, PacketStream], int]
    ) -> None:
        """Send those packets on that a router puts into a tunnel."""
        for place in self.tunnels_at.get(number, ()) if stream.tunnel is None else ():
            tunnel, known = self.tunnels[place], self.tunneled[place].get(stream, 0)
            new = bits & tunnel.servers & ~known
            if not new:
                continue
            self.tunneled[place][stream] = known | new
            for channel, inside in (
                self._channels_and_streams_into_tunnel(place, stream, self.forwarding.rows[number]) if not known else ()
            ):
                waiting[self.forwarding.channels[channel].far, inside] |= 1 << tunnel.to

    def _next_streams(self, row: ForwardingRow, stream: PacketStream) -> Iterable[tuple[int, PacketStream]]:
        channels = self.forwarding.channels
        if stream.dscp is None:
            return {(channels[channel].far, stream): None for channel in row.channels}
        return {
            (channels[channel].far, next_stream): None
            for channel in row.channels
            for next_stream in (self.stream_after(stream, channel),)
        }

    def stream_after(self, stream: PacketStream, channel: int) -> PacketStream:
        """Return what packets of a stream are behind a channel."""
        if stream.entered is None or stream.dscp is None:
            return stream
        left, entered = self.left[channel], self.entered[channel]
        tc = self.behaviors.all[stream.entered].tc[stream.dscp]
        dscp = self.behaviors.all[left].outgoing_dscp(tc, stream.dscp)
        return PacketStream(entered, dscp, stream.tunnel, stream.inside)

    def _channels_and_streams_into_tunnel(
        self, place: int, stream: PacketStream, rows: Iterable[ForwardingRow]
    ) -> Iterator[tuple[int, PacketStream]]:
        """Yield the channels by which a stream goes on in a tunnel, and what it is behind these; `rows` lead there."""
        for row in rows:
            for channel in row.channels if row.bits >> self.tunnels[place].to & 1 else ():
                yield channel, self._stream_in_tunnel(place, stream, channel)

    def _stream_in_tunnel(self, place: int, stream: PacketStream, channel: int) -> PacketStream:
        """Return what packets of a stream are that a router puts into a tunnel, behind a channel."""
        assert stream.entered is not None, "with tunnels, streams have behaviors"
        assert stream.dscp is not None, "with tunnels, streams have DSCPs"
        written = self.tunnels[place].outside[self.behaviors.all[stream.entered].tc[stream.dscp]]
        after = self.stream_after(stream, channel)
        return PacketStream(after.entered, after.dscp if written is None else written, place, stream.dscp)

    def next_channels_and_streams(
        self, number: int, stream: PacketStream, destination: int
    ) -> Iterator[tuple[int, PacketStream]]:
        """Yield the channels by which packets to a destination go on from a router, and what they are behind these.

        `destination` is that of the packets inside, if they are in a tunnel.
        """
        forwarding = self.forwarding
        bit = 1 << (destination if stream.tunnel is None else self.tunnels[stream.tunnel].to)
        if not forwarding.own[number] & bit:
            for row in forwarding.rows[number]:
                for channel in row.channels if row.bits & bit else ():
                    yield channel, self.stream_after(stream, channel)
        for place in self.tunnels_at.get(number, ()) if stream.tunnel is None else ():
            if self.tunnels[place].servers & bit:
                yield from self._channels_and_streams_into_tunnel(place, stream, forwarding.rows[number])

    def traffic_class_at(self, router: int, packets: ArrivedPackets) -> int:
        """Return the traffic class of packets at the router that they reach."""
        behavior = self.behaviors.all[packets.entered]
        if packets.tunnel is None or not self._is_tunnel_exit(router, packets.tunnel):
            return behavior.tc[packets.dscp]
        tunnel = self.tunnels[packets.tunnel]
        dscp = packets.inside if tunnel.reads_inside and packets.inside is not None else packets.dscp
        tc = tunnel.tc[dscp]
        return behavior.tc[dscp] if tc is None else tc

    def priority_group_at(self, router: int, packets: ArrivedPackets) -> int | None:
        """Return the priority group that holds packets at the router that they reach; None if it pauses nobody."""
        behavior, tc = self.behaviors.all[packets.entered], self.traffic_class_at(router, packets)
        group = None
        if packets.tunnel is not None and self._is_tunnel_exit(router, packets.tunnel):
            group = self.tunnels[packets.tunnel].group[tc]
        group = behavior.group[tc] if group is None else group
        return group if group in behavior.pauses else None

    @cached_property
    def routers_with_tunnels(self) -> frozenset[int]:
        """The routers that put packets into tunnels, or take some out."""
        routers = range(len(self.forwarding.own))
        ends = {
            number for place in range(len(self.tunnels)) for number in routers if self._is_tunnel_exit(number, place)
        }
        return frozenset(ends | {tunnel.near for tunnel in self.tunnels})

    def _is_tunnel_exit(self, router: int, place: int) -> bool:
        return bool(self.forwarding.own[router] >> self.tunnels[place].to & 1)

    def packet_sets_sent(
        self, number: int, rows: Sequence[ForwardingRow], *, exact: bool
    ) -> Iterator[tuple[int, int, ArrivedPackets, tuple[int, ...]]]:
        """Yield what a router sends: the row's bits or, if `exact`, only those present; the present ones; and channels.

        With what the packets are behind the channels.
        """
        for stream, present in self.present[number].items():
            for row in rows:
                bits = row.bits & present
                if bits:
                    key = bits if exact else row.bits
                    for packets, channels in self._channels_by_arrived_packets(row, stream).items():
                        yield key, bits, packets, channels
        for place in self.tunnels_at.get(number, ()):
            bit = 1 << self.tunnels[place].to
            for stream in self.tunneled[place]:
                for channel, inside in self._channels_and_streams_into_tunnel(place, stream, rows):
                    yield bit, bit, _arrived_packets_of_stream(inside), (channel,)

    def _channels_by_arrived_packets(
        self, row: ForwardingRow, stream: PacketStream
    ) -> Mapping[ArrivedPackets, tuple[int, ...]]:
        """Return the channels of a row by what packets are behind them."""
        if stream.dscp is None and len(self._all_entered) == 1:
            (entered,) = self._all_entered
            return {ArrivedPackets(entered, dscp): row.channels for dscp in self.kinds}
        parts: defaultdict[ArrivedPackets, list[int]] = defaultdict(list)
        for channel in row.channels:
            if stream.dscp is None:
                for dscp in self.kinds:
                    parts[ArrivedPackets(self.entered[channel], dscp)].append(channel)
            else:
                parts[_arrived_packets_of_stream(self.stream_after(stream, channel))].append(channel)
        return {key: tuple(channels) for key, channels in parts.items()}


def _arrived_packets_of_stream(stream: PacketStream) -> ArrivedPackets:
    """Return the packets of a stream that has a behavior and a DSCP."""
    assert stream.entered is not None, "the stream has a behavior"
    assert stream.dscp is not None, "the stream has a DSCP"
    return ArrivedPackets(stream.entered, stream.dscp, stream.tunnel, stream.inside)


class DependencyGraph:
    """Buffers and their dependencies; nodes are numbers, first those of buffers, then hubs.

    Not `exact`, it can have edges that no packet needs (what comes in by similar channels counts as coming in by each):
    without a circle in it, there is none in the exact one. With `routers`, only cables between two of these count.
    """

    def __init__(self, traffic: TrafficAtRouters, *, exact: bool, routers: frozenset[int] | None = None) -> None:
        self.traffic, self.exact, self._routers = traffic, exact, routers
        behaviors = traffic.behaviors
        self._groups = sorted({group for behavior in behaviors.all for group in behavior.pauses})
        self._place = {group: place for place, group in enumerate(self._groups)}
        self._first_hub = len(traffic.forwarding.channels) * len(self._groups)
        self.after: dict[int, tuple[int, ...]] = {}
        """The nodes that each node leads to."""
        self.hubs: list[PacketGroupAtRouter] = []
        self._rows: dict[int, Sequence[ForwardingRow]] = {}
        self._row_nodes: dict[tuple[int, ArrivedPackets, int | None], dict[int, tuple[int, ...]]] = {}
        self._row_bits: dict[int, tuple[int, ...]] = {}
        self._shared_row_bits: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._places: dict[tuple[int, int], tuple[int, ...]] = {}
        self.tunnel_of_row: dict[int, int] = {}
        """The tunnel into which the packets go that a node of a row stands for, if they go into one."""
        if self._groups:
            self._build()

    def node(self, buffer: Buffer) -> int:
        """Return the number of a buffer's node."""
        return buffer.channel * len(self._groups) + self._place[buffer.group]

    def is_buffer(self, node: int) -> bool:
        """Whether a node is a buffer, not a hub."""
        return node < self._first_hub

    def hub(self, node: int) -> PacketGroupAtRouter:
        """Return the meaning of a node that is no buffer."""
        return self.hubs[node - self._first_hub]

    def buffer(self, node: int) -> Buffer:
        """Return the buffer of a node."""
        return Buffer(node // len(self._groups), self._groups[node % len(self._groups)])

    def _rows_within_routers(self, number: int) -> Sequence[ForwardingRow]:
        """Return the rows of a router, with the channels that count."""
        every, routers = self.traffic.forwarding, self._routers
        if routers is None:
            return every.rows[number]
        if number not in self._rows:
            rows = [
                ForwardingRow(
                    row.bits, tuple(channel for channel in row.channels if every.channels[channel].far in routers)
                )
                for row in every.rows[number]
            ]
            self._rows[number] = [row for row in rows if row.channels]
        return self._rows[number]

    def _build(self) -> None:
        traffic, forwarding = self.traffic, self.traffic.forwarding
        members: dict[tuple[int, ArrivedPackets, int], list[tuple[int, ...]]] = {}
        carried: dict[tuple[int, ArrivedPackets, int], int] = {}
        for number in range(len(forwarding.rows)) if self._routers is None else sorted(self._routers):
            for bits, present, packets, channels in traffic.packet_sets_sent(
                number, self._rows_within_routers(number), exact=self.exact
            ):
                for far, some in self._channels_by_far_router(channels).items():
                    key = (far, packets, bits)
                    members.setdefault(key, []).append(some)
                    carried[key] = carried.get(key, 0) | present
        before: dict[int, tuple[int, ...]] = {}
        groups = len(self._groups)
        for key, lists in members.items():
            far, packets, _ = key
            group = traffic.priority_group_at(far, packets)
            if group is None:
                continue
            place = self._place[group]
            hub = (self._add_hub(PacketGroupAtRouter(far, packets, carried[key])),)
            for some in lists:
                for channel in some:
                    node = channel * groups + place
                    known = before.get(node)
                    before[node] = hub if known is None else known + hub
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        for node, nodes in before.items():
            self.after[node] = shared.setdefault(nodes, nodes)

    def _channels_by_far_router(self, channels: tuple[int, ...]) -> Mapping[int, tuple[int, ...]]:
        every = self.traffic.forwarding.channels
        if len(channels) == 1:
            return {every[channels[0]].far: channels}
        parts: dict[int, list[int]] = {}
        for channel in channels:
            parts.setdefault(every[channel].far, []).append(channel)
        return {far: tuple(some) for far, some in parts.items()}

    def _add_hub(self, hub: PacketGroupAtRouter) -> int:
        """Add a hub and its successors; return its number."""
        number = self._new_node(hub)
        going = hub.bits & ~self.traffic.forwarding.own[hub.router]
        rows = list(self._row_nodes_of(hub, going, None)) if going else []
        for place in self.traffic.tunnels_at.get(hub.router, ()) if hub.packets.tunnel is None else ():
            tunnel = self.traffic.tunnels[place]
            if hub.bits & tunnel.servers:
                rows += self._row_nodes_of(hub, 1 << tunnel.to, place)
        self.after[number] = tuple(rows)
        return number

    def _row_nodes_of(self, hub: PacketGroupAtRouter, going: int, tunnel: int | None) -> Iterator[int]:
        """Yield the nodes of the rows by which a hub's packets go on, if given into a tunnel."""
        rows = self._rows_within_routers(hub.router)
        known = self._row_nodes.setdefault((hub.router, hub.packets, tunnel), {})
        for place in self._row_places(hub.router, rows, going):
            nodes = known.get(place)
            if nodes is None:
                nodes = known[place] = self._add_row_node(hub, rows[place], tunnel)
            yield from nodes

    def _row_places(self, router: int, rows: Sequence[ForwardingRow], going: int) -> tuple[int, ...]:
        """Return the places of the rows that have any of some destinations; routers that send alike share them."""
        row_bits = self._row_bits.get(router)
        if row_bits is None:
            row_bits = tuple([row.bits for row in rows])
            row_bits = self._row_bits[router] = self._shared_row_bits.setdefault(row_bits, row_bits)
        key = (id(row_bits), going)
        places = self._places.get(key)
        if places is None:
            places = self._places[key] = tuple([place for place, bits in enumerate(row_bits) if bits & going])
        return places

    def _add_row_node(self, hub: PacketGroupAtRouter, row: ForwardingRow, tunnel: int | None) -> tuple[int, ...]:
        """Add a node that leads to the buffers behind a row that a hub's packets wait for; none without any."""
        traffic = self.traffic
        behaviors, tc = traffic.behaviors, traffic.traffic_class_at(hub.router, hub.packets)
        queue = None if tunnel is None else traffic.tunnels[tunnel].queue[tc]
        nodes: list[int] = []
        for channel in row.channels:
            left, entered = traffic.left[channel], traffic.entered[channel]
            leaves_by = behaviors.all[left].queue[tc] if queue is None else queue
            awaited = behaviors.groups_stopping_queue(leaves_by, left, entered)
            nodes += [channel * len(self._groups) + self._place[group] for group in awaited]
        if not nodes:
            return ()
        number = self._new_node(hub)
        self.after[number] = tuple(nodes)
        if tunnel is not None:
            self.tunnel_of_row[number] = tunnel
        return (number,)

    def _new_node(self, hub: PacketGroupAtRouter) -> int:
        self.hubs.append(hub)
        return self._first_hub + len(self.hubs) - 1

    def used_buffers(self) -> Iterator[Buffer]:
        """Yield every buffer that holds packets, or that any waits for."""
        nodes = {node for node in self.after if self.is_buffer(node)}
        for following in self.after.values():
            nodes.update(node for node in following if self.is_buffer(node))
        yield from map(self.buffer, sorted(nodes))

    def awaited_by(self, buffer: Buffer) -> tuple[Buffer, ...]:
        """Return the buffers that a buffer waits for."""
        hubs = self.after.get(self.node(buffer), ())
        nodes = {node for hub in hubs for row in self.after[hub] for node in self.after[row]}
        return tuple(map(self.buffer, sorted(nodes)))
