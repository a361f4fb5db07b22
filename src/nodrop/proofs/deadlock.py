"""Whether buffers of a fabric can wait for one another in a circle, in one state of its cables."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import FABRIC_HEAD
from nodrop.proofs.circles import components_with_circles, find_shortest_circle, topological_depth_by_node
from nodrop.proofs.dependencies import Buffer, DependencyGraph
from nodrop.proofs.forwarding import Forwarding, bit_positions
from nodrop.proofs.side_paths import unknown_side_path_facts
from nodrop.proofs.traffic import MissingFact, PacketStream, TrafficAtRouters
from nodrop.routing import ControlPlane

MAX_CIRCLE_SEARCH_STARTS = 100
"""From how many buffers of a set the shortest circle is searched; in a larger set it may not be the shortest."""


class BufferInCircle(NamedTuple):
    """A buffer of a circle, and the packets in it that wait for the next buffer.

    `destination` is the number of a destination, `dscp` what the packets have as they enter the buffer. `source` is the
    router where they enter the fabric, `source_dscp` what they have there. Packets in a tunnel have its number, and the
    DSCP of the packets `inside`, which `destination` is of.
    """

    buffer: Buffer
    destination: int
    dscp: int
    source: int
    source_dscp: int
    tunnel: int | None = None
    inside: int | None = None
    flood: int | None = None
    """The place of the VLAN in which the switch behind the buffer floods the packets, if it does."""
    next_tunnel: int | None = None
    """The tunnel into which the packets go behind the buffer, if that is how they wait for the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockCheckResult:
    """What was found: positions of all buffers in an order, or circles; and the facts that this rests on."""

    traffic: TrafficAtRouters
    positions: Mapping[Buffer, int] | None
    """A position for each buffer, greater than those of all that wait for it; None with a circle."""
    circles: tuple[tuple[BufferInCircle, ...], ...] = ()
    """The shortest circle of each set of buffers that wait for one another."""
    buffers_on_circles: int = 0
    missing: tuple[MissingFact, ...] = field(default=())

    @property
    def is_free(self) -> bool:
        """Whether no circle was found."""
        return self.positions is not None


def check_deadlock(plane: ControlPlane) -> DeadlockCheckResult:
    """Return whether the routes of a control plane let buffers wait for one another in a circle."""
    traffic = TrafficAtRouters(Forwarding(plane))
    missing = (
        *(MissingFact(gap.subject, gap.what) for gap in plane.gaps),
        *_unknown_forwarding_facts(traffic.forwarding),
        *traffic.missing,
        *unknown_side_path_facts(traffic),
    )
    return find_circles_in_traffic(traffic, missing)


def find_circles_in_traffic(traffic: TrafficAtRouters, missing: tuple[MissingFact, ...]) -> DeadlockCheckResult:
    """Return whether packets let buffers wait for one another in a circle; `missing` are the facts that it rests on."""
    graph = DependencyGraph(traffic, exact=False)
    depths = topological_depth_by_node(graph.after)
    if depths is None:
        suspects = components_with_circles(graph.after)
        routers = frozenset(graph.hub(node).router for nodes in suspects for node in nodes if not graph.is_buffer(node))
        if traffic.floods.all:
            routers |= traffic.routers_off_routes
        exact = DependencyGraph(traffic, exact=True, routers=routers)
        if components := components_with_circles(exact.after):
            circles = sorted(
                (_find_circle(exact, component) for component in components), key=lambda circle: (len(circle), circle)
            )
            count = sum(exact.is_buffer(node) for component in components for node in component)
            return DeadlockCheckResult(
                traffic=traffic, positions=None, circles=tuple(circles), buffers_on_circles=count, missing=missing
            )
        graph = DependencyGraph(traffic, exact=True)
        depths = topological_depth_by_node(graph.after)
    levels = {} if depths is None else {buffer: depths.get(graph.node(buffer), 0) for buffer in graph.used_buffers()}
    ranks = {depth: place for place, depth in enumerate(sorted(set(levels.values())))}
    positions = {buffer: ranks[depth] for buffer, depth in levels.items()}
    return DeadlockCheckResult(traffic=traffic, positions=positions, missing=missing)


def _unknown_forwarding_facts(forwarding: Forwarding) -> Iterator[MissingFact]:
    """Yield the switches between others whose forwarding no file states, and routers that change routes for ever."""
    plane, index = forwarding.plane, forwarding.index
    for device in index.fabric.devices:
        has_routes = isinstance(device.bgp, Unknown) or device.bgp is not None or bool(known_rows(device.vrf_bgp))
        if not has_routes and not known_rows(device.static_routes) and len(index.neighbor_names[device.name]) > 1:
            yield MissingFact((device.name,), "routes: no BGP and no static route was read")
    for family in plane.families:
        for number in sorted(plane.of(family).state.unstable):
            yield MissingFact(plane.routers[number].bgp_subject, "routes that settle")
    if not forwarding.every and index.fabric.links:
        yield MissingFact((FABRIC_HEAD,), "destinations: no switch announces one of hosts")


def _find_circle(graph: DependencyGraph, component: Sequence[int]) -> tuple[BufferInCircle, ...]:
    """Return the shortest circle of a set of nodes, from its least buffer on."""
    starts = [node for node in component if graph.is_buffer(node)][:MAX_CIRCLE_SEARCH_STARTS]
    circle = find_shortest_circle(graph.after, starts, frozenset(component))
    buffers, names = [node for node in circle if graph.is_buffer(node)], DependencyGraphNames(graph.traffic)
    least = circle.index(min(buffers, key=lambda node: names.port_of_buffer(graph.buffer(node))))
    circle = circle[least:] + circle[:least]
    turns = []
    for place, node in enumerate(circle):
        if graph.is_buffer(node):
            hub, into = graph.hub(circle[place + 1]), graph.tunnel_of_row.get(circle[(place + 2) % len(circle)])
            following = graph.buffer(circle[(place + 3) % len(circle)])
            turns.append(
                _find_packets_of_circle_buffer(
                    graph.traffic, graph.buffer(node), hub.packets, hub.bits, following.channel, into
                )
            )
    return tuple(turns)


def _find_packets_of_circle_buffer(
    traffic: TrafficAtRouters, buffer: Buffer, packets: PacketStream, bits: int, following: int, into: int | None
) -> BufferInCircle:
    """Return a destination of the packets in a buffer that leave by a channel, and where such packets come from.

    `into` is the tunnel into which they go as they leave.
    """
    forwarding, (_, dscp) = traffic.forwarding, packets.require_behavior_and_dscp()
    router = forwarding.channels[buffer.channel].far
    flood = None if packets.flood is None else traffic.floods.all[packets.flood].place
    if packets.flood is not None:
        going = bits
    elif packets.tunnel is not None:
        going = traffic.tunnels[packets.tunnel].servers
    elif into is not None:
        going = bits & traffic.tunnels[into].servers
    else:
        bits &= ~forwarding.own[router]
        rows = (row for row in forwarding.rows[router] if following in row.channels)
        going = next(bits & row.bits for row in rows if bits & row.bits)
    for destination in bit_positions(going):
        if (found := find_nearest_source_and_dscp(traffic, destination, buffer.channel, packets)) is not None:
            return BufferInCircle(buffer, destination, dscp, *found, packets.tunnel, packets.inside, flood, into)
    raise LookupError(f"no packets come over channel {buffer.channel}")


def find_nearest_source_and_dscp(
    traffic: TrafficAtRouters, destination: int, channel: int, packets: PacketStream
) -> tuple[int, int] | None:
    """Return where packets of a destination enter that come over a channel: the router, and their DSCP there.

    It is the nearest such router; None without any. The DSCP differs from the one behind the channel where a port on
    the way writes it, or where the packets go into a tunnel.
    """
    channels, (_, dscp) = traffic.forwarding.channels, packets.require_behavior_and_dscp()
    near = channels[channel].near
    began: dict[tuple[int, PacketStream], tuple[int, int]] = {
        (number, stream): (number, dscp if stream.dscp is None else stream.dscp)
        for number in sorted(traffic.entries, key=lambda number: number != near)
        for stream in traffic.host_entry_streams(number, destination)
    }
    waiting = deque(began)
    while waiting:
        number, stream = waiting.popleft()
        for way, after in traffic.next_channels_and_streams(number, stream, destination):
            if way == channel and (after[1:] == packets[1:] or (after.dscp is None and after.flood == packets.flood)):
                return began[number, stream]
            far = channels[way].far
            if (far, after) not in began:
                began[far, after] = began[number, stream]
                waiting.append((far, after))
    return None


class DependencyGraphNames:
    """The names of the parts of a graph, as reports print them."""

    def __init__(self, traffic: TrafficAtRouters) -> None:
        self._traffic, self._forwarding = traffic, traffic.forwarding
        self._index: Index = traffic.forwarding.index

    def device(self, router: int) -> str:
        """Return the name of a router's switch."""
        return self._forwarding.plane.routers[router].device.name

    def port_of_buffer(self, buffer: Buffer) -> End:
        """Return the port whose buffer it is."""
        channel = self._forwarding.channels[buffer.channel]
        return End(self.device(channel.far), channel.far_port)

    def first_prefix_of_destination(self, destination: int) -> str:
        """Return the first prefix of a destination."""
        return str(self._forwarding.destinations[destination].prefixes[0])

    @cached_property
    def _host_port_by_switch(self) -> Mapping[str, str]:
        """A port of a host at each switch that has any."""
        found: dict[str, str] = {}
        for host in self._index.hosts.values():
            for port in host.ports:
                end = self._index.far_end(host.name, port.name)
                if end is not None:
                    found.setdefault(end.node, f"{host.name}:{port.name}")
        return found

    def host_port_at_router(self, router: int) -> str:
        """Return a port of a host at a router; without a known one, the switch."""
        name = self.device(router)
        return self._host_port_by_switch.get(name, f"a host at {name}")

    def sender_and_receiver(self, turn: BufferInCircle) -> tuple[str, str]:
        """Return a host that sends the packets of a turn, and one that gets them."""
        tunnel = turn.next_tunnel if turn.tunnel is None else turn.tunnel
        homes = self._forwarding.destinations[turn.destination].homes
        home = homes[0] if tunnel is None else self._forwarding.tunnels[tunnel].far
        behind = self._forwarding.channels[turn.buffer.channel].far
        if turn.flood is not None and behind in homes:
            home = behind
        return self.host_port_at_router(turn.source), self.host_port_at_router(home)

    def tunnel_label(self, tunnel_number: int) -> str:
        """Return a tunnel by its name, with both of its switches."""
        tunnel = self._forwarding.tunnels[tunnel_number]
        return f"{tunnel.name} from {self.device(tunnel.near)} to {self.device(tunnel.far)}"

    def flood_label(self, turn: BufferInCircle) -> str:
        """Return where the packets of a turn are flooded: the switch behind the buffer, and the VLAN; "" if nowhere."""
        if turn.flood is None:
            return ""
        switch = self.port_of_buffer(turn.buffer).node
        return f"{switch} floods in VLAN {self._forwarding.flooded_vlans[turn.flood].vlan}"

    def switches_in_circle(self, turns: Sequence[BufferInCircle]) -> Iterator[str]:
        """Yield the switches of a circle in the order of the packets, the first again at the end."""
        names = [self.port_of_buffer(turn.buffer).node for turn in turns]
        yield from (*names, names[0])
