"""Subnets that two switches have: whether hosts of one can be reached over the other."""

from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.routing.legs import RoutedInterface

DeviceAndLeg = tuple[Device, RoutedInterface]
"""An interface with addresses, and the device that has it."""


def are_surely_separate(index: Index, one: DeviceAndLeg, other: DeviceAndLeg) -> bool:
    """Return whether no broadcast domain joins two interfaces: each leads to hosts alone, and none to those of both.

    False where a switch may carry a VLAN on in another way: by a tunnel, EVPN, a second switch of its bundles or of
    its servers.
    """
    hosts = [_hosts_behind_ports(index, *interface) for interface in (one, other)]
    return all(hosts) and hosts[0].isdisjoint(hosts[1]) and not any(map(_may_extend_vlans, (one[0], other[0])))


def _hosts_behind_ports(index: Index, device: Device, leg: RoutedInterface) -> set[str]:
    """Return the hosts that ports are cabled to; none where one leads elsewhere, or nowhere."""
    found_hosts = set()
    for port in leg.ports:
        interface = index.interface(device.name, port)
        if interface is not None and is_known_off(interface.enabled):
            continue
        end = index.far_end(device.name, port)
        if end is None or end.node not in index.hosts:
            return set()
        found_hosts.add(end.node)
    return found_hosts


def _may_extend_vlans(device: Device) -> bool:
    """Return whether a VLAN of a device may also be at a device to which no port of it leads."""
    facts = (device.dual_tor, device.multi_chassis, device.mux_cables, device.tunnels, device.port_channels)
    if any(isinstance(fact, Unknown) for fact in (*facts, device.bgp, device.vrf_bgp)):
        return True
    if device.dual_tor or device.multi_chassis or device.mux_cables or device.tunnels:
        return True
    if any(channel.segment is not None for channel in known_rows(device.port_channels)):
        return True
    return any(
        isinstance(bgp.neighbors, Unknown) or any(neighbor.evpn for neighbor in bgp.neighbors)
        for bgp in device.known_bgp_processes
    )
