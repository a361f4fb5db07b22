"""Findings one a line, for editors, grep and eyes: `file:line:column: severity[rule] message (subject)`."""

from nodrop.lint.finding import Finding, UnknownVerdict
from nodrop.model import subject
from nodrop.report.escape import terminal, utf8
from nodrop.report.outcome import Outcome, openable, told


def render(outcome: Outcome) -> bytes:
    """Write an outcome in UTF-8: problems, then findings, then what is unknown; nothing where there is nothing."""
    lines = [
        _line(problem.path, problem.line, problem.column, f"problem: {told(problem)}") for problem in outcome.problems
    ]
    lines += map(_finding, outcome.findings)
    rules = (one for one in outcome.unknown if not one.places)
    lines += (f"unknown[{one.rule}] needs {one.missing}: {one.settled_by}" for one in rules)
    lines += map(_unknown_lines, (one for one in outcome.unknown if one.places))
    lines += (_line(one.file, None, None, f"not read: {one.message}") for one in outcome.unread)
    lines += (f"not computed: {one.message} ({one.device})" for one in outcome.not_computed)
    return utf8("".join(f"{terminal(line)}\n" for line in lines)).encode()


def _finding(finding: Finding) -> str:
    located = openable(finding)
    span = located.span if located else None
    said = f"{finding.severity}[{finding.rule}] {finding.message} ({subject.text(finding.subject)})"
    return _line(located.file if located else None, span.line if span else None, span.column if span else None, said)


def _unknown_lines(verdict: UnknownVerdict) -> str:
    first, more = verdict.places[0], len(verdict.places) - 1
    said = f"unknown[{verdict.rule}] {verdict.of_lines}" + (f" ({more} more)" if more else "")
    return _line(first.file, first.span.line if first.span else None, None, said)


def _line(file: str | None, line: int | None, column: int | None, said: str) -> str:
    place = [str(part) for part in (file, line, column) if part is not None]
    return f"{':'.join(place)}: {said}" if place else said
