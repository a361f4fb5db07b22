"""The rows that commands write, and whether the switch has the rows that these name."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping

from nodrop.platforms.sonic.config import FILE
from nodrop.platforms.sonic.schema import schema
from nodrop.platforms.sonic.schema_rows import Judge, Targets
from nodrop.syntax.json import parse
from nodrop.syntax.shapes import mapping, mapping_at

_WRITE = re.compile(r"sudo sonic-db-cli CONFIG_DB HSET (.+)")
_PORTS = frozenset({"PORT", "PORTCHANNEL"})

Tables = dict[str, dict[str, dict[str, str]]]


def written_rows(commands: Iterable[str]) -> Tables:
    """Return the fields that commands write to CONFIG_DB, by table and row."""
    tables: Tables = {}
    for command in commands:
        if match := _WRITE.fullmatch(command):
            row, *words = shlex.split(match[1])
            table, _, key = row.partition("|")
            fields = {name.removesuffix("@"): value for name, value in zip(words[::2], words[1::2], strict=False)}
            fields.pop("NULL", None)
            tables.setdefault(table, {}).setdefault(key, {}).update(fields)
    return tables


def would_refuse_commands(commands: Iterable[str], read_files: Callable[[], Mapping[str, bytes]]) -> bool:
    """Whether a key that commands write is none of its table, or names no row in the files or written by them.

    Ports are not looked up: they are of the switch. `read_files` is called only for names that no command writes.
    """
    tables = written_rows(commands)
    judge = Judge(schema(None))
    missing: dict[Targets, set[str]] = {}
    for name, rows in tables.items():
        table = schema(None).table(name)
        if table is None:
            continue
        verdict = judge.table(table, rows)
        if any(fault.kind == "malformed-value" and len(fault.path) == 2 for fault in verdict.faults):
            return True
        for targets, named in verdict.names.items():
            if targets[0][0] not in _PORTS and all(part is None for _, part in targets):
                missing.setdefault(targets, set()).update(named - _keys(tables, targets))
    if not any(missing.values()):
        return False
    data = mapping(parse(read_files().get(FILE, b"{}"), FILE))
    return any(named - _keys(data, targets) for targets, named in missing.items())


def _keys(tables: Mapping[str, object], targets: Targets) -> set[str]:
    return {key for target, _ in targets for key in mapping_at(tables, target)}
