"""What was measured on switches, against the catalogue and the formulas: sonic-mgmt's parameters of its QoS tests.

Source of all counts: sonic-net/sonic-mgmt at b4ba9de3, tests/qos/files/qos_params.<chip>.yaml. Its tests send
packets of one cell each. `pkts_num_hdrm_full` is what a priority group takes between its pause and the first drop,
`pgs_num` and `pkts_num_hdrm_partial` say how many groups fill the headroom pool and what the last one takes of it,
`pkts_num_trig_pfc` is what a group holds when it pauses, `pkts_num_fill_min` of that its guaranteed minimum.
Source of pools: sonic-buildimage at 2026-08-23, buffers_defaults of the HWSKU named. The measured files name
topologies, not HWSKUs; each is the HWSKU whose headroom and pool are those measured.
"""

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import pytest

from nodrop.engine.vocabulary.admission import depth_when_senders_pause_bytes, most_shareable_bytes
from nodrop.hardware import asic, switch
from nodrop.hardware.thresholds import dynamic_threshold_bytes
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.qos import PriorityGroup, QosProfile, Queue
from support.small_fabrics import LOSSLESS

CELL_BYTES = {
    "spectrum-1": 96,
    "spectrum-2": 144,
    "spectrum-3": 144,
    "spectrum-4": 192,
    "spectrum-5": 192,
    "spectrum-6": 256,
}
"""tests/qos/files/mellanox/qos_param_generator.py."""


def cell(model: str) -> int:
    size = asic(switch(model).asic).cell_bytes
    assert size is not None
    return size


@pytest.mark.parametrize("chip", CELL_BYTES)
def test_cells_of_nvidia(chip: str) -> None:
    assert asic(chip).cell_bytes == CELL_BYTES[chip]


HEADROOM: dict[str, tuple[str, str, int, int, int]] = {
    "th5 topo-ft2-64, 800G 5 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-P64", 800_000, 5, 2853),
    "th5 topo-t0-f2-d40u8, 800G 40 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-P32V128", 800_000, 40, 3270),
    "th5 topo-t1-f2-d10u8, 800G 300 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-P32O64", 800_000, 300, 6384),
    "th5 topo-t1-f2-d10u8, 400G 300 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-P32O64", 400_000, 300, 3304),
    "th5 topo-lt2-o128, 400G 500 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-O128", 400_000, 500, 4474),
    "th5 topo-t1-isolated-d128, 400G 40 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-O128", 400_000, 40, 1755),
    "th5 topo-t0-f2-d40u8, 200G 5 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-P32V128", 200_000, 5, 884),
    "th5 topo-t0-f2-d40u8, 200G 300 m": ("7060X6-64PE-B", "Arista-7060X6-64PE-B-P32V128", 200_000, 300, 1781),
    "th5 topo-t0-standalone, 200G 5 m": ("7060X6-64PE", "Arista-7060X6-64PE-256x200G", 200_000, 5, 1185),
    "th6 topo-t0-standalone, 800G 500 m": ("NH-4210", "NH-4210-F-P128", 800_000, 500, 8867),
    "th6 topo-t0-standalone, 800G 40 m": ("NH-4210", "NH-4210-F-P128", 800_000, 40, 3391),
    "th6 topo-t0-standalone, 800G 5 m": ("NH-4210", "NH-4210-F-P128", 800_000, 5, 2974),
    "th3 topo-t0-80, 100G 300 m": ("Z9332F", "DellEMC-Z9332f-O32", 100_000, 300, 462),
    "th3 topo-t1-lag, 400G 300 m": ("Z9332F", "DellEMC-Z9332f-O32", 400_000, 300, 1472),
    "th topo-t0-64, 40G 300 m": ("7060CX-32S", "Arista-7060CX-32S-C32", 40_000, 300, 520),
    "th topo-t0-64, 50G 300 m": ("7060CX-32S", "Arista-7060CX-32S-C32", 50_000, 300, 682),
    "th topo-t0-64, 100G 300 m": ("7060CX-32S", "Arista-7060CX-32S-C32", 100_000, 300, 1292),
}


@pytest.mark.parametrize("name", HEADROOM)
def test_the_headroom_of_a_row_is_what_a_group_takes_after_its_pause(name: str) -> None:
    model, hwsku, speed, cable, cells = HEADROOM[name]
    row = switch(model).sonic.headroom_row(speed, cable, hwsku)
    assert row is not None
    assert row.xoff_bytes == cells * cell(model)


class Pool(NamedTuple):
    """An ingress_lossless_pool in bytes: its size and shared headroom, and the ports of its HWSKU."""

    model: str
    size: int
    xoff: int
    ports: int = 0


POOLS = {
    "Arista-7060X6-64PE-B-P32O64 t1": Pool("7060X6-64PE-B", 147_226_020, 38_843_712, 96),
    "Arista-7060X6-64PE-B-P32O64 lt2": Pool("7060X6-64PE-B", 164_619_432, 33_690_560, 96),
    "Arista-7060X6-64PE-B-P32V128 t0": Pool("7060X6-64PE-B", 163_961_572, 40_615_616, 160),
    "Arista-7060X6-64PE-B-O128 lt2": Pool("7060X6-64PE-B", 164_075_364, 49_418_240, 128),
    "Arista-7060X6-64PE-B-O128 t1": Pool("7060X6-64PE-B", 164_505_640, 22_010_624, 128),
    "Arista-7060X6-16PE-384C-B-O128S2 t0": Pool("7060X6-64PE-B", 164_110_924, 20_181_824, 128),
    "Arista-7060X6-64PE-256x200G t0": Pool("7060X6-64PE", 165_660_324, 29_520_896, 256),
    "DellEMC-Z9332f-O32 t1": Pool("Z9332F", 66_394_076, 27_200_352),
    "Arista-7060CX-32S-C32 t0": Pool("7060CX-32S", 10_875_072, 4_194_112),
    "Arista-7050CX3-32C-C32 t1": Pool("7050CX3-32C", 32_712_448, 1_622_016),
    "NH-4210-F-P128 t1": Pool("NH-4210", 258_035_400, 81_553_920),
    "Nokia-IXR7220-H6-P128 t0": Pool("IXR7220-H6-128", 257_154_240, 59_041_792),
}

FILLED: dict[str, tuple[str, list[tuple[int, int, int]]]] = {
    "th5 topo-t1-f2-d10u8": ("Arista-7060X6-64PE-B-P32O64 t1", [(24, 3304, 472), (12, 6384, 6240)]),
    "th5 topo-t0-f2-d40u8, 300 m": ("Arista-7060X6-64PE-B-P32V128 t0", [(45, 1781, 1588)]),
    "th5 topo-lt2-o128": ("Arista-7060X6-64PE-B-O128 lt2", [(22, 4474, 3326)]),
    "th5 topo-t1-isolated-d128": ("Arista-7060X6-64PE-B-O128 t1", [(25, 1755, 1208)]),
    "th5 topo-t0-isolated-d96u32s2": ("Arista-7060X6-16PE-384C-B-O128S2 t0", [(26, 1548, 1028), (23, 1755, 1118)]),
    "th5 topo-t0-standalone": ("Arista-7060X6-64PE-256x200G t0", [(50, 1185, 47)]),
    "th3 topo-t1-lag": ("DellEMC-Z9332f-O32 t1", [(37, 1472, 552)]),
    "th topo-t0-64": ("Arista-7060CX-32S-C32 t0", [(10, 520, 361), (8, 682, 267), (4, 1292, 1165)]),
    "td3 topo-t1-lag": ("Arista-7050CX3-32C-C32 t1", [(18, 362, 182)]),
}


@pytest.mark.parametrize("name", FILLED)
def test_the_headroom_pool_is_full_after_a_part_of_the_shared_headroom(name: str) -> None:
    pool, counts = FILLED[name]
    model, _, xoff, _ = POOLS[pool]
    part = xoff // asic(switch(model).asic).memory_parts
    for groups, full, partial in counts:
        assert ((groups - 1) * full + partial) * cell(model) == part


def paused_at(pool: Pool, exponent: int = 0) -> float:
    """Cells that one priority group holds when it pauses, by the function that rules use."""
    room = BufferProfile(
        pool="ingress_lossless",
        size_bytes=0,
        dynamic_th=exponent,
        headroom=Headroom(xoff_bytes=5000, xon_bytes=100, xon_offset_bytes=None),
    )
    maps = {"tc_to_queue": tuple(range(16)), "tc_to_priority_group": (0, 0, 0, 3, *[0] * 12)}
    groups = (PriorityGroup(index=3, buffer=room),)
    qos: QosProfile = replace(LOSSLESS, queues=(Queue(index=3),), priority_groups=groups, **maps)
    pools = (
        BufferPool(
            name="ingress_lossless",
            direction="ingress",
            mode="dynamic",
            size_bytes=pool.size,
            shared_headroom_bytes=pool.xoff,
        ),
    )
    found = depth_when_senders_pause_bytes(pool.model, "traditional", pools, qos, 3)
    assert found is not None
    return found / cell(pool.model)


PAUSED: dict[str, tuple[str, int, int, float]] = {
    "th6 topo-t0-standalone, 800G 500 m": ("NH-4210-F-P128 t1", 0, 209_000, 0.01),
    "th6 topo-t0-standalone, 800G 40 m": ("NH-4210-F-P128 t1", 0, 210_000, 0.01),
    "th6 topo-lt2-o256-u32d224": ("Nokia-IXR7220-H6-P128 t0", 0, 226_618 - 20, 0.05),
    "th3 topo-t1-lag": ("DellEMC-Z9332f-O32 t1", -2, 15_152 - 10, 0.02),
    "th topo-t0-64": ("Arista-7060CX-32S-C32 t0", 0, 6542 - 6, 0.01),
    "td3 topo-t1-lag": ("Arista-7050CX3-32C-C32 t1", 0, 59_605 - 18, 0.02),
}
"""HWSKU and template, exponent of its threshold, cells measured without the minimum, and how far off they may be."""


@pytest.mark.parametrize("name", PAUSED)
def test_a_group_pauses_at_its_share_of_what_is_free(name: str) -> None:
    pool, exponent, cells, tolerance = PAUSED[name]
    assert cells == pytest.approx(paused_at(POOLS[pool], exponent), rel=tolerance)


@pytest.mark.parametrize("model", ["S5232F", "unheard-of"])
def test_the_pause_is_the_later_one_where_size_and_shared_headroom_fit_the_memory(model: str) -> None:
    """Beside each other, the pools of S5232F fit the memory of Trident 3; those of 7050CX3-32C do not."""
    assert paused_at(Pool("S5232F", 26_284_032, 6_291_456)) == 26_284_032 / 2 / cell("S5232F")
    pools = (BufferPool(name="p", direction="ingress", mode="dynamic", size_bytes=26_284_032),)
    shared = (replace(pools[0], shared_headroom_bytes=6_291_456),)
    assert most_shareable_bytes(model, "traditional", shared, "p") == most_shareable_bytes(
        model, "traditional", pools, "p"
    )


RESERVED: dict[str, tuple[str, int, int]] = {
    "th5 topo-t1-f2-d10u8": ("Arista-7060X6-64PE-B-P32O64 t1", 103_397, 34),
    "th5 topo-lt2-p32o64": ("Arista-7060X6-64PE-B-P32O64 lt2", 125_589, 34),
    "th5 topo-t0-f2-d40u8, 300 m": ("Arista-7060X6-64PE-B-P32V128 t0", 115_917, 34),
    "th5 topo-lt2-o128": ("Arista-7060X6-64PE-B-O128 lt2", 108_469, 34),
    "th5 topo-t1-isolated-d128": ("Arista-7060X6-64PE-B-O128 t1", 133_349, 74),
    "th5 topo-t0-isolated-d96u32s2": ("Arista-7060X6-16PE-384C-B-O128S2 t0", 134_725, 74),
    "th5 topo-t0-standalone": ("Arista-7060X6-64PE-256x200G t0", 120_117, 74),
}


@pytest.mark.parametrize("name", RESERVED)
def test_what_tomahawk_5_pauses_before_is_a_reserve_of_every_port(name: str) -> None:
    """Of a part, 35 cells and the minimum of a priority group are kept for each port of the switch."""
    pool, cells, minimum = RESERVED[name]
    kept = 2 * (paused_at(POOLS[pool]) - (cells - minimum))
    assert kept == pytest.approx(POOLS[pool].ports * (35 + minimum), rel=0.01)


SUCCESSIVE: dict[str, tuple[int, list[int]]] = {
    "th5 topo-ft2-64": (34, [142285, 71159, 35597, 17815, 8925, 4479, 2257, 1145, 590, 312, 173, 103, 69]),
    "th5 topo-lt2-p32o64": (34, [125589, 62811, 31423, 15728, 7881, 3958, 1996, 1015, 524, 279, 157, 95, 65, 49]),
    "th5 topo-t1-isolated-d128": (
        74,
        [133349, 66711, 33393, 16733, 8404, 4239, 2156, 1115, 595, 334, 204, 139, 107, 90],
    ),
    "th5 topo-t0-standalone": (74, [120117, 60096, 30085, 15079, 7577, 3825, 1950, 1012, 543, 308, 191, 133, 103, 89]),
    "th6 topo-t0-standalone": (0, [209000, 104950]),
}


@pytest.mark.parametrize("name", SUCCESSIVE)
def test_each_group_takes_its_share_of_what_the_ones_before_it_left(name: str) -> None:
    """Group after group is filled until it pauses; the first says what was free."""
    minimum, counts = SUCCESSIVE[name]
    free = 2.0 * (counts[0] - minimum)
    for count in islice(counts, 1, None):
        free -= dynamic_threshold_bytes(free, 0)
        assert count - minimum == pytest.approx(dynamic_threshold_bytes(free, 0), abs=2, rel=0.005)


def test_groups_that_fill_together_stop_at_equal_shares() -> None:
    """Each of two has alpha times what both leave free: a third of the pool at alpha 1."""
    assert dynamic_threshold_bytes(300, 0, 2) == 100
    assert dynamic_threshold_bytes(300, 1, 2) == 120
