"""What spans several switches: MLAG, Ethernet segments of EVPN and VXLAN, as facts for rules, and where they stand.

Sources: Cumulus Linux 5.13 and 5.17, Multi-Chassis Link Aggregation, EVPN Multihoming, VXLAN (DSCP of tunnels);
exported configurations of 5.13.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.overlays import MultiChassis, Tunnel
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.nvue.read_ports import FileInterfaces
from nodrop.platforms.nvue.read_values import ConfigNodeView, is_on
from nodrop.platforms.nvue.tree import Path
from nodrop.units import parse_whole_number

OVERLAY_DEVICE_PARTS = frozenset({"@multi_chassis", "@tunnels"})
"""Parts of a device that are looked for here."""
VXLAN_PATH: Path = ("nve", "vxlan")
ETHERNET_SEGMENT_PATH: Path = ("evpn", "multihoming", "segment")

_ENCAPSULATION_DSCP_WORDS = {"copy": "uniform", "set": "pipe", "derive": "derived"}
"""What becomes of the DSCP when a packet is wrapped; unless it is said, it is derived from the switch priority."""
_DECAPSULATION_DSCP_WORDS = {"copy": "copied", "preserve": "kept", "derive": "derived"}
"""What it is when the packet is unwrapped, with the same default."""
DSCP_KEY_AND_WORDS_BY_FIELD: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "dscp_mode": ("encapsulation", {value: word for word, value in _ENCAPSULATION_DSCP_WORDS.items()}),
    "dscp_after": ("decapsulation", {value: word for word, value in _DECAPSULATION_DSCP_WORDS.items()}),
}
"""By the field of a tunnel, where it stands and how its values are spelt."""


def read_multi_chassis(root_view: ConfigNodeView, ports: FileInterfaces) -> MultiChassis | None:
    """Return what pairs the switch with another by MLAG; None where nothing does."""
    node = root_view.below("mlag")
    if not node or is_on(node) is False:
        return None
    return MultiChassis(peer_link=next(_peer_links(ports), None), port_channels=tuple(_mlag_bonds(ports)))


def read_tunnels(root_view: ConfigNodeView) -> tuple[Tunnel, ...]:
    """Return the switch's end of all VXLAN tunnels, if it has one."""
    node = root_view.below(*VXLAN_PATH)
    if not node or is_on(node) is False:
        return ()
    outer: Any = node.below("encapsulation", "dscp").meaning_of_word("action", _ENCAPSULATION_DSCP_WORDS) or "derived"
    inner: Any = node.below("decapsulation", "dscp").meaning_of_word("action", _DECAPSULATION_DSCP_WORDS) or "derived"
    return (Tunnel(name=VXLAN_PATH[-1], kind="vxlan", dscp_mode=outer, dscp_after=inner),)


def ethernet_segment_of_bond(bond: ConfigNodeView, root_view: ConfigNodeView) -> str | None:
    """Return the name of a bond's Ethernet segment: its identifier, or the system's MAC address and a number."""
    node = bond.below(*ETHERNET_SEGMENT_PATH)
    if not node or is_on(node) is False:
        return None
    mac = node.text("mac-address") or root_view.below(*ETHERNET_SEGMENT_PATH).text("mac-address")
    id_parts = (mac, node.text("local-id"))
    return node.text("identifier") or "/".join(id_part for id_part in id_parts if id_part) or None


def overlay_paths(ports: FileInterfaces, line_head: str, path: Path) -> Iterator[Path]:
    """Yield the paths at which a part may stand, the most exact first; `line_head` is one of `OVERLAY_DEVICE_PARTS`."""
    field, key = (*path, "", "")[:2]
    if line_head == "@tunnels":
        for field, direction in (("dscp_mode", "encapsulation"), ("dscp_after", "decapsulation")):
            if key == field:
                yield (*VXLAN_PATH, direction, "dscp", "action")
        yield VXLAN_PATH
        return
    if field == "peer_link":
        yield from (("interface", name, "bond") for name in _peer_links(ports))
    elif field == "port_channels":
        number = parse_whole_number(key) or 0
        yield from (("interface", name, "bond", "mlag", "id") for name in list(_mlag_bonds(ports))[number : number + 1])
    yield ("mlag",)


def _bond_views(ports: FileInterfaces) -> Iterator[tuple[str, ConfigNodeView]]:
    for name in sorted(ports.names(), key=natural_sort_key):
        view = ports.view(name)
        if view.has("bond"):
            yield name, view


def _peer_links(ports: FileInterfaces) -> Iterator[str]:
    """Yield the bond between the two switches of a pair."""
    return (name for name, view in _bond_views(ports) if view.text("type") == "peerlink" or name == "peerlink")


def _mlag_bonds(ports: FileInterfaces) -> Iterator[str]:
    """Yield the bonds whose other half is on the other switch of a pair."""
    for name, view in _bond_views(ports):
        own_view = view.below("bond", "mlag")
        if own_view.has("id") and is_on(own_view) is not False:
            yield name
