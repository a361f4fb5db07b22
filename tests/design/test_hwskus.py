"""Which HWSKU a switch is written with: the one that has the declared ports, whatever is cabled."""

from typing import Any

import pytest

import nodrop
from nodrop import design
from nodrop.design.hwskus import hwsku_of
from nodrop.design.static_buffers import has_static_headroom
from nodrop.design.topology import topology_of
from nodrop.fabric_readings import build_and_read_back
from nodrop.hardware import find_design_obstacle, switch, switches
from nodrop.intent.schema import Intent
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.plan_words import format_fact_lines
from support.designs import build, load, shipped

ARISTA = "7060X6-64PE-B"
TH5 = f"Arista-{ARISTA}"


def th5(endpoints: dict[str, str], uplinks: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return an intent of 7060X6-64PE-B; ports, split and speed of the leaves' two sides."""
    changes = {
        **{f"topology.{tier}.model": ARISTA for tier in ("leaves", "spines")},
        **{f"topology.{tier}.version": "202511" for tier in ("leaves", "spines")},
        "topology.leaves.ports": {"endpoints": endpoints["ports"], "uplinks": uplinks["ports"]},
        "topology.uplinks.split": uplinks.get("split"),
        "topology.uplinks.spine_split": None,
        "topology.uplinks.speed": uplinks["speed"],
        "topology.uplinks.media": "DR8" if uplinks["speed"] == "800G" else "DR4",
        "endpoints.gpu.leaf_ports": None,
        "endpoints.gpu.split": endpoints.get("split"),
        "endpoints.gpu.speed": endpoints["speed"],
        "endpoints.storage": None,
        "topology.max_oversubscription": "1000",
    }
    return shipped("broadcom", changes | more)


def hwsku_of_leaves(intent: Intent, model: str) -> str | None:
    """Return the HWSKU of the leaves of an intent, where they are of a model."""
    return hwsku_of(topology_of(intent), topology_of(intent).group("leaf"), switch(model))


def hwskus(data: dict[str, Any]) -> tuple[Any, Any]:
    fabric = build(data)
    return fabric.device("leaf1").hwsku, fabric.device("spine1").hwsku


HALVES, WHOLE = {"split": "2", "speed": "400G"}, {"speed": "800G"}


@pytest.mark.parametrize(
    ("endpoints", "uplinks", "leaf", "spine"),
    [
        (HALVES | {"ports": "33-64"}, WHOLE | {"ports": "1-32"}, f"{TH5}-P32O64", f"{TH5}-P64"),
        (HALVES | {"ports": "29-60"}, WHOLE | {"ports": "1-28"}, f"{TH5}-P28O72", f"{TH5}-P64"),
        (HALVES | {"ports": "1-32"}, HALVES | {"ports": "33-64"}, None, None),
        (HALVES | {"ports": "1-4"}, HALVES | {"ports": "5-8"}, None, None),
        ({"split": "2", "speed": "400G", "ports": "33-48"}, WHOLE | {"ports": "1-8"}, f"{TH5}-P32O64", f"{TH5}-P64"),
    ],
)
def test_the_hwsku_that_has_the_declared_ports(
    endpoints: dict[str, str], uplinks: dict[str, str], leaf: str | None, spine: str | None
) -> None:
    assert hwskus(th5(endpoints, uplinks)) == (leaf, spine)


def test_of_several_the_one_with_rows_and_the_fewest_other_splits() -> None:
    """Seastone-DX010-50-40 has these ports too and breaks out fewer others, but ships no table; P32O64 has ports 1-8
    whole as P64 has, and breaks out others."""
    halves, whole = {"split": "2", "speed": "50G", "ports": "1-4"}, {"speed": "100G", "ports": "19-22"}
    assert hwsku_of_leaves(load(th5(halves, whole)), "DX010") == "Celestica-DX010-D48C8"
    plain = th5(WHOLE | {"ports": "1-4"}, WHOLE | {"ports": "5-8"})
    assert hwsku_of_leaves(load(plain), ARISTA) == f"{TH5}-P64"


def test_a_hwsku_that_the_release_does_not_have_is_not_written() -> None:
    data = th5(HALVES | {"ports": "29-60"}, WHOLE | {"ports": "1-28"})
    data["topology"]["leaves"]["version"] = "202505"
    assert hwskus(data) == (None, f"{TH5}-P64")


def test_no_cable_changes_the_hwsku() -> None:
    """A server less, a spine more, longer cables: only lists of ports, splits and speeds count."""
    plan = HALVES | {"ports": "33-64"}, WHOLE | {"ports": "1-32"}
    found = {
        hwskus(th5(*plan, **changes))
        for changes in (
            {},
            {"endpoints.gpu.ids": "1"},
            {"topology.spines.ids": "1-3"},
            {"topology.uplinks.per_spine": "8"},
            {"topology.uplinks.length": "300m", "endpoints.gpu.length": "30m"},
        )
    }
    assert found == {(f"{TH5}-P32O64", f"{TH5}-P64")}


def test_ports_without_a_cable_are_as_the_hwsku_ships_them() -> None:
    """P32O64 breaks out ports 33-64: a cable more on port 40 changes its two ports, and no other has other lanes."""
    fabric = build(th5(HALVES | {"ports": "33-64"}, WHOLE | {"ports": "1-32"}))
    for name, broken in (("leaf1", range(33, 65)), ("spine1", range(0))):
        lanes = {(one.port.panel, one.lanes) for one in fabric.device(name).interfaces if one.port}  # type: ignore[union-attr]
        assert {(panel, each) for panel, each in lanes if panel <= 64} == {
            (panel, 4 if panel in broken else 8) for panel in range(1, 65)
        }


def test_ports_that_no_hwsku_has_are_noted() -> None:
    """P32O64 has 800G on ports 1-32: the note says so, and what is written instead."""
    data = th5(HALVES | {"ports": "1-32"}, WHOLE | {"ports": "33-64"})
    assert hwskus(data) == (None, f"{TH5}-P64")
    notes = design.find_adaptations(load(data))
    (note,) = [one for one in notes if one.path == "leaf*/hwsku"]
    assert (note.wanted, note.made) == ("2x400G on ports 1-32, 1x800G on ports 33-64", f"{TH5}-O128")
    assert note.reason == (
        "no HWSKU of 202511 has these ports, so BREAKOUT_CFG changes those of the base HWSKU; "
        f"{TH5}-P32O64 has 1x800G on ports 1-32, 2x400G on ports 33-64"
    )
    (headroom,) = [one for one in notes if one.path == "leaf*/*/qos/priority_groups/*/buffer"]
    assert (headroom.wanted, headroom.made) == ("a row of the table", "833536 bytes")
    assert headroom.reason == (
        f"the table of {TH5}-O128 has no row for 800G and 30 m: derived from the row of {TH5}-P32O64 for 40 m, "
        "and no less than any row of the model at that speed and length, or lower ones"
    )


@pytest.mark.slow
def test_a_plan_says_that_another_hwsku_needs_a_reboot() -> None:
    """Uplinks at 800G in place of 2 x 400G: the ports and the HWSKU of all switches change."""
    halves = th5(HALVES | {"ports": "33-64"}, HALVES | {"ports": "1-32"})
    whole = th5(HALVES | {"ports": "33-64"}, WHOLE | {"ports": "1-32"})
    before, after = (build_and_read_back(load(data), "intent.yaml", "build")[1] for data in (halves, whole))
    made = nodrop.plan(before, after)
    found = {
        (block.devices, line, fact.effect.risk, fact.effect.method)
        for block in made.changes
        for fact in block.facts
        for line in format_fact_lines(fact)
        if "HWSKU" in line
    }
    assert found == {
        (("leaf1", "leaf2"), f"HWSKU: the base one of the model -> {TH5}-P32O64", "reboot", "by hand"),
        (("spine1", "spine2"), f"HWSKU: the base one of the model -> {TH5}-P64", "reboot", "by hand"),
    }


def test_switches_that_compute_their_headroom_keep_the_base_hwsku() -> None:
    assert {device.hwsku for device in build(shipped("rail-256")).devices} == {None}


@pytest.mark.parametrize("model", switches())
def test_layouts_are_of_the_model(model: str) -> None:
    box = switch(model)
    layouts = box.sonic.layouts
    named = [hwsku for layout in layouts for hwsku in layout.hwskus]
    assert len(named) == len(set(named))
    needed = has_static_headroom(box) and find_design_obstacle(box, "sonic") is None and len(box.sonic.hwskus) > 1
    assert set(named) == (set(box.sonic.hwskus) if named or needed else set())
    for layout in layouts:
        assert layout.since is None or layout.since in traits_of_platform("sonic").releases
        for panel, (into, speed) in layout.ports.items():
            group = box.group(panel)
            way = group.find_breakout(into) if group else None
            assert way is not None, (model, layout.hwskus, panel)
            assert speed in way.speeds, (model, layout.hwskus, panel)
