"""Words about how queues get bandwidth: which ones are lossless, and which nobody gave a share."""

from collections.abc import Iterator

from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.general import ranges
from nodrop.model import effects
from nodrop.model.fabric import Fabric, TrafficClass
from nodrop.model.purposes import STORAGE_PURPOSES
from nodrop.model.qos import QosProfile, Queue, Scheduler
from nodrop.model.states import Unknown, require_fact

TRAFFIC_CLASSES = range(16)
UNICAST_QUEUES = range(8)
"""Queues that every switch has for unicast; those from 8 are for multicast, or not there."""
BITS_PER_BYTE, BITS_PER_MBIT = 8, 1_000_000


@declare_word("function")
def lossless_queues(qos: QosProfile) -> tuple[int, ...]:
    """Return the queues of traffic whose senders are paused instead of packets being dropped."""
    tcs = [tc for tc in TRAFFIC_CLASSES if effects.is_lossless(qos, tc)]
    return tuple(sorted({effects.queue_of_tc(qos, tc) for tc in tcs}))


@declare_word("filter")
def mbps(bytes_per_s: int | float) -> float:
    """Bytes per second as Mb/s: 5000000000 is 40000."""
    return bytes_per_s * BITS_PER_BYTE / BITS_PER_MBIT


@declare_word("function", rests_on=("classes",))
def unscheduled_control_queues(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return the queues of control traffic without a scheduler: neither strict priority nor a weight."""
    dscps = {
        dscp for traffic_class in fabric.classes if traffic_class.purpose == "control" for dscp in traffic_class.dscp
    }
    used = {effects.queue_of_tc(qos, effects.tc_of_dscp(qos, dscp)) for dscp in dscps}
    return tuple(sorted(index for index in used if not _is_scheduled(qos, index)))


@declare_word("function", rests_on=("classes", "mode"))
def unscheduled_queues(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return the queues that some DSCP leaves by and that have no scheduler, where another queue has one.

    Those of control traffic and RDMA are left out: other rules report them.
    """
    scheduled = {
        queue.index: require_fact(queue.scheduler, "queue.scheduler") is not None
        for queue in require_fact(qos.queues, "interface.qos.queues")
    }
    if True not in scheduled.values():
        return ()
    used = {effects.queue_of_tc(qos, effects.tc_of_dscp(qos, dscp)) for dscp in range(64)}
    lacking = sorted(queue for queue in used if not scheduled.get(queue, False))
    if not lacking:
        return ()
    others = {*unscheduled_control_queues(fabric, qos), *effects.rdma_queues(fabric, qos)}
    return tuple(queue for queue in lacking if queue not in others)


def _is_scheduled(qos: QosProfile, index: int) -> bool:
    queue = effects.find_queue(qos, index)
    return queue is not None and require_fact(queue.scheduler, "queue.scheduler") is not None


@declare_word("function")
def is_queue_used_by_any_tc(qos: QosProfile, queue: int) -> bool:
    """Whether any traffic class uses a queue; without a map all use queue 0."""
    table = require_fact(qos.tc_to_queue, "interface.qos.tc_to_queue")
    return queue == 0 if table is None else queue in table


@declare_word("function")
def repeats_scheduler_in_use(qos: QosProfile, queue: Queue) -> bool:
    """Whether a queue without marks has the scheduler of one that packets leave by, and none of those lacks its own.

    Then nothing is missing elsewhere: a template writes one row for all queues. The switch has to have that queue.
    """
    if queue.index not in UNICAST_QUEUES or require_fact(queue.wred, "queue.wred") is not None:
        return False
    rows = [effects.find_queue(qos, number) for number in effects.used_queues(qos)]
    schedulers = [None if row is None else require_fact(row.scheduler, "queue.scheduler") for row in rows]
    return None not in schedulers and require_fact(queue.scheduler, "queue.scheduler") in schedulers


@declare_word("function")
def lossy_tcs_in_lossless_queues(qos: QosProfile) -> tuple[int, ...]:
    """Return the lossy traffic classes that use a queue of lossless ones, and are stopped with them."""
    table = require_fact(qos.tc_to_queue, "interface.qos.tc_to_queue")
    if table is None:
        return ()
    lossless = lossless_queues(qos)
    return tuple(tc for tc, queue in enumerate(table) if queue in lossless and not effects.is_lossless(qos, tc))


@declare_word("function", rests_on=("classes", "mode"))
def rdma_queues_without_share(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return the queues of RDMA with neither strict priority nor a weight, where any other has one."""
    shares = {queue.index: _has_bandwidth_share(queue) for queue in require_fact(qos.queues, "interface.qos.queues")}
    if True not in shares.values():
        return ()
    return tuple(index for index in effects.rdma_queues(fabric, qos) if not shares.get(index, False))


def _has_bandwidth_share(queue: Queue) -> bool:
    scheduler = require_fact(queue.scheduler, "queue.scheduler")
    return scheduler is not None and (scheduler.type == "strict" or bool(scheduler.weight))


@declare_word("function", rests_on=("classes",))
def share_below_plan(fabric: Fabric, qos: QosProfile) -> str:
    """Which queue gives RDMA less than the share that its owner states, and how much, as a sentence; else nothing.

    A share is of what strict queues leave, among the queues that traffic leaves by. A queue that several classes are
    meant for has to hold what is stated of all of them. Of queues without a weight, and of classes that land in a
    queue that they are not meant for, other rules tell.
    """
    weights = _weights_by_queue(qos)
    planned: dict[int, int] = {}
    for traffic_class in fabric.classes:
        if not isinstance(traffic_class.share_percent, Unknown):
            for queue in {effects.queue_of_tc(qos, tc) for tc in _tcs_of_traffic_class(qos, traffic_class)}:
                planned[queue] = planned.get(queue, 0) + traffic_class.share_percent
    for queue in effects.rdma_queues(fabric, qos):
        if queue in weights and queue in planned:
            share = 100 * weights[queue] / sum(weights.values())
            if round(share) < min(planned[queue], 100):
                return f"queue {queue} has {round(share)} % of what strict queues leave; planned are {planned[queue]} %"
    return ""


def _tcs_of_traffic_class(qos: QosProfile, traffic_class: TrafficClass) -> set[int]:
    """Return the traffic classes of a class: the one that its owner states, else those that it lands in."""
    return (
        {effects.tc_of_dscp(qos, dscp) for dscp in traffic_class.dscp}
        if isinstance(traffic_class.tc, Unknown)
        else {traffic_class.tc}
    )


def _weights_by_queue(qos: QosProfile) -> dict[int, int]:
    """Return the weights of the queues that traffic leaves by in turns."""
    return {
        index: scheduler.weight
        for index, scheduler in _schedulers_of_used_queues(qos)
        if scheduler.type != "strict" and scheduler.weight
    }


def _schedulers_of_used_queues(qos: QosProfile) -> Iterator[tuple[int, Scheduler]]:
    """Return the schedulers of the queues that traffic leaves by."""
    used = {effects.queue_of_tc(qos, tc) for tc in effects.used_tcs(qos)}
    for queue in require_fact(qos.queues, "interface.qos.queues"):
        scheduler = require_fact(queue.scheduler, "queue.scheduler")
        if scheduler is not None and queue.index in used:
            yield queue.index, scheduler


@declare_word("function", rests_on=("classes", "mode"))
def unbounded_strict_queues(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return the queues with strict priority and no limit that traffic uses, without those of RDMA."""
    return tuple(sorted(_unlimited_strict_queues(qos) - set(effects.rdma_queues(fabric, qos))))


@declare_word("function", rests_on=("classes", "mode"))
def why_strict_queues_starve_rdma(fabric: Fabric, qos: QosProfile, most: int) -> str:
    """Which strict queues without a limit may take all bandwidth from RDMA, as a clause; nothing where none may.

    One does that takes unmarked packets or storage, whose rate nothing bounds; so may more than `most` of any traffic.
    Not one that is served after RDMA: of strict queues, that with the higher number goes first.
    """
    unbounded = unbounded_strict_queues(fabric, qos)
    bulk = _queues_of_bulk_traffic(fabric, qos)
    strict = _unlimited_strict_queues(qos)
    rdma = effects.rdma_queues(fabric, qos)
    last_rdma = min((index if index in strict else -1 for index in rdma), default=UNICAST_QUEUES[-1])
    for index in unbounded:
        if index in bulk and index > last_rdma:
            return f"queue {index} takes {bulk[index]} and has no limit"
    if len(unbounded) > most:
        return f"queues {ranges(unbounded)} have no limit; expected at most {most}, for CNPs and control"
    return ""


def _unlimited_strict_queues(qos: QosProfile) -> set[int]:
    """Return the queues with strict priority and no limit that traffic uses."""
    return {
        index
        for index, scheduler in _schedulers_of_used_queues(qos)
        if scheduler.type == "strict" and scheduler.peak_bytes_per_s is None
    }


def _queues_of_bulk_traffic(fabric: Fabric, qos: QosProfile) -> dict[int, str]:
    """Return the queues of traffic whose rate nothing bounds, and what that is."""
    storage = [traffic_class for traffic_class in fabric.classes if traffic_class.purpose in STORAGE_PURPOSES]
    queues = {
        effects.queue_of_tc(qos, effects.tc_of_dscp(qos, dscp)): f"storage ({traffic_class.name})"
        for traffic_class in storage
        for dscp in traffic_class.dscp
    }
    return {**queues, effects.queue_of_tc(qos, effects.tc_of_dscp(qos, 0)): "unmarked packets (DSCP 0)"}
