import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.report.quote import count_terminal_columns, fit_quoted_line
from nodrop.syntax.places import Span


def drawn(line: str, column: int, end_column: int, *, room: int = 60, lines: int = 1) -> list[str]:
    quoted = fit_quoted_line(line, Span(1, column, lines, end_column), room=room)
    return [quoted.text, " " * quoted.indent + "^" * quoted.length]


@pytest.mark.parametrize(
    ("line", "column", "end_column", "shown"),
    [
        ('  "mtu": 9216,', 3, 8, ['  "mtu": 9216,', "  ^^^^^"]),
        ('\t"mtu":\t9216', 2, 7, ['    "mtu":    9216', "    ^^^^^"]),
        ('"界界": 1', 1, 5, ['"界界": 1', "^^^^^^"]),
        ("e\u0301e: 1", 3, 4, ["e\u0301e: 1", " ^"]),
        ("a\x1bb: 1", 2, 3, [r"a\x1bb: 1", " ^^^^"]),
        ("no mtu   ", 1, 3, ["no mtu", "^^"]),
        ("empty", 3, 3, ["empty", "  ^"]),
        ("end", 4, 4, ["end", "   ^"]),
        ("past the end", 40, 44, ["past the end", "            ^"]),
        ("", 1, 1, ["", "^"]),
    ],
)
def test_the_span_is_underlined_as_it_is_shown(line: str, column: int, end_column: int, shown: list[str]) -> None:
    assert drawn(line, column, end_column) == shown


def test_of_a_span_over_several_lines_the_rest_of_the_first_is_underlined() -> None:
    assert drawn('"a": {   ', 1, 2, lines=3) == ['"a": {', "^^^^^^"]


LONG = "".join(f"{number:03}," for number in range(100))


@pytest.mark.parametrize(
    ("column", "end_column", "shown"),
    [
        (1, 4, ["000,001,002,003,004,005,006,...", "^^^"]),
        (201, 204, ["...,048,049,050,051,052,053,054...", "            ^^^"]),
        (393, 396, ["...093,094,095,096,097,098,099,", "                       ^^^"]),
        (201, 300, ["...,048,049,050,051,052,053,054...", "            ^^^^^^^^^^^^^^^^^^^"]),
    ],
)
def test_a_long_line_is_cut_around_the_span(column: int, end_column: int, shown: list[str]) -> None:
    assert drawn(LONG, column, end_column, room=34) == shown


def test_a_line_of_megabytes_costs_no_more_than_its_window() -> None:
    assert drawn("x" * 5_000_000, 2_500_000, 2_500_003, room=30) == ["..." + "x" * 24 + "...", " " * 11 + "^^^"]


@given(
    st.text(st.characters(exclude_categories=(), exclude_characters="\n\r"), max_size=200),
    st.integers(1, 220),
    st.integers(0, 220),
    st.integers(0, 90),
)
def test_a_quote_fits_and_underlines_something(line: str, column: int, length: int, room: int) -> None:
    quoted = fit_quoted_line(line, Span(1, column, 1, column + length), room=room)
    assert count_terminal_columns(quoted.text) <= max(room, 30)
    assert quoted.length >= 1
    assert quoted.indent + quoted.length <= max(room, 30) + 1
