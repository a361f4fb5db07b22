"""Unified diffs: applied, they give the new text; lines with a secret are never among their context."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nodrop.report.difference import color_diff, format_diff
from nodrop.results.fixed import RewrittenFile

lines = st.lists(st.sampled_from(["a", "b", "c", "", "}", "-- x", "+y", "\\ z"]), max_size=12)


def rewritten(old: str, new: str, hidden: frozenset[int] = frozenset(), display: str = "f") -> RewrittenFile:
    return RewrittenFile(
        device="leaf1",
        name="f",
        display=display,
        path=Path("f"),
        old=old.encode("utf-8", "surrogateescape"),
        new=new.encode("utf-8", "surrogateescape"),
        hidden=hidden,
    )


def applied(text: str, patch: str) -> str:
    """Apply a diff as `patch` does, without fuzz."""
    old = re.findall(r"[^\n]*\n|[^\n]+", text)
    out: list[str] = []
    at = 0
    for line, bare in re.findall(r"([^\n]*\n)(\\ No newline at end of file\n)?", patch)[2:]:
        said = line[1:].removesuffix("\n") if bare else line[1:]
        if head := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n", line):
            start = int(head[1]) - (head[2] != "0")
            out += old[at:start]
            at = start
            continue
        if line[0] in " -":
            assert old[at] == said
            at += 1
        if line[0] in " +":
            out.append(said)
    return "".join([*out, *old[at:]])


@given(lines, lines, st.booleans(), st.booleans())
def test_a_diff_leads_from_the_old_text_to_the_new_one(
    before: list[str], now: list[str], closed: bool, ends: bool
) -> None:
    old = "".join(f"{line}\n" for line in before) + ("" if closed else "end")
    new = "".join(f"{line}\n" for line in now) + ("" if ends else "end")
    assert applied(old, format_diff(rewritten(old, new))) == new


@given(st.lists(st.sampled_from("abc"), min_size=8, max_size=20), st.data())
def test_no_hidden_line_is_context(before: list[str], data: st.DataObject) -> None:
    hidden = data.draw(st.integers(1, len(before)))
    changed = data.draw(st.integers(1, len(before)).filter(lambda at: at != hidden))
    named = [f"secret {line}" if at == hidden else line for at, line in enumerate(before, 1)]
    now = [f"new {line}" if at == changed else line for at, line in enumerate(named, 1)]
    old, new = "\n".join(named) + "\n", "\n".join(now) + "\n"
    text = format_diff(rewritten(old, new, frozenset({hidden})))
    assert "secret" not in text
    assert applied(old, text) == new


def test_a_change_of_a_hidden_line_is_left_out_and_said() -> None:
    old = "".join(f"{at}\n" for at in range(1, 21))
    new = old.replace("5\n", "five\n", 1).replace("\n15\n", "\nfifteen\n")
    text = format_diff(rewritten(old, new, frozenset({5})))
    assert text.startswith("# f: changes of lines that hold a secret are not shown\n--- f\n")
    assert "-15\n+fifteen\n" in text
    assert "five" not in text
    like = '{"a": 1, "passkey": "x"}\n'
    assert (
        format_diff(rewritten(like, like.replace("1", "2")))
        == "# f: changes of lines that hold a secret are not shown\n"
    )


def test_context_and_counts_are_those_of_a_unified_diff() -> None:
    old = "".join(f"{at}\n" for at in range(1, 11))
    assert format_diff(rewritten(old, old.replace("5\n", "five\n"))) == (
        "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )
    assert format_diff(rewritten("", "a\n")) == "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n"
    assert format_diff(rewritten(old, old)) == ""


def test_what_is_no_utf_8_and_carriage_returns_stay() -> None:
    text = format_diff(rewritten("a\udcff\r\nb\r\n", "a\udcff\r\nc\r\n"))
    assert text.encode("utf-8", "surrogateescape") == b"--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\xff\r\n-b\r\n+c\r\n"


def test_a_terminal_is_not_steered() -> None:
    text = color_diff(format_diff(rewritten("a\x1b[2J\n", "b\u202e\n", display="f\x1b[2J\nx")))
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert "\x1b[31m-a\\x1b[2J\x1b[0m\n" in text
