"""Settings that remain of a list of commands after `net del` has taken some back."""

from collections.abc import Callable, Sequence
from typing import TypeVar

_Row = TypeVar("_Row")


def drop_deleted_rows(
    table_rows: Sequence[_Row], gone: Sequence[tuple[int, str]], text: Callable[[_Row], str]
) -> list[_Row]:
    """Return the rows that no later deletion begins; `gone` has the number of rows before each, and its words."""
    kept_rows: list[_Row] = []
    later: set[str] = set()
    cuts = list(gone)
    for position in range(len(table_rows) - 1, -1, -1):
        while cuts and cuts[-1][0] > position:
            later.add(cuts.pop()[1])
        words = text(table_rows[position]).split(" ") if later else []
        if not any(" ".join(words[:length]) in later for length in range(1, len(words) + 1)):
            kept_rows.append(table_rows[position])
    return kept_rows[::-1]
