"""The JSON Schemas of the commands' JSON reports: findings, a plan, drift (a plan to the wanted state), and a check."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import get_args

from nodrop.plan.model import CHANGE_RISKS, KINDS, ChangeMeans, DeviceChangeKind, HazardTime
from nodrop.report import check_json, json, plan_json
from nodrop.report.schema_parts import (
    COUNT_SCHEMA,
    FLAG_SCHEMA,
    NULLABLE_TEXT_SCHEMA,
    TEXT_LIST_SCHEMA,
    TEXT_SCHEMA,
    VALUE_SCHEMA,
    Schema,
    described_text_schema,
    finding_schema,
    list_schema,
    note_schema,
    nullable_schema,
    object_schema,
    problem_schema,
    report,
)
from nodrop.results.outcome import Summary
from nodrop.routing.observation import OBSERVATION_CHECKS

_COUNTED = tuple(field.name for field in dataclasses.fields(Summary))
_RISK: Schema = {
    "enum": list(CHANGE_RISKS),
    "description": "What it does to a switch that runs, from nothing to the worst.",
}
_UNCHANGED: Schema = {
    "type": ["integer", "null"],
    "minimum": 0,
    "description": "Null where not all of the fabric was judged, so that nobody counted them.",
}
_STOPS = (
    "What else is not let through, as findings: rollout-hazard (a note where --rollout lets it through),"
    " build-unlike-intent, risk-of-change."
)


def findings_schema() -> Schema:
    """Return a new copy of the schema of findings."""
    return report(
        "What nodrop found",
        version={"const": json.VERSION},
        findings=list_schema(finding_schema()),
        unknown=list_schema(_unknown_schema()),
        notes=list_schema(note_schema()),
        problems=list_schema(problem_schema()),
        files=nullable_schema(_files()),
        assumed=list_schema(object_schema(fact=TEXT_SCHEMA, value=TEXT_SCHEMA, because=TEXT_SCHEMA)),
        validations=nullable_schema(list_schema(_validation_schema())),
        statistics=nullable_schema(list_schema(_statistic_schema())),
        skipped=list_schema(object_schema(reason=TEXT_SCHEMA, rules=TEXT_LIST_SCHEMA)),
        summary=object_schema(**dict.fromkeys(_COUNTED, COUNT_SCHEMA)),
    )


def _files() -> Schema:
    row = object_schema(file=TEXT_SCHEMA, reason=TEXT_SCHEMA)
    return object_schema(read=TEXT_LIST_SCHEMA, ignored=list_schema(row), unread=list_schema(row))


def _validation_schema() -> Schema:
    seen = dict.fromkeys(("sound", "seen", "unseen", "differs"), COUNT_SCHEMA)
    column = object_schema(validator=TEXT_SCHEMA, **seen, because=TEXT_LIST_SCHEMA)
    row = object_schema(check={"enum": list(OBSERVATION_CHECKS)}, items=COUNT_SCHEMA, columns=list_schema(column))
    return object_schema(name=TEXT_SCHEMA, rows=list_schema(row), told=TEXT_LIST_SCHEMA)


def _unknown_schema() -> Schema:
    return object_schema(
        rule=TEXT_SCHEMA,
        missing=TEXT_SCHEMA,
        subjects_count=COUNT_SCHEMA,
        devices=TEXT_LIST_SCHEMA,
        settled_by=TEXT_SCHEMA,
    )


def _statistic_schema() -> Schema:
    return object_schema(
        rule=TEXT_SCHEMA, findings=COUNT_SCHEMA, evaluations=COUNT_SCHEMA, seconds={"type": "number", "minimum": 0}
    )


def plan_schema() -> Schema:
    """Return a new copy of the schema for `nodrop plan --format json`."""
    return report(
        "What changes", version={"const": plan_json.VERSION}, kind={"const": "plan"}, plans=list_schema(_plan())
    )


def drift_schema() -> Schema:
    """Return a new copy of the schema for `nodrop drift --format json`."""
    return report(
        "What runs otherwise",
        version={"const": plan_json.VERSION},
        kind={"const": "drift"},
        wanted=described_text_schema("What is wanted, as it was named."),
        plans={**list_schema(_plan()), "minItems": 1, "maxItems": 1},
        uncollected={**TEXT_LIST_SCHEMA, "description": "Switches that are wanted, without running files."},
        foreign={**TEXT_LIST_SCHEMA, "description": "Running switches that are not intended."},
        own={
            **list_schema(_fact_group_schema()),
            "description": "What switches wrote by themselves, which is no drift.",
        },
        own_outside={
            **list_schema(object_schema(devices=TEXT_LIST_SCHEMA, file=TEXT_SCHEMA, at=TEXT_LIST_SCHEMA)),
            "description": "The same beyond the facts of the model, by table or part of the configuration.",
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


def _plan() -> Schema:
    """Return the schema of the plan of one fabric."""
    return object_schema(
        old=TEXT_SCHEMA,
        new=TEXT_SCHEMA,
        devices=list_schema(
            object_schema(
                name=TEXT_SCHEMA, kind={"enum": list(get_args(DeviceChangeKind))}, platform=TEXT_SCHEMA, risk=_RISK
            )
        ),
        changes=list_schema(_fact_group_schema()),
        together=list_schema(object_schema(devices=TEXT_LIST_SCHEMA, risk=_RISK, reasons=TEXT_LIST_SCHEMA)),
        outside={**list_schema(_outside_schema()), "description": "What changes in files and is no fact of the model."},
        unsaid=list_schema(_fact_group_schema()),
        order=list_schema(
            object_schema(
                number=TEXT_SCHEMA, devices=TEXT_LIST_SCHEMA, why=TEXT_SCHEMA, shares=nullable_schema(TEXT_LIST_SCHEMA)
            )
        ),
        rollout=nullable_schema(_rollout_schema()),
        problems=list_schema(problem_schema()),
        summary=object_schema(**dict.fromkeys(KINDS, COUNT_SCHEMA), risk=_RISK),
    )


def _fact_group_schema() -> Schema:
    return object_schema(devices=TEXT_LIST_SCHEMA, ports=TEXT_LIST_SCHEMA, facts=list_schema(_fact_schema()))


def _outside_schema() -> Schema:
    kinds: Schema = {"enum": ["added", "removed", "changed"]}
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
        risk=_RISK,
        reasons=TEXT_LIST_SCHEMA,
    )


def _fact_schema() -> Schema:
    path = described_text_schema(
        "From the switch, from the port where there are ports, or from the fabric where there are no devices."
    )
    return object_schema(
        what=TEXT_SCHEMA,
        said=TEXT_LIST_SCHEMA,
        computed=FLAG_SCHEMA,
        risk=_RISK,
        reasons=TEXT_LIST_SCHEMA,
        means={"enum": list(get_args(ChangeMeans))},
        by_hand=TEXT_LIST_SCHEMA,
        entries={**list_schema(object_schema(path=path, old=VALUE_SCHEMA, new=VALUE_SCHEMA)), "minItems": 1},
    )


def _rollout_schema() -> Schema:
    return object_schema(
        why=NULLABLE_TEXT_SCHEMA,
        avoided=nullable_schema(_hazard_schema()),
        hazards=list_schema(_hazard_schema()),
        tried=COUNT_SCHEMA,
        untried=COUNT_SCHEMA,
    )


def _hazard_schema() -> Schema:
    stage = "The number of its stage in `order`: what is done, or goes on; null in `avoided`, whose order is not told."
    return object_schema(
        when={"enum": list(get_args(HazardTime))},
        stage={**NULLABLE_TEXT_SCHEMA, "description": stage},
        moment=TEXT_SCHEMA,
        rule=TEXT_SCHEMA,
        severity=TEXT_SCHEMA,
        subject=TEXT_SCHEMA,
        message=TEXT_SCHEMA,
        places=COUNT_SCHEMA,
    )


def check_schema() -> Schema:
    """Return a new copy of the schema for `nodrop check --format json`."""
    return report(
        "What a change does",
        version={"const": check_json.VERSION},
        kind={"const": "check"},
        base=TEXT_SCHEMA,
        fabrics=list_schema(_fabric_schema()),
        same=TEXT_LIST_SCHEMA,
        findings=list_schema(finding_schema()),
        stops={**list_schema(finding_schema()), "description": _STOPS},
        unfit=list_schema(_unfit_schema()),
        notes=list_schema(note_schema()),
        problems=list_schema(problem_schema()),
        problems_before=list_schema(problem_schema()),
        summary=object_schema(
            changed=COUNT_SCHEMA, new=COUNT_SCHEMA, fixed=COUNT_SCHEMA, suppressed=COUNT_SCHEMA, unchanged=_UNCHANGED
        ),
    )


def _fabric_schema() -> Schema:
    flow = object_schema(
        start=TEXT_SCHEMA,
        port=TEXT_SCHEMA,
        prefix=TEXT_SCHEMA,
        to=TEXT_SCHEMA,
        before=TEXT_SCHEMA,
        after=TEXT_SCHEMA,
        lost=FLAG_SCHEMA,
    )
    rerouted = object_schema(
        check={"enum": list(OBSERVATION_CHECKS)}, item=TEXT_SCHEMA, old=VALUE_SCHEMA, new=VALUE_SCHEMA
    )
    return object_schema(
        name=TEXT_SCHEMA,
        was=NULLABLE_TEXT_SCHEMA,
        gone=FLAG_SCHEMA,
        told_by=TEXT_LIST_SCHEMA,
        plan=_plan(),
        fixed=list_schema(finding_schema()),
        suppressed=list_schema(finding_schema()),
        unchanged=_UNCHANGED,
        routing=object_schema(
            changes=list_schema(rerouted),
            not_computed=NULLABLE_TEXT_SCHEMA,
            flows=list_schema(flow),
            told=TEXT_LIST_SCHEMA,
        ),
    )


def _unfit_schema() -> Schema:
    differences = list_schema(object_schema(subject=TEXT_SCHEMA, intent=VALUE_SCHEMA, build=VALUE_SCHEMA))
    return object_schema(
        intent=TEXT_SCHEMA,
        build=TEXT_SCHEMA,
        differ=TEXT_LIST_SCHEMA,
        missing=TEXT_LIST_SCHEMA,
        extra=TEXT_LIST_SCHEMA,
        differences=differences,
    )


REPORT_SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "findings": findings_schema,
    "plan": plan_schema,
    "check": check_schema,
    "drift": drift_schema,
}
"""What makes the schema of each kind of report."""
