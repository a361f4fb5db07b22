"""The out-of-band network inside the fabric: its addresses on ports that carry traffic, or routes to it or through it.

Its subnets are those of the switches' own management ports, all of them together. A port or route in a VRF for
management is where it belongs.
"""

from collections import defaultdict
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from socket import inet_aton

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.model.addresses import address_of, interface_of, network_of
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.routing import StaticRoute
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject

LOOKS_AT = frozenset({"management", "addresses", "vrf", "loopbacks", "bgp", "static_routes"})

MANAGEMENT_VRFS = ("mgmt", "management")

IpNetwork = IPv4Network | IPv6Network


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the parts of the fabric that are in a subnet of the out-of-band network."""
    devices = index.fabric.devices
    for device in devices:
        if isinstance(device.management, Unknown):
            yield UndecidedSubject(subject=(device.name,), missing="device.management")
    subnets = _ManagementSubnets(devices)
    if subnets.has_no_subnets:
        return
    for device in devices:
        for subject, field_path, description, subnet in _find_oob_parts(device, subnets):
            yield AnalysisHit(
                subject=subject,
                at=(*subject, *field_path),
                facts={"device": device.name, "what": description, "subnet": subnet},
                discriminator=description if subject[1].startswith("@") else "",
            )


class _ManagementSubnets:
    """The subnets of all management ports."""

    def __init__(self, devices: tuple[Device, ...]) -> None:
        texts = {
            text
            for device in devices
            if not isinstance(device.management, Unknown) and device.management is not None
            for text in device.management.addresses
        }
        self._networks = sorted({network for text in texts if (network := _network_of_address(text))}, key=str)
        self._by_mask: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for network in self._networks:
            if isinstance(network, IPv4Network):
                self._by_mask[int(network.netmask)][int(network.network_address)] = str(network)
        self.interfaces = {
            device.name: device.management.interface
            for device in devices
            if not isinstance(device.management, Unknown) and device.management is not None
        }

    @property
    def has_no_subnets(self) -> bool:
        """Whether no management port has an address."""
        return not self._networks

    def find_subnet_holding_address(self, address: str) -> str | None:
        """Return the subnet that an address lies in."""
        text = address.partition("/")[0]
        try:
            if ":" not in text:
                number = int.from_bytes(inet_aton(text), "big")
                return next(
                    (nets[number & mask] for mask, nets in self._by_mask.items() if number & mask in nets), None
                )
        except (OSError, ValueError):
            return None
        inside = address_of(text)
        return next((str(network) for network in self._networks if inside is not None and inside in network), None)

    def find_subnet_overlapping_prefix(self, prefix: str) -> str | None:
        """Return the subnet that shares addresses with a prefix; a default route does not count."""
        network = network_of(prefix)
        if network is None or network.prefixlen == 0:
            return None
        return next(
            (str(oob_network) for oob_network in self._networks if _networks_overlap(oob_network, network)), None
        )


def _networks_overlap(network: IpNetwork, other_network: IpNetwork) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(other_network, IPv4Network) and network.overlaps(other_network)
    return isinstance(other_network, IPv6Network) and network.overlaps(other_network)


def _network_of_address(text: str) -> IpNetwork | None:
    interface = interface_of(text)
    return (
        interface.network
        if interface is not None and interface.network.prefixlen < interface.network.max_prefixlen
        else None
    )


def _find_oob_parts(device: Device, subnets: _ManagementSubnets) -> Iterator[tuple[Subject, Subject, str, str]]:
    """Yield what lies in the out-of-band network: its subject, the part to point at, in words, and the subnet."""
    name = device.name
    for port in device.interfaces:
        if isinstance(port.addresses, Unknown) or (not isinstance(port.vrf, Unknown) and port.vrf in MANAGEMENT_VRFS):
            continue
        for address in port.addresses:
            if subnet := subnets.find_subnet_holding_address(address):
                yield (name, port.name), ("addresses",), f"{port.name} has {address}", subnet
    for loopback in known_rows(device.loopbacks):
        if loopback.vrf in MANAGEMENT_VRFS:
            continue
        for address in loopback.addresses:
            if subnet := subnets.find_subnet_holding_address(address):
                yield (name, "@loopbacks", loopback.name), ("addresses",), f"{loopback.name} has {address}", subnet
    if not isinstance(device.bgp, Unknown) and device.bgp is not None:
        for number, prefix in enumerate(device.bgp.networks):
            if subnet := subnets.find_subnet_overlapping_prefix(prefix):
                yield (name, "@bgp"), ("networks", str(number)), f"BGP announces {prefix}", subnet
    for route in known_rows(device.static_routes):
        if route.vrf not in MANAGEMENT_VRFS and (subnet := _oob_subnet_of_route(route, subnets, name)):
            description = f"a static route leads to {route.prefix} by {route.next_hop}"
            yield (name, "@static_routes"), (route.prefix,), description, subnet


def _oob_subnet_of_route(route: StaticRoute, subnets: _ManagementSubnets, device: str) -> str | None:
    """Return the subnet that a static route leads to or through."""
    if route.next_hop == subnets.interfaces.get(device):
        return route.next_hop
    return subnets.find_subnet_holding_address(route.next_hop) or subnets.find_subnet_overlapping_prefix(route.prefix)
