"""The effect of a change of the model on a running switch, with every tool.

Effects on every platform are a column of the model's fields (`model/fields/impacts.py`). Those of one platform are in
its folder (`change.yaml`, contract 9.6) and count before them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from nodrop.model.change import DISRUPTIONS
from nodrop.model.fields import ChangeImpact, impacts_of_path
from nodrop.model.fields.row import ROW_CHANGE_KINDS
from nodrop.model.subject import Subject, matches
from nodrop.platforms.kit.rows import parse_path_patterns, path_below_switch, read_platform_rows

_EFFECTS_FILE = "change.yaml"
_EFFECT_ROW_KEYS = {"paths", "kinds", "values", "disruption", "reason"}


@dataclass(frozen=True, slots=True)
class _EffectRow:
    paths: tuple[Subject, ...]
    impact: ChangeImpact


def effect_of_change(
    platform: str, path: Subject, of_port: bool, old_value: object, new_value: object
) -> ChangeImpact | None:
    """Return the effect of a change at a path below a switch, or below one of its ports; None if it is not known.

    Without an old value it is added, without a new one removed; an empty list is no value.
    """
    full_path = path_below_switch(path, of_port)
    kind = "added" if old_value in (None, ()) else "removed" if new_value in (None, ()) else "changed"
    of_platform = (row.impact for row in _read_effect_rows(platform) if _row_covers_path(row, full_path))
    for impact in (*of_platform, *impacts_of_path(path, of_port=of_port)):
        if kind in impact.kinds and (impact.values is None or any(new_value is value for value in impact.values)):
            return impact
    return None


@lru_cache(maxsize=4096)
def _row_covers_path(row: _EffectRow, path: Subject) -> bool:
    return any(matches(paths, path) for paths in row.paths)


@cache
def _read_effect_rows(platform: str) -> tuple[_EffectRow, ...]:
    return read_platform_rows(platform, _EFFECTS_FILE, _parse_effect_row)


def _parse_effect_row(raw_row: Mapping[str, Any]) -> _EffectRow:
    """Return a row of the file; ValueError if it has an unknown word."""
    kinds = tuple(raw_row.get("kinds", ROW_CHANGE_KINDS))
    if (
        raw_row["disruption"] not in DISRUPTIONS
        or not set(kinds) <= set(ROW_CHANGE_KINDS)
        or not raw_row.keys() <= _EFFECT_ROW_KEYS
    ):
        raise ValueError(f"{_EFFECTS_FILE}: {raw_row}")
    values = tuple(raw_row["values"]) if "values" in raw_row else None
    return _EffectRow(
        parse_path_patterns(raw_row["paths"]), ChangeImpact(raw_row["disruption"], raw_row["reason"], kinds, values)
    )
