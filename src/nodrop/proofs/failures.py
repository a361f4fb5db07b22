"""The least set of failed cables and switches that lets buffers wait for one another in a circle."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.proofs.deadlock import DeadlockCheck, check_deadlock
from nodrop.proofs.harmless import HarmlessFailures
from nodrop.proofs.invariants import Invariants
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.prefixes import AddressFamily

MOST_STATES = 1000
"""Of how many states the graph of buffers is computed at most."""


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
    """How many states were checked; those that are alike but for names count once."""
    complete: bool
    """Whether every set of failures up to `most` was considered."""
    failures: tuple[Failure, ...] = ()
    check: DeadlockCheck | None = None

    @property
    def failed(self) -> frozenset[End]:
        """The ports that fail."""
        return frozenset(end for failure in self.failures for end in failure.ends)


def search_failures(plane: ControlPlane, check: DeadlockCheck, invariants: Invariants, most: int) -> FailureSearch:
    """Return the first state with a circle, in the order of failed cables and switches, up to `most` of these.

    Single failures after which packets go up and then down need no graph (proofs/harmless.py).
    """
    index = plane.index
    every = _list_failures(plane)
    harmless = HarmlessFailures(check.traffic.forwarding, invariants)
    kinds = _representative_by_failure(plane, harmless.analyses, every)
    known = {failure for failure in dict.fromkeys(kinds.values()) if _is_harmless(harmless, index, failure)}
    first = _representative_failures(plane, check, every, kinds)
    seen: set[frozenset[str]] = set()
    for total in range(1, most + 1):
        for failures in _failure_sets(every, first, total):
            names = frozenset(failure.name for failure in failures)
            if names in seen:
                continue
            if len(failures) == 1 and kinds[failures[0]] in known:
                continue
            if len(seen) == MOST_STATES:
                return FailureSearch(most=most, states=len(known) + len(seen), complete=False)
            seen.add(names)
            failed = frozenset(end for failure in failures for end in failure.ends)
            found = check_deadlock(compute_control_plane(index, plane.failed | failed))
            if not found.is_free:
                return FailureSearch(
                    most=most, states=len(known) + len(seen), complete=True, failures=failures, check=found
                )
    return FailureSearch(most=most, states=len(known) + len(seen), complete=True)


def _is_harmless(harmless: HarmlessFailures, index: Index, failure: Failure) -> bool:
    """Whether packets go up and then down after a failure; false where that is not known."""
    if failure.name in index.devices:
        return harmless.is_harmless_without_device(failure.name)
    links = {index.link(*end) for end in failure.ends}
    return harmless.is_harmless_without_links(link for link in links if link is not None)


def _list_failures(plane: ControlPlane) -> tuple[Failure, ...]:
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


def _representative_by_failure(
    plane: ControlPlane, analyses: Mapping[AddressFamily, FailureAnalysis], every: Sequence[Failure]
) -> dict[Failure, Failure]:
    """Return for each failure the first one with the same effect on routes but for names; itself in several families.

    `analyses` are those of the families, if they exist already.
    """
    if len(plane.families) != 1:
        return {failure: failure for failure in every}
    (family,) = plane.families
    analysis = analyses.get(family) or FailureAnalysis(plane, plane.of(family))
    kind_of: dict[frozenset[End], object] = {}
    for first, links in analysis.alike.items():
        kind_of |= {frozenset((link.a, link.b)): first for link in links}
    far = {end: ends for ends in kind_of for end in ends}
    same: Mapping[str, str] = {name: first for first, names in analysis.equivalent_devices.items() for name in names}
    firsts: dict[object, Failure] = {}
    kinds: dict[Failure, Failure] = {}
    for failure in every:
        kind: object = same.get(failure.name)
        if kind is None:
            pairs = {far[end] for end in failure.ends if end in far and far[end] <= failure.ends}
            found = {kind_of[pair] for pair in pairs}
            kind = frozenset(found) if 2 * len(pairs) == len(failure.ends) and found else failure
        kinds[failure] = firsts.setdefault((failure.cables, kind), failure)
    return kinds


def _representative_failures(
    plane: ControlPlane, check: DeadlockCheck, every: Sequence[Failure], kinds: Mapping[Failure, Failure]
) -> tuple[Failure, ...]:
    """Return one failure of each kind that are alike but for names; all where ports have several QoS behaviors."""
    behaviors = {*check.traffic.left, *check.traffic.entered}
    return tuple(every) if len(behaviors) > 1 else tuple(dict.fromkeys(kinds.values()))


def _failure_sets(every: Sequence[Failure], first: Sequence[Failure], total: int) -> Iterator[tuple[Failure, ...]]:
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
