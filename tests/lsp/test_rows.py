"""Positions of the protocol and offsets of a text, each worked out from the other by somebody else's encoder."""

from hypothesis import given
from hypothesis import strategies as st

from nodrop.lsp.rows import EditorLines, PositionEncoding
from nodrop.syntax.places import BYTE_ORDER_MARK, Lines, Span

TEXTS = st.text(st.sampled_from("ab{: é𝄞\u2028\x0b\x85\t\r\n"), max_size=40)
ENCODINGS: tuple[PositionEncoding, ...] = ("utf-8", "utf-16", "utf-32")
BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_every_offset_has_a_position_that_leads_back(text: str, encoding: PositionEncoding) -> None:
    rows = EditorLines(text, encoding)
    assert "".join(rows.lines) == text
    codec, width = BYTES[encoding]
    for offset in range(len(text) + 1):
        line, column = rows.position(offset)
        before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
        inside = text[offset - 1 : offset + 1] == "\r\n"
        if not inside:
            assert line == before.count("\n")
            assert column == len(before.rpartition("\n")[2].encode(codec)) // width
            assert rows.offset((line, column)) == offset


@given(TEXTS, st.sampled_from(ENCODINGS), st.integers(0, 9), st.integers(0, 99))
def test_any_position_is_brought_into_the_text(text: str, encoding: PositionEncoding, line: int, column: int) -> None:
    rows = EditorLines(text, encoding)
    offset = rows.offset((line, column))
    assert 0 <= offset <= len(text)
    assert rows.position(offset)[0] == min(line, len(rows.lines) - 1)


@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_spans_of_the_readers_are_ranges(text: str, encoding: PositionEncoding, data: st.DataObject) -> None:
    rows, lines = EditorLines(text, encoding), Lines(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if any(text[at - 1 : at + 1] == "\r\n" for at in (start, end)):
        return
    found = rows.range(lines.span(start, end))
    assert found[0] == rows.position(start)
    assert found[1] == rows.position(end) or (start == end and found[1] >= found[0])


def test_a_byte_order_mark_is_no_column_of_readers() -> None:
    assert EditorLines(f"{BYTE_ORDER_MARK}ab\nab").range(Span(1, 1, 1, 2)) == ((0, 1), (0, 2))
    assert EditorLines(f"{BYTE_ORDER_MARK}ab\nab").range(Span(2, 1, 2, 2)) == ((1, 0), (1, 1))


def test_a_column_inside_of_a_character_is_before_it() -> None:
    assert [EditorLines("a𝄞b", "utf-16").offset((0, column)) for column in range(5)] == [0, 1, 1, 2, 3]
    assert [EditorLines("é", "utf-8").offset((0, column)) for column in range(3)] == [0, 0, 1]
