"""Identifiers that the fabrics of a change share with all others of the command, now and not before."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from nodrop import fabric_readings, judging
from nodrop.checking.finding_comparison import compare_findings
from nodrop.checking.run import CheckRun
from nodrop.checking.two_states import ComparedFabrics, FabricSource, FabricSourcePair, fabric_source_name
from nodrop.errors import InputProblems
from nodrop.identity import IdentitySet
from nodrop.inputs import FileText
from nodrop.model.identifiers import FabricIdentifiers, identifiers_of, is_same_fabric
from nodrop.model.reading import Reading
from nodrop.results.checked import ChangedFabric, FindingChanges
from nodrop.results.outcome import FabricOutcome
from nodrop.shared_identifiers import FabricOfCommand, findings_of_fabric_comparison

FabricStates = Sequence[tuple[FabricSourcePair, Reading, Reading]]
"""Each fabric that changes, before and after."""


def add_newly_shared_identifier_findings(
    fabrics: Sequence[ChangedFabric],
    outcomes: Sequence[FabricOutcome],
    states: FabricStates,
    both_states: ComparedFabrics,
    aside: IdentitySet[FabricSource],
    check_run: CheckRun,
) -> tuple[list[ChangedFabric], list[FabricOutcome]]:
    """Return the changes and their outcomes, with the identifiers that the fabrics then share and did not before.

    Fabrics that do not change are read only if an identifier of another fabric changes; those `aside` are not.
    """
    reported_fabrics, found_outcomes = list(fabrics), list(outcomes)
    own_identifiers = [
        tuple(identifiers_of(reading.fabric) for reading in (before, after)) for _, before, after in states
    ]
    if all(before == after or not after.devices for before, after in own_identifiers):
        return reported_fabrics, found_outcomes
    rules, settings = judging.chosen_rules(check_run.settings), check_run.settings
    one_site = settings.config.path is not None
    changed = (source for pair, _, _ in states for source in (pair.old, pair.new) if source is not None)
    changing = IdentitySet([*changed, *aside])
    other_members = list(
        _unchanged_members(
            both_states,
            changing,
            [(pair.new, after) for (pair, _, _), (_, after) in zip(states, own_identifiers, strict=True)],
            check_run,
        )
    )
    check_run.progress("comparing all fabrics")

    def of_state(which: int) -> list[FabricOutcome | None]:
        members = [
            FabricOfCommand(
                name=pair.source_name,
                identifiers=identifiers[which],
                read=partial(_return_reading_unchanged, readings[which]),
                an_intent=isinstance(pair.new, FileText),
            )
            for (pair, *readings), identifiers in zip(states, own_identifiers, strict=True)
        ]
        return findings_of_fabric_comparison([*other_members, *members], lambda: rules, settings, one_site=one_site)[
            len(other_members) :
        ]

    was, current_outcomes = of_state(0), of_state(1)
    for at, (before, after) in enumerate(zip(was, current_outcomes, strict=True)):
        further_finding = compare_findings(before or FabricOutcome(), after or FabricOutcome())
        reported_fabrics[at] = replace(
            reported_fabrics[at], findings=_merge_comparisons(reported_fabrics[at].findings, further_finding)
        )
        if further_finding.new and after is not None:
            kept_outcome = replace(after, findings=further_finding.new, name=found_outcomes[at].name)
            found_outcomes[at] = _merge_outcomes(found_outcomes[at], kept_outcome)
    return reported_fabrics, found_outcomes


def _return_reading_unchanged(reading: Reading) -> Reading:
    return reading


def _unchanged_members(
    sides: ComparedFabrics,
    changing: IdentitySet[FabricSource],
    own_states: Sequence[tuple[FabricSource | None, FabricIdentifiers]],
    run: CheckRun,
) -> Iterator[FabricOfCommand]:
    """Yield the fabrics that do not change, without other states of those that do."""
    for pair in sides.pairs:
        source = pair.new
        if source is None or source in changing:
            continue
        read = partial(fabric_readings.read_fabric_or_intent, source, run.settings, run.executor)
        try:
            identifiers = identifiers_of(read().fabric)
        except InputProblems:
            continue
        an_intent = isinstance(source, FileText)
        if not identifiers.devices or any(
            is_same_fabric(identifiers, other_identifiers, an_intent=an_intent != isinstance(changed, FileText))
            for changed, other_identifiers in own_states
        ):
            continue
        yield FabricOfCommand(name=fabric_source_name(source), identifiers=identifiers, read=read, an_intent=an_intent)


def _merge_comparisons(comparison: FindingChanges, further_comparison: FindingChanges) -> FindingChanges:
    counts = (comparison.unchanged, further_comparison.unchanged)
    return FindingChanges(
        new=(*comparison.new, *further_comparison.new),
        fixed=(*comparison.fixed, *further_comparison.fixed),
        suppressed=(*comparison.suppressed, *further_comparison.suppressed),
        unchanged=None if None in counts else sum(count or 0 for count in counts),
    )


def _merge_outcomes(outcome: FabricOutcome, further_outcome: FabricOutcome) -> FabricOutcome:
    def line(file: str, number: int) -> str | None:
        text = outcome.line(file, number)
        return further_outcome.line(file, number) if text is None else text

    return replace(outcome, findings=(*outcome.findings, *further_outcome.findings), line=line)
