"""Failed cables of a leaf-spine fabric: valleys, lost pairs and circles of buffers, with spine AS numbers of all kinds.

The figures are those of a path-vector model of six leaves with loop rejection, shortest AS paths and ECMP.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from clos import two_tier
from nodrop.model.fabric import End, Fabric, Link
from nodrop.model.index import Index
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.tiers import tier_of_device

LEAVES = [f"l{number}" for number in range(1, 7)]
Pair = tuple[str, str]
Turn = tuple[Pair, Pair]


class Flow:
    """Where every switch sends packets to each leaf's block."""

    def __init__(self, plane: ControlPlane) -> None:
        names = [router.device.name for router in plane.routers]
        self.ranks = {router.device.name: tier_of_device(router.device) for router in plane.routers}
        self.hops: dict[str, dict[str, set[str]]] = {leaf: {} for leaf in LEAVES}
        for router in plane.routers:
            if router.device.name not in LEAVES:
                continue
            (block,) = (row.prefix for row in router.device.static_routes)  # type: ignore[union-attr]
            (prefix,) = (one for one in plane.ipv4.world.destinations.prefixes if str(one) == block)
            for other in plane.routers:
                route = plane.ipv4.route(other.number, prefix)
                if route is not None and route.source == "bgp":
                    far = {names[hop.router] for hop in route.hops if hop.router is not None}
                    self.hops[router.device.name][other.device.name] = far

    def ways(self, source: str, leaf: str) -> Iterator[tuple[str, ...]]:
        """Yield the paths from a switch to a leaf."""
        if source == leaf:
            yield (leaf,)
        for far in sorted(self.hops[leaf].get(source, ())):
            yield from ((source, *rest) for rest in self.ways(far, leaf))

    def unreachable(self) -> set[Pair]:
        return {(one, to) for one in LEAVES for to in LEAVES if not any(True for _ in self.ways(one, to))}

    def valleys(self) -> set[Pair]:
        """Pairs of leaves between which packets come down to a switch and go up again."""
        return {
            (one, to)
            for one in LEAVES
            for to in LEAVES
            for way in self.ways(one, to)
            for high, low, next_high in zip(way, way[1:], way[2:], strict=False)
            if self.ranks[high] > self.ranks[low] < self.ranks[next_high]  # type: ignore[operator]
        }

    def turns(self) -> set[Turn]:
        """From which cable's buffer to which a packet of some flow between leaves goes."""
        return {
            ((a, b), (b, c))
            for one in LEAVES
            for to in LEAVES
            for way in self.ways(one, to)
            for a, b, c in zip(way, way[1:], way[2:], strict=False)
        }


def circles(turns: set[Turn]) -> set[frozenset[Pair]]:
    """The sets of buffers that wait for one another: what reaches itself, and all on its way back."""
    after: dict[Pair, set[Pair]] = {}
    for one, other in turns:
        after.setdefault(one, set()).add(other)
    reached: dict[Pair, set[Pair]] = {}
    for one in after:
        found: set[Pair] = set()
        waiting = [one]
        while waiting:
            new = after.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        reached[one] = found
    return {
        frozenset(other for other in found if one in reached.get(other, ()))
        for one, found in reached.items()
        if one in found
    }


class Row(NamedTuple):
    valleys: set[Pair]
    unreachable: set[Pair]
    circles: set[frozenset[Pair]]


def links_of(fabric: Fabric, pairs: str) -> tuple[Link, ...]:
    wanted = [set(pair.split("-")) for pair in pairs.split()]
    return tuple(link for link in fabric.links if {link.a.node, link.b.node} in wanted)


def without(fabric: Fabric, links: tuple[Link, ...]) -> Row:
    dead = frozenset(end for link in links for end in (link.a, link.b))
    flow = Flow(compute_control_plane(Index(fabric), dead))
    return Row(flow.valleys(), flow.unreachable(), circles(flow.turns()))


def both(*pairs: Pair) -> set[Pair]:
    return {way for one, other in pairs for way in ((one, other), (other, one))}


def fabric_of(spines: int, *, shared: bool) -> Fabric:
    """Leaves pass on what they hear: nothing but AS numbers keeps packets out of valleys."""
    return two_tier(6, spines, shared=shared, filtered=False)


def around(*switches: str) -> set[Pair]:
    return set(zip(switches, (*switches[1:], switches[0]), strict=True))


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "unique"])
def test_no_failure_and_no_single_one_makes_a_valley(*, shared: bool) -> None:
    fabric = fabric_of(2, shared=shared)
    assert without(fabric, ()) == Row(set(), set(), set())
    for link in fabric.links:
        assert without(fabric, (link,)) == Row(set(), set(), set()), link


def test_a_shared_number_makes_two_leaves_without_a_common_spine_unreachable() -> None:
    fabric = fabric_of(2, shared=True)
    assert without(fabric, links_of(fabric, "l1-s1 l2-s2")) == Row(set(), both(("l1", "l2")), set())


def test_numbers_of_their_own_make_a_valley_and_a_circle() -> None:
    fabric = fabric_of(2, shared=False)
    found = without(fabric, links_of(fabric, "l1-s1 l2-s2"))
    assert (found.valleys, found.unreachable) == (both(("l1", "l2")), set())
    (circle,) = found.circles
    assert circle == {way for leaf in ("l3", "l4", "l5", "l6") for way in both((leaf, "s1"), (leaf, "s2"))}
    assert around("s2", "l3", "s1", "l4") <= circle


def test_two_leaves_at_either_spine_make_eight_valleys_and_two_circles() -> None:
    fabric = fabric_of(2, shared=False)
    found = without(fabric, links_of(fabric, "l1-s1 l2-s2 l3-s1 l4-s2"))
    assert found.valleys == both(*((one, other) for one in ("l1", "l3") for other in ("l2", "l4")))
    assert found.unreachable == set()
    assert found.circles == {
        frozenset(around("s2", "l5", "s1", "l6")),
        frozenset(around("s2", "l6", "s1", "l5")),
    }


def test_four_spines_of_which_two_leaves_have_none_in_common() -> None:
    pairs = "l1-s1 l1-s2 l2-s3 l2-s4"
    fabric = fabric_of(4, shared=True)
    assert without(fabric, links_of(fabric, pairs)) == Row(set(), both(("l1", "l2")), set())
    fabric = fabric_of(4, shared=False)
    found = without(fabric, links_of(fabric, pairs))
    assert (found.valleys, found.unreachable) == (both(("l1", "l2")), set())
    (circle,) = found.circles
    assert around("s3", "l3", "s1", "l4") <= circle


@pytest.mark.parametrize(
    ("shared", "lost", "bottoms"),
    [(True, both(("l1", "l2")), set()), (False, set(), {(leaf, to) for leaf in LEAVES[2:] for to in ("l1", "l2")})],
    ids=["shared", "unique"],
)
def test_a_double_failure_is_told_from_what_was_before(lost: set[Pair], bottoms: set[Pair], *, shared: bool) -> None:
    """Whoever sends up again what came down is told, with what; with one number two leaves are lost to each other."""
    fabric = fabric_of(2, shared=shared)
    plane = compute_control_plane(Index(fabric))
    outcome = FailureAnalysis(plane, plane.ipv4).outcome_without_links(*links_of(fabric, "l1-s1 l2-s2"))
    blocks = {row.prefix: one.name for one in fabric.devices for row in one.static_routes}  # type: ignore[union-attr]

    def told(rows: tuple[object, ...]) -> set[Pair]:
        members = plane.ipv4.world.destinations.prefixes_by_class
        return {
            (plane.routers[row.router].device.name, blocks[str(prefix)])  # type: ignore[attr-defined]
            for row in rows
            for number, prefixes in enumerate(members)
            for prefix in prefixes
            if row.bits >> number & 1 and str(prefix) in blocks  # type: ignore[attr-defined]
        }

    assert {row for row in told(outcome.unreachable) if row[0] in LEAVES} == lost
    assert told(outcome.valleys) == bottoms


def test_the_ends_of_a_cable_are_both_without_it() -> None:
    fabric = fabric_of(2, shared=True)
    (link,) = links_of(fabric, "l1-s1")
    one_end: frozenset[End] = frozenset((link.a,))
    assert (
        Flow(compute_control_plane(Index(fabric), one_end)).hops
        == Flow(compute_control_plane(Index(fabric), one_end | {link.b})).hops
    )
