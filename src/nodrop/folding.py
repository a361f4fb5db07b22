"""Findings that another one explains: the correction of the other ends them too. Reports fold them under it.

The facts that a fix sets were found wrong. For each group of findings whose fix is known, the rules that read these
facts are checked again with the facts corrected, on one switch of the group and those cabled to it. What ends there on
every port, without a new finding, is explained; a note explains nothing worse. Of causes that end each other, the one
that ends most groups counts, then the one with the smallest change, then the first of the report.

A correction that takes something away, as PFC or a buffer, may cause a new finding where another group's correction
has to come first: the priority that RDMA's DSCP map still leads to. Then it is tried after each other correction, and
waits for the first that makes it harmless. Any other correction that causes new findings is completed with the
changes that end these, on the same switches, if nothing is new then; else its findings name what to expect.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from nodrop.correction_trials import CheckReading, CorrectionTrials
from nodrop.engine.finding import Finding
from nodrop.engine.rule import Rule
from nodrop.identity import IdentityMap
from nodrop.limits import MAX_CAUSE_CORRECTION_TRIALS
from nodrop.model.reading import Reading
from nodrop.results.outcome import group_findings


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
    trials = CorrectionTrials(groups, findings, reading, rules, check)
    numbers = range(min(len(groups), MAX_CAUSE_CORRECTION_TRIALS))
    candidates = {number: trials.find_ended_groups(number) for number in numbers}
    earlier = _find_earlier_corrections(trials, candidates)
    explained = _choose_causes(trials, candidates)
    if _complete_corrections(trials, candidates, explained, earlier):
        explained = _choose_causes(trials, candidates)
    first_rules = {
        number: groups[explained.get(helper, helper)][0].rule
        for number, helper in earlier.items()
        if number not in explained and explained.get(helper, helper) != number
    }
    by_group = {_key_of_group(groups[number][0]): groups[cause][0].group for number, cause in explained.items()}
    first_by_group = {_key_of_group(groups[number][0]): rule for number, rule in first_rules.items()}
    caused_by_group = {_key_of_group(groups[number][0]): rules for number, rules in trials.caused_rules.items()}
    completed_fixes = IdentityMap(
        (finding, fix)
        for number in trials.completions
        if number not in explained
        for finding, fix in trials.completed_fixes(number)
    )

    def place(finding: Finding) -> Finding:
        key = _key_of_group(finding)
        if finding.hidden or not (key in by_group or key in first_by_group or key in caused_by_group):
            return finding
        return replace(
            finding,
            explained_by=by_group.get(key, ""),
            corrected_after=first_by_group.get(key, ""),
            causes_findings_of=() if key in by_group or key in first_by_group else caused_by_group.get(key, ()),
            fix=completed_fixes.get(finding, finding.fix),
        )

    return tuple(map(place, findings))


def _choose_causes(trials: CorrectionTrials, candidates: Mapping[int, tuple[int, ...]]) -> dict[int, int]:
    """Return the groups that end with the correction of another one, and which that is."""
    causes: set[int] = set()
    explained: dict[int, int] = {}
    for number in sorted(
        candidates, key=lambda number: (-len(candidates[number]), trials.count_changed_facts(number), number)
    ):
        ended = [other for other in candidates[number] if other not in explained and other not in causes]
        if ended and number not in explained:
            causes.add(number)
            explained.update(dict.fromkeys(ended, number))
    return explained


def _complete_corrections(
    trials: CorrectionTrials, candidates: dict[int, tuple[int, ...]], explained: Container[int], earlier: dict[int, int]
) -> list[int]:
    """Complete the corrections that cause new findings, and return their groups; those `explained` stay as they are.

    What else ends with a correction is found again once it is complete. One that cannot be completed waits for another
    that makes it harmless, if there is one, and `earlier` gets the number of that one.
    """
    own = [number for number in candidates if number not in explained and number not in earlier]
    completed = [number for number in own if trials.complete_correction(number)]
    for number in own:
        if number in trials.caused_rules and number not in completed:
            helpers = (helper for helper in candidates if helper != number and helper not in earlier)
            helper = next((helper for helper in helpers if trials.is_harmless_after(number, helper)), None)
            if helper is not None:
                earlier[number] = helper
    for number in completed:
        candidates[number] = trials.find_ended_groups(number)
    return completed


def _key_of_group(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.severity, finding.group


def _find_earlier_corrections(trials: CorrectionTrials, candidates: dict[int, tuple[int, ...]]) -> dict[int, int]:
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
