"""How much of a shared headroom pool one port may take (sonic-swss cfgmgr/buffer_check_headroom_mellanox.lua).

A port takes from the pool what its lossless priority groups need and do not reserve; an ASIC lets it take so many
cells, those twice over that each of its two buffer units has where the port has eight lanes. A switch refuses headroom
beyond that, and leaves the priority group without any.
"""

from nodrop.hardware.dynamic import require_asic_with_formula
from nodrop.model.buffers import BufferProfile, Headroom
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import QosProfile
from nodrop.model.states import UnknownFact, require_fact

_LANES_OF_WIDE_PORT = 8


def taken_shared_headroom_bytes(interface: Interface) -> int:
    """Return the use of the shared headroom by a port; UnknownFact where a headroom of the port is not known."""
    qos = require_fact(interface.qos, "interface.qos")
    return 0 if qos is None else _shared_headroom_use(qos)


def _shared_headroom_use(qos: QosProfile) -> int:
    buffers = [require_fact(group.buffer, "priority_group.buffer") for group in require_fact(qos.priority_groups)]
    return sum(_unreserved_headroom(buffer) for buffer in buffers if buffer is not None)


def _unreserved_headroom(buffer: BufferProfile) -> int:
    headroom: Headroom | None = require_fact(buffer.headroom, "priority_group.buffer.headroom")
    if headroom is None:
        return 0
    xon = require_fact(headroom.xon_bytes, "priority_group.buffer.headroom") or 0
    xoff = require_fact(headroom.xoff_bytes, "priority_group.buffer.headroom")
    return max(xon + xoff - require_fact(buffer.size_bytes, "priority_group.buffer.size_bytes"), 0)


def private_headroom_bytes(device: Device) -> int:
    """Return the private headroom of each lossless port in addition to the pool; 0 where the ASIC's is not known.

    Only the dynamic model has any; there, UnknownFact where the device's model is not known.
    """
    if device.buffer_model != "dynamic":
        return 0
    require_fact(device.model, "device.model")
    try:
        return require_asic_with_formula(device).private_headroom_bytes
    except UnknownFact:
        return 0


def shared_headroom_limit_bytes(device: Device, interface: Interface) -> int | None:
    """Return the most that a port may take; None where the ASIC's limit is not known."""
    facts = require_asic_with_formula(device)
    most, reserved, cell = facts.port_most_shared_cells, facts.port_reserved_shared_cells, facts.cell_bytes
    if most is None or reserved is None or cell is None:
        return None
    return (most + reserved * (2 if interface.lanes == _LANES_OF_WIDE_PORT else 1)) * cell
