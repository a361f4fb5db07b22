"""Documents as trees that can be mutated: JSON, YAML and TOML read into lists and pairs, and written again.

A mapping is a `Pairs`, a list of [key, value], so that a key can stand twice. A `Raw` is written as it is, without
quotes, so that a number can have 5,000 digits and a YAML value a tag.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML

Tree = Any
"""A scalar, a list of trees, or a `Pairs`."""
_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./@+-]*")
_WORDS_OF_YAML = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "~", "."})


class Pairs(list[Any]):
    """A mapping as a list of [key, value]."""


class Raw(str):
    """A value that is written without quotes."""

    __slots__ = ()


class Unreadable(Exception):
    """A text that is no document of its syntax, so only its lines can be mutated."""


def load(raw: bytes, syntax: str) -> Tree:
    """Read a document of `json`, `yaml` or `toml`; Unreadable where it is none."""
    try:
        text = raw.decode()
        if syntax == "json":
            return json.loads(text, object_pairs_hook=lambda pairs: Pairs([list(one) for one in pairs]))
        if syntax == "toml":
            return _tree(tomllib.loads(text))
        return _tree(YAML(typ="safe").load(text))
    except Exception as error:
        raise Unreadable from error


def _tree(data: Any) -> Tree:
    if isinstance(data, dict):
        return Pairs([[_scalar(key), _tree(value)] for key, value in data.items()])
    if isinstance(data, list):
        return [_tree(value) for value in data]
    return _scalar(data)


def _scalar(data: Any) -> Any:
    return data if isinstance(data, str | int | float | None) else Raw(str(data).partition("\n")[0])


def dump(tree: Tree, syntax: str) -> bytes:
    """Write a document."""
    if syntax == "json":
        text = _json(tree) + "\n"
    elif syntax == "toml":
        text = "\n".join(_toml(tree, ())) + "\n"
    else:
        text = "\n".join(_yaml(tree, "")) + "\n"
    return text.encode("utf-8", "surrogatepass")


def _quoted(value: Any) -> str:
    if isinstance(value, Raw):
        return str(value)
    try:
        return json.dumps(value)
    except ValueError:  # more digits than Python writes
        return "9" * 5000


def _json(tree: Tree) -> str:
    if isinstance(tree, Pairs):
        return "{" + ",\n".join(f"{_key(key)}: {_json(value)}" for key, value in tree) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_json, tree)) + "]"
    return _quoted(tree)


def _key(key: Any) -> str:
    return _quoted(key if isinstance(key, str) else str(key))


def _plain(value: Any) -> str:
    free = type(value) is str and _PLAIN.fullmatch(value) and value.lower() not in _WORDS_OF_YAML
    return str(value) if free else _quoted(value)


def _yaml(tree: Tree, indent: str) -> Iterator[str]:
    if not isinstance(tree, list) or not tree or len(indent) > 200:
        yield indent + (_json(tree) if isinstance(tree, list) else _plain(tree))
        return
    if isinstance(tree, Pairs):
        for key, value in tree:
            if isinstance(value, list) and value and len(indent) <= 200:
                yield f"{indent}{_plain(key)}:"
                yield from _yaml(value, indent + "  ")
            else:
                yield f"{indent}{_plain(key)}: {_json(value) if isinstance(value, list) else _plain(value)}"
        return
    for value in tree:
        first, *rest = _yaml(value, indent + "  ")
        yield f"{indent}- {first[len(indent) + 2 :]}"
        yield from rest


def _toml(tree: Tree, at: tuple[str, ...]) -> Iterator[str]:
    """Yield lines: a header for the tables `tool` and `nodrop`, all below them inline."""
    if not isinstance(tree, Pairs):
        return
    if at:
        yield f"[{'.'.join(at)}]"
    tables = []
    for key, value in tree:
        if isinstance(value, Pairs) and len(at) < 2 and key in ("tool", "nodrop"):
            tables.append((key, value))
        else:
            yield f"{_toml_key(key)} = {_inline(value)}"
    for key, value in tables:
        yield from _toml(value, (*at, key))


def _toml_key(key: Any) -> str:
    text = str(key)
    return text if isinstance(key, Raw) or re.fullmatch(r"[A-Za-z0-9_-]+", text) else json.dumps(text)


def _inline(tree: Tree) -> str:
    if isinstance(tree, Pairs):
        return "{" + ", ".join(f"{_toml_key(key)} = {_inline(value)}" for key, value in tree) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_inline, tree)) + "]"
    return '""' if tree is None else _quoted(tree)


def clone(tree: Tree) -> Tree:
    """Return a copy that can be changed."""
    if isinstance(tree, Pairs):
        return Pairs([[key, clone(value)] for key, value in tree])
    if isinstance(tree, list):
        return [clone(value) for value in tree]
    return tree


def nodes(tree: Tree) -> Iterator[tuple[list[Any], int, Any]]:
    """Yield (list, index, key) of every value below a tree: `list[index]` is the value; key is None in a plain list.

    Of a mapping, the list is the pair of the key and the value.
    """
    pending = [tree]
    while pending:
        here = pending.pop()
        if isinstance(here, Pairs):
            for pair in here:
                yield pair, 1, "" if pair[0] is None else pair[0]
                pending.append(pair[1])
        elif isinstance(here, list):
            for index, value in enumerate(here):
                yield here, index, None
                pending.append(value)
