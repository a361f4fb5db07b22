"""Direct networks, dragonfly and torus: their routes, and the priorities without which buffers wait in a circle.

Every switch has hosts. A switch is its coordinates: group and position in a dragonfly, one number for each dimension in
a torus. Routes are minimal or Valiant's in a dragonfly (Kim, Dally, Scott, Abts, ISCA 2008), dimension order with both
ways round where they are equally long in a torus (Dally and Seitz, IEEE Transactions on Computers 1987). Packets change
to the next priority behind each cable between groups, or at the dateline of a ring: the cable from its last switch to
its first.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

from nodrop.model.fabric import Device, End, Fabric, Interface, Link
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.proofs.deadlock import DeadlockCheckResult, find_circles_in_traffic
from nodrop.proofs.forwarding import Forwarding, ForwardingRow
from nodrop.proofs.traffic import TrafficAtRouters
from nodrop.routing import compute_control_plane

MAX_TRIED_PRIORITIES = 8
"""PFC priorities of a port (IEEE 802.1Q)."""
_HOST_PORT_NAME = "hosts"
"""The name of a switch's port to hosts."""

SwitchCoordinates = tuple[int, ...]
SwitchIndexPair = tuple[int, int]
"""The numbers of two switches, the lower first."""
_DestinationBitsByNextHops = Mapping[tuple[int, ...], int]
"""The destinations, as bits, that a switch sends to each set of neighbors."""


class _PacketStateMap(NamedTuple):
    """What a port does with states of packets: a packet's state is its traffic class and, between switches, its DSCP.

    `after` has the state of packets that leave, by the state with which they entered the switch; `priority` the
    priority of each state.
    """

    after: tuple[int, ...]
    priority: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectNetwork:
    """The switches of a network, and its cables; several between two switches stand several times."""

    switches: tuple[SwitchCoordinates, ...]
    cables: tuple[SwitchIndexPair, ...]

    def neighbors(self) -> list[list[int]]:
        """Return the neighbors of each switch."""
        near: list[set[int]] = [set() for _ in self.switches]
        for a, b in self.cables:
            near[a].add(b)
            near[b].add(a)
        return [sorted(numbers) for numbers in near]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrioritiesForDeadlockFreedom:
    """How many priorities end all circles, None where up to 8 do not; and the circles with a single one."""

    priorities: int | None
    single: DeadlockCheckResult


def make_dragonfly(groups: int, switches_per_group: int, global_cables: int) -> DirectNetwork:
    """Return a dragonfly: all switches of a group are cabled to one another, and each group equally often to each.

    Each switch has up to `global_cables` cables to other groups: as many groups as there can be are one more than the
    global cables of a group.
    """
    switches = tuple(product(range(groups), range(switches_per_group)))
    number = {switch: place for place, switch in enumerate(switches)}
    cables = [
        (number[group, a], number[group, b])
        for group in range(groups)
        for a, b in combinations(range(switches_per_group), 2)
    ]
    copies = switches_per_group * global_cables // (groups - 1)
    for near, far in combinations(range(groups), 2):
        for copy in range(copies):
            first = copy * (groups - 1)
            places = first + far - near - 1, first + groups - 1 - (far - near)
            cables.append((number[near, places[0] // global_cables], number[far, places[1] // global_cables]))
    return DirectNetwork(switches=switches, cables=tuple(cables))


def make_torus(sizes: Sequence[int]) -> DirectNetwork:
    """Return a torus of some dimensions: a ring of switches through each switch in each."""
    switches = tuple(product(*map(range, sizes)))
    number = {switch: place for place, switch in enumerate(switches)}
    cables = set()
    for switch in switches:
        for axis, size in enumerate(sizes):
            far = (*switch[:axis], (switch[axis] + 1) % size, *switch[axis + 1 :])
            if far != switch:
                cables.add((min(number[switch], number[far]), max(number[switch], number[far])))
    return DirectNetwork(switches=switches, cables=tuple(sorted(cables)))


class DragonflyRoutes:
    """Routes of a dragonfly; Valiant's cross any group, and a destination is the group with the switch then."""

    def __init__(self, network: DirectNetwork, *, valiant: bool) -> None:
        self._network, self._valiant = network, valiant
        self._group = [switch[0] for switch in network.switches]
        self._near = network.neighbors()
        self._members: defaultdict[int, int] = defaultdict(int)
        for place, group in enumerate(self._group):
            self._members[group] |= 1 << place
        self._groups_near = [{self._group[far] for far in near} for near in self._near]
        copies = sorted(self._members) if valiant else [0]
        self._first = {group: place * len(network.switches) for place, group in enumerate(copies)}
        """By group that packets go by, the number of the first destination; one for all without Valiant's routing."""
        self._copies = sum(1 << first for first in self._first.values())

    def describe_missing_cable(self) -> str | None:
        """Return two switches of a group, or two groups, without a cable between them."""
        names = [f"switches {'-'.join(map(str, switch))}" for switch in self._network.switches]
        for a, b in combinations(range(len(names)), 2):
            if self._group[a] == self._group[b] and b not in self._near[a]:
                return f"{names[a]} and {names[b].removeprefix('switches ')}"
        joined = {(self._group[a], self._group[b]) for a, b in self._network.cables}
        for near, far in combinations(sorted(self._members), 2):
            if (near, far) not in joined and (far, near) not in joined:
                return f"groups {near} and {far}"
        return None

    def destinations_at_switch(self, switch: int) -> int:
        """Return the destinations that end at a switch, as bits."""
        return self._copies << switch

    def destinations_by_next_hops(self, switch: int) -> _DestinationBitsByNextHops:
        """Return the packets that a switch sends to each neighbor."""
        group = self._group[switch]
        rows: defaultdict[tuple[int, ...], int] = defaultdict(int)
        inside = self._members[group]
        for near in self._near[switch]:
            if inside >> near & 1:
                rows[near,] |= self._copies << near
        outside = (1 << len(self._group)) - 1 & ~inside
        for far, members in self._members.items():
            if far != group:
                towards = self._next_hops_to_group(switch, far)
                rows[towards] |= members << self._first[group if self._valiant else 0]
                if self._valiant:
                    rows[towards] |= outside << self._first[far]
        return rows

    def _next_hops_to_group(self, switch: int, group: int) -> tuple[int, ...]:
        """Return the neighbors on the shortest ways into a group: in it, else those that are next to it."""
        own, near = self._group[switch], self._near[switch]
        if group in self._groups_near[switch]:
            return tuple(far for far in near if self._group[far] == group)
        return tuple(far for far in near if self._group[far] == own and group in self._groups_near[far])

    def packet_state_map_of_port(self, switch: int, neighbor: int, priorities: int) -> _PacketStateMap:
        """Return the marking of a port: behind a cable between groups, the next priority."""
        step = self._group[switch] != self._group[neighbor]
        states = range(priorities)
        return _PacketStateMap(tuple(min(state + step, priorities - 1) for state in states), tuple(states))


class TorusRoutes:
    """Routes of a torus in dimension order, the shorter way round each ring; both where they are equally long."""

    def __init__(self, network: DirectNetwork) -> None:
        self._network, self._near = network, network.neighbors()
        self._number = {switch: place for place, switch in enumerate(network.switches)}
        axes = list(zip(*network.switches, strict=True))
        self._first = [min(places) for places in axes]
        self._sizes = [max(places) - min(places) + 1 for places in axes]

    def describe_missing_cable(self) -> str | None:
        """Return two switches that are neighbors in a ring and have no cable between them."""
        for place, switch in enumerate(self._network.switches):
            for axis in range(len(switch)):
                far = self._switch_along_axis(switch, axis, 1)
                if far != switch and self._number.get(far) not in self._near[place]:
                    names = ("-".join(map(str, one)) for one in (switch, far))
                    return f"switches {' and '.join(names)}"
        return None

    def _switch_along_axis(self, switch: SwitchCoordinates, axis: int, step: int) -> SwitchCoordinates:
        first = self._first[axis]
        return (*switch[:axis], first + (switch[axis] - first + step) % self._sizes[axis], *switch[axis + 1 :])

    def destinations_at_switch(self, switch: int) -> int:
        """Return the destinations that end at a switch, as bits."""
        return 1 << switch

    def destinations_by_next_hops(self, switch: int) -> _DestinationBitsByNextHops:
        """Return the packets that a switch sends to each neighbor."""
        rows: defaultdict[tuple[int, ...], int] = defaultdict(int)
        at = self._network.switches[switch]
        for place, to in enumerate(self._network.switches):
            if to != at:
                axis = next(axis for axis, (a, b) in enumerate(zip(at, to, strict=True)) if a != b)
                ahead = (to[axis] - at[axis]) % self._sizes[axis]
                ways = ((1, ahead), (-1, self._sizes[axis] - ahead))
                short = [step for step, length in ways if 2 * length <= self._sizes[axis]]
                far = {self._number[self._switch_along_axis(at, axis, step)] for step in short}
                rows[tuple(sorted(far))] |= 1 << place
        return rows

    def packet_state_map_of_port(self, switch: int, neighbor: int, priorities: int) -> _PacketStateMap:
        """Return the marking of a port: two states for each dimension, before and behind its dateline."""
        at, to = self._network.switches[switch], self._network.switches[neighbor]
        axis = next(axis for axis, (a, b) in enumerate(zip(at, to, strict=True)) if a != b)
        if priorities == 1:
            return _PacketStateMap((0,), (0,))
        crosses = abs(at[axis] - to[axis]) > 1
        states = [(one, behind) for one in range(len(at)) for behind in range(priorities)]
        after = [
            axis * priorities + min((behind if one == axis else 0) + crosses, priorities - 1) for one, behind in states
        ]
        return _PacketStateMap(tuple(after), tuple(behind for _, behind in states))


NetworkRoutes = DragonflyRoutes | TorusRoutes


def find_priorities_that_end_circles(network: DirectNetwork, routes: NetworkRoutes) -> PrioritiesForDeadlockFreedom:
    """Return how many priorities end all circles of buffers in a network, by its graph with 1, 2 and more of them."""
    single = check_network_for_circles(network, routes, 1)
    if single.is_free:
        return PrioritiesForDeadlockFreedom(priorities=1, single=single)
    enough = (
        count
        for count in range(2, MAX_TRIED_PRIORITIES + 1)
        if check_network_for_circles(network, routes, count).is_free
    )
    return PrioritiesForDeadlockFreedom(priorities=next(enough, None), single=single)


def check_network_for_circles(network: DirectNetwork, routes: NetworkRoutes, priorities: int) -> DeadlockCheckResult:
    """Return whether buffers can wait for one another in a circle if packets use some lossless priorities in turn."""
    fabric, ports = _make_fabric(network, routes, priorities)
    forwarding = Forwarding(compute_control_plane(Index(fabric)))
    forwarding.entries = dict.fromkeys(range(len(network.switches)), (_HOST_PORT_NAME,))
    for place in range(len(network.switches)):
        forwarding.own[place] = routes.destinations_at_switch(place)
        forwarding.every |= forwarding.own[place]
        forwarding.carried |= forwarding.own[place]
        for neighbors, bits in routes.destinations_by_next_hops(place).items():
            ways = ((near, cable) for near in neighbors for cable in ports[place, near])
            channels = (forwarding.channel_number(place, cable, near, cable) for near, cable in ways)
            forwarding.rows[place].append(ForwardingRow(bits, tuple(channels)))
    return find_circles_in_traffic(TrafficAtRouters(forwarding), ())


def _make_fabric(
    network: DirectNetwork, routes: NetworkRoutes, priorities: int
) -> tuple[Fabric, Mapping[tuple[int, int], Sequence[str]]]:
    """Return switches with the maps of the markings, and the ports from each to each; a cable's ports have its name."""
    names = ["-".join(map(str, switch)) for switch in network.switches]
    ports: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    interfaces = [
        [Interface(name=_HOST_PORT_NAME, qos=_make_profile(_PacketStateMap((0,), (0,)), priorities))] for _ in names
    ]
    links = []
    for place, (a, b) in enumerate(network.cables):
        cable = f"cable{place}"
        links.append(Link(a=End(names[a], cable), b=End(names[b], cable)))
        for near, far in ((a, b), (b, a)):
            ports[near, far].append(cable)
            qos = _make_profile(routes.packet_state_map_of_port(near, far, priorities), priorities)
            interfaces[near].append(Interface(name=cable, qos=qos))
    devices = (
        Device(name=name, platform="", bgp=None, interfaces=tuple(own))
        for name, own in zip(names, interfaces, strict=True)
    )
    return Fabric(name="", mode="pfc-only", devices=tuple(devices), links=tuple(links)), ports


def _make_profile(marking: _PacketStateMap, priorities: int) -> QosProfile:
    """Return the maps of a port that marks packets: queue and DSCP behind it by the state in which packets leave."""
    every = tuple(range(priorities))
    return QosProfile(
        trust="dscp",
        dscp_to_tc=tuple(range(len(marking.after))),
        tc_to_queue=tuple(marking.priority[state] for state in marking.after),
        tc_to_priority_group=marking.priority,
        tc_to_dscp=marking.after if priorities > 1 else None,
        pfc_rx_priorities=every,
        pfc_tx_priorities=every,
    )
