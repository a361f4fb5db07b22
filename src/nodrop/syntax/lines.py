"""Files of commands, one on a line: a command that a reader does not understand is kept as an unknown line."""

from collections.abc import Callable
from typing import TypeVar

_Line = TypeVar("_Line")


class CommandNotUnderstood(Exception):
    """A command is not one of those that are read."""


def read_or_keep_line(line: _Line, reader: Callable[[_Line], None], other_lines: list[_Line]) -> None:
    """Have a reader take a command; add the command to `other_lines` where the reader raises CommandNotUnderstood.

    Any other exception is a fault of the reader.
    """
    try:
        reader(line)
    except CommandNotUnderstood:
        other_lines.append(line)
