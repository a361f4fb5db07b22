"""What makes a Linux container a host: addresses on its ports and bonds, and the routes to its switches."""

from collections.abc import Collection, Iterator, Mapping

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.fabric import Host, HostPort
from nodrop.model.index import Index
from nodrop.routing.legs import routed_interfaces
from nodrop.routing.prefixes import Address, parse_address


def host_iproute2_commands(host: Host, interfaces: Mapping[str, str], index: Index) -> Iterator[str]:
    """Yield commands of iproute2; `interfaces` are those of its ports that are there, by the model's names.

    Several gateways are equal paths of one default route. A host of a VLAN has frames without a tag there.
    """
    host_ports = [port for port in host.ports if port.name in interfaces]
    bonds = dict.fromkeys(port.bond for port in host_ports if port.bond)
    for bond in bonds:
        yield f"ip link add {bond} type bond mode 802.3ad miimon 100"
        for name in (interfaces[port.name] for port in host_ports if port.bond == bond):
            yield f"ip link set {name} down"
            yield f"ip link set {name} master {bond}"
        yield f"ip link set {bond} up"
    addressed = dict.fromkeys(
        (text, port.bond or interfaces[port.name]) for port in host_ports for text in port.addresses
    )
    for text, name in addressed:
        yield f"ip address add {text} dev {name}"
    for family in ADDRESS_FAMILIES:
        if addresses := list(dict.fromkeys(_find_gateways(host.name, host_ports, family, index))):
            yield _format_default_route(family, addresses)


def lacks_gateway(host: Host, ports: Collection[str], index: Index) -> bool:
    """Whether a host has addresses, and none of its switches has an address in their subnets."""
    host_ports = [port for port in host.ports if port.name in ports]
    addressed = any(port.addresses for port in host_ports)
    return addressed and not any(
        True for family in ADDRESS_FAMILIES for _ in _find_gateways(host.name, host_ports, family, index)
    )


def _format_default_route(family: AddressFamily, gateways: list[Address]) -> str:
    by = " ".join(f"nexthop via {gateway}" for gateway in gateways) if len(gateways) > 1 else f"via {gateways[0]}"
    return f"ip {'-6 ' if family == 'ipv6' else ''}route replace default {by}"


def _find_gateways(host: str, ports: list[HostPort], family: AddressFamily, index: Index) -> Iterator[Address]:
    """Yield the addresses that the switches at the ports have in the subnets of the host's."""
    for port in ports:
        own_addresses = [
            ip for text in port.addresses if (ip := parse_address(text)) is not None and ip.family == family
        ]
        end = index.far_end(host, port.name)
        device = index.devices.get(end.node) if end is not None else None
        if end is None or device is None or not own_addresses:
            continue
        for leg in routed_interfaces(device):
            if end.port not in leg.ports:
                continue
            for far_address, subnet in zip(leg.addresses, leg.subnets, strict=False):
                if not far_address.is_link_local and any(
                    subnet.contains_address(own_address) for own_address in own_addresses
                ):
                    yield far_address
