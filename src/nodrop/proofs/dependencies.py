"""The graph of buffers that wait for one another: an acyclic graph proves that no deadlock can form.

A vertex is a lossless buffer between switches: a channel of a cable, and the priority group that its packets enter at
the far end. It waits for another where packets that it holds use a queue that the other one pauses (Dally and
Seitz, IEEE Transactions on Computers 1987; Hu et al., HotNets 2016). Buffers of ports to hosts are no vertices: no
switch waits for them.

Edges go over hubs, so that their number grows with ports rather than with pairs of ports: from a channel to the set of
destinations that come over it, from there to each row of the router's forwarding that has any of these, and from the
row to its channels.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.proofs.forwarding import ForwardingRow
from nodrop.proofs.traffic import PacketStream, TrafficAtRouters


class Buffer(NamedTuple):
    """A lossless buffer: the channel that fills it, and the priority group that it is."""

    channel: int
    group: int


class PacketGroupAtRouter(NamedTuple):
    """Packets that reach a router alike, and their destinations."""

    router: int
    packets: PacketStream
    bits: int


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
        self._row_nodes: dict[tuple[int, PacketStream, int | None], dict[int, tuple[int, ...]]] = {}
        self._places_of_router: dict[int, dict[int, tuple[int, ...]]] = {}
        self._places_of_row_bits: dict[tuple[int, ...], dict[int, tuple[int, ...]]] = {}
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

    def _has_channel(self, channel: int) -> bool:
        """Whether a channel counts: with `routers`, between two of these."""
        near, _, far, _ = self.traffic.forwarding.channels[channel]
        return self._routers is None or (near in self._routers and far in self._routers)

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
        members: dict[tuple[int, PacketStream, int], list[tuple[int, ...]]] = {}
        carried: dict[tuple[int, PacketStream, int], int] = {}
        for number in range(len(forwarding.rows)) if self._routers is None else sorted(self._routers):
            for bits, present, packets, channels in traffic.packet_sets_sent(
                number, self._rows_within_routers(number), exact=self.exact
            ):
                for far, some in self._channels_by_far_router(channels).items():
                    key = (far, packets, bits)
                    members.setdefault(key, []).append(some)
                    carried[key] = carried.get(key, 0) | present
        for bits, packets, channel in traffic.flooded_packet_sets():
            if self._has_channel(channel):
                key = (forwarding.channels[channel].far, packets, bits)
                members.setdefault(key, []).append((channel,))
                carried[key] = carried.get(key, 0) | bits
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
        if hub.packets.flood is not None:
            self.after[number] = self._flood_nodes_of(hub, hub.packets.flood)
            return number
        going = hub.bits & ~self.traffic.forwarding.own[hub.router]
        rows = self._row_nodes_of(hub, going, None) if going else []
        for place in self.traffic.tunnels_at.get(hub.router, ()) if hub.packets.tunnel is None else ():
            tunnel = self.traffic.tunnels[place]
            if hub.bits & tunnel.servers:
                rows += self._row_nodes_of(hub, 1 << tunnel.to, place)
        self.after[number] = tuple(rows)
        return number

    def _flood_nodes_of(self, hub: PacketGroupAtRouter, step: int) -> tuple[int, ...]:
        """Return the node of the channels over which a hub's packets are flooded; none where none stops them."""
        known = self._row_nodes.setdefault((hub.router, hub.packets, None), {})
        if 0 not in known:
            onward = self.traffic.floods.all[step].onward
            channels = tuple(channel for channel, _ in onward if self._has_channel(channel))
            known[0] = self._add_row_node(hub, ForwardingRow(hub.bits, channels), None)
        return known[0]

    def _row_nodes_of(self, hub: PacketGroupAtRouter, going: int, tunnel: int | None) -> list[int]:
        """Return the nodes of the rows by which a hub's packets go on, if given into a tunnel."""
        rows = self._rows_within_routers(hub.router)
        known = self._row_nodes.setdefault((hub.router, hub.packets, tunnel), {})
        found_nodes: list[int] = []
        for place in self._row_places(hub.router, rows, going):
            nodes = known.get(place)
            if nodes is None:
                nodes = known[place] = self._add_row_node(hub, rows[place], tunnel)
            found_nodes += nodes
        return found_nodes

    @property
    def row_search_count(self) -> int:
        """How often rows are searched for destinations; routers that send alike share a search."""
        return sum(map(len, self._places_of_row_bits.values()))

    def _row_places(self, router: int, rows: Sequence[ForwardingRow], going: int) -> tuple[int, ...]:
        """Return the places of the rows that have any of some destinations; routers that send alike share them."""
        known = self._places_of_router.get(router)
        if known is None:
            row_bits = tuple([row.bits for row in rows])
            known = self._places_of_router[router] = self._places_of_row_bits.setdefault(row_bits, {})
        places = known.get(going)
        if places is None:
            places = known[going] = tuple([place for place, row in enumerate(rows) if row.bits & going])
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
            if following and self.is_buffer(following[0]):  # a row leads to buffers alone, all else to hubs and rows
                nodes.update(following)
        yield from map(self.buffer, sorted(nodes))

    def awaited_by(self, buffer: Buffer) -> tuple[Buffer, ...]:
        """Return the buffers that a buffer waits for."""
        hubs = self.after.get(self.node(buffer), ())
        nodes = {node for hub in hubs for row in self.after[hub] for node in self.after[row]}
        return tuple(map(self.buffer, sorted(nodes)))
