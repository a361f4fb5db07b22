"""Failures computed from what was before are those computed from nothing."""

from collections.abc import Iterator
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from clos import three_tier
from nodrop.model.fabric import Fabric, Link
from nodrop.model.index import Index
from nodrop.model.routing import Redistribution
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.failures import FailureAnalysis, FailureOutcome
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routes import FamilyRoutes
from support.random_routed import routed
from support.wired_routers import fabric, port, router, to

Lost = set[tuple[str, str]]
Weaker = set[tuple[str, str, int, int]]


def numbers(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def routes_lost_and_weaker(routes: FamilyRoutes, outcome: FailureOutcome) -> tuple[Lost, Weaker]:
    """An outcome in names: who loses what, and who reaches what over fewer links."""
    routers, members = routes.plane.routers, routes.world.destinations.prefixes_by_class
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
        for part in routes.state.originated_parts(number):
            for one in numbers(part.bits):
                yield from routes.world.destinations.prefixes_by_class[one]


def _learned(routes: FamilyRoutes, number: int, prefix: Prefix) -> int | None:
    """Over how many next hops BGP reaches a prefix; 0 where the router originates it, None where it has no path."""
    found = routes.world.destinations.class_of.get(prefix)
    if found is not None and any(part.bits >> found & 1 for part in routes.state.originated_parts(number)):
        return 0
    route = routes.learned_route(number, prefix)
    return None if route is None else len(route.hops)


def assert_exact(made: Fabric) -> None:
    base = compute_control_plane(Index(made))
    for family in base.families:
        routes = base.of(family)
        failures = FailureAnalysis(base, routes)
        for link in failures.links:
            after = compute_control_plane(Index(made), frozenset((link.a, link.b))).of(family)
            outcome = failures.outcome_without_links(link)
            if routes.state.unstable or after.state.unstable or outcome.unstable:
                continue
            assert routes_lost_and_weaker(routes, outcome) == compared(routes, after), (link, family)


@given(chance=st.randoms(use_true_random=False))
def test_a_random_fabric_without_a_cable(chance: Random) -> None:
    assert_exact(routed(chance, preferences=False))


def test_a_fabric_of_three_tiers_without_a_cable() -> None:
    assert_exact(three_tier(pods=3, leaves=3, spines=2, superspines=2))


def test_prefixes_at_ports_that_a_neighbor_in_the_as_announces() -> None:
    """A router in an AS loses what BGP has beside its connected route, as one does that has no neighbor in its AS."""
    sent = {"redistributions": (Redistribution(family="ipv4", source="connected"),)}
    made = [
        router(
            f"r{number}",
            65001,
            [port("e0", f"10.1.0.{number - 1}/31"), port("e1", f"10.1.0.{number + 1}/31")],
            [to(f"10.1.0.{other - 1}", "internal"), to(f"10.1.0.{other + 1}", "internal")],
            bgp={"router_id": f"10.9.0.{number}", **bgp},
        )
        for number, other, bgp in ((1, 2, {}), (2, 1, sent))
    ]
    wired = fabric(*made, cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1"])
    assert_exact(wired)
    plane, failures = plane_of(wired)
    lost, weaker = routes_lost_and_weaker(plane.ipv4, failures.outcome_without_links(failures.links[0]))
    assert (lost, weaker) == ({("r1", "10.1.0.0/31")}, {("r1", "10.1.0.2/31", 1, 2)})


def plane_of(made: Fabric) -> tuple[ControlPlane, FailureAnalysis]:
    plane = compute_control_plane(Index(made))
    return plane, FailureAnalysis(plane, plane.ipv4)


def link_of(made: Fabric, one: str, other: str) -> Link:
    return next(link for link in made.links if {link.a.node, link.b.node} == {one, other})


def test_a_fabric_without_a_device() -> None:
    made = three_tier(pods=2, leaves=2, spines=2, superspines=2)
    plane, failures = plane_of(made)
    for name in ("p0-leaf0", "p0-spine0", "super0-0"):
        dead = frozenset(end for link in made.links for end in (link.a, link.b) if name in (link.a.node, link.b.node))
        after = compute_control_plane(Index(made), dead).ipv4
        assert routes_lost_and_weaker(plane.ipv4, failures.outcome_without_device(name)) == compared(
            plane.ipv4, after, frozenset((name,))
        ), name


def test_a_leaf_without_one_of_its_uplinks() -> None:
    """With one number for the spines of a pod, what only this spine passed on is gone where it was the only way."""
    made = three_tier(pods=2, leaves=2, spines=2, superspines=1)
    plane, failures = plane_of(made)
    lost, weaker = routes_lost_and_weaker(
        plane.ipv4, failures.outcome_without_links(link_of(made, "p0-leaf0", "p0-spine0"))
    )
    leaf = {"10.0.0.1/32", "10.128.0.0/24"}
    assert {row for row in lost if "leaf" in row[0] and row[1].endswith("/24")} == set()
    assert {(name, prefix) for name, prefix in lost if prefix in leaf} == {
        (name, prefix) for name in ("p0-spine0", "p1-spine0", "super0-0") for prefix in leaf
    }
    assert {row for row in weaker if row[1] == "10.128.0.0/24"} == {
        (name, "10.128.0.0/24", 1, 2) for name in ("p0-leaf1", "p1-leaf0", "p1-leaf1")
    }
