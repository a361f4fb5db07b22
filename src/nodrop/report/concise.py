"""Findings one a line, for editors, grep and eyes: `file:line:column: severity[rule] message (subject)`."""

from nodrop.engine.finding import Finding, UnknownVerdict
from nodrop.model import subject
from nodrop.report.escape import escape_lone_surrogates, escape_terminal
from nodrop.results.outcome import FabricOutcome, format_problem_without_place, location_to_correct


def render(outcome: FabricOutcome) -> bytes:
    """Write an outcome in UTF-8: problems, then findings, then unknown facts; nothing if there are none."""
    lines = [
        _prefix_file_position(
            problem.path, problem.line, problem.column, f"problem: {format_problem_without_place(problem)}"
        )
        for problem in outcome.problems
    ]
    lines += map(_format_finding, outcome.findings)
    rules = (unknown_verdict for unknown_verdict in outcome.unknown if not unknown_verdict.places)
    lines += (f"unknown[{rule.rule}] {rule.reason}" for rule in rules)
    lines += map(
        _format_unknown_verdict, (unknown_verdict for unknown_verdict in outcome.unknown if unknown_verdict.places)
    )
    lines += (
        _prefix_file_position(note.file, None, None, f"not read: {note.message}") for note in outcome.unread_notes
    )
    lines += (
        f"not computed: {uncomputed_note.message} ({uncomputed_note.device})"
        for uncomputed_note in outcome.uncomputed_notes
    )
    return escape_lone_surrogates("".join(f"{escape_terminal(line)}\n" for line in lines)).encode()


def _format_finding(finding: Finding) -> str:
    located = location_to_correct(finding)
    span = located.span if located else None
    text = f"{finding.severity}[{finding.rule}] {finding.message} ({subject.subject_text(finding.subject)})"
    return _prefix_file_position(
        located.file if located else None, span.line if span else None, span.column if span else None, text
    )


def _format_unknown_verdict(verdict: UnknownVerdict) -> str:
    first_place, more_count = verdict.places[0], len(verdict.places) - 1
    text = f"unknown[{verdict.rule}] {verdict.text_about_line_of_unknown_effect}" + (
        f" ({more_count} more)" if more_count else ""
    )
    return _prefix_file_position(first_place.file, first_place.span.line if first_place.span else None, None, text)


def _prefix_file_position(file: str | None, line: int | None, column: int | None, text: str) -> str:
    place = [str(field) for field in (file, line, column) if field is not None]
    return f"{':'.join(place)}: {text}" if place else text
