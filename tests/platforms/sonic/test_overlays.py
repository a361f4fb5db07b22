"""Pairs of switches and tunnels of a config_db.json, as rules see them, and that no writer spells them."""

from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.model.index import Index
from nodrop.model.overlays import MultiChassis, MuxCable, Tunnel
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.resources import resource_folder
from support.sonic_configs import read

METADATA = {"localhost": {"hostname": "leaf1", "hwsku": "ACS-MSN4700", "type": "ToRRouter"}}
PORTS = {"DEVICE_METADATA": METADATA, "PORT": {"Ethernet0": {"lanes": "1", "speed": "100000"}}}
REMAPPED = dict.fromkeys(
    ("encap_tc_to_queue_map", "encap_tc_to_dscp_map", "decap_dscp_to_tc_map", "decap_tc_to_pg_map"), "AZURE_TUNNEL"
)


def test_a_switch_by_itself() -> None:
    found = read(PORTS).device
    assert (found.multi_chassis, found.dual_tor, found.mux_cables, found.tunnels) == (None, False, (), ())


def test_a_pair_with_its_peer_link_and_port_channels() -> None:
    channels = {f"PortChannel{number}": {"admin_status": "up", "mtu": "9100"} for number in (2, 10)}
    tables = {
        "PORTCHANNEL": channels,
        "MCLAG_DOMAIN": {"7": {"source_ip": "10.0.0.1", "peer_ip": "10.0.0.2", "peer_link": "Ethernet0"}},
        "MCLAG_INTERFACE": {f"7|{name}": {"if_type": "PortChannel"} for name in sorted(channels)},
    }
    assert read({**PORTS, **tables}).device.multi_chassis == MultiChassis(
        peer_link="Ethernet0", port_channels=("PortChannel2", "PortChannel10")
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"Ethernet0": {"pfc_enable": "3"}}, None),
        ({"global": {"dscp_to_tc_map": "AZURE"}, "Ethernet0": {"pfc_enable": "3"}}, UNKNOWN),
        ({"global": {"dscp_to_tc_map": "AZURE"}, "Ethernet0": {"dscp_to_tc_map": "LOSSY"}}, (0, *[None] * 63)),
    ],
)
def test_a_port_without_a_dscp_map_may_have_that_of_the_switch(rows: dict[str, Any], expected: Any) -> None:
    tables = {"DSCP_TO_TC_MAP": {"AZURE": {"0": "1"}, "LOSSY": {"0": "0"}}, "PORT_QOS_MAP": rows}
    (port,) = read({**PORTS, **tables}).device.interfaces
    assert isinstance(port.qos, QosProfile)
    assert port.qos.dscp_to_tc is UNKNOWN if expected is UNKNOWN else port.qos.dscp_to_tc == expected


def test_a_tunnel_with_its_ends_and_maps() -> None:
    maps = {
        "TC_TO_QUEUE_MAP": {"AZURE_TUNNEL": {"3": "2", "4": "6"}},
        "TC_TO_DSCP_MAP": {"AZURE_TUNNEL": {"3": "2", "4": "6"}},
        "DSCP_TO_TC_MAP": {"AZURE_TUNNEL": {"3": "3", "4": "4"}},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE_TUNNEL": {"3": "2", "4": "6"}},
    }
    tables = {
        "PEER_SWITCH": {"leaf2": {"address_ipv4": "10.9.1.2"}},
        "TUNNEL": {
            "MuxTunnel0": {"tunnel_type": "IPINIP", "dscp_mode": "pipe", "dst_ip": "10.9.1.1", **REMAPPED},
            "MuxTunnel1": {"tunnel_type": "IPINIP", "dscp_mode": "uniform", "src_ip": "10.9.1.2"},
        },
        "VXLAN_TUNNEL": {"vtep": {"src_ip": "10.0.0.1"}},
    }
    by_class = (None, None, None, 2, 6, *[None] * 11)
    to_class = (None, None, None, 3, 4, *[None] * 59)
    found = read({**PORTS, **maps, **tables}).device.tunnels
    assert found == (
        Tunnel(
            name="MuxTunnel0",
            kind="ip-in-ip",
            dscp_mode="pipe",
            near="10.9.1.1",
            far="10.9.1.2",
            tc_to_dscp=by_class,
            tc_to_queue=by_class,
            dscp_to_tc=to_class,
            tc_to_priority_group=by_class,
        ),
        Tunnel(name="MuxTunnel1", kind="ip-in-ip", dscp_mode="uniform", near=UNKNOWN, sender="10.9.1.2"),
        Tunnel(name="vtep", kind="vxlan", dscp_mode=None),
    )
    assert [tunnel.remapped for tunnel in found] == [True, False, False]


def test_maps_that_no_table_has_are_unknown() -> None:
    tables = {"TUNNEL": {"MuxTunnel0": {"tunnel_type": "IPINIP", "dst_ip": "10.9.1.1", **REMAPPED}}}
    reading = read({**PORTS, **tables, "TC_TO_DSCP_MAP": {}})
    (tunnel,) = reading.device.tunnels
    assert (tunnel.tc_to_dscp, tunnel.dscp_to_tc, tunnel.far) == (UNKNOWN, UNKNOWN, None)
    assert tunnel.remapped
    assert "dangling-reference" in {remark.kind for remark in reading.remarks}


def test_servers_with_a_second_leaf() -> None:
    rows = {
        "Ethernet4": {"server_ipv4": "10.8.0.21/32", "state": "standby", "soc_ipv4": "10.8.0.22/32"},
        "Ethernet0": {"server_ipv4": "10.8.0.20/32", "server_ipv6": "fd00::20/128"},
        "Ethernet8": {"state": "unheard of"},
    }
    assert read({**PORTS, "MUX_CABLE": rows}).device.mux_cables == (
        MuxCable(interface="Ethernet0", servers=("10.8.0.20/32", "fd00::20/128"), state="auto"),
        MuxCable(interface="Ethernet4", servers=("10.8.0.21/32",), state="standby"),
        MuxCable(interface="Ethernet8", servers=(), state=UNKNOWN),
    )


def test_two_leaves_of_the_same_servers() -> None:
    metadata = {"localhost": {**METADATA["localhost"], "subtype": "DualToR"}}
    assert read({**PORTS, "DEVICE_METADATA": metadata}).device.dual_tor is True


def test_a_part_without_the_tables_is_silent() -> None:
    found = read({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}}).device
    assert (found.multi_chassis, found.dual_tor, found.mux_cables, found.tunnels) == (UNKNOWN,) * 4


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@pytest.mark.parametrize(
    "changes",
    [
        {"multi_chassis": MultiChassis(peer_link=None)},
        {"dual_tor": True},
        {"mux_cables": (MuxCable(interface="Ethernet0", servers=(), state="auto"),)},
        {"tunnels": (Tunnel(name="vtep", kind="vxlan", dscp_mode=None),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_no_writer_spells_them(platform: str, changes: dict[str, Any]) -> None:
    mix = "reference-256-sonic-leaves" if platform == "sonic" else "reference-256-nvue-leaves"
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / f"{mix}.yaml"))
    device = replace_fields(fabric.device("leaf1"), **changes)
    with pytest.raises(UnsupportedByPlatform) as caught:
        list(platforms.writer_of_platform(platform).write(device, Index(fabric)))
    assert (caught.value.path, caught.value.reason) == (next(iter(changes)), "is read for rules, and not written")
