"""Lossless buffers that can wait for one another in a circle once a cable or switch fails, or two of them."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._plane import control_plane_of
from nodrop.analyses.buffer_cycles import describe_packets, list_switches
from nodrop.model.index import Index
from nodrop.model.subject import FABRIC_HEAD, Subject
from nodrop.model.subject import link_subject as subject_of
from nodrop.proofs.changes import LeastDeadlockRemedy
from nodrop.proofs.deadlock import DependencyGraphNames
from nodrop.proofs.failures import FailureUnit
from nodrop.proofs.proving import DeadlockProof, prove_deadlock

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True
NEEDS_FAILURES = True

_MOST_FAILURES = 2
_MOST_STATES = 50
_SHOWN_HOPS = 12


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the shortest circle after the least failures; undecided where too many states had to be computed."""
    plane = control_plane_of(index)
    if any(plane.of(family).state.unstable for family in plane.families):
        return
    proof = prove_deadlock(index, _MOST_FAILURES, most_states=_MOST_STATES)
    if proof.search is None:
        return
    if proof.search.check is not None:
        yield _build_hit(index, proof)
    elif not proof.search.complete:
        missing = f"routes after two failures, more than {_MOST_STATES} states"
        yield UndecidedSubject(subject=(FABRIC_HEAD,), missing=missing)


def _build_hit(index: Index, proof: DeadlockProof) -> AnalysisHit:
    assert proof.search is not None
    names, circle = DependencyGraphNames(proof.decisive_check.traffic), proof.decisive_check.circles[0]
    ports = [names.port_of_buffer(turn.buffer) for turn in circle]
    subjects = [_subject_of_failure(index, failure) for failure in proof.search.failures]
    related = [(subject, "fails too") for subject in subjects[1:]]
    related += [
        (tuple(port), f"holds {describe_packets(names, turn)}")
        for port, turn in list(zip(ports, circle, strict=True))[:_SHOWN_HOPS]
    ]
    return AnalysisHit(
        subject=subjects[0],
        facts={
            "failed": " and ".join(failure.name for failure in proof.search.failures),
            "switches": list_switches(ports),
            "buffers": len(circle),
            "change": _describe_least_deadlock_remedy(proof.change),
        },
        related=tuple(related),
    )


def _subject_of_failure(index: Index, failure: FailureUnit) -> Subject:
    """Return the first cable that fails, or the switch."""
    if failure.name in index.devices:
        return (failure.name,)
    end = min(failure.ends)
    link = index.link(*end)
    return tuple(end) if link is None else subject_of(link.a, link.b)


def _describe_least_deadlock_remedy(change: LeastDeadlockRemedy | None) -> str:
    """Return the least change that takes the circle away, as an order."""
    if change is not None and change.shared_asn:
        return f"give {', '.join(change.shared_asn)} one AS number"
    if change is not None and change.vlans:
        vlans = [f"VLAN {one.vlan} of {one.device}" for one in change.vlans]
        return f"remove {', '.join(vlans)} from ports to other switches"
    if change is not None and change.turns:
        turns = [f"{turn.device} from {turn.before} to {turn.after}" for turn in change.turns]
        more = f" and {len(turns) - 1} more" if len(turns) > 1 else ""
        return f"keep packets off the way through {turns[0]}{more}"
    return "keep packets from going down and up again"
