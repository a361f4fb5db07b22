"""Consequences of NVUE settings on a switch: priority groups, pools and buffers without a leaf.

NVUE states the priorities of PFC, how priorities spread over queues and the share of the memory for each pool.
Everything else about buffers follows. Sources: Cumulus Linux 5.14 and 5.16, Quality of Service (Flow Control Buffers,
Advanced Buffer Tuning) and RDMA over Converged Ethernet (`nv show qos roce`).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nodrop.hardware import asic_of
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.qos import NumberMap, PriorityGroup
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.values import replace_fields

ALL_SWITCH_PRIORITIES = range(8)
LOSSY_DYNAMIC_TH = 3
"""alpha_8: what lossy traffic may take, on either side of the switch."""
UNLIMITED_DYNAMIC_TH = 7
"""alpha_infinity: what lossless traffic may take on the way out."""
TRAFFIC_PATTERN_MTU_BYTES = 1024
_SMALL_PACKET_PERCENT_BY_ASIC = {"spectrum-6": 50}
"""NVUE's `small-packet-probability` where it is not all of them, as up to Spectrum-5."""
_UNMAPPED_CLASSES_8_TO_15 = (None,) * 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticPoolQuotas:
    """What may be taken of static pools, in bytes; None, or no entry, is a share of a dynamic one."""

    ingress_lossless: int | None = None
    ingress_lossy: int | None = None
    egress_lossless: int | None = None
    egress_lossy: Mapping[int, int] = field(default_factory=dict)
    lossless_pool: str = "egress_lossless"
    """Which pool lossless queues take from."""


NO_STATIC_POOL_QUOTAS = StaticPoolQuotas()


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferLimits:
    """The share of a pool's free memory that may be taken, as exponents of two, and the reserved bytes of a queue.

    The values are those of a switch without settings; `advance-buffer-config` changes them.
    """

    ingress_lossless: int = 0
    ingress_lossy: int = LOSSY_DYNAMIC_TH
    egress_lossless: int = UNLIMITED_DYNAMIC_TH
    egress_lossy: Mapping[int, int] = field(default_factory=dict)
    """By queue, where it is not that of all."""
    lossless_reserved_bytes: int = 0
    lossy_reserved_bytes: Mapping[int, int] = field(default_factory=dict)
    quotas: StaticPoolQuotas = NO_STATIC_POOL_QUOTAS
    static_pools: frozenset[str] = frozenset()
    """Pools of the model whose mode is static."""


DEFAULT_LIMITS = BufferLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedHeadroom:
    """Headroom as a PFC profile states it, in bytes; None leaves a part to the switch.

    A pause is sent once `xoff_threshold_bytes` of the `port_buffer_bytes` are taken, and ends once as many as
    `xon_threshold_bytes` fewer are.
    """

    port_buffer_bytes: int | None
    xoff_threshold_bytes: int | None
    xon_threshold_bytes: int | None

    def buffer_of_priority_group(self, pool: str, dynamic_th: int) -> BufferProfile:
        """Return the buffer of a priority group: the rest after the pause threshold holds data that still arrives."""
        size, xoff, xon = self.port_buffer_bytes, self.xoff_threshold_bytes, self.xon_threshold_bytes
        headroom = Headroom(
            xoff_bytes=UNKNOWN if size is None or xoff is None else size - xoff,
            xon_bytes=UNKNOWN if xoff is None or xon is None else xoff - xon,
        )
        return BufferProfile(
            pool=pool, size_bytes=UNKNOWN if size is None else size, dynamic_th=dynamic_th, headroom=headroom
        )


UNKNOWN_HEADROOM = StatedHeadroom(port_buffer_bytes=None, xoff_threshold_bytes=None, xon_threshold_bytes=None)
"""Headroom of which it is not known how the switch works it out."""


def stated_headroom(groups: Iterable[PriorityGroup]) -> StatedHeadroom | None:
    """Return the headroom that a PFC profile states for a port's groups, by the first not left to the switch.

    The groups are known (`sayable.Plain`), except for the value of a size or a resume threshold.
    """
    for group in groups:
        buffer = group.buffer
        headroom = buffer.headroom if isinstance(buffer, BufferProfile) else None
        if isinstance(buffer, BufferProfile) and isinstance(headroom, Headroom) and not headroom.computed:
            size, xoff, xon = buffer.size_bytes, headroom.xoff_bytes, headroom.xon_bytes
            if isinstance(size, int) and isinstance(xoff, int) and isinstance(xon, int):
                return StatedHeadroom(
                    port_buffer_bytes=size,
                    xoff_threshold_bytes=size - xoff,
                    xon_threshold_bytes=size - xoff - xon,
                )
    return None


def tc_to_priority_group(pausing: Collection[int]) -> NumberMap:
    """Return the priority group of each traffic class: its own where PFC holds for it, else the lossy one."""
    lossy = lossy_priority_group(pausing)
    return (*(tc if tc in pausing else lossy for tc in ALL_SWITCH_PRIORITIES), *_UNMAPPED_CLASSES_8_TO_15)


def lossy_priority_group(pausing: Collection[int]) -> int:
    """Return the priority group of all traffic that PFC does not hold for: 0, or the first that is not paused."""
    return next((group for group in ALL_SWITCH_PRIORITIES if group not in pausing), 0)


def pfc_to_priority_group(pausing: Collection[int]) -> NumberMap | None:
    """Return the priority group that a pause frame of each priority is sent for; None where none is sent."""
    if not pausing:
        return None
    return tuple(priority if priority in pausing else None for priority in ALL_SWITCH_PRIORITIES)


def pfc_to_queue(tc_to_queue: NumberMap) -> NumberMap:
    """Return the queue that a pause frame of each priority stops: the one that the priority leaves by."""
    return tc_to_queue[:8]


def lossless_queues(pausing: Collection[int], tc_to_queue: NumberMap) -> frozenset[int]:
    """Return the queues that a priority with PFC leaves by."""
    return frozenset(queue for tc in pausing if (queue := tc_to_queue[tc]) is not None)


def priority_groups(
    pausing: Collection[int],
    dynamic_th: int,
    *,
    lossy_th: int = LOSSY_DYNAMIC_TH,
    pool: str = "ingress_lossless",
    stated_headroom: StatedHeadroom | None = None,
    quotas: StaticPoolQuotas = NO_STATIC_POOL_QUOTAS,
) -> tuple[PriorityGroup, ...]:
    """Return a port's priority groups: a separate one for each PFC priority, and one for all others.

    The switch computes unstated headroom from the cable (`hardware.dynamic.resolve`).
    """
    lossy = BufferProfile(pool="ingress_lossy", size_bytes=0, dynamic_th=lossy_th)
    if stated_headroom is None:
        headroom = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)
        lossless = BufferProfile(pool=pool, size_bytes=UNKNOWN, dynamic_th=dynamic_th, headroom=headroom)
    else:
        lossless = stated_headroom.buffer_of_priority_group(pool, dynamic_th)
    lossy, lossless = (
        _apply_buffer_quota(lossy, quotas.ingress_lossy),
        _apply_buffer_quota(lossless, quotas.ingress_lossless),
    )
    indexes = sorted({lossy_priority_group(pausing), *pausing})
    return tuple(PriorityGroup(index=index, buffer=lossless if index in pausing else lossy) for index in indexes)


def _apply_buffer_quota(buffer: BufferProfile, quota_bytes: int | None) -> BufferProfile:
    """Return a buffer that takes a number of bytes, where there is one, and not a share of the free memory."""
    return buffer if quota_bytes is None else replace_fields(buffer, dynamic_th=None, static_th_bytes=quota_bytes)


def queue_buffer(lossless: bool, index: int | None = None, limits: BufferLimits = DEFAULT_LIMITS) -> BufferProfile:
    """Return the limit of a queue: none where it is lossless, unless a setting of the switch changes that."""
    quotas = limits.quotas
    if lossless:
        share = BufferProfile(
            pool=quotas.lossless_pool, size_bytes=limits.lossless_reserved_bytes, dynamic_th=limits.egress_lossless
        )
        return _apply_buffer_quota(share, quotas.egress_lossless)
    number = -1 if index is None else index
    share = BufferProfile(
        pool="egress_lossy",
        size_bytes=limits.lossy_reserved_bytes.get(number, 0),
        dynamic_th=limits.egress_lossy.get(number, LOSSY_DYNAMIC_TH),
    )
    return _apply_buffer_quota(share, quotas.egress_lossy.get(number))


def default_small_packet_percent(model_name: str | Unknown) -> int:
    """Return the default share of small packets for computing headroom on a model, in percent."""
    chip = asic_of(model_name)
    return _SMALL_PACKET_PERCENT_BY_ASIC.get(chip.name if chip else "", 100)


def dynamic_buffers(dynamic_th: int, small_percent: int = 100) -> DynamicBuffers:
    """Return the inputs for computing headroom."""
    return DynamicBuffers(
        dynamic_th=dynamic_th, pattern_mtu_bytes=TRAFFIC_PATTERN_MTU_BYTES, small_packet_percent=small_percent
    )


def buffer_pools(
    lossy_percent: int | None,
    lossless_percent: int | None,
    memory_bytes: int | Unknown,
    *,
    one_ingress: bool = False,
    static: Collection[str] = (),
) -> tuple[BufferPool, ...]:
    """Return the pools, sorted by name: the lossless ones only where something is lossless.

    On the way out lossless traffic has no limit but the whole packet memory. With `one_ingress` it shares a pool with
    the other traffic on the way in. `static` are names of pools that are not dynamic.
    """

    def make_pool(direction: Literal["ingress", "egress"], object_kind: str, percent: int | None) -> BufferPool:
        name = f"{direction}_{object_kind}"
        return BufferPool(
            name=name,
            direction=direction,
            mode="static" if name in static else "dynamic",
            size_bytes=UNKNOWN,
            percentage=percent,
            computed=True,
        )

    lossy = make_pool("egress", "lossy", lossy_percent), make_pool("ingress", "lossy", lossy_percent)
    if lossless_percent is None and not one_ingress:
        return lossy
    endless = BufferPool(name="egress_lossless", direction="egress", mode="dynamic", size_bytes=memory_bytes)
    if lossless_percent is None:
        return endless, *lossy
    return endless, lossy[0], make_pool("ingress", "lossless", lossless_percent), lossy[1]
