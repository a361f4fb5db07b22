"""Findings as workflow commands of GitHub Actions, shown next to the changed lines of a pull request.

Findings with one cause are one annotation, since GitHub shows no more than ten of a kind for a step. The commands and
their escapes are those of the runner's toolkit (github.com/actions/toolkit, packages/core/src/command.ts).
"""

from collections.abc import Mapping

from nodrop.engine.finding import FileLocation, Finding
from nodrop.errors import Problem
from nodrop.model import subject
from nodrop.model.reading import ROUTES_NOT_COMPUTED_NOTE_KIND
from nodrop.model.subject import Subject
from nodrop.report.commands import lines_of_fix
from nodrop.report.escape import escape_github_command_message, escape_github_command_property, escape_lone_surrogates
from nodrop.report.names import finding_message_with_device, format_name_list
from nodrop.results.outcome import (
    FabricOutcome,
    format_problem_without_place,
    group_findings,
    location_to_correct,
    separate_explained_groups,
)

_COMMAND_BY_SEVERITY = {"error": "error", "warning": "warning", "note": "notice"}
MAX_LISTED_OTHER_SUBJECTS = 3
"""How many other places of a cause, and of what is related to its first, an annotation names."""


def render(outcome: FabricOutcome) -> bytes:
    """Write an outcome as commands in UTF-8, the worst first, each on its own line; without what another ends."""
    lines = [_format_problem(problem) for problem in outcome.problems]
    groups, _ = separate_explained_groups(group_findings(outcome.findings))
    causes = [(group[0], [finding.subject for finding in group[1:]]) for group in groups]
    for severity, command in _COMMAND_BY_SEVERITY.items():
        lines += (
            _format_finding(command, first_finding, other_subjects)
            for first_finding, other_subjects in causes
            if first_finding.severity == severity
        )
    lines += (
        _format_command(
            "warning", {"title": "nodrop does not read this"} | _text_properties({"file": note.file}), note.message
        )
        for note in outcome.unread_notes
    )
    lines += (
        _format_command(
            "warning",
            {"title": unknown_verdict.rule} | _file_and_line_properties(unknown_verdict.places[0]),
            unknown_verdict.text_about_line_of_unknown_effect,
        )
        for unknown_verdict in outcome.unknown
        if unknown_verdict.places
    )
    uncomputed: dict[str, list[str]] = {}
    for note in outcome.uncomputed_notes:
        uncomputed.setdefault(note.message, []).append(note.device or "")
    lines.extend(
        _format_command("notice", {"title": ROUTES_NOT_COMPUTED_NOTE_KIND}, f"{message}: {format_name_list(devices)}")
        for message, devices in uncomputed.items()
    )
    return escape_lone_surrogates("".join(f"{line}\n" for line in lines)).encode()


def _format_finding(command: str, finding: Finding, other_subjects: list[Subject]) -> str:
    subject_list = ", ".join(map(subject.subject_text, other_subjects[:MAX_LISTED_OTHER_SUBJECTS])) + (
        f" and {len(other_subjects) - MAX_LISTED_OTHER_SUBJECTS} more"
        if len(other_subjects) > MAX_LISTED_OTHER_SUBJECTS
        else ""
    )
    lines = [finding_message_with_device(finding), *([f"The same on {subject_list}."] if other_subjects else [])]
    place = location_to_correct(finding)
    lines += [
        f"{ref.located.describe(column=False)}: {ref.message}"
        for ref in finding.related[:MAX_LISTED_OTHER_SUBJECTS]
        if ref.located and ref.located != place
    ]
    lines += lines_of_fix(finding)
    return _format_command(command, {"title": finding.rule} | _span_properties(place), "\n".join(lines))


def _format_problem(problem: Problem) -> str:
    place = {"file": problem.path, "line": problem.line, "col": problem.column}
    return _format_command(
        "error", {"title": "nodrop cannot read this"} | _text_properties(place), format_problem_without_place(problem)
    )


def _span_properties(located: FileLocation | None) -> dict[str, str]:
    if located is None:
        return {}
    span = located.span
    if span is None:
        return {"file": located.file}
    place = {"file": located.file, "line": span.line, "endLine": span.end_line}
    same_line = {"col": span.column, "endColumn": span.end_column} if span.line == span.end_line else {}
    return _text_properties(place | same_line)


def _file_and_line_properties(located: FileLocation) -> dict[str, str]:
    return _text_properties({"file": located.file, "line": located.span.line if located.span else None})


def _text_properties(place_properties: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in place_properties.items() if value is not None}


def _format_command(name: str, properties: Mapping[str, str], text: str) -> str:
    property_text = ",".join(f"{key}={escape_github_command_property(value)}" for key, value in properties.items())
    return f"::{name} {property_text}::{escape_github_command_message(text)}"
