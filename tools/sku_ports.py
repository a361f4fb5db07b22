"""Groups of panel ports out of platform.json, or port_config.ini: lanes, breakout modes, numbers and aliases."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any, TypeVar

from nodrop import units
from sku_files import SkuFiles, Unusable

_MODE = re.compile(r"([0-9]{1,2})x([0-9.]+[MGT]?)(?:\(([0-9]{1,2})\))?(?:\[([^\]]*)\])?")
_TOKEN = re.compile(r"([0-9]+|(?<![A-Za-z])[a-p](?![A-Za-z]))")
_LETTERS = "abcdefghijklmnop"
Users = Mapping[int, Mapping[str, Sequence[str]]]
"""By panel and breakout mode, the HWSKUs that use it."""


@dataclass(frozen=True)
class Mode:
    """A breakout mode: so many ports, on so many lanes together (None: all of them), of these speeds in Mb/s."""

    text: str
    into: int
    speeds: tuple[int, ...]
    lanes: int | None


@dataclass(frozen=True)
class Interface:
    """A panel port of the vendor's files; panels count from 1 in the order of the ports' numbers."""

    panel: int
    number: int
    lanes: tuple[int, ...]
    index: int | None
    modes: Mapping[str, tuple[str, ...]]
    """The aliases of the ports of each breakout mode."""


@dataclass
class Way:
    """A use of all lanes of a panel port: into how many ports, at which speeds, and how the vendor writes it."""

    into: int
    speeds: list[int] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)

    @property
    def spelt_as_expected(self) -> bool:
        """Whether nodrop writes the mode as the vendor does: one mode with all speeds, fastest first."""
        fastest, *others = map(units.show_speed, self.speeds)
        return self.modes == [f"{self.into}x{fastest}" + (f"[{','.join(others)}]" if others else "")]


@dataclass
class Group:
    """Panel ports that are alike; what could not be derived is in `left`."""

    interfaces: list[Interface]
    ways: dict[int, Way]
    narrow: dict[int, Way]
    """By lanes, the ways to use the whole port with fewer of them."""
    other_modes: list[str]
    left: list[str] = field(default_factory=list)

    @property
    def lanes(self) -> int:
        """How many lanes a port has."""
        return len(self.interfaces[0].lanes)

    @property
    def step(self) -> int:
        """The difference between the numbers of two neighbours; the lanes if there is only one port."""
        numbers = [one.number for one in self.interfaces]
        return numbers[1] - numbers[0] if len(numbers) > 1 else self.lanes


def read_mode(text: str) -> Mode | None:
    """Return what a breakout mode says; None if it is none that nodrop reads, as a mixed one."""
    found = _MODE.fullmatch(text.replace(" ", ""))
    if not found:
        return None
    speeds = [found[2], *filter(None, (found[4] or "").split(","))]
    try:
        read = {int(one) if one.isdecimal() else units.parse_speed_mbps(one) for one in speeds}
    except ValueError:
        return None
    return Mode(text, int(found[1]), tuple(sorted(read, reverse=True)), int(found[3]) if found[3] else None)


def interfaces(files: SkuFiles, hwsku: str) -> tuple[list[Interface], str]:
    """Return the panel ports and the file that they are from: platform.json, else the port_config.ini of a HWSKU.

    Ports that are not called Ethernet<number>, such as Ethernet-Rec0, are inside the switch and left out.
    """
    source = "platform.json"
    if named := files.document(source).get("interfaces"):
        with _reading(source):
            numbered = sorted(((_number(name), facts) for name, facts in named.items()), key=lambda one: one[0])
            found = [_interface(panel, *one) for panel, one in enumerate(_outside(numbered), 1)]
        if not found:
            raise Unusable(f"{source}: no port called Ethernet<number>")
        return found, source
    source = f"{hwsku}/port_config.ini"
    with _reading(source):
        rows = sorted(((_number(row["name"]), row) for row in files.rows(source)), key=lambda one: one[0])
        found = [_whole(panel, *one) for panel, one in enumerate(_outside(rows), 1)]
    if not found or len({one.index for one in found} - {None}) != len(found):
        raise Unusable(f"{source}: ports that share an index, or have none, and no platform.json says what they are of")
    return found, source


_T = TypeVar("_T")


def _outside(numbered: Iterable[tuple[int, _T]]) -> Iterator[tuple[int, _T]]:
    return ((number, facts) for number, facts in numbered if number >= 0)


@contextmanager
def _reading(source: str) -> Iterator[None]:
    """Name the file in which something is not as expected."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unusable(f"{source}: not understood ({type(error).__name__}: {error})") from error


def _whole(panel: int, number: int, row: Mapping[str, str]) -> Interface:
    """Return the port that a row of port_config.ini is."""
    speed = f"1x{units.show_speed(int(row['speed']))}" if "speed" in row else ""
    modes = {speed: (row["alias"],)} if speed else {}
    index = int(row["index"]) if "index" in row else None
    return Interface(panel, number, _lanes(row["lanes"]), index, modes)


def _number(name: str) -> int:
    """Return the number of a port; -1 for one inside the switch."""
    found = re.fullmatch(r"Ethernet([0-9]{1,5})", name)
    return int(found[1]) if found else -1


def _lanes(text: str) -> tuple[int, ...]:
    return tuple(int(lane) for lane in text.split(","))


def _interface(panel: int, number: int, facts: Mapping[str, Any]) -> Interface:
    lanes = _lanes(facts["lanes"])
    indexes = set(facts.get("index", "").replace(" ", "").split(","))
    index = int(one) if len(indexes) == 1 and (one := indexes.pop()) else None
    modes = facts.get("breakout_modes") or {}
    if isinstance(modes, str):
        aliases = [alias.strip() for alias in facts.get("alias_at_lanes", "").split(",")]
        modes = {mode: _aliases_at(aliases, mode, len(lanes)) for mode in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", modes)}
    return Interface(panel, number, lanes, index, {str(mode): tuple(names) for mode, names in modes.items()})


def _aliases_at(aliases: Sequence[str], text: str, lanes: int) -> tuple[str, ...]:
    """Return the aliases of a mode's ports out of those at each lane, as platform.json had them before."""
    mode = read_mode(text)
    width = (mode.lanes or lanes) // mode.into if mode else 0
    return tuple(aliases[at * width] for at in range(mode.into)) if mode and len(aliases) == lanes else ()


def groups(found: Sequence[Interface], users: Users) -> Iterator[Group]:
    """Yield the panel ports by kind, with the modes that only HWSKUs have."""
    alike: dict[tuple[object, ...], list[Interface]] = {}
    for one in found:
        alike.setdefault((len(one.lanes), *one.modes), []).append(one)
    runs = [run for same in alike.values() for run in _evenly_numbered(same)]
    for run in sorted(runs, key=lambda run: run[0].panel):
        ways, narrow, others = _ways(run[0])
        more: dict[str, list[str]] = {}
        for mode, hwskus in ((mode, of) for one in run for mode, of in users.get(one.panel, {}).items()):
            more.setdefault(mode, []).extend(hwskus)
        named = [f"{mode} of {', '.join(sorted(set(of)))}" for mode, of in more.items()]
        yield Group(run, ways, narrow, [*others, *named])


def _evenly_numbered(same: Sequence[Interface]) -> Iterator[list[Interface]]:
    """Yield runs of ports whose numbers, and panels, differ by the same from one to the next."""
    run: list[Interface] = []
    for one in same:
        if len(run) > 1 and one.number - run[-1].number != run[1].number - run[0].number:
            yield run
            run = []
        run.append(one)
    yield run


def _ways(one: Interface) -> tuple[dict[int, Way], dict[int, Way], list[str]]:
    """Return the ways to use all lanes of a port, those of a whole port with fewer, and the modes that are neither.

    A whole port has the same alias with all of its lanes and with fewer.
    """
    ways: dict[int, Way] = {}
    narrow: dict[int, Way] = {}
    others: list[str] = []
    read = {text: read_mode(text) for text in one.modes}
    whole = {one.modes[text] for text, mode in read.items() if mode and (mode.into, mode.lanes) == (1, None)}
    for text, mode in read.items():
        if mode and mode.into == 1 and mode.lanes and mode.lanes < len(one.lanes) and one.modes[text] in whole:
            way = narrow.setdefault(mode.lanes, Way(1))
        elif mode is None or mode.lanes not in (None, len(one.lanes)) or len(one.lanes) % mode.into:
            others.append(text)
            continue
        else:
            way = ways.setdefault(mode.into, Way(mode.into))
        way.modes.append(text)
        way.speeds = sorted({*way.speeds, *mode.speeds}, reverse=True)
    return dict(sorted(ways.items())), dict(sorted(narrow.items(), reverse=True)), others


def modes_of_hwskus(files: SkuFiles, found: Sequence[Interface], hwskus: Iterable[str]) -> Users:
    """Return by panel the modes that HWSKUs use and platform.json does not have, with these HWSKUs."""
    users: dict[int, dict[str, list[str]]] = {one.panel: {} for one in found}
    for hwsku in hwskus:
        with _reading(f"{hwsku}/hwsku.json or port_config.ini"):
            used = _used(files, found, hwsku)
        for one in found:
            ways, _, _ = _ways(one)
            for mode in used.get(one.panel, ()):
                way = ways.get(mode.into)
                whole = mode.lanes in (None, len(one.lanes))
                if mode.text not in one.modes and not (way and whole and set(mode.speeds) <= set(way.speeds)):
                    users[one.panel].setdefault(mode.text, []).append(hwsku)
    return users


def _used(files: SkuFiles, found: Sequence[Interface], hwsku: str) -> dict[int, list[Mode]]:
    """Return the modes that a HWSKU has its ports in by panel: of hwsku.json, else as port_config.ini shows them."""
    stated = files.document(f"{hwsku}/hwsku.json").get("interfaces") or {}
    if stated:
        by_name = {f"Ethernet{one.number}": one.panel for one in found}
        modes = {by_name.get(name): read_mode(str(row.get("default_brkout_mode"))) for name, row in stated.items()}
        return {panel: [mode] for panel, mode in modes.items() if panel and mode}
    ports = [row for row in files.rows(f"{hwsku}/port_config.ini") if _number(row["name"]) >= 0]
    rows = [(_number(row["name"]), set(_lanes(row["lanes"])), row.get("speed")) for row in ports]
    owners = {one.number: one.panel for one in found}
    used: dict[int, list[Mode]] = {}
    for one in found:
        own = [row for row in rows if owners.get(row[0], one.panel) == one.panel]
        parts = [(lanes, speed) for _, lanes, speed in own if lanes <= set(one.lanes)]
        speeds = {speed or _fastest(one, len(parts)) for _, speed in parts}
        if len(speeds) == 1 and (speed := speeds.pop()):
            lanes = sum(len(lanes) for lanes, _ in parts)
            some = f"({lanes})" if lanes != len(one.lanes) else ""
            mode = read_mode(f"{len(parts)}x{units.show_speed(int(speed))}{some}")
            used[one.panel] = [mode] if mode else []
    return used


def _fastest(one: Interface, into: int) -> str | None:
    """Return the fastest speed of a port in so many parts, for a port_config.ini that states none."""
    way = _ways(one)[0].get(into)
    return str(way.speeds[0]) if way else None


Layout = tuple[tuple[str, tuple[int, ...]], ...]
"""The panel ports that are used alike, by what Layout.ports of nodrop calls their use: `2x400G`."""


def layouts(files: SkuFiles, found: Sequence[Interface], hwskus: Iterable[str]) -> dict[Layout, list[str]]:
    """Return the HWSKUs by the ports that they have, without ports of which some lanes are unused."""
    layouts: dict[Layout, list[str]] = {}
    lanes = {one.panel: len(one.lanes) for one in found}
    for hwsku in hwskus:
        panels: dict[str, list[int]] = {}
        with _reading(f"{hwsku}/hwsku.json or port_config.ini"):
            used = _used(files, found, hwsku)
        for panel, modes in sorted(used.items()):
            for mode in modes:
                if mode.lanes in (None, lanes[panel]):
                    panels.setdefault(f"{mode.into}x{units.show_speed(mode.speeds[0])}", []).append(panel)
        layouts.setdefault(tuple((way, tuple(of)) for way, of in panels.items()), []).append(hwsku)
    return layouts


def index_of(group: Group) -> tuple[int, int] | None:
    """Return (index, per_index) of a group as SonicPorts has them; None if the indexes follow no such rule."""
    for shared in (1, 2, 4, 8):
        offsets = {
            None if one.index is None else one.index - ((one.panel - 1) // shared + 1) for one in group.interfaces
        }
        if len(offsets) == 1 and (offset := offsets.pop()) is not None:
            return offset, shared
    return None


def aliases_of(group: Group) -> tuple[str, str] | None:
    """Return the pattern of a whole port's alias and that of a part, empty if it is the whole one with a letter.

    None if the aliases follow no pattern.
    """
    whole: list[tuple[str, dict[str, object]]] = []
    parts: list[tuple[str, dict[str, object]]] = []
    for one in group.interfaces:
        words = {"panel": one.panel, "panel0": one.panel - 1, "number": one.number}
        for way in group.ways.values():
            for mode in way.modes:
                names = one.modes[mode]
                if way.into == 1:
                    whole += [(name, dict(words)) for name in names]
                    continue
                for at, name in enumerate(names):
                    first = at * group.lanes // way.into
                    own = {"letter": _LETTERS[at], "lane": first + 1, "part": at + 1, "number": one.number + first}
                    parts.append((name, {**words, **own}))
    alias = _pattern(whole)
    if alias is None:
        return None
    if all(name == f"{alias}{{letter}}".format(**words) for name, words in parts):
        return alias, ""
    part = _pattern(parts)
    return None if part is None else (alias, part)


def _pattern(samples: Sequence[tuple[str, Mapping[str, object]]]) -> str | None:
    """Return a pattern that gives every name out of its words; None if there is none."""
    if not samples:
        return None
    name, words = samples[0]
    pieces = _TOKEN.split(name)
    if len(pieces) > 9:
        return None
    options = [_options(piece, words) if place % 2 else [_literal(piece)] for place, piece in enumerate(pieces)]
    tried = ("".join(chosen) for chosen in product(*options))
    return next((one for one in tried if all(one.format(**known) == text for text, known in samples)), None)


def _options(token: str, words: Mapping[str, object]) -> list[str]:
    return [*(f"{{{word}}}" for word, value in words.items() if str(value) == token), _literal(token)]


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def lanes_of_two(found: Sequence[Interface]) -> list[str]:
    """Return what is to be checked where the vendor's file gives a lane to two ports."""
    owners: dict[int, list[int]] = {}
    for one in found:
        for lane in one.lanes:
            owners.setdefault(lane, []).append(one.panel)
    return [f"lane {lane} is of ports {units.show_ids(of)}" for lane, of in owners.items() if len(of) > 1]


def lanes_of(group: Group) -> int | list[str]:
    """Return the lanes as SonicPorts has them: the first if all follow without a gap, else a list for each port."""
    every = [lane for one in group.interfaces for lane in one.lanes]
    if all(after == before + 1 for before, after in pairwise(every)):
        return every[0]
    return [_span(one.lanes) for one in group.interfaces]


def _span(lanes: Sequence[int]) -> str:
    rises = all(after == before + 1 for before, after in pairwise(lanes))
    return f"{lanes[0]}-{lanes[-1]}" if rises and len(lanes) > 1 else ",".join(map(str, lanes))
