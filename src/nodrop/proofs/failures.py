"""The least set of failed cables and switches that lets buffers wait for one another in a circle."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.proofs.deadlock import DeadlockCheck, check_deadlock
from nodrop.routing import ControlPlane, compute
from nodrop.routing.failures import FailureAnalysis

MOST_STATES = 1000
"""How many states of a fabric are computed at most."""


class Failure(NamedTuple):
    """Something that fails as one: a switch, or all parallel cables between two switches."""

    name: str
    cables: int
    """How many cables that are; 1 for a switch."""
    ends: frozenset[End]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureSearch:
    """The result of a search: the least failures with a circle, if any, and how much was checked."""

    most: int
    """How many cables or switches fail at a time at most."""
    states: int
    """How many states were computed; those that are alike but for names count once."""
    complete: bool
    """Whether every set of failures up to `most` was considered."""
    failures: tuple[Failure, ...] = ()
    check: DeadlockCheck | None = None

    @property
    def failed(self) -> frozenset[End]:
        """The ports that fail."""
        return frozenset(end for failure in self.failures for end in failure.ends)


def search_failures(plane: ControlPlane, check: DeadlockCheck, most: int) -> FailureSearch:
    """Return the first state with a circle, in the order of failed cables and switches, up to `most` of these."""
    index = plane.index
    every = _failures_of(plane)
    first = _representatives(plane, check, every)
    seen: set[frozenset[str]] = set()
    for total in range(1, most + 1):
        for failures in _sets_of(every, first, total):
            names = frozenset(failure.name for failure in failures)
            if names in seen:
                continue
            if len(seen) == MOST_STATES:
                return FailureSearch(most=most, states=len(seen), complete=False)
            seen.add(names)
            failed = frozenset(end for failure in failures for end in failure.ends)
            found = check_deadlock(compute(index, plane.failed | failed))
            if not found.is_free:
                return FailureSearch(most=most, states=len(seen), complete=True, failures=failures, check=found)
    return FailureSearch(most=most, states=len(seen), complete=True)


def _failures_of(plane: ControlPlane) -> tuple[Failure, ...]:
    """Return what can fail, in order: cables, and then switches.

    Parallel cables fail together where each has a session: without some of them, routers have fewer next hops and no
    others. Cables of port channels, and all where `maximum-paths` leaves out next hops, fail one by one.
    """
    index = plane.index
    alone = _has_unused_paths(plane)
    bundled = {port for router in plane.routers for leg in router.legs if len(leg.ports) > 1 for port in leg.ports}
    cables: dict[object, list[tuple[End, End]]] = {}
    for link in index.fabric.links:
        if link.a.node in index.devices and link.b.node in index.devices:
            single = alone or link.a.port in bundled or link.b.port in bundled
            key: object = link if single else (link.a.node, link.b.node)
            cables.setdefault(key, []).append((link.a, link.b))
    found = [
        Failure(
            f"{pairs[0][0]} to {pairs[0][1]}"
            if len(pairs) == 1
            else f"{len(pairs)} cables from {pairs[0][0].node} to {pairs[0][1].node}",
            len(pairs),
            frozenset(end for pair in pairs for end in pair),
        )
        for pairs in cables.values()
    ]
    switches = [Failure(device.name, 1, _ends_of_device(index, device.name)) for device in index.fabric.devices]
    return (*found, *switches)


def _ends_of_device(index: Index, name: str) -> frozenset[End]:
    return frozenset(End(name, port.name) for port in index.devices[name].interfaces)


def _has_unused_paths(plane: ControlPlane) -> bool:
    """Whether any router may have more equal paths than it uses."""
    return any(
        speaker.limits.most is not None and speaker.limits.most < len(speaker.links)
        for family in plane.families
        for speaker in plane.of(family).world.speakers.values()
    )


def _representatives(plane: ControlPlane, check: DeadlockCheck, every: Sequence[Failure]) -> tuple[Failure, ...]:
    """Return one failure of each kind that are alike but for names; all where ports have several QoS behaviors."""
    behaviors = {*check.traffic.left, *check.traffic.entered}
    if len(plane.families) != 1 or len(behaviors) > 1:
        return tuple(every)
    analysis = FailureAnalysis(plane, plane.of(plane.families[0]))
    kind_of: dict[frozenset[End], object] = {}
    for first, links in analysis.alike.items():
        kind_of |= {frozenset((link.a, link.b)): first for link in links}
    same: Mapping[str, str] = {name: first for first, names in analysis.equivalent_devices.items() for name in names}
    kinds: dict[object, Failure] = {}
    for failure in every:
        pairs = [kind_of[pair] for pair in kind_of if pair <= failure.ends] if failure.cables > 1 else []
        kind = kind_of.get(failure.ends) or same.get(failure.name) or frozenset(pairs) or failure
        kinds.setdefault((failure.cables, kind), failure)
    return tuple(kinds.values())


def _sets_of(every: Sequence[Failure], first: Sequence[Failure], total: int) -> Iterator[tuple[Failure, ...]]:
    """Yield sets of failures of `total` cables or switches, with at least one of the `first`, small sets first."""
    for failure in first:
        if failure.cables == total:
            yield (failure,)
    for size in range(1, total):
        for failure in first:
            rest = total - failure.cables
            if rest >= size:
                others = [one for one in every if one.cables <= rest and one is not failure]
                for some in combinations(others, size):
                    if sum(one.cables for one in some) == rest:
                        yield (failure, *some)
