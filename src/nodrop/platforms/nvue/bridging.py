"""Settings of ports and bonds as ports of the bridge, as statements."""

from nodrop.model.fabric import Device
from nodrop.model.states import require_fact
from nodrop.platforms.kit.rendering import EscapedText
from nodrop.platforms.nvue.spelling import format_numbers

DEFAULT_BRIDGE_DOMAIN = "br_default"
"""The bridge that has all VLANs: the one that every switch begins with."""


def render_bridge_ports(device: Device) -> dict[str, EscapedText]:
    """Return the bridge settings by port or bond: access to one VLAN, or the VLANs that it tags."""
    untagged: dict[str, int] = {}
    tagged: dict[str, list[int]] = {}
    for vlan in require_fact(device.vlans):
        for member in vlan.members:
            if member.tagged:
                tagged.setdefault(member.interface, []).append(vlan.id)
            else:
                untagged[member.interface] = vlan.id
    bridge_ports = {}
    for name in {*untagged, *tagged}:
        start = f"interface {name} bridge domain {DEFAULT_BRIDGE_DOMAIN} "
        if name in tagged:
            ids = format_numbers(tagged[name])
            bridge_ports[name] = EscapedText(f"{start}untagged = {untagged.get(name, 'none')}\n{start}vlan {ids}\n")
        else:
            bridge_ports[name] = EscapedText(f"{start}access = {untagged[name]}\n")
    return bridge_ports
