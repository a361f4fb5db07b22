"""Statements, and the two forms that carry them: YAML as NVUE exports it, and lines of `nv set`.

A statement is a line of words, a path into the configuration: it states that the path exists. ` = ` and a value after
it set a leaf to a word or number, ` ~ ` sets it to a text, which is quoted if needed. Templates give statements in
the order that an export sorts them in, all of a key together.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from nodrop.errors import UnsupportedByPlatform

_PLAIN_SCALAR_PATTERN = re.compile(
    r"(?:[A-Za-z_./](?:[A-Za-z0-9_./+:-]*[A-Za-z0-9_./+-])?(?: [A-Za-z0-9_./+-]+)*)|[0-9][0-9./]*"
)
_PLAIN_KEY_PATTERN = re.compile(r"[A-Za-z0-9_./,:-]*[A-Za-z0-9_/.,-]")
_YAML_NON_STRING_PATTERN = re.compile(
    r"[0-9._:+-]+|0[xo].*|[0-9.]+e[0-9+-]+|on|off|yes|no|y|n|true|false|null", re.IGNORECASE
)
"""What a reader of YAML takes for a number, a yes or a no, if it is not quoted, addresses aside."""
_IPV4_ADDRESS_PATTERN = re.compile(r"(?:[0-9]+\.){3}[0-9]+(?:/[0-9]+)?")
_PRINTABLE_PATTERN = re.compile(
    r"[\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*"
)
_SHELL_SAFE_PATTERN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_LONGEST_KEY = 128
_INDENT_BY_LEVEL = tuple("  " * (level + 2) for level in range(32))


class StatementForms(NamedTuple):
    """The same statements in both forms."""

    yaml: str
    """The body of `set:`, indented by four blanks."""
    commands: str
    """Lines of `nv set`, safe for a shell."""


def render_statements_as_yaml_and_commands(config_text: str) -> StatementForms:
    """Return the statements in both forms."""
    lines: list[str] = []
    commands: list[str] = []
    before: list[str] = []
    for line in config_text.splitlines():
        head, mark, value = line.partition(" ~ ")
        if mark:
            leaf, argument = f": {quote_yaml(value)}\n", f" {quote_for_shell(value)}\n"
        else:
            head, mark, value = line.partition(" = ")
            leaf, argument = (f": {value}\n", f" {value}\n") if mark else (": {}\n", "\n")
        commands.append(f"nv set {head}{argument}")
        words = head.split(" ")
        last = len(words) - 1
        depth = 0
        for word_before, other_word in zip(before, words, strict=False):
            if word_before != other_word or depth == last:
                break
            depth += 1
        opened = False
        for level in range(depth, last):
            opened = _add_key_line(lines, level, quote_yaml_key(words[level]), opened)
        lines.append(f"{_INDENT_BY_LEVEL[last - opened]}{': ' if opened else ''}{quote_yaml_key(words[last])}{leaf}")
        before = words
    return StatementForms("".join(lines), "".join(commands))


def _add_key_line(lines: list[str], level: int, key: str, opened: bool) -> bool:
    """Add the line of a key that others stand below; return whether it is too long to be one with a colon."""
    indent = f"{_INDENT_BY_LEVEL[level - 1]}: " if opened else _INDENT_BY_LEVEL[level]
    is_long = len(key) > _LONGEST_KEY
    lines.append(f"{indent}? {key}\n" if is_long else f"{indent}{key}:\n")
    return is_long


@lru_cache(maxsize=65_536)
def quote_yaml(text: str) -> str:
    """Spell a text for YAML as exports do: plain where it reads back as that text, else in single quotes."""
    if _PLAIN_SCALAR_PATTERN.fullmatch(text) and (
        _IPV4_ADDRESS_PATTERN.fullmatch(text) or not _YAML_NON_STRING_PATTERN.fullmatch(text)
    ):
        return text
    if not _PRINTABLE_PATTERN.fullmatch(text):
        raise UnsupportedByPlatform("text", f"{text!r} has control characters, which no configuration holds")
    return "'{}'".format(text.replace("'", "''"))


@lru_cache(maxsize=65_536)
def quote_yaml_key(word: str) -> str:
    """Spell a key for YAML: numbers are ids, and so quoted."""
    if _IPV4_ADDRESS_PATTERN.fullmatch(word) or (
        _PLAIN_KEY_PATTERN.fullmatch(word) and not _YAML_NON_STRING_PATTERN.fullmatch(word) and word[0] not in ":-,"
    ):
        return word
    return quote_yaml(word)


@lru_cache(maxsize=65_536)
def quote_for_shell(text: str) -> str:
    """Spell a text as one word of a POSIX shell."""
    return text if _SHELL_SAFE_PATTERN.fullmatch(text) else "'{}'".format(text.replace("'", "'\"'\"'"))
