"""Outcomes of several fabrics as one."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from nodrop.engine.finding import Finding
from nodrop.engine.skipped import SkippedRules, find_never_run_rules
from nodrop.results.outcome import FabricOutcome, RuleCost


def merge_outcomes(outcomes: Sequence[FabricOutcome]) -> FabricOutcome:
    """Return several outcomes as one."""
    if len(outcomes) == 1:
        return outcomes[0]

    def collect_findings(name: str) -> tuple[Finding, ...]:
        return tuple(
            replace(finding, within=outcome.name) for outcome in outcomes for finding in getattr(outcome, name)
        )

    def line(file: str, number: int) -> str | None:
        return next((text for outcome in outcomes if (text := outcome.line(file, number)) is not None), None)

    ran = [outcome for outcome in outcomes if outcome.rules or outcome.skipped]
    never = find_never_run_rules([outcome.skipped for outcome in ran]) if ran else ()
    every = max((outcome.rules + _count_skipped_rules(outcome.skipped) for outcome in ran), default=0)
    return FabricOutcome(
        devices=sum(outcome.devices for outcome in outcomes),
        hosts=sum(outcome.hosts for outcome in outcomes),
        interfaces=sum(outcome.interfaces for outcome in outcomes),
        rules=every - _count_skipped_rules(never),
        skipped=never,
        findings=collect_findings("findings"),
        hidden=collect_findings("hidden"),
        unknown=tuple(verdict for outcome in outcomes for verdict in outcome.unknown),
        notes=tuple(note for outcome in outcomes for note in outcome.notes),
        problems=tuple(problem for outcome in outcomes for problem in outcome.problems),
        assumed=tuple(dict.fromkeys(fact for outcome in outcomes for fact in outcome.assumed)),
        suppressed=sum(outcome.suppressed for outcome in outcomes),
        baseline=sum(outcome.baseline for outcome in outcomes),
        settled=tuple(suppression_counts for outcome in outcomes for suppression_counts in outcome.settled),
        validations=tuple(
            replace(validation, name=outcome.name) for outcome in outcomes for validation in outcome.validations
        ),
        crashed=any(outcome.crashed for outcome in outcomes),
        own=next((outcome.own for outcome in outcomes if outcome.own), ()),
        work=merge_rule_work(outcomes),
        line=line,
    )


def _count_skipped_rules(skips: Sequence[SkippedRules]) -> int:
    return sum(len(skip.rules) for skip in skips)


def merge_rule_work(outcomes: Sequence[FabricOutcome]) -> tuple[RuleCost, ...] | None:
    """Return the cost of each rule for all fabrics together; None if nobody asked."""
    evaluations, seconds = Counter[str](), defaultdict[str, float](float)
    given_works = [outcome.work for outcome in outcomes if outcome.work is not None]
    for work in (work for works in given_works for work in works):
        evaluations[work.rule] += work.evaluations
        seconds[work.rule] += work.seconds
    rule_works = (RuleCost(rule=rule, evaluations=evaluations[rule], seconds=took) for rule, took in seconds.items())
    return tuple(rule_works) if given_works else None
