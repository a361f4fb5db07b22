"""Nothing of a configuration is live in a comment on GitHub or GitLab: no mention, reference, link, emoji or command.

Both look for these in the text that Markdown shows, so that a backslash or an entity keeps none of them from being
found; they do not look into code. `live` finds what they would.
"""

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nodrop.report.escape import escape_markdown, escape_terminal

HOSTILE = (
    "@octocat",
    "@everyone/admins",
    "(@octocat)",
    "x@octocat.example",
    "bot@evil.example",
    "mailto:bot@evil.example",
    "\\@octocat",
    "`@octocat",
    "@octocat`",
    "`` @octocat",
    "`a` @octocat `b`",
    "a`b`@octocat",
    "`a`@octocat`b`",
    "`@a``@octocat`",
    "#1",
    "a#1",
    "GH-1",
    "gh-1",
    "user/repo#1",
    "user/repo@daff6b45cd5e",
    "daff6b45cd5e",
    "9cf22b1fafe7aa1f6d3a2b1c0d9e8f7a6b5c4d3e",
    "daff6b4...9cf22b1",
    "https://evil.example/?q=1",
    "HTTP://EVIL.EXAMPLE",
    "ftp://evil.example",
    "javascript://evil",
    "www.evil.example",
    "_www.evil.example/x",
    "x_www.evil.example",
    "WWW.EVIL.EXAMPLE",
    "[x](https://evil.example)",
    "[x](//evil.example)",
    "[x]: https://evil.example",
    "[x][y]",
    "![x](https://evil.example/pixel.png)",
    "<https://evil.example>",
    "<img src=//evil.example>",
    "<b>@octocat</b>",
    "<!-- @octocat -->",
    "<details><summary>x",
    "</details>",
    "&#64;octocat",
    "&commat;octocat",
    "!1",
    "group/project!1",
    "~label",
    '~"a label"',
    "~1",
    "%milestone",
    '%"a milestone"',
    "%1",
    "$1",
    "$`x`$",
    "&1",
    "^alert#1",
    "[vulnerability:1]",
    "[issue:1]",
    "*iteration:1",
    "[[wiki]]",
    "[[_TOC_]]",
    "[TOC]",
    ":tada:",
    "a:tada:b",
    "x.json:100:3",
    ":+1:",
    "/close",
    "/assign @octocat",
    "  /merge",
    "/lgtm",
    "JIRA-123",
    "# heading",
    "> quote",
    ">>>",
    "- [ ] task",
    "1. list",
    "```sh",
    "~~~",
    "***",
    "---",
    "===",
    "| a | b |",
    "::include{file=x}",
    "[^1]",
    "{+ added +}",
    "**bold** __bold__ _it_ ~~gone~~",
    "\\",
    "\\\\`@octocat`",
    "`\\`@octocat",
    "a\u200b@octocat",
    "@\u200boctocat",
    "＠octocat",
)
"""What a description, a name or a path of a file may hold."""

_LIVE = {
    "mention": r"@\w",
    "number": r"#\d",
    "of GitHub": r"(?i:\bgh-\d)",
    "commit": r"(?<![\w])[0-9a-fA-F]{7,64}(?![\w])",
    "address": r"(?i:[a-z][a-z0-9+.-]*://|www\.|mailto:|xmpp:)",
    "merge request": r"!\d",
    "label": r'~[\w"]',
    "milestone": r'%[\w"]',
    "snippet": r"\$\d",
    "epic": r"&\d",
    "alert": r"\^alert",
    "iteration": r"\*iteration:",
    "page": r"\[\[|\[\^?\w+\]",
    "item": r"\[\w+:",
    "tracker": r"\b[A-Z][A-Z0-9_]+-\d",
    "emoji": r":[A-Za-z0-9_+-]+:",
    "include": r"::\w",
    "math": r"\$$|^\$",
    "inline diff": r"\{[+-]|\[[+-]",
}
_BLOCKS = re.compile(
    r"\s*(#{1,6}(\s|$)|>|[-+*](\s|$)|\d{1,9}[.)](\s|$)|```[^`]*$|~~~|(=+|-+|([*_-]\s*){3,})\s*$|/\w|\|)"
)
_TICKS = re.compile(r"`+")


def shown(text: str) -> list[str]:
    """Return the texts between spans of code as a reader sees them: escapes and entities made good."""
    texts, at, kept = [], 0, ""
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text) and not text[at + 1].isalnum() and text[at + 1].isascii():
            kept += text[at + 1] if text[at + 1] != " " else "\\ "
            at += 2
        elif text[at] == "`":
            run = _TICKS.match(text, at)
            assert run is not None
            ends = next((one for one in _TICKS.finditer(text, run.end()) if one[0] == run[0]), None)
            if ends is None:
                kept += run[0]
                at = run.end()
            else:
                texts.append(kept)
                kept, at = "", ends.end()
        else:
            kept += text[at]
            at += 1
    return [html.unescape(one) for one in (*texts, kept)]


def live(text: str) -> list[str]:
    """Return the kinds of what either site would make of a line of Markdown, but for spans of code."""
    found = [kind for kind, form in _LIVE.items() if any(re.search(form, one) for one in shown(text))]
    bare = _bare(text)
    found += ["HTML"] if re.search(r"<[a-zA-Z/!?]", bare) else []
    found += ["markup"] if re.search(r"[*~]|(?<![^\W_])_|_(?![^\W_])|\]\(|\]\[|\]:|!\[", bare) else []
    return found + (["block"] if _BLOCKS.match(text) else [])


def _bare(text: str) -> str:
    """Return what is neither escaped nor code."""
    without = re.sub(r"(?<!\\)((?:\\\\)*)(`+)(?!`).*?(?<!`)\2(?!`)", r"\1 ", text)
    return re.sub(r"\\[^A-Za-z0-9\s]", " ", without)


def read(text: str) -> str:
    """Return a line of Markdown as it reads, code and all."""
    out, at = "", 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text) and not text[at + 1].isalnum() and text[at + 1].isascii():
            out += text[at + 1]
            at += 2
        elif text[at] == "`":
            run = _TICKS.match(text, at)
            assert run is not None
            ends = next((one for one in _TICKS.finditer(text, run.end()) if one[0] == run[0]), None)
            if ends is None:
                out, at = out + run[0], run.end()
            else:
                code = text[run.end() : ends.start()]
                padded = code.startswith(" ") and code.endswith(" ") and code.strip(" ")
                out, at = out + (code[1:-1] if padded else code), ends.end()
        else:
            out += text[at]
            at += 1
    return out


def plain(text: str) -> str:
    """Return a text without what marks code, to be compared with what was to be said."""
    return "".join(char for char in text if char not in "` ")


@pytest.mark.parametrize("cell", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("around", ["{}", "leaf1: {} is bad", "({})", "{}, {}.", '"{}"', "'{}':", "x{}"])
def test_what_a_configuration_holds_is_inert(text: str, around: str, cell: bool) -> None:
    said = around.format(text, text)
    made = escape_markdown(said, cell=cell)
    assert live(made) == []
    assert plain(read(made.replace("\\|", "|") if cell else made)) == plain(escape_terminal(" ".join(said.split())))


@pytest.mark.parametrize(
    "text",
    [
        "Ethernet0: PFC on priority 3, but no PFC watchdog",
        "no fix: `nv set interface swp1 qos pfc`, then 90% of 1,500 kB (leaf1/config_db.json:12)",
        "2001:db8 and 10.0.0.1/31 on Ethernet0-31",
        "leaf1 and spine2: 100 Gb/s",
    ],
)
def test_what_is_ordinary_stays_as_it_is(text: str) -> None:
    assert escape_markdown(text) == text


@given(
    st.lists(st.sampled_from([*HOSTILE, " ", " ", "a", "`", "\\", "x y", "|"]), max_size=8).map("".join), st.booleans()
)
@example("`a`@octocat`b`", False)
@example("\\`@octocat`", False)
def test_no_mixture_is_live(text: str, cell: bool) -> None:
    made = escape_markdown(text, cell=cell)
    assert live(made) == [], made
    assert "\n" not in made


@given(st.text(alphabet="@#!~%$&^[](){}<>:/*_-+=|`\\.,;\"' aG1fx\n", max_size=30), st.booleans())
def test_no_text_is_live(text: str, cell: bool) -> None:
    made = escape_markdown(text, cell=cell)
    assert live(made) == [], made
    assert not cell or not re.search(r"(?<!\\)\|", made)


def test_the_scanner_finds_what_is_live() -> None:
    """A scanner that finds nothing would pass anything."""
    harmless = ("`@a``@octocat`", "\\", "\\\\`@octocat`", "@\u200boctocat", "＠octocat")
    assert [text for text in HOSTILE if not live(text)] == list(harmless)
    for text in ("@octocat", "\\@octocat", "#1", "&#64;octocat", "www.x", ":tada:", "<b>", "/close", "**b**", "`a` @b"):
        assert live(text), text
    for text in ("`@octocat`", "`` `@octocat ``", "leaf1", "10 %"):
        assert live(text) == [], text
