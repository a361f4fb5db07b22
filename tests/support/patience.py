"""How long tests wait: no test depends on how fast the machine is, or on what else it does."""

import time
from collections.abc import Callable

import pytest

END_S = 300.0
"""After how many seconds a test gives up that waits for another process. No machine is so slow."""


def within(holds: Callable[[], bool], pause_s: float = 0.05) -> bool:
    """Return whether something comes to hold before a test gives up."""
    end = time.monotonic() + END_S
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(pause_s)
    return True


class Clock:
    """A clock that stands still but for pauses, for code that calls `time.monotonic` and `time.sleep`."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        """Return the seconds of all pauses."""
        return sum(self.pauses)

    def sleep(self, seconds: float) -> None:
        """Note a pause."""
        self.pauses.append(seconds)


def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Put a clock of this kind in place for a test."""
    made = Clock()
    monkeypatch.setattr("time.monotonic", made.monotonic)
    monkeypatch.setattr("time.sleep", made.sleep)
    return made
