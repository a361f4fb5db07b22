"""Hosts whose ports are one bond: the port channel of their leaf, who has the address, and what is refused."""

from typing import Any

import pytest

import nodrop
from nodrop import design
from nodrop.engine.rules import shipped_rules as rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from support.designs import build, load, port, shipped

BONDED = {"endpoints.storage.ports": 2, "endpoints.storage.bond": True, "endpoints.storage.leaf_ports": "3-6"}
ROUTED = {**BONDED, "endpoints.storage.vlan": None}


def channel(number: int, host: str, *members: str, **parts: Any) -> PortChannel:
    return PortChannel(name=f"PortChannel{number}", members=members, mtu_bytes=9216, description=host, **parts)


def test_a_hosts_ports_are_a_port_channel_that_has_the_address_of_the_first() -> None:
    fabric = build(shipped("storage-vlan", ROUTED))
    assert {device.name: device.port_channels for device in fabric.devices if device.port_channels} == {
        "leaf1": (
            channel(9, "storage1", "Ethernet16", "Ethernet24", addresses=("10.2.1.16/31",)),
            channel(17, "storage2", "Ethernet32", "Ethernet40", addresses=("10.2.1.32/31",)),
        ),
        "leaf2": (
            channel(9, "storage3", "Ethernet16", "Ethernet24", addresses=("10.2.2.16/31",)),
            channel(17, "storage4", "Ethernet32", "Ethernet40", addresses=("10.2.2.32/31",)),
        ),
    }
    assert port(fabric, "leaf1", "Ethernet16").addresses == ()
    hosts = {host.name: [(one.bond, one.addresses) for one in host.ports] for host in fabric.hosts}
    assert hosts["storage2"] == [("bond0", ("10.2.1.33/31",))] * 2
    assert hosts["gpu1"] == [(None, ("10.2.1.1/31",)), (None, ("10.2.2.1/31",))]


def test_members_keep_pfc_of_their_own() -> None:
    fabric = build(shipped("storage-vlan", ROUTED))
    assert port(fabric, "leaf1", "Ethernet24").qos == port(fabric, "leaf1", "Ethernet0").qos


def test_in_a_vlan_the_port_channel_is_the_member() -> None:
    fabric = build(shipped("storage-vlan", BONDED))
    leaf = fabric.device("leaf1")
    assert leaf.port_channels == (
        channel(9, "storage1", "Ethernet16", "Ethernet24"),
        channel(17, "storage2", "Ethernet32", "Ethernet40"),
    )
    members = tuple(VlanMember(interface=name, tagged=False) for name in ("PortChannel9", "PortChannel17"))
    assert leaf.vlans == (
        Vlan(id=100, members=members, mtu_bytes=9216, addresses=("10.3.1.1/24",), description="storage"),
    )
    assert {one.addresses for one in fabric.hosts[-1].ports} == {("10.3.2.18/24",)}


NVUE = {"topology.leaves.platform": "nvue", "topology.leaves.version": "5.16"}


def test_on_nvue_it_is_a_bond_of_the_leaf() -> None:
    (first, _) = build(shipped("storage-vlan", BONDED | NVUE)).device("leaf1").port_channels
    assert (first.name, first.members) == ("bond9", ("swp3", "swp4"))


@pytest.mark.parametrize("platform", [{}, NVUE], ids=["sonic", "nvue"])
@pytest.mark.parametrize("changes", [BONDED, ROUTED], ids=["vlan", "routed"])
def test_what_is_written_reads_back_without_a_finding(changes: dict[str, Any], platform: dict[str, Any]) -> None:
    fabric = build(shipped("storage-vlan", changes | platform))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    verdict = judge(reading, rules())
    assert (verdict.findings, verdict.unknown) == ((), ())
    assert reading.fabric.hosts == fabric.hosts
    assert reading.fabric.device("leaf2").port_channels == fabric.device("leaf2").port_channels


@pytest.mark.parametrize(
    ("changes", "port_row", "gateway"),
    [
        (ROUTED, "leaf1,PortChannel9,10.2.1.16/31,storage1,bond0,10.2.1.17/31", "10.2.1.16"),
        (BONDED, "leaf1,vlan100,10.3.1.1/24,,,", "10.3.1.1"),
    ],
    ids=["routed", "vlan"],
)
def test_the_rack_is_told_the_bond_and_its_gateway(changes: dict[str, Any], port_row: str, gateway: str) -> None:
    files = {one.path: one.text for one in nodrop.rack(build(shipped("storage-vlan", changes)))}
    assert port_row in files["plan/addresses.csv"].splitlines()
    rows = [line.split(",") for line in files["plan/hosts.csv"].splitlines() if line.startswith("storage1,")]
    assert [(row[3], row[4], row[7]) for row in rows] == [("nic1", "bond0", gateway), ("nic2", "bond0", gateway)]


@pytest.mark.parametrize(
    ("changes", "found", "expected"),
    [
        ({"endpoints.storage.ports": 1}, "hosts with one port", "ports: 2 or more, or no bond"),
        (
            {"endpoints.storage.spread": "leaves"},
            "ports on 2 switches, and a bond ends on one switch",
            "spread: one-leaf, or no bond",
        ),
    ],
)
def test_refused(changes: dict[str, Any], found: str, expected: str) -> None:
    with pytest.raises(InputProblems) as caught:
        design.build(load(shipped("storage-vlan", BONDED | changes)))
    problem = next(one for one in caught.value.problems if one.where == "endpoints.storage.bond")
    assert (problem.found, problem.expected) == (found, expected)
