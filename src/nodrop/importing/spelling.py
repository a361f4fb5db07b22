"""The text of an imported intent: the order and shape of the shipped ones, with remarks.

A remark above a line gives the reason why it is a guess. A missing key is at its place as a comment, with an example:
to fill it in, take `# ` away from its line and put in the value that applies.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from nodrop.importing.parts import DerivedIntentPart, KeyPath, KeyTree, MissingIntentKey
from nodrop.importing.short_form import KEY_ORDER_BY_PATH

_TOP_KEY_ORDER = (
    "nodrop", "fabric", "mode", "mtu", "topology", "endpoints", "classes", "pfc", "buffers", "trimming", "hosts",
    "policy", "routing", "addressing", "external", "services", "names", "devices", "extra",
)  # fmt: skip
_GROUP_KEY_PATH: KeyPath = ("topology", "groups", "*")
_KEY_ORDER_BY_PATH: Mapping[KeyPath, tuple[str, ...]] = {
    **KEY_ORDER_BY_PATH,
    _GROUP_KEY_PATH: ("tier", "ids", "offset", "per_pod", "model", "platform", "version", "style", "ports", "uplinks"),
    (*_GROUP_KEY_PATH, "ports"): ("endpoints", "dead"),
    ("routing",): ("protocol", "sessions", "asn"),
    ("addressing",): ("loopbacks", "links", "endpoints", "oob"),
}
_BLOCK_STYLE_PATHS = (
    "topology",
    "topology.groups",
    "endpoints",
    "classes",
    "pfc",
    "pfc.watchdog",
    "devices",
    "external",
)
_CABLING_SHEET_KEY_PATH: KeyPath = ("topology", "cables")
_EXTRA_KEY = "extra"
_MAX_LINE_CHARACTERS = 160
_UNQUOTED_TEXT_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]*")
_READ_AS_NUMBER_PATTERN = re.compile(r"[0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]*")
_YAML_NON_TEXT_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
_WORDS_LEFT_UNQUOTED = ("on", "off")
"""Words that are texts in YAML 1.2, and that intents have as they are."""


def format_intent_text(draft: DerivedIntentPart, head: Iterable[str] = (), tail: Iterable[str] = ()) -> str:
    """Return an intent's text; `head` and `tail` are lines of comments before and behind it."""
    lines = [_format_comment(line) for line in head]
    keys = _insert_missing_keys(draft)
    for key in _TOP_KEY_ORDER:
        if key in keys:
            lines += _format_value_lines(draft, (key,), keys[key])
    lines += [_format_comment(line) for line in tail]
    return "\n".join(lines) + "\n"


def _format_comment(line: str) -> str:
    return f"# {line}" if line else "#"


def _insert_missing_keys(draft: DerivedIntentPart) -> KeyTree:
    """Return the keys with the missing ones at their place; a heading without any key is missing itself."""
    keys = _copy_tree(draft.keys)
    for at, lack in sorted(draft.lacking.items(), key=lambda item: len(item[0])):
        inside: Any = keys
        for key in at[:-1]:
            inside = inside.setdefault(key, {})
            if isinstance(inside, MissingIntentKey):
                inside = inside.example
        inside.setdefault(at[-1], lack)
    return {key: _collapse_fully_missing_branches(value) for key, value in keys.items()}


def _copy_tree(value: object) -> Any:
    return {key: _copy_tree(child) for key, child in value.items()} if isinstance(value, dict) else value


def _collapse_fully_missing_branches(value: object) -> Any:
    if isinstance(value, MissingIntentKey):
        return value._replace(example=_replace_missing_keys_by_examples(value.example))
    if not isinstance(value, dict):
        return value
    inside = {key: _collapse_fully_missing_branches(child) for key, child in value.items()}
    lacks = [child for child in inside.values() if isinstance(child, MissingIntentKey)]
    if not lacks or len(lacks) < len(inside):
        return inside
    why = "; ".join(dict.fromkeys(lack.why for lack in lacks))
    return MissingIntentKey(why, {key: child.example for key, child in inside.items()})


def _replace_missing_keys_by_examples(value: object) -> Any:
    """Return a value without the reasons inside it."""
    if isinstance(value, MissingIntentKey):
        return _replace_missing_keys_by_examples(value.example)
    return (
        {key: _replace_missing_keys_by_examples(child) for key, child in value.items()}
        if isinstance(value, dict)
        else value
    )


def _has_missing_key(value: object) -> bool:
    """Whether anything is missing in a value."""
    if isinstance(value, dict):
        return any(map(_has_missing_key, value.values()))
    return isinstance(value, MissingIntentKey)


def _format_value_lines(draft: DerivedIntentPart, at: KeyPath, value: Any) -> Iterator[str]:
    indent = "  " * (len(at) - 1)
    if isinstance(value, MissingIntentKey):
        yield f"{indent}# TODO: {value.why}"
        for line in _format_value_lines(replace(draft, guessed={}), at, value.example):
            yield f"{indent}# {line.removeprefix(indent)}"
        return
    if at == _CABLING_SHEET_KEY_PATH:
        yield f"{indent}{at[-1]}:"
        yield from (f"{indent}  - {_quote_text_if_needed(row)}" for row in value)
        return
    above = [why for keys, why in draft.guessed.items() if keys == at]
    block = (
        isinstance(value, dict)
        and value
        and (".".join(at) in _BLOCK_STYLE_PATHS or at[0] == _EXTRA_KEY or _has_missing_key(value))
    )
    flat = "" if block else f"{indent}{_format_key(at[-1])}: {_format_flow_value(at, value)}"
    if (
        not block
        and isinstance(value, dict)
        and value
        and len(flat) > _MAX_LINE_CHARACTERS
        and _may_wrap_as_yaml_block(at)
    ):
        block = True
    for why in above:
        yield f"{indent}# guessed: {why}"
    if not block:
        for why, names in _guessed_keys_by_reason(draft, at).items():
            yield f"{indent}# guessed: {', '.join(names)}: {why}"
        yield flat
        return
    yield f"{indent}{_format_key(at[-1])}:"
    inside = _sort_entries(at, value)
    width = max((len(_format_key(key)) for key, child in inside if isinstance(child, dict)), default=0)
    aligned = at[0] in ("endpoints", "classes") or at == ("pfc", "watchdog")
    reported_remark = ""
    for key, subtree in inside:
        lines = list(_format_value_lines(draft, (*at, key), subtree))
        remark = lines[0] if isinstance(subtree, MissingIntentKey) else ""
        lines, reported_remark = lines[bool(remark) and remark == reported_remark :], remark
        if aligned and isinstance(subtree, dict) and lines[-1].startswith(begun := f"{indent}  {_format_key(key)}: "):
            lines[-1] = f"{begun}{' ' * (width - len(_format_key(key)))}{lines[-1].removeprefix(begun)}"
        yield from lines


def _may_wrap_as_yaml_block(at: KeyPath) -> bool:
    """Whether the value of keys may be written as a block where it is too wide for a line."""
    return len(at) < 3 or at[:2] == _GROUP_KEY_PATH[:2]


def _guessed_keys_by_reason(draft: DerivedIntentPart, at: KeyPath) -> dict[str, list[str]]:
    """Return the keys under one whose values are guesses, by the reason."""
    reasons: dict[str, list[str]] = {}
    for keys, why in draft.guessed.items():
        if keys[: len(at)] == at and keys != at:
            reasons.setdefault(why, []).append(".".join(keys[len(at) :]))
    return reasons


def _sort_entries(at: KeyPath, value: KeyTree) -> list[tuple[str, Any]]:
    order = _KEY_ORDER_BY_PATH.get(
        (*_GROUP_KEY_PATH, *at[3:]) if at[:2] == _GROUP_KEY_PATH[:2] and len(at) > 2 else at, ()
    )
    return sorted(value.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))


def _format_flow_value(at: KeyPath, value: object) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(
                f"{_format_key(key)}: {_format_flow_value((*at, key), child)}"
                for key, child in _sort_entries(at, value)
            )
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_format_flow_value(at, child) for child in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, int) else _quote_text_if_needed(str(value))


def _format_key(text: str) -> str:
    return _quote_text_if_needed(text)


def _quote_text_if_needed(text: str) -> str:
    """Spell a text: as it stands where YAML takes it for just that, else in quotes."""
    plain = (
        _UNQUOTED_TEXT_PATTERN.fullmatch(text) or (text.endswith("%") and text[:-1].isdecimal())
    ) and not _READ_AS_NUMBER_PATTERN.fullmatch(text)
    if plain and (text not in _YAML_NON_TEXT_WORDS or text in _WORDS_LEFT_UNQUOTED):
        return text
    return json.dumps(text, ensure_ascii=False)
