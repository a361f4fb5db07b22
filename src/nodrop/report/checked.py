"""What a check of a change is made of: fabric by fabric the plan, the findings that come and go, and the routing."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from nodrop.errors import Problem
from nodrop.fabric.compare import Difference
from nodrop.fabric.reading import Note
from nodrop.fabric.subject import Subject
from nodrop.lint.finding import Finding
from nodrop.plan.model import Plan
from nodrop.report.outcome import Outcome
from nodrop.routing.observation import Check, Flow


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How findings fare from one state to the next."""

    new: tuple[Finding, ...] = ()
    """Told now, and not before: other ones, or with other facts."""
    fixed: tuple[Finding, ...] = ()
    """Told before, and gone."""
    silenced: tuple[Finding, ...] = ()
    """Told before, and still there, but suppressed now or in the baseline."""
    unchanged: int = 0
    """Told before and now, with the same facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerouted:
    """One item of a check of routing that comes to something else; None on the side that does not have it."""

    check: Check
    item: Subject
    old: Hashable
    new: Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """What becomes of routing: items that differ, or why that was not worked out."""

    changes: tuple[Rerouted, ...] = ()
    not_computed: str = ""
    wanted: bool = True
    """Whether a reader is told that it was not: not where nothing that changes can matter to it."""
    flows: tuple[Flow, ...] = ()
    """Packets that only one of the two delivers, as Batfish sees it."""
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """Files of a build that are not what the intent beside them comes to now."""

    intent: str
    build: str
    differences: tuple[Difference, ...] = ()


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
    """Fabrics of which no file has changed: not judged."""
    unfit: tuple[Unfit, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)
    """The fabrics that have changed as every report of findings tells them: with new findings alone."""
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What is wrong with the state of before, which keeps nobody from a change that mends it."""

    @property
    def new(self) -> tuple[Finding, ...]:
        """New findings of all fabrics."""
        return tuple(one for fabric in self.fabrics for one in fabric.findings.new)
