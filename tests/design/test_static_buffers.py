"""Switches whose headroom comes from tables: Broadcom's, in SONiC's traditional buffer model."""

from dataclasses import replace
from typing import Any

import pytest

from nodrop import design
from nodrop.design.static_buffers import design_static_buffers
from nodrop.design.topology import topology_of
from nodrop.engine.vocabulary.admission import depth_when_senders_pause_bytes
from nodrop.engine.vocabulary.egress import exceeded_static_threshold_limit_bytes
from nodrop.errors import InputProblems
from nodrop.hardware import switch
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.fabric import Device, Fabric
from nodrop.model.qos import QosProfile
from support.designs import Data, build, changed, load, port, shipped

INTENT = shipped("broadcom")
FABRIC = build(INTENT)
CELL = 254


def lossless(fabric: Fabric, device: str, name: str) -> BufferProfile:
    qos = port(fabric, device, name).qos
    assert isinstance(qos, QosProfile)
    group: Any = next(one for one in qos.priority_groups if one.index == 3)  # type: ignore[union-attr]
    return group.buffer  # type: ignore[no-any-return]


def with_changes(changes: Data) -> Fabric:
    return build(changed(INTENT, changes))


def notes(changes: Data) -> set[tuple[str, str, str]]:
    return {(note.path, note.wanted, note.made) for note in design.find_adaptations(load(changed(INTENT, changes)))}


@pytest.mark.parametrize(
    ("device", "name", "true_m", "told_m", "size", "xon", "xoff", "offset"),
    [  # rows of DellEMC-Z9332f-O32 and Dell-Z9864f-O64, pg_profile_lookup.ini
        ("leaf1", "Ethernet0", 3, 5, 2540, 2540, 178562, 2540),
        ("leaf1", "Ethernet224", 30, 40, 2540, 2540, 201930, 2540),
        ("spine1", "Ethernet0", 30, 40, 18796, 0, 446024, 3556),
    ],
)
def test_the_row_of_the_next_cable_that_the_table_has(
    device: str, name: str, true_m: int, told_m: int, size: int, xon: int, xoff: int, offset: int
) -> None:
    assert lossless(FABRIC, device, name) == BufferProfile(
        pool="ingress_lossless",
        size_bytes=size,
        dynamic_th=0,
        headroom=Headroom(xoff_bytes=xoff, xon_bytes=xon, xon_offset_bytes=offset),
    )
    assert port(FABRIC, device, name).cable_length_m == told_m
    ends = ((link.a, link.b, link.length_m) for link in FABRIC.links)
    assert {length for a, b, length in ends if (device, name) in ((a.node, a.port), (b.node, b.port))} == {true_m}


def test_rounded_cables_are_noted() -> None:
    assert notes({}) == {
        ("leaf*/*/cable_length_m", "3 m, 30 m", "5 m, 40 m"),
        ("spine*/*/cable_length_m", "30 m", "40 m"),
    }
    assert not notes({"topology.uplinks.length": "40m", "endpoints.gpu.length": "5m", "endpoints.storage.length": "5m"})


def test_pools_fit_the_chip() -> None:
    """A leaf has 4 ports of 40 m, and 2 and 1 of 5 m: each reserves 2540 bytes for its lossless priority group, and 7
    cells for each of 5 lossy queues; the headroom of all is in whole cells."""
    leaf = FABRIC.device("leaf1")
    pools: Any = {pool.name: pool for pool in leaf.buffer_pools}  # type: ignore[union-attr]
    reserved = 7 * 2540 + 7 * 5 * 7 * CELL
    headroom = 4 * 201930 + 3 * 178562
    size = (67117468 - reserved) // CELL * CELL
    assert headroom % CELL == 0
    assert leaf.buffer_model == "traditional"
    assert leaf.dynamic_buffers is None
    assert pools["ingress_lossless"] == BufferPool(
        name="ingress_lossless", direction="ingress", mode="dynamic", size_bytes=size, shared_headroom_bytes=headroom
    )
    assert pools["egress_lossless"] == BufferPool(
        name="egress_lossless", direction="egress", mode="static", size_bytes=67117468
    )
    assert pools["egress_lossy"].size_bytes == (size - headroom) // 10 // CELL * CELL
    assert set(pools) == {"ingress_lossless", "egress_lossless", "egress_lossy"}


def test_senders_are_paused_by_what_the_shared_headroom_leaves() -> None:
    """alpha 1: half of a part of the pool less its shared headroom; Tomahawk 3 has two parts."""
    leaf = FABRIC.device("leaf1")
    pools: Any = {pool.name: pool for pool in leaf.buffer_pools}  # type: ignore[union-attr]
    pool = pools["ingress_lossless"]
    qos: Any = leaf.interfaces[0].qos
    assert (
        depth_when_senders_pause_bytes(leaf.model, leaf.buffer_model, leaf.buffer_pools, qos, 3)
        == (pool.size_bytes - pool.shared_headroom_bytes) / 2 / 2
    )


def test_over_subscription_makes_the_shared_headroom_smaller() -> None:
    def shared(stated: str) -> int:
        fabric = with_changes({"buffers.shared_headroom": stated})
        pools: Any = fabric.device("leaf1").buffer_pools
        return next(pool.shared_headroom_bytes for pool in pools if pool.name == "ingress_lossless")  # type: ignore[no-any-return]

    assert (shared("off"), shared("on"), shared("2")) == (1343406, 1343406, 671830)


def test_lossy_traffic_shares_the_ingress_pool() -> None:
    qos: Any = port(FABRIC, "leaf1", "Ethernet0").qos
    groups = {group.index: group.buffer for group in qos.priority_groups}
    queues = {queue.index: queue.buffer for queue in qos.queues}
    assert groups[0] == BufferProfile(pool="ingress_lossless", size_bytes=0, static_th_bytes=67117468)
    assert queues[3] == BufferProfile(pool="egress_lossless", size_bytes=0, static_th_bytes=67117468)
    assert queues[0] == BufferProfile(pool="egress_lossy", size_bytes=7 * CELL, dynamic_th=1)
    assert qos.pfc_to_priority_group is None


@pytest.mark.parametrize("mode", ["lossless", "lossy"])
def test_thresholds_that_a_chip_counts_in_one_part_of_its_memory_fit_the_part(mode: str) -> None:
    """More than the half of a Tomahawk 5 is refused from SAI 14 on (sonic-buildimage pull request 25945)."""
    data = shipped("broadcom") if mode == "lossless" else shipped("lossy")
    spine: Device = build(changed(data, {"topology.spines.model": "Z9864F", "topology.leaves.model": "Z9332F"})).device(
        "spine1"
    )
    qos: Any = next(port.qos for port in spine.interfaces if port.enabled)
    thresholds = {row.buffer.static_th_bytes for row in (*qos.priority_groups, *qos.queues)} - {None}
    pools: Any = spine.buffer_pools
    assert len(thresholds) == 1
    assert 0.97 * 165867080 / 2 < max(thresholds) <= 165867080 // 2 // 254 * 254
    assert all(exceeded_static_threshold_limit_bytes(replace(spine, version="202605"), pool) is None for pool in pools)


def test_a_cable_beyond_the_table_has_a_profile_of_its_own() -> None:
    """IEEE: (2 × (8 × 9216 + 160) + 672 + 2 × 5 ns/m × 3000 m × 400 Gb/s + 905 × 512) bits = 1576476 bytes; each packet
    of 84 bytes on the wire fills a cell of 254."""
    changes = {"topology.uplinks.media": "LR4", "topology.uplinks.length": "3000m", "buffers.shared_headroom": "4"}
    buffer = lossless(with_changes(changes), "leaf1", "Ethernet224")
    assert isinstance(buffer.headroom, Headroom)
    assert buffer.headroom.xoff_bytes == -(-1576476 * CELL // 84 // CELL) * CELL
    assert (buffer.size_bytes, buffer.headroom.xon_bytes, buffer.headroom.xon_offset_bytes) == (2540, 2540, 2540)
    made = f"{buffer.headroom.xoff_bytes} bytes"
    assert ("leaf*/*/qos/priority_groups/*/buffer", "a row of the table", made) in notes(changes)


def test_without_pfc_there_are_two_lossy_pools() -> None:
    data = shipped("lossy")
    model = {"topology.leaves.model": "Z9332F", "topology.spines.model": "Z9332F"}
    device: Device = build(changed(data, model)).device("leaf1")
    pools: Any = device.buffer_pools
    assert {(pool.name, pool.mode, pool.size_bytes) for pool in pools} == {
        ("ingress_lossy", "dynamic", 67117468),
        ("egress_lossy", "dynamic", 67117468),
    }
    assert device.buffer_model == "traditional"


def test_headroom_that_fills_the_memory_is_refused() -> None:
    long = {"topology.uplinks.media": "LR4", "topology.uplinks.length": "10000m"}
    with pytest.raises(InputProblems) as raised:
        with_changes(long)
    (problem,) = raised.value.problems
    assert problem.where == "topology.uplinks.length"
    assert "fills the 165.9 MB of Z9864F" in problem.found
    fitting = int(problem.expected.removeprefix("at most ").removesuffix("m"))
    assert with_changes({**long, "topology.uplinks.length": f"{fitting}m"}).devices
    with pytest.raises(InputProblems):
        with_changes({**long, "topology.uplinks.length": f"{fitting + 1}m"})


def test_a_ratio_that_leaves_less_than_a_port_needs_is_refused() -> None:
    """Leaves have 4 ports of 201930 bytes and 3 of 178562 (the table's rows): 1343406 together, 6 times the most."""
    with pytest.raises(InputProblems) as raised:
        with_changes({"buffers.shared_headroom": "7"})
    (problem,) = raised.value.problems
    assert (problem.where, problem.expected) == ("buffers.shared_headroom", "at most 6")
    assert problem.found == "7 leaves the leaves less than the 201.9 kB that one of their ports needs"
    assert with_changes({"buffers.shared_headroom": "6"}).devices


def test_headroom_within_a_table_s_sizes_is_each_port_s_own() -> None:
    """DS3000: 100G at 40 m has size 56368, xoff 55120 and xon 18432, whose sizes hold the headroom."""
    change = {"topology.leaves.model": "DS3000", "topology.spines.model": "DS3000", "topology.uplinks.speed": "100G"}
    speeds = {f"endpoints.{group}.speed": "100G" for group in ("gpu", "storage")}
    data = changed(INTENT, {**change, **speeds, "topology.uplinks.spine_split": None})
    intent = load(data)
    made = design_static_buffers(intent, topology_of(intent).group("spine"), switch("DS3000"))
    fit = made.fits[100_000, 30]
    assert (fit.reserved_bytes, fit.xoff_bytes, fit.shared_bytes) == (56368, 55120, 0)
    assert next(pool.shared_headroom_bytes for pool in made.pools if pool.name == "ingress_lossless") is None
