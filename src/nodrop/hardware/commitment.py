"""How much of a switch's packet memory is given away before any is shared: headroom, reserves, shared headroom."""

from functools import cache

from nodrop.hardware import asic_of, switch, switches
from nodrop.hardware.dynamic import occupied_memory_bytes
from nodrop.model.buffers import BufferProfile
from nodrop.model.fabric import Device
from nodrop.model.qos import QosProfile
from nodrop.model.states import UnknownFact, require_fact


def memory_bytes(device: Device) -> int:
    """Return the packet memory of a device's model; UnknownFact where the catalogue does not have it."""
    model = require_fact(device.model, "device.model")
    memory = switch(model).buffer_bytes if model in switches() else None
    if memory is None:
        raise UnknownFact("device.model")
    return memory


MISSING_MEMORY_TEXT_START = "packet memory of "
"""How a missing fact begins where a catalogue lacks how much memory a chip has."""


def max_packet_memory_bytes(device: Device) -> int:
    """Return the most that the packet memory of a device's chip can be, in bytes.

    That is the size published by its maker, or a larger pool that its vendor ships. UnknownFact where no source gives
    the size of its memory: a pool that is shipped is no bound for others.
    """
    model = require_fact(device.model, "device.model")
    chip = asic_of(model)
    if chip is None:
        raise UnknownFact("device.model")
    if chip.packet_memory_bytes is None:
        raise UnknownFact(f"{MISSING_MEMORY_TEXT_START}{chip.name}")
    return max(chip.packet_memory_bytes, switch(model).buffer_bytes or 0)


def committed_bytes(device: Device) -> int:
    """Return what headroom and reserves of all ports that are up take, in bytes.

    Where the switch works its pools out, by its own formula. Elsewhere each priority group, queue and port takes the
    size of its profile, a lossless priority group without a shared headroom pool at least its xon and xoff, and the
    shared headroom is taken once. UnknownFact where a size, or the model of a switch that computes, is not known.
    """
    if require_fact(device.buffer_model, "device.buffer_model") == "dynamic" and _computes_buffers(device):
        return occupied_memory_bytes(device)
    pools = require_fact(device.buffer_pools, "device.buffer_pools")
    shared = sum(pool.shared_headroom_bytes or 0 for pool in pools)
    committed_bytes_of_port = cache(lambda qos: _committed_bytes_of_port(qos, bool(shared)))
    total = shared
    for port in device.interfaces:
        if not require_fact(port.enabled, "interface.enabled"):
            continue
        qos = require_fact(port.qos, "interface.qos")
        if qos is not None:
            total += committed_bytes_of_port(qos)
    return total


def _computes_buffers(device: Device) -> bool:
    chip = asic_of(require_fact(device.model, "device.model"))
    return chip is not None and chip.has_headroom_terms


def _committed_bytes_of_port(qos: QosProfile, shared: bool) -> int:
    groups = [
        require_fact(group.buffer, "priority_group.buffer")
        for group in require_fact(qos.priority_groups, "interface.qos")
    ]
    queues = [require_fact(queue.buffer, "queue.buffer") for queue in require_fact(qos.queues, "interface.qos")]
    lists = (*require_fact(qos.ingress_buffers, "interface.qos"), *require_fact(qos.egress_buffers, "interface.qos"))
    return sum(
        _committed_bytes_of_buffer(buffer, shared) for buffer in (*groups, *queues, *lists) if buffer is not None
    )


def _committed_bytes_of_buffer(buffer: BufferProfile, shared: bool) -> int:
    size = require_fact(buffer.size_bytes, "priority_group.buffer.size_bytes")
    headroom = require_fact(buffer.headroom, "priority_group.buffer.headroom")
    if headroom is None or shared:
        return size
    xon = require_fact(headroom.xon_bytes, "priority_group.buffer.headroom") or 0
    return max(size, xon + require_fact(headroom.xoff_bytes, "priority_group.buffer.headroom"))
