"""The list of rules that `nodrop rules` prints: those that are shipped and a site's own, and which of them are off."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nodrop.engine.finding import Severity
from nodrop.engine.rule import Rule
from nodrop.engine.rules import is_shipped, origin
from nodrop.engine.skipped import NOT_SELECTED
from nodrop.model.fabric import MODES
from nodrop.report.escape import markdown_of_ours, terminal
from nodrop.report.json import dumped
from nodrop.report.rules import advises, finds, first_sentence, in_short, seen_on, spoken_modes

WIDTH = 110
"""Columns of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A rule as it stands here."""

    rule: Rule
    off: str
    """Why it is not run; empty where it is."""
    severity: Severity
    """What it has here; of a rule that is off, its own."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Those that are set otherwise than the rule has them."""


def render(rules: Sequence[Listed], form: str) -> str:
    """Write the rules as text, JSON or Markdown; of those that were not selected only JSON speaks."""
    if form == "json":
        return dumped([_rule_record(rule) for rule in rules]).decode()
    rules = [rule for rule in rules if rule.off != NOT_SELECTED]
    return "".join(f"{line}\n" for line in (_markdown_lines(rules) if form == "markdown" else _text(rules)))


def _text(rules: Sequence[Listed]) -> Iterator[str]:
    heads = [(row.rule.name, row.rule.area, "off" if row.off else row.severity) for row in rules]
    widths = [max(map(len, column)) for column in zip(*heads, strict=True)]
    indent = " " * (sum(widths) + 2 * len(widths))
    for head, rule in zip(heads, rules, strict=True):
        first_indent = "".join(f"{cell:{width}}  " for cell, width in zip(head, widths, strict=True))
        text = f"({rule.off}) {first_sentence(rule.rule.why)}" if rule.off else first_sentence(rule.rule.why)
        yield textwrap.fill(terminal(text), WIDTH, initial_indent=first_indent, subsequent_indent=indent)


def _markdown_lines(rules: Sequence[Listed]) -> Iterator[str]:
    yield "| rule | area | severity | modes | why |"
    yield "|---|---|---|---|---|"
    for row in rules:
        rule, severity = row.rule, markdown_of_ours(f"off: {row.off}", cell=True) if row.off else row.severity
        yield f"| `{rule.name}` | {rule.area} | {severity} | {spoken_modes(rule)} | {in_short(rule)} |"


def fixable(rule: Rule) -> str:
    """Return whether `nodrop fix` can remove the rule's findings: `safe`, `unsafe` or `no`."""
    return ("safe" if rule.fix_safe else "unsafe") if rule.repairs else "no"


def _rule_record(listed: Listed) -> dict[str, object]:
    rule = listed.rule
    return {
        "name": rule.name,
        "area": rule.area,
        "severity": listed.severity,
        "default_severity": rule.severity,
        "confidence": rule.confidence,
        "strictness": rule.strictness,
        "on": not listed.off,
        "off_because": listed.off or None,
        "judged_by": "validate" if rule.failures or rule.observed else "lint",
        "modes": [mode for mode in MODES if mode in rule.modes],
        "scope": rule.scope.name,
        "platforms": list(seen_on(rule)),
        "fixable": fixable(rule),
        "finds": finds(rule),
        "why": rule.why,
        "fix": advises(rule),
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
        "file": origin(rule),
        "shipped": is_shipped(rule.path),
    }
