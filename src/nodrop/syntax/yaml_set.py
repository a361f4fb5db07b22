"""One value of a YAML document that people wrote, set to another: every other byte stays, comments and layout too."""

import json
import re
from collections.abc import Sequence

from nodrop.errors import InputProblems
from nodrop.syntax.places import BYTE_ORDER_MARK, decode_utf8
from nodrop.syntax.yaml import parse_yaml
from nodrop.syntax.yaml_edit import EditableYamlEntry, EditableYamlNode, compose_yaml, write_yaml

_PLAIN_SCALAR_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./%-]*")


def set_yaml_value(file_content: bytes, key_names: Sequence[str], value: object) -> bytes:
    """Return the text with `value` at `key_names`, missing mappings on the way created; None removes the key.

    `raw` can be parsed. ValueError gives the reason why nothing else but this value could be changed.
    """
    text = decode_utf8(file_content, "")
    data = parse_yaml(text, "").data
    expected_data = _set_value(_copy_data_per_alias(data), key_names, value)
    tree = compose_yaml(text)
    _set_node_value(tree, key_names, value)
    new = write_yaml(text, tree, _render_scalar, _render_scalar)
    try:
        actual_data = parse_yaml(new, "").data
    except InputProblems:
        actual_data = None
    if actual_data != expected_data:
        raise ValueError("it has several values (an anchor), or a layout that cannot be changed alone")
    return ((BYTE_ORDER_MARK if file_content.startswith(BYTE_ORDER_MARK.encode()) else "") + new).encode()


def _copy_data_per_alias(data: object) -> object:
    """Return the data with a separate copy for every alias."""
    if isinstance(data, dict):
        return {key: _copy_data_per_alias(child) for key, child in data.items()}
    return [_copy_data_per_alias(child) for child in data] if isinstance(data, list) else data


def _set_value(data: object, key_names: Sequence[str], value: object) -> object:
    """Return the data with a value at keys, as `parse` would read it."""
    first_key, *inner_keys = key_names
    data = {} if data is None else data
    if not isinstance(data, dict):
        raise ValueError(f"{first_key} would be a key below a value that has no keys")
    if inner_keys:
        data[first_key] = _set_value(data.get(first_key), inner_keys, value)
    elif value is None:
        data.pop(first_key, None)
    else:
        data[first_key] = _normalize_value(value)
    return data


def _normalize_value(value: object) -> object:
    """Return a value as `parse` reads it: numbers are texts."""
    if isinstance(value, dict):
        return {str(key): _normalize_value(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize_value(child) for child in value]
    return value if value is None or isinstance(value, bool) else str(value)


def _set_node_value(node: EditableYamlNode, keys: Sequence[str], value: object) -> None:
    first_key, *inner_keys = keys
    entries = node.entries = [] if node.entries is None else node.entries
    entry = next((candidate for candidate in entries if candidate.key == first_key), None)
    if value is None and not inner_keys:
        entries[:] = [candidate for candidate in entries if candidate is not entry]
    elif entry is None:
        entries.append(EditableYamlEntry(first_key, _make_node(_nest_value(inner_keys, value))))
    elif not inner_keys and not isinstance(value, dict | list | tuple) and entry.value.entries is None:
        new = _make_node(value)
        entry.value.text, entry.value.raw = new.text, new.raw
    elif not inner_keys or entry.value.entries is None:
        entry.value = _make_node(_nest_value(inner_keys, value))
    else:
        _set_node_value(entry.value, inner_keys, value)


def _nest_value(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _make_node(value: object) -> EditableYamlNode:
    if isinstance(value, dict):
        return EditableYamlNode(
            entries=[EditableYamlEntry(str(key), _make_node(child)) for key, child in value.items()]
        )
    if isinstance(value, list | tuple):
        return EditableYamlNode(items=[_make_node(child) for child in value])
    if value is None or isinstance(value, bool):
        word = "null" if value is None else str(value).lower()
        return EditableYamlNode(text=word, raw=word)
    return EditableYamlNode(text=str(value))


def _render_scalar(source_text: str) -> str:
    """Return a text as a YAML scalar: unquoted where that reads the same, else in quotes."""
    plain = _PLAIN_SCALAR_PATTERN.fullmatch(source_text) and parse_yaml(f"a: {source_text}", "").data == {
        "a": source_text
    }
    return source_text if plain else json.dumps(source_text, ensure_ascii=False)
