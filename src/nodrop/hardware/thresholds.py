"""How much of a pool a dynamic threshold admits.

A chip compares the fill of a priority group or queue with alpha times the free part of its pool. One that fills the
pool alone stops at alpha·B / (1 + alpha), and the next one at the same share of the rest. Where packet memory is
divided into parts (`Asic.memory_parts`), packets of one port fill one part, and B is the pool's share of it. Measured
values are in `tests/hardware/test_measured.py` and docs/measured.md.
"""

from nodrop.hardware import asic_of
from nodrop.model.states import Unknown


def dynamic_threshold_bytes(free_bytes: float, exponent: int, sharers: int = 1) -> float:
    """Return what each of several equal sharers holds when it reaches a threshold of `2 ** exponent`, in bytes."""
    alpha = 2.0**exponent
    return alpha * free_bytes / (1 + sharers * alpha)


def part_of_pool_bytes(model: str | None | Unknown, size_bytes: float) -> float:
    """Return how much of a pool the packets of one port can fill; all of it if the model is not known."""
    chip = asic_of(model)
    return size_bytes / chip.memory_parts if chip else size_bytes


def pool_has_shared_headroom(model: str | None | Unknown) -> bool:
    """Return whether the stated size of an ingress pool contains its shared headroom, as SAI says."""
    chip = asic_of(model)
    return chip is None or chip.shared_headroom_in_pool


def headroom_is_beside_pool(model: str | None | Unknown) -> bool:
    """Return whether a pool's shared headroom takes memory beside the pool's stated size."""
    chip = asic_of(model)
    return chip is not None and chip.headroom_beside_pool
