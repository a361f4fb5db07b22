"""Access to parsed data of any shape: a file may hold a text or a list where a mapping is expected.

The result of a parser has the type `object`, which makes mypy refuse to index it or to call its methods before its type
is checked. These functions are that check.
"""

from collections.abc import Mapping

MutableTree = dict[str, object]


def mapping_or_empty(value: object) -> Mapping[str, object]:
    """Return a value that is a mapping; an empty mapping instead of any other value."""
    return value if isinstance(value, dict) else {}


def value_at(value: object, *keys: str) -> object:
    """Return the value at a path of keys; None if a key is missing or a value on the path is no mapping."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def mapping_at(value: object, *keys: str) -> Mapping[str, object]:
    """Return the mapping at a path of keys; an empty mapping if there is none."""
    return mapping_or_empty(value_at(value, *keys))


def get_or_make_mapping(tree: MutableTree, *keys: str) -> MutableTree:
    """Return the mapping at a path of keys of a tree, to be changed.

    Create each mapping that is missing. Replace any other value on the path: it has no meaning where a mapping belongs.
    """
    for key in keys:
        inside = tree.get(key)
        if not isinstance(inside, dict):
            inside = tree[key] = {}
        tree = inside
    return tree
