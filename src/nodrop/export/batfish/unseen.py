"""The parts of a device that Batfish does not see, or sees differently, with the fact that gives the reason."""

from collections.abc import Iterator

from nodrop.export.frr_conf import FrrConf
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.model.types import key_of
from nodrop.routing.prefixes import parse_address
from nodrop.routing.routers import find_sub_interfaces

IPV6_ADDRESS_REASON = "Batfish reads addresses of IPv6 and drops them"
IPV6_SESSION_REASON = "Batfish has no BGP of IPv6"
IPV6_ROUTE_REASON = "Batfish has no routes of IPv6"
NO_PREFIX_LENGTH_REASON = "Batfish takes addresses with the length of their prefix only"
UNKNOWN_MTU_REASON = "the MTU is not known, for which Batfish has 1500 bytes"
MIN_LINKS_REASON = "Batfish has a port channel up as long as one member is"
WHY_ADDRESSED_MEMBER = "Batfish loses all of a snapshot at a member of a port channel with its own addresses"
WHY_TUNNEL_LEFT_OUT = "tunnels are left out, of which the model has the marking only"
SUB_INTERFACE_REASON = "sub-interfaces of sessions have no address there, for the model has none of them"
UNKNOWN_BGP_REASON = "its BGP is not known, for no file says it"
NO_ACCESS_LISTS_REASON = "Batfish is given the switch's ports without access lists"
NO_IPV4_HOST_REASON = "the host has no address of IPv4, and Batfish has hosts of IPv4 only"


def ports_in_port_channels(device: Device) -> set[str]:
    """Return the ports of a device that are members of port channels."""
    return {port for channel in known_rows(device.port_channels) for port in channel.members}


def unseen_parts_of_device(device: Device, conf: FrrConf | None) -> dict[Subject, str]:
    """Return the parts of a device that a snapshot does not have, or has in a different form."""
    reason_by_subject = dict(_unseen_addresses(device))
    bundled = ports_in_port_channels(device)
    for port in device.interfaces:
        if port.name in bundled and ipv4_addresses_of(port.addresses):
            reason_by_subject[device.name, port.name, "addresses"] = WHY_ADDRESSED_MEMBER
    for port in device.interfaces:
        if not isinstance(port.mtu_bytes, int):
            reason_by_subject[device.name, port.name, "mtu_bytes"] = UNKNOWN_MTU_REASON
    for channel in known_rows(device.port_channels):
        if (channel.min_links or 1) > 1:
            reason_by_subject[device.name, "@port_channels", channel.name, "min_links"] = MIN_LINKS_REASON
    for tunnel in known_rows(device.tunnels):
        reason_by_subject[device.name, "@tunnels", tunnel.name] = WHY_TUNNEL_LEFT_OUT
    for sub_interface in find_sub_interfaces(device):
        reason_by_subject[device.name, sub_interface.name, "addresses"] = SUB_INTERFACE_REASON
    if conf is None:
        reason_by_subject[device.name, "@bgp"] = UNKNOWN_BGP_REASON
    elif conf.missing:
        reason_by_subject[device.name, "@bgp"] = "; ".join(conf.missing)
    reason_by_subject.update(_unseen_routing_parts(device))
    return reason_by_subject


def unseen_access_lists(device: Device) -> dict[Subject, str]:
    """Return the access lists that act on a switch whose ports Batfish is given without them."""
    acting = (
        access_list
        for access_list in known_rows(device.access_lists)
        if any(binding.stage != "services" for binding in access_list.bindings)
    )
    return {(device.name, "@access_lists", access_list.name): NO_ACCESS_LISTS_REASON for access_list in acting}


def _unseen_addresses(device: Device) -> Iterator[tuple[Subject, str]]:
    texts: dict[Subject, tuple[str, ...]] = {
        (device.name, interface.name): known_rows(interface.addresses) for interface in device.interfaces
    }
    for kind in ("loopbacks", "port_channels", "vlans"):
        for row in known_rows(getattr(device, kind)):
            texts[device.name, f"@{kind}", key_of(row, 0)] = row.addresses
    for subject, own_texts in texts.items():
        for text in own_texts:
            read = parse_address(text)
            if read is not None and read.family == "ipv6":
                yield (*subject, "addresses", text), IPV6_ADDRESS_REASON
            elif "/" not in text:
                yield (*subject, "addresses", text), NO_PREFIX_LENGTH_REASON


def _unseen_routing_parts(device: Device) -> Iterator[tuple[Subject, str]]:
    for process in device.known_bgp_processes:
        process_subject = (device.name,) if process.vrf is None else (device.name, "@vrf_bgp", process.vrf)
        for neighbor in known_rows(process.neighbors):
            far = parse_address(neighbor.address or "")
            if (far is not None and far.family == "ipv6") or not neighbor.active:
                yield (
                    (*process_subject, "neighbors" if process.vrf else "@neighbors", neighbor.key),
                    IPV6_SESSION_REASON,
                )
    for route in known_rows(device.static_routes):
        if ":" in route.prefix:
            yield (device.name, "@static_routes", route.prefix), IPV6_ROUTE_REASON


def ipv4_addresses_of(texts: tuple[str, ...] | Unknown) -> list[str]:
    """Return the addresses of IPv4 that Batfish takes: those with the length of their prefix."""
    read = ((text, parse_address(text)) for text in known_rows(texts))
    return [
        text
        for text, found_address in read
        if found_address is not None and found_address.family == "ipv4" and "/" in text
    ]
