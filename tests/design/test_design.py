"""From intents to fabrics: the reference fabric by value, and what other designs become."""

from collections import Counter
from typing import Any

import pytest

from nodrop import design
from nodrop.design.blocks import van_der_corput_slot
from nodrop.design.defaults import applied_defaults
from nodrop.design.endpoints import attachments_of_host_ports
from nodrop.design.topology import topology_of
from nodrop.design.watchdog import derive_watchdog_timers
from nodrop.engine.vocabulary.watchdog import exceeded_rdma_timeout
from nodrop.errors import InputProblems
from nodrop.model.buffers import BufferPool, DynamicBuffers, Headroom
from nodrop.model.fabric import End, Fabric, HostPort, Link, Port, Trimming
from nodrop.model.qos import COLORS, PfcWatchdog, QosProfile, Scheduler, WredColor, WredProfile
from nodrop.model.routing import BgpNeighbor, PrefixRule, StaticRoute
from nodrop.model.timeouts import QP_RETRANSMIT_TIMEOUT_MS, QP_RETRIES
from support.designs import Data, build, changed, links_between, load, port, shipped

REFERENCE = build(shipped("reference-256"))


def qos_of(fabric: Fabric, device: str, name: str) -> QosProfile:
    qos = port(fabric, device, name).qos
    assert isinstance(qos, QosProfile)
    return qos


def headroom(fabric: Fabric, device: str, name: str, priority: int = 3) -> Any:
    groups: Any = qos_of(fabric, device, name).priority_groups
    return next(group.buffer for group in groups if group.index == priority)


# --- the reference fabric by value


def test_the_reference_has_six_switches_and_every_port_is_used() -> None:
    assert [device.name for device in REFERENCE.devices] == ["leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"]
    for device in REFERENCE.devices:
        assert (device.platform, device.version, device.model) == ("sonic", "202505", "SN4700")
        assert [port.name for port in device.interfaces] == [f"Ethernet{8 * n}" for n in range(32)]
        assert all(port.enabled and (port.speed_mbps, port.lanes) == (400_000, 8) for port in device.interfaces)
        sides = Counter(port.side for port in device.interfaces)
        assert sides == ({"host": 16, "fabric": 16} if device.role == "leaf" else {"fabric": 32})


def test_the_reference_has_eight_links_between_any_leaf_and_spine() -> None:
    assert len(REFERENCE.links) == 128
    for leaf in range(1, 5):
        for spine in (1, 2):
            assert links_between(REFERENCE, f"leaf{leaf}", f"spine{spine}") == 8


def test_the_reference_has_two_leaves_to_every_server() -> None:
    assert [host.name for host in REFERENCE.hosts] == [f"gpu{number}" for number in range(1, 33)]
    for number, host in enumerate(REFERENCE.hosts):
        pair = ("leaf1", "leaf2") if number < 16 else ("leaf3", "leaf4")
        for nic, leaf in zip(host.ports, pair, strict=True):
            ends = (End(host.name, nic.name), End(leaf, f"Ethernet{8 * (number % 16)}"))
            assert Link(a=ends[0], b=ends[1], length_m=3, media="DR4") in REFERENCE.links
            assert port(REFERENCE, leaf, ends[1].port).description == f"{host.name}:{nic.name}"


def test_cables_of_the_reference() -> None:
    for leaf, spine, at_leaf, at_spine in (
        (1, 1, 128, 0),
        (1, 1, 184, 56),
        (1, 2, 192, 0),
        (2, 1, 128, 128),
        (3, 1, 128, 64),
        (4, 2, 248, 248),
    ):
        ends = (End(f"leaf{leaf}", f"Ethernet{at_leaf}"), End(f"spine{spine}", f"Ethernet{at_spine}"))
        assert Link(a=ends[0], b=ends[1], length_m=30, media="DR4") in REFERENCE.links
        assert port(REFERENCE, *ends[0]).description == f"spine{spine}:Ethernet{at_spine}"
        assert port(REFERENCE, *ends[1]).description == f"leaf{leaf}:Ethernet{at_leaf}"


@pytest.mark.parametrize(
    ("device", "loopback", "management", "asn"),
    [
        ("leaf1", "10.0.0.1/32", "192.168.100.1/24", 4_200_100_001),
        ("leaf4", "10.0.0.4/32", "192.168.100.4/24", 4_200_100_004),
        ("spine1", "10.0.64.1/32", "192.168.100.65/24", 4_200_000_000),
        ("spine2", "10.0.64.2/32", "192.168.100.66/24", 4_200_000_000),
    ],
)
def test_addresses_and_numbers_of_the_reference(device: str, loopback: str, management: str, asn: int) -> None:
    made: Any = REFERENCE.device(device)
    assert [(one.name, one.addresses) for one in made.loopbacks] == [("Loopback0", (loopback,))]
    assert (made.management.interface, made.management.addresses) == ("eth0", (management,))
    assert (made.management.gateway, made.management.own_vrf) == ("192.168.100.254", True)
    assert (made.bgp.asn, made.bgp.router_id) == (asn, loopback.removesuffix("/32"))


@pytest.mark.parametrize(
    ("device", "name", "address"),
    [
        ("leaf1", "Ethernet0", "10.2.1.0/31"),
        ("leaf1", "Ethernet8", "10.2.1.8/31"),
        ("leaf4", "Ethernet120", "10.2.4.120/31"),
        ("leaf1", "Ethernet128", "10.1.1.128/31"),
        ("spine1", "Ethernet0", "10.1.1.129/31"),
        ("leaf1", "Ethernet192", "10.1.1.192/31"),
        ("spine2", "Ethernet0", "10.1.1.193/31"),
        ("leaf4", "Ethernet248", "10.1.4.248/31"),
        ("spine2", "Ethernet248", "10.1.4.249/31"),
    ],
)
def test_addresses_of_the_references_ports(device: str, name: str, address: str) -> None:
    assert port(REFERENCE, device, name).addresses == (address,)


def test_hosts_of_the_reference() -> None:
    host = REFERENCE.hosts[31]
    assert (host.name, host.group, host.gpus, host.nic) == ("gpu32", "gpu", 8, "ConnectX-7")
    assert host.ports == (
        HostPort(name="nic1", speed_mbps=400_000, lanes=4, addresses=("10.2.3.121/31",)),
        HostPort(name="nic2", speed_mbps=400_000, lanes=4, addresses=("10.2.4.121/31",)),
    )
    assert (host.tos, host.cnp_dscp, host.trust, host.pfc_priorities) == (106, 48, "dscp", (3,))
    assert (host.dcqcn, host.rdma_mtu_bytes) == (True, 4096)


def test_ports_of_the_reference() -> None:
    for device, name, length in (("leaf1", "Ethernet0", 3), ("leaf1", "Ethernet128", 30), ("spine1", "Ethernet0", 30)):
        one = port(REFERENCE, device, name)
        assert (one.fec, one.autoneg, one.mtu_bytes, one.cable_length_m) == ("rs", None, 9216, length)


def test_maps_of_the_reference() -> None:
    ends = [(device.name, one.name) for device in REFERENCE.devices for one in device.interfaces]
    classes = {10: 2, 16: 1, 26: 3, 48: 6, 56: 7}
    assert {qos_of(REFERENCE, *end).dscp_to_tc for end in ends} == {tuple(classes.get(dscp, 0) for dscp in range(64))}
    qos = qos_of(REFERENCE, "leaf1", "Ethernet0")
    assert qos.tc_to_queue == (0, 1, 2, 3, 4, 5, 6, 7, *[None] * 8)
    assert qos.tc_to_priority_group == (0, 0, 0, 3, 0, 0, 0, 0, *[None] * 8)
    assert qos.pfc_to_queue == (0, 1, 2, 3, 4, 5, 6, 7)
    assert qos.pfc_to_priority_group == (None, None, None, 3, None, None, None, None)
    assert (qos.trust, qos.pfc_rx_priorities, qos.pfc_tx_priorities) == ("dscp", (3,), (3,))


def test_queues_of_the_reference() -> None:
    queues: Any = qos_of(REFERENCE, "leaf1", "Ethernet0").queues
    assert {queue.index: queue.scheduler for queue in queues} == {
        0: Scheduler(type="dwrr", weight=15),
        1: Scheduler(type="dwrr", weight=5),
        2: Scheduler(type="dwrr", weight=20),
        3: Scheduler(type="dwrr", weight=60),
        6: Scheduler(type="strict", guaranteed_bytes_per_s=2_500_000_000, peak_bytes_per_s=2_500_000_000),
        7: Scheduler(type="strict"),
    }
    color = WredColor(min_bytes=150_000, max_bytes=1_500_000, probability_percent=100, enabled=True)
    marking = WredProfile(ecn_colors=COLORS, green=color, yellow=color, red=color)
    assert {queue.index: queue.wred for queue in queues if queue.wred} == {3: marking}


def test_watchdogs_of_the_reference() -> None:
    hosts = PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=400, action="drop")
    fabric = PfcWatchdog(priorities=(3,), detection_ms=600, restoration_ms=1200, action="drop")
    for device in REFERENCE.devices:
        assert device.watchdog_polling_ms == 100
        for one in device.interfaces:
            assert qos_of(REFERENCE, device.name, one.name).pfc_watchdog == (hosts if one.side == "host" else fabric)
    assert (REFERENCE.policy.host_watchdog, REFERENCE.policy.fabric_watchdog) == (hosts, fabric)


@pytest.mark.parametrize(
    ("device", "name", "xoff", "size"),
    [
        ("leaf1", "Ethernet0", 87_040, 135_168),
        ("leaf4", "Ethernet248", 104_448, 152_576),
        ("spine2", "Ethernet0", 104_448, 152_576),
    ],
)
def test_headroom_of_the_reference(device: str, name: str, xoff: int, size: int) -> None:
    made = headroom(REFERENCE, device, name)
    assert (made.pool, made.size_bytes, made.dynamic_th) == ("ingress_lossless", size, 0)
    assert made.headroom == Headroom(xoff_bytes=xoff, xon_bytes=38_912, computed=True)


@pytest.mark.parametrize(
    ("device", "lossless", "lossy"), [("leaf1", 47_082_687, 5_231_410), ("spine1", 46_832_012, 5_203_557)]
)
def test_pools_of_the_reference(device: str, lossless: int, lossy: int) -> None:
    computed: Any = {"mode": "dynamic", "computed": True}
    assert REFERENCE.device(device).buffer_pools == (
        BufferPool(name="egress_lossless", direction="egress", mode="dynamic", size_bytes=60_817_392),
        BufferPool(name="egress_lossy", direction="egress", size_bytes=lossy, percentage=10, **computed),
        BufferPool(name="ingress_lossless", direction="ingress", size_bytes=lossless, percentage=90, **computed),
        BufferPool(name="ingress_lossy", direction="ingress", size_bytes=lossy, percentage=10, **computed),
    )
    settings = DynamicBuffers(dynamic_th=0, pattern_mtu_bytes=1024, small_packet_percent=50)
    assert REFERENCE.device(device).dynamic_buffers == settings


def test_routing_of_the_reference() -> None:
    leaf, spine = REFERENCE.device("leaf1"), REFERENCE.device("spine2")
    down, up = leaf.bgp, spine.bgp
    assert down
    assert up
    assert (down.networks, up.networks) == (("10.0.0.1/32", "10.2.1.0/24"), ("10.0.64.2/32",))
    assert leaf.static_routes == (StaticRoute(prefix="10.2.1.0/24", next_hop="blackhole"),)
    assert spine.static_routes == ()
    assert (down.maximum_paths, up.maximum_paths, down.session_dscp) == (32, 32, 56)
    policies = {"import_policy": "FABRIC-IN", "export_policy": "FABRIC-OUT"}
    first = BgpNeighbor(address="10.1.1.129", remote_asn=4_200_000_000, description="spine1 port 1", **policies)
    assert (down.neighbors[0], len(down.neighbors)) == (first, 16)
    last = BgpNeighbor(address="10.1.4.248", remote_asn=4_200_100_004, description="leaf4 port 32", **policies)
    assert (up.neighbors[-1], len(up.neighbors)) == (last, 32)
    fabric = (
        PrefixRule(sequence=10, action="permit", prefix="10.0.0.0/16", ge=32),
        PrefixRule(sequence=20, action="permit", prefix="10.2.0.0/16", ge=24, le=24),
    )
    assert [(one.name, one.rules) for one in up.prefix_lists] == [("FABRIC", fabric)]
    own = tuple(
        PrefixRule(sequence=sequence, action="permit", prefix=prefix)
        for sequence, prefix in ((10, "10.0.0.1/32"), (20, "10.2.1.0/24"))
    )
    assert [(one.name, one.rules) for one in down.prefix_lists] == [("FABRIC", fabric), ("OWN", own)]


# --- other designs


def test_blocks_halve_the_largest_gap() -> None:
    assert [van_der_corput_slot(index, 32) for index in range(8)] == [0, 16, 8, 24, 4, 20, 12, 28]
    assert [van_der_corput_slot(index, 6) for index in range(4)] == [0, 3, 1, 4]
    assert sorted(van_der_corput_slot(index, 64) for index in range(64)) == list(range(64))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spread": "leaves", "ports": "2", "leaf_group": "2", "ids": "1-3"}, "1:1:0 1:2:0 2:1:1 2:2:1 3:3:0 3:4:0"),
        ({"spread": "one-leaf", "ports": "2", "leaf_group": "2", "ids": "1-3"}, "1:1:0 1:1:1 2:1:2 2:1:3 3:2:0 3:2:1"),
        (
            {"spread": "rails", "ports": "4", "ports_per_leaf": "2", "leaf_group": "2", "ids": "2-3"},
            "2:1:2 2:1:3 2:2:2 2:2:3 3:3:0 3:3:1 3:4:0 3:4:1",
        ),
        ({"spread": "leaves", "ports": "1", "leaf_group": "3", "ids": "2, 4, 9"}, "2:1:1 4:2:0 9:3:2"),
    ],
)
def test_places_follow_from_ids(changes: dict[str, str], expected: str) -> None:
    """`host:leaf:slot` for every port."""
    data = shipped("two-by-two", {f"endpoints.gpu.{key}": value for key, value in changes.items()})
    found = (
        f"{place.host}:{place.switch}:{place.slot}" for place in attachments_of_host_ports(load(data).endpoints["gpu"])
    )
    assert " ".join(found) == expected


def test_large_spines_and_small_leaves() -> None:
    """An SN5600 runs 400G on the eight lanes of an unsplit port, 50 Gb/s each, as an SN4700 does."""
    copper = {"topology.uplinks.media": "DAC", "topology.uplinks.length": "3m"}
    fabric = build(shipped("reference-256", {"topology.spines.model": "SN5600"} | copper))
    for device, name in (("leaf1", "Ethernet128"), ("spine1", "Ethernet0")):
        one = port(fabric, device, name)
        assert (one.speed_mbps, one.lanes, one.fec, one.autoneg, one.cable_length_m) == (400_000, 8, "rs", True, 3)
        assert one.advertised_speeds_mbps == (400_000,)
    optical = port(fabric, "leaf1", "Ethernet0")
    assert (optical.autoneg, optical.advertised_speeds_mbps) == (None, None)
    spine, leaf = fabric.device("spine1"), fabric.device("leaf1")
    shut = [one for one in spine.interfaces if not one.enabled]
    assert (len(spine.interfaces), len(shut)) == (65, 33)
    assert (shut[-1].name, shut[-1].speed_mbps, shut[-1].fec) == ("Ethernet512", 25_000, None)
    kinds = {(one.speed_mbps, one.lanes, one.side, one.qos, one.addresses) for one in shut[:-1]}
    assert kinds == {(800_000, 8, None, None, ())}
    assert port(fabric, "leaf1", "Ethernet128").addresses == ("10.1.1.128/31",)
    assert port(fabric, "leaf2", "Ethernet128").description == "spine1:Ethernet256"
    assert (spine.bgp.maximum_paths, leaf.bgp.maximum_paths) == (64, 32)  # type: ignore[union-attr]
    assert headroom(fabric, "leaf1", "Ethernet128").headroom.xoff_bytes == 87_040
    assert headroom(fabric, "spine1", "Ethernet0").headroom.xoff_bytes == 95_232


def test_large_leaves_and_small_spines() -> None:
    fabric = build(shipped("reference-256", {"topology.leaves.model": "SN5600"}))
    assert port(fabric, "leaf1", "Ethernet0").addresses == ("10.2.2.0/31",)
    assert port(fabric, "leaf2", "Ethernet128").addresses == ("10.1.4.128/31",)
    assert fabric.device("leaf2").static_routes == (StaticRoute(prefix="10.2.4.0/23", next_hop="blackhole"),)
    assert qos_of(fabric, "spine1", "Ethernet0").pfc_watchdog.detection_ms == 600  # type: ignore[union-attr]


def test_slots_are_used_as_declared() -> None:
    fabric = build(shipped("reference-256", {"topology.slots_per_device": "256"}))
    assert port(fabric, "leaf1", "Ethernet0").addresses == ("10.2.2.0/31",)
    assert port(fabric, "leaf2", "Ethernet128").addresses == ("10.1.4.128/31",)
    assert fabric.device("leaf2").static_routes == (StaticRoute(prefix="10.2.4.0/23", next_hop="blackhole"),)
    assert build(shipped("reference-256", {"topology.slots_per_device": "128"})) == REFERENCE


def test_ports_that_are_dead_stay_shut() -> None:
    few = {"endpoints": "1-2", "uplinks": "29-32", "dead": "3-4, 28"}
    data = shipped("two-by-two", {"topology.leaves.ports": few, "endpoints.storage": None})
    fabric = build(data)
    for leaf in ("leaf1", "leaf2"):
        used = {one.port for one in fabric.device(leaf).interfaces if one.enabled}
        assert used == {Port(1), Port(2), Port(29), Port(30), Port(31), Port(32)}
    for wanted in ({"endpoints": "1-3"}, {"uplinks": "28-31"}):
        with pytest.raises(InputProblems, match="expected one use for each port"):
            build(changed(data, {"topology.leaves.ports": few | wanted}))


def test_slots_share_ports_out_evenly() -> None:
    three = {"topology.spines.ids": "1-3", "topology.uplinks.per_spine": "5", "topology.uplinks.spine_slots": "3"}
    fabric = build(shipped("reference-256", three | {"topology.max_oversubscription": "1.07"}))
    firsts = [port(fabric, "leaf1", name).description for name in ("Ethernet128", "Ethernet168", "Ethernet208")]
    assert firsts == ["spine1:Ethernet0", "spine2:Ethernet0", "spine3:Ethernet0"]
    even = build(shipped("reference-256", {"topology.uplinks.leaf_slots": "4"}))
    assert port(even, "leaf2", "Ethernet128").description == "spine1:Ethernet64"


def test_groups_without_gpus() -> None:
    fabric = build(shipped("two-by-two", {"endpoints.gpu.gpus": "0"}))
    assert {host.name: host.gpus for host in fabric.hosts} == dict.fromkeys(("gpu1", "gpu2", "storage1", "storage2"), 0)


def two_lossless() -> Data:
    storage = {"classes.storage.lossless": True, "classes.storage.priority": "4"}
    return shipped("two-by-two", storage | {"hosts.pfc": ["3", "4"]})


def test_two_lossless_classes() -> None:
    fabric = build(two_lossless())
    qos = qos_of(fabric, "leaf1", "Ethernet0")
    assert qos.pfc_rx_priorities == (3, 4)
    assert [group.index for group in qos.priority_groups] == [0, 3, 4]  # type: ignore[union-attr]
    assert qos.tc_to_priority_group == (0, 0, 0, 3, 4, 0, 0, 0, *[None] * 8)
    assert qos.pfc_to_priority_group == (None, None, None, 3, 4, None, None, None)
    assert qos.pfc_watchdog.priorities == (3, 4)  # type: ignore[union-attr]
    assert [one.buffer.pool for one in qos.queues] == [  # type: ignore[union-attr]
        "egress_lossy",
        "egress_lossy",
        "egress_lossless",
        "egress_lossless",
        "egress_lossy",
        "egress_lossy",
    ]


@pytest.mark.parametrize(
    ("alpha", "exponent"), [("1/8", -3), ("1/4", -2), ("1/2", -1), ("1", 0), ("2", 1), ("4", 2), ("8", 3)]
)
def test_alpha(alpha: str, exponent: int) -> None:
    fabric = build(shipped("two-by-two", {"buffers.alpha": alpha}))
    assert headroom(fabric, "leaf1", "Ethernet0").dynamic_th == exponent
    assert fabric.device("leaf1").dynamic_buffers.dynamic_th == exponent  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("stated", "ratio", "pool"),
    [
        ("off", None, None),
        ("on", 1, 607_232),  # 3 × 87040 + 4 × 104448 of xoff, less 7 ports × 10240 of their own
        ("2", 2, 303_616),
        ("3", 3, 202_411),  # rounded up
    ],
)
def test_shared_headroom(stated: str, ratio: int | None, pool: int | None) -> None:
    leaf = build(shipped("two-by-two", {"buffers.shared_headroom": stated})).device("leaf1")
    pools: Any = leaf.buffer_pools
    found = leaf.interfaces[0].qos.priority_groups[1].buffer  # type: ignore[union-attr,index]
    assert leaf.dynamic_buffers.over_subscribe_ratio == ratio  # type: ignore[union-attr]
    assert next(one.shared_headroom_bytes for one in pools if one.name == "ingress_lossless") == pool
    assert (found.headroom.xoff_bytes, found.size_bytes) == (87040, 38912 if ratio else 135168)  # type: ignore[union-attr]


def test_ports_with_headroom_of_their_own_where_a_platform_shares_none() -> None:
    changes = {"buffers.shared_headroom": "2", "topology.leaves.platform": "nvue", "topology.leaves.version": "5.14"}
    intent = load(shipped("two-by-two", changes))
    fabric = design.build(intent)
    notes = {(note.path, note.wanted, note.made) for note in design.find_adaptations(intent)}
    assert fabric.device("leaf1").dynamic_buffers.over_subscribe_ratio is None  # type: ignore[union-attr]
    assert fabric.device("spine1").dynamic_buffers.over_subscribe_ratio == 2  # type: ignore[union-attr]
    assert ("leaf*/@dynamic_buffers/over_subscribe_ratio", "2", "none") in notes


def test_the_lossless_pool_takes_its_share() -> None:
    fabric = build(shipped("two-by-two", {"buffers.lossless_pool": "75%"}))
    pools: Any = fabric.device("leaf1").buffer_pools
    assert [pool.percentage for pool in pools] == [None, 25, 75, 25]


def pattern_mtus(data: Data) -> dict[str, int]:
    return {device.name: device.dynamic_buffers.pattern_mtu_bytes for device in build(data).devices}  # type: ignore[union-attr, misc]


def test_the_pattern_mtu_is_one_for_a_tier() -> None:
    """At 25G and a small MTU the RoCE MTU needs more headroom than 1024; a leaf without hosts does as the others."""
    slow = {"speed": "25G", "media": "DAC", "length": "1m"}
    uplinks = {f"topology.uplinks.{key}": value for key, value in slow.items()}
    few = uplinks | {"mtu": "4200", "topology.max_oversubscription": "1000", "topology.leaves.ids": "1-4"}
    hosts = {"endpoints.gpu.ids": "1"}
    assert set(pattern_mtus(shipped("two-by-two", few | hosts)).items()) == {
        *((f"leaf{number}", 1024) for number in range(1, 5)),
        *((f"spine{number}", 4096) for number in (1, 2)),
    }
    printed = {one.key: one.value for one in applied_defaults(load(shipped("two-by-two", few | hosts)))}
    assert printed["buffers.pattern_mtu"] == "leaves 1024, spines 4096"
    assert set(pattern_mtus(shipped("two-by-two", few | {"buffers.pattern_mtu": "2048"})).values()) == {2048}


def test_watchdogs_that_have_no_room_are_off() -> None:
    fabric = build(shipped("two-by-two", {"pfc.watchdog.hosts.detection": "3s"}))
    assert fabric.policy.fabric_watchdog is None
    assert qos_of(fabric, "spine1", "Ethernet0").pfc_watchdog is None
    assert qos_of(fabric, "leaf1", "Ethernet0").pfc_watchdog.detection_ms == 3000  # type: ignore[union-attr]
    intent = load(shipped("two-by-two", {"pfc.watchdog.hosts.detection": "3s"}))
    (off,) = [one for one in applied_defaults(intent) if one.key == "pfc.watchdog.fabric"]
    assert off.source == "none is later than the hosts' side and acts before queue pairs time out (4294 ms)"


NVUE = {"topology.leaves.platform": "nvue", "topology.leaves.version": "5.16"}


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"pfc.watchdog.polling": "150ms"},
        NVUE,
        {key.replace("leaves", "spines"): value for key, value in NVUE.items()},
    ],
)
def test_derived_watchdogs_are_in_order_and_act_before_queue_pairs_time_out(stated: dict[str, str]) -> None:
    intent = load(shipped("two-by-two", stated))
    detections: dict[int, tuple[int, int | None]] = {}
    for ports in range(1, 2049):
        timers = derive_watchdog_timers(topology_of(intent), intent.mode, intent.pfc, ports)
        assert timers
        detections[ports] = (timers.hosts.detection_ms, timers.fabric.detection_ms if timers.fabric else None)
        lower, upper = topology_of(intent).groups
        for side, group in ((timers.hosts, lower), (timers.fabric, upper)):
            if side:
                polling_ms = timers.polling_ms[group]
                assert (
                    exceeded_rdma_timeout(side.watchdog((3,)), polling_ms, QP_RETRANSMIT_TIMEOUT_MS, QP_RETRIES) == ""
                ), ports
                assert group.wanted.platform == "sonic" or side.detection_ms % polling_ms == 0, ports
        assert timers.fabric is None or timers.fabric.detection_ms > timers.latest_host_side_action_ms, ports
    if not stated:
        assert {ports: detections[ports] for ports in (32, 192, 224, 256, 257, 512, 513, 2048)} == {
            32: (200, 600),
            192: (1200, 3600),
            224: (1400, 3500),
            256: (1600, 3400),
            257: (1800, None),
            512: (3200, None),
            513: (3200, None),
            2048: (3200, None),
        }


@pytest.mark.parametrize(
    ("leaf", "hint"),
    [
        (64, "a /15 holds it"),
        (127, "a /15 holds it"),
        (128, "a /14 holds it"),
        (16_383, "a /8 holds it"),
        (16_384, "no pool is that large; use smaller ids"),
    ],
)
def test_the_pool_of_links_that_holds_a_leaf(leaf: int, hint: str) -> None:
    """A quarter of the pool holds 256 addresses for each id up to the leaf's."""
    lone = {"topology.leaves.ids": str(leaf), "endpoints.storage": None, "endpoints.gpu.leaf_group": "1"}
    hosts = {"endpoints.gpu.ports": "1", "endpoints.gpu.ids": str(leaf), "topology.uplinks.per_spine": "1"}
    roomy = {"addressing.loopbacks": "172.16.0.0/12", "addressing.oob": "13.0.0.0/8"}
    data = shipped("two-by-two", lone | hosts | roomy | {"addressing.endpoints": "11.0.0.0/8"})
    with pytest.raises(InputProblems) as raised:
        build(data)
    (problem,) = raised.value.problems
    assert (problem.where, problem.hint) == ("addressing.links", hint)
    length = hint.removeprefix("a /").partition(" ")[0]
    if length.isdecimal():
        assert build(changed(data, {"addressing.links": f"12.0.0.0/{length}"})).device(f"leaf{leaf}")
        with pytest.raises(InputProblems, match=f"(a /{length} holds it)"):
            build(changed(data, {"addressing.links": f"12.0.0.0/{int(length) + 1}"}))


# --- modes


def queue_of(fabric: Fabric, device: str, name: str, index: int) -> Any:
    queues: Any = qos_of(fabric, device, name).queues
    return next(queue for queue in queues if queue.index == index)


def test_pfc_only_pauses_and_marks_nothing() -> None:
    fabric = build(shipped("pfc-only"))
    for device in fabric.devices:
        for one in device.interfaces:
            if one.enabled:
                qos = qos_of(fabric, device.name, one.name)
                assert (qos.pfc_rx_priorities, qos.pfc_tx_priorities) == ((3,), (3,))
                assert qos.pfc_watchdog
                assert [queue.wred for queue in qos.queues] == [None] * 3  # type: ignore[union-attr]
                assert headroom(fabric, device.name, one.name).headroom.xoff_bytes > 80_000
    assert {(host.pfc_priorities, host.dcqcn) for host in fabric.hosts} == {((3,), False)}
    assert (fabric.mode, fabric.policy.host_watchdog.detection_ms) == ("pfc-only", 200)  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["lossy", "trim"])
def test_nothing_is_lossless_where_nothing_is_paused(mode: str) -> None:
    fabric = build(shipped(mode))
    assert fabric.mode == mode
    assert (fabric.policy.host_watchdog, fabric.policy.fabric_watchdog) == (None, None)
    assert {(host.pfc_priorities, host.dcqcn) for host in fabric.hosts} == {((), True)}
    assert not any(one.lossless for one in fabric.classes)
    for device in fabric.devices:
        pools: Any = device.buffer_pools
        assert [(pool.name, pool.percentage) for pool in pools] == [("egress_lossy", 100), ("ingress_lossy", 100)]
        assert (device.dynamic_buffers, device.watchdog_polling_ms) == (None, None)
        for one in device.interfaces:
            if one.enabled:
                qos: Any = qos_of(fabric, device.name, one.name)
                assert (qos.pfc_rx_priorities, qos.pfc_tx_priorities, qos.pfc_watchdog) == ((), (), None)
                assert [(group.index, group.lossless) for group in qos.priority_groups] == [(0, False)]
                assert qos.tc_to_priority_group[:8] == (0,) * 8
                assert [queue.index for queue in qos.queues if queue.wred] == [3]
                buffers = (*qos.ingress_buffers, *qos.egress_buffers, *(queue.buffer for queue in qos.queues))
                assert {buffer.pool for buffer in buffers} == {"ingress_lossy", "egress_lossy"}


def test_packets_of_rdma_are_cut_and_travel_in_a_class_of_their_own() -> None:
    fabric = build(shipped("trim"))
    for device in fabric.devices:
        assert device.trimming == Trimming(size_bytes=256, dscp=11, tc=None, queue=5)
    name = "Ethernet0"
    assert qos_of(fabric, "leaf1", name).dscp_to_tc[11] == 5  # type: ignore[index]
    discards = {index: queue_of(fabric, "leaf1", name, index).buffer.discard for index in (0, 3, 5, 6, 7)}
    assert discards == {0: None, 3: "trim", 5: None, 6: None, 7: None}
    assert not any(device.trimming for device in build(shipped("lossy")).devices)


def test_ultra_ethernet_pauses_nothing_and_has_no_dcqcn() -> None:
    fabric = build(shipped("uec"))
    assert fabric.mode == "uec"
    assert {(host.pfc_priorities, host.dcqcn) for host in fabric.hosts} == {((), False)}
    assert not any(one.lossless for one in fabric.classes)
    for name in ("leaf1", "spine1"):
        for interface in fabric.device(name).interfaces:
            if interface.enabled:
                qos: Any = qos_of(fabric, name, interface.name)
                assert (qos.pfc_rx_priorities, qos.pfc_tx_priorities, qos.pfc_watchdog) == ((), (), None)
                assert [queue.index for queue in qos.queues if queue.wred] == [3]


def test_ultra_ethernet_trims_where_the_intent_states_it() -> None:
    def trimmed(**changes: Any) -> tuple[Any, Any]:
        fabric = build(shipped("uec", changes))
        buffer = queue_of(fabric, "leaf1", "Ethernet0", 3).buffer
        return fabric.device("leaf1").trimming, buffer.discard  # type: ignore[union-attr]

    assert trimmed() == (Trimming(size_bytes=256, dscp=11, tc=None, queue=5), "trim")
    assert trimmed(trimming=None) == (None, None)
    assert trimmed(trimming={"size": "512B"})[0].size_bytes == 512


def test_nics_slow_down_for_marks_in_ultra_ethernet_only_if_stated() -> None:
    assert {host.dcqcn for host in build(shipped("uec", {"hosts.dcqcn": True})).hosts} == {True}
