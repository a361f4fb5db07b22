"""Lines of `nv set` and `nv unset` as a shell reads them: words with their places.

Quotes, comments and continued lines follow POSIX sh as far as such files go (2.2 Quoting); nothing is expanded.
"""

import re
from dataclasses import dataclass
from typing import Literal

from nodrop.formats.places import Lines, Span

_TOKEN = re.compile(
    r"(?P<skip>[ \t\r]+|\\\r?\n)"
    r"|(?P<end>\n|;|&&)"
    r"|(?P<comment>#[^\n]*)"
    r"|(?P<word>(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\[^\n]|[^\s'\"\\;&]|&(?!&)|['\"](?=[^'\"]*\Z))+)",
    re.DOTALL,
)
_PIECE = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)|(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`])")
_SET_NOTHING = frozenset({"action", "config", "list-commands", "show"})
_BEGINS = re.compile(rb"^[ \t]*nv[ \t]+(?:un)?set[ \t]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Command:
    """One `set` or `unset`: the words after it, what each stands for, and where it is."""

    verb: Literal["set", "unset"]
    words: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """All that a file commands, in its order; `others` are lines with other commands: (line, text)."""

    commands: tuple[Command, ...]
    others: tuple[tuple[int, str], ...]


def detect(head: bytes) -> bool:
    """Whether a text that begins so has such lines."""
    return bool(_BEGINS.search(head))


def parse(text: str) -> Script:
    """Read the commands; `nv config` and other verbs that are known to set nothing are passed over."""
    lines = Lines(text)
    commands: list[Command] = []
    others: list[tuple[int, str]] = []
    words: list[tuple[str, int, int]] = []
    at = 0
    while at <= len(text):
        token = _TOKEN.match(text, at)
        if token is None or token["end"] is not None:
            _take(words, lines, commands, others)
            words = []
        elif token["word"] is not None:
            words.append((_meant(token["word"]), token.start(), token.end()))
        at = max(token.end() if token else 0, at + 1)
    return Script(tuple(commands), tuple(others))


def _take(
    words: list[tuple[str, int, int]], lines: Lines, commands: list[Command], others: list[tuple[int, str]]
) -> None:
    """Add a finished command to those of its kind."""
    texts = [word for word, _, _ in words]
    if texts[:2] in (["nv", "set"], ["nv", "unset"]) and len(texts) > 2:
        spans = tuple(lines.span(start, end) for _, start, end in words[2:])
        commands.append(Command("set" if texts[1] == "set" else "unset", tuple(texts[2:]), spans))
    elif texts and not (texts[0] == "nv" and texts[1:2] and texts[1] in _SET_NOTHING):
        others.append((lines.place(words[0][1])[0], " ".join(texts)))


def _meant(word: str) -> str:
    """Return a word without its quotes."""
    if not any(mark in word for mark in "'\"\\"):
        return word
    return "".join(
        one or _ESCAPED.sub(r"\1", two) or escaped or plain for one, two, escaped, plain in _PIECE.findall(word)
    )
