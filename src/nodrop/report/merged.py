"""Outcomes of several fabrics as one."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from nodrop.lint.finding import Finding
from nodrop.lint.skipped import Skipped, skipped_by_all
from nodrop.report.outcome import Outcome, RuleWork


def merged(outcomes: Sequence[Outcome]) -> Outcome:
    """Return several outcomes as one."""
    if len(outcomes) == 1:
        return outcomes[0]

    def within(name: str) -> tuple[Finding, ...]:
        return tuple(replace(finding, within=one.name) for one in outcomes for finding in getattr(one, name))

    def line(file: str, number: int) -> str | None:
        return next((text for one in outcomes if (text := one.line(file, number)) is not None), None)

    ran = [one for one in outcomes if one.rules or one.skipped]
    never = skipped_by_all([one.skipped for one in ran]) if ran else ()
    every = max((one.rules + _number(one.skipped) for one in ran), default=0)
    return Outcome(
        devices=sum(one.devices for one in outcomes),
        hosts=sum(one.hosts for one in outcomes),
        interfaces=sum(one.interfaces for one in outcomes),
        rules=every - _number(never),
        skipped=never,
        findings=within("findings"),
        hidden=within("hidden"),
        unknown=tuple(verdict for one in outcomes for verdict in one.unknown),
        notes=tuple(note for one in outcomes for note in one.notes),
        problems=tuple(problem for one in outcomes for problem in one.problems),
        assumed=tuple(dict.fromkeys(fact for one in outcomes for fact in one.assumed)),
        suppressed=sum(one.suppressed for one in outcomes),
        baseline=sum(one.baseline for one in outcomes),
        settled=tuple(each for one in outcomes for each in one.settled),
        validations=tuple(replace(each, name=one.name) for one in outcomes for each in one.validations),
        crashed=any(one.crashed for one in outcomes),
        own=next((one.own for one in outcomes if one.own), ()),
        work=work_of_all(outcomes),
        line=line,
    )


def _number(of: Sequence[Skipped]) -> int:
    return sum(len(one.rules) for one in of)


def work_of_all(outcomes: Sequence[Outcome]) -> tuple[RuleWork, ...] | None:
    """Return what each rule cost for all fabrics together; None where nobody asked."""
    evaluations, seconds = Counter[str](), defaultdict[str, float](float)
    given = [one.work for one in outcomes if one.work is not None]
    for work in (work for works in given for work in works):
        evaluations[work.rule] += work.evaluations
        seconds[work.rule] += work.seconds
    made = (RuleWork(rule=rule, evaluations=evaluations[rule], seconds=took) for rule, took in seconds.items())
    return tuple(made) if given else None
