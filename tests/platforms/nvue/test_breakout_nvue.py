"""Panel ports that are broken out, in NVUE's words, and the same ports read back."""

from functools import cache
from typing import Any

import pytest

import nodrop
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.fabric import Fabric, Port
from nodrop.model.index import Index
from nodrop.model.values import replace_fields
from nodrop.platforms.nvue.writer import write
from nodrop.syntax.yaml import parse_yaml
from support.designs import build, shipped
from support.random_fabrics import alone
from support.splits import EIGHTHS

MIXES = {
    "spines": {"topology.spines.platform": "nvue", "topology.spines.version": "5.14"},
    "leaves": {"topology.leaves.platform": "nvue", "topology.leaves.version": "5.16"},
}
MIXES["both"] = MIXES["spines"] | MIXES["leaves"]


@cache
def rails(mix: str) -> Fabric:
    return build(shipped("rail-256", MIXES[mix]))


@cache
def eighths() -> Fabric:
    return build(shipped("two-by-two", EIGHTHS))


def interfaces(fabric: Fabric, device: str) -> Any:
    text = next(one.text for one in write(fabric.device(device), Index(fabric)) if one.path == "startup.yaml")
    return parse_yaml(text.encode(), "startup.yaml").data[1]["set"]["interface"]


def breakouts(fabric: Fabric, device: str) -> dict[str, Any]:
    links = {key: port.get("link", {}) for key, port in interfaces(fabric, device).items()}
    return {key: link["breakout"] for key, link in links.items() if "breakout" in link}


@pytest.mark.parametrize(
    ("device", "panels"), [("leaf1", "swp1-16,49-64"), ("spine1", "swp1-64")], ids=["a leaf", "a spine"]
)
def test_half_a_port_has_four_lanes(device: str, panels: str) -> None:
    assert breakouts(rails("both"), device) == {panels: {"2x": {"lanes-per-port": "4"}}}


@pytest.mark.parametrize("mix", MIXES)
def test_rails_are_read_back_on_every_mix(mix: str) -> None:
    fabric = rails(mix)
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert (reading.problems, reading.remarks) == ((), ())
    verdict = nodrop.lint(reading)
    assert (verdict.findings, verdict.unknown) == ((), ())
    for device in fabric.devices:
        assert [
            (one.name, one.port, one.enabled, one.lanes, one.speed_mbps, one.addresses)
            for one in reading.fabric.device(device.name).interfaces
        ] == [(one.name, one.port, one.enabled, one.lanes, one.speed_mbps, one.addresses) for one in device.interfaces]


def test_eight_parts_disable_the_port_after_them() -> None:
    assert breakouts(eighths(), "leaf1") == {
        "swp1,5,7": {"8x": {"lanes-per-port": "1"}},
        "swp2,6,8": {"disabled": {}},
    }


def test_eight_parts_are_read_back() -> None:
    fabric = eighths()
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert (reading.problems, reading.remarks) == ((), ())
    ports = [(one.port, one.lanes) for one in fabric.device("leaf1").interfaces]
    assert [(one.port, one.lanes) for one in reading.fabric.device("leaf1").interfaces] == ports


def test_a_port_that_is_lost_to_eight_parts_is_refused() -> None:
    leaf = eighths().device("leaf1")
    spare = next(port for port in leaf.interfaces if port.name == "swp3")
    lost = replace_fields(spare, name="swp2", port=Port(2))
    device = replace_fields(leaf, interfaces=(*leaf.interfaces[:8], lost, *leaf.interfaces[8:]))
    with pytest.raises(UnsupportedByPlatform, match="8 parts need a port of odd number, and no port after it"):
        write(device, Index(alone(device)))
