"""What the reports say of the states between: why the order is not the usual one, and what it breaks even so."""

from collections.abc import Iterator

from nodrop.model.subject import FABRIC
from nodrop.plan.model import Hazard, Plan
from nodrop.report.names import count, name


def hazards(plan: Plan) -> Iterator[str]:
    """Yield a line for each hazard that the rollout has in its order: when, which rule, and what it says."""
    for one in plan.rollout.hazards if plan.rollout else ():
        yield f"{_said(one)}{_more(one)}"


def order_said(plan: Plan) -> Iterator[str]:
    """Yield why the order is not the usual one, and how many states between nobody looked at."""
    made = plan.rollout
    if made is None:
        return
    if made.why:
        instead = f"; in the usual order, {_said(made.avoided)}" if made.avoided else ""
        yield f"not the usual order: {made.why}{instead}"
    if made.untried:
        yield f"{count(made.untried, 'state')} between not tried, {made.tried} tried"


def _said(one: Hazard) -> str:
    device = "" if one.subject[0] == FABRIC else f" on {name(one.subject[0])}"
    return f"{one.moment}: {one.severity}[{one.rule}]{device}: {one.message}"


def _more(one: Hazard) -> str:
    return f"; {count(one.places - 1, 'more place')}" if one.places > 1 else ""
