"""Words of FRR's commands, and how a command that is not one of those that are read is set aside."""

from collections.abc import Callable
from typing import Literal

from nodrop.formats.frr import Statement


class NotUnderstood(Exception):
    """A command is not one of those that are read."""


def number(word: str) -> int:
    """Return what a word says in decimal; NotUnderstood where it is no number that FRR takes."""
    if not (word.isascii() and word.isdecimal() and len(word) <= 10):
        raise NotUnderstood
    return int(word)


def action(word: str) -> Literal["permit", "deny"]:
    """Return what a rule does with what it matches; NotUnderstood where the word is neither."""
    if word == "permit":
        return "permit"
    if word == "deny":
        return "deny"
    raise NotUnderstood


def is_address(key: str) -> bool:
    """Whether FRR takes a neighbor's name for an address rather than an interface."""
    return ":" in key or (key.replace(".", "").isdecimal() and key.isascii())


def understood(statement: Statement, reader: Callable[[Statement], None], others: list[Statement]) -> None:
    """Read a command, or add it to those that are not understood."""
    try:
        reader(statement)
    except NotUnderstood:
        others.append(statement)
