"""Check a fabric by rules: `judge(reading, rules)`, each evaluated once per distinct design and not once per port.

A check that a rule cannot decide is unknown, with the missing fact; a rule that crashes is a problem with its file and
subject; neither stops the check of the others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import islice
from time import perf_counter
from typing import Literal, NamedTuple, TypeVar

from nodrop import analyses
from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.engine.cells import EACH_ITEM_ALONE, GroupingColumn, ItemGroup, ItemGroups, split_by_columns
from nodrop.engine.compiler import ItemOutcome
from nodrop.engine.evidence import ReadingEvidence
from nodrop.engine.finding import FabricVerdict, Finding, Severity
from nodrop.engine.finding_builder import FindingBuilder
from nodrop.engine.nearby import AffectedPart
from nodrop.engine.possible_modes import judge_each_mode
from nodrop.engine.remedies import add_sibling_changes
from nodrop.engine.rule import STRICTNESSES, OptionArgument, Rule, Strictness
from nodrop.engine.scopes import UnknownItems
from nodrop.engine.unknowns import UnknownFactCounts, platforms_without_fact, unknown_line_verdicts
from nodrop.engine.vocabulary import REPORTED_RULES_KEY, ReportedRules
from nodrop.errors import InputProblems, Problem
from nodrop.model.index import Index
from nodrop.model.reading import Reading, Remark
from nodrop.model.spelling import parse_value
from nodrop.model.states import UnknownFact
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key, natural_sort_key, subject_sort_key
from nodrop.model.subject import subject_text as subject_text
from nodrop.model.types import known_word_hint
from nodrop.routing.stand_ins import index_with_stand_ins

BATCH_SIZE = 4096
"""How many cases are checked at a time: a rule that reads each of 640,000 ports need not hold as many cases."""

_T = TypeVar("_T")
SeverityOverride = Severity | Literal["off"]


class JudgedRules(NamedTuple):
    """Rules whose findings in a fabric are known already."""

    rules: Sequence[Rule]
    findings: Sequence[Finding]


NOTHING_JUDGED = JudgedRules((), ())


def judge(
    reading: Reading,
    rules: Sequence[Rule],
    *,
    strictness: Strictness = "regular",
    severity_overrides: Mapping[str, SeverityOverride] | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    evaluations: Counter[str] | None = None,
    seconds: dict[str, float] | None = None,
    index: Index | None = None,
    near: AffectedPart | None = None,
    judged: JudgedRules = NOTHING_JUDGED,
    brief: bool = False,
    progress: Callable[[str], None] | None = None,
) -> FabricVerdict:
    """Return the findings of the rules in a fabric: those of its mode, within `strictness`, and not `off`.

    Overrides and options are keyed by a rule's name or a former name. Raise InputProblems for unknown options of a
    rule. `evaluations` counts, per rule, how often its expression was evaluated, and `seconds` how long the rule took:
    the cost of a shared result counts for the first rule that uses it. `index` is an index of the reading's fabric;
    pass it to get the results that the analyses have kept in it. `near` is the part of it to check, by rules that need
    no more, where only differences from another state are wanted (`engine/nearby.py`). The findings of `judged` rules
    are part of the verdict, and known to rules that read findings. `brief` findings have no fix and no doubt, for one
    that only compares them. `progress` gets the name of each rule before its
    turn.
    """
    overrides = severity_overrides or {}
    chosen = [rule for rule in rules if applies_to_reading(rule, reading, strictness, overrides)]
    set_options = {rule.name: rule_options(rule, options or {}) for rule in chosen}
    counts: Counter[str] = Counter() if evaluations is None else evaluations
    index = index or Index(reading.fabric)

    def run_session(session: _RuleRun, session_rules: Sequence[Rule], still: Set[str] = frozenset()) -> _RuleRun:
        for rule in sorted(session_rules, key=lambda rule: rule.reads_other_findings):
            if rule.name in still:
                continue
            if progress is not None:
                progress(rule.name)
            severity = rule_severity(rule, overrides)
            assert severity != "off"
            began = perf_counter() if seconds is not None else 0.0
            session.judge(rule, severity, set_options[rule.name])
            if seconds is not None:
                seconds[rule.name] = seconds.get(rule.name, 0.0) + perf_counter() - began
        return session

    if not reading.possible:
        session = _RuleRun(reading, counts, index, near.index if near else None, brief=brief)
        session.note_findings(judged)
        verdict = run_session(session, chosen, near.still if near else frozenset()).verdict(len(chosen))
        return replace(verdict, unknown=(*verdict.unknown, *unknown_line_verdicts(reading.notes)))
    # Of a remark, most rules say the same in each mode: a file of 5 MB may have 150,000 remarks.
    same = {rule.name for rule in chosen if rule.depends_on_remarks_only and rule.modes >= reading.modes}
    alike = _RuleRun(reading, counts, index, brief=brief)
    alike.note_findings(judged)
    run_session(alike, [rule for rule in chosen if rule.name in same])

    def judge_in(mode_reading: Reading, own_index: Index) -> FabricVerdict:
        mode_rules = [rule for rule in chosen if rule.name not in same and mode_reading.fabric.mode in rule.modes]
        session = _RuleRun(mode_reading, counts, own_index, reported=alike.reported, brief=brief)
        return run_session(session, mode_rules).verdict(len(chosen))

    found_verdict = judge_each_mode(reading, index, judge_in)
    unknown = (*found_verdict.unknown, *unknown_line_verdicts(reading.notes))
    return replace(
        found_verdict,
        unknown=tuple(sorted(unknown, key=lambda unknown_verdict: (unknown_verdict.rule, unknown_verdict.missing))),
        findings=tuple(sorted((*alike.findings, *found_verdict.findings), key=_finding_sort_key)),
        problems=tuple(dict.fromkeys((*alike.problems, *found_verdict.problems))),
    )


class _RuleRun:
    """One fabric, and the verdicts of the rules on it, one after the other."""

    def __init__(
        self,
        reading: Reading,
        evaluations: Counter[str],
        index: Index,
        near: Index | None = None,
        reported: ReportedRules | None = None,
        *,
        brief: bool = False,
    ) -> None:
        """Begin with the facts that other sessions have stored in `told` about the fabric, which stays unchanged."""
        self.reading, self.evaluations, self.index, self.brief = reading, evaluations, index, brief
        self.near = near or index
        self.cells = {cell_index: ItemGroups(cell_index) for cell_index in (self.near, self.index)}
        self.evidence = ReadingEvidence(reading, index)
        self.findings: list[Finding] = []
        self.unknowns = UnknownFactCounts(index.devices)
        self.problems: list[Problem] = []
        self.reported: ReportedRules = {place: set(rules) for place, rules in (reported or {}).items()}
        for own_index in (self.index, self.near):
            own_index.set_channel_value(REPORTED_RULES_KEY, self.reported)

    @cached_property
    def remarks(self) -> Mapping[str, Sequence[Remark]]:
        """The remarks of readers by kind."""
        found_remarks: dict[str, list[Remark]] = {}
        for remark in self.reading.remarks:
            found_remarks.setdefault(remark.kind, []).append(remark)
        return found_remarks

    def verdict(self, rule_count: int) -> FabricVerdict:
        """Return the verdict of so many rules; nothing about lines that no reader knows."""
        fabric = self.reading.fabric
        rdma = fabric.mode != "lossy" or bool(fabric.classes)
        return FabricVerdict(
            findings=tuple(sorted(self.findings, key=_finding_sort_key)),
            unknown=self.unknowns.verdicts(rdma=rdma),
            notes=self.reading.notes,
            problems=tuple(sorted(self.problems, key=Problem.sort_key)),
            rules=rule_count,
        )

    def judge(self, rule: Rule, severity: Severity, options: Mapping[str, object]) -> None:
        """Note all results of one rule."""
        builder = FindingBuilder(
            rule=rule,
            severity=severity,
            options=options,
            reading=self.reading,
            index=self.near if rule.needs_only_cabled_neighbors else self.index,
            evidence=self.evidence,
            brief=self.brief,
        )
        before = len(self.findings)
        self._run_rule(rule, builder)
        findings = self.findings[before:]
        if rule.as_siblings and findings and not self.brief:
            sick = findings if builder.index is self.index else self._findings_in_whole_fabric(rule, builder)
            self.findings[before:] = add_sibling_changes(rule, findings, self.index, sick, options)
        for finding in () if rule.failures or rule.observed else self.findings[before:]:
            self._tell_rules_that_read_findings(rule, finding)

    def note_findings(self, judged: JudgedRules) -> None:
        """Note the findings of rules that were evaluated elsewhere."""
        rule_by_name = {rule.name: rule for rule in judged.rules}
        self.findings += judged.findings
        for finding in judged.findings:
            self._tell_rules_that_read_findings(rule_by_name[finding.rule], finding)

    def _tell_rules_that_read_findings(self, rule: Rule, finding: Finding) -> None:
        """Let rules that read findings know of one."""
        place = finding.subject[: 3 if finding.subject[0] == FABRIC_HEAD else 2]
        parts = (part[:2] for part in finding.parts)
        for reported_place in dict.fromkeys((place, *parts)):
            self.reported.setdefault(reported_place, set()).add((rule.area, rule.name, finding.severity))

    def _run_rule(self, rule: Rule, builder: FindingBuilder) -> None:
        if rule.claim is not None:
            self._evaluate_items(rule, builder)
        elif rule.analysis:
            self._evaluate_hits(rule, builder)
        else:
            self._evaluate_remarks(rule, builder)

    def _findings_in_whole_fabric(self, rule: Rule, builder: FindingBuilder) -> list[Finding]:
        """Return the findings of a rule in the whole fabric, without noting any of it."""
        noted = self.findings, self.unknowns, self.problems
        findings: list[Finding] = []
        self.findings, self.unknowns, self.problems = findings, UnknownFactCounts(self.index.devices), []
        try:
            self._run_rule(rule, replace(builder, index=self.index))
        finally:
            self.findings, self.unknowns, self.problems = noted
        return findings

    def _evaluate_items(self, rule: Rule, builder: FindingBuilder) -> None:
        cases = (
            self._cases_passing_shared_condition(rule, builder)
            if rule.shared_condition
            else self._cases_of_rule(rule, builder, rule.verdict_columns)
        )
        for case, outcome in self._evaluate_cases(rule, rule.check_function, builder, cases):
            self._record_outcome(rule, builder, case, outcome)

    def _cases_passing_shared_condition(self, rule: Rule, builder: FindingBuilder) -> Iterator[ItemGroup]:
        """Yield the items for which the beginning of `when` holds, each for itself."""
        for case, outcome in self._evaluate_cases(
            rule,
            rule.shared_condition_function,
            builder,
            self._cases_of_rule(rule, builder, rule.shared_condition_columns),
        ):
            if outcome is True:
                yield from split_by_columns(case, EACH_ITEM_ALONE)
            else:
                self._record_outcome(rule, builder, case, outcome)

    def _cases_of_rule(
        self, rule: Rule, builder: FindingBuilder, chosen: tuple[GroupingColumn, ...]
    ) -> Iterator[ItemGroup | UnknownItems]:
        return self.cells[builder.index].groups_of_scope_items(rule.scope, chosen)

    def _evaluate_cases(
        self,
        rule: Rule,
        judge: Callable[..., list[ItemOutcome]],
        builder: FindingBuilder,
        pending_cases: Iterator[ItemGroup | UnknownItems],
    ) -> Iterator[tuple[ItemGroup, ItemOutcome]]:
        """Yield cases with the results of a function of the rule, a batch at a time; gaps are noted."""
        while batch := list(islice(pending_cases, BATCH_SIZE)):
            cases = [candidate for candidate in batch if isinstance(candidate, ItemGroup)]
            for gap in batch:
                if isinstance(gap, UnknownItems):
                    self.unknowns.count_unchecked_subjects(rule.name, gap.missing, (gap.device,), gap.count, gap.others)
            self.evaluations[rule.name] += len(cases)
            items = [case.item for case in cases]
            outcomes = judge(items, self.reading.fabric, builder.options, index=builder.index)
            yield from zip(cases, outcomes, strict=True)

    def _record_outcome(self, rule: Rule, builder: FindingBuilder, case: ItemGroup, outcome: ItemOutcome) -> None:
        if isinstance(outcome, UnknownFact):
            self._record_unknown(rule, case, outcome)
        elif isinstance(outcome, Exception):
            self._record_rule_crash(rule, rule.scope.subject(case.item), outcome)
        elif outcome:
            self._add_findings_of_case(rule, builder, case)

    def _record_unknown(self, rule: Rule, case: ItemGroup, unknown: UnknownFact) -> None:
        missing, scope, places = str(unknown), rule.scope, case.places
        if platforms_without_fact(missing):
            places = [
                place
                for place in places
                if self.unknowns.devices_that_can_state(missing, scope.devices(case.items, (place,)))
            ]
        if places:
            self.unknowns.count_unchecked_subjects(rule.name, missing, scope.devices(case.items, places), len(places))

    def _add_findings_of_case(self, rule: Rule, builder: FindingBuilder, case: ItemGroup) -> None:
        try:
            self.findings += builder.build_from_group(case)
        except Exception as crash:  # noqa: BLE001 -- whatever it is, the other rules are judged
            self._record_rule_crash(rule, rule.scope.subject(case.item), crash)

    def _evaluate_hits(self, rule: Rule, builder: FindingBuilder) -> None:
        subject: Subject = (FABRIC_HEAD,)
        self.evaluations[rule.name] += 1
        try:
            for hit in analysis_hits(rule, builder.index, builder.options):
                subject = hit.subject
                if not isinstance(hit, AnalysisHit):
                    self.unknowns.count_unchecked_subjects(
                        rule.name, hit.missing, self._devices(subject), others=hit.others
                    )
                elif self._hit_passes_condition(rule, builder, hit):
                    self.findings.append(builder.build_from_hit(hit))
                    for place in hit.also:
                        self.reported.setdefault(place[:2], set()).add(
                            (rule.area, rule.name, self.findings[-1].severity)
                        )
        except Exception as crash:  # noqa: BLE001 -- as above
            self._record_rule_crash(rule, subject, crash)

    def _evaluate_remarks(self, rule: Rule, builder: FindingBuilder) -> None:
        for remark in self.remarks.get(rule.remark, ()):
            try:
                if builder.passes_condition(rule.when, remark.facts):
                    self.findings.append(builder.build_from_remark(remark))
            except Exception as crash:  # noqa: BLE001 -- as above
                self._record_rule_crash(rule, remark.subject, crash)

    def _hit_passes_condition(self, rule: Rule, builder: FindingBuilder, hit: AnalysisHit) -> bool:
        try:
            return builder.passes_condition(rule.when, hit.facts)
        except UnknownFact as unknown:
            self.unknowns.count_unchecked_subjects(rule.name, str(unknown), self._devices(hit.subject))
            return False

    def _devices(self, subject: Subject) -> list[str]:
        """Return the devices of a subject; of a link, both."""
        names = (
            [subject[0]]
            if subject[0] != FABRIC_HEAD
            else [end.node for end in ends_of_cable_key(subject[-1])] or [subject[-1]]
        )
        return [name for name in names if name in self.index.devices]

    def _record_rule_crash(self, rule: Rule, subject: Subject, crash: Exception) -> None:
        self.problems.append(
            Problem(
                path=rule.path,
                where=subject_text(subject),
                found=f"rule {rule.name} failed: {type(crash).__name__}: {crash}",
                hint="the other rules were checked",
            )
        )


def analysis_hits(rule: Rule, index: Index, options: Mapping[str, object]) -> Iterable[AnalysisHit | UndecidedSubject]:
    """Return the hits of a rule's analysis in a fabric; for an analysis that is run twice, the hits found before."""
    arguments = {
        name: options[value.name] if isinstance(value, OptionArgument) else value
        for name, value in rule.arguments.items()
    }
    module = analyses.analysis_module(rule.analysis)
    if rule.routed:
        index = index_with_stand_ins(index)
    found_hits: Iterable[AnalysisHit | UndecidedSubject] = module.find(index, **arguments)
    if rule.routed and index.external_nodes and not getattr(module, "REPORTS_STAND_INS", False):
        found_hits = (hit for hit in found_hits if hit.subject[0] not in index.external_nodes)
    if not rule.reads_other_findings or rule.needs_only_cabled_neighbors:
        return found_hits
    key = f"hits of {rule.name}"
    return index.compute_once(key, lambda: list(found_hits))


def applies_to_reading(
    rule: Rule, reading: Reading, strictness: Strictness, overrides: Mapping[str, SeverityOverride]
) -> bool:
    """Whether `judge` evaluates a rule at all; faults that are only possible wait for a stricter reader."""
    allowed = STRICTNESSES.index(strictness)
    return (
        not rule.modes.isdisjoint(reading.modes)
        and STRICTNESSES.index(rule.strictness) <= allowed
        and (rule.confidence != "possible" or allowed > 0)
        and rule_severity(rule, overrides) != "off"
    )


def rule_severity(rule: Rule, overrides: Mapping[str, SeverityOverride]) -> SeverityOverride:
    """Return the severity of a rule; overrides are keyed by name or former name."""
    return _value_for_rule(overrides, rule, rule.severity)


def _value_for_rule(table: Mapping[str, _T], rule: Rule, otherwise: _T) -> _T:
    return next((table[name] for name in (rule.name, *rule.aliases) if name in table), otherwise)


def rule_options(rule: Rule, options: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    """Return the options of a rule, given ones over the defaults; InputProblems names one that it does not have."""
    stated_options = _value_for_rule(options, rule, {})
    known_options = {option.name: option for option in rule.options}
    values = {name: option.default for name, option in known_options.items()}
    for name, value in stated_options.items():
        try:
            if name not in known_options:
                raise ValueError(f"no option `{name}` ({known_word_hint(name, known_options) or 'it has none'})")
            values[name] = parse_value(known_options[name].type, value)
        except ValueError as error:
            found_text, _, expected = str(error).partition("; expected ")
            problem = Problem(path="options", where=f"{rule.name}.{name}", found=found_text, expected=expected)
            raise InputProblems([problem]) from None
    return values


def _finding_sort_key(finding: Finding) -> tuple[object, ...]:
    """Return the order of a finding: by device, then by rule; those of the fabric come first."""
    return (
        natural_sort_key(finding.device or ""),
        finding.rule,
        subject_sort_key(finding.subject),
        finding.fingerprint,
        finding.message,
    )
