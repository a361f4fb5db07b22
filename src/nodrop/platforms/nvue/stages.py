"""Statements, and the two forms that they are carried in: YAML as NVUE exports it, and lines of `nv set`.

A statement is a line of words, a path into the configuration: what the path names is there. ` = ` and a value behind
it set a leaf to a word or number, ` ~ ` sets it to a text, which is quoted where need be. Templates give statements in
the order in which an export sorts them, all of a key together.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from nodrop.errors import Unsupported

_STATEMENT = re.compile(r"([^=~]*?)(?: ([=~]) (.*))?")
_PLAIN = re.compile(r"(?:[A-Za-z_./](?:[A-Za-z0-9_./+:-]*[A-Za-z0-9_./+-])?(?: [A-Za-z0-9_./+-]+)*)|[0-9][0-9./]*")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_./,:-]*[A-Za-z0-9_/.,-]")
_RETYPED = re.compile(r"[0-9._:+-]+|0[xo].*|[0-9.]+e[0-9+-]+|on|off|yes|no|y|n|true|false|null", re.IGNORECASE)
"""What a reader of YAML takes for a number, a yes or a no, if it is not quoted, addresses aside."""
_ADDRESS = re.compile(r"(?:[0-9]+\.){3}[0-9]+(?:/[0-9]+)?")
_PRINTABLE = re.compile(r"[\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_SAFE_FOR_SHELL = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_LONGEST_KEY = 128
_STEP = "  "


def statements(text: str) -> Iterator[tuple[list[str], str | None, str]]:
    """Yield (words, mark, value) of each line."""
    for line in text.splitlines():
        found = _STATEMENT.fullmatch(line)
        assert found is not None, line
        yield found[1].split(" "), found[2], found[3] or ""


@lru_cache(maxsize=512)
def yaml(text: str) -> str:
    """Return the statements as the body of `set:`, indented by four blanks."""
    lines: list[str] = []
    before: list[str] = []
    opened = -1
    for words, mark, value in statements(text):
        depth, most = 0, min(len(before), len(words) - 1)
        while depth < most and before[depth] == words[depth]:
            depth += 1
        last = len(words) - 1
        for level in range(depth, last + 1):
            ending = ":" if level < last else ": {}" if mark is None else f": {spelt(mark, value)}"
            key = yaml_key(words[level])
            indent = _STEP * (level + 2)
            if level == opened + 1 and opened >= 0:
                indent = f"{_STEP * (level + 1)}: "
            opened = -1
            if len(key) > _LONGEST_KEY and level < last:
                lines.append(f"{indent}? {key}")
                opened = level
            else:
                lines.append(f"{indent}{key}{ending}")
        before = words
    return "".join(f"{line}\n" for line in lines)


def commands(text: str) -> str:
    """Return the statements as lines of `nv set`, safe for a shell."""
    lines = []
    for words, mark, value in statements(text):
        path = " ".join(words)
        lines.append(f"nv set {path}\n" if mark is None else f"nv set {path} {for_shell(value)}\n")
    return "".join(lines)


def spelt(mark: str, value: str) -> str:
    """Spell a value for YAML; a text that would be read as something else is quoted."""
    return value if mark == "=" else quoted(value)


@lru_cache(maxsize=65_536)
def quoted(text: str) -> str:
    """Spell a text for YAML as exports do: plain where it reads back as that text, else in single quotes."""
    if _PLAIN.fullmatch(text) and (_ADDRESS.fullmatch(text) or not _RETYPED.fullmatch(text)):
        return text
    if not _PRINTABLE.fullmatch(text):
        raise Unsupported("text", f"{text!r} has control characters, which no configuration holds")
    return "'{}'".format(text.replace("'", "''"))


@lru_cache(maxsize=65_536)
def yaml_key(word: str) -> str:
    """Spell a key for YAML: numbers are ids, and so quoted."""
    if _ADDRESS.fullmatch(word) or (
        _PLAIN_KEY.fullmatch(word) and not _RETYPED.fullmatch(word) and word[0] not in ":-,"
    ):
        return word
    return quoted(word)


@lru_cache(maxsize=65_536)
def for_shell(text: str) -> str:
    """Spell a text as one word of a POSIX shell."""
    return text if _SAFE_FOR_SHELL.fullmatch(text) else "'{}'".format(text.replace("'", "'\"'\"'"))
