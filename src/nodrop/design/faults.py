"""The faults of an intent that a design finds, each at the key or the row of the cabling sheet that is to blame."""

from collections.abc import Iterable
from typing import NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.intent.schema import WrittenIntent


class KeyFault(NamedTuple):
    """A fault at a path of an intent's keys, whose line the intent knows."""

    keys: tuple[str | int, ...]
    found: str
    expected: str = ""
    hint: str = ""


IntentFault = KeyFault | Problem
"""A fault at a key, or a problem that has its place already: at a row of the cabling sheet."""


def raise_if_faults(intent: WrittenIntent, faults: Iterable[IntentFault]) -> None:
    """Raise all faults of an intent as problems, each once, with its line where the text is known.

    Several groups of switches may have the same fault.
    """
    problems = dict.fromkeys(fault if isinstance(fault, Problem) else intent.problem(*fault) for fault in faults)
    if problems:
        raise InputProblems(list(problems))
