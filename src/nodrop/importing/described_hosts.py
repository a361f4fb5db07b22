"""Ports of switches towards hosts, as groups of hosts; also of hosts whose names have no number that fits."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nodrop.design.naming import NodeIdentity, host_identity
from nodrop.importing.numbering import fill_number_gaps
from nodrop.importing.tier_view import GroupedSwitch, SwitchGroup, TierView
from nodrop.model.fabric import Host, Interface, Port
from nodrop.model.far_ends import DEFAULT_HOST_GROUP_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacingPort:
    """A port of a switch towards a host."""

    box: GroupedSwitch
    port: Port
    splits: int
    interface: Interface
    host: int
    host_port: int
    name: str = ""
    """The name of the host as a description or a neighbor table has it; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostGroup:
    """Hosts of a kind, with the ports of switches that they are at."""

    name: str
    switches: SwitchGroup
    plugs: tuple[HostFacingPort, ...]
    host: Host | None
    """One of them, where hosts are stated."""

    @property
    def host_numbers(self) -> tuple[int, ...]:
        """The numbers of the hosts."""
        return tuple(sorted({plug.host for plug in self.plugs}))

    @property
    def host_names(self) -> Iterator[tuple[NodeIdentity, str]]:
        """Yield the names of hosts that files have."""
        return ((host_identity(self.name, plug.host), plug.name) for plug in self.plugs if plug.name)


def split_hosts_by_switches(
    sight: TierView, name: str, plugs: Iterable[HostFacingPort], host: Host | None
) -> list[HostGroup]:
    """Return hosts of a kind as groups, one for each group of switches that they are at."""
    by_switches: dict[str, list[HostFacingPort]] = {}
    groups = sight.group_of_switch
    for plug in plugs:
        by_switches.setdefault(groups[plug.box.device.name].name, []).append(plug)
    first = next(iter(by_switches), "")
    return [
        HostGroup(
            name=name if switches == first else f"{name}-{switches}",
            switches=next(group for group in sight.groups if group.name == switches),
            plugs=tuple(own_plugs),
            host=host,
        )
        for switches, own_plugs in by_switches.items()
    ]


def number_host_ports(plugs: Iterable[HostFacingPort]) -> tuple[HostFacingPort, ...]:
    """Return ports of a group with the numbers of the hosts' own ports, by switch and port."""
    seen: dict[int, int] = {}
    host_ports = []
    for one in sorted(plugs, key=lambda plug: (plug.host, plug.box.number_in_tier, plug.port)):
        seen[one.host] = seen.get(one.host, 0) + 1
        host_ports.append(replace(one, host_port=seen[one.host]))
    return tuple(host_ports)


_HostShape = tuple[str, int, frozenset[object]]
"""The group of switches that a host is at, its ports, and their speeds."""


def join_hosts_without_numbers(
    sight: TierView,
    groups: Sequence[HostGroup],
    unnumbered: Mapping[str, Sequence[HostFacingPort]],
    fits: Callable[[HostGroup], bool],
) -> list[HostGroup]:
    """Return groups with the hosts whose names have no number, or one that does not fit their place.

    Such a host goes to the largest group of hosts with as many ports of such speeds at such switches, under the number
    that its place has there; where there is none, they are a group. The hosts of a group whose numbers are no places,
    as those of node1001 and its like, are counted.
    """
    alone = [group for group in groups if len(group.host_numbers) == 1 and not fits(group)]
    regular = [_count_by_place(group, fits) for group in groups if group not in alone]
    waiting: dict[_HostShape, list[Sequence[HostFacingPort]]] = {}
    for plugs in (*(group.plugs for group in alone), *unnumbered.values()):
        waiting.setdefault(_shape_of_host(sight, plugs), []).append(plugs)
    taken = {group.name for group in regular}
    for shape, hosts in waiting.items():
        alike = [group for group in regular if _shape_of_group(sight, group) == shape]
        if alike:
            largest = max(alike, key=lambda group: len(group.host_numbers))
            regular[regular.index(largest)] = replace(largest, plugs=_number_by_place(largest.plugs, hosts))
            continue
        if len(hosts) == 1 and hosts[0][0].host:
            regular += [group for group in alone if group.plugs == hosts[0]]
            continue
        name = next(
            name
            for name in (DEFAULT_HOST_GROUP_NAME, f"{DEFAULT_HOST_GROUP_NAME}-{shape[0]}", *map(str, shape))
            if name not in taken
        )
        taken.add(name)
        regular += split_hosts_by_switches(sight, name, _number_by_place((), hosts), None)
    return sorted(regular, key=lambda group: group.name)


def _count_by_place(group: HostGroup, fits: Callable[[HostGroup], bool]) -> HostGroup:
    """Return a group whose hosts have the numbers of their places, where those in their names do not fit."""
    if fits(group):
        return group
    hosts: dict[int, list[HostFacingPort]] = {}
    for plug in group.plugs:
        hosts.setdefault(plug.host, []).append(plug)
    counted = replace(group, plugs=_number_by_place((), hosts.values()))
    return counted if fits(counted) else group


def _number_by_place(
    known: Sequence[HostFacingPort], added: Iterable[Sequence[HostFacingPort]]
) -> tuple[HostFacingPort, ...]:
    """Return the ports of hosts of which some have numbers, and the others those that their places leave for them."""
    by_number: dict[int, list[HostFacingPort]] = {}
    for plug in known:
        by_number.setdefault(plug.host, []).append(plug)
    hosts = [*by_number.items(), *((0, list(plugs)) for plugs in added)]
    hosts.sort(key=lambda host: min((plug.box.number_in_tier, plug.port) for plug in host[1]))
    numbers = fill_number_gaps([number for number, _ in hosts])
    return number_host_ports(
        replace(plug, host=number) for number, (_, plugs) in zip(numbers, hosts, strict=True) for plug in plugs
    )


def _shape_of_host(sight: TierView, plugs: Sequence[HostFacingPort]) -> _HostShape:
    switches = sight.group_of_switch[plugs[0].box.device.name].name
    return switches, len(plugs), frozenset(plug.interface.speed_mbps for plug in plugs)


def _shape_of_group(sight: TierView, group: HostGroup) -> _HostShape:
    """Return what most hosts of a group have."""
    by_number: dict[int, list[HostFacingPort]] = {}
    for plug in group.plugs:
        by_number.setdefault(plug.host, []).append(plug)
    return Counter(_shape_of_host(sight, plugs) for plugs in by_number.values()).most_common(1)[0][0]
