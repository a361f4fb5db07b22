"""Bonds and VLANs that NVUE cannot express: refused with the model path that prevents it.

Sources: Cumulus Linux 5.16, Bonding and VLAN-aware Bridge Mode. One bridge, br_default, has all VLANs.
"""

import re
from collections.abc import Callable

from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.fabric import Device
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.expressible import check_row_names_and_order, unsupported_error
from nodrop.platforms.nvue.read_bridging import MOST_BOND_MEMBERS, VLAN_ID_RANGE

_BOND_NAME_PATTERN = re.compile(r"bond[A-Za-z0-9_-]{1,11}")
_VLAN_WITHOUT_SVI_VALUES = {"enabled": True, "addresses": (), "vrf": None, "description": None}
"""What a VLAN has in which the switch has no interface, beside no MTU."""

CheckLinkSettings = Callable[[PortChannel | Vlan, tuple[str, str]], None]


def check_bridging(device: Device, check_link: CheckLinkSettings) -> None:
    """Raise UnsupportedByPlatform where a bond or VLAN has no setting; `check_link` checks what ports have too."""
    bonds, vlans = require_fact(device.port_channels), require_fact(device.vlans)
    if not bonds and not vlans:
        return
    check_row_names_and_order(bonds, "port_channels", order=lambda row: natural_sort_key(row.name))
    check_row_names_and_order(vlans, "vlans", order=lambda row: row.id)
    ports = {port.name for port in device.interfaces}
    for bond in bonds:
        _check_bond(bond, ports, ("port_channels", bond.name))
        check_link(bond, ("port_channels", bond.name))
    _check_distinct_members(bonds)
    untagged: dict[str, int] = {}
    for vlan in vlans:
        path = ("vlans", str(vlan.id))
        _check_vlan(vlan, {*ports, *(bond.name for bond in bonds)}, path)
        if vlan.mtu_bytes is not None:
            check_link(vlan, path)
        for member in vlan.members:
            if not member.tagged and untagged.setdefault(member.interface, vlan.id) != vlan.id:
                reason = (
                    f"a port is in one VLAN without tags, and {member.interface} is in {untagged[member.interface]}"
                )
                raise unsupported_error((*path, "members", member.interface), reason)


def _check_bond(bond: PortChannel, ports: set[str], path: tuple[str, str]) -> None:
    if not _BOND_NAME_PATTERN.fullmatch(bond.name):
        raise unsupported_error((*path, "name"), "a bond is called bond and a suffix, at most 15 characters in all")
    if bond.min_links is not None:
        raise unsupported_error((*path, "min_links"), "NVUE's bonds are up with any member")
    if not bond.members:
        raise unsupported_error((*path, "members"), "a bond has members")
    if len(bond.members) > MOST_BOND_MEMBERS:
        raise unsupported_error((*path, "members"), f"are {len(bond.members)}: a bond has {MOST_BOND_MEMBERS} at most")
    if list(bond.members) != sorted(set(bond.members), key=natural_sort_key):
        raise unsupported_error((*path, "members"), "are not in the order in which they would be read back")
    for member in bond.members:
        if member not in ports:
            raise unsupported_error((*path, "members"), f"{member} is no port of the switch")


def _check_distinct_members(bonds: tuple[PortChannel, ...]) -> None:
    owner: dict[str, str] = {}
    for bond in bonds:
        for member in bond.members:
            if owner.setdefault(member, bond.name) != bond.name:
                raise unsupported_error(("port_channels", bond.name, "members"), f"{member} is in {owner[member]} too")


def _check_vlan(vlan: Vlan, ports: set[str], path: tuple[str, str]) -> None:
    if not VLAN_ID_RANGE[0] <= vlan.id <= VLAN_ID_RANGE[1]:
        raise unsupported_error((*path, "id"), f"is not from {VLAN_ID_RANGE[0]} to {VLAN_ID_RANGE[1]}")
    check_row_names_and_order(vlan.members, *path, "members", order=lambda member: natural_sort_key(member.interface))
    for member in vlan.members:
        if member.interface not in ports:
            raise unsupported_error(
                (*path, "members", member.interface), f"{member.interface} is no port of the switch"
            )
    if vlan.mtu_bytes is None:
        for name, without in _VLAN_WITHOUT_SVI_VALUES.items():
            if getattr(vlan, name) != without:
                raise unsupported_error(
                    (*path, name), "is that of the switch's own interface in the VLAN, which has an MTU"
                )
