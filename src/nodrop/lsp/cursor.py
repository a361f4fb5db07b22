"""Where in a YAML text a place is, also in a text that is being written: a look by indentation and brackets.

The text need not be YAML yet: what opens and never closes ends where a key stands that cannot be inside of it.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

_QUOTED_PATTERN = r""""(?:[^"\\]|\\.)*"?|'[^']*'?"""
_PLAIN_SCALAR_PATTERN = r"(?:[^\s,\[\]{}#:\"']|:(?=\S))(?:[^\s,\[\]{}:]|:(?=[^\s,\[\]{}])|[ ]+(?=[^\s,\[\]{}#:]))*"
_SCALAR_PATTERN = re.compile(rf"\s*(?:{_QUOTED_PATTERN}|{_PLAIN_SCALAR_PATTERN}|\S)")
_KEY_REST_REGEX = r"(?>(?:[^\s:#{}\[\],]|\s++(?=[^\s:#{}\[\],]))*)"
_KEY_PATTERN = re.compile(
    rf"""("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:{{}}\[\],"'-]{_KEY_REST_REGEX}|-[^\s:#{{}}\[\],]{_KEY_REST_REGEX})\s*+:(?=\s|$)"""
)
_KEY_LINE = re.compile(rf"\s*+(?>(?:-\s++)*){_KEY_PATTERN.pattern}")
_TOP_KEY_LINE = re.compile(r"^[^\s#\-{}\[\],][^:#]*:(?=\s|$)", re.MULTILINE)
_TOKEN_PATTERN = re.compile(
    rf"{_QUOTED_PATTERN}|[{{}}\[\],]|:(?=[\s,\[\]{{}}]|$)|(?:(?<=\s)|^)#.*|[^\s{{}}\[\],:\"'#]+|\s+|."
)
_WORD_REST_PATTERN = re.compile(r"[\w.%/+-]*")
_MAX_CHARACTERS_AROUND_CURSOR = 200_000
"""How much of a text before and behind a place is looked at."""

PathStep = str | int


@dataclass(slots=True)
class OpenYamlCollection:
    """A mapping or list that is open: its place, and its content so far."""

    kind: Literal["map", "seq"]
    indent: int
    flow: bool
    key: str | None = None
    index: int = 0
    values: dict[str, str] = field(default_factory=dict)
    """Its keys, each with its value where that is on the same line and no list or mapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlKeyOrValueSpot:
    """The text at a place: a key of the mapping at `path`, or the value there."""

    path: tuple[PathStep, ...]
    is_key: bool
    word: str
    """What of it stands before the place."""
    start: int
    end: int
    """The offsets of all of it."""
    beside: dict[str, str]
    """The other keys of the mapping, with those values that are plain."""


def word_end(line: str, start: int) -> int:
    """Return the column behind the word, quoted text or plain text that begins at a column, all from 0."""
    match = _SCALAR_PATTERN.match(line, start)
    return match.end() if match and match[0].strip() else len(line)


def find_spot(document_text: str, offset: int) -> YamlKeyOrValueSpot | None:
    """Return the text at an offset; None inside a comment."""
    begin = max(0, offset - _MAX_CHARACTERS_AROUND_CURSOR)
    for match in _TOP_KEY_LINE.finditer(document_text, begin, offset):
        begin = match.start()
    scan = _OpenCollectionScan()
    head, _, last = document_text[begin:offset].rpartition("\n")
    for line in head.split("\n") if head else ():
        scan.scan_line(line.rstrip("\r"))
    return scan.spot(last, document_text, offset)


class _OpenCollectionScan:
    """Goes through lines and keeps the mappings and lists that are open."""

    def __init__(self) -> None:
        self.frames: list[OpenYamlCollection] = []
        self.word = ""
        """What is written of a key or value in brackets."""
        self.valued = False
        """Whether that is a value: in a mapping, behind a colon."""
        self.commented = False

    @property
    def top(self) -> OpenYamlCollection | None:
        return self.frames[-1] if self.frames else None

    def scan_line(self, line: str) -> str:
        """Take a line, and return the rest of a block line behind its keys and dashes."""
        self.commented = False
        indent = len(line) - len(line.lstrip(" "))
        if self.top is not None and self.top.flow and _KEY_LINE.match(line) and indent <= self._block_indent():
            while self.top is not None and self.top.flow:
                self.frames.pop()
        if self.top is not None and self.top.flow:
            self.scan_flow_text(line)
            return ""
        return self.scan_block_line(line, indent)

    def _block_indent(self) -> int:
        return next((frame.indent for frame in reversed(self.frames) if not frame.flow), -1)

    def scan_block_line(self, line: str, at: int) -> str:
        """Take a line that is in no brackets."""
        if line.lstrip().startswith("#"):
            self.commented = True
            return ""
        while line[at : at + 2] in ("- ", "-"):
            self.begin_list_entry(at)
            at += 1
            at += len(line[at:]) - len(line[at:].lstrip(" "))
        match = _KEY_PATTERN.match(line, at)
        if match is None:
            self.word, self.valued = "", False
            if line[at : at + 1] in ("{", "["):
                self.scan_flow_text(line[at:])
            return line[at:]
        self.enter_mapping_or_list_at_column(at, "map")
        assert self.top is not None
        self.top.key = _strip_quotes(match[1])
        remainder = line[match.end() :].lstrip()
        self.top.values[self.top.key] = _first_scalar(remainder)
        self.word, self.valued = "", False
        if remainder[:1] in ("{", "["):
            self.scan_flow_text(remainder)
        return remainder

    def begin_list_entry(self, column: int) -> None:
        """Begin an entry of a list whose dashes stand in a column."""
        while self.top is not None and (self.top.indent > column or (self.top.indent == column and self.top.flow)):
            self.frames.pop()
        if self.top is not None and self.top.kind == "seq" and self.top.indent == column:
            self.top.index += 1
        else:
            self.frames.append(OpenYamlCollection("seq", column, flow=False))

    def enter_mapping_or_list_at_column(self, at: int, kind: Literal["map", "seq"]) -> None:
        """Leave what ends before a column, and be in the mapping whose keys stand there."""
        self.close_collections_beyond_column(at)
        if self.top is None or self.top.kind != kind or self.top.indent != at:
            self.frames.append(OpenYamlCollection(kind, at, flow=False))

    def close_collections_beyond_column(self, offset: int) -> None:
        while self.top is not None and (
            self.top.indent > offset or (self.top.kind == "seq" and self.top.indent >= offset)
        ):
            self.frames.pop()

    def scan_flow_text(self, text: str) -> None:
        """Take text inside of brackets, or that opens them."""
        for match in _TOKEN_PATTERN.finditer(text):
            mark = match[0]
            if mark in ("{", "["):
                self.frames.append(OpenYamlCollection("map" if mark == "{" else "seq", self._block_indent(), flow=True))
                self.word, self.valued = "", False
            elif mark in ("}", "]"):
                self.note_ended_value()
                if self.top is not None and self.top.flow:
                    self.frames.pop()
                self.word, self.valued = "", True
            elif mark == ",":
                self.note_ended_value()
                if self.top is not None:
                    self.top.index += 1
                    self.top.key = None
                self.word, self.valued = "", False
            elif mark == ":" and self.top is not None and self.top.kind == "map" and not self.valued:
                self.top.key = _strip_quotes(self.word)
                self.top.values[self.top.key] = ""
                self.word, self.valued = "", True
            elif _is_comment(text, match):
                self.commented = True
            elif self.word or not mark.isspace():
                self.word += mark

    def note_ended_value(self) -> None:
        """Note the value that ends here."""
        if self.top is not None and self.top.kind == "map" and self.top.key is not None and self.valued:
            self.top.values[self.top.key] = _strip_quotes(self.word)

    def path(self, *, whole: bool) -> tuple[PathStep, ...]:
        """Return the steps to the open mapping; `whole`: to the value that is written, not the mapping around it."""
        steps: list[PathStep] = []
        for number, frame in enumerate(self.frames, 1):
            if frame.kind == "seq":
                steps.append(frame.index)
            elif frame.key is not None and (whole or number < len(self.frames)):
                steps.append(frame.key)
        return tuple(steps)

    def spot(self, last: str, text: str, offset: int) -> YamlKeyOrValueSpot | None:
        """Return the text at the end of the last line."""
        remainder = self.scan_line(last)
        if self.commented or _has_comment(remainder):
            return None
        end = _WORD_REST_PATTERN.match(text, offset)
        ends = end.end() if end else offset
        if self.top is not None and self.top.flow:
            is_key = self.top.kind == "map" and not self.valued
            return self._build_spot(is_key, self.word.lstrip(), offset, ends, text)
        match = _KEY_LINE.match(last)
        if match is not None and (last[match.end() :] != "" or last.endswith(":")):
            if not last[match.end() :]:
                return None
            return self._build_spot(False, remainder.lstrip(), offset, ends, text)
        column = len(last) - len(remainder)
        if not remainder.strip() and not last.strip("- "):
            column = len(last)
        self.close_collections_beyond_column(column)
        return self._build_spot(True, remainder.strip(), offset, ends, text)

    def _build_spot(self, is_key: bool, word: str, offset: int, ends: int, document_text: str) -> YamlKeyOrValueSpot:
        top = self.top
        inside = (
            is_key
            and top is not None
            and not top.flow
            and top.kind == "map"
            and top.indent < self._column_of_word(document_text, offset, word)
        )
        path = self.path(whole=not is_key or inside)
        beside = dict(top.values) if top is not None and top.kind == "map" and not inside else {}
        own_word = document_text[offset - len(word) : ends]
        if top is not None and not inside:
            self._add_following_keys(document_text, ends, beside)
        if re.match(r"\s*:(?:\s|$)", document_text[ends:]) or not is_key:
            beside.pop(_strip_quotes(own_word) if is_key else str(path[-1] if path else ""), None)
        return YamlKeyOrValueSpot(
            path=path, is_key=is_key, word=word, start=offset - len(word), end=ends, beside=beside
        )

    def _column_of_word(self, text: str, offset: int, word: str) -> int:
        return offset - len(word) - (text.rfind("\n", 0, offset) + 1)

    def _add_following_keys(self, text: str, ends: int, beside: dict[str, str]) -> None:
        """Add the keys that stand behind in the mapping that is open."""
        frame = self.top
        assert frame is not None
        depth, known_keys = len(self.frames), set(frame.values)
        for number, line in enumerate(text[ends : ends + _MAX_CHARACTERS_AROUND_CURSOR].split("\n")):
            if number == 0:
                if frame.flow:
                    self.scan_flow_text(line)
            else:
                self.scan_line(line)
            if len(self.frames) < depth or self.frames[depth - 1] is not frame:
                break
        beside |= {key: value for key, value in frame.values.items() if key not in known_keys}


def _strip_quotes(word: str) -> str:
    """Return a key or value without its quotes."""
    word = word.strip()
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word


def _first_scalar(value_text: str) -> str:
    match = _SCALAR_PATTERN.match(value_text)
    return _strip_quotes(match[0]) if match and value_text[:1] not in ("{", "[", "#") else ""


def _has_comment(remaining_text: str) -> bool:
    return any(_is_comment(remaining_text, match) for match in _TOKEN_PATTERN.finditer(remaining_text))


def _is_comment(document_text: str, match: re.Match[str]) -> bool:
    return match[0].startswith("#") and (match.start() == 0 or document_text[match.start() - 1].isspace())
