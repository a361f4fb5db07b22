"""The fewest switches that carry so many hosts: radix and ratio give the closed forms, even links the whole numbers.

A leaf with R ports and d of them down has u = ⌈d / ratio⌉ up, so L leaves need ⌈L·u / R⌉ spines below no other tier.
Two tiers carry at most R²/2 ports at 1:1, three tiers R³/4 with 5R²/4 switches (Al-Fares et al., "A Scalable, Commodity
Data Center Network Architecture", SIGCOMM 2008, section 3). With rails, leaves come in sets of one for each port of a
server.

Each switch has equally many links to each one above it, as a design states them. Where that needs more than the closed
forms, every number of leaves, pods, spines and planes is tried. Tiers above the leaves are 1:1. Nothing here does I/O.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from nodrop.design.endpoints import MAX_HOST_PORTS
from nodrop.errors import NodropError
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.topology import MOST_LINKS_PER_SWITCH_PAIR

_BREAKOUT_SPLITS = (1, 2, 4, 8)


class CannotSize(NodropError):
    """No fabric carries the hosts, for `reason`; `largest` is how many of the first kind it would, 0 for none."""

    def __init__(self, reason: str, largest: int = 0) -> None:
        self.reason, self.largest = reason, largest
        super().__init__(reason)


@dataclass(frozen=True, kw_only=True)
class PanelPortsForSpeed:
    """Panel ports of a model that give ports of a speed, broken out into as many as there can be."""

    model: SwitchModel
    speed_mbps: int
    split: int
    panels: tuple[int, ...]

    @property
    def radix(self) -> int:
        """Return how many ports of the speed a switch has."""
        return self.split * len(self.panels)

    def count_panels(self, ports: int) -> int:
        """Return how many panel ports give so many ports."""
        return -(-ports // self.split)


def best_port_use_of_speed(model: SwitchModel, platform: str, speed_mbps: int) -> PanelPortsForSpeed | None:
    """Return how a model gives the most ports of a speed under a network OS; None where it has none."""
    uses = []
    for split in _BREAKOUT_SPLITS:
        panels = model.panels_splittable_at_once(split, speed_mbps)
        way = model.find_breakout(split, panels)
        supported = way and not way.blocks_next and (not way.platforms or platform in way.platforms)
        if way and supported and speed_mbps in way.speeds:
            uses.append(PanelPortsForSpeed(model=model, speed_mbps=speed_mbps, split=split, panels=panels))
    return max(uses, key=lambda use: (use.radix, -use.split), default=None)


@dataclass(frozen=True, kw_only=True)
class AlikeHosts:
    """Hosts that are alike, and the ports of their leaves."""

    name: str
    count: int
    gpus: int
    """In each."""
    ports: int
    """Of each."""
    nic: str
    apart: bool
    """Whether each port of a host is on a different leaf; else all are on one."""
    rails: bool = False
    """Whether these leaves are rails."""
    ports_per_leaf: int = 1
    """Ports of a host that share a leaf, where not all do; a divisor of `ports`."""
    down: PanelPortsForSpeed
    up: PanelPortsForSpeed

    @property
    def leaves_per_host(self) -> int:
        """Return how many leaves a host is connected to."""
        return self.ports // self.ports_per_leaf if self.apart else 1

    @property
    def ports_on_leaf(self) -> int:
        """Return how many ports of a host are on one leaf."""
        return self.ports_per_leaf if self.apart else self.ports

    @cached_property
    def _panel_count(self) -> int:
        return len({*self.down.panels, *self.up.panels})

    def can_leaf_have_ports(self, down: int, up: Sequence[int]) -> bool:
        """Return whether a leaf has so many ports down, and up to each plane; a panel port leads to one plane."""
        below, above = self.down.count_panels(down), sum(map(self.up.count_panels, up))
        return (
            below <= len(self.down.panels) and above <= len(self.up.panels) and below + above <= self._panel_count
        )  # fmt: skip

    def min_uplinks(self, down: int, ratio: Fraction) -> int:
        """Return how many uplinks carry so many ports down at a ratio, at the least."""
        return -int(-(down * self.down.speed_mbps) // (ratio * self.up.speed_mbps))

    def max_hosts_per_leaf_set(self, ratio: Fraction) -> int:
        """Return how many hosts a set of leaves holds at a ratio, at most."""
        for hosts in range(self.down.radix // self.ports_on_leaf, 0, -1):
            down = hosts * self.ports_on_leaf
            if self.can_leaf_have_ports(down, [self.min_uplinks(down, ratio)]):
                return hosts
        return 0


@dataclass(frozen=True, kw_only=True)
class LeavesOfHosts:
    """The leaves of hosts that are alike: sets of equal leaves, each with at most so many hosts."""

    hosts: AlikeHosts
    sets: int
    ratio: Fraction

    @property
    def count(self) -> int:
        """Return how many leaves there are."""
        return self.sets * self.hosts.leaves_per_host

    @property
    def max_hosts_per_set(self) -> int:
        """Return how many hosts share a set, at most."""
        return -(-self.hosts.count // self.sets)

    @cached_property
    def ports_down_per_leaf(self) -> int:
        """Return the ports down of a leaf."""
        return self.max_hosts_per_set * self.hosts.ports_on_leaf

    @cached_property
    def min_uplinks_per_leaf(self) -> int:
        """Return the links up that a leaf needs, at the least."""
        return self.hosts.min_uplinks(self.ports_down_per_leaf, self.ratio)


@dataclass(frozen=True, kw_only=True)
class FabricDemand:
    """What a fabric is to carry, and with which switches."""

    hosts: tuple[AlikeHosts, ...]
    """The GPU servers first, then storage."""
    upper: PanelPortsForSpeed
    """Of the switches above the leaves."""
    ratio: Fraction
    """Bandwidth down over bandwidth up of each leaf, at most."""


@dataclass(frozen=True, kw_only=True)
class FabricShape:
    """The tiers of a fabric in numbers: one switch, leaves below spines, or pods of these below cores in planes."""

    leaves: tuple[LeavesOfHosts, ...]
    pods: int = 1
    spines_of_pod: int = 0
    links: tuple[int, ...] = ()
    """Between a leaf of each kind and each spine of its pod."""
    planes: int = 1
    """Parts of the spines of each pod; a core has links to the spines of one plane, of all pods."""
    cores_of_plane: int = 0
    core_links: int = 0
    """Between a spine and each core of its plane."""

    def max_leaves_per_pod(self, leaf_kind_index: int) -> int:
        """Return how many leaves of a kind a pod has, at most: whole sets."""
        leaves = self.leaves[leaf_kind_index]
        return -(-leaves.sets // self.pods) * leaves.hosts.leaves_per_host

    @property
    def switch_counts_by_tier(self) -> tuple[int, ...]:
        """Return how many switches each tier has, from the leaves up."""
        if not self.spines_of_pod:
            return (1,)
        lower = (sum(leaves.count for leaves in self.leaves), self.pods * self.spines_of_pod)
        return (*lower, self.planes * self.cores_of_plane) if self.cores_of_plane else lower

    @property
    def switch_count(self) -> int:
        """Return how many switches there are."""
        return sum(self.switch_counts_by_tier)

    @property
    def fabric_links(self) -> int:
        """Return how many links there are between switches."""
        below = sum(
            leaves.count * links * self.spines_of_pod for leaves, links in zip(self.leaves, self.links, strict=False)
        )
        return below + self.pods * self.spines_of_pod * self.cores_of_plane * self.core_links

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Return what makes a shape the better one: fewer switches, then fewer links, planes and pods."""
        return self.switch_count, self.fabric_links, self.planes, self.pods


def find_smallest_fabric_shape(demand: FabricDemand) -> FabricShape:
    """Return the fabric with the fewest switches; CannotSize where none of three tiers carries the hosts."""
    shape = _smallest_shape(demand)
    if shape is None:
        raise CannotSize("three tiers of these switches do not carry them", _max_host_count(demand))
    return shape


def _max_host_count(demand: FabricDemand) -> int:
    """Return how many hosts of the first kind the largest fabric carries beside the others; 0 where none does."""
    low, high = 0, demand.hosts[0].count - 1
    while low < high:
        middle = (low + high + 1) // 2
        hosts = (replace(demand.hosts[0], count=middle), *demand.hosts[1:])
        low, high = (middle, high) if _smallest_shape(replace(demand, hosts=hosts)) else (low, middle - 1)
    return low


def _smallest_shape(demand: FabricDemand) -> FabricShape | None:
    if any(hosts.count * hosts.ports > MAX_HOST_PORTS for hosts in demand.hosts):
        return None
    if _fits_one_switch(demand):
        together = (replace(hosts, apart=False) for hosts in demand.hosts)
        return FabricShape(leaves=tuple(LeavesOfHosts(hosts=hosts, sets=1, ratio=demand.ratio) for hosts in together))
    search = _BestShapeSearch(demand)
    search.try_two_tiers()
    return search.best or search.try_three_tiers()


def _fits_one_switch(demand: FabricDemand) -> bool:
    """Whether one switch has a port for every port of the hosts."""
    uses = [(hosts.down, hosts.down.count_panels(hosts.count * hosts.ports)) for hosts in demand.hosts]
    panels = {panel for use, _ in uses for panel in use.panels}
    one_model = len({use.model.name for use, _ in uses}) == 1
    return one_model and all(n <= len(use.panels) for use, n in uses) and sum(n for _, n in uses) <= len(panels)


class _BestShapeSearch:
    """The best shape so far, of those that were tried."""

    def __init__(self, demand: FabricDemand) -> None:
        self.demand, self.upper = demand, demand.upper
        self.best: FabricShape | None = None

    def _is_worth_trying(self, switches: int) -> bool:
        return self.best is None or switches <= self.best.switch_count

    def _keep_if_better(self, shape: FabricShape) -> None:
        if self.best is None or shape.rank < self.best.rank:
            self.best = shape

    def try_two_tiers(self) -> None:
        """Try all numbers of leaves with all numbers of spines that differ in their links."""
        for leaves in self._leaf_choices(self.upper.radix):
            for spines, links in _spine_counts_and_leaf_links(leaves):
                shape = FabricShape(leaves=leaves, spines_of_pod=spines, links=links)
                if self._is_worth_trying(shape.switch_count) and self._fits_pod(shape, 0):
                    self._keep_if_better(shape)

    def try_three_tiers(self) -> FabricShape | None:
        """Try all numbers of leaves in all numbers of pods; return the best shape."""
        most_of_pod = self.upper.radix // 2
        for leaves in self._leaf_choices(self.upper.radix * self.upper.radix // 2):
            for pods in sorted({-(-each.sets // of_pod) for each in leaves for of_pod in range(1, most_of_pod + 1)}):
                if not 1 < pods <= self.upper.radix:
                    continue
                for spines, links in _spine_counts_and_leaf_links(leaves):
                    shape = FabricShape(leaves=leaves, pods=pods, spines_of_pod=spines, links=links)
                    if self._is_worth_trying(shape.switch_count):
                        self._try_planes(shape)
        return self.best

    def _leaf_choices(self, most: int) -> Iterator[tuple[LeavesOfHosts, ...]]:
        """Yield leaves with fewer and fewer hosts on each, as long as they can be part of the best shape.

        Leaves of further kinds of hosts are as few as hold these.
        """
        ratio, (first, *others) = self.demand.ratio, self.demand.hosts
        most_on_sets = [hosts.max_hosts_per_leaf_set(ratio) for hosts in self.demand.hosts]
        if not all(most_on_sets):
            return
        further = [
            LeavesOfHosts(hosts=hosts, sets=-(-hosts.count // on_set), ratio=ratio)
            for hosts, on_set in zip(others, most_on_sets[1:], strict=True)
        ]
        for sets in dict.fromkeys(-(-first.count // on_set) for on_set in range(most_on_sets[0], 0, -1)):
            leaves = (LeavesOfHosts(hosts=first, sets=sets, ratio=ratio), *further)
            count = sum(each.count for each in leaves)
            if count > most or not self._is_worth_trying(count + 1):
                return
            yield leaves

    def _fits_pod(self, shape: FabricShape, spine_uplinks: int) -> bool:
        """Return whether leaves have their uplinks, to every plane, and spines have all their ports."""
        below = 0
        for kind, (leaves, links) in enumerate(zip(shape.leaves, shape.links, strict=True)):
            to_plane = links * shape.spines_of_pod // shape.planes
            if not leaves.hosts.can_leaf_have_ports(leaves.ports_down_per_leaf, [to_plane] * shape.planes):
                return False
            below += self.upper.count_panels(links * shape.max_leaves_per_pod(kind))
        return below + self.upper.count_panels(spine_uplinks) <= len(self.upper.panels)

    def _try_planes(self, shape: FabricShape) -> None:
        """Offer a shape of pods with cores in each number of planes, and each number of links to a core."""
        uplinks = sum(links * shape.max_leaves_per_pod(kind) for kind, links in enumerate(shape.links))
        least_cores = -(-shape.pods * shape.spines_of_pod * uplinks // self.upper.radix)
        if not self._is_worth_trying(shape.switch_count + least_cores) or not self._fits_pod(shape, uplinks):
            return
        for planes in range(1, shape.spines_of_pod + 1):
            if shape.spines_of_pod % planes:
                continue
            spines_of_plane = shape.pods * shape.spines_of_pod // planes
            for links in range(min(self.upper.radix // spines_of_plane, MOST_LINKS_PER_SWITCH_PAIR), 0, -1):
                cores = -(-uplinks // links)
                whole = replace(shape, planes=planes, cores_of_plane=cores, core_links=links)
                if self._is_worth_trying(whole.switch_count) and self._fits_pod(whole, cores * links):
                    self._keep_if_better(whole)


def _spine_counts_and_leaf_links(leaves: Sequence[LeavesOfHosts]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield numbers of spines, fewest first, with the links of a leaf of each kind to each; fewer spines have more."""
    counts = {
        -(-each.min_uplinks_per_leaf // links)
        for each in leaves
        for links in range(1, min(each.min_uplinks_per_leaf, MOST_LINKS_PER_SWITCH_PAIR) + 1)
    }
    for count in sorted(counts):
        links = tuple(-(-each.min_uplinks_per_leaf // count) for each in leaves)
        if max(links) <= MOST_LINKS_PER_SWITCH_PAIR:
            yield count, links
