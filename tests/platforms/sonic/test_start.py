"""What a SONiC switch starts with: which files of FRR its bgp container keeps, and which files of tables it loads."""

import json
from typing import Any

import pytest

from nodrop.model.reading import DeviceReading
from nodrop.model.routing import Bgp
from support.sonic_configs import read_bundle, stock

FRR = "router bgp 65001\n neighbor 10.0.0.1 remote-as 65002\n"
MODE = "docker_routing_config_mode"
MINIGRAPH = '<DeviceMiniGraph xmlns="Microsoft.Search.Autopilot.Evolution"><Hostname>sw1</Hostname>{}</DeviceMiniGraph>'
STATED = "<DockerRoutingConfigMode>split-unified</DockerRoutingConfigMode>"


def metadata(**localhost: str) -> str:
    return json.dumps({"DEVICE_METADATA": {"localhost": localhost}})


def started(localhost: dict[str, str], release: str = "202505", **files: str) -> DeviceReading:
    """Return what is read of a switch with further fields, of a release, with other files beside; `_` is a dot."""
    tables: dict[str, Any] = stock(VERSIONS={"DATABASE": {"VERSION": f"version_{release}_01"}})
    tables["DEVICE_METADATA"]["localhost"] |= localhost
    return read_bundle(
        {"config_db.json": json.dumps(tables)} | {name.replace("_", "."): text for name, text in files.items()}
    )


def peers(reading: DeviceReading) -> list[str]:
    bgp = reading.device.bgp
    return [near.key for near in bgp.neighbors] if isinstance(bgp, Bgp) and isinstance(bgp.neighbors, tuple) else []


def facts(reading: DeviceReading, kind: str) -> list[tuple[str, ...]]:
    return [tuple(one.facts.values()) for one in reading.remarks if one.kind == kind]


@pytest.mark.parametrize(
    ("mode", "framework", "release", "fate"),
    [
        ("split-unified", "", "202505", ""),
        ("split-unified", "true", "202605", ""),
        ("", "", "202505", "deletes it"),
        ("separated", "", "202305", "deletes it"),
        ("separated", "true", "202505", "deletes it"),
        ("separated", "true", "202605", "writes it from the tables"),
        ("split", "", "202505", "deletes it"),
        ("unified", "", "202505", "writes it from the tables"),
        ("unified", "true", "202511", "writes it from the tables"),
    ],
)
def test_frr_conf_counts_only_in_the_mode_that_keeps_it(mode: str, framework: str, release: str, fate: str) -> None:
    fields = {MODE: mode, "frr_mgmt_framework_config": framework}
    reading = started({name: value for name, value in fields.items() if value}, release, frr_conf=FRR)
    said = f"{MODE} is {mode}" if mode else f"{MODE} is not set"
    assert facts(reading, "frr-file-not-kept") == ([("frr.conf", fate, said, "split-unified")] if fate else [])
    assert peers(reading) == ([] if fate else ["10.0.0.1"])


@pytest.mark.parametrize(
    ("mode", "file", "kept"),
    [
        ("split", "bgpd_conf", True),
        ("split-unified", "bgpd_conf", False),
        ("separated", "bgpd_conf", False),
        ("unified", "bgpd_conf", False),
    ],
)
def test_files_of_the_daemons_count_only_in_the_mode_that_keeps_them(mode: str, file: str, kept: bool) -> None:
    reading = started({MODE: mode}, **{file: FRR})
    assert (peers(reading) == ["10.0.0.1"], facts(reading, "frr-file-not-kept") == []) == (kept, kept)


@pytest.mark.parametrize("mode", ["split-unified", "separated", "unified"])
def test_the_mode_to_set_for_files_of_daemons_is_one_that_keeps_them(mode: str) -> None:
    files = {"bgpd_conf": FRR, "zebra_conf": "ip route 192.0.2.0/24 10.0.0.1\n"}
    (remark,) = (one for one in started({MODE: mode}, **files).remarks if one.kind == "frr-file-not-kept")
    ((typed,),) = ([line for line in case.lines if MODE in line] for case in remark.remedy.choices)
    assert (remark.facts["keeping"], typed.split()[-1]) == ("split", "split")
    assert facts(started({MODE: "split"}, **files), "frr-file-not-kept") == []


def test_a_file_that_sonic_made_of_the_tables_itself_is_not_missed() -> None:
    made = "! =========== Managed by sonic-cfggen DO NOT edit manually! ====================\n" + FRR
    reading = started({MODE: "unified"}, frr_conf=made)
    assert (peers(reading), facts(reading, "frr-file-not-kept")) == ([], [])


def test_a_file_beside_the_one_that_runs_is_no_loss() -> None:
    reading = started({MODE: "split-unified"}, frr_conf=FRR, bgpd_conf="router bgp 1\n")
    assert (peers(reading), facts(reading, "frr-file-not-kept")) == (["10.0.0.1"], [])


@pytest.mark.parametrize(
    ("release", "golden", "minigraph", "taken"),
    [
        ("202505", metadata(hostname="sw1"), None, "golden_config_db.json"),
        ("202505", metadata(**{MODE: "split-unified"}), None, ""),
        ("202505", json.dumps({"PFC_WD": {}}), None, ""),
        ("202305", metadata(hostname="sw1"), None, ""),
        ("202305", None, MINIGRAPH.format(""), "minigraph.xml"),
        ("202505", None, MINIGRAPH.format(STATED), ""),
        ("202505", metadata(**{MODE: "split-unified"}), MINIGRAPH.format(""), ""),
        ("202505", metadata(hostname="sw1"), MINIGRAPH.format(STATED), "golden_config_db.json"),
        ("202505", json.dumps({"PFC_WD": {}}), MINIGRAPH.format(""), "minigraph.xml"),
    ],
)
def test_the_mode_is_that_of_the_files_that_db_migrator_reads(
    release: str, golden: str | None, minigraph: str | None, taken: str
) -> None:
    beside = {"golden_config_db.json": golden, "minigraph.xml": minigraph}
    tables: dict[str, Any] = stock(VERSIONS={"DATABASE": {"VERSION": f"version_{release}_01"}})
    tables["DEVICE_METADATA"]["localhost"][MODE] = "split-unified"
    files = {"config_db.json": json.dumps(tables), "frr.conf": FRR}
    reading = read_bundle(files | {name: text for name, text in beside.items() if text is not None})
    told = facts(reading, "frr-file-not-kept")
    assert [taken in mode for *_, mode, _ in told] == ([True] if taken else [])
    places = [one.place.file for one in reading.remarks if one.kind == "frr-file-not-kept" and one.place]
    assert places == ([taken] if taken else [])
    assert peers(reading) == ([] if taken else ["10.0.0.1"])


@pytest.mark.parametrize("version", ["version_3_1_2", "version_2_0_0"])
def test_how_another_distribution_or_an_old_release_starts_is_not_known(version: str) -> None:
    """Broadcom's Enterprise SONiC runs frr.conf in mode split; releases before 202106 know no modes."""
    tables: dict[str, Any] = stock(VERSIONS={"DATABASE": {"VERSION": version}})
    tables["DEVICE_METADATA"]["localhost"][MODE] = "split"
    reading = read_bundle({"config_db.json": json.dumps(tables), "frr.conf": FRR})
    assert (peers(reading), facts(reading, "frr-file-not-kept")) == (["10.0.0.1"], [])


def test_secrets_of_a_file_that_is_not_kept_are_remarked() -> None:
    reading = started({MODE: "unified"}, frr_conf=FRR + " neighbor 10.0.0.1 password s3cret\n")
    assert [one.place and (one.place.file, one.place.span.line) for one in reading.remarks if one.secret] == [
        ("frr.conf", 3)
    ]


def test_without_metadata_frr_conf_is_taken_to_be_kept() -> None:
    assert peers(read_bundle({"frr.conf": FRR})) == ["10.0.0.1"]
    assert peers(read_bundle({"config_db.json": json.dumps({"PORT": {"Ethernet0": {}}}), "frr.conf": FRR})) == [
        "10.0.0.1"
    ]


@pytest.mark.parametrize("file", ["qos.json", "buffers.json", "golden_config_db.json"])
def test_tables_of_a_file_that_is_not_loaded_are_no_facts(file: str) -> None:
    alone = read_bundle({"config_db.json": json.dumps(stock())})
    rows = {
        "PORT": {"Ethernet0": {"mtu": "1500", "lanes": ["0", "1", "2", "3"]}},
        "PFC_WD": {"Ethernet0": {"action": "drop"}},
    }
    both = read_bundle({"config_db.json": json.dumps(stock()), file: json.dumps(rows)})
    assert both.device == alone.device
    (found,) = [one for one in both.remarks if one.kind == "file-not-loaded"]
    assert (found.facts["file"], "PORT Ethernet0 mtu" in found.facts["places"]) == (file, True)
    assert "PFC_WD Ethernet0" in found.facts["places"]
    assert found.place is not None
    assert found.place.file == file


def test_a_file_that_says_the_same_is_not_told() -> None:
    tables = stock()
    same = {"PORT": {"Ethernet0": tables["PORT"]["Ethernet0"]}}
    assert (
        facts(read_bundle({"config_db.json": json.dumps(tables), "qos.json": json.dumps(same)}), "file-not-loaded")
        == []
    )


def test_files_without_config_db_are_parts_of_one() -> None:
    tables = stock()
    parts = {"qos.json": {"PORT": tables.pop("PORT")}, "golden_config_db.json": tables}
    reading = read_bundle({name: json.dumps(part) for name, part in parts.items()})
    assert [port.name for port in reading.device.interfaces] == [
        port.name for port in read_bundle({"config_db.json": json.dumps(stock())}).device.interfaces
    ]
    assert facts(reading, "file-not-loaded") == []
