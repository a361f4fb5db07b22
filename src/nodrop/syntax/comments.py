"""Comments that speak to nodrop, `# nodrop: …`, in texts of several kinds, each with the lines that it is about."""

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Literal

from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, ScalarEvent

from nodrop.syntax import frr, nvset
from nodrop.syntax.places import BYTE_ORDER_MARK, has_lone_return, line_starts, split_lines
from nodrop.syntax.yaml import yaml_events

CommentSyntax = Literal["yaml", "shell", "lines", "frr"]
"""How a text has comments: with `#` before or behind anything; so, but quotes as in a shell; on separate lines,
with `#` or `!`; so, with the blocks of FRR.
"""

BEHIND_COMMAND, IN_BRACKETS = "behind a command", "in brackets"
LONE_CR_REASON = "in a file with a carriage return that ends no line"

_NODROP_MARK = b"nodrop:"
_NODROP_DIRECTIVE_PATTERN = re.compile(r"(?:^|(?<=\s))[#!]+[ \t]*(nodrop:[^\r\n]*)", re.MULTILINE | re.IGNORECASE)
_JSON_START_PATTERN = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]")
_NODROP_COMMENT_PATTERN = re.compile(r"(?:^|\s)[#!]+[ \t]*nodrop:.*", re.IGNORECASE)
_YAML_LIST_ITEM_PATTERN = re.compile(r"\s*-(?:\s|$)")
_CLOSED_QUOTES_PATTERN = re.compile(r"""(?:[^'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*""")


@dataclass(frozen=True, slots=True)
class NodropComment:
    """The text of a comment from `nodrop:` on, where that begins, and the first and last line that it is about."""

    text: str
    line: int
    column: int
    lines: tuple[int, int]
    around: str
    """A digest of the first of these lines without comments, and of the lines that it is indented below (FRR: of the
    blocks that it is in): equal in two states of a file where the comment is about the same part of it."""
    misplaced: str = ""
    """Where it is unknown what it is about: behind a command where a comment needs a separate line, in brackets, where
    indentation means nothing, or in a file in which others count other lines."""


def find_nodrop_comments(file_content: bytes, syntax: CommentSyntax) -> list[NodropComment]:
    """Return the comments addressed to nodrop, in their order; there are none in JSON, nor in text that is not UTF-8.

    A comment behind something is about that line, and all lines indented below it. One on a separate line is about the
    next line that is neither empty nor a comment, in the same way; in FRR, commands delimit a block.
    """
    if _NODROP_MARK not in file_content or _JSON_START_PATTERN.match(file_content):
        return []
    try:
        text = file_content.decode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError:
        return []
    if syntax == "yaml" and nvset.has_nv_lines(file_content):
        syntax = "shell"
    matches = [
        spoken
        for spoken in _NODROP_DIRECTIVE_PATTERN.finditer(text)
        if spoken[0][0] == "#" or syntax in ("lines", "frr")
    ]
    if not matches:
        return []
    quoted, brackets = _find_quoted_and_bracketed_spans(text) if syntax == "yaml" else ([], [])
    lines = _LinesWithBlockEnds(text, syntax, brackets)
    return [
        lines.build_comment(spoken)
        for spoken in matches
        if not (lines.is_inside_quotes(spoken) or _is_in_spans(spoken.start(), quoted))
    ]


_TextSpans = list[tuple[int, int]]
"""Where parts of a text begin and end, sorted; they do not overlap."""


def _find_quoted_and_bracketed_spans(text: str) -> tuple[_TextSpans, _TextSpans]:
    """Return texts in quotes and blocks of text, and outermost collections in brackets; none that count of no YAML."""
    quoted, brackets = _TextSpans(), _TextSpans()
    depth = begin = 0
    try:
        for event in yaml_events(text):
            if type(event) is ScalarEvent and not event.implicit[0]:
                quoted.append((event.start_mark.index, event.end_mark.index))
            elif isinstance(event, CollectionStartEvent) and (depth or event.flow_style):
                begin = begin if depth else event.start_mark.index
                depth += 1
            elif isinstance(event, CollectionEndEvent) and depth:
                depth -= 1
                if not depth:
                    brackets.append((begin, event.end_mark.index))
    except YAMLError:
        pass
    return quoted, brackets


def _is_in_spans(position: int, spans: _TextSpans) -> bool:
    at = bisect_right(spans, (position, sys.maxsize)) - 1
    return at >= 0 and position < spans[at][1]


class _LinesWithBlockEnds:
    """The lines of a text, the ends of blocks that begin in a line, and the context of lines: in linear time."""

    def __init__(self, text: str, syntax: CommentSyntax, brackets: _TextSpans) -> None:
        self._text, self._syntax, self._brackets = text, syntax, brackets
        self._lone_cr = syntax != "yaml" and has_lone_return(text)
        self._rows, self._starts = split_lines(text), line_starts(text)

    def is_inside_quotes(self, comment_match: re.Match[str]) -> bool:
        """Whether what looks like a comment of a shell stands within quotes, as far as its line shows."""
        if self._syntax != "shell":
            return False
        line = bisect_right(self._starts, comment_match.start())
        return _CLOSED_QUOTES_PATTERN.fullmatch(self._text, self._starts[line - 1], comment_match.start()) is None

    def build_comment(self, spoken: re.Match[str]) -> NodropComment:
        """Return the comment that was found."""
        line = bisect_right(self._starts, spoken.start())
        begin = self._starts[line - 1]
        alone = not self._text[begin : spoken.start()].strip()
        first_line = self._next_content_lines[line] if alone else line
        misplaced = IN_BRACKETS if _is_in_spans(spoken.start(), self._brackets) else ""
        if not alone and self._syntax in ("lines", "frr"):
            misplaced = BEHIND_COMMAND
        if self._lone_cr:
            misplaced = LONE_CR_REASON
        return NodropComment(
            text=spoken[1].rstrip(),
            line=line,
            column=spoken.start(1) - begin + 1,
            lines=(first_line, self._find_last_line(first_line)),
            around=self._context_digests[first_line],
            misplaced=misplaced,
        )

    def _is_blank_or_comment(self, row: str) -> bool:
        """Whether a line has no content: it is empty, or a comment."""
        marks = ("#", "!") if self._syntax in ("lines", "frr") else "#"
        return not row.strip() or row.lstrip().startswith(marks)

    @cached_property
    def _next_content_lines(self) -> list[int]:
        """Return, by line, the first line below with content; the line itself if there is none."""
        next_lines = list(range(len(self._rows) + 1))
        below = None
        for line in range(len(self._rows), 0, -1):
            next_lines[line] = below or line
            if not self._is_blank_or_comment(self._rows[line - 1]):
                below = line
        return next_lines

    def _find_last_line(self, first_line: int) -> int:
        """Return the last line of the block that begins in a line."""
        return (
            self._last_line_of_frr_block(first_line) if self._syntax == "frr" else self._last_line_by_first[first_line]
        )

    def _last_line_of_frr_block(self, first_line: int) -> int:
        inner = self._statements_by_line.get(first_line)
        last = first_line
        while inner is not None:
            last = inner.line
            inner = inner.children[-1] if inner.children else None
        return last

    @cached_property
    def _context_digests(self) -> list[str]:
        """Return, by line, the digest of its surroundings and its text."""
        if self._syntax == "frr":
            return self._block_context_digests
        above: list[tuple[int, str]] = []
        context_digests = [""]
        for row in self._rows:
            text = _NODROP_COMMENT_PATTERN.sub("", row)
            if self._is_blank_or_comment(text):
                context_digests.append("")
                continue
            while above and above[-1][0] >= _indent_width(text):
                above.pop()
            context_digests.append(_digest_line_within_block(above[-1][1] if above else "", text))
            above.append((_indent_width(text), context_digests[-1]))
        return context_digests

    @property
    def _block_context_digests(self) -> list[str]:
        digests = [_digest_line_within_block("", row) for row in ("", *self._rows)]
        for outer, inner in frr.walk_statements(self._parse_blocks):
            digests[inner.line] = _digest_line_within_block(
                digests[outer[-1].line] if outer else "", " ".join(inner.words)
            )
        return digests

    @cached_property
    def _statements_by_line(self) -> dict[int, frr.FrrStatement]:
        return {statement.line: statement for _, statement in frr.walk_statements(self._parse_blocks)}

    @cached_property
    def _parse_blocks(self) -> list[frr.FrrStatement]:
        return frr.parse_frr("\n".join(self._rows))

    @cached_property
    def _last_line_by_first(self) -> list[int]:
        """Return, by line, the last line of the block that begins there.

        The block has the lines that are indented further, continue the line, or are entries of it.
        From the last line to the first: a block within a block has been measured, and is stepped over as a whole.
        """
        rows, syntax = self._rows, self._syntax
        count = len(rows)
        indents = [0, *map(_indent_width, rows)]
        bare = [False, *map(self._is_blank_or_comment, rows)]
        continued = [False, False, *(syntax == "shell" and row.endswith("\\") for row in rows)]
        lasts = list(range(count + 1))
        runs = list(range(count + 1))
        """By line, the last of the lines that it goes on in."""
        for start in range(count, 0, -1):
            if start < count and continued[start + 1]:
                runs[start] = runs[start + 1]
            item = rows[start - 1].lstrip().startswith("- ")
            last, line = runs[start], runs[start] + 1
            while line <= count:
                if bare[line]:
                    if self._next_content_lines[line] == line:
                        break
                    line = self._next_content_lines[line]
                entry = (
                    syntax == "yaml"
                    and not item
                    and indents[line] == indents[start]
                    and _YAML_LIST_ITEM_PATTERN.match(rows[line - 1])
                )
                if not (indents[line] > indents[start] or entry):
                    break
                last = max(lasts[line], runs[line])
                line = last + 1
            lasts[start] = last
        return lasts


def _digest_line_within_block(outer: str, text: str) -> str:
    """Return the digest of a line's text and, by the digest of that, of the block around it."""
    return blake2b(f"{outer}\n{text.strip()}".encode(), digest_size=16).hexdigest()


def _indent_width(row: str) -> int:
    return len(row) - len(row.lstrip())
