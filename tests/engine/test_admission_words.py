"""The words about what buffers admit, where the rules' examples do not reach: chips and pools of other vendors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nodrop.engine.unknowns import advise_on_missing_fact
from nodrop.engine.vocabulary import admission, marking, memory
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Device, TrafficClass
from nodrop.model.qos import PriorityGroup, QosProfile, Queue, WredColor, WredProfile
from nodrop.model.states import UNKNOWN, UnknownFact
from support.small_fabrics import LOSSLESS, device, fabric, port

NVIDIA, TH4, TH5, TERALYNX = "SN4700", "Z9664F", "Z9864F", "DBMVTX9180"


def pool(name: str, size: int | None, **facts: Any) -> BufferPool:
    return BufferPool(name=name, direction=name.split("_")[0], mode="dynamic", size_bytes=size, **facts)


def lossless(size: int = 1000, xoff: int = 5000, xon: int | None = 100, **facts: Any) -> BufferProfile:
    room = Headroom(xoff_bytes=xoff, xon_bytes=xon, xon_offset_bytes=facts.pop("offset", None))
    return BufferProfile(pool="ingress_lossless", size_bytes=size, dynamic_th=0, headroom=room, **facts)


LOSSY = BufferProfile(pool="ingress_lossless", size_bytes=0, dynamic_th=0, headroom=None)
POOLS = (pool("egress_lossless", 8000), pool("ingress_lossless", 10_000, shared_headroom_bytes=2000))


def limited(limit: int) -> tuple[QosProfile, Queue]:
    queue = Queue(index=3, buffer=BufferProfile(pool="egress_lossless", size_bytes=0, static_th_bytes=limit))
    groups = (PriorityGroup(index=0, buffer=LOSSY), PriorityGroup(index=3, buffer=lossless()))
    maps = {"tc_to_queue": tuple(range(16)), "tc_to_priority_group": (0, 0, 0, 3, *[0] * 12)}
    return replace(LOSSLESS, queues=(queue,), priority_groups=groups, **maps), queue


def overfilling(model: Any, limit: int, buffer_model: str = "traditional") -> float | None:
    qos, queue = limited(limit)
    return admission.admitted_over_queue_limit_bytes(model, buffer_model, POOLS, qos, queue)


def test_a_queue_holds_what_is_let_in_for_it_without_shared_headroom() -> None:
    assert overfilling(NVIDIA, 8000) is None
    assert overfilling(NVIDIA, 7999) == 8000
    assert overfilling(NVIDIA, 9999, "dynamic") == 10_000


@pytest.mark.parametrize("model", [TH4, TH5])
def test_a_queue_of_a_divided_chip_holds_its_part(model: str) -> None:
    assert overfilling(model, 4000) is None
    assert overfilling(model, 3999) == 4000


@pytest.mark.parametrize(("model", "limit", "admitted"), [(NVIDIA, 4000, 8000), (TH4, 2000, 4000), (TH5, 2000, 4000)])
def test_a_dynamic_threshold_counts_from_the_part_that_a_queue_can_fill(model: str, limit: int, admitted: int) -> None:
    qos, queue = limited(1)
    queue = replace(queue, buffer=BufferProfile(pool="egress_lossless", size_bytes=0, dynamic_th=0))
    qos = replace(qos, queues=(queue,))
    assert admission.lossless_queue_limit_bytes(model, POOLS, qos, queue) == limit
    assert admission.admitted_over_queue_limit_bytes(model, "traditional", POOLS, qos, queue) == admitted


def test_a_chip_that_counts_both_sides_in_one_pool_drops_nothing_more() -> None:
    assert overfilling(TERALYNX, 1) is None


@pytest.mark.parametrize("model", [UNKNOWN, "unheard-of"])
def test_the_model_is_needed_only_where_a_queue_holds_less(model: Any) -> None:
    assert overfilling(model, 8000) is None
    with pytest.raises(UnknownFact, match=r"device\.model"):
        overfilling(model, 7999)


def test_what_a_profile_has_to_reserve() -> None:
    assert admission.needed_reserve_bytes(NVIDIA, lossless()) == 5100
    assert admission.needed_reserve_bytes(TH5, lossless()) == 5000
    assert admission.needed_reserve_bytes(UNKNOWN, lossless()) == 5000
    assert admission.missing_reserve_bytes(NVIDIA, lossless(size=5099)) == 1
    assert admission.missing_reserve_bytes(NVIDIA, lossless(size=5100)) == 0
    computed = Headroom(xoff_bytes=5000, xon_bytes=100, computed=True)
    assert admission.missing_reserve_bytes(NVIDIA, replace(lossless(), headroom=computed)) == 0
    assert admission.missing_reserve_bytes(NVIDIA, UNKNOWN) == admission.missing_reserve_bytes(NVIDIA, LOSSY) == 0


def test_headroom_is_shared_where_that_is_stated() -> None:
    dynamic = DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=1024, small_packet_percent=50)
    made = (pool("ingress_lossless", 10_000, shared_headroom_bytes=655_360, computed=True),)
    assert admission.shares_headroom("traditional", None, POOLS)
    assert not admission.shares_headroom("dynamic", dynamic, made)
    assert admission.shares_headroom("dynamic", replace(dynamic, over_subscribe_ratio=2), made)
    assert admission.shares_headroom("dynamic", dynamic, POOLS)


def test_a_shut_port_keeps_headroom_of_its_own() -> None:
    own = (pool("ingress_lossless", 10_000),)
    assert admission.headroom_kept_while_shut_bytes(TH5, "traditional", own, lossless()) == 5000
    assert admission.headroom_kept_while_shut_bytes(TH5, "traditional", POOLS, lossless()) == 0
    assert admission.headroom_kept_while_shut_bytes(NVIDIA, "traditional", own, lossless()) == 0
    assert admission.headroom_kept_while_shut_bytes("unheard-of", "traditional", own, lossless()) == 0


@pytest.mark.parametrize(
    ("pools", "percent"),
    [
        ([pool("ingress_lossless", 900), pool("ingress_lossy", 100)], 90),
        ([pool("ingress_lossless", 900), pool("ingress_zero", 0)], 100),
        ([pool("ingress_lossless", 900, percentage=7), pool("ingress_lossy", 100)], 7),
        ([pool("ingress_lossless", None, computed=True), pool("ingress_lossy", None, computed=True)], 50),
        ([pool("ingress_lossless", 1000), pool("egress_lossy", 250)], 75),
        ([pool("ingress_lossless", 1000, shared_headroom_bytes=500), pool("egress_lossy", 250)], 50),
        ([pool("ingress_lossless", 1000), pool("egress_lossless", 1000)], 100),
        ([pool("ingress_lossy", 1000)], 100),
    ],
)
def test_the_share_that_is_kept_for_lossless_traffic(pools: Sequence[BufferPool], percent: int) -> None:
    assert admission.lossless_pool_share_percent(tuple(pools)) == percent


def test_lossless_groups_stay_apart_where_there_is_another_pool() -> None:
    qos, _ = limited(1)
    group, other = PriorityGroup(index=3, buffer=lossless()), pool("ingress_other", 5)
    pools = (pool("egress_lossless", 8000), pool("ingress_lossless", 10_000))
    assert admission.lossless_pool_to_use_instead(pools, qos, group) == ""
    assert admission.lossless_pool_to_use_instead((*pools, pool("ingress_zero", 0)), qos, group) == ""
    assert admission.lossless_pool_to_use_instead((*pools, other), qos, group) == "ingress_other"
    assert admission.lossless_pool_to_use_instead((*pools, other), qos, PriorityGroup(index=0, buffer=LOSSY)) == ""


def test_lossless_groups_stay_where_the_shared_headroom_is() -> None:
    qos, _ = limited(1)
    group = PriorityGroup(index=3, buffer=lossless())
    assert admission.lossless_pool_to_use_instead((*POOLS, pool("ingress_lossy", 5)), qos, group) == ""
    second = pool("ingress_second", 5, shared_headroom_bytes=1000)
    assert admission.lossless_pool_to_use_instead((*POOLS, second), qos, group) == "ingress_second"


def switch(shared: int | None, ports: int, **facts: Any) -> Device:
    qos, _ = limited(1)
    pools = (pool("ingress_lossless", 10_000, shared_headroom_bytes=shared),)
    held = (port(number, qos=qos) for number in range(ports))
    return device("leaf1", *held, buffer_model="traditional", buffer_pools=pools, **facts)


def test_how_often_shared_headroom_is_promised() -> None:
    assert memory.headroom_oversubscription(switch(4100, 4)) == 4.0
    assert memory.headroom_oversubscription(switch(4099, 4)) == 4.1
    assert memory.headroom_oversubscription(switch(None, 4)) == 0
    assert memory.headroom_oversubscription(replace(switch(1, 1), buffer_pools=UNKNOWN)) == 0


def test_marks_that_are_alike_at_several_speeds() -> None:
    classes = (TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True),)
    green = WredColor(min_bytes=1000, max_bytes=2000, probability_percent=5)
    wred = WredProfile(ecn_colors=("green",), green=green, yellow=WredColor(), red=WredColor())
    qos, _ = limited(8000)
    qos = replace(
        qos, dscp_to_tc=tuple(3 if dscp == 26 else 0 for dscp in range(64)), queues=(Queue(index=3, wred=wred),)
    )
    slow, fast = port(0, qos=qos), replace(port(1, qos=qos), speed_mbps=800_000)
    slow = replace(slow, speed_mbps=100_000)
    told = "1 kB to 2 kB at 100G and 800G"
    assert marking.mark_thresholds_same_at_speeds(fabric(classes=classes), (), (slow, fast)) == told
    assert marking.mark_thresholds_same_at_speeds(fabric(classes=classes), (), (fast, fast)) == ""
    assert (
        marking.mark_thresholds_same_at_speeds(fabric(classes=classes), (), (slow, replace(fast, enabled=False))) == ""
    )
    assert marking.mark_thresholds_same_at_speeds(fabric(classes=classes), (), (slow, replace(fast, qos=UNKNOWN))) == ""


@pytest.mark.parametrize(("model", "taken"), [("NH-4210", 339_589_320), ("Z9864F", 258_035_400)])
def test_shared_headroom_takes_memory_beside_its_pool_on_some_chips(model: str, taken: int) -> None:
    shipped = pool("ingress_lossless", 258_035_400, shared_headroom_bytes=81_553_920)
    assert memory.pool_and_headroom_bytes(model, shipped) == taken


def test_packet_memory_is_what_a_source_says_and_no_shipped_pool() -> None:
    def most(model: str) -> int:
        return memory.max_chip_packet_memory_bytes(Device(name="leaf1", platform="sonic", model=model))

    assert [most(model) for model in ("SN2700", "SN3700", "NH-4210")] == [16_777_216, 44_040_192, 267_196_860]
    assert most("Z9332F") == 67_117_468
    with pytest.raises(UnknownFact, match="packet memory of teralynx-10"):
        most("DBMVTX9180")


def test_a_chip_without_a_source_of_its_memory_asks_the_owner_nothing() -> None:
    assert (
        advise_on_missing_fact("packet memory of teralynx-10")
        == "a published figure: the catalogue has no source for it"
    )


@pytest.mark.parametrize(
    ("xon", "offset", "why"),
    [
        (None, None, "it has neither an xon threshold nor an xon offset"),
        (None, 0, "pause starts and ends at the same level"),
        (0, 0, "pause starts and ends at the same level"),
        (None, 2000, ""),
    ],
)
def test_a_pause_without_a_gap_says_what_is_stated(xon: int | None, offset: int | None, why: str) -> None:
    assert admission.why_pause_ends_at_once("sonic", lossless(xon=xon, offset=offset)) == why


@pytest.mark.parametrize("platform", ["nvue", "onyx", "cumulus"])
def test_a_resume_level_of_0_lasts_until_the_buffer_is_empty_where_it_is_a_level(platform: str) -> None:
    assert admission.why_pause_ends_at_once(platform, lossless(xon=0, offset=None)) == ""
