"""Routes over other routes of which it is not known whether zebra uses all their next hops."""

from typing import Any

import pytest

from nodrop.model.fabric import Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import Aggregate, PrefixList, PrefixRule, RouteMap, RouteMapRule, StaticRoute
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.prefixes import Prefix, parse_prefix
from support.routed_runs import compare
from support.twin_runs import needed
from support.wired_routers import fabric, port, router, to

Said = dict[str, Any]
BEHIND_ITSELF = "routes over a route to its own next hop"
COME_AND_GO = "routes over next hops that lead to one another"
TTL_SECURITY = "routes over other routes, of a neighbor with TTL security"
_LOOPBACKS = PrefixList(
    name="LOOPBACKS", family="ipv4", rules=(PrefixRule(sequence=5, action="permit", prefix="10.9.0.0/16", le=32),)
)
_MATCH = (("ip address prefix-list", "LOOPBACKS"),)
_FEW = RouteMap(name="FEW", rules=(RouteMapRule(sequence=10, action="permit", matches=_MATCH),))


def block(number: int) -> Prefix:
    found = parse_prefix(f"10.8.{number}.0/24")
    assert found is not None
    return found


def legs(plane: ControlPlane, to_block: Prefix) -> set[str]:
    """Return the legs by which r1 reaches a block."""
    route = plane.ipv4.route(0, to_block)
    return set() if route is None else {hop.leg for hop in route.hops}


def gaps(plane: ControlPlane) -> set[tuple[str, str]]:
    return {(gap.subject[0], gap.what) for gap in plane.gaps if not gap.what.startswith("valleys")}


def doubly_joined(**link: Any) -> Fabric:
    """Return two routers with a session over the first of two cables, and one of loopbacks over the second."""
    made = []
    for number, other in ((1, 2), (2, 1)):
        made.append(
            router(
                f"r{number}",
                65000 + number,
                [port("e0", f"10.1.0.{number - 1}/31"), port("e1", f"10.1.0.{number + 1}/31")],
                [
                    to(f"10.1.0.{other - 1}", **link),
                    to(f"10.9.0.{other}", ebgp_multihop=2, update_source="Loopback0"),
                ],
                bgp={"networks": (f"10.8.{number}.0/24",), "import_check": False},
                loopbacks=(Loopback(name="Loopback0", addresses=(f"10.9.0.{number}/32",)),),
                static_routes=(StaticRoute(prefix=f"10.9.0.{other}/32", next_hop=f"10.1.0.{other + 1}"),),
            )
        )
    return fabric(*made, cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1"])


@pytest.mark.parametrize(
    ("link", "ports", "is_unknown"),
    [
        ({}, {"e0"}, False),
        ({"ttl_security_hops": 1}, {"e0", "e1"}, True),
        ({"connected_check": False}, {"e0", "e1"}, False),
    ],
)
def test_ttl_security_lets_routes_follow_others(link: Said, ports: set[str], *, is_unknown: bool) -> None:
    """In FRR 8.4.4 it does so at one neighbor, but not in a peer group before its members; the model has no groups."""
    plane = compute_control_plane(Index(doubly_joined(**link)))
    assert legs(plane, block(2)) == ports
    assert gaps(plane) == ({("r1", TTL_SECURITY), ("r2", TTL_SECURITY)} if is_unknown else set())


@pytest.mark.nightly
@pytest.mark.parametrize("link", [{}, {"connected_check": False}], ids=str)
def test_such_routes_are_those_of_frr(link: Said) -> None:
    needed()
    compare(doubly_joined(**link), patience_s=60.0)


def behind_itself(*, client: bool, block_over_link: bool = False, summed: str = "") -> Fabric:
    """Return two routers of an AS with a session over their cable, and one of loopbacks that goes over its routes.

    r1 may have a summary of all routes.
    """
    made = []
    for number, other in ((1, 2), (2, 1)):
        over_link: Said = {} if block_over_link else {"export_policy": "FEW"}
        made.append(
            router(
                f"r{number}",
                65001,
                [port("e0", f"10.1.0.{number - 1}/31")],
                [
                    to(f"10.1.0.{other - 1}", "internal", **over_link),
                    to(
                        f"10.9.0.{other}",
                        "internal",
                        update_source="Loopback0",
                        reflector_client=client and number == 1,
                    ),
                ],
                bgp={
                    "router_id": f"10.9.0.{number}",
                    "networks": (f"10.8.{number}.0/24", f"10.9.0.{number}/32"),
                    "import_check": False,
                    "prefix_lists": (_LOOPBACKS,),
                    "route_maps": (_FEW,),
                    "aggregates": (Aggregate(prefix=summed),) if summed and number == 1 else (),
                },
                loopbacks=(Loopback(name="Loopback0", addresses=(f"10.9.0.{number}/32",)),),
            )
        )
    return fabric(*made, cables=["r1 e0 - r2 e0"])


@pytest.mark.parametrize(
    ("client", "block_over_link", "summed", "is_unknown"),
    [
        (True, False, "", True),
        (True, True, "", False),
        (False, False, "", False),
        (True, True, "10.0.0.0/8", True),
        (True, True, "10.8.0.0/16", False),
        (False, True, "10.0.0.0/8", False),
    ],
)
def test_routes_behind_a_route_to_its_own_next_hop(
    *, client: bool, block_over_link: bool, summed: str, is_unknown: bool
) -> None:
    """zebra replaces r1's route to r2's loopback when r2, a client, announces it over the session that goes over it.

    Meanwhile zebra takes a summary around the loopback for the way to it, and drops packets to r2's block for ever.
    """
    plane = compute_control_plane(Index(behind_itself(client=client, block_over_link=block_over_link, summed=summed)))
    assert len(plane.sessions) == 2
    assert legs(plane, block(2)) == {"e0"}
    assert gaps(plane) == ({("r1", BEHIND_ITSELF)} if is_unknown else set())


def behind_another_as(*, client: bool) -> Fabric:
    """Return two routers of an AS on both sides of a third, over whose routes they have a session of loopbacks.

    r3 takes routes of its own AS too, so that it hears r1's loopback twice: over the session, and of r2.
    """
    made = []
    for number, asn, links, far in ((1, 65001, ["10.1.0.0"], 3), (2, 65002, [], 0), (3, 65001, ["10.1.0.2"], 1)):
        loops: list[Any] = []
        if far:
            reflects = client and number == 3
            loops.append(to(f"10.9.0.{far}", "internal", update_source="Loopback0", reflector_client=reflects))
        ports = links or ["10.1.0.1", "10.1.0.3"]
        over = [to(one[:-1] + str(int(one[-1]) ^ 1), allowas_in=1) for one in ports]
        made.append(
            router(
                f"r{number}",
                asn,
                [port(f"e{at}", f"{one}/31") for at, one in enumerate(ports)],
                [*over, *loops],
                bgp={
                    "router_id": f"10.9.0.{number}",
                    "networks": (f"10.8.{number}.0/24", f"10.9.0.{number}/32"),
                    "import_check": False,
                },
                loopbacks=(Loopback(name="Loopback0", addresses=(f"10.9.0.{number}/32",)),),
            )
        )
    return fabric(*made, cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0"])


@pytest.mark.parametrize("client", [True, False])
def test_routes_to_a_neighbor_that_come_and_go(*, client: bool) -> None:
    """r3 prefers the shorter route to r1 over the session, which leads to itself; without it, the session has a way.

    From a neighbor that is no client bgpd does not take such a route.
    """
    plane = compute_control_plane(Index(behind_another_as(client=client)))
    assert len(plane.sessions) == 3
    assert gaps(plane) == ({("r3", COME_AND_GO)} if client else set())
