"""Findings that somebody has decided to live with: by rule and subject, with a reason, for a time or for good."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """What somebody wrote: which rule's findings at which subjects are all right, why, until when, and where."""

    rule: str
    at: str
    """Subjects as text, with globs by part (contract 9.5)."""
    reason: str
    until: date | None
    """The last day on which it holds; None: for good."""
    file: str
    line: int
    column: int
