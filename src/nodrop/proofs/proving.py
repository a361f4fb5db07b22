"""The whole proof about deadlock: as cabled, after any failures by conditions of sessions, or after a few of them."""

from dataclasses import dataclass
from typing import Literal

from nodrop.analyses.buffer_cycles import deadlock_check_of
from nodrop.model.index import Index
from nodrop.proofs.behaviors import DistinctPortBehaviors
from nodrop.proofs.changes import LeastDeadlockRemedy, find_least_deadlock_remedy
from nodrop.proofs.deadlock import DeadlockCheckResult
from nodrop.proofs.failures import MAX_CHECKED_FAILURE_STATES, FailureSearchResult, search_failures_with_circle
from nodrop.proofs.invariants import DeadlockFreedomConditions, check_any_failure_conditions

DeadlockVerdict = Literal["free", "unknown", "possible", "possible-after-failures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockProof:
    """The result of the deadlock check of a fabric.

    `search` is None where the conditions cover all failures, a circle is there without any, or no failure was
    asked for. `change` is the least change that takes a circle away, where there is one.
    """

    check: DeadlockCheckResult
    invariants: DeadlockFreedomConditions
    search: FailureSearchResult | None = None
    change: LeastDeadlockRemedy | None = None

    @property
    def verdict(self) -> DeadlockVerdict:
        """Whether a deadlock is possible; unknown without a circle where facts are missing."""
        if not self.check.is_free:
            return "possible"
        if self.search is not None and self.search.check is not None:
            return "possible-after-failures"
        return "unknown" if self.check.missing else "free"

    @property
    def decisive_check(self) -> DeadlockCheckResult:
        """The check with a circle, if there is one, else that of the fabric as it is cabled."""
        return self.check if self.search is None or self.search.check is None else self.search.check


def prove_deadlock(
    index: Index, most_failures: int = 0, *, most_states: int = MAX_CHECKED_FAILURE_STATES
) -> DeadlockProof:
    """Return the proof for a fabric; without conditions for all failures, up to some cables and switches fail.

    Graphs are computed of `most_states` at most.
    """
    check = deadlock_check_of(index)
    forwarding = check.traffic.forwarding
    invariants = check_any_failure_conditions(forwarding)
    search = None
    if most_failures and check.is_free and not invariants.hold and _has_lossless_ports(index):
        search = search_failures_with_circle(forwarding.plane, check, invariants, most_failures, most_states)
    proof = DeadlockProof(check=check, invariants=invariants, search=search)
    if proof.verdict in ("free", "unknown"):
        return proof
    change = find_least_deadlock_remedy(proof.decisive_check, invariants)
    return DeadlockProof(check=check, invariants=invariants, search=search, change=change)


def _has_lossless_ports(index: Index) -> bool:
    """Whether any port may pause its sender, whatever routes lead over it."""
    behaviors = DistinctPortBehaviors()
    numbers = {behaviors.number(port.qos) for device in index.fabric.devices for port in device.interfaces}
    return any(isinstance(number, str) or bool(behaviors.all[number].pauses) for number in numbers)
