"""The words about shares of bandwidth: what RDMA gets of what is planned, and strict queues that nothing holds back."""

from dataclasses import replace

from nodrop.engine.vocabulary import scheduling
from nodrop.model.fabric import TrafficClass
from nodrop.model.qos import QosProfile, Queue, Scheduler
from nodrop.model.states import UNKNOWN
from support.small_fabrics import LOSSLESS, fabric

MAPPED = replace(
    LOSSLESS,
    dscp_to_tc=tuple({26: 3, 10: 2, 48: 6, 56: 7}.get(dscp, 0) for dscp in range(64)),
    tc_to_queue=(*range(8), *[None] * 8),
    tc_to_priority_group=(0, 0, 0, 3, 0, 0, 0, 0, *[None] * 8),
)
RDMA = TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True, share_percent=60)
STORAGE = TrafficClass(name="storage", purpose="storage", dscp=(10,), tc=2, lossless=False, share_percent=20)
REST = TrafficClass(name="rest", purpose="default", dscp=(0,), tc=0, lossless=False, share_percent=20)


def shared(**weights: int) -> QosProfile:
    """The profile with a weight for each queue (`q3=60`)."""
    rows = {int(name[1:]): Scheduler(type="dwrr", weight=weight) for name, weight in sorted(weights.items())}
    return replace(MAPPED, queues=tuple(Queue(index=index, scheduler=one) for index, one in rows.items()))


def below(qos: QosProfile, *classes: TrafficClass) -> str:
    return scheduling.share_below_plan(fabric(classes=classes or (RDMA, STORAGE, REST)), qos)


def test_a_share_is_of_the_weights_of_queues_in_use() -> None:
    assert below(shared(q0=20, q2=20, q3=60)) == ""
    assert below(shared(q0=20, q2=30, q3=60)) == "queue 3 has 55 % of what strict queues leave; planned are 60 %"
    assert below(shared(q0=20, q2=20, q3=60, q5=900)) == "", "nothing leaves by queue 5"
    assert below(shared(q3=1)) == ""


def test_a_queue_of_two_classes_has_to_hold_both() -> None:
    both = replace(shared(q0=40, q3=60), tc_to_queue=(0, 1, 3, *range(3, 8), *[None] * 8))
    assert below(both) == "queue 3 has 60 % of what strict queues leave; planned are 80 %"
    astray = replace(shared(q0=40, q3=60), dscp_to_tc=tuple({26: 3, 10: 3}.get(dscp, 0) for dscp in range(64)))
    assert below(astray) == "", "storage is not meant for queue 3, which another rule tells"


def test_what_is_not_planned_or_has_no_weight_is_no_matter_here() -> None:
    assert below(shared(q0=50, q3=1), replace(RDMA, share_percent=UNKNOWN), REST) == ""
    assert below(shared(q0=50, q2=20)) == ""
    strict = (Queue(index=0, scheduler=Scheduler(type="dwrr", weight=9)), Queue(index=3, scheduler=STRICT))
    assert below(replace(MAPPED, queues=strict)) == ""


STRICT = Scheduler(type="strict")


def test_strict_queues_count_without_a_limit_in_use_and_beside_rdma() -> None:
    capped = Scheduler(type="strict", guaranteed_bytes_per_s=1, peak_bytes_per_s=1)
    queues = tuple(Queue(index=index, scheduler=capped if index == 6 else STRICT) for index in range(8))
    found = scheduling.unbounded_strict_queues(fabric(classes=(RDMA,)), replace(MAPPED, queues=queues))
    assert found == (0, 2, 7)
