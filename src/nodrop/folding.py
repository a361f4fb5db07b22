"""Findings that another one explains: the correction of the other ends them too. Reports fold them under it.

The facts that a fix sets were found wrong. For each group of findings whose fix is known, the rules that read these
facts are checked again with the facts corrected, on one switch of the group and those cabled to it. What ends there on
every port, without a new finding, is explained; a note explains nothing worse. Of causes that end each other, the one
that ends most groups counts, then the one with the smallest change, then the first of the report.

Most corrections end no other group. So the corrected fabric is checked first, by the rules of the other groups. The
rule of the group itself, and the fabric before, follow only if a group has ended.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from nodrop.engine.finding import SEVERITIES, FabricVerdict, Finding
from nodrop.engine.rule import Rule
from nodrop.limits import MAX_CAUSE_CORRECTION_CHANGES, MAX_CAUSE_CORRECTION_TRIALS
from nodrop.model.change import FILE_SETTING_AREA, Change
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric, Link
from nodrop.model.reading import Reading
from nodrop.model.subject import FABRIC_HEAD
from nodrop.results.outcome import group_findings

CheckReading = Callable[[Reading, Sequence[Rule]], FabricVerdict]
"""The check of a fabric by rules, with the settings of the command."""
_DEVICE_FIELD_BY_AREA = {"@neighbors": "bgp", "@vrf_bgp": "bgp"}
"""The fields of a switch that subjects name otherwise."""
_MAX_DEVICES_TO_RECHECK_WHOLE = 16
"""Up to how many switches rules that read the whole fabric are checked again."""


def fold_findings(
    findings: tuple[Finding, ...], reading: Reading, rules: Iterable[Rule], check: CheckReading
) -> tuple[Finding, ...]:
    """Return findings, those that another one explains with its group as `explained_by`.

    `rules` are those that found them. Nothing is folded where the mode of a switch is not known.
    """
    shown = [finding for finding in findings if not finding.hidden]
    if reading.possible or not any(finding.fix and finding.fix.changes for finding in shown):
        return findings
    groups = group_findings(shown)
    if len(groups) < 2:
        return findings
    trials = _CorrectionTrials(groups, reading, rules, check)
    candidates = {
        number: trials.find_ended_groups(number) for number in range(min(len(groups), MAX_CAUSE_CORRECTION_TRIALS))
    }
    causes: set[int] = set()
    explained: dict[int, int] = {}
    for number in sorted(
        candidates, key=lambda number: (-len(candidates[number]), trials.count_changed_facts(number), number)
    ):
        ended = [other for other in candidates[number] if other not in explained and other not in causes]
        if ended and number not in explained:
            causes.add(number)
            explained.update(dict.fromkeys(ended, number))
    by_group = {
        (groups[number][0].rule, groups[number][0].severity, groups[number][0].group): groups[cause][0].group
        for number, cause in explained.items()
    }
    return tuple(
        replace(finding, explained_by=by_group[finding.rule, finding.severity, finding.group])
        if not finding.hidden and (finding.rule, finding.severity, finding.group) in by_group
        else finding
        for finding in findings
    )


class _CorrectionTrials:
    """Corrections of one switch of each group, and the findings that end with them."""

    def __init__(
        self, groups: Sequence[tuple[Finding, ...]], reading: Reading, rules: Iterable[Rule], check: CheckReading
    ) -> None:
        self._groups, self._reading, self._check = groups, reading, check
        self._rules = {rule.name: rule for rule in rules}
        self._switches = {device.name for device in reading.fabric.devices}
        self._homes = [[self._home(finding) for finding in group] for group in groups]
        self._old: dict[frozenset[str], dict[str, set[str]]] = {}
        """What rules find among some switches as they are, by the names of these and of the rule."""

    def count_changed_facts(self, number: int) -> int:
        """Return how many facts the correction of a group changes on its first switch."""
        return len(self._changes_ending_group(number) or ())

    def find_ended_groups(self, number: int) -> tuple[int, ...]:
        """Return the other groups that end with the correction of one; none if it is not known, or does not help."""
        changes = self._changes_ending_group(number)
        if not changes:
            return ()
        device = self._homes[number][0]
        corrected = {
            _DEVICE_FIELD_BY_AREA.get(name, name.removeprefix("@")) for change in changes for name in change.subject[1:]
        }
        affected = [other for other in self._affected_groups(number) if self._reads(other, corrected)]
        if not affected:
            return ()
        others = {change.subject[0] for change in changes} | self._other_switches_mentioned(number)
        near = self._find_nearby_switches(device, others)
        try:
            after = _apply_changes(self._nearby_fabric(near), changes)
        except ValueError:
            return ()
        rules = self._rules_of((number, *affected))
        first = rules if any(rule.reads_other_findings for rule in rules) else self._rules_of(affected)
        new = self._fingerprints(after, first)
        on_switch = {other: self._fingerprints_on(other, self._home_of_group(other, device)) for other in affected}
        ended = [other for other in affected if not on_switch[other] & new]
        if not ended:
            return ()
        if len(first) < len(rules):
            new |= self._fingerprints(after, rules[:1])
        if self._fingerprints_on(number, device) & new:
            return ()
        old = self._old_fingerprints(near, rules)
        if new - old:
            return ()
        return tuple(other for other in ended if on_switch[other] <= old)

    def _rules_of(self, numbers: Iterable[int]) -> list[Rule]:
        """Return the rules of groups, each once, in the order of the groups."""
        return [self._rules[name] for name in dict.fromkeys(self._groups[number][0].rule for number in numbers)]

    def _home_of_group(self, number: int, device: str) -> str:
        """Return the switch if a group is on it, else the first that the group is on."""
        homes = self._homes[number]
        return device if device in homes else homes[0]

    def _home(self, finding: Finding) -> str:
        """Return the switch that a finding is on; of a host or link, the first switch that it speaks of, else ""."""
        names = (finding.device, *(part.subject[0] for part in finding.related))
        return next((name for name in names if name in self._switches), "") or ""

    def _findings_on(self, number: int, device: str) -> list[Finding]:
        pairs = zip(self._groups[number], self._homes[number], strict=True)
        return [finding for finding, home in pairs if home == device]

    def _changes_ending_group(self, number: int) -> tuple[Change, ...] | None:
        """Return the changes that end a group on the switch of its first finding; None where they are not known."""
        group = self._groups[number]
        rule = self._rules.get(group[0].rule)
        device = self._homes[number][0]
        if rule is None or rule.remark or rule.reads_other_findings or not device:
            return None
        here = self._findings_on(number, device)
        if not all(finding.fix and finding.fix.changes for finding in here):
            return None
        changes = {
            change.subject: change for finding in here for change in (finding.fix.changes if finding.fix else ())
        }
        if len(changes) > MAX_CAUSE_CORRECTION_CHANGES or any(
            FABRIC_HEAD in change.subject[:1] for change in changes.values()
        ):
            return None
        return (
            None
            if any(FILE_SETTING_AREA in change.subject[1:2] for change in changes.values())
            else tuple(changes.values())
        )

    def _affected_groups(self, number: int) -> Iterator[int]:
        """Yield the groups on the switch of a group, and on no other than its switches, by rules that run again.

        Also those of its rule on switches that it names.
        """
        device, devices = self._homes[number][0], set(self._homes[number])
        severity = self._groups[number][0].severity
        small = len(self._reading.fabric.devices) <= _MAX_DEVICES_TO_RECHECK_WHOLE
        for other, group in enumerate(self._groups):
            rule = self._rules.get(group[0].rule)
            if other == number or rule is None or rule.remark or not (rule.needs_only_cabled_neighbors or small):
                continue
            if SEVERITIES.index(group[0].severity) < SEVERITIES.index(severity) and severity == "note":
                continue
            homes = self._homes[other]
            of_rule = group[0].rule == self._groups[number][0].rule
            if (device in homes and devices.issuperset(homes)) or (
                of_rule and self._other_switches_mentioned(number).issuperset(homes)
            ):
                yield other

    def _other_switches_mentioned(self, number: int) -> set[str]:
        """Return the other switches that the first finding of a group names: the other side of a contradiction."""
        return {part.subject[0] for part in self._groups[number][0].related} & self._switches

    def _reads(self, number: int, names: set[str]) -> bool:
        """Whether the rule of a group may read one of the fields; analyses without a list of fields may."""
        rule = self._rules[self._groups[number][0].rule]
        if rule.claim is None:
            return rule.routed or not rule.looks_at or bool(rule.looks_at & names)
        paths, whole = rule.read_paths_and_subtrees
        return bool(names & {*rule.names_read_whole, *(step for path in (*paths, *whole) for step in path)})

    def _find_nearby_switches(self, device: str, others: set[str]) -> frozenset[str]:
        """Return a switch, those cabled to it, and the `others`; all of a small fabric."""
        if len(self._reading.fabric.devices) <= _MAX_DEVICES_TO_RECHECK_WHOLE:
            return frozenset(self._switches)
        ends = (end.node for link in self._links.get(device, ()) for end in (link.a, link.b))
        return frozenset({device, *others, *ends})

    def _nearby_fabric(self, near: frozenset[str]) -> Fabric:
        """Return the fabric without the switches that are not `near`."""
        fabric, cabled = self._reading.fabric, self._links
        if near >= self._switches:
            return fabric
        links = dict.fromkeys(link for node in near for link in cabled.get(node, ()))
        inside = (
            link
            for link in links
            if all(end.node in near or end.node not in self._switches for end in (link.a, link.b))
        )
        devices = tuple(switch for switch in fabric.devices if switch.name in near)
        return replace(fabric, devices=devices, links=tuple(inside))

    @cached_property
    def _links(self) -> Mapping[str, Sequence[Link]]:
        """The cables of each node."""
        links: dict[str, list[Link]] = {}
        for link in self._reading.fabric.links:
            for end in (link.a, link.b):
                links.setdefault(end.node, []).append(link)
        return links

    def _fingerprints(self, fabric: Fabric, rules: Sequence[Rule]) -> set[str]:
        found = self._check(replace(self._reading, fabric=fabric), rules).findings
        return {finding.fingerprint for finding in found}

    def _old_fingerprints(self, near: frozenset[str], rules: Sequence[Rule]) -> set[str]:
        """Return what rules find before a correction; each rule runs once for the same switches, unless one is last."""
        if any(rule.reads_other_findings for rule in rules):
            return self._fingerprints(self._nearby_fabric(near), rules)
        known = self._old.setdefault(near, {})
        if further := [rule for rule in rules if rule.name not in known]:
            fabric = self._nearby_fabric(near)
            known.update({rule.name: set[str]() for rule in further})
            for finding in self._check(replace(self._reading, fabric=fabric), further).findings:
                known[finding.rule].add(finding.fingerprint)
        return set[str]().union(*(known[rule.name] for rule in rules))

    def _fingerprints_on(self, number: int, device: str) -> set[str]:
        return {finding.fingerprint for finding in self._findings_on(number, device)}


def _apply_changes(fabric: Fabric, changes: Iterable[Change]) -> Fabric:
    """Return a fabric with changes of its switches; ValueError where one does not fit."""
    by_device: dict[str, list[Change]] = {}
    for change in changes:
        by_device.setdefault(change.subject[0], []).append(change)
    devices = {device.name: device for device in fabric.devices}
    for name, of_device in by_device.items():
        if name not in devices:
            raise ValueError(name)
        alone = replace(fabric, devices=(devices[name],), links=())
        for change in of_device:
            alone = set_value(alone, change.subject, change.new)
        (devices[name],) = alone.devices
    return replace(fabric, devices=tuple(devices.values()))
