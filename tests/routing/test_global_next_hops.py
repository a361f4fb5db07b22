"""Global next hops that route maps give routes of IPv6: used where a route map prefers them, else link-local ones."""

from typing import Any

import pytest

from nodrop.analyses import AnalysisHit
from nodrop.analyses.unreached_next_hops import find
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Ipv6Unicast, RouteMap, RouteMapRule
from nodrop.routing import compute_control_plane
from support.routed_runs import compare, tables
from support.twin_runs import needed
from support.wired_routers import fabric, port, router, to

BLOCK, NOBODY = "fd08:1::/64", "fd00:dead::1"
PREFER = ("ipv6 next-hop", "prefer-global")
SETS = "next hops that a route map sets"


def over_ipv6(far: str, asn: int, **unicast: Any) -> Any:
    return to(far, asn, active=False, ipv6=Ipv6Unicast(active=True, **unicast))


def two_cables(told: str = "", heard: str = "", *, prefers: bool = False, inside: bool = False) -> Fabric:
    """Return r1 with two cables to r2; over the first, next hops are set on the way out or in; r3 is behind r2.

    r2 may prefer global next hops of the routes over the first cable. r3 may be `inside` the AS of r2.
    """
    out = (("ipv6 next-hop global", told),) if told else ()
    back = ((("ipv6 next-hop global", heard),) if heard else ()) + ((PREFER,) if prefers else ())
    maps = [
        (RouteMap(name="HOP", rules=(RouteMapRule(sequence=10, action="permit", sets=sets),)),) for sets in (out, back)
    ]
    asn = 65002 if inside else 65003
    return fabric(
        router(
            "r1",
            65001,
            [port("e0", "fd01::/127"), port("e1", "fd01::2/127")],
            [over_ipv6("fd01::1", 65002, export_policy="HOP"), over_ipv6("fd01::3", 65002)],
            bgp={"networks": (BLOCK,), "import_check": False, "route_maps": maps[0]},
        ),
        router(
            "r2",
            65002,
            [port("e0", "fd01::1/127"), port("e1", "fd01::3/127"), port("e2", "fd01::4/127")],
            [over_ipv6("fd01::", 65001, import_policy="HOP"), over_ipv6("fd01::2", 65001), over_ipv6("fd01::5", asn)],
            bgp={"maximum_paths_ipv6": 64, "route_maps": maps[1], "compare_router_id": True},
        ),
        router(
            "r3",
            asn,
            [port("e0", "fd01::5/127")],
            [over_ipv6("fd01::4", 65002)],
            bgp={"router_id": "10.9.0.9"},
        ),
        cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1", "r2 e2 - r3 e0"],
    )


CASES: dict[str, tuple[Fabric, set[str]]] = {
    "announced, not preferred": (two_cables(NOBODY), {"e0", "e1"}),
    "announced and preferred": (two_cables(NOBODY, prefers=True), {"e1"}),
    "the neighbor's own": (two_cables("fd01::3"), {"e1"}),
    "imported, not preferred": (two_cables(heard=NOBODY), {"e0", "e1"}),
    "imported and preferred": (two_cables(heard=NOBODY, prefers=True), {"e1"}),
    "the router's own": (two_cables(heard="fd01::3"), {"e1"}),
    "imported instead of announced": (two_cables("fd01::3", NOBODY), {"e0", "e1"}),
    "preferred as it is": (two_cables(prefers=True), {"e0", "e1"}),
}
"""Fabrics, and the ports over which r2 reaches the block."""


def gaps(made: Fabric) -> set[tuple[object, str]]:
    return {
        (gap.subject, gap.what) for gap in compute_control_plane(Index(made)).gaps if not gap.what.startswith("valleys")
    }


@pytest.mark.parametrize(("made", "ports"), CASES.values(), ids=CASES)
def test_a_global_next_hop_leads_where_it_is_preferred(made: Fabric, ports: set[str]) -> None:
    assert gaps(made) == set()
    found = tables(compute_control_plane(Index(made)))
    assert found["r2"][BLOCK] == ("bgp", frozenset(ports))
    assert found["r3"][BLOCK] == ("bgp", frozenset({"e0"}))


@pytest.mark.nightly
@pytest.mark.parametrize("made", [made for made, _ in CASES.values()], ids=CASES)
def test_it_is_that_of_frr(made: Fabric) -> None:
    needed()
    compare(made, patience_s=60.0)


@pytest.mark.parametrize(
    ("made", "far"),
    [
        (two_cables(NOBODY, inside=True), "fd01::5"),
        (two_cables("fd01::5"), "fd01::5"),
        (two_cables(heard="fd01::5"), "fd01::5"),
        (two_cables("fd01::2"), "fd01::2"),
    ],
)
def test_a_global_next_hop_that_goes_along_is_not_computed(made: Fabric, far: str) -> None:
    assert gaps(made) == {(("r2", "@neighbors", far), SETS)}


def test_an_ipv4_route_with_a_next_hop_of_ipv6_by_a_route_map_is_not_computed() -> None:
    rules = (RouteMapRule(sequence=10, action="permit", sets=(("ipv6 next-hop global", NOBODY),)),)
    said = {"route_maps": (RouteMap(name="HOP", rules=rules),)}
    one = router("r1", 65001, [port("e0", "10.1.0.0/31")], [to("10.1.0.1", 65002, import_policy="HOP")], bgp=said)
    other = router("r2", 65002, [port("e0", "10.1.0.1/31")], [to("10.1.0.0", 65001)])
    what = "ipv6 next-hop global"
    assert gaps(fabric(one, other, cables=["r1 e0 - r2 e0"])) == {(("r1", "@bgp", "route_maps", "HOP", "10"), what)}


@pytest.mark.parametrize(
    ("made", "name", "cause"),
    [
        (two_cables(NOBODY, prefers=True), "r1", "is on no link"),
        (two_cables(heard=NOBODY, prefers=True), "r2", "is on no link"),
        (two_cables(heard="fd01::3"), "r2", "is its own address"),
        (two_cables(NOBODY), "", ""),
    ],
)
def test_one_that_is_not_reached_is_reported_at_the_rule_that_sets_it(made: Fabric, name: str, cause: str) -> None:
    hits = [hit for hit in find(Index(made)) if isinstance(hit, AnalysisHit)]
    where = (name, "@bgp", "route_maps", "HOP", "rules", "10")
    assert [(hit.subject, hit.facts["device"], hit.facts["cause"]) for hit in hits] == (
        [(where, "r2", cause)] if name else []
    )
