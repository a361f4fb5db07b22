"""Old databases have a grammar of their own, and parts of a configuration are silent about what comes with them."""

from typing import Any

import pytest

from nodrop.model.states import UNKNOWN
from nodrop.platforms.sonic.config import is_conclusive_about_table
from support.sonic_configs import read, remarks, stock

CLASSES = (
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    "WRED_PROFILE",
    "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
)
BUFFERS = ("BUFFER_PG", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE")
WATCHDOG = {"Ethernet0": {"action": "drop", "detection_time": "400", "restoration_time": "400"}}


def without(*tables: str, **others: Any) -> dict[str, Any]:
    return stock(**dict.fromkeys(tables), **others)


def at_version(text: str, **tables: Any) -> dict[str, Any]:
    return stock(VERSIONS={"DATABASE": {"VERSION": text}}, **tables)


def bracketed(text: str) -> dict[str, Any]:
    row = stock()["PORT_QOS_MAP"]["Ethernet0"] | {"dscp_to_tc_map": "[DSCP_TO_TC_MAP|AZURE]"}
    return at_version(text, PORT_QOS_MAP={"Ethernet0": row})


def watched(text: str) -> Any:
    row = {field: value for field, value in stock()["PORT_QOS_MAP"]["Ethernet0"].items() if field != "pfcwd_sw_enable"}
    config = at_version(text, PORT_QOS_MAP={"Ethernet0": row}, PFC_WD=WATCHDOG)
    return read(config).device.interfaces[0].qos.pfc_watchdog.priorities  # type: ignore[union-attr]


def test_buffers_without_classes_say_nothing_of_classes() -> None:
    qos: Any = read(without(*CLASSES)).device.interfaces[0].qos
    assert (qos.dscp_to_tc, qos.pfc_tx_priorities, qos.trust) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert isinstance(qos.priority_groups, tuple)
    assert [queue.scheduler for queue in qos.queues] == [UNKNOWN] * 3


def test_classes_without_buffers_say_nothing_of_buffers() -> None:
    device = read(without(*BUFFERS)).device
    qos: Any = device.interfaces[0].qos
    assert (device.buffer_pools, qos.priority_groups, qos.egress_buffers) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert qos.pfc_tx_priorities == (3, 4)


def test_a_table_that_lacks_where_its_like_are_is_absent() -> None:
    qos: Any = read(without("PORT_QOS_MAP")).device.interfaces[0].qos
    assert (qos.dscp_to_tc, qos.pfc_tx_priorities) == (None, ())
    assert read(without("BUFFER_POOL", "BUFFER_PG", "BUFFER_PROFILE")).device.buffer_pools == ()


def test_a_whole_switch_without_any_qos_has_none() -> None:
    device = read(without(*CLASSES, *BUFFERS)).device
    assert (device.buffer_pools, device.interfaces[0].qos) == ((), None)


def test_a_switch_is_whole_by_its_metadata_and_ports() -> None:
    assert not is_conclusive_about_table({"PORT": {}}, "VLAN")
    assert is_conclusive_about_table({"PORT": {}, "DEVICE_METADATA": {}}, "VLAN")
    assert not is_conclusive_about_table({"PORT": {}, "DEVICE_METADATA": {}, "BUFFER_PG": {}}, "PORT_QOS_MAP")


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("version_1_0_6", []),
        ("version_2_0_2", []),
        ("version_2_0_4", ["bracket-reference"]),  # of branch 202111, whose orchagent refuses them
        ("version_3_0_2", []),
        ("version_3_0_3", ["bracket-reference"]),
        ("version_202305_01", ["bracket-reference"]),
        ("3.0.2", ["bracket-reference"]),
    ],
)
def test_brackets_are_right_before_their_version(version: str, kinds: list[str]) -> None:
    reading = read(bracketed(version))
    assert [remark.kind for remark in reading.remarks if remark.kind != "malformed-value"] == kinds
    assert reading.device.interfaces[0].qos.dscp_to_tc[3] == 3  # type: ignore[union-attr,index]


@pytest.mark.parametrize(
    ("version", "priorities"),
    [("version_2_0_0", (3, 4)), ("version_3_0_4", (3, 4)), ("version_3_0_5", ()), ("version_202505_01", ())],
)
def test_the_mask_of_a_watchdog_was_pfc_enable(version: str, priorities: tuple[int, ...]) -> None:
    assert watched(version) == priorities


def test_old_and_new_tables_that_are_equal_are_read_apart() -> None:
    assert [watched(version) for version in ("version_3_0_5", "version_3_0_4", "version_3_0_5")] == [(), (3, 4), ()]


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("version_3_0_2", "is older than all YANG models known"),
        ("version_3_1_2", "is of another distribution than the community's"),
    ],
)
def test_a_database_without_models_is_not_held_against_todays(version: str, why: str) -> None:
    unknown = {"GLOBAL": {"POLL_INTERVAL": "200", "pol_interval": "200"}}
    assert remarks(read(at_version("version_3_0_3", PFC_WD=unknown))) != []
    old = read(at_version(version, PFC_WD=unknown))
    assert remarks(old) == []
    assert [(note.kind, note.message) for note in old.notes] == [
        ("not-checked", f"a database of {version} {why}: its fields were not checked")
    ]


@pytest.mark.parametrize(
    ("kind", "side"),
    [("LeafRouter", "fabric"), ("BackEndToRRouter", "fabric"), ("Server", "host"), ("MgmtToRRouter", None), ("", None)],
)
def test_the_type_of_a_neighbor_says_what_a_port_leads_to(kind: str, side: str | None) -> None:
    tables = {
        "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "T1-7", "port": "Ethernet1"}},
        "DEVICE_NEIGHBOR_METADATA": {"T1-7": {"type": kind, "hwsku": "x"}},
    }
    assert [(cable.local_port, cable.side) for cable in read(stock(**tables)).cables] == [("Ethernet0", side)]
