"""JSON of configurations: read fast and within limits; afterwards, the places of keys and values that are asked for."""

import json
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import orjson

from nodrop.errors import InputProblems, Problem
from nodrop.syntax.places import (
    BYTE_ORDER_MARK,
    Lines,
    Span,
    decode_utf8,
    quote_text,
    refuse_oversize,
    word_at_offset_for_message,
)
from nodrop.syntax.places import read_regular_file as read_regular_file

MAX_JSON_BYTES = 64_000_000
MAX_LEVELS = 64

_SPACED_COLON_PATTERN = re.compile(rb'"[ \t\r\n]+:')
_WHITESPACE_PATTERN = re.compile(r"[ \t\n\r]*")
_ESCAPE_PATTERN = re.compile(r"\\(?:u\w{0,4}|.)", re.DOTALL)
# Possessive: a text of any length is skipped without a stack of alternatives to come back to.
_BRACKET_OR_STRING_PATTERN = re.compile(r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)("?)|[\[\]{}]', re.DOTALL)
_STRING_REGEX = r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"'
# A value of one piece, which is read without the decoder; longer and other numbers are left to that.
_SCALAR_REGEX = rf"{_STRING_REGEX}|-?[0-9]{{1,18}}+(?![.eE0-9])|true|false|null"
_GAP, _THEN = r"[ \t\n\r]*+", r"[ \t\n\r]*+(?:,[ \t\n\r]*+)?"
_OBJECT_MEMBER_PATTERN = re.compile(rf"({_STRING_REGEX}){_GAP}:{_GAP}(?:({_SCALAR_REGEX}){_THEN})?", re.DOTALL)
_ARRAY_ITEM_PATTERN = re.compile(rf"()(?:({_SCALAR_REGEX}){_THEN})?", re.DOTALL)
_NEWLINE_ESCAPES = (r"\n", r"\u000a", r"\u000A")
_NAME_BY_OPENING_CHARACTER = {"{": "an object", "[": "a list", '"': "a text"}
# What orjson says at the place of a fault, and what was expected there.
_EXPECTED_BY_PARSER_MESSAGE = (
    ("JSON value", "a value"),
    ("invalid literal", "a value"),
    ("string key", "a key in double quotes"),
    ("',' or ']'", "',' or ']'"),
    ("',' or '}'", "',' or '}'"),
    ("':' after key", "':' after the key"),
    ("content after", "the end of the file"),
    ("trailing comma", "no comma after the last entry"),
    ("control character", "an escape such as \\n, or the closing quote"),
    ("surrogate", "a pair of surrogates"),
    ("escape", "an escape that JSON knows"),
    ("infinity", "a number below 1.8e308"),
    ("leading zero", "a number without leading zeros"),
    ("no digit", "a digit"),
)
_HINT_BY_TOKEN = {
    "'True'": "JSON writes it true",
    "'False'": "JSON writes it false",
    "'None'": "JSON writes it null",
    "'NaN'": "JSON has no such number",
    "'Infinity'": "JSON has no such number",
    "'-Infinity'": "JSON has no such number",
    "'/'": "JSON has no comments",
    "'#'": "JSON has no comments",
    "a single quote": 'JSON quotes with "',
}


def parse_json_text(raw: bytes, path: str, *, max_bytes: int = MAX_JSON_BYTES) -> object:
    """Return the value of `raw`; raise InputProblems with the place where it is not JSON, or nested over 64 levels.

    Of equal keys in one object the last counts; `duplicate_keys` finds them.
    """
    return parse_json_counting_keys(raw, path, max_bytes=max_bytes)[0]


def parse_json_counting_keys(file_content: bytes, path: str, *, max_bytes: int = MAX_JSON_BYTES) -> tuple[object, int]:
    """Return what `parse_json_text` gives, and how many keys its objects have together."""
    refuse_oversize(len(file_content), path, max_bytes)
    try:
        data = orjson.loads(file_content.removeprefix(BYTE_ORDER_MARK.encode()))
    except orjson.JSONDecodeError as error:
        raise InputProblems(
            [_make_syntax_problem(decode_utf8(file_content, path), path, error.pos, error.msg)]
        ) from None
    keys = 0
    for depth, level in enumerate(_containers_by_depth(data, file_content.count(b"{") + file_content.count(b"[")), 1):
        if depth > MAX_LEVELS:
            text = decode_utf8(file_content, path)
            raise InputProblems([_make_syntax_problem(text, path, len(text), "")])
        keys += sum(len(container) for container in level if type(container) is dict)
    return data, keys


def _containers_by_depth(data: object, most: int) -> Iterator[list[Any]]:
    """Yield at most `most` lists and objects by depth, each level whole: depth then costs no recursion."""
    level = [data] if type(data) is dict or type(data) is list else []
    while level:
        yield level
        most -= len(level)
        if most <= 0:  # so that the texts of the last level need not be looked at
            return
        level = [
            value
            for container in level
            for value in (container.values() if type(container) is dict else container)
            if type(value) is dict or type(value) is list
        ]


def _has_no_duplicate_keys(raw: bytes, keys: int) -> bool:
    """Whether a text certainly has no more than so many keys.

    Every key ends with a quote and a colon; text inside quotes can only add such pairs. So an equal count means that
    no key was lost, provided that no space is before a colon.
    """
    return raw.count(b'":') == keys and _SPACED_COLON_PATTERN.search(raw) is None


def _make_syntax_problem(text: str, path: str, offset: int, message: str) -> Problem:
    lines, end, opened = Lines(text), len(text.rstrip(" \t\n\r")), _find_open_brackets_and_quote(text, offset)

    def problem(offset: int, fault: str, expected: str = "", hint: str = "") -> Problem:
        line, column = lines.line_and_column(offset)
        return Problem(path=path, line=line, column=column, found=fault, expected=expected, hint=hint)

    if not end:
        return problem(0, "an empty file", "JSON")
    if len(opened) > MAX_LEVELS and text[opened[MAX_LEVELS]] != '"':
        deepest = opened[MAX_LEVELS]
        return problem(
            deepest,
            f"{_NAME_BY_OPENING_CHARACTER[text[deepest]]} at level {MAX_LEVELS + 1}",
            f"at most {MAX_LEVELS} levels",
        )
    if offset >= end:
        if not opened:
            return problem(end, "the file ends inside a value")
        line, column = lines.line_and_column(opened[-1])
        return problem(
            end,
            (
                f"the file ends inside {_NAME_BY_OPENING_CHARACTER[text[opened[-1]]]} "
                f"opened at line {line}, column {column}"
            ),
        )
    escape = _ESCAPE_PATTERN.match(text, offset)
    token = quote_text(escape[0]) if escape else word_at_offset_for_message(text, offset)
    expected = next((words for fragment, words in _EXPECTED_BY_PARSER_MESSAGE if fragment in message), message)
    return problem(offset, token, expected, _HINT_BY_TOKEN.get(token, ""))


def _find_open_brackets_and_quote(text: str, end: int) -> list[int]:
    """Offsets of the brackets and the quote that are open at `end`, outermost first; gives up at a level too many."""
    opened: list[int] = []
    for mark in _BRACKET_OR_STRING_PATTERN.finditer(text, 0, end):
        char = text[mark.start()]
        if char in "[{" or (char == '"' and not mark[1]):
            opened.append(mark.start())
            if len(opened) > MAX_LEVELS:
                break
        elif char != '"' and opened:
            opened.pop()
    return opened


class JsonMember(NamedTuple):
    """One entry of an object or list: its key or index, and the offsets of key and value; an index has an empty key."""

    key: str | int
    key_start: int
    key_end: int
    start: int
    end: int


def iterate_json_members(source_text: str, at: int, decoder: json.JSONDecoder) -> Iterator[JsonMember]:
    """Yield the entries of the object or list at offset `at`, values skipped at C speed; none for any other value."""
    opening = source_text[at : at + 1]
    if opening not in ("{", "["):
        return
    match = (_OBJECT_MEMBER_PATTERN if opening == "{" else _ARRAY_ITEM_PATTERN).match
    at, index = skip_space(source_text, at + 1), 0
    while source_text[at] not in "]}":
        entry = match(source_text, at)
        if entry is None:
            raise ValueError(f"no entry at offset {at}")
        (_, after), (key_start, key_end), (start, end) = entry.regs
        key = _decode_key(source_text, key_start, key_end, decoder) if key_start < key_end else index
        if start < 0:
            start = after
            _, end = decoder.raw_decode(source_text, start)
            after = _next_entry_offset(source_text, end)
        yield JsonMember(key, key_start, key_end, start, end)
        at = after
        index += 1


def _decode_key(source_text: str, start: int, end: int, decoder: json.JSONDecoder) -> str:
    """Return the key between two quotes, its escapes resolved."""
    key: str = source_text[start + 1 : end - 1]
    return decoder.raw_decode(source_text, start)[0] if "\\" in key else key


def _next_entry_offset(text: str, end: int) -> int:
    """Return the offset of the entry after a value, or of the bracket after the last one."""
    at = skip_space(text, end)
    return skip_space(text, at + 1) if text[at] == "," else at


def skip_space(source_text: str, at: int) -> int:
    """Return the offset of the first character at or after `at` that is no white space."""
    space = _WHITESPACE_PATTERN.match(source_text, at)
    return space.end() if space else at


class JsonPlaceLocator:
    """Places in a JSON text that `parse_json_text` accepts; of equal keys the last counts, as it does there.

    Nothing is read before the first question; an object or list is gone through once, when a path first leads into it.
    """

    __slots__ = ("_decoder", "_known", "_lines", "_text")

    def __init__(self, raw: bytes) -> None:
        self._text = raw.decode(errors="replace").removeprefix(BYTE_ORDER_MARK)
        self._lines = Lines(self._text)
        self._decoder = json.JSONDecoder(strict=False)
        self._known: dict[int, dict[str | int, JsonMember]] = {}

    def key_span(self, key_path: Sequence[str | int]) -> Span | None:
        """Return the key of the entry at `key_path`, quotes included; None where there is none, and in lists."""
        member = self._find_member(key_path)
        if member is None or member.key_start == member.key_end:
            return None
        return self._lines.span(member.key_start, member.key_end)

    def value_span(self, key_path: Sequence[str | int]) -> Span | None:
        """Return the value at `key_path`, the whole document for no keys; None where there is none."""
        member = self._find_member(key_path)
        return self._lines.span(member.start, member.end) if member else None

    def span_inside_string(self, keys: Sequence[str | int], span: Span) -> Span | None:
        """Where a part of the text at `key_path` stands, given by its lines and columns in that text itself."""
        member = self._find_member(keys)
        if member is None or self._text[member.start : member.start + 1] != '"':
            return None
        ends = [
            self._offset_inside_text(member, span.line, span.column),
            self._offset_inside_text(member, span.end_line, span.end_column),
        ]
        return self._lines.span(*ends)

    def _offset_inside_text(self, member: JsonMember, line: int, column: int) -> int:
        """Return the offset of a line and column of a text, whose newlines and other characters may be escaped."""
        at, escapes = member.start + 1, _ESCAPE_PATTERN.finditer(self._text, member.start + 1, member.end - 1)
        for escape in escapes:
            if line == 1:
                break
            if escape[0] in _NEWLINE_ESCAPES:
                line, at = line - 1, escape.end()
        for escape in _ESCAPE_PATTERN.finditer(self._text, at, member.end - 1):
            if escape.start() >= at + column - 1:
                break
            column += len(escape[0]) - 1
        return min(at + column - 1, member.end - 1)

    def _find_member(self, keys: Sequence[str | int]) -> JsonMember | None:
        try:
            start = skip_space(self._text, 0)
            if not keys:
                return JsonMember(0, start, start, start, self._decoder.raw_decode(self._text, start)[1])
            for step in keys:
                if start not in self._known:
                    self._known[start] = {
                        member.key: member for member in iterate_json_members(self._text, start, self._decoder)
                    }
                member = self._known[start].get(step)
                if member is None:
                    return None
                start = member.start
        except (ValueError, IndexError, TypeError, RecursionError):
            return None
        return member


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateJsonKey:
    """A key that its object has already: the path to it, where it stands again, where it stood first."""

    keys: tuple[str | int, ...]
    span: Span
    first: Span


def duplicate_keys(file_content: bytes, counted: int | None = None, *, limit: int = 1000) -> list[DuplicateJsonKey]:
    """Return the keys that one object has twice, at most `limit`, in the order of a text.

    `parse_json_text` has accepted the text. Given the count of `parse_json_counting_keys`, a text without any costs
    next to nothing; without it, one pass at C speed. Only if there are some is the text searched for their places, up
    to the last of them.
    """
    if counted is not None and _has_no_duplicate_keys(file_content, counted):
        return []
    text, doubled = file_content.decode().removeprefix(BYTE_ORDER_MARK), 0

    def count(pairs: list[tuple[str, object]]) -> None:
        nonlocal doubled
        doubled += len(pairs) - len(dict(pairs))

    decoder = json.JSONDecoder(object_pairs_hook=count, strict=False)
    start = skip_space(text, 0)
    decoder.raw_decode(text, start)
    duplicates = _find_duplicates(text, start, (), Lines(text), json.JSONDecoder(strict=False))
    return list(islice(duplicates, min(doubled, limit)))


def _find_duplicates(
    text: str, at: int, path: tuple[str | int, ...], lines: Lines, decoder: json.JSONDecoder
) -> Generator[DuplicateJsonKey, None, int]:
    """Yield the duplicates in and below the object or list at offset `at`; return where that ends."""
    match = (_OBJECT_MEMBER_PATTERN if text[at] == "{" else _ARRAY_ITEM_PATTERN).match
    firsts: dict[str | int, tuple[int, int]] = {}
    at, index = skip_space(text, at + 1), 0
    while text[at] not in "]}":
        entry = match(text, at)
        if entry is None:
            raise ValueError(f"no entry at offset {at}")
        (_, after), place, (start, _) = entry.regs
        key = _decode_key(text, *place, decoder) if place[0] < place[1] else index
        first_place = firsts.setdefault(key, place)
        if first_place is not place:
            yield DuplicateJsonKey(keys=(*path, key), span=lines.span(*place), first=lines.span(*first_place))
        if start < 0:
            if text[after] in "{[":
                end = yield from _find_duplicates(text, after, (*path, key), lines, decoder)
            else:
                _, end = decoder.raw_decode(text, after)
            after = _next_entry_offset(text, end)
        at = after
        index += 1
    return at + 1
