"""Automatic additions of a switch's software to its configuration; data in `adds.yaml`.

Rows of the file in a platform's folder (contract 9.6). A matching row means that a fact, or a setting that is no fact,
that only the running files have, is the switch's own, and nobody's change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from nodrop.model.subject import Subject, matches
from nodrop.platforms.kit.rows import below_switch, patterns, rows_of

_FILE = "adds.yaml"
_NEEDED = {"reason", "source"}
_AT = {"paths", "settings"}
_KNOWN = _NEEDED | _AT | {"values", "over"}


@dataclass(frozen=True, slots=True)
class Own:
    """One row: a setting that software writes; the file keeps the reason and the source for readers.

    `paths` are of the model, `settings` of the files, regardless of the model's fields for those. `values` are the
    written values, of a row of the model by attributes; any, where there are none. `overwrite` means that a setting is
    written even if the switch was given another value.
    """

    paths: tuple[Subject, ...]
    settings: tuple[Subject, ...]
    values: tuple[object, ...]
    over: bool


def own(platform: str, path: Subject, of_port: bool, running_value: object, intended_value: object) -> bool:
    """Whether a switch wrote by itself what runs at a path below it, or below one of its ports.

    Never where something is wanted there.
    """
    if intended_value not in (None, ()) or running_value in (None, ()):
        return False
    whole_subjects = below_switch(path, of_port)
    return any(
        any(matches(paths, whole_subjects) for paths in row.paths)
        and (not row.values or _equals_any_value(running_value, row.values))
        for row in rows(platform)
    )


def own_setting(platform: str, path: Subject, value: object, *, overwrite: bool = False) -> bool:
    """Whether a switch wrote by itself the settings of its files at a path, without the name of the file.

    With `overwrite`, also where it was given something else there. A path that has nothing below it also counts as its
    last word, as the value of the path before that.
    """
    if isinstance(value, str):
        return _matches_own_addition(platform, path, value, over=overwrite)
    nothing_below = value == {} and len(path) > 1
    return _matches_own_addition(platform, path, None, over=overwrite) or (
        nothing_below and _matches_own_addition(platform, path[:-1], path[-1], over=overwrite)
    )


def writes(platform: str, path: Subject) -> bool:
    """Whether a switch writes something at a path by itself, the name of the file left out."""
    return any(matches(pattern, path) for pattern, _ in _additions_by_first_word(platform).get(path[0], ()))


@lru_cache(maxsize=65536)
def _matches_own_addition(platform: str, path: Subject, value: str | None, *, over: bool) -> bool:
    return any(
        matches(pattern, path) and (not row.values or value in row.values) and (row.over or not over)
        for pattern, row in _additions_by_first_word(platform).get(path[0], ())
    )


@cache
def _additions_by_first_word(platform: str) -> Mapping[str, list[tuple[Subject, Own]]]:
    rows_by_word: dict[str, list[tuple[Subject, Own]]] = {}
    for row in rows(platform):
        for pattern in row.settings:
            rows_by_word.setdefault(pattern[0], []).append((pattern, row))
    return rows_by_word


@cache
def rows(platform: str) -> tuple[Own, ...]:
    """Return the known rows of a platform; raise ValueError where a row has a meaningless word, or misses one."""
    return rows_of(platform, _FILE, _row)


def _row(raw_row: Mapping[str, Any]) -> Own:
    if not _NEEDED <= raw_row.keys() <= _KNOWN or not all(raw_row.values()) or not raw_row.keys() & _AT:
        raise ValueError(f"{_FILE}: {raw_row}")
    values = tuple(tuple(literal) if isinstance(literal, list) else literal for literal in raw_row.get("values", ()))
    paths, settings = (patterns(raw_row.get(word, ())) for word in ("paths", "settings"))
    return Own(paths=paths, settings=settings, values=values, over="over" in raw_row)


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
