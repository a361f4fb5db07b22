"""Which devices are above others, and where BGP sessions lead: shared by the analyses of routing."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.routing.tiers import tier_of_device


class UplinkCable(NamedTuple):
    """A cable from a device to one of the tier above."""

    lower: Device
    lower_port: str
    upper: Device
    upper_port: str


def uplink_cables(index: Index) -> Iterator[UplinkCable]:
    """Yield the cables between devices of neighboring tiers, in the fabric's order."""
    devices = index.devices
    ranks = {name: tier for name, device in devices.items() if (tier := tier_of_device(device)) is not None}
    for link in index.fabric.links:
        a, b = ranks.get(link.a.node), ranks.get(link.b.node)
        if a is None or b is None:
            continue
        if b == a + 1:
            yield UplinkCable(devices[link.a.node], link.a.port, devices[link.b.node], link.b.port)
        elif a == b + 1:
            yield UplinkCable(devices[link.b.node], link.b.port, devices[link.a.node], link.a.port)


def possible_bgp_peers_by_key(index: Index, device: Device) -> dict[str, Device]:
    """Return the devices that a device's BGP sessions can lead to, by the key of the neighbor: an address or a port."""
    devices: dict[str, Device] = {}
    for port in device.interfaces:
        end = index.far_end(device.name, port.name)
        far = index.devices.get(end.node) if end else None
        if end is None or far is None:
            continue
        devices[port.name] = far
        interface = index.interface(*end)
        devices.update(dict.fromkeys(port_addresses_without_length(interface), far) if interface else {})
    return devices


def port_addresses_without_length(port: Interface) -> tuple[str, ...]:
    """Return the addresses of a port, without their prefix lengths; none where they are not known."""
    return () if isinstance(port.addresses, Unknown) else tuple(text.partition("/")[0] for text in port.addresses)
