"""Next hops that route maps give announced routes: of a cable, of the neighbor, of a third router, and of nobody."""

from typing import Any

import pytest

from nodrop.analyses import AnalysisHit
from nodrop.analyses.unreached_next_hops import find
from nodrop.model.fabric import Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import Redistribution, RouteMap, RouteMapRule, StaticRoute
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane
from support.routed_runs import compare, tables
from support.twin_runs import needed
from support.wired_routers import fabric, port, router, to

Said = dict[str, Any]
BLOCK, OTHER = "10.8.1.0/24", "10.8.3.0/24"
LOOPBACK = "10.9.0.1"
SETS = "next hops that a route map sets"


def two_cables(
    *hops: str,
    inside: bool = False,
    static: bool = False,
    session: Said | None = None,
    heard: Said | None = None,
    last: Said | None = None,
) -> Fabric:
    """Return r1 with two cables to r2, over the first of which it announces routes with other next hops; r3 is behind.

    r1 has a block and a loopback, to which r2 may have a static route; r3 has another block. Rules of the route map
    give the next hops one after the other. `session` is of r1's session over the first cable, `heard` of its other end,
    and `last` of r2's session to r3. The routers are all `inside` one AS, or each is in its own.
    """
    rules = tuple(
        RouteMapRule(sequence=10 * (at + 1), action="permit", sets=(("ip next-hop", hop), ("on-match", "next")))
        for at, hop in enumerate(hops)
    )
    maps = (RouteMap(name="HOP", rules=(*rules, RouteMapRule(sequence=100, action="permit"))),)
    asns = [65001] * 3 if inside else [65001, 65002, 65003]
    client = {"reflector_client": True} if inside else {}
    blackhole = [(StaticRoute(prefix=block, next_hop="blackhole"),) for block in (BLOCK, OTHER)]
    return fabric(
        router(
            "r1",
            asns[0],
            [port("e0", "10.1.0.0/31"), port("e1", "10.1.0.2/31")],
            [to("10.1.0.1", asns[1], export_policy="HOP", **(session or {})), to("10.1.0.3", asns[1])],
            bgp={"networks": (BLOCK,), "route_maps": maps, "router_id": "10.9.0.1"},
            loopbacks=(Loopback(name="Loopback0", addresses=(f"{LOOPBACK}/32",)),),
            static_routes=blackhole[0],
        ),
        router(
            "r2",
            asns[1],
            [port("e0", "10.1.0.1/31"), port("e1", "10.1.0.3/31"), port("e2", "10.1.0.4/31")],
            [
                to("10.1.0.0", asns[0], **client, **(heard or {})),
                to("10.1.0.2", asns[0], **client),
                to("10.1.0.5", asns[2], **client, **(last or {})),
            ],
            bgp={"router_id": "10.9.0.2", "maximum_paths": 64, "maximum_paths_internal": 64, "compare_router_id": True},
            static_routes=(StaticRoute(prefix=f"{LOOPBACK}/32", next_hop="10.1.0.0"),) if static else (),
        ),
        router(
            "r3",
            asns[2],
            [port("e0", "10.1.0.5/31")],
            [to("10.1.0.4", asns[1])],
            bgp={"networks": (OTHER,), "router_id": "10.9.0.3"},
            static_routes=blackhole[1],
        ),
        cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1", "r2 e2 - r3 e0"],
    )


CASES: dict[str, tuple[Fabric, set[str], bool]] = {
    "the own address": (two_cables("10.1.0.0"), {"e0", "e1"}, True),
    "the own address by word": (two_cables("peer-address"), {"e0", "e1"}, True),
    "of the other cable": (two_cables("10.1.0.2"), {"e1"}, True),
    "the last of two": (two_cables("192.0.2.1", "10.1.0.2"), {"e1"}, True),
    "the neighbor's own": (two_cables("10.1.0.3"), {"e1"}, True),
    "nobody's": (two_cables("192.0.2.1"), {"e1"}, True),
    "of a third router": (two_cables("10.1.0.5"), {"e1", "e2"}, False),
    "behind a static route": (two_cables(LOOPBACK, static=True), {"e1"}, True),
    "behind a static route that it may follow": (
        two_cables(LOOPBACK, static=True, heard={"connected_check": False}),
        {"e0", "e1"},
        True,
    ),
    "which the neighbor replaces": (two_cables("192.0.2.1", heard={"next_hop_self": True}), {"e1"}, True),
    "in the AS": (two_cables("10.1.0.2", inside=True), {"e1"}, False),
    "in the AS, the own address by word": (two_cables("peer-address", inside=True), {"e0", "e1"}, False),
    "in the AS, instead of the own": (
        two_cables("10.1.0.2", inside=True, session={"next_hop_self": True}),
        {"e1"},
        False,
    ),
    "in the AS, behind a static route": (two_cables(LOOPBACK, inside=True, static=True), {"e0", "e1"}, False),
}
"""Fabrics, the ports over which r2 reaches the block, and whether r3 does."""


@pytest.mark.parametrize(("made", "ports", "is_passed_on"), CASES.values(), ids=CASES)
def test_an_announced_next_hop_leads_the_neighbor(made: Fabric, ports: set[str], *, is_passed_on: bool) -> None:
    plane = compute_control_plane(Index(made))
    assert [gap.what for gap in plane.gaps if not gap.what.startswith("valleys")] == []
    found = tables(plane)
    assert found["r2"][BLOCK] == ("bgp", frozenset(ports))
    assert (BLOCK in found["r3"]) is is_passed_on


def with_static_route(hop: str) -> Fabric:
    """Return a fabric in which r1 redistributes a static route to its neighbor on the first cable."""
    made = two_cables(hop)
    bgp = replace_fields(made.devices[0].bgp, redistributions=(Redistribution(source="static"),))
    static = (StaticRoute(prefix="10.8.5.0/24", next_hop="10.1.0.1"), *made.devices[0].static_routes)
    first = replace_fields(made.devices[0], bgp=bgp, static_routes=static)
    return replace_fields(made, devices=(first, *made.devices[1:]))


def over_ipv6(address: str, asn: int) -> Fabric:
    """Return r1 and r2 with a cable, over which r1 announces an IPv4 block with another next hop, over IPv6."""
    rules = (RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", "192.0.2.1"),)),)
    said = {"networks": (BLOCK,), "import_check": False, "route_maps": (RouteMap(name="HOP", rules=rules),)}
    there, here = (f"{address}1", address) if address.startswith("fd") else (address, address)
    ports = [
        port("e0", *([f"{own}/127"] if own.startswith("fd") else []), link_local=not own.startswith("fd"))
        for own in (here, there)
    ]
    over = {"extended_next_hop": True} if address.startswith("fd") else {}
    one = router("r1", 65001, ports[:1], [to(there, asn, export_policy="HOP", **over)], bgp=said)
    own_id = {"router_id": "10.9.0.9"}
    other = router("r2", asn, ports[1:], [to(here, 65001, **over)], bgp=own_id)
    return fabric(one, other, cables=["r1 e0 - r2 e0"])


OTHERS = [
    with_static_route("10.1.0.0"),
    with_static_route("192.0.2.1"),
    over_ipv6("fd01::", 65002),
    over_ipv6("e0", 65002),
]


@pytest.mark.nightly
@pytest.mark.parametrize("made", [*(made for made, *_ in CASES.values()), *OTHERS])
def test_it_is_that_of_frr(made: Fabric) -> None:
    needed()
    compare(made, patience_s=60.0)


def gaps(made: Fabric) -> set[tuple[object, ...]]:
    return {
        (gap.subject, gap.what) for gap in compute_control_plane(Index(made)).gaps if not gap.what.startswith("valleys")
    }


def test_of_two_kinds_the_order_of_rules_decides_which_is_not_computed() -> None:
    where = [("r1", "@bgp", "route_maps", "HOP", str(number)) for number in (10, 20)]
    assert gaps(two_cables("peer-address", "10.1.0.2")) == {(one, "ip next-hop") for one in where}


@pytest.mark.parametrize(("asn", "is_computed"), [(65002, True), (65001, False)])
def test_over_next_hops_of_ipv6_it_is_computed_between_ases_alone(asn: int, *, is_computed: bool) -> None:
    """There the router's own address goes with the route."""
    made = over_ipv6("fd01::", asn)
    assert gaps(made) == (set() if is_computed else {(("r1", "@neighbors", "fd01::1"), SETS)})
    assert tables(compute_control_plane(Index(made)))["r2"][BLOCK] == ("bgp", frozenset({"e0"}))


def test_static_routes_that_are_announced_with_the_own_address_by_word_are_not_computed() -> None:
    """The neighbor refuses one with its address as the next hop, which the word replaces."""
    made = two_cables("peer-address")
    bgp = replace_fields(made.devices[0].bgp, redistributions=(Redistribution(source="static"),))
    first = replace_fields(made.devices[0], bgp=bgp)
    made = replace_fields(made, devices=(first, *made.devices[1:]))
    assert gaps(made) == {(("r1", "@neighbors", "10.1.0.1"), SETS)}


@pytest.mark.parametrize(("hop", "ports"), [("10.1.0.0", {"e0", "e1"}), ("192.0.2.1", {"e1"})])
def test_a_static_route_to_the_neighbor_is_not_refused_with_another_next_hop(hop: str, ports: set[str]) -> None:
    made = with_static_route(hop)
    assert tables(compute_control_plane(Index(made)))["r2"]["10.8.5.0/24"] == ("bgp", frozenset(ports))


def test_an_announced_next_hop_that_is_not_reached_is_reported_at_the_rule_that_sets_it() -> None:
    hits = [hit for hit in find(Index(two_cables("192.0.2.1"))) if isinstance(hit, AnalysisHit)]
    where = ("r1", "@bgp", "route_maps", "HOP", "rules", "10")
    facts = {"device": "r2", "prefix": BLOCK, "far": "r1", "hop": "192.0.2.1", "cause": "is on no link"}
    assert [(hit.subject, hit.facts) for hit in hits] == [(where, facts)]
    assert [hit for hit in find(Index(two_cables("10.1.0.2"))) if isinstance(hit, AnalysisHit)] == []
