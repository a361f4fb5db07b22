"""Corrections of findings, tried on the model: what else ends with them, and what they would cause.

Most corrections end no other group. So the corrected fabric is checked first, by the rules of the other groups. The
rule of the group itself, and the fabric before, follow only if a group has ended.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from nodrop.engine.finding import SEVERITIES, FabricVerdict, Finding, Fix
from nodrop.engine.rule import Rule
from nodrop.engine.verdicts import JudgedRules
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.identity import IdentityMap
from nodrop.limits import MAX_CAUSE_CORRECTION_CHANGES, MAX_ROUNDS_TO_COMPLETE_CORRECTION, MAX_SWITCHES_TO_FORESEE
from nodrop.model.change import FILE_SETTING_AREA, Change
from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric, Link
from nodrop.model.reading import Reading
from nodrop.model.subject import FABRIC_HEAD, Subject

CheckReading = Callable[..., FabricVerdict]
"""The check of a fabric by rules, with the settings of the command."""
_DEVICE_FIELD_BY_AREA = {"@neighbors": "bgp", "@vrf_bgp": "bgp"}
"""The fields of a switch that subjects name otherwise."""
_MAX_DEVICES_TO_RECHECK_WHOLE = 16
"""Up to how many switches rules that read the whole fabric are checked again."""


class CorrectionTrials:
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
        self._findings = tuple(findings)
        self._found_before = {finding.fingerprint for finding in self._findings}
        self._switches = {device.name for device in reading.fabric.devices}
        self._is_small = len(reading.fabric.devices) <= _MAX_DEVICES_TO_RECHECK_WHOLE
        self._homes = [[self._switch_of_finding(finding) for finding in group] for group in groups]
        self._old: dict[frozenset[str], dict[str, set[str]]] = {}
        """What rules find among some switches as they are, by the names of these and of the rule."""
        self._switches_to_foresee = MAX_SWITCHES_TO_FORESEE
        self.caused_rules: dict[int, tuple[str, ...]] = {}
        """By group: the rules of the findings that its correction causes."""
        self.completions: dict[int, tuple[Change, ...]] = {}
        """By group: the changes with which its correction causes none."""

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
        own_changes = (*own_changes, *self.completions.get(number, ()))
        changes = (*changes, *self.completions.get(number, ()))
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
        if not own_changes or not any(map(_takes_away, own_changes)):
            return None
        new = self._find_new_findings(self._changes_after(own_changes, after), number, after)
        return None if new is None else bool(new)

    def complete_correction(self, number: int) -> bool:
        """Note what the correction of a group causes, or else the changes that prevent that; return whether these are.

        They are the fixes of the findings that it causes, on the switches that it changes, if these cause nothing new.
        """
        whole = self._changes_of(number, self._groups[number])
        if not whole or not self._may_foresee(number, whole):
            return False
        caused = self._find_new_findings(whole, number)
        if not caused:
            return False
        self.caused_rules[number] = tuple(sorted({finding.rule for finding in caused}))
        own = {change.subject: change for change in whole}
        allowed = {change.subject[0] for change in whole}
        further: dict[Subject, Change] = {}
        for _ in range(MAX_ROUNDS_TO_COMPLETE_CORRECTION):
            if not all(finding.fix and finding.fix.changes for finding in caused):
                return False
            new = _merge_changes(caused)
            if (
                len({**own, **further, **new}) > MAX_CAUSE_CORRECTION_CHANGES
                or not allowed.issuperset(subject[0] for subject in new)
                or any(_overlaps(subject, {**own, **further}) for subject in new)
            ):
                return False
            further |= new
            caused = self._find_new_findings((*whole, *further.values()), number)
            if not caused:
                break
        if caused != ():
            return False
        self.completions[number] = tuple(further.values())
        return True

    def is_harmless_after(self, number: int, helper: int) -> bool:
        """Whether the correction of a group causes no new findings after that of another group."""
        changes = self._changes_after(self._changes_ending_group(number), helper)
        return self._may_foresee(number, changes) and self._find_new_findings(changes, number, helper) == ()

    def _may_foresee(self, number: int, changes: Sequence[Change]) -> bool:
        """Whether what changes cause may still be computed: that is limited, because each time rules run again."""
        self._switches_to_foresee -= len(self._near(number, changes))
        return self._switches_to_foresee >= 0

    def completed_fixes(self, number: int) -> Iterator[tuple[Finding, Fix]]:
        """Yield the findings of a group with their fixes, among which the changes that complete them are divided.

        Those of a port go to its first finding, or else to the first on the switch.
        """
        first: dict[Subject, Finding] = {}
        for finding in self._groups[number]:
            for change in finding.fix.changes if finding.fix else ():
                first.setdefault(change.subject[:2], finding)
                first.setdefault(change.subject[:1], finding)
        given: IdentityMap[Finding, list[Change]] = IdentityMap()
        for change in self.completions[number]:
            finding = first.get(change.subject[:2]) or first[change.subject[:1]]
            given.setdefault(finding, []).append(change)
        for finding in self._groups[number]:
            if finding.fix is not None and finding in given:
                yield finding, replace(finding.fix, completing=tuple(given[finding]))

    def _find_new_findings(
        self, changes: Sequence[Change], number: int, after: int | None = None
    ) -> tuple[Finding, ...] | None:
        """Return the findings that changes cause which correct a group, `after` another group if one is given.

        None where they do not fit, or do not end these groups.
        """
        if not changes:
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
            and (rule.needs_only_cabled_neighbors or self._is_small)
            and (rule.reads_other_findings or _reads_fields(rule, fields))
        ]
        after_change, judged = replace(self._reading, fabric=corrected), self._judged_findings_except(rules)
        found = self._check(after_change, rules, judged=judged, brief=True).findings
        fingerprints = {finding.fingerprint for finding in found}
        for other in (number,) if after is None else (number, after):
            if (
                not self._is_remark(other)
                and self._fingerprints_to_end(other, self._homes[other][0], whole=self._corrects_whole(other))
                & fingerprints
            ):
                return None
        new = fingerprints - self._found_before
        if new and not near >= self._switches:
            new -= self._old_fingerprints(near, rules)
        if not new:
            return ()
        whole = self._check(after_change, rules, judged=judged).findings
        return tuple(finding for finding in whole if finding.fingerprint in new)

    def _judged_findings_except(self, rules: Iterable[Rule]) -> JudgedRules:
        """Return what all rules found but some, for those among them that read the findings of others."""
        again = {rule.name for rule in rules}
        kept = [rule for rule in self._rules.values() if rule.name not in again]
        names = {rule.name for rule in kept}
        return JudgedRules(kept, [finding for finding in self._findings if finding.rule in names])

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
        found = self._check(replace(self._reading, fabric=fabric), rules, brief=True).findings
        return {finding.fingerprint for finding in found}

    def _old_fingerprints(self, near: frozenset[str], rules: Sequence[Rule]) -> set[str]:
        """Return what rules find before a correction; each rule runs once for the same switches, unless one is last."""
        if any(rule.reads_other_findings for rule in rules):
            return self._fingerprints(self._nearby_fabric(near), rules)
        known = self._old.setdefault(near, {})
        if further := [rule for rule in rules if rule.name not in known]:
            fabric = self._nearby_fabric(near)
            known.update({rule.name: set[str]() for rule in further})
            for finding in self._check(replace(self._reading, fabric=fabric), further, brief=True).findings:
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
    """Return a fabric with changes of its switches, and what these compute; ValueError where one does not fit."""
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
        devices[name] = fill_in_computed_buffer_sizes(alone.devices[0])
    return replace(fabric, devices=tuple(devices.values()))


def _merge_changes(findings: Iterable[Finding]) -> dict[Subject, Change]:
    """Return the changes of the fixes of findings by the part that they change."""
    return {change.subject: change for finding in findings if finding.fix for change in finding.fix.changes}


def _overlaps(subject: Subject, others: Collection[Subject]) -> bool:
    """Whether a part is one of others, or above or below one."""
    return any(subject[: len(other)] == other or other[: len(subject)] == subject for other in others)
