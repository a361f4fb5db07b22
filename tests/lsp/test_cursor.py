"""Where a place is in YAML, finished or not: `|` is the place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.lsp.cursor import find_spot
from nodrop.resources import resource_folder

INTENT = (resource_folder("intents") / "two-by-two.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "is_key", "path", "word"),
    [
        ("|", True, (), ""),
        ("no|", True, (), "no"),
        ("a: 1\nb|\nc: 2", True, (), "b"),
        ("a:\n  |", True, ("a",), ""),
        ("a:\n  b: 1\n  |", True, ("a",), ""),
        ("a:\n  b: 1\n|", True, (), ""),
        ("a:\n  b:\n    c: 1\n  |\nd: 2", True, ("a",), ""),
        ("a:\n  b|c: 1", True, ("a",), "b"),
        ("a: |", False, ("a",), ""),
        ("a: x|", False, ("a",), "x"),
        ("a: x y|", False, ("a",), "x y"),
        ("a: {|", True, ("a",), ""),
        ("a: {b: 1, |}", True, ("a",), ""),
        ("a: {b: 1, c|", True, ("a",), "c"),
        ("a: {b: |}", False, ("a", "b"), ""),
        ("a: {b: x|, c: 1}", False, ("a", "b"), "x"),
        ("a: {b: {c: 1}, d: {e|", True, ("a", "d"), "e"),
        ("a: {b: [x, y|]}", False, ("a", "b", 1), "y"),
        ("a: [|", False, ("a", 0), ""),
        ("a:\n  - b: 1\n    |", True, ("a", 0), ""),
        ("a:\n  - b: 1\n  - c|", True, ("a", 1), "c"),
        ("a:\n  - {b: 1}\n  - {b: |", False, ("a", 1, "b"), ""),
        ("a:\n- b: 1\n- c: |", False, ("a", 1, "c"), ""),
        ("a: {b: 1\nc: |", False, ("c",), ""),
        ("a:\n  b: {c: 1,\n  d: |", False, ("a", "d"), ""),
        ("a:\n  b: {c: 1,\n      d: |", False, ("a", "b", "d"), ""),
        ("a: 'x: {'\nb|", True, (), "b"),
        ('a: "x: {"\nb: {c|', True, ("b",), "c"),
        ("a: {b: 'q, r', c|", True, ("a",), "c"),
        ("'a b':\n  c: |", False, ("a b", "c"), ""),
        ("a: 1 # b\nc|", True, (), "c"),
        ("a: {b: 1}  # {\nc|", True, (), "c"),
        ("a: x#y|", False, ("a",), "x#y"),
        ("a:\r\n  b: |\r\n", False, ("a", "b"), ""),
    ],
)
def test_places(text: str, is_key: bool, path: tuple[str | int, ...], word: str) -> None:
    at = text.index("|")
    found = find_spot(text.replace("|", "", 1), at)
    assert found is not None
    assert (found.is_key, found.path, found.word) == (is_key, path, word)
    assert text.replace("|", "", 1)[found.start : at] == word


@pytest.mark.parametrize("text", ["# a|", "a: 1 # b|", "a:\n  # b|", "a: {b: 1} # |", "a: {b: 1, # c|"])
def test_comments_are_no_place(text: str) -> None:
    assert find_spot(text.replace("|", ""), text.index("|")) is None


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("a: 1\n|\nb: {c: 1}\n", {"a": "1", "b": ""}),
        ("x: {a: 1, |, b: 'two', c: {d: 1}}", {"a": "1", "b": "two", "c": ""}),
        ("x:\n  a: 1\n  |\n  b:\n    c: 1\ny: 1", {"a": "1", "b": ""}),
        ("x: {a: 1, b|: 2}", {"a": "1"}),
        ("x: {a: 1, b: |}", {"a": "1"}),
    ],
)
def test_what_stands_beside(text: str, beside: dict[str, str]) -> None:
    found = find_spot(text.replace("|", "", 1), text.index("|"))
    assert found is not None
    assert found.beside == beside


@given(
    st.integers(0, len(INTENT)),
    st.integers(0, len(INTENT)),
    st.text(st.sampled_from("ab:{}[],-# \n\"'\t\r|>&*"), max_size=8),
)
def test_no_text_is_too_broken(cut: int, at: int, insert: str) -> None:
    text = INTENT[:cut] + insert + INTENT[cut + len(insert) :]
    found = find_spot(text, min(at, len(text)))
    assert found is None or 0 <= found.start <= min(at, len(text)) <= found.end <= len(text)
