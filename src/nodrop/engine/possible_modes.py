"""Verdicts on switches whose modes differ, or are unknown: the rules are run once for each possible mode.

A switch gets the findings of its mode. If several modes are possible, a result found in each of them is a finding, and
a result found in only some of them is unknown, because the mode is missing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace

from nodrop.engine.finding import FabricVerdict, Finding, UnknownVerdict
from nodrop.engine.unknowns import UnknownFactCounts
from nodrop.model.index import Index
from nodrop.model.reading import PossibleMode, Reading
from nodrop.model.subject import FABRIC_HEAD, ends_of_cable_key
from nodrop.model.values import replace_fields

JudgeReading = Callable[[Reading, Index], FabricVerdict]


def judge_each_mode(reading: Reading, index: Index, judge_in: JudgeReading) -> FabricVerdict:
    """Return the verdict on a reading with several possible modes; `judge_in` returns that of one mode."""
    verdicts = []
    for possible_mode in reading.possible:
        fabric = replace_fields(reading.fabric, mode=possible_mode.mode, classes=possible_mode.classes)
        own_index = Index(fabric, index)
        own_index.take_cached_values_from(index)
        verdicts.append(judge_in(replace(reading, fabric=fabric, possible=()), own_index))
    findings, open_verdicts = _merge_mode_findings(
        reading.possible, [mode_verdict.findings for mode_verdict in verdicts]
    )
    first_verdict = verdicts[0]
    unknown = {(open_verdict.rule, open_verdict.missing): open_verdict for open_verdict in open_verdicts}
    for verdict in verdicts:
        for missed in verdict.unknown:
            unknown[missed.rule, missed.missing] = _larger_verdict(
                unknown.get((missed.rule, missed.missing), missed), missed
            )
    return replace(
        first_verdict,
        findings=tuple(findings),
        unknown=tuple(unknown[key] for key in sorted(unknown)),
        problems=tuple(dict.fromkeys(problem for verdict in verdicts for problem in verdict.problems)),
    )


def _larger_verdict(unknown_verdict: UnknownVerdict, other_unknown_verdict: UnknownVerdict) -> UnknownVerdict:
    return (
        other_unknown_verdict
        if other_unknown_verdict.subjects_count > unknown_verdict.subjects_count
        else unknown_verdict
    )


def _merge_mode_findings(
    possible: Sequence[PossibleMode], findings_by_mode: Sequence[Sequence[Finding]]
) -> tuple[list[Finding], tuple[UnknownVerdict, ...]]:
    """Return the findings that hold, and the results that a mode would decide."""
    modes_of: dict[str, set[int]] = {}
    for at, possible_mode in enumerate(possible):
        for device in possible_mode.devices:
            modes_of.setdefault(device, set()).add(at)
    # Several findings of one part may have one fingerprint.
    seen: dict[tuple[str, str], dict[int, list[Finding]]] = {}
    for at, findings in enumerate(findings_by_mode):
        for finding in findings:
            seen.setdefault((finding.rule, finding.fingerprint), {}).setdefault(at, []).append(finding)
    sure: list[Finding] = []
    unknowns = UnknownFactCounts()
    for by_mode in seen.values():
        first_finding = next(iter(by_mode.values()))[0]
        own_devices = _devices_of_finding(first_finding, modes_of)
        mode_groups = {frozenset(modes_of[device]) for device in own_devices or modes_of}
        if _is_true_in_modes(mode_groups, by_mode.keys(), everywhere=bool(own_devices)):
            sure += next(by_mode[at] for at in sorted(by_mode) if any(at in mode_group for mode_group in mode_groups))
        elif any(mode_group & by_mode.keys() for mode_group in mode_groups):
            unknowns.count_unchecked_subjects(first_finding.rule, "fabric.mode", own_devices)
    return sure, unknowns.verdicts()


def _is_true_in_modes(mode_groups: Iterable[Set[int]], finding_modes: Set[int], *, everywhere: bool) -> bool:
    """Return whether a finding holds: of switches in all their modes, of the fabric in those of some switch."""
    decided = (mode_group <= finding_modes for mode_group in mode_groups)
    return all(decided) if everywhere else any(decided)


def _devices_of_finding(finding: Finding, modes_by_switch: Mapping[str, object]) -> list[str]:
    """Return the switches of a finding."""
    subject = finding.subject if finding.subject[0] != FABRIC_HEAD else finding.at
    names = [subject[0]] if subject[0] != FABRIC_HEAD else [end.node for end in ends_of_cable_key(subject[-1])]
    return [name for name in dict.fromkeys(names) if name in modes_by_switch]
