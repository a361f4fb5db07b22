"""Sessions over several hops, and what keeps a session of two statements that fit down."""

from typing import Any

import pytest

from nodrop.model.fabric import Device, End, Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor, PrefixList, PrefixRule, RouteMap, RouteMapRule, StaticRoute
from nodrop.model.values import replace_fields
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.gaps import UncomputedPart
from nodrop.routing.prefixes import Prefix
from support.routed_runs import compare
from support.twin_runs import needed
from support.wired_routers import fabric, port, router, to

BLOCK = "10.8.3.0/24"
_RULE = PrefixRule(sequence=5, action="permit", prefix="10.0.0.0/16", le=32)
LOOPBACKS = (PrefixList(name="LOOPBACKS", family="ipv4", rules=(_RULE,)),)
_MATCH = (("ip address prefix-list", "LOOPBACKS"),)
FEW = (RouteMap(name="FEW", rules=(RouteMapRule(sequence=10, action="permit", matches=_MATCH),)),)
"""Over a link only loopbacks are told, so that the block of r3 comes over the session between them."""
OVERLAY: dict[str, Any] = {"active": False, "evpn": True}


def states(plane: ControlPlane) -> dict[str, str]:
    """Return the state of every statement by router and neighbor: `up`, or the reason."""
    found = {f"{down.router.name} {down.neighbor.key}": str(down.reason) for down in plane.down}
    for session in plane.sessions:
        for side in (session.a, session.b):
            found[f"{plane.routers[side.router].name} {side.neighbor.key}"] = "up"
    return found


def loopback(number: int) -> Loopback:
    return Loopback(name="Loopback0", addresses=(f"10.0.0.{number}/32",))


def chain(first: BgpNeighbor, last: BgpNeighbor, *, announced: bool = True, **more: Any) -> Fabric:
    """Three routers in a row, of which the outer two have a session between their loopbacks; r3 has a block.

    `more` has what r1 and r3 are besides: `routes1`, `routes3` and `asn3`. A second cable joins r1 and r2.
    """
    networks = {number: (f"10.0.0.{number}/32",) if announced else () for number in (1, 3)}
    one = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31"), port("e1", "10.1.0.4/31")],
        (to("10.1.0.1"), first),
        bgp={"networks": networks[1], "requires_policy": False},
        loopbacks=(loopback(1),),
        static_routes=more.get("routes1", ()),
    )
    two = router(
        "r2",
        65002,
        [port("e0", "10.1.0.1/31"), port("e1", "10.1.0.2/31"), port("e2", "10.1.0.5/31")],
        (to("10.1.0.0"), to("10.1.0.3", export_policy="FEW")),
        bgp={"requires_policy": False, "route_maps": FEW, "prefix_lists": LOOPBACKS},
    )
    three = router(
        "r3",
        more.get("asn3", 65003),
        [port("e0", "10.1.0.3/31")],
        (to("10.1.0.2", export_policy="FEW"), last),
        bgp={
            "router_id": "10.9.9.3",
            "networks": (*networks[3], BLOCK),
            "import_check": False,
            "requires_policy": False,
            "route_maps": FEW,
            "prefix_lists": LOOPBACKS,
        },
        loopbacks=(loopback(3),),
        static_routes=more.get("routes3", ()),
    )
    return fabric(one, two, three, cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0", "r1 e1 - r2 e2"])


def row(first: BgpNeighbor, last: BgpNeighbor, *, announced: bool = True) -> ControlPlane:
    """Return the control plane of these three."""
    return compute_control_plane(Index(chain(first, last, announced=announced)))


def of_far(plane: ControlPlane) -> tuple[str, str]:
    found = states(plane)
    return found["r1 10.0.0.3"], found["r3 10.0.0.1"]


def far(number: int, **more: Any) -> BgpNeighbor:
    settings = {"asn": "external", "ebgp_multihop": 3, "update_source": "Loopback0", **OVERLAY, **more}
    return to(f"10.0.0.{number}", **settings)


def test_an_overlay_between_loopbacks_is_up_and_carries_no_route() -> None:
    plane = row(far(3), far(1))
    assert of_far(plane) == ("up", "up")
    assert [session.families for session in plane.sessions] == [("ipv4",), ("ipv4",), ()]
    assert plane.gaps == ()


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ({"ebgp_multihop": 2}, {"ebgp_multihop": 2}, "up"),
        ({"ebgp_multihop": 1, "connected_check": False}, {}, "hops"),
        ({"ebgp_multihop": None, "ttl_security_hops": 2}, {"ebgp_multihop": None, "ttl_security_hops": 2}, "unread"),
        ({"ebgp_multihop": None, "ttl_security_hops": 2}, {"ebgp_multihop": 255}, "up"),
        ({"ebgp_multihop": None, "ttl_security_hops": 2}, {"ebgp_multihop": 3}, "hops"),
        ({"ebgp_multihop": None, "ttl_security_hops": 1, "connected_check": False}, {"ebgp_multihop": 255}, "hops"),
        ({"ebgp_multihop": None}, {}, "no-subnet"),
        ({"update_source": None}, {}, "up"),
        ({"update_source": None}, {"update_source": None}, "source"),
        ({"update_source": "10.1.0.0"}, {"update_source": None}, "source"),
        ({"update_source": "10.0.0.1"}, {"update_source": None}, "up"),
        ({"passive": True}, {}, "up"),
        ({"passive": True}, {"update_source": None}, "source"),
        ({"passive": True}, {"passive": True}, "passive"),
        ({"password": "a1b2"}, {"password": "a1b2"}, "up"),
        ({"password": "a1b2"}, {}, "password"),
        ({"enabled": False}, {}, "shutdown"),
        ({"asn": 65009}, {}, "asn"),
    ],
)
def test_what_a_session_over_several_hops_needs(first: dict[str, Any], last: dict[str, Any], expected: str) -> None:
    assert of_far(row(far(3, **first), far(1, **last)))[0] == expected


def by_different_ways(hops: tuple[int | None, int | None]) -> Fabric:
    """A session between the loopbacks of r1 and r3 that sends packets over one link and gets those over r2."""
    ends = []
    for at, (name, far, way, addresses) in enumerate(
        (("r1", 3, "10.1.0.3", ("10.1.0.0", "10.1.0.2")), ("r3", 1, "10.1.0.4", ("10.1.0.5", "10.1.0.3")))
    ):
        own, lines = int(name[1:]), {"ebgp_multihop": hops[at], "connected_check": hops[at] is not None}
        ports = [port(f"e{number}", f"{own_address}/31") for number, own_address in enumerate(addresses)]
        session = to(f"10.0.0.{far}", update_source="Loopback0", **lines)
        part = {"loopbacks": (loopback(own),), "static_routes": (static(far, way),)}
        ends.append(router(name, 65000 + own, ports, [session], bgp={"networks": (f"10.0.0.{own}/32",)}, **part))
    ports = [port("e0", "10.1.0.1/31"), port("e1", "10.1.0.4/31")]
    two = router("r2", 65002, ports, (), static_routes=(static(1, "10.1.0.0"),))
    return fabric(ends[0], two, ends[1], cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0", "r1 e1 - r3 e1"])


@pytest.mark.parametrize(
    ("hops", "expected"), [((None, 2), "up"), ((2, 2), "up"), ((None, None), "hops"), ((2, None), "hops")]
)
def test_packets_of_each_end_need_hops_for_their_own_way(hops: tuple[int | None, int | None], expected: str) -> None:
    assert of_far(compute_control_plane(Index(by_different_ways(hops)))) == (expected, expected)


@pytest.mark.nightly
@pytest.mark.parametrize("hops", [(None, 2), (2, None)])
def test_hops_of_each_end_are_those_of_frr(hops: tuple[int | None, int | None]) -> None:
    needed()
    compare(by_different_ways(hops), patience_s=60.0)


def test_it_needs_a_route_at_both_ends() -> None:
    assert of_far(row(far(3), far(1), announced=False)) == ("no-route", "no-route")


def legs(plane: ControlPlane, name: str = "r1") -> set[str] | None:
    """Return the legs of a router's route to the block of r3; None is no route."""
    (number,) = (router.number for router in plane.routers if router.name == name)
    found = plane.ipv4.route(number, Prefix("ipv4", 0x0A080300, 24))
    return None if found is None else {hop.leg for hop in found.hops}


def static(number: int, hop: str) -> StaticRoute:
    return StaticRoute(prefix=f"10.0.0.{number}/32", next_hop=hop)


CARRYING: dict[str, tuple[Fabric, set[str] | None]] = {
    "to another AS": (chain(far(3, active=True, evpn=False), far(1, active=True, evpn=False)), {"e0"}),
    "inside an AS, whose routers refuse what r2 tells of it": (
        chain(
            far(3, asn="internal", active=True, evpn=False),
            far(1, asn="internal", active=True, evpn=False),
            asn3=65001,
            routes1=(static(3, "10.1.0.1"),),
            routes3=(static(1, "10.1.0.2"),),
        ),
        {"e0"},
    ),
}
"""Fabrics with a session between loopbacks, and the legs over which r1 sends packets to the block of r3."""


@pytest.mark.parametrize(("made", "expected"), CARRYING.values(), ids=CARRYING)
def test_routes_go_over_a_session_between_loopbacks(made: Fabric, expected: set[str] | None) -> None:
    plane = compute_control_plane(Index(made))
    assert of_far(plane) == ("up", "up")
    assert legs(plane) == expected
    assert {gap.what for gap in plane.gaps} <= {"valleys over next hops that are behind other routers"}


def test_one_end_that_carries_no_routes_keeps_them_out() -> None:
    plane = row(far(3, active=True), far(1))
    assert of_far(plane) == ("up", "up")
    assert legs(plane) is None


def test_a_failure_takes_down_a_session_whose_loopback_is_behind_it() -> None:
    made = chain(far(3, active=True), far(1, active=True))
    (link,) = (one for one in made.links if one.a == End("r2", "e1"))
    assert of_far(compute_control_plane(Index(made), frozenset({link.a, link.b}))) == ("no-route", "no-route")
    plane = compute_control_plane(Index(made))
    lost = {
        (one.router, one.bits) for one in FailureAnalysis(plane, plane.ipv4).outcome_without_links(link).unreachable
    }
    number = plane.ipv4.world.destinations.class_of[Prefix("ipv4", 0x0A080300, 24)]
    assert any(router == 0 and bits >> number & 1 for router, bits in lost)


def beside(**more: Any) -> Fabric:
    """r1 and r2 on one link with a session between their loopbacks, each with a static route to the other's."""
    made = []
    for number, other in ((1, 2), (2, 1)):
        session = to(f"10.0.0.{other}", update_source="Loopback0", **more)
        blocks = (BLOCK,) if number == 2 else ()
        made.append(
            router(
                f"r{number}",
                65000 + number,
                [port("e0", f"10.1.0.{number - 1}/31")],
                [session],
                bgp={"networks": blocks, "import_check": False},
                loopbacks=(loopback(number),),
                static_routes=(static(other, f"10.1.0.{other - 1}"),),
            )
        )
    return fabric(*made, cables=["r1 e0 - r2 e0"])


def test_a_static_route_to_a_loopback_on_a_link_does_for_a_session_but_not_for_its_routes() -> None:
    """bgpd counts static routes, zebra follows none without `ebgp-multihop` (FRR, bgpd/bgp_zebra.c)."""
    plane = compute_control_plane(Index(beside()))
    assert set(states(plane).values()) == {"up"}
    assert legs(plane) is None
    for more in ({"ebgp_multihop": 2}, {"connected_check": False}):
        assert legs(compute_control_plane(Index(beside(**more)))) == {"e0"}


def test_each_statement_has_the_session_that_its_own_addresses_name() -> None:
    """Two routers with a session over their link, and one between their loopbacks."""
    made = beside(ebgp_multihop=2)
    devices = [
        replace_fields(device, bgp=replace_fields(device.bgp, neighbors=(to(hop), *device.bgp.neighbors)))
        for device, hop in zip(made.devices, ("10.1.0.1", "10.1.0.0"), strict=True)
    ]
    assert set(states(compute_control_plane(Index(replace_fields(made, devices=tuple(devices))))).values()) == {"up"}


def test_a_session_over_a_default_route_is_a_gap() -> None:
    """Without `ip nht resolve-via-default`, which is not in the model, it stays down."""
    default = StaticRoute(prefix="0.0.0.0/0", next_hop="10.1.0.1")
    made = beside(ebgp_multihop=2)
    first = replace_fields(made.devices[0], static_routes=(default,))
    plane = compute_control_plane(Index(replace_fields(made, devices=(first, made.devices[1]))))
    assert [gap.what for gap in plane.gaps] == ["a session over a default route"]


def twice_told() -> Fabric:
    """Return two routers with a session over their link and one between their loopbacks, over which r2 tells the same.

    That is a default route, and the block that the loopback of r2 is in.
    """
    more = {"ebgp_multihop": 2, "update_source": "Loopback0"}
    first = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31")],
        (to("10.1.0.1"), to("10.0.0.2", **more)),
        bgp={"networks": ("10.0.0.1/32",)},
        loopbacks=(loopback(1),),
    )
    second = router(
        "r2",
        65002,
        [port("e0", "10.1.0.1/31")],
        (to("10.1.0.0", default_originate=True), to("10.0.0.1", default_originate=True, **more)),
        bgp={"networks": ("10.0.0.0/24",), "import_check": False},
        loopbacks=(loopback(2),),
    )
    return fabric(first, second, cables=["r1 e0 - r2 e0"])


def test_a_default_route_over_a_next_hop_does_not_lead_to_that_next_hop() -> None:
    plane = compute_control_plane(Index(twice_told()))
    routes = {str(route.prefix): [hop.leg for hop in route.hops] for route in plane.ipv4.routes(0)}
    assert routes["0.0.0.0/0"] == routes["10.0.0.0/24"] == ["e0"]
    assert set(states(plane).values()) == {"up"}
    assert plane.gaps == ()


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*CARRYING, "twice told", "beside", "beside, several hops", "beside, unchecked"])
def test_they_are_those_of_frr(name: str) -> None:
    needed()
    more = {
        "twice told": twice_told(),
        "beside": beside(),
        "beside, several hops": beside(ebgp_multihop=2),
        "beside, unchecked": beside(connected_check=False),
    }
    made = more[name] if name in more else CARRYING[name][0]
    last = made.links[-1] if name in more else next(one for one in made.links if one.a == End("r2", "e1"))
    compare(made, (), (last,), patience_s=60.0)


def test_an_address_outside_of_what_was_read_is_unknown() -> None:
    found = states(row(to("10.9.9.9", ebgp_multihop=9), far(1)))
    assert found == {"r1 10.1.0.1": "up", "r1 10.9.9.9": "unread", "r2 10.1.0.0": "up", "r2 10.1.0.3": "up"} | {
        "r3 10.1.0.2": "up",
        "r3 10.0.0.1": "missing-there",
    }


@pytest.mark.parametrize("is_carrying", [True, False])
def test_a_session_that_is_not_known_may_bring_the_route_of_another(*, is_carrying: bool) -> None:
    made = chain(far(3), far(1), announced=False)
    unknown = to("10.0.0.9", asn="internal", update_source="Loopback0", **({} if is_carrying else OVERLAY))
    bgp = made.devices[0].bgp
    first = replace_fields(made.devices[0], bgp=replace_fields(bgp, neighbors=(*bgp.neighbors, unknown)))
    plane = compute_control_plane(Index(replace_fields(made, devices=(first, *made.devices[1:]))))
    assert states(plane)["r1 10.0.0.9"] == "unread"
    assert of_far(plane) == (("unread", "unread") if is_carrying else ("no-route", "no-route"))
    gap = UncomputedPart(("r1", "@neighbors", "10.0.0.9"), "sessions over several hops")
    assert (gap in plane.gaps) is is_carrying


def pair(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    first = router("r1", 65001, [port("e0", "10.1.0.0/31")], (to("10.1.0.1", **one),))
    second = router("r2", 65002, [port("e0", "10.1.0.1/31")], (to("10.1.0.0", **other),))
    return set(states(compute_control_plane(Index(fabric(first, second, cables=["r1 e0 - r2 e0"])))).values())


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({}, {}, "up"),
        ({"passive": True}, {}, "up"),
        ({"passive": True}, {"passive": True}, "passive"),
        ({"ttl_security_hops": 1}, {}, "hops"),
        ({"ttl_security_hops": 254}, {}, "hops"),
        ({"ttl_security_hops": 254}, {"ebgp_multihop": 2}, "up"),
        ({"ttl_security_hops": 1}, {"ebgp_multihop": 255}, "up"),
        ({"ttl_security_hops": 1}, {"ttl_security_hops": 1}, "up"),
        ({"password": "a1b2"}, {"password": "a1b3"}, "password"),
        ({"password": "a1b2"}, {"password": "a1b2"}, "up"),
        ({"connected_check": False}, {}, "up"),
        ({"active": False}, {"active": False}, "families"),
        (OVERLAY, OVERLAY, "up"),
        (OVERLAY, {"active": False}, "families"),
    ],
)
def test_what_a_session_over_a_link_needs(one: dict[str, Any], other: dict[str, Any], expected: str) -> None:
    assert pair(one, other) == {expected}
    assert pair(other, one) == {expected}


def test_routes_that_follow_each_other_are_a_gap() -> None:
    """Each of two blocks has the next hop of the other in it: which port they go over hangs on which came first."""

    def end(number: int, other: int, ports: list[str], hop: str, over: str) -> Device:
        return router(
            f"r{number}",
            65000 + number,
            [port(f"e{at}", prefix) for at, prefix in enumerate(ports)],
            [to("10.0.0.1", ebgp_multihop=5, update_source="Loopback0")],
            bgp={"networks": (f"10.{other}.0.0/24",), "import_check": False, "requires_policy": False},
            loopbacks=(Loopback(name="Loopback0", addresses=(f"10.{number}.0.{number}/32",)),),
            static_routes=(static(1, hop), StaticRoute(prefix=f"10.{other}.0.0/16", next_hop=over)),
        )

    first = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31"), port("e1", "10.1.0.2/31")],
        [to(f"10.{number}.0.{number}", ebgp_multihop=5, update_source="Loopback0") for number in (2, 3)],
        bgp={"requires_policy": False},
        loopbacks=(loopback(1),),
        static_routes=[
            StaticRoute(prefix=f"10.{number}.0.0/16", next_hop=hop)
            for number, hop in ((2, "10.1.0.1"), (3, "10.1.0.3"))
        ],
    )
    second = end(2, 3, ["10.1.0.1/31", "10.1.0.4/31"], "10.1.0.0", "10.1.0.5")
    third = end(3, 2, ["10.1.0.3/31", "10.1.0.5/31"], "10.1.0.2", "10.1.0.4")
    plane = compute_control_plane(
        Index(fabric(first, second, third, cables=["r1 e0 - r2 e0", "r1 e1 - r3 e0", "r2 e1 - r3 e1"]))
    )
    assert set(states(plane).values()) == {"up"}
    assert ("r1", "routes over next hops that lead to one another") in {
        (gap.subject[0], gap.what) for gap in plane.gaps
    }
