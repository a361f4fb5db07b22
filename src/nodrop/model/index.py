"""A fabric by name: devices, ports, hosts and cable peers; each part is built when first requested.

If two rows have the same name, the first counts; a rule finds the duplicate.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from nodrop.identity import IdentityMap
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link
from nodrop.model.modes import cabled_group_by_switch
from nodrop.model.nics import Nic

_T = TypeVar("_T", Device, Host, HostPort, Interface)
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class IndexChannel(Generic[_Made]):
    """A value of one type that a caller passes to analyses and rules through the index, by its name."""

    name: str


def _first_row_by_name(rows: Iterable[_T]) -> Mapping[str, _T]:
    row_of_name: dict[str, _T] = {}
    for row in rows:
        row_of_name.setdefault(row.name, row)
    return row_of_name


class Index:
    """The parts of one `fabric` by their names and by the cables between them; None is a part that it does not have."""

    def __init__(self, fabric: Fabric, former: "Index | None" = None) -> None:
        """Take a fabric, and the index of another state, to avoid checking devices again that are in both."""
        self.fabric = fabric
        self._alike: IdentityMap[Device, Sequence[Sequence[Interface]]] = former._alike if former else IdentityMap()
        self._interfaces: dict[str, Mapping[str, Interface]] = {}
        self._host_ports: dict[str, Mapping[str, HostPort]] = {}
        self._kept: dict[str, Any] = {}
        """Results that analyses compute once for all rules, by the name of the analysis, and values of channels."""
        self._larger: Index | None = None

    def compute_once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """Return the value kept under a name; make it when it is first requested."""
        if name not in self._kept:
            self._kept[name] = make()
        cached_value: _Made = self._kept[name]
        return cached_value

    def set_channel_value(self, channel: IndexChannel[_Made], value: _Made) -> None:
        """Pass a value to the readers of a channel."""
        self._kept[channel.name] = value

    def get_channel_value(self, channel: IndexChannel[_Made], default: _Made) -> _Made:
        """Return the value that was passed through a channel; `default` if there is none."""
        passed_value: _Made = self._kept.get(channel.name, default)
        return passed_value

    def enlarge(self, add_devices: Callable[[Fabric], Fabric]) -> "Index":
        """Return the index of the fabric with further devices, made once; both keep the same results of analyses."""
        if self._larger is None:
            fabric = add_devices(self.fabric)
            larger = self if fabric is self.fabric else Index(fabric, self)
            larger._kept = self._kept
            self._larger = larger._larger = larger
        return self._larger

    def take_cached_values_from(self, index: "Index") -> None:
        """Keep what another index keeps."""
        self._kept.update(index._kept)

    @cached_property
    def devices(self) -> Mapping[str, Device]:
        """The devices by name."""
        return _first_row_by_name(self.fabric.devices)

    @cached_property
    def hosts(self) -> Mapping[str, Host]:
        """The hosts by name; they are stated, never read."""
        return _first_row_by_name(self.fabric.hosts)

    @cached_property
    def nics_by_host(self) -> Mapping[str, Sequence[Nic]]:
        """The NIC settings of files by the name under which each file was found."""
        nics: dict[str, list[Nic]] = {}
        for nic in self.fabric.nics:
            nics.setdefault(nic.host, []).append(nic)
        return nics

    @cached_property
    def _links(self) -> Mapping[tuple[str, str], Link]:
        links: dict[tuple[str, str], Link] = {}
        for link in self.fabric.links:
            links.setdefault(link.a, link)
            links.setdefault(link.b, link)
        return links

    @cached_property
    def far_ends(self) -> Mapping[str, Mapping[str, End]]:
        """The other ends of the cables of each device and host, by port."""
        ends_by_node: dict[str, dict[str, End]] = {}
        for link in self.fabric.links:
            ends_by_node.setdefault(link.a.node, {}).setdefault(link.a.port, link.b)
            ends_by_node.setdefault(link.b.node, {}).setdefault(link.b.port, link.a)
        return ends_by_node

    @cached_property
    def neighbor_names(self) -> Mapping[str, Set[str]]:
        """The names of the devices that each device has cables to."""
        found_neighbor_names: dict[str, set[str]] = {name: set() for name in self.devices}
        for link in self.fabric.links:
            (a, _), (b, _) = link.a, link.b
            if a in found_neighbor_names and b in found_neighbor_names:
                found_neighbor_names[a].add(b)
                found_neighbor_names[b].add(a)
        return found_neighbor_names

    @cached_property
    def cable_group_by_device(self) -> Mapping[str, str]:
        """The group of each device: what known cables join, where they join several groups; else ""."""
        return cabled_group_by_switch(list(self.devices), self.fabric.links, self.hosts)

    @cached_property
    def external_nodes(self) -> Set[str]:
        """The nodes that are stated to be outside the fabric: no file of theirs is expected."""
        return frozenset(neighbor.name for neighbor in self.fabric.external)

    def interface(self, device: str, name: str) -> Interface | None:
        """Return the port `name` of a device."""
        if device not in self._interfaces:
            owner = self.devices.get(device)
            self._interfaces[device] = _first_row_by_name(owner.interfaces) if owner else {}
        return self._interfaces[device].get(name)

    def port_at_end(self, end: End) -> Interface | HostPort | None:
        """Return the port that an end names, of a device or else of a host."""
        if end.node in self.devices:
            return self.interface(*end)
        if end.node not in self._host_ports:
            host = self.hosts.get(end.node)
            self._host_ports[end.node] = _first_row_by_name(host.ports) if host else {}
        return self._host_ports[end.node].get(end.port)

    def link(self, node: str, port: str) -> Link | None:
        """Return the cable at a port."""
        return self._links.get((node, port))

    def groups_of_alike_ports(self, device: Device) -> Sequence[Sequence[Interface]]:
        """Return the ports of a device in groups of one QoS profile, side, speed and state.

        Groups are ordered by their first ports, and none is empty. A rule that needs no more does not have to check
        each of a million ports.
        """
        alike = self._alike.get(device)
        if alike is None:
            interfaces: dict[object, list[Interface]] = {}
            for port in device.interfaces:
                interfaces.setdefault((port.qos, port.side, port.speed_mbps, port.enabled), []).append(port)
            alike = self._alike[device] = tuple(interfaces.values())
        return alike

    def far_end(self, node: str, port: str) -> End | None:
        """Return the other end of the cable at a port, also where nothing more is known of it."""
        return self.far_ends.get(node, {}).get(port)

    def far_port(self, node: str, port: str) -> Interface | HostPort | None:
        """Return the port at the other end of the cable."""
        end = self.far_end(node, port)
        return None if end is None else self.port_at_end(end)
