"""Ports with PFC that lead out of the fabric: by what each is known, and who is not told."""

import pytest

from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.fabric import Port
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import look, say, with_changes

STRAY = {
    "@fabric/links/leaf1:Ethernet16--storage1:nic1": None,
    "@fabric/links/leaf1:Ethernet16--wan1:eth0": {"length_m": 3},
    "leaf1/Ethernet16/side": None,
}


def test_a_neighbor_that_is_neither_a_switch_nor_a_host() -> None:
    assert look("outside_ports", {}) == {}
    found = look("outside_ports", STRAY)
    assert {key: each["outside"] for key, each in found.items()} == {
        "leaf1/Ethernet16": "faces wan1, which is neither a switch nor a host of the fabric"
    }


def test_nobody_is_outside_where_no_hosts_are_stated() -> None:
    assert look("outside_ports", STRAY | {"@fabric/hosts/*": None}) == {}


def test_a_port_for_management_counts_only_with_pfc_and_in_use() -> None:
    assert look("outside_ports", {"leaf1/Ethernet0/vrf": "mgmt"}).keys() == {"leaf1/Ethernet0"}
    assert look("outside_ports", {"leaf1/Ethernet0/vrf": "Vrf1"}) == {}
    assert look("outside_ports", {"leaf1/Ethernet0/vrf": "mgmt", "leaf1/Ethernet0/enabled": False}) == {}
    without = {"leaf1/Ethernet0/qos/pfc_rx_priorities": [], "leaf1/Ethernet0/qos/pfc_tx_priorities": []}
    assert look("outside_ports", {"leaf1/Ethernet0/vrf": "mgmt"} | without) == {}


@pytest.mark.parametrize(
    ("model", "panel", "side", "outside"),
    [
        ("Z9332F", 33, "fabric", "is a service port of Z9332F"),
        ("S5232F", 33, UNKNOWN, "is an extra port beside the fabric's ports of S5232F"),
        ("S5232F", 33, None, "is an extra port beside the fabric's ports of S5232F"),
        ("S5232F", 33, "fabric", None),
        ("S5232F", 32, UNKNOWN, None),
    ],
)
def test_an_extra_port_is_outside_unless_something_of_the_fabric_is_at_its_far_end(
    model: str, panel: int, side: object, outside: str | None
) -> None:
    fabric = with_changes({})
    leaf = fabric.device("leaf1")
    ports = tuple(
        replace_fields(port, port=Port(panel), side=side) if port.name == "Ethernet0" else port
        for port in leaf.interfaces
        if port.port != Port(panel)
    )
    changed = replace_fields(leaf, model=model, interfaces=ports)
    devices = tuple(changed if device.name == "leaf1" else device for device in fabric.devices)
    changed_fabric = replace_fields(fabric, devices=devices)
    found = say("outside_ports", changed_fabric)
    assert found.get("leaf1/Ethernet0", {}).get("outside") == outside
    rules = tuple(rule for rule in shipped_rules() if rule.name == "pfc-on-outside-port")
    findings = judge(Reading(fabric=changed_fabric), rules).findings
    confidences = [one.confidence for one in findings if one.subject == ("leaf1", "Ethernet0")]
    assert confidences == ([] if outside is None else ["likely" if "extra" in outside else "certain"])
