"""Where facts stand in SONiC's files: altering the text there alters that fact, and a missing part has a near place."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

import nodrop
from nodrop import collect, platforms
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.compare import differences
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.reading import FilePlace
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject, parse_subject
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.artifact import Artifact
from nodrop.resources import resource_folder
from support import random_values
from support.designs import build, shipped

LEAF = "leaf1"
HOST_PORT, FABRIC_PORT = "Ethernet0", "Ethernet128"
PORT_CHANNELS = (
    PortChannel(
        name="PortChannel7",
        members=("Ethernet120", "Ethernet128"),
        min_links=2,
        fast_rate=True,
        fallback=True,
        mtu_bytes=9100,
        addresses=("192.0.2.1/31",),
        vrf="Vrf7",
        description="to the border",
    ),
)
VLANS = (
    Vlan(
        id=100,
        members=(VlanMember(interface="Ethernet112", tagged=False), VlanMember(interface="PortChannel7", tagged=True)),
        enabled=False,
        mtu_bytes=9000,
        addresses=("198.51.100.1/24", "2001:db8::1/64"),
    ),
)


@cache
def files() -> dict[str, str]:
    """The reference fabric's leaf1: its files by name."""
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / "reference-256.yaml"))
    leaf = replace_fields(fabric.device(LEAF), port_channels=PORT_CHANNELS, vlans=VLANS)
    return {one.path: one.text for one in platforms.writer_of_platform("sonic").write(leaf, Index(fabric))}


def read(texts: Mapping[str, str]) -> Device:
    artifacts = [Artifact(device=LEAF, path=path, text=text) for path, text in texts.items()]
    (reading,) = collect.read_artifacts(artifacts, {LEAF: "sonic"}, "")
    return reading.device


@cache
def device() -> Device:
    return read(files())


@cache
def finder() -> Callable[[Subject], FilePlace | None]:
    return platforms.make_place_finder("sonic", {name: text.encode() for name, text in files().items()})


def where(subject: Subject, texts: Mapping[str, str] | None = None) -> FilePlace | None:
    if texts is None:
        return finder()((LEAF, *subject))
    return platforms.make_place_finder("sonic", {name: text.encode() for name, text in texts.items()})((LEAF, *subject))


def cut(place: FilePlace, texts: Mapping[str, str] | None = None) -> str:
    """The text at a place, which is within one line."""
    span = place.span
    assert span.line == span.end_line
    return (
        (texts or files())[place.file]
        .removeprefix("\ufeff")
        .split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]
    )


def with_text(place: FilePlace, new: str) -> dict[str, str]:
    """The files with other text at a place."""
    lines = files()[place.file].split("\n")
    line, span = lines[place.span.line - 1], place.span
    lines[span.line - 1] = line[: span.column - 1] + new + line[span.end_column - 1 :]
    return files() | {place.file: "\n".join(lines)}


OTHER_WORDS = {
    "up": "down",
    "rs": "fc",
    "off": "on",
    "true": "false",
    "enable": "disable",
    "drop": "forward",
    "dynamic": "static",
    "ToRRouter": "LeafRouter",
    "down": "up",
    "untagged": "tagged",
    "tagged": "untagged",
    "DWRR": "WRR",
    "STRICT": "DWRR",
    "ecn_all": "ecn_green",
    "ingress": "egress",
    "egress": "ingress",
}


def otherwise(text: str) -> str:
    """Another text in the place of a string of JSON or a command of FRR: its number, or the word, is not the same."""
    if not text.startswith('"'):
        return f"!{text}"
    inner = text[1:-1]
    if inner in OTHER_WORDS:
        return f'"{OTHER_WORDS[inner]}"'
    if re.fullmatch(r"\d+(,\d+)+", inner):
        return f'"{inner.rpartition(",")[0]}"'
    if number := re.fullmatch(r"(\d+)(m?)", inner):
        return f'"{int(number[1]) + 1}{number[2]}"'
    return f'"{inner}x"'


def subject_of(name: str) -> Subject:
    """The subject of a part of a device that is spelt as the path of its model."""
    parts = tuple(part.replace("%2F", "/") for part in name.split("/"))
    if parts[0] == "interfaces":
        return parts[1:]
    return ("@neighbors", *parts[2:]) if parts[:2] == ("bgp", "neighbors") else (f"@{parts[0]}", *parts[1:])


def facts() -> dict[str, Any]:
    """Every fact of leaf1 that is known and there, by its path; of its ports one of each kind."""
    found = {}
    for path, _ in random_values.fields(device()):
        value = random_values.at(device(), path)
        name = random_values.named(device(), path)
        one_of_all = path[0] != "interfaces" or name.split("/")[1:2] in ([HOST_PORT], [FABRIC_PORT])
        if one_of_all and not isinstance(value, Unknown) and value is not None and value != ():
            found[name] = value
    return found


NOT_SAID = re.compile(
    r"name|platform|interfaces|bgp|bgp/neighbors"
    r"|.*/(name|index|sequence|group|family|address|interface|key)"  # what a row is called, not what it says
    r"|.*/link_local|.*/neighbors/.*/(enabled|bfd|ipv6|ipv6/active|extended_next_hop)"  # true without a word
    r"|.*/neighbors/.*/(passive|connected_check|evpn|local_asn_mode|local_asn_of_group)"
    r"|.*/neighbors/.*/(next_hop_self|next_hop_forced|reflector_client|as_override|default_originate)|bgp/(compare_router_id|always_compare_med|requires_policy|import_check)"
    r"|routing_tables|dual_tor|adaptive_routing|interfaces/.*/adaptive_routing|weighs_utilization|.*/computed|.*/wred/(yellow|red|green)"
)
SAID = [name for name in facts() if not NOT_SAID.fullmatch(name)]


def alters(name: str, found: str) -> bool:
    """Whether a difference at `found` is one of the fact `name`, or of the part that it is in."""
    return found == name or found.startswith(f"{name}/") or name.startswith(f"{found}/")


@pytest.mark.parametrize("name", SAID)
def test_other_text_at_the_place_is_another_fact(name: str) -> None:
    place = where(subject_of(name))
    assert place is not None
    text = cut(place)
    changed = read(with_text(place, otherwise(text)))
    found = ["/".join(part.replace("/", "%2F") for part in one.path) for one in differences(device(), changed)]
    assert any(alters(name, one) for one in found), f"{text} gave {found}"


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("", '"leaf1"'),
        ("@model", '"ACS-MSN4700"'),
        ("@role", '"ToRRouter"'),
        ("@hash_seed", '"ToRRouter"'),
        ("@version", '"version_202505_01"'),
        ("@buffer_model", '"dynamic"'),
        ("@watchdog_polling_ms", '"100"'),
        ("@dynamic_buffers/dynamic_th", '"0"'),
        ("@dynamic_buffers/small_packet_percent", '"50"'),
        ("@buffer_pools/ingress_lossless/percentage", '"90"'),
        ("@buffer_pools/ingress_lossless/size_bytes", '"ingress_lossless_pool"'),
        ("@buffer_pools/egress_lossless/size_bytes", '"60817392"'),
        ("@counters/PFCWD", '"PFCWD"'),
        ("@counters/PFCWD/enabled", '"enable"'),
        ("@loopbacks/Loopback0/addresses/0", '"Loopback0|10.0.0.1/32"'),
        ("@port_channels/PortChannel7", '"PortChannel7"'),
        ("@port_channels/PortChannel7/min_links", '"2"'),
        ("@port_channels/PortChannel7/members/1", '"PortChannel7|Ethernet128"'),
        ("@port_channels/PortChannel7/addresses/0", '"PortChannel7|192.0.2.1/31"'),
        ("@port_channels/PortChannel7/vrf", '"Vrf7"'),
        ("@vlans/100", '"Vlan100"'),
        ("@vlans/100/mtu_bytes", '"9000"'),
        ("@vlans/100/members/PortChannel7", '"Vlan100|PortChannel7"'),
        ("@vlans/100/members/PortChannel7/tagged", '"tagged"'),
        ("@vlans/100/addresses/1", '"Vlan100|2001:db8::1/64"'),
        ("@management/gateway", '"192.168.100.254"'),
        ("@management/own_vrf", '"true"'),
        ("@ntp_servers/1", '"192.0.2.11"'),
        ("@syslog_servers", '"SYSLOG_SERVER"'),
        ("Ethernet0", '"Ethernet0"'),
        ("Ethernet0/mtu_bytes", '"9216"'),
        ("Ethernet0/enabled", '"up"'),
        ("Ethernet0/description", '"gpu1:nic1"'),
        ("Ethernet0/lane_mbps", '"400000"'),
        ("Ethernet0/cable_length_m", '"3m"'),
        ("Ethernet0/addresses", '"Ethernet0|{leaf.interfaces[0].addresses[0]}"'),
        ("Ethernet0/qos", '"Ethernet0"'),
        ("Ethernet0/qos/trust", '"AZURE"'),
        ("Ethernet0/qos/dscp_to_tc", '"AZURE"'),
        ("Ethernet0/qos/dscp_to_tc/26", '"3"'),
        ("Ethernet0/qos/pfc_priorities", '"3"'),
        ("Ethernet0/qos/pfc_watchdog", '"Ethernet0"'),
        ("Ethernet0/qos/pfc_watchdog/detection_ms", '"200"'),
        ("Ethernet0/qos/pfc_watchdog/action", '"drop"'),
        ("Ethernet0/qos/pfc_watchdog/priorities", '"3"'),
        ("Ethernet0/qos/queues/3", '"Ethernet0|3"'),
        ("Ethernet0/qos/queues/3/scheduler", '"scheduler.3"'),
        ("Ethernet0/qos/queues/3/scheduler/weight", '"60"'),
        ("Ethernet0/qos/queues/6/scheduler/peak_bytes_per_s", '"2500000000"'),
        ("Ethernet0/qos/queues/3/wred", '"AZURE_LOSSLESS"'),
        ("Ethernet0/qos/queues/3/wred/green/min_bytes", '"150000"'),
        ("Ethernet0/qos/queues/3/wred/red/enabled", '"true"'),
        ("Ethernet0/qos/queues/3/wred/ecn_colors", '"ecn_all"'),
        ("Ethernet0/qos/queues/3/buffer", '"Ethernet0|3"'),
        ("Ethernet0/qos/queues/1/buffer/dynamic_th", '"3"'),
        ("Ethernet0/qos/priority_groups/3", '"Ethernet0|3"'),
        ("Ethernet0/qos/priority_groups/3/buffer/headroom/xoff_bytes", '"Ethernet0|3"'),
        ("Ethernet0/qos/priority_groups/0/buffer/size_bytes", '"0"'),
        ("Ethernet0/qos/egress_buffers/1/size_bytes", '"9216"'),
        ("Ethernet0/qos/ingress_buffers", '"ingress_lossless_profile,ingress_lossy_profile"'),
        ("@bgp", "router bgp {leaf.bgp.asn}"),
        ("@bgp/asn", "router bgp {leaf.bgp.asn}"),
        ("@bgp/router_id", "bgp router-id {leaf.bgp.router_id}"),
        ("@bgp/default_ipv4_unicast", "no bgp default ipv4-unicast"),
        ("@bgp/multipath_relax", "bgp bestpath as-path multipath-relax"),
        ("@bgp/suppress_fib_pending", "bgp suppress-fib-pending"),
        ("@bgp/graceful_restart", "bgp graceful-restart"),
        ("@bgp/preserve_forwarding", "bgp graceful-restart preserve-fw-state"),
        ("@bgp/restart_s", "bgp graceful-restart restart-time 240"),
        ("@bgp/maximum_paths", "maximum-paths {leaf.bgp.maximum_paths}"),
        ("@bgp/session_dscp", "bgp session-dscp 56"),
        ("@bgp/networks/0", "network {leaf.bgp.networks[0]}"),
        ("@bgp/networks/1", "network {leaf.bgp.networks[1]}"),
        ("@bgp/prefix_lists/OWN", "ip prefix-list OWN seq 10 permit {leaf.bgp.networks[0]}"),
        (
            "@bgp/prefix_lists/FABRIC/rules/20/ge",
            "ip prefix-list FABRIC seq 20 permit {blocks}",
        ),
        ("@bgp/community_lists/GSHUT/rules/0", "bgp community-list standard GSHUT permit graceful-shutdown"),
        ("@bgp/route_maps/FABRIC-IN/rules/20", "route-map FABRIC-IN permit 20"),
        ("@bgp/route_maps/FABRIC-IN/rules/10/matches/1", "match ip address prefix-list FABRIC"),
        ("@bgp/route_maps/FABRIC-IN/rules/10/sets", "set local-preference 0"),
        ("@static_routes", "ip route {leaf.static_routes[0].prefix} blackhole"),
        (
            "@neighbors/{peer.address}",
            "neighbor {peer.address} remote-as {peer.remote_asn}",
        ),
        (
            "@neighbors/{peer.address}/description",
            "neighbor {peer.address} description spine1 port 1",
        ),
        ("@neighbors/{peer.address}/active", "neighbor SPINES activate"),
        (
            "@neighbors/{peer.address}/import_policy",
            "neighbor SPINES route-map FABRIC-IN in",
        ),
        (
            "@neighbors/{peer.address}/export_policy",
            "neighbor SPINES route-map FABRIC-OUT out",
        ),
    ],
)
def test_the_text_at_a_place(subject: str, text: str) -> None:
    rule = device().bgp.prefix_lists[0].rules[1]
    blocks = f"{rule.prefix} ge {rule.ge} le {rule.le}"
    known = {"leaf": device(), "peer": device().bgp.neighbors[0], "blocks": blocks}
    place = where(parse_subject(subject.format(**known)) if subject else ())
    assert place is not None
    assert cut(place) == text.format(**known)


@pytest.mark.parametrize("subject", [("@port_channels", "PortChannel1", "members"), ("@vlans", "7", "members", "0")])
def test_members_that_a_row_lists_are_at_that_list(subject: Subject) -> None:
    rows = {"PORTCHANNEL": {"PortChannel1": {"members": ["Ethernet0"]}}, "VLAN": {"Vlan7": {"members": ["Ethernet8"]}}}
    text = json.dumps({"DEVICE_METADATA": {"localhost": {"hostname": LEAF}}, **rows})
    found = where(subject, {"config_db.json": text})
    assert found is not None
    assert text[: found.span.column - 1].endswith('"members": ')


def _in_tables() -> tuple[Device, dict[str, str]]:
    """A leaf with BGP in tables, and its files by name."""
    versions = {f"topology.{tier}.version": "202511" for tier in ("leaves", "spines")}
    fabric = build(shipped("dual-stack", versions | {"routing.delivery": "tables"}))
    one = fabric.device(LEAF)
    return one, {file.path: file.text for file in platforms.writer_of_platform("sonic").write(one, Index(fabric))}


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("@routing_tables", '"unified"'),
        ("@bgp", '"default"'),
        ("@bgp/asn", '"4200100001"'),
        ("@bgp/router_id", '"10.0.0.1"'),
        ("@bgp/multipath_relax", '"true"'),
        ("@bgp/maximum_paths_ipv6", '"32"'),
        ("@bgp/networks/1", '"default|ipv4_unicast|10.2.1.0/24"'),
        ("@bgp/prefix_lists/FABRIC/rules/20/le", '"FABRIC|20|10.2.0.0/16|24..24"'),
        ("@bgp/prefix_lists/FABRIC/rules/20/action", '"permit"'),
        ("@bgp/route_maps/FABRIC-IN/rules/20/matches", '"FABRIC"'),
        ("@bgp/route_maps/FABRIC6-IN/rules/20/sets", '"true"'),
        ("@neighbors/10.1.1.225", '"default|10.1.1.225"'),
        ("@neighbors/10.1.1.225/remote_asn", '"4200000000"'),
        ("@neighbors/10.1.1.225/hold_s", '"9"'),
        ("@neighbors/10.1.1.225/import_policy", '["FABRIC-IN"]'),
        ("@neighbors/fd00:1:0:1::e9/ipv6/export_policy", '["FABRIC6-OUT"]'),
        ("@static_routes/10.2.1.0%2F24", '"default|10.2.1.0/24"'),
    ],
)
def test_the_text_at_a_place_of_tables(subject: str, text: str) -> None:
    one, texts = _in_tables()
    find = platforms.make_place_finder("sonic", {name: body.encode() for name, body in texts.items()})
    place = find((one.name, *parse_subject(subject)))
    assert place is not None
    assert cut(place, texts) == text


def line_of(place: FilePlace | None) -> str:
    """The line of config_db.json at a place, and the table that it stands in."""
    assert place is not None
    lines = files()[place.file].split("\n")
    table = next(line for line in reversed(lines[: place.span.line]) if re.match(r' {4}"', line))
    return f"{table.strip()} {lines[place.span.line - 1].strip()}"


@pytest.mark.parametrize(
    ("subject", "line"),
    [
        ("Ethernet0", '"PORT": { "Ethernet0": {'),
        ("Ethernet0/qos", '"PORT_QOS_MAP": { "Ethernet0": {'),
        ("Ethernet0/qos/pfc_priorities", '"PORT_QOS_MAP": { "pfc_enable": "3",'),
        ("Ethernet0/qos/pfc_watchdog/priorities", '"PORT_QOS_MAP": { "pfcwd_sw_enable": "3"'),
        ("Ethernet0/qos/pfc_watchdog", '"PFC_WD": { "Ethernet0": {'),
        ("Ethernet0/qos/queues/3/wred", '"QUEUE": { "wred_profile": "AZURE_LOSSLESS"'),
        ("Ethernet0/qos/queues/3/buffer", '"BUFFER_QUEUE": { "Ethernet0|3": {'),
        ("Ethernet0/qos/priority_groups/3/buffer/size_bytes", '"BUFFER_PG": { "Ethernet0|3": {'),
        ("Ethernet0/qos/dscp_to_tc", '"PORT_QOS_MAP": { "dscp_to_tc_map": "AZURE",'),
        ("Ethernet0/qos/dscp_to_tc/26", '"DSCP_TO_TC_MAP": { "26": "3",'),
        ("@counters/PFCWD/enabled", '"FLEX_COUNTER_TABLE": { "FLEX_COUNTER_STATUS": "enable"'),
    ],
)
def test_the_row_of_a_place(subject: str, line: str) -> None:
    assert line_of(where(parse_subject(subject))) == line


def without(*keys: str) -> dict[str, str]:
    """The files without what stands at a path of config_db.json."""
    data = json.loads(files()["config_db.json"])
    part = data
    for key in keys[:-1]:
        part = part[key]
    del part[keys[-1]]
    return files() | {"config_db.json": json.dumps(data, indent=4)}


@pytest.mark.parametrize(
    ("subject", "missing", "text"),
    [
        ("Ethernet0/qos/pfc_watchdog", ("PFC_WD", "Ethernet0"), '"3"'),
        ("Ethernet0/qos/pfc_watchdog", ("PFC_WD",), '"3"'),
        ("Ethernet0/qos/pfc_watchdog/action", ("PFC_WD", "Ethernet0", "action"), '"Ethernet0"'),
        ("Ethernet0/qos/pfc_watchdog/priorities", ("PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable"), '"3"'),
        ("Ethernet0/qos/pfc_priorities", ("PORT_QOS_MAP", "Ethernet0"), '"Ethernet0"'),
        ("Ethernet0/qos/dscp_to_tc/26", ("DSCP_TO_TC_MAP", "AZURE", "26"), '"AZURE"'),
        ("Ethernet0/qos/dscp_to_tc/26", ("PORT_QOS_MAP", "Ethernet0", "dscp_to_tc_map"), '"Ethernet0"'),
        ("Ethernet0/qos/queues/3/wred/ecn_colors", ("WRED_PROFILE", "AZURE_LOSSLESS", "ecn"), '"AZURE_LOSSLESS"'),
        ("Ethernet0/qos/queues/3/wred/ecn_colors", ("WRED_PROFILE", "AZURE_LOSSLESS"), '"AZURE_LOSSLESS"'),
        ("Ethernet0/qos/queues/3/wred", ("QUEUE", "Ethernet0|3", "wred_profile"), '"Ethernet0|3"'),
        ("Ethernet0/qos/queues/3/scheduler", ("QUEUE", "Ethernet0|3"), '"Ethernet0|3"'),
        ("Ethernet0/qos/queues/3/buffer", ("BUFFER_QUEUE", "Ethernet0|3"), '"Ethernet0|3"'),
        ("Ethernet0/qos/priority_groups/3", ("BUFFER_PG", "Ethernet0|3"), '"Ethernet0"'),
        ("Ethernet0/fec", ("PORT", "Ethernet0", "fec"), '"Ethernet0"'),
        ("Ethernet0/cable_length_m", ("CABLE_LENGTH", "AZURE", "Ethernet0"), '"Ethernet0"'),
        ("Ethernet0", ("PORT",), '"Ethernet0"'),
        ("@watchdog_polling_ms", ("PFC_WD", "GLOBAL", "POLL_INTERVAL"), '"GLOBAL"'),
        ("@watchdog_polling_ms", ("PFC_WD",), '"leaf1"'),
        ("@buffer_pools/ingress_lossless", ("BUFFER_POOL", "ingress_lossless_pool"), '"BUFFER_POOL"'),
        ("@counters/PFCWD/enabled", ("FLEX_COUNTER_TABLE", "PFCWD"), '"FLEX_COUNTER_TABLE"'),
        ("@version", ("VERSIONS", "DATABASE", "VERSION"), '"DATABASE"'),
        ("@model", ("DEVICE_METADATA", "localhost", "hwsku"), '"localhost"'),
        ("@trimming", ("VERSIONS",), '"leaf1"'),
    ],
)
def test_a_missing_part_has_the_nearest_row_for_a_place(subject: str, missing: tuple[str, ...], text: str) -> None:
    texts = without(*missing)
    place = where(parse_subject(subject), texts)
    assert place is not None
    assert cut(place, texts) == text


ROUTED = """\
bgp as-path access-list OWN permit .*
router bgp 65001
 neighbor 10.0.0.1 remote-as 65003
 no bgp network import-check
 bgp bestpath as-path multipath-relax
 bgp bestpath compare-routerid
 redistribute connected
 neighbor 10.0.0.1 route-map A in
 neighbor 10.0.0.1 prefix-list A in
 neighbor 10.0.0.1 ebgp-multihop 7
 address-family ipv6
  redistribute connected route-map A
exit
router bgp 65100 vrf RED
 neighbor 10.0.0.1 remote-as 65002
 neighbor 10.0.0.1 update-source lo
 address-family ipv4
  network 10.0.0.0/8
  neighbor 10.0.0.1 prefix-list A out
"""


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("@bgp/as_path_lists/OWN", "bgp as-path access-list OWN permit .*"),
        ("@bgp/import_check", "no bgp network import-check"),
        ("@bgp/requires_policy", "router bgp 65001"),
        ("@bgp/compare_router_id", "bgp bestpath compare-routerid"),
        ("@bgp/redistributions/ipv4-connected", "redistribute connected"),
        ("@bgp/redistributions/ipv6-connected/policy", "redistribute connected route-map A"),
        ("@bgp/networks/0", "router bgp 65001"),
        ("@neighbors/10.0.0.1", "neighbor 10.0.0.1 remote-as 65003"),
        ("@neighbors/10.0.0.1/import_policy", "neighbor 10.0.0.1 route-map A in"),
        ("@neighbors/10.0.0.1/import_prefix_list", "neighbor 10.0.0.1 prefix-list A in"),
        ("@neighbors/10.0.0.1/export_prefix_list", "neighbor 10.0.0.1 remote-as 65003"),
        ("@neighbors/10.0.0.1/ebgp_multihop", "neighbor 10.0.0.1 ebgp-multihop 7"),
        ("@vrf_bgp/RED", "router bgp 65100 vrf RED"),
        ("@vrf_bgp/RED/asn", "router bgp 65100 vrf RED"),
        ("@vrf_bgp/RED/networks/0", "network 10.0.0.0/8"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1", "neighbor 10.0.0.1 remote-as 65002"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1/update_source", "neighbor 10.0.0.1 update-source lo"),
        ("@vrf_bgp/RED/neighbors/10.0.0.1/export_prefix_list", "neighbor 10.0.0.1 prefix-list A out"),
        ("@vrf_bgp/RED/as_path_lists/OWN", "bgp as-path access-list OWN permit .*"),
    ],
)
def test_the_command_of_routing_in_several_vrfs(subject: str, text: str) -> None:
    texts = {"frr.conf": ROUTED}
    place = where(parse_subject(subject), texts)
    assert place is not None
    assert cut(place, texts) == text


def test_routing_without_its_command_or_file_has_a_place() -> None:
    (absent,) = [where(parse_subject("@neighbors/192.0.2.1/bfd"))]
    assert absent is not None
    assert cut(absent).startswith("router bgp ")
    neighbor = device().bgp.neighbors[0]
    (unset,) = [where(("@neighbors", neighbor.address, "bfd"))]
    assert unset is not None
    assert cut(unset) == f"neighbor {neighbor.address} remote-as {neighbor.remote_asn}"
    alone = {"config_db.json": files()["config_db.json"]}
    place = where(parse_subject("@bgp/router_id"), alone)
    assert place is not None
    assert cut(place, alone) == f'"{device().bgp.asn}"'
    assert where(parse_subject("Ethernet0"), {"frr.conf": files()["frr.conf"]}) is None
    assert where(parse_subject("@bgp"), {"config_db.json": "{", "frr.conf": files()["frr.conf"]}) is not None
    assert where(parse_subject("Ethernet0"), {"config_db.json": "[]"}) is None


@pytest.mark.parametrize("key", ["Ethernet0,Ethernet4|2-4", "Ethernet4,Ethernet0|3"])
def test_ranges_and_port_lists_are_found(key: str) -> None:
    texts = {"config_db.json": json.dumps({"QUEUE": {"Ethernet0|0": {}, key: {"scheduler": "s"}}})}
    place = where(parse_subject("Ethernet0/qos/queues/3"), texts)
    assert place is not None
    assert cut(place, texts) == f'"{key}"'
    place = where(parse_subject("Ethernet0/qos/queues/3/scheduler"), texts)
    assert place is not None
    assert cut(place, texts) == '"s"'


def test_every_fact_of_a_device_has_a_place() -> None:
    for path, _ in random_values.fields(device()):
        name = random_values.named(device(), path)
        assert where(subject_of(name)) is not None, name


LAYOUTS = {
    "minified": lambda data: json.dumps(data, separators=(",", ":")),
    "by tabs": lambda data: json.dumps(data, indent="\t"),
    "keys sorted": lambda data: json.dumps(data, indent=2, sort_keys=True),
    "keys turned round": lambda data: json.dumps(turned(data), indent=1),
    "with CR LF": lambda data: json.dumps(data, indent=4).replace("\n", "\r\n"),
    "with a byte order mark": lambda data: "\ufeff" + json.dumps(data),
    "spaced": lambda data: json.dumps(data, separators=(" , ", " : ")),
}


def turned(data: Any) -> Any:
    """Tables and fields in the other order; rows of addresses keep theirs, which is the order of addresses."""
    rows = {table: dict(reversed(row.items())) for table, row in reversed(data.items())}
    for table in ("INTERFACE", "LOOPBACK_INTERFACE", "MGMT_INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE"):
        rows[table] = data[table]
    return {
        table: {key: dict(reversed(row.items())) if isinstance(row, dict) else row for key, row in own.items()}
        for table, own in rows.items()
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_and_order_of_keys_mean_nothing(layout: str) -> None:
    texts = files() | {"config_db.json": LAYOUTS[layout](json.loads(files()["config_db.json"]))}
    assert list(differences(device(), read(texts))) == []
    for subject in ("Ethernet0/mtu_bytes", "Ethernet0/qos/dscp_to_tc/26", "@buffer_pools/ingress_lossless/percentage"):
        place, before = where(parse_subject(subject), texts), where(parse_subject(subject))
        assert place is not None
        assert before is not None
        assert cut(place, texts) == cut(before)
