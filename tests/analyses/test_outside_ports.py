"""Ports with PFC that lead out of the fabric: by what each is known, and who is not told."""

from support.analysis_results import look

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
