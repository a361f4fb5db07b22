"""The imported fabric as an intent sees it: groups of switches in tiers, by number, and the cables between them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

from nodrop.design.naming import NodeIdentity, switch_identity
from nodrop.design.topology import ROLES_BY_TIER
from nodrop.hardware import switch
from nodrop.hardware.schema import SwitchModel
from nodrop.model.addresses import address_of, interface_of
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Port, PortSide
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, known_rows

_SWITCH_OR_HOST_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What may be the name of a switch or host, in a text."""

ASSUMED_PORT_SPEED_MBPS = 100_000
"""The speed of a port of which no file says one."""
_SPLIT_COUNTS = (1, 2, 4, 8)

_T = TypeVar("_T")


class GroupedSwitch(NamedTuple):
    """A switch of a group: its id there, its content and its name in the files."""

    id: int
    device: Device
    was: str
    offset: int = 0
    """What its group adds to an id for addresses and AS numbers."""

    @property
    def number_in_tier(self) -> int:
        """Return its number in its tier."""
        return self.offset + self.id

    @property
    def model(self) -> SwitchModel | None:
        """Return the facts of its model; None where no file states the model."""
        return None if isinstance(self.device.model, Unknown) else switch(self.device.model)

    def port(self, name: str) -> Interface | None:
        """Return its port of that name."""
        return next((interface for interface in self.device.interfaces if interface.name == name), None)

    def split_count_of_panel(self, panel: int) -> int:
        """Return the number of ports that a panel port is split into, not all of them necessarily present."""
        port_count = sum(
            isinstance(interface.port, Port) and interface.port.panel == panel for interface in self.device.interfaces
        )
        return next((split_count for split_count in _SPLIT_COUNTS if split_count >= port_count), _SPLIT_COUNTS[-1])

    def reduced_lanes_of_port(self, port: Interface) -> int | None:
        """Return the lanes of a port that uses some of its panel port's, the others being unused; None for others."""
        if self.model is None or not isinstance(port.port, Port) or self.split_count_of_panel(port.port.panel) > 1:
            return None
        group = self.model.group(port.port.panel)
        splits = (split for split in group.narrow if split.lanes == port.lanes) if group else ()
        return next((split.lanes for split in splits if port.speed_mbps in split.speeds), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwitchGroup:
    """Switches of a tier that an intent has as one group, by id."""

    name: str
    tier: int
    """0 next to the hosts."""
    boxes: tuple[GroupedSwitch, ...]
    offset: int = 0
    per_pod: int | None = None

    @property
    def intent_key_path(self) -> tuple[str, ...]:
        """Return the keys of the intent that state it."""
        return ("topology", "groups", self.name)

    @property
    def role(self) -> str:
        """Return the role of its switches."""
        return ROLES_BY_TIER[self.tier]

    def position_in_pod_of_id(self, number: int) -> int:
        """Return the place of an id in its pod, from 1; the id itself where there are no pods."""
        return number if self.per_pod is None else (number - 1) % self.per_pod + 1

    def pod_of_switch_id(self, number: int) -> int:
        """Return the pod of an id, from 1; 0 where there are no pods."""
        return 0 if self.per_pod is None else (number - 1) // self.per_pod + 1


class GroupCable(NamedTuple):
    """A cable between two groups: which switch's which port (panel port, part) goes where."""

    lower: int
    lower_port: Port
    upper: int
    upper_port: Port
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class TierView:
    """A fabric whose switches and hosts are called by their identities: group and number."""

    fabric: Fabric
    groups: tuple[SwitchGroup, ...]
    """The lowest tier first."""
    others: tuple[str, ...]
    """Switches of no tier, as their files call them."""
    was: Mapping[str, str]
    """Names of switches and hosts in their files, by their names here."""
    host_names: dict[NodeIdentity, str] = field(default_factory=dict)
    """Those of hosts that are stated."""
    guessed: Mapping[int, str] = field(default_factory=dict)
    """By tier, how it was guessed which switches are of it; empty where it is stated."""
    guessed_mode: str = ""
    """Why the mode is a guess; empty where it is none."""

    def with_host_names(self, names: Mapping[NodeIdentity, str]) -> "TierView":
        """Return a view that knows the names of hosts in files, where nobody states hosts."""
        hosts = {str(identity): name for identity, name in names.items()}
        return replace(self, host_names={**self.host_names, **names}, was={**hosts, **self.was})

    def groups_of_tier(self, number: int) -> tuple[SwitchGroup, ...]:
        """Return the groups of a tier."""
        return tuple(group for group in self.groups if group.tier == number)

    @property
    def host_facing_switches(self) -> tuple[GroupedSwitch, ...]:
        """Return the switches next to hosts."""
        return tuple(box for group in self.groups_of_tier(0) for box in group.boxes)

    @property
    def has_upper_tiers(self) -> bool:
        """Whether any switch is above those next to hosts."""
        return any(group.tier for group in self.groups)

    @property
    def switches_from_lowest_tier(self) -> tuple[GroupedSwitch, ...]:
        """All switches, the lowest tier first."""
        return tuple(box for group in self.groups for box in group.boxes)

    @property
    def group_of_switch(self) -> dict[str, SwitchGroup]:
        """Return the group of every switch by its name here."""
        return {box.device.name: group for group in self.groups for box in group.boxes}

    @property
    def name_in_files_by_identity(self) -> dict[NodeIdentity, str]:
        """Return the names of switches in their files."""
        return {
            switch_identity(group.role, group.name, box.id, max(group.pod_of_switch_id(box.id), 1)): box.was
            for group in self.groups
            for box in group.boxes
        }

    def restore_names(self, text: str) -> str:
        """Return a text about an intent's result with the names that switches have in their files."""
        return _SWITCH_OR_HOST_NAME_PATTERN.sub(lambda match: self.was.get(match[0], match[0]), text)


class CableLookup:
    """The cables of a fabric, looked up once."""

    def __init__(self, tier_view: TierView) -> None:
        self._groups = tier_view.group_of_switch
        self._boxes = {box.device.name: box for box in tier_view.switches_from_lowest_tier}
        self._ports = {
            (box.device.name, port.name): port
            for box in tier_view.switches_from_lowest_tier
            for port in box.device.interfaces
        }
        self.links = tier_view.fabric.links

    @cached_property
    def _cables_by_group_pair(self) -> dict[tuple[str, str], tuple[GroupCable, ...]]:
        found: dict[tuple[str, str], list[GroupCable]] = {}
        for link in self.links:
            for lower, upper in ((link.a, link.b), (link.b, link.a)):
                groups = self._groups.get(lower.node), self._groups.get(upper.node)
                if groups[0] is None or groups[1] is None or groups[0].tier >= groups[1].tier:
                    continue
                near, far = self._ports.get(lower), self._ports.get(upper)
                if near and far and isinstance(near.port, Port) and isinstance(far.port, Port):
                    at = self._boxes[lower.node].id, self._boxes[upper.node].id
                    pair = groups[0].name, groups[1].name
                    found.setdefault(pair, []).append(GroupCable(at[0], near.port, at[1], far.port, link))
        return {pair: tuple(sorted(runs, key=lambda run: run[:4])) for pair, runs in found.items()}

    @property
    def cabled_group_pairs(self) -> frozenset[tuple[str, str]]:
        """Return the names of groups, the lower one first, between which there are cables of numbered ports."""
        return frozenset(self._cables_by_group_pair)

    def cables_between_groups(self, lower: SwitchGroup, upper: SwitchGroup) -> tuple[GroupCable, ...]:
        """Return the cables between two groups whose ports are known by number, in order."""
        return self._cables_by_group_pair.get((lower.name, upper.name), ())

    @cached_property
    def switch_link_ends(self) -> frozenset[End]:
        """The ends of cables between switches."""
        return frozenset(end for link in self.links for end in (link.a, link.b) if self.is_between_switches(link))

    @cached_property
    def _ends_by_switch(self) -> dict[str, list[End]]:
        ends: dict[str, list[End]] = {}
        for end in self.switch_link_ends:
            ends.setdefault(end.node, []).append(end)
        return ends

    def ends_of_switch(self, name: str) -> Iterable[End]:
        """Return the ends of cables between switches at one of them."""
        return self._ends_by_switch.get(name, ())

    @cached_property
    def _downward_ports(self) -> dict[str, frozenset[str]]:
        ports: dict[str, set[str]] = {}
        for runs in self._cables_by_group_pair.values():
            for run in runs:
                for end in (run.link.a, run.link.b):
                    other = run.link.b if end is run.link.a else run.link.a
                    if self._groups[end.node].tier > self._groups[other.node].tier:
                        ports.setdefault(end.node, set()).add(end.port)
        return {name: frozenset(own) for name, own in ports.items()}

    def downward_ports(self, name: str) -> frozenset[str]:
        """Return the ports of a switch that lead to lower tiers."""
        return self._downward_ports.get(name, frozenset())

    def find_bgp_unnumbered_ports(self, name: str) -> frozenset[str]:
        """Return the ports of a switch over which it has BGP sessions, without addresses."""
        return find_bgp_unnumbered_ports(self._boxes[name].device)

    def find_ports_to_unread_bgp_peers(self, name: str) -> frozenset[str]:
        """Return the ports of a switch over which it has BGP sessions with unread devices."""
        ports = find_bgp_session_ports(self._boxes[name].device)
        return frozenset(port for port in ports if End(name, port) not in self.switch_link_ends)

    def is_between_switches(self, link: Link) -> bool:
        """Whether a cable joins two switches."""
        return link.a.node in self._boxes and link.b.node in self._boxes

    def port(self, end: End) -> Interface | None:
        """Return the port of a switch at the end of a cable."""
        return self._ports.get((end.node, end.port))


def are_switches_unlinked(tier_view: TierView, cables: CableLookup) -> bool:
    """Whether it is known that the switches have no sessions, and no links among them."""
    processes = [box.device.bgp for box in tier_view.switches_from_lowest_tier]
    alone = all(isinstance(process, Bgp) and process.neighbors == () for process in processes)
    return (
        bool(tier_view.host_facing_switches) and not tier_view.has_upper_tiers and alone and not cables.switch_link_ends
    )


def find_bgp_unnumbered_ports(device: Device) -> frozenset[str]:
    """Return the ports of a switch over which it has BGP sessions, without addresses."""
    ports = {interface.name for interface in device.interfaces}
    return frozenset(row.interface for row in known_rows(device.neighbors) if row.interface in ports)


def find_bgp_session_ports(device: Device) -> frozenset[str]:
    """Return the ports of a switch over which it has BGP sessions."""
    near_addresses = [near for text in _neighbor_addresses(device) if (near := address_of(text)) is not None]
    channels = known_rows(device.port_channels)
    addresses = [(interface.name, known_rows(interface.addresses)) for interface in device.interfaces]
    addresses += [(channel.name, channel.addresses) for channel in channels]
    port_names = {
        name
        for name, texts in addresses
        if any(near in subnet.network for text in texts if (subnet := interface_of(text)) for near in near_addresses)
    }
    port_names |= {member for channel in channels if channel.name in port_names for member in channel.members}
    return frozenset({interface.name for interface in device.interfaces} & port_names) | find_bgp_unnumbered_ports(
        device
    )


def _neighbor_addresses(device: Device) -> Iterator[str]:
    """Yield the addresses of a switch's BGP neighbors."""
    return (
        neighbor.address
        for neighbor in known_rows(device.neighbors)
        if neighbor.address and address_of(neighbor.address)
    )


def is_port_facing(port: Interface, port_side: PortSide) -> bool:
    """Whether it is known that a port is towards hosts, or towards switches."""
    return not isinstance(port.side, Unknown) and port.side == port_side


def most_common_value(values: Iterable[_T]) -> _T | None:
    """Return what most have, of equally many the first; None where there are none."""
    counted = Counter(values)
    return max(counted, key=lambda candidate: counted[candidate]) if counted else None
