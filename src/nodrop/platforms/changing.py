"""What a change of the model does to a switch that runs, whichever way it is made; data in `change.yaml`.

Rows of the file beside this hold for every platform, those in a platform's own folder (contract 9.6) before them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from nodrop.fabric.change import DISRUPTIONS, Disruption
from nodrop.fabric.subject import Subject, matches
from nodrop.platforms.rows import below_switch, patterns, rows_of

_FILE = "change.yaml"
_WORDS = {"paths", "kinds", "values", "disruption", "reason"}
_KINDS = ("added", "removed", "changed")


@dataclass(frozen=True, slots=True)
class Known:
    """What a change does to a switch, and why."""

    risk: Disruption
    reason: str


@dataclass(frozen=True, slots=True)
class _Row:
    paths: tuple[Subject, ...]
    kinds: tuple[str, ...]
    values: tuple[object, ...] | None
    known: Known


def effect(platform: str, path: Subject, of_port: bool, old: object, new: object) -> Known | None:
    """Return what is known of a change at a path below a switch, or below one of its ports; None where nothing is.

    A value that was not there is added, one that is not there any more removed; an empty list is none.
    """
    whole = below_switch(path, of_port)
    kind = "added" if old in (None, ()) else "removed" if new in (None, ()) else "changed"
    for row in (*_rows(platform), *_rows("")):
        fits = kind in row.kinds and (row.values is None or any(new is value for value in row.values))
        if fits and _at(row, whole):
            return row.known
    return None


@lru_cache(maxsize=4096)
def _at(row: _Row, path: Subject) -> bool:
    return any(matches(one, path) for one in row.paths)


@cache
def _rows(platform: str) -> tuple[_Row, ...]:
    return rows_of(platform, _FILE, _row)


def _row(given: Mapping[str, Any]) -> _Row:
    """Return a row of the file; ValueError where it has a word that means nothing."""
    kinds = tuple(given.get("kinds", _KINDS))
    if given["disruption"] not in DISRUPTIONS or not set(kinds) <= set(_KINDS) or not given.keys() <= _WORDS:
        raise ValueError(f"{_FILE}: {given}")
    values = tuple(given["values"]) if "values" in given else None
    return _Row(patterns(given["paths"]), kinds, values, Known(given["disruption"], given["reason"]))
