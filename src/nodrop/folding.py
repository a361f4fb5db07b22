"""Findings that another one explains: the correction of the other ends them too. Reports fold them under it.

The facts that a fix sets were found wrong. For each group of findings whose fix is known, the rules that read these
facts are checked again with the facts corrected, on one switch of the group and those cabled to it. What ends there on
every port, without a new finding, is explained; a note explains nothing worse. Of causes that end each other, the one
that ends most groups counts, then the one with the smallest change, then the first of the report.

A correction that takes something away, as PFC or a buffer, may cause a new finding where another group's correction
has to come first: the priority that RDMA's DSCP map still leads to. Then it is tried after each other correction, and
waits for the first that makes it harmless.

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


def mark_findings_explained_by_others(
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
    trials = _CorrectionTrials(groups, findings, reading, rules, check)
    numbers = range(min(len(groups), MAX_CAUSE_CORRECTION_TRIALS))
    candidates = {number: trials.find_ended_groups(number) for number in numbers}
    earlier = _find_earlier_corrections(trials, candidates)
    causes: set[int] = set()
    explained: dict[int, int] = {}
    for number in sorted(
        candidates, key=lambda number: (-len(candidates[number]), trials.count_changed_facts(number), number)
    ):
        ended = [other for other in candidates[number] if other not in explained and other not in causes]
        if ended and number not in explained:
            causes.add(number)
            explained.update(dict.fromkeys(ended, number))
    first_rules = {
        number: groups[explained.get(helper, helper)][0].rule
        for number, helper in earlier.items()
        if number not in explained and explained.get(helper, helper) != number
    }
    by_group = {_key_of_group(groups[number][0]): groups[cause][0].group for number, cause in explained.items()}
    first_by_group = {_key_of_group(groups[number][0]): rule for number, rule in first_rules.items()}

    def place(finding: Finding) -> Finding:
        key = _key_of_group(finding)
        if finding.hidden or not (key in by_group or key in first_by_group):
            return finding
        return replace(finding, explained_by=by_group.get(key, ""), corrected_after=first_by_group.get(key, ""))

    return tuple(map(place, findings))


def _key_of_group(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.severity, finding.group


def _find_earlier_corrections(trials: "_CorrectionTrials", candidates: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """Return the groups whose correction alone causes new findings, each with the group to correct before it.

    Their candidates become those that end with both corrections, and not with the earlier one alone.
    """
    harmful = [number for number in candidates if trials.causes_new_findings(number)]
    for number in harmful:
        candidates[number] = ()
    helpers = sorted(set(candidates) - {*harmful}, key=lambda helper: (-len(candidates[helper]), helper))
    earlier: dict[int, int] = {}
    for number in harmful:
        helper = next((helper for helper in helpers if trials.causes_new_findings(number, after=helper) is False), None)
        if helper is not None:
            earlier[number] = helper
            ended = trials.find_ended_groups(number, after=helper)
            candidates[number] = tuple(other for other in ended if other not in candidates[helper] and other != helper)
    return earlier


class _CorrectionTrials:
    """Corrections of one switch of each group, and the findings that end with them."""

    def __init__(
        self,
        groups: Sequence[tuple[Finding, ...]],
        findings: Iterable[Finding],
        reading: Reading,
        rules: Iterable[Rule],
        check: CheckReading,
    ) -> None:
        self._groups, self._reading, self._check = groups, reading, check
        self._rules = {rule.name: rule for rule in rules}
        self._found_before = {finding.fingerprint for finding in findings}
        self._switches = {device.name for device in reading.fabric.devices}
        self._is_small = len(reading.fabric.devices) <= _MAX_DEVICES_TO_RECHECK_WHOLE
        self._homes = [[self._switch_of_finding(finding) for finding in group] for group in groups]
        self._old: dict[frozenset[str], dict[str, set[str]]] = {}
        """What rules find among some switches as they are, by the names of these and of the rule."""

    def count_changed_facts(self, number: int) -> int:
        """Return how many facts the correction of a group changes on its first switch."""
        return len(self._changes_of(number, self._findings_on(number, self._homes[number][0])) or ())

    def find_ended_groups(self, number: int, after: int | None = None) -> tuple[int, ...]:
        """Return the other groups that end with the correction of one; none if it is not known, or does not help.

        It is made `after` that of another group, if one is given.
        """
        own_changes = self._changes_ending_group(number)
        changes = self._changes_after(own_changes, after)
        if not own_changes or not changes:
            return ()
        device = self._homes[number][0]
        affected = [
            other
            for other in self._affected_groups(number)
            if self._may_rule_of_group_read_fields(other, _fields_of(own_changes))
        ]
        if not affected:
            return ()
        near = self._near(number, changes)
        after_change = self._corrected_fabric(near, changes)
        if after_change is None:
            return ()
        is_remark = self._is_remark(number)
        rules = self._rules_of(affected if is_remark else (number, *affected))
        first = rules if any(rule.reads_other_findings for rule in rules) else self._rules_of(affected)
        new = self._fingerprints(after_change, first)
        whole = self._corrects_whole(number)
        on_switch = {other: self._fingerprints_to_end(other, device, whole=whole) for other in affected}
        ended = [other for other in affected if not on_switch[other] & new]
        if not ended:
            return ()
        if len(first) < len(rules):
            new |= self._fingerprints(after_change, rules[:1])
        if not is_remark and self._fingerprints_to_end(number, device, whole=whole) & new:
            return ()
        old = self._old_fingerprints(near, rules)
        if new - old:
            return ()
        return tuple(other for other in ended if on_switch[other] <= old)

    def causes_new_findings(self, number: int, after: int | None = None) -> bool | None:
        """Whether the correction of a group causes new findings, made `after` that of another group if one is given.

        None where a correction is not known, takes nothing away, or does not end its own group.
        """
        own_changes = self._changes_ending_group(number)
        changes = self._changes_after(own_changes, after)
        if not own_changes or not changes or not any(map(_takes_away, own_changes)):
            return None
        near = self._near(number, changes)
        corrected = self._corrected_fabric(near, changes)
        if corrected is None:
            return None
        fields = _fields_of(changes)
        rules = [
            rule
            for rule in self._rules.values()
            if not rule.remark
            and not rule.reads_other_findings
            and (rule.needs_only_cabled_neighbors or self._is_small)
            and _reads_fields(rule, fields)
        ]
        new = self._fingerprints(corrected, rules)
        for other in (number,) if after is None else (number, after):
            if (
                not self._is_remark(other)
                and self._fingerprints_to_end(other, self._homes[other][0], whole=self._corrects_whole(other)) & new
            ):
                return None
        new -= self._found_before
        return bool(new) and bool(new - self._old_fingerprints(near, rules))

    def _is_remark(self, number: int) -> bool:
        """Whether a group is of a reader's remark, which only reading the corrected files again would end."""
        return bool(self._rules[self._groups[number][0].rule].remark)

    def _changes_after(self, changes: tuple[Change, ...] | None, after: int | None) -> tuple[Change, ...]:
        """Return changes behind those of the correction of another group; none where one of the two is not known."""
        earlier = () if after is None else self._changes_ending_group(after)
        return (*earlier, *changes) if changes and earlier is not None else ()

    def _near(self, number: int, changes: Iterable[Change]) -> frozenset[str]:
        others = {change.subject[0] for change in changes} | self._other_switches_mentioned(number)
        return self._find_nearby_switches(self._homes[number][0], others)

    def _corrected_fabric(self, near: frozenset[str], changes: Iterable[Change]) -> Fabric | None:
        """Return the nearby fabric with changes; None where one does not fit."""
        try:
            return _apply_changes(self._nearby_fabric(near), changes)
        except ValueError:
            return None

    def _rules_of(self, numbers: Iterable[int]) -> list[Rule]:
        """Return the rules of groups, each once, in the order of the groups."""
        return [self._rules[name] for name in dict.fromkeys(self._groups[number][0].rule for number in numbers)]

    def _switch_of_group(self, number: int, device: str) -> str:
        """Return the switch if a group is on it, else the first that the group is on."""
        homes = self._homes[number]
        return device if device in homes else homes[0]

    def _switch_of_finding(self, finding: Finding) -> str:
        """Return the switch that a finding is on, or the first that its fix changes or it speaks of, else ""."""
        changed = (change.subject[0] for change in (finding.fix.changes if finding.fix else ()))
        names = (finding.device, *changed, *(part.subject[0] for part in finding.related))
        return next((name for name in names if name in self._switches), "") or ""

    def _findings_on(self, number: int, device: str) -> list[Finding]:
        pairs = zip(self._groups[number], self._homes[number], strict=True)
        return [finding for finding, home in pairs if home == device]

    def _changes_ending_group(self, number: int) -> tuple[Change, ...] | None:
        """Return the changes that end a group, of a large one on the switch of its first finding; None if not known."""
        device = self._homes[number][0]
        if self._corrects_whole(number):
            return self._changes_of(number, self._groups[number])
        return self._changes_of(number, self._findings_on(number, device))

    def _corrects_whole(self, number: int) -> bool:
        """Whether a group is corrected on all of its switches."""
        return self._is_small and bool(self._changes_of(number, self._groups[number]))

    def _changes_of(self, number: int, findings: Sequence[Finding]) -> tuple[Change, ...] | None:
        """Return the changes that end some findings of a group; None where they are not known."""
        rule = self._rules.get(self._groups[number][0].rule)
        if rule is None or rule.reads_other_findings or not self._homes[number][0]:
            return None
        if not all(finding.fix and finding.fix.changes for finding in findings):
            return None
        changes = {
            change.subject: change for finding in findings for change in (finding.fix.changes if finding.fix else ())
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
        devices |= {change.subject[0] for change in self._changes_ending_group(number) or ()}
        severity = self._groups[number][0].severity
        for other, group in enumerate(self._groups):
            rule = self._rules.get(group[0].rule)
            if (
                other == number
                or rule is None
                or rule.remark
                or not (rule.needs_only_cabled_neighbors or self._is_small)
            ):
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

    def _may_rule_of_group_read_fields(self, number: int, names: set[str]) -> bool:
        return _reads_fields(self._rules[self._groups[number][0].rule], names)

    def _find_nearby_switches(self, device: str, others: set[str]) -> frozenset[str]:
        """Return a switch, those cabled to it, and the `others`; all of a small fabric."""
        if self._is_small:
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

    def _fingerprints_to_end(self, number: int, device: str, *, whole: bool) -> set[str]:
        """Return the fingerprints of a group on a switch, or its first one; all of them if it ends as a whole."""
        findings = self._groups[number] if whole else self._findings_on(number, self._switch_of_group(number, device))
        return {finding.fingerprint for finding in findings}


def _fields_of(changes: Iterable[Change]) -> set[str]:
    """Return the names of the fields of switches and ports that changes are below, and of all on the way."""
    return {
        _DEVICE_FIELD_BY_AREA.get(name, name.removeprefix("@")) for change in changes for name in change.subject[1:]
    }


def _reads_fields(rule: Rule, names: set[str]) -> bool:
    """Whether a rule may read one of the fields; analyses without a list of fields may."""
    if rule.claim is None:
        return rule.routed or not rule.looks_at or bool(rule.looks_at & names)
    paths, whole = rule.read_paths_and_subtrees
    return bool(names & {*rule.names_read_whole, *(step for path in (*paths, *whole) for step in path)})


def _takes_away(change: Change) -> bool:
    """Whether a change removes a part, or members of a list."""
    old, new = change.old, change.new
    if isinstance(old, tuple) and isinstance(new, tuple):
        return bool({*map(repr, old)} - {*map(repr, new)})
    return new is None and old is not None


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
