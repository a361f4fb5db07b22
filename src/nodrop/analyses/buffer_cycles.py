"""Lossless buffers that can wait for one another in a circle, by the routes and maps in effect."""

from collections.abc import Iterable, Iterator, Sequence

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._plane import control_plane_of, undecided_subjects_of_gaps
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.proofs.deadlock import BufferInCircle, DeadlockCheckResult, DependencyGraphNames, check_deadlock

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True
LOOKS_AT = frozenset({"qos"})

_SHOWN_SWITCHES = 6
_SHOWN_HOPS = 12


def deadlock_check_of(index: Index) -> DeadlockCheckResult:
    """Return the check of a fabric as it is cabled, the same to every rule."""
    return index.compute_once("deadlock", lambda: check_deadlock(control_plane_of(index)))


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the shortest circle of each set of buffers that wait for one another."""
    plane = control_plane_of(index)
    if any(plane.of(family).state.unstable for family in plane.families):
        return
    check = deadlock_check_of(index)
    names = DependencyGraphNames(check.traffic)
    if any(len(names_of) > 1 for names_of in index.neighbor_names.values()):
        yield from undecided_subjects_of_gaps(plane)
    yield from (_build_cycle_hit(names, circle) for circle in check.circles)


def _build_cycle_hit(names: DependencyGraphNames, circle: Sequence[BufferInCircle]) -> AnalysisHit:
    ports = [names.port_of_buffer(turn.buffer) for turn in circle]
    groups = sorted({turn.buffer.group for turn in circle})
    return AnalysisHit(
        subject=tuple(ports[0]),
        facts={
            "switches": list_switches(ports),
            "buffers": len(circle),
            "groups": ", ".join(map(str, groups)),
        },
        related=tuple(
            (tuple(port), f"holds {describe_packets(names, turn)}")
            for port, turn in list(zip(ports, circle, strict=True))[:_SHOWN_HOPS]
        ),
        discriminator=f"{groups[0]}",
    )


def list_switches(ports: Iterable[End]) -> str:
    """Return the switches of some ports in order, each once; of many the first ones."""
    switches = list(dict.fromkeys(port.node for port in ports))
    more = len(switches) - _SHOWN_SWITCHES
    return ", ".join(switches[:_SHOWN_SWITCHES]) + (f" and {more} more" if more > 0 else "")


def describe_packets(names: DependencyGraphNames, turn: BufferInCircle) -> str:
    """Return the packets of a turn in words: both hosts, destination, DSCP, and tunnels and floods on the way."""
    source, receiver = names.sender_and_receiver(turn)
    hosts = f"from {source} to {receiver} ({names.first_prefix_of_destination(turn.destination)})"
    if turn.tunnel is not None:
        inside = f"packets with DSCP {turn.inside} {hosts}"
        return f"packets with DSCP {turn.dscp} in tunnel {names.tunnel_label(turn.tunnel)}, inside them {inside}"
    into = "" if turn.next_tunnel is None else f", which go into tunnel {names.tunnel_label(turn.next_tunnel)}"
    flood = names.flood_label(turn)
    return f"packets with DSCP {turn.dscp} {hosts}{into}{flood and f', which {flood}'}"
