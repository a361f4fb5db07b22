"""The capacity of a fabric, from its links alone: injection, bandwidth per GPU, oversubscription, bisection.

A switch's level is its distance from the hosts: 1 if a host is cabled to it. Nothing here reads roles or port
numbers. Split ports, several groups of hosts and more tiers therefore count correctly. Rates are in Mb/s.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from nodrop.model.fabric import End, Fabric, Host, Link
from nodrop.model.index import Index
from nodrop.model.subject import natural

Facts = dict[str, Any]


class FabricBandwidth:
    """The bandwidths of one fabric; a link whose ends do not state their speed counts as none."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric, self.index = fabric, Index(fabric)
        self.level = self._compute_levels()

    def speed_mbps(self, link: Link) -> int | None:
        """Return the speed of a link: the lower of its ends, if they state it."""
        ends = (self.index.at(link.a), self.index.at(link.b))
        return min((end.speed_mbps for end in ends if end and isinstance(end.speed_mbps, int)), default=None)

    def groups(self) -> list[Facts]:
        """Return the hosts by group: their number, their ports, the rate that they can send, and that rate per GPU."""
        leaves = self._leaves_by_host()
        by_group: dict[str, list[Host]] = defaultdict(list)
        for host in self._fabric.hosts:
            by_group[host.group].append(host)
        return [
            _group(name, hosts, leaves) for name, hosts in sorted(by_group.items(), key=lambda pair: natural(pair[0]))
        ]

    def tiers(self) -> list[Facts]:
        """Return the levels of switches from the hosts upwards: capacities up and down, and the worst ratio."""
        found_tiers = []
        up, down, _ = self._speed_sums
        for level in sorted(set(self.level.values())):
            own_devices = [device for device in self._fabric.devices if self.level.get(device.name) == level]
            names = [device.name for device in own_devices]
            ratios = [down[name] / up[name] for name in names if up[name]]
            found_tiers.append(
                {
                    "level": level,
                    "roles": sorted({str(device.role) for device in own_devices}),
                    "devices": len(own_devices),
                    "down_mbps": sum(down[name] for name in names),
                    "up_mbps": sum(up[name] for name in names),
                    "oversubscription": max(ratios, default=None),
                }
            )
        return found_tiers

    def injection_mbps(self) -> int:
        """Return how much all hosts can send at once: the sum of their ports."""
        return sum(map(_host_mbps, self._fabric.hosts))

    def bisection_mbps(self) -> int:
        """Return the bisection bandwidth: half of the least of injection and any tier's uplinks.

        That is the cut of an even split of the switches of every tier. It counts one direction.
        """
        levels = set(self.level.values())
        *_, between = self._speed_sums
        crossings = [between[level] for level in levels if level + 1 in levels]
        if not crossings and sum(level == 1 for level in self.level.values()) > 1:
            return 0
        return min([self.injection_mbps(), *crossings]) // 2

    def _links_from_both_ends(self) -> Iterator[tuple[Link, End, End]]:
        for link in self._fabric.links:
            yield link, link.a, link.b
            yield link, link.b, link.a

    def _compute_levels(self) -> Mapping[str, int]:
        peers: dict[str, set[str]] = defaultdict(set)
        level: dict[str, int] = {}
        for _, near, far in self._links_from_both_ends():
            if near.node in self.index.devices and far.node in self.index.devices:
                peers[near.node].add(far.node)
            elif near.node in self.index.devices:
                level[near.node] = 1
        reached = list(level)
        for name in reached:  # grows while it is gone through
            for peer in sorted(peers[name] - level.keys()):
                level[peer] = level[name] + 1
                reached.append(peer)
        return level

    @cached_property
    def _speed_sums(self) -> tuple[Counter[str], Counter[str], Counter[int]]:
        """What switches send upwards and downwards, by switch, and what levels send upwards."""
        up, down, between = Counter[str](), Counter[str](), Counter[int]()
        for link, near, far in self._links_from_both_ends():
            near_level, far_level = self.level.get(near.node), self.level.get(far.node, 0)
            if near_level is None:
                continue
            speed = self.speed_mbps(link) or 0
            if far_level < near_level:
                down[near.node] += speed
            elif far_level > near_level:
                up[near.node] += speed
                between[near_level] += speed
        return up, down, between

    def _leaves_by_host(self) -> Mapping[str, set[str]]:
        leaves_of_host: dict[str, set[str]] = defaultdict(set)
        for _, near, far in self._links_from_both_ends():
            if near.node not in self.index.devices:
                leaves_of_host[near.node].add(far.node)
        return leaves_of_host


def _host_mbps(host: Host) -> int:
    return sum(port.speed_mbps for port in host.ports if isinstance(port.speed_mbps, int))


def _group(name: str, hosts: list[Host], leaves: Mapping[str, set[str]]) -> Facts:
    gpus, injection = sum(host.gpus for host in hosts), sum(map(_host_mbps, hosts))
    return {
        "group": name,
        "hosts": len(hosts),
        "nics": _distinct_sorted_values(host.nic for host in hosts if isinstance(host.nic, str)),
        "ports_per_host": max(len(host.ports) for host in hosts),
        "port_mbps": _distinct_sorted_values(port.speed_mbps for host in hosts for port in host.ports),
        "leaves_per_host": max(len(leaves.get(host.name, ())) for host in hosts),
        "injection_mbps": injection,
        "gpus": gpus,
        "per_gpu_mbps": injection // gpus if gpus else None,
    }


def _distinct_sorted_values(values: Iterable[Any]) -> list[Any]:
    return sorted({value for value in values if isinstance(value, int | str)})
