"""The groups of hosts: from hosts that are stated, else from the ports of switches that lead to no switch."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from nodrop.design.endpoints import HostPortAttachment, attachments_of_host_ports
from nodrop.design.topology import ROLES_BY_TIER
from nodrop.hardware import nic, nics
from nodrop.importing.described_hosts import (
    HostFacingPort,
    HostGroup,
    join_hosts_without_numbers,
    number_host_ports,
    split_hosts_by_switches,
)
from nodrop.importing.hosts import number_of_host
from nodrop.importing.parts import (
    DerivedIntentPart,
    KeyPath,
    KeyTree,
    MissingIntentKey,
    facts_not_none,
    format_number_ranges,
)
from nodrop.importing.tier_view import (
    ASSUMED_PORT_SPEED_MBPS,
    CableLookup,
    TierView,
    is_port_facing,
    most_common_value,
)
from nodrop.importing.uplinks import UNSTATED_VALUE_REASON, are_on_copper, derive_cable_length_and_medium
from nodrop.intent.schema import EndpointGroup
from nodrop.model.bridging import Vlan
from nodrop.model.fabric import Device, End, HostPortSpread, Interface, Port
from nodrop.model.far_ends import DEFAULT_HOST_GROUP_NAME, parse_host_label, parse_host_name
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import natural_sort_key
from nodrop.report.names import format_name_list
from nodrop.units import show_speed


def derive_endpoints(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return all groups of hosts, and the switches' panel ports for them."""
    groups, guess, left = _find_endpoint_groups(tier_view, cables)
    left += _describe_ports_to_unread_peers(tier_view, cables)
    lowest = tier_view.groups_of_tier(0)
    if not groups:
        why = "no file says which hosts there are"
        name = lowest[0].name if lowest else ROLES_BY_TIER[0]
        ports: KeyPath = ("topology", "groups", name, "ports", "endpoints")
        return DerivedIntentPart(
            lacking={
                ("endpoints",): MissingIntentKey(why, _make_example_endpoints(tier_view)),
                ports: MissingIntentKey(why, "1-16"),
            },
            left=tuple(left),
        )
    keys: KeyTree = {}
    guessed: dict[KeyPath, str] = {}
    panels: dict[str, set[int]] = {}
    for group in groups:
        at: KeyPath = ("endpoints", group.name)
        alone = sum(other.switches is group.switches for other in groups) == 1
        group_keys, group_guesses, group_extras = _derive_endpoint_group(cables, group, at, alone=alone)
        keys[group.name] = ({"leaves": group.switches.name} if len(lowest) > 1 else {}) | group_keys
        panels.setdefault(group.switches.name, set()).update(group_extras.panels)
        guessed |= group_guesses
        left += group_extras.left
    if guess:
        guessed["endpoints",] = guess
    ports_of = {name: {"ports": {"endpoints": format_number_ranges(own_panels)}} for name, own_panels in panels.items()}
    return DerivedIntentPart(
        keys={"topology": {"groups": ports_of}, "endpoints": keys},
        guessed=guessed,
        left=tuple(left),
        host_names=dict(name for group in reversed(groups) for name in group.host_names),
    )


def _find_endpoint_groups(sight: TierView, cables: CableLookup) -> tuple[list[HostGroup], str, list[str]]:
    """Return the groups, how they were guessed where nobody states hosts, and what of them is not carried."""
    if sight.fabric.hosts:
        return _groups_of_stated_hosts(sight, cables), "", []
    plugs, unnumbered = _find_host_facing_ports(sight, cables)
    unnamed = unnumbered.pop("", [])
    groups = [
        group
        for name, own_plugs in sorted(plugs.items())
        for group in split_hosts_by_switches(sight, name, number_host_ports(own_plugs), None)
    ]
    groups = join_hosts_without_numbers(sight, groups, unnumbered, _has_host_layout)
    if unnamed and not groups:
        groups = [
            group
            for name, own_plugs in _group_host_facing_ports_by_kind(unnamed)
            for group in split_hosts_by_switches(sight, name, tuple(own_plugs), None)
        ]
        groups = [replace(group, plugs=_number_ports_as_one_port_hosts(group.plugs)) for group in groups]
        return groups, "no file names hosts: one with one port is taken to be at every port that leads to no switch", []
    remarks = [
        f"{plug.box.was} {plug.interface.name}: described as {plug.interface.description}, in which is no host; "
        "this intent has nothing there"
        for plug in unnamed
        if isinstance(plug.interface.description, str) and plug.interface.description
    ]
    return groups, "hosts were taken from descriptions and neighbor tables", remarks


def _has_host_layout(group: HostGroup) -> bool:
    """Whether a rule of an intent gives hosts their ports."""
    return _find_host_layout(group, most_common_value(_port_count_by_host(group.plugs).values()) or 1).fits


def _find_host_facing_ports(
    sight: TierView, cables: CableLookup
) -> tuple[dict[str, list[HostFacingPort]], dict[str, list[HostFacingPort]]]:
    """Return the ports towards hosts by the group that names with numbers say, and the others by the host's name."""
    plugs: dict[str, list[HostFacingPort]] = {}
    unnumbered: dict[str, list[HostFacingPort]] = {}
    far = {end: (link.b if end == link.a else link.a) for link in cables.links for end in (link.a, link.b)}
    for box in sight.host_facing_switches:
        beyond, described = cables.find_ports_to_unread_bgp_peers(box.device.name), _description_getter(box.device)
        for port in box.device.interfaces:
            near_end = End(box.device.name, port.name)
            if (
                near_end in cables.switch_link_ends
                or port.name in beyond
                or not isinstance(port.port, Port)
                or not _may_face_host(port)
            ):
                continue
            splits = box.split_count_of_panel(port.port.panel)
            peer = far.get(near_end)
            text = peer.node if peer else described(port)
            group, number = parse_host_name(text) or ("", 0)
            label = parse_host_label(text, is_neighbor=peer is not None)
            plug = HostFacingPort(
                box=box, port=port.port, splits=splits, interface=port, host=number, host_port=1, name=label
            )
            (plugs.setdefault(group, []) if group else unnumbered.setdefault(label, [])).append(plug)
    return plugs, unnumbered


def _make_example_endpoints(sight: TierView) -> KeyTree:
    """Return hosts as they may be: sixteen at every pair of switches, with ports of the switches' speed."""
    ports = (port.speed_mbps for box in sight.host_facing_switches for port in box.device.interfaces)
    speed = most_common_value(port for port in ports if isinstance(port, int)) or ASSUMED_PORT_SPEED_MBPS
    last = 16 * max(len(sight.host_facing_switches) // 2, 1)
    length, media_name, _ = derive_cable_length_and_medium((), (), speed, ())
    return {
        "gpu": {
            "ids": f"1-{last}", "gpus": 8, "nic": _choose_nic(speed), "ports": 2, "leaf_group": 16,
            "speed": show_speed(speed), "media": media_name, "length": f"{length}m",
        },
    }  # fmt: skip


def _describe_ports_to_unread_peers(sight: TierView, cables: CableLookup) -> Iterator[str]:
    """Yield the ports of switches with BGP sessions to unread devices, where no other port is taken for an uplink."""
    if sight.has_upper_tiers or sight.fabric.hosts:
        return
    for box in sight.host_facing_switches:
        if names := cables.find_ports_to_unread_bgp_peers(box.device.name):
            ports = format_name_list(sorted(names, key=natural_sort_key))
            yield f"{box.was} {ports}: BGP sessions with switches whose files are not here"


def _description_getter(device: Device) -> Callable[[Interface], object]:
    """Return a function that gives the description of a port's far end: the port's own, else that of its bundle."""
    by_member = {name: channel.description for channel in known_rows(device.port_channels) for name in channel.members}
    return lambda port: port.description if isinstance(port.description, str) else by_member.get(port.name)


def _may_face_host(port: Interface) -> bool:
    if port.enabled is False or is_port_facing(port, "fabric"):
        return False
    return is_port_facing(port, "host") or isinstance(port.description, str) or port.enabled is True


def _group_host_facing_ports_by_kind(plugs: Iterable[HostFacingPort]) -> Iterator[tuple[str, list[HostFacingPort]]]:
    """Yield groups of ports that are split alike and in the same VLAN, with names that describe them."""
    plugs = list(plugs)
    vlans = _access_vlans_of_host_facing_ports(plugs)
    kinds: dict[tuple[int | None, int], list[HostFacingPort]] = {}
    for plug in plugs:
        kinds.setdefault((vlans[plug.box.device.name].get(plug.interface.name), plug.splits), []).append(plug)
    split = len({into for _, into in kinds}) > 1
    placed = len({vlan for vlan, _ in kinds}) > 1
    for (vlan, splits), own_plugs in sorted(kinds.items(), key=lambda item: min(own_plug.port for own_plug in item[1])):
        words = (f"vlan{vlan}" if placed and vlan else "", f"{splits}x" if split and splits > 1 else "")
        yield "-".join((DEFAULT_HOST_GROUP_NAME, *filter(None, words))), own_plugs


def _access_vlans(device: Device) -> dict[str, int]:
    """Return the VLANs with addresses that ports are in without tags, by themselves or by a bundle."""
    bundles = {port_channel.name: port_channel.members for port_channel in known_rows(device.port_channels)}
    return {
        name: vlan.id
        for vlan in known_rows(device.vlans)
        if vlan.addresses
        for member in _untagged_members(vlan)
        for name in (member, *bundles.get(member, ()))
    }


def _access_vlans_of_host_facing_ports(plugs: Iterable[HostFacingPort]) -> dict[str, dict[str, int]]:
    """Return the access VLAN of each port, of every switch that ports are of."""
    devices = {plug.box.device.name: plug.box.device for plug in plugs}
    return {name: _access_vlans(device) for name, device in devices.items()}


def _number_ports_as_one_port_hosts(plugs: tuple[HostFacingPort, ...]) -> tuple[HostFacingPort, ...]:
    """Return ports as if a host of one port were at each, as many numbers for each switch as any has."""
    slots = sorted({(plug.port.panel, plug.port.split) for plug in plugs})
    slot_count = len(slots)
    return tuple(
        replace(
            plug,
            host=(plug.box.id - 1) * slot_count + slots.index((plug.port.panel, plug.port.split)) + 1,
            host_port=1,
        )
        for plug in plugs
    )


def _groups_of_stated_hosts(sight: TierView, cables: CableLookup) -> list[HostGroup]:
    hosts = {host.name: host for host in sight.fabric.hosts}
    boxes = {box.device.name: box for box in sight.host_facing_switches}
    plugs: dict[str, list[HostFacingPort]] = {}
    for link in cables.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            host, box = hosts.get(far.node), boxes.get(near.node)
            port = cables.port(near)
            if host is None or box is None or port is None or not isinstance(port.port, Port):
                continue
            names = [host_port.name for host_port in host.ports]
            plugs.setdefault(host.group, []).append(
                HostFacingPort(
                    box=box, port=port.port, splits=box.split_count_of_panel(port.port.panel), interface=port,
                    host=number_of_host(host), host_port=names.index(far.port) + 1 if far.port in names else 1,
                )
            )  # fmt: skip
    first_hosts = {host.group: host for host in reversed(sight.fabric.hosts)}
    return [
        group
        for name, own_plugs in sorted(
            plugs.items(), key=lambda item: (min(plug.port for plug in item[1]), natural_sort_key(item[0]))
        )
        for group in split_hosts_by_switches(
            sight, name, tuple(sorted(own_plugs, key=lambda plug: (plug.host, plug.host_port))), first_hosts[name]
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PanelsAndLeftovers:
    panels: tuple[int, ...]
    left: tuple[str, ...]


def _derive_endpoint_group(
    cables: CableLookup, group: HostGroup, key_path: KeyPath, *, alone: bool
) -> tuple[KeyTree, dict[KeyPath, str], _PanelsAndLeftovers]:
    ports = most_common_value(_port_count_by_host(group.plugs).values()) or 1
    layout = _find_host_layout(group, ports)
    spread, panels, together = layout.shape.spread, layout.panels, layout.shape.ports_per_leaf
    split = most_common_value(plug.splits for plug in group.plugs) or 1
    lanes = most_common_value([plug.box.reduced_lanes_of_port(plug.interface) for plug in group.plugs])
    guessed_speed: dict[KeyPath, str] = {}
    speed = most_common_value(
        plug.interface.speed_mbps for plug in group.plugs if isinstance(plug.interface.speed_mbps, int)
    )
    if speed is None:
        speed = ASSUMED_PORT_SPEED_MBPS
        guessed_speed = {(*key_path, "speed"): UNSTATED_VALUE_REASON}
    ends = {End(plug.box.device.name, plug.interface.name) for plug in group.plugs}
    links = [link for link in cables.links if link.a in ends or link.b in ends]
    facing = [plug.interface for plug in group.plugs]
    length, media_name, guessed = derive_cable_length_and_medium(
        links, facing, speed, key_path, copper=are_on_copper(group.switches.boxes, facing)
    )
    card = group.host.nic if group.host and isinstance(group.host.nic, str) else None
    if card is None:
        card = _choose_nic(speed)
        guessed[(*key_path, "nic")] = UNSTATED_VALUE_REASON
    guessed |= guessed_speed
    vlan = _vlan_of_group(group)
    own_facts = facts_not_none(
        ids=format_number_ranges(group.host_numbers),
        gpus=group.host.gpus or None if group.host else None,
        nic=card,
        ports=ports if ports > 1 else None,
        spread=None if spread == "leaves" else spread,
        ports_per_leaf=together if together > 1 else None,
        leaf_group=layout.shape.leaf_group,
        leaf_ports=None if alone else format_number_ranges(panels),
        split=split if split > 1 else None,
        lanes=lanes,
        vlan=vlan,
        bond=True if ports > 1 and spread == "one-leaf" and _is_group_bonded(group) else None,
        speed=show_speed(speed),
        media=media_name,
        length=f"{length}m",
    )
    remark = f"on which ports of switches the hosts of {group.name} are: no rule of an intent gives them out so"
    return own_facts, guessed, _PanelsAndLeftovers(panels=panels, left=() if layout.fits else (remark,))


def _choose_nic(speed: int | None) -> str:
    """Return the first NIC of the catalogue that has a speed, of those with most speeds."""
    able = [name for name in nics() if speed is None or speed in nic(name).lanes]
    return max(able or nics(), key=lambda name: (name == "ConnectX-7", len(nic(name).lanes)))


def _port_count_by_host(plugs: Iterable[HostFacingPort]) -> Mapping[int, int]:
    ports_by_host: dict[int, int] = {}
    for plug in plugs:
        ports_by_host[plug.host] = max(ports_by_host.get(plug.host, 0), plug.host_port)
    return ports_by_host


@dataclass(frozen=True, slots=True, kw_only=True)
class _HostLayout:
    """How hosts are spread, and on which panel ports."""

    shape: EndpointGroup
    panels: tuple[int, ...]
    fits: bool
    """Whether all hosts are so."""


def _find_host_layout(group: HostGroup, ports: int) -> _HostLayout:
    stated_spread = group.host.spread if group.host else None
    first_host, most = min(group.host_numbers), max(group.host_numbers)
    ports_by_switch = Counter(plug.box.id for plug in group.plugs if plug.host == first_host)
    by_ports = "one-leaf" if ports == 1 or len(ports_by_switch) == 1 else "leaves"
    spread = by_ports if stated_spread is None or isinstance(stated_spread, Unknown) else stated_spread
    together = 1 if spread == "one-leaf" else max(ports_by_switch.values(), default=1)
    spots = {(plug.host, plug.host_port): plug for plug in group.plugs}
    for sharing in range(1, min(most, 4096) + 1):
        shape = _make_endpoint_shape(group.host_numbers, ports, spread, together, sharing)
        if all(
            (host_plug := spots.get(place[:2])) is None or host_plug.box.id == place.switch
            for place in attachments_of_host_ports(shape)
        ):
            panels = _panels_of_hosts(spots, list(attachments_of_host_ports(shape)))
            if panels is not None:
                return _HostLayout(shape=shape, panels=panels, fits=True)
    shape = _make_endpoint_shape(group.host_numbers, ports, spread, 1, most)
    used = tuple(sorted({plug.port.panel for plug in group.plugs}))
    return _HostLayout(shape=shape, panels=used, fits=False)


def _make_endpoint_shape(
    ids: tuple[int, ...], ports: int, spread: str, ports_per_leaf: int, leaf_group: int
) -> EndpointGroup:
    """Return what `attachments_of_host_ports` asks of a group, and no more."""
    return EndpointGroup.model_construct(
        ids=ids,
        ports=ports,
        spread=cast("HostPortSpread", spread),
        ports_per_leaf=ports_per_leaf,
        leaf_group=leaf_group,
        nic="",
        speed=0,
        media="",
        length=1,
    )


def _panels_of_hosts(
    spots: Mapping[tuple[int, int], HostFacingPort], places: list[HostPortAttachment]
) -> tuple[int, ...] | None:
    """Return panel ports whose parts in turn are those at which the hosts are; None where there are none such."""
    at: dict[int, HostFacingPort] = {}
    for place in places:
        plug = spots.get((place.host, place.host_port))
        if plug is not None and at.setdefault(place.slot, plug).port != plug.port:
            return None
    splits = {placed_plug.splits for placed_plug in at.values()}
    if len(splits) != 1:
        return None
    (into,) = splits
    panels: dict[int, int] = {}
    for slot, plug in at.items():
        position, split_index = divmod(slot, into)
        if plug.port.split != split_index or panels.setdefault(position, plug.port.panel) != plug.port.panel:
            return None
    return _list_panels_by_position_filling_gaps(panels)


def _list_panels_by_position_filling_gaps(panels: Mapping[int, int]) -> tuple[int, ...] | None:
    """Return a sorted list with panel ports at their places, those between them filled up."""
    result: list[int] = []
    for place in range(max(panels) + 1):
        panel = panels.get(place)
        if panel is None:
            after = next((next_panel for spot, next_panel in sorted(panels.items()) if spot > place))
            remaining_panel = next(spot for spot in sorted(panels) if spot > place) - place
            panel = result[-1] + 1 if result else after - remaining_panel
        if panel < 1 or (result and panel <= result[-1]):
            return None
        result.append(panel)
    return tuple(result)


def _vlan_of_group(group: HostGroup) -> KeyTree | None:
    """Return the number of a VLAN that the group's ports are in; its pool is found with the other pools."""
    vlans = _access_vlans_of_host_facing_ports(group.plugs)
    number = most_common_value(
        vlan for plug in group.plugs if (vlan := vlans[plug.box.device.name].get(plug.interface.name))
    )
    return None if number is None else {"id": number}


def _untagged_members(vlan: Vlan) -> set[str]:
    return {member.interface for member in vlan.members if not member.tagged}


def _is_group_bonded(group: HostGroup) -> bool:
    if group.host and any(port.bond for port in group.host.ports):
        return True
    members = {
        (box.device.name, member)
        for box in group.switches.boxes
        for channel in known_rows(box.device.port_channels)
        for member in channel.members
    }
    return any((plug.box.device.name, plug.interface.name) in members for plug in group.plugs)
