"""A switch as the interfaces file that Cumulus Linux would have, made of the model: Batfish reads it for any platform.

Batfish recognizes an interface as a VLAN or sub-interface by its name, as a bundle by its members, as a VRF by its
table; it knows one bridge, by the name `bridge`. FRR's text states that a port is shut, because its interfaces file has
no word for it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodrop.export.batfish.names import BatfishInterfaceNames
from nodrop.export.batfish.unseen import ipv4_addresses_of, ports_in_port_channels
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.rendering import load_template
from nodrop.routing.legs import routed_interfaces
from nodrop.routing.routers import find_sub_interfaces

_FRR_INTERFACE_LINE = re.compile(r"^interface ([0-9A-Za-z_:-]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceStanza:
    """An interface; in the bridge it has `access` to one VLAN, or the VLANs of `trunk`, with `native` untagged."""

    name: str
    addresses: tuple[str, ...] = ()
    mtu_bytes: int | None = None
    vrf: str | None = None
    members: tuple[str, ...] = ()
    access: int | None = None
    trunk: tuple[int, ...] = ()
    native: int | None = None
    vlan: int | None = None
    table: bool = False
    off: bool = False


def format_interfaces_part(device: Device, node: str, node_names: BatfishInterfaceNames, text: str) -> str:
    """Return the part of a node's file before frr.conf, a `text`; UnsupportedByPlatform if a name cannot be written.

    An interface that only FRR mentions is written empty, because Batfish would not know its kind.
    """
    stanzas = list(_interface_stanzas(device, node_names))
    known_names = {stanza.name for stanza in stanzas} | {"bridge", "lo"}
    stanzas += [
        InterfaceStanza(name=name)
        for name in dict.fromkeys(_FRR_INTERFACE_LINE.findall(text))
        if name not in known_names
    ]
    bridged = [stanza.name for stanza in stanzas if stanza.access is not None or stanza.trunk]
    vlans = [vlan.id for vlan in known_rows(device.vlans)]
    file_text: str = load_template("batfish/interfaces.j2").render(
        node=node, stanzas=stanzas, bridged=bridged, vlans=vlans
    )
    return file_text


def _interface_stanzas(device: Device, names: BatfishInterfaceNames) -> Iterator[InterfaceStanza]:
    of_vrf = {row.vrf: row for row in known_rows(device.loopbacks) if row.vrf is not None and row.name == row.vrf}
    for vrf in _vrfs_in_use(device):
        yield InterfaceStanza(
            name=vrf, table=True, addresses=_ipv4_addresses(of_vrf[vrf].addresses) if vrf in of_vrf else ()
        )
    for loopback in known_rows(device.loopbacks):
        if loopback.name not in of_vrf:
            addresses = _ipv4_addresses(loopback.addresses)
            yield InterfaceStanza(name=names.port(loopback.name), addresses=addresses, vrf=loopback.vrf)
    bridging = _VlanMembership(device)
    ports = {port.name for port in device.interfaces}
    bundled = ports_in_port_channels(device)
    for port in device.interfaces:
        access, trunk, native = bridging.vlans_of_port("" if port.name in bundled else port.name)
        yield InterfaceStanza(
            name=names.port(port.name),
            addresses=() if port.name in bundled else _ipv4_addresses(port.addresses),
            mtu_bytes=_unknown_to_none(port.mtu_bytes),
            vrf=None if isinstance(port.vrf, Unknown) else port.vrf,
            access=access,
            trunk=trunk,
            native=native,
            off=is_known_off(port.enabled),
        )
    for channel in known_rows(device.port_channels):
        access, trunk, native = bridging.vlans_of_port(channel.name)
        members = tuple(names.port(member) for member in channel.members if member in ports)
        yield InterfaceStanza(
            name=names.port(channel.name),
            addresses=_ipv4_addresses(channel.addresses),
            mtu_bytes=_unknown_to_none(channel.mtu_bytes),
            vrf=channel.vrf,
            members=members,
            access=access,
            trunk=trunk,
            native=native,
            off=is_known_off(channel.enabled) or not members,
        )
    for vlan in known_rows(device.vlans):
        off = is_known_off(vlan.enabled)
        name = f"{names.vlan}{vlan.id}"
        addresses, size = _ipv4_addresses(vlan.all_addresses), _unknown_to_none(vlan.mtu_bytes)
        yield InterfaceStanza(name=name, addresses=addresses, mtu_bytes=size, vrf=vlan.vrf, vlan=vlan.id, off=off)
    for sub_interface in find_sub_interfaces(device):
        yield InterfaceStanza(name=names.port(sub_interface.name), vrf=sub_interface.vrf)


def _vrfs_in_use(device: Device) -> list[str]:
    """Return every VRF that something is in."""
    vrfs = {leg.vrf for leg in routed_interfaces(device)} | {bgp.vrf for bgp in known_rows(device.vrf_bgp)}
    vrfs |= {static_route.vrf for static_route in known_rows(device.static_routes)}
    return sorted((vrf for vrf in vrfs if vrf is not None), key=natural_sort_key)


class _VlanMembership:
    """Which VLANs a port or port channel is in, with a tag and without one."""

    def __init__(self, device: Device) -> None:
        self._tagged: dict[str, list[int]] = {}
        self._untagged: dict[str, int] = {}
        for vlan in known_rows(device.vlans):
            for member in vlan.members:
                if member.tagged:
                    self._tagged.setdefault(member.interface, []).append(vlan.id)
                else:
                    self._untagged[member.interface] = vlan.id

    def vlans_of_port(self, name: str) -> tuple[int | None, tuple[int, ...], int | None]:
        """Return the VLAN of an access port, those of a trunk, and the one of these that has no tag."""
        native, tagged = self._untagged.get(name), self._tagged.get(name, [])
        if not tagged:
            return native, (), None
        return None, tuple(sorted({*tagged, *([] if native is None else [native])})), native


def _ipv4_addresses(texts: tuple[str, ...] | Unknown) -> tuple[str, ...]:
    return tuple(ipv4_addresses_of(texts))


def _unknown_to_none(size: int | None | Unknown) -> int | None:
    return None if isinstance(size, Unknown) else size
