"""Findings as JSON (contract 9.13); `report.schema` has the schema."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from nodrop.engine.finding import (
    FileLocation,
    Finding,
    Fix,
    FixCommands,
    RelatedPart,
    SuppressionReason,
    UnknownVerdict,
)
from nodrop.errors import Problem
from nodrop.model import subject
from nodrop.model.change import Change
from nodrop.model.reading import Assumption, Note
from nodrop.model.states import Unknown
from nodrop.report.escape import escape_json_text, escape_lone_surrogates
from nodrop.results.outcome import FabricOutcome, count_outcome, rule_statistics

FORMAT_VERSION = 2
_ORJSON_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_MAX_JSON_INTEGER = 2**63 - 1


def render(outcome: FabricOutcome) -> bytes:
    """Write an outcome as JSON in UTF-8, every finding on its own, two columns a level, with a line feed at the end."""
    document = {
        "version": FORMAT_VERSION,
        "findings": [finding_record(finding) for finding in outcome.findings_with_hidden],
        "unknown": [_unknown_verdict_document(verdict) for verdict in outcome.unknown],
        "notes": [note_record(note) for note in outcome.notes],
        "problems": [problem_record(problem) for problem in outcome.problems],
        "files": _read_and_unread_files(outcome),
        "assumed": [_assumption_document(assumption) for assumption in outcome.assumed],
        "statistics": None
        if outcome.work is None
        else [dataclasses.asdict(statistic) for statistic in rule_statistics(outcome)],
        "validations": [dataclasses.asdict(validation) for validation in outcome.validations] or None,
        "skipped": [dataclasses.asdict(skip) for skip in outcome.skipped],
        "summary": dataclasses.asdict(count_outcome(outcome)),
    }
    return encode_json_document(document)


def _read_and_unread_files(outcome: FabricOutcome) -> dict[str, Any] | None:
    """Return which files were read, ignored and not read, the latter two with the reason; None where none are listed.

    A file with a problem was not read.
    """
    if outcome.files is None:
        return None
    broken = {problem.path: dataclasses.replace(problem, hint="").message for problem in outcome.problems}
    unread = {note.file: note.message for note in outcome.unread_notes if note.file is not None} | broken
    return {
        "read": [file for file in outcome.files.read if file not in unread],
        "ignored": [{"file": row.file, "reason": row.reason} for row in outcome.files.ignored],
        "unread": [{"file": file, "reason": reason} for file, reason in sorted(unread.items())],
    }


def encode_json_document(document: Mapping[str, object] | Sequence[object]) -> bytes:
    """Return a document in UTF-8, two columns a level, with a line feed at the end."""
    try:
        raw = orjson.dumps(document, option=_ORJSON_OPTIONS)
    except orjson.JSONEncodeError:
        raw = orjson.dumps(_make_encodable(document), option=_ORJSON_OPTIONS)
    return raw if raw.isascii() and b"\x7f" not in raw else escape_json_text(raw.decode()).encode()


def json_value(value: object) -> object:
    """Return a value of the model as JSON can represent it.

    Dataclasses and named tuples become objects, tuples arrays, sets sorted arrays; None stays null (known absent), and
    UNKNOWN is `{"unknown": true}`, which no field of the model can be mistaken for.
    """
    match value:
        case Unknown():
            return {"unknown": True}
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): json_value(child) for key, child in value.items()}
        case frozenset() | set():
            return sorted(map(json_value, value), key=repr)
        case tuple() if hasattr(value, "_asdict"):
            return json_value(value._asdict())
        case tuple() | list():
            return [json_value(child) for child in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: json_value(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} is not a type of the model")


def finding_record(finding: Finding) -> dict[str, object]:
    """Return a finding; `schemas/findings.schema.json` has its keys (contract 9.13)."""
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "subject": subject.subject_text(finding.subject),
        "at": subject.subject_text(finding.at),
        "device": finding.device,
        **_place_document(finding.located),
        "facts": dict(sorted(finding.facts.items())),
        "related": [_related_document(related) for related in finding.related],
        "fix": _fix_document(finding.fix) if finding.fix else None,
        "group": finding.group,
        "explained_by": finding.explained_by or None,
        "fingerprint": finding.fingerprint,
        "suppressed": _suppression_document(finding.suppressed) if finding.suppressed else None,
        "baselined": finding.baselined,
    }


def _suppression_document(suppressed: SuppressionReason) -> dict[str, object]:
    return {"reason": suppressed.reason, "until": suppressed.until, "location": suppressed.location}


def _place_document(located: FileLocation | None) -> dict[str, object]:
    span = located.span if located else None
    return {
        "file": located.file if located else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
    }


def _related_document(related: RelatedPart) -> dict[str, object]:
    place = _place_document(related.located)
    beginning = {key: place[key] for key in ("file", "line", "column")}
    return {"subject": subject.subject_text(related.subject), "message": related.message, **beginning}


def _fix_document(fix: Fix) -> dict[str, object]:
    return {
        "safe": fix.safe,
        "text": fix.text,
        "changes": [change_record(change) for change in fix.changes],
        "commands": [_commands_document(commands) for commands in fix.commands],
    }


def _commands_document(commands: FixCommands) -> dict[str, object]:
    """Return what to type, without a condition where the lines always end the finding, notes and files if none."""
    document = dataclasses.asdict(commands)
    optional = ("condition", "notes", "outdated_files")
    return {key: value for key, value in document.items() if value or key not in optional}


def change_record(change: Change) -> dict[str, object]:
    """Return a change of the model."""
    return {
        "subject": subject.subject_text(change.subject),
        "old": json_value(change.old),
        "new": json_value(change.new),
    }


def _unknown_verdict_document(verdict: UnknownVerdict) -> dict[str, object]:
    """Return a verdict; each unknown line has its place in a note."""
    return _fields_without(verdict, left_out=("places",))


def note_record(note: Note) -> dict[str, object]:
    """Return a note."""
    return _fields_without(note, left_out=("about", "text"))


def _fields_without(record: UnknownVerdict | Note, *, left_out: Sequence[str]) -> dict[str, object]:
    return {name: value for name, value in dataclasses.asdict(record).items() if name not in left_out}


def _assumption_document(assumption: Assumption) -> dict[str, object]:
    return dataclasses.asdict(assumption)


def problem_record(problem: Problem) -> dict[str, object]:
    """Return a problem of the input."""
    return {
        "file": problem.path,
        "line": problem.line,
        "column": problem.column,
        "path": problem.where or None,
        "message": dataclasses.replace(problem, hint="").message,
        "hint": problem.hint or None,
    }


def _make_encodable(value: object) -> object:
    """Return the same document where strings are valid UTF-8 and integers beyond 64 bits are written digit by digit."""
    match value:
        case str():
            return escape_lone_surrogates(value)
        case int() if abs(value) > _MAX_JSON_INTEGER:
            return orjson.Fragment(str(value))
        case dict():
            return {escape_lone_surrogates(key): _make_encodable(child) for key, child in value.items()}
        case list() | tuple():
            return [_make_encodable(child) for child in value]
    return value
