"""What headroom and reserves take of a switch's memory, against sums made by hand."""

import pytest

from nodrop.hardware.commitment import committed_bytes, memory_bytes
from nodrop.model.fabric import Device
from nodrop.model.states import UNKNOWN, UnknownFact
from nodrop.model.values import replace_fields
from support.designs import build, shipped

LEAF = build(shipped("broadcom")).device("leaf1")


def test_a_switch_with_tables() -> None:
    """7 ports of 2540 bytes for the lossless priority group and 5 lossy queues of 7 cells; shared headroom once."""
    assert committed_bytes(LEAF) == 7 * (2540 + 5 * 7 * 254) + 4 * 201930 + 3 * 178562
    assert memory_bytes(LEAF) == 67117468


def test_headroom_of_their_own_where_there_is_no_shared_pool() -> None:
    pools = tuple(replace_fields(pool, shared_headroom_bytes=None) for pool in LEAF.buffer_pools)  # type: ignore[union-attr]
    own = 4 * (2540 + 201930) + 3 * (2540 + 178562)
    assert committed_bytes(replace_fields(LEAF, buffer_pools=pools)) == own + 7 * 5 * 7 * 254


@pytest.mark.parametrize("name", ["two-by-two", "rail-256"])
def test_a_switch_that_computes_has_the_rest_in_its_pools(name: str) -> None:
    device = build(shipped(name)).device("leaf1")
    shares = {pool.name: pool.size_bytes for pool in device.buffer_pools if pool.computed}  # type: ignore[union-attr]
    ingress = sum(size for pool, size in shares.items() if pool.startswith("ingress") and isinstance(size, int))
    assert 0 <= ingress - (memory_bytes(device) - committed_bytes(device)) <= 2  # each share is rounded up


def test_what_is_not_known() -> None:
    unknown: Device = replace_fields(LEAF, model="Z9999")
    with pytest.raises(UnknownFact):
        memory_bytes(unknown)
    with pytest.raises(UnknownFact):
        committed_bytes(replace_fields(LEAF, buffer_pools=UNKNOWN))
