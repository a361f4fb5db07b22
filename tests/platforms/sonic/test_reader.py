"""Configurations of others: what they say, what they do not say, and what is remarked about them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.compare import differences
from nodrop.model.fabric import Device, Interface, Port
from nodrop.model.qos import PfcWatchdog, PriorityGroup, QosProfile, Queue, Scheduler, WredColor, WredProfile
from nodrop.model.states import UNKNOWN
from support.sonic_configs import NAME, part, read, remarks, said, stock

LOSSY_IN = BufferProfile(pool="ingress_lossless", size_bytes=0, dynamic_th=3)
LOSSY_OUT = BufferProfile(pool="egress_lossy", size_bytes=9216, dynamic_th=7)
WRED = WredProfile(
    ecn_colors=("green", "yellow", "red"),
    green=WredColor(min_bytes=1048576, max_bytes=2097152, probability_percent=5, enabled=True),
    yellow=WredColor(),
    red=WredColor(),
)
SCHEDULER_0, SCHEDULER_1 = Scheduler(type="dwrr", weight=14), Scheduler(type="dwrr", weight=15)
QOS = QosProfile(
    trust="dscp",
    dscp_to_tc=tuple({3: 3, 4: 4, 46: 5, 48: 6}.get(dscp, 1) for dscp in range(64)),
    tc_to_queue=(*range(8), *[None] * 8),
    tc_to_priority_group=(0, 0, 0, 3, 4, 0, 0, 7, *[None] * 8),
    pfc_to_queue=tuple(range(8)),
    pfc_to_priority_group=(None, None, None, 3, 4, None, None, None),
    pfc_rx_priorities=(3, 4),
    pfc_tx_priorities=(3, 4),
    priority_groups=(PriorityGroup(index=0, buffer=LOSSY_IN),),
    queues=(
        Queue(index=0, scheduler=SCHEDULER_0, buffer=LOSSY_OUT),
        Queue(index=1, buffer=LOSSY_OUT),
        Queue(index=2, buffer=LOSSY_OUT),
        Queue(index=3, scheduler=SCHEDULER_1, wred=WRED),
        Queue(index=4, scheduler=SCHEDULER_1, wred=WRED),
    ),
)
PORT = Interface(
    name="Ethernet0",
    port=Port(1),
    speed_mbps=400000,
    lanes=8,
    mtu_bytes=9100,
    link_pause=UNKNOWN,
    cable_length_m=7,
    qos=QOS,
)


def assert_same(a: Any, b: Any) -> None:
    assert not list(differences(a, b)), "\n".join(map(str, differences(a, b)))


def port(config: Any, name: str = "Ethernet0") -> Interface:
    return next(one for one in read(config).device.interfaces if one.name == name)


def qos(config: Any, name: str = "Ethernet0") -> Any:
    return port(config, name).qos


def with_row(table: str, key: str, **fields: Any) -> dict[str, Any]:
    """The stock switch with fields of a row changed, or left out where they are None."""
    rows = json.loads(json.dumps(stock()[table]))
    rows[key] = {name: value for name, value in (rows.get(key, {}) | fields).items() if value is not None}
    return stock(**{table: rows})


def test_a_stock_configuration() -> None:
    reading = read(stock())
    expected = Device(
        mac_ageing_s=UNKNOWN,
        arp_reachable_s=UNKNOWN,
        nd_reachable_s=UNKNOWN,
        name=NAME,
        platform="sonic",
        version="202505",
        model="SN4700",
        role="spine",
        interfaces=(PORT, replace(PORT, name="Ethernet8", port=Port(2))),
        buffer_model="traditional",
        buffer_pools=(
            BufferPool(name="egress_lossless", direction="egress", mode="dynamic", size_bytes=60817392),
            BufferPool(name="egress_lossy", direction="egress", mode="dynamic", size_bytes=56000000),
            BufferPool(name="ingress_lossless", direction="ingress", mode="dynamic", size_bytes=56000000),
        ),
        hash_seed=10,
    )
    assert_same(reading.device, expected)
    assert reading.device.interfaces[0].qos is reading.device.interfaces[1].qos
    assert (reading.remarks, reading.notes, reading.problems, reading.derived) == ((), (), (), {})


NOTHING = Device(
    name=NAME,
    platform="sonic",
    mac=UNKNOWN,
    loopbacks=UNKNOWN,
    port_channels=UNKNOWN,
    vlans=UNKNOWN,
    multi_chassis=UNKNOWN,
    dual_tor=UNKNOWN,
    mux_cables=UNKNOWN,
    tunnels=UNKNOWN,
    access_lists=UNKNOWN,
    management=UNKNOWN,
    bgp=UNKNOWN,
    vrf_bgp=UNKNOWN,
    static_routes=UNKNOWN,
    routing_tables=UNKNOWN,
    buffer_model=UNKNOWN,
    hwsku=UNKNOWN,
    dynamic_buffers=UNKNOWN,
    buffer_pools=UNKNOWN,
    switch_dscp_to_tc=UNKNOWN,
    watchdog_polling_ms=UNKNOWN,
    counters=UNKNOWN,
    trimming=UNKNOWN,
    hash_seed=UNKNOWN,
    ntp_servers=UNKNOWN,
    syslog_servers=UNKNOWN,
    dns_servers=UNKNOWN,
    snmp_location=UNKNOWN,
    snmp_contact=UNKNOWN,
    mac_ageing_s=UNKNOWN,
    arp_reachable_s=UNKNOWN,
    nd_reachable_s=UNKNOWN,
    hash_fields=UNKNOWN,
    gnmi_port=UNKNOWN,
    otlp_collectors=UNKNOWN,
    high_frequency=UNKNOWN,
)
NO_QOS = QosProfile(**dict.fromkeys(QosProfile.__dataclass_fields__, UNKNOWN))
ABSENT: dict[str, Any] = {"adaptive_routing": False, "utilization_threshold_percent": None}
"""What no table of SONiC has, so that no part of a configuration leaves it open."""
NO_PORT = Interface(**dict.fromkeys(Interface.__dataclass_fields__, UNKNOWN) | ABSENT | {"name": "Ethernet0"})
MAPS = ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE")
QOS_TABLES = (*MAPS, "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "PORT_QOS_MAP", "QUEUE", "SCHEDULER", "WRED_PROFILE")
ASYMMETRIC = {
    (
        NAME,
        name,
        "qos",
        "pfc_rx_priorities",
    ): "no PORT table says pfc_asym, which is off unless stated (sonic-port.yang)"
    for name in ("Ethernet0", "Ethernet8")
}


@pytest.mark.parametrize(
    ("tables", "device", "of_port", "derived"),
    [
        (
            part(*QOS_TABLES),
            {"switch_dscp_to_tc": None},
            replace(
                QOS,
                pfc_watchdog=UNKNOWN,
                priority_groups=UNKNOWN,
                queues=tuple(replace(QOS.queues[index], buffer=UNKNOWN) for index in (0, 3, 4)),
                ingress_buffers=UNKNOWN,
                egress_buffers=UNKNOWN,
            ),
            ASYMMETRIC,
        ),
        (
            part("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE"),
            {"buffer_pools": read(stock()).device.buffer_pools},
            replace(
                NO_QOS,
                priority_groups=QOS.priority_groups,
                queues=tuple(Queue(index=i, scheduler=UNKNOWN, wred=UNKNOWN, buffer=LOSSY_OUT) for i in range(3)),
            ),
            {},
        ),
        (
            {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": {"detection_time": "400"}}},
            {"watchdog_polling_ms": 200},
            replace(
                NO_QOS,
                pfc_watchdog=PfcWatchdog(priorities=UNKNOWN, detection_ms=400, restoration_ms=None, action=None),
            ),
            {},
        ),
        (
            {"QUEUE": {"Ethernet0|3": {"scheduler": "a", "wred_profile": "b"}}},
            {},
            replace(NO_QOS, queues=(Queue(index=3, scheduler=UNKNOWN, wred=UNKNOWN, buffer=UNKNOWN),)),
            {},
        ),
        (
            {"BUFFER_PG": {"Ethernet0|3": {"profile": "p"}}},
            {},
            replace(NO_QOS, priority_groups=(PriorityGroup(index=3, buffer=UNKNOWN),)),
            {},
        ),
        (
            {"BUFFER_PORT_INGRESS_PROFILE_LIST": {"Ethernet0": {"profile_list": "p,q"}}},
            {},
            replace(NO_QOS, ingress_buffers=UNKNOWN),
            {},
        ),
    ],
)
def test_a_part_is_silent_about_what_it_does_not_cover(
    tables: Any, device: dict[str, Any], of_port: QosProfile, derived: Any
) -> None:
    reading = read(tables)
    names = {key.partition("|")[0] for rows in tables.values() for key in rows if key.startswith("Ethernet")}
    interfaces = tuple(replace(NO_PORT, name=name, qos=of_port) for name in sorted(names))
    assert_same(reading.device, replace(NOTHING, interfaces=interfaces, **device))
    assert (reading.remarks, reading.notes, reading.problems) == ((), (), ())
    assert reading.derived == derived


def test_a_group_without_a_profile_has_no_buffer_and_is_refused() -> None:
    reading = read({"BUFFER_PG": {"Ethernet0|4": {}}})
    groups = (PriorityGroup(index=4, buffer=None),)
    assert_same(
        reading.device,
        replace(NOTHING, interfaces=(replace(NO_PORT, qos=replace(NO_QOS, priority_groups=groups)),)),
    )
    assert [(remark.kind, remark.facts["path"]) for remark in reading.remarks] == [
        ("missing-field", "BUFFER_PG/Ethernet0|4")
    ]


def test_a_part_with_cables_or_ports_alone() -> None:
    reading = read({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}}})
    assert_same(reading.device, replace(NOTHING, interfaces=(replace(NO_PORT, cable_length_m=40),)))
    assert_same(
        read({"PORT": {"Ethernet0": {"admin_status": "up", "mtu": "9216"}}}).device.interfaces[0],
        Interface(
            name="Ethernet0",
            port=UNKNOWN,
            mtu_bytes=9216,
            addresses=UNKNOWN,
            link_local=UNKNOWN,
            vrf=UNKNOWN,
            link_pause=UNKNOWN,
            cable_length_m=UNKNOWN,
            qos=UNKNOWN,
        ),
    )


def test_references_in_brackets_are_followed_and_remarked() -> None:
    config = with_row("BUFFER_PROFILE", "ingress_lossy_profile", pool="[BUFFER_POOL|ingress_lossless_pool]")
    config |= {"BUFFER_PG": {"Ethernet0|0": {"profile": "[BUFFER_PROFILE|ingress_lossy_profile]"}}}
    config["PORT_QOS_MAP"] = stock()["PORT_QOS_MAP"]
    config["PORT_QOS_MAP"]["Ethernet0"]["dscp_to_tc_map"] = "[DSCP_TO_TC_MAP|AZURE]"
    reading = read(config)
    assert_same(reading.device.interfaces[0].qos, QOS)
    assert remarks(reading) == [
        f"bracket-reference at {NAME}/Ethernet0/qos/dscp_to_tc: reference [DSCP_TO_TC_MAP|AZURE], name AZURE",
        f"bracket-reference at {NAME}/Ethernet0/qos/priority_groups/0: "
        "reference [BUFFER_PROFILE|ingress_lossy_profile], name ingress_lossy_profile",
        f"bracket-reference at {NAME}/@buffer_pools/ingress_lossless: "
        "reference [BUFFER_POOL|ingress_lossless_pool], name ingress_lossless_pool",
    ]
    assert {remark.place.file for remark in reading.remarks if remark.place} == {"config_db.json"}


def test_lists_of_ports_are_read_and_remarked() -> None:
    rows = {"Ethernet0,Ethernet8|0-1": {"scheduler": "scheduler.0"}, "Ethernet8|3": {"scheduler": "scheduler.1"}}
    reading = read(stock(QUEUE=rows, BUFFER_QUEUE={}))
    first, second = (one.qos for one in reading.device.interfaces)
    assert first.queues == (Queue(index=0, scheduler=SCHEDULER_0), Queue(index=1, scheduler=SCHEDULER_0))
    assert second.queues == (*first.queues, Queue(index=3, scheduler=SCHEDULER_1))
    assert remarks(reading) == [f"comma-port-list at {NAME}/Ethernet0: key Ethernet0,Ethernet8|0-1, table QUEUE"]


def test_ranges_that_overlap_add_up() -> None:
    rows = {"Ethernet0|2-4": {"scheduler": "scheduler.0"}, "Ethernet0|4-5": {"wred_profile": "AZURE_LOSSLESS"}}
    assert qos(stock(QUEUE=rows, BUFFER_QUEUE={})).queues == (
        Queue(index=2, scheduler=SCHEDULER_0),
        Queue(index=3, scheduler=SCHEDULER_0),
        Queue(index=4, scheduler=SCHEDULER_0, wred=WRED),
        Queue(index=5, wred=WRED),
    )


def test_names_of_nothing_are_remarked_where_they_stand() -> None:
    config = with_row("PORT_QOS_MAP", "Ethernet0", dscp_to_tc_map="MINE", tc_to_dscp_map="MINE")
    config["QUEUE"] = {"Ethernet0|3": {"scheduler": "s", "wred_profile": "w"}}
    config["BUFFER_QUEUE"] = {"Ethernet0|3": {"profile": "p"}}
    config["BUFFER_PORT_EGRESS_PROFILE_LIST"] = {"Ethernet0": {"profile_list": "p,egress_lossy_profile"}}
    config["BUFFER_PROFILE"]["egress_lossy_profile"]["pool"] = "no_pool"
    reading = read(config)
    first = reading.device.interfaces[0].qos
    assert isinstance(first, QosProfile)
    assert (first.dscp_to_tc, first.trust, first.tc_to_dscp) == (None, None, None)
    assert first.queues == (Queue(index=3),)
    assert first.egress_buffers == (replace(LOSSY_OUT, pool="no"),)
    text = json.dumps(config, indent=2).split("\n")
    shown = [(said(one), text[one.place.span.line - 1].strip()) for one in reading.remarks if one.place]
    assert [(one.rpartition(" (")[0], line) for one, line in shown] == [
        (
            f"dangling-reference at {NAME}/Ethernet0/qos/dscp_to_tc: "
            "kind DSCP_TO_TC_MAP, name MINE, field dscp_to_tc_map",
            '"dscp_to_tc_map": "MINE",',
        ),
        (
            f"dangling-reference at {NAME}/Ethernet0/qos/tc_to_dscp: "
            "kind TC_TO_DSCP_MAP, name MINE, field tc_to_dscp_map",
            '"tc_to_dscp_map": "MINE"',
        ),
        (
            f"dangling-reference at {NAME}/Ethernet0/qos/queues/3: kind SCHEDULER, name s, field scheduler",
            '"scheduler": "s",',
        ),
        (
            f"dangling-reference at {NAME}/Ethernet0/qos/queues/3: kind WRED_PROFILE, name w, field wred_profile",
            '"wred_profile": "w"',
        ),
        (
            f"dangling-reference at {NAME}/Ethernet0/qos/queues/3: kind BUFFER_PROFILE, name p, field profile",
            '"profile": "p"',
        ),
        (
            f"dangling-reference at {NAME}/Ethernet0/qos/egress_buffers: "
            "kind BUFFER_PROFILE, name p, field profile_list",
            '"profile_list": "p,egress_lossy_profile"',
        ),
        (
            f"dangling-reference at {NAME}/@buffer_pools/no: kind BUFFER_POOL, name no_pool, field pool",
            '"pool": "no_pool",',
        ),
    ]


FROM_TABLE = BufferProfile(
    pool="ingress_lossless",
    size_bytes=124928,
    dynamic_th=0,
    headroom=Headroom(xoff_bytes=77824, xon_bytes=37888),
)
"""ACS-MSN4700/pg_profile_lookup.ini, 400000 and 40m."""
OWN = {"pool": "ingress_lossless_pool", "size": "5", "xoff": "4", "xon": "1", "static_th": "9"}
OWN_PROFILE = BufferProfile(
    pool="ingress_lossless", size_bytes=5, static_th_bytes=9, headroom=Headroom(xoff_bytes=4, xon_bytes=1)
)
CABLES = {"AZURE": {"Ethernet0": "40m"}}
MADE = "pg_lossless_400000_40m_profile"


def with_profile(name: str) -> dict[str, Any]:
    return stock()["BUFFER_PROFILE"] | {name: OWN}


@pytest.mark.parametrize(
    ("tables", "added"),
    [
        ({}, {3: FROM_TABLE, 4: FROM_TABLE}),
        ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "41m"}}}, {}),
        ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "0m"}}}, {}),
        ({"CABLE_LENGTH": None}, {}),
        ({"BUFFER_POOL": {}, "BUFFER_PROFILE": {}, "BUFFER_PG": {}, "BUFFER_QUEUE": {}}, {}),
        ({"BUFFER_PROFILE": with_profile(MADE)}, {3: OWN_PROFILE, 4: OWN_PROFILE}),
        ({"BUFFER_PG": {"Ethernet0|3": {"profile": "ingress_lossy_profile"}}}, {3: FROM_TABLE, 4: FROM_TABLE}),
        (
            {"BUFFER_PG": {"Ethernet0|3-4": {"profile": "mine"}}, "BUFFER_PROFILE": with_profile("mine")},
            {3: FROM_TABLE, 4: FROM_TABLE},
        ),
        (
            {"BUFFER_PG": {"Ethernet0|3": {"profile": MADE}}, "BUFFER_PROFILE": with_profile(MADE)},
            {4: OWN_PROFILE},
        ),
    ],
)
def test_lossless_groups_that_buffermgrd_writes(tables: Any, added: dict[int, BufferProfile]) -> None:
    """In the traditional model, for every number of pfc_enable, where the SKU's table has the speed and cable."""
    reading = read(stock(**{"CABLE_LENGTH": CABLES} | tables))
    groups = reading.device.interfaces[0].qos.priority_groups
    assert {group.index: group.buffer for group in groups if group.index in added} == added
    assert {subject[-1] for subject in reading.derived} == {str(index) for index in added}
    for subject, reason in reading.derived.items():
        assert subject[:4] == (NAME, "Ethernet0", "qos", "priority_groups")
        assert reason == "buffermgrd writes it, for pg_profile_lookup.ini has a row for 400000 and 40m"


def test_lossless_groups_of_a_static_pool_or_none() -> None:
    pools = {"ingress_lossless_pool": {"mode": "static", "size": "9", "type": "ingress"}}
    groups = qos(stock(CABLE_LENGTH=CABLES, BUFFER_POOL=pools, BUFFER_PROFILE={}, BUFFER_PG={}, BUFFER_QUEUE={}))
    expected = replace(FROM_TABLE, dynamic_th=None, static_th_bytes=0)
    assert groups.priority_groups == tuple(PriorityGroup(index=index, buffer=expected) for index in (3, 4))
    shut = with_row("PORT", "Ethernet0", admin_status="down") | {"CABLE_LENGTH": CABLES}
    assert qos(shut).priority_groups == QOS.priority_groups
    dynamic = with_row("DEVICE_METADATA", "localhost", buffer_model="dynamic") | {"CABLE_LENGTH": CABLES}
    assert qos(dynamic).priority_groups == QOS.priority_groups


def test_lossless_groups_of_a_switch_that_is_not_in_the_catalogue() -> None:
    config = with_row("DEVICE_METADATA", "localhost", hwsku="Some-Other") | {"CABLE_LENGTH": CABLES}
    first = read(config).device
    assert first.model is UNKNOWN
    assert first.interfaces[0].port is UNKNOWN
    assert first.interfaces[0].qos.priority_groups == (
        *QOS.priority_groups,
        PriorityGroup(index=3, buffer=UNKNOWN),
        PriorityGroup(index=4, buffer=UNKNOWN),
    )


@pytest.mark.parametrize(
    ("profile", "found"),
    [
        ({"dynamic_th": "0", "pool": "ingress_lossless_pool", "size": "4096"}, UNKNOWN),
        (
            {"dynamic_th": "0", "pool": "ingress_lossless_pool", "size": "4096", "xoff": "1000"},
            BufferProfile(
                pool="ingress_lossless",
                size_bytes=4096,
                dynamic_th=0,
                headroom=Headroom(xoff_bytes=1000, xon_bytes=None),
            ),
        ),
    ],
)
def test_a_stated_group_of_a_switch_that_is_not_in_the_catalogue_is_known_by_its_headroom(
    profile: dict[str, str], found: Any
) -> None:
    """Shipped defaults bind a profile without headroom, over which buffermgrd puts the row of a table."""
    config = with_row("DEVICE_METADATA", "localhost", hwsku="Some-Other") | {
        "CABLE_LENGTH": CABLES,
        "BUFFER_PG": {"Ethernet0|3-4": {"profile": "mine"}},
        "BUFFER_PROFILE": stock()["BUFFER_PROFILE"] | {"mine": profile},
    }
    groups = read(config).device.interfaces[0].qos.priority_groups
    assert groups == tuple(PriorityGroup(index=index, buffer=found) for index in (3, 4))


@pytest.mark.parametrize(("ports", "xoff"), [("P32V128", 830580), ("P64", None)])
def test_the_row_is_that_of_the_sku(ports: str, xoff: int | None) -> None:
    """sonic-buildimage device/arista/x86_64-arista_7060x6_64pe_b: the table of each has other rows."""
    config = with_row("PORT", "Ethernet0", speed="800000") | {"CABLE_LENGTH": CABLES}
    config["DEVICE_METADATA"]["localhost"]["hwsku"] = f"Arista-7060X6-64PE-B-{ports}"
    groups = {group.index: group.buffer for group in read(config).device.interfaces[0].qos.priority_groups}
    assert (groups[3].headroom.xoff_bytes if 3 in groups else None) == xoff
