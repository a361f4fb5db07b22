"""From the paths of a command line to outcomes: read or built fabrics are checked by the rules that were chosen."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from nodrop.cache import Store
from nodrop.config import Config
from nodrop.engine.rule import Rule, Strictness
from nodrop.errors import InputProblems, Problem, UnsupportedByPlatform
from nodrop.model.declared import DeclaredFacts
from nodrop.model.subject import FABRIC_HEAD
from nodrop.model.types import known_word_hint

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from nodrop.accepted_findings import BaselineUpdate, SuppressionContext
    from nodrop.engine.baseline import Baseline
    from nodrop.engine.nearby import AffectedPart
    from nodrop.inputs import FabricInputs, FileText
    from nodrop.intent.schema import Intent
    from nodrop.model.assemble import ObjectsSharedByStates
    from nodrop.model.index import Index
    from nodrop.model.reading import DeviceReading, Reading
    from nodrop.platforms.kit.artifact import Artifact
    from nodrop.reading_cache import DeviceReadings
    from nodrop.report.rule_list import ListedRule
    from nodrop.results.outcome import FabricOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """Settings of a check: which rules, how strictly, the statements, and the site's configuration of all that."""

    select: tuple[str, ...] = ()
    """Rules and areas to judge by; all where there are none."""
    ignore: tuple[str, ...] = ()
    strictness: Strictness = "regular"
    config: Config = field(default_factory=Config)
    declared: DeclaredFacts = field(default_factory=DeclaredFacts)
    """What the command line states, which counts more than what files do."""
    suppressing: bool = True
    """Whether suppressions hold."""
    statistics: bool = False
    """Whether to count and time what each rule does."""
    whole: bool = True
    """Whether every finding gets its place, or only those that a short report shows."""
    advised: bool = True
    """Whether findings get the commands that end them."""
    store: Store | None = None
    """What was worked out before, if anything is kept."""
    both: bool = False
    """Whether `select` and `ignore` may name rules of failures too, which the command computes in some cases."""


def all_rules(config: Config, store: Store | None = None) -> tuple[Rule, ...]:
    """Return the rules that are shipped, kept in the store if there is one, and the site's own."""
    from nodrop.engine import rules
    from nodrop.engine.site_rules import load_rules_with_shipped

    if store is not None:
        from nodrop.engine.rule_cache import take_shipped_rules_from

        take_shipped_rules_from(store)
    return load_rules_with_shipped(config.rules, config.held) if config.rules else rules.shipped_rules()


def chosen_rules(
    settings: CheckSettings, *, files: bool = True, failures: bool = False, observed: bool = False
) -> tuple[Rule, ...]:
    """Return the rules that were selected and not ignored: those that `files` decide, those of routing and `failures`.

    Rules about the results that other validators have `observed` are among the latter if there are such results.

    InputProblems where a word names none, or the configuration names a rule that does not exist.
    """
    from nodrop.engine.rules import select_lint_rules, select_validate_rules
    from nodrop.engine.skipped import explain_not_selected

    every = all_rules(settings.config, settings.store)
    settings.config.check_severity_and_options(every)
    halves = (
        select_lint_rules(every) if files else (),
        select_validate_rules(every, observed=observed) if failures else (),
    )
    rules = tuple({rule.name: rule for half in halves for rule in half}.values())
    words = {word for rule in (every if settings.both else rules) for word in rule.selectors}
    selection, unwanted = (_validate_rule_and_area_names(option, words, settings) for option in ("select", "ignore"))
    return tuple(rule for rule in rules if not explain_not_selected(rule, selection, unwanted))


def list_rules(settings: CheckSettings) -> "tuple[ListedRule, ...]":
    """Return every rule, those of routing too, as it stands by the settings: whether it is on, and why it is not.

    InputProblems as of `chosen_rules`. In which modes a rule speaks is no reason: that depends on the fabric.
    """
    from nodrop.engine.rule import STRICTNESSES
    from nodrop.engine.skipped import explain_not_selected
    from nodrop.engine.verdicts import rule_options, rule_severity
    from nodrop.report.rule_list import ListedRule

    every, config = all_rules(settings.config, settings.store), settings.config
    config.check_severity_and_options(every)
    words = {word for rule in every for word in rule.selectors}
    selection, unwanted = (_validate_rule_and_area_names(option, words, settings) for option in ("select", "ignore"))
    allowed = STRICTNESSES.index(settings.strictness)

    def why_off(rule: Rule) -> str:
        if off := explain_not_selected(rule, selection, unwanted):
            return off
        if rule_severity(rule, config.severity) == "off":
            return f"severity off in {config.path}"
        if STRICTNESSES.index(rule.strictness) > allowed:
            return f"strictness {rule.strictness}"
        return "only possible, so strictness pedantic" if rule.confidence == "possible" and not allowed else ""

    def stands(rule: Rule) -> ListedRule:
        severity = rule_severity(rule, config.severity)
        own_severity = rule.severity if severity == "off" else severity
        return ListedRule(
            rule=rule, off=why_off(rule), severity=own_severity, options=rule_options(rule, config.options)
        )

    return tuple(map(stands, every))


def _validate_rule_and_area_names(option: str, known_words: set[str], settings: CheckSettings) -> frozenset[str]:
    """Return the rules and areas that an option names; raise InputProblems for unknown ones."""
    from nodrop.engine.skipped import split_rule_words

    names = split_rule_words(getattr(settings, option))
    if wrong := sorted(names - known_words):
        place = f"--{option}"
        hints = {word: known_word_hint(word, known_words, listed_by="nodrop rules") for word in wrong}
        raise InputProblems(Problem(path=place, found=f"no rule or area {word!r}", hint=hints[word]) for word in wrong)
    return names


def run_rules(
    reading: "Reading",
    rules: Sequence[Rule],
    settings: CheckSettings,
    *,
    index: "Index | None" = None,
    rechecked_part: "AffectedPart | None" = None,
    progress: Callable[[str], None] | None = None,
) -> "FabricOutcome":
    """Return the verdict of the rules on a reading, or on its part `rechecked_part`, with the places for reports."""
    from nodrop import platforms
    from nodrop.accepted_findings import apply_suppressions, line_reader_with_overlay
    from nodrop.advising import add_fix_commands
    from nodrop.engine.declared_lines import mark_unknown_lines_as_declared
    from nodrop.engine.skipped import find_skipped_rules
    from nodrop.engine.verdicts import judge
    from nodrop.folding import mark_findings_explained_by_others
    from nodrop.locate import add_finding_places
    from nodrop.results.outcome import FabricOutcome, RuleCost, first_shown_findings

    reading, lines = mark_unknown_lines_as_declared(reading, settings.config.harmless if settings.suppressing else ())
    evaluations, seconds = Counter[str](), dict[str, float]()
    verdict = judge(
        reading,
        rules,
        strictness=settings.strictness,
        severity_overrides=settings.config.severity,
        options=settings.config.options,
        evaluations=evaluations,
        seconds=seconds if settings.statistics else None,
        index=index,
        near=rechecked_part,
        progress=progress,
    )
    findings, fared = (
        apply_suppressions(verdict, reading, build_suppression_context(rules, settings))
        if settings.suppressing
        else (verdict.findings, None)
    )
    if settings.advised:
        check = partial(
            judge,
            strictness=settings.strictness,
            severity_overrides=settings.config.severity,
            options=settings.config.options,
        )
        findings = mark_findings_explained_by_others(tuple(findings), reading, rules, check)
    findings = add_fix_commands(tuple(findings), reading, settings.advised, whole=settings.whole)
    only = None if settings.whole else first_shown_findings(finding for finding in findings if not finding.hidden)
    pointed = add_finding_places(findings, reading, platforms.make_place_finder, only=only)
    line = line_reader_with_overlay(reading.written, pointed.line)
    outcome = FabricOutcome.of(reading, verdict, findings=pointed.findings, notes=pointed.notes, line=line)
    config = settings.config
    left_out = find_skipped_rules(
        all_rules(config, settings.store),
        rules,
        mode=reading.fabric.mode,
        strictness=settings.strictness,
        overrides=config.severity,
        config=config.path.name if config.path else "",
        selection=(settings.select, settings.ignore),
    )
    outcome = replace(outcome, settled=() if fared is None else (replace(fared, lines=lines),), skipped=left_out)
    outcome = record_site_rules_in_outcome(outcome, settings, rules)
    if not settings.statistics:
        return outcome
    work = (RuleCost(rule=rule, evaluations=evaluations[rule], seconds=took) for rule, took in seconds.items())
    return replace(outcome, work=tuple(work))


def record_site_rules_in_outcome(
    outcome: "FabricOutcome", settings: CheckSettings, rules: Sequence[Rule] | None = None
) -> "FabricOutcome":
    """Return an outcome with the site's own rules among those that were chosen."""
    from nodrop.engine.rules import is_shipped_rule_path

    if not settings.config.rules:
        return outcome
    chosen = chosen_rules(settings) if rules is None else rules
    return replace(outcome, own=tuple(rule for rule in chosen if not is_shipped_rule_path(rule.path)))


def build_suppression_context(rules: Sequence[Rule], settings: CheckSettings) -> "SuppressionContext":
    """Return the basis for settling findings."""
    from nodrop.accepted_findings import SuppressionContext, load_configured_baseline

    config, every = settings.config, all_rules(settings.config, settings.store)
    return SuppressionContext(
        config=config,
        every=every,
        chosen=rules,
        strictness=settings.strictness,
        baseline=load_configured_baseline(config),
    )


def add_faults_of_configured_suppressions(
    outcome: "FabricOutcome", settings: CheckSettings, *, failures: bool = False, observed: bool = False
) -> "FabricOutcome":
    """Return the outcome of all fabrics of a command, with the faults of the suppressions in the configuration.

    Findings of the baseline that were not found any more are noted; those above its count are reported.
    """
    from nodrop import accepted_findings

    config = settings.config
    if not outcome.settled or not (config.suppress or config.harmless or config.baseline):
        return outcome
    rules = build_suppression_context(
        chosen_rules(settings, files=not failures, failures=failures, observed=observed), settings
    )
    if rules.baseline is not None:
        outcome = accepted_findings.unhide_surplus_findings(outcome, rules.baseline)
        ended = accepted_findings.find_stale_baseline_entries(outcome, rules.baseline, rules.current_name_by_rule_name)
        outcome = replace(
            outcome, notes=(*outcome.notes, *accepted_findings.notes_on_ended_entries(ended, str(config.baseline)))
        )
    further_findings = accepted_findings.find_configured_suppression_faults(
        outcome.findings, outcome.settled, rules, whole=not outcome.problems
    )
    written = {(suppression.file, suppression.line): suppression.text for suppression in config.suppress}
    written |= {(declared_line.file, declared_line.line): declared_line.text for declared_line in config.harmless}
    line = accepted_findings.line_reader_with_overlay(written, outcome.line)
    return replace(outcome, findings=(*outcome.findings, *further_findings), line=line) if further_findings else outcome


def update_baseline(
    former_baseline: "Baseline", outcome: "FabricOutcome", settings: CheckSettings, *, prune: bool
) -> "BaselineUpdate":
    """Return a baseline with a command's findings, and without those not found any more if `prune` is set."""
    from nodrop import accepted_findings

    return accepted_findings.update_baseline(
        former_baseline, outcome, build_suppression_context((), settings).current_name_by_rule_name, prune=prune
    )


def read_fabric_or_intent(
    source: "FabricInputs | FileText",
    settings: CheckSettings,
    executor: "Executor | None" = None,
    *,
    cached_runs: "DeviceReadings | None" = None,
    cached_readings: "Sequence[DeviceReading] | None" = None,
    shared: "ObjectsSharedByStates | None" = None,
    declared_context: DeclaredFacts | None = None,
    progress: Callable[[str], None] | None = None,
) -> "Reading":
    """Read the files of a fabric, those in `cached_runs`, or `cached_readings`, as they are there; other states use
    the `shared` parts.

    Statements next to the files are read there unless they are given as `declared_context`.

    For an intent, return the configurations that its switches would be given, as if they lay next to the intent.

    An intent itself makes the statements that a configuration would need separately, except for the profile.
    """
    from nodrop.collect import read_inputs
    from nodrop.inputs import FabricInputs

    if isinstance(source, FabricInputs):
        return read_inputs(
            source,
            settings.declared,
            executor,
            default_context=settings.config.declared,
            cached_runs=cached_runs,
            cached_readings=cached_readings,
            shared=shared,
            beside=declared_context,
            store=settings.store,
            progress=progress,
        )
    return attach_profile_to_reading(
        read_intent_as_built(read_intent(source)[1], source.display, shared, settings.store), settings
    )


def attach_profile_to_reading(reading: "Reading", settings: CheckSettings) -> "Reading":
    """Return what an intent is built into, to be held against the profile of the settings."""
    profile = settings.declared.profile or settings.config.declared.profile
    fabric = replace(reading.fabric, profile=profile) if profile else reading.fabric
    return replace(reading, fabric=fabric, notes=(*reading.notes, *settings.config.notes_for_intents))


def read_intent(source_text: "FileText") -> "tuple[bytes, Intent]":
    """Read an intent, and return its text too; a file that is no intent at all is reported in one line."""
    from nodrop.inputs import is_intent
    from nodrop.intent.load import MAX_INTENT_BYTES, loads

    if source_text.path is not None and source_text.path.is_dir():
        hint = "`nodrop import` derives one from configurations"
        raise InputProblems(
            [Problem(path=source_text.display, found="a folder", expected="an intent, which is a file", hint=hint)]
        )
    raw = source_text.read_bytes(MAX_INTENT_BYTES)
    if not is_intent(raw) and b"topology" not in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        hint = "`nodrop lint` checks configurations"
        expected = "an intent, YAML with the key `nodrop: 1`"
        raise InputProblems([Problem(path=source_text.display, found="no intent", expected=expected, hint=hint)])
    return raw, loads(raw, source_text.display, source_text.open_named_file)


@contextmanager
def turn_input_problems_into_outcome(outcomes: "list[FabricOutcome]") -> Iterator[None]:
    """Turn faults in the input into an outcome, to keep a fault from hiding the next."""
    from nodrop.results.outcome import FabricOutcome

    try:
        yield
    except InputProblems as error:
        outcomes.append(FabricOutcome(problems=error.problems))


def build_and_read_back(
    intent: "Intent", display: str, parent_folder: str, shared: "ObjectsSharedByStates | None" = None
) -> "tuple[tuple[Artifact, ...], Reading]":
    """Return the files that an intent results in, and their content when they are read back as if from `parent_folder`.

    For every part of that, the reading gives the place where the intent decides it. The built fabric is dropped before
    its files are read, because both would be the largest part of what a build needs in memory. Parts that are `shared`
    with other states are made once.
    """
    from nodrop.collect import read_build

    artifacts, rack, platform_of = _build_files(intent, display)
    reading = read_build(artifacts, platform_of, parent_folder, shared)
    return (*artifacts, *rack), _add_deciding_places_and_exceptions(reading, intent)


def _build_files(
    intent: "Intent", display: str, *, with_rack: bool = True
) -> "tuple[tuple[Artifact, ...], tuple[Artifact, ...], dict[str, str]]":
    """Return the files of switches and hosts, those for racks, and the platform of each switch."""
    import nodrop

    fabric = nodrop.build(intent)
    try:
        artifacts = (*nodrop.write(fabric), *nodrop.host_files(fabric))
        rack = tuple(nodrop.rack(fabric)) if with_rack else ()
    except UnsupportedByPlatform as error:
        raise InputProblems([Problem(path=display, where=error.path, found=error.reason)]) from None
    return artifacts, rack, {device.name: device.platform for device in fabric.devices}


def read_intent_as_built(
    intent: "Intent", display: str, shared: "ObjectsSharedByStates | None" = None, store: Store | None = None
) -> "Reading":
    """Return the reading of what an intent is built into, from the store if it was built before.

    Parts that are `shared` with other states are made once.
    """
    from nodrop.collect import assemble_build, read_artifacts

    built = key = None
    if store is not None:
        from nodrop.built_cache import keep_built_files, key_of_intent, recall_built_files

        key = key_of_intent(store, "built", intent, display)
        built = None if key is None else recall_built_files(store, key)
    if built is None:
        artifacts, _, platform_of = _build_files(intent, display, with_rack=False)
        devices = [artifact for artifact in artifacts if artifact.device]
        built = artifacts, tuple(read_artifacts(devices, platform_of, display))
        if store is not None and key is not None:
            keep_built_files(store, key, built)
    return _add_deciding_places_and_exceptions(assemble_build(*built, display, shared), intent)


def switch_names_of_intent(source: "FileText", store: Store | None) -> frozenset[str]:
    """Return the names of the switches of an intent; raise InputProblems where it cannot be built."""
    import nodrop
    from nodrop.built_cache import keep_switch_names, key_of_intent, recall_switch_names

    intent = read_intent(source)[1]
    key = None if store is None else key_of_intent(store, "switches", intent, source.display)
    names = None if store is None or key is None else recall_switch_names(store, key)
    if names is None:
        names = frozenset(device.name for device in nodrop.build(intent).devices)
        if store is not None and key is not None:
            keep_switch_names(store, key, sorted(names))
    return names


def _add_deciding_places_and_exceptions(reading: "Reading", intent: "Intent") -> "Reading":
    """Return a reading with the places where the intent decides its parts, and the exceptions that it allows."""
    from nodrop.design.deciding import find_decision

    return _apply_allow_comments(replace(reading, decided=partial(find_decision, intent)), intent)


def _apply_allow_comments(reading: "Reading", intent: "Intent") -> "Reading":
    """Return a reading of an intent's built files, with the exceptions that the intent's comments allow."""
    from nodrop.model.allowing import parse_allow_comments
    from nodrop.syntax.comments import find_nodrop_comments

    found_comments = find_nodrop_comments(intent.text.encode(), "yaml")
    if not found_comments or intent.key_positions is None:
        return reading
    allows, remarks = parse_allow_comments(found_comments, intent.path, (FABRIC_HEAD, "suppressions"))
    return replace(
        reading,
        remarks=(*reading.remarks, *remarks),
        allowed={**reading.allowed, "": tuple(allows)},
        written={(intent.path, comment.line): intent.key_positions.line(comment.line) for comment in found_comments},
    )


def read_fabric_at_path(path: str, settings: CheckSettings | None = None, platform: str | None = None) -> "Reading":
    """Return the reading at one path: configurations, or an intent, read as its switches' configurations.

    With a platform, every file is read as that platform's.
    """
    from nodrop.inputs import find_inputs

    settings = settings or CheckSettings()
    return require_one_fabric_reading(find_inputs((path,), platform, exclude=settings.config.excludes), settings, path)


def require_one_fabric_reading(inputs: "FabricInputs", settings: CheckSettings, named_path: str) -> "Reading":
    """Return the reading of inputs that are one fabric or one intent; else raise InputProblems under the name."""
    if intents := inputs.all_intents():
        text, *other_texts = intents
        if other_texts or inputs.bundles:
            fault_text = "several intents, or an intent and configurations"
            raise InputProblems([Problem(path=named_path, found=fault_text, expected="one fabric")])
        return read_fabric_or_intent(text, settings)
    reading = read_fabric_or_intent(inputs.require_single_fabric(), settings)
    if not reading.fabric.devices:
        why = next((note.message for note in inputs.notes if note.kind == "nothing"), "")
        expected = "files of switches, or an intent"
        nothing = Problem(path=named_path, found="no configuration", expected=expected, hint=why)
        raise InputProblems(reading.problems or [nothing])
    return reading


def readings_of(
    inputs: "FabricInputs", settings: CheckSettings, path: str, executor: "Executor | None" = None
) -> "tuple[Reading, ...]":
    """Return the readings of inputs by fabric: configurations, and each intent as its switches' configurations.

    InputProblems: about all inputs that cannot be built, together, or under the name where there is nothing.
    """
    readings, problems = list["Reading"](), list[Problem]()
    every: list[FabricInputs | FileText] = [*inputs.fabrics(), *inputs.all_intents()]
    for source in every:
        try:
            reading = read_fabric_or_intent(source, settings, executor)
        except InputProblems as error:
            problems += error.problems
            continue
        if reading.fabric.devices or reading.problems:
            readings.append(reading)
    if problems:
        raise InputProblems(problems)
    if not readings:
        raise InputProblems([Problem(path=path, found="no configuration", expected="files of switches, or an intent")])
    return tuple(readings)
