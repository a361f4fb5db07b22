"""Bonds and VLANs of an NVUE switch: what is written for them, what is read, and what NVUE has no setting for."""

from dataclasses import replace
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, known_rows
from support.designs import build, shipped
from support.nvue_devices import as_nvue, fabric
from support.nvue_startup import device as read
from support.nvue_startup import read as read_file
from support.nvue_startup import state

BOND = PortChannel(name="bond1", members=("swp1", "swp2"), fast_rate=True, fallback=True, mtu_bytes=9216)
ACCESS = VlanMember(interface="swp3", tagged=False)
TRUNK = (VlanMember(interface="bond1", tagged=True), VlanMember(interface="swp4", tagged=True))
SVI = Vlan(
    id=100, members=(ACCESS, TRUNK[1]), mtu_bytes=9216, addresses=("10.3.1.1/24",), vrf="RED", description="storage"
)


def leaf(version: str, **fields: Any) -> Device:
    return replace(as_nvue(fabric().device("leaf1"), version), **fields)


def commands(device: Device) -> list[str]:
    (text,) = (
        one.text
        for one in platforms.writer_of_platform("nvue").write(device, Index(fabric()))
        if one.path.endswith(".nv")
    )
    found = [line.removeprefix("nv set ") for line in text.splitlines()]
    return [line for line in found if "bridge " in line or line.startswith(("interface bond", "interface vlan"))]


@pytest.mark.parametrize(
    ("version", "bypass", "address", "vrf"),
    [
        ("5.14", "on", "ip address", "ip vrf"),
        ("5.16", "enabled", "ipv4 address", "vrf"),
    ],
)
def test_a_bond_and_vlans_in_the_words_of_the_dialect(version: str, bypass: str, address: str, vrf: str) -> None:
    vlans = (Vlan(id=20, members=(TRUNK[0],)), SVI)
    assert sorted(commands(leaf(version, port_channels=(BOND,), vlans=vlans))) == sorted(
        [
            "bridge domain br_default type vlan-aware",
            "bridge domain br_default vlan 20,100",
            f"interface bond1 bond lacp-bypass {bypass}",
            "interface bond1 bond lacp-rate fast",
            "interface bond1 bond member swp1-2",
            "interface bond1 bond mode lacp",
            "interface bond1 bridge domain br_default untagged none",
            "interface bond1 bridge domain br_default vlan 20",
            "interface bond1 link mtu 9216",
            "interface bond1 link state up",
            "interface bond1 type bond",
            "interface swp3 bridge domain br_default access 100",
            "interface swp4 bridge domain br_default untagged none",
            "interface swp4 bridge domain br_default vlan 100",
            "interface vlan100 description storage",
            f"interface vlan100 {address} 10.3.1.1/24",
            "interface vlan100 link mtu 9216",
            "interface vlan100 link state up",
            "interface vlan100 type svi",
            "interface vlan100 vlan 100",
            f"interface vlan100 {vrf} RED",
        ]
    )


@pytest.mark.parametrize("version", ["5.9", "5.14", "5.15", "5.19"])
def test_a_group_of_hosts_in_a_vlan_is_built_and_clean(version: str) -> None:
    tiers = {f"topology.{tier}.platform": "nvue" for tier in ("leaves", "spines")}
    releases = {f"topology.{tier}.version": version for tier in ("leaves", "spines")}
    built = build(shipped("storage-vlan", tiers | releases))
    reading = nodrop.read_back(list(nodrop.write(built)), built)
    members = tuple(VlanMember(interface=name, tagged=False) for name in ("swp3", "swp4"))
    assert reading.fabric.device("leaf2").vlans == (
        Vlan(id=100, members=members, mtu_bytes=9216, addresses=("10.3.2.1/24",), description="storage"),
    )
    assert [(one.rule, str(one.subject)) for one in nodrop.lint(reading).findings] == []


def in_vlans(device: Device) -> dict[int, list[tuple[str, bool]]]:
    assert isinstance(device.vlans, tuple)
    return {vlan.id: [(one.interface, one.tagged) for one in vlan.members] for vlan in device.vlans}


PORTS = "interface:\n  swp1-2: {type: swp, bridge: {domain: {br_default: %s}}}\n"


@pytest.mark.parametrize(
    ("bridge", "port", "expected"),
    [
        ("{vlan: {'10,20-21': {}}}", "{access: 10}", {10: [("swp1", False), ("swp2", False)], 20: [], 21: []}),
        (
            "{vlan: {'10': {}}}",
            "{}",
            {1: [("swp1", False), ("swp2", False)], 10: [("swp1", True), ("swp2", True)]},
        ),
        ("{untagged: 10, vlan: {'10': {}}}", "{}", {10: [("swp1", False), ("swp2", False)]}),
        (
            "{vlan: {10,20: {}}}",
            "{untagged: none, vlan: {'20': {}}}",
            {10: [], 20: [("swp1", True), ("swp2", True)]},
        ),
        (
            "{vlan: {10,20: {}}}",
            "{untagged: 10, vlan: {all: {}}}",
            {10: [("swp1", False), ("swp2", False)], 20: [("swp1", True), ("swp2", True)]},
        ),
    ],
)
def test_who_is_in_a_vlan(bridge: str, port: str, expected: dict[int, list[tuple[str, bool]]]) -> None:
    assert in_vlans(read(f"bridge:\n  domain:\n    br_default: {bridge}\n{PORTS % port}")) == expected


def test_several_bridges_are_not_told_apart() -> None:
    two = "bridge:\n  domain:\n    br_default: {}\n    br_other: {vlan: {'10': {}}}\n"
    assert read(f"{two}interface:\n  swp1: {{type: swp}}").vlans is UNKNOWN


def test_a_vlan_of_the_switch_has_defaults_that_are_told() -> None:
    reading = read_file(state("interface:\n  vlan10: {type: svi, ip: {address: {10.0.0.1/24: {}}}}"))
    assert reading.device.vlans == (Vlan(id=10, mtu_bytes=9216, addresses=("10.0.0.1/24",)),)
    told = {subject[1:] for subject in reading.derived if subject[1] == "@vlans"}
    assert told == {("@vlans", "10", "enabled"), ("@vlans", "10", "mtu_bytes")}


def test_a_bond_has_defaults_that_are_told() -> None:
    reading = read_file(state("interface:\n  bond1: {bond: {member: {swp1-2: {}}}}\n  swp1-2: {type: swp}"))
    assert reading.device.port_channels == (replace(BOND, fallback=False),)
    told = {subject[3] for subject in reading.derived if subject[1:3] == ("@port_channels", "bond1")}
    assert told == {"enabled", "fast_rate", "mtu_bytes"}


def test_bonds_without_lacp_are_not_told() -> None:
    assert read("interface:\n  bond1: {bond: {member: {swp1: {}}, mode: static}}").port_channels is UNKNOWN


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "name": (
        {"port_channels": (replace(BOND, name="PortChannel1"),)},
        "port_channels/PortChannel1/name",
        "a bond is called bond and a suffix, at most 15 characters in all",
    ),
    "links": (
        {"port_channels": (replace(BOND, min_links=2),)},
        "port_channels/bond1/min_links",
        "NVUE's bonds are up with any member",
    ),
    "nobody": (
        {"port_channels": (replace(BOND, members=()),)},
        "port_channels/bond1/members",
        "a bond has members",
    ),
    "order": (
        {"port_channels": (replace(BOND, members=("swp2", "swp1")),)},
        "port_channels/bond1/members",
        "are not in the order in which they would be read back",
    ),
    "no port": (
        {"port_channels": (replace(BOND, members=("swp99",)),)},
        "port_channels/bond1/members",
        "swp99 is no port of the switch",
    ),
    "two bonds": (
        {"port_channels": (BOND, replace(BOND, name="bond2", members=("swp2",)))},
        "port_channels/bond2/members",
        "swp2 is in bond1 too",
    ),
    "MTU": (
        {"port_channels": (replace(BOND, mtu_bytes=100),)},
        "port_channels/bond1/mtu_bytes",
        "is not from 552 to 9216",
    ),
    "number": ({"vlans": (Vlan(id=4095),)}, "vlans/4095/id", "is not from 1 to 4094"),
    "stranger": (
        {"vlans": (Vlan(id=10, members=(VlanMember(interface="bond9", tagged=True),)),)},
        "vlans/10/members/bond9",
        "bond9 is no port of the switch",
    ),
    "two without tags": (
        {"vlans": (Vlan(id=10, members=(ACCESS,)), Vlan(id=20, members=(ACCESS,)))},
        "vlans/20/members/swp3",
        "a port is in one VLAN without tags, and swp3 is in 10",
    ),
    "no interface": (
        {"vlans": (Vlan(id=10, addresses=("10.0.0.1/24",)),)},
        "vlans/10/addresses",
        "is that of the switch's own interface in the VLAN, which has an MTU",
    ),
    "VRF": ({"vlans": (replace(SVI, vrf="default"),)}, "vlans/100/vrf", "default is no name of a VRF"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_nvue_has_no_setting_for(case: str) -> None:
    fields, path, reason = REFUSED[case]
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(leaf("5.16", **fields), Index(fabric()))
    assert str(refused.value) == f"{path}: {reason}"


# --- what a switch tells of itself by SNMP


@pytest.mark.parametrize(("version", "where"), [("5.10", "service"), ("5.11", "system"), ("5.19", "system")])
def test_location_and_contact_are_told_by_snmp(version: str, where: str) -> None:
    device = leaf(version, snmp_location="hall 2, rack 4", snmp_contact="noc")
    (text,) = (
        one.text
        for one in platforms.writer_of_platform("nvue").write(device, Index(fabric()))
        if one.path.endswith(".nv")
    )
    assert [line for line in text.splitlines() if "snmp" in line] == [
        f"nv set {where} snmp-server system-contact noc",
        f"nv set {where} snmp-server system-location 'hall 2, rack 4'",
    ]


@pytest.mark.parametrize(("where", "version"), [("service", "5.10.0"), ("system", "5.11.0")])
def test_location_is_read_in_the_words_of_any_release(where: str, version: str) -> None:
    body = f"interface:\n  swp1: {{type: swp}}\n{where}:\n  snmp-server: {{system-location: hall 2}}"
    found = read(body, version)
    assert (found.snmp_location, found.snmp_contact) == ("hall 2", None)


def test_a_location_that_a_shell_or_yaml_would_break_is_refused() -> None:
    with pytest.raises(UnsupportedByPlatform) as refused:
        platforms.writer_of_platform("nvue").write(leaf("5.16", snmp_location="o'hare"), Index(fabric()))
    assert refused.value.path == "snmp_location"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("ip vrr address 10.3.1.254/24", ("10.3.1.254/24",)),
        ("ip vrr address 10.3.1.254/24\nip vrr state up", ("10.3.1.254/24",)),
        ("ip vrr address 10.3.1.254/24\nip vrr state down", ()),
        ("ip vrr address 10.3.1.254/24\nip vrr enable off", ()),
        ("ip vrr address 10.3.1.254/24\nip vrr vrr-state down", ()),
        ("ip vrr address 10.3.1.254/24\nip vrr address 2001:db8::1/64", ("10.3.1.254/24", "2001:db8::1/64")),
        ("ip vrrp virtual-router 44 address 10.3.1.254", ("10.3.1.254/24",)),
        ("ip vrrp virtual-router 44 address 10.9.9.9", ("10.9.9.9",)),
        ("ip vrrp virtual-router 44 address 10.3.1.254\nip vrrp enable off", ()),
        ("ip vrr mac-address 00:00:5e:00:01:0a", ()),
    ],
)
def test_addresses_that_switches_share_are_read(lines: str, expected: tuple[str, ...]) -> None:
    settings = "\n".join(f"nv set interface vlan100 {line}" for line in lines.splitlines())
    device = read_file(f"nv set interface vlan100 ip address 10.3.1.1/24\n{settings}\n").device
    (vlan,) = known_rows(device.vlans)
    assert (vlan.addresses, vlan.virtual_addresses) == (("10.3.1.1/24",), expected)


def test_addresses_that_switches_share_are_refused_and_not_lost() -> None:
    shared = replace(SVI, virtual_addresses=("10.3.1.254/24",))
    for platform, device in (("nvue", leaf("5.16", vlans=(shared,))), ("sonic", fabric().device("leaf1"))):
        with pytest.raises(UnsupportedByPlatform) as caught:
            platforms.writer_of_platform(platform).write(replace(device, vlans=(shared,)), Index(fabric()))
        assert str(caught.value).endswith("vlans/100/virtual_addresses: are read for rules, and not written")
