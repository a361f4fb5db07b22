"""Drift for a program: a plan from the running to the intended state, and its inputs; the format only grows."""

from typing import Any

from nodrop.plan.model import Outside
from nodrop.report.json import dumped, of_finding, of_note, of_problem
from nodrop.report.plan_json import VERSION, document, render_fact_group
from nodrop.report.plan_words import DIFFERING
from nodrop.results.drifted import Drifted


def render(drifted: Drifted) -> bytes:
    """Write drift as JSON in UTF-8; nothing is folded. In its plan, `old` is the running state, `new` the intended."""
    drift, outcome = drifted.drift, drifted.outcome
    return dumped(
        {
            "version": VERSION,
            "kind": "drift",
            "wanted": drifted.wanted,
            "plans": [document(drift.plan, DIFFERING)],
            "uncollected": list(drift.uncollected),
            "foreign": list(drift.foreign),
            "own": [render_fact_group(fact_block, DIFFERING) for fact_block in drift.own],
            "own_outside": [_outside_table_document(outside_table) for outside_table in drift.own_outside],
            "findings": [of_finding(finding) for finding in outcome.findings],
            "notes": [of_note(note) for note in outcome.notes],
            "problems": [of_problem(problem) for problem in outcome.problems],
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


def _outside_table_document(outside_table: Outside) -> dict[str, Any]:
    return {"devices": list(outside_table.devices), "file": outside_table.at[0], "at": list(outside_table.at[1:])}
