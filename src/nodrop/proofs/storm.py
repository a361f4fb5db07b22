"""How far a pause spreads: the ports and hosts that stop when the NIC at one port pauses for ever, and when.

Each buffer waits for the next one on the way: from the paused port, the graph is followed against its
direction. A buffer passes the pause on once it is full to its threshold; how long that takes depends on what fills it.

Ports at switches that can change places stop as much, and stop after the same times. So the graph has at most three
switches of each class (proofs/equivalence.py): the one whose NIC pauses, and as many others as packets go
between in one step. Each port between these stands for all that an exchange takes it to.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from nodrop.analyses._targets import bridged_host_targets, host_and_loopback_targets
from nodrop.model.fabric import End
from nodrop.proofs.deadlock import DependencyGraphNames
from nodrop.proofs.dependencies import Buffer, DependencyGraph
from nodrop.proofs.equivalence import EquivalentRouterClasses
from nodrop.proofs.storm_hosts import FillTime, HostPortKind, StoppedHostCounter
from nodrop.proofs.traffic import TrafficAtRouters

SWITCHES_MODELED_PER_CLASS = 3
"""Of how many switches of a class the graph has the buffers: the one of the NIC, one before and one behind a third."""

FindFillTime = Callable[[End, int], FillTime | None]
"""Returns how long the buffer of a port's priority group takes to fill; None where that is not known."""


class StoppedPort(NamedTuple):
    """A port whose sender is paused: when at the earliest, and when if a single sender fills each buffer on the way.

    `ports` is how many ports it stands for, itself included: those stop after as many steps and as long. `over` is the
    port behind it on the way of the pause, None for the port of the NIC that pauses.
    """

    port: End
    group: int
    ports: int
    steps: int
    least_us: float | None
    most_us: float | None
    over: End | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseStorm:
    """The effect of one NIC: all NICs at `like` ports stop as much."""

    port: End
    like: tuple[End, ...]
    queues: tuple[int, ...]
    """The queues of the port that the NIC can stop."""
    stopped: tuple[StoppedPort, ...]
    """The ports between switches whose senders stop; one for each that are alike."""
    host_ports: tuple[StoppedPort, ...]
    """The ports to hosts whose NICs stop sending; one for each that are alike."""
    hosts: int
    """How many known hosts these are."""
    gpus: int
    """How many GPUs the hosts have."""


def count_stopped_ports(stopped: Iterable[StoppedPort]) -> int:
    """Return how many ports stopped ones stand for; a port with several groups counts once."""
    return sum({one.port: one.ports for one in stopped}.values())


class _PauseArrivalTimes(NamedTuple):
    """After how many steps and microseconds a pause reaches something; infinite where that is not known."""

    least_us: float
    steps: int
    most_us: float

    def after(self, fill: FillTime | None) -> "_PauseArrivalTimes":
        """Return the times behind one more buffer."""
        if fill is None:
            return _PauseArrivalTimes(_UNKNOWN_TIME_US, self.steps + 1, _UNKNOWN_TIME_US)
        return _PauseArrivalTimes(self.least_us + fill.least_us, self.steps + 1, self.most_us + fill.most_us)


_UNKNOWN_TIME_US = float("inf")
_IMMEDIATE_ARRIVAL = _PauseArrivalTimes(0.0, 0, 0.0)
_PAUSING_NIC_NODE = -1
"""Stands for the NIC where a buffer waits for it."""


class _ReachedBuffer(NamedTuple):
    """When a pause reaches a buffer, and the node of the buffer that it waits for."""

    times: _PauseArrivalTimes
    over: int


def _stop_times_if_known(least_us: float, most_us: float) -> tuple[float | None, float | None]:
    """Return both times, or None for both where they are not known."""
    return (None, None) if least_us == _UNKNOWN_TIME_US else (least_us, most_us)


class _HostPortFill(NamedTuple):
    """How a port to a host fills: the first of several ways is the least."""

    steps: int
    least_us: float
    group: int
    most_us: float
    over: int


class PauseSpreadGraph:
    """The graph of a fabric against its direction, with the ports of hosts."""

    def __init__(
        self, traffic: TrafficAtRouters, fill: FindFillTime, port_key: Callable[[End], Hashable] = lambda end: None
    ) -> None:
        """Take the traffic of a fabric; ports with different keys, or times to fill, are never alike."""
        self._traffic, self._fill, self._names = traffic, fill, DependencyGraphNames(traffic)
        self._groups = sorted({group for behavior in traffic.behaviors.all for group in behavior.pauses})
        self._hosts: dict[int, dict[HostPortKind, dict[End, None]]] = {}
        """By router and kind, the ports to hosts."""
        index = traffic.forwarding.index
        for target in (*host_and_loopback_targets(index), *bridged_host_targets(index)):
            if target.kind == "hosts":
                self._index_host_ports(target.router, target.leg.ports)
        self._same = EquivalentRouterClasses(
            traffic,
            lambda end: (self._fill_times_of_port(end), port_key(end)),
            lambda number: (
                number if number in traffic.routers_off_routes else None,
                frozenset((kind, len(ends)) for kind, ends in self._hosts.get(number, {}).items()),
            ),
        )
        kept = frozenset(
            number for numbers in self._same.members.values() for number in numbers[:SWITCHES_MODELED_PER_CLASS]
        )
        self._graph = DependencyGraph(traffic, exact=True, routers=kept)
        self._before: defaultdict[int, list[int]] = defaultdict(list)
        for node, nodes in self._graph.after.items():
            for far in nodes:
                self._before[far].append(node)
        self._held = self._buffers_with_packets_for_hosts()
        self._known_fills: dict[int, FillTime | None] = {}
        self._host_counts = StoppedHostCounter(traffic.forwarding.index, self._hosts)

    def _index_host_ports(self, router: int, ports: Iterable[str]) -> None:
        forwarding = self._traffic.forwarding
        device = forwarding.plane.routers[router].device.name
        for end in (End(device, port) for port in ports):
            interface = forwarding.index.interface(*end)
            behavior = None if interface is None else self._traffic.behaviors.number(interface.qos)
            if isinstance(behavior, int):
                kind = HostPortKind(behavior, self._fill_times_of_port(end))
                self._hosts.setdefault(router, {}).setdefault(kind, {})[end] = None

    def _fill_times_of_port(self, end: End) -> tuple[FillTime | None, ...]:
        return tuple(self._fill(end, group) for group in self._groups)

    def _buffers_with_packets_for_hosts(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """Return by router the nodes of the buffers whose packets end there, with the traffic class of these."""
        own = self._traffic.forwarding.own
        held: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for node, hubs in self._graph.after.items():
            if self._graph.is_buffer(node):
                for hub in map(self._graph.hub, hubs):
                    if hub.bits & own[hub.router]:
                        held[hub.router].append((node, self._traffic.traffic_class_at(hub.router, hub.packets)))
        return held

    def storms(self) -> Iterator[PauseStorm]:
        """Yield the storms of all ports to hosts, once for those that stop as much."""
        behaviors = self._traffic.behaviors.all
        for members in self._same.members.values():
            kinds = self._hosts.get(members[0], {})
            for behavior in dict.fromkeys(kind.behavior for kind in kinds):
                queues = tuple(sorted(set(behaviors[behavior].stops.values())))
                first = [node for node, tc in self._held.get(members[0], ()) if behaviors[behavior].queue[tc] in queues]
                reached = self._spread_pause(first)
                hosts = self._stopped_host_port_kinds(members[0], behavior, queues, reached)
                for kind in kinds:
                    if kind.behavior == behavior:
                        yield from self._storms_of_port_kind(members, kind, queues, reached, hosts)

    def _storms_of_port_kind(
        self,
        members: Sequence[int],
        kind: HostPortKind,
        queues: tuple[int, ...],
        reached: Mapping[int, _ReachedBuffer],
        hosts: Mapping[tuple[int, HostPortKind], _HostPortFill],
    ) -> Iterator[PauseStorm]:
        """Yield the storms of the ports of a kind, once for those that stop as many hosts and GPUs."""
        reach: defaultdict[tuple[int, int], list[tuple[int, End]]] = defaultdict(list)
        kinds: defaultdict[int, list[HostPortKind]] = defaultdict(list)
        for number, one in hosts:
            kinds[number].append(one)
        counts = self._host_counts.count_stopped_hosts(
            members, kind, kinds, partial(self._routers_stopping_alike, members[0])
        )
        for number, end, found in counts:
            reach[found].append((number, end))
        for (host_count, gpus), like in reach.items():
            shown, port = like[0]
            yield PauseStorm(
                port=port,
                like=tuple(end for _, end in like),
                queues=queues,
                stopped=tuple(self._stopped_switch_ports(members[0], shown, reached)),
                host_ports=tuple(self._stopped_host_ports(members[0], shown, port, kind, hosts)),
                hosts=host_count,
                gpus=gpus,
            )

    def _router_class_seen_from(self, origin: int, router: int) -> int:
        """Return the class of a router as seen from the one whose NIC pauses, which is alone in its class."""
        return -1 if router == origin else self._same.kind_of[router]

    def _routers_stopping_alike(self, origin: int, router: int) -> tuple[int, ...]:
        """Return the routers that stop as one does if the NIC at another pauses."""
        if router == origin:
            return (router,)
        return tuple(number for number in self._same.members[self._same.kind_of[router]] if number != origin)

    def _fill_time_of_buffer(self, node: int) -> FillTime | None:
        if node not in self._known_fills:
            buffer = self._graph.buffer(node)
            self._known_fills[node] = self._fill(self._names.port_of_buffer(buffer), buffer.group)
        return self._known_fills[node]

    def _spread_pause(self, first: Iterable[int]) -> Mapping[int, _ReachedBuffer]:
        """Return the buffers that fill up, with the number of steps, the times, and the buffer that each waits for.

        A row of a router is followed once: what waits for its buffers waits for the one that stops first.
        """
        begin = [
            (_IMMEDIATE_ARRIVAL.after(self._fill_time_of_buffer(node)), node, _PAUSING_NIC_NODE)
            for node in dict.fromkeys(first)
        ]
        reached: dict[int, _ReachedBuffer] = {}
        waiting = [entry for entry in begin if entry[0].least_us != _UNKNOWN_TIME_US]
        heapify(waiting)
        unknown, seen = len(waiting) < len(begin), set[int]()
        while waiting:
            times, node, over = heappop(waiting)
            if node in reached:
                continue
            reached[node] = _ReachedBuffer(times, over)
            for before in self._buffers_waiting_for(node, seen):
                fill = self._fill_time_of_buffer(before)
                if fill is None:
                    unknown = True
                elif before not in reached:
                    heappush(waiting, (times.after(fill), before, node))
        if unknown:
            self._spread_pause_without_times(begin, reached)
        return reached

    def _spread_pause_without_times(
        self, begin: Iterable[tuple[_PauseArrivalTimes, int, int]], reached: dict[int, _ReachedBuffer]
    ) -> None:
        """Add the buffers whose times are not known, by steps: each waits for the first one that it can wait for."""
        waiting = [(found.times.steps, node, found.over) for node, found in reached.items()]
        waiting += [(times.steps, node, over) for times, node, over in begin if times.least_us == _UNKNOWN_TIME_US]
        heapify(waiting)
        done, seen = set[int](), set[int]()
        while waiting:
            steps, node, over = heappop(waiting)
            if node in done:
                continue
            done.add(node)
            reached.setdefault(
                node, _ReachedBuffer(_PauseArrivalTimes(_UNKNOWN_TIME_US, steps, _UNKNOWN_TIME_US), over)
            )
            for before in self._buffers_waiting_for(node, seen):
                if before not in reached:
                    heappush(waiting, (steps + 1, before, node))

    def _buffers_waiting_for(self, node: int, seen: set[int]) -> Iterator[int]:
        """Yield the buffers that wait for one, over rows and hubs that were not seen yet."""
        for row in self._before.get(node, ()):
            if row not in seen:
                seen.add(row)
                for hub in self._before.get(row, ()):
                    if hub not in seen:
                        seen.add(hub)
                        yield from self._before.get(hub, ())

    def _stopped_switch_ports(
        self, origin: int, shown: int, reached: Mapping[int, _ReachedBuffer]
    ) -> Iterator[StoppedPort]:
        """Yield one port of those that stop alike, with the number of these, as after the exchange of two routers."""
        ends: dict[tuple[int, int, int], End] = {}
        done = set[tuple[tuple[int, int, int], int]]()
        for node, found in reached.items():
            buffer = self._graph.buffer(node)
            channel = self._traffic.forwarding.channels[buffer.channel]
            near, far = (
                self._router_class_seen_from(origin, channel.near),
                self._router_class_seen_from(origin, channel.far),
            )
            key = near, far, self._same.parallel[buffer.channel]
            if (key, buffer.group) not in done:
                done.add((key, buffer.group))
                yield StoppedPort(
                    ends.setdefault(key, self._exchanged_port_of_buffer(node, origin, shown)),
                    buffer.group,
                    len(self._routers_stopping_alike(origin, channel.near))
                    * len(self._routers_stopping_alike(origin, channel.far)),
                    found.times.steps,
                    *_stop_times_if_known(found.times.least_us, found.times.most_us),
                    None
                    if found.over == _PAUSING_NIC_NODE
                    else self._exchanged_port_of_buffer(found.over, origin, shown),
                )

    def _exchanged_port_of_buffer(self, node: int, origin: int, shown: int) -> End:
        """Return the port of a buffer after the exchange of two routers."""
        buffer = self._graph.buffer(node)
        return self._names.port_of_buffer(
            Buffer(self._same.channel_after_router_exchange(buffer.channel, origin, shown), buffer.group)
        )

    def _stopped_host_port_kinds(
        self, origin: int, behavior: int, queues: tuple[int, ...], reached: Mapping[int, _ReachedBuffer]
    ) -> Mapping[tuple[int, HostPortKind], _HostPortFill]:
        """Return how ports to hosts fill: at the same switch, and where they feed a stopped port.

        Of switches that stop alike there is one.
        """
        by_router: defaultdict[int, list[int]] = defaultdict(list)
        for node in reached:
            by_router[self._traffic.forwarding.channels[self._graph.buffer(node).channel].near].append(node)
        routers: dict[int, int] = {self._router_class_seen_from(origin, origin): origin}
        for number in sorted(by_router):
            routers.setdefault(self._router_class_seen_from(origin, number), number)
        found: dict[tuple[int, HostPortKind], _HostPortFill] = {}
        for number in sorted(routers.values()):
            for kind in self._hosts.get(number, ()):
                ways = list(self._host_port_fills_over_neighbors(kind, by_router.get(number, ()), reached))
                if number == origin:
                    ways += self._host_port_fills_at_origin(kind, behavior, queues)
                if ways:
                    found[number, kind] = min(ways)
        return found

    def _host_port_fills_over_neighbors(
        self, kind: HostPortKind, nodes: Iterable[int], reached: Mapping[int, _ReachedBuffer]
    ) -> Iterator[_HostPortFill]:
        """Yield how a port to a host fills over the buffers of its switch's neighbors that fill."""
        traffic, behaviors = self._traffic, self._traffic.behaviors
        for dscp in self._lossless_dscps(kind):
            group = behaviors.all[kind.behavior].priority_group_of_dscp(dscp)
            for node in nodes:
                channel = self._graph.buffer(node).channel
                left, entered = traffic.left[channel], traffic.entered[channel]
                awaited = behaviors.awaited_groups(kind.behavior, dscp, left, entered)
                for place in traffic.tunnels_at.get(traffic.forwarding.channels[channel].near, ()):
                    queue = traffic.tunnels[place].queue[behaviors.all[kind.behavior].tc[dscp]]
                    awaited += () if queue is None else behaviors.groups_stopping_queue(queue, left, entered)
                if self._graph.buffer(node).group in awaited:
                    yield self._build_host_port_fill(kind, group, reached[node].times, node)

    def _host_port_fills_at_origin(
        self, kind: HostPortKind, behavior: int, queues: tuple[int, ...]
    ) -> Iterator[_HostPortFill]:
        """Yield how a port to a host fills at the switch whose NIC pauses."""
        behaviors = self._traffic.behaviors.all
        for dscp in self._lossless_dscps(kind):
            if behaviors[behavior].queue[behaviors[kind.behavior].tc[dscp]] in queues:
                yield self._build_host_port_fill(
                    kind, behaviors[kind.behavior].priority_group_of_dscp(dscp), _IMMEDIATE_ARRIVAL, _PAUSING_NIC_NODE
                )

    def _lossless_dscps(self, kind: HostPortKind) -> Iterator[int]:
        behavior = self._traffic.behaviors.all[kind.behavior]
        return (dscp for dscp in self._traffic.kinds if behavior.is_lossless(dscp))

    def _build_host_port_fill(
        self, kind: HostPortKind, group: int, before: _PauseArrivalTimes, over: int
    ) -> _HostPortFill:
        times = before.after(kind.fills[self._groups.index(group)])
        return _HostPortFill(times.steps, times.least_us, group, times.most_us, over)

    def _stopped_host_ports(
        self,
        origin: int,
        shown: int,
        port: End,
        paused: HostPortKind,
        hosts: Mapping[tuple[int, HostPortKind], _HostPortFill],
    ) -> Iterator[StoppedPort]:
        """Yield the ports to hosts that stop, as after the exchange of two routers; `port` is the one of the NIC."""
        exchange = {origin: shown, shown: origin}
        for (number, kind), way in hosts.items():
            ends = [end for end in self._hosts[exchange.get(number, number)][kind] if end != port]
            if ends:
                count = len(ends) * len(self._routers_stopping_alike(origin, number))
                over = (
                    None if way.over == _PAUSING_NIC_NODE else self._exchanged_port_of_buffer(way.over, origin, shown)
                )
                yield StoppedPort(
                    ends[0], way.group, count, way.steps, *_stop_times_if_known(way.least_us, way.most_us), over
                )
