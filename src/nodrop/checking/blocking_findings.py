"""The causes of exit code 1 of a check other than findings of rules, as findings: every format can report them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nodrop import platforms
from nodrop.engine.finding import FileLocation, Finding, Fix, RelatedPart, Severity
from nodrop.engine.finding_builder import digest_parts
from nodrop.locate import add_finding_places
from nodrop.model.change import Change
from nodrop.model.reading import Reading
from nodrop.model.subject import FABRIC_HEAD, Subject, subject_text
from nodrop.plan.model import (
    CHANGE_RISKS,
    ChangedFactGroup,
    ChangeEffect,
    ChangeRisk,
    DeviceChange,
    Plan,
    PortGroupChange,
    RolloutHazard,
)
from nodrop.platforms.kit.editing import subject_of_path_in_device
from nodrop.report.check_document import format_outdated_build as unfit_said
from nodrop.report.plan_document import (
    RISK_LABELS,
    device_change_lines,
    effects_worse_in_combination,
    format_fact_place,
    rollout_order_rows,
)
from nodrop.report.plan_words import format_fact_lines
from nodrop.report.rollout_page import format_rollout_hazards as hazards_said
from nodrop.results.checked import OutdatedBuild
from nodrop.results.rulings import BUILD_OUT_OF_DATE, RISK_OF_CHANGE, ROLLOUT_HAZARD, BuiltinVerdict

_SEQUENTIAL_SUFFIX = ", one at a time"
_MAX_RELATED_PLACES = 5
"""Number of other places that are listed with one verdict."""


def locate_findings(findings: Iterable[Finding], reading: Reading) -> tuple[Finding, ...]:
    """Return findings with their places in the files of a fabric, or in its intent."""
    found_findings = tuple(findings)
    return add_finding_places(found_findings, reading, platforms.make_place_finder).findings if found_findings else ()


def build_hazard_findings(plan: Plan, *, gate: bool) -> Iterator[Finding]:
    """Yield the hazards of a rollout, as notes where they are no `gate`.

    Each points at a fact that changes on its switch, else on a switch that is changed then: a change is reviewed by
    the lines that it has, and the switch that breaks may have none.
    """
    order = "; ".join(
        f"{at}. {names}{_SEQUENTIAL_SUFFIX if why.startswith(_SEQUENTIAL_SUFFIX[2:]) else ''}"
        for at, names, why in rollout_order_rows(plan)
    )
    described_hazards = zip(plan.rollout.hazards if plan.rollout else (), hazards_said(plan), strict=True)
    for hazard, description in described_hazards:
        message = f"{description}; the order is {order}" if hazard.when != "within switch" else description
        yield build_change_finding(
            ROLLOUT_HAZARD,
            message,
            hazard.subject,
            _find_nearest_change(hazard, plan),
            f"{hazard.when} {hazard.rule}",
            severity=_SEVERITY_BY_HAZARD_SEVERITY[hazard.severity] if gate else "note",
            related=(RelatedPart(subject=hazard.subject, message=f"what breaks: {hazard.rule}"),),
        )


_SEVERITY_BY_HAZARD_SEVERITY: dict[str, Severity] = {"error": "error", "warning": "warning", "note": "note"}


def _find_nearest_change(hazard: RolloutHazard, plan: Plan) -> Subject:
    """Return the changed fact that is nearest to the hazard."""
    stage = plan.order[hazard.stage - 1].devices
    changes = [
        device for device in plan.devices if device.name in (hazard.subject[0], *stage) and device.new is not None
    ]
    changes.sort(key=lambda device_change: (device_change.name != hazard.subject[0], device_change.name not in stage))
    facts = [fact for change in changes[:1] for fact in change.changes()]
    if not facts:
        return (changes[0].name,) if changes else hazard.subject
    return max(facts, key=lambda fact: _shared_depth_with_subject(fact, hazard.subject)).subject


def _shared_depth_with_subject(fact: Change, subject: Subject) -> tuple[int, bool]:
    """Return how much of a path a changed fact shares with a subject, and whether the new files have it."""
    shared = next(
        (
            at
            for at, (fact_key, subject_key) in enumerate(zip(fact.subject, subject, strict=False))
            if fact_key != subject_key
        ),
        min(len(fact.subject), len(subject)),
    )
    return shared, fact.new is not None


def risk_findings(plan: Plan, min_risk: ChangeRisk) -> Iterator[Finding]:
    """Yield the changes whose impact on running switches has the given risk or worse, each change once."""
    reported_devices = set[str]()
    for block in plan.changes:
        effects: dict[ChangeEffect, list[int]] = {}
        for number, fact in enumerate(block.facts):
            if _is_risk_at_least(fact.effect.risk, min_risk):
                effects.setdefault(fact.effect, []).append(number)
        for effect, numbers in effects.items():
            reported_devices.update(block.devices)
            yield _build_risk_finding(block, effect, numbers)
    for head, effect in effects_worse_in_combination(plan):
        if _is_risk_at_least(effect.risk, min_risk):
            names = next(effect_group.devices for effect_group in plan.combined_impact if effect_group.effect == effect)
            reported_devices.update(names)
            yield build_change_finding(
                RISK_OF_CHANGE,
                f"{head}: {_format_risk_reasons(effect.risk, effect.reasons)}",
                (names[0],),
                (names[0],),
                head,
            )
    remaining_device_changes = [
        device
        for device in plan.devices
        if _is_risk_at_least(plan.effects.get(device.name, "none"), min_risk) and device.name not in reported_devices
    ]
    for device_change in remaining_device_changes:
        description = next(line for _, line in device_change_lines(replace(plan, devices=(device_change,))))
        message = f"{description}: {_format_risk_reasons(plan.effects[device_change.name], ())}"
        yield build_change_finding(
            RISK_OF_CHANGE, message, (device_change.name,), (device_change.name,), device_change.kind
        )


def _is_risk_at_least(risk: ChangeRisk, least: ChangeRisk) -> bool:
    return CHANGE_RISKS.index(risk) >= CHANGE_RISKS.index(least)


def _build_risk_finding(block: ChangedFactGroup, effect: ChangeEffect, numbers: list[int]) -> Finding:
    """Return the verdict on facts that change in one place and do the same there."""
    fact_lines = [line for number in numbers for line in format_fact_lines(block.facts[number])]
    count_suffix = f" (and {len(fact_lines) - 1} more)" if len(fact_lines) > 1 else ""
    entries = [entry for number in numbers for entry in block.facts[number].entries]
    device_part = PortGroupChange(block.ports[:1], tuple(entries))
    device_change = DeviceChange(name=block.devices[0], kind="changed", old=None, new=None, parts=(device_part,))
    facts = [fact.subject for fact in device_change.changes()]
    reasons = _format_risk_reasons(effect.risk, effect.reasons)
    message = f"{format_fact_place(block)}: {fact_lines[0]}{count_suffix}: {reasons}"
    return build_change_finding(RISK_OF_CHANGE, message, facts[0], facts[0], effect.risk, facts=len(fact_lines))


def _format_risk_reasons(risk: ChangeRisk, reasons: Iterable[str]) -> str:
    return ": ".join(filter(None, (RISK_LABELS[risk], "; ".join(reasons))))


def build_outdated_build_finding(mismatch: OutdatedBuild, build: Reading | None) -> Finding:
    """Return the verdict on a build that is out of date with its intent, at the first place that differs.

    If there is no such place, because switches are missing, it has none.
    """
    facts = [subject_of_path_in_device(difference.path[0], difference.path[1:]) for difference in mismatch.differences]
    names = (*mismatch.differing, *mismatch.extra)
    at = facts[0] if facts else (names[0],) if names and build is not None else (FABRIC_HEAD,)
    related = [
        RelatedPart(subject=subjects, message="different here too") for subjects in facts[1 : _MAX_RELATED_PLACES + 1]
    ]
    return build_change_finding(
        BUILD_OUT_OF_DATE,
        unfit_said(mismatch),
        (FABRIC_HEAD, "builds", mismatch.build),
        at,
        mismatch.intent,
        related=tuple(related),
    )


def build_change_finding(
    ruling: BuiltinVerdict,
    message: str,
    subject: Subject,
    at: Subject,
    discriminator: str,
    *,
    severity: Severity = "error",
    related: tuple[RelatedPart, ...] = (),
    located: FileLocation | None = None,
    **facts: int,
) -> Finding:
    """Return a verdict on a change; the discriminator distinguishes those about one subject."""
    fingerprint = digest_parts(ruling.name, subject_text(subject), discriminator)
    return Finding(
        rule=ruling.name,
        severity=severity,
        confidence="certain",
        message=message,
        subject=subject,
        at=at,
        device=None if subject[0] == FABRIC_HEAD else subject[0],
        group=fingerprint,
        fingerprint=fingerprint,
        facts=facts,
        related=related,
        located=located,
        fix=Fix(text=ruling.fix),
    )
