"""Classes of single failures: each member is computed, and must have the same graph of buffers but for names."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from clos import three_tier, two_tier, with_hosts
from nodrop.model.fabric import Device, End, Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, PrefixList, PrefixRule, RouteMap, RouteMapRule
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields
from nodrop.proofs.alike_failures import AlikeFailures, is_independent_of_neighbor_order
from nodrop.proofs.deadlock import DeadlockCheckResult, check_deadlock
from nodrop.proofs.dependencies import DependencyGraph
from nodrop.proofs.failures import search_failures_with_circle
from nodrop.proofs.invariants import check_any_failure_conditions
from nodrop.routing import compute_control_plane
from support.lossless_fabrics import (
    ends_of,
    fat_tree,
    lossless,
    random_qos,
    ring,
    sampled_failures,
    seeds,
    with_random_qos,
)
from support.marked import slow
from support.random_routed import routed


def with_own_numbers(given: Fabric, prefix: str) -> Fabric:
    """A fabric whose switches with names of a prefix have an AS number each."""
    asns = {
        device.name: 4200200000 + number
        for number, device in enumerate(given.devices)
        if device.name.startswith(prefix)
    }
    far = {link.a: link.b.node for link in given.links} | {link.b: link.a.node for link in given.links}

    def renumber(device: Device) -> Device:
        bgp = device.bgp
        assert isinstance(bgp, Bgp)
        sessions = tuple(
            replace_fields(one, remote_asn=asns.get(far[End(device.name, str(one.interface))], one.remote_asn))
            for one in known_rows(bgp.neighbors)
        )
        return replace_fields(device, bgp=replace_fields(bgp, asn=asns.get(device.name, bgp.asn), neighbors=sessions))

    return replace_fields(given, devices=tuple(map(renumber, given.devices)))


def drained(device: Device) -> Device:
    assert isinstance(device.bgp, Bgp)
    return replace_fields(device, bgp=replace_fields(device.bgp, graceful_shutdown=True))


def remapped(device: Device, chance: Random) -> Device:
    qos = random_qos(chance)
    return replace_fields(device, interfaces=tuple(replace_fields(port, qos=qos) for port in device.interfaces))


def narrowed(device: Device) -> Device:
    """A switch that announces the lower half of the blocks alone."""
    bgp = device.bgp
    assert isinstance(bgp, Bgp)
    half = PrefixList(name="HALF", family="ipv4", rules=(
        PrefixRule(sequence=10, action="permit", prefix="10.0.0.0/9", ge=32),
        PrefixRule(sequence=20, action="permit", prefix="10.128.0.0/22", ge=24, le=24),
    ))  # fmt: skip
    out = RouteMap(name="OUT", rules=(
        RouteMapRule(sequence=10, action="permit", matches=(("ip address prefix-list", "HALF"),)),
    ))  # fmt: skip
    maps = tuple(out if one.name == "OUT" else one for one in known_rows(bgp.route_maps))
    return replace_fields(
        device, bgp=replace_fields(bgp, prefix_lists=(*known_rows(bgp.prefix_lists), half), route_maps=maps)
    )


def random_fabric(chance: Random) -> Fabric:
    kind = chance.randrange(6)
    if kind == 0:
        fabric = lossless(three_tier(chance.randint(2, 3), chance.randint(2, 3), 2, chance.randint(1, 2)))
        fabric = with_own_numbers(fabric, chance.choice(("super", "p", "p0-spine", "none")))
    elif kind == 1:
        fabric = fat_tree(4, shared=chance.random() < 0.5) if chance.random() < 0.3 else ring(chance.randint(4, 7))
    elif kind == 2:
        fabric = lossless(with_hosts(two_tier(chance.randint(2, 5), 2, parallel=2), 2, rails=2))
    elif kind == 3:
        return with_random_qos(routed(chance), chance)
    else:
        fabric = lossless(
            two_tier(
                chance.randint(3, 6),
                chance.randint(2, 4),
                parallel=chance.randint(1, 2),
                shared=chance.random() < 0.5,
                filtered=chance.random() < 0.5,
            )
        )
    return with_changes(fabric, chance)


def with_changes(fabric: Fabric, chance: Random) -> Fabric:
    """A fabric of which some cables, switches, policies or ports are not as the others."""
    devices = list(fabric.devices)
    for change in (drained, narrowed, lambda device: remapped(device, chance)):
        if chance.random() < 0.2:
            place = chance.randrange(len(devices))
            devices[place] = change(devices[place])
    links = fabric.links
    if chance.random() < 0.3:
        gone = chance.choice(links)
        links = tuple(link for link in links if link != gone)
    return replace_fields(fabric, devices=tuple(devices), links=links)


def fingerprint(check: DeadlockCheckResult) -> object:
    """What two graphs have in common that are the same but for names: circles, and buffers by neighborhoods."""
    graph = DependencyGraph(check.traffic, exact=True)
    awaited = {buffer: graph.awaited_by(buffer) for buffer in graph.used_buffers()}
    waiting: dict[Any, list[Any]] = {buffer: [] for buffer in awaited}
    for buffer, others in awaited.items():
        for other in others:
            waiting[other].append(buffer)
    colors: dict[Any, int] = {buffer: buffer.group for buffer in awaited}
    for _ in range(3):
        colors = {
            buffer: hash((
                color,
                tuple(sorted(colors[one] for one in awaited[buffer])),
                tuple(sorted(colors[one] for one in waiting[buffer])),
            ))
            for buffer, color in colors.items()
        }  # fmt: skip
    rows = Counter(
        (row.bits.bit_count(), len(row.channels)) for rows in check.traffic.forwarding.rows for row in rows if row.bits
    )
    return (
        sorted(len(circle) for circle in check.circles),
        check.buffers_on_circles,
        tuple(sorted(colors.values())),
        tuple(sorted(rows.items())),
    )


def compare_members(chance: Random) -> tuple[int, int]:
    """Compute all single failures of a random fabric; return how many there are, and how many are not the first."""
    fabric = random_fabric(chance)
    base = sampled_failures(fabric, chance.choice((0.0, 0.0, 0.1)), chance)
    index = Index(fabric)
    plane = compute_control_plane(index, base)
    check = check_deadlock(plane)
    alike = AlikeFailures(check.traffic, check_any_failure_conditions(check.traffic.forwarding))
    failures = [
        *((alike.failure_class_of_cables([frozenset((link.a, link.b))]), ends_of((link,))) for link in fabric.links),
        *(
            (
                alike.failure_class_of_switch(device.name),
                frozenset(End(device.name, port.name) for port in device.interfaces),
            )
            for device in fabric.devices
        ),
    ]
    classes: dict[object, list[frozenset[End]]] = {}
    for place, (kind, ends) in enumerate(failures):
        classes.setdefault(place if kind is None else kind, []).append(ends)
    count = 0
    for members in classes.values():
        first = check_deadlock(compute_control_plane(index, base | members[0]))
        if len(members) == 1 or not is_independent_of_neighbor_order(first.traffic.forwarding):
            continue
        count += len(members) - 1
        expected = fingerprint(first)
        for ends in members[1:]:
            assert fingerprint(check_deadlock(compute_control_plane(index, base | ends))) == expected
    return len(failures), count


@pytest.mark.parametrize("fabrics", [12, *slow(25)])
def test_failures_of_a_class_make_the_same_graph(fabrics: int) -> None:
    counts = [compare_members(chance) for chance in seeds(fabrics)]
    assert sum(alike for _, alike in counts) > 100


@pytest.mark.nightly
@pytest.mark.parametrize("tenth", range(10))
def test_failures_of_a_class_make_the_same_graph_in_more_fabrics(tenth: int) -> None:
    """40 fabrics each, 400 together; all failures of each are computed one by one."""
    for number in range(40):
        compare_members(Random(1000 * (tenth + 1) + number))


@pytest.mark.parametrize(
    ("fabric", "sizes"),
    [
        (two_tier(4, 3), [12, 4, 3]),
        (two_tier(4, 2, parallel=2, shared=False, filtered=False), [16, 4, 2]),
        (three_tier(3, 3, 2, 2), [18, 12, 9, 6, 4]),
        (three_tier(3, 3, 2, 2, shared=False), [18, 12, 9, 6, 4]),
        (with_own_numbers(three_tier(2, 2, 2, 2), "p"), [8, 8, 4, 4, 4]),
        (ring(6), [2, 2, 2, 2, 2, 1, 1]),
    ],
    ids=["leaves and spines", "parallel cables", "pods", "own numbers above", "own numbers below", "ring"],
)
def test_pods_planes_and_switches_change_places(fabric: Fabric, sizes: list[int]) -> None:
    plane = compute_control_plane(Index(lossless(fabric)))
    check = check_deadlock(plane)
    alike = AlikeFailures(check.traffic, check_any_failure_conditions(check.traffic.forwarding))
    kinds = Counter([
        *(alike.failure_class_of_cables([frozenset((link.a, link.b))]) for link in fabric.links),
        *(alike.failure_class_of_switch(device.name) for device in fabric.devices),
    ])  # fmt: skip
    assert sorted(kinds.values(), reverse=True) == sizes


def test_one_failure_of_each_class_is_computed() -> None:
    fabric = lossless(three_tier(3, 3, 2, 2, shared=False))
    plane = compute_control_plane(Index(fabric))
    check = check_deadlock(plane)
    search = search_failures_with_circle(plane, check, check_any_failure_conditions(check.traffic.forwarding), 1)
    assert (search.single, search.classes, search.states, search.complete) == (49, 5, 5, True)


def test_exchanges_of_single_routers_count_where_order_decides() -> None:
    """Routers that use the paths of one neighboring AS alone: nothing is known of pods and planes."""
    fabric = lossless(two_tier(4, 3, shared=False, filtered=True))
    devices = tuple(
        replace_fields(device, bgp=replace_fields(device.bgp, multipath_relax=False)) for device in fabric.devices
    )
    plane = compute_control_plane(Index(replace_fields(fabric, devices=devices)))
    check = check_deadlock(plane)
    invariants = check_any_failure_conditions(check.traffic.forwarding)
    assert not AlikeFailures(check.traffic, invariants).has_classes
    search = search_failures_with_circle(plane, check, invariants, 1)
    assert (search.single, search.classes, search.states, search.complete) == (19, 7, 7, True)


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = lossless(two_tier(6, 3, shared=False, filtered=False))
    plane = compute_control_plane(Index(fabric))
    check = check_deadlock(plane)
    monkeypatch.setattr("nodrop.proofs.failures.MOST_CHANNELS", 100)
    search = search_failures_with_circle(plane, check, check_any_failure_conditions(check.traffic.forwarding), 2)
    assert not search.complete
    assert search.check is None
