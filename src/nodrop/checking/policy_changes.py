"""What would pass by the policy of a change and fails by that of its base, and the verdict on each change of policy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodrop.checking.blocking_findings import finding
from nodrop.checking.policy import Policies, Policy, PolicyChange, taken_out
from nodrop.checking.two_states import Sides, What
from nodrop.engine.finding import Finding, Located, as_bad
from nodrop.engine.rule import Rule
from nodrop.inputs import Inputs, Text
from nodrop.model.subject import FABRIC, natural, text
from nodrop.report.checked import Settled
from nodrop.report.names import count
from nodrop.report.outcome import Outcome
from nodrop.report.rulings import POLICY
from nodrop.syntax.places import Span

_SHOWN = 5
"""Findings and switches that are named in one verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passing:
    """What a policy lets pass in one fabric: by file, findings that fail as new ones, and those of before."""

    failing: tuple[tuple[PolicyChange | None, Finding], ...] = ()
    before: tuple[tuple[PolicyChange | None, Finding], ...] = ()
    unknown: int = 0
    """Rules that lack a fact, which fail by the policy that is held."""
    lines: int = 0
    """Unknown lines, which fail by the policy that is held and are declared harmless by the other."""
    changes: tuple[PolicyChange, ...] = ()
    """Of files of this fabric."""


def passing(
    policy: Policy,
    outcome: Outcome,
    findings: Settled,
    proposed: Policy,
    would: Outcome,
    rules: Sequence[Rule],
    changes: tuple[PolicyChange, ...],
    own_policy_changes: tuple[PolicyChange, ...],
) -> Passing:
    """Compare what is `outcome` of the new state by the policy that is held with what another one `would` say.

    `rules` are those of the policy that is held; `own_policy_changes` are the changes of files of this fabric.
    """
    failing = {one.fingerprint for one in would.findings if as_bad(one.severity, proposed.fail_on)}
    failing |= {former for one in would.findings if one.fingerprint in failing for former in one.former}
    lost = [one for one in outcome.findings if as_bad(one.severity, policy.fail_on) and one.fingerprint not in failing]
    new = {id(one) for one in findings.new}
    hidden = {one.fingerprint: one for one in would.hidden}
    paths = {rule.name: rule.path for rule in rules}
    every = (*changes, *own_policy_changes)
    told = [(_by(one, hidden.get(one.fingerprint), every, paths), one) for one in lost]
    unknown = len(outcome.unknown) if policy.fail_on == "unknown" != proposed.fail_on else 0
    return Passing(
        failing=tuple(pair for pair in told if id(pair[1]) in new),
        before=tuple(pair for pair in told if id(pair[1]) not in new),
        unknown=unknown,
        lines=max(0, _lines(outcome) - _lines(would)) if policy.fail_on == "unknown" == proposed.fail_on else 0,
        changes=own_policy_changes,
    )


def _lines(outcome: Outcome) -> int:
    """Return how many lines of an outcome are unknown."""
    return sum(len(unknown_verdict.places) for unknown_verdict in outcome.unknown)


def _by(
    one: Finding, hidden: Finding | None, changes: Sequence[PolicyChange], paths: Mapping[str, str]
) -> PolicyChange | None:
    """Return the change that lets a finding pass, the most likely one where several may."""

    def first(*kinds: str) -> PolicyChange | None:
        return next((change for kind in kinds for change in changes if change.kind == kind), None)

    if hidden is not None and hidden.suppressed is not None:
        file, _, line = hidden.suppressed.by.rpartition(":")
        at_line = (
            change for change in changes if change.file == file and (change.kind, str(change.line)) == ("comment", line)
        )
        return next(at_line, None) or next((change for change in changes if change.file == file), None)
    if hidden is not None and hidden.baselined and (policy_change := first("baseline", "config")):
        return policy_change
    path = paths.get(one.rule, "")
    own_policy_change = next((change for change in changes if change.kind == "rule" and change.file == path), None)
    return own_policy_change or first("config", "profile", "fabric", "rule", "baseline", "comment")


def verdicts(policies: Policies, sides: Sides, paths: Sequence[str], passed: Iterable[Passing]) -> Iterator[Finding]:
    """Yield the verdict on each file of a policy that has changed: an error where it lets something pass."""
    passed = tuple(passed)
    out = tuple(_taken_out(policies, sides, paths))
    changes = dict.fromkeys((*policies.changes, *(change for one in passed for change in one.changes)))
    nothing_hidden = not (policies.work or out or any(one.failing or one.unknown or one.lines for one in passed))
    for change in changes:
        failing = [one for each in passed for by, one in each.failing if by == change]
        before = [one for each in passed for by, one in each.before if by == change]
        gone = out if change.kind == "config" else ()
        unknown = sum(each.unknown for each in passed) if change.kind == "config" else 0
        lines = sum(each.lines for each in passed) if change.kind == "config" else 0
        said = []
        if failing:
            said.append(f"{count(len(failing), 'new finding')} would pass: {_some(_render_findings(failing))}")
        if gone:
            said.append(f"{_some(gone)} would no longer be checked")
        if unknown:
            said.append(f"{count(unknown, 'rule')} without a fact would no longer fail")
        if lines:
            said.append(f"{count(lines, 'unknown line')} would no longer fail")
        if before:
            said.append(f"{count(len(before), 'finding')} of before would be hidden: {_some(_render_findings(before))}")
        hides = bool(failing or gone or unknown or lines)
        if nothing_hidden and not before:
            said.append("nothing that is new would pass by it")
        if policies.work and change.kind == "config":
            said.append("both states are checked by it as it is now (--config-from work)")
        place = None if change.line is None else Span(change.line, 1, change.line, 1)
        yield finding(
            POLICY,
            "; ".join((f"{change.file}: {change.what}", *said)),
            (FABRIC, "policy", change.file),
            (FABRIC,),
            f"{change.kind} {change.what}",
            severity="error" if hides and not policies.work else "note",
            located=Located(file=change.file, span=place),
        )


def _render_findings(findings: Iterable[Finding]) -> list[str]:
    return [f"{one.rule} at {text(one.subject)}" for one in findings]


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return f"{', '.join(words[:_SHOWN])}{more}"


def _taken_out(policies: Policies, sides: Sides, paths: Sequence[str]) -> Iterator[str]:
    """Yield the switches and intents that the policy of a change excludes."""
    if policies.proposed is None:
        return
    config = policies.proposed.settings.config
    found = (name for pair in sides.pairs for name, files in files_of(pair.new) if taken_out(config, paths, files))
    yield from sorted(dict.fromkeys(found), key=natural)


def left_by(new: What, sides: Sides) -> Inputs | None:
    """Return the fabric of before that most switches of a new one have left; None where none has been in another."""
    if not isinstance(new, Inputs):
        return None
    names = {bundle.name for bundle in new.bundles}
    found: list[tuple[int, Inputs]] = []
    for pair in sides.pairs:
        if isinstance(pair.old, Inputs):
            staying = {bundle.name for bundle in pair.new.bundles} if isinstance(pair.new, Inputs) else set()
            found.append((len(names & ({bundle.name for bundle in pair.old.bundles} - staying)), pair.old))
    number, was = max(found, key=lambda one: one[0], default=(0, None))
    return was if number else None


def files_of(what: What | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the switches of a fabric with their files; an intent by its path."""
    if isinstance(what, Inputs):
        for bundle in (*what.bundles, *what.hosts):
            yield bundle.name, [one.display for _, one in bundle.files]
    elif isinstance(what, Text):
        yield what.display, [what.display]
