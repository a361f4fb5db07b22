"""What a rule is said to have seen is what it judged by: step by step the same verdict, at every subject."""

import pytest

from nodrop.engine.example_setup import PlatformExamples, UnsupportedExample
from nodrop.engine.examples import FabricOnPlatform, build_example_views
from nodrop.engine.nodes import Logic, Not
from nodrop.engine.rule import Rule, RuleExample
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.witness import AbsentValue, EvaluatedExpression, RuleAtItem, items_at_subject
from nodrop.model.index import Index
from nodrop.model.subject import parse_subject
from nodrop.platforms.kit.examples import TIER_CHANGES_BY_PLATFORM

RULES = [
    rule
    for rule in select_lint_rules(shipped_rules())
    if rule.claim is not None and rule.scope.parts and not rule.reads_other_findings
]


def said(example: RuleExample) -> FabricOnPlatform:
    """Return an example as the first platform that can say it has it."""
    for platform in TIER_CHANGES_BY_PLATFORM:
        setting = PlatformExamples(platform)
        try:
            setting.raise_if_example_unsupported(example)
            return build_example_views(
                example,
                setting.build_base_fabric,
                setting.read_fabric_from_platform_files,
                setting.views_of_edited_artifacts,
            )[0]
        except UnsupportedExample:
            continue
    raise AssertionError(example.name)


def found(step: EvaluatedExpression) -> bool | None:
    """Return whether a condition holds; None where that is not known."""
    return bool(step.value) if step.has_value else None


def consistent(step: EvaluatedExpression) -> None:
    """Check that a step is what its parts make it, and that nothing after the one that decided was looked at."""
    parts = [part for part in step.parts if part.value is not AbsentValue.NOT_REACHED]
    if isinstance(step.node, Not) and step.has_value and parts:
        assert step.value == (not parts[0].value)
    if isinstance(step.node, Logic):
        assert all(part.has_value for part in parts[:-1])
        assert found(step) == found(parts[-1])
        stopped = not parts[-1].has_value or bool(parts[-1].value) == (step.node.word == "or")
        assert len(parts) == len(step.parts) or stopped
        assert parts[-1].decides == stopped
    for part in parts:
        consistent(part)


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_the_steps_come_to_what_the_rule_says_of_every_part(rule: Rule) -> None:
    example = rule.examples[0]
    view = said(example)
    index = Index(view.reading.fabric)
    options = {option.name: option.default for option in rule.options}
    at_fault = set()
    devices = {parse_subject(subject)[:1] for subject in example.at} - {("@fabric",)} or {("@fabric",)}
    for device in devices:
        for item in items_at_subject(rule, device, index).items:
            witness = RuleAtItem(rule=rule, item=item, index=index, options=options)
            steps = [witness.evaluate_node_in_parts(node) for node in rule.conditions]
            for step in steps:
                consistent(step)
            asked = rule.when is None or found(steps[0])
            claim = found(steps[-1])
            expected = None if asked is None or (asked and claim is None) else bool(asked and not claim)
            (outcome,) = rule.check_function([item], index.fabric, options, index=index)
            assert (None if isinstance(outcome, Exception) else outcome) == expected
            if expected:
                at_fault.add(view.spell(rule.scope.subject(item)))
    assert at_fault == {parse_subject(subject) for subject in example.at}
