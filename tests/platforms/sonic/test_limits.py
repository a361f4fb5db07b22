"""What SONiC and FRR cannot be told is refused with the model path and the reason; what they can is written."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import nodrop
from nodrop import collect, platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.compare import differences, mask_unsupported_fields
from nodrop.model.fabric import Counter, Device, Loopback, Management, Port, Trimming
from nodrop.model.index import Index
from nodrop.model.qos import PfcWatchdog, PriorityGroup, Queue, Scheduler, WredColor, WredProfile
from nodrop.model.routing import (
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import UNKNOWN
from nodrop.platforms import unsupported_paths
from nodrop.resources import resource_folder
from support import random_values
from support.random_fabrics import alone


@cache
def leaf() -> Device:
    return nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml")).device("leaf1")


def changed(where: str, value: Any) -> Device:
    """The leaf with another value at a path of attributes and positions."""
    path = tuple(int(step) if step.isdecimal() else step for step in where.split("/"))
    return random_values.replaced(leaf(), path, value)


def write(device: Device) -> Any:
    return platforms.writer_of_platform("sonic").write(device, Index(alone(device)))


QOS = "interfaces/0/qos"
LOSSY = BufferProfile(pool="ingress_lossy", size_bytes=0, dynamic_th=3)
COMPUTED = Headroom(xoff_bytes=1, xon_bytes=1, computed=True)
RULE = PrefixRule(sequence=5, action="permit", prefix="any")
MAP_RULE = RouteMapRule(sequence=5, action="permit")
PEER = BgpNeighbor(address="10.0.0.1", remote_asn=1)
POOL = BufferPool(name="a", direction="ingress", mode="dynamic", size_bytes=1)
WRED = WredProfile(ecn_colors=("red", "green"), green=WredColor(), yellow=WredColor(), red=WredColor())
ORDER = "are not in the order in which they would be read back"
NO_VRF = "blue does not begin with Vrf, as VRFs of SONiC do"
WORD = "is not a word that a configuration takes unquoted"
DIGITS = "has more than 18 digits"
ONE_END = "a neighbor is an address or an interface, and not both"
VERSIONS = "is not written; what is: 202305, 202311, 202405, 202411, 202505, 202511, 202605"
NO_COMMUNITY = "a rule names a community, and a list has a rule"
NOT_COMPUTED = "only the dynamic buffer model computes headroom"
THRICE = f"{QOS}/priority_groups/3/buffer/headroom/computed"
NO_MTU = "a port has one: without a field it is the switch's default"
NO_SIZE = "only the dynamic buffer model computes a pool's size"
HALF = "has half of a character, which no file can hold"
NO_ENTRY = "SONiC has a map without an entry since 202605, and this is 202505"
NO_RULES = "a list without rules is no list"
SPEEDS = "are not one or more speeds, the slowest first, each once"
CONNECTED = Redistribution(source="connected")
PEER_ASN = "bgp/neighbors/10.0.0.1/remote_asn"
PRIORITIES = "are not priorities from 0 to 7 in order"
REFUSED = [
    # where, value, path, reason
    ("platform", "nvue", "platform", "nvue is not sonic"),
    ("name", "-a", "name", "-a is no hostname"),
    ("name", "a" * 64, "name", f"{'a' * 64} is no hostname"),
    ("name", "a b", "name", f"'a b' {WORD}"),
    ("mac", "", "mac", f"'' {WORD}"),
    (
        "hwsku",
        "Mellanox-SN4700-O128",
        "hwsku",
        "Mellanox-SN4700-O128 is none of the other SKUs of SN4700: Mellanox-SN4700-A96C8V8, Mellanox-SN4700-C128, "
        "Mellanox-SN4700-O28, Mellanox-SN4700-O32, Mellanox-SN4700-O8C48, Mellanox-SN4700-O8V48, "
        "Mellanox-SN4700-V48C32, Mellanox-SN4700-V64",
    ),
    ("model", "SN9999", "model", "SN9999 is not in the catalogue, so the names of its ports are unknown"),
    ("role", "border", "role", "border has no DEVICE_METADATA.type; known: leaf, spine, superspine"),
    ("hash_seed", 10, "hash_seed", "ToRRouter has seed 0"),
    ("hash_seed", None, "hash_seed", "ToRRouter has seed 0"),
    ("version", "master", "version", VERSIONS),
    ("version", "2025050", "version", VERSIONS),
    ("version", None, "version", VERSIONS),
    ("buffer_model", None, "buffer_model", "a switch has one: without a field it is traditional"),
    ("interfaces", (), "interfaces", "a configuration without ports is taken for a part of one"),
    ("bgp", None, "static_routes", "are written into frr.conf, which a device without BGP does not have"),
    ("bgp", UNKNOWN, "bgp", "is unknown, and a configuration cannot say so"),
    ("trimming", Trimming(size_bytes=1, dscp=1, tc=1, queue=None), "trimming/queue", "trimming needs a queue"),
    ("adaptive_routing", True, "adaptive_routing", "SONiC has no adaptive routing"),
    ("weighs_utilization", True, "weighs_utilization", "SONiC has no adaptive routing"),
    ("interfaces/0/macsec", True, "interfaces/0/macsec", "a profile of MACsec holds keys, which are not written"),
    ("interfaces/0/advertised_speeds_mbps", (), "interfaces/0/advertised_speeds_mbps", SPEEDS),
    ("interfaces/0/advertised_speeds_mbps", (2, 1), "interfaces/0/advertised_speeds_mbps", SPEEDS),
    ("interfaces/0/advertised_speeds_mbps", (1, 1), "interfaces/0/advertised_speeds_mbps", SPEEDS),
    ("interfaces/0/advertised_speeds_mbps", (0, 1), "interfaces/0/advertised_speeds_mbps", SPEEDS),
    ("interfaces/0/adaptive_routing", True, "interfaces/0/adaptive_routing", "SONiC has no adaptive routing"),
    (
        "interfaces/0/utilization_threshold_percent",
        0,
        "interfaces/0/utilization_threshold_percent",
        "SONiC has no adaptive routing",
    ),
    ("switch_dscp_to_tc", (1, 2), "switch_dscp_to_tc", "has 2 entries; SONiC's map has 64"),
    ("watchdog_polling_ms", 10**18, "watchdog_polling_ms", DIGITS),
    ("watchdog_polling_ms", -(10**18), "watchdog_polling_ms", DIGITS),
    (
        "management",
        Management(interface="eth0", addresses=(), gateway=None, own_vrf=True),
        "management/addresses",
        "the management port has no row without an address",
    ),
    (
        "management",
        Management(interface="eth0", addresses=("a", "b", "a"), gateway=None, own_vrf=True),
        "management/addresses",
        "a is there twice",
    ),
    (
        "management",
        Management(interface="eth|0", addresses=("a",), gateway=None, own_vrf=True),
        "management/interface",
        f"'eth|0' {WORD}",
    ),
    ("loopbacks/0/vrf", "blue", "loopbacks/Loopback0/vrf", NO_VRF),
    ("loopbacks/0/addresses", ("a", "a"), "loopbacks/Loopback0/addresses", "a is there twice"),
    ("loopbacks", (Loopback(name="b", addresses=()), Loopback(name="a", addresses=())), "loopbacks", ORDER),
    ("loopbacks", (Loopback(name="b", addresses=()),) * 2, "loopbacks", "b is there twice"),
    ("counters", (Counter(group="b", enabled=True), Counter(group="a", enabled=True)), "counters", ORDER),
    ("ntp_servers", ("b", "a"), "ntp_servers", ORDER),
    ("ntp_servers", ("a", "a"), "ntp_servers", "a is there twice"),
    ("syslog_servers", ("b", "a"), "syslog_servers", ORDER),
    ("dns_servers", ("ntp.example",), "dns_servers/0", "ntp.example is not an address"),
    ("syslog_servers", ('"',), "syslog_servers/0", f"'\"' {WORD}"),
    ("buffer_pools", (replace(POOL, name="b"), POOL), "buffer_pools", ORDER),
    ("buffer_pools", (POOL, POOL), "buffer_pools", "a is there twice"),
    (
        "buffer_pools/1",
        replace(POOL, name="egress_lossy", size_bytes=None),
        "buffer_pools/egress_lossy/size_bytes",
        "the dynamic buffer model computes a size that is not stated",
    ),
    ("buffer_model", "traditional", "buffer_pools/egress_lossy", NO_SIZE),
    ("buffer_pools/1/size_bytes", 7, "buffer_pools/egress_lossy/size_bytes", "the switch computes {egress_lossy}"),
    ("dynamic_buffers", None, THRICE, NOT_COMPUTED),
    ("interfaces", "reversed", "interfaces", ORDER),
    ("interfaces", "doubled", "interfaces", "Ethernet0 is there twice"),
    ("interfaces/0/port", None, "interfaces/0/port", "SN4700 has no such port in SONiC"),
    ("interfaces/0/port", Port(33), "interfaces/0/port", "SN4700 has no such port in SONiC"),
    ("interfaces/0/port", Port(1, 4), "interfaces/0/port", "SN4700 has no such port in SONiC"),
    ("interfaces/0/port", Port(1, 2), "interfaces/0/lanes", "that port of SN4700 can have 2; others are not written"),
    ("interfaces/0/port", UNKNOWN, "interfaces/0/port", "is unknown, and a configuration cannot say so"),
    ("interfaces/0/port", Port(2), "interfaces/0/name", "port 2 of SN4700 has another name in SONiC"),
    ("interfaces/0/lanes", 1, "interfaces/0/lanes", "that port of SN4700 can have 8, 4, 2; others are not written"),
    ("interfaces/0/lanes", None, "interfaces/0/lanes", "that port of SN4700 can have 8, 4, 2; others are not written"),
    ("interfaces/0/mtu_bytes", None, "interfaces/0/mtu_bytes", NO_MTU),
    ("interfaces/0/vrf", "blue", "interfaces/0/vrf", NO_VRF),
    ("interfaces/0/cable_length_m", -1, "interfaces/0/cable_length_m", "is no length of a cable"),
    ("interfaces/0/cable_length_m", 10**6, "interfaces/0/cable_length_m", "is no length of a cable"),
    ("interfaces/0/addresses", ("a", "a"), "interfaces/0/addresses", "a is there twice"),
    ("interfaces/0/addresses", ("",), "interfaces/0/addresses/0", f"'' {WORD}"),
    ("interfaces/0/description", "\ud800", "interfaces/0/description", HALF),
    (f"{QOS}/trust", "pcp", f"{QOS}/trust", "a SONiC port with these maps trusts dscp"),
    (f"{QOS}/dscp_to_tc", None, f"{QOS}/trust", "a SONiC port with these maps trusts None"),
    (f"{QOS}/dscp_to_tc", (1,), f"{QOS}/dscp_to_tc", "has 1 entries; SONiC's map has 64"),
    (f"{QOS}/dscp_to_tc", (None,) * 64, f"{QOS}/dscp_to_tc", NO_ENTRY),
    ("switch_dscp_to_tc", (None,) * 64, "switch_dscp_to_tc", NO_ENTRY),
    (f"{QOS}/pfc_tx_priorities", (4, 3), f"{QOS}/pfc_tx_priorities", PRIORITIES),
    (f"{QOS}/pfc_tx_priorities", (8,), f"{QOS}/pfc_tx_priorities", PRIORITIES),
    (f"{QOS}/pfc_tx_priorities", (-1,), f"{QOS}/pfc_tx_priorities", PRIORITIES),
    (f"{QOS}/pfc_tx_priorities", (3, 3), f"{QOS}/pfc_tx_priorities", PRIORITIES),
    (
        f"{QOS}/pfc_rx_priorities",
        (4,),
        f"{QOS}/pfc_rx_priorities",
        "PFC is symmetric, or receives on all eight priorities",
    ),
    (f"{QOS}/pfc_watchdog/priorities", (9,), f"{QOS}/pfc_watchdog/priorities", PRIORITIES),
    (
        f"{QOS}/queues",
        (Queue(index=10, scheduler=Scheduler(type="strict")),),
        f"{QOS}/queues",
        "are not numbered from 0 to 9 in order, each once",
    ),
    (
        f"{QOS}/queues",
        (Queue(index=1, scheduler=Scheduler(type="strict")),) * 2,
        f"{QOS}/queues",
        "are not numbered from 0 to 9 in order, each once",
    ),
    (
        f"{QOS}/queues",
        (Queue(index=1),),
        f"{QOS}/queues/1",
        "a queue without scheduler, WRED and buffer is no row",
    ),
    (
        f"{QOS}/queues",
        (Queue(index=1, wred=WRED),),
        f"{QOS}/queues/1/wred/ecn_colors",
        "are not colors in the order green, yellow, red",
    ),
    (
        f"{QOS}/queues",
        (Queue(index=1, wred=replace(WRED, ecn_colors=(), red=WredColor(max_percent=3))),),
        f"{QOS}/queues/1/wred",
        "SONiC's thresholds of marking are bytes",
    ),
    (
        f"{QOS}/queues",
        (Queue(index=1, buffer=replace(LOSSY, pool="x")),),
        f"{QOS}/queues/1/buffer/pool",
        "the switch has no pool x",
    ),
    (
        f"{QOS}/queues",
        (Queue(index=1, buffer=replace(LOSSY, headroom=COMPUTED)),),
        f"{QOS}/queues/1/buffer/headroom/computed",
        "only the headroom of a priority group is computed",
    ),
    (
        f"{QOS}/egress_buffers",
        (LOSSY, replace(LOSSY, pool="x")),
        f"{QOS}/egress_buffers/1/pool",
        "the switch has no pool x",
    ),
    (
        f"{QOS}/ingress_buffers",
        (replace(LOSSY, headroom=COMPUTED),),
        f"{QOS}/ingress_buffers/0/headroom/computed",
        "only the headroom of a priority group is computed",
    ),
    (
        f"{QOS}/priority_groups",
        (PriorityGroup(index=8, buffer=LOSSY),),
        f"{QOS}/priority_groups",
        "are not numbered from 0 to 7 in order, each once",
    ),
    (
        f"{QOS}/priority_groups",
        (PriorityGroup(index=0),),
        f"{QOS}/priority_groups/0",
        "a priority group without a buffer is no row",
    ),
    (
        f"{QOS}/priority_groups",
        (PriorityGroup(index=0, buffer=replace(LOSSY, pool="x")),),
        f"{QOS}/priority_groups/0/buffer/pool",
        "the switch has no pool x",
    ),
    (
        f"{QOS}/priority_groups",
        (PriorityGroup(index=0, buffer=replace(LOSSY, headroom=COMPUTED)),),
        f"{QOS}/priority_groups/0/buffer",
        "a computed headroom takes pool and threshold from the switch's default",
    ),
    ("bgp/asn", 0, "bgp/asn", "is not from 1 to 4294967295"),
    ("bgp/asn", 2**32, "bgp/asn", "is not from 1 to 4294967295"),
    ("bgp/maximum_paths", 0, "bgp/maximum_paths", "is not from 1 to 514"),
    ("bgp/maximum_paths", 515, "bgp/maximum_paths", "is not from 1 to 514"),
    ("bgp/session_dscp", 64, "bgp/session_dscp", "is not from 0 to 63"),
    ("bgp/session_dscp", -1, "bgp/session_dscp", "is not from 0 to 63"),
    ("bgp/router_id", "", "bgp/router_id", f"'' {WORD}"),
    ("bgp/networks", ("fc00::/64", "10.0.0.0/8"), "bgp/networks", "those of IPv6 are written behind those of IPv4"),
    ("bgp/networks", ("10.0.0.0/8", "zn"), "bgp/networks", "zn is not a prefix"),
    ("bgp/networks", ("0",), "bgp/networks", "0 is not a prefix"),
    ("bgp/router_id", "zn", "bgp/router_id", "zn is not an address of IPv4"),
    ("bgp/router_id", "fc00::1", "bgp/router_id", "fc00::1 is not an address of IPv4"),
    ("static_routes", (StaticRoute(prefix="0", next_hop="blackhole"),), "static_routes/0/prefix", "0 is not a prefix"),
    (
        "bgp/prefix_lists/0/rules",
        (replace(RULE, prefix="0"),),
        "bgp/prefix_lists/FABRIC/rules/5/prefix",
        "0 is not a prefix",
    ),
    ("bgp/vrf", "RED", "bgp/vrf", "the process of another VRF is in `vrf_bgp`"),
    ("bgp/requires_policy", UNKNOWN, "bgp/requires_policy", "is unknown, and a configuration cannot say so"),
    ("bgp/redistributions", (CONNECTED, CONNECTED), "bgp/redistributions", "ipv4-connected is there twice"),
    ("bgp/redistributions", (replace(CONNECTED, family="ipv6"), CONNECTED), "bgp/redistributions", ORDER),
    (
        "bgp/redistributions",
        (replace(CONNECTED, policy="a b"),),
        "bgp/redistributions/ipv4-connected/policy",
        f"'a b' {WORD}",
    ),
    (
        "bgp/as_path_lists",
        (AsPathList(name="A", rules=(("permit", "rm -rf"),)),),
        "bgp/as_path_lists/A/rules",
        "'rm -rf' is no expression of AS paths",
    ),
    ("bgp/as_path_lists", (AsPathList(name="A", rules=()),), "bgp/as_path_lists/A/rules", NO_RULES),
    (
        "bgp/as_path_lists",
        (AsPathList(name="a b", rules=(("permit", "1"),)),),
        "bgp/as_path_lists/a b/name",
        f"'a b' {WORD}",
    ),
    (
        "bgp/neighbors",
        (replace(PEER, ebgp_multihop=0),),
        "bgp/neighbors/10.0.0.1/ebgp_multihop",
        "is not from 1 to 255",
    ),
    (
        "bgp/neighbors",
        (BgpNeighbor(interface="Ethernet0", remote_asn="external", ebgp_multihop=2),),
        "bgp/neighbors/Ethernet0/ebgp_multihop",
        "a session over an interface is to the far end of its link",
    ),
    ("vrf_bgp", UNKNOWN, "vrf_bgp", "is unknown, and a configuration cannot say so"),
    ("vrf_bgp", (Bgp(asn=1),), "vrf_bgp/default", "the process of the default VRF is `bgp`"),
    ("vrf_bgp", (Bgp(asn=1, vrf="RED", session_dscp=1),), "vrf_bgp/RED/session_dscp", "FRR has this once for all VRFs"),
    ("vrf_bgp", (Bgp(asn=1, vrf="B"), Bgp(asn=1, vrf="A")), "vrf_bgp", ORDER),
    ("vrf_bgp", (Bgp(asn=1, vrf="a b"),), "vrf_bgp/a b/vrf", f"'a b' {WORD}"),
    ("bgp/maximum_paths_ipv6", 0, "bgp/maximum_paths_ipv6", "is not from 1 to 514"),
    (
        "bgp/neighbors",
        (BgpNeighbor(address="10.0.0.1", remote_asn=1, ipv6=Ipv6Unicast(allowas_in=11)),),
        "bgp/neighbors/10.0.0.1/ipv6/allowas_in",
        "is not from 1 to 10",
    ),
    (
        "bgp/neighbors",
        (BgpNeighbor(interface="Ethernet0", remote_asn="external", extended_next_hop=True),),
        "bgp/neighbors/Ethernet0/extended_next_hop",
        "a session over an interface has it by itself",
    ),
    ("bgp/neighbors", UNKNOWN, "bgp/neighbors", "is unknown, and a configuration cannot say so"),
    ("bgp/neighbors", (PEER, PEER), "bgp/neighbors", "10.0.0.1 is there twice"),
    ("bgp/neighbors", (replace(PEER, remote_asn=None),), PEER_ASN, "a neighbor is made by its AS"),
    ("bgp/neighbors", (replace(PEER, remote_asn=0),), PEER_ASN, "is not from 1 to 4294967295"),
    (
        "bgp/neighbors",
        (replace(PEER, interface="Ethernet0"),),
        "bgp/neighbors/10.0.0.1",
        ONE_END,
    ),
    ("bgp/neighbors", (replace(PEER, address=None),), "bgp/neighbors/", ONE_END),
    ("bgp/neighbors", (replace(PEER, address="Eth"),), "bgp/neighbors/Eth/address", "FRR takes Eth for something else"),
    ("bgp/neighbors", (replace(PEER, address="0"),), "bgp/neighbors/0/address", "0 is not an address"),
    ("bgp/neighbors", (replace(PEER, address="a:b"),), "bgp/neighbors/a:b/address", "a:b is not an address"),
    (
        "bgp/neighbors",
        (replace(PEER, address=None, interface="1.2"),),
        "bgp/neighbors/1.2/interface",
        "FRR takes 1.2 for something else",
    ),
    ("bgp/neighbors", (replace(PEER, allowas_in=11),), "bgp/neighbors/10.0.0.1/allowas_in", "is not from 1 to 10"),
    ("bgp/neighbors", (replace(PEER, allowas_in=0),), "bgp/neighbors/10.0.0.1/allowas_in", "is not from 1 to 10"),
    (
        "bgp/neighbors",
        (replace(PEER, description="a  b"),),
        "bgp/neighbors/10.0.0.1/description",
        "'a  b' is not one line of words one space apart",
    ),
    (
        "bgp/neighbors",
        (replace(PEER, description=""),),
        "bgp/neighbors/10.0.0.1/description",
        "'' is not one line of words one space apart",
    ),
    (
        "bgp/neighbors",
        (replace(PEER, description="a\x7f"),),
        "bgp/neighbors/10.0.0.1/description",
        "'a\\x7f' is not one line of words one space apart",
    ),
    ("bgp/neighbors", (replace(PEER, import_policy="a b"),), "bgp/neighbors/10.0.0.1/import_policy", f"'a b' {WORD}"),
    ("bgp/prefix_lists/0/rules", (), "bgp/prefix_lists/FABRIC/rules", NO_RULES),
    (
        "bgp/prefix_lists",
        tuple(PrefixList(name="a", family=family, rules=(RULE,)) for family in ("ipv6", "ipv4")),
        "bgp/prefix_lists",
        ORDER,
    ),
    (
        "bgp/prefix_lists",
        (PrefixList(name="a", family="ipv4", rules=(RULE,)),) * 2,
        "bgp/prefix_lists",
        "a is there twice",
    ),
    ("bgp/prefix_lists/0/rules", (RULE, RULE), "bgp/prefix_lists/FABRIC/rules", "5 is there twice"),
    ("bgp/prefix_lists/0/rules", (RULE, replace(RULE, sequence=4)), "bgp/prefix_lists/FABRIC/rules", ORDER),
    (
        "bgp/prefix_lists/0/rules",
        (replace(RULE, sequence=0),),
        "bgp/prefix_lists/FABRIC/rules/0/sequence",
        "is not from 1 to 4294967295",
    ),
    ("bgp/prefix_lists/0/rules", (replace(RULE, ge=33),), "bgp/prefix_lists/FABRIC/rules/5/ge", "is not from 0 to 32"),
    ("bgp/prefix_lists/0/rules", (replace(RULE, le=-1),), "bgp/prefix_lists/FABRIC/rules/5/le", "is not from 0 to 32"),
    (
        "bgp/community_lists/0/rules",
        (("permit", ()),),
        "bgp/community_lists/GSHUT/rules",
        NO_COMMUNITY,
    ),
    ("bgp/community_lists/0/rules", (), "bgp/community_lists/GSHUT/rules", NO_COMMUNITY),
    (
        "bgp/community_lists",
        (CommunityList(name="E", rules=(("permit", ("1:1", "2:2")),), expanded=True),),
        "bgp/community_lists/E/rules",
        "'1:1 2:2' is no expression of communities",
    ),
    (
        "bgp/community_lists",
        tuple(CommunityList(name=name, rules=(("permit", ("1:1",)),)) for name in "ba"),
        "bgp/community_lists",
        ORDER,
    ),
    ("bgp/route_maps/0/rules", (), "bgp/route_maps/FABRIC-IN/rules", "a route map without rules is no route map"),
    ("bgp/route_maps", tuple(RouteMap(name=name, rules=(MAP_RULE,)) for name in "ba"), "bgp/route_maps", ORDER),
    (
        "bgp/route_maps/0/rules",
        (replace(MAP_RULE, sequence=65536),),
        "bgp/route_maps/FABRIC-IN/rules/65536/sequence",
        "is not from 1 to 65535",
    ),
    (
        "bgp/route_maps/0/rules",
        (replace(MAP_RULE, matches=(("interface", "Ethernet0"), ("as-path", "A"), ("interface", "Ethernet4"))),),
        "bgp/route_maps/FABRIC-IN/rules/5/matches",
        "interface is there twice",
    ),
    (
        "bgp/route_maps/0/rules",
        (replace(MAP_RULE, matches=(("rpki", "valid"),)),),
        "bgp/route_maps/FABRIC-IN/rules/5/matches",
        "'rpki' is not one of ip address prefix-list, ip next-hop prefix-list, ipv6 address prefix-list, "
        "as-path, community, tag, interface, peer",
    ),
    (
        "bgp/route_maps/0/rules",
        (replace(MAP_RULE, sets=(("tag", ""),)),),
        "bgp/route_maps/FABRIC-IN/rules/5/sets",
        "'' is not one line of words one space apart",
    ),
    (
        "bgp/route_maps/0/rules",
        (replace(MAP_RULE, sets=(("on-match", "goto 5"),)),),
        "bgp/route_maps/FABRIC-IN/rules/5/sets",
        "'goto 5' is not next or goto and the number of a later rule",
    ),
    (
        "bgp/route_maps/0/rules",
        (replace(MAP_RULE, sets=(("call", "FABRIC-IN"),)),),
        "bgp/route_maps/FABRIC-IN/rules/5/sets",
        "a route map does not call itself",
    ),
    (
        "bgp/route_maps/0/rules",
        (replace(MAP_RULE, action="deny", sets=(("on-match", "next"),)),),
        "bgp/route_maps/FABRIC-IN/rules/5/sets",
        "a route that is denied goes nowhere",
    ),
    ("static_routes", (StaticRoute(prefix="a b", next_hop="c"),), "static_routes/a b/prefix", f"'a b' {WORD}"),
    ("static_routes", (StaticRoute(prefix="a/8", next_hop=""),), "static_routes/a%2F8/next_hop", f"'' {WORD}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "value", "path", "reason"), REFUSED, ids=[f"{row[0]}={row[1]!s:.30}" for row in REFUSED]
)
def test_refused(where: str, value: Any, path: str, reason: str) -> None:
    ports = leaf().interfaces
    if where == "interfaces" and isinstance(value, str):
        value = ports[::-1] if value == "reversed" else (ports[0], *ports)
    with pytest.raises(UnsupportedByPlatform) as caught:
        write(changed(where, value))
    sizes = {pool.name: pool.size_bytes for pool in leaf().buffer_pools}
    found = caught.value.path.replace("interfaces/Ethernet0", "interfaces/0")
    assert (found, caught.value.reason) == (path, reason.format(**sizes))
    assert str(caught.value) == f"{caught.value.path}: {caught.value.reason}"


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("name", "a" * 63),
        ("watchdog_polling_ms", 10**18 - 1),
        ("watchdog_polling_ms", 1 - 10**18),
        ("interfaces/0/cable_length_m", None),
        ("interfaces/0/description", "\x00\n\"\\é\u2028𝄞"),
        ("interfaces/0/fec", None),
        (f"{QOS}/pfc_watchdog", PfcWatchdog(priorities=(), detection_ms=None, restoration_ms=None, action=None)),
        (f"{QOS}/pfc_watchdog", PfcWatchdog(priorities=tuple(range(8)), detection_ms=0, restoration_ms=1, action=None)),
        (f"{QOS}/pfc_rx_priorities", tuple(range(8))),
        ("dynamic_buffers", DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=64, small_packet_percent=None)),
        ("bgp/asn", 2**32 - 1),
        ("bgp/maximum_paths", 514),
        ("bgp/maximum_paths", 1),
        ("bgp/session_dscp", 63),
        ("bgp/session_dscp", 0),
        ("bgp/prefix_lists/0/rules", (replace(RULE, sequence=1, ge=0, le=32),)),
        ("bgp/route_maps/0/rules", (replace(MAP_RULE, sequence=65535),)),
        ("bgp/neighbors", (replace(PEER, allowas_in=10), replace(PEER, address="10.0.0.0", allowas_in=1))),
        ("bgp/neighbors", (replace(PEER, remote_asn=2**32 - 1, description="!"), replace(PEER, address="::1"))),
        ("static_routes", (StaticRoute(prefix="::/0", next_hop="::1", vrf="a"),) * 2),
    ],
)  # fmt: skip
def test_written(where: str, value: Any) -> None:
    """The last values that can be said, and odd ones, come back as they were."""
    device = fill_in_computed_buffer_sizes(changed(where, value))
    (reading,) = collect.read_artifacts(write(device), {device.name: "sonic"}, "")
    assert list(differences(mask_unsupported_fields(device, unsupported_paths("sonic")), reading.device)) == []


@pytest.mark.parametrize("family", ["", "ipv6/"])
def test_clients_of_a_route_reflector_are_inside_its_as(family: str) -> None:
    where = f"bgp/neighbors/0/{family}reflector_client"
    with pytest.raises(UnsupportedByPlatform, match="only to clients inside the AS") as refused:
        write(changed(where, True))
    assert refused.value.path.endswith(f"{family}reflector_client")
    inside = random_values.replaced(changed(where, True), ("bgp", "neighbors", 0, "remote_asn"), "internal")
    assert "route-reflector-client" in "".join(artifact.text for artifact in write(inside))


def test_a_port_without_a_dscp_map_is_refused_beside_one_of_the_switch() -> None:
    """Whether such a port has the map of the switch is left open, so it would not come back as it was."""
    device = replace(changed(f"{QOS}/dscp_to_tc", None), switch_dscp_to_tc=leaf().interfaces[0].qos.dscp_to_tc)
    port = device.interfaces[0]
    ports = (replace(port, qos=replace(port.qos, trust=None)), *device.interfaces[1:])
    with pytest.raises(UnsupportedByPlatform) as caught:
        write(replace(device, interfaces=ports))
    assert str(caught.value).endswith("is left open where the switch has a map for all ports")
