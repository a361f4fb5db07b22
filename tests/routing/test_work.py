"""What is alike is computed once: how many tables are decided, in fabrics of different sizes."""

from typing import Any

import pytest

from clos import three_tier, two_tier
from nodrop.model.fabric import Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import StaticRoute
from nodrop.routing import compute_control_plane
from nodrop.routing.convergence import ConvergedState
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import FamilyRoutes
from support.wired_routers import fabric, port, router, to


def state(pods: int, leaves: int) -> ConvergedState:
    return compute_control_plane(Index(three_tier(pods=pods, leaves=leaves, spines=2, superspines=2))).ipv4.state


def test_leaves_of_a_pod_share_one_table() -> None:
    """More leaves in a pod are no more tables, neither in the end nor on the way there."""
    few, many = state(3, 2), state(3, 12)
    assert few.makers.table_count == many.makers.table_count
    for one, leaves in ((few, 2), (many, 12)):
        speakers = one.world.speakers.values()
        tables = {}
        for speaker in speakers:
            if speaker.router.device.role == "leaf":
                pod = speaker.router.name[:2]
                tables.setdefault(pod, []).append(id(one.table(speaker.router.number)))
        assert {pod: (len(found), len(set(found))) for pod, found in tables.items()} == dict.fromkeys(
            ("p0", "p1", "p2"), (leaves, 1)
        )


def test_tables_grow_with_pods_and_not_with_their_squares() -> None:
    first, second, third = (state(pods, 4).makers.table_count for pods in (4, 8, 12))
    assert third - second == second - first


def test_switches_of_a_tier_share_one_table() -> None:
    """What a switch originates itself is no part of its table."""
    plane = compute_control_plane(Index(two_tier(8, 4)))
    found = {
        role: {
            id(plane.ipv4.state.table(number))
            for number, speaker in plane.ipv4.world.speakers.items()
            if speaker.router.device.role == role
        }
        for role in ("leaf", "spine")
    }
    assert {role: len(tables) for role, tables in found.items()} == {"leaf": 1, "spine": 1}


def between_loopbacks(count: int) -> Fabric:
    """Two routers on one link with a session over it, and with so many loopbacks each and sessions between them."""
    made = []
    for number, other in ((1, 2), (2, 1)):
        own, far = ([f"10.{one}.0.{last}" for last in range(1, count + 1)] for one in (number, other))
        ends = zip(own, far, strict=True)
        sessions = [to(address, ebgp_multihop=3, update_source=source) for source, address in ends]
        made.append(
            router(
                f"r{number}",
                65000 + number,
                [port("e0", f"10.0.0.{number - 1}/31")],
                (to(f"10.0.0.{other - 1}"), *sessions),
                bgp={"networks": tuple(f"{address}/32" for address in own), "requires_policy": False},
                loopbacks=(Loopback(name="Loopback0", addresses=tuple(f"{address}/32" for address in own)),),
            )
        )
    return fabric(*made, cables=["r1 e0 - r2 e0"])


def count_calls(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    """Count the calls of a function from now on, in a list of one."""
    calls = [0]
    original = getattr(owner, name)

    def counting(*given: Any, **named: Any) -> Any:
        calls[0] += 1
        return original(*given, **named)

    monkeypatch.setattr(owner, name, counting)
    return calls


def test_routes_over_routes_are_looked_up_once_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each loopback is reached over all the others, which grows with their number and not with its factorial."""
    lookups = count_calls(monkeypatch, FamilyRoutes, "route")
    work = []
    for count in (4, 8, 12):
        lookups[0] = 0
        plane = compute_control_plane(Index(between_loopbacks(count)))
        routes = [route for route in plane.ipv4.routes(0) if route.source == "bgp"]
        assert [{(hop.leg, hop.router) for hop in route.hops} for route in routes] == [{("e0", 1)}] * count
        assert (len(plane.sessions), plane.down, plane.gaps) == (count + 1, (), ())
        work.append(lookups[0])
    assert work[2] - work[1] == work[1] - work[0]


def test_statements_of_a_pair_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = count_calls(monkeypatch, VrfRouter, "leg_towards")
    work = []
    for count in (4, 8, 12):
        lookups[0] = 0
        compute_control_plane(Index(between_loopbacks(count)))
        work.append(lookups[0])
    assert work[2] - work[1] == work[1] - work[0]


def test_static_routes_behind_a_neighbor_are_not_compared_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next hop is a neighbor's address on a link, to which routes of BGP do not lead."""
    compared = count_calls(monkeypatch, Prefix, "contains_address")
    work = []
    for count in (10, 20, 30):
        behind = [StaticRoute(prefix=f"10.8.{block}.0/24", next_hop="10.9.9.9") for block in range(count)]
        others = [StaticRoute(prefix=f"10.7.{block}.0/24", next_hop="blackhole") for block in range(count)]
        first = router("r1", 65001, [port("e0", "10.0.0.0/31")], (to("10.9.9.9"),), static_routes=(*behind, *others))
        compared[0] = 0
        assert len(compute_control_plane(Index(fabric(first, cables=[]))).ipv4.non_bgp_routes(0)) == count + 1
        work.append(compared[0])
    assert work[2] - work[1] == work[1] - work[0]
