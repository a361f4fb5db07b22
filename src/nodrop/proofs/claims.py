"""The claims about a fabric that need no search of failures."""

from dataclasses import dataclass

from nodrop.model.index import Index
from nodrop.proofs.proving import DeadlockVerdict, prove_deadlock
from nodrop.proofs.storm import StormModel, count_ports


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The claims about a fabric: whether a deadlock can form, and the farthest reach of one NIC that pauses."""

    deadlock: DeadlockVerdict
    any_failures: bool
    """Whether no deadlock can form after any number of failures."""
    frozen_host_ports: int
    frozen_gpus: int


def prove_claims(index: Index) -> Claims:
    """Return whether a deadlock can form in a fabric, and the farthest reach of one NIC that pauses for ever."""
    proof = prove_deadlock(index)
    storms = tuple(StormModel(proof.check.traffic, lambda port, group: None).storms())
    return Claims(
        deadlock=proof.verdict,
        any_failures=proof.verdict == "free" and proof.invariants.hold,
        frozen_host_ports=max((count_ports(storm.host_ports) for storm in storms), default=0),
        frozen_gpus=max((storm.gpus for storm in storms), default=0),
    )
