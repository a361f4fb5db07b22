"""The rows that commands write, and whether the switch has the rows that these name."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping

from nodrop.platforms.sonic.config import CONFIG_DB_FILE
from nodrop.platforms.sonic.schema import schema_of_release
from nodrop.platforms.sonic.schema_rows import ReferencedTables, TableSchemaJudge
from nodrop.platforms.sonic.tables import EMPTY_ROW_FIELD
from nodrop.syntax.json import parse_json_text
from nodrop.syntax.shapes import mapping_at, mapping_or_empty

_CONFIG_DB_WRITE_LINE = re.compile(r"sudo sonic-db-cli CONFIG_DB HSET (.+)")
_PORT_TABLES = frozenset({"PORT", "PORTCHANNEL"})

ConfigTables = dict[str, dict[str, dict[str, str]]]


def rows_written_by_commands(commands: Iterable[str]) -> ConfigTables:
    """Return the fields that commands write to CONFIG_DB, by table and row."""
    tables: ConfigTables = {}
    for command in commands:
        if match := _CONFIG_DB_WRITE_LINE.fullmatch(command):
            row, *words = shlex.split(match[1])
            table, _, key = row.partition("|")
            fields = {name.removesuffix("@"): value for name, value in zip(words[::2], words[1::2], strict=False)}
            fields.pop(EMPTY_ROW_FIELD, None)
            tables.setdefault(table, {}).setdefault(key, {}).update(fields)
    return tables


def would_refuse_commands(commands: Iterable[str], read_files: Callable[[], Mapping[str, bytes]]) -> bool:
    """Whether a key that commands write is none of its table, or names no row in the files or written by them.

    Ports are not looked up: they are of the switch. `read_files` is called only for names that no command writes.
    """
    tables = rows_written_by_commands(commands)
    judge = TableSchemaJudge(schema_of_release(None))
    missing: dict[ReferencedTables, set[str]] = {}
    for name, rows in tables.items():
        table = schema_of_release(None).table(name)
        if table is None:
            continue
        verdict = judge.judge_table(table, rows)
        if any(fault.kind == "malformed-value" and len(fault.path) == 2 for fault in verdict.faults):
            return True
        for targets, named in verdict.names.items():
            if targets[0][0] not in _PORT_TABLES and all(part is None for _, part in targets):
                missing.setdefault(targets, set()).update(named - _keys_of_targets(tables, targets))
    if not any(missing.values()):
        return False
    data = mapping_or_empty(parse_json_text(read_files().get(CONFIG_DB_FILE, b"{}"), CONFIG_DB_FILE))
    return any(named - _keys_of_targets(data, targets) for targets, named in missing.items())


def _keys_of_targets(tables: Mapping[str, object], targets: ReferencedTables) -> set[str]:
    return {key for target, _ in targets for key in mapping_at(tables, target)}
