"""Wrong configurations that SONiC's YANG models refuse, each told once; and wrong ones that they let pass, untold here.

All verdicts are those of SONiC's own validation (sonic-yang-mgmt over libyang 1, and over libyang 3) with the models of
202505.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.platforms.sonic import schema_check, schema_rows
from nodrop.platforms.sonic.config import MAX_REMARKS_PER_SWITCH
from nodrop.platforms.sonic.schema import schema_of_release, schema_releases
from support.sonic_configs import read, stock

TOLD = {
    "address-without-interface-row", "bracket-reference", "broken-condition", "comma-port-list", "dangling-reference",
    "malformed-value", "missing-field", "unknown-field", "unknown-table", "value-out-of-range",
}  # fmt: skip
GONE = None
PORT = ("PORT", "Ethernet0")
MAP = ("PORT_QOS_MAP", "Ethernet0")
WRED = ("WRED_PROFILE", "AZURE_LOSSLESS")
SHAPER = ("SCHEDULER", "scheduler.1")
LOSSY = ("BUFFER_PROFILE", "ingress_lossy_profile")
POOL = ("BUFFER_POOL", "ingress_lossless_pool")
LOCAL = ("DEVICE_METADATA", "localhost")
WATCHED = ("PFC_WD", "Ethernet0")
POLLING = ("PFC_WD", "GLOBAL")

Edits = dict[tuple[str, ...], Any]


def edited(edits: Edits) -> dict[str, Any]:
    """Return the stock configuration, watched on both ports, with values set or taken away at some paths."""
    watched = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
    ports = {port: {**watched} for port in ("Ethernet0", "Ethernet8")}
    config = stock(PFC_WD={"GLOBAL": {"POLL_INTERVAL": "200"}, **ports})
    for path, value in edits.items():
        inner = config
        for step in path[:-1]:
            inner = inner.setdefault(step, {})
        if value is GONE:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
    return config


REFUSED: dict[str, tuple[Edits, str]] = {
    "a table that is a text": ({("CRM",): "x"}, "malformed-value"),
    "a table that is a list": ({("CRM",): []}, "malformed-value"),
    "a table of the data plane that is a number": ({("CABLE_LENGTH",): 5}, "malformed-value"),
    "a row that is a number": ({("CRM",): {"Config": 5}}, "malformed-value"),
    "a row that is a text": ({("NTP_SERVER", "192.0.2.1"): "x"}, "malformed-value"),
    "a row without fields, as the database holds it": (
        {("LOOPBACK_INTERFACE", "Loopback1"): {"NULL": "NULL"}},
        "malformed-value",
    ),
    "a second port without lanes": ({("PORT", "Ethernet8", "lanes"): GONE}, "missing-field"),
    "a priority group without a profile": ({("BUFFER_PG", "Ethernet0|5"): {}}, "missing-field"),
    "a queue without a buffer profile": ({("BUFFER_QUEUE", "Ethernet0|5"): {}}, "missing-field"),
    "a reference in brackets": (
        {("QUEUE", "Ethernet0|0", "scheduler"): "[SCHEDULER|scheduler.0]"},
        "bracket-reference",
    ),
    "a reference in brackets in a buffer": (
        {(*LOSSY, "pool"): "[BUFFER_POOL|ingress_lossless_pool]"},
        "bracket-reference",
    ),
    "a list of ports": ({("QUEUE", "Ethernet0,Ethernet8|1"): {"scheduler": "scheduler.0"}}, "comma-port-list"),
    "a scheduler that is not there": ({("QUEUE", "Ethernet0|0", "scheduler"): "scheduler.9"}, "dangling-reference"),
    "a DSCP map that is not there": ({(*MAP, "dscp_to_tc_map"): "AZUR"}, "dangling-reference"),
    "a pool that is not there": ({(*LOSSY, "pool"): "no_pool"}, "dangling-reference"),
    "a buffer profile that is not there": ({("BUFFER_PG", "Ethernet0|0", "profile"): "no"}, "dangling-reference"),
    "a WRED profile that is not there": ({("QUEUE", "Ethernet0|3-4", "wred_profile"): "no"}, "dangling-reference"),
    "a map of a port that is not there": ({("PORT_QOS_MAP", "Ethernet99"): {}}, "dangling-reference"),
    "a watchdog on a port that is not there": (
        {("PFC_WD", "Ethernet99"): {"detection_time": "400"}},
        "dangling-reference",
    ),
    "a cable of a port that is not there": ({("CABLE_LENGTH", "AZURE", "Ethernet99"): "5m"}, "dangling-reference"),
    "a profile list that names no profile": (
        {("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet0"): {"profile_list": "ingress_lossy_profile,no"}},
        "dangling-reference",
    ),
    "PFC on priority 8": ({(*MAP, "pfc_enable"): "8"}, "malformed-value"),
    "PFC with a space": ({(*MAP, "pfc_enable"): "3, 4"}, "malformed-value"),
    "a watchdog mask with a dash": ({(*MAP, "pfcwd_sw_enable"): "3-4"}, "malformed-value"),
    "a DSCP of 64": ({("DSCP_TO_TC_MAP", "AZURE", "64"): "3"}, "malformed-value"),
    "a traffic class of 16": ({("DSCP_TO_TC_MAP", "AZURE", "26"): "16"}, "value-out-of-range"),
    "a traffic class that is no number": ({("DSCP_TO_TC_MAP", "AZURE", "26"): "x"}, "malformed-value"),
    "a priority group of 8": ({("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3"): "8"}, "malformed-value"),
    "a PFC priority of 8": ({("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "8"): "3"}, "malformed-value"),
    "a map with a long name": ({("DSCP_TO_TC_MAP", "A" * 33): {"3": "3"}}, "malformed-value"),
    "a detection time that is too short": ({(*WATCHED, "detection_time"): "99"}, "value-out-of-range"),
    "a detection time that is too long": ({(*WATCHED, "detection_time"): "5001"}, "value-out-of-range"),
    "a detection time below the polling": ({(*WATCHED, "detection_time"): "150"}, "broken-condition"),
    "a restoration time that is too long": ({(*WATCHED, "restoration_time"): "60001"}, "value-out-of-range"),
    "a restoration time below the polling": ({(*WATCHED, "restoration_time"): "150"}, "broken-condition"),
    "a polling time that is too short": ({(*POLLING, "POLL_INTERVAL"): "99"}, "value-out-of-range"),
    "a polling time of a port": ({(*WATCHED, "POLL_INTERVAL"): "200"}, "rejected-row"),
    "an action of all ports": ({(*POLLING, "action"): "drop"}, "broken-condition"),
    "an action that there is not": ({(*WATCHED, "action"): "shutdown"}, "malformed-value"),
    "a big red switch": ({(*POLLING, "BIG_RED_SWITCH"): "enable"}, "watchdog-drops-everything"),
    "a field of a later release": ({(*WATCHED, "pfc_stat_history"): "enable"}, "unknown-field"),
    "WRED with the least above the most": ({(*WRED, "green_min_threshold"): "3000000"}, "broken-condition"),
    "WRED with the most alone": ({(*WRED, "green_min_threshold"): GONE}, "broken-condition"),
    "a drop probability of 101": ({(*WRED, "green_drop_probability"): "101"}, "value-out-of-range"),
    "an ECN mode that there is not": ({(*WRED, "ecn"): "ecn_all_colors"}, "malformed-value"),
    "WRED switched on in capitals": ({(*WRED, "wred_green_enable"): "TRUE"}, "malformed-value"),
    "a weight of 0": ({(*SHAPER, "weight"): "0"}, "value-out-of-range"),
    "a weight of 101": ({(*SHAPER, "weight"): "101"}, "value-out-of-range"),
    "a scheduler type that there is not": ({(*SHAPER, "type"): "SP"}, "malformed-value"),
    "a peak rate without a committed one": ({(*SHAPER, "pir"): "1000"}, "broken-condition"),
    "a peak rate below the committed one": ({(*SHAPER, "cir"): "2000", (*SHAPER, "pir"): "1000"}, "broken-condition"),
    "a burst without a rate": ({(*SHAPER, "cbs"): "1000"}, "broken-condition"),
    "a dynamic threshold of 8": ({(*LOSSY, "dynamic_th"): "8"}, "value-out-of-range"),
    "a dynamic threshold of -9": ({(*LOSSY, "dynamic_th"): "-9"}, "value-out-of-range"),
    "a buffer profile without a size": ({(*LOSSY, "size"): GONE}, "missing-field"),
    "a buffer profile without a pool": ({(*LOSSY, "pool"): GONE}, "missing-field"),
    "a pool mode that there is not": ({(*POOL, "mode"): "adaptive"}, "malformed-value"),
    "a pool without a type": ({(*POOL, "type"): GONE}, "missing-field"),
    "a percentage beside a size": ({(*POOL, "percentage"): "50"}, "broken-condition"),
    "a port without lanes": ({(*PORT, "lanes"): GONE}, "missing-field"),
    "a port without a speed": ({(*PORT, "speed"): GONE}, "missing-field"),
    "a cable length without its unit": ({("CABLE_LENGTH", "AZURE", "Ethernet0"): "40"}, "malformed-value"),
    "autonegotiation by number": ({(*PORT, "autoneg"): "1"}, "malformed-value"),
    "a state that there is not": ({(*PORT, "admin_status"): "enabled"}, "malformed-value"),
    "FEC that there is not": ({(*PORT, "fec"): "rs544"}, "malformed-value"),
    "an MTU of 9300": ({(*PORT, "mtu"): "9300"}, "value-out-of-range"),
    "a speed beyond the range": ({(*PORT, "speed"): "1600000"}, "value-out-of-range"),
    "a misspelt field of a port": ({(*PORT, "sped"): "400000"}, "unknown-field"),
    "an address without a row of its port": (
        {("INTERFACE", "Ethernet0|10.0.0.0/31"): {}},
        "address-without-interface-row",
    ),
    "an address without a row of its loopback": (
        {("LOOPBACK_INTERFACE", "Loopback0|10.0.0.1/32"): {}},
        "address-without-interface-row",
    ),
    "an address without a length": (
        {("INTERFACE", "Ethernet0"): {}, ("INTERFACE", "Ethernet0|10.0.0.0"): {}},
        "malformed-value",
    ),
    "a neighbor by the name of a port": ({("BGP_NEIGHBOR", "Ethernet0"): {"asn": "1"}}, "malformed-value"),
    "time servers of a management VRF that is off": ({("NTP", "global", "vrf"): "mgmt"}, "broken-condition"),
    "a role that there is not": ({(*LOCAL, "type"): "Leaf"}, "malformed-value"),
    "a buffer model that there is not": ({(*LOCAL, "buffer_model"): "static"}, "malformed-value"),
    "a version of no shape": ({("VERSIONS", "DATABASE", "VERSION"): "202505"}, "malformed-value"),
    "an AS number of 0": ({("BGP_NEIGHBOR", "10.0.0.1"): {"asn": "0"}}, "broken-condition"),
    "a table without a model": ({("ARS_PROFILE", "default"): {}}, "unknown-table"),
    "a counter group polled too often": (
        {("FLEX_COUNTER_TABLE", "QUEUE"): {"POLL_INTERVAL": "50"}},
        "value-out-of-range",
    ),
}

ACCEPTED: dict[str, Edits] = {
    "a watchdog without a detection time": {(*WATCHED, "detection_time"): GONE},
    "a watchdog without a restoration time": {(*WATCHED, "restoration_time"): GONE},
    "PFC without a watchdog": {WATCHED: GONE},
    "a watchdog on no priority": {(*MAP, "pfcwd_sw_enable"): GONE},
    "a watchdog on other priorities": {(*MAP, "pfcwd_sw_enable"): "5"},
    "no PFC at all": {(*MAP, "pfc_enable"): ""},
    "a lossless class in priority group 0": {("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3"): "0"},
    "two classes in one priority group": {("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "5"): "3"},
    "a lossless group on a lossy profile": {("BUFFER_PG", "Ethernet0|3-4"): {"profile": "ingress_lossy_profile"}},
    "a lossless queue on a lossy buffer": {("BUFFER_QUEUE", "Ethernet0|3-4"): {"profile": "egress_lossy_profile"}},
    "ranges that overlap": {("BUFFER_PG", "Ethernet0|0-3"): {"profile": "ingress_lossy_profile"}},
    "a range that is reversed": {("BUFFER_PG", "Ethernet0|4-3"): {"profile": "ingress_lossy_profile"}},
    "a queue of 99": {("QUEUE", "Ethernet0|99"): {"scheduler": "scheduler.0"}},
    "a queue that is no number": {("QUEUE", "Ethernet0|abc"): {"scheduler": "scheduler.0"}},
    "a queue of 9": {("TC_TO_QUEUE_MAP", "AZURE", "3"): "9"},
    "the priority of a scheduler": {(*SHAPER, "priority"): "3"},
    "WRED beyond what the daemon counts": {(*WRED, "green_max_threshold"): "3000000000"},
    "WRED with the least alone": {(*WRED, "green_max_threshold"): GONE},
    "both thresholds": {(*LOSSY, "static_th"): "1000"},
    "neither threshold": {(*LOSSY, "dynamic_th"): GONE},
    "a static threshold on a dynamic pool": {(*LOSSY, "dynamic_th"): GONE, (*LOSSY, "static_th"): "1000"},
    "headroom on an egress pool": {("BUFFER_PROFILE", "egress_lossy_profile", "xoff"): "1000"},
    "a pool beyond the chip": {(*POOL, "size"): "99999999999"},
    "two ports on one lane": {("PORT", "Ethernet8", "lanes"): "0,1,2,3,4,5,6,7"},
    "an odd speed": {(*PORT, "speed"): "123"},
    "a lossless port that is down": {(*PORT, "admin_status"): "down"},
    "a cable of 0m": {("CABLE_LENGTH", "AZURE", "Ethernet0"): "0m"},
    "a port without a cable": {("CABLE_LENGTH", "AZURE", "Ethernet0"): GONE},
    "an empty DSCP": {("DSCP_TO_TC_MAP", "AZURE", ""): "1"},
    "ECN with WRED off": {(*WRED, "wred_green_enable"): "false"},
}

UNTIL_202511 = {
    "a map without entries": ({("TC_TO_QUEUE_MAP", "SPARE"): {}}, ("TC_TO_QUEUE_MAP", "SPARE")),
    "a list of cables without ports": ({("CABLE_LENGTH", "SPARE"): {}}, ("CABLE_LENGTH", "SPARE")),
    "a list of profiles that ends in a comma": (
        {("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet0"): {"profile_list": "ingress_lossy_profile,"}},
        ("BUFFER_PORT_INGRESS_PROFILE_LIST", "Ethernet0", "profile_list"),
    ),
    "an empty list of profiles": (
        {("BUFFER_PORT_EGRESS_PROFILE_LIST", "Ethernet0"): {"profile_list": ""}},
        ("BUFFER_PORT_EGRESS_PROFILE_LIST", "Ethernet0", "profile_list"),
    ),
    "a list of speeds that ends in a comma": ({(*PORT, "adv_speeds"): "400000,"}, (*PORT, "adv_speeds")),
}
"""What libyang 1 refuses and libyang 3 accepts, with the path of each."""

BY_DAEMONS = {"rejected-row", "watchdog-drops-everything"}
"""What is told at a place by what the daemons make of it, and so not by the models again."""


def test_the_configuration_that_the_cases_change_is_in_order() -> None:
    assert read(edited({})).remarks == ()


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "-"))
def test_what_the_models_refuse_is_told_with_its_line(case: str) -> None:
    edits, kind = REFUSED[case]
    found = [remark for remark in read(edited(edits)).remarks if remark.kind in TOLD | BY_DAEMONS]
    assert [remark.kind for remark in found] == [kind]
    assert [remark.place is not None for remark in found] == [True]


@pytest.mark.parametrize("release", ["202505", "202511", "202605"])
@pytest.mark.parametrize("case", UNTIL_202511, ids=lambda case: case.replace(" ", "-"))
def test_what_libyang_1_refuses_is_told_of_releases_that_have_it(case: str, release: str) -> None:
    edits, path = UNTIL_202511[case]
    config = edited({**edits, ("VERSIONS", "DATABASE", "VERSION"): f"version_{release}_01"})
    found = [remark.facts["path"] for remark in read(config).remarks if remark.kind == "malformed-value"]
    assert found == ([] if release == "202605" else ["/".join(path)])


def test_another_remark_on_a_table_or_row_hides_no_fault_of_it() -> None:
    waits = "router bgp 65000\n bgp suppress-fib-pending\n neighbor 10.0.0.1 remote-as 65001\n"
    kept = {(*LOCAL, "docker_routing_config_mode"): "split-unified"}
    unusual = {("WRED_PROFILE",): {"mine": {"colour": "red"}}, ("QUEUE",): {}, (*LOCAL, "colour"): "red", **kept}
    found = {(remark.kind, remark.facts.get("path")) for remark in read(edited(unusual), waits).remarks}
    assert {kind for kind, _ in found} >= {"name-not-known-to-tools", "hardware-wait-half-set"}
    assert {path for kind, path in found if kind == "unknown-field"} == {
        "WRED_PROFILE/mine/colour",
        "DEVICE_METADATA/localhost/colour",
    }


def test_null_is_a_row_without_fields_where_reload_does_not_validate() -> None:
    config = edited({("LOOPBACK_INTERFACE", "Loopback1"): {"NULL": "NULL"}})
    config["VERSIONS"] = {"DATABASE": {"VERSION": "version_202411_02"}}
    assert not [remark for remark in read(config).remarks if remark.kind in TOLD]


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.replace(" ", "-"))
def test_what_the_models_let_pass_is_left_to_other_rules(case: str) -> None:
    schema_kinds = TOLD - {"malformed-value", "bracket-reference", "comma-port-list"}
    assert [remark for remark in read(edited(ACCEPTED[case])).remarks if remark.kind in schema_kinds] == []


def test_all_tables_of_the_cases_are_known_to_every_release() -> None:
    tables = {path[0] for edits, kind in REFUSED.values() for path in edits if kind != "unknown-table"}
    assert [table for table in sorted(tables) if schema_of_release("202305").table(table) is None] == []


def test_names_of_unknown_tables_are_guessed_for_as_many_as_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    guessed: list[str] = []
    monkeypatch.setattr(schema_check, "did_you_mean_hint", lambda word, _known: guessed.append(word) or "")
    reading = read({**stock(), **{f"X_{number}": {} for number in range(3 * MAX_REMARKS_PER_SWITCH)}})
    assert len(reading.remarks) == MAX_REMARKS_PER_SWITCH
    assert len(guessed) <= MAX_REMARKS_PER_SWITCH + 1


def test_the_nearest_word_is_looked_for_of_listed_faults_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    guessed: list[str] = []
    monkeypatch.setattr(schema_rows, "did_you_mean_hint", lambda word, *_: guessed.append(word) or "")
    cells = {f"x{number}": "1" for number in range(2 * MAX_REMARKS_PER_SWITCH)}
    reading = read({**stock(), "VLAN": {"Vlan2": cells, "Vlan3": cells, "Vlan4": cells}})
    assert (len(reading.remarks), len(guessed)) == (MAX_REMARKS_PER_SWITCH, MAX_REMARKS_PER_SWITCH)


ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("Ethernet0")
VALUES = ANY | st.lists(ANY, max_size=3) | st.dictionaries(st.text(max_size=2), ANY, max_size=1)


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return a release, and the stock configuration with rows of one table whose fields have any values."""
    release = draw(st.sampled_from(schema_releases()))
    tables = [
        table for name in schema_of_release(release).table_names() if (table := schema_of_release(release).table(name))
    ]
    named = {(table.name, row.name): row for table in tables for row in (*table.fixed.values(), *table.keyed.values())}
    name, row = draw(st.sampled_from([(name, row) for (name, _), row in sorted(named.items(), key=lambda one: one[0])]))
    part = st.sampled_from(["Ethernet0", "Vlan9", "3", " 3", "x", ""])
    fields = st.dictionaries(st.sampled_from(sorted(row.fields)), VALUES)
    key = st.tuples(*(part for _ in row.parts)).map("|".join) if row.parts else st.just(row.name)
    return release, stock(**{name: draw(st.dictionaries(key, fields, min_size=1, max_size=3))})


@given(changed())
def test_no_value_of_a_field_stops_the_check(case: tuple[str, dict[str, Any]]) -> None:
    release, config = case
    config["VERSIONS"] = {"DATABASE": {"VERSION": f"version_{release}_01"}} if release.isdecimal() else {}
    assert set(schema_check.yang_refused_fault_kinds(config)) <= TOLD


@pytest.mark.parametrize("value", [None, 1, [], ["x"], {}, {"x": []}], ids=repr)
def test_a_value_of_any_shape_can_be_searched_for(value: Any) -> None:
    config = edited({("VLAN_MEMBER", "Vlan9|Ethernet0"): {"port": value, "tagging_mode": value}})
    config["VERSIONS"] = {"DATABASE": {"VERSION": "version_202505_01"}}
    assert "unknown-field" in list(schema_check.yang_refused_fault_kinds(config))


def test_a_null_in_a_field_that_does_not_exist_is_one_fault() -> None:
    config = stock(DEVICE_NEIGHBOR={"Ethernet0": {"name": "spine1", "port": "Ethernet0", "lo_addr": None}})
    reported = [(remark.kind, remark.facts["path"]) for remark in read(config).remarks if remark.kind in TOLD]
    assert ("unknown-field", "DEVICE_NEIGHBOR/Ethernet0/lo_addr") in reported
    assert not [path for kind, path in reported if kind == "malformed-value"]
