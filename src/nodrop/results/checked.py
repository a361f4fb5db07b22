"""Result of a check: for each fabric the plan, new and fixed findings, and changes of routing."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from nodrop.engine.finding import Finding
from nodrop.errors import Problem
from nodrop.model.compare import ModelDifference
from nodrop.model.reading import Note
from nodrop.model.subject import Subject
from nodrop.plan.model import Plan
from nodrop.proofs.claims import DeadlockAndPauseClaims
from nodrop.results.outcome import FabricOutcome
from nodrop.routing.observation import DifferingFlow, ObservationCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingChanges:
    """The findings of a fabric, compared with those of its base."""

    new: tuple[Finding, ...] = ()
    """Reported now and not in the base, or with other facts."""
    fixed: tuple[Finding, ...] = ()
    """Reported in the base and gone now."""
    suppressed: tuple[Finding, ...] = ()
    """Reported in the base and still there, but now suppressed or in the baseline."""
    unchanged: int | None = 0
    """How many are in both with the same facts; None if only the affected part was checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingDifference:
    """One item of a check of routing whose result differs; None on the side that does not have it."""

    check: ObservationCheck
    item: Subject
    old: Hashable
    new: Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingChanges:
    """Changes of routing: the items that differ, or why routing was not computed."""

    changes: tuple[RoutingDifference, ...] = ()
    not_computed: str = ""
    wanted: bool = True
    """Whether reports say that it was not computed: not if no change can affect it."""
    flows: tuple[DifferingFlow, ...] = ()
    """Packets that only one of the two states delivers, according to Batfish."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedBuild:
    """Files of a build that are out of date with their intent."""

    intent: str
    build: str
    differing: tuple[str, ...] = ()
    """Switches that differ from the intent."""
    missing: tuple[str, ...] = ()
    """Switches of the intent that the build lacks."""
    extra: tuple[str, ...] = ()
    """Switches of the build that the intent lacks."""
    differences: tuple[ModelDifference, ...] = ()
    """The first differences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReach:
    """How many cabled ports a change is made on, and the links between switches, hosts and GPUs at them."""

    ports: int
    links: int
    hosts: int
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFabric:
    """A fabric that changed; `former_name` is its name in the base, None if it is new."""

    name: str
    former_name: str | None
    plan: Plan
    findings: FindingChanges
    routing: RoutingChanges = RoutingChanges()
    reach: ChangeReach | None = None
    """What the change reaches; None where no cable is known."""
    claims: tuple[DeadlockAndPauseClaims, DeadlockAndPauseClaims] | None = None
    """What is proved before and after; None where the change cannot affect it, or it was not computed."""
    matching_builds: tuple[str, ...] = ()
    """Builds that match it, so that their changes are not repeated."""
    removed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedChange:
    """A whole change."""

    base: str
    """The base, in words."""
    fabrics: tuple[ChangedFabric, ...] = ()
    unchanged_fabrics: tuple[str, ...] = ()
    """Fabrics without changes."""
    outdated_builds: tuple[OutdatedBuild, ...] = ()
    outcome: FabricOutcome = field(default_factory=FabricOutcome)
    """The changed fabrics, with new findings only."""
    notes: tuple[Note, ...] = ()
    blockers: tuple[Finding, ...] = ()
    """Verdicts of `results.rulings` that fail the check; hazards that `--rollout report` allows are notes."""
    base_problems: tuple[Problem, ...] = ()
    """Problems of the base; they do not fail the check, because the change may correct them."""
    blocked_by: str | None = None
    """What fails the check, the worst first; "" where it passes, None where that is not decided yet."""
