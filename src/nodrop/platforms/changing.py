"""What a change of the model does to a switch that runs, whichever way it is made; data in `change.yaml`.

Rows of the file beside this hold for every platform, those in a platform's own folder (contract 9.6) before them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from nodrop.fabric.change import DISRUPTIONS, Disruption
from nodrop.fabric.subject import Subject, matches
from nodrop.formats.yaml import parse

_HERE = Path(__file__).parent
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
    whole = ("interfaces", "*", *path) if of_port else path
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
    path = _HERE / platform / "change.yaml"
    if not path.exists():
        return ()
    given: Any = parse(path.read_bytes(), path.name).data
    return tuple(map(_row, given))


def _row(given: Mapping[str, Any]) -> _Row:
    """Return a row of the file; ValueError where it has a word that means nothing."""
    disruption = given["disruption"]
    kinds = tuple(given.get("kinds", _KINDS))
    known = {"paths", "kinds", "values", "disruption", "reason"}
    if disruption not in DISRUPTIONS or not set(kinds) <= set(_KINDS) or not given.keys() <= known:
        raise ValueError(f"change.yaml: {given}")
    return _Row(
        paths=tuple(tuple(one.split("/")) for one in given["paths"]),
        kinds=kinds,
        values=tuple(given["values"]) if "values" in given else None,
        known=Known(disruption, given["reason"]),
    )
