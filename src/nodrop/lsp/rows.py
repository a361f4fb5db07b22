"""The lines of a text as editors count them: from 0, columns in the units of the encoding that was agreed on."""

import io
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Literal

from nodrop.syntax.places import BYTE_ORDER_MARK, Span

PositionEncoding = Literal["utf-8", "utf-16", "utf-32"]
Position = tuple[int, int]
"""Line and column, from 0, in units of the encoding."""
Range = tuple[Position, Position]


class EditorLines:
    """A text by its lines; LF, CR LF and a lone CR end one, nothing else. Any position is brought into the text."""

    def __init__(self, text: str, encoding: PositionEncoding = "utf-16") -> None:
        """Take a text apart; `encoding` defines the unit of columns: bytes, UTF-16 code units, or code points."""
        self.text, self.encoding = text, encoding
        self.lines = list(io.StringIO(text, newline=""))
        if not self.lines or self.lines[-1].endswith(("\n", "\r")):
            self.lines.append("")

    @cached_property
    def _line_start_offsets(self) -> list[int]:
        return [0, *accumulate(map(len, self.lines))]

    def line(self, number: int) -> str:
        """Return a line without what ends it; the last for a number beyond it."""
        return self.lines[min(max(number, 0), len(self.lines) - 1)].rstrip("\r\n")

    def offset(self, position: Position) -> int:
        """Return how many code points stand before a position; one beyond a line's end is that end."""
        number, column = position
        if number >= len(self.lines):
            return len(self.text)
        line = self.line(number)
        return self._line_start_offsets[number] + (
            min(column, len(line)) if line.isascii() else self._code_points_before(line, column)
        )

    def position(self, offset: int) -> Position:
        """Return the position behind so many code points."""
        offset = min(max(offset, 0), len(self.text))
        number = min(bisect_right(self._line_start_offsets, offset), len(self.lines)) - 1
        return number, self._count_encoding_units(self.lines[number][: offset - self._line_start_offsets[number]])

    def range(self, span: Span) -> Range:
        """Return the range of a span, which is never empty where there is a character to mark."""
        start, end = self._position_of(span.line, span.column), self._position_of(span.end_line, span.end_column)
        return (start, end) if end > start else (start, self._position_of(span.line, span.column + 1))

    def visible_range_of_line(self, number: int) -> Range:
        """Return the range of a line from its first visible character on."""
        line = self.line(number)
        number = min(max(number, 0), len(self.lines) - 1)
        blank = len(line) - len(line.lstrip())
        return (number, self._count_encoding_units(line[:blank])), (number, self._count_encoding_units(line))

    def _position_of(self, line: int, column: int) -> Position:
        """Return the position of a line and column from 1, in code points, the byte order mark not counted."""
        number = min(line, len(self.lines)) - 1
        mark = number == 0 and self.text.startswith(BYTE_ORDER_MARK)
        return number, self._count_encoding_units(self.line(number)[: column - 1 + mark])

    def _count_encoding_units(self, text: str) -> int:
        if text.isascii() or self.encoding == "utf-32":
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)

    def _code_points_before(self, line: str, column: int) -> int:
        """Return how many code points of a line are before a column; a column inside of one is before it."""
        if self.encoding == "utf-32":
            return min(column, len(line))
        width = 0
        for number, char in enumerate(line):
            width += self._count_encoding_units(char)
            if width > column:
                return number
        return len(line)


def encode_text(document_text: str) -> bytes:
    """Return the bytes of a text as a file would have them; half a surrogate pair, which no file holds, is replaced."""
    return document_text.encode("utf-8", "replace")
