"""From findings to what to type: which findings get commands, and in which order they are corrected.

Findings of one group on one switch share their commands (`fix_commands.py`). A finding that another one on its port
contradicts has no commands: the other is corrected first.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from nodrop.advice_order import AdviceGroupKey, advice_key_of_finding, find_rules_to_correct_first
from nodrop.engine.finding import Finding
from nodrop.fix_commands import FixCommandMaker, GroupCommands, RemarkKey, remark_key
from nodrop.identity import IdentityMap, IdentitySet
from nodrop.model.reading import Reading
from nodrop.results.outcome import first_shown_findings

_GroupKey = tuple[str, str, str]
"""Rule, severity and `group` of findings that a report shows as one."""


class _AdvicePlan(NamedTuple):
    """The findings that get advice, as they are folded: which wait for others, and which share commands."""

    advised: IdentitySet[Finding]
    first: IdentityMap[Finding, str]
    """The rule to correct first, by each finding that waits."""
    groups: dict[AdviceGroupKey, dict[int, Finding]]
    """The findings that share commands, by their numbers among all; none of a group that waits."""
    completed: set[AdviceGroupKey]
    """The groups whose commands also prevent the findings that their corrections would cause."""


def add_fix_commands(
    findings: tuple[Finding, ...], reading: Reading, advised: bool = True, *, whole: bool = True
) -> tuple[Finding, ...]:
    """Return findings with the commands that end them and those of their group on the same switch.

    Unless `whole`, only those get them that a short report shows; where nobody is `advised`, none does. What an intent
    was built into gets no commands: its files are built again.

    A finding that is folded under its cause is unfolded if the commands of the cause would not end it. A reader's
    remark is folded under the group whose commands end it.
    """
    if reading.decided is not None or not advised:
        return findings
    maker, separated = FixCommandMaker(reading), set[tuple[_GroupKey, str]]()
    while True:
        plan = _plan_advice(findings, whole=whole)
        made = {key: maker.make_commands(group) for key, group in plan.groups.items()}
        causes = _find_causes_to_change(findings, made, separated)
        if not causes:
            return tuple(_add_advice(finding, plan, made) for finding in findings)
        separated |= {(key, finding.explained_by) for finding in findings if (key := _key_of_group(finding)) in causes}
        findings = tuple(
            replace(finding, explained_by=causes[key]) if (key := _key_of_group(finding)) in causes else finding
            for finding in findings
        )


def _plan_advice(findings: tuple[Finding, ...], *, whole: bool) -> _AdvicePlan:
    """Return which findings get advice, where some wait, and which share commands."""
    shown = findings if whole else first_shown_findings(finding for finding in findings if not finding.hidden)
    advised = IdentitySet(finding for finding in shown if finding.fix is not None)
    wanted = {advice_key_of_finding(finding) for finding in findings if finding in advised}
    first = find_rules_to_correct_first(findings)
    groups: dict[AdviceGroupKey, dict[int, Finding]] = {}
    for number, finding in enumerate(findings):
        if not finding.hidden and finding.fix is not None and (key := advice_key_of_finding(finding)) in wanted:
            group = groups.setdefault(key, {})
            if finding not in first:
                group[number] = finding
    completed = {advice_key_of_finding(finding) for finding in findings if finding.fix and finding.fix.completing}
    return _AdvicePlan(advised, first, groups, completed)


def _find_causes_to_change(
    findings: tuple[Finding, ...],
    made: Mapping[AdviceGroupKey, GroupCommands],
    separated: Container[tuple[_GroupKey, str]],
) -> dict[_GroupKey, str]:
    """Return the groups to unfold, with "", or else those to fold, with the `group` of their cause.

    A group is not folded under a cause from which it was separated.
    """
    later = {finding.group for finding in findings if finding.corrected_after}
    unmade = {group for (_, group, _), given in made.items() if not given.make_changes} - later
    if unfolded := {_key_of_group(finding): "" for finding in findings if finding.explained_by in unmade}:
        return unfolded
    remarks_by_cause: dict[str, set[RemarkKey]] = {}
    for (_, group, _), given in made.items():
        if given.make_changes:
            remarks_by_cause.setdefault(group, set()).update(given.ended_remarks)
    return _find_ended_remark_groups(findings, remarks_by_cause, separated)


def _add_advice(finding: Finding, plan: _AdvicePlan, made: Mapping[AdviceGroupKey, GroupCommands]) -> Finding:
    """Return a finding with its commands, or with the rule to correct first."""
    if finding.fix is None or finding not in plan.advised:
        return finding
    if rule := plan.first.get(finding, ""):
        text = f"correct {rule} first, then check again: {finding.fix.text}"
        return replace(finding, fix=replace(finding.fix, text=text, commands=()))
    key = advice_key_of_finding(finding)
    given = made.get(key, GroupCommands())
    if not given.commands:
        return finding
    text = finding.fix.text
    if finding.causes_findings_of:
        text += _describe_caused_findings(finding, prevented=given.make_changes and key in plan.completed)
    if given.outdated_names:
        text += f"; {' and '.join(given.outdated_names)} would still state the former number: rename it when convenient"
    return replace(finding, fix=replace(finding.fix, text=text, commands=given.commands))


def _describe_caused_findings(finding: Finding, *, prevented: bool) -> str:
    """Return which findings the correction of one causes, or that its commands prevent them."""
    rules = " and ".join(finding.causes_findings_of)
    return f"; the commands also prevent {rules}" if prevented else f"; check again afterwards: {rules} will be found"


def _find_ended_remark_groups(
    findings: Iterable[Finding],
    remarks_by_cause: Mapping[str, set[RemarkKey]],
    separated: Container[tuple[_GroupKey, str]],
) -> dict[_GroupKey, str]:
    """Return the groups of readers' remarks that the commands for another group end, with the `group` of that.

    Not those that explain others themselves, or are worse than a note that would explain them.
    """
    causes = {finding.explained_by for finding in findings}
    groups: dict[_GroupKey, list[Finding]] = {}
    severity_by_group: dict[str, str] = {}
    for finding in findings:
        severity_by_group.setdefault(finding.group, finding.severity)
        if not finding.hidden and not finding.explained_by and finding.group not in causes:
            groups.setdefault(_key_of_group(finding), []).append(finding)
    ended: dict[_GroupKey, str] = {}
    for key, group in groups.items():
        for cause, remarks in remarks_by_cause.items():
            is_worse = severity_by_group[cause] == "note" != group[0].severity
            others = {key[2], *(ended_key[2] for ended_key in ended)}
            allowed = cause not in others and (key, cause) not in separated
            if allowed and not is_worse and remarks.issuperset(map(remark_key, group)):
                ended[key] = cause
                break
    return {key: cause for key, cause in ended.items() if cause not in {ended_key[2] for ended_key in ended}}


def _key_of_group(finding: Finding) -> _GroupKey:
    return finding.rule, finding.severity, finding.group
