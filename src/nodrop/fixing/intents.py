"""Fixes in an intent: a key that a rule names is set in the text, and the resulting fabric is checked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodrop.engine.finding import Finding
from nodrop.engine.rule import Rule
from nodrop.errors import InputProblems
from nodrop.fabric_readings import read_fabric_or_intent
from nodrop.fixing.fix_selection import FindingKey, FixTrial, key_of_finding
from nodrop.inputs import FileText
from nodrop.intent.load import MAX_INTENT_BYTES
from nodrop.judging import CheckSettings, run_rules
from nodrop.locate import decision_of
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject
from nodrop.results.fixed import RewrittenFile
from nodrop.results.outcome import FabricOutcome
from nodrop.syntax.yaml_set import set_yaml_value

_ANY_KEY = "*"
"""In the path of a rule's `intent_fix`: whatever key decided what the finding is about."""


@dataclass(frozen=True)
class ChangedIntent:
    """An intent as far as it is changed, and its result."""

    text: FileText
    raw: bytes
    reading: Reading
    outcome: FabricOutcome
    judge: "JudgeOfIntents"

    def edits_of_fix(self, finding: Finding) -> Sequence[tuple[Subject, object]]:
        """Return the keys that end a finding, and their values."""
        return intent_values_of_fix(finding, self.reading)

    def try_fixes(self, findings: Sequence[Finding]) -> "FixTrial[ChangedIntent]":
        """Return the intent with the keys set that findings ask for."""
        raw, by_hand = self.raw, dict[FindingKey, str]()
        for finding in findings:
            try:
                for path, value in self.edits_of_fix(finding):
                    raw = set_yaml_value(raw, path, value)
            except ValueError as error:
                by_hand[key_of_finding(finding)] = f"{'.'.join(path)}: {error}"
        world = self if raw == self.raw else self.judge.judge_intent_text(self.text, raw, self)
        return FixTrial(world=world, by_hand=by_hand)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOfIntents:
    """How an intent is judged after every step: by all rules."""

    rules: Sequence[Rule]
    settings: CheckSettings

    def judge_intent_text(self, text: FileText, raw: bytes, before: ChangedIntent | None = None) -> ChangedIntent:
        """Return a text with the findings of its result; a text that cannot be built is an additional problem."""
        new_text = replace(text, path=None, held=raw)
        try:
            reading = read_fabric_or_intent(new_text, self.settings)
        except InputProblems as error:
            if before is None:
                raise
            return replace(before, raw=raw, outcome=replace(before.outcome, problems=error.problems))
        return ChangedIntent(text, raw, reading, self.check_reading(reading, self.settings), self)

    def open_documents(self, text: FileText) -> ChangedIntent:
        """Return the given intent; InputProblems where it cannot be read or built."""
        return self.judge_intent_text(text, text.read_bytes(MAX_INTENT_BYTES))

    def check_reading(self, reading: Reading, settings: CheckSettings) -> FabricOutcome:
        """Return the verdict of the rules, with the places that the settings ask for."""
        return run_rules(reading, self.rules, settings)


def intent_values_of_fix(finding: Finding, reading: Reading) -> Sequence[tuple[Subject, object]]:
    """Return the values that a fix sets in an intent; nothing where the fix has no such key."""
    fixes = [(tuple(path.split(".")), value) for path, value in finding.fix.intent] if finding.fix else []
    if not any(_ANY_KEY in path for path, _ in fixes):
        return fixes
    decision = decision_of(finding, reading)
    by = () if decision is None else tuple(map(str, decision.keys))
    resolved = [(_resolve_wildcards(path, by), value) for path, value in fixes]
    resolved_fixes = [(path, value) for path, value in resolved if path is not None]
    return resolved_fixes if len(resolved_fixes) == len(resolved) else []


def _resolve_wildcards(path: Subject, by: Subject) -> Subject | None:
    """Return a path with each `*` as the key that decided has it; None where that leads elsewhere before the last."""
    last = max((at for at, key in enumerate(path) if key == _ANY_KEY), default=-1)
    if any(key not in (_ANY_KEY, decision_key) for key, decision_key in zip(path[: last + 1], by, strict=False)):
        return None
    all_keys = (*by, *[_ANY_KEY] * len(path))
    new_path = tuple(
        decision_key if key == _ANY_KEY else key for key, decision_key in zip(path, all_keys, strict=False)
    )
    return None if _ANY_KEY in new_path else new_path


def find_rewritten_intent(written_before: ChangedIntent, written_after: ChangedIntent) -> tuple[RewrittenFile, ...]:
    """Return the intent's new text, if it has one."""
    if written_before.raw == written_after.raw:
        return ()
    text = written_before.text
    return (
        RewrittenFile(
            device="",
            name=text.display,
            display=text.display,
            path=text.path,
            old=written_before.raw,
            new=written_after.raw,
        ),
    )
