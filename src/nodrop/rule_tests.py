"""Tests of rules by their examples: on every platform that can express them, exactly the subjects that they name."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nodrop import platforms
from nodrop.engine.example_setup import PlatformExamples, UnsupportedExample
from nodrop.engine.examples import run_example
from nodrop.engine.finding import Finding
from nodrop.engine.mutants import RuleMutant, find_surviving_mutants
from nodrop.engine.mutants import mutants_of as mutants_of
from nodrop.engine.rule import Rule, RuleExample
from nodrop.engine.rules import locate_rule_key
from nodrop.locate import add_finding_places
from nodrop.model.reading import Reading
from nodrop.platforms.kit.examples import TIER_CHANGES_BY_PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleExampleFault:
    """A fault in a rule's examples: the key of its file, the place there, and the fault in words."""

    where: str
    line: int
    column: int
    platforms: tuple[str, ...]
    """Where it was seen; empty where it is of no platform."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTestResult:
    """What came of a rule's examples; it passes where there are no faults."""

    rule: Rule
    bad: int
    good: int
    tried_on: tuple[str, ...]
    """The platforms that said one of its bad examples, and one of its good ones."""
    faults: tuple[RuleExampleFault, ...]
    unsupported: tuple[tuple[str, str, str], ...]
    """Examples that a platform cannot say: (example, platform, reason)."""
    mutants: int = 0
    """How many changes of its conditions were tried."""


def run_rule_examples(rules: Sequence[Rule], *, mutants: bool = False) -> Iterator[RuleTestResult]:
    """Try the rules one after the other; with `mutants`, also whether an example fails for every change of a condition.

    ValueError is never raised for an example that does not fit the fabric: that is a fault of the rule.
    """
    return (_test_rule(rule, mutants=mutants) for rule in rules)


def _test_rule(rule: Rule, *, mutants: bool) -> RuleTestResult:
    faults: list[RuleExampleFault] = []
    unsaid: list[tuple[str, str, str]] = []
    kinds_by_platform: dict[str, set[str]] = {platform: set() for platform in TIER_CHANGES_BY_PLATFORM}
    for example in rule.examples:
        platforms_by_message: dict[str, list[str]] = {}
        reasons: dict[str, str] = {}
        for platform in TIER_CHANGES_BY_PLATFORM:
            try:
                messages = _failures_of_example_on_platform(rule, example, PlatformExamples(platform))
            except UnsupportedExample as reason:
                reasons[platform] = str(reason)
                continue
            kinds_by_platform[platform].add(example.kind)
            for message in messages:
                platforms_by_message.setdefault(message, []).append(platform)
        if len(reasons) == len(TIER_CHANGES_BY_PLATFORM):
            platforms_by_message = {
                f"no platform can say it: {'; '.join(f'{name}: {why}' for name, why in reasons.items())}": []
            }
        else:
            unsaid += [(example.name, platform, reason) for platform, reason in reasons.items()]
        faults += [_make_example_fault(rule, example, message, on) for message, on in platforms_by_message.items()]
    faults += _contradicted_unseen_platform_faults(rule, kinds_by_platform)
    tries = mutants_of(rule) if mutants else ()
    remaining_mutants = (
        []
        if faults or not tries
        else find_surviving_mutants(
            rule, TIER_CHANGES_BY_PLATFORM, lambda example, platform: PlatformExamples(platform).render_example(example)
        )
    )
    faults += [_unnoticed_change_fault(rule, mutant) for mutant in remaining_mutants]
    return RuleTestResult(
        rule=rule,
        bad=sum(example.kind == "bad" for example in rule.examples),
        good=sum(example.kind == "good" for example in rule.examples),
        tried_on=tuple(platform for platform, kinds in kinds_by_platform.items() if len(kinds) == 2),
        faults=tuple(faults),
        unsupported=tuple(unsaid),
        mutants=len(tries),
    )


def _failures_of_example_on_platform(rule: Rule, example: RuleExample, setting: PlatformExamples) -> list[str]:
    """Return the fault of an example on a platform; CannotSay where the platform cannot express it."""
    setting.raise_if_example_unsupported(example)
    failures = run_example(
        rule,
        example,
        setting.build_base_fabric,
        setting.read_fabric_from_platform_files,
        setting.views_of_edited_artifacts,
        _locate_findings,
    )
    return [failure.message for failure in failures]


def _locate_findings(findings: Iterable[Finding], reading: Reading) -> Iterable[Finding]:
    return add_finding_places(findings, reading, platforms.make_place_finder).findings


def _contradicted_unseen_platform_faults(
    rule: Rule, kinds_by_platform: dict[str, set[str]]
) -> Iterator[RuleExampleFault]:
    """Yield the platforms that the rule lists as never having the fault, although an example shows one."""
    for platform in rule.unseen:
        if "bad" in kinds_by_platform.get(platform, ()):
            line, column = locate_rule_key(rule, ("unseen", platform), of="key")
            message = f"{platform} can say a bad example, and so have the fault"
            where = f"unseen.{platform}"
            yield RuleExampleFault(where=where, line=line, column=column, platforms=(platform,), message=message)


def _make_example_fault(rule: Rule, example: RuleExample, message: str, on: Iterable[str]) -> RuleExampleFault:
    line, column = locate_rule_key(rule, example.keys)
    return RuleExampleFault(where=example.name, line=line, column=column, platforms=tuple(on), message=message)


def _unnoticed_change_fault(rule: Rule, mutant: RuleMutant) -> RuleExampleFault:
    line, column = locate_rule_key(rule, (mutant.changed_key,))
    message = f"no example notices the change {mutant.change.partition(': ')[2]}"
    return RuleExampleFault(where=mutant.changed_key, line=line, column=column, platforms=(), message=message)
