"""What may not reach a reader as it stands, one function per output format (contract 9.20)."""

import json
import re
from collections.abc import Iterable
from unicodedata import category

_CI_COMMAND_PATTERN = re.compile(
    r"^([^\S\n]*+):(?=:[a-z][a-z-]*(?:\s[^\n]*)?::)|#(?=#(?:vso)?\[)", re.MULTILINE | re.IGNORECASE
)
"""Where a line becomes a command of GitHub's runner, `::error …::`, also behind spaces, or one of Azure's or GitHub's,
`##vso[…` or `##[…`, wherever it is (actions/runner, src/Runner.Common/ActionCommand.cs).
"""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ZERO_WIDTH_JOINERS = "\u200c\u200d"
_FORMULA_PREFIXES = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""With what a spreadsheet begins a formula; some take the wide forms too."""


def escape_terminal(raw_text: str, *, lines: bool = False) -> str:
    r"""Return text that can neither steer a terminal nor hide: unseen characters are written as `\x1b` or `\u202e`.

    Unseen are control characters, formatting characters (bidi overrides, zero-width spaces), separators of lines and
    lone surrogates. The two joiners stay, since words and emoji are written with them. Line feeds stay with `lines`.
    The result contains nothing that would be written out again. Nor is any line a command to a CI:
    `_CI_COMMAND_PATTERN`.
    """
    if not raw_text.isprintable():
        allowed_chars = "\n" if lines else ""
        raw_text = "".join(
            char if char in allowed_chars or _is_visible(char) else _python_escape_of_char(char) for char in raw_text
        )
    if "::" in raw_text or "##" in raw_text:
        raw_text = _CI_COMMAND_PATTERN.sub(lambda match: f"{match[1] or ''}\\x{ord(match[0][-1]):x}", raw_text)
    return raw_text


def escape_json_text(raw_text: str) -> str:
    r"""Return JSON with unseen characters (see `escape_terminal`) written as `\u202e`, which means the same."""
    if raw_text.isascii() and "\x7f" not in raw_text:
        return raw_text
    lines = (
        line if line.isprintable() else "".join(map(_json_escape_if_invisible, line)) for line in raw_text.split("\n")
    )
    return "\n".join(lines)


def escape_csv_cell(raw_text: str) -> str:
    """Return text as a cell of a CSV file that no spreadsheet takes for a formula: those begin with one of `= + - @`.

    Unseen characters are written out, tabs and line breaks too; a quote in front makes the rest a text.
    """
    if raw_text[:1].isalnum() and raw_text.isprintable():  # as nearly all of some hundred thousand cells of a pod are
        return raw_text
    seen = escape_terminal(raw_text)
    return f"'{seen}" if seen.lstrip().startswith(_FORMULA_PREFIXES) else seen


_CODE_OR_ADDRESS_PATTERN = re.compile(r"(?<!`)(`[^`]+`)(?!`)|(https?://[^\s<>`|]+)")
"""What keeps its meaning in prose: a span of code, and an address."""
_MARKDOWN_MARKS_PATTERN = re.compile(r"[\\`*\[\]<>~$|]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w)")
_MARKDOWN_BLOCK_START_PATTERN = re.compile(r"([0-9]{1,9})([.)])(?=\s|$)|([#+=>-])")
"""What makes a line a heading, a list, a quotation or an underline where it begins with it."""
_MARKDOWN_WORD_PATTERN = re.compile(r"(?:(?<!`)`[^`]+`(?!`)|\S)+")
"""What stands between spaces, with the spans of code in it."""
_CODE_SPAN_PATTERN = re.compile(r"(?<!`)`[^`]+`(?!`)")
_BEFORE, _AFTER = "('\"", ".,;:!?)'\""
"""What stands around a word, which is no part of it."""
_CODE_HOST_MARKUP_PATTERN = re.compile(
    r"""
    [@＠\#^$~`\\]                      # mentions, numbers, labels, snippets, math, alerts
    |\[(\[|[\^+-]|\w+[:\]])            # [[page]], [^1], [+ added +], [issue:1], [TOC]
    |[%!&][\w"]|&\#                     # %milestone, !1, &1
    |^/|::\w|\{[+-]                     # /close, ::include, {+ added +}
    |\*\w+:|:[\w+-]+:                   # *iteration:1, :tada:
    |(?i:[a-z][a-z0-9+.-]{0,40}:/|www\.|mailto:|xmpp:|gh-\d)
    |\b[A-Z][A-Z0-9_]+-\d               # JIRA-123
    |(?<!\w)[0-9a-fA-F]{7,64}(?!\w)     # commits
    """,
    re.VERBOSE,
)
"""What GitHub or GitLab makes something of that Markdown does not: they look for it in all text that is no code.

Neither an escape nor an entity keeps them from it (docs.github.com "Autolinked references and URLs" and "Basic writing
and formatting syntax"; docs.gitlab.com "GitLab Flavored Markdown" and "GitLab quick actions").
"""


def escape_markdown(raw_text: str, *, cell: bool = False) -> str:
    """Return text, from any author, as one line of Markdown where nothing is live on GitHub or GitLab.

    It is neither markup nor HTML, nor a second column. A word that would be a mention, a reference, an address, an
    emoji or a command becomes code, as a whole. Spans of code between single backticks stay. With `escape_csv_cell`,
    it is part of a row of a table.
    """
    line = escape_terminal(" ".join(raw_text.split()))
    new_line = "".join(
        _escape_word(piece, cell=cell) for piece in re.split(rf"({_MARKDOWN_WORD_PATTERN.pattern})", line)
    )
    return _escape_block_markup_at_line_start(new_line)


def format_nodrop_text_as_markdown(raw_text: str, *, cell: bool = False) -> str:
    """Text that is nodrop's own as one line of Markdown, as it was written; addresses in it are links."""
    pieces = _CODE_OR_ADDRESS_PATTERN.split(escape_terminal(" ".join(raw_text.split())))
    return _escape_block_markup_at_line_start(
        "".join(_escape_text_code_or_address(piece, at % 3, cell=cell) for at, piece in enumerate(pieces) if piece)
    )


def _escape_block_markup_at_line_start(line: str) -> str:
    """Return a line of Markdown that is no heading, list, quotation or underline."""
    opening = _MARKDOWN_BLOCK_START_PATTERN.match(line)
    if opening is None:
        return line
    number = opening[1] or ""
    return f"{number}\\{line[len(number) :]}"


def _escape_word(word: str, *, cell: bool) -> str:
    """Return a word, or the space between two, with nothing live in it."""
    pieces = re.split(rf"({_CODE_SPAN_PATTERN.pattern})", word)
    if not _CODE_HOST_MARKUP_PATTERN.search(" ".join(pieces[::2])):
        return "".join(_escape_text_code_or_address(piece, at % 2, cell=cell) for at, piece in enumerate(pieces))
    inside = word.lstrip(_BEFORE)
    body = inside.rstrip(_AFTER)
    before, after = word[: len(word) - len(inside)], inside[len(body) :]
    if not body:
        before, body, after = "", word, ""
    return f"{before}{_escape_text_code_or_address(_format_code_span(body), 1, cell=cell)}{after}"


def _format_code_span(text: str) -> str:
    """Return text as a span of code, with any backticks in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{room}{text}{room}{fence}"


def _escape_text_code_or_address(text: str, kind: int, *, cell: bool) -> str:
    """Plain text (0), code (1) or an address (2): in a row of a table a bar parts columns also within code."""
    if kind == 0:
        return _MARKDOWN_MARKS_PATTERN.sub(lambda match: f"\\{match[0]}", text)
    if kind == 1:
        return text.replace("|", "\\|") if cell else text
    address = text.rstrip(".,;:!?')\"")
    return f"<{address}>{_escape_text_code_or_address(text[len(address) :], 0, cell=cell)}"


def escape_html(raw_text: str) -> str:
    """Return text as HTML shows it, also inside Markdown: any character that could be markup in either is an entity."""
    seen = escape_terminal(" ".join(raw_text.split()))
    return "".join(char if char.isalnum() or char in " .,:-/()" else f"&#{ord(char)};" for char in seen)


def fence_code_block(lines: Iterable[str], language: str = "") -> list[str]:
    """Lines as a block of code in Markdown, which no line of it can end."""
    shown = [escape_terminal(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *shown, fence]


def escape_github_command_message(raw_text: str) -> str:
    """Text as the message of a workflow command of GitHub, which a line feed would end and begin another one."""
    safe_text = escape_terminal(raw_text, lines=True)
    return safe_text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_github_command_property(raw_text: str) -> str:
    """Text as the value of a property of a workflow command, which a colon or a comma would end."""
    return escape_github_command_message(raw_text).replace(":", "%3A").replace(",", "%2C")


def escape_lone_surrogates(raw_text: str) -> str:
    r"""Text that UTF-8 can hold: a lone surrogate, which an undecodable byte of a file name becomes, is `\udcff`."""
    return raw_text.encode("utf-8", "backslashreplace").decode()


def _is_visible(char: str) -> bool:
    return char in _ZERO_WIDTH_JOINERS or not (category(char) in _INVISIBLE_CATEGORIES or _is_noncharacter(ord(char)))


def _is_noncharacter(point: int) -> bool:
    """Whether a code point is none of a character, and no text of XML (Unicode 23.7; XML 1.0, 2.2)."""
    return point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF


def _json_escape_if_invisible(char: str) -> str:
    return char if _is_visible(char) else json.dumps(char)[1:-1].replace("\x7f", r"\u007f")


def _python_escape_of_char(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
