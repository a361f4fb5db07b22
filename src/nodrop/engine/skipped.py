"""Rules that a run leaves out, together by reason."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nodrop.engine.rule import STRICTNESSES, Rule, Strictness
from nodrop.engine.verdicts import SeverityOverride, rule_severity
from nodrop.model.fabric import Mode

REASON_NOT_SELECTED = "not selected"
"""Why a rule does not run that `--select` does not name."""
REASON_OTHER_MODE = "for another mode"
REASON_NEEDS_FAILURES = "for nodrop validate"
REASON_NEEDS_VALIDATORS = "for nodrop validate --all"
REASON_RUN_BY_LINT = "run by nodrop lint"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRules:
    """Rules that did not run, and why."""

    reason: str
    rules: tuple[str, ...]


def find_skipped_rules(
    all_rules: Sequence[Rule],
    chosen_rules: Sequence[Rule],
    *,
    mode: Mode,
    strictness: Strictness,
    overrides: Mapping[str, SeverityOverride],
    config: str,
    selection: tuple[Sequence[str], Sequence[str]],
) -> tuple[SkippedRules, ...]:
    """Return the rules that did not run, those of the most frequent reason first.

    `config` names the file of the overrides; `selection` is what `--select` and `--ignore` name.
    """
    selected_words, unwanted = map(split_rule_words, selection)
    names, allowed = {rule.name for rule in chosen_rules}, STRICTNESSES.index(strictness)

    def reason(rule: Rule) -> str:
        if rule.name not in names:
            elsewhere = (
                REASON_NEEDS_VALIDATORS
                if rule.observed
                else REASON_NEEDS_FAILURES
                if rule.failures
                else REASON_RUN_BY_LINT
            )
            return explain_not_selected(rule, selected_words, unwanted) or elsewhere
        if rule_severity(rule, overrides) == "off":
            return f"off in {config}"
        if mode not in rule.modes:
            return REASON_OTHER_MODE
        stricter = STRICTNESSES.index(rule.strictness) > allowed or (rule.confidence == "possible" and not allowed)
        return f"above strictness {strictness}" if stricter else ""

    return _group_skipped_by_reason((reason(rule), rule.name) for rule in all_rules)


def split_rule_words(values: Sequence[str]) -> frozenset[str]:
    """Return the rules and areas that the values of an option name."""
    return frozenset(word.strip() for value in values for word in value.split(","))


def explain_not_selected(rule: Rule, selected_words: frozenset[str], unwanted: frozenset[str]) -> str:
    """Return why `--select` or `--ignore` leaves a rule out; empty if neither does."""
    if selected_words and not selected_words & rule.selectors:
        return REASON_NOT_SELECTED
    return "ignored" if unwanted & rule.selectors else ""


def find_never_run_rules(fabric_skips: Iterable[tuple[SkippedRules, ...]]) -> tuple[SkippedRules, ...]:
    """Return the rules that ran in none of several fabrics, each with the reason in the first."""
    first_reasons, *other_reasons = (
        {name: skip.reason for skip in skip_list for name in skip.rules} for skip_list in fabric_skips
    )
    common_names = {name for name in first_reasons if all(name in reasons for reasons in other_reasons)}
    return _group_skipped_by_reason((why, name) for name, why in first_reasons.items() if name in common_names)


def _group_skipped_by_reason(rows: Iterable[tuple[str, str]]) -> tuple[SkippedRules, ...]:
    reasons: dict[str, list[str]] = {}
    for why, name in rows:
        if why:
            reasons.setdefault(why, []).append(name)
    skip_groups = (SkippedRules(reason=why, rules=tuple(sorted(names))) for why, names in reasons.items())
    return tuple(sorted(skip_groups, key=lambda skip_group: (-len(skip_group.rules), skip_group.reason)))
