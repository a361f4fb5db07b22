"""Paths of packets in random topologies with failures, against a search of the cables from the definition."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodrop.model.fabric import End, Fabric
from nodrop.model.index import Index
from nodrop.model.states import known_rows
from nodrop.routing import compute_control_plane
from nodrop.routing.paths import PathWalk, find_start_at_device
from nodrop.routing.prefixes import parse_address
from support.designs import Data, build
from support.random_topologies import pods, pods_of_pods, several_groups, topologies
from support.valley_free import CableGraph, find_shortest_paths, read_cables

FAILED_SHARES = (0.0, 0.05, 0.2, 0.5)
"""How many of the cables between switches fail."""


def draw_failures(fabric: Fabric, chance: Random) -> frozenset[End]:
    """Return both ends of random cables between switches, and of every cable of at most one switch."""
    switches = [device.name for device in fabric.devices]
    share = chance.choice(FAILED_SHARES)
    lost = chance.choice([None, None, *switches])
    return frozenset(
        end
        for link in fabric.links
        for end in (link.a, link.b)
        if link.a.node in switches and link.b.node in switches
        if chance.random() < share or lost in (link.a.node, link.b.node)
    )


def targets(fabric: Fabric, name: str) -> Iterator[str]:
    """Yield the loopback of a switch, and the address of one host."""
    yield known_rows(fabric.device(name).loopbacks)[0].addresses[0].partition("/")[0]
    far_ends = {link.a: link.b for link in fabric.links} | {link.b: link.a for link in fabric.links}
    for host in fabric.hosts:
        for port in host.ports:
            far_end = far_ends.get(End(host.name, port.name))
            if far_end is not None and far_end.node == name:
                yield known_rows(port.addresses)[0].partition("/")[0]
                return


def assert_paths_are_those_of_the_search(data: Data, chance: Random) -> None:
    """Compare all paths between switches next to hosts."""
    fabric = build(data)
    failed = draw_failures(fabric, chance)
    plane = compute_control_plane(Index(fabric), failed)
    graph = read_cables(data, fabric, failed)
    lowest = [name for name, tier in graph.tiers.items() if tier == 1]
    names = [router.device.name for router in plane.routers]
    for source in lowest:
        start = find_start_at_device(plane, source, None)
        assert start is not None
        for target in lowest:
            expected = find_shortest_paths(graph, source, target)
            for text in targets(fabric, target):
                to = parse_address(text)
                assert to is not None
                walk = PathWalk(plane, start, to)
                delivered = {
                    tuple(names[number] for number in way.routers): way.paths
                    for way in walk.ways
                    if way.outcome == "delivered"
                }
                assert delivered == expected, (source, target, text, sorted(failed))
                assert walk.arrives_on_every_path is bool(expected), (source, target, text, sorted(failed))


def test_the_search_goes_neither_down_and_up_nor_through_two_spines_of_a_pod() -> None:
    """A pod of leaves a, b and c and spines s and t, of which a and b have no common spine; d and u are another pod."""
    tiers = {"a": 1, "b": 1, "c": 1, "d": 1, "s": 2, "t": 2, "u": 2, "x": 3}
    owners = {name: {"s": "pod1", "t": "pod1", "u": "pod2"}.get(name, name) for name in tiers}
    cables = {"as": 1, "bt": 2, "cs": 1, "ct": 1, "du": 1, "sx": 1, "tx": 3, "ux": 2}
    neighbors: dict[str, Counter[str]] = {name: Counter() for name in tiers}
    for (lower, upper), count in cables.items():
        neighbors[lower][upper] = neighbors[upper][lower] = count
    graph = CableGraph(tiers, owners, neighbors)
    assert find_shortest_paths(graph, "a", "b") == {}
    assert find_shortest_paths(graph, "b", "c") == {("b", "t", "c"): 2}
    assert find_shortest_paths(graph, "c", "d") == {("c", "s", "x", "u", "d"): 2, ("c", "t", "x", "u", "d"): 6}
    assert find_shortest_paths(graph, "a", "a") == {("a",): 1}


@given(topologies() | pods_of_pods(), st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_paths_are_those_without_a_valley(data: Data, chance: Random) -> None:
    assert_paths_are_those_of_the_search(data, chance)


@given(several_groups() | pods() | pods_of_pods(), st.randoms(use_true_random=False))
@settings(max_examples=200)
@pytest.mark.nightly
def test_paths_of_200_topologies_with_failures_are_those_without_a_valley(data: Data, chance: Random) -> None:
    assert_paths_are_those_of_the_search(data, chance)
