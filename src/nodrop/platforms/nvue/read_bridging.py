"""Bonds and the VLANs of a bridge: their members, and the switch's interfaces in them.

Sources: Cumulus Linux 5.16, Bonding (LACP at the fast rate by default) and VLAN-aware Bridge Mode (a port carries all
VLANs of its bridge with tags and VLAN 1 without, unless it has a list or is an access port).
"""

import re
from collections.abc import Iterator

from nodrop.model.addresses import address_of, network_of
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.read_overlays import ethernet_segment_of_bond
from nodrop.platforms.nvue.read_ports import (
    FileInterfaces,
    may_be_address,
    read_addresses,
    read_vrf_of_interface,
)
from nodrop.platforms.nvue.read_values import ConfigNodeView

VLAN_ID_RANGE = (1, 4094)
MOST_BOND_MEMBERS = 64
"""Of a bond: with more, all of its ports go down (Cumulus Linux release notes, 2823307)."""
DEFAULT_NATIVE_VLAN = 1
_BOND_INTERFACE_TYPES = ("bond", "peerlink")
_SVI_NAME_PATTERN = re.compile(r"vlan([0-9]{1,4})")
_NO_VLAN_WORD = "none"
_ALL_VLANS_WORD = "all"

ReasonByDerivedSubject = dict[Subject, str]


def read_port_channels(
    root_view: ConfigNodeView, ports: FileInterfaces, derived_values: ReasonByDerivedSubject
) -> tuple[PortChannel, ...] | Unknown:
    """Return the bonds, sorted by name; UNKNOWN if a bond uses no LACP, which the model does not hold."""
    bonds = []
    for name in sorted(ports.interfaces_of_type_or_with_setting("bond", *_BOND_INTERFACE_TYPES), key=natural_sort_key):
        view = ports.view(name)
        bond = view.below("bond")
        if bond.text("mode") == "static":
            return UNKNOWN
        subject = (ports.config.device, "@port_channels", name)
        fast = bond.meaning_of_word("lacp-rate", {"fast": True, "slow": False})
        if fast is None:
            derived_values[*subject, "fast_rate"] = "LACP sends each second by default"
        link = ports.link(view)
        for field, reason in link.derived:
            if field in ("enabled", "mtu_bytes"):
                derived_values[*subject, field] = reason
        members = {member for key in bond.texts("member") for member in expand_names(key)}
        if len(members) > MOST_BOND_MEMBERS:
            expected = f"{MOST_BOND_MEMBERS} at most: all of them go down when more are applied"
            ports.config.remark_malformed_value((*bond.path, "member"), f"{len(members)} ports", expected)
        bonds.append(
            PortChannel(
                name=name,
                members=tuple(sorted(members, key=natural_sort_key)),
                enabled=link.enabled,
                fast_rate=fast is not False,
                fallback=bond.flag("lacp-bypass") is True,
                mtu_bytes=link.mtu_bytes,
                addresses=read_addresses(view),
                vrf=read_vrf_of_interface(view),
                description=view.text("description"),
                segment=ethernet_segment_of_bond(view, root_view),
            )
        )
    return tuple(bonds)


def read_vlans(
    root_view: ConfigNodeView, ports: FileInterfaces, derived_values: ReasonByDerivedSubject
) -> tuple[Vlan, ...] | Unknown:
    """Return the VLANs of the bridge, sorted by number; UNKNOWN where there are several bridges."""
    of_port = {
        name: ports.view(name).below("bridge", "domain") for name in ports.interfaces_of_type_or_with_setting("bridge")
    }
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
    for name in sorted(of_port, key=natural_sort_key):
        for number, tagged in _vlan_memberships(of_port[name].below(domain), bridge, vlan_ids):
            members.setdefault(number, []).append(VlanMember(interface=name, tagged=tagged))
    svi_names = {
        *ports.interfaces_of_type_or_with_setting("vlan", "svi"),
        *(name for name in ports.names() if name.startswith("vlan")),
    }
    gateways = {gateway: view for view in map(ports.view, svi_names) if (gateway := _svi_vlan(view)) is not None}
    return tuple(
        _build_vlan(number, tuple(members.get(number, ())), gateways.get(number), ports, derived_values)
        for number in sorted({*members, *gateways})
    )


def _find_vlan_views(view: ConfigNodeView) -> Iterator[tuple[int, ConfigNodeView]]:
    return (row for row in view.items_by_number("vlan", VLAN_ID_RANGE[1]) if row[0] >= VLAN_ID_RANGE[0])


def _vlan_memberships(
    port: ConfigNodeView, bridge: ConfigNodeView, bridge_vlans: set[int]
) -> Iterator[tuple[int, bool]]:
    """Yield (VLAN, whether with a tag) of a port in the bridge."""
    if port.has("access") and port.text("access") not in (_NO_VLAN_WORD, "auto"):
        access = port.integer("access", *VLAN_ID_RANGE)
        if access is not None:
            yield access, False
        return
    stated = next((view for view in (port, bridge) if view.has("untagged")), None)
    native: int | None = DEFAULT_NATIVE_VLAN
    if stated is not None:
        native = None if stated.text("untagged") == _NO_VLAN_WORD else stated.integer("untagged", *VLAN_ID_RANGE)
    listed = port.has("vlan") and _ALL_VLANS_WORD not in port.texts("vlan")
    for number in sorted({number for number, _ in _find_vlan_views(port)} if listed else bridge_vlans):
        if number != native:
            yield number, True
    if native is not None:
        yield native, False


def _svi_vlan(view: ConfigNodeView) -> int | None:
    """Return the VLAN whose switch virtual interface an interface is; None if it is not an SVI."""
    name = _SVI_NAME_PATTERN.fullmatch(view.path[-1])
    if name is None and view.text("type") != "svi":
        return None
    if view.has("vlan"):
        return view.integer("vlan", *VLAN_ID_RANGE)
    return int(name[1]) if name else None


def _build_vlan(
    number: int,
    members: tuple[VlanMember, ...],
    gateway: ConfigNodeView | None,
    ports: FileInterfaces,
    derived: ReasonByDerivedSubject,
) -> Vlan:
    if gateway is None:
        return Vlan(id=number, members=members)
    link, own_addresses = ports.link(gateway), read_addresses(gateway)
    for field, reason in link.derived:
        if field in ("enabled", "mtu_bytes"):
            derived[ports.config.device, "@vlans", str(number), field] = reason
    return Vlan(
        id=number,
        members=members,
        enabled=link.enabled,
        mtu_bytes=link.mtu_bytes,
        addresses=own_addresses,
        virtual_addresses=_read_virtual_addresses(gateway, own_addresses),
        vrf=read_vrf_of_interface(gateway),
        description=gateway.text("description"),
    )


def _read_virtual_addresses(gateway: ConfigNodeView, own_addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Return the addresses of VRR and VRRP; one of VRRP has no length and lies in a subnet of the switch."""
    found_addresses: dict[str, None] = {}
    for family in ("ip", "ipv4", "ipv6"):
        vrr, vrrp = gateway.below(family, "vrr"), gateway.below(family, "vrrp")
        if not _is_switched_off(vrr):
            found_addresses.update(dict.fromkeys(filter(may_be_address, vrr.texts("address"))))
        for _, router in vrrp.below("virtual-router").items() if not _is_switched_off(vrrp) else ():
            shared = filter(may_be_address, router.texts("address"))
            found_addresses.update((_with_length_of_subnet(address, own_addresses), None) for address in shared)
    return tuple(found_addresses)


def _is_switched_off(view: ConfigNodeView) -> bool:
    """Whether a protocol of virtual addresses is off on an interface."""
    return bool({view.text(key) for key in ("enable", "state", "vrr-state")} & {"off", "disabled", "down"})


def _with_length_of_subnet(address: str, own_addresses: tuple[str, ...]) -> str:
    """Return an address with the length of the subnet of the switch that it lies in, where it has none."""
    number = None if "/" in address else address_of(address)
    if number is None:
        return address
    subnets = [subnet for own in own_addresses if (subnet := network_of(own)) is not None]
    return next((f"{address}/{subnet.prefixlen}" for subnet in subnets if number in subnet), address)
