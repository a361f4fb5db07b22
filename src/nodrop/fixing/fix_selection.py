"""Which of many fixes can be made: all that bring about nothing new, found with few checks of the fabric.

Fixes are tried together. Where something new appears, those near it are set apart, the others are made, and the ones
set apart are tried again, by rule and in halves, until each is made or refused with what would appear. One round of
this may open the way for other fixes, so there is another until nothing changes any more.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from nodrop.engine.finding import SEVERITIES, Finding
from nodrop.engine.suppressions import UNUSED
from nodrop.engine.unknowns import is_statement_of_owner
from nodrop.limits import MAX_FIX_FABRIC_CHECKS, MAX_FIX_ROUNDS
from nodrop.model.change import Change
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key, subject_sort_key
from nodrop.model.subject import subject_text as subject_text
from nodrop.results.outcome import FabricOutcome

FindingKey = tuple[str, Subject, str]


def key_of_finding(finding: Finding) -> FindingKey:
    """Return the identity that matches findings before and after a change."""
    return finding.rule, finding.subject, finding.fingerprint


_W = TypeVar("_W", bound="FixableDocuments")


class FixableDocuments(Protocol):
    """Documents in memory and their findings."""

    @property
    def outcome(self) -> FabricOutcome:
        """Return the verdict of every rule on the documents in their present state."""

    def edits_of_fix(self, finding: Finding) -> Sequence[tuple[Subject, object]]:
        """Return the values that the fix of a finding writes, and where; nothing where there is no such fix."""

    def try_fixes(self: _W, findings: Sequence[Finding]) -> "FixTrial[_W]":
        """Return the documents with the fixes of findings made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixTrial(Generic[_W]):
    """What became of documents; findings that cannot be fixed in them are `by_hand`, with what to do."""

    world: _W
    by_hand: Mapping[FindingKey, str]


@dataclass(slots=True)
class FixSelector(Generic[_W]):
    """Makes fixes in a world; `fixable` decides whether a finding needs a fix."""

    world: _W
    fixable: Callable[[Finding], bool]
    refused: dict[FindingKey, str] = field(default_factory=dict)
    """What would appear, or what would not go away."""
    by_hand: dict[FindingKey, str] = field(default_factory=dict)
    trials: int = 0

    def make_all_fixes(self) -> None:
        """Make all that can be made."""
        for _ in range(MAX_FIX_ROUNDS):
            before = self.world
            self.refused.clear()
            self.by_hand.clear()
            wanted_findings = sorted(filter(self.fixable, self.world.outcome.findings), key=_fix_sort_key)
            while wanted_findings:
                together, later = _split_conflicting_findings(wanted_findings, self.world)
                self._make_fixes(together)
                wanted_findings = self._remaining_findings(later)
            if self.world is before:
                return

    def _remaining_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return those of findings that are there still, as they are now."""
        keys = set(map(key_of_finding, findings))
        return sorted(
            (finding for finding in self.world.outcome.findings if key_of_finding(finding) in keys), key=_fix_sort_key
        )

    def _make_fixes(self, findings: Sequence[Finding]) -> None:
        """Make the fixes of findings, as far as nothing new appears."""
        if not findings:
            return
        if self.trials >= MAX_FIX_FABRIC_CHECKS:
            self._refuse_findings(
                findings, "too many other fixes were refused to try this one; name fewer files, or --select"
            )
            return
        tried = self.world.try_fixes(findings)
        self.by_hand.update(tried.by_hand)
        new_findings = [finding for finding in findings if key_of_finding(finding) not in tried.by_hand]
        if not new_findings:
            return
        self.trials += 1
        appeared = list(
            find_new_results(self.world.outcome, tried.world.outcome, set(map(key_of_finding, new_findings)))
        )
        if appeared:
            followed = self._try_followup_fixes(tried.world, new_findings, appeared)
            if followed is None:
                self._take_blameless_fixes(new_findings, appeared)
            else:
                self.world = followed
            return
        remaining_keys = set(map(key_of_finding, tried.world.outcome.findings))
        stays = [finding for finding in new_findings if key_of_finding(finding) in remaining_keys]
        if not stays:
            self.world = tried.world
            return
        self._refuse_findings(stays, "it would still be found")
        self._make_fixes([finding for finding in new_findings if key_of_finding(finding) not in remaining_keys])

    def _try_followup_fixes(
        self, world: _W, findings: Sequence[Finding], appeared: "Sequence[NewProblem]"
    ) -> _W | None:
        """Return a world with new findings fixed too, for example where a port is brought up that has something
        missing.
        """
        new = [effect.finding for effect in appeared if effect.finding is not None and self.fixable(effect.finding)]
        if len(new) < len(appeared):
            return None
        self.trials += 1
        tried = world.try_fixes(new)
        remaining_keys = set(map(key_of_finding, tried.world.outcome.findings))
        fixed = set(map(key_of_finding, findings))
        ends = not any(find_new_results(self.world.outcome, tried.world.outcome, fixed)) and remaining_keys.isdisjoint(
            fixed
        )
        return tried.world if ends else None

    def _refuse_findings(self, findings: Iterable[Finding], why: str) -> None:
        self.refused.update((key_of_finding(finding), why) for finding in findings)

    def _take_blameless_fixes(self, findings: Sequence[Finding], appeared: "Sequence[NewProblem]") -> None:
        """Make those fixes of several that are not to blame for what appeared, then see about each of the others."""
        if len({repr(self.world.edits_of_fix(finding)) for finding in findings}) == 1:
            self._refuse_findings(findings, appeared[0].text)
            return
        blamed = {
            key_of_finding(finding): new
            for finding in findings
            for new in [_find_problem_caused_by_fix(finding, appeared)]
            if new is not None
        }
        other_findings = [finding for finding in findings if key_of_finding(finding) not in blamed]
        if blamed and other_findings:
            self._make_fixes(other_findings)
            self._make_fixes(
                self._remaining_findings(finding for finding in findings if key_of_finding(finding) in blamed)
            )
            return
        rules = list(dict.fromkeys(finding.rule for finding in findings))
        if len(rules) > 1:
            half = set(rules[: len(rules) // 2])
            halves = [[finding for finding in findings if (finding.rule in half) is first] for first in (True, False)]
        elif not other_findings and all(
            blamed[key_of_finding(finding)].is_about_changed_part(finding) for finding in findings
        ):
            self.refused.update((key_of_finding(finding), blamed[key_of_finding(finding)].text) for finding in findings)
            return
        else:
            halves = [list(findings[: len(findings) // 2]), list(findings[len(findings) // 2 :])]
        self._make_fixes(halves[0])
        self._make_fixes(self._remaining_findings(halves[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProblem:
    """Something that was not there before a change: in words, and which parts of the fabric it is about."""

    text: str
    parts: frozenset[Subject] = frozenset()
    """Devices, and ports or other parts of devices."""
    finding: Finding | None = None

    def is_about_changed_part(self, finding: Finding) -> bool:
        """Whether a fix changes the very part, and not just something of the same device."""
        return any(
            len(subject) > 1
            for subject in self.parts & _affected_parts(change.subject for change in _changes_of_fix(finding))
        )


def find_new_results(
    outcome_before: FabricOutcome, outcome_after: FabricOutcome, fixed: Collection[FindingKey]
) -> Iterator[NewProblem]:
    """Yield the results of an outcome that an earlier outcome did not have: findings, missing facts, problems, guesses.

    A finding that stays and was not among the `fixed`, with other numbers, may be worse than before.
    """
    had = Counter(map(_key_with_severity, outcome_before.findings))
    numbers = {key_of_finding(old_finding): _numbers_of_finding(old_finding) for old_finding in outcome_before.findings}
    for finding in outcome_after.findings:
        verb = "appear"
        if finding.rule == UNUSED:  # for it has ended what somebody had decided to live with
            continue
        before_key = next((key for key in _keys_at_least_as_severe(finding) if had[key] > 0), None)
        if before_key is not None:
            had[before_key] -= 1
            if key_of_finding(finding) in fixed or numbers.get(key_of_finding(finding), ()) == _numbers_of_finding(
                finding
            ):
                continue
            verb = "say something else"
        about = [finding.subject, finding.at, *(related_part.subject for related_part in finding.related)]
        where = subject_text(finding.subject)
        text = f"{finding.rule} would {verb} at {where}: {finding.message}"
        yield NewProblem(text=text, parts=_affected_parts(about), finding=finding)
    unknown = {
        (unknown_verdict.rule, unknown_verdict.missing): unknown_verdict.subjects_count
        for unknown_verdict in outcome_before.unknown
    }
    fixed_rules = {key[0] for key in fixed}
    for verdict in outcome_after.unknown:
        if verdict.rule not in fixed_rules and is_statement_of_owner(verdict.missing):
            continue  # the fact was missing before: the fix has only given the rule something to ask about
        if verdict.subjects_count > unknown.get((verdict.rule, verdict.missing), 0):
            text = f"{verdict.rule} could not be decided any more: it needs {verdict.missing}"
            yield NewProblem(text=text, parts=frozenset((device,) for device in verdict.devices))
    for problem in outcome_after.problems:
        if problem not in outcome_before.problems:
            yield NewProblem(text=f"there would be a problem: {problem}")
    guessed = {assumption.fact: assumption.value for assumption in outcome_before.assumed}
    for guess in outcome_after.assumed:
        if guessed.get(guess.fact) != guess.value:
            text = f"{guess.fact} would be taken for {guess.value}; state it in fabric.yaml"
            yield NewProblem(text=text)


def _numbers_of_finding(finding: Finding) -> Sequence[tuple[str, float]]:
    """Return the numbers of a finding about one part of a switch; of more parts, they also count the remaining parts.

    The numbers of an analysis often count the others that a part is compared with, and are used in errors only. A value
    that a rule reads from the part itself has a path as its name.
    """
    if len(finding.subject) < 2 or finding.subject[0] == FABRIC_HEAD:
        return ()
    every = finding.severity == "error"
    numbers = [(name, fact) for name, fact in finding.facts.items() if isinstance(fact, int | float)]
    return [(name, fact) for name, fact in numbers if every or "." in name]


def _key_with_severity(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.subject, finding.severity


def _keys_at_least_as_severe(finding: Finding) -> Iterator[tuple[object, ...]]:
    """Yield the keys under which a finding was there before: those of the same severity first, then of higher ones."""
    for severity in reversed(SEVERITIES[: SEVERITIES.index(finding.severity) + 1]):
        yield finding.rule, finding.subject, severity


def _affected_parts(subjects: Iterable[Subject]) -> frozenset[Subject]:
    """Return the devices that subjects are of, and their parts one level down; of a link, both ends."""
    part_subjects: set[Subject] = set()
    for subject in subjects:
        if subject[:2] == (FABRIC_HEAD, "links") and len(subject) > 2:
            part_subjects |= {
                end_part for end in ends_of_cable_key(subject[2]) for end_part in ((end.node,), tuple(end))
            }
        elif subject[0] != FABRIC_HEAD:
            part_subjects |= {subject[:1], subject[:2]}
    return frozenset(part_subjects)


def _changes_of_fix(finding: Finding) -> tuple[Change, ...]:
    return finding.fix.changes if finding.fix else ()


def _find_problem_caused_by_fix(finding: Finding, appeared: "Sequence[NewProblem]") -> "NewProblem | None":
    """Return a finding that a fix may have caused: the same port is nearer than the same device."""
    touched = _affected_parts(change.subject for change in _changes_of_fix(finding)) or _affected_parts(
        [finding.subject]
    )
    for length in (2, 1):
        for new in appeared:
            if any(len(subject) == length for subject in new.parts & touched):
                return new
        if length == 2 and any(len(subject) > 1 for new in appeared for subject in new.parts):
            break
    return None


def _fix_sort_key(finding: Finding) -> tuple[object, ...]:
    """In which order fixes are made where they contradict each other: the worst first."""
    return SEVERITIES.index(finding.severity), finding.rule, subject_sort_key(finding.subject), finding.fingerprint


def _split_conflicting_findings(
    findings: Sequence[Finding], world: FixableDocuments
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings whose changes do not contradict those before them, and those that have to wait."""
    values: dict[Subject, str] = {}
    above: set[Subject] = set()
    together, later = list[Finding](), list[Finding]()
    for finding in findings:
        edits = [(subject, repr(new)) for subject, new in world.edits_of_fix(finding)]
        if any(_contradicts_other_edits(subject, new, values, above) for subject, new in edits):
            later.append(finding)
            continue
        together.append(finding)
        for subject, new in edits:
            values[subject] = new
            above.update(subject[:end] for end in range(1, len(subject)))
    return together, later


def _contradicts_other_edits(subject: Subject, new: str, values: Mapping[Subject, str], above: set[Subject]) -> bool:
    """Whether something else is written at a part, around it or inside it."""
    if subject in above or any(subject[:end] in values for end in range(1, len(subject))):
        return True
    return subject in values and values[subject] != new
