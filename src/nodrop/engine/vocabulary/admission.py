"""Words about buffer admission: when a priority group pauses, how much a queue may hold, how much must stay free."""

from math import ceil

from nodrop import units
from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.buffers import lossless_queues_with_lossy_buffer
from nodrop.engine.vocabulary.marking import marks_or_drops_early
from nodrop.engine.vocabulary.platform import is_zero_xon_none
from nodrop.engine.vocabulary.scheduling import lossless_queues
from nodrop.engine.vocabulary.sides import queues_stopped_by_pause
from nodrop.hardware import asic_of, shares
from nodrop.hardware.thresholds import (
    dynamic_threshold_bytes,
    pool_bytes_port_can_fill,
    pool_size_contains_shared_headroom,
)
from nodrop.model import effects
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import PriorityGroup, QosProfile, Queue
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact, require_fact

_BufferPools = tuple[BufferPool, ...] | Unknown
_BufferModel = str | None | Unknown
_OptionalBufferProfile = BufferProfile | None | Unknown
"""Of a group that is not known, other rules report that headroom cannot be checked; more of that would be noise."""


@declare_word("function")
def depth_when_senders_pause_bytes(
    model: str | Unknown, buffer_model: _BufferModel, pools: _BufferPools, qos: QosProfile, queue: int
) -> float | None:
    """Return the depth of one egress queue, bytes, at which the ports that feed it pause, if one of them brings it all.

    With dynamic thresholds alpha·B / (1 + p·alpha): B is the ingress pool, or the part of it that one port can fill,
    alpha the threshold's factor, p the lossless priority groups that share it (Zhu et al., Congestion Control for
    Large-Scale RDMA Deployments, SIGCOMM 2015, §4, for one egress port). None where nothing of the queue is lossless.
    Where it is not known whether the size of B contains shared headroom, it is the greater of both depths, so that a
    queue which marks too late for it does so in either case.
    """
    sharers = sum(group.lossless for group in _require_priority_groups(qos))
    group_depths = [
        _held_bytes_when_paused(model, buffer_model, pools, buffer_profile, sharers=sharers)
        for buffer_profile in _lossless_buffers_feeding_queue(qos, queue)
    ]
    return min((depth for depth in group_depths if depth is not None), default=None)


def _lossless_buffers_feeding_queue(qos: QosProfile, queue: int) -> list[BufferProfile]:
    """Return the buffers of the lossless priority groups whose packets use a queue."""
    table = require_fact(qos.tc_to_queue, "interface.qos.tc_to_queue")
    tcs = [tc for tc in range(16) if effects.queue_of_tc(qos, tc) == queue] if table else range(16)
    groups = sorted({effects.priority_group_of_tc(qos, tc) for tc in tcs if effects.is_lossless(qos, tc)})
    buffers = [effects.buffer_of_priority_group(qos, group) for group in groups]
    return [buffer for buffer in buffers if buffer is not None and buffer.lossless]


def _held_bytes_when_paused(
    model: str | Unknown,
    buffer_model: _BufferModel,
    pools: _BufferPools,
    buffer: BufferProfile,
    *,
    sharers: int,
    senders: int = 1,
) -> float | None:
    """Return what `senders` of the sharers of a pool hold together when all sharers are paused; None for never."""
    if buffer.static_th_bytes is not None:
        return buffer.static_th_bytes * senders
    if buffer.dynamic_th is None or buffer.dynamic_th >= effects.NVIDIA_UNLIMITED_DYNAMIC_TH:
        return None
    size = pool_bytes_port_can_fill(model, most_shareable_bytes(model, buffer_model, pools, buffer.pool))
    return dynamic_threshold_bytes(size, buffer.dynamic_th, sharers) * senders


def _single_sender_pause_bytes(
    model: str | Unknown, buffer_model: _BufferModel, pools: _BufferPools, qos: QosProfile, queue: int
) -> float | None:
    """Return the depth of a queue at which one sender is paused that fills it alone, the memory else empty."""
    group_depths = [
        _held_bytes_when_paused(model, buffer_model, pools, buffer_profile, sharers=1)
        for buffer_profile in _lossless_buffers_feeding_queue(qos, queue)
    ]
    return min((depth for depth in group_depths if depth is not None), default=None)


def group_pause_bytes(device: Device, buffer: BufferProfile, sharers: int) -> float | None:
    """Return the bytes in a lossless priority group when it pauses and `sharers` of its pool do too; None for never."""
    return _held_bytes_when_paused(device.model, device.buffer_model, device.buffer_pools, buffer, sharers=sharers)


def lossless_ports_per_memory_part(device: Device) -> int:
    """Return how many ports of a switch that may pause their neighbors share one part of its memory, at least 1."""
    chip = asic_of(device.model)
    ports = max(sum(map(_may_pause_neighbor, device.interfaces)), 1)
    return ceil(ports / min(chip.memory_parts if chip else 1, ports))


@declare_word(
    "function",
    fields_read={"device": ("model", "buffer_model", "buffer_pools", "interfaces"), "interface": ("enabled", "qos")},
)
def depth_when_all_senders_pause_bytes(device: Device, interface: Interface, queue: Queue) -> float | None:
    """Return the depth of a lossless queue in bytes at which all senders are paused, if that is before any mark.

    None where it marks before, where it never marks, and where a sender is never paused. A priority group pauses at
    alpha times the free space of its pool B (Choudhury and Hahne, Dynamic Queue Length Thresholds for Shared-Memory
    Packet Switches, IEEE/ACM ToN 6(2), 1998). So n senders of one queue, whose packets it holds, are paused when it
    holds n·alpha·B / (1 + n·alpha): the more senders, the deeper. It is taken for every other lossless port of the
    switch at once, with the thresholds of the queue's own port, and for an otherwise empty memory, all its parts: no
    traffic makes the queue deeper before the pause. Zhu et al. (SIGCOMM 2015, section 4) ask for
    the least depth instead, so that marks always come first.
    """
    minimum = _marking_start_bytes(device.buffer_pools, interface.qos, queue)
    if minimum is None or isinstance(interface.qos, Unknown) or interface.qos is None:
        return None
    facts = (device.model, device.buffer_model, device.buffer_pools)
    alone = _single_sender_pause_bytes(*facts, interface.qos, queue.index)
    if alone is None or minimum < alone:
        return None
    senders = max(sum(map(_may_pause_neighbor, device.interfaces)) - _may_pause_neighbor(interface), 1)
    chip = asic_of(device.model)
    memory_parts = min(chip.memory_parts if chip else 1, senders)
    sharers = ceil(senders / memory_parts)
    feeding = _lossless_buffers_feeding_queue(interface.qos, queue.index)
    group_depths = [
        _held_bytes_when_paused(*facts, buffer_profile, sharers=sharers, senders=sharers) for buffer_profile in feeding
    ]
    depths = [depth * memory_parts for depth in group_depths if depth is not None]
    return max(depths) if len(depths) == len(group_depths) and minimum >= max(depths) else None


def _may_pause_neighbor(port: Interface) -> bool:
    """Return whether a port may pause its neighbor: in doubt it does."""
    if port.enabled is False or port.qos is None:
        return False
    groups = UNKNOWN if isinstance(port.qos, Unknown) else port.qos.priority_groups
    return isinstance(groups, Unknown) or any(group.lossless for group in groups)


def _marking_start_bytes(pools: _BufferPools, qos: QosProfile | None | Unknown, queue: Queue) -> int | None:
    """Return the depth where a queue starts to mark, in bytes; None if it never marks."""
    wred = require_fact(queue.wred, "queue.wred")
    if wred is None or wred.green.min_bytes is None or qos is None:
        return None
    return wred.green.min_bytes if marks_or_drops_early(pools, require_fact(qos, "interface.qos"), queue) else None


def most_shareable_bytes(
    model_name: str | Unknown, buffer_model: _BufferModel, pools: _BufferPools, name: str | None
) -> int:
    """Return the most that a pool can share: its size, less shared headroom where it is known to contain that."""
    size, headroom = _pool_size_bytes(pools, name), _deducted_headroom_bytes(buffer_model, pools, name)
    return size - headroom if pool_size_contains_shared_headroom(model_name, size, headroom) else size


def _least_shareable_bytes(
    model_name: str | Unknown, buffer_model: _BufferModel, pools: _BufferPools, name: str | None
) -> int:
    """Return the least that a pool can share: its size less shared headroom, unless that is known to be outside it."""
    size, headroom = _pool_size_bytes(pools, name), _deducted_headroom_bytes(buffer_model, pools, name)
    return size if pool_size_contains_shared_headroom(model_name, size, headroom) is False else size - headroom


def _deducted_headroom_bytes(buffer_model: _BufferModel, pools: _BufferPools, name: str | None) -> int:
    """Return the headroom that a switch takes off a stated size: none where it computes its pools itself."""
    if require_fact(buffer_model, "device.buffer_model") != "traditional":
        return 0
    return sum(pool.shared_headroom_bytes or 0 for pool in require_fact(pools) if pool.name == name)


def _pool_size_bytes(pools: _BufferPools, name: str | None) -> int:
    pool = next((candidate for candidate in require_fact(pools, "device.buffer_pools") if candidate.name == name), None)
    if pool is None or pool.size_bytes is None or isinstance(pool.size_bytes, Unknown):
        raise UnknownFact("buffer_pool.size_bytes")
    return pool.size_bytes


def _require_priority_groups(qos: QosProfile) -> tuple[PriorityGroup, ...]:
    return require_fact(qos.priority_groups, "interface.qos.priority_groups")


@declare_word("function")
def pause_depth_before_full_marking_bytes(
    model: str | Unknown, buffer_model: _BufferModel, pools: _BufferPools, qos: QosProfile | None, queue: Queue
) -> float | None:
    """Return the depth in bytes at which a lone sender of a queue is paused, if not all packets are marked by then.

    None where all are marked before the pause, or none ever, and where the queue is not lossless. What is not known is
    missing for the question whether any is marked before the pause, too, and told there.
    """
    wred = require_fact(queue.wred, "queue.wred")
    if qos is None or wred is None or wred.green.min_bytes is None or wred.green.max_bytes is None:
        return None
    try:
        marking = marks_or_drops_early(pools, qos, queue)
        paused = _single_sender_pause_bytes(model, buffer_model, pools, qos, queue.index) if marking else None
    except UnknownFact:
        return None
    return paused if paused is not None and paused <= wred.green.max_bytes else None


@declare_word("function", rests_on=("models",))
def lossless_queue_limit_bytes(
    model: str | Unknown, pools: _BufferPools, qos: QosProfile | None, queue: Queue
) -> float | None:
    """Return what the own threshold of a lossless queue lets it hold while all others are empty, in bytes.

    A dynamic threshold is alpha times what is free, so that the queue stops at alpha / (1 + alpha) of its pool, or of
    the part that one queue can fill, in a chip whose memory is divided: all of it if the model is not known. None where
    the queue has no limit or is not lossless, and where it has the buffer of the lossy ones, another fault.
    """
    buffer = require_fact(queue.buffer, "queue.buffer")
    if (
        qos is None
        or buffer is None
        or queue.index not in queues_stopped_by_pause(qos).intersection(lossless_queues(qos))
    ):
        return None
    if queue.index in lossless_queues_with_lossy_buffer(qos):
        return None
    if buffer.static_th_bytes is not None:
        return buffer.static_th_bytes
    if buffer.dynamic_th is None or buffer.dynamic_th >= effects.NVIDIA_UNLIMITED_DYNAMIC_TH:
        return None
    return dynamic_threshold_bytes(
        pool_bytes_port_can_fill(model, _pool_size_bytes(pools, buffer.pool)), buffer.dynamic_th
    )


@declare_word("function", rests_on=("models",))
def admitted_over_queue_limit_bytes(
    model: str | Unknown, buffer_model: _BufferModel, pools: _BufferPools, qos: QosProfile | None, queue: Queue
) -> float | None:
    """Return what lossless groups of a port's kind admit before all senders pause, where a lossless queue holds less.

    With many senders that is the whole of their pools, in bytes; in a chip whose memory is divided, the part that one
    queue can fill. None where the queue holds it, and where the chip does not keep ingress and egress apart: what it
    admits it has counted for the queue. Only where a queue may hold less has the model to be known.
    """
    limit = lossless_queue_limit_bytes(model, pools, qos, queue)
    if limit is None or qos is None:
        return None
    buffers = [group.buffer for group in _require_priority_groups(qos)]
    names = {buffer.pool for buffer in buffers if isinstance(buffer, BufferProfile) and buffer.headroom is not None}
    admitted = pool_bytes_port_can_fill(
        model, sum(_least_shareable_bytes(model, buffer_model, pools, name) for name in names)
    )
    if limit >= admitted:
        return None
    chip = asic_of(model)
    if chip is None:
        raise UnknownFact("device.model")
    return admitted if chip.pools_keep_apart else None


@declare_word("function")
def lossless_pool_to_use_instead(pools: _BufferPools, qos: QosProfile | None, group: PriorityGroup) -> str:
    """Return the ingress pool that a lossless group should take from, where it needlessly shares one with lossy groups.

    Nothing where the group is lossy or apart from them, where there is no other pool, and where its pool alone has
    shared headroom, which is for lossless groups: there the lossy ones are in the wrong pool.
    """
    buffer = group.buffer
    if qos is None or not isinstance(buffer, BufferProfile) or buffer.headroom is None:
        return ""
    buffers = [priority_group.buffer for priority_group in _require_priority_groups(qos)]
    lossy = {
        buffer_profile.pool
        for buffer_profile in buffers
        if isinstance(buffer_profile, BufferProfile) and buffer_profile.headroom is None
    }
    if buffer.pool not in lossy:
        return ""
    ingress = [pool for pool in require_fact(pools, "device.buffer_pools") if pool.direction != "egress"]
    free = [pool for pool in ingress if pool.name not in lossy and pool.size_bytes != 0]
    if any(pool.name == buffer.pool and pool.shared_headroom_bytes for pool in ingress):
        free = [pool for pool in free if pool.shared_headroom_bytes]
    return min((pool.name for pool in free), default="")


@declare_word("function")
def excess_over_ingress_pools_bytes(pools: _BufferPools, pool: BufferPool) -> int:
    """How much larger a stated pool is than all ingress pools together, in bytes; 0 where it is not."""
    if pool.computed or pool.size_bytes is None:
        return 0
    return max(require_fact(pool.size_bytes, "buffer_pool.size_bytes") - all_ingress_pools_bytes(pools), 0)


@declare_word("function")
def all_ingress_pools_bytes(pools: _BufferPools) -> int:
    """Return the size of all ingress pools together, in bytes."""
    found_pools = [pool for pool in require_fact(pools, "device.buffer_pools") if pool.direction != "egress"]
    return sum(require_fact(pool.size_bytes, "buffer_pool.size_bytes") or 0 for pool in found_pools)


@declare_word("function")
def shares_headroom(buffer_model: _BufferModel, dynamic: DynamicBuffers | None | Unknown, pools: _BufferPools) -> bool:
    """Whether ports are set to share headroom; a profile's size then holds only the part of a single port.

    A switch that sizes its pools itself makes a small shared headroom for profiles that are smaller than theirs,
    which is no such statement (sonic-swss cfgmgr/buffer_pool_mellanox.lua: 640 KiB).
    """
    if not isinstance(dynamic, Unknown) and dynamic is not None and dynamic.over_subscribe_ratio:
        return True
    by_itself = not isinstance(buffer_model, Unknown) and buffer_model == "dynamic"
    stated = [pool for pool in require_fact(pools, "device.buffer_pools") if not (by_itself and pool.computed)]
    return any(pool.shared_headroom_bytes for pool in stated)


@declare_word("function")
def missing_reserve_bytes(model: str | Unknown, buffer: _OptionalBufferProfile) -> int:
    """How much less than its stated headroom a profile reserves, in bytes; 0 where it is no less."""
    if not isinstance(buffer, BufferProfile) or isinstance(buffer.size_bytes, Unknown):
        return 0
    return max(needed_reserve_bytes(model, buffer) - buffer.size_bytes, 0)


@declare_word("function")
def needed_reserve_bytes(model: str | Unknown, buffer: _OptionalBufferProfile) -> int:
    """Return the least size of a profile with a stated headroom: xoff, on NVIDIA's chips with xon.

    Other chips count xon within the shared part (their shipped tables have sizes of xoff and a cell or two).
    """
    headroom = _configured_headroom(buffer)
    if headroom is None or isinstance(headroom.xoff_bytes, Unknown):
        return 0
    chip = asic_of(model)
    xon = headroom.xon_bytes if chip and chip.has_headroom_terms else None
    return headroom.xoff_bytes + (xon if isinstance(xon, int) else 0)


def _configured_headroom(buffer: _OptionalBufferProfile) -> Headroom | None:
    """Return the headroom that a buffer is known to have and that is stated, not computed by the switch."""
    headroom = buffer.headroom if isinstance(buffer, BufferProfile) else None
    return headroom if isinstance(headroom, Headroom) and not headroom.computed else None


@declare_word("function")
def why_pause_ends_at_once(platform: str, buffer: _OptionalBufferProfile) -> str:
    """Why the pause of a lossless buffer ends as soon as it has begun, as a clause; nothing where it lasts.

    A pause ends where no more than xon, or the threshold less the offset, is taken, whichever is more (SAI
    inc/saibuffer.h, SAI_BUFFER_PROFILE_ATTR_XON_TH and XON_OFFSET_TH). Elsewhere than there, an xon of 0 is a level:
    the pause lasts until the buffer is empty. An xon equal to the reserved memory before the headroom is usual: below
    a dynamic threshold, shared memory is between the two (NVIDIA's tables for SONiC, its generator for Cumulus Linux
    3.7 and its guides for Onyx all have it).
    """
    headroom = _configured_headroom(buffer)
    if headroom is None or isinstance(headroom.xon_bytes, Unknown) or not isinstance(buffer, BufferProfile):
        return ""
    if is_zero_xon_none(platform) and not headroom.xon_bytes and not headroom.xon_offset_bytes:
        if headroom.xon_offset_bytes == 0:
            return "pause starts and ends at the same level"
        return "it has neither an xon threshold nor an xon offset"
    limit = buffer.static_th_bytes
    if limit is not None and (headroom.xon_bytes or 0) >= limit:
        xon, most = units.show_bytes(headroom.xon_bytes or 0), units.show_bytes(limit)
        return f"its xon threshold is {xon}, and it pauses at {most}"
    return ""


@declare_word("function")
def overrides_computed_headroom(buffer_model: _BufferModel, buffer: _OptionalBufferProfile) -> bool:
    """Whether a buffer has a stated headroom on a switch that computes headroom itself."""
    return (
        not isinstance(buffer_model, Unknown) and buffer_model == "dynamic" and _configured_headroom(buffer) is not None
    )


@declare_word("function")
def computed_headroom_port_count(interfaces: tuple[Interface, ...]) -> int:
    """How many of a switch's ports that are up have headroom that the switch computes."""
    return sum(_has_computed_headroom(port.qos) for port in interfaces if port.enabled is True)


def _has_computed_headroom(qos: QosProfile | None | Unknown) -> bool:
    if not isinstance(qos, QosProfile) or isinstance(qos.priority_groups, Unknown):
        return False
    buffers = [group.buffer for group in qos.priority_groups]
    rooms = [buffer.headroom for buffer in buffers if isinstance(buffer, BufferProfile)]
    return any(isinstance(room, Headroom) and room.computed for room in rooms)


@declare_word("function", rests_on=("models",))
def headroom_kept_while_shut_bytes(
    model: str | Unknown, buffer_model: _BufferModel, pools: _BufferPools, buffer: _OptionalBufferProfile
) -> int:
    """Return the headroom that a stated profile keeps from others while its port is shut, bytes; 0 if it is given back.

    Chips that can have the dynamic buffer model give it back (sonic-swss cfgmgr/buffermgr.cpp), and what is shared is
    nobody's own. Nothing is said of models that are not known.
    """
    chip = asic_of(model)
    if chip is None or "dynamic" in chip.buffer_models:
        return 0
    if isinstance(pools, Unknown) or isinstance(buffer_model, Unknown):
        return 0
    return 0 if shares_headroom(buffer_model, None, pools) else needed_reserve_bytes(model, buffer)


@declare_word("function")
def lossless_pool_share_percent(pools: _BufferPools) -> int:
    """Return the share of the shared memory that is kept for lossless traffic, in percent; all where none is apart."""
    return shares.lossless_pool_share_percent(pools)
