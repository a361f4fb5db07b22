"""Intermediate rollout states in reports: why the order is not the usual one, and the rules that it still breaks."""

from collections.abc import Iterator

from nodrop.model.subject import FABRIC_HEAD
from nodrop.plan.model import Plan, RolloutHazard
from nodrop.report.names import escape_or_quote_name, format_count


def format_rollout_hazards(plan: Plan) -> Iterator[str]:
    """Yield a line for each hazard that the rollout has in its order: when, which rule, and its message."""
    for hazard in plan.rollout.hazards if plan.rollout else ():
        yield f"{_format_hazard(hazard)}{_format_further_place_count(hazard)}"


def explain_unusual_order(plan: Plan) -> Iterator[str]:
    """Yield the reason for an unusual order, and how many intermediate states were not checked."""
    rollout = plan.rollout
    if rollout is None:
        return
    if rollout.why:
        instead = f"; in the usual order, {_format_hazard(rollout.avoided)}" if rollout.avoided else ""
        yield f"not the usual order: {rollout.why}{instead}"
    if rollout.states_not_checked:
        total = rollout.states_checked + rollout.states_not_checked
        yield f"{rollout.states_checked} of {format_count(total, 'intermediate state')} checked"


def _format_hazard(hazard: RolloutHazard) -> str:
    device = "" if hazard.subject[0] == FABRIC_HEAD else f" on {escape_or_quote_name(hazard.subject[0])}"
    return f"{hazard.moment}: {hazard.severity}[{hazard.rule}]{device}: {hazard.message}"


def _format_further_place_count(hazard: RolloutHazard) -> str:
    return f"; {format_count(hazard.subjects_count - 1, 'more place')}" if hazard.subjects_count > 1 else ""
