"""Tables for a terminal: aligned columns, and cells of words wrapped where a row would be too wide."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from nodrop.report.escape import escape_terminal

TABLE_WIDTH_CHARACTERS = 100
_MIN_COLUMN_CHARACTERS = 12
_COLUMN_GAP = "  "


def wrap_text(
    shown_text: str, indent: str = "", later_indent: str | None = None, *, width: int = TABLE_WIDTH_CHARACTERS
) -> list[str]:
    """Return a text in lines, escaped, the later ones behind `later_indent`, or `indent` too; no word is broken."""
    return textwrap.wrap(
        escape_terminal(shown_text),
        width,
        initial_indent=indent,
        subsequent_indent=indent if later_indent is None else later_indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def format_table(title: str, column_heads: Sequence[str], table_rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a title and a table below it; nothing where there are no rows.

    Lines stay within 100 columns as long as there are cells of several words to wrap.
    """
    table = [[escape_terminal(cell) for cell in row] for row in (column_heads, *table_rows)]
    if len(table) == 1:
        return
    yield escape_terminal(title)
    widths = _column_widths(table)
    for row in table:
        cells = [
            textwrap.wrap(cell, width, break_long_words=False) or [""] for cell, width in zip(row, widths, strict=True)
        ]
        for number in range(max(map(len, cells))):
            line = (cell[number] if number < len(cell) else "" for cell in cells)
            cells_of_line = (fragment.ljust(width) for fragment, width in zip(line, widths, strict=True))
            yield f"{_COLUMN_GAP}{_COLUMN_GAP.join(cells_of_line)}".rstrip()


def _column_widths(table: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column: that of its longest cell, the widest of them narrowed until a row fits."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    least = [
        max([_MIN_COLUMN_CHARACTERS, *(len(word) for cell in column for word in cell.split())])
        for column in zip(*table, strict=True)
    ]
    excess = sum(widths) + len(_COLUMN_GAP) * len(widths) - TABLE_WIDTH_CHARACTERS
    while excess > 0:
        spare = [
            (width - lowest, width, place) for place, (width, lowest) in enumerate(zip(widths, least, strict=True))
        ]
        most, _, place = max(spare, key=lambda slack: (slack[1] if slack[0] > 0 else 0, slack[0]))
        if most <= 0:
            break
        widths[place] -= 1
        excess -= 1
    return widths
