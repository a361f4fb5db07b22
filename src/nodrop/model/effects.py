"""Combined effects of a port's maps and buffers: where a DSCP lands, which traffic classes are lossless.

Where a port has no map, SAI's default applies: everything to traffic class 0, queue 0, priority group 0 (saiport.h).
All functions raise `UnknownFact` where the answer depends on an unknown fact.
"""

from collections.abc import Iterator

from nodrop.model.buffers import BufferProfile
from nodrop.model.fabric import Fabric, TrafficClass
from nodrop.model.purposes import ROCE_PURPOSES, STORAGE_PURPOSES
from nodrop.model.qos import NumberMap, QosProfile, Queue
from nodrop.model.states import require_fact

NVIDIA_UNLIMITED_DYNAMIC_TH = 7
"""`dynamic_th` that means no limit on NVIDIA ASICs (SAI-Implementation mlnx_sai_buffer.c)."""
NVIDIA_ZERO_DYNAMIC_TH = -8
"""`dynamic_th` that means nothing on NVIDIA ASICs (mlnx_sai_buffer.c); others have no share as small as 1/256."""

DEFAULT_RDMA_DSCP = 26
"""NVIDIA's convention for RoCE (Cumulus Linux user guide, RDMA over Converged Ethernet; ToS 106)."""
REST_TRAFFIC_LABEL = "the rest"
"""What shares a queue with CNPs that are in that of DSCP 0."""
BULK_PURPOSES = frozenset({"rdma", *STORAGE_PURPOSES, "inband"})
"""Purposes of classes that send much."""


def map_entry(table: NumberMap, index: int) -> int | None:
    """Return the entry of a map at an index; None if it is empty or the switch does not have this index."""
    return table[index] if 0 <= index < len(table) else None


def tc_of_dscp(qos: QosProfile | None, dscp: int) -> int:
    """Return the traffic class of a DSCP on a port that trusts it."""
    table = None if qos is None else require_fact(qos.dscp_to_tc, "interface.qos.dscp_to_tc")
    return (map_entry(table, dscp) or 0) if table else 0


def queue_of_tc(qos: QosProfile | None, tc: int) -> int:
    """Return the egress queue of a traffic class."""
    table = None if qos is None else require_fact(qos.tc_to_queue, "interface.qos.tc_to_queue")
    return (map_entry(table, tc) or 0) if table else 0


def priority_group_of_tc(qos: QosProfile | None, tc: int) -> int:
    """Return the ingress priority group of a traffic class."""
    table = None if qos is None else require_fact(qos.tc_to_priority_group, "interface.qos.tc_to_priority_group")
    return (map_entry(table, tc) or 0) if table else 0


def pausing_priorities_of_priority_group(qos: QosProfile, group: int) -> tuple[int, ...]:
    """Return the PFC priorities for which a full priority group sends pause: those mapped to it, else its number."""
    table = require_fact(qos.pfc_to_priority_group, "interface.qos.pfc_to_priority_group")
    sent = require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    if table is None:
        return (group,) if group in sent else ()
    return tuple(priority for priority in sent if map_entry(table, priority) == group)


def is_lossless(qos: QosProfile | None, tc: int) -> bool:
    """Whether a traffic class is protected: its priority group pauses the sender."""
    return qos is not None and bool(pausing_priorities_of_priority_group(qos, priority_group_of_tc(qos, tc)))


def used_tcs(qos: QosProfile) -> tuple[int, ...]:
    """Return the traffic classes that packets land in, by DSCP and, where the port has such a map, by PCP."""
    by_pcp = require_fact(qos.pcp_to_tc, "interface.qos.pcp_to_tc") or ()
    return tuple(sorted({tc_of_dscp(qos, dscp) for dscp in range(64)} | {tc or 0 for tc in by_pcp}))


def used_queues(qos: QosProfile) -> tuple[int, ...]:
    """Return the queues of packets of any DSCP or, where the port has such a map, PCP."""
    return tuple(sorted({queue_of_tc(qos, tc) for tc in used_tcs(qos)}))


def pausing_priorities_in_use(qos: QosProfile) -> tuple[int, ...]:
    """Return the priorities for which a port pauses its neighbor when what packets land in is full."""
    groups = {priority_group_of_tc(qos, tc) for tc in used_tcs(qos)}
    return tuple(
        sorted({priority for group in groups for priority in pausing_priorities_of_priority_group(qos, group)})
    )


def rdma_classes(fabric: Fabric) -> Iterator[TrafficClass]:
    """Yield the classes that carry RDMA."""
    return (traffic_class for traffic_class in fabric.classes if traffic_class.purpose == "rdma")


def rdma_dscps(fabric: Fabric) -> tuple[int, ...]:
    """Return the DSCPs of RDMA traffic, sorted."""
    return tuple(sorted({dscp for rdma_class in rdma_classes(fabric) for dscp in rdma_class.dscp}))


def roce_classes(fabric: Fabric) -> Iterator[TrafficClass]:
    """Yield the classes that carry RoCE: those of RDMA, and those of storage over it."""
    return (traffic_class for traffic_class in fabric.classes if traffic_class.purpose in ROCE_PURPOSES)


def roce_dscps(fabric: Fabric) -> tuple[int, ...]:
    """Return the DSCPs of RoCE traffic, sorted."""
    return tuple(sorted({dscp for roce_class in roce_classes(fabric) for dscp in roce_class.dscp}))


def dscps_of_probe_packets(fabric: Fabric) -> tuple[int, ...]:
    """Return the DSCPs of the packets used to probe a fabric: those of RoCE data, and of CNPs if classes have any."""
    data = roce_dscps(fabric) or (DEFAULT_RDMA_DSCP,)
    return (*data, *(dscp for dscp in cnp_dscps(fabric) if dscp not in data))


def rdma_queues(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the queues that RDMA leaves by; in a lossless fabric only those of lossless traffic classes."""
    needs_pause = fabric.mode in ("lossless", "pfc-only")
    tcs = {tc_of_dscp(qos, dscp) for dscp in rdma_dscps(fabric)}
    return tuple(sorted({queue_of_tc(qos, tc) for tc in tcs if not needs_pause or is_lossless(qos, tc)}))


def cnp_dscps(fabric: Fabric) -> tuple[int, ...]:
    """Return the DSCPs of CNPs, sorted."""
    return tuple(
        sorted(
            {dscp for traffic_class in fabric.classes if traffic_class.purpose == "cnp" for dscp in traffic_class.dscp}
        )
    )


def cnp_dscps_sharing_lossy_queue(fabric: Fabric, qos: QosProfile | None) -> tuple[tuple[int, str], ...]:
    """Return the DSCPs of CNPs that share a lossy queue, each with the traffic that shares it.

    That is `REST_TRAFFIC_LABEL` for the queue of DSCP 0, unmarked traffic, else the name of a class of bulk data.
    Lossless queues are left out: they stop CNPs, which is worse.
    """
    dscps = cnp_dscps(fabric)
    if qos is None or not dscps:
        return ()

    def leaves(dscp: int) -> int:
        return queue_of_tc(qos, tc_of_dscp(qos, dscp))

    bulk = {
        leaves(dscp): traffic_class.name
        for traffic_class in fabric.classes
        if traffic_class.purpose in BULK_PURPOSES
        for dscp in traffic_class.dscp
    }
    paused = {queue_of_tc(qos, tc) for tc in range(16) if is_lossless(qos, tc)}
    company = {leaves(0): REST_TRAFFIC_LABEL, **{queue: name for queue, name in bulk.items() if queue != leaves(0)}}
    queues = {dscp: leaves(dscp) for dscp in dscps if dscp != 0}
    return tuple((dscp, company[queue]) for dscp, queue in queues.items() if queue in company and queue not in paused)


def find_queue(qos: QosProfile, index: int) -> Queue | None:
    """Return a port's queue of that number; None where it is not configured."""
    return next((row for row in require_fact(qos.queues, "interface.qos.queues") if row.index == index), None)


def buffer_of_priority_group(qos: QosProfile, index: int) -> BufferProfile | None:
    """Return the buffer of a priority group; None where it has none."""
    group = next(
        (
            priority_group
            for priority_group in require_fact(qos.priority_groups, "interface.qos.priority_groups")
            if priority_group.index == index
        ),
        None,
    )
    return None if group is None else require_fact(group.buffer, "priority_group.buffer")
