"""Pairs of switches and tunnels of a config_db.json, as rules see them, and that no writer spells them."""

from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.errors import Unsupported
from nodrop.model.index import Index
from nodrop.model.overlays import MultiChassis, Tunnel
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
    assert (found.multi_chassis, found.dual_tor, found.tunnels) == (None, False, ())


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


def test_tunnels_and_whether_they_have_maps_of_their_own() -> None:
    tables = {
        "TUNNEL": {
            "MuxTunnel0": {"tunnel_type": "IPINIP", "dscp_mode": "uniform", **REMAPPED},
            "MuxTunnel1": {"tunnel_type": "IPINIP", "dscp_mode": "pipe", "decap_tc_to_pg_map": "AZURE_TUNNEL"},
        },
        "VXLAN_TUNNEL": {"vtep": {"src_ip": "10.0.0.1"}},
    }
    assert read({**PORTS, **tables}).device.tunnels == (
        Tunnel(name="MuxTunnel0", kind="ip-in-ip", dscp_mode="uniform", remapped=True),
        Tunnel(name="MuxTunnel1", kind="ip-in-ip", dscp_mode="pipe", remapped=False),
        Tunnel(name="vtep", kind="vxlan", dscp_mode=None, remapped=False),
    )


def test_two_leaves_of_the_same_servers() -> None:
    metadata = {"localhost": {**METADATA["localhost"], "subtype": "DualToR"}}
    assert read({**PORTS, "DEVICE_METADATA": metadata}).device.dual_tor is True


def test_a_part_without_the_tables_is_silent() -> None:
    found = read({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}}).device
    assert (found.multi_chassis, found.dual_tor, found.tunnels) == (UNKNOWN, UNKNOWN, UNKNOWN)


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
@pytest.mark.parametrize(
    "changes",
    [
        {"multi_chassis": MultiChassis(peer_link=None)},
        {"dual_tor": True},
        {"tunnels": (Tunnel(name="vtep", kind="vxlan", dscp_mode=None, remapped=False),)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_no_writer_spells_them(platform: str, changes: dict[str, Any]) -> None:
    mix = "reference-256-sonic-leaves" if platform == "sonic" else "reference-256-nvue-leaves"
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / f"{mix}.yaml"))
    device = replace_fields(fabric.device("leaf1"), **changes)
    with pytest.raises(Unsupported) as caught:
        list(platforms.writer_of_platform(platform).write(device, Index(fabric)))
    assert (caught.value.path, caught.value.reason) == (next(iter(changes)), "is read for rules, and not written")
