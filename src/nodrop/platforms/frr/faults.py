"""Lines of an FRR configuration that take interfaces or forwarding away, against what else is configured."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp
from nodrop.model.states import is_known_off, known_rows
from nodrop.platforms.frr.text_reader import FrrRouting
from nodrop.syntax.frr import FrrStatement

SHUT, FORWARDS_NOT = "interface-shut-by-frr", "forwarding-off-in-frr"


class FaultyLine(NamedTuple):
    """A line that is a remark: its kind and facts, and its subject."""

    kind: str
    statement: FrrStatement
    subject: tuple[str, ...]
    facts: Mapping[str, str]


def find_interface_faults(routing: FrrRouting, device: Device) -> Iterator[FaultyLine]:
    """Yield the interfaces of a device that only zebra shuts, and the families that it routes and does not forward.

    zebra takes the interface down in the kernel as it reads the line (FRR, zebra/interface.c, if_shutdown), and stops
    the kernel's forwarding (zebra/ipforward_proc.c). FRR writes the kernel's state of forwarding into its file, also
    of a family that the device does not use.
    """
    off = _disabled_interface_names(device)
    names = {interface.name for interface in device.interfaces}
    for name, statement in routing.shut.items():
        if name not in off:
            subject = (device.name, name) if name in names else (device.name,)
            yield FaultyLine(SHUT, statement, subject, {"interface": name})
    routed_families = _find_routed_families(device) if routing.forwards_not else frozenset()
    for statement in routing.forwards_not:
        family = "IPv6" if "ipv6" in statement.words else "IPv4"
        if family in routed_families:
            yield FaultyLine(FORWARDS_NOT, statement, (device.name,), {"family": family})


def statements_with_unknown_effect(routing: FrrRouting, device: Device) -> list[FrrStatement]:
    """Return the commands with unknown effect.

    They are those not understood, `no shutdown` of objects shut elsewhere, and addresses that are not given to their
    interfaces elsewhere.
    """
    off = _disabled_interface_names(device)
    known = _find_known_addresses(device) if routing.addresses else frozenset()
    return [
        *routing.not_understood,
        *(statement for name, statement in routing.raised.items() if name in off),
        *(statement for name, statement in routing.addresses if (name, statement.words[2:3]) not in known),
    ]


def _find_known_addresses(device: Device) -> frozenset[tuple[str, tuple[str, ...]]]:
    """Return the interfaces of a device with each address that its configuration gives them."""
    ports = (device.interfaces, known_rows(device.port_channels), known_rows(device.loopbacks))
    named = [(port.name, known_rows(port.addresses)) for rows in ports for port in rows]
    named += [(f"Vlan{vlan.id}", vlan.addresses) for vlan in known_rows(device.vlans)]
    return frozenset((name, (address,)) for name, addresses in named for address in addresses)


def _disabled_interface_names(device: Device) -> set[str]:
    off = {interface.name for interface in device.interfaces if is_known_off(interface.enabled)}
    return off | {
        port_channel.name for port_channel in known_rows(device.port_channels) if is_known_off(port_channel.enabled)
    }


def _find_routed_families(device: Device) -> frozenset[str]:
    """Return the families that a device has a session, a static route or an address of a port for."""
    ports = (device.interfaces, known_rows(device.port_channels), known_rows(device.vlans))
    texts = [text for rows in ports for row in rows for text in known_rows(row.addresses)]
    texts += [route.prefix for route in known_rows(device.static_routes)]
    families = {"IPv6" if ":" in text else "IPv4" for text in texts}
    for neighbor in known_rows(device.bgp.neighbors) if isinstance(device.bgp, Bgp) else ():
        families |= {"IPv4"} if neighbor.active else set()
        families |= {"IPv6"} if neighbor.ipv6.active else set()
    return frozenset(families)
