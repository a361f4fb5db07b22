"""Findings over all fabrics of a command: the things that several fabrics share and must not share, or may.

Each fabric is checked by itself first, and its outcome keeps its identifiers (`model/identifiers.py`). Only fabrics
with an identifier in common are read again, and checked by the rules that compare fabrics (`Rule.beside`,
`analyses/_beside.py`); a set without anything in common therefore costs only a comparison of names and numbers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from nodrop import platforms
from nodrop.accepted_findings import line_reader_with_overlay
from nodrop.analyses._beside import OTHER_FABRICS_CHANNEL, OTHER_FABRICS_SUBJECT, OtherFabric
from nodrop.engine.finding import FileLocation, Finding, RelatedPart
from nodrop.engine.rule import Rule
from nodrop.engine.verdicts import rule_severity
from nodrop.judging import CheckSettings, run_rules
from nodrop.locate import add_finding_places
from nodrop.model.identifiers import FabricIdentifiers, SharedIdentifiers, find_shared_identifiers, is_same_fabric
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject
from nodrop.results.merged import merge_rule_work
from nodrop.results.outcome import FabricOutcome, first_shown_findings, location_to_correct

_MAX_HELD_FABRICS = 4
"""How many fabrics are held in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricOfCommand:
    """One fabric of a command: the place of its files, the identifiers that it may not share, and its reader."""

    name: str
    identifiers: FabricIdentifiers
    read: Callable[[], Reading]
    an_intent: bool = False


def add_shared_identifier_findings(
    outcomes: Sequence[FabricOutcome],
    reads: Sequence[Callable[[], Reading]],
    rules: Callable[[], Sequence[Rule]],
    settings: CheckSettings,
    *,
    one_site: bool,
) -> list[FabricOutcome]:
    """Return the outcomes of all fabrics of a command, with findings about their common parts.

    `reads` reads each fabric again, and `rules` loads the rules; only those that compare fabrics count. Both are called
    only if fabrics have something in common. A fabric without identifiers, such as one that cannot be read, is compared
    with none.
    """
    new_outcomes = list(outcomes)
    members = {
        at: FabricOfCommand(name=outcome.name, identifiers=outcome.identifiers, read=read, an_intent=outcome.an_intent)
        for at, (outcome, read) in enumerate(zip(outcomes, reads, strict=True))
        if outcome.identifiers is not None
    }
    fabrics = findings_of_fabric_comparison(list(members.values()), rules, settings, one_site=one_site)
    for at, further_fabric in zip(members, fabrics, strict=True):
        if further_fabric is not None:
            new_outcomes[at] = _extend_outcome(new_outcomes[at], further_fabric)
    return new_outcomes


def findings_of_fabric_comparison(
    members: Sequence[FabricOfCommand], rules: Callable[[], Sequence[Rule]], settings: CheckSettings, *, one_site: bool
) -> list[FabricOutcome | None]:
    """Return for each fabric the findings of the rules that compare fabrics; None if there is nothing to compare."""
    outcomes: list[FabricOutcome | None] = [None] * len(members)
    chosen = list(_distinct_fabrics(members))
    if len(chosen) < 2:
        return outcomes
    shared = find_shared_identifiers([members[at].identifiers for at in chosen], one_site=one_site)
    if not shared.pairs:
        return outcomes
    severity = settings.config.severity
    comparing = [rule for rule in rules() if rule.beside and rule_severity(rule, severity) != "off"]
    if not comparing:
        return outcomes
    shelf = _FabricReadingCache([members[at] for at in chosen])
    for later in shared.pairs:
        reading = shelf.reading(later)
        index = Index(reading.fabric)
        index.set_channel_value(OTHER_FABRICS_CHANNEL, tuple(shelf.earlier_fabrics(later, shared, one_site=one_site)))
        outcomes[chosen[later]] = run_rules(reading, comparing, settings, index=index)
    _locate_related_parts(outcomes, shelf, settings)
    return outcomes


def _distinct_fabrics(members: Sequence[FabricOfCommand]) -> Iterable[int]:
    """Return the position of each fabric that is not another state of an earlier fabric."""
    distinct_indices: list[int] = []
    for at, member in enumerate(members):
        of_name = (members[earlier_index] for earlier_index in distinct_indices)
        states = (
            is_same_fabric(
                member.identifiers, other_member.identifiers, an_intent=member.an_intent != other_member.an_intent
            )
            for other_member in of_name
        )
        if not any(states):
            distinct_indices.append(at)
    return distinct_indices


@dataclass(slots=True)
class _FabricReadingCache:
    """Fabrics that are read again; a few of them are kept."""

    members: Sequence[FabricOfCommand]
    _held: dict[int, Reading] = field(default_factory=dict)

    def reading(self, at: int) -> Reading:
        """Return a fabric, read again unless it is still held."""
        reading = self._held.pop(at, None) or self.members[at].read()
        self._held[at] = reading
        if len(self._held) > _MAX_HELD_FABRICS:
            del self._held[next(iter(self._held))]
        return reading

    def earlier_fabrics(self, later: int, shared: SharedIdentifiers, *, one_site: bool) -> Iterable[OtherFabric]:
        """Yield the earlier fabrics that have something in common with a later one."""
        names = self.names
        for earlier in shared.pairs[later]:
            yield OtherFabric(
                name=names[earlier],
                index=Index(self.reading(earlier).fabric),
                one_site=one_site,
                joined=shared.joined[earlier] == shared.joined[later],
            )

    @property
    def names(self) -> list[str]:
        """What messages call each fabric: the name that it states, else where its files lie."""
        called = Counter(member.identifiers.fabric for member in self.members)
        return [
            member.identifiers.fabric
            if member.identifiers.fabric and called[member.identifiers.fabric] == 1
            else member.name
            for member in self.members
        ]


def _locate_related_parts(
    outcomes: list[FabricOutcome | None], shelf: _FabricReadingCache, settings: CheckSettings
) -> None:
    """Fill in where the parts of other fabrics stand: of all findings, or of those that a short report shows."""
    every = [
        candidate
        for new_outcome in outcomes
        if new_outcome is not None
        for candidate in new_outcome.findings_with_hidden
    ]
    shown = every if settings.whole else first_shown_findings(candidate for candidate in every if not candidate.hidden)
    findings_by_fabric: dict[str, dict[Subject, Finding]] = {}
    for finding in shown:
        for related in finding.related:
            if related.subject[0] == OTHER_FABRICS_SUBJECT:
                findings_by_fabric.setdefault(related.subject[1], {})[related.subject] = finding
    places: dict[Subject, FileLocation] = {}
    lines: dict[tuple[str, int], str] = {}
    for name, findings in findings_by_fabric.items():
        reading = shelf.reading(shelf.names.index(name))
        aimed = [
            replace(origin, subject=subject[2:], at=subject[2:], device=subject[2], related=(), located=None, fix=None)
            for subject, origin in findings.items()
        ]
        pointed = add_finding_places(aimed, reading, platforms.make_place_finder)
        for related_subject, located_finding in zip(findings, pointed.findings, strict=True):
            if (place := location_to_correct(located_finding)) is None:
                continue
            places[related_subject] = place
            if place.span is not None and (text := pointed.line(place.file, place.span.line)) is not None:
                lines[place.file, place.span.line] = text

    def locate_related(shown_finding: Finding) -> Finding:
        if not any(related.subject in places for related in shown_finding.related):
            return shown_finding
        return replace(
            shown_finding, related=tuple(_with_related_location(related, places) for related in shown_finding.related)
        )

    for at, outcome in enumerate(outcomes):
        if outcome is not None:
            outcomes[at] = replace(
                outcome,
                findings=tuple(map(locate_related, outcome.findings)),
                hidden=tuple(map(locate_related, outcome.hidden)),
                line=line_reader_with_overlay(lines, outcome.line),
            )


def _with_related_location(related: RelatedPart, places: dict[Subject, FileLocation]) -> RelatedPart:
    return replace(related, located=places.get(related.subject, related.located))


def _extend_outcome(outcome: FabricOutcome, further_outcome: FabricOutcome) -> FabricOutcome:
    """Return the outcome of a fabric with what comparing it has brought."""

    def line(file: str, number: int) -> str | None:
        text = outcome.line(file, number)
        return further_outcome.line(file, number) if text is None else text

    return replace(
        outcome,
        findings=(*outcome.findings, *further_outcome.findings),
        hidden=(*outcome.hidden, *further_outcome.hidden),
        suppressed=outcome.suppressed + further_outcome.suppressed,
        baseline=outcome.baseline + further_outcome.baseline,
        problems=(
            *outcome.problems,
            *(problem for problem in further_outcome.problems if problem not in outcome.problems),
        ),
        notes=tuple(dict.fromkeys((*outcome.notes, *further_outcome.notes))),
        settled=(*outcome.settled, *further_outcome.settled),
        crashed=outcome.crashed or further_outcome.crashed,
        work=merge_rule_work((outcome, further_outcome)),
        line=line,
    )
