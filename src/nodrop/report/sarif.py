"""Findings as SARIF 2.1.0 (OASIS), which code scanning of GitHub, Azure DevOps and editors read.

Every finding is a result with its place, the part of the model as a logical location, and a fingerprint that stays when
lines move. Unknown verdicts and unreadable input are notifications of the run. Columns count code points.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from nodrop.engine.finding import FileLocation, Finding, RelatedPart, UnknownVerdict
from nodrop.engine.rule import Rule
from nodrop.engine.rules import shipped_rules
from nodrop.errors import Problem
from nodrop.model import subject
from nodrop.model.reading import Note
from nodrop.report.escape import escape_lone_surrogates, escape_terminal
from nodrop.report.json import encode_json_document
from nodrop.report.links import RulePageUrls
from nodrop.report.names import finding_message_with_device
from nodrop.report.rules import advice_of_rule
from nodrop.results.outcome import (
    FabricOutcome,
    cause_by_finding,
    format_problem_without_place,
    location_to_correct,
    related_places,
)
from nodrop.results.rulings import BUILTIN_VERDICTS, BuiltinVerdict

SARIF_SCHEMA_URL = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT_KEY = "nodrop/v1"
_MAX_UNKNOWN_LINE_PLACES = 20
"""How many unknown lines of a kind have their place in the report."""


def render(outcome: FabricOutcome, pages: RulePageUrls | None = None) -> bytes:
    """Write an outcome as SARIF in UTF-8, with the rules that have findings or miss a fact, and their pages."""
    named_rules = {finding.rule for finding in outcome.findings_with_hidden} | {
        unknown_verdict.rule for unknown_verdict in outcome.unknown
    }
    known_rulings: tuple[Rule | BuiltinVerdict, ...] = (*shipped_rules(), *outcome.own, *BUILTIN_VERDICTS.values())
    rules = sorted((rule for rule in known_rulings if rule.name in named_rules), key=lambda rule: rule.name)
    at = {rule.name: index for index, rule in enumerate(rules)}
    causes = cause_by_finding(outcome.findings)
    run = {
        "tool": {"driver": _driver_document(rules, pages or RulePageUrls())},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not outcome.problems and not outcome.crashed,
                "toolExecutionNotifications": [
                    *map(_problem_notification, outcome.problems),
                    *(_unknown_notification(unknown_verdict, at) for unknown_verdict in outcome.unknown),
                    *map(_unread_notification, outcome.unread_notes),
                    *map(_uncomputed_notification, outcome.uncomputed_notes),
                ],
            }
        ],
        "results": [
            _result_document(finding, at, causes.get(finding), compared=outcome.baseline > 0)
            for finding in outcome.findings_with_hidden
        ],
    }
    document = {"$schema": SARIF_SCHEMA_URL, "version": "2.1.0", "runs": [run]}
    return encode_json_document(document)


def _driver_document(rules: Iterable[Rule | BuiltinVerdict], pages: RulePageUrls) -> dict[str, object]:
    driver: dict[str, object] = {"name": "nodrop", "rules": [_rule_document(rule, pages) for rule in rules]}
    with suppress(PackageNotFoundError):  # run from its sources, without being installed
        driver["version"] = version("nodrop")
    return driver


def _rule_document(rule: Rule | BuiltinVerdict, pages: RulePageUrls) -> dict[str, object]:
    text = f"{rule.why.strip()}\n\nWhat to do: {advice_of_rule(rule) if isinstance(rule, Rule) else rule.fix}"
    address = pages.find_address(rule.name)
    return {
        "id": rule.name,
        **({} if address is None else {"helpUri": address}),
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.name.replace("-", " ")},
        "fullDescription": {"text": _escape_text(rule.why.strip())},
        "help": {"text": _escape_text(text)},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.area], "confidence": rule.confidence, "strictness": rule.strictness},
    }


def _result_document(
    finding: Finding, at: Mapping[str, int], cause: Finding | None, *, compared: bool
) -> dict[str, object]:
    """Return a finding, and the `cause` that explains it; `compared` where a baseline gives all results a state."""
    place, related = location_to_correct(finding), related_places(finding)
    result: dict[str, Any] = {"ruleId": finding.rule}
    if finding.rule in at:
        result["ruleIndex"] = at[finding.rule]
    result |= {
        "level": finding.severity,
        "message": {"text": _escape_text(finding_message_with_device(finding))},
        "locations": [_physical_and_logical_location(place, finding.subject)],
        "partialFingerprints": {_FINGERPRINT_KEY: _fingerprint_within_folder(finding.fingerprint, finding.within)},
        "properties": {"confidence": finding.confidence, "group": finding.group},
    }
    if cause is not None:
        result["properties"]["explainedBy"] = cause.group
        text = f"ends with the correction of {cause.rule}: {finding_message_with_device(cause)}"
        related = (*related, RelatedPart(subject=cause.subject, message=text, located=location_to_correct(cause)))
    if finding.fix is not None and finding.fix.commands:
        result["properties"]["fix"] = _escape_text(finding.fix.text)
        result["properties"]["commands"] = [
            {"device": commands.device, "language": commands.language, "lines": list(commands.lines)}
            | ({"condition": _escape_text(commands.condition)} if commands.condition else {})
            for commands in finding.fix.commands
        ]
    if finding.hidden:
        result["suppressions"] = [_suppression_document(finding)]
    if compared:
        result["baselineState"] = "unchanged" if finding.baselined else "new"
    if related:
        result["relatedLocations"] = [_related_location(mention) for mention in related]
    return result


def _suppression_document(finding: Finding) -> dict[str, object]:
    """Why a finding is hidden, and where that is written."""
    suppression = finding.suppressed
    if suppression is None:
        return {"kind": "external", "justification": "in the baseline"}
    until = f" (until {suppression.until})" if suppression.until else ""
    return {
        "kind": "inSource" if suppression.inline else "external",
        "justification": f"{_escape_text(suppression.reason)}{until}",
        "properties": {"location": _escape_text(suppression.location)},
    }


def _fingerprint_within_folder(fingerprint: str, folder: str) -> str:
    return f"{fingerprint} {_escape_text(folder)}" if folder else fingerprint


def _physical_and_logical_location(located: FileLocation | None, about: subject.Subject) -> dict[str, object]:
    logical = {"logicalLocations": [{"fullyQualifiedName": _escape_text(subject.subject_text(about))}]}
    return _physical_location(located) | logical


def _related_location(related: RelatedPart) -> dict[str, object]:
    return _physical_and_logical_location(related.located, related.subject) | {
        "message": {"text": _escape_text(related.message)}
    }


def _physical_location(located: FileLocation | None) -> dict[str, object]:
    """Where a finding stands; without a line there is no region, which may not be made up."""
    if located is None:
        return {}
    physical: dict[str, object] = {"artifactLocation": {"uri": _file_uri(located.file)}}
    if span := located.span:
        region = {"startLine": span.line, "startColumn": span.column}
        physical["region"] = region | {"endLine": span.end_line, "endColumn": span.end_column}
    return {"physicalLocation": physical}


def _file_uri(file: str) -> str:
    """Return a path as a URI reference: relative to where nodrop ran, as code scanning wants it, or a file URI."""
    path = quote(file.replace("\\", "/").encode("utf-8", "surrogateescape"))
    return f"file://{path}" if PurePath(file).is_absolute() else path.removeprefix("./")


def _problem_notification(problem: Problem) -> dict[str, object]:
    region = {"startLine": problem.line} | ({"startColumn": problem.column} if problem.column else {})
    physical: dict[str, object] = {"artifactLocation": {"uri": _file_uri(problem.path)}}
    physical |= {"region": region} if problem.line else {}
    return {
        "level": "error",
        "message": {"text": _escape_text(format_problem_without_place(problem))},
        "locations": [{"physicalLocation": physical}],
        "descriptor": {"id": "unreadable"},
    }


def _unknown_notification(unknown: UnknownVerdict, at: Mapping[str, int]) -> dict[str, object]:
    text = f"{unknown.rule} is unknown: {unknown.reason}"
    text = unknown.text_about_line_of_unknown_effect if unknown.places else text
    notification: dict[str, object] = {"level": "note", "message": {"text": _escape_text(text)}}
    if unknown.places:
        notification["locations"] = [_physical_location(place) for place in unknown.places[:_MAX_UNKNOWN_LINE_PLACES]]
    if unknown.rule in at:
        notification["associatedRule"] = {"id": unknown.rule, "index": at[unknown.rule]}
    return notification


def _unread_notification(note: Note) -> dict[str, object]:
    location = {"physicalLocation": {"artifactLocation": {"uri": _file_uri(note.file or "")}}}
    return {
        "level": "warning",
        "message": {"text": _escape_text(f"not read: {note.message}")},
        "locations": [location],
        "descriptor": {"id": note.kind},
    }


def _uncomputed_notification(note: Note) -> dict[str, object]:
    text = _escape_text(f"{note.message} ({note.device})")
    return {"level": "note", "message": {"text": text}, "descriptor": {"id": note.kind}}


def _escape_text(text: str) -> str:
    return escape_lone_surrogates(escape_terminal(text, lines=True))
