"""Parts of a NicConfigurationTemplate that the Kubernetes API refuses, by the rows of `nic_template.yaml`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from nodrop.syntax.places import sanitize_for_message
from nodrop.syntax.yaml import parse_yaml
from nodrop.units import parse_whole_number

_SCHEMA_FILE = Path(__file__).with_name("nic_template.yaml")
YamlPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TemplateSchemaRow:
    """A row of `nic_template.yaml`, which describes the keys."""

    at: tuple[str, ...]
    required: bool
    absent: bool
    values: tuple[str, ...]
    pattern: re.Pattern[str] | None
    least: int | None
    most: int | None
    longest: int | None
    when: Mapping[str, str | tuple[str, ...]]
    found: str
    expected: str

    def accepts_value(self, value: str) -> bool:
        """Return whether a value is right."""
        number = parse_whole_number(value, 10**9 - 1) if self.least is not None else 0
        return (
            (not self.values or value in self.values)
            and (self.pattern is None or self.pattern.fullmatch(value) is not None)
            and number is not None
            and (self.least or 0) <= number <= (number if self.most is None else self.most)
            and (self.longest is None or len(value) <= self.longest)
        )

    @property
    def expected_words(self) -> str:
        """The words for a right value."""
        *leading_values, last = self.values or ("",)
        return self.expected or (f"{', '.join(leading_values)} or {last}" if leading_values else last)


class _TemplateSchema(NamedTuple):
    """The file."""

    defaults: Mapping[str, str]
    rows: tuple[_TemplateSchemaRow, ...]


class RefusedTemplatePart(NamedTuple):
    """A refused part: the keys, the value found, and the expected value."""

    keys: YamlPath
    found: str
    expected: str


@cache
def _read_schema_rows() -> _TemplateSchema:
    data: Any = parse_yaml(_SCHEMA_FILE.read_bytes(), _SCHEMA_FILE.name).data
    return _TemplateSchema(data["defaults"], tuple(map(_parse_schema_row, data["rows"])))


def _parse_schema_row(row: Mapping[str, Any]) -> _TemplateSchemaRow:
    pattern = row.get("pattern")
    when = {path: tuple(one) if isinstance(one, list) else one for path, one in row.get("when", {}).items()}
    numbers = {key: int(row[key]) if key in row else None for key in ("least", "most", "longest")}
    return _TemplateSchemaRow(
        at=("spec", *row["at"].split(".")),
        required=row.get("required", False),
        absent=row.get("absent", False),
        values=tuple(row.get("values", ())),
        pattern=None if pattern is None else re.compile(pattern, re.DOTALL),
        **numbers,
        when=when,
        found=row.get("found", "{value}"),
        expected=row.get("expected", ""),
    )


def find_refused_parts(document: object) -> Iterator[RefusedTemplatePart]:
    """Yield the parts of a template that the API or the operator refuses, each key once, in the order of the rows."""
    refused_keys: set[YamlPath] = set()
    for row in _read_schema_rows().rows:
        if not all(_meets_condition(document, path, condition) for path, condition in row.when.items()):
            continue
        for keys, parent, value in _find_values_at_path(document, row.at):
            fault = _value_found_instead_of_required(
                row, _fill_default(".".join(row.at[1:]), parent, value), in_place=isinstance(parent, Mapping)
            )
            if fault is not None and keys not in refused_keys:
                refused_keys.add(keys)
                yield RefusedTemplatePart(keys, fault, row.expected_words)


def _value_found_instead_of_required(row: _TemplateSchemaRow, value: object, *, in_place: bool) -> str | None:
    """Return the value found in place of the required value of a row; None if that is there."""
    if value is None:
        return "not there" if row.required and (in_place or row.when) else None
    text = _text_of_scalar(value)
    if row.absent:
        return row.found.format(value=sanitize_for_message(text or ""))
    return None if text is None or row.accepts_value(text) else row.found.format(value=sanitize_for_message(text or ""))


def _meets_condition(document: object, path: str, condition: str | tuple[str, ...]) -> bool:
    (_, parent, value), *_ = _find_values_at_path(document, ("spec", *path.split(".")))
    value = _fill_default(path, parent, value)
    if isinstance(condition, tuple):
        return value is not None and _text_of_scalar(value) in condition
    return (value is not None) is (condition == "present")


def _fill_default(path: str, parent: object, value: object) -> object:
    """Return a value, or the default that the API fills in where what holds it is there."""
    return _read_schema_rows().defaults.get(path) if value is None and isinstance(parent, Mapping) else value


def _find_values_at_path(
    document: object, path: tuple[str, ...], key_path: YamlPath = ()
) -> Iterator[tuple[YamlPath, object, object]]:
    """Yield the places that a path names: their keys, what holds them, and their values; None where there is none."""
    key, *path_tail = path
    if key == "*":
        for at, item in enumerate(document if isinstance(document, list) else ()):
            yield from (
                _find_values_at_path(item, tuple(path_tail), (*key_path, at))
                if path_tail
                else [((*key_path, at), document, item)]
            )
        return
    value = document.get(key) if isinstance(document, Mapping) else None
    if path_tail:
        yield from _find_values_at_path(value, tuple(path_tail), (*key_path, key))
    else:
        yield (*key_path, key), document, value


def _text_of_scalar(value: object) -> str | None:
    """Return the text of a scalar; None of a mapping or list."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if isinstance(value, Mapping | list) else str(value)
