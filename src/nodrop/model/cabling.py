"""How switches are cabled: from the links that the owner states and from the files of the switches.

Evidence for a link, best first: stated cables, two ends in one /31 or /30 (IPv6: /127 or /126), a neighbor table.
Evidence for the side of a port, best first: its link, the kind of the neighbor in a neighbor table, a description that
names a switch or host of the fabric, and a BGP session over the port itself (unnumbered) within the switch's own AS,
since hosts with a routing daemon have a separate AS. Where cables of a switch are stated, only these count. A port that
no source names has an UNKNOWN side: it is neither a host's nor the fabric's.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from socket import AF_INET, inet_pton

from nodrop.model import neighbors
from nodrop.model.addresses import interface_of
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Device, End, Interface, Link, PortSide
from nodrop.model.reading import DeviceReading, Remark
from nodrop.model.states import Unknown, UnknownFact


@dataclass(frozen=True, slots=True, kw_only=True)
class Cabling:
    """The cables between switches and hosts that were read, or are stated."""

    links: tuple[Link, ...]
    """By their ends."""
    sides: Mapping[tuple[str, str], PortSide]
    """What is at the far end of each port that has a cable."""
    unlike: tuple[Remark, ...]
    """Where files name another neighbor than the cable leads to."""
    readings: Sequence[DeviceReading]
    declared: DeclaredFacts

    @classmethod
    def of(cls, readings: Sequence[DeviceReading], declared: DeclaredFacts, known_links: dict[Link, Link]) -> "Cabling":
        """Return how switches are cabled; `known_links` has one object for each cable, and gets new ones."""
        links = [known_links.setdefault(link, link) for link in _find_links(readings, declared)]
        hosts = declared.hosts or ()
        return cls(
            links=tuple(sorted(links, key=lambda link: (link.a, link.b))),
            sides=_find_far_sides(readings, links, declared),
            unlike=tuple(neighbors.find_neighbors_unlike_cabling(readings, links, hosts)),
            readings=readings,
            declared=declared,
        )

    def is_still_valid_for(self, readings: Sequence[DeviceReading], declared: DeclaredFacts) -> bool:
        """Whether another state is cabled alike because all evidence for its cables is the same."""
        before, current_facts = ((state.cables, state.hosts, state.roles) for state in (self.declared, declared))
        if before != current_facts or len(self.readings) != len(readings):
            return False
        return all(
            reading is other_reading or _has_same_cable_evidence(reading, other_reading)
            for reading, other_reading in zip(self.readings, readings, strict=True)
        )


def _has_same_cable_evidence(device_reading: DeviceReading, other_device_reading: DeviceReading) -> bool:
    if (
        device_reading.device.name != other_device_reading.device.name
        or device_reading.cables != other_device_reading.cables
    ):
        return False
    if _unnumbered_ibgp_session_ports(device_reading.device) != _unnumbered_ibgp_session_ports(
        other_device_reading.device
    ):
        return False
    ports = device_reading.device.interfaces, other_device_reading.device.interfaces
    return len(ports[0]) == len(ports[1]) and all(map(_has_same_port_evidence, *ports))


def _has_same_port_evidence(interface: Interface, other_interface: Interface) -> bool:
    try:
        return interface is other_interface or _cable_evidence_of_port(interface) == _cable_evidence_of_port(
            other_interface
        )
    except UnknownFact:  # only one of both is known
        return False


def _cable_evidence_of_port(port: Interface) -> tuple[object, ...]:
    return port.name, port.addresses, port.description


def _find_links(readings: Sequence[DeviceReading], declared_context: DeclaredFacts) -> list[Link]:
    devices = [reading.device for reading in readings]
    links = list(declared_context.cables or ())
    taken = {end for link in links for end in (link.a, link.b)}
    for end_pairs in (_links_from_subnets(devices, taken), _links_from_neighbor_table(readings, taken)):
        for near, far in end_pairs:
            if near not in taken and far not in taken:
                links.append(Link(a=min(near, far), b=max(near, far)))
                taken.add(near)
                taken.add(far)
    return links


_LINK_BITS_BY_IPV4_SUFFIX = {"/31": 1, "/30": 2}
"""How the IPv4 addresses of a link between two ports end, and how many bits they may differ in."""
_LINK_IPV6_SUFFIXES = ("/127", "/126")


def _links_from_subnets(devices: Iterable[Device], cabled: Container[tuple[str, str]]) -> Iterator[tuple[End, End]]:
    """Yield every two ports not `cabled`, and no third, with addresses in one /31 or /30, /127 or /126."""
    found_ends: dict[object, list[End]] = {}
    for device in devices:
        for network, port in _point_to_point_networks(device):
            if (device.name, port) not in cabled:
                found_ends.setdefault(network, []).append(End(device.name, port))
    for ends in found_ends.values():
        if len(ends) == 2 and ends[0].node != ends[1].node:
            yield ends[0], ends[1]


def _point_to_point_networks(device: Device) -> Iterator[tuple[object, str]]:
    for interface in device.interfaces:
        for text in () if isinstance(interface.addresses, Unknown) else interface.addresses:
            network = _point_to_point_key(text)
            if network is not None:
                yield network, interface.name


def _point_to_point_key(text: str) -> object:
    """Return the key of a network of two ports; None where an address is in no such network, or is none."""
    bits = _LINK_BITS_BY_IPV4_SUFFIX.get(text[-3:])
    try:
        if bits is not None:  # a site has a million, and `ipaddress` takes twenty times as long
            return bits, int.from_bytes(inet_pton(AF_INET, text[:-3])) >> bits
        if text.endswith(_LINK_IPV6_SUFFIXES):
            interface = interface_of(text)
            return (
                interface.network
                if interface is not None and interface.version == 6 and not interface.network.is_link_local
                else None
            )
    except (OSError, ValueError):
        pass
    return None


def _links_from_neighbor_table(
    readings: Sequence[DeviceReading], cabled: Container[tuple[str, str]]
) -> Iterator[tuple[End, End]]:
    """Yield ends that neighbor tables name, but `cabled` ones; a neighbor that was read must have such a port."""
    known_names = {reading.device.name for reading in readings}
    named_nodes = {cable.remote.node for reading in readings for cable in reading.cables}
    ports = {
        device_reading.device.name: {port.name for port in device_reading.device.interfaces}
        for device_reading in readings
        if device_reading.device.name in named_nodes
    }
    for reading in readings:
        name = reading.device.name
        for cable in reading.cables:
            far = cable.remote
            if (name, cable.local_port) not in cabled and (far.node not in known_names or far.port in ports[far.node]):
                yield End(name, cable.local_port), far


def _find_far_sides(
    readings: Sequence[DeviceReading], links: Iterable[Link], declared: DeclaredFacts
) -> dict[tuple[str, str], PortSide]:
    """Return the far ends of ports: a switch, also a switch with only a stated role, or a host."""
    read = {reading.device.name for reading in readings}
    nodes: dict[str, PortSide] = {host.name: "host" for host in declared.hosts or ()}
    nodes |= dict.fromkeys(read.union(declared.roles), "fabric")
    sides: dict[tuple[str, str], PortSide] = {}
    for link in links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if near.node in read and far.node in nodes:
                sides[near] = nodes[far.node]
    stated = {end.node for link in declared.cables or () for end in (link.a, link.b)}
    for reading in readings:
        if (name := reading.device.name) not in stated:
            for port, side in _far_sides_from_switch_file(reading, nodes):
                sides.setdefault((name, port), side)
    return sides


def _far_sides_from_switch_file(
    reading: DeviceReading, nodes: Mapping[str, PortSide]
) -> Iterator[tuple[str, PortSide]]:
    """Yield the statements of a switch's own file about the far ends of its ports, the best evidence per port first."""
    for cable in reading.cables:
        if cable.side is not None:
            yield cable.local_port, cable.side
    device = reading.device
    for port in device.interfaces:
        if isinstance(text := port.description, str) and (node := neighbors.only_node_in_text(text, nodes)) not in (
            None,
            device.name,
        ):
            yield port.name, nodes[node]
    for name in _unnumbered_ibgp_session_ports(device):
        yield name, "fabric"


def _unnumbered_ibgp_session_ports(device: Device) -> tuple[str, ...]:
    """Return the ports over which sessions run to a neighbor of the switch's own AS, by the neighbor's own name."""
    other_bgps = () if isinstance(device.vrf_bgp, Unknown) else device.vrf_bgp
    processes = [bgp for bgp in (device.bgp, *other_bgps) if bgp is not None and not isinstance(bgp, Unknown)]
    return tuple(
        session.interface
        for bgp in processes
        for session in (() if isinstance(bgp.neighbors, Unknown) else bgp.neighbors)
        if session.interface is not None and session.remote_asn in ("internal", bgp.asn)
    )
