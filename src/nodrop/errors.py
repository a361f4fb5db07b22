"""Possible errors and their messages: a Problem is bad input, with its place; anything that is not here is a bug.

NodropError
├── InputProblems         the user's input or command is wrong: one or more Problems, all of a phase at once
├── UnsupportedByPlatform a platform cannot express the content of the model
└── ServiceUnavailable    something outside nodrop did not answer
"""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of the input: its place (1-based; columns in code points), the found text, the expected text."""

    path: str
    line: int | None = None
    column: int | None = None
    where: str = ""
    """The key path inside the document (`topology.uplinks.speed`), empty where there is none."""
    found: str = ""
    expected: str = ""
    hint: str = ""
    """What to do, or the nearest valid word."""
    quoted_line: str | None = field(default=None, compare=False, repr=False)
    """The text of the line, where reports can quote it."""

    @property
    def message(self) -> str:
        """`found`, `expected` and `hint` as one sentence without a full stop."""
        text = self.found
        if self.expected:
            text = f"{text}; expected {self.expected}" if text else f"expected {self.expected}"
        return f"{text} ({self.hint})" if self.hint else text

    def __str__(self) -> str:
        place = ":".join(str(position) for position in (self.path, self.line, self.column) if position is not None)
        return f"{place}: {self.where}: {self.message}" if self.where else f"{place}: {self.message}"

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Files in order, then lines, then columns."""
        return (self.path, self.line or 0, self.column or 0, self.where, self.message)


class NodropError(Exception):
    """Every error that nodrop raises on purpose."""


class InputProblems(NodropError):
    """The input is wrong; `problems` holds every fault of the phase that found them, in the order of the files."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=Problem.sort_key))
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type["InputProblems"], tuple[tuple[Problem, ...]]]:
        return (type(self), (self.problems,))


class UnsupportedByPlatform(NodropError):
    """A platform, model or release cannot express the model's `path`, for `reason`."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")

    def __reduce__(self) -> tuple[type["UnsupportedByPlatform"], tuple[str, str]]:
        return (type(self), (self.path, self.reason))


class ServiceUnavailable(NodropError):
    """A service that was asked for did not answer."""


def describe_os_failure(error: Exception) -> str:
    """Return the reason of a failed system call, in lower case; of a NUL in a name in the same words on each Python."""
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return "a NUL character in the name"
    return (getattr(error, "strerror", None) or str(error)).lower()
