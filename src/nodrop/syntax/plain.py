"""YAML as programs write it: read at an eighth of the cost of a full parser, or left to one at the first doubt.

The accepted part of YAML is the one with self-contained lines: block mappings and lists, values on one line, words and
quoted texts without escapes, brackets on one line. For all accepted text, the data are those of the full parser, which
also gives places and finds faults.
"""

import json
import re
from typing import Any, Final

WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
"""What an unquoted scalar may be other than text."""

NOT_PLAIN: Final = object()
"""The answer for a text that is left to the full parser."""

_MAX_LEVELS = 60
_MAX_KEY = 1000
"""Parsers give up on longer keys."""

_OTHER = re.compile(r"[^\n\x20-\x7e]")
# A group is repeated possessively by (?>(?:…)*), since (?:…)*+ forgets to go back in Python before 3.11.5 (gh-106052).
_LETTER = r"[A-Za-z0-9_./+@,%=()-]"
_QUOTED = r"""'[^'\n]*+'|"[^"\\\n]*+\""""
_KEY = rf"[A-Za-z0-9]{_LETTER}*+(?>(?::++{_LETTER}++)*)|{_QUOTED}"
_VALUE = rf"[A-Za-z0-9/]{_LETTER}*+(?>(?:(?: |:++){_LETTER}++)*)|{_QUOTED}|[{{\[][^\n#]*+"
_LINE = re.compile(rf"^(?: *+(?:#.*+)?|( *+)(- )?(?:({_KEY}):(?: ({_VALUE}))?|({_VALUE})))$", re.MULTILINE)
"""Nothing or a comment; else indentation, dash, and a key, a key and a value, or a value."""

_EXPLICIT = re.compile(rf"^( *+)\? ({_KEY})\n\1: (?=[^ \n])", re.MULTILINE)
"""A long key as exports have it: `? key`, and `: ` with the first key of its mapping on the next line."""

_BARE = r"[A-Za-z0-9][A-Za-z0-9_./+@%=-]*+"
_FLOW = re.compile(rf'[\[\]{{}}]++|, |: |"[^"\\]*+"|{_BARE}')
_BARE_OR_QUOTED = re.compile(rf'"[^"\\]*+"|{_BARE}')


class _Doubt(Exception):
    """The text may be YAML, or no YAML, in a way that is not known here."""


def load(source_text: str) -> object:
    """Return the data of a text, or NOT_PLAIN; scalars stay text, save `null`, `true` and `false` without quotes."""
    if _OTHER.search(source_text):
        return NOT_PLAIN
    if "? " in source_text:
        source_text = _EXPLICIT.sub(r"\1\2:\n\1  ", source_text)
    rows = _LINE.findall(source_text)
    if len(rows) != source_text.count("\n") + 1:
        return NOT_PLAIN
    try:
        return _nest_by_indentation(rows)
    except _Doubt:
        return NOT_PLAIN


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
                    raise _Doubt
            key = None
        while depth < at or (depth == at and type(top) is list and not dash):
            at, top = around.pop()
        if depth != at or type(top) is not (list if dash else dict):
            raise _Doubt
        if type(top) is list:
            if alone:
                top.append(_parse_scalar(alone))
                continue
            item: dict[str, Any] = {}
            top.append(item)
            around.append((at, top))
            top, at = item, depth + 2
        elif alone:
            raise _Doubt
        if name[0] in "'\"":
            name = name[1:-1]
        elif name == "null":
            raise _Doubt
        if name in top or len(name) > _MAX_KEY:
            raise _Doubt
        if value:
            top[name] = _parse_scalar(value)
        else:
            top[name] = None
            key = name
    if root[0] is None:
        raise _Doubt
    return root[0]


def _parse_scalar(text: str) -> object:
    first_character = text[0]
    if first_character in "'\"":
        return text[1:-1]
    if first_character in "{[":
        return _parse_flow_brackets(text)
    return WORDS.get(text, text)


def _parse_flow_brackets(text: str) -> object:
    """Read brackets as JSON once all words are quoted; what YAML has beyond JSON then fails."""
    if text in ("{}", "[]"):
        return {} if text == "{}" else []
    if _FLOW.sub("", text):  # which takes no memory for each piece, as a repeated group does
        raise _Doubt
    try:
        return json.loads(_BARE_OR_QUOTED.sub(_quote_bare_word, text), object_pairs_hook=_require_distinct_keys)
    except (ValueError, RecursionError):
        raise _Doubt from None


def _quote_bare_word(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) > _MAX_KEY:
        raise _Doubt
    return text if text[0] == '"' or text in WORDS else f'"{text}"'


def _require_distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) < len(pairs) or "" in data:
        raise _Doubt
    return data
