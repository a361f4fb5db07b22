"""What nodes and interfaces of a snapshot are called: Batfish has nodes in lower case, and knows few letters."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import known_rows
from nodrop.model.subject import natural_sort_key
from nodrop.routing.legs import RoutedInterface, routed_interfaces
from nodrop.routing.routers import find_sub_interfaces

_FORBIDDEN_IN_NODE_PATTERN = re.compile(r"[^a-z0-9_.-]")
_FORBIDDEN_IN_INTERFACE_PATTERN = re.compile(r"[^0-9A-Za-z_.:-]")
_MISREAD_INTERFACE_PATTERN = re.compile(r"bridge|lo|vlan[0-9]+|.*\.[0-9]+", re.DOTALL)
"""Names by which an interface is taken for something else: the bridge, the loopback, a VLAN, a sub-interface."""


def node_names_of(index: Index) -> Mapping[str, str]:
    """Return the node of each device and host, no two alike: Batfish has their names in lower case."""
    names = sorted((*index.devices, *(name for name in index.hosts if name not in index.devices)), key=natural_sort_key)
    plain = ((name, _FORBIDDEN_IN_NODE_PATTERN.sub("-", name.lower()).lstrip("-.") or "node") for name in names)
    return _assign_unique_names(plain, ())


def _assign_unique_names(preferred_names: Iterable[tuple[str, str]], used_names: Iterable[str]) -> dict[str, str]:
    """Return unique names by their owner, from wanted names; a name that is already taken gets a number."""
    used, unique_names = {name.lower() for name in used_names}, {}
    for key, name in preferred_names:
        number, new_name = 1, name
        while new_name.lower() in used:
            number += 1
            new_name = f"{name}-{number}"
        used.add(new_name.lower())
        unique_names[key] = new_name
    return unique_names


@dataclass(frozen=True, slots=True, kw_only=True)
class BatfishInterfaceNames:
    """The interfaces of one device: `own` by its name of them, those of VLANs by `vlan` and their number."""

    own: Mapping[str, str]
    vlan: str
    vlans: tuple[int, ...] = ()

    @classmethod
    def of_tables(cls, device: Device, vlan: str) -> "BatfishInterfaceNames":
        """Return the names of a device that keeps its tables: its own, with its word for VLANs before their number."""
        return cls(own={leg.name: leg.name for leg in routed_interfaces(device)}, vlan=vlan)

    @classmethod
    def of_stanzas(cls, device: Device) -> "BatfishInterfaceNames":
        """Return those in an interfaces file; a loopback of a VRF is the interface of the VRF itself."""
        loopbacks = {loopback.name for loopback in known_rows(device.loopbacks)}
        preferred_names = []
        for leg in routed_interfaces(device):
            if leg.subject[1] == "@vlans" or leg.name == "lo" or (leg.name in loopbacks and leg.name == leg.vrf):
                continue
            name = _FORBIDDEN_IN_INTERFACE_PATTERN.sub("-", leg.name)
            preferred_names.append((leg.name, f"{name}-" if _MISREAD_INTERFACE_PATTERN.fullmatch(name) else name))
        stable_names = {leg.name: leg.name for leg in routed_interfaces(device) if leg.name in ("lo", leg.vrf)}
        vlans = tuple(vlan.id for vlan in known_rows(device.vlans))
        own = _assign_unique_names(preferred_names, stable_names) | stable_names
        own |= {sub.name: f"{own[sub.parent]}.{sub.tag}" for sub in find_sub_interfaces(device)}
        return cls(own=own, vlan="vlan", vlans=vlans)

    def port(self, name: str) -> str:
        """Return the name of a port or port channel."""
        return self.own.get(name, name)

    def leg(self, leg: RoutedInterface) -> str:
        """Return the name of a leg."""
        return f"{self.vlan}{leg.subject[2]}" if leg.subject[1] == "@vlans" else self.port(leg.name)

    def rename_interfaces_in_text(self, text: str) -> str:
        """Return a text of FRR's with interfaces renamed to these names; no line becomes another's."""
        replacements = {name: new_name for name, new_name in self.own.items() if name != new_name}
        replacements |= {f"Vlan{number}": f"{self.vlan}{number}" for number in self.vlans}
        if not replacements:
            return text
        any_of = "|".join(re.escape(name) for name in sorted(replacements, key=len, reverse=True))
        return re.sub(rf"(?<![\w./:-])(?:{any_of})(?![\w./:-])", lambda match: replacements[match[0]], text)
