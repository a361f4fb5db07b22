"""Fields of others' configurations: defaults that are derived, values of other shapes, tables that are not known."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.errors import Problem
from nodrop.model.buffers import BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import Counter, Device, End, Interface, Loopback, Management, Trimming
from nodrop.model.qos import PfcWatchdog, PriorityGroup, Scheduler
from nodrop.model.reading import CableEvidence, DeviceReading
from nodrop.model.states import UNKNOWN
from nodrop.platforms.sonic.reader import detect
from support.sonic_configs import NAME, read, remarks, said, stock


def changed(table: str, key: str, **fields: Any) -> dict[str, Any]:
    """The stock switch with fields of a row changed, or left out where they are None."""
    rows = json.loads(json.dumps(stock().get(table, {})))
    rows[key] = {name: value for name, value in (rows.get(key, {}) | fields).items() if value is not None}
    return stock(**{table: rows})


def first(reading: DeviceReading) -> Interface:
    return reading.device.interfaces[0]


def device(**tables: Any) -> Device:
    return read(stock(**tables)).device


def test_what_a_port_does_not_say_is_derived() -> None:
    reading = read(changed("PORT", "Ethernet0", admin_status=None, mtu=None, speed=None, lanes=None))
    port = first(reading)
    assert (port.enabled, port.mtu_bytes, port.speed_mbps, port.lanes, port.port) == (False, 9100, None, None, UNKNOWN)
    assert reading.derived == {
        (NAME, "Ethernet0", "enabled"): "PORT has no admin_status, which is down (sonic-port.yang)",
        (NAME, "Ethernet0", "mtu_bytes"): "PORT has no mtu, which is 9100 (portmgrd)",
    }
    without = read(changed("DEVICE_METADATA", "localhost", buffer_model=None))
    assert without.device.buffer_model == "traditional"
    assert without.derived == {
        (NAME, "@buffer_model"): "DEVICE_METADATA has no buffer_model, which is traditional",
    }


def test_a_table_of_ports_without_lanes_is_a_part_of_one_and_shuts_none() -> None:
    rows = {name: {"alias": name, "mtu": "9100"} for name in stock()["PORT"]}
    reading = read(stock(PORT=rows))
    assert {type(port.enabled) for port in reading.device.interfaces} == {type(UNKNOWN)}
    assert not [subject for subject in reading.derived if subject[-1] == "enabled"]
    name = next(iter(rows))
    assert first(read(stock(PORT=rows | {name: {"admin_status": "down"}}))).enabled is False


@pytest.mark.parametrize(("word", "received"), [("on", tuple(range(8))), ("off", (3, 4)), (None, (3, 4))])
def test_asymmetric_pause_receives_on_all_priorities(word: str | None, received: tuple[int, ...]) -> None:
    qos = first(read(changed("PORT", "Ethernet0", pfc_asym=word))).qos
    assert (qos.pfc_rx_priorities, qos.pfc_tx_priorities) == (received, (3, 4))


def test_a_table_that_no_release_has_is_remarked_and_one_that_is_not_read_is_not() -> None:
    config = stock(ACL_TABLE={}, NEW_TABLE={"b": {}}, FEATURE={})
    reading = read(config)
    lines = json.dumps(config, indent=2).split("\n")
    (remark,) = reading.remarks
    assert (remark.kind, remark.facts["table"], reading.notes) == ("unknown-table", "'NEW_TABLE'", ())
    assert remark.place is not None
    assert '"NEW_TABLE"' in lines[remark.place.span.line - 1]


def test_a_map_or_profile_that_nothing_names_is_understood() -> None:
    kept = ("DEVICE_METADATA", "PORT", "SCHEDULER", "WRED_PROFILE", "BUFFER_PROFILE", "MAP_PFC_PRIORITY_TO_QUEUE")
    assert read({table: rows for table, rows in stock().items() if table in kept}).notes == ()


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (None, None),
        ("", None),
        ("all", None),
        ("400000", (400000,)),
        ("400000, 100000,200000", (100000, 200000, 400000)),
        (["200000", "100000"], (100000, 200000)),
        ("fast", UNKNOWN),
    ],
)
def test_advertised_speeds_are_read_slowest_first(stated: Any, expected: Any) -> None:
    row = {"lanes": "0,1", "speed": "100000"} | ({} if stated is None else {"adv_speeds": stated})
    assert repr(first(read(stock(PORT={"Ethernet0": row}))).advertised_speeds_mbps) == repr(expected)


def test_numbers_and_lists_may_stand_for_text() -> None:
    rows = {"Ethernet0": {"admin_status": "up", "lanes": ["0", "1"], "mtu": 9216, "speed": 100000, "index": 1}}
    reading = read(stock(PORT=rows))
    assert (first(reading).lanes, first(reading).mtu_bytes, first(reading).speed_mbps) == (2, 9216, 100000)
    assert {remark.facts["name"] for remark in reading.remarks} == {"Ethernet8"}
    lists = {"Ethernet0": {"profile_list": ["egress_lossy_profile", "ingress_lossy_profile"]}}
    assert [one.pool for one in first(read(stock(BUFFER_PORT_EGRESS_PROFILE_LIST=lists))).qos.egress_buffers] == [
        "egress_lossy",
        "ingress_lossless",
    ]


@pytest.mark.parametrize(
    ("table", "key", "field", "value", "remark"),
    [
        ("PORT", "Ethernet0", "mtu", "big", "PORT/Ethernet0/mtu, found 'big', expected a whole number"),
        ("PORT", "Ethernet0", "mtu", True, "PORT/Ethernet0/mtu, found true or false, expected text"),
        ("PORT", "Ethernet0", "mtu", {"a": "b"}, "PORT/Ethernet0/mtu, found an object, expected text"),
        ("PORT", "Ethernet0", "mtu", [1], "PORT/Ethernet0/mtu, found a list, expected text"),
        ("PORT", "Ethernet0", "mtu", 1.5, "PORT/Ethernet0/mtu, found a number, expected text"),
        ("PORT", "Ethernet0", "mtu", "９１００", "PORT/Ethernet0/mtu, found '９１００', expected a whole number"),
        ("PORT", "Ethernet0", "mtu", "1" * 19, f"PORT/Ethernet0/mtu, found '{'1' * 19}', expected a whole number"),
        ("PORT", "Ethernet0", "fec", "RS", "PORT/Ethernet0/fec, found 'RS', expected rs or fc or none or auto"),
        ("PORT", "Ethernet0", "autoneg", "1", "PORT/Ethernet0/autoneg, found '1', expected on or off"),
        ("PORT", "Ethernet0", "admin_status", "UP", "PORT/Ethernet0/admin_status, found 'UP', expected up or down"),
        (
            "PORT_QOS_MAP",
            "Ethernet0",
            "pfc_enable",
            "3,8",
            "PORT_QOS_MAP/Ethernet0/pfc_enable, found '3,8', expected priorities from 0 to 7, such as 3,4",
        ),
        (
            "PORT_QOS_MAP",
            "Ethernet0",
            "pfc_enable",
            "3,²",
            "PORT_QOS_MAP/Ethernet0/pfc_enable, found '3,²', expected priorities from 0 to 7, such as 3,4",
        ),
        (
            "DSCP_TO_TC_MAP",
            "AZURE",
            "64",
            "1",
            "DSCP_TO_TC_MAP/AZURE/64, found '64', expected a key from 0 to 63",
        ),
        ("DSCP_TO_TC_MAP", "AZURE", "²", "1", "DSCP_TO_TC_MAP/AZURE/², found '²', expected a key from 0 to 63"),
        ("DSCP_TO_TC_MAP", "AZURE", "", "1", "DSCP_TO_TC_MAP/AZURE/, found '', expected a key from 0 to 63"),
        ("DSCP_TO_TC_MAP", "AZURE", "26", "x", "DSCP_TO_TC_MAP/AZURE/26, found 'x', expected a whole number"),
        (
            "CABLE_LENGTH",
            "AZURE",
            "Ethernet0",
            "40",
            "CABLE_LENGTH/AZURE/Ethernet0, found '40', expected metres, such as 40m",
        ),
        (
            "SCHEDULER",
            "scheduler.0",
            "type",
            "dwrr",
            "SCHEDULER/scheduler.0/type, found 'dwrr', expected STRICT or DWRR or WRR",
        ),
        (
            "WRED_PROFILE",
            "AZURE_LOSSLESS",
            "wred_green_enable",
            "True",
            "WRED_PROFILE/AZURE_LOSSLESS/wred_green_enable, found 'True', expected true or false",
        ),
        (
            "BUFFER_POOL",
            "ingress_lossless_pool",
            "type",
            "in",
            "BUFFER_POOL/ingress_lossless_pool/type, found 'in', expected ingress or egress or both",
        ),
    ],
)
def test_a_value_of_another_shape_is_left_out_and_remarked_once(
    table: str, key: str, field: str, value: Any, remark: str
) -> None:
    reading = read(changed(table, key, **{field: value}))
    assert remarks(reading) == [f"malformed-value at {NAME}: path {remark}"]
    (only,) = reading.remarks
    assert only.place is not None
    assert only.place.span.line > 1


def test_a_remark_about_the_row_with_the_hostname_is_about_that_device() -> None:
    localhost = {"hostname": "sw9", "deployment_id": None}
    (remark,) = read({"DEVICE_METADATA": {"localhost": localhost}}).remarks
    assert (remark.subject, remark.facts["path"]) == (("sw9",), "DEVICE_METADATA/localhost/deployment_id")


@pytest.mark.parametrize(
    ("tables", "remark"),
    [
        ({"QUEUE": ["Ethernet0|3"]}, "QUEUE, found a list, expected an object of rows"),
        ({"QUEUE": {"Ethernet0|3": "x"}}, "QUEUE/Ethernet0|3, found 'x', expected an object of fields"),
        ({"QUEUE": {"Ethernet0|3": None}}, "QUEUE/Ethernet0|3, found null, expected an object of fields"),
        (
            {"QUEUE": {"Ethernet0|4-3": {}}},
            "QUEUE/Ethernet0|4-3, found '4-3', expected a number up to 9, or a rising range such as 3-4",
        ),
        (
            {"QUEUE": {"Ethernet0|10": {}}},
            "QUEUE/Ethernet0|10, found '10', expected a number up to 9, or a rising range such as 3-4",
        ),
        (
            {"QUEUE": {"Ethernet0": {}}},
            "QUEUE/Ethernet0, found '', expected a number up to 9, or a rising range such as 3-4",
        ),
        (
            {"BUFFER_PG": {"Ethernet0|8": {}}},
            "BUFFER_PG/Ethernet0|8, found '8', expected a number up to 7, or a rising range such as 3-4",
        ),
    ],
)
def test_a_table_or_row_of_another_shape_is_left_out_and_remarked(tables: Any, remark: str) -> None:
    assert remarks(read(stock(**tables))) == [f"malformed-value at {NAME}: path {remark}"]


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("version_202505_01", "202505"),
        ("version_202211_02", "202211"),
        ("version_4_0_3", UNKNOWN),
        ("version_202505", UNKNOWN),
        ("version_２０２５０５_01", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_the_release_by_the_version_of_the_database(version: str, found: Any) -> None:
    assert (
        device(VERSIONS={"DATABASE": {"VERSION": version}}).version is found or found == "202505" or found == "202211"
    )
    assert repr(device(VERSIONS={"DATABASE": {"VERSION": version}}).version) == repr(found)
    assert device(VERSIONS=None).version is UNKNOWN


@pytest.mark.parametrize(
    ("kind", "role", "seed"),
    [
        ("ToRRouter", "leaf", 0),
        ("LeafRouter", "spine", 10),
        ("BackEndLeafRouter", "spine", 10),
        ("SpineRouter", "superspine", 25),
        ("MgmtToRRouter", UNKNOWN, UNKNOWN),
        ("Other", UNKNOWN, UNKNOWN),
        (None, UNKNOWN, UNKNOWN),
    ],
)
def test_the_tier_by_the_type(kind: str | None, role: Any, seed: Any) -> None:
    found = read(changed("DEVICE_METADATA", "localhost", type=kind)).device
    assert (repr(found.role), repr(found.hash_seed)) == (repr(role), repr(seed))


def test_a_switch_that_is_not_in_the_catalogue() -> None:
    found = read(changed("DEVICE_METADATA", "localhost", hwsku="ACME-Z1")).device
    assert found.model is UNKNOWN
    assert [port.port for port in found.interfaces] == [UNKNOWN, UNKNOWN]
    other = read(changed("DEVICE_METADATA", "localhost", hwsku="Mellanox-SN4700-O32")).device
    assert other.model == "SN4700"


@pytest.mark.parametrize(
    ("hostname", "name", "remark"),
    [
        ("leaf-7.pod1", "leaf-7.pod1", []),
        (None, NAME, []),
        ("a b", NAME, ["odd-name at sw1: name 'a b'"]),
        ("", NAME, ["odd-name at sw1: name ''"]),
        ("x" * 64, NAME, [f"odd-name at sw1: name '{'x' * 40}…'"]),
        ("a\u202eb", NAME, ["odd-name at sw1: name 'a\\u202eb'"]),
    ],
)
def test_the_hostname_names_the_device_if_it_can(hostname: str | None, name: str, remark: list[str]) -> None:
    reading = read(changed("DEVICE_METADATA", "localhost", hostname=hostname))
    assert reading.device.name == name
    assert remarks(reading) == remark


def test_keys_that_hide_characters_and_keys_that_stand_twice_are_remarked() -> None:
    text = json.dumps(stock(), indent=2).replace(
        '"AZURE_LOSSLESS": {', '"AZURE\\u200b\\u202e": {}, "AZURE_LOSSLESS": {'
    )
    odd = read(text)
    assert remarks(odd) == ["odd-name at sw1: name 'AZURE\\u200b\\u202e'"]
    double = read('{\n"PORT": {},\n"PORT": {}\n}')
    assert [said(one) for one in double.remarks] == ["duplicate-key at sw1: path PORT, first_line 2 (line 3)"]


def test_the_switch_itself() -> None:
    found = device(
        LOOPBACK_INTERFACE={
            "Loopback1": {"vrf_name": "Vrf1"},
            "Loopback0|10.0.0.1/32": {},
            "Loopback0|fc00::1/128": {},
        },
        MGMT_INTERFACE={"eth0|192.0.2.1/24": {"gwaddr": "192.0.2.254"}, "eth0|2001:db8::1/64": {}, "eth1": {}},
        MGMT_VRF_CONFIG={"vrf_global": {"mgmtVrfEnabled": "true"}},
        FLEX_COUNTER_TABLE={
            "QUEUE": {"FLEX_COUNTER_STATUS": "enable", "POLL_INTERVAL": "10000"},
            "PORT": {"FLEX_COUNTER_STATUS": "disable"},
            "RIF": {},
        },
        NTP_SERVER={"b": {}, "a": {"iburst": "on"}},
        SYSLOG_SERVER={"192.0.2.9": {}},
        SWITCH_TRIMMING={"GLOBAL": {"size": "256", "dscp_value": "from-tc", "tc_value": "6", "queue_index": "dynamic"}},
        PFC_WD={"GLOBAL": {"POLL_INTERVAL": "400"}},
        DEFAULT_LOSSLESS_BUFFER_PARAMETER={"AZURE": {"default_dynamic_th": "1", "over_subscribe_ratio": "2"}},
        LOSSLESS_TRAFFIC_PATTERN={"AZURE": {"mtu": "1024", "small_packet_percentage": "50"}},
        INTERFACE={"Ethernet0": {"vrf_name": "Vrf1"}, "Ethernet0|10.1.0.0/31": {}, "Ethernet0|fc00::/127": {}},
    )
    assert found.loopbacks == (
        Loopback(name="Loopback0", addresses=("10.0.0.1/32", "fc00::1/128")),
        Loopback(name="Loopback1", addresses=(), vrf="Vrf1"),
    )
    addresses = ("192.0.2.1/24", "2001:db8::1/64")
    assert found.management == Management(interface="eth0", addresses=addresses, gateway="192.0.2.254", own_vrf=True)
    assert found.counters == (
        Counter(group="PORT", enabled=False),
        Counter(group="QUEUE", enabled=True, interval_ms=10000),
        Counter(group="RIF", enabled=False),
    )
    assert (found.ntp_servers, found.syslog_servers) == (("a", "b"), ("192.0.2.9",))
    assert found.trimming == Trimming(size_bytes=256, dscp="from-tc", tc=6, queue="dynamic")
    assert found.watchdog_polling_ms == 400
    assert found.dynamic_buffers == DynamicBuffers(
        dynamic_th=1, pattern_mtu_bytes=1024, small_packet_percent=50, over_subscribe_ratio=2
    )
    assert found.interfaces[0].addresses == ("10.1.0.0/31", "fc00::/127")
    assert [port.vrf for port in found.interfaces] == ["Vrf1", None]


def test_watchdogs_take_what_is_written_and_no_more() -> None:
    watchdogs = {"Ethernet0": {"detection_time": "200", "action": "alert"}, "Ethernet8": {}}
    maps = stock()["PORT_QOS_MAP"]
    del maps["Ethernet8"]["pfcwd_sw_enable"]
    ports = device(PFC_WD=watchdogs, PORT_QOS_MAP=maps).interfaces
    assert [port.qos.pfc_watchdog for port in ports] == [
        PfcWatchdog(priorities=(3, 4), detection_ms=200, restoration_ms=None, action="alert"),
        PfcWatchdog(priorities=(), detection_ms=None, restoration_ms=None, action=None),
    ]


def test_a_rate_in_packets_is_not_one_in_bytes() -> None:
    packets = {"scheduler.0": {"type": "STRICT", "meter_type": "packets", "pir": "9"}, "scheduler.1": {}}
    queues = device(SCHEDULER=packets).interfaces[0].qos.queues
    assert queues[0].scheduler is UNKNOWN
    assert queues[3].scheduler == Scheduler(type="wrr")


def test_the_map_of_the_whole_switch_is_no_port() -> None:
    config = stock(DSCP_TO_TC_MAP={"AZURE": {"0": "1"}, "ALL": {"0": "7"}})
    config["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": "ALL"}
    found = read(config).device
    assert found.switch_dscp_to_tc == (7, *[None] * 63)
    assert [port.name for port in found.interfaces] == ["Ethernet0", "Ethernet8"]


def test_a_port_without_any_qos_has_none() -> None:
    found = device(PORT_QOS_MAP={}, QUEUE={}, BUFFER_PG={}, BUFFER_QUEUE={})
    assert [port.qos for port in found.interfaces] == [None, None]


def test_headroom_that_the_switch_computes() -> None:
    groups = {"Ethernet0|3-4": {"profile": "NULL"}}
    default = {"AZURE": {"default_dynamic_th": "-1"}}
    pattern = {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}}
    config = changed("DEVICE_METADATA", "localhost", buffer_model="dynamic")
    config |= {"BUFFER_PG": groups, "DEFAULT_LOSSLESS_BUFFER_PARAMETER": default, "LOSSLESS_TRAFFIC_PATTERN": pattern}
    headroom = Headroom(xoff_bytes=216064, xon_bytes=38912, computed=True)
    buffer = BufferProfile(pool="ingress_lossless", size_bytes=264192, dynamic_th=-1, headroom=headroom)
    expected = tuple(PriorityGroup(index=index, buffer=buffer) for index in (3, 4))
    assert first(read(config)).qos.priority_groups == expected
    unknown = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)
    del config["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]
    (group, _) = first(read(config)).qos.priority_groups
    assert group.buffer == BufferProfile(pool="ingress_lossless", size_bytes=UNKNOWN, headroom=unknown)
    assert read(config).remarks == ()


def test_neighbors_are_evidence_for_cables() -> None:
    rows = {
        "Ethernet0": {"name": "spine1", "port": "Ethernet4"},
        "x": {"name": "s", "local_port": "Ethernet8"},
        "y": {},
    }
    assert read(stock(DEVICE_NEIGHBOR=rows)).cables == (
        CableEvidence(local_port="Ethernet0", remote=End("spine1", "Ethernet4"), evidence="DEVICE_NEIGHBOR"),
        CableEvidence(local_port="Ethernet8", remote=End("s", ""), evidence="DEVICE_NEIGHBOR"),
    )


@pytest.mark.parametrize(
    ("text", "found", "line"),
    [("{", "the file ends inside an object opened at line 1, column 1", 1), ("[1]", "a list", 1), ("3", "a value", 1)],
)
def test_a_file_that_cannot_be_read_is_a_problem_and_the_other_counts(text: str, found: str, line: int) -> None:
    reading = read(text, "router bgp 65000\n")
    (problem,) = reading.problems
    assert isinstance(problem, Problem)
    assert (problem.path, problem.line, problem.found) == ("config_db.json", line, found)
    assert reading.device.bgp is not None
    assert reading.device.interfaces == ()


def test_detect() -> None:
    assert detect("anything", b'\xef\xbb\xbf \n{"PORT": {')
    assert detect("frr.conf", b"")
    assert not detect("a.json", b'{"port": {')
    assert not detect("a.json", b'[{"PORT": {')


TABLES = [*sorted(stock()), "PFC_WD", "SWITCH_TRIMMING", "LOSSLESS_TRAFFIC_PATTERN", "MGMT_INTERFACE", "INTERFACE", "X"]
KEYS = ["AZURE", "Ethernet0", "Ethernet0|3", "Ethernet0|3-4", "GLOBAL", "localhost", "global", "", "²", "Ethernet0,|"]
FIELDS = [
    "dscp_to_tc_map",
    "pfc_enable",
    "lanes",
    "speed",
    "profile",
    "scheduler",
    "3",
    "type",
    "pool",
    "xoff",
    "hwsku",
]
WORDS = ["AZURE", "NULL", "3", "²", "1" * 5000, "[X|y]", "0-9", "", "ACS-MSN4700", "dynamic", "400000", "40m", "\u202e"]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=4,
)
rows = st.dictionaries(st.sampled_from(KEYS), values | st.dictionaries(st.sampled_from(FIELDS), values), max_size=3)


@given(st.dictionaries(st.sampled_from(TABLES), rows | values, max_size=8))
def test_no_json_object_stops_the_reader(tables: Any) -> None:
    reading = read(stock() | tables)
    assert isinstance(reading.device, Device)
    assert all(remark.place is not None for remark in reading.remarks)
    assert isinstance(read(tables).device, Device)


@pytest.mark.parametrize(
    ("platform", "model"),
    [
        ("x86_64-arista_7060x6_64pe", "7060X6-64PE"),
        ("x86_64-arista_7060x6_64pe_b", "7060X6-64PE-B"),
        ("x86_64-kvm_x86_64-r0", "7060X6-64PE"),
        (None, "7060X6-64PE"),
    ],
)
def test_a_hwsku_that_two_models_ship_is_that_of_the_platform(platform: str | None, model: str) -> None:
    box = read(changed("DEVICE_METADATA", "localhost", hwsku="Arista-7060X6-64PE-P64", platform=platform)).device
    assert (box.model, box.hwsku) == (model, "Arista-7060X6-64PE-P64")


def test_a_lane_that_the_models_own_files_give_to_two_ports_is_not_remarked() -> None:
    ports = {
        "Ethernet124": {"lanes": "125,126,127,128", "speed": "100000", "index": "32"},
        "Ethernet132": {"lanes": "128", "speed": "10000", "index": "34"},
    }
    metadata = {"localhost": {"hostname": NAME, "hwsku": "Arista-7050CX3-32S-C32"}}

    def twice() -> list[str]:
        reading = read({"PORT": ports, "DEVICE_METADATA": metadata})
        return [remark for remark in remarks(reading) if remark.startswith("lane-of")]

    assert twice() == []
    ports["Ethernet120"] = {"lanes": "124,125", "speed": "100000", "index": "31"}
    assert twice() == [f"lane-of-two-ports at {NAME}/Ethernet120: name Ethernet120, lane 125, other Ethernet124"]
