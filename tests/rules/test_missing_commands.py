"""Every error and warning prints what to type, on each platform that is written, or its rule says why it does not."""

import pytest

from nodrop.advising import add_fix_commands
from nodrop.engine.example_setup import TIER_CHANGES_BY_PLATFORM
from nodrop.engine.examples import run_rule
from nodrop.engine.rule import ANY_PLATFORM, Rule
from nodrop.engine.rules import shipped_rules
from support.bad_examples import views

MAX_WORDS = 20


def _finding_counts(rule: Rule) -> dict[str, tuple[int, int]]:
    """Return how many findings of a rule's examples have commands and have none, by platform."""
    counts: dict[str, tuple[int, int]] = {}
    for _, view in views(rule):
        verdict = run_rule(rule, view.reading, view.observed, view.beside)
        for finding in add_fix_commands(verdict.findings, view.reading):
            if finding.rule == rule.name:
                typed, untyped = counts.get(view.platform, (0, 0))
                has_commands = bool(finding.fix and finding.fix.commands)
                counts[view.platform] = typed + has_commands, untyped + (not has_commands)
    return counts


@pytest.mark.slow
def test_findings_have_commands_or_their_rule_says_why_not() -> None:
    silent, needless = [], []
    for rule in shipped_rules():
        if rule.severity == "note":
            continue
        untyped = {name for name, (_, count) in _finding_counts(rule).items() if count} & set(TIER_CHANGES_BY_PLATFORM)
        reasons = rule.no_commands.keys()
        silent += [f"{rule.name} on {name}" for name in sorted(untyped) if not {name, ANY_PLATFORM} & reasons]
        needless += [f"{rule.name} on {name}" for name in sorted(reasons - {ANY_PLATFORM} - untyped)]
        needless += [rule.name] if ANY_PLATFORM in reasons and not untyped else []
    assert silent == []
    assert needless == []


def test_reasons_are_short_clauses() -> None:
    for rule in shipped_rules():
        for reason in rule.no_commands.values():
            assert len(reason.split()) <= MAX_WORDS, rule.name
            assert not reason.endswith("."), rule.name
