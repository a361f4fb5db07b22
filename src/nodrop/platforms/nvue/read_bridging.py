"""Bonds and the VLANs of a bridge: their members, and the switch's interfaces in them.

Sources: Cumulus Linux 5.16, Bonding (LACP at the fast rate by default) and VLAN-aware Bridge Mode (a port carries all
VLANs of its bridge with tags and VLAN 1 without, unless it has a list or is an access port).
"""

import re
from collections.abc import Iterator

from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural
from nodrop.platforms.nvue.names import names
from nodrop.platforms.nvue.read_overlays import segment
from nodrop.platforms.nvue.read_ports import Ports, addresses, vrf
from nodrop.platforms.nvue.read_values import View

VLAN_IDS = (1, 4094)
MOST_MEMBERS = 64
"""Of a bond: with more, all of its ports go down (Cumulus Linux release notes, 2823307)."""
NATIVE = 1
_BONDS = ("bond", "peerlink")
_SVI = re.compile(r"vlan([0-9]{1,4})")
_NONE = "none"
_ALL = "all"

Derived = dict[Subject, str]


def port_channels(root_view: View, ports: Ports, derived_values: Derived) -> tuple[PortChannel, ...] | Unknown:
    """Return the bonds, sorted by name; UNKNOWN if a bond uses no LACP, which the model does not hold."""
    bonds = []
    for name in sorted(ports.of_kind("bond", *_BONDS), key=natural):
        view = ports.view(name)
        bond = view.below("bond")
        if bond.text("mode") == "static":
            return UNKNOWN
        subject = (ports.config.device, "@port_channels", name)
        fast = bond.word("lacp-rate", {"fast": True, "slow": False})
        if fast is None:
            derived_values[*subject, "fast_rate"] = "LACP sends each second by default"
        link = ports.link(view)
        for field, reason in link.derived:
            if field in ("enabled", "mtu_bytes"):
                derived_values[*subject, field] = reason
        members = {member for key in bond.texts("member") for member in names(key)}
        if len(members) > MOST_MEMBERS:
            expected = f"{MOST_MEMBERS} at most: all of them go down when more are applied"
            ports.config.malformed((*bond.path, "member"), f"{len(members)} ports", expected)
        bonds.append(
            PortChannel(
                name=name,
                members=tuple(sorted(members, key=natural)),
                enabled=link.enabled,
                fast_rate=fast is not False,
                fallback=bond.flag("lacp-bypass") is True,
                mtu_bytes=link.mtu_bytes,
                addresses=addresses(view),
                vrf=vrf(view),
                description=view.text("description"),
                segment=segment(view, root_view),
            )
        )
    return tuple(bonds)


def vlans(root_view: View, ports: Ports, derived_values: Derived) -> tuple[Vlan, ...] | Unknown:
    """Return the VLANs of the bridge, sorted by number; UNKNOWN where there are several bridges."""
    of_port = {name: ports.view(name).below("bridge", "domain") for name in ports.of_kind("bridge")}
    domains = {
        *root_view.below("bridge", "domain").node,
        *(domain for view in of_port.values() for domain in view.node),
    }
    if len(domains) > 1:
        return UNKNOWN
    domain = next(iter(domains), "")
    bridge = root_view.below("bridge", "domain", domain)
    vlan_ids = {number for number, _ in _find_vlan_views(bridge)}
    members: dict[int, list[VlanMember]] = {number: [] for number in vlan_ids}
    for name in sorted(of_port, key=natural):
        for number, tagged in _vlan_memberships(of_port[name].below(domain), bridge, vlan_ids):
            members.setdefault(number, []).append(VlanMember(interface=name, tagged=tagged))
    svi_names = {*ports.of_kind("vlan", "svi"), *(name for name in ports.names() if name.startswith("vlan"))}
    gateways = {gateway: view for view in map(ports.view, svi_names) if (gateway := _svi_vlan(view)) is not None}
    return tuple(
        _build_vlan(number, tuple(members.get(number, ())), gateways.get(number), ports, derived_values)
        for number in sorted({*members, *gateways})
    )


def _find_vlan_views(view: View) -> Iterator[tuple[int, View]]:
    return (row for row in view.items_by_number("vlan", VLAN_IDS[1]) if row[0] >= VLAN_IDS[0])


def _vlan_memberships(port: View, bridge: View, bridge_vlans: set[int]) -> Iterator[tuple[int, bool]]:
    """Yield (VLAN, whether with a tag) of a port in the bridge."""
    if port.has("access") and port.text("access") not in (_NONE, "auto"):
        access = port.integer("access", *VLAN_IDS)
        if access is not None:
            yield access, False
        return
    stated = next((view for view in (port, bridge) if view.has("untagged")), None)
    native: int | None = NATIVE
    if stated is not None:
        native = None if stated.text("untagged") == _NONE else stated.integer("untagged", *VLAN_IDS)
    listed = port.has("vlan") and _ALL not in port.texts("vlan")
    for number in sorted({number for number, _ in _find_vlan_views(port)} if listed else bridge_vlans):
        if number != native:
            yield number, True
    if native is not None:
        yield native, False


def _svi_vlan(view: View) -> int | None:
    """Return the VLAN whose switch virtual interface an interface is; None if it is not an SVI."""
    name = _SVI.fullmatch(view.path[-1])
    if name is None and view.text("type") != "svi":
        return None
    if view.has("vlan"):
        return view.integer("vlan", *VLAN_IDS)
    return int(name[1]) if name else None


def _build_vlan(
    number: int, members: tuple[VlanMember, ...], gateway: View | None, ports: Ports, derived: Derived
) -> Vlan:
    if gateway is None:
        return Vlan(id=number, members=members)
    link = ports.link(gateway)
    for field, reason in link.derived:
        if field in ("enabled", "mtu_bytes"):
            derived[ports.config.device, "@vlans", str(number), field] = reason
    return Vlan(
        id=number,
        members=members,
        enabled=link.enabled,
        mtu_bytes=link.mtu_bytes,
        addresses=addresses(gateway),
        vrf=vrf(gateway),
        description=gateway.text("description"),
    )
