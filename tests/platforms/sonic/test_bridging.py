"""Port channels, VLANs and VRFs of SONiC: what is read, what is a default, what cannot be written."""

from dataclasses import replace
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.resources import resource_folder
from support.sonic_configs import read

PORTS = {f"Ethernet{number}": {"lanes": str(number), "speed": "25000"} for number in (0, 8, 16)}
VRF = "blue does not begin with Vrf, as VRFs of SONiC do"
ORDER = "are not in the order in which they would be read back"
EMPTY = "is empty, which SONiC takes of ports alone"
NO_MTU = "there is one: without a field it is the switch's default"


def channel(number: int = 1, **changes: Any) -> PortChannel:
    return replace(PortChannel(name=f"PortChannel{number}", mtu_bytes=9100), **changes)


def vlan(number: int = 100, **changes: Any) -> Vlan:
    return replace(Vlan(id=number, mtu_bytes=9100), **changes)


def test_rows_that_say_all() -> None:
    found = read(
        {
            "PORT": PORTS,
            "VRF": {"Vrf1": {}},
            "PORTCHANNEL": {
                "PortChannel10": {"admin_status": "up", "mtu": "9216", "description": "x"},
                "PortChannel9": {
                    "admin_status": "up", "mtu": "9000", "min_links": "1", "fast_rate": "true", "fallback": "true",
                },
            },
            "PORTCHANNEL_MEMBER": {"PortChannel9|Ethernet16": {}, "PortChannel9|Ethernet8": {}},
            "PORTCHANNEL_INTERFACE": {"PortChannel9": {"vrf_name": "Vrf1"}, "PortChannel9|10.0.0.0/31": {}},
            "VLAN": {"Vlan100": {"admin_status": "down", "mtu": "9100", "vlanid": "100", "description": "y"}},
            "VLAN_MEMBER": {
                "Vlan100|PortChannel9": {"tagging_mode": "tagged"}, "Vlan100|Ethernet0": {"tagging_mode": "untagged"},
            },
            "VLAN_INTERFACE": {"Vlan100": {}, "Vlan100|192.0.2.1/24": {}, "Vlan100|2001:db8::1/64": {}},
        }
    )  # fmt: skip
    assert found.device.port_channels == (
        channel(
            9, members=("Ethernet8", "Ethernet16"), mtu_bytes=9000, min_links=1, fast_rate=True, fallback=True,
            addresses=("10.0.0.0/31",), vrf="Vrf1",
        ),
        channel(10, mtu_bytes=9216, description="x"),
    )  # fmt: skip
    members = (VlanMember(interface="Ethernet0", tagged=False), VlanMember(interface="PortChannel9", tagged=True))
    addresses = ("192.0.2.1/24", "2001:db8::1/64")
    assert found.device.vlans == (vlan(enabled=False, members=members, addresses=addresses, description="y"),)
    assert (found.remarks, found.notes) == ((), ())


def test_what_rows_leave_out_is_the_daemons_default() -> None:
    tables = {"PORTCHANNEL": {"PortChannel1": {}}, "PORTCHANNEL_MEMBER": {}, "VLAN": {"Vlan7": {}}}
    found = read({"PORT": PORTS, **tables})
    assert found.device.port_channels == (channel(enabled=False),)
    assert found.device.vlans == (vlan(7),)
    reasons = {
        "/".join(path[1:]): why for path, why in found.derived.items() if path[1] in ("@vlans", "@port_channels")
    }
    assert reasons == {
        "@port_channels/PortChannel1/enabled": "PORTCHANNEL has no admin_status, which is down (sonic-swss cfgmgr)",
        "@port_channels/PortChannel1/mtu_bytes": "PORTCHANNEL has no mtu, which is 9100 (sonic-swss cfgmgr)",
        "@vlans/7/enabled": "VLAN has no admin_status, which is up (sonic-swss cfgmgr)",
        "@vlans/7/mtu_bytes": "VLAN has no mtu, which is 9100 (sonic-swss cfgmgr)",
    }


OLD_FORM = {"PORTCHANNEL": {"PortChannel1": {"members": ["Ethernet16", "Ethernet8"]}}}
VERSION = {"VERSIONS": {"DATABASE": {"VERSION": "version_1_0_1"}}}


def test_port_channels_of_old_files_list_their_members_in_the_row() -> None:
    found = read({"PORT": PORTS, **OLD_FORM})
    assert found.device.port_channels == (channel(members=("Ethernet8", "Ethernet16")),)
    reasons = {path[3]: why for path, why in found.derived.items() if path[1] == "@port_channels"}
    assert reasons == {
        "members": "the file has no PORTCHANNEL_MEMBER and no version: PORTCHANNEL lists the members, as until 201803",
        "enabled": "PORTCHANNEL has no admin_status, which is up (until 201803)",
        "mtu_bytes": "PORTCHANNEL has no mtu, which is 9100 (sonic-swss cfgmgr)",
    }


@pytest.mark.parametrize(
    ("tables", "members"),
    [
        pytest.param(VERSION, (), id="a version is younger than teammgrd, which reads no list"),
        pytest.param({"PORTCHANNEL_MEMBER": {}}, (), id="the table of members is there, and empty"),
        pytest.param({"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}}}, ("Ethernet0",), id="rows of members"),
    ],
)
def test_listed_members_of_a_port_channel_do_not_count_since_201811(
    tables: dict[str, Any], members: tuple[str, ...]
) -> None:
    found = read({"PORT": PORTS, **OLD_FORM, **tables})
    assert found.device.port_channels == (channel(members=members, enabled=False),)


def test_listed_members_of_a_vlan_are_untagged_in_every_release() -> None:
    listed = {"Vlan100": {"vlanid": "100", "members": ["Ethernet8", "Ethernet0"]}}
    rows = {"Vlan100|Ethernet8": {"tagging_mode": "tagged"}}
    found = read({"PORT": PORTS, **VERSION, "VLAN": listed, "VLAN_MEMBER": rows})
    members = (VlanMember(interface="Ethernet0", tagged=False), VlanMember(interface="Ethernet8", tagged=True))
    assert found.device.vlans == (vlan(members=members),)


def test_nothing_tells_to_remove_a_list_of_members_that_is_read() -> None:
    tables = {"PORT": PORTS, **OLD_FORM, "VLAN": {"Vlan100": {"vlanid": "100", "members": ["Ethernet0"]}}}
    assert {remark.kind for remark in read(tables).remarks}.isdisjoint({"unknown-field", "missing-field"})
    channels = {f"PortChannel{number}": {"members": [f"Ethernet{8 * number}"]} for number in range(2)}
    many = read({"PORT": PORTS, "PORTCHANNEL": channels})
    assert {remark.kind for remark in many.remarks}.isdisjoint({"unknown-field", "missing-field"})


def test_members_that_are_no_list_are_none() -> None:
    channels, vlans = {"PortChannel1": {"members": "Ethernet0"}}, {"Vlan100": {"members": "Ethernet0"}}
    found = read({"PORT": PORTS, "PORTCHANNEL": channels, "VLAN": vlans}).device
    assert (found.port_channels, found.vlans) == ((channel(enabled=False),), (vlan(),))


def test_port_channels_of_which_no_file_has_members_are_unknown() -> None:
    tables = {"PORT": PORTS, "PORTCHANNEL": {"PortChannel1": {}}, "DEVICE_METADATA": {"localhost": {}}}
    assert read(tables).device.port_channels is UNKNOWN
    assert read({**tables, "PORTCHANNEL_MEMBER": {}}).device.port_channels == (channel(enabled=False),)


def test_listed_members_that_do_not_exist_are_reported() -> None:
    channels = {"PortChannel1": {"members": ["Ethernet0", "Ethernet4"]}}
    vlans = {"Vlan100": {"vlanid": "100", "members": ["PortChannel1", "PortChannel2", "Ethernet12"]}}
    found = read({"PORT": PORTS, "PORTCHANNEL": channels, "VLAN": vlans})
    assert [remark.facts for remark in found.remarks if remark.kind == "dangling-reference"] == [
        {"kind": "PORT", "name": "Ethernet4", "field": "PORTCHANNEL/PortChannel1/members"},
        {"kind": "PORT or PORTCHANNEL", "name": "PortChannel2", "field": "VLAN/Vlan100/members"},
        {"kind": "PORT or PORTCHANNEL", "name": "Ethernet12", "field": "VLAN/Vlan100/members"},
    ]


def test_listed_members_of_a_dump_are_members() -> None:
    rows = {"VLAN|Vlan100": {"vlanid": "100", "members@": "Ethernet0,Ethernet8"}, "PORT|Ethernet0": PORTS["Ethernet0"]}
    rows |= {"PORT|Ethernet8": PORTS["Ethernet8"], "PORTCHANNEL|PortChannel1": {"members@": "Ethernet8"}}
    found = read(rows)
    assert found.device.port_channels == (channel(members=("Ethernet8",)),)
    assert found.device.vlans == (
        vlan(members=tuple(VlanMember(interface=name, tagged=False) for name in ("Ethernet0", "Ethernet8"))),
    )


def test_a_part_without_the_tables_is_silent() -> None:
    found = read({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}}).device
    assert (found.port_channels, found.vlans) == (UNKNOWN, UNKNOWN)


@pytest.mark.parametrize(
    ("tables", "kind", "facts"),
    [
        (
            {"PORTCHANNEL": {}, "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}}},
            "dangling-reference",
            {"kind": "PORTCHANNEL", "name": "PortChannel1", "field": "PortChannel1|Ethernet0"},
        ),
        (
            {"VLAN": {"Vlan2": {}}, "VLAN_MEMBER": {"Vlan3|Ethernet0": {"tagging_mode": "tagged"}}},
            "dangling-reference",
            {"kind": "VLAN", "name": "Vlan3", "field": "Vlan3|Ethernet0"},
        ),
        (
            {"VLAN": {"blue": {}}},
            "malformed-value",
            {"path": "VLAN/blue", "found": "'blue'", "expected": "Vlan and a number, such as Vlan100"},
        ),
        (
            {"VLAN": {"Vlan2": {}}, "VLAN_MEMBER": {"Vlan2|Ethernet0": {"tagging_mode": "access"}}},
            "malformed-value",
            {
                "path": "VLAN_MEMBER/Vlan2|Ethernet0/tagging_mode",
                "found": "'access'",
                "expected": "tagged or untagged or priority_tagged",
            },
        ),
    ],
)
def test_remarks(tables: dict[str, Any], kind: str, facts: dict[str, str]) -> None:
    (remark,) = read({"PORT": PORTS, **tables}).remarks
    assert (remark.kind, remark.facts) == (kind, facts)
    assert remark.place is not None


REFUSED = [
    ({"port_channels": (channel(name="bond1"),)}, "port_channels/bond1/name",
     "a port channel is called PortChannel and a number of four digits at most"),
    ({"port_channels": (channel(members=("Ethernet8", "Ethernet0")),)}, "port_channels/PortChannel1/members", ORDER),
    ({"port_channels": (channel(mtu_bytes=None),)}, "port_channels/PortChannel1/mtu_bytes", NO_MTU),
    ({"vlans": (vlan(9, description=""),)}, "vlans/9/description", EMPTY),
    ({"port_channels": (channel(10), channel(9))}, "port_channels", ORDER),
    ({"port_channels": (channel(vrf="blue"),)}, "port_channels/PortChannel1/vrf", VRF),
    ({"vlans": (vlan(1),)}, "vlans/1/id", "is not from 2 to 4094"),
    ({"vlans": (vlan(4095),)}, "vlans/4095/id", "is not from 2 to 4094"),
    ({"vlans": (vlan(), vlan(99))}, "vlans", ORDER),
    ({"vlans": (vlan(vrf="blue"),)}, "vlans/100/vrf", VRF),
    ({"vlans": (vlan(addresses=("a", "a")),)}, "vlans/100/addresses", "a is there twice"),
    ({"vlans": (vlan(members=(VlanMember(interface="b", tagged=True), VlanMember(interface="a", tagged=True))),)},
     "vlans/100/members", ORDER),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "path", "reason"), REFUSED, ids=[f"{row[1]} {row[2]:.20}" for row in REFUSED])
def test_refused(changes: dict[str, Any], path: str, reason: str) -> None:
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml"))
    device: Device = replace(fabric.device("leaf1"), **changes)
    with pytest.raises(UnsupportedByPlatform) as caught:
        platforms.writer_of_platform("sonic").write(device, Index(fabric))
    assert (caught.value.path, caught.value.reason) == (path, reason)


def test_segments_of_bundles_are_not_read_and_not_denied() -> None:
    bundle = {"PORT": PORTS, "PORTCHANNEL": {"PortChannel1": {"admin_status": "up", "mtu": "9100"}}}
    bundle["PORTCHANNEL_MEMBER"] = {}
    (alone,) = read(bundle).device.port_channels
    (shared,) = read({**bundle, "EVPN_ETHERNET_SEGMENT": {"PortChannel1": {}}}).device.port_channels
    assert alone.segment is None
    assert shared == replace(alone, segment=UNKNOWN)
