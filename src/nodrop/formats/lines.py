"""Files of commands, one on a line: a command that a reader cannot take is an unknown line, never a fault of nodrop."""

from collections.abc import Callable
from typing import TypeVar

_Line = TypeVar("_Line")


class NotUnderstood(Exception):
    """A command is not one of those that are read."""


def understood(line: _Line, reader: Callable[[_Line], None], others: list[_Line]) -> None:
    """Have a reader take a command; add the command to `others` if the reader does not understand it.

    A reader may index the words of a command, look them up and convert them without a check. A word that is missing
    (IndexError), unknown (KeyError) or not a value (ValueError) makes the command one that is not understood.
    """
    try:
        reader(line)
    except (NotUnderstood, LookupError, ValueError):
        others.append(line)
