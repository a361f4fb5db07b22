"""The parts of a device that Batfish does not see, or sees differently, with the fact that gives the reason."""

from collections.abc import Iterator

from nodrop.export.frr_conf import FrrConf
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.model.types import key_of
from nodrop.routing.prefixes import address
from nodrop.routing.routers import find_sub_interfaces

IPV6_ADDRESS = "Batfish reads addresses of IPv6 and drops them"
IPV6_SESSION = "Batfish has no BGP of IPv6"
IPV6_ROUTE = "Batfish has no routes of IPv6"
NO_LENGTH = "Batfish takes addresses with the length of their prefix only"
NO_MTU = "the MTU is not known, for which Batfish has 1500 bytes"
MIN_LINKS = "Batfish has a port channel up as long as one member is"
MEMBER = "Batfish loses all of a snapshot at a member of a port channel with its own addresses"
TUNNEL = "tunnels are left out, of which the model has the marking only"
SUB_INTERFACE = "sub-interfaces of sessions have no address there, for the model has none of them"
NO_ROUTING = "its BGP is not known, for no file says it"
NO_LISTS = "Batfish is given the switch's ports without access lists"
NO_HOST = "the host has no address of IPv4, and Batfish has hosts of IPv4 only"


def bundled_ports(device: Device) -> set[str]:
    """Return the ports of a device that are members of port channels."""
    return {port for channel in known_rows(device.port_channels) for port in channel.members}


def unseen_of(device: Device, conf: FrrConf | None) -> dict[Subject, str]:
    """Return the parts of a device that a snapshot does not have, or has in a different form."""
    reason_by_subject = dict(_unseen_addresses(device))
    bundled = bundled_ports(device)
    for port in device.interfaces:
        if port.name in bundled and four(port.addresses):
            reason_by_subject[device.name, port.name, "addresses"] = MEMBER
    for port in device.interfaces:
        if not isinstance(port.mtu_bytes, int):
            reason_by_subject[device.name, port.name, "mtu_bytes"] = NO_MTU
    for channel in known_rows(device.port_channels):
        if (channel.min_links or 1) > 1:
            reason_by_subject[device.name, "@port_channels", channel.name, "min_links"] = MIN_LINKS
    for tunnel in known_rows(device.tunnels):
        reason_by_subject[device.name, "@tunnels", tunnel.name] = TUNNEL
    for sub_interface in find_sub_interfaces(device):
        reason_by_subject[device.name, sub_interface.name, "addresses"] = SUB_INTERFACE
    if conf is None:
        reason_by_subject[device.name, "@bgp"] = NO_ROUTING
    elif conf.missing:
        reason_by_subject[device.name, "@bgp"] = "; ".join(conf.missing)
    reason_by_subject.update(_unseen_routing_parts(device))
    return reason_by_subject


def lists_unseen(device: Device) -> dict[Subject, str]:
    """Return the access lists that act on a switch whose ports Batfish is given without them."""
    acting = (
        access_list
        for access_list in known_rows(device.access_lists)
        if any(binding.stage != "services" for binding in access_list.bindings)
    )
    return {(device.name, "@access_lists", access_list.name): NO_LISTS for access_list in acting}


def _unseen_addresses(device: Device) -> Iterator[tuple[Subject, str]]:
    texts: dict[Subject, tuple[str, ...]] = {
        (device.name, interface.name): known_rows(interface.addresses) for interface in device.interfaces
    }
    for kind in ("loopbacks", "port_channels", "vlans"):
        for row in known_rows(getattr(device, kind)):
            texts[device.name, f"@{kind}", key_of(row, 0)] = row.addresses
    for subject, own_texts in texts.items():
        for text in own_texts:
            read = address(text)
            if read is not None and read.family == "ipv6":
                yield (*subject, "addresses", text), IPV6_ADDRESS
            elif "/" not in text:
                yield (*subject, "addresses", text), NO_LENGTH


def _unseen_routing_parts(device: Device) -> Iterator[tuple[Subject, str]]:
    first_bgps: tuple[Bgp, ...] = () if isinstance(device.bgp, Unknown) or device.bgp is None else (device.bgp,)
    for process in (*first_bgps, *known_rows(device.vrf_bgp)):
        process_subject = (device.name,) if process.vrf is None else (device.name, "@vrf_bgp", process.vrf)
        for neighbor in known_rows(process.neighbors):
            far = address(neighbor.address or "")
            if (far is not None and far.family == "ipv6") or not neighbor.active:
                yield (*process_subject, "neighbors" if process.vrf else "@neighbors", neighbor.key), IPV6_SESSION
    for route in known_rows(device.static_routes):
        if ":" in route.prefix:
            yield (device.name, "@static_routes", route.prefix), IPV6_ROUTE


def four(texts: tuple[str, ...] | Unknown) -> list[str]:
    """Return the addresses of IPv4 that Batfish takes: those with the length of their prefix."""
    read = ((text, address(text)) for text in known_rows(texts))
    return [
        text
        for text, found_address in read
        if found_address is not None and found_address.family == "ipv4" and "/" in text
    ]
