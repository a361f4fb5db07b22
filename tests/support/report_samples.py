"""Findings as rules give them, short enough to read in a test."""

from typing import Any

from nodrop.engine.finding import FileLocation, Finding, RelatedPart
from nodrop.model.subject import parse_subject
from nodrop.results.outcome import FabricOutcome
from nodrop.syntax.places import Span


def at(file: str, line: int, column: int, end_column: int) -> FileLocation:
    return FileLocation(file=file, span=Span(line, column, line, end_column))


def finding(subject: str, located: FileLocation | None = None, **other: Any) -> Finding:
    parts = parse_subject(subject)
    facts: dict[str, Any] = {
        "rule": "pfc-without-watchdog",
        "severity": "error",
        "confidence": "certain",
        "message": f"{parts[-1]} honours pause on priority 3 but has no PFC watchdog",
        "subject": parts,
        "at": parts,
        "device": None if parts[0] == "@fabric" else parts[0],
        "group": "no watchdog",
        "fingerprint": f"fingerprint of {subject}",
        "located": located,
    }
    return Finding(**facts | other)


def related(subject: str, message: str, located: FileLocation | None = None) -> RelatedPart:
    return RelatedPart(subject=parse_subject(subject), message=message, located=located)


def outcome(*findings: Finding, lines: dict[tuple[str, int], str] | None = None, **other: Any) -> FabricOutcome:
    facts: dict[str, Any] = {"devices": 6, "interfaces": 192, "rules": 11, "findings": findings}
    return FabricOutcome(**facts | other, line=lambda file, line: (lines or {}).get((file, line)))
