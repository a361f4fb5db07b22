"""A line of a file as a terminal shows it, and which of its columns to underline."""

from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import category, east_asian_width

from nodrop.report.escape import escape_terminal
from nodrop.syntax.places import Span

_TAB_SPACES = "    "
_ELLIPSIS = "..."
_MIN_QUOTE_COLUMNS = 30


class QuotedLine(NamedTuple):
    """The line as shown, how many columns stand before the span, and how many it takes, at least one."""

    text: str
    indent: int
    length: int


def fit_quoted_line(line: str, span: Span, *, room: int) -> QuotedLine:
    """Show the section of `line` that fits into `room` columns around the beginning of `span`.

    Tabs are four columns, wide characters two, combining ones none. If a span has several lines, the first line counts.
    """
    line = line.rstrip()
    start = min(span.column - 1, len(line))
    stop = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line)
    left, right = _visible_range(line, start, max(room, _MIN_QUOTE_COLUMNS))
    before, after = _ELLIPSIS if left else "", _ELLIPSIS if right < len(line) else ""
    length = count_terminal_columns(line[start : min(stop, right)])
    return QuotedLine(
        before + _expand_tabs_and_escape(line[left:right]) + after,
        len(before) + count_terminal_columns(line[left:start]),
        max(1, length),
    )


def count_terminal_columns(shown_text: str) -> int:
    """How many columns a terminal gives to `shown_text` as it is shown here."""
    return sum(map(_char_columns, shown_text))


def _visible_range(line: str, start: int, room: int) -> tuple[int, int]:
    """Return the part of the line to show: a third of the room before `start`, or all that the rest leaves."""
    if len(line) <= 2 * room and count_terminal_columns(line) <= room:
        return 0, len(line)
    room -= 2 * len(_ELLIPSIS)
    before = line[max(0, start - room) : start]
    left_edge = start - _count_fitting_chars(reversed(before), room // 3)
    right = start + _count_fitting_chars(
        line[start : start + room], room - count_terminal_columns(line[left_edge:start])
    )
    left_edge = start - _count_fitting_chars(reversed(before), room - count_terminal_columns(line[start:right]))
    return left_edge, right


def _count_fitting_chars(chars: Iterable[str], room: int) -> int:
    number = 0
    for char in chars:
        room -= _char_columns(char)
        if room < 0:
            break
        number += 1
    return number


def _expand_tabs_and_escape(shown_text: str) -> str:
    return escape_terminal(shown_text.replace("\t", _TAB_SPACES))


def _char_columns(char: str) -> int:
    if " " <= char <= "~":
        return 1
    return sum(_display_width(shown) for shown in _expand_tabs_and_escape(char))


def _display_width(char: str) -> int:
    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1
