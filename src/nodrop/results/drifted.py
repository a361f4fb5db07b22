"""Data of a comparison of running and intended state: the drift, and findings that only the running state has."""

from dataclasses import dataclass, field

from nodrop.plan.model import Drift
from nodrop.results.outcome import FabricOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftResult:
    """The running state, compared with the intended one."""

    intended: str
    """The intended state: the path that was given."""
    switches: int
    """How many switches are both collected and intended."""
    drift: Drift
    outcome: FabricOutcome = field(default_factory=FabricOutcome)
    """Findings that only the running state has."""
    shared: int = 0
    """How many findings both states have."""
