"""The result of a part of an import: keys of an intent, the guesses among them, the missing keys, and the leftovers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodrop.design.naming import NodeIdentity
from nodrop.units import parse_whole_number, show_ids

KeyPath = tuple[str, ...]
KeyTree = dict[str, Any]
"""Keys of an intent with their values: texts, whole numbers, true and false, lists, and such trees."""


class MissingIntentKey(NamedTuple):
    """A key that must be added by hand: why, and a possible value."""

    why: str
    example: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedIntentPart:
    """The result of one part of a fabric in an intent."""

    keys: KeyTree = field(default_factory=dict)
    guessed: Mapping[KeyPath, str] = field(default_factory=dict)
    """By the path of keys, why the value is a guess."""
    lacking: Mapping[KeyPath, MissingIntentKey] = field(default_factory=dict)
    """By the path of keys, what has to be added by hand."""
    left: tuple[str, ...] = ()
    """What no key says, in words."""
    host_names: Mapping[NodeIdentity, str] = field(default_factory=dict)
    """Names of hosts in files, where nobody states hosts."""


def merge_parts(drafts: Iterable[DerivedIntentPart]) -> DerivedIntentPart:
    """Return several parts as one; trees are laid over each other."""
    keys: KeyTree = {}
    guessed: dict[KeyPath, str] = {}
    lacking: dict[KeyPath, MissingIntentKey] = {}
    remarks: list[str] = []
    names: dict[NodeIdentity, str] = {}
    for draft in drafts:
        overlay_tree(keys, draft.keys)
        guessed |= draft.guessed
        lacking |= draft.lacking
        remarks += draft.left
        names |= draft.host_names
    return DerivedIntentPart(keys=keys, guessed=guessed, lacking=lacking, left=tuple(remarks), host_names=names)


def merge_trees(parent_tree: KeyTree, over: Mapping[str, object]) -> KeyTree:
    """Return a tree under another."""
    overlay_tree(parent_tree, over)
    return parent_tree


def overlay_tree(parent_tree: KeyTree, over: Mapping[str, object]) -> None:
    """Lay a tree over another, which it changes."""
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(parent_tree.get(key), dict):
            overlay_tree(parent_tree[key], value)
        else:
            parent_tree[key] = dict(value) if isinstance(value, dict) else value


def find_value(keys: object, key_path: KeyPath) -> Any:
    """Return what stands under a path of keys; None where nothing does."""
    for key in key_path:
        if not isinstance(keys, dict) or key not in keys:
            return None
        keys = keys[key]
    return keys


def format_number_ranges(found_numbers: Iterable[int]) -> object:
    """Return numbers as an intent has them: `1-16`, `[1-4, 7]`, or the only one."""
    spans = show_ids(found_numbers).split(", ")
    return list(map(_number_or_text, spans)) if len(spans) > 1 else _number_or_text(spans[0])


def _number_or_text(text: str) -> object:
    number = parse_whole_number(text)
    return text if number is None else number


def facts_not_none(**facts: object) -> KeyTree:
    """Return the facts that exist, in order; None is a fact that does not exist."""
    return {key: value for key, value in facts.items() if value is not None}
