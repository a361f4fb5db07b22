"""The least set of failed cables and switches that lets buffers wait for one another in a circle."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.model.fabric import End, Link
from nodrop.model.index import Index
from nodrop.proofs.alike_failures import AlikeFailures, is_independent_of_neighbor_order
from nodrop.proofs.deadlock import DeadlockCheckResult, check_deadlock
from nodrop.proofs.harmless import HarmlessFailureCheck
from nodrop.proofs.invariants import DeadlockFreedomConditions
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.stand_ins import is_stand_in

MAX_CHECKED_FAILURE_STATES = 1000
"""Of how many states the graph of buffers is computed at most."""
MOST_CHANNELS = 10_000_000
"""How many channels these states have together at most, but for the first state: an hour of a large fabric."""


class FailureUnit(NamedTuple):
    """Something that fails as one: a switch, or all parallel cables between two switches."""

    name: str
    cables: int
    """How many cables that are; 1 for a switch."""
    ends: frozenset[End]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureSearchResult:
    """The result of a search: the least failures with a circle, if any, and how much was checked."""

    most: int
    """How many cables or switches fail at a time at most."""
    states: int
    """How many states were checked; those that are alike but for names count once."""
    complete: bool
    """Whether every set of failures up to `most` was considered."""
    single: int
    """How many single cables, or sets of parallel ones, and switches can fail."""
    classes: int
    """In how many classes of the same effect but for names these are."""
    failures: tuple[FailureUnit, ...] = ()
    check: DeadlockCheckResult | None = None

    @property
    def failed_ports(self) -> frozenset[End]:
        """The ports that fail."""
        return frozenset(end for failure in self.failures for end in failure.ends)


class _FailureSearch:
    """A search in progress."""

    def __init__(self, plane: ControlPlane, check: DeadlockCheckResult, invariants: DeadlockFreedomConditions) -> None:
        self.plane, self._check = plane, check
        self.every = _possible_single_failures(plane)
        self._harmless = HarmlessFailureCheck(check.traffic.forwarding, invariants)
        self._alike = AlikeFailures(check.traffic, invariants)
        self.classes = self._find_failure_classes()
        self.seen: set[frozenset[str]] = set()
        self.harmless = 0
        self.channels = 0

    def _find_failure_classes(self) -> list[list[FailureUnit]]:
        """Return the classes of single failures; each begins with the one that stands for it."""
        classes: dict[object, list[FailureUnit]] = {}
        for failure in self.every:
            kind: object | None
            if not self._alike.has_classes:
                kind = failure if self._has_several_behaviors else self.first_failure_of_each_kind[failure]
            elif failure.name in self.plane.index.devices:
                kind = self._alike.failure_class_of_switch(failure.name)
            else:
                kind = self._alike.failure_class_of_cables(
                    frozenset((link.a, link.b)) for link in self.links_of(failure)
                )
            classes.setdefault(failure if kind is None else kind, []).append(failure)
        return list(classes.values())

    @cached_property
    def first_failure_of_each_kind(self) -> Mapping[FailureUnit, FailureUnit]:
        """The first failure of each kind that exchanges of single routers find (routing/twins.py)."""
        return _representative_by_failure(self.plane, self._harmless.analyses, self.every)

    @cached_property
    def _has_several_behaviors(self) -> bool:
        """Whether there are tunnels, floods, or ports that treat packets in several ways: exchanges compare none."""
        traffic = self._check.traffic
        return bool(traffic.tunnels or traffic.floods.all) or len({*traffic.left, *traffic.entered}) > 1

    def links_of(self, failure: FailureUnit) -> set[Link]:
        """Return the cables that fail."""
        index = self.plane.index
        return {link for end in failure.ends if (link := index.link(*end)) is not None}

    def representatives(self, failures: Sequence[FailureUnit]) -> list[FailureUnit]:
        """Return one of each kind of failures, as exchanges of single routers find them."""
        if self._has_several_behaviors:
            return list(failures)
        return list({self.first_failure_of_each_kind[failure]: failure for failure in reversed(failures)}.values())[
            ::-1
        ]

    def check_single(self, failure: FailureUnit) -> tuple[DeadlockCheckResult | None, bool]:
        """Return the check with a circle, if one forms, and whether its class has the same result."""
        if failure.name in self.plane.index.devices:
            outcomes = self._harmless.outcomes_without_device(failure.name)
        else:
            outcomes = self._harmless.outcomes_without_links(self.links_of(failure))
        if self._harmless.is_harmless(outcomes):
            self.harmless += 1
            return None, not self._alike.has_classes or all(
                outcome.state is not None and self._alike.is_neighbor_order_irrelevant_after(family, outcome.state)
                for family, outcome in outcomes.items()
            )
        found = self.check_deadlock_after_failures((failure,))
        if not found.is_free:
            return found, True
        return None, not self._alike.has_classes or is_independent_of_neighbor_order(found.traffic.forwarding)

    def is_out_of_budget(self, most_states: int) -> bool:
        """Whether no further state is computed."""
        return len(self.seen) >= most_states or self.channels > MOST_CHANNELS

    def check_deadlock_after_failures(self, failures: Sequence[FailureUnit]) -> DeadlockCheckResult:
        """Return the check of a state."""
        self.seen.add(frozenset(failure.name for failure in failures))
        failed = frozenset(end for failure in failures for end in failure.ends)
        found = check_deadlock(compute_control_plane(self.plane.index, self.plane.failed | failed))
        self.channels += len(found.traffic.forwarding.channels)
        return found

    def result(
        self,
        most: int,
        *,
        complete: bool,
        failures: tuple[FailureUnit, ...] = (),
        check: DeadlockCheckResult | None = None,
    ) -> FailureSearchResult:
        """Return the result."""
        return FailureSearchResult(
            most=most,
            states=self.harmless + len(self.seen),
            complete=complete,
            single=len(self.every),
            classes=len(self.classes),
            failures=failures,
            check=check,
        )


def search_failures_with_circle(
    plane: ControlPlane,
    check: DeadlockCheckResult,
    invariants: DeadlockFreedomConditions,
    most: int,
    most_states: int = MAX_CHECKED_FAILURE_STATES,
) -> FailureSearchResult:
    """Return the first state with a circle, in the order of failed cables and switches, up to `most` of these.

    Of single failures one of each class is computed (proofs/alike_failures.py), and no graph for those after which
    packets go up and then down (proofs/harmless.py).
    """
    search = _FailureSearch(plane, check, invariants)
    for total in range(1, most + 1):
        for members in search.classes:
            if members[0].cables != total:
                continue
            waiting = deque(members[:1])
            while waiting:
                if search.is_out_of_budget(most_states):
                    return search.result(most, complete=False)
                failure = waiting.popleft()
                found, is_for_all = search.check_single(failure)
                if found is not None:
                    return search.result(most, complete=True, failures=(failure,), check=found)
                if not is_for_all and failure is members[0]:
                    waiting.extend(one for one in search.representatives(members) if one is not failure)
        for failures in _failure_sets(search.every, search.representatives(search.every) if total > 1 else (), total):
            if frozenset(failure.name for failure in failures) in search.seen:
                continue
            if search.is_out_of_budget(most_states):
                return search.result(most, complete=False)
            found = search.check_deadlock_after_failures(failures)
            if not found.is_free:
                return search.result(most, complete=True, failures=failures, check=found)
    return search.result(most, complete=True)


def _possible_single_failures(plane: ControlPlane) -> tuple[FailureUnit, ...]:
    """Return what can fail, in order: cables, and then switches.

    Parallel cables fail together where each has a session: without some of them, routers have fewer next hops and no
    others. Cables of port channels, and all where `maximum-paths` leaves out next hops, fail one by one.
    """
    index = plane.index
    alone = _may_maximum_paths_leave_out_hops(plane)
    bundled = {port for router in plane.routers for leg in router.legs if len(leg.ports) > 1 for port in leg.ports}
    cables: dict[object, list[tuple[End, End]]] = {}
    for link in index.fabric.links:
        if link.a.node in index.devices and link.b.node in index.devices:
            single = alone or link.a.port in bundled or link.b.port in bundled
            key: object = link if single else (link.a.node, link.b.node)
            cables.setdefault(key, []).append((link.a, link.b))
    found = [
        FailureUnit(
            f"{pairs[0][0]} to {pairs[0][1]}"
            if len(pairs) == 1
            else f"{len(pairs)} cables from {pairs[0][0].node} to {pairs[0][1].node}",
            len(pairs),
            frozenset(end for pair in pairs for end in pair),
        )
        for pairs in cables.values()
    ]
    switches = [
        FailureUnit(device.name, 1, _ends_of_device(index, device.name))
        for device in index.fabric.devices
        if not is_stand_in(device)
    ]
    return (*found, *switches)


def _ends_of_device(index: Index, name: str) -> frozenset[End]:
    return frozenset(End(name, port.name) for port in index.devices[name].interfaces)


def _may_maximum_paths_leave_out_hops(plane: ControlPlane) -> bool:
    """Whether any router may have more equal paths than it uses."""
    return any(
        speaker.limits.most is not None and speaker.limits.most < len(speaker.links)
        for family in plane.families
        for speaker in plane.of(family).world.speakers.values()
    )


def _representative_by_failure(
    plane: ControlPlane, analyses: Mapping[AddressFamily, FailureAnalysis], every: Sequence[FailureUnit]
) -> dict[FailureUnit, FailureUnit]:
    """Return for each failure the first one with the same effect on routes but for names; itself in several families.

    `analyses` are those of the families, if they exist already.
    """
    if len(plane.families) != 1:
        return {failure: failure for failure in every}
    (family,) = plane.families
    analysis = analyses.get(family) or FailureAnalysis(plane, plane.of(family))
    kind_of: dict[frozenset[End], object] = {}
    for first, links in analysis.equivalent_links.items():
        kind_of |= {frozenset((link.a, link.b)): first for link in links}
    far = {end: ends for ends in kind_of for end in ends}
    same: Mapping[str, str] = {name: first for first, names in analysis.equivalent_devices.items() for name in names}
    firsts: dict[object, FailureUnit] = {}
    kinds: dict[FailureUnit, FailureUnit] = {}
    for failure in every:
        kind: object = same.get(failure.name)
        if kind is None:
            pairs = {far[end] for end in failure.ends if end in far and far[end] <= failure.ends}
            found = {kind_of[pair] for pair in pairs}
            kind = frozenset(found) if 2 * len(pairs) == len(failure.ends) and found else failure
        kinds[failure] = firsts.setdefault((failure.cables, kind), failure)
    return kinds


def _failure_sets(
    every: Sequence[FailureUnit], first: Sequence[FailureUnit], total: int
) -> Iterator[tuple[FailureUnit, ...]]:
    """Yield sets of several failures of `total` cables or switches, with one of the `first`, small sets first."""
    for size in range(1, total):
        for failure in first:
            rest = total - failure.cables
            if rest >= size:
                others = [one for one in every if one.cables <= rest and one is not failure]
                for some in combinations(others, size):
                    if sum(one.cables for one in some) == rest:
                        yield (failure, *some)
