"""The first step of the design: which switches and hosts there are, and which port is cabled to which.

Ports follow from ids: nothing moves when a switch, an endpoint or an uplink is added.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nodrop.errors import Problem
from nodrop.fabric.fabric import Port
from nodrop.hardware import media, nearest, nic, nics, switch, switches
from nodrop.hardware.schema import Medium, Nic, Switch
from nodrop.intent.schema import Endpoints, Intent, Leaves, Tier
from nodrop.units import show_ids, show_speed

LEAF, SPINE = "leaf", "spine"
TIERS = (LEAF, SPINE)
"""Roles from the hosts upwards; a role's index numbers its sub-pools of addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A switch to be built."""

    name: str
    role: str
    id: int
    tier: Tier
    model: Switch


@dataclass(frozen=True, slots=True, kw_only=True)
class Cabling:
    """What a group of links has in common, and the intent's path to it."""

    speed_mbps: int
    media: Medium
    length_m: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricCable:
    """A link between two switches; the lower one owns its addresses."""

    lower: Node
    lower_port: Port
    upper: Node
    upper_port: Port
    cabling: Cabling


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCable:
    """A link from a leaf to a port (numbered from 1) of a host."""

    leaf: Node
    leaf_port: Port
    host: str
    host_port: int
    group: str
    cabling: Cabling


@dataclass(slots=True, kw_only=True)
class Layout:
    """The fabric's boxes and cables, before anything is configured."""

    nodes: list[Node] = field(default_factory=list)
    fabric_cables: list[FabricCable] = field(default_factory=list)
    host_cables: list[HostCable] = field(default_factory=list)
    nics: dict[str, Nic] = field(default_factory=dict)
    _by_switch: dict[str, list[FabricCable]] = field(default_factory=dict, init=False, repr=False)

    def role(self, role: str) -> list[Node]:
        """Return the switches of one role, by id."""
        return [node for node in self.nodes if node.role == role]

    def cables_of(self, node: Node) -> list[FabricCable]:
        """Return the fabric links of a switch."""
        if not self._by_switch:
            for cable in self.fabric_cables:
                for end in (cable.lower, cable.upper):
                    self._by_switch.setdefault(end.name, []).append(cable)
        return self._by_switch.get(node.name, [])


def halving(index: int, slots: int) -> int:
    """Return where the `index`-th of a growing number of blocks starts among `slots`: 0, ½, ¼, ¾, ⅛, …

    The van der Corput sequence in base 2: every new block lands in the middle of the largest gap, so blocks that
    exist never move, and each can grow until it meets the next.
    """
    numerator, denominator = 0, 1
    while index:
        numerator, denominator = numerator * 2 + index % 2, denominator * 2
        index //= 2
    return slots * numerator // denominator


def block_start(index: int, ports: int, slots: int | None) -> int:
    """Return the first port, counted from 0, of the `index`-th peer's block; `slots` shares the ports out evenly."""
    return halving(index, ports) if slots is None else index * (ports // slots)


def lay_out(intent: Intent, problems: list[Problem]) -> Layout:
    """Return boxes and cables; what cannot be is added to `problems`."""
    layout = Layout()
    topology = intent.topology
    for role, key, tier in ((LEAF, "leaves", topology.leaves), (SPINE, "spines", topology.spines)):
        facts = _model(intent, ("topology", key, "model"), tier.model, problems)
        if 0 in tier.ids:
            problems.append(intent.problem(("topology", key, "ids"), "0", "ids from 1"))
        if facts:
            layout.nodes += [Node(name=f"{role}{n}", role=role, id=n, tier=tier, model=facts) for n in tier.ids if n]
    if problems:
        return layout
    _check_leaf_ports(intent, layout, problems)
    _fabric_cables(intent, layout, problems)
    _host_cables(intent, layout, problems)
    _check_oversubscription(intent, layout, problems)
    return layout


def _model(intent: Intent, keys: Sequence[str], model: str, problems: list[Problem]) -> Switch | None:
    if model in switches():
        return switch(model)
    problems.append(intent.problem(keys, model, "a switch model of the catalogue", nearest(model, switches())))
    return None


def _check_leaf_ports(intent: Intent, layout: Layout, problems: list[Problem]) -> None:
    leaves: Leaves = intent.topology.leaves
    facts = layout.role(LEAF)[0].model
    for key, ids in (
        ("endpoints", leaves.ports.endpoints),
        ("uplinks", leaves.ports.uplinks),
        ("dead", leaves.ports.dead),
    ):
        missing = tuple(sorted(set(ids) - set(facts.panels)))
        if missing:
            keys = ("topology", "leaves", "ports", key)
            found = f"{facts.name} has no port {show_ids(missing)}"
            problems.append(intent.problem(keys, found, f"ports {show_ids(facts.panels)}"))
    used = [*leaves.ports.endpoints, *leaves.ports.uplinks, *leaves.ports.dead]
    twice = tuple(sorted({port for port in used if used.count(port) > 1}))
    if twice:
        keys = ("topology", "leaves", "ports")
        problems.append(intent.problem(keys, f"port {show_ids(twice)} is given two uses", "one use for each port"))


def cabling(
    intent: Intent, keys: tuple[str, ...], speed_mbps: int, medium: str, length_m: int, problems: list[Problem]
) -> Cabling | None:
    """Return what a group of links has in common; an unknown medium, speed or reach is a problem."""
    if medium not in media():
        hint = nearest(medium, tuple(media()))
        problems.append(intent.problem((*keys, "media"), medium, "a medium of the catalogue", hint))
        return None
    facts = media()[medium]
    if speed_mbps not in facts.speeds:
        fitting = ", ".join(name for name, other in media().items() if speed_mbps in other.speeds)
        found = f"{medium} does not carry {show_speed(speed_mbps)}"
        problems.append(intent.problem((*keys, "media"), found, hint=f"{show_speed(speed_mbps)} runs on {fitting}"))
        return None
    if length_m > facts.max_length_m:
        problems.append(intent.problem((*keys, "length"), f"{length_m}m", f"at most {facts.max_length_m}m on {medium}"))
    return Cabling(speed_mbps=speed_mbps, media=facts, length_m=length_m, keys=keys)


def switch_lanes(node: Node, panel: int, link: Cabling) -> int | None:
    """Return the lanes that a panel port uses at the link's speed; None where it cannot run it."""
    group = node.model.group(panel)
    return group.lanes if group is not None and link.speed_mbps in group.speeds else None


def check_lanes(intent: Intent, link: Cabling, ends: Sequence[tuple[str, int | None]], problems: list[Problem]) -> None:
    """Refuse ends that cannot run the link's speed, and passive cables between unlike lanes."""
    for name, lanes in ends:
        if lanes is None:
            found = f"{name} has no {show_speed(link.speed_mbps)} port"
            problems.append(intent.problem((*link.keys, "speed"), found))
            return
    (one, one_lanes), (other, other_lanes) = ends
    assert one_lanes is not None and other_lanes is not None  # noqa: PT018 -- for the type checker
    if not link.media.passive:
        return
    if one_lanes != other_lanes:
        active = ", ".join(
            name for name, medium in media().items() if not medium.passive and link.speed_mbps in medium.speeds
        )
        found = (
            f"{link.media.name} is passive and cannot join {one_lanes} lanes of {one} "
            f"to {other_lanes} lanes of {other} at {show_speed(link.speed_mbps)}"
        )
        problems.append(intent.problem((*link.keys, "media"), found, hint=f"use {active}"))
    fast = link.speed_mbps // one_lanes > 50_000
    limit = link.media.max_length_m_100g_lanes if fast else None
    if limit is not None and link.length_m > limit:
        expected = f"at most {limit}m on {link.media.name} at 100 Gb/s a lane"
        problems.append(intent.problem((*link.keys, "length"), f"{link.length_m}m", expected))


def _fabric_cables(intent: Intent, layout: Layout, problems: list[Problem]) -> None:
    uplinks = intent.topology.uplinks
    keys = ("topology", "uplinks")
    link = cabling(intent, keys, uplinks.speed, uplinks.media, uplinks.length, problems)
    if link is None:
        return
    leaf_ports = intent.topology.leaves.ports.uplinks
    leaves, spines = layout.role(LEAF), layout.role(SPINE)
    spine_ports = spines[0].model.panels
    needed = uplinks.per_spine * len(spines)
    if needed > len(leaf_ports):
        found = f"{len(spines)} spines × {uplinks.per_spine} uplinks are {needed} ports of each leaf"
        expected = f"at most the {len(leaf_ports)} uplink ports of a leaf"
        hint = _fewer(len(leaf_ports) // len(spines))
        problems.append(intent.problem((*keys, "per_spine"), found, expected, hint))
        return
    if uplinks.per_spine * len(leaves) > len(spine_ports):
        found = f"{len(leaves)} leaves × {uplinks.per_spine} uplinks are {uplinks.per_spine * len(leaves)} ports of each spine"
        expected = f"at most the {len(spine_ports)} ports of {spines[0].model.name}"
        hint = _fewer(len(spine_ports) // len(leaves))
        problems.append(intent.problem((*keys, "per_spine"), found, expected, hint))
        return
    down = _blocks([spine.id for spine in spines], leaf_ports, uplinks.per_spine, uplinks.spine_slots)
    up = _blocks([leaf.id for leaf in leaves], spine_ports, uplinks.per_spine, uplinks.leaf_slots)
    for blocks, slots, what, count in (
        (down, "spine_slots", "spines", len(spines)),
        (up, "leaf_slots", "leaves", len(leaves)),
    ):
        if isinstance(blocks, str):
            hint = f"ids from 1, or {slots}: {count} to share the ports out evenly"
            problems.append(intent.problem((*keys, "per_spine"), f"the ports for {what} collide: {blocks}", hint=hint))
    if isinstance(down, str) or isinstance(up, str):
        return
    check_lanes(
        intent,
        link,
        [
            (leaves[0].model.name, switch_lanes(leaves[0], leaf_ports[0], link)),
            (spines[0].model.name, switch_lanes(spines[0], spine_ports[0], link)),
        ],
        problems,
    )
    layout.fabric_cables += [
        FabricCable(
            lower=leaf,
            lower_port=Port(down[spine.id][k]),
            upper=spine,
            upper_port=Port(up[leaf.id][k]),
            cabling=link,
        )
        for leaf in leaves
        for spine in spines
        for k in range(uplinks.per_spine)
    ]


def _fewer(count: int) -> str:
    return f"per_spine: {count}" if count else "a model with more ports, or fewer switches"


def _blocks(ids: Sequence[int], ports: Sequence[int], each: int, slots: int | None) -> dict[int, tuple[int, ...]] | str:
    """Return the panel ports of each peer by its id, or a sentence that says which two peers meet."""
    taken: dict[int, int] = {}
    result: dict[int, tuple[int, ...]] = {}
    for number in ids:
        start = block_start(number - 1, len(ports), slots)
        block = range(start, start + each)
        for position in block:
            if position >= len(ports):
                return f"number {number} needs a port past the last"
            if position in taken:
                return f"numbers {taken[position]} and {number} both need port {ports[position]}"
            taken[position] = number
        result[number] = tuple(ports[position] for position in block)
    return result


def _host_cables(intent: Intent, layout: Layout, problems: list[Problem]) -> None:
    leaves = {leaf.id: leaf for leaf in layout.role(LEAF)}
    taken: dict[tuple[str, int], str] = {}
    for name, group in intent.endpoints.items():
        keys = ("endpoints", name)
        adapter = _nic(intent, keys, group, problems)
        link = cabling(intent, keys, group.speed, group.media, group.length, problems)
        if adapter is None or link is None:
            continue
        layout.nics[name] = adapter
        ports = _group_ports(intent, keys, group, problems)
        model = layout.role(LEAF)[0]
        ends = [(model.model.name, switch_lanes(model, ports[0], link)), (group.nic, adapter.lanes.get(group.speed))]
        check_lanes(intent, link, ends, problems)
        for host_id, host_port, leaf_id, slot in _placements(group):
            host = f"{name}{host_id}"
            if leaf_id not in leaves:
                found = f"{host} needs leaf{leaf_id}"
                problems.append(intent.problem((*keys, "ids"), found, f"leaves {show_ids(tuple(leaves))}"))
                break
            if slot >= len(ports):
                found = f"{host} needs port {slot + 1} of the {len(ports)} that this group has on each leaf"
                problems.append(intent.problem((*keys, "leaf_group"), found, hint="fewer per leaf, or more leaf ports"))
                break
            leaf, panel = leaves[leaf_id], ports[slot]
            if (leaf.name, panel) in taken:
                found = f"{host} and {taken[leaf.name, panel]} both need port {panel} of {leaf.name}"
                hint = "give each group its own leaf_ports"
                problems.append(intent.problem((*keys, "leaf_ports") if group.leaf_ports else keys, found, hint=hint))
                break
            taken[leaf.name, panel] = host
            cable = HostCable(
                leaf=leaf, leaf_port=Port(panel), host=host, host_port=host_port, group=name, cabling=link
            )
            layout.host_cables.append(cable)


def _nic(intent: Intent, keys: tuple[str, ...], group: Endpoints, problems: list[Problem]) -> Nic | None:
    if group.nic not in nics():
        expected = "a NIC of the catalogue"
        problems.append(intent.problem((*keys, "nic"), group.nic, expected, nearest(group.nic, nics())))
        return None
    return nic(group.nic)


def _group_ports(intent: Intent, keys: tuple[str, ...], group: Endpoints, problems: list[Problem]) -> tuple[int, ...]:
    of_leaf = intent.topology.leaves.ports.endpoints
    if group.leaf_ports is None:
        if len(intent.endpoints) > 1:
            found = "several groups share the leaves' endpoint ports"
            expected = f"leaf_ports: some of {show_ids(of_leaf)}"
            problems.append(intent.problem(keys, found, expected))
        return of_leaf
    foreign = tuple(sorted(set(group.leaf_ports) - set(of_leaf)))
    if foreign:
        found = f"port {show_ids(foreign)} is not an endpoint port"
        problems.append(intent.problem((*keys, "leaf_ports"), found, f"some of {show_ids(of_leaf)}"))
    return group.leaf_ports


def _placements(group: Endpoints) -> Iterator[tuple[int, int, int, int]]:
    """Yield (host id, host port, leaf id, slot on that leaf) for every port of a group; all follow from ids."""
    for host in group.ids:
        block, position = divmod(max(host, 1) - 1, group.leaf_group)
        for port in range(1, group.ports + 1):
            if group.spread == "leaves":
                yield host, port, block * group.ports + port, position
            else:
                yield host, port, block + 1, position * group.ports + port - 1


def _check_oversubscription(intent: Intent, layout: Layout, problems: list[Problem]) -> None:
    if problems:
        return
    limit = intent.topology.max_oversubscription
    for leaf in layout.role(LEAF):
        down = sum(cable.cabling.speed_mbps for cable in layout.host_cables if cable.leaf is leaf)
        up = sum(cable.cabling.speed_mbps for cable in layout.fabric_cables if cable.lower is leaf)
        if up and down > up * limit:
            found = f"{leaf.name} is {down / up:g}:1 oversubscribed: {show_speed(down)} down, {show_speed(up)} up"
            needed = -(-down // (round(limit * intent.topology.uplinks.speed) * len(layout.role(SPINE))))
            hint = f"per_spine: {needed}, or max_oversubscription: {down / up:g}"
            problems.append(intent.problem(("topology", "max_oversubscription"), found, f"at most {limit:g}:1", hint))
            return
