"""Sources of sessions, static routes to neighbors and `any` in prefix lists: computed, and run in real FRR."""

from typing import Any, get_args

import pytest

from nodrop.model.fabric import Device, End, Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import (
    LocalAsnMode,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import require_fact
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane
from support.inside_as import pair as pair_of_one_as
from support.routed_runs import compare, different, tables
from support.twin_runs import needed, played
from support.wired_routers import doubly_heard, fabric, following, kept_hop, port, ring, router, to

pytestmark = pytest.mark.nightly
PATIENCE_S = 60.0
BLOCK = "10.8.1.0/24"
Said = dict[str, Any]


def pair(*static: StaticRoute, one: Said | None = None, other: Said | None = None, bgp: Said | None = None) -> Fabric:
    """Two routers with two cables between and a session over the first; r1 announces a block."""
    first = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31"), port("e1", "10.1.2.0/31")],
        [to("10.1.0.1", 65002, **(one or {}))],
        bgp={"networks": (BLOCK,)},
        static_routes=(StaticRoute(prefix=BLOCK, next_hop="blackhole"), *static),
    )
    ports = [port("e0", "10.1.0.1/31"), port("e1", "10.1.2.1/31")]
    second = router("r2", 65002, ports, [to("10.1.0.0", 65001, **(other or {}))], bgp=bgp)
    return fabric(first, second, cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1"])


def source(of: str) -> Said:
    return {"update_source": of}


def listed(*rules: tuple[int, str, str]) -> Said:
    made = tuple(PrefixRule(sequence=at, action=action, prefix=of) for at, action, of in rules)  # type: ignore[arg-type]
    return {"prefix_lists": (PrefixList(name="P", family="ipv4", rules=made),)}


LISTED = {"import_prefix_list": "P"}


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(pair(StaticRoute(prefix="10.1.0.1/32", next_hop="blackhole")), id="a neighbor is dropped"),
        pytest.param(pair(StaticRoute(prefix="10.1.0.1/32", next_hop="e0")), id="it is led over its link"),
        pytest.param(pair(one=source("10.1.2.0"), other=source("10.1.2.1")), id="both from other addresses"),
        pytest.param(pair(one=source("e1"), other=source("e1")), id="both from other ports"),
        pytest.param(pair(one=source("10.1.2.0")), id="one from another address"),
        pytest.param(pair(one=source("10.1.2.0"), other={"passive": True}), id="the other only waits"),
        pytest.param(pair(one=source("e0"), other={"passive": True}), id="from the port of the link"),
        pytest.param(pair(other=LISTED, bgp=listed((5, "deny", "any"), (10, "permit", BLOCK))), id="any is denied"),
        pytest.param(pair(other=LISTED, bgp=listed((5, "permit", "any"))), id="any is permitted"),
    ],
)
def test_sessions_and_routes_are_those_of_frr(made: Fabric) -> None:
    needed()
    compare(made, patience_s=PATIENCE_S)


def test_a_neighbor_led_over_another_link_is_up_in_frr_by_chance_at_most() -> None:
    """It is up if the neighbor calls in time: FRR takes the call, though it does not call itself over such a route."""
    needed()
    made = pair(StaticRoute(prefix="10.1.0.1/32", next_hop="10.1.2.1"))
    computed = tables(compute_control_plane(Index(made)))
    seen, *_ = played(made, frozenset(), computed, (), computed, PATIENCE_S)
    apart = different(computed, seen)
    assert apart in (
        {},
        {
            "r1 session 10.1.0.1": (("session", frozenset({"down"})), ("session", frozenset({"up"}))),
            "r2 session 10.1.0.0": (("session", frozenset({"down"})), ("session", frozenset({"up"}))),
            f"r2 {BLOCK}": (None, ("bgp", frozenset({"e0"}))),
        },
    )


def behind() -> Fabric:
    """r1 and r2 with loopbacks that they redistribute by interface, and a static route of r1 behind that of r2."""
    legs = tuple(
        RouteMapRule(sequence=10 * number, action=action, matches=(("interface", leg),))  # type: ignore[arg-type]
        for number, (leg, action) in enumerate((("e1", "deny"), ("Loopback0", "permit")), 1)
    )
    given = {
        "redistributions": (Redistribution(source="connected", policy="LEGS"),),
        "route_maps": (RouteMap(name="LEGS", rules=legs),),
        "networks": (),
    }
    made = pair(StaticRoute(prefix="10.5.0.0/24", next_hop="10.9.9.2"))
    first, second = (
        replace_fields(one, loopbacks=(Loopback(name="Loopback0", addresses=(f"10.9.9.{number}/32",)),))
        for number, one in enumerate(made.devices, 1)
    )
    devices = [replace_fields(one, bgp=replace_fields(one.bgp, **given)) for one in (first, second)]
    return replace_fields(made, devices=tuple(devices))


def test_static_routes_over_learned_ones_and_redistribution_by_interface_are_those_of_frr() -> None:
    needed()
    compare(behind(), patience_s=PATIENCE_S)


@pytest.mark.parametrize("session", [{}, {"connected_check": False}, {"enabled": False}, {"passive": True}], ids=str)
def test_static_routes_to_a_neighbor_whose_link_is_dead_are_those_of_frr(session: dict[str, Any]) -> None:
    needed()
    made = following(aggregate=True, **session)
    (link,) = (one for one in made.links if one.b == End("r3", "e0"))
    compare(made, (link,), patience_s=PATIENCE_S)


OTHER = "10.8.2.0/24"


@pytest.mark.parametrize("distance", [19, 21, 254, 255])
@pytest.mark.parametrize("distances", [None, (30, 200, 200), (255, 200, 200)], ids=["by default", "30", "255"])
def test_static_routes_go_before_bgp_or_behind_it_by_their_distance(
    distance: int, distances: tuple[int, int, int] | None
) -> None:
    needed()
    static = (
        StaticRoute(prefix=OTHER, next_hop="blackhole", distance=distance),
        StaticRoute(prefix="10.5.0.0/24", next_hop="10.1.2.1", distance=distance),
        StaticRoute(prefix="10.5.0.0/24", next_hop="e0", distance=distance - 1),
    )
    made = pair(*static, bgp={"networks": (OTHER,), "import_check": False})
    first, second = made.devices
    first = replace_fields(first, bgp=replace_fields(first.bgp, distances=distances))
    compare(replace_fields(made, devices=(first, second)), after=(made.links[0],), patience_s=PATIENCE_S)


def shut(*names: str, at: int = 0) -> Fabric:
    """Two routers, of which one has interfaces that its frr.conf shuts, with a loopback and static routes over both."""
    static = [StaticRoute(prefix=f"10.5.{n}.0/24", next_hop=f"10.1.{2 * n}.1") for n in (0, 1)]
    made = pair(*static, one={"update_source": None})
    loopback = Loopback(name="Loopback0", addresses=("10.9.9.1/32",))
    first, second = made.devices
    first = replace_fields(first, loopbacks=(loopback,), bgp=replace_fields(first.bgp, networks=(BLOCK, "10.9.9.1/32")))
    devices = [replace_fields(one, shut_by_daemon=names) if n == at else one for n, one in enumerate((first, second))]
    return replace_fields(made, devices=tuple(devices))


@pytest.mark.parametrize("names", [(), ("e0",), ("e1",), ("e0", "e1"), ("Loopback0",)], ids=str)
def test_interfaces_that_frr_shuts_are_down_at_both_ends(names: tuple[str, ...]) -> None:
    needed()
    compare(shut(*names), patience_s=PATIENCE_S)
    if "Loopback0" not in names:
        compare(shut(*names, at=1), patience_s=PATIENCE_S)


@pytest.mark.parametrize("word", ["peer-address", "unchanged"])
@pytest.mark.parametrize("over", ["10.1.0.", "e0"])
def test_next_hops_that_a_route_map_keeps_on_the_way_in(word: str, over: str) -> None:
    needed()
    rules = (RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", word),)),)
    made = pair(other={"import_policy": "KEEP"}, bgp={"route_maps": (RouteMap(name="KEEP", rules=rules),)})
    if over == "e0":
        made = replace_fields(made, devices=tuple(_is_set_local(one) for one in made.devices))
    compare(made, patience_s=PATIENCE_S)


def _is_set_local(device: Device) -> Device:
    """Have the first port no address, and the session over it."""
    first, *more = device.interfaces
    process = require_fact(device.bgp)
    assert process is not None
    sessions = tuple(replace_fields(one, address=None, interface="e0") for one in require_fact(process.neighbors))
    ports = (replace_fields(first, addresses=(), link_local=True), *more)
    return replace_fields(device, interfaces=ports, bgp=replace_fields(process, neighbors=sessions))


@pytest.mark.parametrize("default", [None, 0, 200])
@pytest.mark.parametrize("given", [None, "150"])
def test_the_default_preference_is_that_of_frr(default: int | None, given: str | None) -> None:
    needed()
    compare(doubly_heard(default, given), patience_s=PATIENCE_S)


@pytest.mark.parametrize("mode", get_args(LocalAsnMode))
@pytest.mark.parametrize(
    ("asn", "far", "more"),
    [
        (64999, 64999, {}),
        (64999, 65001, {}),
        (65003, 65003, {}),
        (65003, 65003, {"allowas_in": 1}),
        (65003, 65003, {"allowas_in": 2}),
        (65001, 65001, {}),
        (64999, 64999, {"asn": "internal"}),
        (65002, 65001, {"asn": 65002}),
        (64999, 64999, {"private_asns": "remove-all"}),
    ],
)
def test_a_local_as_number_is_shown_and_put_into_paths_as_by_frr(asn: int, far: int, more: Said, mode: str) -> None:
    needed()
    of = ring({"local_asn": asn, "local_asn_mode": mode, **more}, {"asn": far}, compare_router_id=True)
    compare(of, patience_s=PATIENCE_S)


@pytest.mark.parametrize("value", ["unchanged", "peer-address"])
@pytest.mark.parametrize("told", [{}, {"export_policy": "OUT"}, {"next_hop_self": True}, {"asn": "internal"}])
def test_a_next_hop_that_a_route_map_keeps_goes_along_as_in_frr(told: Said, value: str) -> None:
    needed()
    compare(kept_hop(told, {}, value, called=True), patience_s=PATIENCE_S)


@pytest.mark.parametrize("is_set", [True, False])
def test_a_route_map_gives_a_route_of_the_own_as_the_address_of_the_neighbor_as_next_hop(*, is_set: bool) -> None:
    """r1 hears from r2 a route with an address of r3 as next hop, which it has no route to."""
    needed()
    rule = RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", "peer-address"),))
    maps = {"route_maps": (RouteMap(name="SET", rules=(rule,)),)}
    peer = {"import_policy": "SET"} if is_set else {}
    compare(pair_of_one_as(peer, up={"enabled": False}, bgp=maps), patience_s=PATIENCE_S)
