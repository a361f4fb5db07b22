"""Data of a comparison of running and intended state: the drift, and findings that only the running state has."""

from dataclasses import dataclass, field

from nodrop.plan.model import Drift
from nodrop.results.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Drifted:
    """The running state, compared with the intended one."""

    wanted: str
    """What is wanted, by the path that was given."""
    switches: int
    """How many switches are both collected and wanted."""
    drift: Drift
    outcome: Outcome = field(default_factory=Outcome)
    """What every report of findings tells of: those that running files have, and what is wanted has not."""
    shared: int = 0
    """Findings that both have."""
