"""From readings to outcomes: fabrics are checked by the rules that were chosen."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from nodrop.cache import Store
from nodrop.config import Config
from nodrop.engine.rule import Rule, Strictness
from nodrop.errors import InputProblems, Problem
from nodrop.model.declared import DeclaredFacts
from nodrop.model.types import known_word_hint

if TYPE_CHECKING:
    from nodrop.accepted_findings import BaselineUpdate, SuppressionContext
    from nodrop.engine.baseline import Baseline
    from nodrop.engine.nearby import AffectedPart
    from nodrop.model.index import Index
    from nodrop.model.reading import Reading
    from nodrop.report.rule_list import ListedRule
    from nodrop.results.outcome import FabricOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """Settings of a check: which rules, how strictly, the statements, and the site's configuration of all that."""

    select: tuple[str, ...] = ()
    """Rules and areas to judge by; all where there are none."""
    ignore: tuple[str, ...] = ()
    strictness: Strictness = "regular"
    config: Config = field(default_factory=Config)
    declared: DeclaredFacts = field(default_factory=DeclaredFacts)
    """What the command line states, which counts more than what files do."""
    suppressing: bool = True
    """Whether suppressions hold."""
    statistics: bool = False
    """Whether to count and time what each rule does."""
    whole: bool = True
    """Whether every finding gets its place, or only those that a short report shows."""
    advised: bool = True
    """Whether findings get the commands that end them."""
    store: Store | None = None
    """What was worked out before, if anything is kept."""
    both: bool = False
    """Whether `select` and `ignore` may name rules of failures too, which the command computes in some cases."""


def all_rules(config: Config, store: Store | None = None) -> tuple[Rule, ...]:
    """Return the rules that are shipped, kept in the store if there is one, and the site's own."""
    from nodrop.engine import rules
    from nodrop.engine.site_rules import load_rules_with_shipped

    if store is not None:
        from nodrop.engine.rule_cache import take_shipped_rules_from

        take_shipped_rules_from(store)
    return load_rules_with_shipped(config.rules, config.held) if config.rules else rules.shipped_rules()


def chosen_rules(
    settings: CheckSettings, *, files: bool = True, failures: bool = False, observed: bool = False
) -> tuple[Rule, ...]:
    """Return the rules that were selected and not ignored: those that `files` decide, those of routing and `failures`.

    Rules about the results that other validators have `observed` are among the latter if there are such results.

    InputProblems where a word names none, or the configuration names a rule that does not exist.
    """
    from nodrop.engine.rules import select_lint_rules, select_validate_rules
    from nodrop.engine.skipped import explain_not_selected

    every = all_rules(settings.config, settings.store)
    settings.config.check_severity_and_options(every)
    halves = (
        select_lint_rules(every) if files else (),
        select_validate_rules(every, observed=observed) if failures else (),
    )
    rules = tuple({rule.name: rule for half in halves for rule in half}.values())
    words = {word for rule in (every if settings.both else rules) for word in rule.selectors}
    selection, unwanted = (_validate_rule_and_area_names(option, words, settings) for option in ("select", "ignore"))
    return tuple(rule for rule in rules if not explain_not_selected(rule, selection, unwanted))


def list_rules(settings: CheckSettings) -> "tuple[ListedRule, ...]":
    """Return every rule, those of routing too, as it stands by the settings: whether it is on, and why it is not.

    InputProblems as of `chosen_rules`. In which modes a rule speaks is no reason: that depends on the fabric.
    """
    from nodrop.engine.rule import STRICTNESSES
    from nodrop.engine.skipped import explain_not_selected
    from nodrop.engine.verdicts import rule_options, rule_severity
    from nodrop.report.rule_list import ListedRule

    every, config = all_rules(settings.config, settings.store), settings.config
    config.check_severity_and_options(every)
    words = {word for rule in every for word in rule.selectors}
    selection, unwanted = (_validate_rule_and_area_names(option, words, settings) for option in ("select", "ignore"))
    allowed = STRICTNESSES.index(settings.strictness)

    def why_off(rule: Rule) -> str:
        if off := explain_not_selected(rule, selection, unwanted):
            return off
        if rule_severity(rule, config.severity) == "off":
            return f"severity off in {config.path}"
        if STRICTNESSES.index(rule.strictness) > allowed:
            return f"strictness {rule.strictness}"
        return "only possible, so strictness pedantic" if rule.confidence == "possible" and not allowed else ""

    def stands(rule: Rule) -> ListedRule:
        severity = rule_severity(rule, config.severity)
        own_severity = rule.severity if severity == "off" else severity
        return ListedRule(
            rule=rule, off=why_off(rule), severity=own_severity, options=rule_options(rule, config.options)
        )

    return tuple(map(stands, every))


def _validate_rule_and_area_names(option: str, known_words: set[str], settings: CheckSettings) -> frozenset[str]:
    """Return the rules and areas that an option names; raise InputProblems for unknown ones."""
    from nodrop.engine.skipped import split_rule_words

    names = split_rule_words(getattr(settings, option))
    if wrong := sorted(names - known_words):
        place = f"--{option}"
        hints = {word: known_word_hint(word, known_words, listed_by="nodrop rules") for word in wrong}
        raise InputProblems(Problem(path=place, found=f"no rule or area {word!r}", hint=hints[word]) for word in wrong)
    return names


def run_rules(
    reading: "Reading",
    rules: Sequence[Rule],
    settings: CheckSettings,
    *,
    index: "Index | None" = None,
    rechecked_part: "AffectedPart | None" = None,
    progress: Callable[[str], None] | None = None,
) -> "FabricOutcome":
    """Return the verdict of the rules on a reading, or on its part `rechecked_part`, with the places for reports."""
    from nodrop import platforms
    from nodrop.accepted_findings import apply_suppressions, line_reader_with_overlay
    from nodrop.advising import add_fix_commands
    from nodrop.engine.declared_lines import mark_unknown_lines_as_declared
    from nodrop.engine.skipped import find_skipped_rules
    from nodrop.engine.verdicts import judge
    from nodrop.folding import mark_findings_explained_by_others
    from nodrop.locate import add_finding_places
    from nodrop.results.outcome import FabricOutcome, RuleCost, first_shown_findings

    reading, lines = mark_unknown_lines_as_declared(reading, settings.config.harmless if settings.suppressing else ())
    evaluations, seconds = Counter[str](), dict[str, float]()
    verdict = judge(
        reading,
        rules,
        strictness=settings.strictness,
        severity_overrides=settings.config.severity,
        options=settings.config.options,
        evaluations=evaluations,
        seconds=seconds if settings.statistics else None,
        index=index,
        near=rechecked_part,
        progress=progress,
    )
    findings, fared = (
        apply_suppressions(verdict, reading, build_suppression_context(rules, settings))
        if settings.suppressing
        else (verdict.findings, None)
    )
    if settings.advised:
        check = partial(
            judge,
            strictness=settings.strictness,
            severity_overrides=settings.config.severity,
            options=settings.config.options,
        )
        findings = mark_findings_explained_by_others(tuple(findings), reading, rules, check)
    findings = add_fix_commands(tuple(findings), reading, settings.advised, whole=settings.whole)
    only = None if settings.whole else first_shown_findings(finding for finding in findings if not finding.hidden)
    pointed = add_finding_places(findings, reading, platforms.make_place_finder, only=only)
    line = line_reader_with_overlay(reading.written, pointed.line)
    outcome = FabricOutcome.of(reading, verdict, findings=pointed.findings, notes=pointed.notes, line=line)
    config = settings.config
    left_out = find_skipped_rules(
        all_rules(config, settings.store),
        rules,
        mode=reading.fabric.mode,
        strictness=settings.strictness,
        overrides=config.severity,
        config=config.path.name if config.path else "",
        selection=(settings.select, settings.ignore),
    )
    outcome = replace(outcome, settled=() if fared is None else (replace(fared, lines=lines),), skipped=left_out)
    outcome = record_site_rules_in_outcome(outcome, settings, rules)
    if not settings.statistics:
        return outcome
    work = (RuleCost(rule=rule, evaluations=evaluations[rule], seconds=took) for rule, took in seconds.items())
    return replace(outcome, work=tuple(work))


def record_site_rules_in_outcome(
    outcome: "FabricOutcome", settings: CheckSettings, rules: Sequence[Rule] | None = None
) -> "FabricOutcome":
    """Return an outcome with the site's own rules among those that were chosen."""
    from nodrop.engine.rules import is_shipped_rule_path

    if not settings.config.rules:
        return outcome
    chosen = chosen_rules(settings) if rules is None else rules
    return replace(outcome, own=tuple(rule for rule in chosen if not is_shipped_rule_path(rule.path)))


def build_suppression_context(rules: Sequence[Rule], settings: CheckSettings) -> "SuppressionContext":
    """Return the basis for settling findings."""
    from nodrop.accepted_findings import SuppressionContext, load_configured_baseline

    config, every = settings.config, all_rules(settings.config, settings.store)
    return SuppressionContext(
        config=config,
        every=every,
        chosen=rules,
        strictness=settings.strictness,
        baseline=load_configured_baseline(config),
    )


def add_faults_of_configured_suppressions(
    outcome: "FabricOutcome", settings: CheckSettings, *, failures: bool = False, observed: bool = False
) -> "FabricOutcome":
    """Return the outcome of all fabrics of a command, with the faults of the suppressions in the configuration.

    Findings of the baseline that were not found any more are noted; those above its count are reported.
    """
    from nodrop import accepted_findings

    config = settings.config
    if not outcome.settled or not (config.suppress or config.harmless or config.baseline):
        return outcome
    rules = build_suppression_context(
        chosen_rules(settings, files=not failures, failures=failures, observed=observed), settings
    )
    if rules.baseline is not None:
        outcome = accepted_findings.unhide_surplus_findings(outcome, rules.baseline)
        ended = accepted_findings.find_stale_baseline_entries(outcome, rules.baseline, rules.current_name_by_rule_name)
        outcome = replace(
            outcome, notes=(*outcome.notes, *accepted_findings.notes_on_ended_entries(ended, str(config.baseline)))
        )
    further_findings = accepted_findings.find_configured_suppression_faults(
        outcome.findings, outcome.settled, rules, whole=not outcome.problems
    )
    written = {(suppression.file, suppression.line): suppression.text for suppression in config.suppress}
    written |= {(declared_line.file, declared_line.line): declared_line.text for declared_line in config.harmless}
    line = accepted_findings.line_reader_with_overlay(written, outcome.line)
    return replace(outcome, findings=(*outcome.findings, *further_findings), line=line) if further_findings else outcome


def update_baseline(
    former_baseline: "Baseline", outcome: "FabricOutcome", settings: CheckSettings, *, prune: bool
) -> "BaselineUpdate":
    """Return a baseline with a command's findings, and without those not found any more if `prune` is set."""
    from nodrop import accepted_findings

    return accepted_findings.update_baseline(
        former_baseline, outcome, build_suppression_context((), settings).current_name_by_rule_name, prune=prune
    )


@contextmanager
def turn_input_problems_into_outcome(outcomes: "list[FabricOutcome]") -> Iterator[None]:
    """Turn faults in the input into an outcome, to keep a fault from hiding the next."""
    from nodrop.results.outcome import FabricOutcome

    try:
        yield
    except InputProblems as error:
        outcomes.append(FabricOutcome(problems=error.problems))
