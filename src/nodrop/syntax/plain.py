"""YAML as programs write it: read at an eighth of the cost of a full parser, or left to one at the first doubt.

The accepted part of YAML is the one with self-contained lines: block mappings and lists, values on one line, words and
quoted texts without escapes, brackets on one line. For all accepted text, the data are those of the full parser, which
also gives places and finds faults.
"""

import json
import re
from typing import Any, Final

VALUE_BY_YAML_WORD = {"": None, "~": None, "null": None, "true": True, "false": False}
"""What an unquoted scalar may be other than text."""

NOT_PLAIN_YAML: Final = object()
"""The answer for a text that is left to the full parser."""

_MAX_LEVELS = 60
_MAX_KEY = 1000
"""Parsers give up on longer keys."""

_NON_ASCII_PATTERN = re.compile(r"[^\n\x20-\x7e]")
# A group is repeated possessively by (?>(?:…)*), since (?:…)*+ forgets to go back in Python before 3.11.5 (gh-106052).
_PLAIN_CHARACTER_REGEX = r"[A-Za-z0-9_./+@,%=()-]"
_QUOTED_SCALAR_REGEX = r"""'[^'\n]*+'|"[^"\\\n]*+\""""
_KEY_REGEX = rf"[A-Za-z0-9]{_PLAIN_CHARACTER_REGEX}*+(?>(?::++{_PLAIN_CHARACTER_REGEX}++)*)|{_QUOTED_SCALAR_REGEX}"
_VALUE_REGEX = (
    rf"[A-Za-z0-9/]{_PLAIN_CHARACTER_REGEX}*+(?>(?:(?: "
    rf"|:++){_PLAIN_CHARACTER_REGEX}++)*)|{_QUOTED_SCALAR_REGEX}|[{{\[][^\n#]*+"
)
_YAML_LINE = re.compile(
    rf"^(?: *+(?:#.*+)?|( *+)(- )?(?:({_KEY_REGEX}):(?: ({_VALUE_REGEX}))?|({_VALUE_REGEX})))$", re.MULTILINE
)
"""Nothing or a comment; else indentation, dash, and a key, a key and a value, or a value."""

_EXPLICIT_KEY_LINE = re.compile(rf"^( *+)\? ({_KEY_REGEX})\n\1: (?=[^ \n])", re.MULTILINE)
"""A long key as exports have it: `? key`, and `: ` with the first key of its mapping on the next line."""

_BARE_WORD_REGEX = r"[A-Za-z0-9][A-Za-z0-9_./+@%=-]*+"
_FLOW_TOKEN_PATTERN = re.compile(rf'[\[\]{{}}]++|, |: |"[^"\\]*+"|{_BARE_WORD_REGEX}')
_BARE_OR_QUOTED_PATTERN = re.compile(rf'"[^"\\]*+"|{_BARE_WORD_REGEX}')


class _NotPlainYaml(Exception):
    """The text may be YAML, or no YAML, in a way that is not known here."""


def load_simple_yaml_or_marker(source_text: str) -> object:
    """Return the data of a text, or NOT_PLAIN; scalars stay text, save `null`, `true` and `false` without quotes."""
    if _NON_ASCII_PATTERN.search(source_text):
        return NOT_PLAIN_YAML
    if "? " in source_text:
        source_text = _EXPLICIT_KEY_LINE.sub(r"\1\2:\n\1  ", source_text)
    rows = _YAML_LINE.findall(source_text)
    if len(rows) != source_text.count("\n") + 1:
        return NOT_PLAIN_YAML
    try:
        return _nest_by_indentation(rows)
    except _NotPlainYaml:
        return NOT_PLAIN_YAML


def _nest_by_indentation(rows: list[tuple[str, str, str, str, str]]) -> object:
    """Put lines together by their indentation."""
    root: list[Any] = [None]
    top: Any = root
    key: Any = 0
    at = -1
    around: list[tuple[int, Any]] = []
    for spaces, dash, name, value, alone in rows:
        if not (name or alone):
            continue
        depth = len(spaces)
        if key is not None:
            if depth > at or (dash and depth == at and type(top) is dict):
                inner: Any = [] if dash else {}
                top[key] = inner
                around.append((at, top))
                top, at = inner, depth
                if len(around) > _MAX_LEVELS:
                    raise _NotPlainYaml
            key = None
        while depth < at or (depth == at and type(top) is list and not dash):
            at, top = around.pop()
        if depth != at or type(top) is not (list if dash else dict):
            raise _NotPlainYaml
        if type(top) is list:
            if alone:
                top.append(_parse_scalar(alone))
                continue
            item: dict[str, Any] = {}
            top.append(item)
            around.append((at, top))
            top, at = item, depth + 2
        elif alone:
            raise _NotPlainYaml
        if name[0] in "'\"":
            name = name[1:-1]
        elif name == "null":
            raise _NotPlainYaml
        if name in top or len(name) > _MAX_KEY:
            raise _NotPlainYaml
        if value:
            top[name] = _parse_scalar(value)
        else:
            top[name] = None
            key = name
    if root[0] is None:
        raise _NotPlainYaml
    return root[0]


def _parse_scalar(text: str) -> object:
    first_character = text[0]
    if first_character in "'\"":
        return text[1:-1]
    if first_character in "{[":
        return _parse_flow_brackets(text)
    return VALUE_BY_YAML_WORD.get(text, text)


def _parse_flow_brackets(text: str) -> object:
    """Read brackets as JSON once all words are quoted; what YAML has beyond JSON then fails."""
    if text in ("{}", "[]"):
        return {} if text == "{}" else []
    if _FLOW_TOKEN_PATTERN.sub("", text):  # which takes no memory for each piece, as a repeated group does
        raise _NotPlainYaml
    try:
        return json.loads(_BARE_OR_QUOTED_PATTERN.sub(_quote_bare_word, text), object_pairs_hook=_require_distinct_keys)
    except (ValueError, RecursionError):
        raise _NotPlainYaml from None


def _quote_bare_word(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) > _MAX_KEY:
        raise _NotPlainYaml
    return text if text[0] == '"' or text in VALUE_BY_YAML_WORD else f'"{text}"'


def _require_distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) < len(pairs) or "" in data:
        raise _NotPlainYaml
    return data
