"""The examples of a rule as tests: change a sound fabric, read it as each platform writes it, compare subjects.

The caller decides the source of a fabric and how it is written and read: `base` builds a fabric, and `views` returns it
as read back, once for each platform that carries the facts that the rule reads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from nodrop.analyses._beside import OTHER_FABRICS_CHANNEL, OtherFabric
from nodrop.analyses._computed import compute_observation
from nodrop.engine.finding import FabricVerdict, Finding
from nodrop.engine.rule import Rule, RuleExample
from nodrop.engine.rules import select_lint_rules, select_validate_rules, shipped_rules
from nodrop.engine.suppressions import (
    SUPPRESSION_REMARK_KINDS,
    CheckedScope,
    find_suppression_faults,
    inline_suppressions,
    today,
)
from nodrop.engine.verdicts import judge
from nodrop.model.edit import set_value
from nodrop.model.fabric import End, Fabric, Link
from nodrop.model.identifiers import find_shared_identifiers, identifiers_of
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject, parse_subject, subject_sort_key
from nodrop.model.subject import subject_text as subject_text
from nodrop.routing.observation import OBSERVATIONS_CHANNEL, DifferingFlow, RefusedLine, ValidatorObservation


class FabricOnPlatform(NamedTuple):
    """A fabric as the files of a platform express it; `spell` turns its subjects into those of the examples."""

    platform: str
    reading: Reading
    spell: Callable[[Subject], Subject] = lambda subject: subject
    observed: ValidatorObservation | None = None
    """What a validator sees of it, where that is not what nodrop computes."""
    beside: tuple[OtherFabric, ...] = ()
    """The other fabric, of an example of two that have something in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleFailure:
    """An example whose claim fails: which example, on which platform, and how."""

    rule: str
    example: str
    platform: str
    message: str

    def __str__(self) -> str:
        at = f" on {self.platform}" if self.platform else ""
        return f"{self.rule}: {self.example}{at}: {self.message}"


def run_example(
    rule: Rule,
    example: RuleExample,
    base: Callable[[Mapping[str, object]], Fabric],
    views: Callable[[Fabric], Iterable[FabricOnPlatform]],
    artifact: Callable[[Mapping[str, object], Mapping[str, object]], Iterable[FabricOnPlatform]] | None = None,
    locate: Callable[[Iterable[Finding], Reading], Iterable[Finding]] | None = None,
) -> list[ExampleFailure]:
    """Return the faults of an example, nothing if it holds.

    `base` builds the example fabric with an overlay on its intent, `artifact` gives the views of its edited artifacts.
    `locate` fills in the places of findings; with it, each finding must have a line.
    """
    try:
        seen = build_example_views(example, base, views, artifact)
    except ValueError as error:
        return [ExampleFailure(rule=rule.name, example=example.name, platform="", message=str(error))]
    failures = [
        ExampleFailure(rule=rule.name, example=example.name, platform=view.platform, message=message)
        for view in seen
        for message in _example_faults(rule, example, view, locate)
    ]
    if not seen:
        failures.append(
            ExampleFailure(rule=rule.name, example=example.name, platform="", message="no platform can say it")
        )
    return failures


def build_example_views(
    example: RuleExample,
    base: Callable[[Mapping[str, object]], Fabric],
    views: Callable[[Fabric], Iterable[FabricOnPlatform]],
    artifact: Callable[[Mapping[str, object], Mapping[str, object]], Iterable[FabricOnPlatform]] | None = None,
) -> list[FabricOnPlatform]:
    """Return the views that an example is checked over, made as by `run_example`; ValueError: a change fits nothing."""
    if example.artifact is not None:
        return list(artifact(example.artifact, example.intent or {})) if artifact else []
    fabric = _set_model_values(base(example.intent or {}), example.model or {})
    new_views = list(views(fabric))
    if example.beside is not None:
        other_views = views(_set_model_values(base(example.beside["intent"]), example.beside["model"]))
        return [
            _add_other_fabric(view, other_view, example.beside)
            for view, other_view in zip(new_views, other_views, strict=True)
        ]
    if example.seen is None:
        return new_views
    other_views = views(_set_model_values(fabric, example.seen["model"]))
    return [
        view._replace(observed=_build_observation(other_view, example.seen))
        for view, other_view in zip(new_views, other_views, strict=True)
    ]


def _add_other_fabric(
    platform_view: FabricOnPlatform, other_view: FabricOnPlatform, spec: Mapping[str, Any]
) -> FabricOnPlatform:
    """Return a view with the other fabric, if both have something in common, and the stated cables."""
    cables = tuple(_build_cable(ends, (platform_view, other_view)) for ends in spec["cables"])
    fabric = replace(platform_view.reading.fabric, links=(*platform_view.reading.fabric.links, *cables))
    overlap = find_shared_identifiers(
        [identifiers_of(other_view.reading.fabric), identifiers_of(fabric)], one_site=spec["one_site"]
    )
    index, joined = Index(other_view.reading.fabric), overlap.joined[0] == overlap.joined[1]
    near = OtherFabric(name=index.fabric.name, index=index, one_site=spec["one_site"], joined=joined)
    return FabricOnPlatform(
        platform_view.platform,
        replace(platform_view.reading, fabric=fabric),
        lambda subject: other_view.spell(platform_view.spell(subject)),
        beside=(near,) if overlap.pairs else (),
    )


def _build_cable(ends: Iterable[str], views: Iterable[FabricOnPlatform]) -> Link:
    """Return a cable between ports that are named as in the examples."""
    own_end = {
        view.spell((device.name, port.name)): End(device.name, port.name)
        for view in views
        for device in view.reading.fabric.devices
        for port in device.interfaces
    }
    a, b = sorted(own_end.get(tuple(end.split(":", 1)), End(*end.split(":", 1))) for end in ends)
    return Link(a=a, b=b)


def _build_observation(
    platform_view: FabricOnPlatform, observed_differences: Mapping[str, Any]
) -> ValidatorObservation:
    """Return the observation of a validator that sees this fabric, except for the values and lines of an example."""
    own_observation = _observe_as_batfish(platform_view.reading)
    values = {
        check: {
            **rows,
            **{parse_subject(item): value for item, value in observed_differences["values"].get(check, {}).items()},
        }
        for check, rows in own_observation.seen.items()
    }
    flows = tuple(DifferingFlow(**flow, port="", destination="", lost=True) for flow in observed_differences["lost"])
    return replace(
        own_observation,
        seen=values,
        refused=tuple(RefusedLine(**line) for line in observed_differences["refused"]),
        flows=flows,
    )


def _observe_as_batfish(reading: Reading) -> ValidatorObservation:
    return replace(compute_observation(Index(reading.fabric)), by="Batfish")


def find_example_differences(
    rule: Rule, example: RuleExample, platform_view: FabricOnPlatform, verdict: FabricVerdict | None = None
) -> Iterator[str]:
    """Yield the differences between a rule's verdict on a view and the example: exactly its subjects, nothing left
    open.

    `verdict` is the rule's verdict, if already known.
    """
    verdict = verdict or run_rule(rule, platform_view.reading, platform_view.observed, platform_view.beside)
    yield from map(str, verdict.problems)
    if not verdict.rules:
        yield f"the rule does not apply in this mode, but in {', '.join(sorted(rule.modes))}"
    finding_subjects = {platform_view.spell(finding.subject) for finding in verdict.findings}
    expected = {parse_subject(subject) for subject in example.at}
    if missed := expected - finding_subjects:
        yield f"no finding at {', '.join(map(subject_text, sorted(missed, key=subject_sort_key)))}"
    if extra := finding_subjects - expected:
        yield f"a finding at {', '.join(map(subject_text, sorted(extra, key=subject_sort_key)))}"
    for unknown in verdict.unknown:
        yield f"unknown, because of missing {unknown.missing}"


def run_rule(
    rule: Rule,
    reading: Reading,
    observed: ValidatorObservation | None = None,
    other_fabrics: Sequence[OtherFabric] = (),
) -> FabricVerdict:
    """Return a rule's verdict on a reading; the shipped rules are checked before a rule that reads others' findings.

    A rule about validators' observations uses `observed`, or else the observation that nodrop computes. A rule that
    compares fabrics uses those in `other_fabrics`.
    """
    if rule.remark in SUPPRESSION_REMARK_KINDS:
        return _verdict_on_suppressions(rule, reading)
    if rule.observed:
        index = Index(reading.fabric)
        index.set_channel_value(OBSERVATIONS_CHANNEL, (observed or _observe_as_batfish(reading),))
        return judge(reading, [rule], strictness="auditor", index=index)
    if rule.beside:
        index = Index(reading.fabric)
        index.set_channel_value(OTHER_FABRICS_CHANNEL, other_fabrics)
        return judge(reading, [rule], strictness="auditor", index=index)
    beside_it = select_validate_rules(shipped_rules()) if rule.failures else select_lint_rules(shipped_rules())
    other_rules = (
        [other_rule for other_rule in beside_it if other_rule.name != rule.name and not other_rule.reads_other_findings]
        if rule.reads_other_findings
        else []
    )
    verdict = judge(reading, [*other_rules, rule], strictness="auditor")
    return replace(
        verdict,
        findings=tuple(finding for finding in verdict.findings if finding.rule == rule.name),
        unknown=tuple(unknown for unknown in verdict.unknown if unknown.rule == rule.name),
        rules=verdict.rules - sum(reading.fabric.mode in other_rule.modes for other_rule in other_rules),
    )


def _verdict_on_suppressions(rule: Rule, reading: Reading) -> FabricVerdict:
    """Return a rule's verdict on the comments in files when none of them covers anything."""
    every = select_lint_rules(shipped_rules())
    verdict, written = judge(reading, every, strictness="auditor"), tuple(inline_suppressions(reading))
    ran = CheckedScope.of(
        [shipped_rule for shipped_rule in every if reading.fabric.mode in shipped_rule.modes], verdict, reading
    )
    names = {name: shipped_rule.name for shipped_rule in every for name in (shipped_rule.name, *shipped_rule.aliases)}
    remarks = tuple(find_suppression_faults(written, [0] * len(written), names, today(), [ran]))
    return judge(replace(reading, remarks=remarks), [rule], strictness="auditor")


def _set_model_values(fabric: Fabric, model: Mapping[str, object]) -> Fabric:
    for subject, value in model.items():
        fabric = set_value(fabric, parse_subject(subject), value)
    return fabric


def _example_faults(
    rule: Rule,
    example: RuleExample,
    view: FabricOnPlatform,
    locate: Callable[[Iterable[Finding], Reading], Iterable[Finding]] | None,
) -> Iterator[str]:
    verdict = run_rule(rule, view.reading, view.observed, view.beside)
    yield from find_example_differences(rule, example, view, verdict)
    for finding in locate(verdict.findings, view.reading) if locate else ():
        if finding.located is None or finding.located.span is None:
            subject = view.spell(finding.subject)
            yield f"no line for the finding at {subject_text(subject)}"
