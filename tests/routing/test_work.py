"""What is alike is computed once: how many tables are decided, and what else is done, in fabrics of different sizes."""

from typing import Any

import pytest

from clos import PODS, three_tier, two_tier
from nodrop.model.fabric import Device, Fabric, Loopback
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane, legs, policy
from nodrop.routing.convergence import AdvertResultCache, ConvergedState
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.sessions import FabricSessions
from nodrop.routing.speakers import FamilySpeakers
from nodrop.routing.words import PolicyReader
from support.wired_routers import fabric, port, router, to


def state(pods: int, leaves: int) -> ConvergedState:
    return compute_control_plane(Index(three_tier(pods=pods, leaves=leaves, spines=2, superspines=2))).ipv4.state


def test_leaves_of_a_pod_share_one_table() -> None:
    """More leaves in a pod are no more tables, neither in the end nor on the way there."""
    few, many = state(3, 2), state(3, 12)
    assert few.makers.table_count == many.makers.table_count
    for one, leaves in ((few, 2), (many, 12)):
        speakers = one.world.speakers.values()
        tables = {}
        for speaker in speakers:
            if speaker.router.device.role == "leaf":
                pod = speaker.router.name[:2]
                tables.setdefault(pod, []).append(id(one.table(speaker.router.number)))
        assert {pod: (len(found), len(set(found))) for pod, found in tables.items()} == dict.fromkeys(
            ("p0", "p1", "p2"), (leaves, 1)
        )


def test_tables_grow_with_pods_and_not_with_their_squares() -> None:
    first, second, third = (state(pods, 4).makers.table_count for pods in (4, 8, 12))
    assert third - second == second - first


def test_switches_of_a_tier_share_one_table() -> None:
    """What a switch originates itself is no part of its table."""
    plane = compute_control_plane(Index(two_tier(8, 4)))
    found = {
        role: {
            id(plane.ipv4.state.table(number))
            for number, speaker in plane.ipv4.world.speakers.items()
            if speaker.router.device.role == role
        }
        for role in ("leaf", "spine")
    }
    assert {role: len(tables) for role, tables in found.items()} == {"leaf": 1, "spine": 1}


def between_loopbacks(count: int) -> Fabric:
    """Two routers on one link with a session over it, and with so many loopbacks each and sessions between them."""
    made = []
    for number, other in ((1, 2), (2, 1)):
        own, far = ([f"10.{one}.0.{last}" for last in range(1, count + 1)] for one in (number, other))
        ends = zip(own, far, strict=True)
        sessions = [to(address, ebgp_multihop=3, update_source=source) for source, address in ends]
        made.append(
            router(
                f"r{number}",
                65000 + number,
                [port("e0", f"10.0.0.{number - 1}/31")],
                (to(f"10.0.0.{other - 1}"), *sessions),
                bgp={"networks": tuple(f"{address}/32" for address in own), "requires_policy": False},
                loopbacks=(Loopback(name="Loopback0", addresses=tuple(f"{address}/32" for address in own)),),
            )
        )
    return fabric(*made, cables=["r1 e0 - r2 e0"])


def count_calls(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    """Count the calls of a function from now on, in a list of one."""
    calls = [0]
    original = getattr(owner, name)

    def counting(*given: Any, **named: Any) -> Any:
        calls[0] += 1
        return original(*given, **named)

    monkeypatch.setattr(owner, name, counting)
    return calls


def test_routes_over_routes_are_looked_up_once_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each loopback is reached over all the others, which grows with their number and not with its factorial."""
    lookups = count_calls(monkeypatch, FamilyRoutes, "route")
    work = []
    for count in (4, 8, 12):
        lookups[0] = 0
        plane = compute_control_plane(Index(between_loopbacks(count)))
        routes = [route for route in plane.ipv4.routes(0) if route.source == "bgp"]
        assert [{(hop.leg, hop.router) for hop in route.hops} for route in routes] == [{("e0", 1)}] * count
        assert (len(plane.sessions), plane.down, plane.gaps) == (count + 1, (), ())
        work.append(lookups[0])
    assert work[2] - work[1] == work[1] - work[0]


def test_statements_of_a_pair_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = count_calls(monkeypatch, VrfRouter, "leg_towards")
    work = []
    for count in (4, 8, 12):
        lookups[0] = 0
        compute_control_plane(Index(between_loopbacks(count)))
        work.append(lookups[0])
    assert work[2] - work[1] == work[1] - work[0]


def test_static_routes_behind_a_neighbor_are_not_compared_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next hop is a neighbor's address on a link, to which routes of BGP do not lead."""
    compared = count_calls(monkeypatch, Prefix, "contains_address")
    work = []
    for count in (10, 20, 30):
        behind = [StaticRoute(prefix=f"10.8.{block}.0/24", next_hop="10.9.9.9") for block in range(count)]
        others = [StaticRoute(prefix=f"10.7.{block}.0/24", next_hop="blackhole") for block in range(count)]
        first = router("r1", 65001, [port("e0", "10.0.0.0/31")], (to("10.9.9.9"),), static_routes=(*behind, *others))
        compared[0] = 0
        assert len(compute_control_plane(Index(fabric(first, cables=[]))).ipv4.non_bgp_routes(0)) == count + 1
        work.append(compared[0])
    assert work[2] - work[1] == work[1] - work[0]


def numbered_spines(pods: int, leaves: int, spines: int) -> Fabric:
    """A fabric of three tiers in which each spine has its own AS number, as in designs of several planes."""

    def renumber(device: Device, number: int) -> Device:
        assert isinstance(device.bgp, Bgp)
        assert isinstance(device.bgp.neighbors, tuple)
        asn = PODS + 1000 + number if device.role == "spine" else device.bgp.asn
        neighbors = tuple(replace_fields(neighbor, remote_asn="external") for neighbor in device.bgp.neighbors)
        return replace_fields(device, bgp=replace_fields(device.bgp, asn=asn, neighbors=neighbors))

    made = three_tier(pods=pods, leaves=leaves, spines=spines, superspines=2)
    return replace_fields(made, devices=tuple(renumber(device, n) for n, device in enumerate(made.devices)))


def test_spines_with_own_numbers_share_what_they_take_from_leaves() -> None:
    """A spine finds its number in what the tier above announces: that concerns no advert of a leaf."""
    few, many = (
        [
            compute_control_plane(Index(numbered_spines(3, leaves, spines))).ipv4.state.makers.import_count
            for spines in (2, 4, 6)
        ]
        for leaves in (4, 12)
    )
    assert few[2] - few[1] == few[1] - few[0]
    assert many[1] - many[0] == few[1] - few[0], "a further spine imports no advert of a leaf once more"
    assert many[2] - many[1] == few[2] - few[1]


def test_routes_that_a_policy_lets_all_pass_are_not_matched_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are those that a leaf has learned, of which its policy announces none."""
    matched = count_calls(monkeypatch, policy, "_apply_first_match_rules")
    rebuilt = count_calls(monkeypatch, AdvertResultCache, "_import_parts")
    state = compute_control_plane(Index(numbered_spines(4, 3, 2))).ipv4.state
    assert state.table(0).entries
    assert (matched, rebuilt) == ([0], [0])


def test_each_session_is_decided_for_both_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decided = count_calls(monkeypatch, FabricSessions, "_resolve_pair_session")
    plane = compute_control_plane(Index(three_tier(pods=2, leaves=3, spines=2, superspines=2)))
    assert plane.sessions
    assert decided == [len(plane.sessions)]


def test_policies_are_read_and_compiled_once_a_router(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many neighbors it has."""
    read = [count_calls(monkeypatch, PolicyReader, f"_read_{way}") for way in ("inbound", "outbound")]
    asked = count_calls(monkeypatch, FamilySpeakers, "policy")
    plane = compute_control_plane(Index(two_tier(6, 4)))
    assert plane.ipv4.world.speakers
    assert (read, asked) == ([[10], [10]], [20])


def test_legs_of_a_device_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = count_calls(monkeypatch, legs, "_make_interface_leg")
    clos = two_tier(6, 4)
    compute_control_plane(Index(clos))
    assert made == [sum(len(device.interfaces) + 1 for device in clos.devices)]


def test_addresses_are_written_out_only_for_maps_that_set_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    written = count_calls(monkeypatch, Address, "__str__")
    assert compute_control_plane(Index(two_tier(6, 4))).gaps == ()
    assert written == [0]


def test_addresses_of_the_largest_fabric_are_read_once() -> None:
    """10,240 switches in three tiers have 930,000 ports with addresses, and 790,000 statements about others."""
    for read in (parse_address, parse_prefix):
        most = read.cache_info().maxsize
        assert most is not None
        assert most > 930_000 + 790_000
