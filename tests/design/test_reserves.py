"""The reserve of queues that carry CNPs and control: what it is, where it comes from, and that memory is behind it."""

import json

import pytest

import nodrop
from nodrop.design import find_adaptations
from nodrop.design.defaults import applied_defaults
from nodrop.design.reserves import lossy_queue_reserve
from nodrop.design.static_buffers import has_static_headroom
from nodrop.hardware import asic, switch, switches
from nodrop.model.buffers import BufferProfile
from nodrop.model.fabric import Device, Fabric
from nodrop.model.qos import QosProfile
from support.designs import build, load, shipped

NVUE = {"topology.spines.platform": "nvue", "topology.spines.version": "5.14"}


def reserves(device: Device) -> dict[int, int]:
    """The reserve of each lossy queue of a switch's first port, by queue."""
    qos = next(port.qos for port in device.interfaces if isinstance(port.qos, QosProfile))
    assert isinstance(qos.queues, tuple)
    buffers = {queue.index: queue.buffer for queue in qos.queues}
    return {
        index: buffer.size_bytes
        for index, buffer in buffers.items()
        if isinstance(buffer, BufferProfile) and buffer.pool == "egress_lossy" and isinstance(buffer.size_bytes, int)
    }


def lossy_pools(fabric: Fabric, share: int) -> int:
    """What the memory that is left for pools would be by the size of the lossy egress pool."""
    pools = fabric.device("leaf1").buffer_pools
    assert isinstance(pools, tuple)
    size = next(pool.size_bytes for pool in pools if pool.name == "egress_lossy")
    assert isinstance(size, int)
    return round(size * 100 / share)


@pytest.mark.parametrize("mode", ["two-by-two", "pfc-only", "lossy", "trim"])
def test_the_queues_of_cnps_and_control_have_a_reserve_in_every_mode(mode: str) -> None:
    fabric = build(shipped(mode, {}))
    wanted = {one.tc for one in fabric.classes if one.purpose in ("cnp", "control")}
    for device in fabric.devices:
        if device.platform == "sonic":
            found = reserves(device)
            assert {index for index, size in found.items() if size} == wanted
            assert {size for size in found.values() if size} == {9216}


def test_with_the_traditional_model_every_lossy_queue_has_the_vendors_reserve() -> None:
    fabric = build(shipped("broadcom", {}))
    for device in fabric.devices:
        chip = asic(switch(str(device.model)).asic)
        assert set(reserves(device).values()) == {chip.lossy_queue_reserve_bytes} == {1778}


def test_what_is_reserved_is_taken_from_what_queues_share() -> None:
    """Seven ports of the leaf are up, with a queue for CNPs and one for control each."""
    without = {"classes.cnp.purpose": "inband", "classes.control.purpose": "inband"}
    left = [lossy_pools(build(shipped("two-by-two", changes)), 10) for changes in ({}, without)]
    assert left[1] - left[0] == pytest.approx(7 * 2 * 9216, abs=20)


def test_it_has_a_profile_by_name_beside_that_of_other_lossy_queues() -> None:
    """With the traditional model all have the reserve, and the name of the vendors' files."""
    found = {}
    for name in ("two-by-two", "broadcom"):
        artifacts = nodrop.write(build(shipped(name, {})))
        tables = json.loads(
            next(one.text for one in artifacts if (one.device, one.path) == ("leaf1", "config_db.json"))
        )
        profiles = {key.partition("|")[2]: row["profile"] for key, row in tables["BUFFER_QUEUE"].items()}
        found[name] = {index: profile for index, profile in profiles.items() if index != "3"}
    assert found == {
        "two-by-two": {"0-2": "q_lossy_profile", "6-7": "q_reserved_profile"},
        "broadcom": {"0-2": "q_lossy_profile", "6-7": "q_lossy_profile"},
    }


def test_it_survives_the_round_trip() -> None:
    fabric = build(shipped("two-by-two", {}))
    back = nodrop.read_back(list(nodrop.write(fabric)), fabric).fabric
    assert reserves(back.device("leaf1")) == {0: 0, 1: 0, 2: 0, 6: 9216, 7: 9216}


def test_show_has_the_number_and_its_source() -> None:
    told = {one.key: (one.value, one.source) for one in applied_defaults(load(shipped("two-by-two", {})))}
    source = (
        "for cnp and control: as NVIDIA's files reserve at a port for all lossy queues; "
        "for spectrum-3 they have none by queue"
    )
    assert told["queue reserve at leaves"] == ("9216B", source)
    assert told["queue reserve at spines"] == ("9216B", source)


def test_nvue_has_none_and_that_is_noted() -> None:
    intent = load(shipped("two-by-two", NVUE))
    (note,) = [one for one in find_adaptations(intent) if one.path == "spine*/*/qos/queues/*/buffer/size_bytes"]
    assert (note.wanted, note.made) == ("9216", "0")
    assert {one.key for one in applied_defaults(intent)} >= {"queue reserve at leaves"}
    assert "queue reserve at spines" not in {one.key for one in applied_defaults(intent)}
    assert set(reserves(build(shipped("two-by-two", NVUE)).device("spine1")).values()) == {0}


@pytest.mark.parametrize("name", switches())
def test_every_switch_has_a_reserve_or_it_is_said_to_be_unknown(name: str) -> None:
    """No reserve is less than a packet of 1518 bytes."""
    model = switch(name)
    found = lossy_queue_reserve(model, static=has_static_headroom(model))
    assert (found.size_bytes == 0) == found.source.startswith("not known for ")
    assert found.size_bytes == 0 or found.size_bytes >= 1518
