"""Changes of the model in documents that others wrote: what comes out when they are read again, and not a byte more."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.errors import InputProblems
from nodrop.model.change import Change, EditResult
from nodrop.model.compare import differences
from nodrop.model.edit import set_value
from nodrop.model.fabric import Device, Fabric, Interface, SampledCounters
from nodrop.model.qos import PfcWatchdog, Scheduler
from nodrop.model.routing import StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject, subject_text
from nodrop.platforms import find_editor
from nodrop.platforms.sonic.edit import edit
from nodrop.platforms.sonic.edit_qos import _buffer_uses_of_port
from support.json_text import applied, entries
from support.places import GOLDEN
from support.sonic_configs import NAME, read, stock

PORT = "Ethernet0"
OTHER = "Ethernet8"
WATCHDOG = PfcWatchdog(priorities=(3, 4), detection_ms=200, restoration_ms=400, action="drop")


def made(document: str, *changes: tuple[str, Any], old: Any = UNKNOWN) -> EditResult:
    wanted = [Change(subject=(NAME, *parse_subject(subject)), old=old, new=new) for subject, new in changes]
    return edit({"config_db.json": document.encode()}, wanted)


def tables(one: EditResult) -> Any:
    return json.loads(one.files["config_db.json"])


def patched(one: EditResult, table: str) -> dict[str, Any]:
    """The operations on a table: path below it, value (None where it is taken out)."""
    steps = [step for step in one.steps if parse_subject(step.path)[1] == table]
    return {step.path.removeprefix(f"/{table}"): step.value for step in steps}


def watched(**rows: Any) -> dict[str, Any]:
    """A stock switch whose first port has a watchdog."""
    times = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    return stock(PFC_WD={"GLOBAL": {"POLL_INTERVAL": "100"}, PORT: times}, **rows)


def dumped(data: Any) -> str:
    return json.dumps(data, indent=4)


@pytest.mark.parametrize(("new", "word"), [(True, "enable"), (False, "disable")])
def test_a_history_of_pauses_is_changed_since_202511(new: bool, word: str) -> None:
    subject, version = "Ethernet0/qos/pfc_watchdog/history", {"DATABASE": {"VERSION": "version_202511_01"}}
    one = made(dumped(watched(VERSIONS=version)), (subject, new))
    assert (one.by_hand, patched(one, "PFC_WD")) == ((), {"/Ethernet0/pfc_stat_history": word})
    again = made(one.files["config_db.json"].decode(), (subject, None))
    assert (again.by_hand, patched(again, "PFC_WD")) == ((), {"/Ethernet0/pfc_stat_history": None})
    (refused,) = made(dumped(watched()), (subject, new)).by_hand
    assert "PFC_WD/Ethernet0/pfc_stat_history, release 202505" in refused.line


def test_a_port_offers_all_its_speeds_again_by_a_word() -> None:
    """orchagent keeps the speeds that it was given where the field goes away."""
    data = watched()
    data["PORT"]["Ethernet0"] |= {"admin_status": "up", "autoneg": "on", "adv_speeds": "100000"}
    one = made(dumped(data), ("Ethernet0/advertised_speeds_mbps", None))
    assert (one.by_hand, patched(one, "PORT")) == ((), {"/Ethernet0/adv_speeds": "all"})
    (step,) = (step for step in one.steps if step.path == "/PORT/Ethernet0/adv_speeds")
    assert (step.disruption, step.affected) == ("port bounce", ("Ethernet0",))


@pytest.mark.parametrize(
    ("subject", "new", "table", "operations"),
    [
        ("Ethernet0/mtu_bytes", 9216, "PORT", {"/Ethernet0/mtu": "9216"}),
        ("Ethernet0/fec", "rs", "PORT", {"/Ethernet0/fec": "rs"}),
        ("Ethernet0/enabled", False, "PORT", {"/Ethernet0/admin_status": "down"}),
        ("Ethernet0/advertised_speeds_mbps", (25000, 100000), "PORT", {"/Ethernet0/adv_speeds": "25000,100000"}),
        ("Ethernet0/cable_length_m", 40, "CABLE_LENGTH", {"/AZURE/Ethernet0": "40m"}),
        ("Ethernet0/cable_length_m", None, "CABLE_LENGTH", {"/AZURE/Ethernet0": None}),
        ("Ethernet0/addresses", ("10.0.0.0/31",), "INTERFACE", {"": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}}}),
        ("Ethernet0/qos/pfc_rx_priorities", (3,), "PORT_QOS_MAP", {"/Ethernet0/pfc_enable": "3"}),
        ("Ethernet0/qos/pfc_rx_priorities", (), "PORT_QOS_MAP", {"/Ethernet0/pfc_enable": ""}),
        ("Ethernet0/qos/pfc_watchdog/detection_ms", 300, "PFC_WD", {"/Ethernet0/detection_time": "300"}),
        ("Ethernet0/qos/pfc_watchdog/priorities", (3,), "PORT_QOS_MAP", {"/Ethernet0/pfcwd_sw_enable": "3"}),
        ("Ethernet0/qos/pfc_watchdog", None, "PFC_WD", {"/Ethernet0": None}),
        (
            "Ethernet8/qos/pfc_watchdog",
            WATCHDOG,
            "PFC_WD",
            {"/Ethernet8": {"action": "drop", "detection_time": "200", "restoration_time": "400"}},
        ),
        ("@watchdog_polling_ms", 200, "PFC_WD", {"/GLOBAL/POLL_INTERVAL": "200"}),
        ("Ethernet0/qos/queues/0/scheduler", None, "QUEUE", {"/Ethernet0|0/scheduler": None}),
        (
            "Ethernet0/qos/queues/5",
            {"scheduler": {"type": "strict"}},
            "SCHEDULER",
            {"/scheduler.strict": {"type": "STRICT"}},
        ),
        ("Ethernet0/qos/priority_groups/0", None, "BUFFER_PG", {"/Ethernet0|0": None}),
        (
            "Ethernet0/qos/queues/1/buffer",
            None,
            "BUFFER_QUEUE",
            {
                "/Ethernet0|0-2": None,
                "/Ethernet0|0": {"profile": "egress_lossy_profile"},
                "/Ethernet0|2": {"profile": "egress_lossy_profile"},
            },
        ),
        ("@buffer_pools/egress_lossy/size_bytes", 50000000, "BUFFER_POOL", {"/egress_lossy_pool/size": "50000000"}),
        ("@ntp_servers", ("192.0.2.1",), "NTP_SERVER", {"": {"192.0.2.1": {}}}),
        ("@syslog_servers", ("192.0.2.1",), "SYSLOG_SERVER", {"": {"192.0.2.1": {}}}),
        (
            "@counters/PFCWD",
            {"enabled": True},
            "FLEX_COUNTER_TABLE",
            {"": {"PFCWD": {"FLEX_COUNTER_STATUS": "enable"}}},
        ),
        ("@gnmi_port", 50051, "GNMI", {"": {"gnmi": {"port": "50051"}}}),
        (
            "@high_frequency/queues",
            {
                "enabled": True,
                "interval_us": 10000,
                "samples": (SampledCounters(kind="queues", objects=("Ethernet0/3",), counters=("PACKETS",)),),
            },
            "HIGH_FREQUENCY_TELEMETRY_GROUP",
            {"": {"queues|QUEUE": {"object_counters": ["PACKETS"], "object_names": ["Ethernet0|3"]}}},
        ),
        ("@role", "leaf", "DEVICE_METADATA", {"/localhost/type": "ToRRouter"}),
        (
            "@loopbacks/Loopback0",
            {"addresses": ["10.1.0.1/32"]},
            "LOOPBACK_INTERFACE",
            {"": {"Loopback0": {}, "Loopback0|10.1.0.1/32": {}}},
        ),
    ],
)
def test_a_change_is_a_change_of_the_rows_that_say_it(
    subject: str, new: Any, table: str, operations: dict[str, Any]
) -> None:
    one = made(dumped(watched()), (subject, new))
    assert one.by_hand == ()
    assert patched(one, table) == operations


PROFILE = "AZURE_LOSSLESS"


def test_a_profile_that_all_its_users_change_is_changed_in_place() -> None:
    wanted = [
        (f"{port}/qos/queues/{queue}/wred/green/max_bytes", 1500000) for port in (PORT, OTHER) for queue in (3, 4)
    ]
    one = made(dumped(stock()), *wanted)
    assert [step.operation for step in one.steps] == [
        {"op": "replace", "path": f"/WRED_PROFILE/{PROFILE}/green_max_threshold", "value": "1500000"}
    ]


def test_a_profile_is_copied_where_others_keep_it_and_its_queues_are_taken_apart() -> None:
    one = made(dumped(stock()), (f"{PORT}/qos/queues/3/wred/green/max_bytes", 1500000))
    new = tables(one)
    assert new["WRED_PROFILE"] == {
        PROFILE: stock()["WRED_PROFILE"][PROFILE],
        f"{PROFILE}_2": {**stock()["WRED_PROFILE"][PROFILE], "green_max_threshold": "1500000"},
    }
    assert {key: row for key, row in new["QUEUE"].items() if key.startswith(PORT)} == {
        "Ethernet0|0": {"scheduler": "scheduler.0"},
        "Ethernet0|4": {"scheduler": "scheduler.1", "wred_profile": PROFILE},
        "Ethernet0|3": {"scheduler": "scheduler.1", "wred_profile": f"{PROFILE}_2"},
    }
    assert [step.path.split("/")[1] for step in one.steps] == ["WRED_PROFILE", "QUEUE", "QUEUE", "QUEUE"]


def test_a_copy_that_is_there_already_is_used() -> None:
    first = made(dumped(stock()), (f"{PORT}/qos/queues/3/wred/green/max_bytes", 1500000))
    document = first.files["config_db.json"].decode()
    second = made(document, (f"{OTHER}/qos/queues/3/wred/green/max_bytes", 1500000))
    assert tables(second)["WRED_PROFILE"] == tables(first)["WRED_PROFILE"]
    assert tables(second)["QUEUE"]["Ethernet8|3"]["wred_profile"] == f"{PROFILE}_2"


@pytest.mark.parametrize(
    ("name", "subject", "new", "table", "wanted"),
    [
        ("scheduler.0", "queues/0/scheduler/weight", 20, "SCHEDULER", "scheduler.2"),
        ("scheduler.0", "queues/0/scheduler", Scheduler(type="dwrr", weight=15), "SCHEDULER", "scheduler.1"),
        ("scheduler.0", "queues/0/scheduler/weight", 14, "SCHEDULER", "scheduler.0"),
        ("AZURE", "dscp_to_tc/26", 3, "DSCP_TO_TC_MAP", "AZURE_2"),
        (
            "ingress_lossy_profile",
            "priority_groups/0/buffer/dynamic_th",
            1,
            "BUFFER_PROFILE",
            "ingress_lossy_profile_2",
        ),
    ],
)
def test_copies_are_named_after_what_they_are_copied_from(
    name: str, subject: str, new: Any, table: str, wanted: str
) -> None:
    one = made(dumped(stock()), (f"{PORT}/qos/{subject}", new))
    found = tables(one) if one.files else stock()
    added = found[table].keys() - stock()[table].keys()
    assert added == ({wanted} - stock()[table].keys())
    assert name in found[table]
    assert wanted in json.dumps({key: rows for key, rows in found.items() if key != table})


def lossless(cable: str, name: str = "pg_lossless_400000_5m_profile") -> dict[str, Any]:
    """A stock switch in the dynamic model, whose ports share a lossless profile of the owner's."""
    profile = {"pool": "ingress_lossless_pool", "size": "80000", "xon": "19456", "xoff": "60000", "dynamic_th": "0"}
    base = stock()
    base["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    return base | {
        "BUFFER_PROFILE": base["BUFFER_PROFILE"] | {name: profile},
        "BUFFER_PG": base["BUFFER_PG"] | {f"{port}|3-4": {"profile": name} for port in (PORT, OTHER)},
        "CABLE_LENGTH": {"AZURE": {PORT: cable, OTHER: "5m"}},
    }


def test_a_lossless_copy_has_the_name_that_buffermgrd_looks_for() -> None:
    one = made(
        dumped(lossless("40m")),
        (f"{PORT}/qos/priority_groups/3/buffer/headroom/xoff_bytes", 70000),
        (f"{PORT}/qos/priority_groups/4/buffer/headroom/xoff_bytes", 70000),
    )
    assert one.by_hand == ()
    assert tables(one)["BUFFER_PG"]["Ethernet0|3-4"] == {"profile": "pg_lossless_400000_40m_profile"}
    assert tables(one)["BUFFER_PROFILE"]["pg_lossless_400000_40m_profile"]["xoff"] == "70000"


def bracketed() -> dict[str, Any]:
    """A stock switch as before 202205, with references in brackets and rows for lists of ports."""
    base = stock()
    both = f"{PORT},{OTHER}"
    base["QUEUE"] = {
        f"{both}|0": {"scheduler": "[SCHEDULER|scheduler.0]"},
        f"{both}|3-4": {"scheduler": "[SCHEDULER|scheduler.1]", "wred_profile": f"[WRED_PROFILE|{PROFILE}]"},
    }
    base["BUFFER_PG"] = {f"{both}|0": {"profile": "[BUFFER_PROFILE|ingress_lossy_profile]"}}
    base["BUFFER_PROFILE"]["ingress_lossy_profile"]["pool"] = "[BUFFER_POOL|ingress_lossless_pool]"
    return base


def test_brackets_and_lists_of_ports_stay_as_their_owner_spells_them() -> None:
    one = made(dumped(bracketed()), (f"{PORT}/qos/queues/3/wred/green/max_bytes", 1500000))
    assert one.by_hand == ()
    assert tables(one)["QUEUE"] == {
        "Ethernet0,Ethernet8|0": {"scheduler": "[SCHEDULER|scheduler.0]"},
        "Ethernet8|3-4": {"scheduler": "[SCHEDULER|scheduler.1]", "wred_profile": f"[WRED_PROFILE|{PROFILE}]"},
        "Ethernet0|4": {"scheduler": "[SCHEDULER|scheduler.1]", "wred_profile": f"[WRED_PROFILE|{PROFILE}]"},
        "Ethernet0|3": {"scheduler": "[SCHEDULER|scheduler.1]", "wred_profile": f"[WRED_PROFILE|{PROFILE}_2]"},
    }
    assert one.disruption == "refused"
    assert "a fault (bracket-reference)" in one.steps[0].reason


def test_what_the_switch_works_out_follows_and_is_told() -> None:
    one = made(dumped(stock(CABLE_LENGTH={"AZURE": {PORT: "5m", OTHER: "5m"}})), (f"{PORT}/cable_length_m", 40))
    assert {subject_text(change.subject) for change in one.follows} == {
        f"{NAME}/{PORT}/qos/priority_groups/{group}/buffer/{part}"
        for group in (3, 4)
        for part in ("size_bytes", "headroom/xoff_bytes")
    }
    both = made(dumped(stock()), (f"{PORT}/qos/pfc_rx_priorities", (3,)))
    assert [subject_text(change.subject) for change in both.follows] == [f"{NAME}/{PORT}/qos/pfc_tx_priorities"]


@pytest.mark.parametrize(
    ("subject", "new", "why"),
    [
        (
            "Ethernet0/lanes",
            4,
            "ports get other lanes by `config interface breakout`, which makes them and their tables again; QoS that "
            "it loads (-l) may come before the ports exist and fail: set it again after that (sonic-swss 3234)",
        ),
        (
            "@static_routes",
            (StaticRoute(prefix="10.9.0.0/16", next_hop="blackhole"),),
            "the routing daemon's own file says it, which is not edited: change frr.conf, then type the same in vtysh, "
            "or restart bgp (`vtysh -b` only adds)",
        ),
        ("Ethernet16/mtu_bytes", 9100, "there is no `Ethernet16` (did you mean `Ethernet0` or `Ethernet8`?)"),
        ("Ethernet0/mtu_bytes", None, f"{NAME}/Ethernet0/mtu_bytes would be `9100`, not none"),
        ("Ethernet0/qos/queues/3/wred/green", "x", "`x`; expected WredColor"),
        (
            "Ethernet0/qos/priority_groups/0/buffer/pool",
            "none_such",
            "the file would have a fault (dangling-reference: BUFFER_POOL, none_such_pool, pool)",
        ),
    ],
)
def test_what_cannot_be_spelt_is_left_to_be_done_by_hand(subject: str, new: Any, why: str) -> None:
    one = made(dumped(stock()), (subject, new), ("Ethernet8/mtu_bytes", 1500))
    assert [item.line for item in one.by_hand] == [f"{NAME}/{subject}: {why}"]
    assert [step.path for step in one.steps] == ["/PORT/Ethernet8/mtu"]


def test_a_field_of_later_releases_is_refused_with_the_release_that_has_it() -> None:
    older = stock(VERSIONS={"DATABASE": {"VERSION": "version_202311_03"}})
    subject = "@buffer_pools/ingress_lossless/percentage"
    assert [item.line for item in made(dumped(older), (subject, 90)).by_hand] == [
        f"{NAME}/{subject}: the file would have a fault (unknown-field: BUFFER_POOL/ingress_lossless_pool/percentage, "
        "release 202311, SONiC has it since 202405)"
    ]


def test_a_part_of_the_model_that_differs_is_named_with_its_fields() -> None:
    document = dumped(watched())
    port = next(interface for interface in read(watched()).device.interfaces if interface.name == PORT)
    one = made(document, (PORT, None), old=replace(port, mtu_bytes=1500, side="host"))
    assert [item.line for item in one.by_hand] == [
        f"{NAME}/{PORT}: it is Interface `{PORT}` with mtu_bytes `9100`, not `1500`, for which the change was made"
    ]


def test_fields_that_no_file_states_do_not_contradict_a_change() -> None:
    port = next(interface for interface in read(watched()).device.interfaces if interface.name == PORT)
    assert port.side is UNKNOWN
    (refused,) = made(dumped(watched()), (PORT, None), old=replace(port, side=None)).by_hand
    assert refused.line.endswith("ports come and go with their breakout, and get all of their settings again")


def test_a_document_that_says_something_else_than_was_thought_is_left_alone() -> None:
    one = made(dumped(stock()), (f"{PORT}/mtu_bytes", 9216), old=1500)
    assert [item.line for item in one.by_hand] == [
        f"{NAME}/{PORT}/mtu_bytes: it is `9100`, not `1500`, for which the change was made"
    ]
    assert one.files == {}


def test_a_file_that_is_no_json_is_a_problem() -> None:
    with pytest.raises(InputProblems):
        made("{", (f"{PORT}/mtu_bytes", 9216))


def test_a_platform_is_asked_for_its_editor() -> None:
    one = find_editor("sonic")
    assert one is not None
    assert one.edit({"config_db.json": dumped(stock()).encode()}, [], name=NAME) == EditResult()
    with pytest.raises(KeyError):
        find_editor("none such")


LAYOUTS: dict[str, Callable[[Any], str]] = {
    "by four": dumped,
    "minified": lambda data: json.dumps(data, separators=(",", ":")),
    "by tabs": lambda data: json.dumps(data, indent="\t"),
    "keys sorted": lambda data: json.dumps(data, indent=2, sort_keys=True),
    "with CR LF": lambda data: json.dumps(data, indent=4).replace("\n", "\r\n"),
    "with a byte order mark": lambda data: "\ufeff" + json.dumps(data),
    "spaced": lambda data: json.dumps(data, separators=(" , ", " : ")),
    "rows in a line": lambda data: _rows_in_a_line(data),
}


def _rows_in_a_line(data: Any) -> str:
    tables = [
        f'"{table}": {{\n   ' + ",\n   ".join(f'"{key}": {json.dumps(row)}' for key, row in rows.items()) + "\n }"
        for table, rows in data.items()
    ]
    return "{\n " + ",\n ".join(tables) + "\n}\n"


@cache
def _own() -> Any:
    """What nodrop writes itself, cut to two ports, under the name of the others."""
    path = GOLDEN / "two-by-two" / "leaf1" / "config_db.json"
    data = json.loads(path.read_text())
    data["DEVICE_METADATA"]["localhost"]["hostname"] = NAME
    ports = {port for port in data["PORT"] if port not in (PORT, OTHER)}
    for table, rows in data.items():
        kept = {key: row for key, row in rows.items() if key.partition("|")[0] not in ports}
        data[table] = {key: {f: v for f, v in row.items() if f not in ports} for key, row in kept.items()}
    return {table: rows for table, rows in data.items() if rows}


DIALECTS: dict[str, Callable[[], Any]] = {
    "traditional": watched,
    "dynamic": lambda: lossless("40m"),
    "brackets": bracketed,
    "own": _own,
}
CATALOGUE: list[tuple[str, list[Any]]] = [
    ("{port}/mtu_bytes", [1500, 9000, 9216]),
    ("{port}/enabled", [True, False]),
    ("{port}/fec", ["rs", "none", None]),
    ("{port}/description", ['a "b" \\ c', None]),
    ("{port}/cable_length_m", [5, 40, 300]),
    ("{port}/qos/pfc_rx_priorities", [(), (3,), (3, 4)]),
    (
        "{port}/qos/pfc_watchdog",
        [None, WATCHDOG, PfcWatchdog(priorities=(3,), detection_ms=300, restoration_ms=None, action=None)],
    ),
    ("{port}/qos/dscp_to_tc/26", [3, 4, None]),
    ("{port}/qos/dscp_to_tc/46", [5, 6]),
    ("{port}/qos/tc_to_queue/5", [5, 6]),
    ("{port}/qos/tc_to_priority_group/5", [0, 5]),
    ("{port}/qos/queues/3/wred/green/max_bytes", [1500000, 2097152]),
    ("{port}/qos/queues/3/wred/ecn_colors", [("green",), ("green", "yellow", "red")]),
    ("{port}/qos/queues/3/scheduler/weight", [15, 30]),
    ("{port}/qos/queues/0/scheduler", [Scheduler(type="strict"), Scheduler(type="dwrr", weight=14), None]),
    ("{port}/qos/queues/0/buffer/dynamic_th", [3, 7]),
    ("{port}/qos/priority_groups/0/buffer/dynamic_th", [1, 3]),
    ("@watchdog_polling_ms", [100, 200]),
    ("@ntp_servers", [(), ("192.0.2.1", "192.0.2.2")]),
    ("@counters/QUEUE", [{"enabled": True, "interval_ms": 1000}]),
]
CHANGES = st.sampled_from(CATALOGUE).flatmap(lambda one: st.tuples(st.just(one[0]), st.sampled_from(one[1])))
FOLLOWS = ("priority_groups", "pfc_tx_priorities", "@buffer_pools")
"""What may be different beside what was changed: the switch works it out."""
REFUSED = (" has no `", "there is no `", "the file would have a fault (profile-of-another-speed: ")
"""Why a change is not made: a row is missing, or a port has a profile by name that is for another cable length."""


@given(
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from(sorted(LAYOUTS)),
    st.lists(
        st.tuples(CHANGES, st.sampled_from([PORT, OTHER])),
        min_size=1,
        max_size=6,
        unique_by=lambda one: (one[0][0], one[1]),
    ),
)
@pytest.mark.nightly
def test_any_document_takes_any_changes_and_nothing_else(
    dialect: str, layout: str, wanted: Sequence[tuple[tuple[str, Any], str]]
) -> None:
    data = DIALECTS[dialect]()
    document = LAYOUTS[layout](data)
    data = json.loads(document.removeprefix("\ufeff"))
    changes = list({subject.format(port=port): value for (subject, value), port in wanted}.items())
    one = made(document, *changes)
    refused = {subject_text(item.change.subject[1:]): item.line for item in one.by_hand}
    assert all(any(word in line for word in REFUSED) for line in refused.values()), refused
    after = one.files["config_db.json"].decode() if one.files else document
    kept = [(subject, value) for subject, value in changes if subject not in refused]
    _compare(read(document).device, read(after).device, kept, one)
    assert applied(json.loads(one.patch), data) == json.loads(after.removeprefix("\ufeff"))
    _compare_bytes(document, after)


def _compare(old: Device, new: Device, changes: Sequence[tuple[str, Any]], one: EditResult) -> None:
    fabric = Fabric(name="", mode="lossless", devices=(old,))
    for subject, value in changes:
        fabric = set_value(fabric, (NAME, *parse_subject(subject)), value)
    told = {change.subject for change in one.follows}
    for found in differences(fabric.devices[0], new):
        area, *rest = found.path
        subject = (NAME, *rest) if area == "interfaces" else (NAME, f"@{area}", *rest)
        assert any(word in subject for word in FOLLOWS), subject_text(subject)
        assert subject in told, subject_text(subject)


def _compare_bytes(document: str, after: str) -> None:
    before, now = entries(document), entries(after)
    common = before.keys() & now.keys()
    changed = {path for path in common if _said(before[path]) != _said(now[path])}
    assert {path: before[path] for path in common - changed} == {path: now[path] for path in common - changed}
    assert document.partition("{")[0] == after.partition("{")[0]
    assert document.rpartition("}")[2] == after.rpartition("}")[2]


def _said(entry: str) -> Any:
    return json.loads(f"{{{entry}}}")


def test_a_tunnel_and_the_hash_are_changed_in_their_rows() -> None:
    document = stock() | {
        "TUNNEL": {"MuxTunnel0": {"tunnel_type": "IPINIP", "dscp_mode": "pipe", "ecn_mode": "standard"}},
        "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["DST_IP"]}},
    }
    changes = ("@tunnels/MuxTunnel0/dscp_mode", "uniform"), ("@hash_fields", ("dst-ip", "l4-src-port"))
    one = made(dumped(document), *changes)
    assert one.by_hand == ()
    after = json.loads(one.files["config_db.json"])
    assert after["TUNNEL"]["MuxTunnel0"] == {"tunnel_type": "IPINIP", "dscp_mode": "uniform", "ecn_mode": "standard"}
    assert after["SWITCH_HASH"]["GLOBAL"]["ecmp_hash"] == ["DST_IP", "L4_SRC_PORT"]


def test_a_buffer_that_is_not_known_is_no_use_of_a_profile() -> None:
    (old,) = (port for port in read(stock()).device.interfaces if port.name == PORT)
    groups = tuple(replace(group, buffer=UNKNOWN) for group in old.qos.priority_groups)
    new = replace(old, qos=replace(old.qos, priority_groups=groups))
    rows = {table: {PORT: {0: {"profile": f"of_{table}"}}} for table in ("BUFFER_PG", "BUFFER_QUEUE")}

    def used(port: Interface) -> list[tuple[str, Any]]:
        return [
            (use.table, use.cell) for use in _buffer_uses_of_port(rows, old, port, NAME, ()) if use.cell == (PORT, 0)
        ]

    assert used(old) == [("BUFFER_PG", (PORT, 0)), ("BUFFER_QUEUE", (PORT, 0))]
    assert used(new) == [("BUFFER_QUEUE", (PORT, 0))]
