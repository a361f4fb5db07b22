"""The namespaces, interfaces and cables that a fabric becomes; nothing is made here.

A routing table is a namespace: a device's default VRF one, each other VRF one more, which FRR takes as VRFs (`zebra
--vrfwnetns`). A VLAN is a bridge. A bundle of ports is one cable, which goes down when too few of its members are left.
A cable that carries VLANs is a cable for each, to keep their frames apart. Thus nothing is needed of the kernel but
veth and bridges.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from nodrop.model.fabric import Device, End, Fabric, Host, Link
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.platforms.kit.running import daemons_of_platform
from nodrop.routing.legs import parse_sub_interface

_KERNEL_NAME_PATTERN = re.compile(r"(?!(?:if|void)\d)[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,14}", re.ASCII)
"""Names that interfaces have in the kernel as in the fabric: of those that Linux takes (net/core/dev.c, dev_valid_name;
IFNAMSIZ is 16) the ones without quotes and comments of `ip -batch`, which are not the plan's own either.
"""
_LEAST_MTU, _MOST_MTU = 1280, 65535
"""Bytes: what IPv6 needs (RFC 8200, section 5), and the most that veth takes."""


class NamespaceKey(NamedTuple):
    """A network namespace: the node, and which of its VRFs."""

    node: str
    vrf: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinInterface:
    """An interface: its namespace, its names in the kernel and in the model, and its settings."""

    space: NamespaceKey
    name: str
    leg: str
    addresses: tuple[str, ...] = ()
    mtu_bytes: int | None = None
    enabled: bool = True
    bridge: str | None = None
    """The bridge that it is a port of."""
    ends: tuple[End, ...] = ()
    """The ports whose cable it is at."""
    least: int = 1
    """How many of them have to work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VethCable:
    """A cable as veth: its two interfaces, the far one None where nobody is there, and the links that it stands for."""

    a: TwinInterface
    b: TwinInterface | None = None
    links: tuple[Link, ...] = ()


@dataclass(kw_only=True)
class TwinPlan:
    """All of a fabric."""

    spaces: dict[NamespaceKey, str] = field(default_factory=dict)
    """The namespaces, with their names."""
    bridges: list[TwinInterface] = field(default_factory=list)
    wires: list[VethCable] = field(default_factory=list)
    loopbacks: list[tuple[NamespaceKey, tuple[str, ...]]] = field(default_factory=list)
    """Addresses of `lo` itself."""
    notes: list[str] = field(default_factory=list)
    """What is otherwise than in the fabric."""
    names: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    """Of a device, what the kernel calls its interfaces whose names it does not take."""

    @cached_property
    def nics(self) -> tuple[TwinInterface, ...]:
        """The interfaces there are, `lo` aside."""
        wired = (nic for wire in self.wires for nic in (wire.a, wire.b) if nic is not None)
        return (*self.bridges, *wired)

    @cached_property
    def leg_by_nic(self) -> Mapping[tuple[NamespaceKey, str], str]:
        """Return the model's names of interfaces, by namespace and name."""
        return {(nic.space, nic.name): nic.leg for nic in self.nics}

    @cached_property
    def nics_by_port(self) -> Mapping[End, tuple[TwinInterface, ...]]:
        """The interfaces that stand for a port."""
        nics_by_end: defaultdict[End, list[TwinInterface]] = defaultdict(list)
        for nic in self.nics:
            for end in nic.ends:
                nics_by_end[end].append(nic)
        return {end: tuple(nics) for end, nics in nics_by_end.items()}

    @cached_property
    def cable_by_nic(self) -> Mapping[tuple[NamespaceKey, str], VethCable]:
        """The cable at an interface."""
        wired_nics = ((wire, nic) for wire in self.wires for nic in (wire.a, wire.b) if nic is not None)
        return {(nic.space, nic.name): wire for wire, nic in wired_nics}


_DeviceVlan = tuple[str, int]
"""A VLAN of a device."""


class _CableEndPoint(NamedTuple):
    """The end point of a cable: a port, or the bundle that it is a member of; `lanes` are the VLANs, 0 untagged."""

    node: str
    leg: str
    vrf: str | None
    addresses: tuple[str, ...]
    mtu_bytes: int | None
    enabled: bool
    least: int
    ports: tuple[str, ...]
    lanes: tuple[tuple[int, int | None], ...]
    """Of each lane its tag, and the VLAN that it is in; None where it routes."""


def plan_twin(fabric: Fabric) -> TwinPlan:
    """Return the plan of a fabric's twin."""
    return _TwinPlanner(fabric).made


class _TwinPlanner:
    def __init__(self, fabric: Fabric) -> None:
        self.fabric, self.made = fabric, TwinPlan()
        self.points: dict[End, _CableEndPoint] = {}
        self.joined: dict[_DeviceVlan, _DeviceVlan] = {}
        """Bridges that are joined, each with another of those that it is joined to."""
        self.count = 0
        for device in fabric.devices:
            self._plan_device(device)
        for host in fabric.hosts:
            self._add_host(host)
        self._wire_cabled_points()

    def _add_namespace(self, node: str, vrf: str | None = None) -> NamespaceKey:
        space = NamespaceKey(node, vrf)
        self.made.spaces.setdefault(space, f"n{len(self.made.spaces)}")
        return space

    def _kernel_interface_name(self, node: str, name: str) -> str:
        """Return the kernel's name for an interface."""
        if _KERNEL_NAME_PATTERN.fullmatch(name) and name not in ("all", "default", "lo"):
            return name
        names = self.made.names[node]
        return names.setdefault(name, f"if{len(names)}")

    def _plan_device(self, device: Device) -> None:
        self._add_namespace(device.name)
        for loopback in known_rows(device.loopbacks):
            space = self._add_namespace(device.name, loopback.vrf)
            if loopback.name == "lo":
                self.made.loopbacks.append((space, loopback.addresses))
            else:
                name = self._kernel_interface_name(device.name, loopback.name)
                nic = TwinInterface(space=space, name=name, leg=loopback.name, addresses=loopback.addresses)
                self.made.wires.append(VethCable(a=nic))
        spelt = daemons_of_platform(device.platform).vlan
        member: defaultdict[str, list[tuple[int, int | None]]] = defaultdict(list)
        for vlan in known_rows(device.vlans):
            for vlan_member in vlan.members:
                member[vlan_member.interface].append((vlan.id if vlan_member.tagged else 0, vlan.id))
            self.made.bridges.append(
                TwinInterface(
                    space=self._add_namespace(device.name, vlan.vrf),
                    name=spelt.format(vlan.id),
                    leg=f"VLAN {vlan.id}",
                    addresses=vlan.all_addresses,
                    mtu_bytes=_clamp_mtu(vlan.mtu_bytes),
                    enabled=not is_known_off(vlan.enabled),
                )
            )
        bundled: dict[str, _CableEndPoint] = {}
        for channel in known_rows(device.port_channels):
            lanes = tuple(member.get(channel.name, ())) if not channel.addresses else ()
            point = _CableEndPoint(
                node=device.name,
                leg=channel.name,
                vrf=channel.vrf,
                addresses=channel.addresses,
                mtu_bytes=_clamp_mtu(channel.mtu_bytes),
                enabled=not is_known_off(channel.enabled),
                least=channel.min_links or 1,
                ports=channel.members,
                lanes=self._lanes_with_sub_interfaces(device.name, channel.name, lanes),
            )
            bundled.update(dict.fromkeys(channel.members, point))
        for port in device.interfaces:
            addresses = () if isinstance(port.addresses, Unknown) else port.addresses
            lanes = tuple(member.get(port.name, ())) if not addresses else ()
            self.points[End(device.name, port.name)] = bundled.get(port.name) or _CableEndPoint(
                node=device.name,
                leg=port.name,
                vrf=None if isinstance(port.vrf, Unknown) else port.vrf,
                addresses=addresses,
                mtu_bytes=_clamp_mtu(port.mtu_bytes),
                enabled=not is_known_off(port.enabled),
                least=1,
                ports=(port.name,),
                lanes=self._lanes_with_sub_interfaces(device.name, port.name, lanes),
            )

    def _lanes_with_sub_interfaces(
        self, node: str, leg: str, lanes: tuple[tuple[int, int | None], ...]
    ) -> tuple[tuple[int, int | None], ...]:
        """Return the lanes of a port or bundle with those of its sub-interfaces over which BGP expects a neighbor."""
        names = map(parse_sub_interface, self._unnumbered_bgp_interfaces.get(node, ()))
        tags = sorted(name[1] for name in names if name is not None and name[0] == leg)
        return (*(lanes or ((0, None),)), *((tag, None) for tag in tags))

    def _add_host(self, host: Host) -> None:
        self._add_namespace(host.name)
        bonds: defaultdict[str, list[str]] = defaultdict(list)
        for port in host.ports:
            bonds[port.bond or port.name].append(port.name)
        for port in host.ports:
            name = port.bond or port.name
            self.points[End(host.name, port.name)] = _CableEndPoint(
                host.name, name, None, port.addresses, None, True, 1, tuple(bonds[name]), ((0, None),)
            )

    def _wire_cabled_points(self) -> None:
        """Join points that cables join; a point without a cable gets an unused end."""
        joints: defaultdict[tuple[_CableEndPoint, _CableEndPoint], list[Link]] = defaultdict(list)
        for link in self.fabric.links:
            a, b = self.points.get(link.a), self.points.get(link.b)
            if a is not None and b is not None and a != b:
                joints[a, b].append(link)
        used: set[tuple[_CableEndPoint, int]] = set()
        for (a, b), links in joints.items():
            for tag in (tag for tag, _ in a.lanes if tag in dict(b.lanes)):
                if {(a, tag), (b, tag)} & used:
                    self._note_cable(links, "leads from a bundle to a second neighbor, which the twin leaves out")
                elif self._join_bridges_or_find_loop(a, b, tag):
                    self._note_cable(links, "closes a loop of bridges, which the twin leaves open")
                else:
                    used |= {(a, tag), (b, tag)}
                    own_nic = self._make_nic(
                        a, tag, tuple(link.a if link.a.node == a.node else link.b for link in links)
                    )
                    other_nic = self._make_nic(
                        b, tag, tuple(link.a if link.a.node == b.node else link.b for link in links)
                    )
                    size = own_nic.mtu_bytes or other_nic.mtu_bytes
                    self.made.wires.append(
                        VethCable(
                            a=_with_far_end_mtu(own_nic, size), b=_with_far_end_mtu(other_nic, size), links=tuple(links)
                        )
                    )
        for point in dict.fromkeys(self.points.values()):
            for tag, vlan in point.lanes:
                leg = f"{point.leg}.{tag}" if tag and vlan is None else point.leg
                wanted_addresses = (
                    point.addresses or vlan is not None or leg in self._unnumbered_bgp_interfaces.get(point.node, ())
                )
                if wanted_addresses and (point, tag) not in used:
                    nic = self._make_nic(point, tag, tuple(End(point.node, port) for port in point.ports))
                    self.made.wires.append(VethCable(a=nic))

    @cached_property
    def _unnumbered_bgp_interfaces(self) -> Mapping[str, Mapping[str, str | None]]:
        """The interfaces of a device over which BGP expects a neighbor, each with the VRF of the process."""
        vrfs_by_device = {}
        for device in self.fabric.devices:
            sessions = [
                (neighbor, process.vrf)
                for process in device.known_bgp_processes
                for neighbor in known_rows(process.neighbors)
            ]
            vrfs_by_device[device.name] = {neighbor.interface: vrf for neighbor, vrf in sessions if neighbor.interface}
        return vrfs_by_device

    def _note_cable(self, links: list[Link], problem: str) -> None:
        self.made.notes.append(f"the cable {links[0].a}--{links[0].b} {problem}")

    def _make_nic(self, point: _CableEndPoint, tag: int, ends: tuple[End, ...]) -> TwinInterface:
        vlan = dict(point.lanes)[tag]
        leg = f"{point.leg}.{tag}" if tag and vlan is None else point.leg
        if vlan is None:
            vrf = self._unnumbered_bgp_interfaces[point.node][leg] if tag else point.vrf
            space, name, bridge = (
                self._add_namespace(point.node, vrf),
                self._kernel_interface_name(point.node, leg),
                None,
            )
        else:
            over = next(nic for nic in self.made.bridges if nic.space.node == point.node and nic.leg == f"VLAN {vlan}")
            self.count += 1
            space, name, bridge = over.space, f"-{self.count}", over.name
        return TwinInterface(
            space=space,
            name=name,
            leg=leg,
            addresses=point.addresses if vlan is None and not tag else (),
            mtu_bytes=point.mtu_bytes,
            enabled=point.enabled,
            bridge=bridge,
            ends=ends,
            least=point.least,
        )

    def _join_bridges_or_find_loop(self, a: _CableEndPoint, b: _CableEndPoint, tag: int) -> bool:
        """Whether two bridges are joined already; else they are from here on."""
        near_vlan, far_vlan = dict(a.lanes)[tag], dict(b.lanes)[tag]
        if near_vlan is None or far_vlan is None:
            return False
        root, other_root = self._root_of_bridge((a.node, near_vlan)), self._root_of_bridge((b.node, far_vlan))
        if root == other_root:
            return True
        self.joined[root] = other_root
        return False

    def _root_of_bridge(self, bridge: _DeviceVlan) -> _DeviceVlan:
        while bridge in self.joined:
            bridge = self.joined[bridge]
        return bridge


def _clamp_mtu(mtu_bytes: int | None | Unknown) -> int | None:
    if mtu_bytes is None or isinstance(mtu_bytes, Unknown):
        return None
    return min(max(mtu_bytes, _LEAST_MTU), _MOST_MTU)


def _with_far_end_mtu(nic: TwinInterface, size: int | None) -> TwinInterface:
    """Return an interface with the packet size of the other end where none is stated for it."""
    if nic.mtu_bytes is not None:
        return nic
    return TwinInterface(**{name: getattr(nic, name) for name in TwinInterface.__slots__} | {"mtu_bytes": size})


def kernel_sysctls_by_device(fabric: Fabric) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yield the kernel's settings for each device."""
    for device in fabric.devices:
        yield device.name, daemons_of_platform(device.platform).sysctls
