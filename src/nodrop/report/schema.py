"""The JSON Schemas of the commands' JSON reports: findings, a plan, drift (a plan to the wanted state), and a check."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import get_args

from nodrop.plan.model import KINDS, RISKS, Kind, Means, When
from nodrop.report import check_json, json, plan_json
from nodrop.report.schema_parts import (
    COUNT,
    FLAG,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    VALUE,
    Schema,
    described_text,
    finding,
    list_of,
    note,
    object_of,
    or_null,
    problem,
    report,
)
from nodrop.results.outcome import Summary
from nodrop.routing.observation import CHECKS

_COUNTED = tuple(field.name for field in dataclasses.fields(Summary))
_RISK: Schema = {"enum": list(RISKS), "description": "What it does to a switch that runs, from nothing to the worst."}
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
        findings=list_of(finding()),
        unknown=list_of(_unknown_schema()),
        notes=list_of(note()),
        problems=list_of(problem()),
        files=or_null(_files()),
        assumed=list_of(object_of(fact=TEXT, value=TEXT, because=TEXT)),
        validations=or_null(list_of(_validation_schema())),
        statistics=or_null(list_of(_statistic_schema())),
        skipped=list_of(object_of(reason=TEXT, rules=TEXTS)),
        summary=object_of(**dict.fromkeys(_COUNTED, COUNT)),
    )


def _files() -> Schema:
    row = object_of(file=TEXT, reason=TEXT)
    return object_of(read=TEXTS, ignored=list_of(row), unread=list_of(row))


def _validation_schema() -> Schema:
    seen = dict.fromkeys(("sound", "seen", "unseen", "differs"), COUNT)
    column = object_of(validator=TEXT, **seen, because=TEXTS)
    row = object_of(check={"enum": list(CHECKS)}, items=COUNT, columns=list_of(column))
    return object_of(name=TEXT, rows=list_of(row), told=TEXTS)


def _unknown_schema() -> Schema:
    return object_of(rule=TEXT, missing=TEXT, subjects_count=COUNT, devices=TEXTS, settled_by=TEXT)


def _statistic_schema() -> Schema:
    return object_of(rule=TEXT, findings=COUNT, evaluations=COUNT, seconds={"type": "number", "minimum": 0})


def plan_schema() -> Schema:
    """Return a new copy of the schema for `nodrop plan --format json`."""
    return report("What changes", version={"const": plan_json.VERSION}, kind={"const": "plan"}, plans=list_of(_plan()))


def drift_schema() -> Schema:
    """Return a new copy of the schema for `nodrop drift --format json`."""
    return report(
        "What runs otherwise",
        version={"const": plan_json.VERSION},
        kind={"const": "drift"},
        wanted=described_text("What is wanted, as it was named."),
        plans={**list_of(_plan()), "minItems": 1, "maxItems": 1},
        uncollected={**TEXTS, "description": "Switches that are wanted, without running files."},
        foreign={**TEXTS, "description": "Running switches that are not intended."},
        own={**list_of(_fact_group_schema()), "description": "What switches wrote by themselves, which is no drift."},
        own_outside={
            **list_of(object_of(devices=TEXTS, file=TEXT, at=TEXTS)),
            "description": "The same beyond the facts of the model, by table or part of the configuration.",
        },
        findings=list_of(finding()),
        notes=list_of(note()),
        problems=list_of(problem()),
        summary=object_of(
            switches=COUNT,
            differing=COUNT,
            uncollected=COUNT,
            foreign=COUNT,
            findings=COUNT,
            shared_findings=COUNT,
        ),
    )


def _plan() -> Schema:
    """Return the schema of the plan of one fabric."""
    return object_of(
        old=TEXT,
        new=TEXT,
        devices=list_of(object_of(name=TEXT, kind={"enum": list(get_args(Kind))}, platform=TEXT, risk=_RISK)),
        changes=list_of(_fact_group_schema()),
        together=list_of(object_of(devices=TEXTS, risk=_RISK, reasons=TEXTS)),
        outside={**list_of(_outside_schema()), "description": "What changes in files and is no fact of the model."},
        unsaid=list_of(_fact_group_schema()),
        order=list_of(object_of(number=TEXT, devices=TEXTS, why=TEXT, shares=or_null(TEXTS))),
        rollout=or_null(_rollout_schema()),
        problems=list_of(problem()),
        summary=object_of(**dict.fromkeys(KINDS, COUNT), risk=_RISK),
    )


def _fact_group_schema() -> Schema:
    return object_of(devices=TEXTS, ports=TEXTS, facts=list_of(_fact_schema()))


def _outside_schema() -> Schema:
    kinds: Schema = {"enum": ["added", "removed", "changed"]}
    return object_of(
        devices=TEXTS,
        file=described_text("By the name that it has on its switch."),
        at={**TEXTS, "description": "The table, or part of the configuration; empty where the file is lines."},
        keys=list_of(object_of(path={**TEXTS, "description": "Words, never values or secrets."}, kind=kinds)),
        risk=_RISK,
        reasons=TEXTS,
    )


def _fact_schema() -> Schema:
    path = described_text(
        "From the switch, from the port where there are ports, or from the fabric where there are no devices."
    )
    return object_of(
        what=TEXT,
        said=TEXTS,
        computed=FLAG,
        risk=_RISK,
        reasons=TEXTS,
        means={"enum": list(get_args(Means))},
        by_hand=TEXTS,
        entries={**list_of(object_of(path=path, old=VALUE, new=VALUE)), "minItems": 1},
    )


def _rollout_schema() -> Schema:
    return object_of(
        why=TEXT_OR_NULL,
        avoided=or_null(_hazard_schema()),
        hazards=list_of(_hazard_schema()),
        tried=COUNT,
        untried=COUNT,
    )


def _hazard_schema() -> Schema:
    stage = "The number of its stage in `order`: what is done, or goes on; null in `avoided`, whose order is not told."
    return object_of(
        when={"enum": list(get_args(When))},
        stage={**TEXT_OR_NULL, "description": stage},
        moment=TEXT,
        rule=TEXT,
        severity=TEXT,
        subject=TEXT,
        message=TEXT,
        places=COUNT,
    )


def check_schema() -> Schema:
    """Return a new copy of the schema for `nodrop check --format json`."""
    return report(
        "What a change does",
        version={"const": check_json.VERSION},
        kind={"const": "check"},
        base=TEXT,
        fabrics=list_of(_fabric_schema()),
        same=TEXTS,
        findings=list_of(finding()),
        stops={**list_of(finding()), "description": _STOPS},
        unfit=list_of(_unfit_schema()),
        notes=list_of(note()),
        problems=list_of(problem()),
        problems_before=list_of(problem()),
        summary=object_of(changed=COUNT, new=COUNT, fixed=COUNT, suppressed=COUNT, unchanged=_UNCHANGED),
    )


def _fabric_schema() -> Schema:
    flow = object_of(start=TEXT, port=TEXT, prefix=TEXT, to=TEXT, before=TEXT, after=TEXT, lost=FLAG)
    rerouted = object_of(check={"enum": list(CHECKS)}, item=TEXT, old=VALUE, new=VALUE)
    return object_of(
        name=TEXT,
        was=TEXT_OR_NULL,
        gone=FLAG,
        told_by=TEXTS,
        plan=_plan(),
        fixed=list_of(finding()),
        suppressed=list_of(finding()),
        unchanged=_UNCHANGED,
        routing=object_of(changes=list_of(rerouted), not_computed=TEXT_OR_NULL, flows=list_of(flow), told=TEXTS),
    )


def _unfit_schema() -> Schema:
    differences = list_of(object_of(subject=TEXT, intent=VALUE, build=VALUE))
    return object_of(intent=TEXT, build=TEXT, differ=TEXTS, missing=TEXTS, extra=TEXTS, differences=differences)


REPORTS: Mapping[str, Callable[[], Schema]] = {
    "findings": findings_schema,
    "plan": plan_schema,
    "check": check_schema,
    "drift": drift_schema,
}
"""What makes the schema of each kind of report."""
