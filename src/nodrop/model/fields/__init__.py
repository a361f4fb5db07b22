"""The fields of the model: one row for each, with all facts about it that do not belong to a platform.

A new field needs a row in the module of its class (`switches`, `ports`, `routing` or `stated`); `row.ModelField` says
what its columns are. Types are those of the declarations (`fabric.types`), and units those of the names (`unit_of`).

Paths begin at the fabric: `("devices", "leaf1", "bgp", "neighbors", "10.1.0.1", "bfd")`. Several rows may fit a
path: that of the class of its last part, and rows of the classes around it, which are for this place only and win.
"""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from nodrop.model.fabric import Fabric
from nodrop.model.fields.ports import PORT_FIELDS
from nodrop.model.fields.routing import ROUTING_FIELDS
from nodrop.model.fields.row import ChangeImpact, FieldTable, ModelField, NumberMapWords
from nodrop.model.fields.stated import STATED_FIELDS
from nodrop.model.fields.switches import SWITCH_FIELDS
from nodrop.model.subject import Subject, matches
from nodrop.model.types import attributes_of

__all__ = [
    "FIELD_TABLE",
    "ChangeImpact",
    "ModelField",
    "NumberMapWords",
    "entry_label",
    "field_of",
    "impacts_of_path",
    "label_of",
    "names_of_fields_with_columns",
    "nearest_field_with_column",
    "number_map_words_by_field",
    "unit_of",
]

FIELD_TABLE: FieldTable = {**STATED_FIELDS, **SWITCH_FIELDS, **PORT_FIELDS, **ROUTING_FIELDS}
_FIELD_UNIT_SUFFIXES = ("_bytes_per_s", "_bytes", "_mbps", "_percent", "_ms", "_us", "_s", "_m")
_SWITCH_PORT_SUBJECT: Subject = ("devices", "*", "interfaces", "*")


def unit_of(name: str) -> str:
    """Return the unit that the name of a field ends with, such as `ms`; empty without one."""
    return next((unit[1:] for unit in _FIELD_UNIT_SUFFIXES if name.endswith(unit)), "")


def label_of(name: str) -> str:
    """Return the word for a field in reports."""
    return _labels_by_path().get(name) or name.removesuffix(f"_{unit_of(name)}").replace("_", " ")


def entry_label(name: str) -> str:
    """Return the word for one entry of a field that is a list."""
    return _labels_by_path().get(f"{name}/*") or name.replace("_", " ").removesuffix("s")


@cache
def _labels_by_path() -> Mapping[str, str]:
    return {path: row.label for rows in FIELD_TABLE.values() for path, row in rows.items() if row.label}


@cache
def number_map_words_by_field() -> Mapping[str, NumberMapWords]:
    """Return the words for the entries of maps, by field."""
    return {name: row.numbers for rows in FIELD_TABLE.values() for name, row in rows.items() if row.numbers}


@cache
def names_of_fields_with_columns(*owners: type[object], **columns: object) -> tuple[str, ...]:
    """Return the names of the fields whose rows have these values in their columns, in the order of the rows.

    Without classes, of all classes.
    """
    names = (
        name
        for owner in owners or FIELD_TABLE
        for name, row in FIELD_TABLE[owner].items()
        if "/" not in name and all(getattr(row, column) == value for column, value in columns.items())
    )
    return tuple(dict.fromkeys(names))


def field_of(owner: type[Any], name: str) -> ModelField:
    """Return the row of a field in its class; KeyError if there is none."""
    rows = FIELD_TABLE[owner]
    return rows[name] if name in rows else rows[f"{name}/**"]


@lru_cache(maxsize=8192)
def nearest_field_with_column(path: Subject, *columns: str) -> ModelField | None:
    """Return the row for a path that has one of these columns or, without one, that of the nearest path around it."""
    owners = list(_owners_along_path(path))
    for end in range(len(path), -1, -1):
        for row in _rows_for_path(owners, path[:end]):
            if any(getattr(row, column) for column in columns):
                return row
    return None


@lru_cache(maxsize=4096)
def impacts_of_path(path: Subject, *, of_port: bool) -> tuple[ChangeImpact, ...]:
    """Return the effects of changes at a path below a switch, or below one of its ports."""
    whole_paths = (*_SWITCH_PORT_SUBJECT[: 4 if of_port else 2], *path)
    return tuple(
        impact for row in _rows_for_path(list(_owners_along_path(whole_paths)), whole_paths) for impact in row.impact
    )


def _rows_for_path(owners: list[tuple[int, type[object]]], path: Subject) -> Iterator[ModelField]:
    """Yield the rows for a path, those of the outermost class first."""
    for start, owner in owners:
        remaining_subjects = path[start:]
        if remaining_subjects or not path:
            yield from (
                row
                for pattern, row in FIELD_TABLE[owner].items()
                if matches(_split_pattern(pattern), remaining_subjects)
            )


@cache
def _split_pattern(pattern: str) -> Subject:
    return tuple(pattern.split("/")) if pattern else ()


def _owners_along_path(path: Subject) -> Iterator[tuple[int, type[object]]]:
    """Yield the classes that a path leads through, each with the place where its own part of the path begins."""
    owner: type[Any] = Fabric
    at = 0
    yield at, owner
    while at < len(path) and (kind := attributes_of(owner).get(path[at])) is not None:
        inside = kind.element or kind
        at += 2 if kind.element else 1
        owners = [candidate for candidate in inside.owners if isinstance(candidate, type) and candidate in FIELD_TABLE]
        if not owners or at > len(path):
            return
        owner = owners[0]
        yield at, owner
