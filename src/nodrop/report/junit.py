"""Findings as JUnit XML, which every CI server shows: a suite for each device, a case for each rule with findings.

Errors and warnings are failures. Notes are output of a case that passes. Suppressed and baseline findings are skipped.
Unreadable input is an error. A device without findings has one case that passes. The elements are those that Jenkins
and GitLab read.
"""

from collections import defaultdict
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from nodrop.engine.finding import Finding
from nodrop.errors import Problem
from nodrop.model import subject
from nodrop.model.subject import natural_sort_key
from nodrop.report.escape import escape_lone_surrogates, escape_terminal
from nodrop.results.outcome import FabricOutcome, format_problem_without_place, location_to_correct

_FABRIC_SUITE_NAME = "the fabric"


def render(outcome: FabricOutcome) -> bytes:
    """Write an outcome as XML in UTF-8."""
    suites: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in outcome.findings_with_hidden:
        suites[finding.within, finding.device or _FABRIC_SUITE_NAME].append(finding)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    new_suites = [
        _findings_suite(" ".join(filter(None, key)), suites[key])
        for key in sorted(suites, key=lambda key: tuple(map(natural_sort_key, key)))
    ]
    new_suites += [_problems_suite(outcome.problems)] if outcome.problems else []
    new_suites += [] if new_suites else [_suite_without_findings(outcome)]
    lines += [
        f"<testsuites {format_xml_attributes(name='nodrop', **_sum_counts(new_suites))}>",
        *(line for suite in new_suites for line in suite[1]),
        "</testsuites>",
    ]
    return escape_lone_surrogates("".join(f"{line}\n" for line in lines)).encode()


_CountsAndLines = tuple[dict[str, int], list[str]]


def _sum_counts(suites: Iterable[_CountsAndLines]) -> dict[str, int]:
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite_counts, _ in suites:
        for key in counts:
            counts[key] += suite_counts[key]
    return counts


def _findings_suite(name: str, findings: list[Finding]) -> _CountsAndLines:
    by_rule: defaultdict[str, list[Finding]] = defaultdict(list)
    hidden: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        (hidden if finding.hidden else by_rule)[finding.rule].append(finding)
    cases = [line for rule, rule_findings in sorted(by_rule.items()) for line in _rule_case(name, rule, rule_findings)]
    for rule, found_findings in sorted(hidden.items()):
        cases += _hidden_findings_case(name, f"{rule} (suppressed)" if rule in by_rule else rule, found_findings)
    failed = sum(any(hit.severity != "note" for hit in hits) for hits in by_rule.values())
    counts = {"tests": len(by_rule) + len(hidden), "failures": failed, "errors": 0, "skipped": len(hidden)}
    return _counts_and_suite_lines(name, counts, cases)


def _hidden_findings_case(suite: str, name: str, findings: list[Finding]) -> list[str]:
    """Return a case of findings that are suppressed or in the baseline; the reasons, each once."""
    reasons = dict.fromkeys(
        finding.suppressed.reason if finding.suppressed else "in the baseline" for finding in findings
    )
    located = findings[0].located
    place = {"file": located.file} if located else {}
    return [
        f"    <testcase {format_xml_attributes(classname=suite, name=name, **place)}>",
        f"      <skipped {format_xml_attributes(message='; '.join(reasons))}/>",
        "    </testcase>",
    ]


def _rule_case(suite: str, rule: str, findings: list[Finding]) -> list[str]:
    failing = [finding for finding in findings if finding.severity != "note"]
    worst = min(findings, key=lambda finding: ("error", "warning", "note").index(finding.severity))
    body = _escape_xml_text("\n".join(map(_format_finding, failing or findings)))
    message = worst.message if len(findings) == 1 else f"{worst.message} (and {len(findings) - 1} more)"
    inside = (
        f"<failure {format_xml_attributes(type=worst.severity, message=message)}>{body}</failure>"
        if failing
        else f"<system-out>{body}</system-out>"
    )
    located = location_to_correct(worst)
    place = {"file": located.file} if located else {}
    return [
        f"    <testcase {format_xml_attributes(classname=suite, name=rule, **place)}>",
        f"      {inside}",
        "    </testcase>",
    ]


def _problems_suite(problems: Iterable[Problem]) -> _CountsAndLines:
    rows = [
        line
        for problem in problems
        for line in (
            f"    <testcase {format_xml_attributes(classname='input', name=problem.path, file=problem.path)}>",
            f"      <error {format_xml_attributes(type='problem', message=format_problem_without_place(problem))}/>",
            "    </testcase>",
        )
    ]
    count = len(rows) // 3
    return _counts_and_suite_lines("input", {"tests": count, "failures": 0, "errors": count, "skipped": 0}, rows)


def _suite_without_findings(outcome: FabricOutcome) -> _CountsAndLines:
    name = f"{outcome.devices} devices, {outcome.interfaces} interfaces, {outcome.rules} rules"
    case = f"    <testcase {format_xml_attributes(classname='nodrop', name=name)}/>"
    return _counts_and_suite_lines("nodrop", {"tests": 1, "failures": 0, "errors": 0, "skipped": 0}, [case])


def _counts_and_suite_lines(name: str, counts: dict[str, int], cases: list[str]) -> _CountsAndLines:
    return counts, [f"  <testsuite {format_xml_attributes(name=name, **counts)}>", *cases, "  </testsuite>"]


def _format_finding(finding: Finding) -> str:
    located = location_to_correct(finding)
    place = f"{located.describe(column=False)}: " if located else ""
    return f"{place}{finding.severity}: {finding.message} ({subject.subject_text(finding.subject)})"


def format_xml_attributes(**values: object) -> str:
    """Return attributes of an element, in the order given, with their values escaped."""
    return " ".join(f"{key}={quoteattr(escape_terminal(str(value)))}" for key, value in values.items())


def _escape_xml_text(text: str) -> str:
    return escape(escape_terminal(text, lines=True))
