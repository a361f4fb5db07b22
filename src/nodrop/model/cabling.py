"""How switches are cabled, by what is stated and what their own files say.

Evidence for a link, best first: stated cables, two ends in one /31 or /30 (IPv6: /127 or /126), a neighbor table.
A port that no source names has an UNKNOWN side: it is neither a host's nor the fabric's.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from socket import AF_INET, inet_pton

from nodrop.model import neighbors
from nodrop.model.addresses import interface_of
from nodrop.model.declared import Declared
from nodrop.model.fabric import Device, End, Interface, Link, Side
from nodrop.model.reading import DeviceReading, Remark
from nodrop.model.states import Unknown, UnknownFact


@dataclass(frozen=True, slots=True, kw_only=True)
class Cabling:
    """The cables between switches and hosts that were read, or are stated."""

    links: tuple[Link, ...]
    """By their ends."""
    sides: Mapping[tuple[str, str], Side]
    """What is at the far end of each port that has a cable."""
    unlike: tuple[Remark, ...]
    """Where files name another neighbor than the cable leads to."""
    readings: Sequence[DeviceReading]
    declared: Declared

    @classmethod
    def of(cls, readings: Sequence[DeviceReading], declared: Declared, known: dict[Link, Link]) -> "Cabling":
        """Return how switches are cabled; `known` has the one object for each cable, and gets those that are new."""
        links = [known.setdefault(link, link) for link in _links(readings, declared)]
        hosts = declared.hosts or ()
        read = {reading.device.name for reading in readings}
        return cls(
            links=tuple(sorted(links, key=lambda link: (link.a, link.b))),
            sides=_sides(read, links, {host.name for host in hosts}, declared.roles.keys()),
            unlike=tuple(neighbors.unlike(readings, links, hosts)),
            readings=readings,
            declared=declared,
        )

    def holds(self, readings: Sequence[DeviceReading], declared: Declared) -> bool:
        """Whether another state is cabled alike, for all that its cables are known by is the same."""
        before, now = ((one.cables, one.hosts, one.roles) for one in (self.declared, declared))
        if before != now or len(self.readings) != len(readings):
            return False
        return all(one is other or _alike(one, other) for one, other in zip(self.readings, readings, strict=True))


def _alike(one: DeviceReading, other: DeviceReading) -> bool:
    if one.device.name != other.device.name or one.cables != other.cables:
        return False
    ports = one.device.interfaces, other.device.interfaces
    return len(ports[0]) == len(ports[1]) and all(map(_same, *ports))


def _same(one: Interface, other: Interface) -> bool:
    try:
        return one is other or _evidence(one) == _evidence(other)
    except UnknownFact:  # only one of both is known
        return False


def _evidence(port: Interface) -> tuple[object, ...]:
    return port.name, port.addresses, port.description


def _links(readings: Sequence[DeviceReading], declared: Declared) -> list[Link]:
    devices = [reading.device for reading in readings]
    links = list(declared.cables or ())
    taken = {end for link in links for end in (link.a, link.b)}
    for found in (_by_subnet(devices, taken), _by_neighbor_table(readings, taken)):
        for near, far in found:
            if near not in taken and far not in taken:
                links.append(Link(a=min(near, far), b=max(near, far)))
                taken.add(near)
                taken.add(far)
    return links


_OF_TWO = {"/31": 1, "/30": 2}
"""How the IPv4 addresses of a link between two ports end, and how many bits they may differ in."""
_OF_TWO_IPV6 = ("/127", "/126")


def _by_subnet(devices: Iterable[Device], cabled: Container[tuple[str, str]]) -> Iterator[tuple[End, End]]:
    """Yield every two ports not `cabled`, and no third, with addresses in one /31 or /30, /127 or /126."""
    found: dict[object, list[End]] = {}
    for device in devices:
        for network, port in _networks(device):
            if (device.name, port) not in cabled:
                found.setdefault(network, []).append(End(device.name, port))
    for ends in found.values():
        if len(ends) == 2 and ends[0].node != ends[1].node:
            yield ends[0], ends[1]


def _networks(device: Device) -> Iterator[tuple[object, str]]:
    for interface in device.interfaces:
        for text in () if isinstance(interface.addresses, Unknown) else interface.addresses:
            network = _network_of_two(text)
            if network is not None:
                yield network, interface.name


def _network_of_two(text: str) -> object:
    """Return what the network of two ports is known by; None where an address is in no such network, or is none."""
    bits = _OF_TWO.get(text[-3:])
    try:
        if bits is not None:  # a site has a million, and `ipaddress` takes twenty times as long
            return bits, int.from_bytes(inet_pton(AF_INET, text[:-3])) >> bits
        if text.endswith(_OF_TWO_IPV6):
            one = interface_of(text)
            return one.network if one is not None and one.version == 6 and not one.network.is_link_local else None
    except (OSError, ValueError):
        pass
    return None


def _by_neighbor_table(
    readings: Sequence[DeviceReading], cabled: Container[tuple[str, str]]
) -> Iterator[tuple[End, End]]:
    """Yield ends that neighbor tables name, but `cabled` ones; a neighbor that was read must have such a port."""
    known = {reading.device.name for reading in readings}
    named = {cable.remote.node for reading in readings for cable in reading.cables}
    ports = {
        one.device.name: {port.name for port in one.device.interfaces} for one in readings if one.device.name in named
    }
    for reading in readings:
        name = reading.device.name
        for cable in reading.cables:
            far = cable.remote
            if (name, cable.local_port) not in cabled and (far.node not in known or far.port in ports[far.node]):
                yield End(name, cable.local_port), far


def _sides(read: set[str], links: Iterable[Link], hosts: set[str], roles: Iterable[str]) -> dict[tuple[str, str], Side]:
    """Return what is at the far end of cables: a switch, also one of which only a role is stated, or a host."""
    switches = read.union(roles)
    sides: dict[tuple[str, str], Side] = {}
    for link in links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if near.node in read:
                if far.node in switches:
                    sides[near] = "fabric"
                elif far.node in hosts:
                    sides[near] = "host"
    return sides
