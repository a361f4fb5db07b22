"""The list of rules that `nodrop rules` prints: those that are shipped and a site's own, and which of them are off."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nodrop.engine.finding import SEVERITIES, Severity
from nodrop.engine.rule import Rule
from nodrop.engine.rules import is_shipped_rule_path, rule_origin
from nodrop.engine.skipped import REASON_NOT_SELECTED
from nodrop.model.fabric import MODES
from nodrop.report import document_markdown
from nodrop.report.document import ReportDocument, Table
from nodrop.report.document_text import render_lines
from nodrop.report.json import encode_json_document
from nodrop.report.names import format_count
from nodrop.report.rules import advice_of_rule, first_sentence, format_rule_modes, message_of_rule, platforms_with_fault
from nodrop.report.table import wrap_text

FORMAT_VERSION = 2
RULE_LIST_WIDTH_CHARACTERS = 110
"""Columns of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRule:
    """A rule with its severity and options here."""

    rule: Rule
    off: str
    """Why it is not run; empty if it is."""
    severity: Severity
    """That of the configuration; of a rule that is off, its default."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Those with another value than the default."""


def render(rules: Sequence[ListedRule], form: str) -> str:
    """Return the rules as text, JSON or Markdown; only JSON has those that were not selected."""
    if form == "json":
        document = {"version": FORMAT_VERSION, "rules": [_rule_record(rule) for rule in rules]}
        return encode_json_document(document).decode()
    rules = [rule for rule in rules if rule.off != REASON_NOT_SELECTED]
    if form == "markdown":
        return document_markdown.render(ReportDocument(body=(_tabulate_rules(rules),)), limit_bytes=math.inf)
    return render_lines(_rule_list_lines(rules))


def _rule_list_lines(rules: Sequence[ListedRule]) -> Iterator[str]:
    """Yield a summary, and each area with a line for each rule."""
    yield from _summary_lines(rules)
    width = max((len(row.rule.name) for row in rules), default=0)
    for area in sorted({row.rule.area for row in rules}):
        yield from ("", area)
        for row in sorted((row for row in rules if row.rule.area == area), key=lambda row: row.rule.name):
            text = f"({row.off}) {message_of_rule(row.rule)}" if row.off else message_of_rule(row.rule)
            line = f"  {row.rule.name:{width}}  {'off' if row.off else row.severity:7}  {text}"
            yield (
                line
                if len(line) <= RULE_LIST_WIDTH_CHARACTERS
                else f"{line[: RULE_LIST_WIDTH_CHARACTERS - 1].rstrip()}…"
            )


def _summary_lines(rules: Sequence[ListedRule]) -> Iterator[str]:
    """Yield how many rules there are and are on, and why the others are off, the most frequent reason first."""
    areas = {row.rule.area for row in rules}
    on = Counter(row.severity for row in rules if not row.off)
    off = Counter(row.off for row in rules if row.off)
    severities = ", ".join(format_count(on[severity], severity) for severity in SEVERITIES if on[severity])
    yield (
        f"{format_count(len(rules), 'rule')} in {format_count(len(areas), 'area')}: "
        f"{on.total()} on ({severities or 'none'})"
    )
    if off:
        reasons = "; ".join(f"{number} {reason}" for reason, number in off.most_common())
        yield from wrap_text(f"{off.total()} off: {reasons}", width=RULE_LIST_WIDTH_CHARACTERS)
    yield "`nodrop rules AREA` lists one area; `nodrop explain RULE` explains a rule."


def _tabulate_rules(rules: Sequence[ListedRule]) -> Table:
    rows = (
        (
            f"`{row.rule.name}`",
            row.rule.area,
            f"off: {row.off}" if row.off else row.severity,
            format_rule_modes(row.rule),
            first_sentence(row.rule.why),
        )
        for row in rules
    )
    return Table(heads=("rule", "area", "severity", "modes", "why"), rows=tuple(rows))


def fix_safety_of_rule(rule: Rule) -> str:
    """Return whether `nodrop fix` can remove the rule's findings: `safe`, `unsafe` or `no`."""
    return ("safe" if rule.fix_safe else "unsafe") if rule.has_known_changes else "no"


def _rule_record(listed: ListedRule) -> dict[str, object]:
    rule = listed.rule
    return {
        "name": rule.name,
        "area": rule.area,
        "severity": listed.severity,
        "default_severity": rule.severity,
        "confidence": rule.confidence,
        "strictness": rule.strictness,
        "enabled": not listed.off,
        "disabled_reason": listed.off or None,
        "run_by": "validate" if rule.failures or rule.observed else "lint",
        "modes": [mode for mode in MODES if mode in rule.modes],
        "scope": rule.scope.name,
        "platforms": list(platforms_with_fault(rule)),
        "fixable": fix_safety_of_rule(rule),
        "summary": message_of_rule(rule),
        "why": rule.why,
        "fix": advice_of_rule(rule),
        "references": list(rule.references),
        "since": rule.since,
        "aliases": list(rule.aliases),
        "options": {
            option.name: {
                "type": option.type.describe(),
                "default": option.default,
                "value": listed.options.get(option.name, option.default),
                "description": option.description,
            }
            for option in rule.options
        },
        "file": rule_origin(rule),
        "shipped": is_shipped_rule_path(rule.path),
    }
