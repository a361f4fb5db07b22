"""The capacity of a fabric, from its links alone: injection, bandwidth per GPU, oversubscription, bisection.

A switch's level is the tier of its role, with or without hosts; without such a role it is the distance from the hosts,
1 if a host is cabled to it. Nothing here reads port numbers. Split ports, several groups of hosts and more tiers
therefore count correctly. Rates are in Mb/s.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import Any

from nodrop.analyses._shares import do_shares_follow_speeds
from nodrop.model.fabric import Device, End, Fabric, Host, Link
from nodrop.model.index import Index
from nodrop.model.modes import find_connected_components, parts_by_host
from nodrop.model.subject import natural_sort_key
from nodrop.model.values import replace_fields
from nodrop.routing.tiers import tier_of_device

FactsByKey = dict[str, Any]
_MIN_TIERS_FOR_PODS = 3


class FabricBandwidth:
    """The bandwidths of one fabric; a link whose ends do not state their speed counts as none."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric, self.index = fabric, Index(fabric)
        outside = self.index.external_nodes
        self._links = tuple(link for link in fabric.links if outside.isdisjoint((link.a.node, link.b.node)))
        """Without those to neighbors outside the fabric."""
        self.level = self._compute_levels()

    def speed_mbps(self, link: Link) -> int | None:
        """Return the speed of a link: the lower of its ends, if they state it."""
        ends = (self.index.port_at_end(link.a), self.index.port_at_end(link.b))
        return min((end.speed_mbps for end in ends if end and isinstance(end.speed_mbps, int)), default=None)

    def host_group_facts(self) -> list[FactsByKey]:
        """Return the hosts by group: their number, their ports, the rate that they can send, and that rate per GPU."""
        leaves = self._leaves_by_host()
        by_group: dict[str, list[Host]] = defaultdict(list)
        for host in self._fabric.hosts:
            by_group[host.group].append(host)
        return [
            _group_facts(name, hosts, leaves)
            for name, hosts in sorted(by_group.items(), key=lambda pair: natural_sort_key(pair[0]))
        ]

    def tier_capacity_facts(self, group_of_switch: Mapping[str, str] | None = None) -> list[FactsByKey]:
        """Return the levels of switches from the hosts upwards: capacities up and down, and the worst ratio.

        The bisection of a level is half of its uplinks: what half of its switches can send up to the other half. The
        rates are returned for each group of a level, by `group_of_switch`; switches that it lacks are in none.
        """
        group_of_switch = group_of_switch or {}
        found_tiers = []
        for level in sorted(set(self.level.values())):
            own_devices = [device for device in self._fabric.devices if self.level.get(device.name) == level]
            by_group: dict[str, list[str]] = defaultdict(list)
            for device in own_devices:
                if device.name in group_of_switch:
                    by_group[group_of_switch[device.name]].append(device.name)
            rates = self._sum_rates([device.name for device in own_devices])
            found_tiers.append(
                {
                    "level": level,
                    "roles": sorted({str(device.role) for device in own_devices}),
                    **rates,
                    "bisection_mbps": rates["usable_up_mbps"] // 2 or None,
                    "groups": [{"group": group, **self._sum_rates(names)} for group, names in by_group.items()],
                }
            )
        return found_tiers

    def _sum_rates(self, names: list[str]) -> FactsByKey:
        """Return what switches send up and down in all, and the ratio of the one that has the worst."""
        up, down, usable = self._rates_by_switch
        return {
            "devices": len(names),
            "down_mbps": sum(down[name] for name in names),
            "up_mbps": sum(up[name] for name in names),
            "usable_up_mbps": sum(usable[name] for name in names),
            "oversubscription": max((down[name] / usable[name] for name in names if usable[name]), default=None),
        }

    def pod_capacity_facts(self) -> list[FactsByKey]:
        """Return the parts that the top of three tiers or more joins, with what their hosts send and what leads up.

        Switches of a part are joined by cables below the top tier.
        """
        top = max(self.level.values(), default=0)
        if top < _MIN_TIERS_FOR_PODS:
            return []
        part_of = find_connected_components((name for name, level in self.level.items() if level < top), self._links)
        up: Counter[str] = Counter()
        hosts: dict[str, dict[str, Host]] = defaultdict(dict)
        for link, near, far in self._links_from_both_ends():
            if (part := part_of.get(near.node)) is None:
                continue
            if self.level.get(far.node) == top:
                up[part] += self._usable_uplink_mbps(link, near)
            elif far.node in self.index.hosts:
                hosts[part][far.node] = self.index.hosts[far.node]
        switches: dict[str, list[str]] = defaultdict(list)
        for name in sorted(part_of, key=natural_sort_key):
            switches[part_of[name]].append(name)
        devices: dict[str, list[Device]] = defaultdict(list)
        for device in self._fabric.devices:
            if device.name in part_of:
                devices[part_of[device.name]].append(device)
        links: dict[str, list[Link]] = defaultdict(list)
        for link in self._links:
            parts = {part_of.get(end.node) for end in (link.a, link.b) if end.node not in self.index.hosts}
            if len(parts) == 1 and (part := parts.pop()) is not None:
                links[part].append(link)
        return [
            {
                **_pod_facts(names, own, up[part]),
                "bisection_mbps": FabricBandwidth(
                    replace_fields(
                        self._fabric, devices=tuple(devices[part]), hosts=tuple(own), links=tuple(links[part])
                    )
                ).bisection_mbps(),
            }
            for part, names in switches.items()
            for own in (list(hosts[part].values()),)
        ]

    def injection_mbps(self) -> int:
        """Return how much all hosts can send at once: the sum of their ports."""
        return sum(map(_host_mbps, self._fabric.hosts))

    def bisection_mbps(self) -> int:
        """Return the bisection bandwidth: half of the least of injection and any tier's uplinks, over all planes.

        A plane is switches that cables between tiers join, such as one rail without spines. The cut splits every group
        of hosts, and the switches of every tier, evenly. It counts one direction. A plane without some hosts of its
        groups adds nothing, for it does not join each half of a group to the other.
        """
        level_of = self.level.get
        climbing = [link for link in self._links if level_of(link.a.node) != level_of(link.b.node)]
        plane_of = find_connected_components(self.level, climbing)
        hosts_of: dict[str, set[str]] = defaultdict(set)
        crossings: dict[str, Counter[int]] = defaultdict(Counter)
        top_level: Counter[str] = Counter()
        for name, level in self.level.items():
            top_level[plane_of[name]] = max(top_level[plane_of[name]], level)
        for link, near, far in self._links_from_both_ends():
            if near.node not in self._devices_above_hosts:
                continue
            plane, speed = plane_of[near.node], self.speed_mbps(link) or 0
            level, far_level = self.level[near.node], self.level.get(far.node, 0)
            if far.node not in self.index.devices:
                hosts_of[plane].add(far.node)
                crossings[plane][0] += speed
            elif level < top_level[plane]:
                crossings[plane][level] += self._usable_uplink_mbps(link, near) if far_level > level else 0
        hosts_by_group = self._group_host_names(set().union(*hosts_of.values()))
        return (
            sum(
                min(crossings[plane].values())
                for plane, hosts in hosts_of.items()
                if all(group <= hosts or group.isdisjoint(hosts) for group in hosts_by_group)
            )
            // 2
        )

    def parts_facts(self) -> FactsByKey:
        """Return how many parts of the fabric no cable joins, and whether some hosts reach no others therefore."""
        parts_of = parts_by_host(self._fabric.links, self.index.hosts.keys())
        distinct = list(dict.fromkeys(parts_of.values()))
        apart = any(one.isdisjoint(other) for number, one in enumerate(distinct) for other in distinct[:number])
        return {"parts": len(frozenset[str]().union(*distinct)), "hosts_apart": apart}

    def _group_host_names(self, names: Iterable[str]) -> list[set[str]]:
        """Return hosts by group; a cabled node that is no known host makes a separate group."""
        by_group: dict[str, set[str]] = defaultdict(set)
        for name in names:
            host = self.index.hosts.get(name)
            by_group[name if host is None else host.group].add(name)
        return list(by_group.values())

    @cached_property
    def _devices_above_hosts(self) -> Set[str]:
        """The devices with cables down to a host; uplinks of others carry nothing."""
        above_hosts: set[str] = set()
        ends = [(near.node, far.node) for _, near, far in self._links_from_both_ends() if near.node in self.level]
        for near, far in sorted(ends, key=lambda pair: self.level[pair[0]]):
            if far not in self.index.devices or (far in above_hosts and self.level[far] < self.level[near]):
                above_hosts.add(near)
        return above_hosts

    def _links_from_both_ends(self) -> Iterator[tuple[Link, End, End]]:
        for link in self._links:
            yield link, link.a, link.b
            yield link, link.b, link.a

    def _compute_levels(self) -> Mapping[str, int]:
        peers: dict[str, dict[str, None]] = defaultdict(dict)
        level: dict[str, int] = {}
        for _, near, far in self._links_from_both_ends():
            device = self.index.devices.get(near.node)
            if device is None:
                continue
            tier = tier_of_device(device)
            if far.node in self.index.devices:
                peers[near.node][far.node] = None
            if tier is not None or far.node not in self.index.devices:
                level[near.node] = 1 if tier is None else tier + 1
        reached = [(tier, name) for name, tier in level.items()]
        heapq.heapify(reached)
        while reached:
            tier, name = heapq.heappop(reached)
            for peer in peers[name]:
                if peer not in level:
                    level[peer] = tier + 1
                    heapq.heappush(reached, (tier + 1, peer))
        return level

    def _usable_uplink_mbps(self, link: Link, near: End) -> int:
        """Return what an uplink carries before the slowest one of its switch is full."""
        speed = self.speed_mbps(link) or 0
        return min(speed, self._fullest_share_by_switch.get(near.node, speed))

    @cached_property
    def _fullest_share_by_switch(self) -> Mapping[str, int]:
        """The speed of the slowest uplink of switches that have faster ones too, which get no more than it."""
        uplinks: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for link, near, far in self._links_from_both_ends():
            level = self.level.get(near.node)
            if level is not None and self.level.get(far.node, 0) > level and (speed := self.speed_mbps(link)):
                uplinks[near.node].append((speed, near.port))
        slowest: dict[str, int] = {}
        for name, ends in uplinks.items():
            if len({speed for speed, _ in ends}) > 1:
                ports = [port for _, end in ends if (port := self.index.interface(name, end)) is not None]
                if not do_shares_follow_speeds(self.index, self.index.devices[name], ports):
                    slowest[name] = min(ends)[0]
        return slowest

    @cached_property
    def _rates_by_switch(self) -> tuple[Counter[str], Counter[str], Counter[str]]:
        """What switches send upwards and downwards, and upwards before the slowest uplink is full, by switch."""
        up, down, usable = Counter[str](), Counter[str](), Counter[str]()
        for link, near, far in self._links_from_both_ends():
            near_level, far_level = self.level.get(near.node), self.level.get(far.node, 0)
            if near_level is None:
                continue
            speed = self.speed_mbps(link) or 0
            if far_level < near_level:
                down[near.node] += speed
            elif far_level > near_level:
                up[near.node] += speed
                usable[near.node] += self._usable_uplink_mbps(link, near)
        return up, down, usable

    def _leaves_by_host(self) -> Mapping[str, set[str]]:
        leaves_of_host: dict[str, set[str]] = defaultdict(set)
        for _, near, far in self._links_from_both_ends():
            if near.node not in self.index.devices:
                leaves_of_host[near.node].add(far.node)
        return leaves_of_host


def _host_mbps(host: Host) -> int:
    return sum(port.speed_mbps for port in host.ports if isinstance(port.speed_mbps, int))


def _pod_facts(switches: list[str], hosts: list[Host], up_mbps: int) -> FactsByKey:
    injection = sum(map(_host_mbps, hosts))
    return {
        "switches": switches,
        "hosts": len(hosts),
        "gpus": sum(host.gpus for host in hosts),
        "injection_mbps": injection,
        "up_mbps": up_mbps,
        "oversubscription": injection / up_mbps if up_mbps else None,
    }


def _group_facts(name: str, hosts: list[Host], leaves: Mapping[str, set[str]]) -> FactsByKey:
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


def _distinct_sorted_values(values: Iterable[object]) -> list[Any]:
    return sorted({value for value in values if isinstance(value, int | str)})
