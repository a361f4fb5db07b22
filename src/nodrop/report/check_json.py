"""A check as JSON; `report.schema` has the schema."""

from dataclasses import asdict
from typing import Any

from nodrop.model import subject
from nodrop.model.compare import ModelDifference
from nodrop.report import plan_json
from nodrop.report.json import encode_json_document, finding_record, json_value, note_record, problem_record
from nodrop.results.checked import ChangedFabric, CheckedChange, OutdatedBuild, RoutingDifference
from nodrop.routing.observation import DifferingFlow

FORMAT_VERSION = 2


def render(checked: CheckedChange) -> bytes:
    """Write a check as JSON in UTF-8; nothing is folded."""
    unchanged = [fabric.findings.unchanged for fabric in checked.fabrics]
    return encode_json_document(
        {
            "version": FORMAT_VERSION,
            "kind": "check",
            "base": checked.base,
            "fabrics": [_fabric_document(fabric) for fabric in checked.fabrics],
            "unchanged_fabrics": list(checked.unchanged_fabrics),
            "findings": [finding_record(finding) for finding in checked.outcome.findings],
            "blockers": [finding_record(stop) for stop in checked.blockers],
            "outdated_builds": [_outdated_build_document(outdated_build) for outdated_build in checked.outdated_builds],
            "notes": [note_record(note) for note in checked.notes],
            "problems": [problem_record(problem) for problem in checked.outcome.problems],
            "base_problems": [problem_record(problem) for problem in checked.base_problems],
            "summary": {
                "changed": sum(not fabric.plan.is_empty for fabric in checked.fabrics),
                "new": len(checked.outcome.findings),
                "fixed": sum(len(fabric.findings.fixed) for fabric in checked.fabrics),
                "suppressed": sum(len(fabric.findings.suppressed) for fabric in checked.fabrics),
                "unchanged": None if None in unchanged else sum(filter(None, unchanged)),
            },
        }
    )


def _fabric_document(fabric_change: ChangedFabric) -> dict[str, object]:
    return {
        "name": fabric_change.name,
        "former_name": fabric_change.former_name,
        "removed": fabric_change.removed,
        "matching_builds": list(fabric_change.matching_builds),
        "plan": plan_json.plan_record(fabric_change.plan),
        "fixed": [finding_record(finding) for finding in fabric_change.findings.fixed],
        "suppressed": [finding_record(finding) for finding in fabric_change.findings.suppressed],
        "unchanged": fabric_change.findings.unchanged,
        "routing": {
            "changes": [_routing_change_document(change) for change in fabric_change.routing.changes],
            "not_computed": fabric_change.routing.not_computed or None,
            "flows": [_flow_document(flow) for flow in fabric_change.routing.flows],
            "notes": list(fabric_change.routing.notes),
        },
        "claims": None
        if fabric_change.claims is None
        else dict(zip(("old", "new"), map(asdict, fabric_change.claims), strict=True)),
    }


def _outdated_build_document(outdated_build: OutdatedBuild) -> dict[str, object]:
    differences = [_difference_document(difference) for difference in outdated_build.differences]
    return {
        "intent": outdated_build.intent,
        "build": outdated_build.build,
        "differing": list(outdated_build.differing),
        "missing": list(outdated_build.missing),
        "extra": list(outdated_build.extra),
        "differences": differences,
    }


def _difference_document(difference: ModelDifference) -> dict[str, object]:
    return {
        "subject": subject.subject_text(difference.path),
        "intent": json_value(difference.a),
        "build": json_value(difference.b),
    }


def _routing_change_document(delta: RoutingDifference) -> dict[str, object]:
    return {
        "check": delta.check,
        "item": subject.subject_text(delta.item),
        "old": _json_value(delta.old),
        "new": _json_value(delta.new),
    }


def _json_value(value: object) -> Any:
    return sorted(_json_value(member) for member in value) if isinstance(value, frozenset) else json_value(value)


def _flow_document(flow: DifferingFlow) -> dict[str, object]:
    return {
        "source": flow.source,
        "port": flow.port,
        "prefix": flow.prefix,
        "destination": flow.destination,
        "old": flow.old,
        "new": flow.new,
        "lost": flow.lost,
    }
