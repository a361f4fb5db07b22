"""Panel ports as an intent uses them, whole or broken out: the resulting ports, and the limits of a model."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.design.faults import KeyFault
from nodrop.design.topology import (
    TierSwitchGroup,
    Topology,
    endpoints_of_group,
    group_of_endpoints,
    model_of,
)
from nodrop.hardware.ports import NarrowSplit, PortSplit
from nodrop.hardware.schema import SwitchModel
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


def panels_of_endpoints(topology: Topology, name: str) -> tuple[int, ...]:
    """Return the panel ports that a group of endpoints has on its switches."""
    stated = topology.endpoints[name].leaf_ports
    return group_of_endpoints(topology, name).endpoints if stated is None else stated


def blocked_panels(switch_model: SwitchModel, splits: dict[int, int]) -> set[int]:
    """Return the panel ports that are lost to the ones before them, which have the given splits."""
    return {
        panel + 1
        for panel, into in splits.items()
        if (group := switch_model.group(panel)) and (breakout := group.find_breakout(into)) and breakout.blocks_next
    }


def declared_splits(topology: Topology, group: TierSwitchGroup, switch_model: SwitchModel) -> dict[int, int]:
    """Return into how many ports every panel port of a group's switches that faces something would be split."""
    splits: dict[int, int] = {}
    for join in topology.joins_below(group):
        for panel in join.upper_panels(switch_model):
            splits[panel] = max(join.upper_split_factor, splits.get(panel, 1))
    for join in topology.joins_above(group):
        for panel in join.lower_ports:
            splits[panel] = max(join.split, splits.get(panel, 1))
    for name in endpoints_of_group(topology, group):
        for panel in panels_of_endpoints(topology, name):
            splits[panel] = max(topology.endpoints[name].split, splits.get(panel, 1))
    return splits


def count_ports_with_splits(switch_model: SwitchModel, splits: dict[int, int]) -> int:
    """Return the number of ports of a switch whose panel ports have the given splits, service ports left out."""
    lost = blocked_panels(switch_model, splits)
    return sum(splits.get(panel, 1) for panel in switch_model.panels if panel not in lost)


class _StatedPortSplit(NamedTuple):
    """Panel ports of a group with the same split, and the keys that state it."""

    group: TierSwitchGroup
    model: SwitchModel
    keys: tuple[str, ...]
    into: int
    panels: tuple[int, ...]
    list_keys: tuple[str, ...] = ()
    """Of the intent, where it lists them."""
    lanes: int | None = None
    """In use of each port; None is all of them."""

    @property
    def platform(self) -> str:
        return self.group.wanted.platform


def split_faults(topology: Topology) -> Iterator[KeyFault]:
    """Yield splits that a model or its network OS does not support, and ports that they would block."""
    reported_splits: set[tuple[tuple[str, ...], str]] = set()
    for use in _split_uses(topology):
        if use.list_keys and len(kinds := use.model.panels_by_kind(use.panels)) > 1:
            description = f"{show_ids(use.panels)}: {use.model.name} has ports of several kinds there"
            yield KeyFault(use.list_keys, description, "ports of one kind", " or ".join(map(show_ids, kinds)))
            continue
        breakout = use.model.find_breakout(use.into, use.panels)
        splits = [split for split in use.model.breakout_options(use.panels) if _supports_platform(split, use.platform)]
        if breakout is None or breakout not in splits:
            if (use.keys, use.model.name) in reported_splits:
                continue
            reported_splits.add((use.keys, use.model.name))
            description = f"{use.model.name} on {use.platform} has no ports that are split into {use.into}"
            expected = ", ".join(str(split.into) for split in splits)
            yield KeyFault(use.keys, description, expected)
        elif use.lanes is not None and (fault := _find_lanes_fault(use)):
            yield KeyFault((*use.keys[:-1], "lanes"), *fault)
        elif breakout.blocks_next and use.list_keys:
            yield from _unsplittable_ports(topology, use, use.panels)


def _find_lanes_fault(use: _StatedPortSplit) -> tuple[str, str] | None:
    """Return why ports cannot use so many of their lanes, and the possible use; None if they can."""
    breakout = use.model.find_split_with_lanes(use.into, use.panels, use.lanes)
    if breakout is not None and _supports_platform(breakout, use.platform):
        since = breakout.since if isinstance(breakout, NarrowSplit) else None
        if since is None or use.group.wanted.version >= since:
            return None
        fault = f"{use.model.name} has {breakout.modes[0]} since {since}, and this is {use.group.wanted.version}"
        return fault, f"{since} or later"
    groups = [group for group in use.model.ports if not group.panels_set.isdisjoint(use.panels)]
    modes = [
        mode for group in groups for one in group.narrow if _supports_platform(one, use.platform) for mode in one.modes
    ]  # fmt: skip
    split_text = f" when split into {use.into}" if use.into > 1 else ""
    fault = f"{use.model.name} on {use.platform} has no ports that use {use.lanes} of their lanes{split_text}"
    return fault, f"one of {', '.join(dict.fromkeys(modes))}" if modes and use.into == 1 else "no lanes"


def _supports_platform(breakout: PortSplit, platform: str) -> bool:
    return not breakout.platforms or platform in breakout.platforms


def _split_uses(topology: Topology) -> Iterator[_StatedPortSplit]:
    for join in topology.joins:
        if join.cables:  # each port was checked with its row
            continue
        lanes, model = join.wanted.lanes, model_of(join.lower)
        yield _StatedPortSplit(
            join.lower, model, (*join.keys, "split"), join.split, join.lower_ports, join.ports_keys, lanes
        )
        stated = (*join.keys, "split" if join.stated_upper_split is None else join.words.upper_split)
        model = model_of(join.upper)
        yield _StatedPortSplit(
            join.upper, model, stated, join.upper_split_factor, join.upper_panels(model), join.upper_ports_keys, lanes
        )
    for name, wanted in topology.endpoints.items():
        group = group_of_endpoints(topology, name)
        listed = (*group.ports_keys, "endpoints") if wanted.leaf_ports is None else ("endpoints", name, "leaf_ports")
        keys = ("endpoints", name, "split")
        yield _StatedPortSplit(
            group, model_of(group), keys, wanted.split, panels_of_endpoints(topology, name), listed, wanted.lanes
        )


def _unsplittable_ports(topology: Topology, use: _StatedPortSplit, panels: tuple[int, ...]) -> Iterator[KeyFault]:
    """Yield ports that cannot be split since they are even, or since the one after them is in use."""
    used = set(declared_splits(topology, use.group, use.model))
    odd = tuple(panel for panel in panels if panel % 2)
    kept_numbers = tuple(panel for panel in odd if panel + 1 not in used - set(panels))
    if kept_numbers != panels or any(panel + 1 in used for panel in kept_numbers):
        fault = f"{show_ids(panels)}: split into {use.into}, a port takes the one after it"
        expected = "odd ports, the next ones unused"
        hint = f"{use.list_keys[-1]}: {show_ids(kept_numbers)}" if kept_numbers else ""
        yield KeyFault(use.list_keys, fault, expected, hint)
