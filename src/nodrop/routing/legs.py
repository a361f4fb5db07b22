"""Interfaces that a switch routes over: ports, port channels, VLANs and loopbacks, with addresses and far ends."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nodrop.limits import MAX_VLAN
from nodrop.model.fabric import Device, End, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.model.subject import Subject
from nodrop.platforms.kit.traits import newest_traits
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix
from nodrop.units import parse_whole_number


class RoutedInterface(NamedTuple):
    """An interface with a place in a routing table.

    `ports` are its ports: one for a plain port, the members of a bundle or VLAN, none for a loopback. The leg works
    if it is `enabled` and at least `least` of its ports work.
    """

    name: str
    vrf: str | None
    subject: Subject
    addresses: tuple[Address, ...]
    subnets: tuple[Prefix, ...]
    ports: tuple[str, ...]
    least: int = 1
    enabled: bool = True
    tag: int = 0
    """The VLAN of a sub-interface; 0 for all others."""
    parent: str = ""
    """The name of the interface below a sub-interface."""

    @property
    def has_no_member_ports(self) -> bool:
        """Whether it is a bundle or VLAN without ports: nothing leads out of it."""
        return self.least > 0 and not self.ports


def routed_interfaces(device: Device) -> Iterator[RoutedInterface]:
    """Yield the interfaces that a device routes over, ports first; one without known addresses has none.

    Interfaces that the routing daemon shuts are not enabled (FRR, zebra/interface.c, if_shutdown).
    """
    shut = known_rows(device.shut_by_daemon)
    for leg in _legs_before_daemon_shutdown(device):
        yield leg._replace(enabled=False) if any(is_leg_name(leg.name, name) for name in shut) else leg


def routed_interfaces_at(index: Index, end: End) -> Sequence[RoutedInterface]:
    """Return the interfaces that a device of a fabric routes over at a port; those of all its ports are found once."""

    def find_by_port() -> dict[str, list[RoutedInterface]]:
        by_port: dict[str, list[RoutedInterface]] = {}
        for leg in routed_interfaces(index.devices[end.node]):
            for port in dict.fromkeys(leg.ports):
                by_port.setdefault(port, []).append(leg)
        return by_port

    return index.compute_once(f"routed interfaces of {end.node}", find_by_port).get(end.port, ())


def _legs_before_daemon_shutdown(device: Device) -> Iterator[RoutedInterface]:
    for port in device.interfaces:
        texts = () if isinstance(port.addresses, Unknown) else port.addresses
        vrf = None if isinstance(port.vrf, Unknown) else port.vrf
        on = not is_known_off(port.enabled)
        yield _make_interface_leg(port.name, vrf, (device.name, port.name), texts, (port.name,), enabled=on)
    for channel in known_rows(device.port_channels):
        subject = (device.name, "@port_channels", channel.name)
        on = not is_known_off(channel.enabled)
        least = channel.min_links or 1
        yield _make_interface_leg(
            channel.name, channel.vrf, subject, channel.addresses, channel.members, least, enabled=on
        )
    members = {channel.name: channel.members for channel in known_rows(device.port_channels)}
    for vlan in known_rows(device.vlans):
        ports = tuple(port for member in vlan.members for port in members.get(member.interface, (member.interface,)))
        on = not is_known_off(vlan.enabled)
        subject = (device.name, "@vlans", vlan.key)
        yield _make_interface_leg(f"VLAN {vlan.id}", vlan.vrf, subject, vlan.all_addresses, ports, enabled=on)
    for loopback in known_rows(device.loopbacks):
        subject = (device.name, "@loopbacks", loopback.name)
        yield _make_interface_leg(loopback.name, loopback.vrf, subject, loopback.addresses, (), 0)


def parse_sub_interface(name: str) -> tuple[str, int] | None:
    """Return the interface below a sub-interface and the VLAN in its name: `peerlink.4094`."""
    base, _, text = name.rpartition(".")
    tag = parse_whole_number(text, MAX_VLAN)
    return (base, tag) if base and tag else None


def build_sub_interface(base: RoutedInterface, tag: int, vrf: str | None) -> RoutedInterface:
    """Return a sub-interface that a session is over; its addresses are not in the model."""
    return base._replace(name=f"{base.name}.{tag}", vrf=vrf, addresses=(), subnets=(), tag=tag, parent=base.name)


def is_leg_name(leg: str, word: str) -> bool:
    """Whether a word of a configuration names a leg: a VLAN is `Vlan100` on SONiC and `vlan100` on NVUE."""
    return word == leg or (leg.startswith("VLAN ") and word.lower() == leg.lower().replace(" ", ""))


def unknown_leg_fact(device: Device) -> str:
    """Return the model path of an unknown fact that may be a leg or static route of a device; "" if all are known."""
    fields = ("vlans", "port_channels", "loopbacks", "static_routes")
    missing = next((field for field in fields if isinstance(getattr(device, field), Unknown)), None)
    if missing is not None:
        return f"device.{missing}"
    return (
        "interface.addresses"
        if any(isinstance(interface.addresses, Unknown) for interface in device.interfaces)
        else ""
    )


def _make_interface_leg(
    name: str,
    vrf: str | None,
    subject: Subject,
    texts: tuple[str, ...],
    ports: tuple[str, ...],
    least: int = 1,
    *,
    enabled: bool = True,
) -> RoutedInterface:
    ip_pairs = [
        (found_address, found_prefix)
        for text in texts
        if (found_address := parse_address(text)) is not None and (found_prefix := parse_prefix(text)) is not None
    ]
    addresses, subnets = tuple([ip for ip, _ in ip_pairs]), tuple([found_prefix for _, found_prefix in ip_pairs])
    return RoutedInterface(name, vrf, subject, addresses, subnets, ports, least, enabled)


def is_port_list_complete(device: Device) -> bool:
    """Whether a switch has no port besides those that its files state."""
    traits = newest_traits(device.platform)
    return traits is not None and traits.lists_ports and bool(device.interfaces)


class WorkingPorts:
    """Which ports carry anything: enabled at both ends, and not among those that have `failed`."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def is_port_working(self, device: str, port: str, failed: frozenset[End] = frozenset()) -> bool:
        """Whether a port and the one at the other end of its cable are on; the port alone without a known cable.

        A member of a bundle may be stated at the bundle alone, where files need not list all ports (NVUE).
        """
        interface = self._index.interface(device, port)
        if (
            is_port_list_complete(self._index.devices[device])
            if interface is None
            else self._is_port_shut(device, interface)
        ):
            return False
        if failed and End(device, port) in failed:
            return False
        end = self._index.far_end(device, port)
        if end is None:
            return True
        if failed and end in failed:
            return False
        far_interface = self._index.interface(*end)
        return far_interface is None or not self._is_port_shut(end.node, far_interface)

    def _is_port_shut(self, device: str, port: Interface) -> bool:
        """Whether a port is shut, in the switch or by its routing daemon."""
        return is_known_off(port.enabled) or port.name in known_rows(self._index.devices[device].shut_by_daemon)

    def is_leg_up(self, device: str, leg: RoutedInterface, failed: frozenset[End] = frozenset()) -> bool:
        """Whether a leg carries anything: a loopback always, another while enough of its ports do."""
        if not leg.enabled:
            return False
        if leg.least == 0:
            return True
        return sum(self.is_port_working(device, port, failed) for port in leg.ports) >= leg.least

    def far_ends(self, device: str, leg: RoutedInterface) -> tuple[End, ...]:
        """Return the other ends of the cables at a leg's ports, as far as they are known."""
        ends = [self._index.far_end(device, port) for port in leg.ports]
        return tuple([end for end in ends if end is not None])
