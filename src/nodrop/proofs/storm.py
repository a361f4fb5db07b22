"""How far a pause spreads: the ports and hosts that stop when the NIC at one port pauses for ever, and when.

Each buffer waits for the next one on the way: from the paused port, the graph is followed against its
direction. A buffer passes the pause on once it is full to its threshold; how long that takes depends on what fills it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from nodrop.analyses._targets import targets
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.proofs.deadlock import Names
from nodrop.proofs.dependencies import Buffer, DependencyGraph, Traffic

Fill = Callable[[End, int], "FillTime | None"]
"""Returns how long the buffer of a port's priority group takes to fill; None where that is not known."""


class FillTime(NamedTuple):
    """How long a buffer takes to reach its threshold, in microseconds.

    `least_us` is while all lossless ports of the switch fill up, `most_us` while one sender at line rate fills one.
    """

    least_us: float
    most_us: float


class StoppedPort(NamedTuple):
    """A port whose sender is paused: when at the earliest, and when if a single sender fills each buffer on the way.

    `over` is the port behind it on the way of the pause, None for the port of the NIC that pauses.
    """

    port: End
    group: int
    steps: int
    least_us: float | None
    most_us: float | None
    over: End | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """The effect of one NIC: all NICs at `like` ports stop as much."""

    port: End
    like: tuple[End, ...]
    queues: tuple[int, ...]
    """The queues of the port that the NIC can stop."""
    stopped: tuple[StoppedPort, ...]
    """The ports between switches whose senders stop."""
    host_ports: tuple[StoppedPort, ...]
    """The ports to hosts whose NICs stop sending."""


def find_stopped_hosts(index: Index, storm: Storm) -> frozenset[str]:
    """Return the names of the hosts that a storm stops, of those that are known."""
    ends = (index.far_end(*stopped.port) for stopped in storm.host_ports)
    return frozenset(end.node for end in ends if end and end.node in index.hosts)


class _Reached(NamedTuple):
    """How a pause reaches a buffer: after how many steps and microseconds, and the buffer that it waits for."""

    steps: int
    least_us: float | None
    most_us: float | None
    over: Buffer | None


_NIC = Buffer(-1, -1)
"""Stands for the NIC where a buffer waits for it."""


class StormModel:
    """The graph of a fabric against its direction, with the ports of hosts."""

    def __init__(self, traffic: Traffic, fill: Fill) -> None:
        self._traffic, self._fill = traffic, fill
        self._graph, self._names = DependencyGraph(traffic, exact=True), Names(traffic)
        self._before: defaultdict[int, list[int]] = defaultdict(list)
        for node, nodes in self._graph.after.items():
            for far in nodes:
                self._before[far].append(node)
        self._held: defaultdict[int, list[tuple[Buffer, int, int]]] = defaultdict(list)
        """By router, the buffers of packets that end there, with their DSCP and destinations."""
        forwarding = traffic.forwarding
        for node, hubs in self._graph.after.items():
            if self._graph.is_buffer(node):
                buffer = self._graph.buffer(node)
                for hub in map(self._graph.hub, hubs):
                    if ending := hub.bits & forwarding.own[hub.router]:
                        self._held[hub.router].append((buffer, hub.dscp, ending))
        self._hosts: defaultdict[int, dict[End, None]] = defaultdict(dict)
        for target in targets(forwarding.index):
            if target.kind == "hosts":
                device = forwarding.plane.routers[target.router].device.name
                self._hosts[target.router].update({End(device, port): None for port in target.leg.ports})

    def storms(self) -> Iterator[Storm]:
        """Yield the storm of each kind of port to hosts, by switch and behavior."""
        for router, ends in sorted(self._hosts.items()):
            kinds: defaultdict[int, list[End]] = defaultdict(list)
            for end in ends:
                interface = self._traffic.forwarding.index.interface(*end)
                behavior = None if interface is None else self._traffic.behaviors.number(interface.qos)
                if isinstance(behavior, int):
                    kinds[behavior].append(end)
            for behavior, like in kinds.items():
                queues = tuple(sorted(set(self._traffic.behaviors.all[behavior].stops.values())))
                yield self._storm_of(router, behavior, queues, tuple(like))

    def _storm_of(self, router: int, behavior: int, queues: tuple[int, ...], like: tuple[End, ...]) -> Storm:
        behaviors, own = self._traffic.behaviors, self._traffic.forwarding.own[router]
        first = [
            buffer
            for buffer, dscp, _ in self._held[router]
            if behaviors.all[behavior].queue[behaviors.all[self._traffic.entered[buffer.channel]].tc[dscp]] in queues
        ]
        reached = self._spread(dict.fromkeys(first) if own else {})
        stopped = tuple(
            StoppedPort(
                self._names.port(buffer),
                buffer.group,
                way.steps,
                way.least_us,
                way.most_us,
                None if way.over is None else self._names.port(way.over),
            )
            for buffer, way in reached.items()
        )
        hosts = tuple(self._stopped_hosts(router, behavior, queues, like[0], reached))
        return Storm(port=like[0], like=like, queues=queues, stopped=stopped, host_ports=hosts)

    def _spread(self, first: Iterable[Buffer]) -> Mapping[Buffer, _Reached]:
        """Return the buffers that fill up, with the number of steps, the times, and the buffer that each waits for."""
        found: dict[Buffer, _Reached] = {}
        waiting: list[tuple[float, int, float, Buffer, Buffer]] = []

        def reach(buffer: Buffer, steps: int, times: tuple[float, float], over: Buffer | None) -> None:
            fill = self._fill(self._names.port(buffer), buffer.group)
            added = (float("inf"), float("inf")) if fill is None else fill
            heappush(waiting, (times[0] + added[0], steps, times[1] + added[1], buffer, over or _NIC))

        for buffer in first:
            reach(buffer, 1, (0.0, 0.0), None)
        while waiting:
            least, steps, most, buffer, over = heappop(waiting)
            if buffer in found:
                continue
            known = least != float("inf")
            behind = None if over == _NIC else over
            found[buffer] = _Reached(steps, least if known else None, most if known else None, behind)
            for row in self._before.get(self._graph.node(buffer), ()):
                for hub in self._before.get(row, ()):
                    for node in self._before.get(hub, ()):
                        before = self._graph.buffer(node)
                        if before not in found:
                            reach(before, steps + 1, (least, most), buffer)
        return found

    def _stopped_hosts(
        self,
        router: int,
        behavior: int,
        queues: tuple[int, ...],
        origin: End,
        reached: Mapping[Buffer, _Reached],
    ) -> Iterator[StoppedPort]:
        """Yield the ports to hosts whose buffers fill: hosts at the same switch, and those that feed a stopped port."""
        forwarding, behaviors = self._traffic.forwarding, self._traffic.behaviors
        by_router: defaultdict[int, list[Buffer]] = defaultdict(list)
        for buffer in reached:
            by_router[forwarding.channels[buffer.channel].near].append(buffer)
        for number, ends in sorted(self._hosts.items()):
            for end in ends:
                interface = forwarding.index.interface(*end)
                entered = None if interface is None or end == origin else behaviors.number(interface.qos)
                if not isinstance(entered, int):
                    continue
                ways = []
                for dscp in self._traffic.kinds:
                    if not behaviors.all[entered].is_lossless(dscp):
                        continue
                    group = behaviors.all[entered].group_of(dscp)
                    fill = self._fill(end, group)
                    if number == router and behaviors.all[behavior].queue[behaviors.all[entered].tc[dscp]] in queues:
                        ways.append(_add_step(end, group, _Reached(0, 0.0, 0.0, None), fill, None))
                    for buffer in by_router.get(number, ()):
                        left, following = self._traffic.left[buffer.channel], self._traffic.entered[buffer.channel]
                        if buffer.group in behaviors.awaited_groups(entered, dscp, left, following):
                            ways.append(_add_step(end, group, reached[buffer], fill, self._names.port(buffer)))
                if ways:
                    yield min(ways, key=lambda way: (way.steps, way.least_us is None, way.least_us or 0.0, way.group))


def _add_step(end: End, group: int, before: _Reached, fill: FillTime | None, over: End | None) -> StoppedPort:
    if fill is None or before.least_us is None or before.most_us is None:
        return StoppedPort(end, group, before.steps + 1, None, None, over)
    least, most = before.least_us + fill.least_us, before.most_us + fill.most_us
    return StoppedPort(end, group, before.steps + 1, least, most, over)
