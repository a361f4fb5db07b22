"""The share of the packet memory that lossy queues have for themselves, independent of other queues of their pool."""

import math
from typing import NamedTuple

from nodrop.hardware import asic
from nodrop.hardware.schema import SwitchModel
from nodrop.model.fabric import Purpose

RESERVED_PURPOSES: frozenset[Purpose] = frozenset({"cnp", "control"})
"""The purposes of classes whose queues have a reserve on switches with the dynamic buffer model; with the traditional
model all lossy queues have one, as in the vendors' files."""
PORT_RESERVE_BYTES = 9216
"""Of the egress_lossy_profile of NVIDIA's files (device/mellanox/.../buffers_defaults_objects.j2): a packet of the
largest MTU, which all lossy queues of a port share."""
RESERVE_CELLS = 7
"""1778 bytes in cells of 254 (device/dell/.../DellEMC-Z9332f-O32, Dell-Z9864f-O64): a packet of 1518 bytes and more, as
all such reserves in the vendors' files."""
FULL_PACKET_BYTES = 1518


class QueueReserve(NamedTuple):
    """The reserve of a lossy queue, and where the number comes from."""

    size_bytes: int
    source: str


def lossy_queue_reserve(switch_model: SwitchModel, *, static: bool) -> QueueReserve:
    """Return the reserve of a lossy queue: that of the vendor's files for the ASIC, else of the nearest that has one.

    0 where neither a file nor the ASIC's cells are known.
    """
    chip = asic(switch_model.asic)
    if chip.lossy_queue_reserve_bytes is not None:
        return QueueReserve(
            chip.lossy_queue_reserve_bytes, f"as a lossy queue has in the vendor's files for {chip.name}"
        )
    if not static:
        source = f"as NVIDIA's files reserve at a port for all lossy queues; for {chip.name} they have none by queue"
        return QueueReserve(PORT_RESERVE_BYTES, source)
    if chip.cell_bytes is None:
        return QueueReserve(0, f"not known for {chip.name}: no vendor's file has one, and its cells are not known")
    cells = max(RESERVE_CELLS, math.ceil(FULL_PACKET_BYTES / chip.cell_bytes))
    source = (
        f"{cells} cells, a packet of {FULL_PACKET_BYTES} bytes, as on Tomahawk 3 and 5; none is known for {chip.name}"
    )
    return QueueReserve(cells * chip.cell_bytes, source)
