"""What NVUE cannot say is refused, with the part of the model that is in the way and why; nothing is repaired."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nodrop.errors import UnsupportedByPlatform
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.fabric import Collector, Device, Loopback, Management, Trimming
from nodrop.model.index import Index
from nodrop.model.qos import COLORS, Queue, Scheduler, WredColor
from nodrop.model.routing import (
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.states import UNKNOWN
from nodrop.platforms.nvue import writer
from support.nvue_devices import as_nvue, fabric, split

Change = Callable[[Device], Device]
COMPUTED = BufferProfile(
    pool="egress_lossless",
    size_bytes=UNKNOWN,
    headroom=Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True),
)
"""What a priority group has whose headroom the switch works out."""


def leaf(version: str = "5.14") -> Device:
    return as_nvue(fabric().device("leaf1"), version)


def device(**fields: Any) -> Change:
    return lambda old: replace(old, **fields)


def port(**fields: Any) -> Change:
    """Another first port."""
    return lambda old: replace(old, interfaces=(replace(old.interfaces[0], **fields), *old.interfaces[1:]))


def qos(**fields: Any) -> Change:
    """Another QoS of all ports."""
    return lambda old: replace(
        old, interfaces=tuple(replace(one, qos=replace(_qos(one), **fields)) for one in old.interfaces)
    )


def first_qos(**fields: Any) -> Change:
    return lambda old: port(qos=replace(_qos(old.interfaces[0]), **fields))(old)


def _qos(interface: Any) -> Any:
    return interface.qos


def queue(index: int, **fields: Any) -> Change:
    """Another queue of all ports."""

    def change(old: Device) -> Device:
        queues = tuple(replace(one, **fields) if one.index == index else one for one in _qos(old.interfaces[0]).queues)
        return qos(queues=queues)(old)

    return change


def wred(**fields: Any) -> Change:
    """Another marking of queue 3."""

    def change(old: Device) -> Device:
        own = next(one.wred for one in _qos(old.interfaces[0]).queues if one.index == 3)
        return queue(3, wred=replace(own, **fields))(old)

    return change


def watchdog(**fields: Any) -> Change:
    return lambda old: qos(pfc_watchdog=replace(_qos(old.interfaces[0]).pfc_watchdog, **fields))(old)


def bgp(**fields: Any) -> Change:
    return lambda old: replace(old, bgp=replace(_bgp(old), **fields))


def _bgp(old: Device) -> Bgp:
    assert isinstance(old.bgp, Bgp)
    return old.bgp


def rule(**fields: Any) -> RouteMap:
    return RouteMap(name="X", rules=(RouteMapRule(sequence=10, action="permit", **fields),))


def pools(**percents: int) -> Change:
    """Other shares of pools, by name."""

    def change(old: Device) -> Device:
        own: Any = old.buffer_pools
        return replace(
            old, buffer_pools=tuple(replace(one, percentage=percents.get(one.name, one.percentage)) for one in own)
        )

    return change


HALF = (None, *range(1, 64))
Q = "interfaces/swp1/qos"
CASES: dict[str, tuple[Change, str, str]] = {
    "platform": (device(platform="sonic"), "platform", "sonic is not nvue"),
    "hostname": (device(name="leaf_1"), "name", "leaf_1 is no hostname of Cumulus Linux"),
    "model": (device(model="SN9999"), "model", "SN9999 is not in the catalogue, so the names of its ports are unknown"),
    "release": (device(version="5.8"), "version", "is written for 5.9 to 5.19"),
    "buffer model": (
        device(buffer_model="traditional"),
        "buffer_model",
        "NVUE computes headroom itself: its buffer model is dynamic",
    ),
    "routing in tables": (device(routing_tables=True), "routing_tables", "NVUE has no tables of routing"),
    "sessions that need policies": (
        bgp(requires_policy=True),
        "bgp/requires_policy",
        "NVUE has no setting for it: sessions pass routes without policies",
    ),
    "networks without routes": (
        bgp(import_check=False),
        "bgp/import_check",
        "NVUE has no setting for it: networks are announced if there is a route",
    ),
    "BGP of a VRF as that of the default one": (
        bgp(vrf="RED"),
        "bgp/vrf",
        "the process of another VRF is in `vrf_bgp`",
    ),
    "BGP of the default VRF among the others": (
        device(vrf_bgp=(Bgp(asn=1),)),
        "vrf_bgp/default",
        "the process of the default VRF is `bgp`",
    ),
    "a VRF drained by itself": (
        device(vrf_bgp=(Bgp(asn=1, vrf="RED", graceful_shutdown=True),)),
        "vrf_bgp/RED/prefix_lists",
        "NVUE has this once for all VRFs",
    ),
    "BGP in a VRF alone": (
        device(bgp=None, vrf_bgp=(Bgp(asn=1, vrf="RED"),)),
        "vrf_bgp",
        "need a BGP process in the default VRF, which is missing",
    ),
    "redistribution twice": (
        bgp(redistributions=(Redistribution(source="static"), Redistribution(source="static"))),
        "bgp/redistributions",
        "ipv4-static is there twice",
    ),
    "a list of AS paths without rules": (
        bgp(as_path_lists=(AsPathList(name="A", rules=()),)),
        "bgp/as_path_lists/A/rules",
        "a list without rules is no list",
    ),
    "loopback": (
        device(loopbacks=(Loopback(name="Loopback0", addresses=()),)),
        "loopbacks/Loopback0",
        "the only loopback of NVUE is lo",
    ),
    "management": (
        device(management=Management(interface="eth1", addresses=(), gateway=None, own_vrf=True)),
        "management/interface",
        "the management port of Cumulus Linux is eth0",
    ),
    "servers": (device(ntp_servers=("b", "a")), "ntp_servers", "are not in the order in which they would be read back"),
    "sku": (device(hwsku="Mellanox-SN5600-O128"), "hwsku", "NVUE has no field for SONiC's SKU"),
    "name server": (device(dns_servers=("ntp.example",)), "dns_servers/0", "ntp.example is not an address"),
    "router id": (bgp(router_id="leaf"), "bgp/router_id", "leaf is no IPv4 address"),
    "address": (port(addresses=("a/b",)), "interfaces/swp1/addresses", "a/b is no address"),
    "headroom of a queue": (
        queue(3, buffer=COMPUTED),
        "interfaces/swp1/qos/queues/3/buffer/headroom",
        "headroom is for what comes in, and a queue is on the way out",
    ),
    "hash seed": (device(hash_seed=2**32), "hash_seed", "is not from 0 to 4294967295"),
    "OTLP on a chip without it": (
        device(model="SN2700", otlp_collectors=(Collector(address="192.0.2.1", port=4317),)),
        "otlp_collectors",
        "Cumulus Linux sends nothing by OTLP on Spectrum-1",
    ),
    "both kinds of telemetry": (
        device(gnmi_port=9339, otlp_collectors=(Collector(address="192.0.2.1", port=4317),)),
        "otlp_collectors",
        "NVUE does not run gNMI and OTLP at the same time",
    ),
    "routing daemon": (
        device(extra_lines=("ip nht resolve-via-default",)),
        "extra_lines",
        "NVUE writes the routing daemon's configuration by itself",
    ),
    "DSCP of the switch": (
        device(switch_dscp_to_tc=(0,) * 64),
        "switch_dscp_to_tc",
        "NVUE maps DSCP by profiles of ports only",
    ),
    **{
        f"{way} buffers of a port": (
            first_qos(**{f"{way}_buffers": (BufferProfile(pool=f"{way}_lossy", size_bytes=0, dynamic_th=3),)}),
            f"interfaces/swp1/qos/{way}_buffers",
            "NVUE limits priority groups and queues, not ports",
        )
        for way in ("ingress", "egress")
    },
    "reserve of a queue": (
        queue(0, buffer=BufferProfile(pool="egress_lossy", size_bytes=1024, dynamic_th=3)),
        "interfaces/swp1/qos/queues/0/buffer/size_bytes",
        "a queue has no reserve by default in NVUE",
    ),
    "trimming": (
        device(trimming=Trimming(size_bytes=256, dscp=11, tc=4, queue=4)),
        "trimming",
        "SN4700 does not trim packets",
    ),
    "port name": (port(name="Ethernet0"), "interfaces/Ethernet0/name", "is not what NVUE calls that port"),
    "lanes": (port(lanes=4), "interfaces/swp1/lanes", "an unsplit port of SN4700 has 8; others are not written"),
    "speed": (port(speed_mbps=800_000), "interfaces/swp1/speed_mbps", "is no speed of SN4700, and NVUE states one"),
    "fec": (port(fec=None), "interfaces/swp1/fec", "a port has one in NVUE, `auto` unless it is said"),
    "autoneg": (port(autoneg=None), "interfaces/swp1/autoneg", "auto-negotiation of a port is on or off in NVUE"),
    "mtu": (port(mtu_bytes=9217), "interfaces/swp1/mtu_bytes", "is not from 552 to 9216"),
    "unknown": (port(enabled=UNKNOWN), "interfaces/swp1/enabled", "is unknown, and a configuration cannot say so"),
    "unknown port": (port(port=UNKNOWN), "interfaces/swp1/port", "is unknown, and a configuration cannot say so"),
    "apostrophe": (
        port(description="it's"),
        "interfaces/swp1/description",
        '"it\'s" has apostrophes or characters beyond ASCII, which Cumulus Linux does not take',
    ),
    "no qos": (port(qos=None), "interfaces/swp1/qos", "a port of an NVUE switch has the QoS of the switch"),
    "cable": (port(cable_length_m=None), "interfaces/swp1/cable_length_m", "PFC has a cable length"),
    "long cable": (port(cable_length_m=100_001), "interfaces/swp1/cable_length_m", "is not from 1 to 100000"),
    "pause and PFC": (
        port(link_pause=True),
        "interfaces/swp1/link_pause",
        "NVUE has PFC or link pause on a port, not both",
    ),
    "MACsec": (port(macsec=True), "interfaces/swp1/macsec", "NVUE has no setting for MACsec"),
    "half a map": (
        qos(dscp_to_tc=HALF),
        f"{Q}/dscp_to_tc",
        "has entries without a target; NVUE's map has one for each",
    ),
    "priority 8": (qos(dscp_to_tc=(8,) * 64), f"{Q}/dscp_to_tc", "8 is not from 0 to 7"),
    "map without trust": (qos(trust="pcp"), f"{Q}/dscp_to_tc", "a port that trusts pcp has none in NVUE"),
    "trust without map": (qos(trust="both"), f"{Q}/pcp_to_tc", "a port that trusts both has one in NVUE"),
    "classes": (
        qos(tc_to_queue=tuple(range(16))),
        f"{Q}/tc_to_queue",
        "NVUE gives each of its 8 switch priorities a queue",
    ),
    "other queues on one port": (
        first_qos(tc_to_queue=(0, 1, 2, 3, 4, 5, 6, 0, *(None,) * 8), pfc_to_queue=(0, 1, 2, 3, 4, 5, 6, 0)),
        "interfaces/swp2/qos/tc_to_queue",
        "NVUE has one for the switch, and swp1 has another",
    ),
    "pause one way and another": (
        qos(pfc_tx_priorities=(3, 4)),
        f"{Q}/pfc_rx_priorities",
        "a PFC profile obeys pauses of the priorities that it sends them for",
    ),
    "groups": (
        qos(tc_to_priority_group=(0,) * 16),
        f"{Q}/tc_to_priority_group",
        "follows from PFC in NVUE: (0, 0, 0, 3, 0, 0, 0, 0, None, None, None, None, None, None, None, None)",
    ),
    "empty queue": (
        queue(0, scheduler=None),
        f"{Q}/queues/0",
        "a queue without scheduler and marking is nowhere in NVUE",
    ),
    "wrr": (
        queue(0, scheduler=Scheduler(type="wrr", weight=15)),
        f"{Q}/queues/0/scheduler/type",
        "NVUE schedules by strict priority or DWRR",
    ),
    "shares": (
        queue(0, scheduler=Scheduler(type="dwrr", weight=16)),
        f"{Q}/queues",
        "have 101 % of the bandwidth together; NVUE takes no more than 100",
    ),
    "rate": (
        queue(6, scheduler=Scheduler(type="strict", peak_bytes_per_s=1_000_001)),
        f"{Q}/queues/6/scheduler/peak_bytes_per_s",
        "is no whole number of kb/s up to 2147483647, as NVUE's shaper takes",
    ),
    "burst": (
        queue(6, scheduler=Scheduler(type="strict", peak_bytes_per_s=125, peak_burst_bytes=1)),
        f"{Q}/queues/6/scheduler/peak_burst_bytes",
        "NVUE's shaper has rates only",
    ),
    "queue 8": (
        qos(queues=(Queue(index=8, scheduler=Scheduler(type="strict")),)),
        f"{Q}/queues",
        "are not numbered from 0 to 7 in order, each once",
    ),
    "one color": (
        wred(ecn_colors=("green",)),
        f"{Q}/queues/3/wred/ecn_colors",
        "NVUE marks packets of all colors or of none",
    ),
    "a flag of RED that is not there": (
        wred(**dict.fromkeys(COLORS, WredColor(min_bytes=1, max_bytes=2, probability_percent=100))),
        f"{Q}/queues/3/wred/green/enabled",
        "RED is on or off in NVUE",
    ),
    "no marking": (wred(ecn_colors=()), f"{Q}/queues/3/wred", "neither marks nor drops, and so is nothing in NVUE"),
    "restoration": (
        watchdog(restoration_ms=600),
        f"{Q}/pfc_watchdog/restoration_ms",
        "NVUE has a time of restoration since 5.19, and this is 5.14",
    ),
    "action": (watchdog(action="drop"), f"{Q}/pfc_watchdog/action", "NVUE has no choice of action"),
    "history": (watchdog(history=True), f"{Q}/pfc_watchdog/history", "NVUE estimates no history of pauses"),
    "detection": (
        watchdog(detection_ms=250),
        f"{Q}/pfc_watchdog/detection_ms",
        "is no multiple of the polling interval, 100 ms, up to 1000 times",
    ),
    "mask": (
        watchdog(priorities=(4,)),
        f"{Q}/pfc_watchdog/priorities",
        "NVUE watches the priorities on which a port obeys pauses, if there are any",
    ),
    "polling": (device(watchdog_polling_ms=None), "watchdog_polling_ms", "a switch that watches polls"),
    "pools": (
        pools(ingress_lossy=11, egress_lossy=11),
        "buffer_pools",
        "have more than all of the memory together",
    ),
    "an empty pool": (
        pools(ingress_lossy=0),
        "buffer_pools/ingress_lossy/percentage",
        "ingress_lossy has from 1 to 100 % of the memory in NVUE",
    ),
    "a separate pool": (
        device(buffer_pools=(BufferPool(name="x", direction="ingress", mode="dynamic", percentage=1, computed=True),)),
        "buffer_pools",
        "ingress_lossy has from 1 to 100 % of the memory in NVUE",
    ),
    "no settings of headroom": (device(dynamic_buffers=None), "dynamic_buffers", "headroom is computed from them"),
    "session dscp": (
        bgp(session_dscp=48),
        "bgp/session_dscp",
        "NVUE has no setting for the DSCP of BGP's own packets",
    ),
    "paths": (bgp(maximum_paths=129), "bgp/maximum_paths", "is not from 1 to 128"),
    "neighbors": (
        bgp(neighbors=(BgpNeighbor(address="10.0.0.3", remote_asn=1), BgpNeighbor(address="10.0.0.1", remote_asn=1))),
        "bgp/neighbors",
        "are not in the order in which they would be read back",
    ),
    "neighbor without an address": (
        bgp(neighbors=(BgpNeighbor(address="1.2", remote_asn=1),)),
        "bgp/neighbors/1.2/address",
        "1.2 is not an address",
    ),
    "neighbor on no port": (
        bgp(neighbors=(BgpNeighbor(interface="Ethernet0", remote_asn=1),)),
        "bgp/neighbors/Ethernet0/interface",
        "Ethernet0 is no port of the switch",
    ),
    "additive": (
        bgp(route_maps=(rule(sets=(("community", "65000:1 additive"),)),)),
        "bgp/route_maps/X/rules/10/sets",
        "communities that are added to those of a route are not written",
    ),
    "metric": (
        bgp(route_maps=(rule(sets=(("metric", "1"),)),)),
        "bgp/route_maps/X/rules/10/sets",
        "'metric' is not one of as-path prepend, community, extcommunity bandwidth, ip next-hop, local-preference, "
        "origin, src, tag, weight",
    ),
    "source of packets": (
        bgp(route_maps=(rule(sets=(("src", "10.0.0"),)),)),
        "bgp/route_maps/X/rules/10/sets",
        "'10.0.0' is no address",
    ),
    "reserved name": (
        bgp(community_lists=(CommunityList(name="any", rules=(("permit", ("no-export",)),)),)),
        "bgp/community_lists/any",
        "'any' is no name in NVUE",
    ),
    "expression of communities": (
        bgp(community_lists=(CommunityList(name="E", rules=(("permit", ("65000",)),), expanded=True),)),
        "bgp/community_lists/E/expanded",
        "NVUE has no expressions of communities",
    ),
    "family": (
        bgp(
            prefix_lists=(
                PrefixList(
                    name="X", family="ipv6", rules=(PrefixRule(sequence=1, action="permit", prefix="10.0.0.0/8"),)
                ),
            )
        ),
        "bgp/prefix_lists/X/rules/1/prefix",
        "10.0.0.0/8 is not ipv6",
    ),
    "next hop": (
        device(static_routes=(StaticRoute(prefix="10.9.0.0/16", next_hop="Ethernet0"),)),
        "static_routes/10.9.0.0%2F16/next_hop",
        "Ethernet0 is no port of the switch",
    ),
}


@pytest.mark.parametrize(("change", "path", "reason"), CASES.values(), ids=list(CASES))
def test_refused(change: Change, path: str, reason: str) -> None:
    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(change(leaf()), Index(fabric()))
    assert (error.value.path, error.value.reason) == (path, reason)


def test_what_is_written_is_not_refused() -> None:
    assert writer.write(leaf(), Index(fabric()))


def test_the_other_family_comes_second_since_the_two_stand_apart() -> None:
    change = port(addresses=("2001:db8::1/64", "10.0.0.0/31"))
    assert writer.write(change(leaf("5.14")), Index(fabric()))
    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(change(leaf("5.16")), Index(fabric()))
    assert error.value.path == "interfaces/swp1/addresses"


def test_a_part_of_a_port_without_the_others() -> None:
    whole = split(leaf(), "swp2", 2)
    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(
            replace(whole, interfaces=tuple(one for one in whole.interfaces if one.name != "swp2s1")), Index(fabric())
        )
    assert error.value.path == "interfaces/swp2s0/port"


def test_headroom_that_the_switch_does_not_work_out() -> None:
    change = port(cable_length_m=5)
    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(change(leaf()), Index(fabric()))
    assert error.value.path.startswith("buffer_pools/egress_lossy/size_bytes")


def test_two_detection_times() -> None:
    def change(old: Device) -> Device:
        own = replace(_qos(old.interfaces[0]).pfc_watchdog, detection_ms=500)
        return first_qos(pfc_watchdog=own)(old)

    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(change(leaf()), Index(fabric()))
    assert (error.value.path, error.value.reason) == (
        "interfaces/swp2/qos/pfc_watchdog/detection_ms",
        "a switch has one in NVUE, and swp1 has another",
    )


def test_trimming_on_a_switch_with_a_port_that_has_no_map() -> None:
    trims = device(trimming=Trimming(size_bytes=256, dscp=11, tc=5, queue=5))
    with pytest.raises(UnsupportedByPlatform) as error:
        writer.write(first_qos(tc_to_queue=())(trims(as_nvue(fabric("trim").device("leaf1")))), Index(fabric("trim")))
    assert error.value.path == "trimming/queue"
