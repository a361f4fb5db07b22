"""Shortest paths without a valley, by a search of the cables: nothing here uses what nodrop computes of routing.

A path goes up from tier to tier and then down, never up again. It passes no two switches with one AS number, which
switches of a pod share in a tier between, and all of the top tier (RFC 7938, section 5.2.1). Those that are shortest
are equal paths, once for each choice of parallel cables.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Mapping
from typing import NamedTuple

from nodrop.model.fabric import End, Fabric
from support.designs import Data


class CableGraph(NamedTuple):
    """The tier of every switch, who shares an AS number, and how many cables lead to each neighbor."""

    tiers: Mapping[str, int]
    asn_owners: Mapping[str, Hashable]
    neighbors: Mapping[str, Counter[str]]


def read_cables(data: Data, fabric: Fabric, failed: Collection[End]) -> CableGraph:
    """Return the graph of an intent of groups: tiers and pods as the intent states them, cables that have not failed.

    `failed` is ends of cables. Switches are named by their group and id.
    """
    tiers: dict[str, int] = {}
    asn_owners: dict[str, Hashable] = {}
    groups = data["topology"]["groups"]
    for device in fabric.devices:
        name = device.name.rstrip("0123456789")
        number, group = int(device.name[len(name) :]), groups[name]
        tiers[device.name] = tier = int(group["tier"])
        pod = (number - 1) // int(group["per_pod"]) if "per_pod" in group else 0
        asn_owners[device.name] = device.name if tier == 1 else (tier, pod)
    neighbors: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for link in fabric.links:
        if link.a.node in tiers and link.b.node in tiers and not {link.a, link.b} & set(failed):
            neighbors[link.a.node][link.b.node] += 1
            neighbors[link.b.node][link.a.node] += 1
    return CableGraph(tiers, asn_owners, neighbors)


def find_shortest_paths(graph: CableGraph, source: str, target: str) -> dict[tuple[str, ...], int]:
    """Return the shortest paths without a valley, each with the number of its choices of cables; empty if none."""
    paths = {(source,): 1}
    descending = {(source,): False}
    while paths and source != target:
        longer: dict[tuple[str, ...], int] = {}
        for path, count in paths.items():
            here = path[-1]
            passed = {graph.asn_owners[name] for name in path}
            for neighbor, cables in graph.neighbors[here].items():
                goes_up = graph.tiers[neighbor] > graph.tiers[here]
                if graph.asn_owners[neighbor] not in passed and not (goes_up and descending[path]):
                    longer[*path, neighbor] = count * cables
                    descending[*path, neighbor] = not goes_up
        arrived = {path: count for path, count in longer.items() if path[-1] == target}
        if arrived:
            return arrived
        paths = longer
    return paths
