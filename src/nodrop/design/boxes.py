"""The switches of an intent: an identity, a name, a group, a permanent number, and the known facts of the model."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.naming import NamingScheme, NodeIdentity, intent_key_words_of_switch, name_of, naming_of
from nodrop.design.splits import count_ports_with_splits, declared_splits
from nodrop.design.topology import TierSwitchGroup, Topology, group_of_endpoints, identities_of_group, topology_of
from nodrop.hardware import (
    find_design_obstacle,
    hint_for_undesignable_model,
    hint_for_unknown_model,
    switch,
    switches,
)
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.schema import DeviceSettings, Intent
from nodrop.intent.topology import MOST_LINKS_PER_SWITCH_PAIR, Switches
from nodrop.platforms.kit.traits import PlatformTraits, traits_of_platform
from nodrop.units import show_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSwitch:
    """A switch to be built."""

    name: str
    identity: NodeIdentity
    words: tuple[str, ...]
    """How keys of the intent may call it, its name first."""
    group: TierSwitchGroup
    id: int
    model: SwitchModel
    ports: int
    """How many ports it has once all that its group's intent may split are split, service ports left out."""
    paths: int
    """How many equal paths it may need: as many as its model has panel ports, or more where these are split."""

    @property
    def role(self) -> str:
        """Return its role in the fabric."""
        return self.group.role

    @property
    def tier(self) -> int:
        """Return its tier, 0 next to the hosts."""
        return self.group.tier

    @property
    def declaration(self) -> Switches:
        """Return the settings that the intent states for the switches of its group."""
        return self.group.wanted

    @property
    def number_in_tier(self) -> int:
        """Return its number in its tier."""
        return self.group.offset + self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSwitches:
    """All switches by group, the lowest tier first, each group sorted by id."""

    groups: Mapping[TierSwitchGroup, tuple[PlannedSwitch, ...]]

    def __iter__(self) -> Iterator[tuple[PlannedSwitch, ...]]:
        """Yield the switches of each group."""
        return iter(self.groups.values())

    @property
    def all(self) -> tuple[PlannedSwitch, ...]:
        """The lowest tier first."""
        return tuple(node for nodes in self for node in nodes)

    @property
    def lowest(self) -> tuple[PlannedSwitch, ...]:
        """The switches next to hosts."""
        return tuple(node for node in self.all if node.tier == 0)

    @property
    def max_ports_of_switch(self) -> int:
        """Return the ports of the switch with the most, split as in the intent."""
        return max(nodes[0].ports for nodes in self)

    def switches_of_host_group(self, topology: Topology, name: str) -> tuple[PlannedSwitch, ...]:
        """Return the switches that a group of hosts connects to."""
        return self.groups[group_of_endpoints(topology, name)]


def format_panel_ports(panels: Collection[int]) -> str:
    """Spell panel ports: `port 4`, `ports 3-4, 7`."""
    return f"port{'s' if len(panels) > 1 else ''} {show_ids(panels)}"


def lanes_by_speed(
    switch_model: SwitchModel, split_count: int = 1, panels: tuple[int, ...] = (), lanes: int | None = None
) -> Mapping[int, int]:
    """Return the lanes that a part of panel ports split so uses, by its speed in Mb/s; none where they cannot be."""
    breakout = switch_model.find_split_with_lanes(split_count, panels, lanes)
    return dict.fromkeys(breakout.speeds, breakout.lanes) if breakout else {}


def traits_of(group: TierSwitchGroup) -> PlatformTraits:
    """Return the capabilities of a group's platform and release."""
    return traits_of_platform(group.wanted.platform, group.wanted.version)


def traits_by_group(topology: Topology) -> dict[TierSwitchGroup, PlatformTraits]:
    """Return the capabilities of each group's platform and release."""
    return {group: traits_of(group) for group in topology.groups}


def resolve_switches(topology: Topology, naming: NamingScheme, problems: list[IntentFault]) -> PlannedSwitches:
    """Return the switches of an intent; a model that is not in the catalogue is a problem, and its group is empty."""
    names = {identity: name_of(naming, identity) for identity in switch_identities(topology)}
    groups = topology.groups
    return PlannedSwitches(groups={group: _nodes_of_group(topology, group, names, problems) for group in groups})


def switches_of(intent: Intent) -> PlannedSwitches:
    """Return the switches of an intent; the group of a model that is not in the catalogue is empty."""
    return resolve_switches(topology_of(intent), naming_of(intent), [])


_NO_SETTINGS = DeviceSettings()


def stated_settings(devices: Mapping[str, DeviceSettings], node: PlannedSwitch) -> tuple[str, DeviceSettings]:
    """Return the key of `devices` that means a switch, and what it states; an empty key where there is none."""
    word = next((word for word in node.words if word in devices), "")
    return word, devices.get(word, _NO_SETTINGS)


def switch_identities(topology: Topology) -> Iterator[NodeIdentity]:
    """Yield the identities of all switches, from the hosts upwards."""
    for group in topology.groups:
        yield from identities_of_group(group)


def groups_by_switch(topology: Topology, naming: NamingScheme) -> dict[str, str]:
    """Return the name of each switch's group, by the switch's name."""
    return {name_of(naming, identity): identity.group for identity in switch_identities(topology)}


def _nodes_of_group(
    topology: Topology, group: TierSwitchGroup, names: Mapping[NodeIdentity, str], problems: list[IntentFault]
) -> tuple[PlannedSwitch, ...]:
    keys, wanted = (*group.keys, "model"), group.wanted
    if wanted.model not in switches():
        hint = hint_for_unknown_model(wanted.model)
        problems.append(KeyFault(keys, wanted.model, "a switch model of the catalogue", hint))
        return ()
    model = switch(wanted.model)
    if (reason := find_design_obstacle(model, wanted.platform)) is not None:
        hint = hint_for_undesignable_model(model, wanted.platform)
        problems.append(KeyFault(keys, reason, "a model that can be designed", hint))
        return ()
    ports = count_ports_with_splits(model, declared_splits(topology, group, model))
    up = sum({panel: join.split for join in topology.joins_above(group) for panel in join.lower_ports}.values())
    down = min(ports, MOST_LINKS_PER_SWITCH_PAIR) if topology.joins_below(group) else 0
    paths = max(len(model.panels), up, down)
    taken = frozenset(names.values())
    return tuple(
        PlannedSwitch(
            name=names[identity],
            identity=identity,
            words=intent_key_words_of_switch(names[identity], identity, taken),
            group=group,
            id=identity.id,
            model=model,
            ports=ports,
            paths=paths,
        )
        for identity in identities_of_group(group)
    )
