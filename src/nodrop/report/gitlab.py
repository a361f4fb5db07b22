"""Findings as a Code Quality report of GitLab, which a merge request shows next to its changes.

The format is that of GitLab's documentation (Code Quality, "Code Quality report format"): a list of objects with
description, check_name, fingerprint, severity and location.
"""

import hashlib
from typing import Any

from nodrop.engine.finding import Finding
from nodrop.errors import Problem
from nodrop.model import subject
from nodrop.model.reading import Note
from nodrop.report.escape import escape_lone_surrogates, escape_terminal
from nodrop.report.json import encode_json_document
from nodrop.results.outcome import FabricOutcome, format_problem_without_place, location_to_correct

_GITLAB_SEVERITY_BY_SEVERITY = {"error": "critical", "warning": "major", "note": "info"}
_NO_FILE_PATH = "."
"""GitLab wants a path of every entry; what stands in no file is about the whole."""


def render(outcome: FabricOutcome) -> bytes:
    """Write an outcome as JSON in UTF-8, problems first; fingerprints stay when lines move, and no two are equal."""
    seen: dict[str, int] = {}
    rows = [
        *map(_problem_row, outcome.problems),
        *map(_finding_row, outcome.findings),
        *map(_unread_note_row, outcome.unread_notes),
        *map(_uncomputed_note_row, outcome.uncomputed_notes),
    ]
    for row in rows:
        count = seen[row["fingerprint"]] = seen.get(row["fingerprint"], 0) + 1
        if count > 1:
            row["fingerprint"] = _hash_texts(row["fingerprint"], str(count))
    return encode_json_document(rows)


def _finding_row(finding: Finding) -> dict[str, Any]:
    located = location_to_correct(finding)
    return _issue_record(
        f"{finding.message} ({subject.subject_text(finding.subject)})",
        finding.rule,
        _hash_texts(finding.within, finding.fingerprint),
        _GITLAB_SEVERITY_BY_SEVERITY[finding.severity],
        located.file if located else None,
        located.span.line if located and located.span else None,
    )


def _problem_row(problem: Problem) -> dict[str, Any]:
    fingerprint = _hash_texts("problem", problem.path, problem.where, problem.found)
    return _issue_record(
        format_problem_without_place(problem), "unreadable", fingerprint, "blocker", problem.path, problem.line
    )


def _unread_note_row(note: Note) -> dict[str, Any]:
    fingerprint = _hash_texts(note.kind, note.file or "", note.message)
    return _issue_record(f"not read: {note.message}", note.kind, fingerprint, "info", note.file, None)


def _uncomputed_note_row(note: Note) -> dict[str, Any]:
    fingerprint = _hash_texts(note.kind, note.device or "", note.message)
    return _issue_record(f"{note.message} ({note.device})", note.kind, fingerprint, "info", None, None)


def _issue_record(
    text: str, name: str, fingerprint: str, severity: str, file: str | None, line: int | None
) -> dict[str, Any]:
    return {
        "description": escape_lone_surrogates(escape_terminal(text)),
        "check_name": name,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {
            "path": escape_lone_surrogates(escape_terminal(file or _NO_FILE_PATH)),
            "lines": {"begin": line or 1},
        },
    }


def _hash_texts(*texts: str) -> str:
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
