"""Rules that a run leaves out, together by reason."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nodrop.engine.rule import STRICTNESSES, Rule, Strictness
from nodrop.engine.verdicts import Override, severity_of
from nodrop.model.fabric import Mode

NOT_SELECTED = "not selected"
"""Why a rule does not run that `--select` does not name."""
MODE = "for other modes"
FAILURES = "need failures (nodrop validate)"
OBSERVED = "need other validators (nodrop validate --all)"
FILES = "run by nodrop lint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Rules that did not run, and why."""

    reason: str
    rules: tuple[str, ...]


def skipped(
    every: Sequence[Rule],
    chosen: Sequence[Rule],
    *,
    mode: Mode,
    strictness: Strictness,
    overrides: Mapping[str, Override],
    config: str,
    selection: tuple[Sequence[str], Sequence[str]],
) -> tuple[Skipped, ...]:
    """Return the rules that did not run, those of the most frequent reason first.

    `config` names the file of the overrides; `selection` is what `--select` and `--ignore` name.
    """
    wanted, unwanted = map(words_of, selection)
    names, allowed = {rule.name for rule in chosen}, STRICTNESSES.index(strictness)

    def reason(rule: Rule) -> str:
        if rule.name not in names:
            elsewhere = OBSERVED if rule.observed else FAILURES if rule.failures else FILES
            return unselected(rule, wanted, unwanted) or elsewhere
        if severity_of(rule, overrides) == "off":
            return f"off in {config}"
        if mode not in rule.modes:
            return MODE
        stricter = STRICTNESSES.index(rule.strictness) > allowed or (rule.confidence == "possible" and not allowed)
        return f"above strictness {strictness}" if stricter else ""

    return _group_by_reason((reason(rule), rule.name) for rule in every)


def words_of(values: Sequence[str]) -> frozenset[str]:
    """Return the rules and areas that the values of an option name."""
    return frozenset(word.strip() for value in values for word in value.split(","))


def unselected(rule: Rule, wanted: frozenset[str], unwanted: frozenset[str]) -> str:
    """Return why `--select` or `--ignore` leaves a rule out; empty if neither does."""
    if wanted and not wanted & rule.words:
        return NOT_SELECTED
    return "ignored" if unwanted & rule.words else ""


def skipped_by_all(of: Iterable[tuple[Skipped, ...]]) -> tuple[Skipped, ...]:
    """Return the rules that ran in none of several fabrics, each with the reason in the first."""
    first, *others = ({name: one.reason for one in each for name in one.rules} for each in of)
    left = {name for name in first if all(name in other for other in others)}
    return _group_by_reason((why, name) for name, why in first.items() if name in left)


def _group_by_reason(rows: Iterable[tuple[str, str]]) -> tuple[Skipped, ...]:
    reasons: dict[str, list[str]] = {}
    for why, name in rows:
        if why:
            reasons.setdefault(why, []).append(name)
    made = (Skipped(reason=why, rules=tuple(sorted(names))) for why, names in reasons.items())
    return tuple(sorted(made, key=lambda one: (-len(one.rules), one.reason)))
