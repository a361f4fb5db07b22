"""Drift as JSON: a plan from the running to the intended state; `report.schema` has the schema."""

from nodrop.plan.model import UnmodeledChange
from nodrop.report.json import encode_json_document, finding_record, note_record, problem_record
from nodrop.report.plan_json import FORMAT_VERSION, fact_group_document, plan_record
from nodrop.report.plan_words import DRIFT_WORDING
from nodrop.results.drifted import DriftResult


def render(drifted: DriftResult) -> bytes:
    """Write drift as JSON in UTF-8; nothing is folded. In its plan, `old` is the running state, `new` the intended."""
    drift, outcome = drifted.drift, drifted.outcome
    return encode_json_document(
        {
            "version": FORMAT_VERSION,
            "kind": "drift",
            "intended": drifted.intended,
            "plans": [plan_record(drift.plan, DRIFT_WORDING)],
            "uncollected": list(drift.uncollected),
            "foreign": list(drift.foreign),
            "automatic": [fact_group_document(fact_block, DRIFT_WORDING) for fact_block in drift.automatic],
            "automatic_outside_model": [
                _outside_table_document(outside_table) for outside_table in drift.automatic_outside_model
            ],
            "findings": [finding_record(finding) for finding in outcome.findings],
            "notes": [note_record(note) for note in outcome.notes],
            "problems": [problem_record(problem) for problem in outcome.problems],
            "summary": {
                "switches": drifted.switches,
                "differing": len(drift.plan.devices),
                "uncollected": len(drift.uncollected),
                "foreign": len(drift.foreign),
                "findings": len(outcome.findings),
                "shared_findings": drifted.shared,
            },
        }
    )


def _outside_table_document(outside_table: UnmodeledChange) -> dict[str, object]:
    return {"devices": list(outside_table.devices), "file": outside_table.at[0], "at": list(outside_table.at[1:])}
