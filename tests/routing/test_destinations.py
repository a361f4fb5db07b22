"""Which prefixes no router can tell apart, and that nothing is lost by taking them, and origins, together."""

from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clos import three_tier
from nodrop.model.fabric import Fabric, Interface, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import Redistribution, StaticRoute
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.speakers import FamilySpeakers
from support.policy_lists import listed
from support.random_routed import routed
from support.wired_routers import fabric, port, router, to

BLOCKS = ("10.8.0.0/24", "10.8.1.0/24", "10.8.2.0/24")
Table = dict[str, dict[str, tuple[str, tuple[tuple[str, str | None], ...]]]]


def classes(plane: ControlPlane) -> set[frozenset[str]]:
    return {frozenset(map(str, members)) for members in plane.ipv4.world.destinations.prefixes_by_class}


def announcing(*routes: tuple[str, str], session: object = None, **bgp: object) -> ControlPlane:
    """A router that announces static routes to another, over two cables."""
    statics = tuple(StaticRoute(prefix=one, next_hop=way) for one, way in routes)
    ports = [port("e0", "10.1.0.0/31"), port("e1", "10.1.1.0/31")]
    said = {"networks": tuple(one for one, _ in routes), **bgp}
    one = router("r1", 65001, ports, [session or to("10.1.0.1"), to("10.1.1.1")], bgp=said, static_routes=statics)
    far = [port("e0", "10.1.0.1/31"), port("e1", "10.1.1.1/31")]
    other = router("r2", 65002, far, [to("10.1.0.0"), to("10.1.1.0")])
    return compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0", "r1 e1 - r2 e1"])))


def test_what_a_router_announces_alike_is_one_class() -> None:
    assert classes(announcing(*((one, "blackhole") for one in BLOCKS))) == {frozenset(BLOCKS)}


def test_a_prefix_list_that_a_policy_looks_at_splits_a_class() -> None:
    routes = [(one, "blackhole") for one in BLOCKS]
    lists = (listed("P", "permit 10.8.1.0/24"),)
    unused = announcing(*routes, prefix_lists=lists)
    assert classes(unused) == {frozenset(BLOCKS)}
    used = announcing(*routes, prefix_lists=lists, session=to("10.1.0.1", export_prefix_list="P"))
    assert classes(used) == {frozenset({"10.8.1.0/24"}), frozenset({"10.8.0.0/24", "10.8.2.0/24"})}


def test_a_list_that_permits_all_or_none_splits_nothing() -> None:
    routes = [(one, "blackhole") for one in BLOCKS]
    lists = (listed("P", "permit 10.8.0.0/16 le 24"), listed("Q", "permit 10.9.0.0/16 le 32"))
    for name in ("P", "Q"):
        found = announcing(*routes, prefix_lists=lists, session=to("10.1.0.1", export_prefix_list=name))
        assert classes(found) == {frozenset(BLOCKS)}, name


def test_ports_that_can_fail_apart_split_a_class() -> None:
    routes = [("10.8.0.0/24", "e0"), ("10.8.1.0/24", "e1"), ("10.8.2.0/24", "10.1.0.1")]
    found = announcing(*routes)
    assert classes(found) == {frozenset({"10.8.0.0/24", "10.8.2.0/24"}), frozenset({"10.8.1.0/24"})}
    connected = announcing(redistributions=(Redistribution(source="connected"),))
    assert classes(connected) == {frozenset({"10.1.0.0/31"}), frozenset({"10.1.1.0/31"})}


def test_what_two_routers_announce_is_not_what_one_does() -> None:
    ports = [port("e0", "10.1.0.0/31")], [port("e0", "10.1.0.1/31")]
    static = tuple(StaticRoute(prefix=one, next_hop="blackhole") for one in BLOCKS)
    one = router("r1", 65001, ports[0], [to("10.1.0.1")], bgp={"networks": BLOCKS}, static_routes=static)
    other = router("r2", 65002, ports[1], [to("10.1.0.0")], bgp={"networks": BLOCKS[:1]}, static_routes=static)
    plane = compute_control_plane(Index(fabric(one, other, cables=["r1 e0 - r2 e0"])))
    assert classes(plane) == {frozenset(BLOCKS[:1]), frozenset(BLOCKS[1:])}


def tables(plane: ControlPlane) -> Table:
    """All routes, by router and prefix: the source, and of each next hop the leg and the router."""
    found: Table = {}
    for router_ in plane.routers:
        rows = found.setdefault(router_.device.name, {})
        for family in plane.families:
            for route in plane.of(family).routes(router_.number):
                names = [None if hop.router is None else plane.routers[hop.router].device.name for hop in route.hops]
                hops = tuple(sorted(((hop.leg, name) for hop, name in zip(route.hops, names, strict=True)), key=str))
                rows[str(route.prefix)] = (route.source, hops)
    return found


def stable(plane: ControlPlane) -> bool:
    return not any(plane.of(family).state.unstable for family in plane.families)


def with_all_origins(made: Fabric) -> ControlPlane:
    """The plane of a fabric in which every AS number at the end of a path is said."""
    with patch.object(FamilySpeakers, "_classes_without_origin_asn", lambda _: 0):
        plane = compute_control_plane(Index(made))
        assert all(plane.of(family).world.hidden == 0 for family in plane.families)
    return plane


@pytest.mark.slow
@given(chance=st.randoms(use_true_random=False), preferences=st.booleans())
def test_a_random_fabric_has_the_same_routes_with_all_origins_said(chance: Random, *, preferences: bool) -> None:
    made = routed(chance, preferences=preferences)
    short, long = compute_control_plane(Index(made)), with_all_origins(made)
    if stable(short) and stable(long):
        assert tables(short) == tables(long)


def test_a_clos_has_the_same_routes_with_all_origins_said() -> None:
    made = three_tier(pods=3, leaves=3, spines=2, superspines=2)
    short = compute_control_plane(Index(made))
    assert short.ipv4.world.hidden
    assert tables(short) == tables(with_all_origins(made))


def in_red(made: Fabric) -> Fabric:
    """The fabric with all of its routing in a VRF."""
    devices = []
    for device in made.devices:
        ports = tuple(replace_fields(one, vrf="RED") for one in device.interfaces if isinstance(one, Interface))
        loopbacks = tuple(
            replace_fields(one, vrf="RED") for one in known_rows(device.loopbacks) if isinstance(one, Loopback)
        )
        statics = tuple(replace_fields(one, vrf="RED") for one in known_rows(device.static_routes))
        processes = (replace_fields(device.bgp, vrf="RED"),)  # type: ignore[type-var]
        devices.append(
            replace_fields(
                device, interfaces=ports, loopbacks=loopbacks, static_routes=statics, bgp=None, vrf_bgp=processes
            )
        )
    return replace_fields(made, devices=tuple(devices))


@given(chance=st.randoms(use_true_random=False))
def test_a_vrf_has_the_routes_that_the_default_one_would_have(chance: Random) -> None:
    made = routed(chance, preferences=False)
    plain, red = compute_control_plane(Index(made)), compute_control_plane(Index(in_red(made)))
    if stable(plain) and stable(red):
        assert {one.name for one in red.routers if one.bgp is not None} == {
            f"{one.name} VRF RED" for one in made.devices
        }
        assert tables(plain) == tables(red)
