"""The schema of configurations by release: what it says, and what a configuration that breaks it is told."""

import json
from typing import Any

import pytest

from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading, Remark
from nodrop.platforms.sonic import schema_check
from nodrop.platforms.sonic.schema import (
    SCHEMA_FILE,
    ReleaseSchema,
    release_of_database_version,
    schema_of_release,
    schema_releases,
)
from nodrop.syntax.plain import NOT_PLAIN_YAML, load_simple_yaml_or_marker
from support.sonic_configs import read, stock

ALL = (*schema_releases(), None)


def remarks(release: str = "202505", **tables: Any) -> tuple[Remark, ...]:
    """Read the stock configuration in a release, with some tables in place of its own."""
    versions = {"DATABASE": {"VERSION": f"version_{release}_01"}}
    return read(stock(VERSIONS=versions, **tables)).remarks


def told(release: str = "202505", **tables: Any) -> list[tuple[str, str]]:
    """Kinds of remarks with the path or name that each is about."""
    facts = [(remark.kind, remark.facts) for remark in remarks(release, **tables)]
    return [(kind, each.get("path") or each.get("table") or each["name"]) for kind, each in facts]


def test_the_file_is_read_by_the_quick_reader() -> None:
    assert load_simple_yaml_or_marker(SCHEMA_FILE.read_text()) is not NOT_PLAIN_YAML


@pytest.mark.parametrize("release", ALL, ids=str)
def test_every_table_of_a_release_compiles_and_refers_to_tables_that_there_are(release: str | None) -> None:
    of_release = schema_of_release(release)
    names = set(of_release.table_names())
    assert len(names) > 150
    for name in names:
        table = of_release.table(name)
        assert table is not None
        for row in (*table.fixed.values(), *table.keyed.values()):
            assert row.parts == tuple(part for part in row.fields if part in row.parts), (name, row.name)
            targets = {target for field in row.fields.values() for target, _ in field.kind.targets}
            assert targets <= names, (name, row.name)
            assert {*row.required, *row.defaults} <= row.fields.keys()
            for condition in row.conditions:
                fields = {field.replace("-", "_") for field in row.fields}
                assert condition.names <= fields | row.fields.keys(), (name, condition.text)


def expected(of_release: ReleaseSchema, table: str, field: str) -> str:
    found = of_release.table(table)
    assert found is not None
    (row,) = found.keyed.values()
    return row.fields[field].kind.expected


def test_ranges_are_those_of_the_release() -> None:
    assert expected(schema_of_release("202505"), "PFC_WD", "POLL_INTERVAL") == "a number in 100..3000"
    assert expected(schema_of_release("202511"), "PFC_WD", "POLL_INTERVAL") == "a number in 100..1000"
    assert schema_of_release("202505").describe_other_releases("PFC_WD", "pfc_stat_history") == "since 202511"
    assert schema_of_release("202505").describe_other_releases("PFC_WD", "stat_history") == ""


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("version_202505_01", "202505"),
        ("version_202305_02", "202305"),
        ("version_299912_01", "master"),
        ("version_202211_01", None),
        ("version_3_0_2", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_release_of_a_version(version: object, release: str | None) -> None:
    assert release_of_database_version(version) == release


def watchdog(**fields: str) -> dict[str, dict[str, str]]:
    return {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": {"action": "drop", "detection_time": "400", **fields}}


def in_vlans(*modes: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return VLANs from 8 on that one port is in, with the tagging of each."""
    return {
        "VLAN": {f"Vlan{vlan}": {"vlanid": str(vlan)} for vlan, _ in enumerate(modes, 8)},
        "VLAN_MEMBER": {f"Vlan{vlan}|Ethernet0": {"tagging_mode": mode} for vlan, mode in enumerate(modes, 8)},
    }


MEMBER = {"VLAN": {"Vlan9": {"vlanid": "9"}}, "VLAN_MEMBER": {"Vlan9|Ethernet0": {"tagging_mode": "untagged"}}}


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        ({"LLR_PORT": {"Ethernet0": {}}}, [("unknown-table", "'LLR_PORT'")]),
        ({"PFC_WD": watchdog(big_red="1")}, [("rejected-row", "PFC_WD")]),
        ({"PFC_WD": watchdog(detection_time="5001")}, [("value-out-of-range", "PFC_WD/Ethernet0/detection_time")]),
        ({"PFC_WD": watchdog(detection_time="100")}, [("broken-condition", "PFC_WD/Ethernet0/detection_time")]),
        ({"PFC_WD": {"GLOBAL": {"action": "drop"}}}, [("broken-condition", "PFC_WD/GLOBAL/action")]),
        ({"PFC_WD": {"Ethernet99": {"detection_time": "400"}}}, [("dangling-reference", "Ethernet99")]),
        ({"SCHEDULER": {"s": {"weight": "0"}}, "QUEUE": {}}, [("value-out-of-range", "SCHEDULER/s/weight")]),
        ({"SCHEDULER": {"s": {"pir": "9"}}, "QUEUE": {}}, [("broken-condition", "SCHEDULER/s/pir")]),
        ({"SCHEDULER": {"s": {"cir": "9", "pir": "9"}}, "QUEUE": {}}, []),
        ({"NTP": {"global": {"vrf": "mgmt"}}}, [("broken-condition", "NTP/global/vrf")]),
        (
            {"INTERFACE": {"Ethernet0|10.0.0.0/31": {}}},
            [("address-without-interface-row", "INTERFACE")],
        ),
        (
            {"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0": {}}},
            [("malformed-value", "INTERFACE/Ethernet0|10.0.0.0")],
        ),
        ({"LOGGER": {"a|b": {}}}, [("malformed-value", "LOGGER/a|b")]),
        (
            {"FLEX_COUNTER_TABLE": {"PORT": {"POLL_INTERVAL": 99}}},
            [("value-out-of-range", "FLEX_COUNTER_TABLE/PORT/POLL_INTERVAL")],
        ),
        (
            {"SYSLOG_SERVER": {"10.0.0.1": {"vrf": "[VRF|x]"}}},
            [("bracket-reference", "x")],
        ),
        (
            {"DNS_NAMESERVER": {f"10.0.0.{n}": {} for n in range(4)}},
            [("value-out-of-range", "DNS_NAMESERVER/10.0.0.3")],
        ),
        ({"ACL_TABLE": {"A": {"type": "L3", "ports": "Ethernet0"}}}, [("malformed-value", "ACL_TABLE/A/ports")]),
        ({"ACL_TABLE": {"A": {"type": "L3", "ports": ["Ethernet0"]}}}, []),
        ({"ACL_TABLE": {"A": {}}}, [("missing-field", "ACL_TABLE/A")]),
        ({"platform": "x86_64", "onie_version": "1"}, [("unknown-table", "'platform' (with 1 more)")]),
        ({"platform": "x86_64", "PLATFORMS": {}}, [("unknown-table", "'PLATFORMS'"), ("unknown-table", "'platform'")]),
        ({"ACL_TABLE": {"A": {}, "B": {}, "C": {}}}, [("missing-field", "ACL_TABLE (all 3 rows)")]),
        (
            {"ACL_TABLE": {"A": {}, "B": {"type": "L3"}, "C": {}}},
            [("missing-field", "ACL_TABLE/A"), ("missing-field", "ACL_TABLE/C")],
        ),
        ({"bgpraw": {}}, []),
        (MEMBER, []),
        ({**MEMBER, "INTERFACE": {"Ethernet0": {}}}, [("broken-condition", "VLAN_MEMBER/Vlan9|Ethernet0/port")]),
        (
            {**MEMBER, "MIRROR_SESSION": {"m": {"type": "SPAN", "dst_port": "Ethernet0"}}},
            [("broken-condition", "VLAN_MEMBER/Vlan9|Ethernet0/port")],
        ),
        ({**MEMBER, "MIRROR_SESSION": {"m": {"type": "SPAN", "dst_port": "Ethernet8"}}}, []),
        (in_vlans("untagged", "tagged"), []),
        (
            in_vlans("untagged", "untagged"),
            [
                ("broken-condition", "VLAN_MEMBER/Vlan8|Ethernet0/port"),
                ("broken-condition", "VLAN_MEMBER/Vlan9|Ethernet0/port"),
            ],
        ),
    ],
)
def test_a_configuration_is_told_what_its_release_does_not_take(tables: Any, found: list[tuple[str, str]]) -> None:
    assert told(**tables) == found


RULE = {"ACL_TABLE": {"A": {"type": "L3"}}}


def acl_rule(**fields: str) -> dict[str, Any]:
    return {**RULE, "ACL_RULE": {"A|R": {"PRIORITY": "1", **fields}}}


@pytest.mark.parametrize(
    ("release", "tables", "found"),
    [
        ("202505", acl_rule(IP_TYPE="IPV4", SRC_IP="10.0.0.0/8", L4_SRC_PORT="1"), []),
        ("202505", acl_rule(SRC_IPV6="fd00::/8", IP_TYPE="IPV4"), [("broken-condition", "ACL_RULE/A|R/SRC_IPV6")]),
        ("202505", acl_rule(SRC_IPV6="fd00::/8", DST_IP="10.0.0.0/8"), [("broken-condition", "ACL_RULE/A|R")]),
        ("202505", acl_rule(L4_SRC_PORT="1", L4_SRC_PORT_RANGE="1-2"), [("broken-condition", "ACL_RULE/A|R")]),
        ("202505", acl_rule(SRC_MAC="00:00:00:00:00:01"), [("broken-condition", "ACL_RULE/A|R/SRC_MAC")]),
        ("202505", {"VLAN": {"Vlan9": {"vlanid": "9"}}}, []),
        ("202505", {"VLAN": {"Vlan9": {"vlanid": "8"}}}, [("broken-condition", "VLAN/Vlan9/vlanid")]),
        ("202505", {"VLAN_SUB_INTERFACE": {"Ethernet0.10": {}, "Eth8.10": {"vlan": "10"}}}, []),
        (
            "202505",
            {"VLAN_SUB_INTERFACE": {"Ethernet9.10": {"vlan": "10"}}},
            [("broken-condition", "VLAN_SUB_INTERFACE/Ethernet9.10/name")],
        ),
        ("202505", {"MGMT_PORT": {"eth0": {"speed": "1000"}}}, []),
        ("202505", {"MGMT_PORT": {"eth0": {"speed": "2500"}}}, [("value-out-of-range", "MGMT_PORT/eth0/speed")]),
        ("202505", {"AUTO_TECHSUPPORT": {"GLOBAL": {"max_core_limit": "9.250"}}}, []),
        (
            "202505",
            {"AUTO_TECHSUPPORT": {"GLOBAL": {"max_core_limit": "9.125"}}},
            [("value-out-of-range", "AUTO_TECHSUPPORT/GLOBAL/max_core_limit")],
        ),
        (
            "202505",
            {"AUTO_TECHSUPPORT": {"GLOBAL": {"max_core_limit": "9."}}},
            [("malformed-value", "AUTO_TECHSUPPORT/GLOBAL/max_core_limit")],
        ),
        ("202505", {"SYSLOG_SERVER": {"log.example": {}}}, []),
        ("202505", {"SYSLOG_SERVER": {"log server": {}}}, [("malformed-value", "SYSLOG_SERVER/log server")]),
        ("202505", {"DHCP_SERVER_IPV4_RANGE": {"r": {"range": ["10.0.0.1", "10.0.0.9"]}}}, []),
        (
            "202505",
            {"DHCP_SERVER_IPV4_RANGE": {"r": {"range": ["10.0.0.1", "10.0.0.5", "10.0.0.9"]}}},
            [("broken-condition", "DHCP_SERVER_IPV4_RANGE/r")],
        ),
        ("202505", {"NTP_KEY": {"7": {"value": "secret"}}}, [("malformed-value", "NTP_KEY/7")]),
        ("202511", {"NTP_KEY": {"7": {"value": "secret"}}}, []),
        ("202511", {"DNS_OPTIONS": {"GLOBAL": {"ndots": "2"}}, "DNS_NAMESERVER": {"10.0.0.1": {}}}, []),
        (
            "202511",
            {"DNS_OPTIONS": {"GLOBAL": {"ndots": "2"}}},
            [("broken-condition", "DNS_OPTIONS/GLOBAL")],
        ),
        (
            "202405",
            {"VXLAN_TUNNEL": {"a": {}, "b": {}}},
            [("value-out-of-range", "VXLAN_TUNNEL/b")],
        ),
        ("202411", {"VXLAN_TUNNEL": {"a": {}, "b": {}}}, []),
    ],
)
def test_a_configuration_is_checked_by_the_models_of_its_release(
    release: str, tables: Any, found: list[tuple[str, str]]
) -> None:
    with_path = [remark for remark in remarks(release, **tables) if "path" in remark.facts]
    assert [(remark.kind, remark.facts["path"]) for remark in with_path] == found


def invalid(release: str = "202505", **tables: Any) -> list[str]:
    """Return the kinds of faults for which the models of a release refuse the stock configuration with other tables."""
    versions = {"DATABASE": {"VERSION": f"version_{release}_01"}}
    return list(schema_check.yang_refused_fault_kinds(stock(VERSIONS=versions, **tables)))


def hashed(*fields: str) -> dict[str, Any]:
    return {"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": list(fields)}}}


def matching(fields: list[str]) -> dict[str, Any]:
    return {"ACL_TABLE_TYPE": {"A": {"MATCHES": fields, "ACTIONS": ["PACKET_ACTION"], "BIND_POINTS": ["PORT"]}}}


def with_port(**fields: Any) -> dict[str, Any]:
    ports = stock()["PORT"]
    return {"PORT": {**ports, "Ethernet0": {**ports["Ethernet0"], **fields}}}


LISTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "once": (hashed("SRC_IP", "DST_IP"), []),
    "twice": (hashed("SRC_IP", "DST_IP", "SRC_IP"), ["malformed-value"]),
    "empty-text": (hashed("", "SRC_IP", ""), []),
    "one-number-written-twice": (with_port(adv_speeds="100000, 100000"), ["malformed-value"]),
    "empty-text-with-commas": (with_port(adv_speeds=""), []),
    "all-alone": (with_port(adv_speeds="all"), []),
    "all-and-one": (with_port(adv_speeds="all,100000"), ["broken-condition"]),
    "filled-with-an-empty-text": ({"ACL_TABLE": {"A": {"type": "L3", "ports": [""]}}}, []),
    "some": (matching(["SRC_IP"]), []),
    "none-of-some": (matching([]), ["missing-field"]),
    "empty-texts-of-some": (matching([""]), ["missing-field"]),
}


@pytest.mark.parametrize(("tables", "kinds"), LISTS.values(), ids=LISTS)
def test_a_list_has_each_value_once_and_empty_texts_are_none(tables: dict[str, Any], kinds: list[str]) -> None:
    assert invalid("202605", **tables) == kinds


@pytest.mark.parametrize("name", ["empty-text", "empty-text-with-commas"])
def test_empty_texts_of_a_list_are_refused_until_202511(name: str) -> None:
    tables, _ = LISTS[name]
    assert invalid("202511", **tables) == ["malformed-value"]


NUMBERS = {
    "8": "field signed key",
    "08": "field",
    "010": "field signed key",
    "0x8": "signed key",
    "+8": "field signed key",
    " 8\n": "field signed key",
    "1_0": "field",
    "8.0": "",
    "8e0": "",
    "": "",
    f"{8:030}": "field",
    "9" * 5000: "",
}
"""Texts, and where each is a number: a field of an unsigned or of a signed type, a part of a key."""


@pytest.mark.parametrize("text", NUMBERS, ids=lambda text: repr(text[:9]))
def test_a_number_is_what_sonic_reads_as_one_at_its_place(text: str) -> None:
    places = {
        "field": with_port(index=text),
        "signed": {"PASSW_HARDENING": {"POLICIES": {"expiration": text}}},
        "key": {"CONSOLE_PORT": {text: {"baud_rate": "9600"}}},
    }
    assert " ".join(place for place, tables in places.items() if not invalid(**tables)) == NUMBERS[text]


def test_numbers_are_compared_as_numbers_also_where_they_are_equal() -> None:
    local = stock()["DEVICE_METADATA"]["localhost"]
    metadata = {"DEVICE_METADATA": {"localhost": {**local, "bgp_asn": "65001"}}}
    neighbor = {"local_addr": "10.0.0.2", "name": "n", "asn": " 065001"}
    assert invalid(**metadata, BGP_INTERNAL_NEIGHBOR={"10.0.0.1": neighbor}) == []
    assert invalid(**metadata, BGP_INTERNAL_NEIGHBOR={"10.0.0.1": {**neighbor, "asn": "65002"}}) == ["broken-condition"]


def test_a_row_of_a_fixed_name_has_its_defaults_also_where_it_is_absent() -> None:
    tables = schema_of_release("202505").condition_tables({"SCHEDULER": {}})
    assert tables.row("MGMT_VRF_CONFIG", "vrf_global")["mgmtVrfEnabled"] == "false"
    assert tables.row("VLAN_INTERFACE", "Vlan9") == {}


def test_a_key_is_the_same_with_spaces_around_its_parts() -> None:
    assert invalid(SCHEDULER={" scheduler.0": {"type": "DWRR"}, "scheduler.1 ": {"type": "DWRR"}}) == []
    both = {"scheduler.0": {"type": "DWRR"}, "scheduler.1": {"type": "DWRR"}, " scheduler.1": {"type": "DWRR"}}
    assert invalid(SCHEDULER=both) == ["malformed-value"]


def test_a_default_may_have_spaces() -> None:
    table = schema_of_release("202505").table("BANNER_MESSAGE")
    assert table is not None
    assert table.fixed["global"].defaults["login"] == "Debian GNU/Linux 11"
    assert table.fixed["global"].defaults["logout"] == ""


def test_what_a_later_release_has_is_told_with_that_release() -> None:
    (table,) = remarks("202411", SWITCH_TRIMMING={"GLOBAL": {}})
    assert (table.kind, table.facts["hint"]) == ("ignored-table", "; SONiC has it since 202505")
    (field,) = remarks("202505", PFC_WD=watchdog(pfc_stat_history="enable"))
    assert (field.kind, field.facts["hint"]) == ("unknown-field", "; SONiC has it since 202511")
    assert remarks("202511", PFC_WD=watchdog(pfc_stat_history="enable")) == ()


def test_a_file_of_no_known_release_is_held_against_all_of_them() -> None:
    long_ago: Any = {"VERSIONS": {"DATABASE": {"VERSION": "version_4_0_2"}}}
    assert read(stock(**long_ago, PFC_WD=watchdog(pfc_stat_history="enable"))).remarks == ()
    (remark,) = read(stock(**long_ago, PFC_WD=watchdog(histroy="enable", pfc_stat_histroy="enable"))).remarks[1:]
    assert remark.facts["release"] == "any release from 202305 to master"
    assert remark.facts["hint"] == "; did you mean `pfc_stat_history`?"


def causes(config: Any, *names: str) -> list[list[str]]:
    """What each group of findings of some rules is about, a group in a list of its own."""
    of_config = read(config)
    whole = Fabric(name="test", mode="lossless", devices=(of_config.device,))
    together: dict[str, list[str]] = {}
    rules = [rule for rule in select_lint_rules(shipped_rules()) if rule.name in names]
    for finding in judge(Reading(fabric=whole, remarks=of_config.remarks), rules).findings:
        together.setdefault(finding.group, []).append(finding.message.partition(" ")[0])
    return sorted(map(sorted, together.values()))


def test_what_is_wrong_with_many_rows_is_one_cause() -> None:
    config = stock(
        PORT={name: {**port, "parent_port": name} for name, port in stock()["PORT"].items()},
        INTERFACE={"Loopback0|10.0.0.1/32": {}, "Loopback0|fd00::1/128": {}, "Loopback0": {}},
        FEATURE={"bgp": {"has_timer": "False"}, "lldp": {"has_timer": "False"}, "snmp": {"has_tiner": "False"}},
    )
    assert causes(config, "unknown-field") == [
        ["FEATURE/bgp/has_timer", "FEATURE/lldp/has_timer"],
        ["FEATURE/snmp/has_tiner"],
        ["PORT/Ethernet0/parent_port", "PORT/Ethernet8/parent_port"],
    ]
    assert causes(config, "dangling-reference") == [
        ["INTERFACE/Loopback0", "INTERFACE/Loopback0|10.0.0.1/32", "INTERFACE/Loopback0|fd00::1/128"]
    ]


def test_rows_that_name_different_things_have_causes_of_their_own() -> None:
    rows = {"Ethernet0|3": {"profile": "none"}, "Ethernet8|3": {"profile": "none"}, "Ethernet0|4": {"profile": "4"}}
    assert [len(each) for each in causes(stock(BUFFER_PG=rows), "dangling-reference")] == [1, 2]


def test_a_field_that_resembles_no_other_has_no_hint() -> None:
    ports = {name: {**port, "parent_port": name} for name, port in stock()["PORT"].items()}
    assert {(one.kind, one.facts["hint"]) for one in remarks("202505", PORT=ports)} == {("unknown-field", "")}


def test_what_is_expected_by_several_releases_is_said_once() -> None:
    metadata = stock()["DEVICE_METADATA"]["localhost"]
    stated = {"DEVICE_METADATA": {"localhost": {**metadata, "switch_type": "switch"}}, "VERSIONS": {}}
    (remark,) = read(stock(**stated)).remarks
    assert remark.facts["expected"] == "chassis-packet or fabric or npu or voq or dpu or dummy-sup"


def test_a_row_that_the_reader_has_remarked_is_not_remarked_again() -> None:
    assert [kind for kind, _ in told(PFC_WD=watchdog(detection_time="400ms"))] == ["malformed-value"]


def test_a_remark_stands_where_the_value_does_and_is_about_its_port() -> None:
    config = stock(PFC_WD=watchdog(detection_time="9000"))
    lines = json.dumps(config, indent=2).split("\n")
    (remark,) = read(config).remarks
    assert remark.place is not None
    assert '"9000"' in lines[remark.place.span.line - 1]
    assert remark.subject[1:] == ("Ethernet0",)


def test_a_field_is_not_said_to_be_meant_that_its_row_may_not_have() -> None:
    """The row GLOBAL of PFC_WD has no detection_time (sonic-pfcwd.yang)."""
    rows = {"GLOBAL": {"DETECTION_TIME": "400", "POLL_INTERVALL": "200"}}
    hints = [one.facts["hint"] for one in remarks("202505", PFC_WD=rows) if one.kind == "unknown-field"]
    assert hints == ["", "; did you mean `POLL_INTERVAL`?"]


def test_what_a_field_or_table_without_a_model_may_mean_is_typed_for_each_case() -> None:
    config = stock(TABLE_OF_NOBODY={"a": {}, "b": {"x": "1"}})
    config["PORT"]["Ethernet0"] |= {"pfc_async": "off", "parent_port": "Ethernet0", "peers": ["a", "b"]}
    of_config = remarks("202505", **{name: config[name] for name in ("PORT", "TABLE_OF_NOBODY")})
    choices = {
        one.facts.get("path", one.facts.get("table")): {choice.condition: choice.lines for choice in one.remedy.choices}
        for one in of_config
        if one.kind in ("unknown-field", "unknown-table")
    }
    row = 'sudo sonic-db-cli CONFIG_DB {} "PORT|Ethernet0"'
    remove = f"{row.format('HDEL')} pfc_async"
    assert choices == {
        "PORT/Ethernet0/pfc_async": {
            "if pfc_asym is meant": (f"{row.format('HSET')} pfc_asym off", remove),
            "if the field is not needed": (remove,),
        },
        "PORT/Ethernet0/parent_port": {"if the field is not needed": (f"{row.format('HDEL')} parent_port",)},
        "PORT/Ethernet0/peers": {"if the field is not needed": (f"{row.format('HDEL')} peers@",)},
        "'TABLE_OF_NOBODY'": {
            "if the table is not needed": (
                'sudo sonic-db-cli CONFIG_DB DEL "TABLE_OF_NOBODY|a"',
                'sudo sonic-db-cli CONFIG_DB DEL "TABLE_OF_NOBODY|b"',
            )
        },
    }
