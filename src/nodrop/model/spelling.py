"""Values of the model as YAML writes them: texts, lists and mappings, read by the type of their field."""

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from nodrop.model.fabric import End, Link
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import ends_of_cable_key
from nodrop.model.types import (
    ROW_KEY_ATTRIBUTES,
    AttributeOwner,
    ValueType,
    fields_of,
    key_of,
    known_word_hint,
    owner_label,
    row_key_attribute_of,
)

_INTEGER_PATTERN = re.compile(r"-?\d{1,19}")
_DECIMAL_PATTERN = re.compile(r"-?\d{1,19}(\.\d{1,9})?")


def parse_value(value_type: ValueType, value: object) -> object:
    """Return `value` as a field of type `value_type` holds it; raise ValueError with the expected values.

    Values of the model stay unchanged. The word `unknown` is UNKNOWN where the field may hold that and has no such word
    itself.
    """
    if isinstance(value, Unknown) or (value == "unknown" and value_type.unknown and "unknown" not in value_type.words):
        model_value: object = UNKNOWN if value_type.unknown else None
    else:
        model_value = _convert_value(value_type, value)
    if model_value is None and not (value is None and value_type.none):
        raise ValueError(
            f"{describe_value(value)}; expected {value_type.describe()}{' or unknown' if value_type.unknown else ''}"
        )
    return model_value


def parse_row(owner: AttributeOwner, value: object, key: str) -> Any:
    """Return a row whose subject states its key already; it need not repeat it, and may not contradict it."""
    found_row = parse_value(
        ValueType(owners=(owner,)), _fields_from_key(owner, key) | dict(value) if isinstance(value, Mapping) else value
    )
    if key_of(found_row, 0) != key:
        raise ValueError(f"the row calls itself `{key_of(found_row, 0)}`")
    return found_row


def describe_value(value: object) -> str:
    """Render a value for a message; a part of the model by its kind, and its key if it has one."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if is_dataclass(value) and not isinstance(value, type | End | Unknown):
        name = row_key_attribute_of(type(value))
        return f"{owner_label(type(value))} `{getattr(value, name)}`" if name else f"{owner_label(type(value))}"
    return {"None": "none", "UNKNOWN": "unknown"}.get(text := str(value), f"`{text[:60]}`")


def _convert_value(value_type: ValueType, value: object) -> object:
    """Return the value, or None where no alternative of the type fits it."""
    if value_type.element is not None and isinstance(value, list | tuple):
        return tuple(parse_value(value_type.element, item) for item in value)
    for owner in value_type.owners:
        assert isinstance(owner, type)
        if isinstance(value, owner):
            return value
        if owner is End and isinstance(value, str) and ":" in value:
            return End(*value.split(":", 1))
        if isinstance(value, Mapping):
            return _parse_record(owner, value)
    return None if isinstance(value, Mapping | list | tuple) else _parse_scalar(value_type, value)


def _parse_record(owner: type[Any], value: Mapping[Any, object]) -> object:
    known_types = fields_of(owner)
    if unknown := [name for name in value if name not in known_types]:
        raise ValueError(
            f"{owner_label(owner)} has no `{unknown[0]}` ({known_word_hint(str(unknown[0]), known_types)})"
        )
    try:
        return owner(**{name: parse_value(known_types[name], item) for name, item in value.items()})
    except TypeError as error:
        missing = str(error).partition(": ")[2]
        raise ValueError(f"{owner_label(owner)} needs {missing}") from None


def _parse_scalar(kind: ValueType, value: object) -> object:
    if isinstance(value, bool):
        return value if bool in kind.scalars else None
    text = value if isinstance(value, str) else repr(value) if isinstance(value, int | float) else ""
    if _INTEGER_PATTERN.fullmatch(text) and (int in kind.scalars or int(text) in kind.words):
        return int(text)
    if float in kind.scalars and _DECIMAL_PATTERN.fullmatch(text):
        return float(text)
    return value if isinstance(value, str) and (str in kind.scalars or value in kind.words) else None


def _fields_from_key(owner: AttributeOwner, key: str) -> dict[str, object]:
    """Return the fields of a new row that its key in the subject states."""
    if owner is Link and (ends := ends_of_cable_key(key)):
        return {name: str(end) for name, end in zip("ab", ends, strict=True)}
    return next(({name: key} for name in ROW_KEY_ATTRIBUTES if name in fields_of(owner)), {})
