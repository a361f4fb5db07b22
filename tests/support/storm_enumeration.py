"""The storm of each port to a host by following every buffer of the whole fabric: what classes of ports must equal."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from nodrop.analyses._targets import bridged_host_targets, host_and_loopback_targets
from nodrop.model.fabric import End
from nodrop.proofs.deadlock import DependencyGraphNames
from nodrop.proofs.dependencies import Buffer, DependencyGraph
from nodrop.proofs.storm import FindFillTime, PauseStorm, StoppedPort, count_stopped_ports
from nodrop.proofs.traffic import TrafficAtRouters

Stop = tuple[bool, int, int, float | None, float | None]
"""A stopped port: whether it leads to a host, its group, the steps to it, and the least and most microseconds."""
INFINITE = float("inf")


class Effect(NamedTuple):
    """What one NIC stops: how many ports in each way, ports, hosts and GPUs, and when the first watchdog acts."""

    queues: tuple[int, ...]
    stops: Mapping[Stop, int]
    fabric_ports: int
    host_ports: int
    hosts: int
    gpus: int
    watchdog_ms: float | None


def effects_of(storms: Iterable[PauseStorm], detection: Callable[[End], int | None]) -> dict[End, Effect]:
    """The effect of each port that some storms are of; each port is in one."""
    effects: dict[End, Effect] = {}
    for storm in storms:
        stops: Counter[Stop] = Counter()
        for to_host, ports in ((False, storm.stopped), (True, storm.host_ports)):
            for one in ports:
                stops[to_host, one.group, one.steps, one.least_us, one.most_us] += one.ports
        effect = Effect(
            storm.queues,
            stops,
            count_stopped_ports(storm.stopped),
            count_stopped_ports(storm.host_ports),
            storm.hosts,
            storm.gpus,
            first_watchdog(storm.stopped, detection),
        )
        for end in storm.like:
            assert end not in effects
            effects[end] = effect
    return effects


def first_watchdog(stopped: Iterable[StoppedPort], detection: Callable[[End], int | None]) -> float | None:
    """When the first watchdog between switches acts, in milliseconds."""
    times = [((one.least_us or 0.0) / 1000, detection(one.port)) for one in stopped]
    return min((time + least for time, least in times if least is not None), default=None)


def enumerated_effects(
    traffic: TrafficAtRouters, fill: FindFillTime, detection: Callable[[End], int | None]
) -> dict[End, Effect]:
    """The effect of each port to a host, computed for it alone."""
    return dict(_Enumeration(traffic, fill, detection).effects())


class _Enumeration:
    def __init__(self, traffic: TrafficAtRouters, fill: FindFillTime, detection: Callable[[End], int | None]) -> None:
        self.traffic, self.fill, self.detection, self.names = traffic, fill, detection, DependencyGraphNames(traffic)
        self.forwarding = forwarding = traffic.forwarding
        graph = DependencyGraph(traffic, exact=True)
        self.before: defaultdict[Buffer, set[Buffer]] = defaultdict(set)
        self.held: defaultdict[int, set[tuple[Buffer, int]]] = defaultdict(set)
        for buffer in graph.used_buffers():
            for far in graph.awaited_by(buffer):
                self.before[far].add(buffer)
            for hub in map(graph.hub, graph.after.get(graph.node(buffer), ())):
                if hub.bits & forwarding.own[hub.router]:
                    self.held[hub.router].add((buffer, traffic.traffic_class_at(hub.router, hub.packets)))
        self.hosts: dict[End, tuple[int, int]] = {}
        """By port, the router and the behavior."""
        targets = (*host_and_loopback_targets(forwarding.index), *bridged_host_targets(forwarding.index))
        for target in targets:
            device = forwarding.plane.routers[target.router].device.name
            for port in target.leg.ports if target.kind == "hosts" else ():
                interface = forwarding.index.interface(device, port)
                behavior = None if interface is None else traffic.behaviors.number(interface.qos)
                if isinstance(behavior, int):
                    self.hosts[End(device, port)] = target.router, behavior

    def effects(self) -> Iterator[tuple[End, Effect]]:
        behaviors, index = self.traffic.behaviors.all, self.forwarding.index
        for origin, (router, number) in self.hosts.items():
            queues = tuple(sorted(set(behaviors[number].stops.values())))
            reached = self.spread({buffer for buffer, tc in self.held[router] if behaviors[number].queue[tc] in queues})
            stopped = [
                StoppedPort(self.names.port_of_buffer(buffer), buffer.group, 1, steps, *known(least, most), None)
                for buffer, (least, steps, most) in reached.items()
            ]
            hosts = {end: way for end in self.hosts if end != origin and (way := self.host_way(end, origin, reached))}
            stops: Counter[Stop] = Counter()
            stops.update((False, one.group, one.steps, one.least_us, one.most_us) for one in stopped)
            stops.update((True, group, steps, *known(least, most)) for steps, least, group, most in hosts.values())
            names = {far.node for end in hosts if (far := index.far_end(*end)) is not None and far.node in index.hosts}
            yield (
                origin,
                Effect(
                    queues,
                    stops,
                    len({one.port for one in stopped}),
                    len(hosts),
                    len(names),
                    sum(index.hosts[name].gpus for name in names),
                    first_watchdog(stopped, self.detection),
                ),
            )

    def spread(self, first: Iterable[Buffer]) -> dict[Buffer, tuple[float, int, float]]:
        reached: dict[Buffer, tuple[float, int, float]] = {}
        waiting = [
            (*self.later((0.0, 0, 0.0), self.names.port_of_buffer(buffer), buffer.group), buffer) for buffer in first
        ]
        waiting.sort()
        while waiting:
            *times, buffer = heappop(waiting)
            if buffer not in reached:
                least, steps, most = reached[buffer] = (times[0], int(times[1]), times[2])
                for one in self.before[buffer] - reached.keys():
                    heappush(
                        waiting, (*self.later((least, steps, most), self.names.port_of_buffer(one), one.group), one)
                    )
        return reached

    def later(self, times: tuple[float, int, float], end: End, group: int) -> tuple[float, int, float]:
        fill = self.fill(end, group) or (INFINITE, INFINITE)
        return times[0] + fill[0], times[1] + 1, times[2] + fill[1]

    def host_way(
        self, end: End, origin: End, reached: Mapping[Buffer, tuple[float, int, float]]
    ) -> tuple[int, float, int, float] | None:
        """The steps, the least time, the group and the most time of the first way in which a port to a host fills."""
        behaviors, traffic = self.traffic.behaviors, self.traffic
        (router, entered), (first, paused) = self.hosts[end], self.hosts[origin]
        ways = []
        for dscp in traffic.kinds:
            if not behaviors.all[entered].is_lossless(dscp):
                continue
            group, tc = behaviors.all[entered].priority_group_of_dscp(dscp), behaviors.all[entered].tc[dscp]
            before = []
            if router == first and behaviors.all[paused].queue[tc] in set(behaviors.all[paused].stops.values()):
                before.append((0.0, 0, 0.0))
            for buffer, times in reached.items():
                channel = buffer.channel
                if self.forwarding.channels[channel].near == router and buffer.group in behaviors.awaited_groups(
                    entered, dscp, traffic.left[channel], traffic.entered[channel]
                ):
                    before.append(times)
            for times in before:
                least, steps, most = self.later(times, end, group)
                ways.append((steps, least, group, most))
        return min(ways, default=None)


def known(least: float, most: float) -> tuple[float | None, float | None]:
    """Both times, or None for both."""
    return (None, None) if least == INFINITE else (least, most)
