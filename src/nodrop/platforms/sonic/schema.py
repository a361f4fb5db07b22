"""What SONiC's configuration database may hold in a release: schema.yaml, each table compiled when it is first met."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from nodrop.platforms.sonic.schema_conditions import (
    ConditionTables,
    RowCondition,
    parse_condition,
    table_referenced_by_condition,
)
from nodrop.platforms.sonic.schema_types import FieldSchema, merge_fields, parse_field
from nodrop.syntax.yaml import parse_yaml

SCHEMA_FILE = Path(__file__).with_name("schema.yaml")

_RELEASE_SPAN_PATTERN = re.compile(r"(?:since (?P<since>\w+) ?)?(?:until (?P<until>\w+) ?)?(?P<rest>.*)")
_KEY_PART_PATTERN = re.compile(r"<([^>]+)>")
_ROW_LIMIT_PATTERN = re.compile(r"at most ([0-9]+)")
_DATABASE_VERSION_PATTERN = re.compile(r"version_([0-9]{6})_[0-9]{2}")
_RELOAD_VALIDATES_SINCE = "202505"
"""From here on `config reload` validates all (sonic-utilities config/main.py, config_file_yang_validation)."""
_LAST_RELEASE_ON_LIBYANG_1 = "202511"
"""Until here sonic-yang-mgmt uses libyang 1.0.73 (sonic-buildimage rules/libyang.mk; src/sonic-yang-mgmt/sonic_yang.py,
`import yang`). Its JSON parser refuses a list without entries, and empty values of a list are not left out first."""


@dataclass(frozen=True, slots=True, eq=False)
class RowSchema:
    """One shape of row: how its key is made, its fields, and the conditions between them."""

    name: str
    parts: tuple[str, ...]
    """Names of the parts of the key; none for a row of one fixed name."""
    fields: Mapping[str, FieldSchema]
    """All fields, the parts of the key among them."""
    each: tuple[FieldSchema, FieldSchema] | None
    """What names and values are where the fields have any name."""
    most: int | None
    required: tuple[str, ...]
    defaults: Mapping[str, str]
    conditions: tuple[RowCondition, ...]
    named: Mapping[str, str]
    """Fields that have to name a row of a table, beyond what their kind says."""
    formed: tuple[str, ...]
    """Fields whose value conditions do not see as the file has it: lists and whole numbers."""
    lists: tuple[str, ...]

    def key_parts_by_name(self, text: str) -> dict[str, str]:
        """Return the parts of a key of this shape, by name."""
        return dict(zip(self.parts, map(str.strip, text.split("|")), strict=True)) if self.parts else {}

    def present_fields(self, field_values: Mapping[str, object]) -> Collection[str]:
        """Return the fields that are there; a list without values is not."""
        empty = [
            name
            for name in self.lists
            if name in field_values and self.fields[name].condition_value(field_values[name]) is None
        ]
        return field_values.keys() - empty if empty else field_values

    def row_with_defaults(self, text: str, values: Mapping[str, object]) -> dict[str, Any]:
        """Return the row of this key and these values as conditions see it, with its key and defaults."""
        full_row: dict[str, object] = {**self.defaults, **self.key_parts_by_name(text)}
        for name, value in values.items():
            full_row[name] = value if type(value) is str or name in self.lists else str(value)
        for name in self.formed:
            if name in full_row and (seen := self.fields[name].condition_value(full_row.pop(name))) is not None:
                full_row[name] = seen
        return full_row


@dataclass(frozen=True, slots=True, eq=False)
class TableSchema:
    """One table: its rows of a fixed name, and those that a key of so many parts has."""

    name: str
    fixed: Mapping[str, RowSchema]
    keyed: Mapping[int, RowSchema]

    def row_schema_of_key(self, key: str) -> RowSchema | None:
        """Return the shape of row that a key has; None where the table has no such key."""
        return self.fixed.get(key) or self.keyed.get(key.count("|") + 1)

    @property
    def key_shapes_text(self) -> str:
        """Return the keys that the table has, in words."""
        return " or ".join([*self.fixed, *(row.name for row in self.keyed.values())]) or "no row"


class ReleaseSchema:
    """The schema of one release; or, if the release is not known, everything that any release takes."""

    def __init__(self, release: str | None) -> None:
        """Take a name of `releases()`, or None for any of them."""
        self.release = release
        self._tables: dict[str, TableSchema | None] = {}

    @property
    def reload_refuses_unmodeled_tables(self) -> bool:
        """Whether `config reload` refuses a file with a table that has no model; False where that is not known."""
        return self.release is not None and schema_releases().index(self.release) >= schema_releases().index(
            _RELOAD_VALIDATES_SINCE
        )

    @property
    def reads_with_libyang_1(self) -> bool:
        """Whether empty maps and empty values of lists are refused; False where that is not known."""
        return self.release is not None and schema_releases().index(self.release) <= schema_releases().index(
            _LAST_RELEASE_ON_LIBYANG_1
        )

    @property
    def may_be_later_build(self) -> bool:
        """Whether a switch may run a later build than all whose models are known: their databases have one version."""
        *_, last, _main = schema_releases()
        return self.release is None or schema_releases().index(self.release) >= schema_releases().index(last)

    @property
    def release_label(self) -> str:
        """The release as a message writes it."""
        oldest_release, *_, last = schema_releases()
        if self.release is None:
            return f"any release from {oldest_release} to {last}"
        return self.release if self.release == last else f"release {self.release}"

    def table(self, name: str) -> TableSchema | None:
        """Return a table; None where the release has none of this name."""
        if name not in self._tables:
            self._tables[name] = self._compile_table(name)
        return self._tables[name]

    def condition_tables(self, data: Mapping[str, object]) -> ConditionTables:
        """Return the tables of a configuration as conditions see them."""
        return ConditionTables(data, self._row_with_defaults)

    def _row_with_defaults(self, name: str, key: str, values: Mapping[str, object] | None) -> Mapping[str, object]:
        """Return a row as conditions see it; one of a fixed name has its defaults also where it is absent."""
        table = self.table(name)
        row = table and (table.fixed.get(key) if values is None else table.row_schema_of_key(key))
        return row.row_with_defaults(key, values or {}) if row else {}

    def table_names(self) -> Iterator[str]:
        """Yield the tables of the release."""
        return (
            name
            for name, table in _read_schema_document()["tables"].items()
            if self._is_in_release(_release_span_of_table(table))
        )

    def describe_other_releases(self, table_name: str, field: str | None = None) -> str:
        """Return since or until when other releases have a table, or a field of it; empty where none has."""
        rows = _read_schema_document()["tables"].get(table_name)
        if rows is None:
            return ""
        since, until = _release_span_of_table(rows)
        if field is not None:
            spans = [
                _release_span_of_field(row, field) for row in rows.values() if isinstance(row, dict) and field in row
            ]
            if not spans:
                return ""
            since, until = spans[0][0] or since, spans[-1][1] or until
        return " ".join(f"{word} {release}" for word, release in (("since", since), ("until", until)) if release)

    def _is_in_release(self, span: tuple[str | None, str | None]) -> bool:
        if self.release is None:
            return True
        order, (since, until) = schema_releases(), span
        at = order.index(self.release)
        return (since is None or order.index(since) <= at) and (until is None or at <= order.index(until))

    def _compile_table(self, name: str) -> TableSchema | None:
        stated = _read_schema_document()["tables"].get(name)
        if stated is None or not self._is_in_release(_release_span_of_table(stated)):
            return None
        rows = [
            self._compile_row(name, key, row or {})
            for key, row in stated.items()
            if isinstance(row, dict) and self._variants_in_release(row.get("row", ""))
        ]
        return TableSchema(
            name=name,
            fixed={row.name: row for row in rows if not row.parts},
            keyed={len(row.parts): row for row in rows if row.parts},
        )

    def _compile_row(self, table: str, key: str, stated: Mapping[str, Any]) -> RowSchema:
        key_parts = tuple(_KEY_PART_PATTERN.findall(key))
        fields = {}
        for name, spec in stated.items():
            if name in ("row", "must", "each"):
                continue
            if found_fields := [
                parse_field(remainder, is_part=name in key_parts) for remainder in self._variants_in_release(spec)
            ]:
                fields[name] = merge_fields(found_fields)
        conditions = [parse_condition(remainder) for remainder in self._conditions_in_release(stated.get("must", ()))]
        named_tables = {
            condition.subject: target
            for condition in conditions
            if (target := table_referenced_by_condition(condition))
        }
        limits = [_ROW_LIMIT_PATTERN.fullmatch(variant) for variant in self._variants_in_release(stated.get("row", ""))]
        return RowSchema(
            name=key,
            parts=key_parts,
            fields=fields,
            each=self._schemas_of_field_name_and_value(stated["each"]) if "each" in stated else None,
            most=max(int(limit[1]) for limit in limits if limit) if all(limits) else None,
            required=tuple(name for name, field in fields.items() if field.required or field.has_unusable_default),
            defaults={name: field.default for name, field in fields.items() if field.default is not None},
            conditions=tuple(condition for condition in conditions if not table_referenced_by_condition(condition)),
            named=named_tables,
            formed=tuple(name for name, field in fields.items() if field.many or field.kind.number),
            lists=tuple(name for name, field in fields.items() if field.many),
        )

    def _variants_in_release(self, spec: str | list[str]) -> list[str]:
        """Return the variants of a field or row in this release; those of every release if no release is chosen."""
        spans = [_split_release_span(text) for text in ([spec] if isinstance(spec, str) else spec)]
        return [remainder for span, remainder in spans if self._is_in_release(span)]

    def _conditions_in_release(self, condition_texts: list[str]) -> list[str]:
        """Return the conditions of this release; in any release, only those that all releases have."""
        spans = [_split_release_span(text) for text in condition_texts]
        if self.release is None:
            return [remainder for span, remainder in spans if span == (None, None)]
        return [remainder for span, remainder in spans if self._is_in_release(span)]

    def _schemas_of_field_name_and_value(self, spec: str | list[str]) -> tuple[FieldSchema, FieldSchema]:
        pairs = [remainder.partition(" to ")[::2] for remainder in self._variants_in_release(spec)]
        sides = (dict.fromkeys(side) for side in zip(*pairs, strict=True))
        names, values = (merge_fields([parse_field(kind_text, is_part=True) for kind_text in side]) for side in sides)
        return names, values


def schema_releases() -> tuple[str, ...]:
    """Return the releases that schema.yaml distinguishes, the oldest first; the last is the main branch."""
    return tuple(_read_schema_document()["releases"])


@cache
def schema_of_release(release: str | None) -> ReleaseSchema:
    """Return the schema of a release; None for what any release takes."""
    return ReleaseSchema(release)


def release_of_database_version(version: object) -> str | None:
    """Return the release that VERSIONS.DATABASE.VERSION names; None if it names no known release.

    A version above all known ones is that of a newer main branch; the known main branch is nearest to it.
    """
    match = _DATABASE_VERSION_PATTERN.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        return None
    *numbered, main = schema_releases()
    if match[1] in numbered:
        return match[1]
    return main if match[1] > numbered[-1] else None


@cache
def _read_schema_document() -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", parse_yaml(SCHEMA_FILE.read_bytes(), SCHEMA_FILE.name).data)


def _split_release_span(value_text: str) -> tuple[tuple[str | None, str | None], str]:
    """Return the first release, the last release, and the rest of the text."""
    match = _RELEASE_SPAN_PATTERN.match(value_text)
    assert match is not None
    return (match["since"], match["until"]), match["rest"]


def _release_span_of_table(table: Mapping[str, object]) -> tuple[str | None, str | None]:
    """Return since and until when a table is there; a row may have those names too, and is no text."""
    since, until = table.get("since"), table.get("until")
    return since if isinstance(since, str) else None, until if isinstance(until, str) else None


def _release_span_of_field(table_row: Mapping[str, Any], field: str) -> tuple[str | None, str | None]:
    """Return the first and the last release with a field of a row, from its first and last text."""
    spec = table_row[field]
    spans = [_split_release_span(text)[0] for text in ([spec] if isinstance(spec, str) else spec)]
    return spans[0][0], spans[-1][1]
