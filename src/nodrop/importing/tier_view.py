"""The imported fabric as an intent sees it: two tiers of switches with numbers, and the cables between them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import NamedTuple, TypeVar

from nodrop import platforms
from nodrop.design.naming import Identity, switch_identity
from nodrop.hardware import switch
from nodrop.hardware.schema import Switch
from nodrop.importing.hosts import number_stated_hosts, rename_hosts
from nodrop.importing.numbering import number_switches
from nodrop.model.addresses import address_of, interface_of
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Port, Side
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import natural

LEAF, SPINE = "leaf", "spine"
ROLES = (LEAF, SPINE)
_TOP = "superspine"
KEYS = {LEAF: "leaves", SPINE: "spines"}
"""The intent's key of a tier."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What may be the name of a switch or host, in a text."""

_NAMED = (
    (SPINE, re.compile(r"(?i)(?<![a-z])(super-?spine|spine|core|agg|sp)(?![a-z])")),
    (LEAF, re.compile(r"(?i)(?<![a-z])(leaf|tor|rack|access|edge|exit|border|lf)(?![a-z])")),
)
"""What switches of a tier are mostly called, as a word or before a number."""
_ABOVE = re.compile(r"(?i)super-?spine|(?<![a-z])(ssp|core)(?![a-z])")
"""What a tier above the spines is called where there are spines too."""

SPEED_MBPS = 100_000
"""The speed of a port of which no file says one."""
_SPLITS = (1, 2, 4, 8)

_T = TypeVar("_T")


class Box(NamedTuple):
    """A switch of a tier: its number, as an intent names it, and its name in the files."""

    id: int
    device: Device
    was: str

    @property
    def model(self) -> Switch | None:
        """Return the facts of its model; None where no file states the model."""
        return None if isinstance(self.device.model, Unknown) else switch(self.device.model)

    def port(self, name: str) -> Interface | None:
        """Return its port of that name."""
        return next((interface for interface in self.device.interfaces if interface.name == name), None)

    def parts(self, panel: int) -> int:
        """Return the number of ports that a panel port is split into, not all of them necessarily present."""
        port_count = sum(
            isinstance(interface.port, Port) and interface.port.panel == panel for interface in self.device.interfaces
        )
        return next((split_count for split_count in _SPLITS if split_count >= port_count), _SPLITS[-1])

    def fewer_lanes(self, port: Interface) -> int | None:
        """Return the lanes of a port that uses some of its panel port's, the others being unused; None for others."""
        if self.model is None or not isinstance(port.port, Port) or self.parts(port.port.panel) > 1:
            return None
        group = self.model.group(port.port.panel)
        splits = (split for split in group.narrow if split.lanes == port.lanes) if group else ()
        return next((split.lanes for split in splits if port.speed_mbps in split.speeds), None)


class Run(NamedTuple):
    """A cable between the tiers: which switch's which port (panel port, part) goes where."""

    leaf: int
    leaf_port: Port
    spine: int
    spine_port: Port
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class TierView:
    """A fabric whose switches and hosts are called by their identities: role or group, and number."""

    fabric: Fabric
    leaves: tuple[Box, ...]
    spines: tuple[Box, ...]
    others: tuple[str, ...]
    """Switches of neither tier, as their files call them."""
    was: Mapping[str, str]
    """Names of switches and hosts in their files, by their names here."""
    host_names: dict[Identity, str] = field(default_factory=dict)
    """Those of hosts that are stated."""
    guessed: Mapping[str, str] = field(default_factory=dict)
    """By role, how it was guessed which switches are of it; empty where it is stated."""

    def tier(self, role: str) -> tuple[Box, ...]:
        """Return the switches of a role, by number."""
        return self.leaves if role == LEAF else self.spines

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Leaves, then spines."""
        return self.leaves + self.spines

    @property
    def switch_names(self) -> dict[Identity, str]:
        """Return the names of switches in their files."""
        return {switch_identity(role, role, box.id, 1): box.was for role in ROLES for box in self.tier(role)}

    def restore_names(self, text: str) -> str:
        """Return a text about an intent's result with the names that switches have in their files."""
        return _NAME.sub(lambda match: self.was.get(match[0], match[0]), text)


class Cables:
    """The cables of a sight, looked up once."""

    def __init__(self, sight: TierView) -> None:
        self._boxes = {box.device.name: box for box in sight.boxes}
        self._leaves = {leaf.device.name for leaf in sight.leaves}
        self._ports = {(box.device.name, port.name): port for box in sight.boxes for port in box.device.interfaces}
        self.links = sight.fabric.links

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The cables between leaves and spines whose ports are known by number, in order."""
        found_runs = []
        for link in self.links:
            for lower, upper in ((link.a, link.b), (link.b, link.a)):
                if lower.node in self._leaves and upper.node in self._boxes.keys() - self._leaves:
                    near, far = self._ports.get(lower), self._ports.get(upper)
                    if near and far and isinstance(near.port, Port) and isinstance(far.port, Port):
                        at = self._boxes[lower.node].id, self._boxes[upper.node].id
                        found_runs.append(Run(at[0], near.port, at[1], far.port, link))
        return tuple(sorted(found_runs, key=lambda run: run[:4]))

    @cached_property
    def switch_link_ends(self) -> frozenset[End]:
        """The ends of cables between switches."""
        return frozenset(end for link in self.links for end in (link.a, link.b) if self.between(link))

    def find_unnumbered_ports(self, name: str) -> frozenset[str]:
        """Return the ports of a switch over which it has BGP sessions, without addresses."""
        device = self._boxes[name].device
        neighbors = device.neighbors
        ports = {interface.name for interface in device.interfaces}
        rows = () if isinstance(neighbors, Unknown) else neighbors
        return frozenset(row.interface for row in rows if row.interface in ports)

    def find_external_ports(self, name: str) -> frozenset[str]:
        """Return the ports of a switch over which it has BGP sessions with unread devices."""
        device = self._boxes[name].device
        neighbors = [near for text in _neighbor_addresses(device) if (near := address_of(text)) is not None]
        channels = known_rows(device.port_channels)
        addresses = [(interface.name, known_rows(interface.addresses)) for interface in device.interfaces]
        addresses += [(channel.name, channel.addresses) for channel in channels]
        port_names = {
            name
            for name, texts in addresses
            if any(near in subnet.network for text in texts if (subnet := interface_of(text)) for near in neighbors)
        }
        port_names |= {member for channel in channels if channel.name in port_names for member in channel.members}
        ports = {interface.name for interface in device.interfaces} & (port_names | self.find_unnumbered_ports(name))
        return frozenset(port for port in ports if End(name, port) not in self.switch_link_ends)

    def between(self, link: Link) -> bool:
        """Whether a cable joins two switches."""
        return link.a.node in self._boxes and link.b.node in self._boxes

    def port(self, end: End) -> Interface | None:
        """Return the port of a switch at the end of a cable."""
        return self._ports.get((end.node, end.port))


def _neighbor_addresses(device: Device) -> Iterator[str]:
    """Yield the addresses of a switch's BGP neighbors."""
    return (
        neighbor.address
        for neighbor in known_rows(device.neighbors)
        if neighbor.address and address_of(neighbor.address)
    )


def faces(port: Interface, port_side: Side) -> bool:
    """Whether it is known that a port is towards hosts, or towards switches."""
    return not isinstance(port.side, Unknown) and port.side == port_side


def usual(values: Iterable[_T]) -> _T | None:
    """Return what most have, of equally many the first; None where there are none."""
    counted = Counter(values)
    return max(counted, key=lambda candidate: counted[candidate]) if counted else None


def see(fabric: Fabric, known: Mapping[str, Identity] | None = None) -> TierView:
    """Return a fabric as two tiers, hosts' and others: by stated roles, else by names, else by cables.

    `known` are the identities of switches and hosts by their names, where an intent states them, of any tier.
    """
    known = known or {}
    roles, guessed = _find_tier_roles(fabric)
    roles |= {
        device.name: LEAF if known[device.name].role == LEAF else SPINE
        for device in fabric.devices
        if device.name in known
    }
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for role in ROLES:
        own_names = sorted((name for name, switch_role in roles.items() if switch_role == role), key=natural)
        own_devices = [fabric.device(name) for name in own_names]
        own_numbers = number_switches(own_devices, _numbers(own_names, role))
        for name, number in zip(own_names, _replace_known_numbers(own_names, own_numbers, known), strict=True):
            names[name] = str(known[name]) if name in known else f"{role}{number}"
            numbers[name] = number
    seen = _rename_switches(fabric, names)
    hosts = number_stated_hosts(seen, known)
    seen = rename_hosts(seen, {name: str(identity) for name, identity in hosts.items()})
    devices = {device.name: device for device in seen.devices}
    tiers = {
        role: tuple(
            Box(numbers[name], devices[names[name]], name)
            for name in sorted(names, key=lambda name: (numbers[name], natural(name)))
            if roles[name] == role
        )
        for role in ROLES
    }
    return TierView(
        fabric=seen,
        leaves=tiers[LEAF],
        spines=tiers[SPINE],
        others=tuple(device.name for device in fabric.devices if device.name not in names),
        was={new: old for old, new in names.items()} | {str(identity): name for name, identity in hosts.items()},
        host_names={identity: name for name, identity in hosts.items()},
        guessed=guessed,
    )


def _replace_known_numbers(names: list[str], own_numbers: list[int], known: Mapping[str, Identity]) -> list[int]:
    """Return numbers with those that are known, which no other keeps."""
    fixed = {name: known[name].id for name in names if name in known}
    taken = set(fixed.values())
    numbers = []
    for name, number in zip(names, own_numbers, strict=True):
        if name in fixed:
            numbers.append(fixed[name])
            continue
        numbers.append(next(free for free in count(number) if free not in taken))
        taken.add(numbers[-1])
    return numbers


def _find_tier_roles(fabric: Fabric) -> tuple[dict[str, str], dict[str, str]]:
    """Return the role of every switch that is of a tier, and how roles were guessed that nobody states."""
    every = [device.name for device in fabric.devices]
    stated = {
        device.name: device.role for device in fabric.devices if isinstance(device.role, str) and device.role in ROLES
    }
    remaining_names = [device.name for device in fabric.devices if isinstance(device.role, Unknown)]
    if not remaining_names and (lowered := _shift_roles_down(fabric)):
        why = "roles that are stated: nothing is below the spines, so these are the leaves"
        return lowered, dict.fromkeys(ROLES, why)
    if len({device.role for device in fabric.devices}) == 1 and _has_switch_links(fabric):
        stated, remaining_names = (
            {},
            every,
        )  # one role for both ends of a cable, as SONiC's own default has it, is no tier
    if not remaining_names:
        return {name: str(role) for name, role in stated.items()}, {}
    by_name = {name: role for name in remaining_names if (role := _role_from_name(name))}
    if SPINE in by_name.values():
        above = [name for name, role in by_name.items() if role == SPINE and _ABOVE.search(name)]
        if len(above) < sum(role == SPINE for role in by_name.values()):
            by_name = {name: role for name, role in by_name.items() if name not in above}
            remaining_names = [name for name in remaining_names if name not in above]
    by_cable = _roles_from_cables(fabric, [name for name in remaining_names if name not in by_name], by_name)
    roles = {name: str(role) for name, role in stated.items()} | by_name | by_cable
    if set(roles.values()) == {SPINE} and any(map(_is_gateway_for_hosts, fabric.devices)):
        return dict.fromkeys(roles, LEAF), {LEAF: "their ports: hosts are in VLANs of theirs"}
    guessed = {}
    for role in ROLES:
        names = role in by_name.values()
        if names or role in by_cable.values():
            guessed[role] = "their names" if names else "their cables"
    return roles, guessed


def _has_switch_links(fabric: Fabric) -> bool:
    """Whether a cable joins two of the switches."""
    names = {device.name for device in fabric.devices}
    return any(link.a.node in names and link.b.node in names for link in fabric.links)


def _is_gateway_for_hosts(device: Device) -> bool:
    """Whether a switch has an address in a VLAN that ports are in without tags."""
    return any(
        vlan.addresses and not all(member.tagged for member in vlan.members) for vlan in known_rows(device.vlans)
    )


def _shift_roles_down(fabric: Fabric) -> dict[str, str]:
    """Return the roles of a fabric that is stated to have spines and superspines alone; none of any other."""
    roles = {device.name: str(device.role) for device in fabric.devices}
    if set(roles.values()) != {SPINE, _TOP}:
        return {}
    return {name: SPINE if role == _TOP else LEAF for name, role in roles.items()}


def _role_from_name(name: str) -> str | None:
    return next((role for role, pattern in _NAMED if pattern.search(re.sub("[0-9]+", "-", name))), None)


def _roles_from_cables(fabric: Fabric, unknown_names: list[str], known_roles: Mapping[str, str]) -> dict[str, str]:
    """Return the roles of switches whose names do not show it: those joined to leaves alone are spines, and so on."""
    names = {device.name for device in fabric.devices}
    peers: dict[str, set[str]] = {name: set() for name in names}
    for link in fabric.links:
        if link.a.node in names and link.b.node in names:
            peers[link.a.node].add(link.b.node)
            peers[link.b.node].add(link.a.node)
    roles: dict[str, str] = dict(known_roles)
    most = max((len(peers[name]) for name in unknown_names), default=0)
    for name in sorted(unknown_names, key=lambda switch_name: (-len(peers[switch_name]), natural(switch_name))):
        above = {roles[peer] for peer in peers[name] if peer in roles}
        if not above:
            roles[name] = SPINE if peers[name] and len(peers[name]) == most and most > 1 else LEAF
        else:
            roles[name] = LEAF if SPINE in above else SPINE
    return {name: roles[name] for name in unknown_names}


def _numbers(switch_names: list[str], role: str) -> list[int]:
    """Return numbers for switches: the last in their names where these are distinct, else in their order.

    Where names are of several kinds, such as leaf and border, the most frequent, or the tier's own, keeps its numbers.
    A switch alone has the number of its name only if the name states its tier: sn2700 is a model.
    """
    if len(switch_names) == 1 and _role_from_name(switch_names[0]) is None:
        return [1]
    last = [int(digits[-1]) if (digits := re.findall("[0-9]{1,6}", name)) else 0 for name in switch_names]
    if all(last) and len(set(last)) == len(last):
        return last
    kinds = [re.sub("[0-9]+", "", name) for name in switch_names]
    most = max(kinds, key=lambda kind: (kinds.count(kind), role in kind.lower()))
    own_numbers = [number for number, kind in zip(last, kinds, strict=True) if kind == most]
    if not all(own_numbers) or len(set(own_numbers)) < len(own_numbers):
        return list(range(1, len(switch_names) + 1))
    after = count(max(own_numbers, default=0) + 1)
    return [number if kind == most else next(after) for number, kind in zip(last, kinds, strict=True)]


def _rename_switches(fabric: Fabric, new_names: Mapping[str, str]) -> Fabric:
    """Return a fabric with other names for its switches, and for ports where their platform is not written."""
    ports: dict[End, str] = {}
    devices = []
    for device in map(_number_ports, fabric.devices):
        if device.name not in new_names:
            continue
        platform = platforms.written_as(device.platform)
        interfaces, new_ports = [], {}
        for port in device.interfaces:
            new = _port_name(device, platform, port)
            new_ports[port.name] = new
            interfaces.append(port if new == port.name else replace(port, name=new))
        ports |= {End(device.name, old): new for old, new in new_ports.items() if old != new}
        devices.append(replace(device, name=new_names[device.name], interfaces=tuple(interfaces)))

    def end(cable_end: End) -> End:
        return End(new_names.get(cable_end.node, cable_end.node), ports.get(cable_end, cable_end.port))

    links = (replace(link, a=min(end(link.a), end(link.b)), b=max(end(link.a), end(link.b))) for link in fabric.links)
    drained = sorted((new_names.get(name, name) for name in fabric.policy.drained), key=natural)
    return replace(
        fabric,
        policy=replace(fabric.policy, drained=tuple(drained)),
        devices=tuple(sorted(devices, key=lambda renamed_device: natural(renamed_device.name))),
        links=tuple(sorted(links, key=lambda link: (link.a, link.b))),
    )


def _number_ports(device: Device) -> Device:
    """Return a switch whose ports have numbers: those of its model where all have some, else in their order."""
    if not all(isinstance(interface.port, Unknown) for interface in device.interfaces):
        return device
    ordered = sorted(device.interfaces, key=lambda interface: natural(interface.name))
    ports = _ports_from_model(device, [interface.name for interface in ordered]) or [
        Port(n) for n in range(1, len(ordered) + 1)
    ]
    numbered = tuple(replace(interface, port=port) for interface, port in zip(ordered, ports, strict=True))
    return replace(device, interfaces=numbered)


def _ports_from_model(device: Device, names: list[str]) -> list[Port] | None:
    """Return the ports that names mean on a model that somebody states; None where it has not all of them."""
    port_of = platforms.model_port(platforms.written_as(device.platform))
    if isinstance(device.model, Unknown) or port_of is None:
        return None
    model = device.model
    whole_ports = [port_of(model, name, 1) for name in names]
    counts = Counter(port.panel for port in whole_ports if port)
    ports = [port_of(model, name, counts[port.panel]) for name, port in zip(names, whole_ports, strict=True) if port]
    return [port for port in ports if port] if len(ports) == len(names) else None


def _port_name(device: Device, platform: str, port: Interface) -> str:
    if platform == device.platform or isinstance(device.model, Unknown) or not isinstance(port.port, Port):
        return port.name
    splits = sum(
        isinstance(interface.port, Port) and interface.port.panel == port.port.panel for interface in device.interfaces
    )
    return platforms.port_name(platform, device.model, port.port, splits)
