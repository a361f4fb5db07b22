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
    frozen_host_ports: int
    frozen_gpus: int


def prove_claims(index: Index) -> DeadlockAndPauseClaims:
    """Return whether a deadlock can form in a fabric, and the farthest reach of one NIC that pauses for ever."""
    proof = prove_deadlock(index, _MOST_FAILURES, most_states=_MOST_STATES)
    storms = tuple(PauseSpreadGraph(proof.check.traffic, lambda port, group: None).storms())
    return DeadlockAndPauseClaims(
        deadlock=proof.verdict,
        any_failures=proof.verdict == "free" and proof.invariants.hold,
        frozen_host_ports=max((count_stopped_ports(storm.host_ports) for storm in storms), default=0),
        frozen_gpus=max((storm.gpus for storm in storms), default=0),
    )
