"""One value of a YAML document that people wrote, set to another: every other byte stays, comments and layout too."""

import json
import re
from collections.abc import Sequence
from typing import Any

from nodrop.errors import InputProblems
from nodrop.syntax.places import BOM, decode
from nodrop.syntax.yaml import parse
from nodrop.syntax.yaml_edit import Entry, Node, compose, write

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./%-]*")


def set_in(raw: bytes, keys: Sequence[str], value: object) -> bytes:
    """Return the text with `value` at `keys`, mappings on the way made where there are none; None takes the key out.

    `raw` can be parsed. ValueError says why nothing else but this value could be changed.
    """
    text = decode(raw, "")
    data = parse(text, "").data
    wanted = _set_value(_expand_aliases(data), keys, value)
    tree = compose(text)
    _set(tree, keys, value)
    new = write(text, tree, _render_scalar, _render_scalar)
    try:
        made = parse(new, "").data
    except InputProblems:
        made = None
    if made != wanted:
        raise ValueError("it stands for several values (an anchor), or in a layout that cannot be changed alone")
    return ((BOM if raw.startswith(BOM.encode()) else "") + new).encode()


def _expand_aliases(data: Any) -> Any:
    """Return the data with a copy of its own for every place where an alias stands."""
    if isinstance(data, dict):
        return {key: _expand_aliases(each) for key, each in data.items()}
    return [_expand_aliases(each) for each in data] if isinstance(data, list) else data


def _set_value(data: Any, keys: Sequence[str], value: object) -> Any:
    """Return the data with a value at keys, as `parse` would read it."""
    first, *rest = keys
    data = {} if data is None else data
    if not isinstance(data, dict):
        raise ValueError(f"{first} would be a key of what has none")
    if rest:
        data[first] = _set_value(data.get(first), rest, value)
    elif value is None:
        data.pop(first, None)
    else:
        data[first] = _normalize_value(value)
    return data


def _normalize_value(value: object) -> Any:
    """Return a value as `parse` reads it: numbers are texts."""
    if isinstance(value, dict):
        return {str(key): _normalize_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize_value(each) for each in value]
    return value if value is None or isinstance(value, bool) else str(value)


def _set(node: Node, keys: Sequence[str], value: object) -> None:
    first, *rest = keys
    entries = node.entries = [] if node.entries is None else node.entries
    entry = next((one for one in entries if one.key == first), None)
    if value is None and not rest:
        entries[:] = [one for one in entries if one is not entry]
    elif entry is None:
        entries.append(Entry(first, _node(_nested(rest, value))))
    elif not rest and not isinstance(value, dict | list | tuple) and entry.value.entries is None:
        new = _node(value)
        entry.value.text, entry.value.raw = new.text, new.raw
    elif not rest or entry.value.entries is None:
        entry.value = _node(_nested(rest, value))
    else:
        _set(entry.value, rest, value)


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _node(value: object) -> Node:
    if isinstance(value, dict):
        return Node(entries=[Entry(str(key), _node(each)) for key, each in value.items()])
    if isinstance(value, list | tuple):
        return Node(items=[_node(each) for each in value])
    if value is None or isinstance(value, bool):
        word = "null" if value is None else str(value).lower()
        return Node(text=word, raw=word)
    return Node(text=str(value))


def _render_scalar(text: str) -> str:
    """Return a text as YAML spells it: as it is where that says the same, else in quotes."""
    plain = _PLAIN.fullmatch(text) and parse(f"a: {text}", "").data == {"a": text}
    return text if plain else json.dumps(text, ensure_ascii=False)
