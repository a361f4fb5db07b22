"""Panel ports as an intent uses them, whole or broken out: the resulting ports, and the limits of a model."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.errors import Problem
from nodrop.hardware.ports import NarrowWay, Split
from nodrop.hardware.schema import Switch
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Port
from nodrop.units import show_ids


class SplitPort(NamedTuple):
    """Where a cable goes in: the port, and into how many parts its panel port is split."""

    panel: int
    split: int = 0
    splits: int = 1

    @property
    def port(self) -> Port:
        """The port, which is the same however many other parts there are."""
        return Port(self.panel, self.split)

    def __str__(self) -> str:
        return f"{self.panel}/{self.split + 1}" if self.splits > 1 else str(self.panel)


def split_ports(panels: tuple[int, ...], split_count: int) -> tuple[SplitPort, ...]:
    """Return the ports that panel ports give, those of a panel port side by side."""
    return tuple(SplitPort(panel, split_index, split_count) for panel in panels for split_index in range(split_count))


def spine_panels(intent: Intent, switch_model: Switch) -> tuple[int, ...]:
    """Return the spines' panel ports that links of the uplinks' speed can take, split as the spines' are."""
    return switch_model.usable(spine_split_factor(intent), intent.topology.uplinks.speed)


def spine_split_factor(intent: Intent) -> int:
    """Return into how many ports the spines' panel ports are split."""
    uplinks = intent.topology.uplinks
    return uplinks.split if uplinks.spine_split is None else uplinks.spine_split


def group_panels(intent: Intent, name: str) -> tuple[int, ...]:
    """Return the leaves' panel ports of a group of endpoints."""
    stated = intent.endpoints[name].leaf_ports
    return intent.topology.leaves.ports.endpoints if stated is None else stated


def blocked_panels(switch_model: Switch, splits: dict[int, int]) -> set[int]:
    """Return the panel ports that are lost to the ones before them, which have the given splits."""
    return {
        panel + 1
        for panel, into in splits.items()
        if (group := switch_model.group(panel)) and (breakout := group.find_breakout(into)) and breakout.blocks_next
    }


def leaf_splits(intent: Intent) -> dict[int, int]:
    """Return into how many ports every panel port of a leaf that faces something would be split."""
    uplinks = dict.fromkeys(intent.topology.leaves.ports.uplinks, intent.topology.uplinks.split)
    for name, group in intent.endpoints.items():
        for panel in group_panels(intent, name):
            uplinks[panel] = max(group.split, uplinks.get(panel, 1))
    return uplinks


def most_ports(switch_model: Switch, splits: dict[int, int]) -> int:
    """Return the number of ports of a switch whose panel ports have the given splits, service ports left out."""
    lost = blocked_panels(switch_model, splits)
    return sum(splits.get(panel, 1) for panel in switch_model.panels if panel not in lost)


class _Use(NamedTuple):
    """Panel ports of a tier with the same split, and the keys that state it."""

    tier: str
    model: Switch
    platform: str
    keys: tuple[str, ...]
    into: int
    panels: tuple[int, ...]
    list_keys: tuple[str, ...] = ()
    """Of the intent, where it lists them."""
    lanes: int | None = None
    """In use of each port; None is all of them."""
    release: str = ""


def split_faults(intent: Intent, leaf: Switch, spine: Switch) -> Iterator[Problem]:
    """Yield splits that a model or its network OS does not support, and ports that they would block."""
    reported_splits: set[tuple[tuple[str, ...], str]] = set()
    for use in _split_uses(intent, leaf, spine):
        if use.list_keys and len(kinds := use.model.kinds(use.panels)) > 1:
            description = f"{show_ids(use.panels)}: {use.model.name} has ports of several kinds there"
            yield intent.problem(use.list_keys, description, "ports of one kind", " or ".join(map(show_ids, kinds)))
            continue
        breakout = use.model.find_breakout(use.into, use.panels)
        splits = [split for split in use.model.ways(use.panels) if _supports_platform(split, use.platform)]
        if breakout is None or breakout not in splits:
            if (use.keys, use.model.name) in reported_splits:
                continue
            reported_splits.add((use.keys, use.model.name))
            description = f"{use.model.name} on {use.platform} has no ports that are split into {use.into}"
            expected = ", ".join(str(split.into) for split in splits)
            yield intent.problem(use.keys, description, expected)
        elif use.lanes is not None and (fault := _find_lanes_fault(use)):
            yield intent.problem((*use.keys[:-1], "lanes"), *fault)
        elif breakout.blocks_next and use.list_keys:
            yield from _unsplittable_ports(intent, use, use.panels)


def _find_lanes_fault(use: _Use) -> tuple[str, str] | None:
    """Return why ports cannot use so many of their lanes, and the possible use; None if they can."""
    breakout = use.model.way(use.into, use.panels, use.lanes)
    if breakout is not None and _supports_platform(breakout, use.platform):
        since = breakout.since if isinstance(breakout, NarrowWay) else None
        if since is None or use.release >= since:
            return None
        return f"{use.model.name} has {breakout.modes[0]} since {since}, and this is {use.release}", f"{since} or later"
    groups = [group for group in use.model.ports if not group.panels_set.isdisjoint(use.panels)]
    modes = [
        mode for group in groups for one in group.narrow if _supports_platform(one, use.platform) for mode in one.modes
    ]  # fmt: skip
    split_text = f" when split into {use.into}" if use.into > 1 else ""
    fault = f"{use.model.name} on {use.platform} has no ports that use {use.lanes} of their lanes{split_text}"
    return fault, f"one of {', '.join(dict.fromkeys(modes))}" if modes and use.into == 1 else "no lanes"


def _supports_platform(breakout: Split, platform: str) -> bool:
    return not breakout.platforms or platform in breakout.platforms


def _split_uses(intent: Intent, leaf: Switch, spine: Switch) -> Iterator[_Use]:
    topology = intent.topology
    on_leaf, on_spine, keys = topology.leaves.platform, topology.spines.platform, ("topology", "uplinks")
    ports = ("topology", "leaves", "ports")
    into, of_spine = topology.uplinks.split, topology.uplinks.spine_split
    lanes, releases = topology.uplinks.lanes, (topology.leaves.version, topology.spines.version)
    up = topology.leaves.ports.uplinks
    yield _Use("leaf", leaf, on_leaf, (*keys, "split"), into, up, (*ports, "uplinks"), lanes, releases[0])
    stated = (*keys, "split" if of_spine is None else "spine_split")
    yield _Use("spine", spine, on_spine, stated, of_spine or into, spine_panels(intent, spine), (), lanes, releases[1])
    for name, group in intent.endpoints.items():
        listed = (*ports, "endpoints") if group.leaf_ports is None else ("endpoints", name, "leaf_ports")
        panels = group_panels(intent, name)
        stated = ("endpoints", name, "split")
        yield _Use("leaf", leaf, on_leaf, stated, group.split, panels, listed, group.lanes, releases[0])


def _unsplittable_ports(intent: Intent, use: _Use, panels: tuple[int, ...]) -> Iterator[Problem]:
    """Yield ports that cannot be split since they are even, or since the one after them is in use."""
    used = set(leaf_splits(intent))
    odd = tuple(panel for panel in panels if panel % 2)
    kept_numbers = tuple(panel for panel in odd if panel + 1 not in used - set(panels))
    if kept_numbers != panels or any(panel + 1 in used for panel in kept_numbers):
        fault = f"{show_ids(panels)}: split into {use.into}, a port takes the one after it"
        expected = "odd ports, the next ones unused"
        hint = f"{use.list_keys[-1]}: {show_ids(kept_numbers)}" if kept_numbers else ""
        yield intent.problem(use.list_keys, fault, expected, hint)
