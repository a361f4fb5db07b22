"""Lines of BGP that change what is announced, installed and accepted: aggregates, default routes, distances, limits."""

from collections.abc import Sequence
from typing import Any

import pytest

from nodrop.model.fabric import Device, End, Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Aggregate, PrefixList, PrefixRule, Redistribution, RouteMap, RouteMapRule, StaticRoute
from nodrop.model.states import require_fact
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.prefixes import Prefix
from support.routed_runs import compare, tables
from support.twin_runs import Table, needed
from support.wired_routers import doubly_heard, fabric, port, ring, router, to

BLOCKS = ("10.8.1.0/24", "10.8.2.0/24")
THREE = (*BLOCKS, "10.8.3.0/24")
ONE_OVER = (("r1", "@neighbors", "10.1.0.1"), "a session with one prefix over its limit")
BOTH = {one: ["e0"] for one in BLOCKS}


def chain(
    near: dict[str, Any] | None = None,
    middle: dict[str, Any] | None = None,
    *,
    told: dict[str, Any] | None = None,
    heard: dict[str, Any] | None = None,
    last: dict[str, Any] | None = None,
) -> Fabric:
    """Three routers in a row, of which the first has two blocks.

    `near` and `middle` are of the processes of the first two; `told` is of the session from the second to the third,
    `heard` of the one from the second to the first, `last` of the one from the third.
    """
    routes = tuple(StaticRoute(prefix=one, next_hop="blackhole") for one in BLOCKS)
    first = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31")],
        [to("10.1.0.1")],
        bgp={"networks": BLOCKS, **(near or {})},
        static_routes=routes,
    )
    second = router(
        "r2",
        65002,
        [port("e0", "10.1.0.1/31"), port("e1", "10.1.1.0/31")],
        [to("10.1.0.0", **(heard or {})), to("10.1.1.1", **(told or {}))],
        bgp=middle,
    )
    third = router("r3", 65003, [port("e0", "10.1.1.1/31")], [to("10.1.1.0", **(last or {}))])
    return fabric(first, second, third, cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0"])


def routes(of: Fabric, name: str, *dead: End) -> dict[str, list[str]]:
    """The routes of a router that are not connected, with their ports; `discard` for those that drop."""
    table: Table = tables(compute_control_plane(Index(of), frozenset(dead)))[name]
    return {prefix: sorted(hops) for prefix, (source, hops) in table.items() if source in ("bgp", "static")}


def permitting(name: str, prefix: str) -> dict[str, Any]:
    """A route map that permits a prefix, with its list."""
    rule = PrefixRule(sequence=5, action="permit", prefix=prefix)
    matches = (("ip address prefix-list", "P"),)
    return {
        "prefix_lists": (PrefixList(name="P", family="ipv4", rules=(rule,)),),
        "route_maps": (RouteMap(name=name, rules=(RouteMapRule(sequence=10, action="permit", matches=matches),)),),
    }


@pytest.mark.parametrize(("only", "left"), [(False, {*BLOCKS, "10.8.0.0/16"}), (True, {"10.8.0.0/16"})])
def test_an_aggregate_is_announced_with_or_instead_of_what_is_inside(only: bool, left: set[str]) -> None:
    of = chain({"aggregates": (Aggregate(prefix="10.8.0.0/16", summary_only=only),)})
    assert routes(of, "r3").keys() == left
    assert routes(of, "r1")["10.8.0.0/16"] == ["discard"]


def test_a_router_aggregates_what_it_hears_and_only_while_it_has_any() -> None:
    of = chain(None, {"aggregates": (Aggregate(prefix="10.8.0.0/16", summary_only=True),)})
    assert routes(of, "r3") == {"10.8.0.0/16": ["e0"]}
    assert routes(of, "r2") == {"10.8.0.0/16": ["discard"], **BOTH}
    assert routes(of, "r3", End("r1", "e0")) == routes(of, "r2", End("r1", "e0")) == {}


def test_a_default_route_is_announced_to_one_neighbor() -> None:
    of = chain(told={"default_originate": True})
    assert routes(of, "r3") == {"0.0.0.0/0": ["e0"], **BOTH}
    assert "0.0.0.0/0" not in {**routes(of, "r1"), **routes(of, "r2")}


def test_a_default_route_that_hangs_on_another() -> None:
    said = {"default_originate": True, "default_policy": "IF"}
    of = chain(None, permitting("IF", "10.8.1.0/24"), told=said)
    assert "0.0.0.0/0" in routes(of, "r3")
    assert "0.0.0.0/0" not in routes(of, "r3", End("r1", "e0"))
    assert "0.0.0.0/0" not in routes(chain(None, permitting("IF", "10.8.9.0/24"), told=said), "r3")


@pytest.mark.parametrize(("network", "is_default"), [("10.6.0.0/24", True), ("10.5.0.0/24", False)])
def test_the_route_map_of_a_default_route_is_asked_about_networks_without_a_route(
    network: str, *, is_default: bool
) -> None:
    """Bgpd has a path for each network, of which it uses none without a route (FRR, bgp_static_update)."""
    said = {"default_originate": True, "default_policy": "IF"}
    of = chain(None, permitting("IF", "10.6.0.0/24") | {"networks": (network,), "import_check": True}, told=said)
    assert routes(of, "r3") == {**BOTH, **({"0.0.0.0/0": ["e0"]} if is_default else {})}
    assert compute_control_plane(Index(of)).gaps == ()


def test_routes_with_distance_255_are_announced_and_not_installed() -> None:
    of = chain(None, {"distances": (255, 200, 200)})
    assert routes(of, "r2") == {}
    assert routes(of, "r3") == BOTH
    assert routes(chain(None, {"distances": (20, 255, 255)}), "r2") == BOTH


@pytest.mark.parametrize(
    ("distance", "block", "is_unknown"),
    [(255, "10.8.0.0/16", True), (254, "10.8.0.0/16", False), (255, "10.7.0.0/16", False)],
)
def test_aggregates_with_distance_255_hang_on_time(distance: int, block: str, *, is_unknown: bool) -> None:
    """They stay installed where bgpd sent them before it read the line with the distance."""
    of = chain(None, {"distances": (20, 200, distance), "aggregates": (Aggregate(prefix=block),)})
    gaps = [(("r2", "@bgp"), "distance 255 of aggregates")] if is_unknown else []
    assert [(gap.subject, gap.what) for gap in compute_control_plane(Index(of)).gaps] == gaps


def test_a_route_map_of_the_routing_table_decides_what_is_installed() -> None:
    of = chain(None, {"installed_policy": "IF", **permitting("IF", "10.8.1.0/24")})
    assert routes(of, "r2") == {"10.8.1.0/24": ["e0"]}
    assert routes(of, "r3") == BOTH


def test_a_route_map_of_the_routing_table_that_is_not_there_installs_nothing() -> None:
    assert routes(chain(None, {"installed_policy": "GONE"}), "r2") == {}


def two_above(said: dict[str, Any], **session: Any) -> Fabric:
    """A router with two neighbors of one AS that announce the same; `said` is of the process of the second."""
    ends = [("10.1.0.0/31", "10.1.0.1"), ("10.1.1.0/31", "10.1.1.1")]
    blocks = {"networks": ("10.8.0.0/24",), "import_check": False}
    far = [
        router(
            f"s{number}",
            65009,
            [port("e0", f"{peer}/31")],
            [to(own.partition("/")[0], **session)],
            bgp=blocks | (said if number else {}),
        )
        for number, (own, peer) in enumerate(ends)
    ]
    ports = [port(f"e{number}", own) for number, (own, _) in enumerate(ends)]
    near = router("r1", 65001, ports, [to(peer) for _, peer in ends])
    return fabric(near, *far, cables=["r1 e0 - s0 e0", "r1 e1 - s1 e0"])


def test_a_med_of_all_routes() -> None:
    """Of two paths from one AS the one with the MED is not used."""
    assert routes(two_above({"maximum_med": 7}), "r1") == {"10.8.0.0/24": ["e0"]}


@pytest.mark.parametrize(
    ("said", "ports"), [({}, ["e0", "e1"]), ({"graceful_shutdown": True}, ["e0"]), ({"maximum_med": 7}, ["e0"])]
)
def test_the_default_route_of_a_drained_router_is_avoided(said: dict[str, Any], ports: list[str]) -> None:
    of = two_above(said, default_originate=True)
    assert routes(of, "r1") == {"0.0.0.0/0": ports, "10.8.0.0/24": ports}


@pytest.mark.parametrize(("most", "blocks", "up"), [(2, BLOCKS, True), (1, BLOCKS, False), (1, THREE, False)])
def test_a_session_goes_down_over_its_maximum_of_prefixes(most: int, blocks: tuple[str, ...], up: bool) -> None:
    """With one prefix more than the maximum it goes down where an announcement follows."""
    of = chain({"networks": blocks, "import_check": False}, heard={"maximum_prefix": most})
    plane = compute_control_plane(Index(of))
    assert len(plane.sessions) == (2 if up else 1)
    assert [(one.router.name, one.reason, one.there) for one in plane.down] == (
        [] if up else [("r1", "limit", True), ("r2", "limit", False)]
    )
    assert routes(of, "r3") == (BOTH if up else {})
    is_known = up or blocks == THREE
    assert {(gap.subject, gap.what) for gap in plane.gaps} == (set() if is_known else {ONE_OVER})


@pytest.mark.parametrize(
    ("told", "last", "is_unknown"),
    [({}, {}, False), ({"export_policy": "ALL"}, {}, True), ({}, {"import_policy": "ALL"}, True)],
)
def test_a_neighbor_may_keep_routes_of_a_session_over_its_maximum(
    told: dict[str, Any], last: dict[str, Any], *, is_unknown: bool
) -> None:
    """A route map asks for a refresh at the start, in which bgpd withdraws nothing for 1.3 s."""
    blocks, policy = {"networks": THREE, "import_check": False}, permitting("ALL", BLOCKS[0])
    of = chain(blocks, policy, heard={"maximum_prefix": 1}, told=told, last=last)
    where = (("r2", "@neighbors", "10.1.1.1"), "routes that a session over its limit brought before")
    assert {(gap.subject, gap.what) for gap in compute_control_plane(Index(of)).gaps} == (
        {where} if is_unknown else set()
    )


def test_of_two_sessions_over_their_maximum_it_is_not_known_which_goes_first() -> None:
    """The one behind the other is over its maximum only while that is up."""
    plane = compute_control_plane(Index(chain(heard={"maximum_prefix": 1}, last={"maximum_prefix": 1})))
    last = ("r2", "@neighbors", "10.1.1.1")
    gaps = {(last, "which session goes over its limit first"), (last, ONE_OVER[1]), ONE_OVER}
    assert {(gap.subject, gap.what) for gap in plane.gaps} == gaps


@pytest.mark.parametrize("installs", [None, (20, 200, 255)])
def test_a_failure_takes_nothing_that_an_aggregate_drops(installs: tuple[int, int, int] | None) -> None:
    """Its router sends nothing to what it hears of the same prefix (FRR, bgpd/bgp_zebra.c, bgp_zebra_announce)."""
    wide, inside = StaticRoute(prefix="10.8.0.0/16", next_hop="blackhole"), "10.8.5.0/24"
    far, near = ([port(f"e{n}", f"10.1.{n}.{end}/31") for n in (0, 1)] for end in (0, 1))
    of = fabric(
        router(
            "r1",
            65001,
            far,
            [to("10.1.0.1"), to("10.1.1.1")],
            bgp={"networks": (wide.prefix, "10.9.0.0/24"), "import_check": False},
            static_routes=(wide,),
        ),
        router(
            "r2",
            65002,
            near,
            [to(one, export_prefix_list="GONE") for one in ("10.1.0.0", "10.1.1.0")],
            bgp={
                "networks": (inside,),
                "aggregates": (Aggregate(prefix=wide.prefix),),
                "distances": installs,
                "maximum_paths": 64,
            },
            static_routes=(StaticRoute(prefix=inside, next_hop="blackhole"),),
        ),
        cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1"],
    )
    plane = compute_control_plane(Index(of))
    failures, classes = FailureAnalysis(plane, plane.ipv4), plane.ipv4.world.destinations.prefixes_by_class
    one, both = failures.outcome_without_links(of.links[0]), failures.outcome_without_links(*of.links)
    assert [(row.router, row.hops, row.before, _prefixes(classes, row.bits)) for row in one.weaker] == [
        (1, 1, 2, {"10.9.0.0/24"})
    ]
    assert [(row.router, _prefixes(classes, row.bits)) for row in both.unreachable] == [(1, {"10.9.0.0/24"})]


def _prefixes(classes: Sequence[Sequence[Prefix]], bits: int) -> set[str]:
    """The prefixes of a set of classes."""
    return {str(prefix) for number, members in enumerate(classes) if bits >> number & 1 for prefix in members}


def floating(distance: int, process: dict[str, Any] | None = None, via: str = "blackhole", **said: Any) -> Fabric:
    """The chain, with a static route of the second router to the first block of the first one."""
    route = StaticRoute(prefix=BLOCKS[0], next_hop=via, distance=distance)
    of = chain(None, process, **said)
    devices = [replace_fields(one, static_routes=(route,)) if one.name == "r2" else one for one in of.devices]
    return replace_fields(of, devices=tuple(devices))


@pytest.mark.parametrize(
    ("distance", "process", "used"),
    [
        (1, None, ["discard"]),
        (19, None, ["discard"]),
        (21, None, ["e0"]),
        (254, None, ["e0"]),
        (39, {"distances": (40, 200, 200)}, ["discard"]),
        (41, {"distances": (40, 200, 200)}, ["e0"]),
        (254, {"distances": (255, 200, 200)}, ["discard"]),
    ],
)
def test_the_least_distance_wins(distance: int, process: dict[str, Any] | None, used: list[str]) -> None:
    of = floating(distance, process)
    assert routes(of, "r2")[BLOCKS[0]] == used
    assert routes(of, "r3") == BOTH
    assert compute_control_plane(Index(of)).gaps == ()


def test_a_static_route_steps_in_for_one_of_bgp_unless_its_distance_is_255() -> None:
    assert routes(floating(250), "r2", End("r1", "e0")) == {BLOCKS[0]: ["discard"]}
    assert routes(floating(255), "r2", End("r1", "e0")) == {}
    assert routes(floating(255), "r2") == BOTH


def test_an_aggregate_has_a_distance_of_200() -> None:
    process = {"aggregates": (Aggregate(prefix=BLOCKS[0][:-2] + "23"),)}
    over = StaticRoute(prefix="10.8.1.0/23", next_hop="e1", distance=199)
    below = replace_fields(over, distance=201)
    for route, used in ((over, ["e1"]), (below, ["discard"])):
        of = chain(None, process)
        devices = [replace_fields(one, static_routes=(route,)) if one.name == "r2" else one for one in of.devices]
        assert routes(replace_fields(of, devices=tuple(devices)), "r2")["10.8.0.0/23"] == used


def test_of_static_routes_the_least_distance_wins() -> None:
    ways = tuple(StaticRoute(prefix="10.5.0.0/24", next_hop=way, distance=far) for way, far in (("e0", 9), ("e1", 5)))
    of = replace_fields(
        (found := chain()),
        devices=tuple(replace_fields(one, static_routes=ways) if one.name == "r2" else one for one in found.devices),
    )
    assert routes(of, "r2")["10.5.0.0/24"] == ["e1"]
    assert routes(of, "r2", End("r3", "e0"))["10.5.0.0/24"] == ["e0"]


HEAVY = RouteMap(name="HEAVY", rules=(RouteMapRule(sequence=10, action="permit", sets=(("weight", "40000"),)),))


def over_a_link(distance: int, process: dict[str, Any]) -> Fabric:
    """Return the same fabric, whose static route goes over the other cable of the router."""
    of = floating(distance, process)
    devices = [
        replace_fields(one, static_routes=tuple(replace_fields(row, next_hop="e1") for row in one.static_routes))
        if one.name == "r2"
        else one
        for one in of.devices
    ]
    return replace_fields(of, devices=tuple(devices))


@pytest.mark.parametrize("distance", [20, 250])
@pytest.mark.parametrize(
    "process", [{"networks": (BLOCKS[0],)}, {"redistributions": (Redistribution(source="static"),)}]
)
def test_a_static_route_that_drops_and_is_announced_stays(distance: int, process: dict[str, Any]) -> None:
    """The route of BGP is never better in bgpd, so that zebra never hears of it."""
    of = floating(distance, process)
    assert routes(of, "r2")[BLOCKS[0]] == ["discard"]
    assert compute_control_plane(Index(of)).gaps == ()


def test_it_hangs_on_time_who_wins_at_one_distance_or_where_the_loser_is_announced() -> None:
    ties = "routes of BGP with the distance of static ones"
    once = "static routes that are announced and that BGP may take over from"
    where = ("r2", "@static_routes", BLOCKS[0])
    announced = {"networks": (BLOCKS[0],)}
    told = {"redistributions": (Redistribution(source="static"),)}
    for of, what in (
        (floating(20), ties),
        (floating(1, {"distances": (1, 1, 1)}), ties),
        (over_a_link(250, announced), once),
        (over_a_link(250, told), once),
        (floating(250, announced | {"aggregates": (Aggregate(prefix=BLOCKS[0]),)}), once),
        (floating(250, announced | {"route_maps": (HEAVY,)}), once),
    ):
        assert [(gap.subject, gap.what) for gap in compute_control_plane(Index(of)).gaps] == [(where, what)]
    for process in (announced | {"import_check": False}, {}):
        assert compute_control_plane(Index(floating(250, process))).gaps == ()
    alone = replace_fields(floating(250, told), links=(), devices=floating(250, told).devices[1:])
    assert compute_control_plane(Index(alone)).gaps == ()


@pytest.mark.parametrize(
    ("default", "given", "used"),
    [(None, None, ["e0", "e1"]), (200, None, ["e0", "e1"]), (None, "150", ["e0"]), (200, "150", ["e1"])],
)
def test_routes_to_which_none_is_given_have_the_default_preference(
    default: int | None, given: str | None, used: list[str]
) -> None:
    assert routes(doubly_heard(default, given), "r1")["10.8.0.0/24"] == used


@pytest.mark.parametrize(
    ("mode", "asn", "allowed", "heard"),
    [
        ("prepend", 64999, None, True),
        ("prepend", 65003, None, False),
        ("prepend", 65003, 1, False),
        ("prepend", 65003, 2, True),
        ("no-prepend", 65003, None, False),
        ("no-prepend", 65003, 1, True),
    ],
)
def test_a_path_with_the_local_as_number_is_a_loop(mode: str, asn: int, allowed: int | None, heard: bool) -> None:
    """While its cable to the third is dead, the first router has the third's block over the second, or not at all."""
    said = {"local_asn": asn, "local_asn_mode": mode, "allowas_in": allowed}
    found = routes(ring(said, {"asn": asn}), "r1", End("r3", "e0"))
    assert found.get("10.8.2.0/24") == (["e0"] if heard else None)


@pytest.mark.parametrize(("mode", "ports"), [("prepend", ["e0"]), ("no-prepend", ["e0"]), ("replace-as", ["e0", "e1"])])
def test_announced_paths_begin_with_the_local_as_number(mode: str, ports: list[str]) -> None:
    """The second router hears the third's block directly, and over the first with one number or two before it."""
    far = {"asn": 64999, "weight": 0}
    of = ring({"local_asn": 64999, "local_asn_mode": mode}, far)
    longer = replace_fields(of, devices=tuple(_as_long(one) for one in of.devices))
    assert routes(longer, "r2")["10.8.2.0/24"] == ports


def _as_long(device: Device) -> Device:
    """The third router tells the second a path with its number twice."""
    if device.name != "r3":
        return device
    rule = RouteMapRule(sequence=10, action="permit", sets=(("as-path prepend", "65003"),))
    process = require_fact(device.bgp)
    assert process is not None
    one, other = require_fact(process.neighbors)
    said = {"route_maps": (RouteMap(name="OUT", rules=(rule,)),)}
    return replace_fields(
        device, bgp=replace_fields(process, neighbors=(one, replace_fields(other, export_policy="OUT")), **said)
    )


def test_the_other_end_of_a_session_expects_the_local_as_number() -> None:
    def down(**said: Any) -> list[tuple[str, object, object]]:
        plane = compute_control_plane(Index(ring(said, {"asn": said.pop("far")})))
        return [(one.reason, one.facts["expected"], one.facts["found"]) for one in plane.down]

    assert down(local_asn=64999, far=64999) == down(local_asn=64999, far="external") == []
    assert down(local_asn=64999, far=65001) == [("asn", 65001, 64999)] * 2
    assert down(local_asn=65001, far=65001) == []  # bgpd refuses the own number
    assert [gap.what for gap in compute_control_plane(Index(ring({"local_asn": 65002}, {"asn": 65002}))).gaps] == [
        "a local AS number that is the neighbor's"
    ]


def three_above(meds: tuple[str, str, str], *, always: bool = False) -> Fabric:
    """r1 below three spines with the same block and a MED each, the last two of one AS."""
    spines, sessions = [], []
    for at, (asn, med) in enumerate(zip((65002, 65003, 65003), meds, strict=True)):
        rule = RouteMapRule(sequence=10, action="permit", sets=(("metric", med),))
        own = {
            "router_id": f"10.9.0.{at + 2}",
            "networks": (BLOCKS[0],),
            "import_check": False,
            "route_maps": (RouteMap(name="MED", rules=(rule,)),),
        }
        ports = [port("e0", f"10.1.{at}.1/31")]
        spines.append(router(f"s{at}", asn, ports, [to(f"10.1.{at}.0", export_policy="MED")], bgp=own))
        sessions.append(to(f"10.1.{at}.1"))
    process = {"maximum_paths": 64, "compare_router_id": True, "always_compare_med": always}
    ports = [port(f"e{at}", f"10.1.{at}.0/31") for at in range(3)]
    leaf = router("r1", 65001, ports, sessions, bgp=process)
    return fabric(leaf, *spines, cables=[f"r1 e{at} - s{at} e0" for at in range(3)])


MEDS = [
    (("5", "0", "10"), False, ["e0", "e1", "e2"]),
    (("5", "0", "10"), True, ["e1"]),
    (("0", "0", "10"), True, ["e0", "e1"]),
]


@pytest.mark.parametrize(("meds", "always", "ports"), MEDS)
def test_a_med_is_compared_with_that_of_the_best_route(
    meds: tuple[str, str, str], ports: list[str], *, always: bool
) -> None:
    """The route of s2 is worse than that of s1, and as good as that of s0, which is the best."""
    assert routes(three_above(meds, always=always), "r1") == {BLOCKS[0]: ports}


@pytest.mark.nightly
@pytest.mark.parametrize(("meds", "always"), [row[:2] for row in MEDS])
def test_it_is_compared_so_by_frr(meds: tuple[str, str, str], *, always: bool) -> None:
    needed()
    compare(three_above(meds, always=always), patience_s=60.0)
