"""Routers that can change places: each exchange is carried out, and must leave forwarding and ports as they are."""

from collections import Counter
from collections.abc import Hashable
from random import Random
from typing import Any

import pytest

from clos import three_tier, two_tier, with_hosts
from nodrop.model.fabric import End, Fabric
from nodrop.model.index import Index
from nodrop.model.values import replace_fields
from nodrop.proofs.deadlock import check_deadlock
from nodrop.proofs.equivalence import EquivalentRouterClasses
from nodrop.proofs.forwarding import bit_positions
from nodrop.proofs.traffic import TrafficAtRouters
from nodrop.routing import compute_control_plane
from support.lossless_fabrics import (
    LOSSLESS,
    fat_tree,
    links_between,
    lossless,
    random_qos,
    ring,
    sampled_failures,
    seeds,
    with_random_qos,
)


def traffic_of(fabric: Fabric, failed: frozenset[End] = frozenset()) -> TrafficAtRouters:
    return check_deadlock(compute_control_plane(Index(fabric), failed)).traffic


def nothing(_of: object) -> Hashable:
    return None


def classes(traffic: TrafficAtRouters) -> list[set[str]]:
    """The names of the switches of each class with several."""
    routers = traffic.forwarding.plane.routers
    found = EquivalentRouterClasses(traffic, nothing, nothing)
    return [
        {routers[number].device.name for number in numbers} for numbers in found.members.values() if len(numbers) > 1
    ]


def exchange_is_harmless(traffic: TrafficAtRouters, found: EquivalentRouterClasses, one: int, other: int) -> bool:
    """Whether rows, ends and ports are the same with two routers exchanged."""
    forwarding = traffic.forwarding
    routers = {one: other, other: one}
    shared = 0
    for number, bits in enumerate(forwarding.own):
        for far in forwarding.own[number + 1 :]:
            shared |= bits & far
    own = [list(bit_positions(forwarding.own[number] & ~shared)) for number in (one, other)]
    places = dict(zip(own[0] + own[1], own[1] + own[0], strict=True))

    def moved(bits: int) -> int:
        return sum(1 << places.get(place, place) for place in bit_positions(bits))

    def rows(number: int, *, exchanged: bool) -> Counter[Any]:
        """The rows of a router, without what ends there; or of the one in its place, with all names exchanged."""
        near = routers.get(number, number) if exchanged else number
        counts: Counter[Any] = Counter()
        for row in forwarding.rows[near]:
            bits, channels = row.bits & ~forwarding.own[near], row.channels
            if exchanged:
                bits, channels = (
                    moved(bits),
                    tuple(found.channel_after_router_exchange(channel, one, other) for channel in channels),
                )
            counts[bits, frozenset(channels)] += 1
        return counts

    for channel, (near, _, far, _) in enumerate(forwarding.channels):
        there = found.channel_after_router_exchange(channel, one, other)
        ends = forwarding.channels[there]
        if (ends.near, ends.far) != (routers.get(near, near), routers.get(far, far)):
            return False
        if (traffic.left[there], traffic.entered[there]) != (traffic.left[channel], traffic.entered[channel]):
            return False
    return all(
        rows(number, exchanged=True) == rows(number, exchanged=False)
        and moved(forwarding.own[routers.get(number, number)]) == forwarding.own[number]
        and set(traffic.entries.get(number, ())) == set(traffic.entries.get(routers.get(number, number), ()))
        for number in range(len(forwarding.rows))
    )


def random_fabric(chance: Random) -> Fabric:
    kind = chance.randrange(4)
    if kind == 0:
        fabric = lossless(three_tier(2, chance.randint(2, 4), 2, chance.randint(1, 3)))
    elif kind == 1:
        fabric = fat_tree(4, shared=chance.random() < 0.5)
    elif kind == 2:
        fabric = lossless(with_hosts(two_tier(chance.randint(2, 5), 2, parallel=2), 2, rails=2))
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
    return with_random_qos(fabric, chance) if chance.random() < 0.2 else fabric


def check_exchanges(chance: Random) -> int:
    """Carry out the exchanges of a random fabric with failures; return how many there are."""
    fabric = random_fabric(chance)
    traffic = traffic_of(fabric, sampled_failures(fabric, chance.choice((0.0, 0.05, 0.2)), chance))
    found = EquivalentRouterClasses(traffic, nothing, nothing)
    count = 0
    for first, *others in found.members.values():
        for other in others:
            assert exchange_is_harmless(traffic, found, first, other)
            count += 1
    return count


def test_every_exchange_leaves_a_random_fabric_as_it_is() -> None:
    assert sum(map(check_exchanges, seeds(60))) > 100


@pytest.mark.nightly
def test_every_exchange_leaves_many_random_fabrics_as_they_are() -> None:
    for seed in range(1000, 3000):
        check_exchanges(Random(seed))


def test_leaves_spines_and_superspines_of_a_plane_change_places() -> None:
    assert classes(traffic_of(lossless(two_tier(4, 3)))) == [{"l1", "l2", "l3", "l4"}, {"s1", "s2", "s3"}]
    assert classes(traffic_of(lossless(three_tier(2, 3, 2, 2)))) == [
        {"p0-leaf0", "p0-leaf1", "p0-leaf2"}, {"p1-leaf0", "p1-leaf1", "p1-leaf2"},
        {"super0-0", "super0-1"}, {"super1-0", "super1-1"},
    ]  # fmt: skip


def test_switches_that_differ_stay_apart() -> None:
    fabric = lossless(two_tier(4, 2))
    assert classes(traffic_of(fabric, links_between(fabric, "l1-s1"))) == [{"l2", "l3", "l4"}]
    first, *others = fabric.devices
    ports = (replace_fields(first.interfaces[0], qos=random_qos(Random(1))), *first.interfaces[1:])
    assert ports[0].qos != LOSSLESS
    changed = replace_fields(fabric, devices=(replace_fields(first, interfaces=ports), *others))
    assert classes(traffic_of(changed)) == [{"l2", "l3", "l4"}]
    assert classes(traffic_of(ring(6))) == []


def test_keys_keep_ports_and_routers_apart() -> None:
    traffic = traffic_of(lossless(two_tier(4, 2)))
    by_port = EquivalentRouterClasses(traffic, lambda end: end == End("l1", "e0"), nothing)
    by_router = EquivalentRouterClasses(traffic, nothing, lambda number: number)
    assert sorted(map(len, by_port.members.values())) == [1, 1, 1, 3]
    assert set(map(len, by_router.members.values())) == {1}
