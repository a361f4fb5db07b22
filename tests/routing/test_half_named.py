"""Sessions whose ends name addresses of one another that are not on one link, and routers of an AS with one id."""

from typing import Any

import pytest

from nodrop.model.fabric import End, Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import RouteMap, RouteMapRule, StaticRoute
from nodrop.model.states import require_fact
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from support.routed_runs import compare, tables
from support.twin_runs import needed, played
from support.wired_routers import fabric, port, router, to

Said = dict[str, Any]
INSIDE: Said = {"asn": "internal"}
FROM_LOOPBACK: Said = {"update_source": "Loopback0"}
FIRST, SECOND = ("10.1.0.1",), ("10.1.0.3",)
"""The next hops of static routes over the first of two cables, and over the second."""


def loopback(number: int) -> Loopback:
    return Loopback(name="Loopback0", addresses=(f"10.0.0.{number}/32",))


def half(one: Said, other: Said, asn: int = 65001, over: tuple[str, ...] = FIRST) -> Fabric:
    """Return two routers with two cables: r1 names r2's loopback, to which it has static routes.

    r2 names r1's address on the first cable. r1 has a block.
    """
    first = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31"), port("e1", "10.1.0.2/31")],
        [to("10.0.0.2", **one)],
        bgp={"networks": ("10.8.1.0/24",), "import_check": False},
        loopbacks=(loopback(1),),
        static_routes=tuple(StaticRoute(prefix="10.0.0.2/32", next_hop=hop) for hop in over),
    )
    second = router(
        "r2",
        asn,
        [port("e0", "10.1.0.1/31"), port("e1", "10.1.0.3/31")],
        [to("10.1.0.0", **other)],
        bgp={"router_id": "10.9.9.2"},
        loopbacks=(loopback(2),),
    )
    return fabric(first, second, cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1"])


HALVES: dict[str, tuple[Fabric, str]] = {
    "r1 opens it from the cable": (half(INSIDE, INSIDE), "up"),
    "r1 only waits": (half({**INSIDE, "passive": True}, INSIDE), "missing-there"),
    "r2 opens it from its loopback": (half({**INSIDE, "passive": True}, {**INSIDE, **FROM_LOOPBACK}), "up"),
    "r1 opens it from its loopback": (half({**INSIDE, **FROM_LOOPBACK}, INSIDE), "missing-there"),
    "r1 opens it from the other cable": (half(INSIDE, INSIDE, over=SECOND), "missing-there"),
    "to another AS": (half({}, {}, 65002), "up"),
    "to another AS, over several hops": (half({"ebgp_multihop": 2}, {}, 65002), "up"),
    "unlike passwords": (half({**INSIDE, "password": "a1b2"}, INSIDE), "password"),
}
"""Fabrics, and what becomes of the statement of r1."""


def state_of(made: Fabric, name: str = "r1") -> str:
    """Return the state of the only statement of a router: `up`, or the reason."""
    plane = compute_control_plane(Index(made))
    return next((str(down.reason) for down in plane.down if down.router.name == name), "up")


@pytest.mark.parametrize("name", HALVES)
def test_ends_may_name_addresses_that_are_not_on_one_link(name: str) -> None:
    made, expected = HALVES[name]
    assert (state_of(made), state_of(made, "r2")) == (expected, expected)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in HALVES if name != "unlike passwords"])
def test_such_sessions_are_those_of_frr(name: str) -> None:
    """A session that is down is looked at again until no end would try it another time."""
    needed()
    made, expected = HALVES[name]
    if expected == "up":
        compare(made, patience_s=60.0)
    else:
        assert not rises(made)


def rises(made: Fabric) -> bool:
    """Return whether the session of r1 comes up within 30 s in FRR, whose daemons try every 10 s."""
    up = {"r1": {"session 10.0.0.2": ("session", frozenset({"up"}))}}
    (seen,) = played(made, frozenset(), up, (), up, 30.0)
    return any(row == ("session", frozenset({"up"})) for row in seen["r1"].values())


def test_equal_paths_leave_open_from_where_a_session_is_opened() -> None:
    """The kernel takes one of the two cables by a hash, and r2 knows r1 by its address on the first."""
    made = half(INSIDE, INSIDE, over=(*FIRST, *SECOND))
    plane = compute_control_plane(Index(made))
    assert {(down.router.name, down.reason, down.facts["missing"]) for down in plane.down} == {
        ("r1", "unread", "neighbor.update_source"),
        ("r2", "unread", "neighbor.update_source"),
    }
    assert [gap.what for gap in plane.gaps] == ["sessions over several hops"]
    assert state_of(half(INSIDE, {**INSIDE, **FROM_LOOPBACK}, over=(*FIRST, *SECOND))) == "up"


def test_a_statement_to_a_link_is_not_about_the_session_between_loopbacks() -> None:
    """r2 names r1 on the link too, and r1 has only the session between the loopbacks."""
    made = half({"ebgp_multihop": 2, **FROM_LOOPBACK}, {}, 65002)
    first, second = made.devices
    bgp = require_fact(second.bgp)
    assert bgp is not None
    more = to("10.0.0.1", ebgp_multihop=2, **FROM_LOOPBACK)
    back = StaticRoute(prefix="10.0.0.1/32", next_hop="10.1.0.0")
    both = replace_fields(
        second, bgp=replace_fields(bgp, neighbors=(*require_fact(bgp.neighbors), more)), static_routes=(back,)
    )
    plane = compute_control_plane(Index(replace_fields(made, devices=(first, both))))
    assert [(down.router.name, down.neighbor.key, down.reason) for down in plane.down] == [
        ("r2", "10.1.0.0", "missing-there")
    ]
    assert len(plane.sessions) == 1


def sourced(*routers_with_source: int) -> Fabric:
    """Return two routers that learn one another's loopbacks over their link, with a session between these.

    No statement has an update source; these routers give the routes of BGP their loopback as the source of packets.
    """
    made = []
    for number, other in ((1, 2), (2, 1)):
        rule = RouteMapRule(sequence=10, action="permit", sets=(("src", f"10.0.0.{number}"),))
        process: Said = {
            "networks": (f"10.0.0.{number}/32",),
            "route_maps": (RouteMap(name="SRC", rules=(rule,)),),
            "installed_policy": "SRC" if number in routers_with_source else None,
        }
        ports = [port("e0", f"10.1.0.{number - 1}/31")]
        sessions = [to(f"10.1.0.{other - 1}"), to(f"10.0.0.{other}", ebgp_multihop=2)]
        made.append(router(f"r{number}", 65000 + number, ports, sessions, bgp=process, loopbacks=(loopback(number),)))
    return fabric(*made, cables=["r1 e0 - r2 e0"])


@pytest.mark.parametrize(
    ("source", "with_route", "expected"),
    [
        ({}, (1, 2), "unread"),
        (FROM_LOOPBACK, (1, 2), "up"),
        ({}, (2,), "unread"),
        (FROM_LOOPBACK, (2,), "no-route"),
    ],
)
def test_a_connection_that_may_take_the_place_of_a_link_session_is_unknown(
    source: Said, with_route: tuple[int, ...], expected: str
) -> None:
    """FRR gives r2's connection from its link address to r1's statement of that address, if it comes first.

    That needs no route of r1 to r2's loopback.
    """
    statics = {1: "10.1.0.1", 2: "10.1.0.0"}
    made = []
    for number, other in ((1, 2), (2, 1)):
        more = FROM_LOOPBACK if number == 1 else source
        sessions = [to(f"10.1.0.{other - 1}"), to(f"10.0.0.{other}", ebgp_multihop=2, **more)]
        ports = [port("e0", f"10.1.0.{number - 1}/31")]
        plain = router(f"r{number}", 65000 + number, ports, sessions, loopbacks=(loopback(number),))
        way = StaticRoute(prefix=f"10.0.0.{other}/32", next_hop=statics[number])
        made.append(replace_fields(plain, static_routes=(way,) if number in with_route else ()))
    joined = fabric(*made, cables=["r1 e0 - r2 e0"])
    assert (state_of(joined), state_of(joined, "r2")) == (expected, expected)


@pytest.mark.parametrize(("sources", "expected"), [((1, 2), "up"), ((2,), "up"), ((), "source")])
def test_set_src_is_where_sessions_are_opened_from(sources: tuple[int, ...], expected: str) -> None:
    assert state_of(sourced(*sources)) == expected


@pytest.mark.nightly
@pytest.mark.parametrize("sources", [(1, 2), (2,)])
def test_sessions_opened_from_the_source_of_routes_are_those_of_frr(sources: tuple[int, ...]) -> None:
    needed()
    compare(sourced(*sources), patience_s=60.0)


def alike(asn: int, router_id: str | None = "10.9.0.1") -> Fabric:
    """Return two routers with a session over their link, of which the first has the router id 10.9.0.1."""
    asks = "internal" if asn == 65001 else "external"
    first = router("r1", 65001, [port("e0", "10.1.0.0/31")], [to("10.1.0.1", asks)])
    second = router("r2", asn, [port("e0", "10.1.0.1/31")], [to("10.1.0.0", asks)], bgp={"router_id": router_id})
    return fabric(first, second, cables=["r1 e0 - r2 e0"])


@pytest.mark.parametrize(
    ("asn", "router_id", "expected"),
    [(65001, "10.9.0.1", "router-id"), (65001, "10.9.0.2", "up"), (65001, None, "up"), (65002, "10.9.0.1", "up")],
)
def test_one_router_id_twice_keeps_a_session_down_inside_an_as(asn: int, router_id: str | None, expected: str) -> None:
    assert state_of(alike(asn, router_id)) == expected


@pytest.mark.nightly
@pytest.mark.parametrize("asn", [65001, 65002])
def test_sessions_of_routers_with_one_id_are_those_of_frr(asn: int) -> None:
    needed()
    made = alike(asn)
    up = {"r1": {"session 10.1.0.1": ("session", frozenset({"up"}))}}
    (seen,) = played(made, frozenset(), up, (), up, 25.0)
    assert seen["r1"]["session 10.1.0.1"] == tables(compute_control_plane(Index(made)))["r1"]["session 10.1.0.1"]


def around(hops: int = 3) -> Fabric:
    """Return two routers on a cable that others join as well: r3 knows the way to both, and each goes over it."""
    ends = []
    for number, other in ((1, 2), (2, 1)):
        ends.append(
            router(
                f"r{number}",
                65000 + number,
                [port("e0", f"10.1.0.{number - 1}/31"), port("e1", f"10.2.{number}.1/31")],
                [to(f"10.1.0.{other - 1}", ebgp_multihop=hops, update_source=f"10.1.0.{number - 1}")],
                bgp={"networks": (f"10.8.{number}.0/24",), "import_check": False},
                static_routes=(StaticRoute(prefix="10.1.0.0/24", next_hop=f"10.2.{number}.0"),),
            )
        )
    ways = tuple(StaticRoute(prefix=f"10.1.0.{number - 1}/32", next_hop=f"10.2.{number}.1") for number in (1, 2))
    third = router("r3", 65003, [port("e0", "10.2.1.0/31"), port("e1", "10.2.2.0/31")], (), static_routes=ways)
    return fabric(*ends, third, cables=["r1 e0 - r2 e0", "r1 e1 - r3 e0", "r2 e1 - r3 e1"])


@pytest.mark.parametrize(("hops", "is_up"), [(3, True), (2, True), (1, False)])
def test_a_session_of_several_hops_outlives_its_link(hops: int, *, is_up: bool) -> None:
    made = around(hops=hops)
    (link,) = (one for one in made.links if one.a == End("r1", "e0"))
    dead = compute_control_plane(Index(made), frozenset({link.a, link.b}))
    assert [session.far for session in dead.sessions] == [True] * is_up
    assert all(gap.what.startswith("valleys over next hops") for gap in dead.gaps)
    plane = compute_control_plane(Index(made))
    lost = FailureAnalysis(plane, plane.ipv4).outcome_without_links(link).unreachable
    assert {plane.routers[one.router].name for one in lost} == (set() if is_up else {"r1", "r2"})


@pytest.mark.nightly
def test_such_a_session_outlives_its_link_in_frr() -> None:
    needed()
    made = around()
    (link,) = (one for one in made.links if one.a == End("r1", "e0"))
    compare(made, after=(link,), patience_s=60.0)


def test_a_link_whose_two_statements_do_not_fit_may_be_of_another_session() -> None:
    """r2 names a wrong AS number at the link, and r1's loopback rightly: from its own address on the link."""
    made = half({}, {}, 65001)
    first, second = made.devices
    first_bgp, second_bgp = require_fact(first.bgp), require_fact(second.bgp)
    assert first_bgp is not None
    assert second_bgp is not None
    statements = (to("10.1.0.0", asn=65009), to("10.0.0.1", asn="internal"))
    ways = (StaticRoute(prefix="10.0.0.1/32", next_hop="10.1.0.0"),)
    devices = (
        replace_fields(first, bgp=replace_fields(first_bgp, neighbors=(to("10.1.0.1", asn="internal"),))),
        replace_fields(second, bgp=replace_fields(second_bgp, neighbors=statements), static_routes=ways),
    )
    plane = compute_control_plane(Index(replace_fields(made, devices=devices)))
    assert [(one.a.neighbor.key, one.b.neighbor.key) for one in plane.sessions] == [("10.1.0.1", "10.0.0.1")]
    assert [(down.router.name, down.neighbor.key, down.reason) for down in plane.down] == [("r2", "10.1.0.0", "asn")]
    assert plane.gaps == ()


@pytest.mark.parametrize(("block", "expected"), [("10.0.0.{}/32", "up"), ("fd00::{}/128", "no-route")])
def test_an_address_of_ipv6_on_a_shut_interface_does_not_answer(block: str, expected: str) -> None:
    """Linux keeps one of IPv4 (net/ipv4/fib_frontend.c), and drops the local route of one of IPv6."""
    ends = []
    for number, other in ((1, 2), (2, 1)):
        far = block.format(other)
        link = "10.1.0.{}" if "." in block else "fd01::{}"
        length = 31 if "." in block else 127
        ends.append(
            router(
                f"r{number}",
                65001,
                [port("e0", f"{link.format(number - 1)}/{length}")],
                [to(far.partition("/")[0], update_source=block.format(number).partition("/")[0], **INSIDE)],
                bgp={"router_id": f"10.9.9.{number}"},
                loopbacks=(Loopback(name="Loopback0", addresses=(block.format(number),)),),
                static_routes=(StaticRoute(prefix=far, next_hop=link.format(other - 1)),),
                shut_by_daemon=("Loopback0",) if number == 2 else (),
            )
        )
    assert state_of(fabric(*ends, cables=["r1 e0 - r2 e0"])) == expected
