"""Words about lossless traffic at egress: whether the admitted traffic fits where it waits."""

from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.buffers import lossless_queues_with_lossy_buffer
from nodrop.engine.vocabulary.scheduling import lossless_queues
from nodrop.engine.vocabulary.sides import queues_stopped_by_pause
from nodrop.hardware import asic_of
from nodrop.hardware.commitment import max_packet_memory_bytes
from nodrop.model import effects
from nodrop.model.buffers import BufferPool, BufferProfile
from nodrop.model.fabric import Device
from nodrop.model.qos import PriorityGroup, QosProfile
from nodrop.model.states import is_known_off, known_rows, require_fact


@declare_word("function")
def lossless_ingress_pools_bytes(device: Device, pool: BufferPool) -> int:
    """Return the size of all ingress pools of lossless groups, in bytes, for an egress pool that holds lossless queues.

    0 for any other pool. Ports that are shut are left out.
    """
    if pool.direction != "egress":
        return 0
    ports = (port for port in device.interfaces if require_fact(port.enabled, "interface.enabled"))
    qos = [
        found_profile
        for profile in dict.fromkeys(port.qos for port in ports)
        if (found_profile := require_fact(profile, "interface.qos")) is not None
    ]
    if not any(pool.name in _lossless_egress_pools(profile) for profile in qos):
        return 0
    taken = {name for profile in qos for name in _lossless_ingress_pools(profile)}
    pools = [
        candidate for candidate in require_fact(device.buffer_pools, "device.buffer_pools") if candidate.name in taken
    ]
    sizes = [
        require_fact(candidate.size_bytes, "buffer_pool.size_bytes")
        for candidate in pools
        if candidate.direction == "ingress"
    ]
    return sum(size or 0 for size in sizes)


def _lossless_egress_pools(qos: QosProfile) -> set[str | None]:
    """Return the pools that a port's lossless queues use, except for queues on a buffer of lossy queues."""
    lossless = _lossless_queues_stopped_by_pause(qos).difference(lossless_queues_with_lossy_buffer(qos))
    queues = [queue for queue in require_fact(qos.queues, "interface.qos.queues") if queue.index in lossless]
    buffers = [require_fact(queue.buffer, "queue.buffer") for queue in queues]
    return {buffer.pool for buffer in buffers if buffer is not None}


def _lossless_ingress_pools(qos: QosProfile) -> set[str | None]:
    """Return the pools that a port's lossless priority groups use."""
    tcs = [tc for tc in effects.used_tcs(qos) if effects.is_lossless(qos, tc)]
    buffers = [effects.buffer_of_priority_group(qos, effects.priority_group_of_tc(qos, tc)) for tc in tcs]
    return {buffer.pool for buffer in buffers if buffer is not None and buffer.lossless}


@declare_word("function")
def lossless_queues_without_buffer(qos: QosProfile) -> tuple[int, ...]:
    """Return the lossless queues of a port without a stated buffer, which the switch's default limits."""
    stated = {queue.index: queue.buffer for queue in require_fact(qos.queues, "interface.qos.queues")}
    return tuple(
        index
        for index in sorted(_lossless_queues_stopped_by_pause(qos))
        if require_fact(stated.get(index), "queue.buffer") is None
    )


@declare_word("function")
def queues_without_any_buffer(qos: QosProfile) -> tuple[int, ...]:
    """Return the queues that packets land in, where a port's groups have buffers and none of its queues has one."""
    queues = require_fact(qos.queues, "interface.qos.queues")
    if any(require_fact(queue.buffer, "queue.buffer") is not None for queue in queues):
        return ()
    groups = require_fact(qos.priority_groups, "interface.qos.priority_groups")
    if all(require_fact(group.buffer, "priority_group.buffer") is None for group in groups):
        return ()
    return tuple(sorted({effects.queue_of_tc(qos, tc) for tc in effects.used_tcs(qos)}))


@declare_word("function")
def queue_with_threshold_above_lossy_group(qos: QosProfile, group: PriorityGroup) -> int | None:
    """Return the queue with the highest dynamic threshold among those behind a lossy group that may take less.

    Thresholds are compared within one pool. None where no queue behind the group has a higher one.
    """
    taken = require_fact(group.buffer, "priority_group.buffer")
    if (
        taken is None
        or taken.dynamic_th is None
        or taken.lossless
        or effects.pausing_priorities_of_priority_group(qos, group.index)
    ):
        return None
    fed = {
        effects.queue_of_tc(qos, tc)
        for tc in effects.used_tcs(qos)
        if effects.priority_group_of_tc(qos, tc) == group.index
    }
    behind = [queue for queue in require_fact(qos.queues, "interface.qos.queues") if queue.index in fed]
    above = {
        queue.index: buffer.dynamic_th
        for queue in behind
        if (buffer := require_fact(queue.buffer, "queue.buffer")) is not None
        and buffer.pool == taken.pool
        and buffer.dynamic_th is not None
        and buffer.dynamic_th > taken.dynamic_th
    }
    return max(above, key=lambda index: (above[index], -index), default=None)


@declare_word("function")
def dynamic_threshold(qos: QosProfile, queue: int | None) -> int | None:
    """Return the dynamic threshold of a port's queue; None where it has no buffer or a static threshold."""
    buffers = [
        require_fact(row.buffer, "queue.buffer")
        for row in require_fact(qos.queues, "interface.qos.queues")
        if row.index == queue
    ]
    return next((buffer.dynamic_th for buffer in buffers if buffer is not None), None)


@declare_word("function")
def highest_static_threshold_bytes(device: Device, pool: BufferPool) -> int:
    """Return the highest static threshold of groups and queues of ports in use in a pool, in bytes; 0 for none."""
    return _find_highest_static_threshold(device, pool)[0]


@declare_word("function")
def highest_static_threshold_holder(device: Device, pool: BufferPool) -> str:
    """Name the first group or queue with the highest static threshold in a pool: `queue 3 of Ethernet8`."""
    return _find_highest_static_threshold(device, pool)[1]


@declare_word("function", rests_on=("models",))
def exceeded_static_threshold_limit_bytes(device: Device, pool: BufferPool) -> int | None:
    """Return the most that a switch's release accepts as static threshold, in bytes, where one in a pool is above.

    From SAI 14 on, some ASICs count a static threshold in one part of their memory, which is all that a port can fill,
    and refuse a larger one (`Asic.sonic_threshold_per_part_since`). None where no threshold is refused.
    """
    chip = asic_of(device.model)
    if chip is None or chip.sonic_threshold_per_part_since is None:
        return None
    limit_bytes = max_packet_memory_bytes(device) // chip.memory_parts
    if highest_static_threshold_bytes(device, pool) <= limit_bytes:
        return None
    release = require_fact(device.version, "device.version")
    return limit_bytes if release is not None and release >= chip.sonic_threshold_per_part_since else None


def _find_highest_static_threshold(device: Device, pool: BufferPool) -> tuple[int, str]:
    """Return the highest static threshold in a pool, in bytes, and the first group or queue that has it."""
    highest_bytes, holder = 0, "none"
    ports = [port for port in device.interfaces if not is_known_off(port.enabled)]
    names = {port.qos: port.name for port in reversed(ports) if isinstance(port.qos, QosProfile)}
    for qos, port_name in reversed(names.items()):
        buffers = [("priority group", group.index, group.buffer) for group in known_rows(qos.priority_groups)]
        buffers += [("queue", queue.index, queue.buffer) for queue in known_rows(qos.queues)]
        for kind, index, buffer in buffers:
            if not isinstance(buffer, BufferProfile) or buffer.pool != pool.name:
                continue
            if (buffer.static_th_bytes or 0) > highest_bytes:
                highest_bytes, holder = buffer.static_th_bytes or 0, f"{kind} {index} of {port_name}"
    return highest_bytes, holder


def _lossless_queues_stopped_by_pause(qos: QosProfile) -> frozenset[int]:
    return frozenset(index for index in lossless_queues(qos) if index in queues_stopped_by_pause(qos))
