"""The words about marking and serving queues, at the edges that the rules' examples do not reach."""

from dataclasses import replace

import pytest

from nodrop.engine.vocabulary import marking, platform
from nodrop.model.buffers import BufferPool, BufferProfile
from nodrop.model.fabric import Fabric, TrafficClass
from nodrop.model.qos import QosProfile, Queue, Scheduler, WredColor
from nodrop.model.states import UNKNOWN, UnknownFact
from support.small_fabrics import LOSSLESS, WRED, fabric

STRICT, TURNS = Scheduler(type="strict"), Scheduler(type="dwrr", weight=14)
MAPPED = replace(
    LOSSLESS,
    dscp_to_tc=tuple({26: 3, 48: 6}.get(dscp, 0) for dscp in range(64)),
    tc_to_queue=(*range(8), *[None] * 8),
    tc_to_priority_group=(0, 0, 0, 3, 0, 0, 0, 0, *[None] * 8),
    queues=(
        Queue(index=0, scheduler=TURNS),
        Queue(index=3, scheduler=TURNS, wred=WRED),
        Queue(index=6, scheduler=STRICT),
    ),
)
CLASSES = (
    TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True),
    TrafficClass(name="cnp", purpose="cnp", dscp=(48,), tc=6, lossless=False),
)
POOLS = (BufferPool(name="egress", direction="egress", mode="dynamic", size_bytes=1_000_000),)


def of_mode(mode: str) -> Fabric:
    return fabric(mode=mode, classes=CLASSES)


def with_queue(index: int, **changes: object) -> QosProfile:
    queues = {queue.index: queue for queue in MAPPED.queues}
    queues[index] = replace(queues.get(index, Queue(index=index)), **changes)
    return replace(MAPPED, queues=tuple(queues[each] for each in sorted(queues)))


def test_queues_of_rdma_and_of_cnps() -> None:
    assert marking.rdma_queues(of_mode("lossless"), MAPPED) == (3,)
    assert marking.cnp_queues(of_mode("lossless"), MAPPED) == (6,)
    shared = replace(MAPPED, tc_to_priority_group=(0, 0, 0, 3, 0, 0, 3, 0, *[None] * 8))
    assert marking.cnp_queues(of_mode("lossless"), shared) == ()
    assert marking.paused_cnp_dscps(of_mode("lossless"), shared) == (48,)
    assert marking.paused_cnp_dscps(of_mode("lossless"), MAPPED) == ()


def test_a_port_without_qos_marks_nothing_where_rdma_needs_no_pause() -> None:
    assert marking.unmarked_rdma_queues(of_mode("lossy"), None) == (0,)
    assert marking.unmarked_rdma_queues(of_mode("lossless"), None) == ()


def test_a_queue_without_a_row_is_unmarked() -> None:
    gone = replace(MAPPED, queues=(Queue(index=0),))
    assert marking.unmarked_rdma_queues(of_mode("lossless"), gone) == (3,)
    assert marking.unmarked_rdma_queues(of_mode("lossless"), MAPPED) == ()
    with pytest.raises(UnknownFact, match=r"queue\.wred"):
        marking.unmarked_rdma_queues(of_mode("lossless"), with_queue(3, wred=UNKNOWN))


def test_a_queue_that_pause_misses_is_not_told_twice() -> None:
    strayed = replace(MAPPED, tc_to_queue=(0, 1, 2, 4, 4, 5, 6, 7, *[None] * 8))
    assert marking.unmarked_rdma_queues(of_mode("lossless"), strayed) == ()


@pytest.mark.parametrize(
    ("wred", "why"),
    [
        (WRED, ""),
        (None, ""),
        (replace(WRED, ecn_colors=("red",)), "queue 3 does not mark green, the color of all traffic without a policer"),
        (replace(WRED, green=replace(WRED.green, probability_percent=0)), "queue 3 marks with probability 0"),
        (replace(WRED, green=WredColor(min_bytes=1)), "queue 3 has no threshold to mark at"),
        (replace(WRED, green=replace(WRED.green, min_bytes=999_999)), ""),
        (
            replace(WRED, green=replace(WRED.green, min_bytes=1_000_000)),
            "queue 3 would mark from 1 MB, but holds 1 MB at most",
        ),
    ],
)
def test_why_marking_is_inert(wred: object, why: str) -> None:
    qos = with_queue(3, wred=wred, buffer=BufferProfile(pool="egress", size_bytes=0, dynamic_th=7))
    assert marking.why_marking_is_inert(of_mode("lossless"), POOLS, qos) == why


def test_a_queue_holds_what_its_threshold_allows() -> None:
    half = with_queue(3, buffer=BufferProfile(pool="egress", size_bytes=0, dynamic_th=0))
    green = replace(WRED.green, min_bytes=500_000)
    marked = replace(half, queues=tuple(replace(q, wred=replace(WRED, green=green)) for q in half.queues))
    assert "holds 500 kB at most" in marking.why_marking_is_inert(of_mode("lossless"), POOLS, marked)
    assert marking.why_marking_is_inert(of_mode("lossless"), UNKNOWN, marked) == ""


@pytest.mark.parametrize(
    ("wred", "expected"),
    [
        (None, False),
        (WRED, True),
        (replace(WRED, ecn_colors=()), True),
        (replace(WRED, ecn_colors=(), green=replace(WRED.green, enabled=False)), False),
        (replace(WRED, green=replace(WRED.green, probability_percent=0)), False),
        (replace(WRED, green=replace(WRED.green, min_bytes=None)), False),
    ],
)
def test_profiles_that_act(wred: object, expected: bool) -> None:
    qos = with_queue(6, wred=wred)
    assert marking.marks_or_drops_early(POOLS, qos, next(queue for queue in qos.queues if queue.index == 6)) is expected


def test_inverted_thresholds_by_color() -> None:
    assert marking.inverted_thresholds(WRED) == ""
    assert marking.inverted_thresholds(replace(WRED, green=WredColor(min_bytes=5, max_bytes=5))) == ""
    both = replace(WRED, green=WredColor(min_bytes=6, max_bytes=5), red=WredColor(min_bytes=9, max_bytes=0))
    assert marking.inverted_thresholds(both) == "green 6 > 5 bytes, red 9 > 0 bytes"
    assert marking.inverted_thresholds(replace(WRED, green=WredColor(min_bytes=6))) == "green 6 > 0 bytes"
    assert marking.inverted_thresholds(replace(WRED, green=WredColor(max_bytes=6))) == ""


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        (STRICT, ""),
        (TURNS, "queue 6, dwrr of weight 14"),
        (Scheduler(type="wrr"), "queue 6, wrr"),
        (None, "queue 6, which has no scheduler"),
    ],
)
def test_how_cnps_are_served(scheduler: Scheduler | None, said: str) -> None:
    assert marking.cnp_scheduling_if_not_strict(of_mode("lossless"), with_queue(6, scheduler=scheduler)) == said


def test_queues_that_a_strict_one_starves() -> None:
    assert marking.starved_queues(with_queue(3, scheduler=STRICT), 3) == (0,)
    lower = with_queue(0, scheduler=STRICT)
    assert marking.starved_queues(lower, 3) == (0,)
    assert marking.starved_queues(lower, 0) == (3,)
    assert marking.starved_queues(replace(MAPPED, dscp_to_tc=(3,) * 64), 3) == ()


def test_platforms_that_mark_only_with_the_flag() -> None:
    assert platform.marking_needs_wred("sonic") is True
    assert platform.marking_needs_wred("nvue") is False
    assert platform.marking_needs_wred("onyx") is False


def test_where_bgp_has_a_choice_of_dscp() -> None:
    found = {one: platform.chooses_session_dscp(one) for one in ("sonic", "nvue", "onyx")}
    assert found == {"sonic": True, "nvue": False, "onyx": False}
