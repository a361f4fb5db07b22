"""What a router puts into BGP, and what of it goes to whom."""

from typing import Any

import pytest

from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.fabric import End, Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import Aggregate, CommunityList, Redistribution, RouteMap, RouteMapRule, StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.adverts import IGP, INCOMPLETE
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.prefixes import Prefix
from support.routed_runs import compare
from support.twin_runs import needed
from support.wired_routers import fabric, following, port, router, to

CABLES = ("r1 e0 - r2 e0", "r1 e1 - r3 e0")


def three(*routes: tuple[str, str], **bgp: Any) -> Fabric:
    """r1 between r2 and r3, with static routes: prefix and next hop."""
    statics = tuple(StaticRoute(prefix=one, next_hop=way) for one, way in routes)
    ports = [port("e0", "10.1.0.0/31"), port("e1", "10.1.1.0/31")]
    return fabric(
        router("r1", 65001, ports, [to("10.1.0.1"), to("10.1.1.1")], bgp=bgp, static_routes=statics),
        router("r2", 65002, [port("e0", "10.1.0.1/31")], [to("10.1.0.0")]),
        router("r3", 65003, [port("e0", "10.1.1.1/31")], [to("10.1.1.0")]),
        cables=CABLES,
    )


def learned(plane: ControlPlane, name: str) -> dict[str, tuple[str, ...]]:
    """What a router has from BGP, and over which legs."""
    (number,) = (one.number for one in plane.routers if one.name == name)
    return {
        str(route.prefix): tuple(hop.leg for hop in route.hops)
        for route in plane.ipv4.routes(number)
        if route.source == "bgp"
    }


BLOCK, OTHER = "10.8.0.0/24", "10.8.1.0/24"


def test_a_network_is_announced_while_the_routing_table_has_it() -> None:
    fabric_of_three = three((BLOCK, "blackhole"), networks=(BLOCK, OTHER))
    assert learned(compute_control_plane(Index(fabric_of_three)), "r2") == {BLOCK: ("e0",)}
    unchecked = three((BLOCK, "blackhole"), networks=(BLOCK, OTHER), import_check=False)
    assert learned(compute_control_plane(Index(unchecked)), "r2") == {BLOCK: ("e0",), OTHER: ("e0",)}


def legs_map(*values: str) -> tuple[RouteMap, ...]:
    """A route map that lets pass what goes over some legs."""
    rules = (
        RouteMapRule(sequence=10 * (number + 1), action="permit", matches=(("interface", value),))
        for number, value in enumerate(values)
    )
    return (RouteMap(name="LEGS", rules=tuple(rules)),)


@pytest.mark.parametrize(
    ("legs", "told"),
    [
        (["e1"], {"10.1.1.0/31"}),
        (["e1", "Loopback0"], {"10.1.1.0/31", "10.9.0.1/32"}),
        (["Loopback1"], set()),
        (["Vlan7"], {"10.3.7.0/24"}),
        (["vlan70"], set()),
    ],
)
def test_connected_routes_are_redistributed_by_their_interface(legs: list[str], told: set[str]) -> None:
    given = Redistribution(source="connected", policy="LEGS")
    made = three(redistributions=(given,), route_maps=legs_map(*legs))
    loopback = (Loopback(name="Loopback0", addresses=("10.9.0.1/32",)),)
    vlan = (Vlan(id=7, addresses=("10.3.7.1/24",), members=(VlanMember(interface="e1", tagged=False),)),)
    first = replace_fields(made.devices[0], loopbacks=loopback, vlans=vlan)
    plane = compute_control_plane(Index(replace_fields(made, devices=(first, *made.devices[1:]))))
    assert set(learned(plane, "r2")) == told
    assert plane.gaps == ()


def followed(made: Fabric) -> tuple[set[str] | None, set[str] | None]:
    """Return the legs of the static routes while the link to r3 is dead; None is no route."""
    plane = compute_control_plane(Index(made), frozenset({End("r1", "e1")}))
    routes = [plane.ipv4.non_bgp_routes(0).get(Prefix("ipv4", number, 24)) for number in (0x0A080100, 0x0A080000)]
    found = [None if one is None else {"discard"} if one.discard else {hop.leg for hop in one.hops} for one in routes]
    return found[0], found[1]


def test_a_static_route_follows_another_route_to_its_next_hop() -> None:
    """Over one of BGP or an aggregate, but over no default route (as in FRR)."""
    assert followed(following()) == ({"e0"}, None)
    assert followed(following(told=False)) == (None, None)
    assert followed(following(aggregate=True, connected_check=False)) == ({"e0"}, {"discard"})
    last = three(("0.0.0.0/0", "10.1.0.1"), (BLOCK, "10.1.1.1"))
    plane = compute_control_plane(Index(last), frozenset({End("r1", "e1")}))
    assert Prefix("ipv4", 0x0A080000, 24) not in plane.ipv4.non_bgp_routes(0)


@pytest.mark.parametrize(
    ("session", "follows"),
    [
        ({}, False),
        ({"ebgp_multihop": 1}, False),
        ({"active": False, "evpn": True}, False),
        ({"ebgp_multihop": 2}, True),
        ({"connected_check": False}, True),
        ({"asn": 65001}, True),
        ({"asn": "internal"}, True),
        ({"enabled": False}, True),
        ({"passive": True}, True),
        ({"active": False}, True),
    ],
)
def test_the_address_of_a_neighbor_on_a_link_is_reached_over_no_route_of_bgp(
    session: dict[str, Any], *, follows: bool
) -> None:
    """FRR has zebra watch it so (bgpd/bgp_fsm.c, bgp_peer_reg_with_nht); static routes share what that sees."""
    assert followed(following(aggregate=True, **session)) == ({"e0"}, {"discard"} if follows else None)


def test_a_neighbor_on_a_link_is_reached_over_a_static_route() -> None:
    made = three((BLOCK, "10.1.1.1"), ("10.1.1.0/24", "10.1.0.1"))
    route = compute_control_plane(Index(made), frozenset({End("r1", "e1")})).ipv4.non_bgp_routes(0)[
        Prefix("ipv4", 0x0A080000, 24)
    ]
    assert {hop.leg for hop in route.hops} == {"e0"}


def test_over_which_interface_other_routes_go_is_a_gap() -> None:
    """Of learned and static routes bgpd knows an interface in some cases only."""
    for more in ({"redistributions": (Redistribution(source="static", policy="LEGS"),)}, {"installed_policy": "LEGS"}):
        made = three((BLOCK, "e1"), route_maps=legs_map("e1"), **more)
        assert "interface" in {gap.what for gap in compute_control_plane(Index(made)).gaps}


def test_a_static_route_is_announced_while_its_port_works() -> None:
    """As a network and redistributed, by the port's name and by an address in its subnet.

    r2 refuses what is redistributed with its own address as the next hop.
    """
    dead = frozenset({End("r1", "e1")})
    for way in ("e1", "10.1.1.1"):
        for said, there in (
            ({"networks": (BLOCK, OTHER)}, {OTHER: ("e0",)}),
            ({"redistributions": (Redistribution(source="static"),)}, {}),
        ):
            index = Index(three((BLOCK, way), (OTHER, "10.1.0.1"), **said))
            assert learned(compute_control_plane(index), "r2") == {BLOCK: ("e0",), **there}
            assert learned(compute_control_plane(index, dead), "r2") == there


REDISTRIBUTED = (Redistribution(source="static"),)


@pytest.mark.parametrize(
    ("ways", "refuses"),
    [
        (["10.1.0.1"], ["r2"]),
        (["e0"], []),
        (["10.1.0.1", "10.1.1.1"], ["r2"]),
        (["10.1.0.1", "e1"], []),
        (["10.1.1.1", "e0"], []),
    ],
)
def test_a_neighbor_refuses_a_static_route_with_its_address(ways: list[str], refuses: list[str]) -> None:
    """Of several next hops bgpd gets the first: an interface, else the lowest address."""
    of = three(*((BLOCK, way) for way in ways), redistributions=REDISTRIBUTED)
    plane = compute_control_plane(Index(of))
    assert [name for name in ("r2", "r3") if BLOCK not in learned(plane, name)] == refuses
    assert plane.gaps == ()


def test_a_neighbor_takes_a_static_route_that_is_announced_otherwise() -> None:
    """As a network, with the router's own address as its next hop, or if it was denied and is learned from another."""
    for said in ({"networks": (BLOCK,)}, {"redistributions": ()}):
        of = three((BLOCK, "10.1.0.1"), **({"redistributions": REDISTRIBUTED} | said))
        devices = [
            replace_fields(one, bgp=replace_fields(one.bgp, networks=(BLOCK,), import_check=False))
            if one.name == "r3"
            else one
            for one in of.devices
        ]
        assert BLOCK in learned(compute_control_plane(Index(replace_fields(of, devices=tuple(devices)))), "r2"), said


@pytest.mark.nightly
@pytest.mark.parametrize("ways", [["10.1.0.1"], ["10.1.0.1", "10.1.1.1"], ["10.1.0.1", "e1"]])
def test_frr_refuses_the_same_static_routes(ways: list[str]) -> None:
    needed()
    of = three(*((BLOCK, way) for way in ways), redistributions=REDISTRIBUTED)
    compare(of, after=of.links[:1], patience_s=60.0)


def test_a_failure_takes_the_static_routes_over_the_port_with_it() -> None:
    """As networks and redistributed."""
    for said in ({"networks": (BLOCK, OTHER)}, {"redistributions": (Redistribution(source="static"),)}):
        plane = compute_control_plane(Index(three((BLOCK, "e1"), (OTHER, "e0"), **said)))
        (link,) = (one for one in plane.index.fabric.links if "r3" in (one.a.node, one.b.node))
        lost = {
            (plane.routers[row.router].name, str(one))
            for row in FailureAnalysis(plane, plane.ipv4).outcome_without_links(link).unreachable
            for number, members in enumerate(plane.ipv4.world.destinations.prefixes_by_class)
            for one in members
            if row.bits >> number & 1
        }
        assert lost == {("r2", BLOCK), ("r3", BLOCK), ("r3", OTHER)}, said


def marked(community: str) -> Fabric:
    sets = (("community", community),)
    named = RouteMap(name="MARK", rules=(RouteMapRule(sequence=10, action="permit", sets=sets),))
    said = (Redistribution(source="static", policy="MARK"),)
    return three((BLOCK, "blackhole"), redistributions=said, route_maps=(named,))


def test_what_a_router_marks_for_itself_it_keeps() -> None:
    assert learned(compute_control_plane(Index(marked("65000:1"))), "r2") == {BLOCK: ("e0",)}
    for kept in ("no-export", "no-advertise", "local-AS"):
        assert learned(compute_control_plane(Index(marked(kept))), "r2") == {}, kept


def test_connected_subnets_are_redistributed_without_link_local_ones() -> None:
    index = Index(three(redistributions=(Redistribution(source="connected"),)))
    assert learned(compute_control_plane(index), "r2") == {"10.1.1.0/31": ("e0",)}


def test_a_neighbor_over_an_interface_loses_the_tie_to_one_with_an_address() -> None:
    """Its address is a link-local one: behind those of IPv4 and the others of IPv6."""

    block = StaticRoute(prefix=BLOCK, next_hop="blackhole")
    here, there = [port("e0"), port("e1", "10.1.0.0/31")], [port("e0"), port("e1", "10.1.0.1/31")]
    one = router("r1", 65001, here, [to("e0"), to("10.1.0.1")], bgp={"maximum_paths": 1})
    other = router("r2", 65002, there, [to("e0"), to("10.1.0.0")], bgp={"networks": (BLOCK,)}, static_routes=(block,))
    plane = compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1"])))
    assert learned(plane, "r1") == {BLOCK: ("e1",)}


def test_what_may_be_a_leg_counts_as_there() -> None:
    """A bridge whose VLANs are not known may have the prefix of a network statement."""
    known = three(networks=(OTHER,))
    assert learned(compute_control_plane(Index(known)), "r2") == {}
    one, *others = known.devices
    plane = compute_control_plane(Index(replace_fields(known, devices=(replace_fields(one, vlans=UNKNOWN), *others))))
    assert learned(plane, "r2") == {OTHER: ("e0",)}
    assert [(gap.subject, gap.what) for gap in plane.gaps] == [(("r1",), "device.vlans")]


@pytest.mark.parametrize(
    ("sets", "drained", "origins"),
    [
        ((("local-preference", "200"),), False, {INCOMPLETE}),
        ((("local-preference", "200"),), True, {IGP}),
        ((("local-preference", "50"),), False, {IGP}),
        ((("weight", "40000"),), False, {INCOMPLETE}),
        ((("weight", "40000"),), True, {INCOMPLETE}),
        ((("as-path prepend", "65001"), ("origin", "igp")), False, {IGP}),
        ((), False, {IGP}),
    ],
)
def test_of_a_network_and_a_redistributed_route_the_better_one_is_announced(
    sets: tuple[tuple[str, str], ...], drained: bool, origins: set[int]
) -> None:
    """FRR, bgpd/bgp_route.c, bgp_path_info_cmp: the network is better by its origin, after weight and preference.

    On a drained router no preference of a route map counts.
    """
    rules = (RouteMapRule(sequence=10, action="permit", sets=sets),)
    of = three(
        (BLOCK, "blackhole"),
        networks=(BLOCK,),
        redistributions=(Redistribution(source="static", policy="IN"),),
        route_maps=(RouteMap(name="IN", rules=rules),),
        graceful_shutdown=drained,
    )
    plane = compute_control_plane(Index(of))
    state = plane.ipv4.state
    found = next(one for one in plane.routers if one.name == "r2").number
    assert {entry.attributes.origin for entry in state.table(found).entries} == origins
    assert learned(plane, "r2") == {BLOCK: ("e0",)}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"networks": (BLOCK,)}, {BLOCK}),
        ({"redistributions": (Redistribution(source="static"),)}, {BLOCK}),
        (
            {"networks": (BLOCK,), "aggregates": (Aggregate(prefix="10.8.0.0/16", summary_only=True),)},
            {"10.8.0.0/16"},
        ),
    ],
)
def test_export_policies_see_that_a_drained_router_marks_its_own_routes(more: dict[str, Any], told: set[str]) -> None:
    """FRR, bgpd/bgp_route.c, bgp_static_update and bgp_redistribute_add; bgpd/bgp_attr.c, bgp_attr_aggregate_intern."""
    rules = (RouteMapRule(sequence=10, action="permit", matches=(("community", "SHUT"),)),)
    drained = {
        "community_lists": (CommunityList(name="SHUT", rules=(("permit", ("65535:0",)),)),),
        "route_maps": (RouteMap(name="MARKED", rules=rules),),
    }
    for is_drained in (True, False):
        one, *others = three((BLOCK, "blackhole"), **drained, **more, graceful_shutdown=is_drained).devices
        neighbors = (to("10.1.0.1", export_policy="MARKED"),)
        one = replace_fields(one, bgp=replace_fields(one.bgp, neighbors=neighbors))
        plane = compute_control_plane(Index(fabric(one, *others, cables=CABLES)))
        assert set(learned(plane, "r2")) == (told if is_drained else set())
