"""Text files and the places in them: reading within a limit, UTF-8, lines and columns in code points."""

import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from nodrop.errors import InputProblems, Problem, describe_os_failure
from nodrop.syntax.root import InputRoot, LinkLeadsOut

BYTE_ORDER_MARK = "\ufeff"
_SHOWN_CHARACTERS = 40
_LINE_END_PATTERN = re.compile(r"\r\n|\r|\n")
_WORD_PATTERN = re.compile(r"\"[^\"\\\r\n]{0,40}\"|[\w.+-]{1,40}|.", re.DOTALL)
_NAME_BY_CHARACTER = {
    "\0": "a NUL byte",
    "\t": "a tab",
    "\n": "a line break",
    "\r": "a line break",
    "'": "a single quote",
}
_NAME_BY_FILE_TYPE = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text: 1-based lines and columns, columns in code points, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


def split_lines(source_text: str) -> list[str]:
    """Return the lines of a text without what ends them: LF, CR LF and a lone CR, nothing else."""
    return _LINE_END_PATTERN.split(source_text)


def line_starts(source_text: str) -> list[int]:
    """Return the offset of each line of a text, as `split_lines` counts lines."""
    if "\r" in source_text:
        source_text = source_text.replace("\r\n", " \n").replace("\r", "\n")
    return [0, *accumulate(len(line) + 1 for line in source_text.split("\n"))][:-1]


def has_lone_return(source_text: str) -> bool:
    """Return whether a carriage return without a line feed is in a text: not every program ends a line there."""
    return source_text.count("\r") != source_text.count("\r\n")


class Lines:
    """The lines of a text as `split_lines` counts them, found when a place is first asked for."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] | None = None

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column of the code point at `offset`; the end of the text has a place too."""
        if self._starts is None:
            self._starts = line_starts(self._text)
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def text(self, line: int) -> str | None:
        """Return the text of a line without its end; None where a lone CR is in it, which not all count as an end."""
        if self._starts is None:
            self._starts = line_starts(self._text)
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self._text)
        found = self._text[start:end].rstrip("\n").removesuffix("\r")
        return None if "\r" in found else found

    def span(self, start: int, end: int) -> Span:
        """Return the span from offset `start` up to, not including, offset `end`."""
        return Span(*self.line_and_column(start), *self.line_and_column(end))


def sanitize_for_message(source_text: str) -> str:
    """Foreign text as a message may hold it: no control characters, cut after 40 characters."""
    cut = source_text if len(source_text) <= _SHOWN_CHARACTERS else f"{source_text[:_SHOWN_CHARACTERS]}…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in cut)


def quote_text(source_text: str) -> str:
    """Foreign text in quotes; a single character that cannot be seen, by its name."""
    if source_text in _NAME_BY_CHARACTER:
        return _NAME_BY_CHARACTER[source_text]
    if len(source_text) == 1 and not source_text.isprintable():
        return f"U+{ord(source_text):04X}"
    return f"'{sanitize_for_message(source_text)}'"


def word_at_offset_for_message(source_text: str, offset: int) -> str:
    """Return the word, quoted text or character at `offset`, as a message shows it."""
    word = _WORD_PATTERN.match(source_text, offset)
    return quote_text(word[0]) if word else "the end of the file"


def refuse_oversize(size: int, path: str, max_bytes: int) -> None:
    """Raise InputProblems where a file has more than `max_bytes` bytes."""
    if size > max_bytes:
        raise InputProblems([Problem(path=path, found=f"{size:,} bytes", expected=f"at most {max_bytes:,} bytes")])


def decode_utf8(file_content: bytes, path: str) -> str:
    """`raw` as text without its byte order mark; raises InputProblems where it is not UTF-8."""
    if file_content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputProblems([Problem(path=path, line=1, column=1, found="UTF-16 text", expected="UTF-8")])
    try:
        return file_content.decode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        before = file_content[: error.start].decode().removeprefix(BYTE_ORDER_MARK)
        line, column = Lines(before).line_and_column(len(before))
        fault = f"byte 0x{file_content[error.start]:02x} at offset {error.start:,}"
        raise InputProblems([Problem(path=path, line=line, column=column, found=fault, expected="UTF-8")]) from None


def read_regular_file(path: Path, display: str, max_bytes: int, root: InputRoot | None = None) -> bytes:
    """Return the bytes of a regular file of at most `max_bytes`; else raises InputProblems that name it `display`.

    With a `root`, no link leads out of it; without one, the file is opened as it is named.
    """
    with open_regular_file(path, display, max_bytes, root) as (file, size):
        raw = file.read(size + 1)
    if len(raw) > size:
        raise InputProblems([Problem(path=display, found="a file that grows while it is read")])
    return raw


@contextmanager
def open_regular_file(
    path: Path, display: str, max_bytes: int | None = None, root: InputRoot | None = None
) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file of at most `max_bytes`: yield it and its size, or raise InputProblems that name `display`.

    With a `root`, no link leads out of it. Without one, the file is checked before it is opened, which means that no
    device is opened at all. Both are checked once they are open: swapping them in between gains nothing, and a pipe
    never blocks.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        if root is None:
            _refuse_irregular_file(path.stat(), display, max_bytes)
        descriptor = os.open(path, flags) if root is None else root.open(path, flags)
        try:
            status = os.fstat(descriptor)
            _refuse_irregular_file(status, display, max_bytes)
        except BaseException:
            os.close(descriptor)
            raise
        with os.fdopen(descriptor, "rb") as file:
            yield file, status.st_size
    except LinkLeadsOut as error:
        raise InputProblems([link_leads_out_problem(display, error)]) from None
    except (OSError, ValueError) as error:
        raise InputProblems(
            [Problem(path=display, found=describe_os_failure(error), expected="a readable file")]
        ) from None


def link_leads_out_problem(display: str, error: LinkLeadsOut) -> Problem:
    """Return the problem of a link that leads out of a root; it does not contain the target."""
    return Problem(path=display, found=str(error.strerror), hint="name the file itself to read it")


def _refuse_irregular_file(status: os.stat_result, display: str, max_bytes: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = _NAME_BY_FILE_TYPE.get(stat.S_IFMT(status.st_mode), "not a file")
        raise InputProblems([Problem(path=display, found=kind, expected="a regular file")])
    if max_bytes is not None:
        refuse_oversize(status.st_size, display, max_bytes)
