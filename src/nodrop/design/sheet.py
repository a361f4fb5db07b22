"""A cabling sheet compared with the switches of an intent: the switch and port of each end of a cable.

A panel port is split into as few parts as give all ports that the sheet names on it their speed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nodrop import platforms
from nodrop.design.naming import host_identities, name_of, naming_of
from nodrop.errors import Problem
from nodrop.hardware import nearest_word_hint, switch, switches
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.schema import Intent
from nodrop.intent.sheet import CableSheetRow, CableSheetRowPlaces, read_sheet_with_defaults
from nodrop.intent.topology import CableSheetTopology
from nodrop.model.fabric import Port
from nodrop.platforms.kit.panel_names import PanelPortOrPart, find_panel_parts
from nodrop.syntax.places import sanitize_for_message
from nodrop.units import show_speed

WHY_NO_LINKS_WITHIN_TIER = "packets that go sideways in a tier let lossless buffers wait in a circle"
"""Why switches of a tier have no cables among them, as in a ring or a mesh: RFC 7938, section 5.2.1, allows no route
through a second switch of a tier, and a ring of lossless buffers can deadlock (proofs/)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CableSheetSwitch:
    """A switch that a sheet can name."""

    name: str
    group: str
    id: int
    tier: int
    """0 next to the hosts."""
    model: str
    platform: str
    other_uses: Mapping[int, str]
    """Its panel ports that are for no cable of the sheet, and what they are for."""

    @property
    def facts(self) -> SwitchModel | None:
        """The facts of its model; None where the catalogue has none, which is another's problem."""
        return switch(self.model) if self.model in switches() else None


class StatedCableEnd(NamedTuple):
    """The end of a cable at a switch."""

    group: str
    id: int
    part: PanelPortOrPart


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCable:
    """A cable between two switches."""

    lower: StatedCableEnd
    upper: StatedCableEnd
    speed_mbps: int
    media: str
    length_m: int
    row: int
    """The index of its row."""


class HostCableRow(NamedTuple):
    """A row of the sheet with a host at one end."""

    host: str
    host_port: str
    switch: CableSheetSwitch
    port: str
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCableSheet:
    """The cables of a sheet, and the faults of its rows."""

    cables: tuple[StatedCable, ...]
    host_rows: tuple[HostCableRow, ...]
    problems: tuple[Problem, ...]
    places: CableSheetRowPlaces


class _CableSheetPortUse(NamedTuple):
    """A port of a switch in a row."""

    switch: CableSheetSwitch
    port: str
    row: CableSheetRow


def resolve_cable_sheet(
    intent: Intent, wanted: CableSheetTopology, known: Mapping[str, CableSheetSwitch]
) -> ResolvedCableSheet:
    """Return the cables of an intent's sheet; `known` are the switches by the words that a sheet can have for them."""
    places, problems = CableSheetRowPlaces(intent, wanted.cables), list[Problem]()
    naming = naming_of(intent)
    names = {host: name_of(naming, host) for host in host_identities(intent.endpoints)}
    host_names = {str(host): name for host, name in names.items()} | {name: name for name in names.values()}
    rows, host_rows = list[tuple[CableSheetRow, CableSheetSwitch, CableSheetSwitch]](), list[HostCableRow]()
    for row in read_sheet_with_defaults(intent, wanted, problems):
        ends = [(end, known.get(end.device), end.device in host_names) for end in (row.a, row.b)]
        if lacking := next((end for end, at, is_host in ends if at is None and not is_host), None):
            fault = f"no switch or host {sanitize_for_message(lacking.device)}"
            problems.append(
                places.problem(row.index, fault, "one of the intent", nearest_word_hint(lacking.device, tuple(known)))
            )
            continue
        at = [switch_at for _, switch_at, _ in ends if switch_at is not None]
        if len(at) == 2 and at[0].tier != at[1].tier:
            rows.append((row, at[0], at[1]))
        elif len(at) == 2:
            fault = f"{row.a} and {row.b} are both in tier {at[0].tier + 1}"
            problems.append(places.problem(row.index, fault, "a cable between two tiers", WHY_NO_LINKS_WITHIN_TIER))
        elif at:
            host, near = (row.a, row.b) if ends[0][2] else (row.b, row.a)
            host_rows.append(HostCableRow(host_names[host.device], host.port, at[0], near.port, row.index))
        else:
            problems.append(places.problem(row.index, f"{row.a} and {row.b} are both hosts", "a switch at one end"))
    parts = _resolve_ports(rows, places, problems)
    return ResolvedCableSheet(
        cables=tuple(_stated_cables(rows, parts, places, problems)),
        host_rows=tuple(host_rows),
        problems=tuple(problems),
        places=places,
    )


def _stated_cables(
    rows: Sequence[tuple[CableSheetRow, CableSheetSwitch, CableSheetSwitch]],
    parts: Mapping[tuple[str, str], PanelPortOrPart],
    places: CableSheetRowPlaces,
    problems: list[Problem],
) -> Iterator[StatedCable]:
    for row, at_a, at_b in rows:
        part_a, part_b = parts.get((at_a.name, row.a.port)), parts.get((at_b.name, row.b.port))
        values = {"speed": row.speed_mbps, "media": row.media, "length": row.length_m}
        if missing := [name for name, value in values.items() if value is None]:
            fault, keys = f"no {' and no '.join(missing)}", " and ".join(f"topology.{name}" for name in missing)
            problems.append(places.problem(row.index, fault, f"a value in the row, or {keys}"))
        elif part_a is not None and part_b is not None:
            assert row.speed_mbps is not None
            assert row.media is not None
            assert row.length_m is not None
            ends = sorted(((at_a, part_a), (at_b, part_b)), key=lambda end: end[0].tier)
            lower, upper = (StatedCableEnd(at.group, at.id, part) for at, part in ends)
            yield StatedCable(
                lower=lower,
                upper=upper,
                speed_mbps=row.speed_mbps,
                media=row.media,
                length_m=row.length_m,
                row=row.index,
            )


def _resolve_ports(
    rows: Sequence[tuple[CableSheetRow, CableSheetSwitch, CableSheetSwitch]],
    places: CableSheetRowPlaces,
    problems: list[Problem],
) -> dict[tuple[str, str], PanelPortOrPart]:
    """Return the port that each name of a switch means, by the switch's name and the port's."""
    uses_of_panel: defaultdict[tuple[str, int], list[tuple[_CableSheetPortUse, dict[int, PanelPortOrPart]]]] = (
        defaultdict(list)
    )
    for row, at_a, at_b in rows:
        for use in (_CableSheetPortUse(at_a, row.a.port, row), _CableSheetPortUse(at_b, row.b.port, row)):
            if use.switch.facts is None:
                continue
            parts = _panel_parts_of_use(use, use.switch.facts, places, problems)
            if parts:
                panel = next(iter(parts.values())).panel
                uses_of_panel[use.switch.name, panel].append((use, parts))
    resolved: dict[tuple[str, str], PanelPortOrPart] = {}
    for uses in uses_of_panel.values():
        resolved |= _resolve_panel(uses, places, problems)
    _report_lost_panels(resolved, uses_of_panel, places, problems)
    return resolved


def _panel_parts_of_use(
    use: _CableSheetPortUse, facts: SwitchModel, places: CableSheetRowPlaces, problems: list[Problem]
) -> dict[int, PanelPortOrPart]:
    """Return the ports that a name can mean, by the split of the panel port; nothing where it is a fault."""
    name, at = sanitize_for_message(use.port), use.switch
    parts = find_panel_parts(at.model, use.port)
    if not parts:
        known = tuple(platforms.port_name(at.platform, at.model, Port(panel)) for panel in facts.panels)
        fault, expected = f"{at.name} has no port {name}", f"{known[0]} to {known[-1]}"
        problems.append(places.problem(use.row.index, fault, expected, nearest_word_hint(name, known)))
        return {}
    other_use = at.other_uses.get(parts[0].panel)
    if other_use is not None:
        problems.append(places.problem(use.row.index, f"{name} of {at.name} is for {other_use}", "one use for a port"))
        return {}
    ways = {part.splits: facts.find_breakout(part.splits, (part.panel,)) for part in parts}
    ways = {into: way for into, way in ways.items() if way and (not way.platforms or at.platform in way.platforms)}
    speed = use.row.speed_mbps
    fitting = {
        part.splits: part
        for part in parts
        if (way := ways.get(part.splits)) and part.panel == parts[0].panel and speed in (None, *way.speeds)
    }
    if not fitting and speed is not None:
        speeds = sorted({each for way in ways.values() if way for each in way.speeds}, reverse=True)
        fault = f"{name} of {at.name} has no {show_speed(speed)}"
        problems.append(places.problem(use.row.index, fault, " or ".join(map(show_speed, speeds))))
    return fitting


def _resolve_panel(
    uses: Sequence[tuple[_CableSheetPortUse, dict[int, PanelPortOrPart]]],
    places: CableSheetRowPlaces,
    problems: list[Problem],
) -> dict[tuple[str, str], PanelPortOrPart]:
    """Return the parts that the names of a panel port mean; two cables in a port, or two splits, are faults."""
    common = set.intersection(*(set(parts) for _, parts in uses))
    at = uses[0][0].switch
    if not common:
        names = ", ".join(dict.fromkeys(sanitize_for_message(use.port) for use, _ in uses))
        fault = f"{names} of {at.name} are one panel port, split in different ways"
        problems.append(places.problem(uses[-1][0].row.index, fault, "one split of a panel port"))
        return {}
    into, found, owners = (
        min(common),
        dict[tuple[str, str], PanelPortOrPart](),
        dict[PanelPortOrPart, _CableSheetPortUse](),
    )
    for use, parts in uses:
        owner = owners.setdefault(parts[into], use)
        if owner is not use:
            fault, hint = (
                f"a second cable in {at.name}:{sanitize_for_message(use.port)}",
                places.format_row_place(owner.row.index),
            )
            problems.append(places.problem(use.row.index, fault, "one cable in each port", f"first at {hint}"))
        found[at.name, use.port] = parts[into]
    return found


def _report_lost_panels(
    resolved: Mapping[tuple[str, str], PanelPortOrPart],
    uses_of_panel: Mapping[tuple[str, int], Sequence[tuple[_CableSheetPortUse, dict[int, PanelPortOrPart]]]],
    places: CableSheetRowPlaces,
    problems: list[Problem],
) -> None:
    """Report cables in panel ports that the split of the one before takes."""
    for (name, panel), uses in uses_of_panel.items():
        use = uses[0][0]
        part = resolved.get((name, use.port))
        way = use.switch.facts.find_breakout(part.splits, (panel,)) if part and use.switch.facts else None
        if part and way and way.blocks_next and (name, panel + 1) in uses_of_panel:
            row = uses_of_panel[name, panel + 1][0][0].row
            fault = f"port {panel + 1} of {name} is lost to port {panel}, which is split into {part.splits}"
            problems.append(places.problem(row.index, fault, "no cable in it"))
