"""Failures computed from what was before are those computed from nothing."""

from collections.abc import Iterator
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from clos import three_tier
from nodrop.model.fabric import Fabric, Link
from nodrop.model.index import Index
from nodrop.routing import ControlPlane, compute
from nodrop.routing.failures import FailureAnalysis, FailureOutcome
from nodrop.routing.routes import FamilyRoutes
from support.random_routed import routed

Lost = set[tuple[str, str]]
Weaker = set[tuple[str, str, int, int]]


def numbers(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def told(routes: FamilyRoutes, outcome: FailureOutcome) -> tuple[Lost, Weaker]:
    """An outcome in names: who loses what, and who reaches what over fewer links."""
    routers, members = routes.plane.routers, routes.world.destinations.members
    lost = {
        (routers[one.router].name, str(prefix))
        for one in outcome.unreachable
        for number in numbers(one.bits)
        for prefix in members[number]
    }
    weaker = {
        (routers[one.router].name, str(prefix), one.hops, one.before)
        for one in outcome.weaker
        for number in numbers(one.bits)
        for prefix in members[number]
    }
    return lost, weaker


def compared(before: FamilyRoutes, after: FamilyRoutes, without: frozenset[str] = frozenset()) -> tuple[Lost, Weaker]:
    """The same from two computations."""
    lost: Lost = set()
    weaker: Weaker = set()
    gone = {str(one) for number in before.world.speakers for one in _originated(before, number, without)}
    for number in before.world.speakers:
        name = before.plane.routers[number].name
        if name in without:
            continue
        for prefix in before.world.destinations.prefixes:
            old, new = _learned(before, number, prefix), _learned(after, number, prefix)
            if not old or str(prefix) in gone:
                continue
            if new is None:
                lost.add((name, str(prefix)))
            elif 0 < new < old:
                weaker.add((name, str(prefix), new, old))
    return lost, weaker


def _originated(routes: FamilyRoutes, number: int, without: frozenset[str]) -> Iterator[object]:
    if routes.plane.routers[number].name in without:
        for part in routes.state.local(number):
            for one in numbers(part.bits):
                yield from routes.world.destinations.members[one]


def _learned(routes: FamilyRoutes, number: int, prefix: object) -> int | None:
    """Over how many links BGP reaches a prefix; 0 where the router originates it, None where it has no path."""
    found = routes.world.destinations.class_of.get(prefix)  # type: ignore[call-overload]
    if found is None:
        return None
    if any(part.bits >> found & 1 for part in routes.state.local(number)):
        return 0
    entry = routes.state.table(number).entry(found)
    return None if entry is None else len(entry.hops)


def assert_exact(fabric: Fabric) -> None:
    base = compute(Index(fabric))
    for family in base.families:
        routes = base.of(family)
        failures = FailureAnalysis(base, routes)
        for link in failures.links:
            after = compute(Index(fabric), frozenset((link.a, link.b))).of(family)
            outcome = failures.of_link(link)
            if routes.state.unstable or after.state.unstable or outcome.unstable:
                continue
            assert told(routes, outcome) == compared(routes, after), (link, family)


@given(chance=st.randoms(use_true_random=False))
def test_a_random_fabric_without_a_cable(chance: Random) -> None:
    assert_exact(routed(chance, preferences=False))


def test_a_fabric_of_three_tiers_without_a_cable() -> None:
    assert_exact(three_tier(pods=3, leaves=3, spines=2, superspines=2))


def plane_of(fabric: Fabric) -> tuple[ControlPlane, FailureAnalysis]:
    plane = compute(Index(fabric))
    return plane, FailureAnalysis(plane, plane.ipv4)


def link_of(fabric: Fabric, one: str, other: str) -> Link:
    return next(link for link in fabric.links if {link.a.node, link.b.node} == {one, other})


def test_a_fabric_without_a_device() -> None:
    fabric = three_tier(pods=2, leaves=2, spines=2, superspines=2)
    plane, failures = plane_of(fabric)
    for name in ("p0-leaf0", "p0-spine0", "super0-0"):
        dead = frozenset(end for link in fabric.links for end in (link.a, link.b) if name in (link.a.node, link.b.node))
        after = compute(Index(fabric), dead).ipv4
        assert told(plane.ipv4, failures.of_device(name)) == compared(plane.ipv4, after, frozenset((name,))), name


def test_a_leaf_without_one_of_its_uplinks() -> None:
    """With one number for the spines of a pod, what only this spine passed on is gone where it was the only way."""
    fabric = three_tier(pods=2, leaves=2, spines=2, superspines=1)
    plane, failures = plane_of(fabric)
    lost, weaker = told(plane.ipv4, failures.of_link(link_of(fabric, "p0-leaf0", "p0-spine0")))
    leaf = {"10.0.0.1/32", "10.128.0.0/24"}
    assert {row for row in lost if "leaf" in row[0] and row[1].endswith("/24")} == set()
    assert {(name, prefix) for name, prefix in lost if prefix in leaf} == {
        (name, prefix) for name in ("p0-spine0", "p1-spine0", "super0-0") for prefix in leaf
    }
    assert {row for row in weaker if row[1] == "10.128.0.0/24"} == {
        (name, "10.128.0.0/24", 1, 2) for name in ("p0-leaf1", "p1-leaf0", "p1-leaf1")
    }
