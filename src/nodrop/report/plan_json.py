"""A plan as JSON; `report.schema` has the schema."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nodrop.model import subject
from nodrop.plan.model import (
    DEVICE_CHANGE_KINDS,
    ChangedFact,
    ChangedFactGroup,
    DeviceChange,
    DifferingEntry,
    ImpactOfChangesTogether,
    Plan,
    RolloutCheckResult,
    RolloutHazard,
    RolloutStage,
    UnmodeledChange,
)
from nodrop.plan.order import number_stages
from nodrop.report.json import encode_json_document, json_value, problem_record
from nodrop.report.plan_words import PLAN_WORDING, DifferenceWording, fact_name, format_fact_lines

FORMAT_VERSION = 2


def render(plans: Sequence[Plan]) -> bytes:
    """Write plans as JSON in UTF-8; nothing is folded."""
    return encode_json_document(
        {"version": FORMAT_VERSION, "kind": "plan", "plans": [plan_record(plan) for plan in plans]}
    )


def plan_record(plan: Plan, wording: DifferenceWording = PLAN_WORDING) -> dict[str, Any]:
    """Return the plan of one fabric as JSON values."""
    kinds = Counter(device.kind for device in plan.devices)
    return {
        "old": plan.old,
        "new": plan.new,
        "devices": [_device_record(device, plan) for device in plan.devices],
        "changes": [fact_group_document(fact_group, wording) for fact_group in plan.changes],
        "combined_impact": [_combined_impact_document(joint_change) for joint_change in plan.combined_impact],
        "outside_model": [_outside_table_document(outside_table) for outside_table in plan.outside_model],
        "not_compared": [fact_group_document(fact_group, wording) for fact_group in plan.not_compared],
        "order": [_stage_document(number, stage) for number, stage in number_stages(plan.order)],
        "rollout": None if plan.rollout is None else _rollout_document(plan.rollout, number_stages(plan.order)),
        "problems": [problem_record(problem) for problem in plan.problems],
        "summary": {**{kind: kinds[kind] for kind in DEVICE_CHANGE_KINDS}, "risk": plan.risk},
    }


def _device_record(device_change: DeviceChange, plan: Plan) -> dict[str, object]:
    before, after = (None if device is None else device.platform for device in (device_change.old, device_change.new))
    return {
        "name": device_change.name,
        "kind": device_change.kind,
        "platform": after or before,
        "risk": plan.effects.get(device_change.name, "none"),
    }


def fact_group_document(fact_group: ChangedFactGroup, wording: DifferenceWording) -> dict[str, object]:
    """Return facts of one place."""
    facts = [_fact_document(fact, wording) for fact in fact_group.facts]
    return {"devices": list(fact_group.devices), "ports": list(fact_group.ports), "facts": facts}


def _fact_document(fact: ChangedFact, wording: DifferenceWording) -> dict[str, object]:
    return {
        "what": fact_name(fact),
        "lines": list(format_fact_lines(fact, wording)),
        "computed": fact.is_switch_computed,
        "risk": fact.effect.risk,
        "reasons": list(fact.effect.reasons),
        "method": fact.effect.method,
        "by_hand": list(fact.effect.by_hand),
        "entries": [_entry_document(entry) for entry in fact.entries],
    }


def _combined_impact_document(batch: ImpactOfChangesTogether) -> dict[str, object]:
    return {"devices": list(batch.devices), "risk": batch.effect.risk, "reasons": list(batch.effect.reasons)}


def _outside_table_document(outside_table: UnmodeledChange) -> dict[str, object]:
    keys = [{"path": list(difference.path[1:]), "kind": difference.kind} for difference in outside_table.keys]
    return {
        "devices": list(outside_table.devices),
        "file": outside_table.at[0],
        "at": list(outside_table.at[1:]),
        "keys": keys,
        "risk": outside_table.effect.risk,
        "reasons": list(outside_table.effect.reasons),
    }


def _entry_document(entry: DifferingEntry) -> dict[str, object]:
    return {"path": subject.subject_text(entry.path), "old": json_value(entry.old), "new": json_value(entry.new)}


def _stage_document(number: str, stage: RolloutStage) -> dict[str, object]:
    scopes = [str(scope) for scope in stage.scopes] or None
    return {"number": number, "devices": list(stage.devices), "why": stage.why, "scopes": scopes}


def _rollout_document(rollout: RolloutCheckResult, order: Sequence[tuple[str, RolloutStage]]) -> dict[str, object]:
    return {
        "why": rollout.why or None,
        "avoided": None if rollout.avoided is None else _hazard_document(rollout.avoided, None),
        "hazards": [_hazard_document(hazard, order[hazard.stage - 1][0]) for hazard in rollout.hazards],
        "states_checked": rollout.states_checked,
        "states_not_checked": rollout.states_not_checked,
    }


def _hazard_document(hazard: RolloutHazard, number: str | None) -> dict[str, object]:
    return {
        "when": hazard.when,
        "stage": number,
        "moment": hazard.moment,
        "rule": hazard.rule,
        "severity": hazard.severity,
        "subject": subject.subject_text(hazard.subject),
        "message": hazard.message,
        "subjects_count": hazard.subjects_count,
    }
