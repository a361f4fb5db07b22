"""One value of a YAML text set: it says that then, and every other byte stays."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nodrop.errors import InputProblems
from nodrop.syntax.yaml import parse_yaml
from nodrop.syntax.yaml_set import set_yaml_value

TEXT = b"""\
# ours
a: 1   # one
b: {c: x, d: 'y'}  # in braces

e:
  f: on # a word
  g: [1, 2]
"""


@pytest.mark.parametrize(
    ("keys", "value", "old", "new"),
    [
        (("a",), 2, b"a: 1   # one", b"a: 2   # one"),
        (("b", "c"), "200ms", b"{c: x, d", b"{c: 200ms, d"),
        (("b", "d"), "z z", b"d: 'y'}", b'd: "z z"}'),
        (("b", "n"), True, b"d: 'y'}", b"d: 'y', n: true}"),
        (("e", "f"), "off: #", b"f: on # a word", b'f: "off: #" # a word'),
        (("e", "f"), "true", b"f: on #", b'f: "true" #'),
        (("e", "f"), False, b"f: on #", b"f: false #"),
        (("e", "g"), [3], b"[1, 2]", b"[3]"),
        (("e", "h", "i"), 5, b"  g: [1, 2]\n", b"  g: [1, 2]\n  h:\n    i: 5\n"),
        (("n",), "x", b"  g: [1, 2]\n", b"  g: [1, 2]\nn: x\n"),
        (("b", "c"), None, b"{c: x, d", b"{d"),
    ],
)
def test_a_value_is_set_and_nothing_else(keys: tuple[str, ...], value: object, old: bytes, new: bytes) -> None:
    assert set_yaml_value(TEXT, keys, value) == TEXT.replace(old, new)


def test_a_byte_order_mark_and_line_ends_stay() -> None:
    raw = b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n")
    assert set_yaml_value(raw, ("a",), 2) == raw.replace(b"a: 1", b"a: 2")
    assert b"\r\n  h: 1\r\n" in set_yaml_value(raw, ("e", "h"), 1)


@pytest.mark.parametrize("raw", [b"a: &x {b: 1}\nc: *x\n", b"a: &x 1\nc: *x\n"])
def test_what_stands_for_several_values_is_not_set_alone(raw: bytes) -> None:
    with pytest.raises(ValueError, match="several values"):
        set_yaml_value(raw, ("a", "b") if b"{" in raw else ("a",), 2)


def test_what_has_no_keys_gets_none() -> None:
    with pytest.raises(ValueError, match="c would be a key below a value that has no keys"):
        set_yaml_value(b"a: 1\n", ("a", "c"), 2)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_text_comes_back_as_it_was(text: str) -> None:
    assume(is_said(text))
    assert parse_yaml(set_yaml_value(TEXT, ("b", "c"), text), "").data["b"]["c"] == text


def is_said(text: str) -> bool:
    """Whether YAML can hold a text: some characters it cannot, however they are spelt."""
    try:
        return bool(parse_yaml(f"a: {json.dumps(text, ensure_ascii=False)}", "").data["a"] == text)
    except InputProblems:
        return False
