"""Maps and profiles that several ports share, when some of their users need different ones: copied where necessary.

A row is changed in place if all its users change alike. Else those that change get a row that already has the new
settings, or a renamed copy of their row; names that SONiC's tools search for are kept or taken (see `spelling`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodrop.model.buffers import BufferProfile
from nodrop.model.qos import COLORS, NumberMap, Scheduler, WredProfile
from nodrop.model.states import Unknown
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.sonic.config import name_in_reference
from nodrop.platforms.sonic.draft import EditableTables, PortAndIndex
from nodrop.platforms.sonic.read_buffers import model_pool_name
from nodrop.platforms.sonic.spelling import sonic_pool_name
from nodrop.platforms.sonic.tables import COMPUTED_PROFILE_WORD, ECN_WORD_BY_COLORS

_NUMBERED_NAME_PATTERN = re.compile(r"(.*?)([._-]?)((?<![0-9])[0-9]++)")
_LONGEST_MAP_NAME = 32
"""Characters of a map's name (sonic-dscp-tc-map.yang and its like)."""

RowColumns = dict[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileUse:
    """A cell that uses a profile: the name it uses, the profile's current settings and the new ones (None: none)."""

    cell: PortAndIndex
    name: str | None
    old: Any
    new: Any
    wanted: str
    """What a new profile for it would best be called."""
    position: int = 0
    """Its place in a list of profiles."""
    table: str = ""


def update_shared_rows(
    draft: EditableTables, table_name: str, uses: Iterable[ProfileUse], spell: Callable[[Any], RowColumns]
) -> dict[ProfileUse, str | None]:
    """Bring the rows of a table to their users' settings; return the users that get another name, and the name."""
    by_name: dict[str | None, list[ProfileUse]] = {}
    for use in uses:
        by_name.setdefault(use.name, []).append(use)
    if all(is_equal(use.old, use.new) for users in by_name.values() for use in users):
        return {}
    values = {name: users[0].old for name, users in by_name.items() if name is not None}
    remaining_uses: list[ProfileUse] = []
    for name, users in by_name.items():
        remaining_uses.extend(_change_row_in_place(draft, table_name, name, users, values, spell))
    renamed: dict[ProfileUse, str | None] = {}
    for use in remaining_uses:
        if use.new is None:
            renamed[use] = None
        elif _has_computed_headroom(use.new):
            renamed[use] = COMPUTED_PROFILE_WORD
        else:
            renamed[use] = _find_row_with_settings(draft, table_name, use, values, spell) or _add_profile_copy(
                draft, table_name, use, values, spell
            )
    return renamed


def _change_row_in_place(
    draft: EditableTables,
    table: str,
    name: str | None,
    users: list[ProfileUse],
    values: dict[str, object],
    spell: Callable[[object], RowColumns],
) -> list[ProfileUse]:
    """Change a row in place if none of its users stays; return the users that must go elsewhere."""
    moving = [use for use in users if not is_equal(use.old, use.new)]
    targets: dict[object, int] = {}
    for use in moving:
        if use.new is not None and not _has_computed_headroom(use.new):
            targets[use.new] = targets.get(use.new, 0) + 1
    if len(moving) < len(users) or not targets or name is None or name not in draft.rows(table):
        return moving
    chosen = max(targets, key=lambda value: targets[value])
    draft.update(table, name, _changed_row_fields(spell, values[name], chosen))
    values[name] = chosen
    return [use for use in moving if not is_equal(use.new, chosen)]


def _find_row_with_settings(
    draft: EditableTables,
    table_name: str,
    use: ProfileUse,
    field_values: Mapping[str, object],
    read_statement: Callable[[object], RowColumns],
) -> str | None:
    """Return the name of a row that already has the settings."""
    for name, value in field_values.items():
        if name != COMPUTED_PROFILE_WORD and is_equal(value, use.new):
            return name
    fields = read_statement(use.new)
    for name, row in draft.rows(table_name).items():
        if name not in field_values and {field: row.get(field) for field in fields} == fields:
            return name
    return None


def _add_profile_copy(
    draft: EditableTables, table: str, use: ProfileUse, values: dict[str, object], spell: Callable[[object], RowColumns]
) -> str:
    rows = draft.rows(table)
    base = rows.get(use.name) if use.name else None
    name = _find_free_name(use.wanted if base is None else _derive_copy_name(use, use.old), rows.keys())
    fields = spell(use.new) if base is None else {**base, **_changed_row_fields(spell, use.old, use.new)}
    draft.add_empty_row(table, name)
    draft.update(table, name, {field: value for field, value in fields.items() if value is not None})
    values[name] = use.new
    return name


def _derive_copy_name(use: ProfileUse, old_value: object) -> str:
    """Return the best name for a copy: as the other copies are named, or as buffermgrd would look for it."""
    assert use.name is not None
    if use.name.startswith("pg_lossless_"):
        return use.wanted
    if isinstance(old_value, Scheduler) and old_value.weight is not None and use.name.endswith(f".{old_value.weight}"):
        return f"{use.name.removesuffix(str(old_value.weight))}{use.new.weight}"
    return use.name


def _find_free_name(base_name: str, taken: Iterable[str]) -> str:
    """Return a name, with the next number behind it if it is taken: scheduler.0 goes on as scheduler.2."""
    names = set(taken)
    match = _NUMBERED_NAME_PATTERN.fullmatch(base_name)
    stem, mark, number = (match[1], match[2], int(match[3])) if match else (base_name, "_", 1)
    name = base_name[:_LONGEST_MAP_NAME]
    while name in names:
        number += 1
        end = f"{mark}{number}"
        name = stem[: _LONGEST_MAP_NAME - len(end)] + end
    return name


def _changed_row_fields(spell: Callable[[object], RowColumns], old: object, new: object) -> RowColumns:
    """Return the fields that give a row the new settings instead of the old; all others stay as they are written."""
    before = {} if old is None or isinstance(old, Unknown) or _has_computed_headroom(old) else spell(old)
    return {field: value for field, value in spell(new).items() if before.get(field) != value}


def _has_computed_headroom(value: object) -> bool:
    headroom = value.headroom if isinstance(value, BufferProfile) else None
    return headroom is not None and not isinstance(headroom, Unknown) and headroom.computed


def fields_of_number_map(value: NumberMap) -> RowColumns:
    """Spell a map."""
    return {str(index): None if target is None else str(target) for index, target in enumerate(value)}


def wred_fields(value: WredProfile) -> RowColumns:
    """Spell a WRED profile."""
    fields: RowColumns = {"ecn": ECN_WORD_BY_COLORS[value.ecn_colors]}
    for color in COLORS:
        curve = getattr(value, color)
        fields[f"wred_{color}_enable"] = None if curve.enabled is None else str(curve.enabled).lower()
        fields[f"{color}_min_threshold"] = number_text(curve.min_bytes)
        fields[f"{color}_max_threshold"] = number_text(curve.max_bytes)
        fields[f"{color}_drop_probability"] = number_text(curve.probability_percent)
    return fields


def scheduler_fields(value: Scheduler) -> RowColumns:
    """Write a scheduler; `meter_type` stays as it is, with rates in bytes unless it states packets."""
    return {
        "type": value.type.upper(),
        "weight": number_text(value.weight),
        "cir": number_text(value.guaranteed_bytes_per_s),
        "cbs": number_text(value.guaranteed_burst_bytes),
        "pir": number_text(value.peak_bytes_per_s),
        "pbs": number_text(value.peak_burst_bytes),
    }


def make_buffer_field_writer(draft: EditableTables, like: str | None) -> Callable[[BufferProfile], RowColumns]:
    """Return the fields of a buffer profile with the file's pools; `like` is a reference to one, as it is."""
    pools = {model_pool_name(name): name for name in draft.rows("BUFFER_POOL")}

    def fields(value: BufferProfile) -> RowColumns:
        headroom = value.headroom
        pool = None if value.pool is None else pools.get(value.pool, sonic_pool_name(value.pool))
        thresholds: tuple[object, ...] = (None, None, None)
        if headroom is not None and not isinstance(headroom, Unknown):
            thresholds = (headroom.xoff_bytes, headroom.xon_bytes, headroom.xon_offset_bytes)
        return {
            "pool": None if pool is None else draft.spell_reference("BUFFER_POOL", pool, like),
            "size": number_text(value.size_bytes),
            "dynamic_th": number_text(value.dynamic_th),
            "static_th": number_text(value.static_th_bytes),
            "xoff": number_text(thresholds[0]),
            "xon": number_text(thresholds[1]),
            "xon_offset": number_text(thresholds[2]),
            "packet_discard_action": value.discard,
        }

    return fields


def number_text(value: object) -> str | None:
    """Write a number; nothing if it is absent or not known."""
    return None if value is None or isinstance(value, Unknown) else str(value)


def referenced_name(table_row: Mapping[str, object], field: str) -> str | None:
    """Return the name that a field of a row refers to, None where it has none."""
    value = table_row.get(field)
    return name_in_reference(value) if isinstance(value, str) else None


def resolve_overlapping_uses(uses: Iterator[ProfileUse]) -> list[ProfileUse]:
    """Return uses, one for each cell and position: where rows overlap, that of the last which names anything."""
    found_uses: dict[tuple[str, PortAndIndex, int], ProfileUse] = {}
    for use in uses:
        key = (use.table, use.cell, use.position)
        if key not in found_uses or use.name is not None:
            found_uses[key] = use
    return list(found_uses.values())
