"""On which leaves the ports of hosts end: rails that are swapped, sets of leaves, several rails on a leaf."""

from collections.abc import Mapping

import pytest

from nodrop.analyses import host_leaves
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN


def fabric(hosts: Mapping[str, str]) -> Index:
    """Hosts by the leaves of their ports: `gpu1: AB` has port 1 on leaf A and port 2 on B; `.` is not cabled."""
    ends = [
        (End(host, f"nic{number}"), End(leaf, f"{host}.{number}"))
        for host, leaves in hosts.items()
        for number, leaf in enumerate(leaves, 1)
        if leaf != "."
    ]
    return Index(
        Fabric(
            name="rails",
            mode="lossless",
            devices=tuple(
                Device(
                    name=name,
                    platform="any",
                    interfaces=tuple(Interface(name=far.port) for _, far in ends if far.node == name),
                )
                for name in sorted({far.node for _, far in ends})
            ),
            links=tuple(Link(a=min(pair), b=max(pair)) for pair in ends),
            hosts=tuple(
                Host(
                    name=name,
                    group=name.rstrip("0123456789"),
                    gpus=8,
                    nic="any",
                    ports=tuple(
                        HostPort(name=f"nic{number}", speed_mbps=UNKNOWN, lanes=UNKNOWN)
                        for number in range(1, len(leaves) + 1)
                    ),
                    spread="rails",
                )
                for name, leaves in hosts.items()
            ),
        )
    )


@pytest.mark.parametrize(
    ("hosts", "astray"),
    [
        ({"gpu1": "AB", "gpu2": "AB", "gpu3": "BA"}, {("gpu3", "nic1", "B", "A"), ("gpu3", "nic2", "A", "B")}),
        ({"gpu1": "BA", "gpu2": "AB", "gpu3": "AB"}, {("gpu1", "nic1", "B", "A"), ("gpu1", "nic2", "A", "B")}),
        ({"gpu1": "AB", "gpu2": "CD", "gpu3": "CD"}, set()),
        ({"gpu1": "AB", "gpu2": "AB", "gpu3": "CD", "gpu4": "CD", "gpu5": "CB"}, {("gpu5", "nic1", "C", "A")}),
        ({"gpu1": "AABB", "gpu2": "AABB", "gpu3": "ABAB"}, {("gpu3", "nic2", "B", "A"), ("gpu3", "nic3", "A", "B")}),
        ({"gpu1": "AB", "gpu2": "A.", "gpu3": ".B"}, set()),
        ({"gpu1": "AB", "gpu2": "AB", "store1": "BA", "store2": "BA"}, set()),
        ({"gpu1": "AB", "gpu2": "AB", "gpu3": "AA"}, set()),
    ],
)
def test_ports_on_the_leaf_of_another_rail(hosts: dict[str, str], astray: set[tuple[str, str, str, str]]) -> None:
    found = host_leaves.find(fabric(hosts), what="rails")
    assert {tuple(hit.facts[key] for key in ("host", "port", "leaf", "expected")) for hit in found} == astray


def test_hosts_with_all_ports_on_one_leaf() -> None:
    found = list(host_leaves.find(fabric({"gpu1": "AB", "gpu2": "AA", "gpu3": "A.", "gpu4": "A"}), what="one-leaf"))
    assert [(hit.subject[-1], hit.at, hit.facts["leaf"]) for hit in found] == [("gpu2", ("A", "gpu2.1"), "A")]
