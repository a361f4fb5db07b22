"""Panel ports that are broken out, in SONiC's words: lanes, names, aliases and modes are those of the SKU's files."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import nodrop
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.fabric import Device, Fabric, Interface, Port
from nodrop.model.index import Index
from nodrop.platforms.sonic.writer import write
from support.designs import build, shipped
from support.random_fabrics import alone
from support.sonic_configs import read


@cache
def fabric() -> Fabric:
    return build(shipped("rail-256"))


@cache
def tables(device: str) -> Any:
    text = next(one.text for one in write(fabric().device(device), Index(fabric())) if one.path == "config_db.json")
    return json.loads(text)


def row(device: str, port: str) -> dict[str, str]:
    wanted = ("alias", "index", "lanes", "speed", "subport", "fec")
    return {field: tables(device)["PORT"][port].get(field) for field in wanted}


def test_a_spine_has_the_ports_of_its_sku_for_128_ports() -> None:
    """Mellanox-SN5600-O128/port_config.ini: 64 ports in two parts each, and the service port."""
    ports = tables("spine1")["PORT"]
    assert list(ports) == [f"Ethernet{number}" for number in range(0, 513, 4)]
    for panel in range(1, 65):
        for part, letter in enumerate("ab"):
            first = 8 * (panel - 1) + 4 * part
            assert row("spine1", f"Ethernet{first}") == {
                "alias": f"etp{panel}{letter}",
                "index": str(panel),
                "lanes": f"{first},{first + 1},{first + 2},{first + 3}",
                "speed": "400000",
                "subport": str(part + 1),
                "fec": "rs",
            }
    assert row("spine1", "Ethernet512")["alias"] == "etp65"
    assert row("spine1", "Ethernet512")["lanes"] == "512"


def test_a_leaf_leaves_what_has_no_cable_whole_and_shut() -> None:
    ports = tables("leaf1")["PORT"]
    whole = {name for name, port in ports.items() if port["subport"] == "0"}
    assert whole == {f"Ethernet{8 * panel}" for panel in range(16, 48)} | {"Ethernet512"}
    assert {ports[name]["admin_status"] for name in whole} == {"down"}
    assert {port["admin_status"] for name, port in ports.items() if name not in whole} == {"up"}
    assert ports["Ethernet128"]["lanes"] == "128,129,130,131,132,133,134,135"


def test_modes_are_those_of_platform_json() -> None:
    two, one = "2x400G[200G,100G,50G,40G,25G,10G]", "1x800G[400G,200G,100G,50G,40G,25G,10G]"
    modes = {name: entry["brkout_mode"] for name, entry in tables("leaf1")["BREAKOUT_CFG"].items()}
    expected = {f"Ethernet{8 * panel}": one if 16 <= panel < 48 else two for panel in range(64)}
    assert modes == expected | {"Ethernet512": "1x25G[10G]"}


@pytest.mark.parametrize(
    ("model", "split", "speed", "mode"),
    [
        ("SN4700", "2", "200G", "2x200G[100G,50G,40G,25G,10G,1G]"),
        ("SN4700", "4", "100G", "4x100G[50G,25G,10G,1G]"),
        ("SN5600", "4", "200G", "4x200G[100G,50G,25G,10G]"),
    ],
)
def test_modes_of_other_splits(model: str, split: str, speed: str, mode: str) -> None:
    links = {"split": split, "speed": speed, "media": "AOC"}
    changes = {"topology.spines.model": model, "topology.leaves.model": model, "topology.max_oversubscription": "8"}
    made = build(shipped("two-by-two", changes | {f"topology.uplinks.{key}": value for key, value in links.items()}))
    text = next(one.text for one in write(made.device("leaf1"), Index(made)) if one.path == "config_db.json")
    modes = json.loads(text)["BREAKOUT_CFG"]
    assert modes["Ethernet224"] == {"brkout_mode": mode}
    assert modes["Ethernet0"]["brkout_mode"].startswith("1x")


def test_a_fabric_without_splits_has_no_breakout_table() -> None:
    plain = build(shipped("reference-256"))
    text = next(one.text for one in write(plain.device("leaf1"), Index(plain)) if one.path == "config_db.json")
    assert "BREAKOUT_CFG" not in json.loads(text)


def test_what_is_written_is_read_as_the_same_ports() -> None:
    read = nodrop.read_back(list(nodrop.write(fabric())), fabric()).fabric
    for device in fabric().devices:
        ports = [(port.name, port.port, port.lanes, port.speed_mbps) for port in device.interfaces]
        there = read.device(device.name).interfaces
        assert sorted((port.name, port.port, port.lanes, port.speed_mbps) for port in there) == sorted(ports)


@pytest.mark.parametrize(
    ("hwsku", "name", "lanes", "port"),
    [
        ("Mellanox-SN5600-C256S1", "Ethernet23", "23", Port(3, 7)),
        ("Mellanox-SN5600-V256", "Ethernet510", "510,511", Port(64, 3)),
        ("Mellanox-SN4700-A96C8V8", "Ethernet9", "9", Port(2, 1)),
        ("Mellanox-SN4700-V64", "Ethernet12", "12,13,14,15", Port(2, 1)),
        ("ACS-SN5600", "Ethernet512", "512", Port(65)),
    ],
)
def test_ports_of_other_skus_are_known_by_their_lanes(hwsku: str, name: str, lanes: str, port: Port) -> None:
    """Also those of splits that are not written: eight parts, and four of one lane."""
    metadata = {"localhost": {"hostname": "leaf1", "hwsku": hwsku}}
    row = {"lanes": lanes, "speed": "25000", "admin_status": "up"}
    (found,) = read({"DEVICE_METADATA": metadata, "PORT": {name: row}}).device.interfaces
    assert (found.name, found.port, found.lanes) == (name, port, len(lanes.split(",")))


def with_port(name: str, **values: Any) -> Device:
    def changed(port: Interface) -> Interface:
        return replace(port, **values) if port.name == name else port

    device = fabric().device("leaf1")
    return replace(device, interfaces=tuple(map(changed, device.interfaces)))


def test_parts_that_differ_are_refused() -> None:
    """Ethernet0 in four parts and Ethernet4 in two: no mode has both."""
    device = with_port("Ethernet0", lanes=2)
    with pytest.raises(UnsupportedByPlatform, match="another part of the same port has 2 lanes") as refused:
        write(device, Index(alone(device)))
    assert "interfaces/Ethernet4/lanes" in str(refused.value)


def test_a_split_that_platform_json_lacks_is_refused() -> None:
    device = with_port("Ethernet0", lanes=1)
    with pytest.raises(UnsupportedByPlatform, match="that port of SN5600 can have 8, 4, 2; others are not written"):
        write(device, Index(alone(device)))
