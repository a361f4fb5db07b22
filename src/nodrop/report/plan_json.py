"""A plan for a program: version 1 of a format that only grows."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from nodrop.fabric import subject
from nodrop.plan.model import KINDS, DeviceChange, Entry, Fact, Plan, Stage, Together, Told
from nodrop.report.json import dumped, of_problem, plain
from nodrop.report.plan_words import lines, what

VERSION = 1


def render(plans: Sequence[Plan]) -> bytes:
    """Write plans as JSON in UTF-8; nothing is folded."""
    return dumped({"version": VERSION, "plans": [document(plan) for plan in plans]})


def document(plan: Plan) -> dict[str, Any]:
    """Return the plan of one fabric as JSON can say it."""
    kinds = Counter(one.kind for one in plan.devices)
    return {
        "old": plan.old,
        "new": plan.new,
        "devices": [_device(one, plan) for one in plan.devices],
        "changes": [_told(one) for one in plan.told],
        "together": [_together(one) for one in plan.together],
        "unsaid": [_told(one) for one in plan.unsaid],
        "order": [_stage(one) for one in plan.order],
        "problems": [of_problem(each) for each in plan.problems],
        "summary": {**{kind: kinds[kind] for kind in KINDS}, "risk": plan.risk},
    }


def _device(one: DeviceChange, plan: Plan) -> dict[str, Any]:
    before, after = (None if device is None else device.platform for device in (one.old, one.new))
    return {"name": one.name, "kind": one.kind, "platform": after or before, "risk": plan.effects.get(one.name, "none")}


def _told(one: Told) -> dict[str, Any]:
    return {"devices": list(one.devices), "ports": list(one.ports), "facts": [_fact(fact) for fact in one.facts]}


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "what": what(fact),
        "said": list(lines(fact)),
        "computed": fact.computed,
        "risk": fact.effect.risk,
        "reasons": list(fact.effect.reasons),
        "means": fact.effect.means,
        "by_hand": list(fact.effect.by_hand),
        "entries": [_entry(entry) for entry in fact.entries],
    }


def _together(one: Together) -> dict[str, Any]:
    return {"devices": list(one.devices), "risk": one.effect.risk, "reasons": list(one.effect.reasons)}


def _entry(entry: Entry) -> dict[str, Any]:
    return {"path": subject.text(entry.path), "old": plain(entry.old), "new": plain(entry.new)}


def _stage(one: Stage) -> dict[str, Any]:
    return {"devices": list(one.devices), "why": one.why}
