"""Read NVUE's tree from NVIDIA's OpenAPI document of one release, in JSON or YAML.

The document keeps its schemas in `x-defs`; the schema of the configuration is that of a PATCH of the root.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from nodrop.syntax.yaml import parse_yaml
from nvue_tree import ANY, NO_LIMIT, Path, Place, Source, Tree, Unusable, Value, chosen_name

_ROOT = "cue-patch-schema-root-root"
_REF = "#/x-defs/"
_WHOLE = frozenset({"integer", "sequence-id"})
"""Formats of texts that are whole numbers."""

_DEEPEST = 60
"""Words of a path; one that is longer comes from a definition that contains itself."""

Node = Mapping[str, Any]


def read_openapi(raw: bytes, name: str, release: tuple[int, int]) -> Source:
    """Return the tree of an OpenAPI document; Unusable if it is not one of NVUE."""
    try:
        data = json.loads(raw) if raw.lstrip().startswith(b"{") else parse_yaml(raw, name).data
    except json.JSONDecodeError as error:
        raise Unusable(f"{name}: {error}") from error
    if not isinstance(data, Mapping) or _ROOT not in data.get("x-defs", {}):
        raise Unusable(f"{name}: not an OpenAPI document of NVUE: no x-defs with {_ROOT}")
    root = _Reader(data, name).place({"$ref": _REF + _ROOT}, ())
    version = str(data.get("info", {}).get("version", ""))
    return Source(release, version, hashlib.sha256(raw).hexdigest(), root)


class _Reader:
    def __init__(self, data: Node, name: str) -> None:
        self._definitions = cast("Mapping[str, Node]", data["x-defs"])
        self._name = name
        self._chosen = {_unnamed(path): found for path in data.get("paths", {}) if (found := chosen_name(path))}

    def place(self, node: Node, path: Path) -> Place:
        """Return the place that a schema of objects describes."""
        if len(path) > _DEEPEST:
            raise Unusable(f"{self._name}: {' '.join(path[:5])} contains itself")
        found = Place()
        for part in self._parts(node):
            for word, below in part.get("properties", {}).items():
                if not word.startswith("@") and (tree := self._tree(below, (*path, word))) is not None:
                    found.words[word] = tree
            rest = part.get("additionalProperties")
            if isinstance(rest, Mapping) or rest is True:
                tree = self._tree(rest, (*path, "{}")) if isinstance(rest, Mapping) else None
                found.name = self._chosen.get((*path, "{}"), "name")
                found.below = tree if isinstance(tree, Place) else Place(open=rest is True)
        return found

    def _tree(self, node: Node, path: Path) -> Tree | None:
        """Return what a schema describes; None for one that only has actions of the API."""
        parts = list(self._parts(node))
        if any(
            part.get("type") == "object" or "properties" in part or "additionalProperties" in part for part in parts
        ):
            return self.place(node, path)
        values = [value for part in parts if (value := _value(part)) is not None]
        return _united(values) if values else None

    def _parts(self, node: Node, within: tuple[str, ...] = ()) -> Iterator[Node]:
        """Yield a schema, and those that it is composed of."""
        if reference := node.get("$ref"):
            name = str(reference).removeprefix(_REF)
            if name in within:
                raise Unusable(f"{self._name}: {name} contains itself")
            if name not in self._definitions:
                raise Unusable(f"{self._name}: no definition of {reference}")
            yield from self._parts(self._definitions[name], (*within, name))
            return
        yield node
        for key in ("allOf", "anyOf", "oneOf"):
            for part in node.get(key, ()):
                yield from self._parts(part, within)


def _unnamed(api_path: str) -> Path:
    return tuple("{}" if word.startswith("{") else word for word in api_path.strip("/").split("/"))


def _united(values: list[Value]) -> Value:
    first, *rest = values
    for value in rest:
        first |= value
    return first


def _value(node: Node) -> Value | None:
    """Return the value that a schema describes by itself; None if it only composes others."""
    if "enum" in node:
        stated = [one for one in node["enum"] if one is not None]
        return Value(words=frozenset(str(one).lower() if isinstance(one, bool) else str(one) for one in stated))
    kind, form = node.get("type"), node.get("format")
    if kind == "integer" or form in _WHOLE:
        low, high = int(node.get("minimum", 0)), int(node.get("maximum", NO_LIMIT))
        return Value(ranges=frozenset({(low, high)})) if low >= 0 else ANY
    if kind == "boolean":
        return Value(words=frozenset({"true", "false"}))
    if form == "ipv4":
        return Value(ip4=True)
    return ANY if kind or form or re.search("pattern", " ".join(node)) else None
