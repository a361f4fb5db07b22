"""The check of one open text with the files around it: those of its device, fabric.yaml, nodrop.yaml, rules of the
site.

Its results are in the words of the model (`EditorDiagnostic`), not of the protocol. A text alone is checked alone: for
a switch, its folder; for an intent, its result. Nothing else of the site is read.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from nodrop import config, context, fabric_readings, judging
from nodrop.config import Config
from nodrop.context.profile import loads_profile
from nodrop.engine.finding import FileLocation, Finding, Severity
from nodrop.engine.rule import Rule, Strictness
from nodrop.engine.rule_loader import parse_rule
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.errors import InputProblems, Problem
from nodrop.inputs import DiskWithHeldTexts, FabricInputs, FileText, find_inputs
from nodrop.intent.load import loads as loads_intent
from nodrop.judging import CheckSettings
from nodrop.lsp.text_kinds import TextKind, text_kind_of_file
from nodrop.model.reading import Reading
from nodrop.report.names import finding_message_with_device
from nodrop.resources import resource_folder
from nodrop.results.outcome import FabricOutcome, format_problem_without_place, group_findings
from nodrop.syntax.places import Span

OpenTextByPath = Mapping[str, bytes]
"""The texts that are open, by absolute path."""
SYNTAX, CRASH = "input", "crash"
"""Codes of marks that are no rule's: what cannot be read, and rules that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorDiagnostic:
    """Something to show at a place of a file; without a span, at the whole file."""

    severity: Severity
    message: str
    code: str
    span: Span | None = None
    point: tuple[int, int] | None = None
    """Line and column from 1, where only the beginning is known."""
    related: tuple[tuple[FileLocation, str], ...] = ()
    finding: Finding | None = None


_WARM_UP_INTENT_FILE = "two-by-two.yaml"
DiagnosticsByFile = dict[str, list[EditorDiagnostic]]
"""By the absolute path of the file that they are in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings:
    """The check settings of the site: its configuration and rules, and their faults."""

    settings: CheckSettings = field(default_factory=CheckSettings)
    rules: tuple[Rule, ...] = ()
    every: tuple[Rule, ...] = ()
    """All rules there are, whatever was chosen."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCheckResult:
    """The result of a check: marks of each file that belongs to the text, and the data for hovers and fixes."""

    kind: TextKind
    marks: DiagnosticsByFile
    site: SiteSettings
    inputs: FabricInputs | None = None
    reading: Reading | None = None
    log: tuple[str, ...] = ()
    """What the editor's user should know of, and no file shows."""


class TextChecker:
    """Checks texts; anything that does not change between two checks is computed once."""

    def __init__(self, strictness: Strictness | None = None) -> None:
        """`strictness` is the editor's, where the site states none."""
        self._strictness: Strictness = strictness or "regular"
        self._sites: dict[str, tuple[object, SiteSettings]] = {}
        self.judged = 0
        """How many fabrics were judged."""

    def warm(self) -> None:
        """Load what looks need, rules and platforms and all, by a first look at something small."""
        text_kind_of_file(Path("any.txt"), b"")
        path = resource_folder("intents") / _WARM_UP_INTENT_FILE
        self.check_text(path, {str(path): path.read_bytes()})

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """All rules that are known so far, those of sites included."""
        every = {rule.name: rule for _, site in self._sites.values() for rule in site.every}
        return tuple(every.values()) or shipped_rules()

    def check_text(self, path: Path, open_texts: OpenTextByPath) -> TextCheckResult:
        """Judge the text that is held for a path."""
        site = self.site_settings_for_path(path, open_texts)
        text = open_texts[str(path)]
        kind = text_kind_of_file(path, text, site.settings.config.rules)
        if kind == "device":
            return self._check_device_files(path, open_texts, site)
        if kind == "intent":
            return self._check_intent(path, open_texts, site)
        marks: DiagnosticsByFile = {str(path): []}
        if kind != "other":
            marks[str(path)] = [
                _mark_of_problem(problem)
                for problem in self._find_problems(kind, path, text, site)
                if _is_problem_of_file(problem, path)
            ]
        return TextCheckResult(kind=kind, marks=marks, site=site)

    def site_settings_for_path(self, path: Path, texts: OpenTextByPath) -> SiteSettings:
        """Return how what lies at a path is judged; a configuration with faults counts as none."""
        try:
            found_path = config.find_config_file((str(path),))
        except InputProblems as error:
            return replace(
                self._cached_site_or_make("", None, lambda: self._build_site(Config())), problems=error.problems
            )
        where = None if found_path is None else Path(os.path.abspath(found_path))  # noqa: PTH100
        if where is None:
            return self._cached_site_or_make("", None, lambda: self._build_site(Config()))
        try:
            raw = FileText(
                display=str(where), path=None if str(where) in texts else where, held=texts.get(str(where), b"")
            )
            text = raw.read_bytes(config.reading.MAX_CONFIG_BYTES)
            load = config.loads(text, where)
        except InputProblems as error:
            return replace(
                self._cached_site_or_make("", None, lambda: self._build_site(Config())), problems=error.problems
            )
        stamps = tuple(_file_stamp(rule_file) for folder in load.rules for rule_file in sorted(folder.rglob("*.yaml")))
        return self._cached_site_or_make(str(where), (text, stamps), lambda: self._build_site(load))

    def _cached_site_or_make(self, name: str, key: object, make: Callable[[], SiteSettings]) -> SiteSettings:
        if name not in self._sites or self._sites[name][0] != key:
            self._sites[name] = (key, make())
        return self._sites[name][1]

    def _build_site(self, new_config: Config) -> SiteSettings:
        settings = CheckSettings(config=new_config, strictness=new_config.strictness or self._strictness)
        try:
            return SiteSettings(
                settings=settings, rules=judging.chosen_rules(settings), every=judging.all_rules(new_config)
            )
        except InputProblems as error:
            alone = CheckSettings(
                config=replace(new_config, rules=(), severity={}, options={}), strictness=settings.strictness
            )
            return SiteSettings(
                settings=alone, rules=select_lint_rules(shipped_rules()), every=shipped_rules(), problems=error.problems
            )

    def _check_device_files(self, path: Path, open_texts: OpenTextByPath, site: SiteSettings) -> TextCheckResult:
        inputs = find_inputs((str(path),), held=open_texts).require_single_fabric()
        files = {text.display for bundle in (*inputs.bundles, *inputs.hosts) for _, text in bundle.files}
        marks: DiagnosticsByFile = {file: [] for file in sorted({*files, str(path)})}
        try:
            reading = fabric_readings.read_fabric_or_intent(inputs, site.settings)
            outcome = self._check_reading(reading, site)
        except InputProblems as error:
            reading, outcome = None, FabricOutcome(problems=error.problems)
        for finding in outcome.findings:
            file = finding.located.file if finding.located else str(path)
            if file in marks:
                marks[file].append(_mark_of_finding(finding))
        for problem in outcome.problems:
            crashed = problem.path not in files
            if problem.path in marks or (crashed and outcome.crashed):
                marks[str(path) if crashed else problem.path].append(_mark_of_problem(problem, crashed=crashed))
        return TextCheckResult(
            kind="device", marks=marks, site=site, inputs=inputs, reading=reading, log=_problem_log(site, outcome)
        )

    def _check_intent(self, path: Path, open_texts: OpenTextByPath, site: SiteSettings) -> TextCheckResult:
        shown = str(path)
        text = DiskWithHeldTexts(open_texts).intent(path)
        try:
            intent = loads_intent(text.held, shown, text.open_named_file)
            reading = fabric_readings.attach_profile_to_reading(
                fabric_readings.read_intent_as_built(intent, shown), site.settings
            )
        except InputProblems as error:
            marks: DiagnosticsByFile = {shown: []}
            for problem in error.problems:
                if problem.path == shown or problem.path in open_texts:
                    marks.setdefault(problem.path, []).append(_mark_of_problem(problem))
                else:  # in a file that the intent names
                    marks[shown].append(EditorDiagnostic(severity="error", message=str(problem), code=SYNTAX))
            return TextCheckResult(kind="intent", marks=marks, site=site, log=_problem_log(site))
        outcome = self._check_reading(reading, site)
        around = intent.key_positions.span(("fabric",)) if intent.key_positions is not None else None
        found_marks = [
            _diagnostic_for_findings_of_one_cause(group, shown, around) for group in group_findings(outcome.findings)
        ]
        found_marks += [_mark_of_problem(problem, crashed=True) for problem in outcome.problems]
        return TextCheckResult(
            kind="intent", marks={shown: found_marks}, site=site, reading=reading, log=_problem_log(site, outcome)
        )

    def _check_reading(self, reading: Reading, site: SiteSettings) -> FabricOutcome:
        self.judged += 1
        return judging.run_rules(reading, site.rules, replace(site.settings, advised=False))

    def _find_problems(self, kind: TextKind, path: Path, text: bytes, site: SiteSettings) -> tuple[Problem, ...]:
        """Return the faults of a file that is no fabric."""
        read: dict[TextKind, Callable[[], object]] = {
            "fabric": partial(context.loads, text, str(path)),
            "config": partial(_check_config, text, path),
            "profile": partial(loads_profile, text, str(path), path.stem),
            "rule": partial(parse_rule, text, str(path), name=path.stem, area=path.parent.name),
        }
        try:
            read[kind]()
        except InputProblems as error:
            return error.problems
        return ()


def _check_config(content_bytes: bytes, path: Path) -> None:
    """Raise the faults of a configuration itself, and of its settings of rules."""
    load = config.loads(content_bytes, path)
    load.check_severity_and_options(judging.all_rules(load))


def _file_stamp(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return str(path), status.st_mtime_ns, status.st_size


def _is_problem_of_file(problem: Problem, path: Path) -> bool:
    return problem.path == str(path)


def _problem_log(site: SiteSettings, outcome: FabricOutcome | None = None) -> tuple[str, ...]:
    crashes = outcome.problems if outcome is not None and outcome.crashed else ()
    return tuple(dict.fromkeys(str(problem) for problem in (*site.problems, *crashes)))


def _mark_of_problem(problem: Problem, *, crashed: bool = False) -> EditorDiagnostic:
    if crashed:
        return EditorDiagnostic(severity="error", message=f"nodrop itself failed: {problem}", code=CRASH)
    point = None if problem.line is None else (problem.line, problem.column or 1)
    return EditorDiagnostic(severity="error", message=format_problem_without_place(problem), code=SYNTAX, point=point)


def _mark_of_finding(finding: Finding) -> EditorDiagnostic:
    related = tuple((place.located, place.message) for place in finding.related if place.located is not None)
    return EditorDiagnostic(
        severity=finding.severity,
        message=_format_message(finding),
        code=finding.rule,
        span=finding.located.span if finding.located else None,
        related=related,
        finding=finding,
    )


def _format_message(finding: Finding, other_count: int = 0) -> str:
    count_text = f" (and {other_count} more of the same)" if other_count else ""
    fix = f"\nfix: {finding.fix.text}" if finding.fix else ""
    return f"{finding_message_with_device(finding)}{count_text}{fix}"


def _diagnostic_for_findings_of_one_cause(
    group: Iterable[Finding], intent: str, around: Span | None
) -> EditorDiagnostic:
    """Return one mark for findings with one cause, at the key of the intent that decided the first of them."""
    first_finding, *other_findings = group
    decided = next((place for place in _related_places(first_finding) if place[0].file == intent), None)
    return EditorDiagnostic(
        severity=first_finding.severity,
        message=_format_message(first_finding, len(other_findings)),
        code=first_finding.rule,
        span=decided[0].span if decided else around,
        related=tuple(
            place for place in _related_places(first_finding) if place[0].file == intent and place is not decided
        ),
        finding=first_finding,
    )


def _related_places(finding: Finding) -> Iterator[tuple[FileLocation, str]]:
    for place in finding.related:
        if place.located is not None:
            yield place.located, place.message
