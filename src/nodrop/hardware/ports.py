"""Facts about the ports of a switch: kinds of panel ports, and the ways to break them out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from nodrop import units


def _make_tuple_reader(read: Any) -> object:
    return lambda values: tuple(read(value) for value in values)


def _bytes_by_speed(table: dict[str, Any]) -> dict[int, int]:
    return {units.parse_speed_mbps(speed): int(size) for speed, size in table.items()}


def _lanes_by_speed(table: dict[str, object]) -> dict[int, tuple[int, ...]]:
    lists = {speed: lanes if isinstance(lanes, list) else [lanes] for speed, lanes in table.items()}
    return {units.parse_speed_mbps(speed): tuple(map(int, lanes)) for speed, lanes in lists.items()}


BytesBySpeed = Annotated[dict[int, int], BeforeValidator(_bytes_by_speed)]
"""Bytes by speed: `{100G: 160000}`."""
LanesBySpeed = Annotated[dict[int, tuple[int, ...]], BeforeValidator(_lanes_by_speed)]
"""Numbers of lanes by speed: `{400G: 4, 200G: [2, 4]}`."""
Speeds = Annotated[tuple[int, ...], BeforeValidator(_make_tuple_reader(units.parse_speed_mbps))]
Ids = Annotated[tuple[int, ...], BeforeValidator(units.parse_ids)]
_SPLIT_LETTERS = "abcdefghijklmnop"


BreakoutByPanel = Mapping[int, tuple[int, int]]
"""By panel port, into how many ports it is broken out, and their speed in Mb/s."""


def format_breakouts(ports: BreakoutByPanel) -> str:
    """Return ports by their use: `2x400G on ports 1-32, 1x800G on ports 33-64`."""
    panels: dict[tuple[int, int], list[int]] = {}
    for panel in sorted(ports):
        panels.setdefault(ports[panel], []).append(panel)
    return ", ".join(
        f"{into}x{units.show_speed(speed)} on ports {units.show_ids(numbers)}"
        for (into, speed), numbers in panels.items()
    )


def _parse_lanes(yaml_text: str) -> tuple[int, ...]:
    """Read lanes in their order: `1-4`, `4,3,2,1`."""
    lane_lists: list[int] = []
    for lane_range in yaml_text.split(","):
        first_lane, _, last = lane_range.partition("-")
        lane_lists += range(int(first_lane), int(last or first_lane) + 1)
    return tuple(lane_lists)


LaneList = Annotated[tuple[int, ...], BeforeValidator(_parse_lanes)]


class SourcedFacts(BaseModel):
    """Facts are frozen, closed, and name their sources."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    sources: tuple[str, ...] = ()


class PortSplit(SourcedFacts):
    """One way to use a panel port: whole, or broken out into ports of equal lanes."""

    into: int
    lanes: int
    """Lanes of each part; it uses all of them at each speed."""
    speeds: Speeds
    """Speeds of each part, fastest first."""
    modes: tuple[str, ...] = ()
    """How SONiC's platform.json spells it where that is not one mode with all the speeds, fastest first."""
    blocks_next: bool = False
    """Whether only ports of odd number can be split so, and the panel port after each is lost to it."""
    platforms: tuple[str, ...] = ()
    """The network OSes that know this split of the model; none named are all."""

    def sonic_breakout_mode(self, speed_mbps: int | None) -> str:
        """Return SONiC's breakout mode at a speed: `2x400G[200G,100G]`."""
        fastest, *slower_speeds = (units.show_speed(speed) for speed in self.speeds)
        speed = fastest if speed_mbps is None else units.show_speed(speed_mbps)
        spelt = next((mode for mode in self.modes if speed in _speeds_of_breakout_mode(mode)), None)
        return spelt or f"{self.into}x{fastest}" + (f"[{','.join(slower_speeds)}]" if slower_speeds else "")


class NarrowSplit(PortSplit):
    """A way to use a whole panel port with fewer lanes than it has: the first ones (SONiC's `1x100G(4)`)."""

    into: Literal[1] = 1
    since: str | None = None
    """The first release of SONiC whose platform.json has it, where earlier ones have the model without it."""

    def is_supported_by_release(self, platform: str, release: str) -> bool:
        """Return whether a release of a network OS has it."""
        return (not self.platforms or platform in self.platforms) and (self.since is None or release >= self.since)


def _speeds_of_breakout_mode(mode: str) -> Iterator[str]:
    """Yield the speeds of a mode: with a unit, or in Mb/s, as `1x1000[100,10]` has them."""
    yield from re.findall(r"[0-9.]+[MGT]", mode)
    yield from (units.show_speed(int(bare)) for bare in re.findall(r"(?<![0-9.])[0-9]{2,6}(?![0-9.MGT])", mode))


class SonicPortNaming(BaseModel):
    """How SONiC numbers and names the panel ports of a group."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    number: int
    """Of the first panel port: 8 is Ethernet8. A part of a port adds the lanes before it."""
    step: int | None = None
    """From one panel port to the next; None is the lanes of a port."""
    lanes: int | tuple[LaneList, ...]
    """Of each panel port in turn; a number is the first lane of the first, the others following without a gap."""
    index: int = 0
    """What a port's index is more than the number of its panel port."""
    per_index: int = 1
    """How many panel ports share an index, those of one front panel connector."""
    alias: str
    """Pattern of a whole port's alias: `{panel}` is its number, `{panel0}` one less, `{number}` that of its name."""
    part_alias: str = ""
    """That of a part: `{letter}` a, b …, `{part}` 1, 2 …, `{lane}` the first of its lanes counted in the panel port;
    left out, it is the whole port's with the letter."""


class SonicPort(NamedTuple):
    """A panel port as SONiC knows it."""

    number: int
    lanes: tuple[int, ...]
    front_index: int
    alias: str
    part_alias: str

    def lane_positions_of_part(self, split: int, splits: int) -> range:
        """Return the places of a part's lanes among those of the panel port."""
        width = max(len(self.lanes) // splits, 1)
        return range(split * width, split * width + width)

    def alias_of(self, panel: int, lane: int, position: int | None) -> str:
        """Return the alias of the port whose first lane has a place; `position` counts from 0, None being the whole."""
        pattern = self.alias if position is None else self.part_alias or self.alias + "{letter}"
        words = {
            "panel": panel,
            "panel0": panel - 1,
            "number": self.number + lane,
            "letter": _SPLIT_LETTERS[position or 0],
        }
        return pattern.format(**words, part=(position or 0) + 1, lane=lane + 1)


class PortGroup(SourcedFacts):
    """Panel ports that are alike."""

    panels: Ids
    lanes: int
    speeds: Speeds
    """Speeds of an unsplit port, fastest first; it uses all its lanes at each."""
    modes: tuple[str, ...] = ()
    """See `Split.modes`."""
    connector: Literal["QSFP-DD"] | None = None
    """The cage, where it also takes modules of fewer lanes: QSFP-DD takes QSFP modules, on four of its eight lanes."""
    service: Literal[False, True, "extra"] = False
    """A port for management or service, not for the fabric: its vendor calls it so or leaves it out of the lists of
    ports that its buffer templates fill. `extra` is a slow port beside those of the fabric that no source calls so."""
    starts_split: dict[str, int] = Field(default_factory=dict)
    """By network OS, into how many parts a port is broken out where nothing is said of it, in place of being whole."""
    splits: tuple[PortSplit, ...] = ()
    """The ways to break a port out into parts that have all of its lanes."""
    narrow: tuple[NarrowSplit, ...] = ()
    """The ways to use a port with fewer of its lanes, for modules that have no more."""
    other_modes: tuple[str, ...] = ()
    """Modes of platform.json that nodrop does not write (parts of fewer lanes, or a mix), and those of HWSKUs."""
    sonic: SonicPortNaming | None = None
    """None where no port map of SONiC is known."""

    def find_breakout(self, into: int) -> PortSplit | None:
        """Return how a port is split into so many parts, 1 for one that is whole; None where it cannot be."""
        return next((split for split in self.breakout_options if split.into == into), None)

    def find_split_with_lanes(self, into: int, lanes: int | None) -> PortSplit | None:
        """Return how a port is split into so many parts with so many lanes each; None for lanes is all of them."""
        if lanes is None:
            return self.find_breakout(into)
        return next(
            (split for split in (*self.breakout_options, *self.narrow) if (split.into, split.lanes) == (into, lanes)),
            None,
        )

    @cached_property
    def panels_set(self) -> frozenset[int]:
        """Its panel ports."""
        return frozenset(self.panels)

    def splits_on(self, platform: str) -> list[PortSplit]:
        """Return the ways that a network OS breaks a port out."""
        return [split for split in self.splits if not split.platforms or platform in split.platforms]

    def panels_splittable_at_once(self, into: int) -> tuple[int, ...]:
        """Return its panel ports that can all be split so at once."""
        breakout = self.find_breakout(into)
        return tuple(panel for panel in self.panels if panel % 2) if breakout and breakout.blocks_next else self.panels

    @property
    def max_port_count(self) -> int:
        """How many ports it gives at most."""
        return max(split.into * len(self.panels_splittable_at_once(split.into)) for split in self.breakout_options)

    @cached_property
    def speeds_of_odd_breakout_modes(self) -> frozenset[int]:
        """Return the speeds of its modes that leave lanes unused or mix parts, in Mb/s."""
        modes_text = " ".join(mode.partition(" of ")[0] for mode in self.other_modes)
        narrow = frozenset(speed for split in self.narrow for speed in split.speeds)
        return narrow | {units.parse_speed_mbps(speed) for speed in re.findall("[0-9]+G", modes_text)}

    @cached_property
    def breakout_options(self) -> tuple[PortSplit, ...]:
        """The whole port, and the ways to break it out."""
        whole_port = PortSplit.model_construct(into=1, lanes=self.lanes, speeds=self.speeds, modes=self.modes)
        return (whole_port, *self.splits)

    def sonic_ports(self) -> Iterator[tuple[int, SonicPort]]:
        """Yield (panel, what SONiC knows it as)."""
        facts = self.sonic
        if facts is None:
            return
        for place, panel in enumerate(self.panels):
            if isinstance(facts.lanes, int):
                first_lanes = facts.lanes + place * self.lanes
                lanes = tuple(range(first_lanes, first_lanes + self.lanes))
            else:
                lanes = facts.lanes[place]
            number = facts.number + place * (facts.step or self.lanes)
            index = (panel - 1) // facts.per_index + 1 + facts.index
            yield panel, SonicPort(number, lanes, index, facts.alias, facts.part_alias)


def find_common_split(split: PortSplit, other_splits: Sequence[PortSplit | None]) -> PortSplit | None:
    """Return what ways to split ports into equally many have in common; None where their lanes differ."""
    if not other_splits:
        return split
    if any(candidate is None or candidate.lanes != split.lanes for candidate in other_splits):
        return None
    known_splits = [candidate for candidate in other_splits if candidate is not None]
    speeds = tuple(speed for speed in split.speeds if all(speed in candidate.speeds for candidate in known_splits))
    named_platforms = [set(candidate.platforms) for candidate in (split, *known_splits) if candidate.platforms]
    platforms = tuple(sorted(set.intersection(*named_platforms))) if named_platforms else ()
    blocks = any(candidate.blocks_next for candidate in (split, *known_splits))
    return split.model_copy(update={"speeds": speeds, "platforms": platforms, "blocks_next": blocks})
