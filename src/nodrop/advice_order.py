"""The order and places of corrections: which findings wait for others, and what hosts and ports findings are about."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.engine.finding import SEVERITIES, Finding
from nodrop.identity import IdentityMap
from nodrop.model.change import Change, EditResult
from nodrop.model.fields import FIELD_TABLE
from nodrop.model.qos import QosProfile
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key, natural_sort_key

AdviceGroupKey = tuple[str, str, str | None]
"""Rule, group and switch of findings that share their commands."""
_PREREQUISITES_BY_SETTING = {
    ("qos", *path.split("/")): {("qos", name) for name in row.follows}
    for path, row in FIELD_TABLE[QosProfile].items()
    if row.follows
}
"""Settings of a port whose right value follows from other settings of it, by their paths."""


def advice_key_of_finding(finding: Finding) -> AdviceGroupKey:
    """Return the key of the findings that share the commands of one."""
    return finding.rule, finding.group, finding.device


def find_rules_to_correct_first(findings: Sequence[Finding]) -> IdentityMap[Finding, str]:
    """Return the rule to correct first, by each finding whose changes that correction would contradict.

    The other findings of its group on the switch wait too: half of a group ended, its ports would differ.
    """
    by_port: dict[Subject, list[tuple[Finding, dict[Subject, object]]]] = {}
    for finding in findings:
        if finding.hidden or finding.fix is None:
            continue
        changes: dict[Subject, dict[Subject, object]] = {}
        for change in finding.fix.changes:
            if is_port_change(change):
                changes.setdefault(change.subject[:2], {})[change.subject[2:]] = change.new
        for port, new_values in changes.items():
            by_port.setdefault(port, []).append((finding, new_values))
    first = IdentityMap((finding, finding.corrected_after) for finding in findings if finding.corrected_after)
    for finding, rule in _find_stated_predecessors(findings):
        first.setdefault(finding, rule)
    for fixes in by_port.values():
        if len({finding.rule for finding, _ in fixes}) < 2:
            continue
        fixes.sort(key=lambda fix: (SEVERITIES.index(fix[0].severity), fix[0].rule))
        for position, (finding, new_values) in enumerate(fixes):
            for other_position, (other, other_values) in enumerate(fixes):
                if other.rule == finding.rule or other.explained_by == finding.group:
                    continue
                differs = other_position < position and _do_changes_conflict(new_values, other_values)
                if differs or _depends_on_other_change(new_values, other_values):
                    first.setdefault(finding, other.rule)
    by_group = {advice_key_of_finding(finding): first[finding] for finding in reversed(findings) if finding in first}
    return IdentityMap(
        (finding, by_group[key]) for finding in findings if (key := advice_key_of_finding(finding)) in by_group
    )


def _find_stated_predecessors(findings: Sequence[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield the findings that wait for those of another rule on their switch because their own rule says so."""
    correctable = {
        (finding.device, finding.rule)
        for finding in findings
        if finding.fix and not finding.hidden and (finding.fix.changes or finding.fix.spelled or finding.fix.choices)
    }
    for finding in findings:
        for rule in finding.fix.after if finding.fix else ():
            if (finding.device, rule) in correctable:
                yield finding, rule
                break


def _do_changes_conflict(new_values: Mapping[Subject, object], other_values: Mapping[Subject, object]) -> bool:
    """Whether two changes set one part of a port to different values."""
    return any(repr(new_values[field]) != repr(other_values[field]) for field in new_values.keys() & other_values)


def _depends_on_other_change(new_values: Mapping[Subject, object], other_values: Mapping[Subject, object]) -> bool:
    """Whether a change sets what follows from settings that only the other change sets."""
    return any(
        not causes & new_values.keys() and bool(causes & other_values.keys())
        for field, causes in _PREREQUISITES_BY_SETTING.items()
        if field in new_values
    )


def is_port_change(change: Change) -> bool:
    """Whether a change is of a part of a port."""
    return len(change.subject) > 2 and not change.subject[1].startswith("@")


def host_of_finding(finding: Finding) -> str:
    """Return the host that a finding is about; "" where it is about none."""
    return next((subject[2] for subject in (finding.subject, finding.at) if subject[1:2] == ("hosts",)), "")


def port_of_finding(finding: Finding) -> str:
    """Return the port that a finding points at or is about; "" where it is about none."""
    for subject in (finding.at, finding.subject):
        if subject[0] == finding.device and len(subject) > 1 and not subject[1].startswith("@"):
            return subject[1]
        if subject[:2] == (FABRIC_HEAD, "links"):
            return next((end.port for end in ends_of_cable_key(subject[2]) if end.node == finding.device), "")
    return ""


def ports_changed_by_edit(changes: Iterable[Change], edit: EditResult) -> tuple[str, ...]:
    """Return the ports that an edit for changes is about, and those that follow because they share an object."""
    of_groups = {port for hand in edit.by_hand for port in hand.ports}
    all_changes = (*changes, *edit.follows)
    return tuple(
        sorted(
            {*of_groups, *(change.subject[1] for change in all_changes if is_port_change(change))},
            key=natural_sort_key,
        )
    )
