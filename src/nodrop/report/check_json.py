"""A check for a program: version 1 of a format that only grows."""

from typing import Any

from nodrop.model import subject
from nodrop.model.compare import Difference
from nodrop.report import plan_json
from nodrop.report.checked import Changed, Checked, Rerouted, Unfit
from nodrop.report.json import dumped, of_finding, of_note, of_problem, plain
from nodrop.routing.observation import Flow

VERSION = 1


def render(checked: Checked) -> bytes:
    """Write a check as JSON in UTF-8; nothing is folded."""
    unchanged = [one.findings.unchanged for one in checked.fabrics]
    return dumped(
        {
            "version": VERSION,
            "kind": "check",
            "base": checked.base,
            "fabrics": [_fabric(one) for one in checked.fabrics],
            "same": list(checked.same),
            "findings": [of_finding(one) for one in checked.outcome.findings],
            "stops": [of_finding(one) for one in checked.stops],
            "unfit": [_unfit(one) for one in checked.unfit],
            "notes": [of_note(one) for one in checked.notes],
            "problems": [of_problem(one) for one in checked.outcome.problems],
            "problems_before": [of_problem(one) for one in checked.problems],
            "summary": {
                "changed": sum(not one.plan.empty for one in checked.fabrics),
                "new": len(checked.outcome.findings),
                "fixed": sum(len(one.findings.fixed) for one in checked.fabrics),
                "suppressed": sum(len(one.findings.silenced) for one in checked.fabrics),
                "unchanged": None if None in unchanged else sum(filter(None, unchanged)),
            },
        }
    )


def _fabric(one: Changed) -> dict[str, Any]:
    return {
        "name": one.name,
        "was": one.was,
        "gone": one.gone,
        "told_by": list(one.told_by),
        "plan": plan_json.document(one.plan),
        "fixed": [of_finding(each) for each in one.findings.fixed],
        "suppressed": [of_finding(each) for each in one.findings.silenced],
        "unchanged": one.findings.unchanged,
        "routing": {
            "changes": [_rerouted(each) for each in one.routing.changes],
            "not_computed": one.routing.not_computed or None,
            "flows": [_flow(each) for each in one.routing.flows],
            "told": list(one.routing.told),
        },
    }


def _unfit(one: Unfit) -> dict[str, Any]:
    differences = [_difference(each) for each in one.differences]
    return {
        "intent": one.intent,
        "build": one.build,
        "differ": list(one.differ),
        "missing": list(one.missing),
        "extra": list(one.extra),
        "differences": differences,
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {"subject": subject.text(one.path), "intent": plain(one.a), "build": plain(one.b)}


def _rerouted(one: Rerouted) -> dict[str, Any]:
    return {"check": one.check, "item": subject.text(one.item), "old": _value(one.old), "new": _value(one.new)}


def _value(value: object) -> Any:
    return sorted(_value(one) for one in value) if isinstance(value, frozenset) else plain(value)


def _flow(one: Flow) -> dict[str, Any]:
    return {
        "start": one.start,
        "port": one.port,
        "prefix": one.prefix,
        "to": one.to,
        "before": one.before,
        "after": one.after,
        "lost": one.lost,
    }
