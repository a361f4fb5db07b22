"""Judge the rows of one table by the schema, before any other table is looked at."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from nodrop.limits import MAX_REMARKS_PER_SWITCH
from nodrop.model.types import did_you_mean_hint, only_near_name
from nodrop.platforms.sonic.condition_words import describe_condition
from nodrop.platforms.sonic.config import json_type_name, name_in_reference
from nodrop.platforms.sonic.schema import ReleaseSchema, RowSchema, TableSchema
from nodrop.platforms.sonic.schema_conditions import ConditionTables, RowCondition
from nodrop.platforms.sonic.schema_types import FieldSchema, ValueKind
from nodrop.platforms.sonic.tables import EMPTY_ROW_FIELD
from nodrop.syntax.places import quote_text
from nodrop.syntax.shapes import mapping_at

Path = tuple[str, ...]
RowFields = Mapping[str, object]
"""The fields of a row."""
ReferencedTables = tuple[tuple[str, str | None], ...]

_MIN_FIELD_NAME_SIMILARITY = 0.75
"""How much a field has to be like one of the model for a hint: what a vendor adds (`parent_port`) is no slip."""

_OTHER_TABLE_FIELD_PATTERN = re.compile(r"(?<![A-Z0-9_])([A-Z0-9_]++)(?:\.|\[')(\w+)(?:'\])?\.(\w+)")
_WHITESPACE_PATTERN = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """A fault at a path, with the facts for its message."""

    kind: str
    path: Path
    facts: Mapping[str, str]
    others: tuple[Path, ...] = ()
    """Fields of other rows that a broken condition compares with, as far as they are there."""
    cause: Path = ()
    """The one of them to point at, if several rows fail for it; else nothing."""
    near: str = ""
    """Of an unknown field, the only one of its row that its name may be a slip of."""


@dataclass(slots=True)
class TableVerdict:
    """The facts of a table before any other table is checked."""

    faults: list[SchemaFault] = field(default_factory=list)
    names: dict[ReferencedTables, set[str]] = field(default_factory=dict)
    """Names of rows, by the tables where they may be."""
    places: list[tuple[ReferencedTables, str, Path]] = field(default_factory=list)
    """Where each of them stands."""
    outer: dict[RowCondition, list[str]] = field(default_factory=dict)
    """Conditions on other tables, each with the keys of the rows that they are for."""
    lacking: dict[tuple[str, str], list[Path]] = field(default_factory=dict)
    """The rows that lack a required field, by the name of the kind of row and of the field."""

    def add_reference(self, targets: ReferencedTables, text: str, path: Path) -> None:
        """Remember that a place names a row."""
        known_names = self.names.get(targets)
        if known_names is None:
            self.names[targets] = {text}
        else:
            known_names.add(text)
        self.places.append((targets, text, path))


class TableSchemaJudge:
    """Judges tables by the schema of one release."""

    def __init__(self, schema: ReleaseSchema) -> None:
        """Take the schema of a release."""
        self._schema = schema

    def judge_table(self, table: TableSchema, rows: Mapping[str, object]) -> TableVerdict:
        """Return the verdict on a table; once there are more faults than are listed, the rest is not judged."""
        verdict = TableVerdict()
        counts: dict[str, int] = {}
        tables = self._schema.condition_tables({table.name: rows})
        for key, values in rows.items():
            if len(verdict.faults) + sum(map(len, verdict.lacking.values())) > MAX_REMARKS_PER_SWITCH:
                break
            row = table.row_schema_of_key(key)
            if row is None:
                facts = {"found": "no key of this table", "expected": table.key_shapes_text}
                verdict.faults.append(build_fault("malformed-value", (table.name, key), facts))
            elif not isinstance(values, dict):
                facts = {"found": json_type_name(values), "expected": "an object of fields"}
                verdict.faults.append(build_fault("malformed-value", (table.name, key), facts))
            else:
                self._judge_row(table, row, key, values, tables, verdict)
                if _WHITESPACE_PATTERN.search(key) and (same := strip_key_spaces(key)) != key and same in rows:
                    facts = {"found": f"the key {same} twice", "expected": "each key once"}
                    verdict.faults.append(build_fault("malformed-value", (table.name, key), facts))
                counts[row.name] = counts.get(row.name, 0) + 1
                if counts[row.name] == (row.most or 0) + 1 and row.most is not None:
                    facts = {"found": "one row more", "expected": f"at most {row.most}"}
                    verdict.faults.append(build_fault("value-out-of-range", (table.name, key), facts))
        for (row_name, name), paths in verdict.lacking.items():
            is_everywhere = len(paths) == len(rows) == counts[row_name] > 1
            verdict.faults += (
                [self._field_missing_in_all_rows_fault(table.name, name, len(paths))]
                if is_everywhere
                else [missing_field_fault(self._schema, path, name) for path in paths]
            )
        verdict.faults = set_shared_fields_as_cause(verdict.faults)
        return verdict

    def _field_missing_in_all_rows_fault(self, table_name: str, field_name: str, rows: int) -> SchemaFault:
        """Return the one fault of a table of which no row has a required field, as of a part of a configuration."""
        facts = {"path": f"{table_name} (all {rows} rows)", "field": field_name, "release": self._schema.release_label}
        return build_fault("missing-field", (table_name,), facts)

    def _judge_row(
        self,
        table: TableSchema,
        row: RowSchema,
        key: str,
        values: RowFields,
        tables: ConditionTables,
        verdict: TableVerdict,
    ) -> None:
        path, fields = (table.name, key), row.fields
        if row.each is not None and not values and self._schema.reads_with_libyang_1:
            facts = {"found": "without fields", "expected": "at least one, or no such row"}
            verdict.faults.append(build_fault("malformed-value", path, facts))
        for name, text in zip(row.parts, key.split("|"), strict=False):
            key_part = text.strip()
            if (stated := fields.get(name)) is not None:
                _check_value(stated, key_part, path, verdict)
            if name in row.named:
                verdict.add_reference(((row.named[name], None),), key_part, path)
        for name, value in values.items():
            if len(verdict.faults) > MAX_REMARKS_PER_SWITCH:
                return
            stated = fields.get(name)
            if name == value == EMPTY_ROW_FIELD and name not in fields:
                if self._schema.reload_refuses_unmodeled_tables:
                    facts = {"found": f'{{"{name}": "{value}"}}', "expected": "{}, as files have a row without fields"}
                    verdict.faults.append(build_fault("malformed-value", path, facts))
                continue
            if row.each is not None:
                names, inner = row.each
                _check_value(names, name, (*path, name), verdict)
                _check_value(inner, value, (*path, name), verdict)
            elif stated is None or name in row.parts:
                is_listed = len(verdict.faults) < MAX_REMARKS_PER_SWITCH
                meant = _fields_that_may_be_meant(row, path, values, name, tables) if is_listed else ()
                hint = self._unknown_field_hint(table.name, meant, name) if is_listed else ""
                facts = {"release": self._schema.release_label, "hint": hint}
                near = only_near_name(name, [field_name for field_name in meant if field_name not in values])
                verdict.faults.append(replace(build_fault("unknown-field", (*path, name), facts), near=near or ""))
            elif stated.many or type(value) is not str or not stated.kind.accepts(value):
                _check_value(stated, value, (*path, name), verdict)
                if self._schema.reads_with_libyang_1 and stated.has_refused_empty_text(value):
                    facts = {"found": "a list with an empty value", "expected": f"a list, each {stated.kind.expected}"}
                    verdict.faults.append(build_fault("malformed-value", (*path, name), facts))
        if row.conditions or row.required:
            self._judge_conditions_within_row(row, path, values, tables, verdict)

    def _judge_conditions_within_row(
        self, row: RowSchema, path: Path, values: RowFields, tables: ConditionTables, verdict: TableVerdict
    ) -> None:
        """Check required fields, and conditions between fields; leave conditions that read other tables."""
        table, key = path[0], path[1]
        full_row, optional, given_present_fields = None, set(), row.present_fields(values)
        for condition in row.conditions:
            subject = condition.subject
            is_stated = subject == "row" or subject in row.parts or subject in given_present_fields
            if not is_stated and subject not in (row.required if condition.is_when else row.defaults):
                continue
            if condition.tables and condition.tables != {table}:
                verdict.outer.setdefault(condition, []).append(key)
                optional |= {subject} if condition.is_when else set()
                continue
            full_row = full_row or row.row_with_defaults(key, values)
            if not condition.holds(full_row, tables):
                if condition.is_when and not is_stated:
                    optional.add(subject)
                else:
                    verdict.faults.append(unmet_condition_fault(condition, path, full_row, tables))
        for name in row.required:
            if name not in given_present_fields and name not in optional:
                verdict.lacking.setdefault((row.name, name), []).append(path)

    def _unknown_field_hint(self, table: str, meant: Iterable[str], name: str) -> str:
        location = self._schema.describe_other_releases(table, name)
        if location:
            return f"; SONiC has it {location}"
        near = did_you_mean_hint(name, meant, _MIN_FIELD_NAME_SIMILARITY)
        return near and f"; {near}"


def _fields_that_may_be_meant(
    row: RowSchema, path: Path, values: RowFields, name: str, tables: ConditionTables
) -> tuple[str, ...]:
    """Return the fields that a row may have in place of an unknown one: those whose own conditions it would meet."""
    table, key = path
    known = {field_name: values[field_name] for field_name in row.fields if field_name in values}
    refused = {
        condition.subject
        for condition in row.conditions
        if condition.subject in row.fields
        and condition.subject not in values
        and condition.tables <= {table}
        and not condition.holds(row.row_with_defaults(key, {**known, condition.subject: values[name]}), tables)
    }
    return tuple(field_name for field_name in row.fields if field_name not in row.parts and field_name not in refused)


def missing_field_fault(schema: ReleaseSchema, path: Path, name: str) -> SchemaFault:
    """Return the fault of a row without a required field."""
    return build_fault("missing-field", path, {"field": name, "release": schema.release_label})


def set_shared_fields_as_cause(faults: list[SchemaFault]) -> list[SchemaFault]:
    """Return faults, those of several rows that fail for one field of another row with that field as their cause."""
    counts = Counter(other for fault in faults for other in fault.others)
    if not any(count > 1 for count in counts.values()):
        return faults
    return [replace(fault, cause=next((other for other in fault.others if counts[other] > 1), ())) for fault in faults]


def unmet_condition_fault(
    condition: RowCondition, path: Path, row: Mapping[str, object], config_tables: ConditionTables
) -> SchemaFault:
    """Return the fault of a row that does not meet a condition."""
    field_texts = [
        f"{name} is {_format_value(row.get(name, row.get(name.replace('_', '-'))))}" for name in sorted(condition.names)
    ]
    others = dict.fromkeys(_OTHER_TABLE_FIELD_PATTERN.findall(condition.text))
    for table, key, name in others:
        value = config_tables.row(table, key).get(name)
        field_texts.append(f"{name} of {table} {key} is {_format_value(value)}")
    place = (*path, condition.subject) if condition.subject in row and condition.subject != "row" else path
    facts = {"found": ", ".join(field_texts), "expected": describe_condition(condition.text)}
    stated = tuple(other for other in others if other[2] in mapping_at(config_tables.rows_by_key(other[0]), other[1]))
    return replace(build_fault("broken-condition", place, facts), others=stated)


def _format_value(value: object) -> str:
    return "absent" if value is None else quote_text(", ".join(value) if isinstance(value, tuple) else str(value))


def strip_key_spaces(key: str) -> str:
    """Return a key as SONiC reads it, without spaces around its parts (sonic_yang_ext.py, `_extractKey`)."""
    return "|".join(map(str.strip, key.split("|")))


def build_fault(object_kind: str, path: Path, facts: Mapping[str, str]) -> SchemaFault:
    """Return a fault whose message gives its path, except for references, whose message gives the referenced name."""
    says_path = object_kind not in ("bracket-reference", "dangling-reference")
    return SchemaFault(object_kind, path, {"path": "/".join(path), **facts} if says_path else facts)


def _check_value(stated: FieldSchema, value: object, path: Path, verdict: TableVerdict) -> None:
    """Judge one value as it stands in the file."""
    kind = stated.kind
    if not stated.many and type(value) is str:
        if not kind.accepts(value):
            _record_reference_or_fault(kind, value, path, verdict)
        return
    values = stated.values(value)
    if values is None:
        found_text = quote_text(value) if isinstance(value, str) else json_type_name(value)
        expected = f"a list, each {kind.expected}" if stated.many else kind.expected
        verdict.faults.append(build_fault("malformed-value", path, {"found": found_text, "expected": expected}))
        return
    for text in values:
        if not kind.accepts(text):
            _record_reference_or_fault(kind, text, path, verdict)
    counts = Counter(map(kind.canonical, values))
    if len(counts) < len(values):
        [(most, _)] = counts.most_common(1)
        facts = {"found": f"{quote_text(most)} twice", "expected": "each value once"}
        verdict.faults.append(build_fault("malformed-value", path, facts))
    if not values and stated.many == "filled list":
        facts = {"found": "empty", "expected": "the field left out where there is nothing to say"}
        verdict.faults.append(build_fault("malformed-value", path, facts))


def _record_reference_or_fault(kind: ValueKind, text: str, path: Path, verdict: TableVerdict) -> None:
    """Remember the row that a text names, or that it is no value of its kind."""
    if kind.targets:
        name = name_in_reference(text) if text.startswith("[") else text
        if name != text:
            verdict.faults.append(build_fault("bracket-reference", path, {"reference": text, "name": name}))
        verdict.add_reference(kind.targets, name, path)
        return
    wrong = "value-out-of-range" if kind.is_out_of_range(text) else "malformed-value"
    found_text = quote_text(text) if text else "empty"
    verdict.faults.append(build_fault(wrong, path, {"found": found_text, "expected": kind.expected}))
