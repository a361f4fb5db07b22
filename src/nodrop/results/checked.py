"""Data of a check of a change: fabric by fabric the plan, the findings that come and go, and the routing."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from nodrop.engine.finding import Finding
from nodrop.errors import Problem
from nodrop.model.compare import Difference
from nodrop.model.reading import Note
from nodrop.model.subject import Subject
from nodrop.plan.model import Plan
from nodrop.results.outcome import Outcome
from nodrop.routing.observation import Flow, ObservationCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How findings fare from one state to the next."""

    new: tuple[Finding, ...] = ()
    """Told now, and not before: other ones, or with other facts."""
    fixed: tuple[Finding, ...] = ()
    """Told before, and gone."""
    silenced: tuple[Finding, ...] = ()
    """Told before, and still there, but suppressed now or in the baseline."""
    unchanged: int | None = 0
    """Told before and now, with the same facts; None where no more was judged than what the change can matter to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerouted:
    """One item of a check of routing whose result differs; None on the side that does not have it."""

    check: ObservationCheck
    item: Subject
    old: Hashable
    new: Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The changes of routing: items that differ, or why routing was not computed."""

    changes: tuple[Rerouted, ...] = ()
    not_computed: str = ""
    wanted: bool = True
    """Whether a reader is told that it was not: not where nothing that changes can matter to it."""
    flows: tuple[Flow, ...] = ()
    """Packets that only one of the two delivers, as Batfish sees it."""
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """Files of a build that are out of date with the intent next to them."""

    intent: str
    build: str
    differ: tuple[str, ...] = ()
    """Switches that are not as the intent has them."""
    missing: tuple[str, ...] = ()
    """Switches of the intent that the build does not have."""
    extra: tuple[str, ...] = ()
    """Switches of the build that the intent does not have."""
    differences: tuple[Difference, ...] = ()
    """The first places where switches differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One fabric that is not as it was; `was` is its former name where that is another one, None where it is new."""

    name: str
    was: str | None
    plan: Plan
    findings: Settled
    routing: Routing = Routing()
    told_by: tuple[str, ...] = ()
    """Builds that say the same, of which nothing more is told."""
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A whole change."""

    base: str
    """What it is compared with, in words."""
    fabrics: tuple[Changed, ...] = ()
    same: tuple[str, ...] = ()
    """Fabrics that are as they were: no file has changed, or nothing that is told."""
    unfit: tuple[Unfit, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)
    """The fabrics that have changed as every report of findings tells them: with new findings alone."""
    notes: tuple[Note, ...] = ()
    stops: tuple[Finding, ...] = ()
    """Hazards on the way (notes, where they are let through), builds that do not fit and risks that are not let
    through: verdicts of `report.rulings`."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with the state of before, which keeps nobody from a change that mends it."""
