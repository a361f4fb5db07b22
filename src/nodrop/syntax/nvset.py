"""Lines of `nv set` and `nv unset` as a shell reads them: words with their places.

Quotes, comments and continued lines follow POSIX sh as far as such files go (2.2 Quoting); nothing is expanded. A line
may begin with the prompt of the session that it was copied from, and with `sudo`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nodrop.syntax.places import Lines, Span

_SHELL_TOKEN_PATTERN = re.compile(
    r"(?P<skip>[ \t\r]+|\\\r?\n)"
    r"|(?P<end>\n|;|&&|\|\|)"
    r"|(?P<comment>#[^\n]*)"
    r"|(?P<word>(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\[^\n]|[^\s'\"\\;&|]++|&(?!&)|\|(?!\|)|['\"](?=[^'\"]*\Z))+)",
    re.DOTALL,
)
_SHELL_PIECE_PATTERN = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)|(.)", re.DOTALL)
_ESCAPED_CHARACTER_PATTERN = re.compile(r"\\([\"\\$`])")
_PROMPT_REGEX = r"[A-Za-z0-9_.-]{1,64}@[A-Za-z0-9_.:~/-]{1,128}[$#](?![^ \t\r\n])"
PROMPT_PATTERN = re.compile(rf"^{_PROMPT_REGEX}", re.MULTILINE)
"""What a switch's shell prints before a command, such as `cumulus@leaf01:mgmt:~$`."""
_NV_SET_MENTION_PATTERN = re.compile(rb"nv[ \t]+(?:un)?set[ \t]")
_NV_SET_LINE = re.compile(
    rf"^[ \t]*+(?:{_PROMPT_REGEX}|\$[ \t])?[ \t]*+(?:sudo[ \t]++)?nv[ \t]++(?:un)?set[ \t]".encode(), re.MULTILINE
)
_REDIRECTION_PATTERN = re.compile(r"[0-9]?>|\|\Z")
"""How a word begins that sends output elsewhere."""
_READ_ONLY_VERBS = frozenset({"action", "list-commands", "show"})
_HARMLESS_NV_CONFIG_VERBS = frozenset(
    {"apply", "delete", "diff", "find", "history", "revision", "save", "show", "translate", "verify"}
)
"""Verbs of `nv config` that change no setting; `apply` with a name puts another revision in the place of this one."""
_HARMLESS_SHELL_COMMANDS = frozenset({":", "echo", "exit", "false", "printf", "set", "sleep", "sync", "true", "wait"})


class _Word(NamedTuple):
    """A word as it is meant, where it begins and ends, and whether it is written without quotes."""

    text: str
    start: int
    end: int
    plain: bool


@dataclass(frozen=True, slots=True)
class NvSetCommand:
    """One `set` or `unset`: the words after it, the value of each, and its place."""

    verb: Literal["set", "unset"]
    words: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class NvSetScript:
    """All that a file commands, in its order; `others` are lines with other commands: (line, text).

    `applied` has how many of the commands came before each `nv config apply`.
    """

    commands: tuple[NvSetCommand, ...]
    others: tuple[tuple[int, str], ...]
    applied: tuple[int, ...] = ()


def has_nv_lines(file_head: bytes) -> bool:
    """Whether a text that begins so has such lines."""
    return bool(_NV_SET_MENTION_PATTERN.search(file_head) and _NV_SET_LINE.search(file_head))


def parse_nv_commands(text: str) -> NvSetScript:
    """Read the commands; `nv config apply` and others that are known to set nothing are passed over."""
    lines = Lines(text)
    commands: list[NvSetCommand] = []
    other_lines: list[tuple[int, str]] = []
    applied: list[int] = []
    words: list[_Word] = []
    at = 0
    while at <= len(text):
        if (at == 0 or text[at - 1] == "\n") and (prompt := PROMPT_PATTERN.match(text, at)):
            at = prompt.end()
        token = _SHELL_TOKEN_PATTERN.match(text, at)
        if token is None or token["end"] is not None:
            if _take_command(words, lines, commands, other_lines)[:3] == ["nv", "config", "apply"]:
                applied.append(len(commands))
            words = []
        elif token["word"] is not None:
            word = token["word"]
            meant = _unquote_word(word)
            words.append(_Word(meant, token.start(), token.end(), meant == word))
        at = max(token.end() if token else 0, at + 1)
    return NvSetScript(tuple(commands), tuple(other_lines), tuple(applied))


def _take_command(
    syntax_words: list[_Word], lines: Lines, commands: list[NvSetCommand], other_lines: list[tuple[int, str]]
) -> list[str]:
    """Add a finished command to those of its kind, and return its words."""
    while syntax_words and syntax_words[0].text in ("$", "sudo"):
        syntax_words = syntax_words[1:]
    cut = (number for number, word in enumerate(syntax_words) if word.plain and _REDIRECTION_PATTERN.match(word.text))
    syntax_words = syntax_words[: next(cut, len(syntax_words))]
    texts = [word.text for word in syntax_words]
    if texts[:2] in (["nv", "set"], ["nv", "unset"]) and len(texts) > 2:
        spans = tuple(lines.span(word.start, word.end) for word in syntax_words[2:])
        commands.append(NvSetCommand("set" if texts[1] == "set" else "unset", tuple(texts[2:]), spans))
    elif texts and not _sets_nothing(texts, first=not commands):
        other_lines.append((lines.line_and_column(syntax_words[0].start)[0], " ".join(texts)))
    return texts


def _sets_nothing(texts: Sequence[str], *, first: bool) -> bool:
    """Whether a command is known to change no setting; `first` where nothing was set before it."""
    if texts[0] != "nv" or len(texts) == 1:
        return texts[0] in _HARMLESS_SHELL_COMMANDS
    if texts[1] != "config":
        return texts[1] in _READ_ONLY_VERBS
    verb, *arguments = texts[2:] or [""]
    if verb == "apply":
        return first or not any(map(_is_applied_revision_name, arguments, ("", *arguments)))
    return verb in _HARMLESS_NV_CONFIG_VERBS or (verb == "detach" and first)


def _is_applied_revision_name(word: str, before: str) -> bool:
    """Whether a word names what to apply, rather than being the value of an option before it."""
    return (word in ("empty", "startup") or word.isdecimal()) and not before.startswith("--")


def _unquote_word(word: str) -> str:
    """Return a word without its quotes."""
    if not any(mark in word for mark in "'\"\\"):
        return word
    return "".join(
        literal or _ESCAPED_CHARACTER_PATTERN.sub(r"\1", two) or escaped or plain
        for literal, two, escaped, plain in _SHELL_PIECE_PATTERN.findall(word)
    )
