"""Where bonds and VLANs stand in an NVUE file: in the words of their interface, and of the bridge."""

from collections.abc import Iterator

from nodrop.platforms.nvue.read_overlays import ETHERNET_SEGMENT_PATH
from nodrop.platforms.nvue.read_ports import FileInterfaces
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path

NAME_PREFIX_BY_BRIDGING_PART = {"@port_channels": "", "@vlans": "vlan"}
"""By part of a device, how the names of its interfaces begin."""
_NVUE_PATH_BY_FIELD: dict[str, Path] = {
    "enabled": ("link", "state"),
    "mtu_bytes": ("link", "mtu"),
    "fast_rate": ("bond", "lacp-rate"),
    "fallback": ("bond", "lacp-bypass"),
    "members": ("bond", "member"),
    "segment": ETHERNET_SEGMENT_PATH,
    "description": ("description",),
}


def bond_and_vlan_paths(
    root_view: ConfigNodeView, ports: FileInterfaces, area: str, remaining_path: Path
) -> Iterator[Path]:
    """Yield the paths at which a part of a bond or VLAN may stand, the most exact first, but for addresses and VRF."""
    key, field, member = (*remaining_path, "", "", "")[:3]
    domains = tuple(root_view.below("bridge", "domain").node)
    if area == "@vlans" and field == "members" and member:
        for domain in domains:
            own_view = ports.view(member).below("bridge", "domain", domain)
            word = next((word for word in ("access", "untagged") if own_view.text(word) == key), "vlan")
            yield ("interface", member, "bridge", "domain", domain, *(("vlan", key) if word == "vlan" else (word,)))
    elif field in _NVUE_PATH_BY_FIELD:
        yield ("interface", NAME_PREFIX_BY_BRIDGING_PART[area] + key, *_NVUE_PATH_BY_FIELD[field])
    elif field == "virtual_addresses":
        own_name = NAME_PREFIX_BY_BRIDGING_PART[area] + key
        for family in ("ip", "ipv4", "ipv6"):
            yield from (("interface", own_name, family, word) for word in ("vrr", "vrrp"))
    if area == "@vlans" and field in ("", "members"):
        yield from (("bridge", "domain", domain, *(("vlan", key) if key else ())) for domain in domains)
