"""The JSON Schemas of the commands' JSON reports: findings, a plan, drift (a plan to the wanted state), and a check."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import get_args

from nodrop.plan.model import CHANGE_RISKS, DEVICE_CHANGE_KINDS, ChangeMethod, DeviceChangeKind, HazardTime
from nodrop.report import check_json, json, plan_json
from nodrop.report.proof_schema import certificate_schema, pause_storm_schema, proof_schema
from nodrop.report.schema_parts import (
    COUNT_SCHEMA,
    FLAG_SCHEMA,
    MODEL_VALUE_SCHEMA,
    NULLABLE_TEXT_SCHEMA,
    TEXT_LIST_SCHEMA,
    TEXT_SCHEMA,
    JsonSchema,
    described_text_schema,
    finding_schema,
    list_schema,
    note_schema,
    nullable_schema,
    object_schema,
    problem_schema,
    report_schema,
)
from nodrop.results.outcome import OutcomeTotals
from nodrop.routing.observation import OBSERVATION_CHECKS

_SUMMARY_FIELDS = tuple(field.name for field in dataclasses.fields(OutcomeTotals))
_RISK_SCHEMA: JsonSchema = {
    "enum": list(CHANGE_RISKS),
    "description": "Effect on a running switch, from none to the worst.",
}
_UNCHANGED_COUNT_SCHEMA: JsonSchema = {
    "type": ["integer", "null"],
    "minimum": 0,
    "description": "Findings that both states have; null if only a part of the fabric was checked.",
}
_BLOCKERS_DESCRIPTION = (
    "What else fails the check, as findings: rollout-hazard (a note with `--rollout report`), build-unlike-intent,"
    " risk-of-change, policy-changed, device-not-checked."
)


def findings_schema() -> JsonSchema:
    """Return a new copy of the schema of findings."""
    return report_schema(
        "Findings",
        version={"const": json.FORMAT_VERSION},
        findings=list_schema(finding_schema()),
        unknown=list_schema(_unknown_schema()),
        notes=list_schema(note_schema()),
        problems=list_schema(problem_schema()),
        files=nullable_schema(_read_and_unread_files_schema()),
        assumed=list_schema(object_schema(fact=TEXT_SCHEMA, value=TEXT_SCHEMA, reason=TEXT_SCHEMA)),
        validations=nullable_schema(list_schema(_validator_comparison_schema())),
        statistics=nullable_schema(list_schema(_statistic_schema())),
        skipped=list_schema(object_schema(reason=TEXT_SCHEMA, rules=TEXT_LIST_SCHEMA)),
        summary=object_schema(**dict.fromkeys(_SUMMARY_FIELDS, COUNT_SCHEMA)),
    )


def _read_and_unread_files_schema() -> JsonSchema:
    row = object_schema(file=TEXT_SCHEMA, reason=TEXT_SCHEMA)
    return object_schema(read=TEXT_LIST_SCHEMA, ignored=list_schema(row), unread=list_schema(row))


def _validator_comparison_schema() -> JsonSchema:
    seen = dict.fromkeys(("correct", "observed", "not_observable", "different"), COUNT_SCHEMA)
    column = object_schema(validator=TEXT_SCHEMA, **seen, reasons=TEXT_LIST_SCHEMA)
    row = object_schema(check={"enum": list(OBSERVATION_CHECKS)}, items=COUNT_SCHEMA, columns=list_schema(column))
    return object_schema(name=TEXT_SCHEMA, rows=list_schema(row), notes=TEXT_LIST_SCHEMA)


def _unknown_schema() -> JsonSchema:
    return object_schema(
        rule=TEXT_SCHEMA,
        missing=TEXT_SCHEMA,
        subjects_count=COUNT_SCHEMA,
        devices=TEXT_LIST_SCHEMA,
        resolved_by=TEXT_SCHEMA,
    )


def _statistic_schema() -> JsonSchema:
    return object_schema(
        rule=TEXT_SCHEMA, findings=COUNT_SCHEMA, evaluations=COUNT_SCHEMA, seconds={"type": "number", "minimum": 0}
    )


def plan_schema() -> JsonSchema:
    """Return a new copy of the schema for `nodrop plan --format json`."""
    return report_schema(
        "Plan", version={"const": plan_json.FORMAT_VERSION}, kind={"const": "plan"}, plans=list_schema(_plan_schema())
    )


def drift_schema() -> JsonSchema:
    """Return a new copy of the schema for `nodrop drift --format json`."""
    return report_schema(
        "Drift",
        version={"const": plan_json.FORMAT_VERSION},
        kind={"const": "drift"},
        intended=described_text_schema("The intended state: the path that was given."),
        plans={**list_schema(_plan_schema()), "minItems": 1, "maxItems": 1},
        uncollected={**TEXT_LIST_SCHEMA, "description": "Intended switches without running files."},
        foreign={**TEXT_LIST_SCHEMA, "description": "Running switches that are not intended."},
        automatic={
            **list_schema(_fact_group_schema()),
            "description": "Settings that switches add by themselves; they are no drift.",
        },
        automatic_outside_model={
            **list_schema(object_schema(devices=TEXT_LIST_SCHEMA, file=TEXT_SCHEMA, at=TEXT_LIST_SCHEMA)),
            "description": "The same for settings outside the model, by table or part of the configuration.",
        },
        findings=list_schema(finding_schema()),
        notes=list_schema(note_schema()),
        problems=list_schema(problem_schema()),
        summary=object_schema(
            switches=COUNT_SCHEMA,
            differing=COUNT_SCHEMA,
            uncollected=COUNT_SCHEMA,
            foreign=COUNT_SCHEMA,
            findings=COUNT_SCHEMA,
            shared_findings=COUNT_SCHEMA,
        ),
    )


def _plan_schema() -> JsonSchema:
    """Return the schema of the plan of one fabric."""
    return object_schema(
        old=TEXT_SCHEMA,
        new=TEXT_SCHEMA,
        devices=list_schema(
            object_schema(
                name=TEXT_SCHEMA,
                kind={"enum": list(get_args(DeviceChangeKind))},
                platform=TEXT_SCHEMA,
                risk=_RISK_SCHEMA,
            )
        ),
        changes=list_schema(_fact_group_schema()),
        combined_impact=list_schema(
            object_schema(devices=TEXT_LIST_SCHEMA, risk=_RISK_SCHEMA, reasons=TEXT_LIST_SCHEMA)
        ),
        outside_model={
            **list_schema(_change_outside_model_schema()),
            "description": "Changes in files outside the model, by table or part of the configuration.",
        },
        not_compared={
            **list_schema(_fact_group_schema()),
            "description": "Facts that one of the two sides does not state.",
        },
        order=list_schema(
            object_schema(
                number=TEXT_SCHEMA, devices=TEXT_LIST_SCHEMA, why=TEXT_SCHEMA, scopes=nullable_schema(TEXT_LIST_SCHEMA)
            )
        ),
        rollout=nullable_schema(_rollout_schema()),
        problems=list_schema(problem_schema()),
        summary=object_schema(**dict.fromkeys(DEVICE_CHANGE_KINDS, COUNT_SCHEMA), risk=_RISK_SCHEMA),
    )


def _fact_group_schema() -> JsonSchema:
    return object_schema(devices=TEXT_LIST_SCHEMA, ports=TEXT_LIST_SCHEMA, facts=list_schema(_fact_schema()))


def _change_outside_model_schema() -> JsonSchema:
    kinds: JsonSchema = {"enum": ["added", "removed", "changed"]}
    return object_schema(
        devices=TEXT_LIST_SCHEMA,
        file=described_text_schema("By the name that it has on its switch."),
        at={
            **TEXT_LIST_SCHEMA,
            "description": "The table, or part of the configuration; empty where the file is lines.",
        },
        keys=list_schema(
            object_schema(path={**TEXT_LIST_SCHEMA, "description": "Words, never values or secrets."}, kind=kinds)
        ),
        risk=_RISK_SCHEMA,
        reasons=TEXT_LIST_SCHEMA,
    )


def _fact_schema() -> JsonSchema:
    path = described_text_schema(
        "From the switch, from the port where there are ports, or from the fabric where there are no devices."
    )
    return object_schema(
        what=TEXT_SCHEMA,
        lines=TEXT_LIST_SCHEMA,
        computed=FLAG_SCHEMA,
        risk=_RISK_SCHEMA,
        reasons=TEXT_LIST_SCHEMA,
        method={"enum": list(get_args(ChangeMethod))},
        by_hand=TEXT_LIST_SCHEMA,
        entries={
            **list_schema(object_schema(path=path, old=MODEL_VALUE_SCHEMA, new=MODEL_VALUE_SCHEMA)),
            "minItems": 1,
        },
    )


def _rollout_schema() -> JsonSchema:
    return object_schema(
        why=NULLABLE_TEXT_SCHEMA,
        avoided=nullable_schema(_hazard_schema()),
        hazards=list_schema(_hazard_schema()),
        states_checked=COUNT_SCHEMA,
        states_not_checked=COUNT_SCHEMA,
    )


def _hazard_schema() -> JsonSchema:
    stage = "The number of the stage in `order` that is done or in progress; null in `avoided`."
    return object_schema(
        when={"enum": list(get_args(HazardTime))},
        stage={**NULLABLE_TEXT_SCHEMA, "description": stage},
        moment=TEXT_SCHEMA,
        rule=TEXT_SCHEMA,
        severity=TEXT_SCHEMA,
        subject=TEXT_SCHEMA,
        message=TEXT_SCHEMA,
        subjects_count=COUNT_SCHEMA,
    )


def check_schema() -> JsonSchema:
    """Return a new copy of the schema for `nodrop check --format json`."""
    return report_schema(
        "Check of a change",
        version={"const": check_json.FORMAT_VERSION},
        kind={"const": "check"},
        base=TEXT_SCHEMA,
        fabrics=list_schema(_fabric_schema()),
        unchanged_fabrics=TEXT_LIST_SCHEMA,
        findings=list_schema(finding_schema()),
        blockers={**list_schema(finding_schema()), "description": _BLOCKERS_DESCRIPTION},
        outdated_builds=list_schema(_outdated_build_schema()),
        notes=list_schema(note_schema()),
        problems=list_schema(problem_schema()),
        base_problems=list_schema(problem_schema()),
        summary=object_schema(
            changed=COUNT_SCHEMA,
            new=COUNT_SCHEMA,
            fixed=COUNT_SCHEMA,
            suppressed=COUNT_SCHEMA,
            unchanged=_UNCHANGED_COUNT_SCHEMA,
        ),
    )


def _fabric_schema() -> JsonSchema:
    flow = object_schema(
        source=TEXT_SCHEMA,
        port=TEXT_SCHEMA,
        prefix=TEXT_SCHEMA,
        destination=TEXT_SCHEMA,
        old=TEXT_SCHEMA,
        new=TEXT_SCHEMA,
        lost=FLAG_SCHEMA,
    )
    rerouted = object_schema(
        check={"enum": list(OBSERVATION_CHECKS)}, item=TEXT_SCHEMA, old=MODEL_VALUE_SCHEMA, new=MODEL_VALUE_SCHEMA
    )
    return object_schema(
        name=TEXT_SCHEMA,
        former_name=NULLABLE_TEXT_SCHEMA,
        removed=FLAG_SCHEMA,
        matching_builds=TEXT_LIST_SCHEMA,
        plan=_plan_schema(),
        fixed=list_schema(finding_schema()),
        suppressed=list_schema(finding_schema()),
        unchanged=_UNCHANGED_COUNT_SCHEMA,
        routing=object_schema(
            changes=list_schema(rerouted),
            not_computed=NULLABLE_TEXT_SCHEMA,
            flows=list_schema(flow),
            notes=TEXT_LIST_SCHEMA,
        ),
        claims=nullable_schema(
            object_schema(old=_deadlock_and_pause_claims_schema(), new=_deadlock_and_pause_claims_schema())
        ),
    )


def _deadlock_and_pause_claims_schema() -> JsonSchema:
    return object_schema(
        deadlock={"enum": ["free", "unknown", "possible", "possible-after-failures"]},
        any_failures=FLAG_SCHEMA,
        searched_failures=COUNT_SCHEMA,
        search_cut=FLAG_SCHEMA,
        frozen_host_ports=COUNT_SCHEMA,
        frozen_gpus=COUNT_SCHEMA,
    )


def _outdated_build_schema() -> JsonSchema:
    differences = list_schema(object_schema(subject=TEXT_SCHEMA, intent=MODEL_VALUE_SCHEMA, build=MODEL_VALUE_SCHEMA))
    return object_schema(
        intent=TEXT_SCHEMA,
        build=TEXT_SCHEMA,
        differing=TEXT_LIST_SCHEMA,
        missing=TEXT_LIST_SCHEMA,
        extra=TEXT_LIST_SCHEMA,
        differences=differences,
    )


SCHEMA_MAKER_BY_REPORT_KIND: Mapping[str, Callable[[], JsonSchema]] = {
    "findings": findings_schema,
    "plan": plan_schema,
    "check": check_schema,
    "drift": drift_schema,
    "proof": proof_schema,
    "storm": pause_storm_schema,
    "certificate": certificate_schema,
}
"""What makes the schema of each kind of report."""
