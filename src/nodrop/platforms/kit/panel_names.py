"""Ports of a switch by the names that people use: those of every network OS, SONiC's aliases, front panel numbers."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from nodrop import platforms
from nodrop.hardware import switch
from nodrop.hardware.ports import PortGroup, PortSplit
from nodrop.model.fabric import Port

_BREAKOUT_PART_LETTERS = "abcdefgh"


class PanelPortOrPart(NamedTuple):
    """A panel port, or one of the `splits` parts that it is broken out into."""

    panel: int
    split: int = 0
    splits: int = 1


def find_panel_parts(model: str, name: str) -> tuple[PanelPortOrPart, ...]:
    """Return the possible ports of a name on a model, the fewest parts first; nothing if it has no such port."""
    return panel_parts_by_name(model).get(name.casefold(), ())


@lru_cache(maxsize=64)
def panel_parts_by_name(model: str) -> Mapping[str, tuple[PanelPortOrPart, ...]]:
    """Return all names of a model's ports in lower case; a name of a network OS hides an alias, and that a number.

    KeyError for an unknown model.
    """
    result: dict[str, tuple[PanelPortOrPart, ...]] = {}
    for spell in (_part_names_on_platforms, _sonic_aliases_of_part, _conventional_names_of_part):
        names: dict[str, list[PanelPortOrPart]] = {}
        for group in switch(model).ports:
            for way in () if group.service else group.breakout_options:
                for part in (
                    PanelPortOrPart(panel, split, way.into) for panel in group.panels for split in range(way.into)
                ):
                    for name in spell(model, group, way, part):
                        names.setdefault(name.casefold(), []).append(part)
        result = {name: tuple(sorted(set(parts), key=_part_sort_key)) for name, parts in names.items()} | result
    return result


def _part_sort_key(part: PanelPortOrPart) -> tuple[int, int, int]:
    return part.splits, part.panel, part.split


def _part_names_on_platforms(model: str, group: PortGroup, way: PortSplit, part: PanelPortOrPart) -> Iterator[str]:
    for platform in platforms.writable_platforms():
        try:
            yield platforms.port_name(platform, model, Port(part.panel, part.split), part.splits)
        except KeyError:  # a network OS that does not run on the model names none of its ports
            continue


def _sonic_aliases_of_part(model: str, group: PortGroup, way: PortSplit, part: PanelPortOrPart) -> Iterator[str]:
    port = switch(model).sonic_ports.get(part.panel)
    if port is not None:
        lane = port.lane_positions_of_part(part.split, part.splits).start
        yield port.alias_of(part.panel, lane, part.split if part.splits > 1 else None)


def _conventional_names_of_part(model: str, group: PortGroup, way: PortSplit, part: PanelPortOrPart) -> Iterator[str]:
    """Yield `3`, `Eth1/3`, `etp3` and `swp3` of a whole port, `3/1`, `Eth1/3/1`, `etp3a` and `swp3s0` of a part."""
    number, letter = f"/{part.split + 1}", _BREAKOUT_PART_LETTERS[part.split]
    numbered, lettered, counted = (number, letter, f"s{part.split}") if part.splits > 1 else ("", "", "")
    yield from (f"{part.panel}{numbered}", f"eth1/{part.panel}{numbered}", f"ethernet1/{part.panel}{numbered}")
    yield from (f"etp{part.panel}{lettered}", f"swp{part.panel}{counted}")
