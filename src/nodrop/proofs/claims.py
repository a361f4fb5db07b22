"""The claims about a fabric that two states of it are compared by."""

from dataclasses import dataclass

from nodrop.model.index import Index
from nodrop.proofs.proving import DeadlockVerdict, prove_deadlock
from nodrop.proofs.storm import PauseSpreadGraph, count_stopped_ports

_MOST_FAILURES = 2
_MOST_STATES = 20
"""Of how many states the graph of buffers is computed, so that two states of a fabric are compared in short time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockAndPauseClaims:
    """The claims about a fabric: whether a deadlock can form, and the farthest reach of one NIC that pauses."""

    deadlock: DeadlockVerdict
    any_failures: bool
    """Whether no deadlock can form after any number of failures."""
    searched_failures: int
    """Up to how many failed cables and switches all states were searched; 0 where the search was cut, or not needed."""
    search_cut: bool
    """Whether the search over failures ended at its limit, before it found a deadlock."""
    frozen_host_ports: int
    frozen_gpus: int


def prove_claims(index: Index) -> DeadlockAndPauseClaims:
    """Return whether a deadlock can form in a fabric, and the farthest reach of one NIC that pauses for ever."""
    proof = prove_deadlock(index, _MOST_FAILURES, most_states=_MOST_STATES)
    search = proof.search if proof.verdict in ("free", "unknown") else None
    storms = tuple(PauseSpreadGraph(proof.check.traffic, lambda port, group: None).storms())
    return DeadlockAndPauseClaims(
        deadlock=proof.verdict,
        any_failures=proof.verdict == "free" and proof.invariants.hold,
        searched_failures=search.most if search is not None and search.complete else 0,
        search_cut=search is not None and not search.complete,
        frozen_host_ports=max((count_stopped_ports(storm.host_ports) for storm in storms), default=0),
        frozen_gpus=max((storm.gpus for storm in storms), default=0),
    )
