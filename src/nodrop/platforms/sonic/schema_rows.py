"""Judge the rows of one table by the schema, before any other table is looked at."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodrop.fabric.types import meant
from nodrop.formats.places import shown
from nodrop.platforms.sonic.config import bare, type_name
from nodrop.platforms.sonic.schema import Row, Schema, Table
from nodrop.platforms.sonic.schema_conditions import Condition
from nodrop.platforms.sonic.schema_types import Field

Path = tuple[str, ...]
Targets = tuple[tuple[str, str | None], ...]

_MAX_ROWS = 4096
_ELSEWHERE = re.compile(r"([A-Z0-9_]+)(?:\.|\[')(\w+)(?:'\])?\.(\w+)")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong at a path, with what its message says; the path of the message itself is added late."""

    kind: str
    path: Path
    facts: Mapping[str, str]


@dataclass(slots=True)
class Verdict:
    """What is known of a row or a table before any other table is looked at."""

    faults: list[Fault] = field(default_factory=list)
    names: dict[Targets, dict[str, list[Path]]] = field(default_factory=dict)
    """Names of rows, with the places that have them."""
    outer: dict[Condition, list[str]] = field(default_factory=dict)
    """Conditions on other tables, each with the keys of the rows that they are for."""

    def name(self, targets: Targets, text: str, path: Path) -> None:
        """Remember that a place names a row."""
        self.names.setdefault(targets, {}).setdefault(text, []).append(path)


class Judge:
    """Judges tables by the schema of one release; equal rows once."""

    def __init__(self, schema: Schema) -> None:
        """Take the schema of a release."""
        self._schema = schema
        self._rows: dict[tuple[object, ...], Verdict] = {}

    def table(self, table: Table, rows: Mapping[str, Any]) -> Verdict:
        """Return the verdict on a table."""
        verdict = Verdict()
        counts: dict[str, int] = {}
        for key, values in rows.items():
            row = table.row(key)
            if row is None:
                facts = {"found": "no key of this table", "expected": table.shapes}
                verdict.faults.append(_fault("malformed-value", (table.name, key), facts))
            elif isinstance(values, dict):
                self._row(table, row, key, rows, verdict)
                counts[row.name] = counts.get(row.name, 0) + 1
                if counts[row.name] == (row.most or 0) + 1 and row.most is not None:
                    facts = {"found": "one row more", "expected": f"at most {row.most}"}
                    verdict.faults.append(_fault("value-out-of-range", (table.name, key), facts))
        return verdict

    def _row(self, table: Table, row: Row, key: str, rows: Mapping[str, Any], verdict: Verdict) -> None:
        path, values = (table.name, key), rows[key]
        for name, text in row.key(key).items():
            if (stated := row.fields.get(name)) is not None:
                _value(stated, text, path, name, verdict)
            if name in row.named:
                verdict.name(((row.named[name], None),), text, path)
        known = self._values(table.name, row, values)
        for fault in known.faults:
            verdict.faults.append(_fault(fault.kind, (*path, *fault.path), fault.facts))
        for targets, named in known.names.items():
            for text, places in named.items():
                for place in places:
                    verdict.name(targets, text, (*path, *place))
        for condition in known.outer:
            verdict.outer.setdefault(condition, []).append(key)
        if row.keyed:
            whole = row.whole(key, values)
            for condition in row.keyed:
                if (condition.subject == "row" or condition.subject in whole) and not condition.holds(
                    whole, {table.name: rows}
                ):
                    verdict.faults.append(unmet(condition, path, whole, {table.name: rows}))

    def _values(self, table: str, row: Row, values: Mapping[str, Any]) -> Verdict:
        """Return the verdict on a row without its key: the same for all rows of the same values."""
        try:
            seen: tuple[object, ...] = (table, row.name, *values.items())
            known = self._rows.get(seen)
        except TypeError:
            return self._judged(table, row, values)
        if known is None:
            if len(self._rows) >= _MAX_ROWS:
                self._rows.clear()
            known = self._rows[seen] = self._judged(table, row, values)
        return known

    def _judged(self, table: str, row: Row, values: Mapping[str, Any]) -> Verdict:
        verdict = Verdict()
        for name, value in values.items():
            stated = row.fields.get(name)
            if row.each is not None:
                names, inner = row.each
                _value(Field(names), name, (name,), name, verdict)
                _value(Field(inner), value, (name,), name, verdict)
            elif stated is None or name in row.parts:
                facts = {"release": self._schema.named, "hint": self._hint(table, row, name)}
                verdict.faults.append(Fault("unknown-field", (name,), facts))
            else:
                _value(stated, value, (name,), name, verdict)
        self._conditions(row, values, verdict)
        return verdict

    def _conditions(self, row: Row, values: Mapping[str, Any], verdict: Verdict) -> None:
        whole = {**row.defaults, **values}
        optional = set()
        for condition in row.own:
            if condition.is_when and condition.subject not in values:
                optional |= {condition.subject} - ({condition.subject} if condition.holds(whole, {}) else set())
            elif (condition.subject == "row" or condition.subject in whole) and not condition.holds(whole, {}):
                verdict.faults.append(unmet(condition, (), whole, {}))
        for condition in row.outer:
            is_missing = condition.is_when and condition.subject in row.required and condition.subject not in values
            optional |= {condition.subject} if is_missing else set()
            if condition.subject == "row" or condition.subject in values or is_missing:
                verdict.outer[condition] = []
        for name in row.required:
            if name not in values and name not in optional:
                verdict.faults.append(missing(self._schema, (), name))

    def _hint(self, table: str, row: Row, name: str) -> str:
        other = self._schema.elsewhere(table, name)
        if other:
            return f"; SONiC has it {other}"
        near = meant(name, [each for each in row.fields if each not in row.parts])
        return near and f"; {near}"


def missing(schema: Schema, path: Path, name: str) -> Fault:
    """Return the fault of a row that lacks a field."""
    return _fault("missing-field", path, {"field": name, "release": schema.named})


def unmet(condition: Condition, path: Path, row: Mapping[str, Any], tables: Mapping[str, Any]) -> Fault:
    """Return the fault of a row of which a condition does not hold."""
    found = [f"{name} is {_said(row.get(name, row.get(name.replace('_', '-'))))}" for name in sorted(condition.names)]
    for table, key, name in dict.fromkeys(_ELSEWHERE.findall(condition.text)):
        value = (tables.get(table, {}).get(key) or {}).get(name)
        found.append(f"{table}/{key}/{name} is {_said(value)}")
    place = (*path, condition.subject) if condition.subject in row and condition.subject != "row" else path
    return _fault("broken-condition", place, {"found": ", ".join(found), "expected": condition.text})


def _said(value: object) -> str:
    return "absent" if value is None else shown(str(value))


def _fault(kind: str, path: Path, facts: Mapping[str, str]) -> Fault:
    """Return a fault; one whose path is complete says it in its message."""
    says_path = len(path) > 1 and kind not in ("bracket-reference", "dangling-reference")
    return Fault(kind, path, {"path": "/".join(path), **facts} if says_path else facts)


def _value(stated: Field, value: object, path: Path, name: str, verdict: Verdict) -> None:
    """Judge one value as it stands in the file."""
    kind = stated.kind
    values = stated.values(value)
    if values is None:
        found = shown(value) if isinstance(value, str) else type_name(value)
        expected = f"a list, each {kind.expected}" if stated.many else kind.expected
        verdict.faults.append(_fault("malformed-value", path, {"found": found, "expected": expected}))
        return
    for text in values:
        if kind.accepts(text):
            continue
        if kind.targets:
            name_of = bare(text)
            if name_of != text:
                verdict.faults.append(_fault("bracket-reference", path, {"reference": text, "name": name_of}))
            verdict.name(kind.targets, name_of, path)
            continue
        wrong = "value-out-of-range" if kind.is_out_of_range(text) else "malformed-value"
        found = shown(text) if text else "empty"
        verdict.faults.append(_fault(wrong, path, {"found": found, "expected": kind.expected}))
    if not values and stated.many == "filled list":
        facts = {"found": "empty", "expected": "the field left out where there is nothing to say"}
        verdict.faults.append(_fault("malformed-value", path, facts))
