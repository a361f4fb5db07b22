"""Bonds and VLANs of a device, brought into its file's settings: the difference between both states."""

from collections.abc import Iterator
from typing import Any

from nodrop.model.fabric import Device
from nodrop.model.states import Unknown
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.nvue.bridging import DEFAULT_BRIDGE_DOMAIN, render_bridge_ports
from nodrop.platforms.nvue.edit_draft import PendingSettingChanges, has_path
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE
from nodrop.platforms.nvue.names import expand_numbers
from nodrop.platforms.nvue.tree import Path

_PathsAndValues = Iterator[tuple[Path, str]]


def change_bridging(draft: PendingSettingChanges, old_device: Device, new_device: Device) -> None:
    """Bring bonds, VLANs and their members of `new` into a file with those of `old`."""
    fields = ("vlans", "port_channels")
    if all(is_equal(getattr(old_device, field), getattr(new_device, field)) for field in fields):
        return
    if any(isinstance(getattr(device, field), Unknown) for field in fields for device in (old_device, new_device)):
        return
    before, after = (dict(_bridging_settings(draft, device)) for device in (old_device, new_device))
    new_objects = {path[:2] for path in after}
    for path in before:
        if path[:2] not in new_objects and path[0] == "interface" and (*path[:2], "type") in before:
            draft.unset(*path[:2])
        elif path not in after:
            draft.unset(*path)
    for path, value in after.items():
        if before.get(path) != value and not (value == PRESENT_WITHOUT_VALUE and has_path(draft.top.node, path)):
            draft.set(*path, to=value)


def _bridging_settings(draft: PendingSettingChanges, device: Device) -> _PathsAndValues:
    """Yield the settings of bonds and VLANs, each with its value."""
    vlans: Any = device.vlans
    bonds: Any = device.port_channels
    if vlans:
        yield ("bridge", "domain", DEFAULT_BRIDGE_DOMAIN, "type"), "vlan-aware"
    for vlan in vlans:
        yield ("bridge", "domain", DEFAULT_BRIDGE_DOMAIN, "vlan", str(vlan.id)), PRESENT_WITHOUT_VALUE
        if vlan.mtu_bytes is not None:
            name = f"vlan{vlan.id}"
            yield from _common_interface_settings(draft, name, vlan)
            yield ("interface", name, "type"), "svi"
            yield ("interface", name, "vlan"), str(vlan.id)
    for bond in bonds:
        yield from _common_interface_settings(draft, bond.name, bond)
        path = ("interface", bond.name, "bond")
        if bond.fallback:
            yield (*path, "lacp-bypass"), draft.say.on
        yield (*path, "lacp-rate"), "fast" if bond.fast_rate else "slow"
        for member in bond.members:
            yield (*path, "member", member), PRESENT_WITHOUT_VALUE
        yield (*path, "mode"), "lacp"
        yield ("interface", bond.name, "type"), "bond"
    for text in render_bridge_ports(device).values():
        for line in text.splitlines():
            head, equals, value = line.partition(" = ")
            *path_to, last = head.split(" ")
            keys = map(str, expand_numbers(last)) if path_to[-1] == "vlan" else (last,)
            yield from (((*path_to, key), value if equals else PRESENT_WITHOUT_VALUE) for key in keys)


def _common_interface_settings(draft: PendingSettingChanges, name: str, row: Any) -> _PathsAndValues:
    path = ("interface", name)
    if row.description is not None:
        yield (*path, "description"), row.description
    for address in row.addresses:
        family = "ip" if draft.say.old else "ipv6" if ":" in address else "ipv4"
        yield (*path, family, "address", address), PRESENT_WITHOUT_VALUE
    if row.vrf:
        yield (*path, *(("ip", "vrf") if draft.say.old else ("vrf",))), row.vrf
    if row.mtu_bytes is not None and not isinstance(row.mtu_bytes, Unknown):
        yield (*path, "link", "mtu"), str(row.mtu_bytes)
    yield (*path, "link", "state"), "up" if row.enabled is not False else "down"
