"""Treatment of findings after they were made: suppressions mark them, and are checked themselves."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from nodrop import platforms
from nodrop.config import Config
from nodrop.engine import baseline
from nodrop.engine.baseline import Baseline, BaselineEntry, BaselineKey
from nodrop.engine.declared_lines import find_declared_line_faults
from nodrop.engine.finding import FabricVerdict, FileLocation, Finding
from nodrop.engine.rule import Rule, Strictness
from nodrop.engine.suppressions import (
    SUPPRESSION_REMARK_KINDS,
    CheckedScope,
    SuppressionOutcome,
    find_suppression_faults,
    find_unchanged_period,
    inline_suppressions,
    mark_suppressed_findings,
    reading_of_remarks,
    today,
)
from nodrop.engine.verdicts import applies_to_reading, judge
from nodrop.locate import add_finding_places
from nodrop.model.reading import Note, Reading, Remark
from nodrop.model.subject import parse_subject, subject_sort_key

if TYPE_CHECKING:
    from nodrop.results.outcome import FabricOutcome, ReadLine


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionContext:
    """Context for suppressions: the site's configuration, all existing rules, and the chosen rules."""

    config: Config
    every: Sequence[Rule]
    chosen: Sequence[Rule]
    strictness: Strictness
    baseline: Baseline | None = None

    @property
    def current_name_by_rule_name(self) -> Mapping[str, str]:
        """The present name of every rule, by that and by former names."""
        return {name: rule.name for rule in self.every for name in (rule.name, *rule.aliases)}

    def checked_scope(self, verdict: FabricVerdict, reading: Reading) -> CheckedScope:
        """Return the rules and parts that were checked: none if a file could not be read."""
        if reading.problems:
            return CheckedScope()
        every = [rule for rule in self.chosen if not rule.beside]  # what they find depends on what the command names
        rules = [rule for rule in every if applies_to_reading(rule, reading, self.strictness, self.config.severity)]
        return CheckedScope.of(rules, verdict, reading)

    def find_suppression_remark_findings(self, remarks: Iterable[Remark]) -> tuple[Finding, ...]:
        """Return the findings of the chosen rules about remarks on suppressions."""
        rules = [rule for rule in self.chosen if rule.remark in SUPPRESSION_REMARK_KINDS]
        reading = reading_of_remarks(remarks)
        if not reading.remarks or not rules:
            return ()
        verdict = judge(reading, rules, strictness=self.strictness, severity_overrides=self.config.severity)
        return verdict.findings


def apply_suppressions(
    verdict: FabricVerdict, reading: Reading, context: SuppressionContext
) -> tuple[tuple[Finding, ...], SuppressionOutcome]:
    """Return the findings of one fabric, marked where they are suppressed, and how suppressions fared in it.

    Among the findings are those about suppressions in its files, and in its intent.
    """
    stated, written = context.config.suppress, tuple(inline_suppressions(reading))
    ran = context.checked_scope(verdict, reading)
    findings: Sequence[Finding] = verdict.findings
    further_findings: tuple[Finding, ...] = ()
    usage = SuppressionOutcome(ran=ran)
    if stated or written:
        day, names = today(), context.current_name_by_rule_name
        findings, hits = mark_suppressed_findings(
            findings, (*stated, *written), names, day, partial(_file_locations_by_finding, reading)
        )
        further_findings = context.find_suppression_remark_findings(
            find_suppression_faults(written, (hits[suppression] for suppression in written), names, day, (ran,))
        )
        usage = SuppressionOutcome(
            hits=tuple(hits[suppression] for suppression in stated), ran=ran, days=find_unchanged_period(written, day)
        )
    if context.baseline is not None:
        findings, met = baseline.mark_known_findings(findings, context.baseline)
        usage = replace(usage, met=met)
    return (*findings, *further_findings), usage


def _file_locations_by_finding(reading: Reading, findings: Sequence[Finding]) -> list[tuple[FileLocation, ...]]:
    """Where findings stand, and where the intent decided them, whose place is that of a part related to them."""
    pointed = add_finding_places(findings, reading, platforms.make_place_finder).findings
    own_displays = {source.display for sources in reading.sources.values() for source in sources}
    return [
        tuple(
            place
            for place in (finding.located, *(related_part.located for related_part in finding.related))
            if place is not None and (place is finding.located or place.file not in own_displays)
        )
        for finding in pointed
    ]


def find_configured_suppression_faults(
    findings: Iterable[Finding], fabrics: Sequence[SuppressionOutcome], bench: SuppressionContext, *, whole: bool
) -> tuple[Finding, ...]:
    """Return the faults in the suppressions and declarations of a configuration, once all fabrics are settled.

    Unless all input could be read as a `whole`, report none as unused.
    """
    suppressions, harmless = bench.config.suppress, bench.config.harmless
    if not (suppressions or harmless) or not fabrics:
        return ()
    hits, lines = (
        [sum(counts) for counts in zip(*numbers, strict=True)]
        for numbers in ([fabric.hits for fabric in fabrics], [fabric.lines for fabric in fabrics])
    )
    ran = [fabric.ran for fabric in fabrics] if whole else []
    remarks = (
        *find_suppression_faults(suppressions, hits, bench.current_name_by_rule_name, today(), ran, findings),
        *find_declared_line_faults(harmless, lines, ran),
    )
    return bench.find_suppression_remark_findings(remarks)


def load_configured_baseline(config: Config) -> Baseline | None:
    """Return the baseline of a configuration, read once as long as it stays as it is; None where it names none.

    Raise InputProblems with its faults.
    """
    path = config.baseline
    if path is None:
        return None
    if path in config.held:
        return _parse_baseline_bytes_cached(path, config.held[path][""])
    try:
        status = path.stat()
    except (OSError, ValueError):
        return _load_baseline(path, None)
    return _load_baseline(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=2)
def _parse_baseline_bytes_cached(path: Path, raw: bytes) -> Baseline:
    return baseline.loads(raw, str(path))


@lru_cache(maxsize=4)
def _load_baseline(path: Path, _state: tuple[int, ...] | None) -> Baseline:
    return baseline.load(path)


def unhide_surplus_findings(outcome: "FabricOutcome", known_baseline: Baseline) -> "FabricOutcome":
    """Return an outcome with the findings that occur more often than the baseline has them, over all fabrics."""
    back = baseline.surplus_findings(outcome.hidden, known_baseline, _count_finding_keys(outcome))
    if not back:
        return outcome
    reported_findings = tuple(replace(finding, baselined=False) for finding in outcome.hidden if finding in back)
    hidden = tuple(finding for finding in outcome.hidden if finding not in back)
    findings = (*outcome.findings, *reported_findings)
    return replace(outcome, findings=findings, hidden=hidden, baseline=outcome.baseline - len(reported_findings))


def find_stale_baseline_entries(
    outcome: "FabricOutcome", known_baseline: Baseline, rule_names: Mapping[str, str]
) -> dict[BaselineKey, BaselineEntry]:
    """Return the entries of a baseline that no finding of a command has any more, nothing where not all was read."""
    ran = [fabric.ran for fabric in outcome.settled]
    return (
        {}
        if outcome.problems
        else baseline.find_stale_entries(known_baseline, _count_finding_keys(outcome), ran, rule_names)
    )


def _count_finding_keys(outcome: "FabricOutcome") -> Counter[BaselineKey]:
    met = Counter[BaselineKey]()
    for fabric in outcome.settled:
        met.update(fabric.met)
    return met


def notes_on_ended_entries(ended_entries: Mapping[BaselineKey, BaselineEntry], path: str) -> tuple[Note, ...]:
    """Return a note for each rule with entries that have ended."""
    subjects: dict[str, list[str]] = {}
    for entry in ended_entries.values():
        subjects.setdefault(entry.rule, []).append(entry.subject)
    return tuple(
        Note(
            kind="baseline",
            message=f"{rule} is not found any more at {_format_first_subjects(at)}; {_PRUNE_HINT}",
            file=path,
        )
        for rule, at in sorted(subjects.items())
    )


_PRUNE_HINT = "`nodrop baseline --prune` drops that"
_MAX_LISTED_SUBJECTS = 5


def _format_first_subjects(subjects: Sequence[str]) -> str:
    """Return the first few of the subjects, and how many more there are."""
    named_subjects = sorted(dict.fromkeys(subjects), key=lambda subject: subject_sort_key(parse_subject(subject)))
    count_suffix = (
        f" and {len(named_subjects) - _MAX_LISTED_SUBJECTS} more" if len(named_subjects) > _MAX_LISTED_SUBJECTS else ""
    )
    return f"{', '.join(named_subjects[:_MAX_LISTED_SUBJECTS])}{count_suffix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineUpdate:
    """A new baseline to write, and how it differs from the previous one."""

    baseline: Baseline
    new: int
    other: int
    ended: int
    pruned: bool

    def __str__(self) -> str:
        entries = self.baseline.entries.values()
        findings, rules = sum(entry.times for entry in entries), len({entry.rule for entry in entries})
        change_counts = [f"{self.new} new"] if self.new else []
        change_counts += [f"{self.other} with other facts"] if self.other else []
        if self.ended:
            pruning_note = "dropped" if self.pruned else "kept; --prune drops them"
            change_counts.append(f"{self.ended} that do not occur any more, {pruning_note}")
        counted = f"{findings} finding{'' if findings == 1 else 's'} of {rules} rule{'' if rules == 1 else 's'}"
        return f"{counted} ({', '.join(change_counts)})" if change_counts else counted


def update_baseline(
    former_baseline: Baseline, outcome: "FabricOutcome", rule_names: Mapping[str, str], *, prune: bool
) -> BaselineUpdate:
    """Return a baseline with the findings of an outcome or the old baseline, but no findings about suppressions."""
    known_findings = [
        finding
        for finding in (*outcome.findings, *outcome.hidden)
        if finding.suppressed is None and finding.rule not in SUPPRESSION_REMARK_KINDS
    ]
    met = [key for finding in known_findings for key in baseline.baseline_keys_of(finding)]
    ended = baseline.find_stale_entries(former_baseline, met, [fabric.ran for fabric in outcome.settled], rule_names)
    new_baseline, new, changed_count = baseline.update_baseline(former_baseline, known_findings, ended, prune=prune)
    fingerprints = {fingerprint for finding in known_findings for fingerprint in (finding.fingerprint, *finding.former)}
    ended_count = sum(fingerprint not in fingerprints for fingerprint, _ in ended)
    return BaselineUpdate(baseline=new_baseline, new=new, other=changed_count, ended=ended_count, pruned=prune)


def line_reader_with_overlay(lines_by_place: Mapping[tuple[str, int], str], line: "ReadLine") -> "ReadLine":
    """Return a function that knows, besides other lines, those that are given."""
    return partial(_read_line_unless_given, lines_by_place, line) if lines_by_place else line


def _read_line_unless_given(
    written: Mapping[tuple[str, int], str], line: "ReadLine", file: str, number: int
) -> str | None:
    return written.get((file, number)) or line(file, number)
