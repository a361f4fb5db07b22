"""Ports of which fewer lanes are used than they have: the cases of fewer_lanes.yaml, and each mode of the catalogue."""

import json
import re
from typing import Any

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.hardware import switch, switches
from nodrop.hardware.ports import NarrowSplit
from nodrop.model.fabric import Device, Fabric, Interface, Port
from nodrop.platforms import port_name
from nodrop.platforms.sonic import writer
from support.designs import Data, build, data_of, shipped
from support.places import TESTS

CASES = data_of((TESTS / "design" / "fewer_lanes.yaml").read_text())


def fabric_of(case: Data) -> Fabric:
    return build(shipped("broadcom", CASES["changes"] | case["changes"]))


def tables(fabric: Fabric, device: str = "leaf1") -> Any:
    artifacts = nodrop.write(fabric)
    return json.loads(next(one.text for one in artifacts if (one.device, one.path) == (device, "config_db.json")))


def ports(device: Device) -> list[tuple[object, ...]]:
    return [(one.name, one.port, one.lanes, one.speed_mbps, one.fec, one.qos) for one in device.interfaces]


@pytest.mark.parametrize("case", CASES["written"], ids=lambda case: case["case"])
def test_a_port_of_fewer_lanes_is_written_and_read_back(case: Data) -> None:
    fabric = fabric_of(case)
    made = tables(fabric)
    assert {port: made["BREAKOUT_CFG"][port]["brkout_mode"] for port in case["breakout"]} == case["breakout"]
    for port, row in case["port"].items():
        assert {field: made["PORT"][port][field] for field in row} == row
    again = nodrop.read_back(list(nodrop.write(fabric)), fabric).fabric
    assert [ports(device) for device in again.devices] == [ports(device) for device in fabric.devices]


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["case"])
def test_lanes_that_no_mode_has_are_refused(case: Data) -> None:
    with pytest.raises(InputProblems) as caught:
        fabric_of(case)
    found = [problem for problem in caught.value.problems if problem.where == case["where"]]
    assert found
    assert [word for word in case["words"] if word not in str(found[0])] == []


MODE = re.compile(r"([0-9]+)x([0-9]+G|[0-9]+)(?:\[[^]]*\])*(?:\(([0-9]+)\))?")
"""A breakout mode, as sonic-config-engine/portconfig.py reads it: ports, speed, other speeds, lanes of all ports."""


@pytest.mark.parametrize("model", [name for name in switches() if switch(name).sonic_ports])
def test_every_mode_that_is_written_is_one_of_the_port_and_has_its_lanes(model: str) -> None:
    facts = switch(model)
    for group in facts.ports:
        panel = group.panels[0]
        for way in (*group.breakout_options, *group.narrow):
            if way.platforms and "sonic" not in way.platforms:
                continue
            for speed in way.speeds:
                parts = tuple(
                    Interface(
                        name=port_name("sonic", model, Port(panel, part), way.into),
                        port=Port(panel, part),
                        speed_mbps=speed,
                        lanes=way.lanes,
                    )
                    for part in range(way.into)
                )
                device = Device(name="leaf1", platform="sonic", model=model, interfaces=parts)
                ways = writer._panel_split_by_port(facts, device)
                assert set(ways.values()) == {way}
                modes = [mode for _, mode in writer._breakout_modes(facts, device, ways)]
                rows = [writer._port_row(facts, one, ways[one.name]) for one in parts]
                lanes = ",".join(row.lanes for row in rows)
                assert lanes == ",".join(map(str, facts.sonic_ports[panel].lanes[: way.into * way.lanes]))
                assert [row.subport for row in rows] == ([0] if way.into == 1 else list(range(1, way.into + 1)))
                whole = way.into == 1 and not isinstance(way, NarrowSplit)
                assert len(modes) == (0 if whole else 1)
                for mode in modes:
                    assert mode in way.modes or not way.modes
                    found = MODE.fullmatch(mode)
                    assert found
                    assert int(found[1]) == way.into
                    assert int(found[3] or group.lanes) == way.into * way.lanes


def test_models_of_broadcom_have_ways_of_fewer_lanes() -> None:
    """By model: lanes, speeds in Gb/s and release of each (platform.json of sonic-buildimage's branches)."""
    found = {
        name: [(way.lanes, [speed // 1000 for speed in way.speeds], way.since) for way in group.narrow]
        for name in switches()
        for group in switch(name).ports
        if group.narrow
    }
    four, later = [(4, [100], None)], [(4, [100], "202505")]
    silverstone = [(4, [100, 40], None), (2, [100], None)]
    assert found == {
        "6512-32R": four,
        "7060DX4-32": four,
        "7060DX5-32": four,
        "IXR7220-D4-36D": [(4, [100, 40], "202511")],
        "IXR7220-H5-32D": later,
        "IXR7220-H5-64D": later,
        "IXR7220-H5-64O": later,
        "IXR7220-H6-128": four,
        "IXR7220-H6-64": four,
        "SN4410": [(4, [200], None), (2, [100], None), (1, [50], None)],
        "SSE-T8164": [(4, [400, 100], None)],
        "Silverstone": silverstone,
        "Silverstone-V2": silverstone,
        "TO3200K": four,
        "Z9332F": four,
        "Z9864F": four,
    }
