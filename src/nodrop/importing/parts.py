"""The result of a part of an import: keys of an intent, the guesses among them, the missing keys, and the leftovers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodrop.units import show_ids, whole_number

Keys = tuple[str, ...]
Tree = dict[str, Any]
"""Keys of an intent with their values: texts, whole numbers, true and false, lists, and such trees."""


class Lack(NamedTuple):
    """A key that must be added by hand: why, and a possible value."""

    why: str
    example: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of one part of a fabric in an intent."""

    keys: Tree = field(default_factory=dict)
    guessed: Mapping[Keys, str] = field(default_factory=dict)
    """By the path of keys, why what stands there is a guess."""
    lacking: Mapping[Keys, Lack] = field(default_factory=dict)
    """By the path of keys, what has to be added by hand."""
    left: tuple[str, ...] = ()
    """What no key says, in words."""


def together(drafts: Iterable[Found]) -> Found:
    """Return several parts as one; trees are laid over each other."""
    keys: Tree = {}
    guessed: dict[Keys, str] = {}
    lacking: dict[Keys, Lack] = {}
    remarks: list[str] = []
    for draft in drafts:
        lay(keys, draft.keys)
        guessed |= draft.guessed
        lacking |= draft.lacking
        remarks += draft.left
    return Found(keys=keys, guessed=guessed, lacking=lacking, left=tuple(remarks))


def merge_trees(parent_tree: Tree, over: Mapping[str, object]) -> Tree:
    """Return a tree under another."""
    lay(parent_tree, over)
    return parent_tree


def lay(parent_tree: Tree, over: Mapping[str, object]) -> None:
    """Lay a tree over another, which it changes."""
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(parent_tree.get(key), dict):
            lay(parent_tree[key], value)
        else:
            parent_tree[key] = dict(value) if isinstance(value, dict) else value


def find_value(keys: object, key_path: Keys) -> Any:
    """Return what stands under a path of keys; None where nothing does."""
    for key in key_path:
        if not isinstance(keys, dict) or key not in keys:
            return None
        keys = keys[key]
    return keys


def numbers(found_numbers: Iterable[int]) -> object:
    """Return numbers as an intent has them: `1-16`, `[1-4, 7]`, or the only one."""
    spans = show_ids(found_numbers).split(", ")
    return list(map(_one, spans)) if len(spans) > 1 else _one(spans[0])


def _one(text: str) -> object:
    number = whole_number(text)
    return text if number is None else number


def collect_facts(**facts: object) -> Tree:
    """Return the facts that exist, in order; None is a fact that does not exist."""
    return {key: value for key, value in facts.items() if value is not None}
