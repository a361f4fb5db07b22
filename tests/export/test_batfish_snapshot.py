"""Snapshots for Batfish: only what its readers take, cables between ports that are there, and lines that lead back."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nodrop
from nodrop import collect, platforms
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.export.batfish import LAYER1_FILE, Snapshot, build_snapshot, report_omissions
from nodrop.export.batfish.lost import spell_underscores_of_as_path_lists
from nodrop.export.batfish.unseen import NO_ACCESS_LISTS_REASON
from nodrop.model.access import AccessList, Binding
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link, Loopback
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import UNKNOWN, known_rows
from nodrop.model.subject import link_subject as link_subject
from nodrop.model.values import replace_fields
from nodrop.resources import resource_folder
from nodrop.routing.legs import routed_interfaces
from nodrop.routing.prefixes import parse_prefix
from support import random_fabrics, random_nvue
from support.command import built
from support.places import TESTS
from support.random_routed import routed

ROWS = {
    "DEVICE_METADATA": {"hostname"},
    "PORT": {"admin_status", "mtu"},
    "INTERFACE": {"secondary"},
    "LOOPBACK_INTERFACE": {"secondary"},
    "VLAN": {"vlanid", "members"},
    "VLAN_MEMBER": {"tagging_mode"},
    "VLAN_INTERFACE": {"secondary"},
    "ACL_TABLE": {"type", "stage", "ports"},
    "ACL_RULE": {"PRIORITY", "PACKET_ACTION", "SRC_IP", "DST_IP", "IP_PROTOCOL", "L4_SRC_PORT", "L4_DST_PORT"},
}
"""Tables that are written and the keys of their rows: each is one that Batfish's classes of rows have."""
LINES = re.compile(
    r"auto [\w.:-]+|iface [\w.:-]+(?: inet loopback)?| {4}address [0-9.]+/[0-9]+| {4}(?:mtu|vlan-id|bridge-access|"
    r"bridge-pvid) [0-9]+| {4}(?:bond-slaves|bridge-ports|bridge-vids)(?: [\w.:-]+)+| {4}vrf [\w.:-]+"
    r"| {4}vrf-table auto| {4}vlan-raw-device bridge| {4}bridge-vlan-aware yes|"
)
FRR = "# ports.conf --\nfrr version 8.4.3\n"


def reading_of(fabric: Fabric) -> Reading:
    """A reading of what the model says, without files."""
    return Reading(fabric=fabric)


def stanzas(text: str) -> dict[str, list[str]]:
    """The settings of each interface of a node's file."""
    found: dict[str, list[str]] = {}
    for line in text.partition(FRR)[0].split("\n"):
        if line.startswith("iface "):
            found[line.split()[1]] = settings = []
        elif line.startswith("    "):
            settings.append(line.strip())
    return found


def ports_of(found: Snapshot) -> Mapping[str, set[str]]:
    """The interfaces that the files of each node have."""
    ports: dict[str, set[str]] = {}
    for name, text in found.files.items():
        path = Path(name)
        if path.name == "config_db.json":
            tables = json.loads(text)
            assert tables["DEVICE_METADATA"]["localhost"]["hostname"] == path.parent.name
            ports[path.parent.name] = {*tables["PORT"], *tables.get("VLAN", {}), *_names(tables, "LOOPBACK_INTERFACE")}
        elif path.parent.name == "configs":
            ports[path.stem] = set(stanzas(text))
        elif path.parent.name == "hosts":
            assert json.loads(text)["hostname"] == path.stem
            ports[path.stem] = set(json.loads(text)["hostInterfaces"])
    return ports


def _names(tables: dict[str, Any], table: str) -> set[str]:
    return {key.partition("|")[0] for key in tables.get(table, {})}


def check(reading: Reading) -> Snapshot:
    """What holds of every snapshot."""
    found = build_snapshot(reading)
    ports = ports_of(found)
    fabric = reading.fabric
    assert set(ports) == set(found.names)
    assert all(node == node.lower() for node in ports)
    left_out = {part[0] for part, _ in found.unseen.items() if len(part) == 1}
    assert {*found.names.values()} >= {device.name for device in fabric.devices} - left_out
    edges = json.loads(found.files[LAYER1_FILE])["edges"]
    ends = [(one["hostname"], one["interfaceName"]) for edge in edges for one in (edge["node1"], edge["node2"])]
    assert all(port in ports[node] for node, port in ends)
    assert found.links == len(edges) == len({frozenset(pair) for pair in zip(ends[::2], ends[1::2], strict=True)})
    assert len(edges) + sum(part[1:2] == ("links",) for part in found.unseen) >= len(
        {frozenset((link.a, link.b)) for link in fabric.links}
    )
    by_leg = {(device, leg) for (device, _), leg in found.ports.items()}
    for device in fabric.devices:
        if device.name not in left_out:
            assert {(device.name, leg.name) for leg in routed_interfaces(device)} <= by_leg
    check_tables(found)
    check_places(found, reading)
    return found


def check_tables(found: Snapshot) -> None:
    for name, text in found.files.items():
        if name.endswith("config_db.json"):
            tables = json.loads(text)
            assert tables.keys() <= ROWS.keys()
            for table, rows in tables.items():
                assert all(row.keys() <= ROWS[table] for row in rows.values()), table
            for key in tables.get("VLAN_MEMBER", {}):
                vlan, _, port = key.partition("|")
                assert port in tables["VLAN"][vlan]["members"]
                assert port in tables["PORT"]
        elif name.startswith("configs/"):
            head, marker, frr = text.partition(FRR)
            assert marker
            first, second, *rest = head.split("\n")
            assert (first, second) == (Path(name).stem, "# This file describes the network interfaces")
            assert all(LINES.fullmatch(line) for line in rest), [line for line in rest if not LINES.fullmatch(line)]
            assert any(line.strip("! ") for line in frr.split("\n"))


def check_places(found: Snapshot, reading: Reading) -> None:
    """A line that has a place says there what it says here, names of interfaces aside."""
    for name, (device, place_of) in found.where.items():
        held = {one.name: (one.held or b"").decode() for one in reading.sources.get(device, ())}
        for number, line in enumerate(found.files[name].split("\n"), 1):
            place = place_of(number)
            if place is not None and held.get(place.file) and not place.file.endswith(".json"):
                there = held[place.file].split("\n")[place.span.line - 1]
                if any(one.place and one.place.span == place.span for one in found.refused):
                    assert line == "!"
                    continue
                if "as-path access-list" in there:
                    assert line == there.replace("_", "(^|[^0-9]|$)") or "[" in there
                    continue
                assert re.sub(r"\bVlan", "vlan", there) == re.sub(r"\bVlan", "vlan", line)


@pytest.mark.parametrize("intent", sorted(path.stem for path in resource_folder("intents").glob("*.yaml")))
def test_shipped_intents_on_their_own_platforms(intent: str) -> None:
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / f"{intent}.yaml"))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    found = check(reading)
    assert found.links == len(fabric.links)
    assert set(found.names.values()) == {one.name for one in (*fabric.devices, *fabric.hosts, *fabric.external)}
    for device in fabric.devices:
        if device.platform == "sonic":
            (frr,) = (one.held or b"" for one in reading.sources[device.name] if one.name == "frr.conf")
            text = spell_underscores_of_as_path_lists(frr.decode())
            assert found.files[f"sonic_configs/{device.name}/frr.conf"] == text


@pytest.mark.nightly
@settings(max_examples=20)
@given(random_fabrics.fabrics())
def test_random_devices_of_sonic(fabric: Fabric) -> None:
    try:
        made = list(nodrop.write(fabric))
    except UnsupportedByPlatform:
        return
    check(nodrop.read_back(made, fabric))


@pytest.mark.nightly
@given(random_nvue.devices())
def test_random_devices_of_nvue(device: Device) -> None:
    within = random_nvue.alone(device)
    try:
        made = list(platforms.writer_of_platform("nvue").write(device, Index(within)))
    except UnsupportedByPlatform:
        return
    (one,) = collect.read_artifacts(made, {device.name: "nvue"}, "")
    check(Reading(fabric=replace_fields(within, devices=(one.device,)), sources={one.device.name: one.sources}))


@given(st.integers(0, 2**32))
def test_random_control_planes(seed: int) -> None:
    check(reading_of(routed(Random(seed))))


@pytest.mark.parametrize(
    "folder", ["cumulus/good", "cumulus/bad", "nclu/good.txt", "nclu/bad.txt", "onyx/good.txt", "onyx/bad.txt"]
)
def test_older_platforms(folder: str) -> None:
    found = check(nodrop.read([str(TESTS / "platforms" / folder)]))
    assert list(found.files) == [LAYER1_FILE, f"configs/{next(iter(found.names))}.cfg"]


def leaf(**fields: Any) -> Device:
    ports = tuple(Interface(name=f"Ethernet{n}", mtu_bytes=9216, addresses=(f"10.0.{n}.0/31",)) for n in (0, 8))
    known: dict[str, Any] = {"loopbacks": (), "port_channels": (), "vlans": (), "vrf_bgp": (), "static_routes": ()}
    session = BgpNeighbor(address="10.0.0.1", remote_asn=65001)
    known |= {"bgp": Bgp(asn=65000, neighbors=(session,)), "interfaces": ports, "tunnels": ()}
    return Device(name="leaf1", platform="sonic", **known | fields)


def only_file(device: Device) -> str:
    found = check(reading_of(Fabric(name="f", mode="lossless", devices=(device,))))
    return found.files["configs/leaf1.cfg"]


def test_port_channels_and_vrfs_and_trunks_are_stanzas() -> None:
    device = leaf(
        loopbacks=(Loopback(name="Loopback0", addresses=("10.9.0.1/32", "fd00::1/128")),),
        port_channels=(
            PortChannel(name="PortChannel1", members=("Ethernet8",), addresses=("10.1.0.0/31",), vrf="Vrf1"),
        ),
        vlans=(
            Vlan(
                id=10,
                members=(VlanMember(interface="Ethernet0", tagged=True),),
                addresses=("10.2.0.1/24",),
                mtu_bytes=9100,
            ),
            Vlan(id=20, members=(VlanMember(interface="Ethernet0", tagged=False),), enabled=False),
        ),
    )
    text = only_file(device)
    assert stanzas(text) == {
        "Vrf1": ["vrf-table auto"],
        "Loopback0": ["address 10.9.0.1/32"],
        "Ethernet0": ["address 10.0.0.0/31", "mtu 9216", "bridge-vids 10 20", "bridge-pvid 20"],
        "Ethernet8": ["mtu 9216"],
        "PortChannel1": ["address 10.1.0.0/31", "bond-slaves Ethernet8", "vrf Vrf1"],
        "vlan10": ["address 10.2.0.1/24", "mtu 9100", "vlan-id 10", "vlan-raw-device bridge"],
        "vlan20": ["vlan-id 20", "vlan-raw-device bridge"],
        "bridge": ["bridge-ports Ethernet0", "bridge-vids 10 20", "bridge-vlan-aware yes"],
    }
    frr = text.partition(FRR)[2]
    assert frr.startswith("interface PortChannel1 vrf Vrf1\n!\ninterface vlan20\n shutdown\n!\n")


def test_members_of_port_channels_have_nothing_of_their_own() -> None:
    """Batfish loses every node of a snapshot at one that has."""
    vlan = Vlan(id=10, members=(VlanMember(interface="Ethernet8", tagged=False),))
    device = leaf(port_channels=(PortChannel(name="PortChannel1", members=("Ethernet8",)),), vlans=(vlan,))
    found = check(reading_of(Fabric(name="f", mode="lossless", devices=(device,))))
    assert stanzas(found.files["configs/leaf1.cfg"])["Ethernet8"] == ["mtu 9216"]
    assert "address 10.0.8.0/31" not in found.files["configs/leaf1.cfg"]
    assert ("leaf1", "Ethernet8", "addresses") in found.unseen


def test_cables_of_bonds_are_left_out() -> None:
    """A port channel whose members lead to what is none is down in Batfish, and with it the VLAN behind it."""
    ports = tuple(HostPort(name=f"n{n}", speed_mbps=1, lanes=1, addresses=("10.5.0.9/24",), bond="b") for n in (1, 2))
    host = Host(name="gpu1", group="g", gpus=8, nic=UNKNOWN, ports=ports)
    channel = PortChannel(name="PortChannel1", members=("Ethernet0", "Ethernet8"), addresses=("10.5.0.1/24",))
    device = leaf(
        interfaces=tuple(replace_fields(port, addresses=()) for port in leaf().interfaces), port_channels=(channel,)
    )
    links = tuple(Link(a=End("gpu1", f"n{n}"), b=End("leaf1", f"Ethernet{8 * n - 8}")) for n in (1, 2))
    found = check(reading_of(Fabric(name="f", mode="lossless", devices=(device,), hosts=(host,), links=links)))
    assert json.loads(found.files[LAYER1_FILE]) == {"edges": []}
    assert found.unseen.keys() == {link_subject(link.a, link.b) for link in links}
    interfaces = json.loads(found.files["hosts/gpu1.json"])["hostInterfaces"]
    assert interfaces == {"n1": {"name": "n1", "prefix": "10.5.0.9/24", "gateway": "10.5.0.1"}, "n2": {"name": "n2"}}


def test_a_port_channel_without_members_is_shut_and_so_are_ports_that_are() -> None:
    ports = (replace_fields(leaf().interfaces[0], enabled=False),)
    text = only_file(leaf(interfaces=ports, port_channels=(PortChannel(name="PortChannel1", members=("Ethernet8",)),)))
    assert "interface Ethernet0\n shutdown\n" in text
    assert "interface PortChannel1\n shutdown\n" in text
    assert "bond-slaves" not in text


def test_names_that_batfish_does_not_take_are_made_others_and_lead_back() -> None:
    device = leaf(
        interfaces=(Interface(name="Eth1/1", mtu_bytes=9216), Interface(name="bridge", mtu_bytes=9216)),
        vlans=(Vlan(id=7, addresses=("10.2.0.1/24",)),),
        bgp=Bgp(
            asn=65000,
            neighbors=tuple(
                BgpNeighbor(interface=name, remote_asn="external") for name in ("Eth1/1", "Eth1/11", "Vlan7")
            ),
        ),
    )
    found = check(reading_of(Fabric(name="f", mode="lossless", devices=(device,))))
    assert found.ports == {("leaf1", "Eth1-1"): "Eth1/1", ("leaf1", "bridge-"): "bridge", ("leaf1", "vlan7"): "VLAN 7"}
    words = re.findall(r"neighbor (\S+) interface", found.files["configs/leaf1.cfg"])
    assert words == ["Eth1-1", "Eth1/11", "vlan7"]


def test_sub_interfaces_of_sessions_are_there_and_others_are_not() -> None:
    """Batfish finds what is below one by the name, and rejects a session over an interface that it does not have."""
    names = ("PortChannel1.4094", "Eth1/1.7", "Ethernet99.5", "Eth1/1.")
    device = leaf(
        interfaces=(Interface(name="Ethernet8", mtu_bytes=9216), Interface(name="Eth1/1", mtu_bytes=9216)),
        port_channels=(PortChannel(name="PortChannel1", members=("Ethernet8",)),),
        bgp=Bgp(asn=65000, neighbors=(BgpNeighbor(interface=names[0], remote_asn="internal"),)),
        vrf_bgp=(
            Bgp(
                asn=65000,
                vrf="Vrf1",
                neighbors=tuple(BgpNeighbor(interface=name, remote_asn="external") for name in names[1:]),
            ),
        ),
    )
    found = check(reading_of(Fabric(name="f", mode="lossless", devices=(device,))))
    text = found.files["configs/leaf1.cfg"]
    added = {name: settings for name, settings in stanzas(text).items() if "." in name}
    assert added == {"PortChannel1.4094": [], "Eth1-1.7": ["vrf Vrf1"]}
    assert re.findall(r"neighbor (\S+) interface", text) == ["PortChannel1.4094", "Eth1-1.7", "Ethernet99.5", "Eth1/1."]
    assert found.ports["leaf1", "Eth1-1.7"] == "Eth1/1.7"
    unseen = {part for part, reason in found.unseen.items() if "sub-interfaces" in reason}
    assert unseen == {("leaf1", name, "addresses") for name in names[:2]}


def test_nodes_are_lower_case_and_apart() -> None:
    names = ("Leaf1", "leaf1", "LEAF1", "spine 1")
    devices = tuple(replace_fields(leaf(), name=name, interfaces=()) for name in names)
    host = Host(
        name="Spine-1",
        group="gpu",
        gpus=8,
        nic=UNKNOWN,
        ports=(HostPort(name="n", speed_mbps=1, lanes=1, addresses=("10.0.0.1/31",)),),
    )
    found = check(reading_of(Fabric(name="f", mode="lossless", devices=devices, hosts=(host,))))
    assert sorted(found.names) == ["leaf1", "leaf1-2", "leaf1-3", "spine-1", "spine-1-2"]
    assert sorted(found.names.values()) == sorted((*names, "Spine-1"))


def test_hosts_go_by_the_switch_in_their_subnet() -> None:
    vlan = Vlan(id=5, members=(VlanMember(interface="Ethernet8", tagged=False),), addresses=("10.5.0.1/24",))
    device = leaf(interfaces=(leaf().interfaces[0], Interface(name="Ethernet8", mtu_bytes=9216)), vlans=(vlan,))
    ports = (
        HostPort(name="n1", speed_mbps=1, lanes=1, addresses=("10.0.0.1/31", "fd00::2/127")),
        HostPort(name="n2", speed_mbps=1, lanes=1, addresses=("10.5.0.9/24",), bond="b"),
        HostPort(name="n3", speed_mbps=1, lanes=1, addresses=("10.5.0.9/24",), bond="b"),
    )
    six = Host(name="six", group="g", gpus=0, nic=UNKNOWN, ports=(replace_fields(ports[0], addresses=("fd00::9/64",)),))
    host = Host(name="gpu1", group="g", gpus=8, nic=UNKNOWN, ports=ports)
    ends = [End("gpu1", "n1"), End("gpu1", "n2"), End("six", "n1"), End("gpu1", "n3")]
    links = [Link(a=end, b=End("leaf1", f"Ethernet{8 * n}")) for n, end in enumerate(ends[:3])]
    found = check(
        reading_of(Fabric(name="f", mode="lossless", devices=(device,), hosts=(host, six), links=tuple(links)))
    )
    assert json.loads(found.files["hosts/gpu1.json"])["hostInterfaces"] == {
        "n1": {"name": "n1", "prefix": "10.0.0.1/31", "gateway": "10.0.0.0"},
        "n2": {"name": "n2", "prefix": "10.5.0.9/24", "gateway": "10.5.0.1"},
        "n3": {"name": "n3"},
    }
    assert "hosts/six.json" not in found.files
    reason = "the host has no address of IPv4, and Batfish has hosts of IPv4 only"
    assert found.unseen[link_subject(links[2].a, links[2].b)] == reason


def _modified(two_by_two: Path, folder: Path, frr: str = "", **tables: Any) -> Snapshot:
    config = json.loads((two_by_two / "leaf1" / "config_db.json").read_text())
    for table, rows in tables.items():
        config.setdefault(table, {}).update(rows)
    folder.mkdir(exist_ok=True)
    (folder / "config_db.json").write_text(json.dumps(config))
    (folder / "frr.conf").write_text((two_by_two / "leaf1" / "frr.conf").read_text() + frr)
    return check(nodrop.read([str(folder)]))


@pytest.mark.parametrize(
    ("frr", "tables"),
    [
        ("router bgp 65001 vrf Vrf1\n", {}),
        ("vrf Vrf1\n ip route 10.0.0.0/8 blackhole\nexit-vrf\n", {}),
        ("router bgp 4200100001\n address-family l2vpn evpn\n", {}),
        ("", {"PORTCHANNEL": {"PortChannel1": {"admin_status": "up"}}}),
        ("", {"VRF": {"Vrf1": {}}}),
        ("", {"VXLAN_TUNNEL": {"vtep": {"src_ip": "10.0.0.1"}}}),
        ("", {"INTERFACE": {"Ethernet0": {"vrf_name": "Vrf1"}}}),
        (
            "",
            {
                "VLAN": {"Vlan5": {"vlanid": "5"}, "Vlan6": {"vlanid": "6"}},
                "VLAN_MEMBER": {f"Vlan{n}|Ethernet248": {"tagging_mode": "tagged"} for n in (5, 6)},
            },
        ),
        ("", {"VLAN": {"Vlan5": {"vlanid": "5", "admin_status": "down"}}}),
    ],
)
def test_what_is_beyond_the_reader_of_tables_has_the_other_form(
    two_by_two: Path, tmp_path: Path, frr: str, tables: dict[str, Any]
) -> None:
    """At these lines Batfish loses the device, or takes its tables for something else."""
    assert "sonic_configs/leaf1/config_db.json" in _modified(two_by_two, tmp_path / "plain").files
    assert "configs/leaf1.cfg" in _modified(two_by_two, tmp_path / "more", frr, **tables).files


def test_rows_that_would_cost_a_table_are_cut_down(two_by_two: Path, tmp_path: Path) -> None:
    found = _modified(
        two_by_two,
        tmp_path,
        INTERFACE={
            "Ethernet0": {"ipv6_use_link_local_only": "enable", "proxy_arp": "enabled"},
            "Ethernet0|10.7.0.1": {},
            "Ethernet0|10.7.0.1/24": {"scope": "global", "secondary": "true"},
            "Ethernet999|10.8.0.1/24": {},
        },
        VLAN={"Vlan5": {"vlanid": "5", "mac": "00:00:00:00:00:05", "mtu": "9000"}},
        VLAN_MEMBER={"Vlan5|Ethernet248": {"tagging_mode": "priority_tagged"}},
        ACL_TABLE={"A": {"type": "MIRROR", "ports": ["Ethernet0"]}},
        ACL_RULE={"A|R": {"PRIORITY": "1", "PACKET_ACTION": "FORWARD", "DSCP": "3"}},
    )
    tables = json.loads(found.files["sonic_configs/leaf1/config_db.json"])
    rows = {key: row for key, row in tables["INTERFACE"].items() if key.startswith(("Ethernet0|", "Ethernet999"))}
    assert rows == {"Ethernet0|10.2.1.0/31": {}, "Ethernet0|10.7.0.1/24": {"secondary": "true"}}
    assert tables["VLAN"] == {"Vlan5": {"vlanid": "5", "members": ["Ethernet248"]}}
    assert tables["VLAN_MEMBER"] == {"Vlan5|Ethernet248": {"tagging_mode": "untagged"}}
    assert "ACL_RULE" not in tables
    assert "no DSCPs in access lists" in found.unseen["leaf1", "@access_lists", "A"]
    assert ("leaf1", "Ethernet0", "addresses", "10.7.0.1") in found.unseen


def test_access_lists_are_carried_with_a_last_rule_that_forwards(two_by_two: Path, tmp_path: Path) -> None:
    """Those of IPv4 at ingress; one for IPv6, one with a range of many ports and one that is not bound are not."""
    udp = {"PACKET_ACTION": "DROP", "IP_PROTOCOL": "17"}
    found = _modified(
        two_by_two,
        tmp_path,
        ACL_TABLE={
            "A": {"type": "L3", "ports": ["Ethernet0"]},
            "FREE": {"type": "L3"},
            "SIX": {"type": "L3V6", "ports": ["Ethernet0"]},
            "WIDE": {"type": "L3", "ports": ["Ethernet0"]},
        },
        ACL_RULE={
            "A|LOW": {**udp, "PRIORITY": "5", "IP_TYPE": "IPV4ANY", "L4_DST_PORT_RANGE": "4791-4792"},
            "A|HIGH": {"PRIORITY": "9", "PACKET_ACTION": "FORWARD", "SRC_IP": "10.2.0.0/16", "L4_SRC_PORT": "7"},
            "FREE|R": {**udp, "PRIORITY": "1"},
            "SIX|R": {"PRIORITY": "1", "PACKET_ACTION": "DROP", "IP_TYPE": "IPV6ANY"},
            "WIDE|R": {**udp, "PRIORITY": "1", "L4_DST_PORT_RANGE": "1024-65535"},
        },
    )
    tables = json.loads(found.files["sonic_configs/leaf1/config_db.json"])
    assert tables["ACL_TABLE"] == {"A": {"type": "L3", "stage": "INGRESS", "ports": ["Ethernet0"]}}
    assert tables["ACL_RULE"] == {
        "A|HIGH_7": {"PRIORITY": "99999", "PACKET_ACTION": "FORWARD", "SRC_IP": "10.2.0.0/16", "L4_SRC_PORT": "7"},
        "A|LOW_4791": {"PRIORITY": "99998", **udp, "L4_DST_PORT": "4791"},
        "A|LOW_4792": {"PRIORITY": "99997", **udp, "L4_DST_PORT": "4792"},
        "A|FORWARD_THE_REST": {"PRIORITY": "1", "PACKET_ACTION": "FORWARD"},
    }
    assert [key for key in found.unseen if "@access_lists" in key] == [("leaf1", "@access_lists", "WIDE")]


def test_lists_at_ports_that_batfish_is_given_as_stanzas_are_not_seen() -> None:
    fabric = routed(Random("lists"))
    bound = AccessList(name="A", bindings=(Binding(interface="Ethernet0", stage="ingress"),))
    free, services = (
        AccessList(name="B"),
        replace_fields(bound, name="C", bindings=(Binding(interface=None, stage="services"),)),
    )
    devices = tuple(replace_fields(one, access_lists=(bound, free, services)) for one in fabric.devices[:1])
    found = build_snapshot(reading_of(replace_fields(fabric, devices=devices + fabric.devices[1:])))
    lists = {key: why for key, why in found.unseen.items() if "@access_lists" in key}
    assert lists == {(devices[0].name, "@access_lists", "A"): NO_ACCESS_LISTS_REASON}


def test_a_line_at_which_batfish_gives_up_is_a_comment_and_told(two_by_two: Path, tmp_path: Path) -> None:
    """Such lines were met in configurations of SRv6 that are public."""
    block = "segment-routing\n srv6\n  static-sids\n   sid fc00::/48 locator MAIN behavior uA interface Ethernet0\n"
    rest = "route-map X permit 10\n description an interface\n match interface Ethernet0\n!an interface\n"
    found = _modified(two_by_two, tmp_path, block + rest)
    text = (tmp_path / "frr.conf").read_text()
    line = text.split("\n").index(block.split("\n")[3]) + 1
    lines = text.split("\n")
    lines[line - 1] = "!"
    assert found.files["sonic_configs/leaf1/frr.conf"].split("\n") == lines
    (refused,) = found.refused
    assert (refused.device, refused.text, refused.matters) == ("leaf1", block.split("\n")[3].strip(), False)
    assert refused.place
    assert (refused.place.file, refused.place.span.line) == ("frr.conf", line)
    assert list(report_omissions(found))[-1:] == [f"left out: leaf1, frr.conf:{line}, `{refused.text}`: {refused.said}"]


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        (" neighbor fabric peer-group\n neighbor swp1 interface\n neighbor swp1 peer-group fabric\n", 3),
        (" neighbor fabric peer-group\n neighbor fabric bfd\n neighbor fabric peer-group\n", 3),
        (" neighbor swp1 remote-as external\n neighbor swp1 interface remote-as external\n", 1),
        (" neighbor swp1 interface v6only remote-as external\n neighbor swp1 description x\n", 2),
    ],
)
def test_what_builds_on_such_a_line_is_written_anew(tmp_path: Path, lines: str, at: int) -> None:
    (tmp_path / "interfaces").write_text("auto swp1\niface swp1\n    mtu 9216\n")
    (tmp_path / "frr.conf").write_text(f"router bgp 65001\n{lines}")
    (tmp_path / "hostname").write_text("leaf1\n")
    found = check(nodrop.read([str(tmp_path)]))
    (refused,) = found.refused
    assert refused.place
    assert (refused.place.span.line, refused.text) == (at + 1, lines.split("\n")[at - 1].strip())
    assert "line vty" in found.files["configs/leaf1.cfg"]
    assert found.anew == ("leaf1",)
    assert [line.split(":")[:2] for line in report_omissions(found) if "nodrop replaces them" in line] == [
        ["written anew", " leaf1"]
    ]


@pytest.mark.parametrize(
    "lines",
    [
        " neighbor fabric peer-group\n neighbor fabric remote-as 1\n neighbor swp1 interface peer-group fabric\n",
        " neighbor 10.0.0.1 remote-as 65002\n neighbor 10.0.0.1 description x\n neighbor fd00::1 description y\n",
        " address-family ipv4 unicast\n  neighbor swp1 activate\n",
        " neighbor swp1 bfd\n neighbor swp1 timers 1 3\n",
    ],
)
def test_what_batfish_lives_through_is_kept(tmp_path: Path, lines: str) -> None:
    (tmp_path / "interfaces").write_text("auto swp1\niface swp1\n    mtu 9216\n")
    (tmp_path / "frr.conf").write_text(f"interface br0\n!\nrouter bgp 65001\n{lines}")
    (tmp_path / "hostname").write_text("leaf1\n")
    found = check(nodrop.read([str(tmp_path)]))
    text = found.files["configs/leaf1.cfg"]
    assert found.refused == ()
    assert text.endswith(f"frr version 8.4.3\ninterface br0\n!\nrouter bgp 65001\n{lines}")
    assert stanzas(text)["br0"] == []


def test_a_frr_conf_of_comments_gets_a_statement(two_by_two: Path, tmp_path: Path) -> None:
    (tmp_path / "config_db.json").write_text((two_by_two / "leaf1" / "config_db.json").read_text())
    for text, written in (
        ("! nothing", "! nothing\nline vty\n"),
        ("# nothing\n", "# nothing\nline vty\n"),
        ("", "line vty\n"),
    ):
        (tmp_path / "frr.conf").write_text(text)
        found = check(nodrop.read([str(tmp_path)]))
        assert found.files["sonic_configs/leaf1/frr.conf"] == written
        _, place_of = found.where["sonic_configs/leaf1/frr.conf"]
        assert place_of(written.count("\n") + 1) is None


def test_what_is_not_seen_of_a_dual_stack() -> None:
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / "dual-stack.yaml"))
    found = check(nodrop.read_back(list(nodrop.write(fabric)), fabric))
    expected = set()
    for device in fabric.devices:
        holders = ((port.name,) for port in device.interfaces)
        texts = {one: known_rows(port.addresses) for one, port in zip(holders, device.interfaces, strict=True)}
        texts |= {("@loopbacks", one.name): one.addresses for one in known_rows(device.loopbacks)}
        expected |= {
            (device.name, *part, "addresses", text)
            for part, own in texts.items()
            for text in own
            if (read := parse_prefix(text)) and read.family == "ipv6"
        }
        expected |= {(device.name, "@neighbors", one.key) for one in known_rows(device.neighbors) if ":" in one.key}
        expected |= {
            (device.name, "@static_routes", one.prefix) for one in known_rows(device.static_routes) if ":" in one.prefix
        }
    assert set(found.unseen) == expected


def test_equal_fabrics_have_one_digest_and_a_changed_file_another(two_by_two: Path, tmp_path: Path) -> None:
    plain = build_snapshot(nodrop.read([str(two_by_two)]))
    built(resource_folder("intents") / "two-by-two.yaml", tmp_path / "again")
    assert build_snapshot(nodrop.read([str(tmp_path / "again")])).digest == plain.digest
    assert re.fullmatch("[0-9a-f]{64}", plain.digest)
    file = tmp_path / "again" / "leaf1" / "frr.conf"
    file.write_text(file.read_text() + "!\n")
    assert build_snapshot(nodrop.read([str(tmp_path / "again")])).digest != plain.digest


def test_a_file_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    built(resource_folder("intents") / "two-by-two.yaml", tmp_path / "build")
    reading = nodrop.read([str(tmp_path / "build")])
    (tmp_path / "build" / "spine1" / "config_db.json").write_text("{}")
    with pytest.raises(InputProblems, match=r"spine1/config_db.json: changed since it was read"):
        build_snapshot(reading)


def test_what_frr_means_by_an_underscore_is_written_out_for_batfish() -> None:
    text = "bgp as-path access-list A permit ^65001_\nbgp as-path access-list B seq 5 deny _[67]_\n description a_b\n"
    first, *others = spell_underscores_of_as_path_lists(text).split("\n")
    assert first == "bgp as-path access-list A permit ^65001(^|[^0-9]|$)"
    assert others == text.split("\n")[1:]
