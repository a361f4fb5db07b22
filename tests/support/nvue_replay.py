"""What `nv set` and `nv unset` make of a configuration, and `nv config patch`: for tests alone.

A word is a key below the word before it; a list or a range stands for each of its names. Written apart from nodrop's
own reader, so that one is held against the other.
"""

import copy
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML

_LISTED = {
    "interface", "neighbor", "member", "switch-priority", "traffic-class", "dscp", "pcp", "priority-group", "vlan",
}  # fmt: skip
"""Words behind which a word may be a list."""


def _each(word: str) -> Iterator[str]:
    before = ""
    for part in word.split(","):
        found = re.fullmatch(r"(.*?)(\d+)(?:-(\d+))?", part)
        if found is None:
            yield part
            continue
        before = found[1] or before
        for number in range(int(found[2]), int(found[3] or found[2]) + 1):
            yield f"{before}{number}"


def _names(parent: str, word: str) -> list[str]:
    return list(_each(word)) if parent in _LISTED and ("," in word or "-" in word) else [word]


def loaded(text: str) -> list[Any]:
    """The entries of a document: header, set, unset."""
    found = YAML(typ="safe").load(text)
    return list(found) if isinstance(found, list) else [found]


def settings(text: str) -> dict[str, Any]:
    """All that a startup.yaml sets, every word by itself: `a: b` and `a: {b: {}}` are one, as `nv set a b` is."""
    (entry,) = (entry["set"] for entry in loaded(text) if "set" in entry)
    return _worded(entry, "")


def _worded(node: Any, parent: str) -> dict[str, Any]:
    if node is None or node == {}:
        return {}
    if not isinstance(node, dict):
        return {str(node): {}}
    found: dict[str, Any] = {}
    for key, value in node.items():
        for name in _names(parent, str(key)):
            _merge(found.setdefault(name, {}), _worded(value, name))
    return found


def _merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    for key, value in other.items():
        _merge(into.setdefault(key, {}), value)


def played(script: str, tree: Mapping[str, Any], leaves: set[tuple[str, ...]]) -> dict[str, Any]:
    """What lines of `nv` make of settings; `leaves` are the paths that hold one word at a time."""
    result: dict[str, Any] = copy.deepcopy(dict(tree))
    for line in script.splitlines():
        verb, action, *words = shlex.split(line)
        assert (verb, action) in (("nv", "set"), ("nv", "unset")), line
        for path in _paths(words):
            (_set(result, path, leaves) if action == "set" else _unset(result, path))
    return result


def _paths(words: list[str]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for word in words:
        found = [(*path, one) for path in found for one in _names(path[-1] if path else "", word)]
    return found


def _set(tree: dict[str, Any], path: tuple[str, ...], leaves: set[tuple[str, ...]]) -> None:
    node = tree
    for at, word in enumerate(path):
        if (path[:at] in leaves or path[at - 2 : at] == ("link", "state")) and word not in node:
            node.clear()  # one word at a time
        node = node.setdefault(word, {})


def _unset(tree: dict[str, Any], path: tuple[str, ...]) -> None:
    node = tree
    for word in path[:-1]:
        assert word in node, f"nothing to take away at {path}"
        node = node[word]
    assert path[-1] in node, f"nothing to take away at {path}"
    del node[path[-1]]


def leaves(text: str) -> set[tuple[str, ...]]:
    """The paths of a document that hold one word: a scalar stands there."""
    (entry,) = (entry["set"] for entry in loaded(text) if "set" in entry)
    return set(_leaves(entry, ()))


def _leaves(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not isinstance(node, dict):
        yield path
        return
    for key, value in node.items():
        for name in _names(path[-1] if path else "", str(key)):
            yield from _leaves(value, (*path, name))


def patched(text: str, tree: Mapping[str, Any], single: set[tuple[str, ...]]) -> dict[str, Any]:
    """What `nv config patch` makes of settings."""
    result: dict[str, Any] = copy.deepcopy(dict(tree))
    for entry in loaded(text):
        for verb, node in entry.items():
            for path in _ends(node, ()):
                (_set(result, path, single) if verb == "set" else _unset(result, path))
    return result


def _ends(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not isinstance(node, dict):
        yield path if node is None else (*path, str(node))
        return
    if not node:
        yield path
    for key, value in node.items():
        for name in _names(path[-1] if path else "", str(key)):
            yield from _ends(value, (*path, name))
