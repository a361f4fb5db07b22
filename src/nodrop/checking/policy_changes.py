"""What would pass by the policy of a change and fails by that of its base, and the verdict on each change of policy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodrop.checking.blocking_findings import build_change_finding
from nodrop.checking.policy import CheckPolicy, PolicyFileChange, PolicyPair, is_excluded
from nodrop.checking.two_states import ComparedFabrics, FabricSource
from nodrop.engine.finding import FileLocation, Finding, reaches_threshold
from nodrop.engine.rule import Rule
from nodrop.identity import IdentitySet
from nodrop.inputs import FabricInputs, FileText
from nodrop.model.subject import FABRIC_HEAD, natural_sort_key, subject_text
from nodrop.report.names import format_count
from nodrop.results.checked import FindingChanges
from nodrop.results.outcome import FabricOutcome
from nodrop.results.rulings import POLICY_CHANGED
from nodrop.syntax.places import Span

_MAX_NAMED_IN_VERDICT = 5
"""Findings and switches that are named in one verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewlyPassingFindings:
    """The findings that a policy allows in one fabric: by file, findings that fail as new ones, and those of before."""

    failing: tuple[tuple[PolicyFileChange | None, Finding], ...] = ()
    before: tuple[tuple[PolicyFileChange | None, Finding], ...] = ()
    unknown: int = 0
    """Rules that lack a fact, which fail by the policy that is held."""
    lines: int = 0
    """Unknown lines, which fail by the policy that is held and are declared harmless by the other."""
    changes: tuple[PolicyFileChange, ...] = ()
    """Of files of this fabric."""


def compare_policies(
    policy: CheckPolicy,
    outcome: FabricOutcome,
    findings: FindingChanges,
    proposed: CheckPolicy,
    would: FabricOutcome,
    rules: Sequence[Rule],
    changes: tuple[PolicyFileChange, ...],
    own_policy_changes: tuple[PolicyFileChange, ...],
) -> NewlyPassingFindings:
    """Compare the `outcome` of the new state by the policy in force with what `would` result by another policy.

    `rules` are those of the policy in force; `own_policy_changes` are the changes of files of this fabric.
    """
    failing = {
        proposed_finding.fingerprint
        for proposed_finding in would.findings
        if reaches_threshold(proposed_finding.severity, proposed.fail_on)
    }
    failing |= {
        former
        for proposed_finding in would.findings
        if proposed_finding.fingerprint in failing
        for former in proposed_finding.former
    }
    lost = [
        base_finding
        for base_finding in outcome.findings
        if reaches_threshold(base_finding.severity, policy.fail_on) and base_finding.fingerprint not in failing
    ]
    new = IdentitySet(findings.new)
    hidden = {hidden_finding.fingerprint: hidden_finding for hidden_finding in would.hidden}
    paths = {rule.name: rule.path for rule in rules}
    every = (*changes, *own_policy_changes)
    finding_causes = [
        (_find_responsible_change(lost_finding, hidden.get(lost_finding.fingerprint), every, paths), lost_finding)
        for lost_finding in lost
    ]
    unknown = len(outcome.unknown) if policy.fail_on == "unknown" != proposed.fail_on else 0
    return NewlyPassingFindings(
        failing=tuple(pair for pair in finding_causes if pair[1] in new),
        before=tuple(pair for pair in finding_causes if pair[1] not in new),
        unknown=unknown,
        lines=max(0, _count_unknown_lines(outcome) - _count_unknown_lines(would))
        if policy.fail_on == "unknown" == proposed.fail_on
        else 0,
        changes=own_policy_changes,
    )


def _count_unknown_lines(outcome: FabricOutcome) -> int:
    """Return how many lines of an outcome are unknown."""
    return sum(len(unknown_verdict.places) for unknown_verdict in outcome.unknown)


def _find_responsible_change(
    lost_finding: Finding, hidden: Finding | None, changes: Sequence[PolicyFileChange], paths: Mapping[str, str]
) -> PolicyFileChange | None:
    """Return the change that lets a finding pass, the most likely one where several may."""

    def first(*kinds: str) -> PolicyFileChange | None:
        return next((change for kind in kinds for change in changes if change.kind == kind), None)

    if hidden is not None and hidden.suppressed is not None:
        file, _, line = hidden.suppressed.location.rpartition(":")
        at_line = (
            change for change in changes if change.file == file and (change.kind, str(change.line)) == ("comment", line)
        )
        return next(at_line, None) or next((change for change in changes if change.file == file), None)
    if hidden is not None and hidden.baselined and (policy_change := first("baseline", "config")):
        return policy_change
    path = paths.get(lost_finding.rule, "")
    own_policy_change = next((change for change in changes if change.kind == "rule" and change.file == path), None)
    return own_policy_change or first("config", "profile", "fabric", "rule", "baseline", "comment")


def policy_verdicts(
    policies: PolicyPair, both_states: ComparedFabrics, paths: Sequence[str], passed: Iterable[NewlyPassingFindings]
) -> Iterator[Finding]:
    """Yield the verdict on each file of a policy that has changed: an error where it lets something pass."""
    passed = tuple(passed)
    out = tuple(_names_excluded_by_policy(policies, both_states, paths))
    changes = dict.fromkeys((*policies.changes, *(change for report in passed for change in report.changes)))
    nothing_hidden = not (
        policies.work or out or any(report.failing or report.unknown or report.lines for report in passed)
    )
    for change in changes:
        failing = [passing_finding for report in passed for by, passing_finding in report.failing if by == change]
        before = [earlier_finding for report in passed for by, earlier_finding in report.before if by == change]
        gone = out if change.kind == "config" else ()
        unknown = sum(report.unknown for report in passed) if change.kind == "config" else 0
        lines = sum(report.lines for report in passed) if change.kind == "config" else 0
        messages = []
        if failing:
            messages.append(
                f"{format_count(len(failing), 'new finding')} would pass: "
                f"{_format_first_names(_render_findings(failing))}"
            )
        if gone:
            messages.append(f"{_format_first_names(gone)} would no longer be checked")
        if unknown:
            messages.append(f"{format_count(unknown, 'rule')} without a fact would no longer fail")
        if lines:
            messages.append(f"{format_count(lines, 'unknown line')} would no longer fail")
        if before:
            messages.append(
                f"{format_count(len(before), 'finding')} of before would be hidden: "
                f"{_format_first_names(_render_findings(before))}"
            )
        hides = bool(failing or gone or unknown or lines)
        if nothing_hidden and not before:
            messages.append("nothing that is new would pass by it")
        if policies.work and change.kind == "config":
            messages.append("both states are checked by it as it is now (--config-from work)")
        place = None if change.line is None else Span(change.line, 1, change.line, 1)
        yield build_change_finding(
            POLICY_CHANGED,
            "; ".join((f"{change.file}: {change.what}", *messages)),
            (FABRIC_HEAD, "policy", change.file),
            (FABRIC_HEAD,),
            f"{change.kind} {change.what}",
            severity="error" if hides and not policies.work else "note",
            located=FileLocation(file=change.file, span=place),
        )


def _render_findings(findings: Iterable[Finding]) -> list[str]:
    return [f"{listed_finding.rule} at {subject_text(listed_finding.subject)}" for listed_finding in findings]


def _format_first_names(words: Sequence[str]) -> str:
    count_suffix = f" and {len(words) - _MAX_NAMED_IN_VERDICT} more" if len(words) > _MAX_NAMED_IN_VERDICT else ""
    return f"{', '.join(words[:_MAX_NAMED_IN_VERDICT])}{count_suffix}"


def _names_excluded_by_policy(policies: PolicyPair, sides: ComparedFabrics, paths: Sequence[str]) -> Iterator[str]:
    """Yield the switches and intents that the policy of a change excludes."""
    if policies.proposed is None:
        return
    config = policies.proposed.settings.config
    names = (
        name for pair in sides.pairs for name, files in files_by_switch(pair.new) if is_excluded(config, paths, files)
    )
    yield from sorted(dict.fromkeys(names), key=natural_sort_key)


def find_previous_fabric(new_source: FabricSource, both_states: ComparedFabrics) -> FabricInputs | None:
    """Return the fabric of before that most switches of a new one have left; None where none has been in another."""
    if not isinstance(new_source, FabricInputs):
        return None
    names = {bundle.name for bundle in new_source.bundles}
    candidates: list[tuple[int, FabricInputs]] = []
    for pair in both_states.pairs:
        if isinstance(pair.old, FabricInputs):
            staying = {bundle.name for bundle in pair.new.bundles} if isinstance(pair.new, FabricInputs) else set()
            candidates.append((len(names & ({bundle.name for bundle in pair.old.bundles} - staying)), pair.old))
    number, was = max(candidates, key=lambda candidate: candidate[0], default=(0, None))
    return was if number else None


def files_by_switch(source: FabricSource | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the switches of a fabric with their files; an intent by its path."""
    if isinstance(source, FabricInputs):
        for bundle in (*source.bundles, *source.hosts):
            yield bundle.name, [file.display for _, file in bundle.files]
    elif isinstance(source, FileText):
        yield source.display, [source.display]
