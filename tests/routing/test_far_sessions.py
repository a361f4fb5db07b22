"""Sessions over several hops, and what keeps a session of two statements that fit down."""

from typing import Any

import pytest

from nodrop.model.fabric import Loopback
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor
from nodrop.routing import ControlPlane, compute
from support.wired_routers import fabric, port, router, to

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


def row(first: BgpNeighbor, last: BgpNeighbor, *, announced: bool = True) -> ControlPlane:
    """Three routers in a row, of which the outer two have a session between their loopbacks."""
    networks = {number: (f"10.0.0.{number}/32",) if announced else () for number in (1, 3)}
    one = router(
        "r1",
        65001,
        [port("e0", "10.1.0.0/31")],
        (to("10.1.0.1"), first),
        bgp={"networks": networks[1], "requires_policy": False},
        loopbacks=(loopback(1),),
    )
    two = router(
        "r2",
        65002,
        [port("e0", "10.1.0.1/31"), port("e1", "10.1.0.2/31")],
        (to("10.1.0.0"), to("10.1.0.3")),
        bgp={"requires_policy": False},
    )
    three = router(
        "r3",
        65003,
        [port("e0", "10.1.0.3/31")],
        (to("10.1.0.2"), last),
        bgp={"networks": networks[3], "requires_policy": False},
        loopbacks=(loopback(3),),
    )
    return compute(Index(fabric(one, two, three, cables=["r1 e0 - r2 e0", "r2 e1 - r3 e0"])))


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
        ({"ebgp_multihop": None, "ttl_security_hops": 2}, {"ebgp_multihop": None, "ttl_security_hops": 2}, "up"),
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


def test_it_needs_a_route_at_both_ends() -> None:
    assert of_far(row(far(3), far(1), announced=False)) == ("no-route", "no-route")


def test_a_session_that_may_carry_routes_is_a_gap() -> None:
    plane = row(far(3, active=True), far(1, active=True))
    assert of_far(plane) == ("up", "up")
    assert [(gap.subject, gap.what) for gap in plane.gaps] == [
        (("r1", "@neighbors", "10.0.0.3"), "routes over a session of several hops")
    ]


def test_an_address_outside_of_what_was_read_is_unknown() -> None:
    found = states(row(to("10.9.9.9", ebgp_multihop=9), far(1)))
    assert found == {"r1 10.1.0.1": "up", "r1 10.9.9.9": "unread", "r2 10.1.0.0": "up", "r2 10.1.0.3": "up"} | {
        "r3 10.1.0.2": "up",
        "r3 10.0.0.1": "missing-there",
    }


def pair(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    first = router("r1", 65001, [port("e0", "10.1.0.0/31")], (to("10.1.0.1", **one),))
    second = router("r2", 65002, [port("e0", "10.1.0.1/31")], (to("10.1.0.0", **other),))
    return set(states(compute(Index(fabric(first, second, cables=["r1 e0 - r2 e0"])))).values())


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
