"""Next hops that route maps give imported routes: of a neighbor, of the router itself, and of nobody."""

from typing import Any

import pytest

from nodrop.analyses import AnalysisHit
from nodrop.analyses.unreached_next_hops import find
from nodrop.model.fabric import Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import Aggregate, RouteMap, RouteMapRule, StaticRoute
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane
from support.routed_runs import compare, tables
from support.twin_runs import needed
from support.wired_routers import fabric, port, router, to

Said = dict[str, Any]
BLOCK = "10.8.1.0/24"
LOOPBACK = "10.9.0.1"


def two_spines(
    hop: str, *, static: bool = False, last: Said | None = None, by_id: bool = True, **session: Any
) -> Fabric:
    """Return r2 with two cables to r1, of whose routes over the first it sets the next hop, and one to r3.

    r1 has a block and a loopback, to which r2 may have a static route. `session` is of the session over the first
    cable at r2, `last` of the one to r3. Of equal routes r2 takes
    those of the lowest router id and address for the best, or the oldest.
    """
    rules = (RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", hop),)),)
    maps = (
        RouteMap(name="HOP", rules=rules),
        RouteMap(name="OUT", rules=(RouteMapRule(sequence=10, action="permit"),)),
    )
    blocks = {"networks": (BLOCK,), "import_check": False}
    return fabric(
        router(
            "r1",
            65001,
            [port("e0", "10.1.0.0/31"), port("e1", "10.1.0.2/31")],
            [to("10.1.0.1", 65002), to("10.1.0.3", 65002)],
            bgp=blocks,
            loopbacks=(Loopback(name="Loopback0", addresses=(f"{LOOPBACK}/32",)),),
        ),
        router(
            "r2",
            65002,
            [port("e0", "10.1.0.1/31"), port("e1", "10.1.0.3/31"), port("e2", "10.1.0.4/31")],
            [to("10.1.0.0", import_policy="HOP", **session), to("10.1.0.2"), to("10.1.0.5", **(last or {}))],
            bgp={"route_maps": maps, "maximum_paths": 64, "compare_router_id": by_id},
            static_routes=(StaticRoute(prefix=f"{LOOPBACK}/32", next_hop="10.1.0.0"),) if static else (),
        ),
        router(
            "r3",
            65002 if last and last.get("asn") == "internal" else 65003,
            [port("e0", "10.1.0.5/31")],
            [to("10.1.0.4", 65002)],
            bgp={"router_id": "10.9.0.3"},
        ),
        cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1", "r2 e2 - r3 e0"],
    )


CASES: dict[str, tuple[Fabric, set[str], bool]] = {
    "the neighbor's own": (two_spines("10.1.0.0"), {"e0", "e1"}, True),
    "of the other cable": (two_spines("10.1.0.2"), {"e1"}, True),
    "of another neighbor": (two_spines("10.1.0.5"), {"e1", "e2"}, False),
    "behind a static route": (two_spines(LOOPBACK, static=True), {"e1"}, True),
    "behind a static route that it may follow": (
        two_spines(LOOPBACK, static=True, connected_check=False),
        {"e0", "e1"},
        True,
    ),
    "passed on in the AS": (two_spines("10.1.0.0", last={"asn": "internal"}), {"e0", "e1"}, False),
    "not replaced in the AS": (
        two_spines("10.1.0.2", last={"asn": "internal", "next_hop_self": True}),
        {"e1"},
        False,
    ),
    "replaced in the AS, through a route map": (
        two_spines("10.1.0.2", last={"asn": "internal", "next_hop_self": True, "export_policy": "OUT"}),
        {"e1"},
        True,
    ),
}
"""Fabrics, the ports over which r2 reaches the block, and whether r3 does."""


@pytest.mark.parametrize(("made", "ports", "is_passed_on"), CASES.values(), ids=CASES)
def test_a_next_hop_that_a_route_map_sets(made: Fabric, ports: set[str], *, is_passed_on: bool) -> None:
    plane = compute_control_plane(Index(made))
    assert [gap.what for gap in plane.gaps if not gap.what.startswith("valleys")] == []
    found = tables(plane)
    assert found["r2"][BLOCK] == ("bgp", frozenset(ports))
    assert (BLOCK in found["r3"]) is is_passed_on


NOT_REACHED = {"the router's own": two_spines("10.1.0.3"), "nobody's": two_spines("192.0.2.1")}


@pytest.mark.parametrize("made", NOT_REACHED.values(), ids=NOT_REACHED)
def test_routes_to_a_next_hop_that_is_not_reached_are_not_used(made: Fabric) -> None:
    plane = compute_control_plane(Index(made))
    assert plane.gaps == ()
    assert tables(plane)["r2"][BLOCK] == ("bgp", frozenset({"e1"}))


def found_at(made: Fabric) -> list[tuple[object, ...]]:
    """Return what the rule reports: where, and which routes of which neighbor have which next hop."""
    hits = [hit for hit in find(Index(made)) if isinstance(hit, AnalysisHit)]
    return [(hit.subject, *(hit.facts[name] for name in ("prefix", "far", "hop", "cause"))) for hit in hits]


@pytest.mark.parametrize(
    ("made", "hop", "cause"),
    [
        (NOT_REACHED["the router's own"], "10.1.0.3", "is its own address"),
        (NOT_REACHED["nobody's"], "192.0.2.1", "is on no link"),
        (CASES["behind a static route"][0], LOOPBACK, "is on no link"),
        (two_spines("192.0.2.1", connected_check=False), "192.0.2.1", "has no route"),
        (CASES["behind a static route that it may follow"][0], "", ""),
        (CASES["of the other cable"][0], "", ""),
    ],
)
def test_such_a_next_hop_is_reported_at_the_rule_that_sets_it(made: Fabric, hop: str, cause: str) -> None:
    where = ("r2", "@bgp", "route_maps", "HOP", "rules", "10")
    assert found_at(made) == ([(where, BLOCK, "r1", hop, cause)] if hop else [])


def test_a_next_hop_is_reported_only_where_it_is_known_and_routes_have_it() -> None:
    unread = to("10.9.9.9", ebgp_multihop=9)
    far = two_spines("192.0.2.1", connected_check=False)
    bgp = replace_fields(far.devices[1].bgp, neighbors=(*far.devices[1].bgp.neighbors, unread))
    made = replace_fields(far, devices=(far.devices[0], replace_fields(far.devices[1], bgp=bgp), far.devices[2]))
    what = "a next hop of a route map that is not reached"
    assert what in {gap.what for gap in compute_control_plane(Index(made)).gaps}
    assert found_at(made) == []
    quiet = replace_fields(far.devices[0], bgp=replace_fields(far.devices[0].bgp, networks=()))
    assert found_at(replace_fields(far, devices=(quiet, *far.devices[1:]))) == []


@pytest.mark.parametrize(
    ("hop", "more", "is_computed"),
    [
        ("10.1.0.5", {}, False),
        ("10.1.0.2", {}, True),
        (LOOPBACK, {"static": True, "connected_check": False}, False),
        ("10.1.0.0", {"last": {"asn": "internal"}}, False),
    ],
    ids=str,
)
def test_what_hangs_on_the_age_of_equal_routes_is_unknown(hop: str, more: Said, *, is_computed: bool) -> None:
    gaps = compute_control_plane(Index(two_spines(hop, by_id=False, **more))).gaps
    expected = set() if is_computed else {(("r2", "@bgp"), "which of equal routes came first")}
    assert {(gap.subject, gap.what) for gap in gaps if not gap.what.startswith("valleys")} == expected


def behind_an_aggregate(hop: str, *aggregates: str) -> Fabric:
    """Return r2 with a port that is shut and aggregates, which takes r1's block with another next hop."""
    rules = (RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", hop),)),)
    said = {
        "route_maps": (RouteMap(name="HOP", rules=rules),),
        "aggregates": tuple(Aggregate(prefix=prefix) for prefix in aggregates),
        "networks": ("10.8.2.0/24",),
        "import_check": False,
    }
    blocks = {"networks": (BLOCK,), "import_check": False}
    return fabric(
        router("r1", 65001, [port("e0", "10.1.0.0/31")], [to("10.1.0.1")], bgp=blocks),
        router(
            "r2",
            65002,
            [port("e0", "10.1.0.1/31"), port("e1", "10.1.9.0/31", enabled=False)],
            [to("10.1.0.0", import_policy="HOP", ebgp_multihop=2)],
            bgp=said,
        ),
        cables=["r1 e0 - r2 e0"],
    )


AGGREGATES = {
    "behind an aggregate": (behind_an_aggregate("10.200.0.1", "10.0.0.0/8"), True),
    "behind none": (behind_an_aggregate("10.200.0.1", "10.8.0.0/16"), False),
    "the own address of a port that is shut": (behind_an_aggregate("10.1.9.0", "10.0.0.0/8"), True),
    "the own address of a port": (behind_an_aggregate("10.1.0.1", "10.0.0.0/8"), False),
}


@pytest.mark.parametrize(("made", "is_used"), AGGREGATES.values(), ids=AGGREGATES)
def test_a_next_hop_may_be_behind_an_aggregate_that_drops_packets(made: Fabric, *, is_used: bool) -> None:
    """An address of a router is its own only while the interface is up."""
    plane = compute_control_plane(Index(made))
    assert plane.gaps == ()
    assert tables(plane)["r2"].get(BLOCK) == (("bgp", frozenset({"discard"})) if is_used else None)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "made", [*(made for made, *_ in (*CASES.values(), *AGGREGATES.values())), *NOT_REACHED.values()]
)
def test_it_is_that_of_frr(made: Fabric) -> None:
    needed()
    compare(made, patience_s=60.0)
