"""A plan for a program: version 1 of a format that only grows."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nodrop.model import subject
from nodrop.plan.model import (
    KINDS,
    DeviceChange,
    Entry,
    Fact,
    Hazard,
    Outside,
    Plan,
    Rollout,
    Stage,
    Together,
    Told,
)
from nodrop.plan.order import turns
from nodrop.report.json import dumped, of_problem, plain
from nodrop.report.plan_words import CHANGING, Wording, lines, what

VERSION = 1


def render(plans: Sequence[Plan]) -> bytes:
    """Write plans as JSON in UTF-8; nothing is folded."""
    return dumped({"version": VERSION, "kind": "plan", "plans": [document(plan) for plan in plans]})


def document(plan: Plan, wording: Wording = CHANGING) -> dict[str, Any]:
    """Return the plan of one fabric as JSON can say it."""
    kinds = Counter(one.kind for one in plan.devices)
    return {
        "old": plan.old,
        "new": plan.new,
        "devices": [_device(one, plan) for one in plan.devices],
        "changes": [told(one, wording) for one in plan.told],
        "together": [_together(one) for one in plan.together],
        "outside": [_outside(one) for one in plan.outside],
        "unsaid": [told(one, wording) for one in plan.unsaid],
        "order": [_stage(number, one) for number, one in turns(plan.order)],
        "rollout": None if plan.rollout is None else _rollout(plan.rollout, turns(plan.order)),
        "problems": [of_problem(each) for each in plan.problems],
        "summary": {**{kind: kinds[kind] for kind in KINDS}, "risk": plan.risk},
    }


def _device(one: DeviceChange, plan: Plan) -> dict[str, Any]:
    before, after = (None if device is None else device.platform for device in (one.old, one.new))
    return {"name": one.name, "kind": one.kind, "platform": after or before, "risk": plan.effects.get(one.name, "none")}


def told(one: Told, wording: Wording) -> dict[str, Any]:
    """Return facts of one place."""
    facts = [_fact(fact, wording) for fact in one.facts]
    return {"devices": list(one.devices), "ports": list(one.ports), "facts": facts}


def _fact(fact: Fact, wording: Wording) -> dict[str, Any]:
    return {
        "what": what(fact),
        "said": list(lines(fact, wording)),
        "computed": fact.computed,
        "risk": fact.effect.risk,
        "reasons": list(fact.effect.reasons),
        "means": fact.effect.means,
        "by_hand": list(fact.effect.by_hand),
        "entries": [_entry(entry) for entry in fact.entries],
    }


def _together(one: Together) -> dict[str, Any]:
    return {"devices": list(one.devices), "risk": one.effect.risk, "reasons": list(one.effect.reasons)}


def _outside(one: Outside) -> dict[str, Any]:
    keys = [{"path": list(each.path[1:]), "kind": each.kind} for each in one.keys]
    return {
        "devices": list(one.devices),
        "file": one.at[0],
        "at": list(one.at[1:]),
        "keys": keys,
        "risk": one.effect.risk,
        "reasons": list(one.effect.reasons),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {"path": subject.text(entry.path), "old": plain(entry.old), "new": plain(entry.new)}


def _stage(number: str, one: Stage) -> dict[str, Any]:
    shares = [str(share) for share in one.shares] or None
    return {"number": number, "devices": list(one.devices), "why": one.why, "shares": shares}


def _rollout(one: Rollout, order: Sequence[tuple[str, Stage]]) -> dict[str, Any]:
    return {
        "why": one.why or None,
        "avoided": None if one.avoided is None else _hazard(one.avoided, None),
        "hazards": [_hazard(each, order[each.stage - 1][0]) for each in one.hazards],
        "tried": one.tried,
        "untried": one.untried,
    }


def _hazard(one: Hazard, number: str | None) -> dict[str, Any]:
    return {
        "when": one.when,
        "stage": number,
        "moment": one.moment,
        "rule": one.rule,
        "severity": one.severity,
        "subject": subject.text(one.subject),
        "message": one.message,
        "places": one.places,
    }
