"""What a switch's own software writes into its configuration beside what it was given; data in `adds.yaml`.

Rows of the file in a platform's folder (contract 9.6). One that fits says that a fact which only the running files
have is the switch's own, and nobody's change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from nodrop.fabric.subject import Subject, matches
from nodrop.platforms.rows import below_switch, paths_of, rows_of

_FILE = "adds.yaml"
_NEEDED = {"paths", "reason", "source"}


@dataclass(frozen=True, slots=True)
class Own:
    """One row: what software writes at some paths of the model; why, and where that stands, the file keeps for readers.

    `values` are those that it writes, of a row of the model by attributes; any, where there are none.
    """

    paths: tuple[Subject, ...]
    values: tuple[object, ...]


def own(platform: str, path: Subject, of_port: bool, running: object, wanted: object) -> bool:
    """Whether a switch wrote by itself what runs at a path below it, or below one of its ports.

    Never where something is wanted there.
    """
    if wanted not in (None, ()) or running in (None, ()):
        return False
    whole = below_switch(path, of_port)
    return any(
        any(matches(one, whole) for one in row.paths) and (not row.values or _is_any(running, row.values))
        for row in rows(platform)
    )


@cache
def rows(platform: str) -> tuple[Own, ...]:
    """Return what is known of a platform; ValueError where a row has a word that means nothing, or lacks one."""
    return rows_of(platform, _FILE, _row)


def _row(given: Mapping[str, Any]) -> Own:
    if not _NEEDED <= given.keys() <= _NEEDED | {"values"} or not all(given[word] for word in _NEEDED):
        raise ValueError(f"{_FILE}: {given}")
    return Own(paths=paths_of(given), values=tuple(given.get("values", ())))


def _is_any(running: object, values: tuple[object, ...]) -> bool:
    return any(_is(running, value) for value in values)


def _is(running: object, value: object) -> bool:
    """Whether something of the model is a value of the file: a row, if it has the attributes that stand there."""
    if isinstance(value, Mapping):
        return all(hasattr(running, name) and _is(getattr(running, name), one) for name, one in value.items())
    return running == value and type(running) is type(value)
