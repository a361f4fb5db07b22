"""The switches of an intent: an identity, a name, a role, a permanent number, and the known facts of the model."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nodrop.design.naming import Identity, key_words, name_of, switch_identity
from nodrop.design.splits import leaf_splits, most_ports, spine_panels, spine_split_factor
from nodrop.errors import Problem
from nodrop.hardware import nearest, obstacle, switch, switches
from nodrop.hardware.schema import Switch
from nodrop.intent.schema import MOST_PER_SPINE, Intent, Tier
from nodrop.platforms.kit.traits import Traits, traits
from nodrop.units import show_ids

LEAF, SPINE = "leaf", "spine"
TIERS = (LEAF, SPINE)
"""Roles from the hosts upwards; a role's index numbers its sub-pools of addresses."""

TIER_KEYS = {LEAF: "leaves", SPINE: "spines"}
"""The intent's key of a tier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A switch to be built."""

    name: str
    identity: Identity
    words: tuple[str, ...]
    """How keys of the intent may call it, its name first."""
    role: str
    id: int
    tier: Tier
    model: Switch
    ports: int
    """How many ports it has once all that its tier's intent may split are split, service ports left out."""
    paths: int
    """How many equal paths it may need: as many as its model has panel ports, or more where these are split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """All switches, each tier sorted by id."""

    leaves: tuple[Node, ...]
    spines: tuple[Node, ...]

    @property
    def all(self) -> tuple[Node, ...]:
        """Leaves, then spines."""
        return self.leaves + self.spines

    @property
    def most_ports(self) -> int:
        """Return the ports of the switch with the most, split as in the intent."""
        return max(tier[0].ports for tier in (self.leaves, self.spines))


def format_panel_ports(panels: Collection[int]) -> str:
    """Spell panel ports: `port 4`, `ports 3-4, 7`."""
    return f"port{'s' if len(panels) > 1 else ''} {show_ids(panels)}"


def lanes_by_speed(
    switch_model: Switch, split_count: int = 1, panels: tuple[int, ...] = (), lanes: int | None = None
) -> Mapping[int, int]:
    """Return the lanes that a part of panel ports split so uses, by its speed in Mb/s; none where they cannot be."""
    breakout = switch_model.way(split_count, panels, lanes)
    return dict.fromkeys(breakout.speeds, breakout.lanes) if breakout else {}


def traits_by_role(intent: Intent) -> dict[str, Traits]:
    """Return the capabilities of each tier's platform and release, by role."""
    tiers = intent.topology.leaves, intent.topology.spines
    return {role: traits(tier.platform, tier.version) for role, tier in zip((LEAF, SPINE), tiers, strict=True)}


def resolve_switches(intent: Intent, problems: list[Problem]) -> Boxes:
    """Return the switches of an intent; a model that is not in the catalogue is a problem, and its tier is empty."""
    topology = intent.topology
    names = {identity: name_of(intent, identity) for identity in switch_identities(intent)}
    return Boxes(
        leaves=_nodes_of_tier(intent, LEAF, topology.leaves, names, problems),
        spines=_nodes_of_tier(intent, SPINE, topology.spines, names, problems),
    )


def switch_identities(intent: Intent) -> Iterator[Identity]:
    """Yield the identities of all switches, from the hosts upwards."""
    for role, tier in ((LEAF, intent.topology.leaves), (SPINE, intent.topology.spines)):
        yield from (switch_identity(role, number) for number in tier.ids)


def _nodes_of_tier(
    intent: Intent, role: str, tier: Tier, names: Mapping[Identity, str], problems: list[Problem]
) -> tuple[Node, ...]:
    if tier.model not in switches():
        keys = ("topology", TIER_KEYS[role], "model")
        hint = nearest(tier.model, switches())
        problems.append(intent.problem(keys, tier.model, "a switch model of the catalogue", hint))
        return ()
    model = switch(tier.model)
    if (reason := obstacle(model, tier.platform)) is not None:
        keys = ("topology", TIER_KEYS[role], "model")
        problems.append(intent.problem(keys, reason, "a model that can be designed", "see `nodrop hardware`"))
        return ()
    into = spine_split_factor(intent)
    splits = leaf_splits(intent) if role == LEAF else dict.fromkeys(spine_panels(intent, model), into)
    ports = most_ports(model, splits)
    up = len(intent.topology.leaves.ports.uplinks) * intent.topology.uplinks.split
    paths = max(len(model.panels), up if role == LEAF else min(ports, MOST_PER_SPINE))
    taken = frozenset(names.values())
    return tuple(
        Node(
            name=names[identity],
            identity=identity,
            words=key_words(names[identity], identity, taken),
            role=role,
            id=identity.id,
            tier=tier,
            model=model,
            ports=ports,
            paths=paths,
        )
        for number in tier.ids
        for identity in (switch_identity(role, number),)
    )
