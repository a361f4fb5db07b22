"""Where bonds and VLANs stand in an NVUE file: in the words of their interface, and of the bridge."""

from collections.abc import Iterator

from nodrop.platforms.nvue.read_overlays import SEGMENT
from nodrop.platforms.nvue.read_ports import Ports
from nodrop.platforms.nvue.read_values import View
from nodrop.platforms.nvue.tree import Path

INTERFACES = {"@port_channels": "", "@vlans": "vlan"}
"""By part of a device, how the names of its interfaces begin."""
_WORDS: dict[str, Path] = {
    "enabled": ("link", "state"),
    "mtu_bytes": ("link", "mtu"),
    "fast_rate": ("bond", "lacp-rate"),
    "fallback": ("bond", "lacp-bypass"),
    "members": ("bond", "member"),
    "segment": SEGMENT,
    "description": ("description",),
}


def bridged_paths(root_view: View, ports: Ports, area: str, remaining_path: Path) -> Iterator[Path]:
    """Yield the paths at which a part of a bond or VLAN may stand, the most exact first, but for addresses and VRF."""
    key, field, member = (*remaining_path, "", "", "")[:3]
    domains = tuple(root_view.below("bridge", "domain").node)
    if area == "@vlans" and field == "members" and member:
        for domain in domains:
            own_view = ports.view(member).below("bridge", "domain", domain)
            word = next((word for word in ("access", "untagged") if own_view.text(word) == key), "vlan")
            yield ("interface", member, "bridge", "domain", domain, *(("vlan", key) if word == "vlan" else (word,)))
    elif field in _WORDS:
        yield ("interface", INTERFACES[area] + key, *_WORDS[field])
    if area == "@vlans" and field in ("", "members"):
        yield from (("bridge", "domain", domain, *(("vlan", key) if key else ())) for domain in domains)
