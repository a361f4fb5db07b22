"""Bonds of hosts: the ports of each are one port channel (IEEE 802.1AX) of their switch, which has the addresses.

PFC, headroom and queues stay those of each port.
"""

from collections.abc import Iterator, Mapping

from nodrop.design.boxes import PlannedSwitch
from nodrop.design.faults import KeyFault
from nodrop.design.ports import Bond, PortCables, platform_port_name
from nodrop.design.splits import SplitPort
from nodrop.intent.schema import EndpointGroup
from nodrop.model.bridging import PortChannel
from nodrop.model.subject import natural_sort_key


def port_channels(mtu: int, node: PlannedSwitch, cables: PortCables) -> tuple[PortChannel, ...]:
    """Return the port channels of a switch, sorted by name."""
    members: dict[Bond, list[str]] = {}
    for wire in cables.values():
        if wire.bond is not None:
            members.setdefault(wire.bond, []).append(platform_port_name(node, SplitPort(*wire.port, wire.splits)))
    new_port_channels = [
        PortChannel(
            name=bond.name,
            members=tuple(sorted(ports, key=natural_sort_key)),
            mtu_bytes=mtu,
            addresses=bond.addresses,
            description=bond.host,
        )
        for bond, ports in members.items()
    ]
    return tuple(sorted(new_port_channels, key=lambda channel: natural_sort_key(channel.name)))


def bond_faults(endpoints: Mapping[str, EndpointGroup]) -> Iterator[KeyFault]:
    """Yield bonds of one port, and those of ports on several switches."""
    for name, group in endpoints.items():
        if not group.bond:
            continue
        keys = ("endpoints", name, "bond")
        if group.ports == 1:
            yield KeyFault(keys, "hosts with one port", "ports: 2 or more, or no bond")
        elif group.spread != "one-leaf":
            fault = f"ports on {group.leaves_per_host} switches, and a bond ends on one switch"
            yield KeyFault(keys, fault, "spread: one-leaf, or no bond")
