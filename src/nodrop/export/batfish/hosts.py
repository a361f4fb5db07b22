"""Hosts as Batfish has them: a file each, with the ports that have an address of IPv4, and the way out by a switch."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from nodrop.export.batfish.unseen import ipv4_addresses_of
from nodrop.model.fabric import Host, HostPort
from nodrop.model.index import Index
from nodrop.routing.legs import RoutedInterface, routed_interfaces
from nodrop.routing.prefixes import parse_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class BatfishHostFile:
    """A host's file: the host, its node, its text and the ports that are in it."""

    name: str
    node: str
    text: str
    ports: tuple[str, ...]


def batfish_host_files(index: Index, nodes: Mapping[str, str]) -> Iterator[BatfishHostFile]:
    """Yield the hosts that have an address of IPv4; those of a bond are those of its first member."""
    gateways = _HostGateways(index)
    for host in index.hosts.values():
        if host.name in index.devices or not any(ipv4_addresses_of(port.addresses) for port in host.ports):
            continue
        interfaces = {port.name: _batfish_host_interface(host, port, gateways) for port in host.ports}
        text = json.dumps({"hostname": nodes[host.name], "hostInterfaces": interfaces}, indent=1) + "\n"
        yield BatfishHostFile(name=host.name, node=nodes[host.name], text=text, ports=tuple(interfaces))


def _batfish_host_interface(host: Host, port: HostPort, gateways: "_HostGateways") -> dict[str, object]:
    interface: dict[str, object] = {"name": port.name}
    first_host_port = next(
        host_port
        for host_port in host.ports
        if host_port.name == port.name or (port.bond and host_port.bond == port.bond)
    )
    addresses = ipv4_addresses_of(port.addresses) if first_host_port is port else []
    if addresses:
        interface["prefix"] = addresses[0]
        if addresses[1:]:
            interface["otherPrefixes"] = addresses[1:]
        gateway = gateways.gateway_of_host_address(host.name, port.name, addresses[0])
        interface |= {"gateway": gateway} if gateway else {}
    return interface


class _HostGateways:
    """The addresses of switches that hosts use to leave their subnet."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._legs = cache(self._legs_by_port)

    def gateway_of_host_address(self, host: str, port: str, address: str) -> str | None:
        """Return the address that the switch at a host's port has in the subnet of the host's own."""
        end, own_prefix = self._index.far_end(host, port), parse_prefix(address)
        if end is None or own_prefix is None:
            return None
        for leg in self._legs(end.node).get(end.port, ()):
            for found_address in leg.addresses:
                if own_prefix.contains_address(found_address):
                    return str(found_address)
        return None

    def _legs_by_port(self, device: str) -> Mapping[str, list[RoutedInterface]]:
        found_legs: dict[str, list[RoutedInterface]] = {}
        owner = self._index.devices.get(device)
        for leg in routed_interfaces(owner) if owner else ():
            for port in leg.ports:
                found_legs.setdefault(port, []).append(leg)
        return found_legs
