import json
from unicodedata import category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nodrop.report.escape import escape_json_text, escape_lone_surrogates, escape_terminal
from nodrop.report.json import encode_json_document

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("\x00\x07\x7f", r"\x00\x07\x7f"),
        ("a\rb\tc\nd", r"a\rb\tc\nd"),
        ("leaf\u202e1\u2066", r"leaf\u202e1\u2066"),
        ("\u200e\u200f\u061c", r"\u200e\u200f\u061c"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("line\u2028para\u2029next\x85", r"line\u2028para\u2029next\x85"),
        ("\U000e0041", r"\U000e0041"),
        ("\udcff\ud800", r"\udcff\ud800"),
    ],
)
def test_what_steers_or_hides_is_written_out(text: str, shown: str) -> None:
    assert escape_terminal(text) == shown


@pytest.mark.parametrize(
    "text", ["", "leaf1", "Zürich 界 порт ²", "می‌خواهم", "👩‍💻", "e\u0301", "C:\\x1b\\new", "a\u00a0b"]
)
def test_ordinary_text_stays(text: str) -> None:
    assert escape_terminal(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::warning file=app.js,line=1::PWNED.json:1: x", "\\x3a:warning file=app.js,line=1::PWNED.json:1: x"),
        ("  ::add-mask::x", "  \\x3a:add-mask::x"),
        ("##[error]x", "\\x23#[error]x"),
        ("a ##vso[task.setvariable]x", "a \\x23#vso[task.setvariable]x"),
        ("::/0 via ::1", "::/0 via ::1"),
        ("a ::error::b", "a ::error::b"),
        ("## a heading", "## a heading"),
    ],
)
def test_no_line_is_a_command_to_a_ci(text: str, shown: str) -> None:
    assert escape_terminal(text) == shown
    assert escape_terminal(f"one\n{text}", lines=True) == f"one\n{shown}"


@given(st.text())
def test_json_of_any_text_means_the_same_and_shows_nothing_unseen(text: str) -> None:
    plain = json.dumps([text], ensure_ascii=False, indent=2)
    made = escape_json_text(plain)
    assert json.loads(made) == [text]
    assert escape_terminal(made.replace("\n", "")) == made.replace("\n", "") or "::" in made or "##" in made
    assert escape_json_text(made) == made


def test_reports_in_json_show_nothing_unseen() -> None:
    assert (
        encode_json_document({"name": "a\u202e\x9b\x7fé\u200d"})
        == b'{\n  "name": "a\\u202e\\u009b\\u007f\xc3\xa9\xe2\x80\x8d"\n}\n'
    )


def test_line_feeds_stay_only_where_they_are_asked_for() -> None:
    assert escape_terminal("one\r\ntwo", lines=True) == "one\\r\ntwo"


@given(ANY_TEXT, st.booleans())
@example("\x1b]0;title\x07", False)
def test_no_control_character_but_a_line_feed_gets_out(text: str, lines: bool) -> None:
    shown = escape_terminal(text, lines=lines)
    assert all(category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in shown.replace("\n", ""))
    assert lines or "\n" not in shown
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    shown.encode()


@given(ANY_TEXT, st.booleans())
def test_what_was_escaped_is_not_escaped_again(text: str, lines: bool) -> None:
    shown = escape_terminal(text, lines=lines)
    assert escape_terminal(shown, lines=lines) == shown


@given(ANY_TEXT)
@example("leaf\udcff")
def test_any_text_can_be_made_utf8(text: str) -> None:
    escape_lone_surrogates(text).encode()
    assert escape_lone_surrogates(escape_lone_surrogates(text)) == escape_lone_surrogates(text)


def test_only_lone_surrogates_are_replaced_for_utf8() -> None:
    assert escape_lone_surrogates("a\x1b\u202e界\udcff") == "a\x1b\u202e界\\udcff"
