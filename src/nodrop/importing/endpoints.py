"""The groups of hosts: from hosts that are stated, else from the leaves' ports that lead to no switch."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from nodrop.design.endpoints import HostPortPlace, host_port_places
from nodrop.hardware import nic, nics
from nodrop.importing.hosts import number_of_host
from nodrop.importing.parts import Found, Keys, Lack, Tree, collect_facts, numbers
from nodrop.importing.tier_view import SPEED_MBPS, Cables, TierView, faces, usual
from nodrop.importing.uplinks import UNSAID, cable, on_copper
from nodrop.intent.schema import Endpoints
from nodrop.model.bridging import Vlan
from nodrop.model.fabric import Device, End, Host, Interface, Port, Spread
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import natural
from nodrop.report.names import format_name_list
from nodrop.units import show_speed

_HOST = re.compile(r"(?i)^(?:to[-_ :]+|link to +)?([a-z][a-z0-9_.-]{0,99}?[-_.]?)0{0,9}([0-9]{1,6})$")
"""A host's name: `gpu3`, `to_server01`, `su-02-node-07`."""
_PORT = re.compile(r"(?i)[-_.](?:eth|nic|port|p|en[ops]|mlx|bond|hca|rail|roce|if)[a-z0-9_.-]{0,99}$")
"""What of a description is a port of the host: `-eth0` of `gpu3-eth0`, as is what follows a colon, slash or space."""
_NOT_HOSTS = re.compile(r"(?i)(leaf|spine|tor|swp|ethernet|eth|etp|port|uplink|router|sw|mlag|peer)[-_]?$")
UNNAMED = "host"
"""What a group is called of which nothing says a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plug:
    """A port of a leaf towards a host."""

    leaf: int
    port: Port
    splits: int
    interface: Interface
    host: int
    host_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Hosts of a kind, with the ports of leaves that they are at."""

    name: str
    plugs: tuple[Plug, ...]
    host: Host | None
    """One of them, where hosts are stated."""

    @property
    def ids(self) -> tuple[int, ...]:
        """The numbers of the hosts."""
        return tuple(sorted({plug.host for plug in self.plugs}))


def endpoints(tier_view: TierView, cables: Cables) -> Found:
    """Return all groups of hosts, and the leaves' panel ports for them."""
    groups, guess = _find_endpoint_groups(tier_view, cables)
    unread_peers = list(_ports_to_unread_peers(tier_view, cables))
    if not groups:
        why = "no file says which hosts there are"
        ports: Keys = ("topology", "leaves", "ports", "endpoints")
        return Found(
            lacking={("endpoints",): Lack(why, _make_example_endpoints(tier_view)), ports: Lack(why, "1-16")},
            left=tuple(unread_peers),
        )
    keys: Tree = {}
    guessed: dict[Keys, str] = {}
    panels: set[int] = set()
    for group in groups:
        at: Keys = ("endpoints", group.name)
        group_keys, group_guesses, group_extras = _group(tier_view, cables, group, at, alone=len(groups) == 1)
        keys[group.name] = group_keys
        panels |= set(group_extras.panels)
        guessed |= group_guesses
        unread_peers += group_extras.left
    if guess:
        guessed["endpoints",] = guess
    ports_of_leaf = {"leaves": {"ports": {"endpoints": numbers(panels)}}}
    return Found(keys={"topology": ports_of_leaf, "endpoints": keys}, guessed=guessed, left=tuple(unread_peers))


def _find_endpoint_groups(sight: TierView, cables: Cables) -> tuple[list[Group], str]:
    """Return the groups, and how they were guessed where nobody states hosts."""
    if sight.fabric.hosts:
        return _groups_of_stated_hosts(sight, cables), ""
    plugs: dict[str, list[Plug]] = {}
    unnamed: list[Plug] = []
    far = {end: (link.b if end == link.a else link.a) for link in cables.links for end in (link.a, link.b)}
    for box in sight.leaves:
        beyond, described = cables.find_external_ports(box.device.name), _description_getter(box.device)
        for port in box.device.interfaces:
            near_end = End(box.device.name, port.name)
            if (
                near_end in cables.switch_link_ends
                or port.name in beyond
                or not isinstance(port.port, Port)
                or not _may_face_host(port)
            ):
                continue
            splits = box.parts(port.port.panel)
            peer = far.get(near_end)
            host_name = parse_host_name(peer.node if peer else described(port))
            number = host_name[1] if host_name else 0
            plug = Plug(leaf=box.id, port=port.port, splits=splits, interface=port, host=number, host_port=1)
            (plugs.setdefault(host_name[0], []) if host_name else unnamed).append(plug)
    groups = [
        Group(name=name, plugs=_number_host_ports(own_plugs), host=None) for name, own_plugs in sorted(plugs.items())
    ]
    if unnamed and not groups:
        groups = [
            Group(name=name, plugs=_number_plugs_as_hosts(own_plugs), host=None)
            for name, own_plugs in _group_plugs_by_kind(sight, unnamed)
        ]
        return groups, "no file names hosts: one with one port is taken to be at every port that leads to no switch"
    return groups, "hosts were taken from descriptions and neighbor tables"


def _make_example_endpoints(sight: TierView) -> Tree:
    """Return hosts as they may be: sixteen at every pair of leaves, with ports of the leaves' speed."""
    ports = (port.speed_mbps for box in sight.leaves for port in box.device.interfaces)
    speed = usual(port for port in ports if isinstance(port, int)) or SPEED_MBPS
    last = 16 * max(len(sight.leaves) // 2, 1)
    length, media_name, _ = cable((), (), speed, ())
    return {
        "gpu": {
            "ids": f"1-{last}", "gpus": 8, "nic": _choose_nic(speed), "ports": 2, "leaf_group": 16,
            "speed": show_speed(speed), "media": media_name, "length": f"{length}m",
        },
    }  # fmt: skip


def _ports_to_unread_peers(sight: TierView, cables: Cables) -> Iterator[str]:
    """Yield the ports of leaves with BGP sessions to unread devices, where no other port is taken for an uplink."""
    if sight.spines or sight.fabric.hosts:
        return
    for box in sight.leaves:
        if names := cables.find_external_ports(box.device.name):
            ports = format_name_list(sorted(names, key=natural))
            yield f"{box.was} {ports}: BGP sessions with switches whose files are not here"


def _description_getter(device: Device) -> Callable[[Interface], object]:
    """Return a function that gives the description of a port's far end: the port's own, else that of its bundle."""
    by_member = {name: channel.description for channel in known_rows(device.port_channels) for name in channel.members}
    return lambda port: port.description if isinstance(port.description, str) else by_member.get(port.name)


def _may_face_host(port: Interface) -> bool:
    if port.enabled is False or faces(port, "fabric"):
        return False
    return faces(port, "host") or isinstance(port.description, str) or port.enabled is True


def parse_host_name(text: object) -> tuple[str, int] | None:
    """Return the group and the number of the host that a description or a neighbor's name means; None for none."""
    if not isinstance(text, str):
        return None
    words = re.sub(r"(?i)^(?:link )?to[ :]+", "", text.strip())
    match = _HOST.match(_PORT.sub("", re.split(r"[:/ ]", words)[0]))
    if not match or _NOT_HOSTS.search(match[1]):
        return None
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", match[1]).strip("-_.") or UNNAMED
    return (name, int(match[2])) if int(match[2]) else None


def _number_host_ports(plugs: Iterable[Plug]) -> tuple[Plug, ...]:
    """Return ports of a group with the numbers of the hosts' own ports, by leaf and port."""
    seen: dict[int, int] = {}
    host_ports = []
    for one in sorted(plugs, key=lambda plug: (plug.host, plug.leaf, plug.port)):
        seen[one.host] = seen.get(one.host, 0) + 1
        host_ports.append(
            Plug(
                leaf=one.leaf, port=one.port, splits=one.splits, interface=one.interface, host=one.host,
                host_port=seen[one.host],
            )
        )  # fmt: skip
    return tuple(host_ports)


def _group_plugs_by_kind(sight: TierView, plugs: Iterable[Plug]) -> Iterator[tuple[str, list[Plug]]]:
    """Yield groups of ports that are split alike and in the same VLAN, with names that describe them."""
    vlans = {box.id: _access_vlans(box.device) for box in sight.leaves}
    kinds: dict[tuple[int | None, int], list[Plug]] = {}
    for plug in plugs:
        kinds.setdefault((vlans[plug.leaf].get(plug.interface.name), plug.splits), []).append(plug)
    split = len({into for _, into in kinds}) > 1
    placed = len({vlan for vlan, _ in kinds}) > 1
    for (vlan, splits), own_plugs in sorted(kinds.items(), key=lambda item: min(own_plug.port for own_plug in item[1])):
        words = (f"vlan{vlan}" if placed and vlan else "", f"{splits}x" if split and splits > 1 else "")
        yield "-".join((UNNAMED, *filter(None, words))), own_plugs


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


def _number_plugs_as_hosts(plugs: list[Plug]) -> tuple[Plug, ...]:
    """Return ports as if a host of one port were at each, as many numbers for each leaf as any has."""
    slots = sorted({(plug.port.panel, plug.port.split) for plug in plugs})
    slot_count = len(slots)
    return tuple(
        Plug(
            leaf=plug.leaf, port=plug.port, splits=plug.splits, interface=plug.interface,
            host=(plug.leaf - 1) * slot_count + slots.index((plug.port.panel, plug.port.split)) + 1, host_port=1,
        )
        for plug in plugs
    )  # fmt: skip


def _groups_of_stated_hosts(sight: TierView, cables: Cables) -> list[Group]:
    hosts = {host.name: host for host in sight.fabric.hosts}
    boxes = {box.device.name: box for box in sight.leaves}
    plugs: dict[str, list[Plug]] = {}
    for link in cables.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            host, box = hosts.get(far.node), boxes.get(near.node)
            port = cables.port(near)
            if host is None or box is None or port is None or not isinstance(port.port, Port):
                continue
            names = [host_port.name for host_port in host.ports]
            plugs.setdefault(host.group, []).append(
                Plug(
                    leaf=box.id, port=port.port, splits=box.parts(port.port.panel), interface=port,
                    host=number_of_host(host), host_port=names.index(far.port) + 1 if far.port in names else 1,
                )
            )  # fmt: skip
    first_hosts = {host.group: host for host in reversed(sight.fabric.hosts)}
    return [
        Group(
            name=name,
            plugs=tuple(sorted(own_plugs, key=lambda plug: (plug.host, plug.host_port))),
            host=first_hosts[name],
        )
        for name, own_plugs in sorted(
            plugs.items(), key=lambda item: (min(plug.port for plug in item[1]), natural(item[0]))
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _More:
    panels: tuple[int, ...]
    left: tuple[str, ...]


def _group(
    tier_view: TierView, cables: Cables, group: Group, key_path: Keys, *, alone: bool
) -> tuple[Tree, dict[Keys, str], _More]:
    ports = usual(_port_count_by_host(group.plugs).values()) or 1
    spread, leaf_group, panels, fits = _find_host_layout(group, ports)
    split = usual(plug.splits for plug in group.plugs) or 1
    boxes = {box.id: box for box in tier_view.leaves}
    lanes = usual([boxes[plug.leaf].fewer_lanes(plug.interface) for plug in group.plugs])
    guessed_speed: dict[Keys, str] = {}
    speed = usual(plug.interface.speed_mbps for plug in group.plugs if isinstance(plug.interface.speed_mbps, int))
    if speed is None:
        speed = SPEED_MBPS
        guessed_speed = {(*key_path, "speed"): UNSAID}
    ends = {End(f"leaf{plug.leaf}", plug.interface.name) for plug in group.plugs}
    links = [link for link in cables.links if link.a in ends or link.b in ends]
    facing = [plug.interface for plug in group.plugs]
    length, media_name, guessed = cable(links, facing, speed, key_path, copper=on_copper(tier_view, facing))
    card = group.host.nic if group.host and isinstance(group.host.nic, str) else None
    if card is None:
        card = _choose_nic(speed)
        guessed[(*key_path, "nic")] = UNSAID
    guessed |= guessed_speed
    vlan = _vlan_of_group(tier_view, group)
    own_facts = collect_facts(
        ids=numbers(group.ids),
        gpus=group.host.gpus or None if group.host else None,
        nic=card,
        ports=ports if ports > 1 else None,
        spread=None if spread == "leaves" else spread,
        leaf_group=leaf_group,
        leaf_ports=None if alone else numbers(panels),
        split=split if split > 1 else None,
        lanes=lanes,
        vlan=vlan,
        bond=True if ports > 1 and spread == "one-leaf" and _is_group_bonded(tier_view, group) else None,
        speed=show_speed(speed),
        media=media_name,
        length=f"{length}m",
    )
    remark = f"on which ports of leaves the hosts of {group.name} are: no rule of an intent gives them out so"
    return own_facts, guessed, _More(panels=panels, left=() if fits else (remark,))


def _choose_nic(speed: int | None) -> str:
    """Return the first NIC of the catalogue that has a speed, of those with most speeds."""
    able = [name for name in nics() if speed is None or speed in nic(name).lanes]
    return max(able or nics(), key=lambda name: (name == "ConnectX-7", len(nic(name).lanes)))


def _port_count_by_host(plugs: Iterable[Plug]) -> Mapping[int, int]:
    ports_by_host: dict[int, int] = {}
    for plug in plugs:
        ports_by_host[plug.host] = max(ports_by_host.get(plug.host, 0), plug.host_port)
    return ports_by_host


def _find_host_layout(group: Group, ports: int) -> tuple[str, int, tuple[int, ...], bool]:
    """Return how hosts are spread, how many share a leaf, on which panel ports, and whether all are so."""
    stated_spread = group.host.spread if group.host else None
    first_host, most = min(group.ids), max(group.ids)
    leaves = {plug.leaf for plug in group.plugs if plug.host == first_host}
    by_leaf = "one-leaf" if ports == 1 or len(leaves) == 1 else "leaves"
    spread = by_leaf if stated_spread is None or isinstance(stated_spread, Unknown) else stated_spread
    spots = {(plug.host, plug.host_port): plug for plug in group.plugs}
    for hosts_per_leaf in range(1, min(most, 4096) + 1):
        shape = _make_endpoint_shape(group.ids, ports, spread, hosts_per_leaf)
        if all(
            (host_plug := spots.get(place[:2])) is None or host_plug.leaf == place.switch
            for place in host_port_places(shape)
        ):
            panels = _panels_of_hosts(spots, list(host_port_places(shape)))
            if panels is not None:
                return spread, hosts_per_leaf, panels, True
    return spread, most, tuple(sorted({plug.port.panel for plug in group.plugs})), False


def _make_endpoint_shape(ids: tuple[int, ...], ports: int, spread: str, leaf_group: int) -> Endpoints:
    """Return what `host_port_places` asks of a group, and no more."""
    return Endpoints.model_construct(
        ids=ids, ports=ports, spread=cast("Spread", spread), leaf_group=leaf_group, nic="", speed=0, media="", length=1
    )


def _panels_of_hosts(spots: Mapping[tuple[int, int], Plug], places: list[HostPortPlace]) -> tuple[int, ...] | None:
    """Return panel ports whose parts in turn are those at which the hosts are; None where there are none such."""
    at: dict[int, Plug] = {}
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
    return _fill_gaps(panels)


def _fill_gaps(panels: Mapping[int, int]) -> tuple[int, ...] | None:
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


def _vlan_of_group(sight: TierView, group: Group) -> Tree | None:
    """Return the number of a VLAN that the group's ports are in; its pool is found with the other pools."""
    vlans = {box.id: _access_vlans(box.device) for box in sight.leaves}
    number = usual(vlan for plug in group.plugs if (vlan := vlans[plug.leaf].get(plug.interface.name)))
    return None if number is None else {"id": number}


def _untagged_members(vlan: Vlan) -> set[str]:
    return {member.interface for member in vlan.members if not member.tagged}


def _is_group_bonded(sight: TierView, group: Group) -> bool:
    if group.host and any(port.bond for port in group.host.ports):
        return True
    members = {
        (box.id, member)
        for box in sight.leaves
        for channel in (box.device.port_channels if isinstance(box.device.port_channels, tuple) else ())
        for member in channel.members
    }
    return any((plug.leaf, plug.interface.name) in members for plug in group.plugs)
