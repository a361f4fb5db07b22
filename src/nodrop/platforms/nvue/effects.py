"""What an NVUE switch does as a consequence of what it is told: priority groups, pools and buffers without a leaf.

NVUE states which priorities PFC holds for, how priorities spread over queues and what share of the memory a pool has.
Everything else about buffers follows. Sources: Cumulus Linux 5.14 and 5.16, Quality of Service (Flow Control
Buffers, Advanced Buffer Tuning) and RDMA over Converged Ethernet (`nv show qos roce`).
"""

from collections.abc import Collection
from typing import Literal

from nodrop.fabric.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.fabric.qos import Map, PriorityGroup
from nodrop.fabric.states import UNKNOWN, Unknown

PRIORITIES = range(8)
LOSSY_TH = 3
"""alpha_8: what lossy traffic may take, on either side of the switch."""
INFINITE_TH = 7
"""alpha_infinity: what lossless traffic may take on the way out."""
PATTERN_MTU_BYTES = 1024
SMALL_PACKET_PERCENT = 100
"""NVUE's `small-packet-probability` up to Spectrum-5."""
_UNMAPPED = (None,) * 8


def tc_to_priority_group(pausing: Collection[int]) -> Map:
    """Return the priority group of each traffic class: its own where PFC holds for it, else the lossy group 0."""
    return (*(tc if tc in pausing else 0 for tc in PRIORITIES), *_UNMAPPED)


def pfc_to_priority_group(pausing: Collection[int]) -> Map:
    """Return the priority group that a pause frame of each priority is sent for."""
    return tuple(priority if priority in pausing else None for priority in PRIORITIES)


def pfc_to_queue(tc_to_queue: Map) -> Map:
    """Return the queue that a pause frame of each priority stops: the one that the priority leaves by."""
    return tc_to_queue[:8]


def lossless_queues(pausing: Collection[int], tc_to_queue: Map) -> frozenset[int]:
    """Return the queues that a priority with PFC leaves by."""
    return frozenset(queue for tc in pausing if (queue := tc_to_queue[tc]) is not None)


def priority_groups(pausing: Collection[int], dynamic_th: int) -> tuple[PriorityGroup, ...]:
    """Return a port's priority groups: one of its own for each priority that PFC holds for, and 0 for all others.

    Headroom is the switch's to work out from the cable (`hardware.dynamic.resolve`).
    """
    lossy = BufferProfile(pool="ingress_lossy", size_bytes=0, dynamic_th=LOSSY_TH)
    headroom = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)
    lossless = BufferProfile(pool="ingress_lossless", size_bytes=UNKNOWN, dynamic_th=dynamic_th, headroom=headroom)
    indexes = sorted({0, *pausing})
    return tuple(PriorityGroup(index=index, buffer=lossless if index in pausing else lossy) for index in indexes)


def queue_buffer(lossless: bool) -> BufferProfile:
    """Return what a queue may take: without limit where it is lossless."""
    if lossless:
        return BufferProfile(pool="egress_lossless", size_bytes=0, dynamic_th=INFINITE_TH)
    return BufferProfile(pool="egress_lossy", size_bytes=0, dynamic_th=LOSSY_TH)


def dynamic_buffers(dynamic_th: int) -> DynamicBuffers:
    """Return what headroom is worked out from."""
    return DynamicBuffers(
        dynamic_th=dynamic_th, pattern_mtu_bytes=PATTERN_MTU_BYTES, small_packet_percent=SMALL_PACKET_PERCENT
    )


def buffer_pools(
    lossy_percent: int, lossless_percent: int | None, memory_bytes: int | Unknown
) -> tuple[BufferPool, ...]:
    """Return the pools, sorted by name: the lossless ones only where something is lossless.

    On the way out lossless traffic has no limit but the whole packet memory.
    """

    def computed(direction: Literal["ingress", "egress"], kind: str, percent: int) -> BufferPool:
        name = f"{direction}_{kind}"
        return BufferPool(
            name=name, direction=direction, mode="dynamic", size_bytes=UNKNOWN, percentage=percent, computed=True
        )

    lossy = computed("egress", "lossy", lossy_percent), computed("ingress", "lossy", lossy_percent)
    if lossless_percent is None:
        return lossy
    endless = BufferPool(name="egress_lossless", direction="egress", mode="dynamic", size_bytes=memory_bytes)
    return endless, lossy[0], computed("ingress", "lossless", lossless_percent), lossy[1]
