"""Names in commands that state a number which the commands change: `WRED_150K_1500K` keeps its name as it is."""

import re
from collections.abc import Iterable, Iterator, Sequence

from nodrop.model.change import Change
from nodrop.model.compare import differences

_NAME_PATTERN = re.compile(r"[A-Za-z0-9_.-]+")
_NUMBER_PATTERN = re.compile(r"(?<![0-9.])([0-9]{1,12})(k|m|g)?(?:i?b(?![a-z]))?(?![0-9a-z])", re.IGNORECASE)
_POWER_BY_LETTER = {"": 0, "k": 1, "m": 2, "g": 3}
_LEAST_NUMBER = 10
"""Numbers below are in names for many reasons: priorities, queues, a second profile of the kind."""


def find_names_with_outdated_numbers(lines: Iterable[str], changes: Sequence[Change]) -> tuple[str, ...]:
    """Return the names in commands that state the old value of a number of the changes, and not the new one.

    Lines that begin with `#` are no commands: what they name is a file.
    """
    pairs = [pair for change in changes for pair in _changed_numbers(change)]
    old, new = {before for before, _ in pairs}, {after for _, after in pairs}
    names = {
        name
        for line in lines
        if not line.startswith("#")
        for name in _NAME_PATTERN.findall(line)
        if any(map(str.isalpha, name)) and (stated := set(_stated_numbers(name))) & old - new and not stated & new - old
    }
    return tuple(sorted(names))


def _changed_numbers(change: Change) -> Iterator[tuple[int, int]]:
    """Yield the numbers of a change, before and after."""
    for difference in differences(change.old, change.new):
        before, after = difference.a, difference.b
        if type(before) is int and type(after) is int and before >= _LEAST_NUMBER:
            yield before, after


def _stated_numbers(name: str) -> Iterator[int]:
    """Yield the numbers that a name may mean, with and without the letter behind them."""
    for match in _NUMBER_PATTERN.finditer(name.replace("_", " ").replace("-", " ")):
        power = _POWER_BY_LETTER[(match[2] or "").lower()]
        for base in (1000, 1024):
            yield int(match[1]) * base**power
