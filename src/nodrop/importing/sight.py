"""What is imported, seen as an intent sees it: two tiers of switches with numbers, and the cables between them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

from nodrop import platforms
from nodrop.fabric.fabric import Device, End, Fabric, Interface, Link, Port, Side
from nodrop.fabric.states import Unknown
from nodrop.fabric.subject import natural
from nodrop.hardware import switch
from nodrop.hardware.naming import port_name
from nodrop.hardware.schema import Switch

LEAF, SPINE = "leaf", "spine"
ROLES = (LEAF, SPINE)
_TOP = "superspine"
KEYS = {LEAF: "leaves", SPINE: "spines"}
"""The intent's key of a tier."""

_NAMED = (
    (SPINE, re.compile(r"(?i)(?<![a-z])(super-?spine|spine|core|agg|sp)(?![a-z])")),
    (LEAF, re.compile(r"(?i)(?<![a-z])(leaf|tor|rack|access|edge|exit|border|lf)(?![a-z])")),
)
"""What switches of a tier are mostly called, as a word or before a number."""
_ABOVE = re.compile(r"(?i)super-?spine|(?<![a-z])(ssp|core)(?![a-z])")
"""What a tier above the spines is called where there are spines too."""

_T = TypeVar("_T")


class Box(NamedTuple):
    """A switch of a tier: its number, as an intent names it, and what it is called in the files."""

    id: int
    device: Device
    was: str

    @property
    def model(self) -> Switch | None:
        """The facts of its model; None where no file says which it is."""
        return None if isinstance(self.device.model, Unknown) else switch(self.device.model)

    def port(self, name: str) -> Interface | None:
        """Return its port of that name."""
        return next((one for one in self.device.interfaces if one.name == name), None)

    def parts(self, panel: int) -> int:
        """Return into how many ports a panel port is split."""
        return sum(isinstance(one.port, Port) and one.port.panel == panel for one in self.device.interfaces)


class Run(NamedTuple):
    """A cable between the tiers: which switch's which port (panel port, part) goes where."""

    leaf: int
    leaf_port: Port
    spine: int
    spine_port: Port
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A fabric whose switches are called as an intent calls them, role and number."""

    fabric: Fabric
    leaves: tuple[Box, ...]
    spines: tuple[Box, ...]
    others: tuple[str, ...]
    """Switches of neither tier, as their files call them."""
    was: Mapping[str, str]
    """What switches were called, by what they are called here."""
    guessed: Mapping[str, str] = field(default_factory=dict)
    """By role, how it was guessed which switches are of it; empty where it is stated."""

    def tier(self, role: str) -> tuple[Box, ...]:
        """Return the switches of a role, by number."""
        return self.leaves if role == LEAF else self.spines

    @property
    def boxes(self) -> tuple[Box, ...]:
        """Leaves, then spines."""
        return self.leaves + self.spines

    def box(self, name: str) -> Box | None:
        """Return a switch by what it is called here."""
        return next((one for one in self.boxes if one.device.name == name), None)


class Cables:
    """The cables of a sight, looked up once."""

    def __init__(self, sight: Sight) -> None:
        self._boxes = {one.device.name: one for one in sight.boxes}
        self._leaves = {one.device.name for one in sight.leaves}
        self._ports = {(box.device.name, port.name): port for box in sight.boxes for port in box.device.interfaces}
        self.links = sight.fabric.links

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The cables between leaves and spines whose ports are known by number, in order."""
        found = []
        for link in self.links:
            for lower, upper in ((link.a, link.b), (link.b, link.a)):
                if lower.node in self._leaves and upper.node in self._boxes.keys() - self._leaves:
                    near, far = self._ports.get(lower), self._ports.get(upper)
                    if near and far and isinstance(near.port, Port) and isinstance(far.port, Port):
                        at = self._boxes[lower.node].id, self._boxes[upper.node].id
                        found.append(Run(at[0], near.port, at[1], far.port, link))
        return tuple(sorted(found, key=lambda one: one[:4]))

    @cached_property
    def joined(self) -> frozenset[End]:
        """The ends of cables between switches."""
        return frozenset(end for link in self.links for end in (link.a, link.b) if self.between(link))

    def spoken(self, name: str) -> frozenset[str]:
        """Return the ports of a switch over which it has BGP sessions, without addresses."""
        device = self._boxes[name].device
        neighbors = device.neighbors
        ports = {one.name for one in device.interfaces}
        rows = () if isinstance(neighbors, Unknown) else neighbors
        return frozenset(one.interface for one in rows if one.interface in ports)

    def between(self, link: Link) -> bool:
        """Whether a cable joins two switches."""
        return link.a.node in self._boxes and link.b.node in self._boxes

    def port(self, end: End) -> Interface | None:
        """Return the port of a switch at the end of a cable."""
        return self._ports.get((end.node, end.port))


def faces(port: Interface, side: Side) -> bool:
    """Whether it is known that a port is towards hosts, or towards switches."""
    return not isinstance(port.side, Unknown) and port.side == side


def usual(values: Iterable[_T]) -> _T | None:
    """Return what most have, of equally many the first; None where there are none."""
    counted = Counter(values)
    return max(counted, key=lambda one: counted[one]) if counted else None


def see(fabric: Fabric) -> Sight:
    """Return a fabric as two tiers: by stated roles, else by names, else by cables."""
    roles, guessed = _roles(fabric)
    named: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for role in ROLES:
        own = sorted((name for name, of in roles.items() if of == role), key=natural)
        for name, number in zip(own, _numbers(own), strict=True):
            named[name], numbers[name] = f"{role}{number}", number
    seen = _renamed(fabric, named)
    devices = {device.name: device for device in seen.devices}
    tiers = {
        role: tuple(sorted(Box(numbers[name], devices[named[name]], name) for name, of in roles.items() if of == role))
        for role in ROLES
    }
    return Sight(
        fabric=seen,
        leaves=tiers[LEAF],
        spines=tiers[SPINE],
        others=tuple(device.name for device in fabric.devices if device.name not in named),
        was={new: old for old, new in named.items()},
        guessed=guessed,
    )


def _roles(fabric: Fabric) -> tuple[dict[str, str], dict[str, str]]:
    """Return the role of every switch that is of a tier, and how roles were guessed that nobody states."""
    stated = {one.name: one.role for one in fabric.devices if isinstance(one.role, str) and one.role in ROLES}
    left = [one.name for one in fabric.devices if isinstance(one.role, Unknown)]
    if not left and (lowered := _one_lower(fabric)):
        why = "roles that are stated: nothing stands below the spines, and so these are the leaves"
        return lowered, dict.fromkeys(ROLES, why)
    if not left:
        return {name: str(role) for name, role in stated.items()}, {}
    by_name = {name: role for name in left if (role := _by_name(name))}
    if SPINE in by_name.values():
        above = [name for name, role in by_name.items() if role == SPINE and _ABOVE.search(name)]
        if len(above) < sum(role == SPINE for role in by_name.values()):
            by_name = {name: role for name, role in by_name.items() if name not in above}
            left = [name for name in left if name not in above]
    by_cable = _by_cable(fabric, [name for name in left if name not in by_name], by_name)
    found = {name: str(role) for name, role in stated.items()} | by_name | by_cable
    guessed = {}
    for role in ROLES:
        names = role in by_name.values()
        if names or role in by_cable.values():
            guessed[role] = "their names" if names else "their cables"
    return found, guessed


def _one_lower(fabric: Fabric) -> dict[str, str]:
    """Return the roles of a fabric that is stated to have spines and superspines alone; none of any other."""
    roles = {one.name: str(one.role) for one in fabric.devices}
    if set(roles.values()) != {SPINE, _TOP}:
        return {}
    return {name: SPINE if role == _TOP else LEAF for name, role in roles.items()}


def _by_name(name: str) -> str | None:
    return next((role for role, pattern in _NAMED if pattern.search(re.sub("[0-9]+", "-", name))), None)


def _by_cable(fabric: Fabric, left: list[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the roles of switches that no name tells: those joined to leaves alone are spines, and so on."""
    names = {one.name for one in fabric.devices}
    peers: dict[str, set[str]] = {name: set() for name in names}
    for link in fabric.links:
        if link.a.node in names and link.b.node in names:
            peers[link.a.node].add(link.b.node)
            peers[link.b.node].add(link.a.node)
    found: dict[str, str] = dict(known)
    most = max((len(peers[name]) for name in left), default=0)
    for name in sorted(left, key=lambda one: (-len(peers[one]), natural(one))):
        above = {found[peer] for peer in peers[name] if peer in found}
        if not above:
            found[name] = SPINE if peers[name] and len(peers[name]) == most and most > 1 else LEAF
        else:
            found[name] = LEAF if SPINE in above else SPINE
    return {name: found[name] for name in left}


def _numbers(names: list[str]) -> list[int]:
    """Return numbers for switches: the last in their names where these tell them apart, else in their order."""
    last = [int(found[-1]) if (found := re.findall("[0-9]{1,6}", name)) else 0 for name in names]
    if all(last) and len(set(last)) == len(last):
        return last
    return list(range(1, len(names) + 1))


def _renamed(fabric: Fabric, named: Mapping[str, str]) -> Fabric:
    """Return a fabric whose switches, and ports where their platform is not written, are called otherwise."""
    ports: dict[End, str] = {}
    devices = []
    for device in map(_numbered, fabric.devices):
        if device.name not in named:
            continue
        platform = platforms.written_as(device.platform)
        made, own = [], {}
        for port in device.interfaces:
            new = _port_name(device, platform, port)
            own[port.name] = new
            made.append(port if new == port.name else replace(port, name=new))
        ports |= {End(device.name, old): new for old, new in own.items() if old != new}
        devices.append(replace(device, name=named[device.name], interfaces=tuple(made)))

    def end(one: End) -> End:
        return End(named.get(one.node, one.node), ports.get(one, one.port))

    links = (replace(one, a=min(end(one.a), end(one.b)), b=max(end(one.a), end(one.b))) for one in fabric.links)
    return replace(
        fabric,
        devices=tuple(sorted(devices, key=lambda one: natural(one.name))),
        links=tuple(sorted(links, key=lambda one: (one.a, one.b))),
    )


def _numbered(device: Device) -> Device:
    """Return a switch whose ports have numbers: of an unknown model, in the order of their names."""
    if not isinstance(device.model, Unknown) or not all(isinstance(one.port, Unknown) for one in device.interfaces):
        return device
    ordered = sorted(device.interfaces, key=lambda one: natural(one.name))
    return replace(device, interfaces=tuple(replace(one, port=Port(n)) for n, one in enumerate(ordered, 1)))


def _port_name(device: Device, platform: str, port: Interface) -> str:
    if platform == device.platform or isinstance(device.model, Unknown) or not isinstance(port.port, Port):
        return port.name
    splits = sum(isinstance(one.port, Port) and one.port.panel == port.port.panel for one in device.interfaces)
    return port_name(platform, device.model, port.port, splits)


def ends_of(link: Link, names: Iterable[str]) -> Iterator[End]:
    """Yield the ends of a cable that are on some devices."""
    known = set(names)
    return (end for end in (link.a, link.b) if end.node in known)
