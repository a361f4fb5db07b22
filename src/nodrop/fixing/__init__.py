"""Findings that end: the changes that rules ask for, made in the given files, and checked again before they count.

`fix` is pure: it reads its inputs and writes nothing. Fixes are changes of the model, which each platform draws into
its own documents; a fix that causes anything new is rejected.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from nodrop import platforms
from nodrop.engine.finding import Finding
from nodrop.engine.rules import select_lint_rules
from nodrop.fixing.files import FilesDuringFix, JudgeOfFiles, build_patches, find_rewritten_files
from nodrop.fixing.fix_selection import FixSelector, key_of_finding
from nodrop.fixing.intents import ChangedIntent, JudgeOfIntents
from nodrop.fixing.intents import find_rewritten_intent as rewritten_intent
from nodrop.inputs import FabricInputs, FileText
from nodrop.judging import CheckSettings, all_rules, chosen_rules
from nodrop.locate import add_finding_places
from nodrop.model.reading import Reading
from nodrop.results.fixed import FixedFabric, RemainingFinding, RewrittenFile, SwitchPatch, UnfixedReason
from nodrop.results.outcome import FabricOutcome

__all__ = ["fix"]

EditGuard = Callable[[FileText], str]
"""Says why a file may not be changed; nothing where it may."""


def fix(
    fabric_source: FabricInputs | FileText,
    settings: CheckSettings,
    *,
    unsafe: bool = False,
    executor: Executor | None = None,
    guard: EditGuard = lambda _: "",
) -> FixedFabric:
    """Fix the fixable findings in the files of one fabric, or in an intent, in memory, by the rules that were chosen.

    Only safe fixes, unless `unsafe`. Nothing new may be found afterwards by any rule, chosen or not. `guard` gives for
    each file the reason why it may not be changed. InputProblems as in `judging.chosen_rules`, and for an intent that
    cannot be built; faults in files of switches are among the problems of the outcome.
    """
    names = {rule.name for rule in chosen_rules(settings)}
    rules = select_lint_rules(all_rules(settings.config, settings.store))
    quick = replace(settings, whole=False, advised=False)

    def fixable(finding: Finding) -> bool:
        allowed = finding.fix is not None and (unsafe or finding.fix.safe)
        return (
            allowed
            and finding.rule in names
            and bool(world.edits_of_fix(finding))
            and not _reason_against_edit(finding, reasons)
        )

    world: FilesDuringFix | ChangedIntent
    if isinstance(fabric_source, FabricInputs):
        judge = JudgeOfFiles(rules=rules, settings=quick)
        world = files = judge.open_documents(fabric_source, executor)
        reasons = _find_guard_reasons(files, guard)
        settler = FixSelector(files, fixable)
        settler.make_all_fixes()
        return _make_fix_result(
            _FixReport(files, settler, reasons, names, settings),
            rewritten=tuple(find_rewritten_files(files, settler.world)),
            patches=tuple(build_patches(files, settler.world)),
        )
    world = intent = JudgeOfIntents(rules=rules, settings=quick).open_documents(fabric_source)
    reasons = {}
    new_settler = FixSelector(intent, fixable)
    new_settler.make_all_fixes()
    return _make_fix_result(
        _FixReport(intent, new_settler, reasons, names, settings), rewritten=rewritten_intent(intent, new_settler.world)
    )


_W = TypeVar("_W", FilesDuringFix, ChangedIntent)


@dataclass(frozen=True)
class _FixReport(Generic[_W]):
    """The report of a fabric or intent once all fixable findings are fixed."""

    before: _W
    settler: FixSelector[_W]
    reasons: Mapping[str | None, str]
    names: Collection[str]
    settings: CheckSettings


def _make_fix_result(
    fix_run: _FixReport[_W], *, rewritten: tuple[RewrittenFile, ...], patches: tuple[SwitchPatch, ...] = ()
) -> FixedFabric:
    before, after = fix_run.before, fix_run.settler.world
    outcome = _filter_by_rules(after.judge.check_reading(after.reading, fix_run.settings), fix_run.names)
    fixed_findings = _find_gone_findings(_filter_by_rules(before.outcome, fix_run.names).findings, outcome.findings)
    left_findings = [_explain_left_finding(finding, fix_run) for finding in outcome.findings]
    return FixedFabric(
        outcome=outcome,
        made=_locate_findings(fixed_findings, before.reading) if fix_run.settings.whole else tuple(fixed_findings),
        remaining=_locate_left_findings(left_findings, after.reading),
        rewritten=rewritten,
        patches=patches,
    )


def _locate_findings(findings: Iterable[Finding], reading: Reading) -> tuple[Finding, ...]:
    return add_finding_places(findings, reading, platforms.make_place_finder).findings


def _locate_left_findings(left_findings: Sequence[RemainingFinding], reading: Reading) -> tuple[RemainingFinding, ...]:
    """Return findings that are left, those to be ended by hand each with its place."""
    typed = [left_finding for left_finding in left_findings if left_finding.reason == "by hand"]
    located = iter(_locate_findings([left_finding.finding for left_finding in typed], reading))
    return tuple(
        replace(left_finding, finding=next(located)) if left_finding.reason == "by hand" else left_finding
        for left_finding in left_findings
    )


def _find_guard_reasons(files: FilesDuringFix, guard: EditGuard) -> dict[str | None, str]:
    """Return why the files of devices may not be changed, by device."""
    reasons = {
        device: next((why for _, text in files.bundle(number).files if (why := guard(text))), "")
        for device, number in files.bundle_number_by_device.items()
    }
    return {device: why for device, why in reasons.items() if why}


def _reason_against_edit(finding: Finding, reasons: Mapping[str | None, str]) -> str:
    """Return why the files may not be changed that a finding is about, or that its fix changes; "" where they may."""
    changed = [change.subject[0] for change in finding.fix.changes] if finding.fix else []
    return next((reasons[name] for name in (finding.device, *changed) if name in reasons), "")


def _filter_by_rules(outcome: FabricOutcome, rule_names: Collection[str]) -> FabricOutcome:
    """Return the results of the rules with these names."""
    return replace(
        outcome,
        findings=tuple(finding for finding in outcome.findings if finding.rule in rule_names),
        hidden=tuple(finding for finding in outcome.hidden if finding.rule in rule_names),
        unknown=tuple(unknown_verdict for unknown_verdict in outcome.unknown if unknown_verdict.rule in rule_names),
    )


def _find_gone_findings(before: Iterable[Finding], after: Iterable[Finding]) -> Iterable[Finding]:
    counts_by_key = Counter(map(key_of_finding, after))
    for finding in before:
        if counts_by_key[key_of_finding(finding)] > 0:
            counts_by_key[key_of_finding(finding)] -= 1
        else:
            yield finding


def _explain_left_finding(finding: Finding, fix_run: _FixReport[_W]) -> RemainingFinding:
    """Return a finding that is left, with the reason."""
    key, settler = key_of_finding(finding), fix_run.settler
    why: UnfixedReason = "unsafe"
    text = ""
    if not settler.world.edits_of_fix(finding):
        why, text = "no fix", finding.fix.text if finding.fix else ""
    elif reason := _reason_against_edit(finding, fix_run.reasons):
        why, text = "generated", reason
    elif key in settler.refused:
        why, text = "refused", settler.refused[key]
    elif key in settler.by_hand:
        why, text = "by hand", settler.by_hand[key]
    return RemainingFinding(finding=finding, reason=why, text=text)
