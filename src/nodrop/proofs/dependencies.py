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

    Where no port writes DSCPs, one stream stands for all, without either.
    """

    entered: int | None = None
    dscp: int | None = None


class PacketGroupAtRouter(NamedTuple):
    """Packets that reach a router alike: the behavior of the port where they enter, their DSCP and destinations."""

    router: int
    entered: int
    dscp: int
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
        self.kinds = self.behaviors.dscp_of_each_kind()
        self.present: list[dict[PacketStream, int]] = [{} for _ in routers]
        self._spread()

    def _behavior_of_port(self, device: str, port: str) -> int:
        interface = self.forwarding.index.interface(device, port)
        found = "interface.qos" if interface is None else self.behaviors.number(interface.qos)
        if isinstance(found, int):
            return found
        self.missing[MissingFact((device, port, "qos"), found)] = None
        return self.behaviors.number_of_behavior(LOSSY_BEHAVIOR)

    def _entry_behaviors(self, number: int, ports: Sequence[str]) -> Iterator[int]:
        """Yield the behaviors of the ports where hosts' packets enter a router; those of all, where none is known."""
        device = self.forwarding.plane.routers[number].device
        names = ports or tuple(port.name for port in device.interfaces)
        yield from dict.fromkeys(self._behavior_of_port(device.name, port) for port in names)

    def _spread(self) -> None:
        """Let packets of hosts go from where they enter to where they end, in rounds."""
        forwarding = self.forwarding
        plain = not self.behaviors.rewrites
        waiting: defaultdict[tuple[int, PacketStream], int] = defaultdict(int)
        for number, behaviors in self.entries.items():
            streams = (
                [PacketStream()] if plain else [PacketStream(entered, d) for entered in behaviors for d in self.kinds]
            )
            for stream in streams:
                waiting[number, stream] = forwarding.every & ~forwarding.own[number]
        while waiting:
            now, waiting = waiting, defaultdict(int)
            for (number, stream), bits in now.items():
                known = self.present[number].get(stream, 0)
                new = bits & ~known & ~forwarding.own[number]
                if not new:
                    continue
                self.present[number][stream] = known | new
                for row in forwarding.rows[number]:
                    if going := row.bits & new:
                        for far, next_stream in self._next_streams(row, stream):
                            waiting[far, next_stream] |= going

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
        return PacketStream(entered, self.behaviors.all[left].dscp_after(tc, stream.dscp))

    def packet_sets_sent(
        self, number: int, rows: Sequence[ForwardingRow], *, exact: bool
    ) -> Iterator[tuple[int, int, int, int, tuple[int, ...]]]:
        """Yield what a router sends: the row's bits or, if `exact`, only those present; the present ones; and channels.

        With the DSCP behind the channels, and the behavior of the ports that these lead to.
        """
        for stream, present in self.present[number].items():
            for row in rows:
                bits = row.bits & present
                if bits:
                    key = bits if exact else row.bits
                    for (entered, dscp), channels in self._split_row(row, stream).items():
                        yield key, bits, entered, dscp, channels

    def _split_row(self, row: ForwardingRow, stream: PacketStream) -> Mapping[tuple[int, int], tuple[int, ...]]:
        """Return the channels of a row by what packets are behind them: behavior of the port, DSCP."""
        if stream.dscp is None and len(self._all_entered) == 1:
            (entered,) = self._all_entered
            return {(entered, dscp): row.channels for dscp in self.kinds}
        parts: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for channel in row.channels:
            entered = self.entered[channel]
            if stream.dscp is None:
                for dscp in self.kinds:
                    parts[entered, dscp].append(channel)
            elif (after := self.stream_after(stream, channel).dscp) is not None:
                parts[entered, after].append(channel)
        return {key: tuple(channels) for key, channels in parts.items()}


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
        self._row_nodes: dict[tuple[int, int, int, int], tuple[int, ...]] = {}
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
        members: dict[tuple[int, int, int, int], list[tuple[int, ...]]] = {}
        carried: dict[tuple[int, int, int, int], int] = {}
        for number in range(len(forwarding.rows)) if self._routers is None else sorted(self._routers):
            for bits, present, entered, dscp, channels in traffic.packet_sets_sent(
                number, self._rows_within_routers(number), exact=self.exact
            ):
                for far, some in self._by_far_router(channels).items():
                    key = (far, entered, dscp, bits)
                    members.setdefault(key, []).append(some)
                    carried[key] = carried.get(key, 0) | present
        before: dict[int, tuple[int, ...]] = {}
        groups = len(self._groups)
        for key, lists in members.items():
            far, entered, dscp, _ = key
            behavior = traffic.behaviors.all[entered]
            if not behavior.is_lossless(dscp):
                continue
            place = self._place[behavior.group_of(dscp)]
            hub = (self._add_hub(PacketGroupAtRouter(far, entered, dscp, carried[key])),)
            for some in lists:
                for channel in some:
                    node = channel * groups + place
                    known = before.get(node)
                    before[node] = hub if known is None else known + hub
        shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        for node, nodes in before.items():
            self.after[node] = shared.setdefault(nodes, nodes)

    def _by_far_router(self, channels: tuple[int, ...]) -> Mapping[int, tuple[int, ...]]:
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
        rows: list[int] = []
        for place, row in enumerate(self._rows_within_routers(hub.router)) if going else ():
            if row.bits & going:
                key = (hub.router, place, hub.entered, hub.dscp)
                if key not in self._row_nodes:
                    self._row_nodes[key] = self._add_row(hub, row)
                rows += self._row_nodes[key]
        self.after[number] = tuple(rows)
        return number

    def _add_row(self, hub: PacketGroupAtRouter, row: ForwardingRow) -> tuple[int, ...]:
        """Add a node that leads to the buffers behind a row that a hub's packets wait for; none without any."""
        traffic = self.traffic
        nodes: list[int] = []
        for channel in row.channels:
            left, entered = traffic.left[channel], traffic.entered[channel]
            awaited = traffic.behaviors.awaited_groups(hub.entered, hub.dscp, left, entered)
            nodes += [channel * len(self._groups) + self._place[group] for group in awaited]
        if not nodes:
            return ()
        number = self._new_node(hub)
        self.after[number] = tuple(nodes)
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
