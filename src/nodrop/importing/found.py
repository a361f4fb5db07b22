"""What a part of an import comes to: keys of an intent, what of them was guessed, what is lacking, what is left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodrop.units import show_ids

Keys = tuple[str, ...]
Tree = dict[str, Any]
"""Keys of an intent with their values: texts, whole numbers, true and false, lists, and such trees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one part of a fabric comes to in an intent."""

    keys: Tree = field(default_factory=dict)
    guessed: Mapping[Keys, str] = field(default_factory=dict)
    """By the path of keys, why what stands there is a guess."""
    lacking: Mapping[Keys, str] = field(default_factory=dict)
    """By the path of keys that have to be added by hand, why no file says them, with an example."""
    left: tuple[str, ...] = ()
    """What no key says, in words."""


def together(parts: Iterable[Found]) -> Found:
    """Return several parts as one; trees are laid over each other."""
    keys: Tree = {}
    guessed: dict[Keys, str] = {}
    lacking: dict[Keys, str] = {}
    left: list[str] = []
    for part in parts:
        _lay(keys, part.keys)
        guessed |= part.guessed
        lacking |= part.lacking
        left += part.left
    return Found(keys=keys, guessed=guessed, lacking=lacking, left=tuple(left))


def _lay(under: Tree, over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(under.get(key), dict):
            _lay(under[key], value)
        else:
            under[key] = dict(value) if isinstance(value, dict) else value


def numbers(found: Iterable[int]) -> Any:
    """Return numbers as an intent has them: `1-16`, `[1-4, 7]`, or the only one."""
    spans = show_ids(found).split(", ")
    return [int(one) if one.isdecimal() else one for one in spans] if len(spans) > 1 else _one(spans[0])


def _one(text: str) -> Any:
    return int(text) if text.isdecimal() else text


def stated(**facts: Any) -> Tree:
    """Return the facts that there are, in order; None is one that there is not."""
    return {key: value for key, value in facts.items() if value is not None}
