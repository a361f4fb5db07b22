"""Check a configuration against the schema of its release: tables, rows, fields, values, names of rows, conditions.

Switches of one design share most tables, and a repeated table costs one comparison. References of a table are looked
up for every file.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from nodrop.model.change import FILE_SETTING_AREA
from nodrop.model.reading import NO_REMEDY, FileCorrection, Remedy
from nodrop.model.types import did_you_mean_hint
from nodrop.platforms.sonic.config import DeviceTables, is_conclusive_about_table, json_type_name
from nodrop.platforms.sonic.corrections import commands_to_correct_or_remove_field, commands_to_remove_table_rows
from nodrop.platforms.sonic.read_secrets import build_remedy_without_secrets, mask_secrets_in_facts
from nodrop.platforms.sonic.schema import ReleaseSchema, release_of_database_version, schema_of_release
from nodrop.platforms.sonic.schema_conditions import ConditionTables, RowCondition
from nodrop.platforms.sonic.schema_rows import (
    Path,
    ReferencedTables,
    SchemaFault,
    TableSchemaJudge,
    TableVerdict,
    build_fault,
    missing_field_fault,
    set_shared_fields_as_cause,
    strip_key_spaces,
    unmet_condition_fault,
)
from nodrop.platforms.sonic.unknown_tables import unreleased_table_subjects
from nodrop.syntax.places import quote_text
from nodrop.syntax.shapes import mapping_at, value_at

TABLES_WITHOUT_MODEL = frozenset({"bgpraw"})
"""Tables that SONiC itself lets pass without a model (sonic-utilities config/main.py)."""

_UNMODELLED_FAULT_KINDS = frozenset({"unknown-table", "ignored-table"})
"""Faults of tables that no model is about."""

_MAX_CACHED_VERDICTS_PER_TABLE = 8
"""Verdicts kept by table and release: switches differ by tier, pod and generation, and not much further."""


def remark_schema_faults(config: DeviceTables) -> None:
    """Report all settings that a configuration's release does not take, except where something is reported already.

    A database older than all releases whose models are known, or of another distribution, is not checked; the reader
    adds a note about it.
    """
    if config.database.reason_unmodelled:
        return
    remarked_paths: set[Path] | None = None
    for fault in _schema_faults(config.data):
        if config.has_reached_fault_limit:
            break
        if config.old_forms.issuperset(_paths_of_fault(config, fault)):
            continue
        if remarked_paths is None:
            remarked_paths = set(config.paths_with_remarks())
        is_remarked_field = fault.kind == "unknown-field" and fault.path in remarked_paths
        if is_remarked_field and config.forget_malformed(fault.path):
            remarked_paths.discard(fault.path)
        if not any(fault.path[:length] in remarked_paths for length in range(1, len(fault.path) + 1)):
            facts = mask_secrets_in_facts(config, fault.path[0], fault.facts)
            subject = _port_subject(config, fault.path)
            config.remark(fault.kind, subject, fault.path, _remedy_for_fault(config, fault), fault.cause, **facts)
            if len(fault.path) > 2:
                remarked_paths.add(fault.path)


def _remedy_for_fault(config: DeviceTables, fault: SchemaFault) -> Remedy:
    """Return the missing row of an address, or what to type in each case for a field or table without a model."""
    if fault.kind == "address-without-interface-row":
        return Remedy((FileCorrection((FILE_SETTING_AREA, fault.facts["table"], fault.facts["name"]), None, ""),))
    if fault.kind == "unknown-field":
        choices = commands_to_correct_or_remove_field(fault.path, fault.near, value_at(config.data, *fault.path))
        return build_remedy_without_secrets(config, fault.path[0], choices)
    if fault.kind in _UNMODELLED_FAULT_KINDS:
        choices = commands_to_remove_table_rows(fault.path[0], mapping_at(config.data, fault.path[0]))
        return build_remedy_without_secrets(config, fault.path[0], choices)
    return NO_REMEDY


def yang_refused_fault_kinds(data: Mapping[str, object]) -> Iterator[str]:
    """Yield the kinds of faults that the YANG models of its release refuse a configuration for.

    Tables without a model are passed over.
    """
    return (fault.kind for fault in _schema_faults(data) if fault.kind not in _UNMODELLED_FAULT_KINDS)


def _paths_of_fault(config: DeviceTables, fault: SchemaFault) -> tuple[Path, ...]:
    """Return the paths that a fault is about: of a missing field that field, in each row where no row has it."""
    if fault.kind != "missing-field":
        return (fault.path,)
    table, *key = fault.path
    keys = key or mapping_at(config.data, table)
    return tuple((table, row_key, fault.facts["field"]) for row_key in keys)


def _schema_faults(data: Mapping[str, object]) -> Iterator[SchemaFault]:
    return _checker_for_release(release_of_database_version(value_at(data, "VERSIONS", "DATABASE", "VERSION"))).faults(
        data
    )


def _port_subject(config: DeviceTables, path: Path) -> tuple[str, ...]:
    """Return the port that a row is for; nothing, which is the device, for any other row."""
    port = path[1].partition("|")[0] if len(path) > 1 else ""
    return (port,) if port and port in mapping_at(config.data, "PORT") else ()


@cache
def _checker_for_release(release: str | None) -> "_TableSchemaChecker":
    return _TableSchemaChecker(schema_of_release(release))


class _TableSchemaChecker:
    def __init__(self, of_release: ReleaseSchema) -> None:
        self._schema = of_release
        self._judge = TableSchemaJudge(of_release)
        self._seen: dict[str, list[tuple[object, TableVerdict]]] = {}

    def faults(self, data: Mapping[str, object]) -> Iterator[SchemaFault]:
        """Yield the faults of a configuration; a part of one states nothing about tables that it does not have."""
        tables = self._schema.condition_tables(data)
        text_names: list[str] = []
        for name, rows in data.items():
            table = self._schema.table(name)
            if table is None:
                if isinstance(rows, str):
                    text_names.append(name)
                elif name not in TABLES_WITHOUT_MODEL and not (
                    self._schema.may_be_later_build and name in unreleased_table_subjects()
                ):
                    yield self._unknown_table_fault(name)
            elif isinstance(rows, dict):
                verdict = self._cached_verdict(name, rows)
                yield from verdict.faults
                for targets, names in verdict.names.items():
                    if all(is_conclusive_about_table(data, other_table) for other_table, _ in targets):
                        yield from _dangling_references(data, targets, names, verdict)
                for condition, keys in verdict.outer.items():
                    if all(is_conclusive_about_table(data, other_table) for other_table in condition.tables):
                        yield from self._broken_condition_faults(tables, name, condition, keys)
            else:
                facts = {"found": json_type_name(rows), "expected": "an object of rows"}
                yield build_fault("malformed-value", (name,), facts)
        if text_names:
            yield self._text_instead_of_table_fault(text_names)

    def _cached_verdict(self, name: str, rows: Mapping[str, object]) -> TableVerdict:
        seen = self._seen.setdefault(name, [])
        for seen_rows, verdict in seen:
            if seen_rows == rows:
                return verdict
        table = self._schema.table(name)
        assert table is not None
        verdict = self._judge.judge_table(table, rows)
        seen.insert(0, (rows, verdict))
        del seen[_MAX_CACHED_VERDICTS_PER_TABLE:]
        return verdict

    def _unknown_table_fault(self, name: str) -> SchemaFault:
        location = self._schema.describe_other_releases(name)
        if design := unreleased_table_subjects().get(name):
            hint = f"; it belongs to {design}, which is newer"
        elif location:
            hint = f"; SONiC has it {location}"
        else:
            near = did_you_mean_hint(name, self._schema.table_names())
            hint = near and f"; {near}"
        return self._unmodeled_table_fault(name, quote_text(name), hint)

    def _text_instead_of_table_fault(self, names: Sequence[str]) -> SchemaFault:
        """Return the one fault of texts where tables are expected: `sonic-cfggen --print-data` adds machine.conf's."""
        first = quote_text(names[0])
        table = first if len(names) == 1 else f"{first} (with {len(names) - 1} more)"
        return self._unmodeled_table_fault(names[0], table, "; texts, as sonic-cfggen prints them")

    def _unmodeled_table_fault(self, name: str, table: str, hint: str) -> SchemaFault:
        kind = "unknown-table" if self._schema.reload_refuses_unmodeled_tables else "ignored-table"
        return SchemaFault(kind, (name,), {"table": table, "release": self._schema.release_label, "hint": hint})

    def _broken_condition_faults(
        self, tables: ConditionTables, name: str, condition: RowCondition, keys: list[str]
    ) -> Iterator[SchemaFault]:
        """Yield the rows that fail a condition on other tables.

        A condition that reads no field gives one fault, and a field that no row has is one.
        """
        broken: list[SchemaFault] = []
        lacking: list[SchemaFault] = []
        for key in keys if condition.names or condition.is_when else keys[:1]:
            full_row = tables.row(name, key)
            holds = condition.holds(full_row, tables)
            if condition.subject != "row" and condition.subject not in full_row:
                lacking += [missing_field_fault(self._schema, (name, key), condition.subject)] if holds else []
            elif not holds and (condition.names or not broken):
                broken.append(unmet_condition_fault(condition, (name, key), full_row, tables))
        yield from lacking[:1] if len(lacking) == len(keys) else lacking
        yield from set_shared_fields_as_cause(broken)


def _dangling_references(
    data: Mapping[str, object], targets: ReferencedTables, names: set[str], verdict: TableVerdict
) -> Iterator[SchemaFault]:
    """Yield the places whose names no table of `targets` has."""
    open_names = names
    for table, key_part in targets:
        rows = data.get(table)
        if open_names and isinstance(rows, dict):
            open_names = open_names.difference(
                rows if key_part is None else _values_of_key_part_or_field(rows, table, key_part)
            )
            open_names = (
                open_names.difference(map(strip_key_spaces, rows)) if open_names and key_part is None else open_names
            )
    bare = _first_interface_row_without_address(data) if open_names else ""
    for place_targets, name, path in verdict.places if open_names else ():
        if place_targets != targets or name not in open_names:
            continue
        table = targets[0][0]
        if table == path[0] and len(path) == 2 and table.endswith("INTERFACE"):
            facts = {"table": table, "key": path[1], "name": name, "bare": bare}
            yield SchemaFault("address-without-interface-row", path, facts)
        else:
            kind = " or ".join(table for table, _ in targets)
            field = path[2] if len(path) > 2 else "/".join(path)
            yield SchemaFault("dangling-reference", path, {"kind": kind, "name": name, "field": field})


def _first_interface_row_without_address(data: Mapping[str, object]) -> str:
    """Return the first row of an interface without an address; "" where there is none in any table."""
    tables = ((name, rows) for name, rows in data.items() if name.endswith("INTERFACE") and name != "MGMT_INTERFACE")
    rows = (f"{name}|{key}" for name, rows in tables if isinstance(rows, dict) for key in rows if "|" not in key)
    return next(rows, "")


def _values_of_key_part_or_field(table_rows: Mapping[str, object], table_name: str, key_part: str) -> set[str]:
    """Return the values of a table's rows in one part of their key, or in one field."""
    of_any = schema_of_release(None).table(table_name)
    names: set[str] = set()
    for key, values in table_rows.items():
        row = of_any.row_schema_of_key(key) if of_any else None
        if row is not None and isinstance(values, dict):
            value = row.row_with_defaults(key, values).get(key_part)
            names.update(value if isinstance(value, tuple) else (str(value),))
    return names
