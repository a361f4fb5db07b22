"""Automatic additions of a switch's software to its configuration; data in `adds.yaml`.

Rows of the file in a platform's folder (contract 9.6). A matching row means that a fact, or a setting that is no fact,
that only the running files have, is the switch's own, and nobody's change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from nodrop.model.subject import Subject, matches
from nodrop.platforms.kit.rows import parse_path_patterns, path_below_switch, read_platform_rows

_ADDITIONS_FILE = "adds.yaml"
_REQUIRED_KEYS = {"reason", "source"}
_MODEL_OR_FILE_PATH_KEYS = {"paths", "settings"}
_ALLOWED_KEYS = _REQUIRED_KEYS | _MODEL_OR_FILE_PATH_KEYS | {"values", "over"}


@dataclass(frozen=True, slots=True)
class SettingAddedBySwitch:
    """One row: a setting that software writes; the file keeps the reason and the source for readers.

    `paths` are of the model, `settings` of the files, regardless of the model's fields for those. `values` are the
    written values, of a row of the model by attributes; any, where there are none. `overwrite` means that a setting is
    written even if the switch was given another value.
    """

    paths: tuple[Subject, ...]
    settings: tuple[Subject, ...]
    values: tuple[object, ...]
    overwrite: bool


def is_added_by_switch(
    platform: str, path: Subject, of_port: bool, running_value: object, intended_value: object
) -> bool:
    """Whether a switch wrote by itself what runs at a path below it, or below one of its ports.

    Never where something is wanted there.
    """
    if intended_value not in (None, ()) or running_value in (None, ()):
        return False
    whole_subjects = path_below_switch(path, of_port)
    return any(
        any(matches(paths, whole_subjects) for paths in row.paths)
        and (not row.values or _equals_any_value(running_value, row.values))
        for row in read_addition_rows(platform)
    )


def is_self_written_setting(platform: str, path: Subject, value: object, *, overwrite: bool = False) -> bool:
    """Whether a switch wrote by itself the settings of its files at a path, without the name of the file.

    With `overwrite`, also where it was given something else there. A path that has nothing below it also counts as its
    last word, as the value of the path before that.
    """
    if isinstance(value, str):
        return _matches_self_written_row(platform, path, value, overwrite=overwrite)
    nothing_below = value == {} and len(path) > 1
    return _matches_self_written_row(platform, path, None, overwrite=overwrite) or (
        nothing_below and _matches_self_written_row(platform, path[:-1], path[-1], overwrite=overwrite)
    )


def switch_writes_at_path(platform: str, path: Subject) -> bool:
    """Whether a switch writes something at a path by itself, the name of the file left out."""
    return any(matches(pattern, path) for pattern, _ in _additions_by_first_word(platform).get(path[0], ()))


@lru_cache(maxsize=65536)
def _matches_self_written_row(platform: str, path: Subject, value: str | None, *, overwrite: bool) -> bool:
    return any(
        matches(pattern, path) and (not row.values or value in row.values) and (row.overwrite or not overwrite)
        for pattern, row in _additions_by_first_word(platform).get(path[0], ())
    )


@cache
def _additions_by_first_word(platform: str) -> Mapping[str, list[tuple[Subject, SettingAddedBySwitch]]]:
    rows_by_word: dict[str, list[tuple[Subject, SettingAddedBySwitch]]] = {}
    for row in read_addition_rows(platform):
        for pattern in row.settings:
            rows_by_word.setdefault(pattern[0], []).append((pattern, row))
    return rows_by_word


@cache
def read_addition_rows(platform: str) -> tuple[SettingAddedBySwitch, ...]:
    """Return the known rows of a platform; raise ValueError where a row has a meaningless word, or misses one."""
    return read_platform_rows(platform, _ADDITIONS_FILE, _parse_addition_row)


def _parse_addition_row(raw_row: Mapping[str, Any]) -> SettingAddedBySwitch:
    if (
        not _REQUIRED_KEYS <= raw_row.keys() <= _ALLOWED_KEYS
        or not all(raw_row.values())
        or not raw_row.keys() & _MODEL_OR_FILE_PATH_KEYS
    ):
        raise ValueError(f"{_ADDITIONS_FILE}: {raw_row}")
    values = tuple(tuple(literal) if isinstance(literal, list) else literal for literal in raw_row.get("values", ()))
    paths, settings = (parse_path_patterns(raw_row.get(word, ())) for word in ("paths", "settings"))
    return SettingAddedBySwitch(paths=paths, settings=settings, values=values, overwrite="over" in raw_row)


def _equals_any_value(running: object, values: tuple[object, ...]) -> bool:
    return any(_equals_model_value(running, value) for value in values)


def _equals_model_value(running: object, value: object) -> bool:
    """Whether something of the model is a value of the file: a row, if it has these attributes."""
    if isinstance(value, Mapping):
        return all(
            hasattr(running, name) and _equals_model_value(getattr(running, name), target)
            for name, target in value.items()
        )
    return running == value and type(running) is type(value)
