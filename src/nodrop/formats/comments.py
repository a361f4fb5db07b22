"""Comments that speak to nodrop, `# nodrop: …`, in texts of several kinds, each with the lines that it is about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import ScalarEvent

from nodrop.formats import frr, nvset
from nodrop.formats.places import BOM
from nodrop.formats.yaml import events

Syntax = Literal["yaml", "shell", "lines", "frr"]
"""How a text has comments: with `#` before or behind anything; so, but quotes as in a shell; on lines of their own,
with `#` or `!`; so, with the blocks of FRR.
"""

_MARK = b"nodrop:"
_SPOKEN = re.compile(r"(?:^|(?<=\s))[#!]+[ \t]*(nodrop:[^\r\n]*)", re.MULTILINE | re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]")
_QUOTED = re.compile(r"""(?:[^'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*""")


@dataclass(frozen=True, slots=True)
class Comment:
    """What a comment says from `nodrop:` on, where that begins, and the first and last line that it is about."""

    text: str
    line: int
    column: int
    lines: tuple[int, int]
    misplaced: bool = False
    """Whether it stands behind a command in a text that has comments only on lines of their own."""


def comments(raw: bytes, syntax: Syntax) -> list[Comment]:
    """Return the comments that speak to nodrop, in their order; there are none in JSON, nor in what is no UTF-8.

    A comment behind something is about that line, and all that is indented below it. One that has a line for itself
    is about the next line that is neither empty nor a comment, in the same way; of FRR, a block by its commands.
    """
    if _MARK not in raw or _JSON.match(raw):
        return []
    try:
        text = raw.decode().removeprefix(BOM)
    except UnicodeDecodeError:
        return []
    if syntax == "yaml" and nvset.detect(raw):
        syntax = "shell"
    found = [spoken for spoken in _SPOKEN.finditer(text) if spoken[0][0] == "#" or syntax in ("lines", "frr")]
    if not found:
        return []
    quoted = list(_scalars(text)) if syntax == "yaml" else []
    rows = _LINE_END.split(text)
    return [
        _comment(spoken, text, rows, syntax)
        for spoken in found
        if _stands(spoken, text, syntax) and not any(start <= spoken.start() < end for start, end in quoted)
    ]


def _scalars(text: str) -> Iterator[tuple[int, int]]:
    """Where texts in quotes and blocks of text begin and end; a text that is no YAML has none that count."""
    try:
        for event in events(text):
            if type(event) is ScalarEvent and not event.implicit[0]:
                yield event.start_mark.index, event.end_mark.index
    except YAMLError:
        return


def _stands(spoken: re.Match[str], text: str, syntax: Syntax) -> bool:
    """Whether what looks like a comment is not within quotes, as far as its line shows."""
    if syntax != "shell":
        return True
    before = text[text.rfind("\n", 0, spoken.start()) + 1 : spoken.start()]
    return _QUOTED.fullmatch(before) is not None


def _comment(spoken: re.Match[str], text: str, rows: Sequence[str], syntax: Syntax) -> Comment:
    line = len(_LINE_END.findall(text, 0, spoken.start())) + 1
    begin = max(text.rfind("\n", 0, spoken.start()), text.rfind("\r", 0, spoken.start())) + 1
    alone = not text[begin : spoken.start()].strip()
    first = _next(rows, line, syntax) if alone else line
    return Comment(
        text=spoken[1].rstrip(),
        line=line,
        column=spoken.start(1) - begin + 1,
        lines=(first, _last(rows, first, syntax)),
        misplaced=not alone and syntax in ("lines", "frr"),
    )


def _bare(row: str, syntax: Syntax) -> bool:
    """Whether a line says nothing: it is empty, or a comment."""
    return not row.strip() or row.lstrip().startswith(("#", "!") if syntax in ("lines", "frr") else "#")


def _next(rows: Sequence[str], line: int, syntax: Syntax) -> int:
    """The first line below one that says something; the line itself where there is none."""
    below = (number for number in range(line + 1, len(rows) + 1) if not _bare(rows[number - 1], syntax))
    return next(below, line)


def _last(rows: Sequence[str], first: int, syntax: Syntax) -> int:
    """The last line of what begins in a line."""
    if syntax == "frr":
        stated = next((one for _, one in frr.walk(frr.parse("\n".join(rows))) if one.line == first), None)
        return max((one.line for _, one in frr.walk([stated])), default=first) if stated else first
    begin = rows[first - 1]
    indent, item = _indent(begin), begin.lstrip().startswith("- ")
    last = first
    for number in range(first + 1, len(rows) + 1):
        row = rows[number - 1]
        continued = syntax == "shell" and rows[number - 2].endswith("\\")
        if _bare(row, syntax) and not continued:
            continue
        entry = syntax == "yaml" and not item and _indent(row) == indent and re.match(r"\s*-(?:\s|$)", row)
        if not (_indent(row) > indent or continued or entry):
            break
        last = number
    return last


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())
