"""What is not computed is said, where it is."""

from typing import Any

import pytest

from nodrop.model.bridging import PortChannel
from nodrop.model.fabric import Device, End
from nodrop.model.index import Index
from nodrop.model.routing import (
    BgpNeighbor,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import Subject
from nodrop.routing import ControlPlane, compute_control_plane
from support.wired_routers import fabric, kept_hop, port, ring, router, to


def gaps(neighbors: Any = (), far: int = 65002, *routes: StaticRoute, **bgp: Any) -> set[tuple[Subject, str]]:
    """Those of a router with a neighbor; what its process says else is in `bgp`."""
    one = router(
        "r1", 65001, [port("e0", "10.1.0.0/31")], neighbors or [to("10.1.0.1", far)], bgp=bgp, static_routes=routes
    )
    other = router("r2", far, [port("e0", "10.1.0.1/31")], [to("10.1.0.0", 65001)])
    return {
        (gap.subject, gap.what)
        for gap in compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0"]))).gaps
    }


def test_there_are_none_where_all_is_computed() -> None:
    routes = StaticRoute(prefix="10.8.0.0/24", next_hop="blackhole"), StaticRoute(prefix="10.8.1.0/24", next_hop="e0")
    assert gaps((), 65002, *routes, redistributions=(Redistribution(source="static"),)) == set()


def test_bgp_that_is_not_known() -> None:
    alone = Device(name="r1", platform="sonic", bgp=UNKNOWN)
    assert {(gap.subject, gap.what) for gap in compute_control_plane(Index(fabric(alone))).gaps} == {
        (("r1",), "device.bgp")
    }


def test_routes_between_routers_of_one_as_are_computed() -> None:
    assert gaps((), 65001) == set()


def test_words_of_route_maps() -> None:
    rules = (RouteMapRule(sequence=10, action="permit", matches=(("interface", "e0"),), sets=(("src", "10.0.0.1"),)),)
    found = gaps(route_maps=(RouteMap(name="IN", rules=rules),))
    where = ("r1", "@bgp", "route_maps", "IN", "10")
    assert found == {(where, "interface")}

    peers = (RouteMapRule(sequence=10, action="permit", matches=(("peer", "10.1.0.1"),)),)
    imports = {"route_maps": (RouteMap(name="IN", rules=peers),)}
    assert gaps([to("10.1.0.1", 65002, import_policy="IN")], **imports) == set()
    assert gaps([to("10.1.0.1", 65002, export_policy="IN")], **imports) == {(where, "peer")}


def test_a_neighbor_that_is_matched_by_its_interface_is_not_computed() -> None:
    """FRR 8.4 matches it only as a member of a peer group."""
    rules = (RouteMapRule(sequence=10, action="permit", matches=(("peer", "e0"),)),)
    unnumbered = BgpNeighbor(interface="e0", remote_asn="external", import_policy="IN")
    found = gaps([unnumbered], route_maps=(RouteMap(name="IN", rules=rules),))
    assert (("r1", "@bgp", "route_maps", "IN", "10"), "peer") in found


@pytest.mark.parametrize(
    ("value", "asn", "used", "more", "is_computed"),
    [
        ("unchanged", 65002, "import_policy", {}, True),
        ("peer-address", 65002, "import_policy", {}, True),
        ("peer-address", "external", "import_policy", {}, True),
        ("peer-address", "internal", "import_policy", {}, True),
        ("unchanged", "internal", "import_policy", {}, True),
        ("peer-address", 65002, "import_prefix_list", {}, True),
        ("unchanged", 65002, "export_policy", {}, False),
        ("peer-address", 65002, "export_policy", {}, True),
        ("10.1.0.1", 65002, "import_policy", {}, True),
        ("10.1.0.1", 65001, "import_policy", {}, True),
        ("10.1.0.1", 65002, "export_policy", {}, True),
        ("10.1.0.1", 65002, "", {"redistributions": (Redistribution(source="connected", policy="M"),)}, False),
        ("127.0.0.1", 65002, "import_policy", {}, False),
        (
            "unchanged",
            65002,
            "import_policy",
            {"redistributions": (Redistribution(source="static", policy="M"),)},
            False,
        ),
        ("unchanged", 65002, "", {"redistributions": (Redistribution(source="connected", policy="M"),)}, True),
        ("peer-address", 65002, "", {"redistributions": (Redistribution(source="static", policy="M"),)}, True),
        ("unchanged", 65002, "", {"installed_policy": "M"}, False),
    ],
)
def test_a_next_hop_that_a_route_map_keeps(
    value: str, asn: int | str, used: str, more: dict[str, Any], is_computed: bool
) -> None:
    rules = (RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", value),)),)
    neighbor = to("10.1.0.1", asn, **({used: "M"} if used else {}))
    found = gaps([neighbor], route_maps=(RouteMap(name="M", rules=rules),), **more)
    assert found == (set() if is_computed else {(("r1", "@bgp", "route_maps", "M", "10"), "ip next-hop")})


@pytest.mark.parametrize(
    ("told", "far", "is_computed"),
    [
        ({}, {}, True),
        ({}, {"connected_check": False}, False),
        ({}, {"maximum_prefix": 9}, False),
        ({"export_policy": "OUT"}, {"connected_check": False}, True),
        ({"asn": "internal"}, {}, True),
        ({"asn": "internal", "next_hop_self": True}, {}, False),
    ],
)
def test_next_hops_that_a_route_map_keeps_are_computed_where_a_neighbor_has_no_use_for_them(
    told: dict[str, Any], far: dict[str, Any], *, is_computed: bool
) -> None:
    gaps = compute_control_plane(Index(kept_hop(told, far))).gaps
    expected = set() if is_computed else {(("r2", "@neighbors", "10.2.0.1"), "next hops that a route map keeps")}
    assert {(gap.subject, gap.what) for gap in gaps} == expected


@pytest.mark.parametrize(("source", "is_own"), [("10.1.0.0", True), ("10.1.0.1", False), ("fd00::1", False)])
def test_the_source_of_packets_is_an_address_of_the_router(source: str, is_own: bool) -> None:
    rules = (RouteMapRule(sequence=10, action="permit", sets=(("src", source),)),)
    found = gaps(route_maps=(RouteMap(name="SRC", rules=rules),), installed_policy="SRC")
    what = ("r1", "@bgp", "route_maps", "SRC", "10"), "set src of an address that the switch does not have"
    assert found == (set() if is_own else {what})


def test_sessions_over_several_hops() -> None:
    far = to("10.9.0.2", 65002, ebgp_multihop=2)
    what = (("r1", "@neighbors", "10.9.0.2"), "sessions over several hops")
    assert gaps([to("10.1.0.1", 65002), far]) == {what}


def test_a_session_over_an_interface_without_ports_may_go_over_others() -> None:
    """One that may go over several hops, to an address in the subnet of a port channel that has no member."""
    for more, expected in (({"ebgp_multihop": 2}, {"sessions over several hops"}), ({}, set())):
        first = router(
            "r1",
            65001,
            [port("e0", "10.1.0.0/31")],
            [to("10.9.0.1", 65002, **more)],
            port_channels=(PortChannel(name="PortChannel1", addresses=("10.9.0.0/31",)),),
        )
        assert {gap.what for gap in compute_control_plane(Index(fabric(first, cables=[]))).gaps} == expected


def one_cable(first: dict[str, Any], *, dead: bool) -> ControlPlane:
    """Two routers on a cable, of which the first hears of a block around the second from a third."""
    one = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31"), port("e1", "10.2.0.0/31")],
        [to("10.1.0.1", **first), to("10.2.0.1")],
        static_routes=(StaticRoute(prefix="10.8.0.0/24", next_hop="10.1.0.1"),),
    )
    other = router("r2", 65002, [port("e0", "10.1.0.1/31")], [to("10.1.0.0", ebgp_multihop=255)])
    block = {"networks": ("10.0.0.0/8",), "import_check": False}
    third = router("r3", 65003, [port("e0", "10.2.0.1/31")], [to("10.2.0.0")], bgp=block)
    index = Index(fabric(one, other, third, cables=["r1 e0 - r2 e0", "r1 e1 - r3 e0"]))
    return compute_control_plane(index, frozenset({End("r1", "e0"), End("r2", "e0")}) if dead else frozenset())


def test_a_session_over_several_hops_whose_link_is_dead_is_down_without_routes() -> None:
    """r1 has a way to r2, and r2 has none back."""
    assert one_cable({"ebgp_multihop": 255}, dead=True).gaps == ()


def test_static_routes_to_a_neighbor_with_ttl_security() -> None:
    """A peer group with that line before its members binds them to the link, and the model has no groups."""
    what = (("r1", "@static_routes", "10.8.0.0/24"), "static routes to a neighbor with TTL security")
    for hops in (1, 2):
        assert what in one_cable({"ttl_security_hops": hops}, dead=True).gaps
    for first, dead in (({"ttl_security_hops": 2}, False), ({"ttl_security_hops": 1}, False), ({}, True)):
        assert what not in one_cable(first, dead=dead).gaps, first


@pytest.mark.parametrize(
    ("neighbor", "is_unsettled"),
    [
        (to("10.1.0.1", "internal", local_asn=65002, local_asn_of_group=True), True),
        (to("10.1.0.1", 65001, local_asn=65002, local_asn_of_group=True), True),
        (to("10.1.0.1", "internal", local_asn=65001, local_asn_of_group=True), False),
        (to("10.1.0.1", "internal"), False),
    ],
)
def test_a_local_as_number_for_a_neighbor_of_the_own_as(neighbor: BgpNeighbor, *, is_unsettled: bool) -> None:
    """FRR refuses it at the neighbor, and may take it in a peer group that has it before its members."""
    one = router("r1", 65001, [port("e0", "10.1.0.0/31")], [neighbor])
    other = router(
        "r2",
        65001,
        [port("e0", "10.1.0.1/31")],
        [to("10.1.0.0", 65002 if is_unsettled else "internal")],
        bgp={"router_id": "10.9.0.2"},
    )
    plane = compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0"])))
    what = "a local AS number that FRR may have refused"
    expected = {(("r1", "@neighbors", "10.1.0.1"), what), (("r2", "@neighbors", "10.1.0.0"), what)}
    assert {(gap.subject, gap.what) for gap in plane.gaps} == (expected if is_unsettled else set())
    assert {down.reason for down in plane.down} == ({"unread"} if is_unsettled else set())


def test_a_local_as_number_that_the_session_itself_states_is_refused() -> None:
    """So the session is one inside the AS for its end, while the other end expects the local AS number."""
    one = router("r1", 65001, [port("e0", "10.1.0.0/31")], [to("10.1.0.1", "internal", local_asn=65002)])
    other = router("r2", 65001, [port("e0", "10.1.0.1/31")], [to("10.1.0.0", 65002)], bgp={"router_id": "10.9.0.2"})
    plane = compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0"])))
    assert plane.gaps == ()
    assert [(down.reason, down.facts["expected"], down.facts["found"]) for down in plane.down] == [
        ("asn", 65002, 65001)
    ] * 2


def test_routes_of_the_kernel() -> None:
    what = (("r1", "@bgp", "redistributions", "ipv4-kernel"), "routes of the kernel")
    assert gaps(redistributions=(Redistribution(source="kernel"),)) == {what}


@pytest.mark.parametrize(("default_policy", "is_unknown"), [("IF", True), ("NONE", False), (None, False)])
def test_default_originate_asks_its_route_map_about_learned_routes_that_are_not_used(
    default_policy: str | None, *, is_unknown: bool
) -> None:
    """Whether it has been asked since they came hangs on other routes that change."""
    hop = RouteMapRule(sequence=10, action="permit", sets=(("ip next-hop", "192.0.2.1"),))
    maps = (
        RouteMap(name="HOP", rules=(hop,)),
        RouteMap(name="IF", rules=(RouteMapRule(sequence=10, action="permit"),)),
        RouteMap(name="NONE", rules=(RouteMapRule(sequence=10, action="deny"),)),
    )
    far = to("10.1.0.1", 65002, import_policy="HOP", default_originate=True, default_policy=default_policy)
    one = router("r1", 65001, [port("e0", "10.1.0.0/31")], [far], bgp={"route_maps": maps})
    blocks = {"networks": ("10.8.0.0/24",), "import_check": False}
    other = router("r2", 65002, [port("e0", "10.1.0.1/31")], [to("10.1.0.0", 65001)], bgp=blocks)
    found = compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0"]))).gaps
    what = "default-originate with a route map, beside learned routes that are not used"
    assert {gap.what for gap in found} == ({what} if is_unknown else set())


def test_static_routes_that_are_not_followed() -> None:
    """One whose next hop is behind another route, and one that is told to its own next hop."""
    over = StaticRoute(prefix="10.8.0.0/24", next_hop="10.7.7.7")
    assert gaps((), 65002, over) == set()
    found = gaps((), 65002, over, networks=("10.8.0.0/24",))
    assert found == {(("r1", "@static_routes", "10.8.0.0/24"), "next hops behind other routes")}
    there, given = StaticRoute(prefix="10.8.0.0/24", next_hop="10.1.0.1"), (Redistribution(source="static"),)
    assert gaps((), 65002, there, redistributions=given) == set()
    what = "static routes to a neighbor, beside routes that weigh as much as own ones"
    found = gaps([to("10.1.0.1", 65002, weight=32768)], 65002, there, redistributions=given)
    assert found == {(("r1", "@bgp", "redistributions", "ipv4-static"), what)}
    assert gaps([to("10.1.0.1", 65002, weight=32767)], 65002, there, redistributions=given) == set()


IPV6, BOTH_FAMILIES = ["fd01::{}/127"], ["fd01::{}/127", "10.1.0.{}/31"]
WHAT = "IPv4 over IPv6 without extended next hops"
BETWEEN = (("r1", "@neighbors", "fd01::1"), WHAT)


def over_ipv6(
    addresses: list[str], own: dict[str, Any], far: dict[str, Any], *more: tuple[Any, Any], asn: int = 65002
) -> Any:
    """The gaps of two routers with a session of IPv4 between IPv6 addresses, and whether that is up."""
    pairs = [(to("fd01::1", **own), to("fd01::", **far)), *more]
    r1, r2 = (
        router(
            f"r{n + 1}",
            (65001, asn)[n],
            [port("e0", *(one.format(n) for one in addresses))],
            [one[n] for one in pairs],
            bgp={"router_id": f"10.9.0.{n + 1}"},
        )
        for n in (0, 1)
    )
    plane = compute_control_plane(Index(fabric(r1, r2, cables=["r1 e0 - r2 e0"])))
    up = {side.neighbor.key for one in plane.sessions for side in (one.a, one.b)}
    return {(gap.subject, gap.what) for gap in plane.gaps}, "fd01::1" in up


@pytest.mark.parametrize("ours", [{"extended_next_hop": True}, {}])
def test_ipv4_over_ipv6_where_an_end_may_use_next_hops_of_ipv4(ours: dict[str, Any]) -> None:
    """The next hop is the sender's address, else its router id (FRR, bgpd/bgp_zebra.c, bgp_zebra_nexthop_set)."""
    assert over_ipv6(IPV6, {**ours, "ebgp_multihop": 2}, {}) == ({BETWEEN}, True)
    assert over_ipv6(IPV6, ours, {"connected_check": False}) == ({BETWEEN}, True)
    assert over_ipv6(BOTH_FAMILIES, ours, {}) == ({BETWEEN}, True)
    assert over_ipv6(IPV6, ours, {})[0] == set()  # no router id is in a subnet of the other end
    assert over_ipv6(IPV6, ours, {"maximum_prefix": 1}) == ({BETWEEN}, True)  # bgpd counts routes that it cannot use
    assert over_ipv6(IPV6, {"extended_next_hop": True, "ebgp_multihop": 2}, {"extended_next_hop": True}) == (
        set(),
        True,
    )
    assert over_ipv6(IPV6, {**ours, "ebgp_multihop": 2}, {"active": False})[0] == set()
    inside = {"asn": "internal"}  # such a neighbor's next hops need be in no subnet
    assert over_ipv6(IPV6, {**ours, **inside}, inside, asn=65001) == ({BETWEEN}, True)


def test_ipv4_over_ipv6_beside_a_session_that_carries_the_same() -> None:
    beside = to("10.1.0.1"), to("10.1.0.0")
    assert over_ipv6(BOTH_FAMILIES, {}, {}, beside) == (set(), True)
    assert over_ipv6(BOTH_FAMILIES, {"weight": 7}, {}, beside) == ({BETWEEN}, True)


@pytest.mark.parametrize(("one", "other"), [(True, True), (True, False), (False, True)])
def test_withdrawn_routes_that_may_go_round_for_ever(*, one: bool, other: bool) -> None:
    """Each of two routers puts its AS number in the place of the other's, which then finds its own in no path."""
    plane = compute_control_plane(Index(ring({"as_override": one}, {"as_override": other})))
    what = "AS numbers that routers override for one another"
    ends = {(("r1", "@neighbors", "10.1.0.1"), what), (("r2", "@neighbors", "10.1.0.0"), what)}
    assert {(gap.subject, gap.what) for gap in plane.gaps} == (ends if one and other else set())
