"""The packets that matter where an access list acts: RoCE data, CNPs, BGP and BFD, between the addresses there."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from nodrop.analyses._hosts import hosts_with_cabled_ports
from nodrop.model.access import AccessList
from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily
from nodrop.model.effects import cnp_dscps, roce_dscps
from nodrop.model.fabric import Device, End
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.routing.filtering import AddressRange, PacketSet, parse_prefixes
from nodrop.routing.legs import RoutedInterface, routed_interfaces, routed_interfaces_at
from nodrop.routing.prefixes import Address, Prefix, parse_address
from nodrop.routing.roce_packets import RocePacketKind, roce_packets_of_kinds
from nodrop.routing.session_packets import (
    IPV6_LINK_LOCAL_RANGE,
    bfd_packets,
    bgp_packets,
    nd_packets,
    single_address_range,
)

DEFAULT_CNP_DSCP = 48
"""The default DSCP of CNPs of ConnectX and Thor 2 (reference designs of NVIDIA and Juniper)."""


class PacketFlow(NamedTuple):
    """Packets of a kind (`rdma`, `cnp`, `bgp`, `bfd`, `nd`) that pass a port at a stage.

    A `reply` is of BGP and comes from port 179.
    """

    what: str
    port: str
    packets: PacketSet
    peer: str = ""
    """The other end of a session."""
    reply: bool = False
    assumed: bool = False
    """Whether packets of this kind may have any DSCP, `DEFAULT_CNP_DSCP` for one."""


AddressRangesByFamily = Mapping[AddressFamily, tuple[AddressRange, ...]]


class HostAddresses:
    """The addresses of hosts by the switches and ports that they are at; subnets where no host is known."""

    def __init__(self, index: Index) -> None:
        self.of: defaultdict[End, list[Prefix]] = defaultdict(list)
        dscps = roce_dscps(index.fabric)
        stated: set[End] = set()
        for host, ports in hosts_with_cabled_ports(index):
            for cable in ports:
                stated.add(cable.far)
                addresses = [
                    host_address for text in cable.port.addresses if (host_address := parse_address(text)) is not None
                ]
                if isinstance(host.tos, Unknown) or host.tos >> 2 in dscps:
                    self.of[cable.far] += [
                        Prefix(host_address.family, host_address.number, ADDRESS_BITS[host_address.family])
                        for host_address in addresses
                    ]
        for device in index.fabric.devices:
            for leg in routed_interfaces(device):
                free = [at for port in leg.ports if (at := End(device.name, port)) not in stated]
                if free and leg.subnets and all(_faces_host(index, device, leg, at.port) for at in free):
                    for at in free:
                        self.of[at] += [subnet for subnet in leg.subnets if not subnet.is_link_local]

    @cached_property
    def by_device(self) -> Mapping[str, Sequence[Prefix]]:
        """The addresses at all ports of each switch."""
        found_prefixes: defaultdict[str, list[Prefix]] = defaultdict(list)
        for (device, _), prefixes in self.of.items():
            found_prefixes[device] += prefixes
        return found_prefixes


def _faces_host(index: Index, device: Device, routed_interface: RoutedInterface, port: str) -> bool:
    """Whether a port leads to a host: as stated, else because no switch and no BGP session is there."""
    interface = index.interface(device.name, port)
    if interface is None or is_known_off(interface.enabled) or interface.side is None:
        return False
    if not isinstance(interface.side, Unknown):
        return interface.side == "host"
    end = index.far_end(device.name, port)
    if end is not None and end.node in index.devices:
        return False
    return not any(
        _is_session_over_leg(neighbor, routed_interface) for neighbor in _neighbors_of_leg_vrf(device, routed_interface)
    )


class AddressClasses:
    """Addresses of hosts that the entries of a list treat alike, each with one that stands for all."""

    def __init__(self, hosts: HostAddresses, rules: AccessList) -> None:
        texts = {
            text
            for access_entry in known_rows(rules.entries)
            for text in (*access_entry.sources, *access_entry.destinations)
        }
        self._wanted = parse_prefixes(tuple(sorted(texts)))
        self._hosts = hosts
        self._kinds: dict[Prefix, tuple[object, ...]] = {}
        self._atoms: dict[tuple[object, ...], AddressRange] = {}
        self._by_device: dict[str, Counter[tuple[object, ...]]] = {}

    def count_prefixes_by_class(self, prefixes: Iterable[Prefix]) -> Counter[tuple[object, ...]]:
        """Return how many of some addresses are of each class."""
        return Counter(map(self._equivalence_class_of_prefix, prefixes))

    def count_host_classes_of_device(self, name: str) -> Counter[tuple[object, ...]]:
        """Return the classes of the hosts at a switch."""
        if name not in self._by_device:
            self._by_device[name] = self.count_prefixes_by_class(self._hosts.by_device.get(name, ()))
        return self._by_device[name]

    @cached_property
    def count_host_classes_of_fabric(self) -> Counter[tuple[object, ...]]:
        """The classes of all hosts."""
        return sum((self.count_host_classes_of_device(name) for name in self._hosts.by_device), Counter())

    def sample_of_each_class(
        self, counted: Counter[tuple[object, ...]], family: AddressFamily
    ) -> tuple[AddressRange, ...]:
        """Return one address of each class; all addresses where there are none."""
        found_atoms = sorted(self._atoms[kind] for kind, count in counted.items() if count > 0)
        return tuple(class_atom for class_atom in found_atoms if class_atom.prefix.family == family) or (
            AddressRange(Prefix(family, 0, 0)),
        )

    def _equivalence_class_of_prefix(self, own_prefix: Prefix) -> tuple[object, ...]:
        if own_prefix not in self._kinds:
            inside = tuple(number for number, prefix in enumerate(self._wanted) if prefix.covers(own_prefix))
            around = any(own_prefix.covers(prefix) and own_prefix != prefix for prefix in self._wanted)
            kind = (own_prefix.family, inside, own_prefix if around else None)
            self._kinds[own_prefix] = kind
            self._atoms.setdefault(kind, AddressRange(own_prefix))
        return self._kinds[own_prefix]


def roce_flows(
    index: Index,
    classes: AddressClasses,
    hosts: HostAddresses,
    link_end: End,
    *,
    enters: bool,
    by_far_port: bool = False,
) -> Iterator[PacketFlow]:
    """Yield the RoCE packets that enter or leave by a port, where hosts are behind it or it leads to a switch.

    Packets are separate `by_far_port`, which is where they leave the switch, or entered it.
    """
    if not by_far_port:
        beyond = _count_classes_over_link(index, classes, hosts, link_end)
        if beyond is not None:
            yield from _roce_flows_between(
                index,
                hosts,
                link_end.port,
                classes,
                beyond,
                classes.count_host_classes_of_fabric - beyond,
                enters=enters,
            )
        return
    here = _host_prefixes_over_link(index, hosts, link_end)
    for port in index.devices[link_end.node].interfaces if here else ():
        if port.name == link_end.port or is_known_off(port.enabled) or port.side is None:
            continue
        if there := _host_prefixes_over_link(index, hosts, End(link_end.node, port.name)) - here:
            near, far = classes.count_prefixes_by_class(here), classes.count_prefixes_by_class(there)
            for flow in _roce_flows_between(index, hosts, link_end.port, classes, near, far, enters=enters):
                yield flow._replace(packets=flow.packets._replace(far_port=port.name))


def _count_classes_over_link(
    index: Index, classes: AddressClasses, hosts: HostAddresses, at: End
) -> Counter[tuple[object, ...]] | None:
    """Return the classes of the hosts that packets by a port come from or go to; None where it leads to neither."""
    if own_prefixes := hosts.of.get(at):
        return classes.count_prefixes_by_class(own_prefixes)
    if (end := index.far_end(*at)) is not None and end.node in index.devices:
        return classes.count_host_classes_of_device(
            end.node
        ) or classes.count_host_classes_of_fabric - classes.count_host_classes_of_device(at.node)
    return (
        classes.count_host_classes_of_fabric - classes.count_host_classes_of_device(at.node)
        if leads_to_switch(index, at)
        else None
    )


def _host_prefixes_over_link(index: Index, hosts: HostAddresses, at: End) -> frozenset[Prefix]:
    """Return the addresses of those hosts."""
    if own_prefixes := hosts.of.get(at):
        return frozenset(own_prefixes)
    end = index.far_end(*at)
    is_switch = end is not None and end.node in index.devices
    if is_switch and end is not None and (prefixes := hosts.by_device.get(end.node)):
        return frozenset(prefixes)
    if not is_switch and not leads_to_switch(index, at):
        return frozenset()
    others = (prefixes for device, prefixes in hosts.by_device.items() if device != at.node)
    return frozenset(prefix for prefixes in others for prefix in prefixes)


def _roce_flows_between(
    index: Index,
    hosts: HostAddresses,
    port: str,
    classes: AddressClasses,
    beyond: Counter[tuple[object, ...]],
    behind: Counter[tuple[object, ...]],
    *,
    enters: bool,
) -> Iterator[PacketFlow]:
    """Yield the RoCE packets between hosts beyond a port and those behind it."""
    families = {prefix.family for prefixes in hosts.by_device.values() for prefix in prefixes} or {"ipv4"}
    data, cnps = roce_dscps(index.fabric), cnp_dscps(index.fabric)
    kinds: tuple[tuple[str, RocePacketKind, Iterable[int]], ...] = (
        ("rdma", "data", data),
        ("cnp", "cnp", cnps or range(64)),
    )
    for family in ADDRESS_FAMILIES if data else ():
        if family in families:
            near, far = classes.sample_of_each_class(beyond, family), classes.sample_of_each_class(behind, family)
            source, destination = (near, far) if enters else (far, near)
            for flow_kind, kind, dscps in kinds:
                packets = roce_packets_of_kinds(index.fabric, family, source, destination, dscps, (kind,))
                yield PacketFlow(flow_kind, port, packets, assumed=flow_kind == "cnp" and not cnps)


def leads_to_switch(index: Index, link_end: End) -> bool:
    """Whether a port leads to another switch: as stated, else because BGP sessions go over it."""
    interface = index.interface(*link_end)
    if interface is None or not isinstance(interface.side, Unknown):
        return interface is not None and interface.side == "fabric"
    device = index.devices[link_end.node]
    return any(
        _is_session_over_leg(neighbor, leg)
        for leg in routed_interfaces_at(index, link_end)
        for neighbor in _neighbors_of_leg_vrf(device, leg)
    )


def session_flows(
    device: Device, port: str, routed_interface: RoutedInterface, *, enters: bool, to_switch: bool
) -> Iterator[PacketFlow]:
    """Yield the packets of BGP, BFD and ND that enter or leave by a leg, for sessions of the switch itself."""
    for neighbor in _neighbors_of_leg_vrf(device, routed_interface):
        ends = (
            _session_addresses_and_hops(device, routed_interface, neighbor, to_switch=to_switch)
            if neighbor.enabled
            else None
        )
        if ends is None:
            continue
        own_atom, far, hops = ends
        source, destination = (far, own_atom) if enters else (own_atom, far)
        for reply in (False, True):
            yield PacketFlow("bgp", port, bgp_packets(source, destination, reply=reply), neighbor.key, reply)
        if hops == 1 and own_atom.prefix.family == "ipv6":
            yield PacketFlow("nd", port, nd_packets(source, destination), neighbor.key)
        if neighbor.bfd:
            yield PacketFlow("bfd", port, bfd_packets(source, destination, hops), neighbor.key)


def _neighbors_of_leg_vrf(device: Device, leg: RoutedInterface) -> tuple[BgpNeighbor, ...]:
    """Return the sessions of the process of a leg's VRF."""
    return tuple(
        neighbor
        for process in device.known_bgp_processes
        if process.vrf == leg.vrf
        for neighbor in known_rows(process.neighbors)
    )


def _is_session_over_leg(neighbor: BgpNeighbor, leg: RoutedInterface) -> bool:
    """Whether a session goes over a leg: to an address in its subnets, or over the interface."""
    if neighbor.interface is not None:
        return neighbor.interface == leg.name
    far = parse_address(neighbor.address or "")
    return far is not None and any(subnet.contains_address(far) for subnet in leg.subnets)


def _session_addresses_and_hops(
    device: Device, leg: RoutedInterface, neighbor: BgpNeighbor, *, to_switch: bool
) -> tuple[AddressRange, AddressRange, int] | None:
    """Return the addresses of a session's ends and its most hops, if its packets pass a leg."""
    if neighbor.interface is not None:
        if neighbor.interface != leg.name:
            return None
        pair = _ipv4_slash_31_addresses(leg)
        return (*pair, 1) if pair else (IPV6_LINK_LOCAL_RANGE, IPV6_LINK_LOCAL_RANGE, 1)
    far = parse_address(neighbor.address or "")
    if far is None:
        return None
    near_address = next(
        (
            own_address
            for own_address, subnet in zip(leg.addresses, leg.subnets, strict=True)
            if subnet.contains_address(far)
        ),
        None,
    )
    if near_address is not None:
        return single_address_range(near_address), single_address_range(far), 1
    if not to_switch or any(_is_session_over_leg(neighbor, other_leg) for other_leg in routed_interfaces(device)):
        return None
    source = _multihop_source_address(device, neighbor, far.family)
    return (
        None
        if source is None
        else (single_address_range(source), single_address_range(far), neighbor.ebgp_multihop or 255)
    )


def _ipv4_slash_31_addresses(leg: RoutedInterface) -> tuple[AddressRange, AddressRange] | None:
    """Return both addresses of a /31 of IPv4, between which FRR opens a session over an interface."""
    for own_address, subnet in zip(leg.addresses, leg.subnets, strict=True):
        if subnet.family == "ipv4" and subnet.length == ADDRESS_BITS["ipv4"] - 1:
            return single_address_range(own_address), single_address_range(Address("ipv4", own_address.number ^ 1))
    return None


def _multihop_source_address(device: Device, neighbor: BgpNeighbor, family: AddressFamily) -> Address | None:
    """Return the source address of a session over several hops: the stated address, else a loopback's."""
    if neighbor.update_source and (source := parse_address(neighbor.update_source)) is not None:
        return source
    loopbacks = [
        loopback for loopback in known_rows(device.loopbacks) if neighbor.update_source in (None, loopback.name)
    ]
    own_addresses = (
        own_address
        for loopback in loopbacks
        for text in loopback.addresses
        if (own_address := parse_address(text)) is not None
    )
    return next((own_address for own_address in own_addresses if own_address.family == family), None)
