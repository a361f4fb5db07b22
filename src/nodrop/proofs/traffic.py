"""The packets that can be at each router: from where hosts send them to where they end.

They follow the routes, go through tunnels, and are flooded in VLANs.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nodrop.model.subject import Subject
from nodrop.proofs.behaviors import LOSSY_BEHAVIOR, DistinctPortBehaviors
from nodrop.proofs.floods import FloodSteps
from nodrop.proofs.forwarding import Forwarding, ForwardingRow, unite_bits


class MissingFact(NamedTuple):
    """A fact that a claim rests on and no file states: the part of the fabric, and the model path."""

    subject: Subject
    what: str


class PacketStream(NamedTuple):
    """Packets at a router, or behind a channel: the behavior of the ports where they enter it, and their DSCP.

    Those in a tunnel have its number, and the DSCP of the packet inside. Those that the router floods have the number
    of the step. At a router, one stream stands for all where no port writes DSCPs and there are no tunnels: it has
    neither behavior nor DSCP.
    """

    entered: int | None = None
    dscp: int | None = None
    tunnel: int | None = None
    inside: int | None = None
    flood: int | None = None

    def require_behavior_and_dscp(self) -> tuple[int, int]:
        """Return the behavior and the DSCP, which all packets have behind a channel, and where there are tunnels."""
        assert self.entered is not None, "the stream stands for all packets"
        assert self.dscp is not None, "a stream with a behavior has a DSCP"
        return self.entered, self.dscp


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
        self.floods = FloodSteps(forwarding.flooded_vlans, forwarding.channels)
        self.flooded: list[dict[PacketStream, int]] = [{} for _ in self.floods.all]
        """By step, the destinations of the packets that are flooded."""
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

    def host_entry_streams(self, number: int, destination: int | None = None) -> list[PacketStream]:
        """Return the streams of packets where hosts' packets enter a router.

        With a destination, these are also the streams that the router floods at once to it.
        """
        streams = [PacketStream()]
        if self.behaviors.is_any_dscp_rewritten or self.tunnels:
            streams = [PacketStream(entered, dscp) for entered in self.entries.get(number, ()) for dscp in self.kinds]
        if destination is None:
            return streams
        steps = [step for step, to in self.floods.of_hosts.get(number, ()) if to >> destination & 1]
        return streams + [stream._replace(flood=step) for step in steps for stream in streams]

    def _propagate_host_traffic(self) -> None:
        """Let packets of hosts go from where they enter to where they end, in rounds."""
        forwarding = self.forwarding
        waiting: defaultdict[tuple[int, PacketStream], int] = defaultdict(int)
        for number in self.entries:
            for stream in self.host_entry_streams(number):
                waiting[number, stream] = forwarding.every
                for step, to in self.floods.of_hosts.get(number, ()):
                    waiting[number, stream._replace(flood=step)] = to
        while waiting:
            now, waiting = waiting, defaultdict(int)
            for (number, stream), bits in now.items():
                if stream.flood is not None:
                    self._flood_on(stream, stream.flood, bits, waiting)
                    continue
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
                        for channel, step, to in self._floods_behind(row, stream) if self.floods.behind else ():
                            if going & to:
                                flooded = self.stream_after(stream, channel, step)
                                waiting[forwarding.channels[channel].far, flooded] |= going & to

    def _floods_behind(self, row: ForwardingRow, stream: PacketStream) -> Iterator[tuple[int, int, int]]:
        """Yield the channels of a row behind which packets are flooded: the step, and the destinations of these."""
        if stream.tunnel is None:
            for channel in row.channels:
                for step, to in self.floods.behind.get(channel, ()):
                    yield channel, step, to

    def _flood_on(
        self, stream: PacketStream, step: int, bits: int, waiting: defaultdict[tuple[int, PacketStream], int]
    ) -> None:
        """Send packets on that a router floods."""
        known = self.flooded[step].get(stream, 0)
        if new := bits & ~known:
            self.flooded[step][stream] = known | new
            for channel, following in self.floods.all[step].onward:
                if following is not None:
                    after = self.stream_after(stream, channel, following)
                    waiting[self.forwarding.channels[channel].far, after] |= new

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

    def stream_after(self, stream: PacketStream, channel: int, flood: int | None = None) -> PacketStream:
        """Return what packets of a stream are behind a channel, where the router floods them if given a step."""
        if stream.entered is None or stream.dscp is None:
            return stream if stream.flood == flood else stream._replace(flood=flood)
        left, entered = self.left[channel], self.entered[channel]
        tc = self.behaviors.all[stream.entered].tc[stream.dscp]
        dscp = self.behaviors.all[left].outgoing_dscp(tc, stream.dscp)
        return PacketStream(entered, dscp, stream.tunnel, stream.inside, flood)

    def _channels_and_streams_into_tunnel(
        self, place: int, stream: PacketStream, rows: Iterable[ForwardingRow]
    ) -> Iterator[tuple[int, PacketStream]]:
        """Yield the channels by which a stream goes on in a tunnel, and what it is behind these; `rows` lead there."""
        for row in rows:
            for channel in row.channels if row.bits >> self.tunnels[place].to & 1 else ():
                yield channel, self._stream_in_tunnel(place, stream, channel)

    def _stream_in_tunnel(self, place: int, stream: PacketStream, channel: int) -> PacketStream:
        """Return what packets of a stream are that a router puts into a tunnel, behind a channel."""
        entered, dscp = stream.require_behavior_and_dscp()
        written = self.tunnels[place].outside[self.behaviors.all[entered].tc[dscp]]
        after = self.stream_after(stream, channel)
        return PacketStream(after.entered, after.dscp if written is None else written, place, dscp)

    def next_channels_and_streams(
        self, number: int, stream: PacketStream, destination: int
    ) -> Iterator[tuple[int, PacketStream]]:
        """Yield the channels by which packets to a destination go on from a router, and what they are behind these.

        `destination` is that of the packets inside, if they are in a tunnel.
        """
        if stream.flood is not None:
            for channel, following in self.floods.all[stream.flood].onward:
                if following is not None:
                    yield channel, self.stream_after(stream, channel, following)
            return
        forwarding = self.forwarding
        bit = 1 << (destination if stream.tunnel is None else self.tunnels[stream.tunnel].to)
        if not forwarding.own[number] & bit:
            for row in forwarding.rows[number]:
                for channel in row.channels if row.bits & bit else ():
                    yield channel, self.stream_after(stream, channel)
                for channel, step, to in self._floods_behind(row, stream) if row.bits & bit else ():
                    if to & bit:
                        yield channel, self.stream_after(stream, channel, step)
        for place in self.tunnels_at.get(number, ()) if stream.tunnel is None else ():
            if self.tunnels[place].servers & bit:
                yield from self._channels_and_streams_into_tunnel(place, stream, forwarding.rows[number])

    def traffic_class_at(self, router: int, packets: PacketStream) -> int:
        """Return the traffic class of packets at the router that they reach by a channel."""
        entered, dscp = packets.require_behavior_and_dscp()
        behavior = self.behaviors.all[entered]
        if packets.tunnel is None or not self._is_tunnel_exit(router, packets.tunnel):
            return behavior.tc[dscp]
        tunnel = self.tunnels[packets.tunnel]
        if tunnel.reads_inside and packets.inside is not None:
            dscp = packets.inside
        tc = tunnel.tc[dscp]
        return behavior.tc[dscp] if tc is None else tc

    def priority_group_at(self, router: int, packets: PacketStream) -> int | None:
        """Return the priority group that holds packets at the router that they reach; None if it pauses nobody."""
        entered, _ = packets.require_behavior_and_dscp()
        behavior, tc = self.behaviors.all[entered], self.traffic_class_at(router, packets)
        group = None
        if packets.tunnel is not None and self._is_tunnel_exit(router, packets.tunnel):
            group = self.tunnels[packets.tunnel].group[tc]
        group = behavior.group[tc] if group is None else group
        return group if group in behavior.pauses else None

    @cached_property
    def routers_off_routes(self) -> frozenset[int]:
        """The routers that put packets into tunnels or take some out, and those that send or get flooded packets."""
        routers = range(len(self.forwarding.own))
        ends = {
            number for place in range(len(self.tunnels)) for number in routers if self._is_tunnel_exit(number, place)
        }
        channels = (self.forwarding.channels[channel] for step in self.floods.all for channel, _ in step.onward)
        flooded = {number for channel in channels for number in (channel.near, channel.far)}
        return frozenset(ends | flooded | {tunnel.near for tunnel in self.tunnels})

    def _is_tunnel_exit(self, router: int, place: int) -> bool:
        return bool(self.forwarding.own[router] >> self.tunnels[place].to & 1)

    def packet_sets_sent(
        self, number: int, rows: Sequence[ForwardingRow], *, exact: bool
    ) -> Iterator[tuple[int, int, PacketStream, tuple[int, ...]]]:
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
                    yield bit, bit, inside, (channel,)

    def flooded_packet_sets(self) -> Iterator[tuple[int, PacketStream, int]]:
        """Yield the flooded packets behind each channel: their destinations, their group there, and the channel."""
        channels = self.forwarding.channels
        for channel, begun in self.floods.behind.items():
            near = channels[channel].near
            rows = [row for row in self.forwarding.rows[near] if channel in row.channels]
            sent = unite_bits(row.bits for row in rows)
            for stream, present in self.present[near].items() if rows else ():
                for step, to in begun if stream.tunnel is None else ():
                    if bits := sent & present & to:
                        yield from self._packets_behind(stream, channel, step, bits)
        for number, streams in enumerate(self.flooded):
            for stream, bits in streams.items():
                for channel, following in self.floods.all[number].onward:
                    if following is not None:
                        yield from self._packets_behind(stream, channel, following, bits)

    def _packets_behind(
        self, stream: PacketStream, channel: int, step: int, bits: int
    ) -> Iterator[tuple[int, PacketStream, int]]:
        after = self.stream_after(stream, channel, step)
        if after.dscp is not None:
            yield bits, after, channel
            return
        for dscp in self.kinds:
            yield bits, PacketStream(self.entered[channel], dscp, flood=step), channel

    def _channels_by_arrived_packets(
        self, row: ForwardingRow, stream: PacketStream
    ) -> Mapping[PacketStream, tuple[int, ...]]:
        """Return the channels of a row by what packets are behind them."""
        if stream.dscp is None and len(self._all_entered) == 1:
            (entered,) = self._all_entered
            return {PacketStream(entered, dscp): row.channels for dscp in self.kinds}
        parts: defaultdict[PacketStream, list[int]] = defaultdict(list)
        for channel in row.channels:
            if stream.dscp is None:
                for dscp in self.kinds:
                    parts[PacketStream(self.entered[channel], dscp)].append(channel)
            else:
                parts[self.stream_after(stream, channel)].append(channel)
        return {key: tuple(channels) for key, channels in parts.items()}
