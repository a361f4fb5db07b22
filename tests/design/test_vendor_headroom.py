"""Headroom of switches that have it from tables, held against every row that the vendor ships for their model."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from nodrop.design.boxes import PlannedSwitches, switches_of
from nodrop.design.buffers import LosslessGroupFromTables
from nodrop.design.hwskus import hwsku_of
from nodrop.design.static_buffers import design_static_buffers, has_static_headroom, static_headroom_faults
from nodrop.design.topology import topology_of
from nodrop.errors import InputProblems
from nodrop.hardware import asic, buildable_models, fastest_breakouts_with_known_headroom, switch, switches
from nodrop.hardware.schema import HeadroomTable, SwitchModel
from nodrop.intent.schema import Intent
from nodrop.model.buffers import HeadroomRow
from nodrop.model.qos import QosProfile
from nodrop.platforms.kit.traits import traits_of_platform
from support.designs import build, load, port, shipped

RELEASES = traits_of_platform("sonic").releases
LENGTHS_M = (1, 5, 30, 31, 40, 41, 150, 300, 301, 500, 2000)
EVERY_LENGTH_M = tuple(range(1, 2501, 7))
MODELS = tuple(model for model in buildable_models("sonic") if has_static_headroom(switch(model)))

LOWER_ROWS = {
    ("Arista-7060X6-64PE-B-P32O64", 400_000): "O128 has more at 5 and 30 m",
    ("Arista-7060X6-64PE-B-P32V128", 200_000): "O128 has the rows of 400G at 100G too",
    ("Arista-7060X6-64PE-B-P32V128", 800_000): "830580 at 40 m, where P32O64 has 833536",
    ("Arista-7260CX3-C64", 50_000): "D96C16 has more at each length",
    ("Arista-7260CX3-C64", 100_000): "D96C16 has more at each length",
    ("Nokia-IXR7220-H6-P128", 100_000): "its rows of 50G have more",
    ("NH-5010-F-O64", 800_000): "its rows of 400G have more",
}
"""Tables, by their first HWSKU, and the speed at which they have less than another row of their model."""


class Ports(NamedTuple):
    """Panel ports of a model that are used alike."""

    model: str
    into: int
    speed_mbps: int


def ports() -> Iterator[Ports]:
    """Yield every use of the panel ports of every model that can be designed with headroom from tables."""
    for model in MODELS:
        for group in switch(model).ports:
            for way in () if group.service else group.breakout_options:
                yield from (Ports(model, way.into, speed) for speed in way.speeds)


@cache
def plain() -> Intent:
    return load(shipped("broadcom"))


def intent_of(use: Ports, length_m: int, release: str) -> Intent:
    """Return an intent whose spines are of a model, with links of a length on all their ports."""
    topology = plain().topology
    uplinks = {"speed": use.speed_mbps, "length": length_m, "spine_split": use.into}
    spines = {"model": use.model, "version": release}
    changed = {
        "uplinks": topology.uplinks.model_copy(update=uplinks),
        "spines": topology.spines.model_copy(update=spines),
    }
    return plain().model_copy(update={"topology": topology.model_copy(update=changed)})


def reaching(table: HeadroomTable | None, speed_mbps: int, length_m: int) -> HeadroomRow | None:
    rows = table.rows if table else ()
    found = [row for row in rows if row.speed_mbps == speed_mbps and row.cable_m >= length_m]
    return min(found, key=lambda row: row.cable_m, default=None)


def least_xoff(model: SwitchModel, speed_mbps: int, length_m: int) -> int:
    """Return the most that a row of the model has at the speed or a lower one, and the length or a lower one."""
    rows = [row for table in model.sonic.headroom for row in table.rows]
    return max((r.xoff_bytes for r in rows if r.speed_mbps <= speed_mbps and r.cable_m <= length_m), default=0)


def fit_of(use: Ports, intent: Intent, length_m: int) -> tuple[str, LosslessGroupFromTables]:
    """Return the HWSKU of the spines and what their ports have."""
    model = switch(use.model)
    group = topology_of(intent).group("spine")
    made = design_static_buffers(intent, group, model)
    return hwsku_of(topology_of(intent), group, model) or str(model.sonic.hwsku), made.fits[use.speed_mbps, length_m]


def check(use: Ports, lengths_m: tuple[int, ...], releases: tuple[str, ...]) -> None:
    model = switch(use.model)
    has_rows = any(row.speed_mbps == use.speed_mbps for table in model.sonic.headroom for row in table.rows)
    for release in releases:
        before = 0
        for length_m in lengths_m:
            intent = intent_of(use, length_m, release)
            if not has_rows:
                group = topology_of(intent).group("spine")
                spines = PlannedSwitches(groups={group: switches_of(intent).groups[group]})
                found = [problem.found for problem in static_headroom_faults(intent, spines)]
                assert any("no HWSKU" in one for one in found), (use, found)
                break
            hwsku, fit = fit_of(use, intent, length_m)
            table = model.sonic.headroom_table_of_hwsku(hwsku)
            row = reaching(table, use.speed_mbps, length_m)
            if row is not None:
                assert (fit.xoff_bytes, fit.cable_m) == (row.xoff_bytes, row.cable_m)
            if row is None or (table and (table.hwskus[0], use.speed_mbps) not in LOWER_ROWS):
                assert fit.xoff_bytes >= least_xoff(model, use.speed_mbps, length_m), (use, hwsku, length_m)
            if table and table.grows_with_cable:
                assert fit.xoff_bytes >= before, (use, hwsku, length_m)
            before = fit.xoff_bytes


@pytest.mark.parametrize("model", MODELS)
def test_no_headroom_is_below_what_the_vendor_ships_for_the_model(model: str) -> None:
    for use in ports():
        if use.model == model:
            check(use, LENGTHS_M, RELEASES[-1:])


@pytest.mark.nightly
@pytest.mark.parametrize("model", MODELS)
def test_none_is_in_any_release_at_any_length(model: str) -> None:
    for use in ports():
        if use.model == model:
            check(use, EVERY_LENGTH_M, RELEASES)


def test_rows_below_others_of_their_model_are_known_by_name() -> None:
    found = {
        (table.hwskus[0], row.speed_mbps)
        for model in map(switch, switches())
        if has_static_headroom(model)
        for table in model.sonic.headroom
        for row in table.rows
        if row.xoff_bytes < least_xoff(model, row.speed_mbps, row.cable_m)
    }
    assert found == set(LOWER_ROWS)


GPU, UPLINKS = "endpoints.gpu", "topology.uplinks"


def mixed(endpoints: str, uplinks: str, **more: Any) -> dict[str, Any]:
    """Return an intent of Tomahawk 5: servers at 2 x 400G a port, uplinks at 800G."""
    tiers = {f"topology.{tier}.model": "7060X6-64PE-B" for tier in ("leaves", "spines")}
    changes = {
        **{f"topology.{tier}.version": "202511" for tier in ("leaves", "spines")},
        "topology.leaves.ports": {"endpoints": endpoints, "uplinks": uplinks},
        f"{UPLINKS}.spine_split": None,
        f"{UPLINKS}.speed": "800G",
        f"{UPLINKS}.media": "DR8",
        f"{UPLINKS}.length": "40m",
        f"{GPU}.leaf_ports": None,
        f"{GPU}.split": "2",
        "endpoints.storage": None,
    }
    return shipped("broadcom", tiers | changes | more)


def xoff(data: dict[str, Any], device: str, name: str) -> int:
    qos = port(build(data), device, name).qos
    assert isinstance(qos, QosProfile)
    found: Any = next(one for one in qos.priority_groups if one.index == 3)  # type: ignore[union-attr]
    return found.buffer.headroom.xoff_bytes  # type: ignore[no-any-return]


def test_800g_has_what_the_rows_of_the_model_say() -> None:
    """P32O64 has 833536 at 40 m, P64 724662 at 5 m alone, P32V128 830580."""
    assert xoff(mixed("33-64", "1-32"), "leaf1", "Ethernet0") == 833_536
    assert xoff(mixed("33-64", "1-32"), "spine1", "Ethernet0") == 833_536
    assert xoff(mixed("1-32", "33-64"), "leaf1", "Ethernet256") == 833_536
    assert xoff(mixed("33-64", "1-32", **{f"{UPLINKS}.length": "5m"}), "spine1", "Ethernet0") == 724_662


def test_a_longer_cable_than_any_row_has_what_it_holds_more() -> None:
    """1621536 at 300 m, and 100 m of 2 × 5 ns/m × 800 Gb/s, whose packets of 84 bytes fill cells of 254."""
    cells = -(-100_000 * 254 // 84 // 254)
    assert (
        xoff(mixed("33-64", "1-32", **{f"{UPLINKS}.length": "400m"}), "spine1", "Ethernet0") == 1_621_536 + cells * 254
    )


def test_a_row_of_the_hwsku_stays_as_it_is_below_the_bound_of_the_standard() -> None:
    facts = switch("Z9332F")
    table = facts.sonic.headroom[0]
    rows = tuple(row._replace(xoff_bytes=1000) if row.cable_m == 40 else row for row in table.rows)
    sonic = facts.sonic.model_copy(update={"headroom": (table.model_copy(update={"rows": rows}),)})
    intent = load(shipped("broadcom"))
    made = design_static_buffers(intent, topology_of(intent).group("leaf"), facts.model_copy(update={"sonic": sonic}))
    assert made.fits[400_000, 30].xoff_bytes == 1000


def test_a_speed_without_a_row_of_the_model_is_refused() -> None:
    """No HWSKU of 7060X6-64PE has a row at 800G, though those of 7060X6-64PE-B have."""
    data = mixed("33-64", "1-32", **{f"topology.{tier}.model": "7060X6-64PE" for tier in ("leaves", "spines")})
    with pytest.raises(InputProblems) as raised:
        build(data)
    assert {(one.where, one.found, one.expected) for one in raised.value.problems} == {
        (
            "topology.uplinks.speed",
            "no HWSKU of 7060X6-64PE has a headroom row for 800G in its pg_profile_lookup.ini",
            "100G, 200G, 400G",
        )
    }


@pytest.mark.parametrize("model", MODELS)
def test_a_first_intent_has_speeds_with_rows(model: str) -> None:
    rows = {row.speed_mbps for table in switch(model).sonic.headroom for row in table.rows}
    assert not asic(switch(model).asic).has_headroom_terms
    assert {speed for _, speed in fastest_breakouts_with_known_headroom(switch(model))} <= rows
