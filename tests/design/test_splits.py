"""Panel ports that are broken out, and rails: which port a cable takes, its lanes and addresses, and what cannot be."""

from collections import Counter
from functools import cache
from typing import Any

import pytest

from nodrop.design.defaults import applied_defaults
from nodrop.design.endpoints import attachments_of_host_ports
from nodrop.errors import InputProblems
from nodrop.model.fabric import Fabric, Port
from nodrop.model.qos import QosProfile
from support.designs import build, load, port, shipped
from support.splits import EIGHTHS


@cache
def rails() -> Fabric:
    return build(shipped("rail-256"))


def problems(name: str, changes: dict[str, Any]) -> list[tuple[str, str, str]]:
    with pytest.raises(InputProblems) as raised:
        build(shipped(name, changes))
    return [(problem.where, problem.found, problem.hint) for problem in raised.value.problems]


def test_rails_put_port_k_of_every_server_on_leaf_k() -> None:
    far = {link.a: link.b for link in rails().links} | {link.b: link.a for link in rails().links}
    nics = {end: other.node for end, other in far.items() if end.node.startswith("gpu")}
    assert {(end.node, end.port): leaf for end, leaf in nics.items()} == {
        (f"gpu{server}", f"nic{rail}"): f"leaf{rail}" for server in range(1, 33) for rail in range(1, 9)
    }


def test_sets_of_rails_follow_one_another() -> None:
    """`host:port:leaf:slot`: hosts past leaf_group are on the next set of leaves."""
    group = {"ids": "1-3", "ports": "3", "leaf_group": "2", "spread": "rails"}
    data = shipped("two-by-two", {f"endpoints.gpu.{key}": value for key, value in group.items()})
    found = [":".join(map(str, place)) for place in attachments_of_host_ports(load(data).endpoints["gpu"])]
    assert found == ["1:1:1:0", "1:2:2:0", "1:3:3:0", "2:1:1:1", "2:2:2:1", "2:3:3:1", "3:1:4:0", "3:2:5:0", "3:3:6:0"]


def test_a_full_fabric_uses_every_part() -> None:
    for device in rails().devices:
        used = {one.port for one in device.interfaces if one.enabled}
        panels = range(1, 65) if device.role == "spine" else [*range(1, 17), *range(49, 65)]
        assert used == {Port(panel, part) for panel in panels for part in (0, 1)}
        assert {(one.speed_mbps, one.lanes, one.fec) for one in device.interfaces if one.enabled} == {
            (400_000, 4, "rs")
        }


def test_parts_are_taken_side_by_side() -> None:
    leaf = rails().device("leaf3")
    far = {one.port: one.description for one in leaf.interfaces}
    assert [far[Port(1, 0)], far[Port(1, 1)], far[Port(2, 0)]] == ["gpu1:nic3", "gpu2:nic3", "gpu3:nic3"]
    assert [far[Port(49, 0)], far[Port(49, 1)]] == ["spine1:Ethernet128", "spine1:Ethernet132"]
    assert far[Port(57, 0)] == "spine2:Ethernet128"
    assert {far[Port(panel)] for panel in range(17, 49)} == {None}


def test_addresses_follow_from_the_slot_of_a_part() -> None:
    """(panel - 1) × 4 + part: 256 slots of two addresses each hold 64 ports of up to four parts."""
    assert port(rails(), "leaf1", "Ethernet0").addresses == ("10.2.2.0/31",)
    assert port(rails(), "leaf1", "Ethernet4").addresses == ("10.2.2.2/31",)
    assert port(rails(), "leaf1", "Ethernet8").addresses == ("10.2.2.8/31",)
    assert port(rails(), "leaf2", "Ethernet124").addresses == ("10.2.4.122/31",)
    assert port(rails(), "leaf1", "Ethernet388").addresses == ("10.1.3.130/31",)
    assert port(rails(), "spine1", "Ethernet4").addresses == ("10.1.3.131/31",)


def test_headroom_is_that_of_the_lanes_of_a_part() -> None:
    """Eight lanes have twice the pipeline latency of four."""
    whole = build(shipped("rail-256", {"topology.uplinks.split": "1", "topology.uplinks.per_spine": "8"} | TWO_TO_ONE))
    found = []
    for fabric in (rails(), whole):
        qos = port(fabric, "leaf1", "Ethernet384").qos
        assert isinstance(qos, QosProfile)
        assert isinstance(qos.priority_groups, tuple)
        found.append(qos.priority_groups[1].buffer.headroom.xon_bytes)  # type: ignore[union-attr]
    assert found == [19_456, 38_912]


TWO_TO_ONE = {"topology.max_oversubscription": "2"}


def test_tiers_may_be_split_differently() -> None:
    """400G on four lanes of a leaf and eight of a spine: optics join them, copper does not."""
    spines = {"topology.spines.model": "SN4700", "topology.uplinks.spine_split": "1", "topology.uplinks.per_spine": "4"}
    changes = spines | {"topology.max_oversubscription": "4"}
    fabric = build(shipped("rail-256", changes))
    assert port(fabric, "leaf1", "Ethernet388").description == "spine1:Ethernet8"
    assert (port(fabric, "leaf1", "Ethernet388").lanes, port(fabric, "spine1", "Ethernet8").lanes) == (4, 8)
    copper = {"topology.uplinks.media": "DAC", "topology.uplinks.length": "2m"}
    ((where, found, _),) = problems("rail-256", changes | copper)
    assert where == "topology.uplinks.media"
    assert found == "DAC is passive and cannot join 4 lanes of SN5600 to 8 lanes of SN4700 at 400G"


def test_copper_reaches_servers_from_half_a_port() -> None:
    """ConnectX-7 runs 400G on four lanes, as half a port of an SN5600 does; a whole one has eight."""
    copper = {"endpoints.gpu.media": "DAC", "endpoints.gpu.length": "2m"}
    assert port(build(shipped("rail-256", copper)), "leaf1", "Ethernet0").autoneg is True
    whole = copper | {"endpoints.gpu.split": "1", "topology.leaves.ports.endpoints": "1-32"}
    ((where, found, hint),) = problems("rail-256", whole)
    assert where == "endpoints.gpu.media"
    assert found == "DAC is passive and cannot join 8 lanes of SN5600 to 4 lanes of ConnectX-7 at 400G"
    assert hint == "split: 2, or for 400G over 2m: AOC, SR4, SR8, DR4, FR4, LR4"
    assert build(shipped("rail-256", whole | {"endpoints.gpu.split": "2"}))


def test_routing_and_timers_follow_from_the_ports_there_may_be() -> None:
    """128 ports take four steps of SONiC's 200 ms; a leaf of 32 panel ports may have 64 equal paths.

    A spine has no more to any leaf than `per_spine` may be.
    """
    printed = {one.key: one.value for one in applied_defaults(load(shipped("rail-256", {"pfc": None})))}
    assert printed["pfc.watchdog.hosts.detection"] == "800ms"
    assert {device.name: device.bgp.maximum_paths for device in rails().devices if device.bgp} == {
        **{f"leaf{number}": 64 for number in range(1, 9)},
        **{f"spine{number}": 64 for number in (1, 2)},
    }
    quarters = {"speed": "100G", "media": "AOC", "split": "4", "per_spine": "32"}
    fabric = build(shipped("reference-256", {f"topology.uplinks.{key}": value for key, value in quarters.items()}))
    assert fabric.device("leaf1").bgp.maximum_paths == 64  # type: ignore[union-attr]
    assert fabric.device("spine1").bgp.maximum_paths == 64  # type: ignore[union-attr]
    assert Counter(one.lanes for one in fabric.device("leaf1").interfaces) == {8: 16, 2: 64}


def test_the_split_of_spines_is_that_of_leaves_unless_it_is_stated() -> None:
    stated = {"topology.uplinks.spine_split": "2"}
    found = [
        {one.key: one.value for one in applied_defaults(load(shipped(name, changes)))}.get(
            "topology.uplinks.spine_split"
        )
        for name, changes in (("rail-256", {}), ("rail-256", stated), ("reference-256", {}))
    ]
    assert found == ["2", None, None]
    assert build(shipped("rail-256", stated)) == rails()


def test_eight_parts_take_the_port_after_them() -> None:
    """The switch has no port there; addresses of the fifth part onwards are those that it would have had."""
    fabric = build(shipped("two-by-two", EIGHTHS | {"topology.max_oversubscription": "1"}))
    leaf = fabric.device("leaf1")
    panels = Counter(one.port.panel for one in leaf.interfaces)  # type: ignore[union-attr]
    assert {panel: panels[panel] for panel in range(1, 9)} == {1: 8, 2: 0, 3: 1, 4: 1, 5: 8, 6: 0, 7: 8, 8: 0}
    first = [(one.name, one.lanes, one.addresses) for one in leaf.interfaces[:8]]
    assert first == [(f"swp1s{part}", 1, (f"10.2.2.{2 * part}/31",)) for part in range(8)]
    used = [address for device in fabric.devices for one in device.interfaces for address in one.addresses]  # type: ignore[union-attr]
    assert len(used) == len(set(used))


@pytest.mark.parametrize(
    ("ports", "found"),
    [
        (
            {"endpoints": "1-3", "uplinks": "5, 7"},
            ("topology.leaves.ports.endpoints", "1-3: split into 8, a port takes the one after it", "endpoints: 1, 3"),
        ),
        (
            {"endpoints": "1", "uplinks": "2, 5"},
            ("topology.leaves.ports.uplinks", "2, 5: split into 8, a port takes the one after it", "uplinks: 5"),
        ),
    ],
)
def test_ports_that_eight_parts_would_take_are_refused(ports: dict[str, str], found: tuple[str, str, str]) -> None:
    assert found in problems("two-by-two", EIGHTHS | {"topology.leaves.ports": ports})
    key = found[0].rpartition(".")[2]
    build(shipped("two-by-two", EIGHTHS | {"topology.leaves.ports": ports | {key: found[2].partition(": ")[2]}}))


MIXED = {
    **{f"topology.{tier}.model": "SN2410" for tier in ("leaves", "spines")},
    "topology.leaves.ports": {"endpoints": "1-4", "uplinks": "49-52"},
    "topology.uplinks": {"per_spine": "2", "speed": "100G", "media": "DR", "length": "30m"},
    "topology.max_oversubscription": "1",
    "endpoints.storage": None,
    "endpoints.gpu": {
        "ids": "1-4",
        "gpus": "1",
        "nic": "ConnectX-6",
        "ports": "2",
        "leaf_group": "4",
        "speed": "25G",
        "media": "AOC",
        "length": "3m",
    },
}


@pytest.mark.parametrize(("platform", "version"), [("sonic", "202505"), ("nvue", "5.14")])
def test_hosts_and_uplinks_may_be_on_ports_of_different_kinds(platform: str, version: str) -> None:
    on = {
        f"topology.{tier}.{key}": value
        for tier in ("leaves", "spines")
        for key, value in (("platform", platform), ("version", version))
    }
    fabric = build(shipped("two-by-two", MIXED | on))
    leaf, spine = fabric.device("leaf1"), fabric.device("spine1")
    cabled = [(one.port.panel, one.speed_mbps, one.lanes) for one in leaf.interfaces if one.side]  # type: ignore[union-attr]
    assert cabled == [(panel, 25_000, 1) for panel in range(1, 5)] + [(panel, 100_000, 4) for panel in range(49, 53)]
    assert {one.port.panel for one in spine.interfaces if one.side} <= set(range(49, 57))  # type: ignore[union-attr]
    assert len(leaf.interfaces) == 56


def test_a_list_of_ports_of_different_kinds_is_refused() -> None:
    found = problems("two-by-two", MIXED | {"topology.leaves.ports": {"endpoints": "1-4", "uplinks": "47-50"}})
    assert found[0] == (
        "topology.leaves.ports.uplinks",
        "47-50: SN2410 has ports of several kinds there",
        "47-48 or 49-50",
    )
