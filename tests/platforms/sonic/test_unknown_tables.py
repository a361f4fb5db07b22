"""Tables whose effect is not known: a table is read, harmless for a stated reason, or an unknown verdict."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE
from nodrop.platforms.sonic.schema import schema_of_release
from nodrop.platforms.sonic.unknown_tables import harmless_tables, tables_with_a_reader, unreleased_table_subjects
from support.sonic_configs import read_bundle, stock

UNKNOWN = {
    "VNET": {"Vnet1": {"vxlan_tunnel": "t", "vni": "10"}},
    "NAT_POOL": {"p": {"nat_ip": "10.0.0.1"}},
    "COPP_TRAP": {"bgp": {"trap_ids": "bgp", "trap_group": "queue4_group1"}},
    "POLICER": {"p": {"meter_type": "packets", "mode": "sr_tcm", "cir": "600"}},
}


def unknown(tables: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    reading = read_bundle({"config_db.json": json.dumps(stock() | tables, indent=1)})
    return [(note.about, note.line) for note in reading.notes if note.kind == "unknown-line"]


@pytest.mark.parametrize("table", UNKNOWN)
def test_a_table_whose_effect_is_not_known_is_an_unknown_line(table: str) -> None:
    text = json.dumps(stock() | {table: UNKNOWN[table]}, indent=1)
    line = next(number for number, line in enumerate(text.split("\n"), 1) if f'"{table}"' in line)
    assert unknown({table: UNKNOWN[table]}) == [(table, line)]
    assert unknown({table: {}}) == []


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"BANNER_MESSAGE": {"global": {"motd": "hello"}}}, []),
        ({"FEATURE": {"bgp": {"state": "enabled"}, "dhcp_relay": {"state": "disabled"}}}, []),
        ({"FEATURE": {"bgp": {"state": "disabled"}}}, ["FEATURE"]),
        ({"BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "false"}}}, []),
        ({"BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": "true"}}}, ["BGP_DEVICE_GLOBAL"]),
        ({"SYSTEM_DEFAULTS": {"tunnel_qos_remap": {"status": "enabled"}}}, []),
        ({"SYSTEM_DEFAULTS": {"mux_tunnel_egress_acl": {"status": "disabled"}}}, []),
        ({"SYSTEM_DEFAULTS": "text"}, ["SYSTEM_DEFAULTS"]),
        ({"SYSTEM_DEFAULTS": {"software_bfd": {"status": "enabled"}}}, ["SYSTEM_DEFAULTS"]),
        ({"VRF": {"Vrf1": {}}}, []),
        ({"VRF": {"Vrf1": {"vni": "10"}}}, ["VRF"]),
        ({"VRF": {"Vrf1": "text"}}, ["VRF"]),
    ],
)
def test_a_harmless_table_is_so_for_its_values(tables: Mapping[str, Any], expected: list[str]) -> None:
    assert [table for table, _ in unknown(tables)] == expected


def test_no_table_is_in_both_lists_and_each_is_of_a_release() -> None:
    known = {table for release in DATABASE_VERSION_BY_RELEASE for table in schema_of_release(release).table_names()}
    assert tables_with_a_reader() & harmless_tables().keys() == set()
    assert (tables_with_a_reader() | harmless_tables().keys()) - known == set()


def test_every_reason_has_a_source() -> None:
    assert [name for name, row in harmless_tables().items() if not (row.because and row.source)] == []


@pytest.mark.parametrize("table", ["LLR_PORT", "LLR_PROFILE", "ARS_PROFILE", "ARS_OBJECT", "ARS_INTERFACES"])
@pytest.mark.parametrize(
    ("versions", "kind"),
    [
        ({"VERSIONS": {"DATABASE": {"VERSION": "version_202311_02"}}}, "ignored-table"),
        ({"VERSIONS": {"DATABASE": {"VERSION": "version_202511_01"}}}, "unknown-table"),
        ({"VERSIONS": {"DATABASE": {"VERSION": "version_202605_01"}}}, None),
        ({"VERSIONS": {"DATABASE": {"VERSION": "version_202611_01"}}}, None),
    ],
)
def test_a_designed_table_is_unknown_in_the_newest_release_and_named_in_others(
    table: str, versions: Mapping[str, Any], kind: str | None
) -> None:
    text = json.dumps(stock() | versions | {table: {"a": {"b": "c"}}}, indent=1)
    reading = read_bundle({"config_db.json": text})
    about_tables = [remark for remark in reading.remarks if remark.facts.get("table") == f"'{table}'"]
    found = [(remark.kind, remark.facts["hint"]) for remark in about_tables]
    expected = [(kind, f"; it belongs to {unreleased_table_subjects()[table]}, which is newer")] if kind else []
    assert found == expected
    assert [note.about for note in reading.notes if note.kind == "unknown-line"] == ([] if kind else [table])


def test_no_known_release_has_a_designed_table() -> None:
    known = {table for release in DATABASE_VERSION_BY_RELEASE for table in schema_of_release(release).table_names()}
    assert unreleased_table_subjects().keys() & known == set()
