"""All results of one command, in the order that every report uses, and the totals."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice

from nodrop.engine.finding import SEVERITIES, FabricVerdict, FileLocation, Finding, RelatedPart, UnknownVerdict
from nodrop.engine.rule import Rule
from nodrop.engine.rules import is_shipped_rule_path
from nodrop.engine.skipped import SkippedRules
from nodrop.engine.suppressions import SuppressionOutcome
from nodrop.errors import Problem
from nodrop.identity import IdentityMap
from nodrop.inputs import FabricInputs
from nodrop.inputs.contents import DEVICE_NOT_READ_NOTE_KIND, UNREAD_NOTE_KINDS
from nodrop.inputs.known import IgnoredPath
from nodrop.model.fabric import Fabric
from nodrop.model.identifiers import FabricIdentifiers
from nodrop.model.reading import (
    DECLARED_HARMLESS_LINE_NOTE_KIND,
    EVPN,
    LEAKS,
    ROUTES_NOT_COMPUTED_NOTE_KIND,
    Assumption,
    Note,
    Reading,
)
from nodrop.model.states import known_rows
from nodrop.model.subject import Subject, natural_sort_key, subject_sort_key
from nodrop.platforms.kit.unknown_lines import is_route_leak_note
from nodrop.results.agreement import FabricValidation

MAX_DEVICES_WITH_COMMANDS = 4
"""On how many devices a short report shows commands."""
ReadLine = Callable[[str, int], str | None]
"""A line (1-based) of a file, by the name under which the file is shown; None where it is not at hand."""


def _no_source_line(_file: str, _line: int) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAndIgnoredFiles:
    """Files below the paths of a command: those that were read, and those ignored, each with the reason."""

    read: tuple[str, ...]
    ignored: tuple[IgnoredPath, ...]

    @classmethod
    def of(cls, inputs: FabricInputs) -> "ReadAndIgnoredFiles":
        """List what lies at the paths of a command."""
        every = tuple(inputs.with_all_nested_fabrics())
        devices = (text for fabric in every for bundle in (*fabric.bundles, *fabric.hosts) for _, text in bundle.files)
        stages = (text for fabric in every for stages in fabric.stages for text in stages.texts)
        other_texts = (*stages, *(text for fabric in every for text in (*fabric.intents, *fabric.stated)))
        read = dict.fromkeys(text.display for text in (*devices, *other_texts))
        return cls(read=tuple(read), ignored=tuple(row for fabric in every for row in fabric.ignored))


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCost:
    """How often a rule's expression was evaluated, and how many seconds the rule took, across all processes."""

    rule: str
    evaluations: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricOutcome:
    """The checked parts and the results; `name` is where the files of the fabric are.

    Findings are always in the order of file, line, rule and subject, those without a file last. Unknown verdicts, notes
    and problems are sorted too; assumptions keep their original order.
    """

    name: str = ""
    devices: int = 0
    hosts: int = 0
    """Names under which files of hosts were read."""
    interfaces: int = 0
    rules: int = 0
    skipped: tuple[SkippedRules, ...] = ()
    """Rules that did not run, by reason."""
    findings: tuple[Finding, ...] = ()
    hidden: tuple[Finding, ...] = ()
    """Findings that are suppressed or in the baseline: counted, and shown where a format has a place for them."""
    unknown: tuple[UnknownVerdict, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    assumed: tuple[Assumption, ...] = ()
    suppressed: int = 0
    baseline: int = 0
    settled: tuple[SuppressionOutcome, ...] = ()
    """How suppressions fared, fabric by fabric."""
    crashed: bool = False
    """Whether a shipped rule crashed, which is nodrop's own fault; the problems say which."""
    work: tuple[RuleCost, ...] | None = None
    """The cost of each rule that ran; None where nobody asked."""
    validations: tuple[FabricValidation, ...] = ()
    """What other validators saw, fabric by fabric, where any were asked."""
    own: tuple[Rule, ...] = ()
    """The site's own rules among the rules that ran."""
    line: ReadLine = _no_source_line
    identifiers: FabricIdentifiers | None = None
    """What other fabrics of the command may not have too, where several are compared."""
    an_intent: bool = False
    """Whether that is what an intent is built into."""
    files: ReadAndIgnoredFiles | None = None
    """Which files were read and which were ignored, where a command lists them; those not read are in the notes."""

    in_order: tuple[tuple[object, ...], ...] = field(default=(), repr=False, compare=False)
    """The very rows that are sorted: an outcome that is made of another one need not sort them again."""

    def __post_init__(self) -> None:
        in_order = []
        for name, key in (
            ("findings", _finding_sort_key),
            ("hidden", _finding_sort_key),
            ("unknown", _unknown_sort_key),
            ("notes", _note_sort_key),
            ("problems", Problem.sort_key),
        ):
            rows = getattr(self, name)
            if not any(rows is ordered_rows for ordered_rows in self.in_order):
                rows = tuple(sorted(rows, key=key))
                object.__setattr__(self, name, rows)
            in_order.append(rows)
        object.__setattr__(self, "in_order", tuple(in_order))

    @classmethod
    def of(
        cls,
        reading: Reading,
        verdict: FabricVerdict,
        *,
        findings: Iterable[Finding] | None = None,
        notes: Iterable[Note] = (),
        line: ReadLine = _no_source_line,
    ) -> "FabricOutcome":
        """Return the outcome of a reading and its verdict; `findings` are the verdict's, with places if known.

        Suppressed and baseline findings are hidden.
        """
        every = tuple(verdict.findings if findings is None else findings)
        hidden = tuple(finding for finding in every if finding.hidden)
        return cls(
            devices=len(reading.fabric.devices),
            hosts=len({nic.host for nic in reading.fabric.nics}),
            interfaces=sum(len(device.interfaces) for device in reading.fabric.devices),
            rules=verdict.rules,
            findings=tuple(finding for finding in every if not finding.hidden) if hidden else every,
            hidden=hidden,
            suppressed=sum(finding.suppressed is not None for finding in hidden),
            baseline=sum(finding.suppressed is None for finding in hidden),
            unknown=verdict.unknown,
            notes=tuple(
                dict.fromkeys(
                    (
                        *reading.notes,
                        *verdict.notes,
                        *_find_evpn_notes(reading.fabric),
                        *_find_leak_notes(reading.notes),
                        *notes,
                    )
                )
            ),
            problems=(*reading.problems, *verdict.problems),
            assumed=reading.assumed,
            crashed=any(is_shipped_rule_path(problem.path) for problem in verdict.problems),
            line=line,
        )

    @property
    def unread_notes(self) -> tuple[Note, ...]:
        """The notes about files that nothing read."""
        return tuple(note for note in self.notes if note.kind in UNREAD_NOTE_KINDS)

    @property
    def uncomputed_notes(self) -> tuple[Note, ...]:
        """The notes about devices with routes that nobody computes."""
        return tuple(note for note in self.notes if note.kind == ROUTES_NOT_COMPUTED_NOTE_KIND)

    @property
    def lacks_devices(self) -> bool:
        """Whether a device has only files that nothing read, or no port and no file of a host was found at all."""
        unread = any(note.kind == DEVICE_NOT_READ_NOTE_KIND for note in self.notes)
        return unread or not (self.interfaces or self.hosts)

    @property
    def findings_with_hidden(self) -> tuple[Finding, ...]:
        """All findings, hidden ones in their places among the others."""
        return tuple(sorted((*self.findings, *self.hidden), key=_finding_sort_key)) if self.hidden else self.findings


def _find_evpn_notes(fabric: Fabric) -> Iterator[Note]:
    """Yield a note about each device that has a session with EVPN routes."""
    for device in fabric.devices:
        sessions = (neighbor for bgp in device.known_bgp_processes for neighbor in known_rows(bgp.neighbors))
        if any(session.evpn for session in sessions):
            yield Note(
                kind=ROUTES_NOT_COMPUTED_NOTE_KIND,
                about=EVPN,
                message="EVPN routes were not computed",
                device=device.name,
            )


def _find_leak_notes(notes: Iterable[Note]) -> Iterator[Note]:
    """Yield a note about each device with lines that leak routes from one VRF into another."""
    message = "routes leaked between VRFs were not computed"
    for device in sorted({note.device or "" for note in notes if is_route_leak_note(note)}):
        yield Note(kind=ROUTES_NOT_COMPUTED_NOTE_KIND, about=LEAKS, message=message, device=device)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeTotals:
    """The totals, in the order of the JSON report; `error`, `warning` and `note` count findings, `unknown` verdicts.

    `causes` counts groups of findings without those that another group explains.
    `evpn_not_computed` counts devices with EVPN sessions whose routes were not computed; `leaks_not_computed` counts
    those with routes that one VRF takes from another; `declared` counts lines that the site declares harmless.
    """

    devices: int
    interfaces: int
    rules: int
    error: int
    warning: int
    note: int
    causes: int
    unknown: int
    suppressed: int
    baseline: int
    evpn_not_computed: int
    leaks_not_computed: int
    declared_harmless: int


def _count_unexplained_groups(findings: Sequence[Finding]) -> int:
    """Return the number of groups that no other explains, as `separate_explained_groups` decides, in no order."""
    explained_by: dict[tuple[str, str, str], set[str]] = {}
    for finding in findings:
        explained_by.setdefault(_group_key(finding), set()).add(finding.explained_by)
    own = {finding.group for finding in findings}
    return sum(_cause_of_group(causes) not in own for causes in explained_by.values())


def count_outcome(outcome: FabricOutcome) -> OutcomeTotals:
    """Count the contents of an outcome."""
    by_severity = Counter(finding.severity for finding in outcome.findings)
    return OutcomeTotals(
        devices=outcome.devices,
        interfaces=outcome.interfaces,
        rules=outcome.rules,
        error=by_severity["error"],
        warning=by_severity["warning"],
        note=by_severity["note"],
        causes=_count_unexplained_groups(outcome.findings),
        unknown=len(outcome.unknown),
        suppressed=outcome.suppressed,
        baseline=outcome.baseline,
        evpn_not_computed=sum(note.about == EVPN for note in outcome.uncomputed_notes),
        leaks_not_computed=sum(note.about == LEAKS for note in outcome.uncomputed_notes),
        declared_harmless=sum(note.kind == DECLARED_HARMLESS_LINE_NOTE_KIND for note in outcome.notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStatistic:
    """The number of findings of a rule, and its cost."""

    rule: str
    findings: int
    evaluations: int
    seconds: float


def rule_statistics(outcome: FabricOutcome) -> tuple[RuleStatistic, ...]:
    """Return the findings and cost of each checked rule, the slowest first; nothing if nobody asked."""
    counts_by_rule = Counter(finding.rule for finding in outcome.findings)
    rows = (
        RuleStatistic(
            rule=rule_work.rule,
            findings=counts_by_rule[rule_work.rule],
            evaluations=rule_work.evaluations,
            seconds=round(rule_work.seconds, 6),
        )
        for rule_work in outcome.work or ()
    )
    return tuple(sorted(rows, key=lambda row: (-row.seconds, row.rule)))


def format_problem_without_place(problem: Problem) -> str:
    """Return the fault of the input in one sentence without its place: the part, then the fault."""
    return f"{problem.where}: {problem.message}" if problem.where else problem.message


def location_to_correct(finding: Finding) -> FileLocation | None:
    """Return the place to correct a finding: that of the intent's key that decides it, or else the finding's place."""
    return finding.related[0].located if _has_deciding_intent_key(finding) else finding.located


def related_places(finding: Finding) -> tuple[RelatedPart, ...]:
    """Return the places that a finding speaks of besides the one where it is mended."""
    if not _has_deciding_intent_key(finding):
        return finding.related
    computed_place = RelatedPart(subject=finding.at, message="resulting configuration", located=finding.located)
    return (computed_place, *finding.related[1:])


def _has_deciding_intent_key(finding: Finding) -> bool:
    return bool(finding.related) and finding.related[0].decides and finding.related[0].located is not None


MAX_SHOWN_FINDING_GROUPS = 20
"""How many groups the text shows in full, unless verbose; beyond that it counts by rule."""

FindingGroups = tuple[tuple[Finding, ...], ...]
_SEVERITY_RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def group_findings(findings: Iterable[Finding]) -> FindingGroups:
    """Return findings of one rule with one cause together, each group in the order of its subjects.

    The order inside a group does not depend on where it stands, so its first finding can be chosen before places are
    looked up; where only some have places, as those of several fabrics, the first of these goes first. Groups are in
    the order of harm: the worst severity first, then those that speak of no other part with findings, then the most
    findings, then the place of the first.
    """
    together: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        together.setdefault(_group_key(finding), []).append(finding)
    ordered = (_order_located_first(group) if len(group) > 1 else (group[0],) for group in together.values())
    pointed = {part for group in together.values() for finding in group if len(part := finding.at[:2]) > 1}
    return tuple(
        sorted(
            ordered,
            key=lambda group: (
                _SEVERITY_RANKS[group[0].severity],
                bool(group[0].related) and _mentions_other_part_with_findings(group[0], pointed),
                -len(group),
                _finding_sort_key(group[0]),
            ),
        )
    )


def separate_explained_groups(groups: FindingGroups) -> tuple[FindingGroups, dict[str, FindingGroups]]:
    """Return the groups that no other explains, and those that one does, by its `group`.

    A group that is explained for some of its findings only, as in one of several fabrics, stays. Groups keep their
    order, but those that explain others stand first of the worst severity among these, and those last whose correction
    has to wait for another.
    """
    if not any(finding.explained_by or finding.corrected_after for group in groups for finding in group):
        return tuple(sorted(groups, key=lambda group: _SEVERITY_RANKS[group[0].severity])), {}
    own = {group[0].group for group in groups}
    under: dict[str, FindingGroups] = {}
    causes = []
    for group in groups:
        cause = _cause_of_group({finding.explained_by for finding in group})
        if cause in own:
            under[cause] = (*under.get(cause, ()), group)
        else:
            causes.append(group)

    def harm(group: tuple[Finding, ...]) -> tuple[bool, int, bool]:
        explained = under.get(group[0].group, ())
        severity = min(_SEVERITY_RANKS[each[0].severity] for each in (group, *explained))
        return bool(group[0].corrected_after), severity, not explained

    return tuple(sorted(causes, key=harm)), under


def _group_key(finding: Finding) -> tuple[str, str, str]:
    """Return what the findings of one group have in common."""
    return finding.rule, finding.severity, finding.group


def _cause_of_group(explained_by: Collection[str]) -> str:
    """Return the `group` that explains all findings of a group; "" for none."""
    (cause,) = explained_by if len(explained_by) == 1 else ("",)
    return cause


def cause_by_finding(findings: Sequence[Finding]) -> IdentityMap[Finding, Finding]:
    """Return for each explained finding the first finding that explains it: on its switch, if any is."""
    first: dict[tuple[str, str, str | None], Finding] = {}
    for finding in findings:
        for device in (finding.device, None):
            first.setdefault((finding.within, finding.group, device), finding)
    found = (
        (finding, first.get((finding.within, finding.explained_by, device)))
        for finding in findings
        if finding.explained_by
        for device in (None, finding.device)
    )
    return IdentityMap((finding, cause) for finding, cause in found if cause is not None)


def _mentions_other_part_with_findings(finding: Finding, pointed: Collection[Subject]) -> bool:
    """Whether a finding speaks of another part that also has findings, which may be its cause."""
    return any(part != finding.at[:2] and part in pointed for part in (each.subject[:2] for each in finding.related))


def select_shown_groups(cause_groups: FindingGroups) -> FindingGroups:
    """Return the groups to show where there are too many: the worst first, each rule before any has a second,
    then the largest; they stay in their order.
    """
    if len(cause_groups) <= MAX_SHOWN_FINDING_GROUPS:
        return cause_groups
    ranks: dict[int, tuple[int, int, int]] = {}
    of_rule: Counter[str] = Counter()
    sizes = [_group_size_sort_key(group) for group in cause_groups]
    for place, at in enumerate(sorted(range(len(cause_groups)), key=lambda at: sizes[at])):
        first_finding = cause_groups[at][0]
        ranks[at] = (_SEVERITY_RANKS[first_finding.severity], of_rule[first_finding.rule], place)
        of_rule[first_finding.rule] += 1
    return tuple(
        cause_groups[at] for at in sorted(nsmallest(MAX_SHOWN_FINDING_GROUPS, ranks, key=lambda at: ranks[at]))
    )


def first_shown_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the first of each group to show, on each of its first switches: all that a short text shows."""
    causes, _ = separate_explained_groups(group_findings(findings))
    return tuple(finding for group in select_shown_groups(causes) for finding in _first_of_each_device(group))


def _first_of_each_device(group: Sequence[Finding]) -> Iterator[Finding]:
    first_findings: dict[str | None, Finding] = {}
    for finding in group:
        first_findings.setdefault(finding.device, finding)
    return islice(first_findings.values(), MAX_DEVICES_WITH_COMMANDS)


_SortKey = tuple[object, ...]


def _subject_sort_key(finding: Finding) -> _SortKey:
    return (subject_sort_key(finding.subject), finding.message, finding.fingerprint)


def _group_size_sort_key(group: Sequence[Finding]) -> _SortKey:
    """Return the largest first, and never by places, which may not be known yet."""
    return (-len(group), group[0].rule, *_subject_sort_key(group[0]))


def _order_located_first(group: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return a group in the order of its subjects, but the first that has a place before all others."""
    by_subject = sorted(group, key=_subject_sort_key)
    first = next((position for position, finding in enumerate(by_subject) if finding.located is not None), 0)
    return (by_subject[first], *by_subject[:first], *by_subject[first + 1 :])


def _finding_sort_key(finding: Finding) -> _SortKey:
    located = finding.located
    file = located.file if located else ""
    line = located.span.line if located and located.span else 0
    return (located is None, natural_sort_key(file), line, finding.rule, *_subject_sort_key(finding))


def _unknown_sort_key(verdict: UnknownVerdict) -> _SortKey:
    return (verdict.rule, verdict.missing, verdict.devices)


def _note_sort_key(note: Note) -> _SortKey:
    return (
        note.kind,
        natural_sort_key(note.file or ""),
        natural_sort_key(note.device or ""),
        note.line or 0,
        note.message,
    )
