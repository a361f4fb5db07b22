"""How much of a pool a dynamic threshold admits.

A chip compares the fill of a priority group or queue with alpha times the free part of its pool. One that fills the
pool alone stops at alpha·B / (1 + alpha), and the next one at the same share of the rest. Where packet memory is
divided into parts (`Asic.memory_parts`), packets of one port fill one part, and B is the pool's share of it. Measured
values are in `tests/hardware/test_measured.py` and docs/measured.md.
"""

from nodrop.hardware import asic_of
from nodrop.hardware.schema import Asic
from nodrop.model.states import Unknown


def dynamic_threshold_bytes(free_bytes: float, exponent: int, sharers: int = 1) -> float:
    """Return the bytes that each of several equal sharers holds when it reaches a threshold of `2 ** exponent`."""
    alpha = 2.0**exponent
    return alpha * free_bytes / (1 + sharers * alpha)


def pool_bytes_port_can_fill(model_name: str | None | Unknown, size_bytes: float) -> float:
    """Return how much of a pool the packets of one port can fill; all of it if the model is not known."""
    chip = asic_of(model_name)
    return size_bytes / chip.memory_parts if chip else size_bytes


def unlimited_threshold_bytes(chip: Asic, memory_bytes: int, reserved_bytes: int) -> int:
    """Return the static threshold that is no limit in a memory of which some is reserved.

    That is all of it, or, where a chip refuses more than one part of its memory (`sonic_threshold_per_part_since`), the
    whole cells of a part that are not reserved, which is all that a port can fill.
    """
    if chip.sonic_threshold_per_part_since is None:
        return memory_bytes
    cell_bytes = chip.cell_bytes or 1
    return (memory_bytes - reserved_bytes) // chip.memory_parts // cell_bytes * cell_bytes


def pool_size_contains_shared_headroom(
    model_name: str | None | Unknown, size_bytes: int, headroom_bytes: int
) -> bool | None:
    """Return whether the stated size of an ingress pool contains its shared headroom; None where that is not known.

    It does where both together exceed the packet memory of the chip. Files of vendors have it both ways where they fit:
    7050CX3-32C (Trident 3) contains it, S5232F (Trident 3) and 7060CX-32S (Tomahawk 1) do not (sonic-buildimage,
    buffers_defaults_*.j2).
    """
    chip = asic_of(model_name)
    if chip is None or chip.shared_headroom_in_pool is not None:
        return None if chip is None else chip.shared_headroom_in_pool
    memory = chip.packet_memory_bytes
    return True if memory is not None and size_bytes + headroom_bytes > memory else None


def memory_left_by_shared_headroom_bytes(chip: Asic, memory_bytes: int, headroom_bytes: int) -> int:
    """Return the bytes that thresholds count from if ports share this headroom in a memory; not positive if too much.

    It counts twice on a chip that keeps the headroom outside the pool and still takes it off the pool's size.
    """
    return memory_bytes - headroom_bytes * _headroom_multiplier(chip)


def least_oversubscription_ratio(chip: Asic, memory_bytes: int, headroom_bytes: int) -> int:
    """Return the least whole number of times less than all ports' headroom that leaves thresholds something."""
    return headroom_bytes * _headroom_multiplier(chip) // memory_bytes + 1


def _headroom_multiplier(chip: Asic) -> int:
    return 2 if chip.headroom_beside_pool and chip.shared_headroom_in_pool else 1


def headroom_is_beside_pool(model_name: str | None | Unknown) -> bool:
    """Return whether a pool's shared headroom takes memory in addition to the pool's stated size."""
    chip = asic_of(model_name)
    return chip is not None and chip.headroom_beside_pool
