"""Rows of several releases under one name: where a part of a key was renamed, all releases get its newest name."""

import ast
import re
from collections.abc import Mapping, Sequence

from yang_models import Model, Row
from yang_sources import Unusable

_PART = re.compile(r"<([^>]+)>")
_REFERENCE = re.compile(r"\bref ([A-Z0-9_]+)\.(\S+)")
_LINE = re.compile(r"(?P<subject>\S+?)(?P<word>: | when )(?P<said>.*)")

Renamed = Mapping[str, Mapping[str, str]]
"""The new name of a part of a key, by table and old name."""


def with_newest_keys(models: Sequence[Model]) -> None:
    """Rename parts of keys to what the newest release calls them; Unusable where that is no longer one name."""
    newest: dict[tuple[str, int], list[str]] = {}
    for model in models:
        for table, rows in model.tables.items():
            by_length: dict[int, str] = {}
            for key in filter(_PART.match, rows):
                parts = _PART.findall(key)
                if (other := by_length.setdefault(len(parts), key)) != key:
                    raise Unusable(f"{table}: {other} and {key} are keys of one shape")
                newest[table, len(parts)] = parts
    for model in models:
        renamed = {}
        for table, rows in model.tables.items():
            names: dict[str, str] = {}
            for key in filter(_PART.match, rows):
                parts = _PART.findall(key)
                names |= {old: new for old, new in zip(parts, newest[table, len(parts)], strict=True) if old != new}
            if names:
                renamed[table] = names
        for table, rows in model.tables.items():
            model.tables[table] = {_key(table, key, renamed): _row(table, row, renamed) for key, row in rows.items()}


def _key(table: str, key: str, renamed: Renamed) -> str:
    return _PART.sub(lambda part: f"<{_new(renamed, table, part[1])}>", key)


def _row(table: str, row: Row, renamed: Renamed) -> Row:
    fields = {_new(renamed, table, name): _said(text, renamed) for name, text in row.fields.items()}
    if len(fields) < len(row.fields):
        raise Unusable(f"{table}: a part of its key gets the name of a field")
    return Row(row.most, fields, [_condition(table, one, renamed) for one in row.must])


def _said(text: str, renamed: Renamed) -> str:
    return _REFERENCE.sub(lambda found: f"ref {found[1]}.{_new(renamed, found[1], found[2])}", text)


def _condition(table: str, text: str, renamed: Renamed) -> str:
    found = _LINE.fullmatch(text)
    assert found is not None
    tree = ast.parse(found["said"], mode="eval")
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                node.id = _new(renamed, table, node.id)
            case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=searched)], keywords=words):
                for word in words:
                    word.arg = _new(renamed, searched, str(word.arg))
    return f"{_new(renamed, table, found['subject'])}{found['word']}{ast.unparse(tree)}"


def _new(renamed: Renamed, table: str, name: str) -> str:
    return renamed.get(table, {}).get(name, name)
