"""Dragonfly and torus: the circles of the literature's table, and a walk of every packet as the oracle."""

import itertools
from collections.abc import Iterator

import networkx
import pytest

from nodrop.errors import InputProblems, Problem
from nodrop.intent.load import loads
from nodrop.proofs.direct_networks import (
    DirectNetwork,
    DragonflyRoutes,
    NetworkRoutes,
    TorusRoutes,
    check_network_for_circles,
    find_priorities_that_end_circles,
    make_dragonfly,
    make_torus,
)

CLASSES = "classes: {rdma: {dscp: 26, priority: 3, lossless: true}, rest: {dscp: rest, priority: 0}}\n"
Hop = tuple[int, int, int]
"""Two switches, and the priority behind the cable."""


def routes_of(network: DirectNetwork, routing: str) -> NetworkRoutes:
    return TorusRoutes(network) if routing == "torus" else DragonflyRoutes(network, valiant=routing == "valiant")


@pytest.mark.parametrize(
    ("network", "routing", "circles", "buffers", "shortest", "priorities"),
    [
        (make_dragonfly(9, 4, 2), "minimal", 1, 180, 6, 2),
        (make_dragonfly(9, 4, 2), "valiant", 1, 180, 4, 3),
        (make_torus((6, 6)), "torus", 24, 144, 6, 2),
        (make_torus((5,)), "torus", 2, 10, 5, 2),
        (make_torus((4, 4, 4)), "torus", 96, 384, 4, 2),
    ],
)
def test_circles_with_one_priority_and_the_priorities_without(
    network: DirectNetwork, routing: str, circles: int, buffers: int, shortest: int, priorities: int
) -> None:
    need = find_priorities_that_end_circles(network, routes_of(network, routing))
    assert len(need.single.circles) == circles
    assert need.single.buffers_on_circles == buffers
    assert len(need.single.circles[0]) == shortest
    assert need.priorities == priorities


def test_a_torus_of_threes_needs_one_priority() -> None:
    network = make_torus((3, 3))
    assert find_priorities_that_end_circles(network, TorusRoutes(network)).priorities == 1


@pytest.mark.parametrize("priorities", [1, 2, 3])
@pytest.mark.parametrize(
    ("network", "routing"),
    [
        (make_dragonfly(9, 4, 2), "minimal"),
        (make_dragonfly(9, 4, 2), "valiant"),
        (make_dragonfly(5, 2, 2), "minimal"),
        (make_dragonfly(4, 3, 2), "valiant"),
        (make_dragonfly(3, 1, 2), "minimal"),
        (make_torus((6, 6)), "torus"),
        (make_torus((4, 3)), "torus"),
        (make_torus((2, 5, 3)), "torus"),
    ],
)
def test_the_graph_is_circular_where_walked_packets_are(network: DirectNetwork, routing: str, priorities: int) -> None:
    walked: networkx.DiGraph[Hop] = networkx.DiGraph()
    for packet in walk_packets(network, routing, priorities):
        networkx.add_path(walked, packet)
    check = check_network_for_circles(network, routes_of(network, routing), priorities)
    assert check.is_free is networkx.is_directed_acyclic_graph(walked)
    components = [part for part in networkx.strongly_connected_components(walked) if len(part) > 1]
    assert len(check.circles) == len(components)


def walk_packets(network: DirectNetwork, routing: str, priorities: int) -> Iterator[list[Hop]]:
    """Yield the hops of every packet, on every equally short way."""
    if routing == "torus":
        for path in torus_paths(network):
            yield with_datelines(network, path, priorities)
        return
    groups = sorted({group for group, _ in network.switches})
    for a, (source, _) in enumerate(network.switches):
        for b, (target, _) in enumerate(network.switches):
            vias = [target] if routing == "minimal" or source == target else groups
            for via in vias:
                for path in dragonfly_paths(network, a, [via, target], b):
                    yield with_global_steps(network, path, priorities)


def dragonfly_paths(network: DirectNetwork, at: int, groups: list[int], end: int) -> Iterator[list[int]]:
    """Yield the ways that enter groups in turn, each by the shortest way, and end at a switch."""
    if not groups:
        yield [at] if at == end else [at, end]
        return
    group = network.switches[at][0]
    if groups[0] == group:
        yield from dragonfly_paths(network, at, groups[1:], end)
        return
    gates = [
        (near, far)
        for pair in set(network.cables)
        for near, far in (pair, pair[::-1])
        if network.switches[near][0] == group and network.switches[far][0] == groups[0]
    ]
    for near, far in [gate for gate in gates if gate[0] == at] or gates:
        for rest in dragonfly_paths(network, far, groups[1:], end):
            yield ([at] if near == at else [at, near]) + rest


def with_global_steps(network: DirectNetwork, path: list[int], priorities: int) -> list[Hop]:
    hops, passed = [], 0
    for near, far in itertools.pairwise(path):
        passed += network.switches[near][0] != network.switches[far][0]
        hops.append((near, far, min(passed, priorities - 1)))
    return hops


def torus_paths(network: DirectNetwork) -> Iterator[list[tuple[int, ...]]]:
    sizes = [max(places) + 1 for places in zip(*network.switches, strict=True)]
    for start in network.switches:
        for end in network.switches:
            paths = [[start]]
            for axis, size in enumerate(sizes):
                ahead = (end[axis] - start[axis]) % size
                ways = {(1, ahead), (-1, (size - ahead) % size)}
                least = min(length for _, length in ways)
                paths = [
                    path + [move(path[-1], axis, step * count, size) for count in range(1, length + 1)]
                    for path in paths
                    for step, length in sorted(ways)
                    if length == least
                ]
            yield from paths


def move(switch: tuple[int, ...], axis: int, steps: int, size: int) -> tuple[int, ...]:
    return (*switch[:axis], (switch[axis] + steps) % size, *switch[axis + 1 :])


def with_datelines(network: DirectNetwork, path: list[tuple[int, ...]], priorities: int) -> list[Hop]:
    number = {switch: place for place, switch in enumerate(network.switches)}
    hops: list[Hop] = []
    axis_before, passed = -1, 0
    for near, far in itertools.pairwise(path):
        axis = next(place for place, (a, b) in enumerate(zip(near, far, strict=True)) if a != b)
        passed = (0 if axis != axis_before else passed) + (abs(near[axis] - far[axis]) > 1)
        axis_before = axis
        hops.append((number[near], number[far], min(passed, priorities - 1)))
    return hops


def refused(topology: str, classes: str = CLASSES) -> list[Problem]:
    with pytest.raises(InputProblems) as raised:
        loads(f"nodrop: 1\nfabric: f\ntopology: {topology}\n{classes}".encode(), "i.yaml")
    return list(raised.value.problems)


@pytest.mark.parametrize(
    ("topology", "priorities"),
    [
        ("{kind: dragonfly, switches_per_group: 4, global_cables: 2}", 2),
        ("{kind: dragonfly, switches_per_group: 4, global_cables: 2, routing: valiant}", 3),
        ("{kind: torus, size: 6x6}", 2),
    ],
)
def test_one_lossless_class_is_refused_at_its_key_with_the_priorities_that_do(topology: str, priorities: int) -> None:
    kind, lossless = refused(topology)
    assert (kind.where, lossless.where) == ("topology.kind", "classes.rdma.lossless")
    assert lossless.expected.startswith(f"{priorities} priorities for the class")


@pytest.mark.parametrize(
    ("topology", "classes"),
    [("{kind: torus, size: 6x6}", CLASSES.replace("true", "false")), ("{kind: torus, size: 3x3}", CLASSES)],
)
def test_without_circles_only_the_kind_is_refused(topology: str, classes: str) -> None:
    assert [problem.where for problem in refused(topology, classes)] == ["topology.kind"]


def test_a_sheet_is_the_network_of_its_names() -> None:
    network = make_dragonfly(9, 4, 2)
    names = [f"g{group + 1}s{switch + 1}" for group, switch in network.switches]
    rows = ", ".join(f'"{names[a]}:p{i}--{names[b]}:q{i}"' for i, (a, b) in enumerate(network.cables))
    by_sheet = refused(f"{{kind: dragonfly, cables: [{rows}]}}")
    by_size = refused("{kind: dragonfly, switches_per_group: 4, global_cables: 2}")
    assert [(problem.where, problem.message) for problem in by_sheet] == [
        (problem.where, problem.message) for problem in by_size
    ]


@pytest.mark.parametrize(
    ("topology", "where", "message"),
    [
        ("{kind: torus, size: 60x60}", "topology", "3,600 switches; expected at most 512"),
        ("{kind: torus, size: 1x6}", "topology.size", "1x6; expected 1 to 4 numbers from 2 to 512"),
        ("{kind: torus}", "topology", "no size, and no cables"),
        ("{kind: dragonfly, groups: 9}", "topology", "no switches_per_group and global_cables"),
        ("{kind: torus, cables: ['leaf:p1--sw2:p1']}", "topology.cables.0", "leaf as a switch of a torus"),
        ("{kind: torus, cables: ['sw2:p1--sw2:p2']}", "topology.cables.0", "sw2:p1 and sw2:p2 are one switch"),
        ("{kind: dragonfly, cables: ['g1s1:a--g1s2:a', 'g1s1:b--g2s1:b', 'g2s1:c--g3s1:c']}", "topology.cables",
         "no cable between groups 1 and 3"),
    ],
)  # fmt: skip
def test_faults_of_networks(topology: str, where: str, message: str) -> None:
    assert any(problem.where == where and problem.message.startswith(message) for problem in refused(topology))
