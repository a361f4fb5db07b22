"""Neighbors outside the fabric in the control plane: what they announce is reached, what they receive is expected."""

from typing import Any

import pytest

import nodrop
from nodrop.analyses._computed import compute_observation
from nodrop.analyses._expected import expected_ports_by_route, is_as_expected
from nodrop.analyses._plane import control_plane_of
from nodrop.model.external import ExternalNeighbor
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, known_rows
from nodrop.model.values import replace_fields
from nodrop.proofs.deadlock import check_deadlock
from nodrop.proofs.invariants import check_any_failure_conditions
from nodrop.resources import resource_folder
from nodrop.routing import compute_control_plane
from nodrop.routing.observation import failure_item, route_item
from nodrop.routing.paths import PathWalk, find_start_at_device
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix
from nodrop.routing.stand_ins import (
    addresses_outside,
    index_with_stand_ins,
    is_stand_in,
    receives_prefix,
    with_stand_ins,
)
from support.designs import build, shipped

BORDER = resource_folder("intents") / "border.yaml"


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    return nodrop.build(nodrop.load(BORDER))


def address(text: str) -> Address:
    found = parse_address(text)
    assert found is not None
    return found


def prefix(text: str) -> Prefix:
    found = parse_prefix(text)
    assert found is not None
    return found


def changed(fabric: Fabric, name: str, **fields: Any) -> Fabric:
    """The fabric with other statements about a neighbor outside."""
    rows = (replace_fields(row, **fields) if row.name == name else row for row in fabric.external)
    return replace_fields(fabric, external=tuple(rows))


def ways(fabric: Fabric, start: str, to: str) -> dict[tuple[str, ...], str]:
    plane = compute_control_plane(Index(fabric))
    where = find_start_at_device(plane, start, None)
    assert where is not None
    names = [router.device.name for router in plane.routers]
    walk = PathWalk(plane, where, address(to))
    return {tuple(names[number] for number in way.routers): way.outcome for way in walk.ways}


def test_the_default_route_leads_over_both_border_leaves(fabric: Fabric) -> None:
    found = ways(fabric, "leaf1", "8.8.8.8")
    assert found == dict.fromkeys(
        [("leaf1", spine, border, "wan") for spine in ("spine1", "spine2") for border in ("border1", "border2")],
        "delivered",
    )
    assert ways(fabric, "leaf1", "10.64.7.1") == {("leaf1", "gateway"): "delivered"}
    assert set(ways(fabric, "border1", "2001:4860::1")) == {("border1", "wan")}


def test_packets_to_an_own_pool_do_not_arrive_outside(fabric: Fabric) -> None:
    """No switch has 10.2.99.0/24, so the default route leads there, and the neighbor has no route back."""
    assert set(ways(fabric, "leaf1", "10.2.99.1").values()) == {"discarded"}


def test_the_way_back_begins_at_the_neighbor(fabric: Fabric) -> None:
    assert {way[1] for way in ways(fabric, "wan", "10.2.1.1")} == {"border1", "border2"}


def test_a_fabric_is_not_changed(fabric: Fabric) -> None:
    index = Index(fabric)
    control_plane_of(index)
    assert not any(map(is_stand_in, index.fabric.devices))
    larger = index_with_stand_ins(index)
    assert larger is index_with_stand_ins(larger)
    assert {device.name for device in larger.fabric.devices if is_stand_in(device)} == {"gateway", "wan"}


@pytest.mark.parametrize("missing", [{"announces": UNKNOWN}, {"asn": UNKNOWN}, {"ports": ()}])
def test_without_a_statement_nothing_is_assumed(fabric: Fabric, missing: dict[str, Any]) -> None:
    plane = compute_control_plane(Index(changed(fabric, "wan", **missing)))
    assert {down.reason for down in plane.down if down.facts.get("node") == "wan"} == {"unread"}


def test_what_is_received_is_of_a_family_with_a_link(fabric: Fabric) -> None:
    assert receives_prefix(fabric, "wan", prefix("10.2.1.0/24"))
    assert not receives_prefix(fabric, "wan", prefix("10.2.1.0/25"))
    assert not receives_prefix(fabric, "wan", prefix("10.0.0.1/32"))
    both = changed(fabric, "gateway", receives=("10.2.0.0/22 le 24", "fd00:2::/48 le 64"))
    assert not receives_prefix(both, "gateway", prefix("fd00:2:0:1::/64"))


def test_samples_are_in_no_network_of_the_fabric(fabric: Fabric) -> None:
    """10.0.0.0/8 around the pools and the gateway's prefix; two neighbors with one prefix have one address in it."""
    wide = changed(fabric, "wan", announces=("10.0.0.0/8", "::/0"))
    found = addresses_outside(with_stand_ins(wide))
    (sample,) = found[prefix("10.0.0.0/8")]
    owned = [text for device in fabric.devices for lo in known_rows(device.loopbacks) for text in lo.addresses]
    owned += [text for device in fabric.devices for port in device.interfaces for text in known_rows(port.addresses)]
    assert not any(prefix(text).contains_address(sample) for text in (*owned, "10.2.0.0/16", "10.64.0.0/16"))
    same = changed(fabric, "gateway", announces=("0.0.0.0/0",))
    devices = [device for device in with_stand_ins(same).devices if is_stand_in(device)]
    first, second = ({text for lo in known_rows(device.loopbacks) for text in lo.addresses} for device in devices)
    assert len(first & second) == 1


def test_every_destination_outside_is_expected_and_reached(fabric: Fabric) -> None:
    seen = compute_observation(Index(fabric)).seen
    for leaf in ("border1", "leaf1", "leaf2"):
        assert seen["reach"][route_item(fabric.device(leaf), "0.0.0.0/0", None, "reach")] == "delivered"
    wan = next(device for device in with_stand_ins(fabric).devices if device.name == "wan")
    assert seen["routes"][route_item(wan, "10.2.1.0/24", None)] == frozenset({"to-border1-1", "to-border2-1"})
    assert route_item(wan, "10.0.0.1/32", None) not in seen["routes"]


def test_failures_of_neighbors_outside_are_not_tried(fabric: Fabric) -> None:
    seen = compute_observation(Index(fabric)).seen["failures"]
    assert failure_item("border1") in seen or failure_item("border2") in seen
    assert failure_item("wan") not in seen
    assert not any(losses for losses in seen.values())


def test_one_border_leaf_alone_is_a_single_point_of_failure(fabric: Fabric) -> None:
    wan = next(row for row in fabric.external if row.name == "wan")
    one = changed(fabric, "wan", ports=wan.ports[:1])
    links = tuple(link for link in one.links if link.b.port != "to-border2-1")
    index = Index(replace_fields(one, links=links))
    lost = compute_observation(index).seen["failures"][failure_item("border1")]
    assert isinstance(lost, frozenset)
    assert {("leaf1", "0.0.0.0/0"), ("leaf2", "::/0"), ("wan", "10.2.1.0/24")} <= lost
    assert ("wan", "0.0.0.0/0") not in lost


@pytest.mark.parametrize("accept", ["10.64.0.0/16", "0.0.0.0/0"])
def test_a_prefix_from_outside_is_no_obstacle_to_the_proof(accept: str) -> None:
    """Not even one that two neighbors announce: neither has it from a switch."""
    check = check_deadlock(compute_control_plane(Index(build(shipped("border", {"external.gateway.accept": accept})))))
    assert check.is_free
    conditions = check_any_failure_conditions(check.traffic.forwarding)
    assert conditions.hold
    assert min(conditions.levels.values()) == 0


def test_a_neighbor_whose_files_are_read_has_no_stand_in(fabric: Fabric) -> None:
    other = replace_fields(fabric, external=(ExternalNeighbor(name="spine1", asn=1, announces=("0.0.0.0/0",)),))
    assert with_stand_ins(other) is other


def test_each_mode_of_a_fabric_has_stand_ins_of_its_mode(fabric: Fabric) -> None:
    """The states of one fabric in several modes keep each other's results, and no other fabric."""
    index = Index(fabric)
    assert index_with_stand_ins(index).fabric.mode == "lossless"
    lossy = Index(replace_fields(fabric, mode="lossy"), index)
    lossy.take_cached_values_from(index)
    assert index_with_stand_ins(lossy).fabric.mode == "lossy"


def test_a_link_of_one_family_is_expected_to_carry_no_other() -> None:
    links = {"1": ["192.0.2.0/31", "2001:db8::/127"], "2": "192.0.2.4/31"}
    index = Index(build(shipped("border", {"external.wan.links.border1": links})))
    routes = expected_ports_by_route(index, compute_observation(index))
    border1 = index.devices["border1"]
    assert routes[route_item(border1, "0.0.0.0/0", None)] == {"swp1", "swp2"}
    assert routes[route_item(border1, "::/0", None)] == {"swp1"}
    seen = compute_observation(index)
    assert all(is_as_expected("routes", item, seen.seen["routes"][item], routes) for item in routes)
