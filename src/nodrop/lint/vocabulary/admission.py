"""Words about what buffers admit: when a priority group pauses, what a queue may hold, what must stay for others."""

from nodrop import units
from nodrop.fabric import effects
from nodrop.fabric.buffers import BufferPool, BufferProfile
from nodrop.fabric.qos import PriorityGroup, QosProfile
from nodrop.fabric.states import Unknown, UnknownFact, known
from nodrop.hardware import asic, switch, switches
from nodrop.lint.vocabulary import word

_Pools = tuple[BufferPool, ...] | Unknown
_Model = str | None | Unknown


@word("function")
def pause_threshold_bytes(buffer_model: _Model, pools: _Pools, qos: QosProfile, queue: int) -> float | None:
    """The depth of one egress queue, bytes, at which the ports that feed it pause, if one of them brings all of it.

    With dynamic thresholds alpha·B / (1 + p·alpha): B is the ingress pool, alpha the threshold's factor, p the
    lossless priority groups that share it (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM
    2015, §4, for one egress port). None where nothing of the queue is lossless.
    """
    table = known(qos.tc_to_queue, "interface.qos.tc_to_queue")
    tcs = [tc for tc in range(16) if effects.queue_of_tc(qos, tc) == queue] if table else range(16)
    groups = {effects.group_of_tc(qos, tc) for tc in tcs if effects.is_lossless(qos, tc)}
    found = [_group_threshold_bytes(buffer_model, pools, qos, group) for group in groups]
    return min((threshold for threshold in found if threshold is not None), default=None)


def _group_threshold_bytes(buffer_model: _Model, pools: _Pools, qos: QosProfile, group: int) -> float | None:
    buffer = effects.group_buffer(qos, group)
    if buffer is None or not buffer.lossless:
        return None
    if buffer.static_th_bytes is not None:
        return buffer.static_th_bytes
    if buffer.dynamic_th is None or buffer.dynamic_th >= effects.UNLIMITED_THRESHOLD:
        return None
    size = _shared_bytes(buffer_model, pools, buffer.pool)
    lossless = sum(one.lossless for one in _groups(qos))
    alpha = 2.0**buffer.dynamic_th
    return alpha * size / (1 + lossless * alpha)


def _shared_bytes(buffer_model: _Model, pools: _Pools, name: str | None) -> int:
    """Return the size of a pool without the headroom that ports share, of which it is a part where it is stated."""
    pool = next((one for one in known(pools, "device.buffer_pools") if one.name == name), None)
    if pool is None or pool.size_bytes is None or isinstance(pool.size_bytes, Unknown):
        raise UnknownFact("buffer_pool.size_bytes")
    if known(buffer_model, "device.buffer_model") == "traditional":  # SAI: shared headroom is part of the size
        return pool.size_bytes - (pool.shared_headroom_bytes or 0)
    return pool.size_bytes


def _groups(qos: QosProfile) -> tuple[PriorityGroup, ...]:
    return known(qos.priority_groups, "interface.qos.priority_groups")


@word("function")
def queue_limit_bytes(pools: _Pools, buffer: BufferProfile) -> float | None:
    """What a queue's own threshold lets it hold while all others are empty, in bytes; None where it has no limit.

    A dynamic threshold is alpha times what is free, so that the queue stops at alpha / (1 + alpha) of its pool.
    """
    if buffer.static_th_bytes is not None:
        return buffer.static_th_bytes
    if buffer.dynamic_th is None or buffer.dynamic_th >= effects.UNLIMITED_THRESHOLD:
        return None
    pool = next((one for one in known(pools, "device.buffer_pools") if one.name == buffer.pool), None)
    if pool is None or pool.size_bytes is None or isinstance(pool.size_bytes, Unknown):
        raise UnknownFact("buffer_pool.size_bytes")
    alpha = 2.0**buffer.dynamic_th
    return alpha * pool.size_bytes / (1 + alpha)


@word("function", rests_on=("models",))
def admitted_bytes(model: str | Unknown, buffer_model: _Model, pools: _Pools, qos: QosProfile) -> float:
    """What the lossless priority groups of a port's kind admit together before all senders are paused, in bytes.

    With many senders that is the whole of their pools, in a chip whose memory is divided the part that one queue can
    fill. Nothing where the chip does not keep ingress and egress apart: what it admits it has counted for the queue.
    """
    if isinstance(model, Unknown) or model not in switches():
        raise UnknownFact("device.model")
    chip = asic(switch(model).asic)
    if not chip.pools_keep_apart:
        return 0
    lossless = [known(one.buffer, "priority_group.buffer") for one in _groups(qos) if one.lossless]
    names = {buffer.pool for buffer in lossless if buffer is not None}
    return sum(_shared_bytes(buffer_model, pools, name) for name in names) / chip.memory_parts


@word("function")
def apart_from_lossy(pools: _Pools, qos: QosProfile, buffer: BufferProfile) -> str:
    """The ingress pool that a lossless buffer should take from, where it shares one with lossy groups and need not.

    Nothing where the buffer is apart from them, or where there is no other pool.
    """
    buffers = [one.buffer for one in _groups(qos)]
    lossy = {one.pool for one in buffers if isinstance(one, BufferProfile) and not one.lossless}
    if buffer.pool not in lossy:
        return ""
    others = [one for one in known(pools, "device.buffer_pools") if one.direction != "egress"]
    free = [one.name for one in others if one.name not in lossy and one.size_bytes != 0]
    return min(free, default="")


@word("function")
def ingress_bytes(pools: _Pools) -> int:
    """What the pools of what comes in have together, in bytes."""
    found = [one for one in known(pools, "device.buffer_pools") if one.direction != "egress"]
    return sum(known(one.size_bytes, "buffer_pool.size_bytes") or 0 for one in found)


@word("function")
def shares_headroom(pools: _Pools) -> bool:
    """Whether ports share headroom, so that a profile's size holds only what a port has of its own."""
    return any(one.shared_headroom_bytes for one in known(pools, "device.buffer_pools"))


@word("function")
def reserve_needed_bytes(model: str | Unknown, buffer: BufferProfile) -> int:
    """The least size of a lossless profile whose headroom is not shared: xoff, on NVIDIA's chips behind xon.

    Other chips count xon within what is shared (their shipped tables have sizes of xoff and a cell or two).
    """
    headroom = known(buffer.headroom, "priority_group.buffer.headroom")
    if headroom is None:
        return 0
    behind = not isinstance(model, Unknown) and model in switches() and asic(switch(model).asic).computes
    xon = known(headroom.xon_bytes, "priority_group.buffer.headroom.xon_bytes") or 0
    return known(headroom.xoff_bytes, "priority_group.buffer.headroom.xoff_bytes") + (xon if behind else 0)


@word("function")
def ends_at_once(buffer: BufferProfile) -> str:
    """Why the pause of a lossless buffer ends as soon as it has begun, as a clause; nothing where it lasts.

    A pause ends where no more than xon, or the threshold less the offset, is taken, whichever is more (SAI
    inc/saibuffer.h, SAI_BUFFER_PROFILE_ATTR_XON_TH and XON_OFFSET_TH).
    """
    headroom = known(buffer.headroom, "priority_group.buffer.headroom")
    if headroom is None or isinstance(headroom.xon_bytes, Unknown):
        return ""
    if not headroom.xon_bytes and not headroom.xon_offset_bytes:
        return "it has neither an xon threshold nor an offset from the pause threshold"
    limit = buffer.static_th_bytes
    if limit is not None and (headroom.xon_bytes or 0) >= limit:
        xon, most = units.show_bytes(headroom.xon_bytes or 0), units.show_bytes(limit)
        return f"its xon threshold is {xon}, and it pauses at {most}"
    return ""
