"""plan/*.csv: what people carry to the rack, against the intent's own words, and safe to open in a spreadsheet."""

import csv
import io
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import nodrop
import nodrop.resources
from nodrop.model.fabric import Fabric, Host
from nodrop.model.states import UNKNOWN
from nodrop.report.escape import escape_csv_cell
from support.command import nodrop as run
from support.designs import build, shipped

Rows = list[dict[str, str]]


@cache
def fabric(name: str = "two-by-two") -> Fabric:
    return build(shipped(name))


def tables(of: Fabric) -> dict[str, Rows]:
    return {one.path: list(csv.DictReader(io.StringIO(one.text))) for one in nodrop.rack(of)}


def table(name: str, of: Fabric | None = None) -> Rows:
    return tables(of or fabric())[f"plan/{name}.csv"]


def test_every_cable_is_there_once_the_lower_end_first() -> None:
    rows = table("cabling")
    assert len(rows) == len(fabric().links) == 14
    ends = {frozenset({(row["a_device"], row["a_port"]), (row["b_device"], row["b_port"])}) for row in rows}
    assert ends == {frozenset({tuple(link.a), tuple(link.b)}) for link in fabric().links}
    tiers = [(row["a_device"].rstrip("0123456789"), row["b_device"].rstrip("0123456789")) for row in rows]
    assert tiers == [("gpu", "leaf")] * 4 + [("leaf", "spine")] * 8 + [("storage", "leaf")] * 2


def test_a_row_of_a_cable() -> None:
    rows = table("cabling")
    assert rows[0] == {
        "a_device": "gpu1",
        "a_port": "nic1",
        "a_panel": "",
        "b_device": "leaf1",
        "b_port": "Ethernet0",
        "b_panel": "1",
        "speed": "400G",
        "media": "DR4",
        "length_m": "3",
    }
    uplinks = [row for row in rows if row["a_device"] == "leaf2"]
    assert [(row["a_panel"], row["b_device"], row["b_panel"]) for row in uplinks] == [
        ("29", "spine1", "17"),
        ("30", "spine1", "18"),
        ("31", "spine2", "17"),
        ("32", "spine2", "18"),
    ]
    assert {(row["speed"], row["media"], row["length_m"]) for row in uplinks} == {("400G", "DR4", "30")}


def test_addresses_of_a_leaf() -> None:
    rows = [row for row in table("addresses") if row["device"] == "leaf1"]
    said = {
        (row["interface"], row["address"]): (row["peer_device"], row["peer_interface"], row["peer_address"])
        for row in rows
    }
    assert said == {
        ("Ethernet0", "10.2.1.0/31"): ("gpu1", "nic1", "10.2.1.1/31"),
        ("Ethernet8", "10.2.1.8/31"): ("gpu2", "nic1", "10.2.1.9/31"),
        ("Ethernet16", "10.2.1.16/31"): ("storage1", "nic1", "10.2.1.17/31"),
        ("Ethernet224", "10.1.1.224/31"): ("spine1", "Ethernet0", "10.1.1.225/31"),
        ("Ethernet232", "10.1.1.232/31"): ("spine1", "Ethernet8", "10.1.1.233/31"),
        ("Ethernet240", "10.1.1.240/31"): ("spine2", "Ethernet0", "10.1.1.241/31"),
        ("Ethernet248", "10.1.1.248/31"): ("spine2", "Ethernet8", "10.1.1.249/31"),
        ("Loopback0", "10.0.0.1/32"): ("", "", ""),
        ("eth0", "192.168.100.1/24"): ("", "", "192.168.100.254"),
    }


@pytest.mark.parametrize("name", ["two-by-two", "reference-256"])
def test_addresses_are_all_there_and_all_different(name: str) -> None:
    rows = table("addresses", fabric(name))
    own = [row["address"] for row in rows]
    ports = [one for device in fabric(name).devices for port in device.interfaces for one in port.addresses]
    assert len(set(own)) == len(own) == len(ports) + 2 * len(fabric(name).devices)
    by_end = {(row["device"], row["interface"]): row["address"] for row in rows}
    for row in rows:
        if row["peer_device"].startswith(("leaf", "spine")):
            assert by_end[row["peer_device"], row["peer_interface"]] == row["peer_address"]


def test_how_a_host_is_set() -> None:
    rows = table("hosts")
    assert [(row["host"], row["port"]) for row in rows] == [
        ("gpu1", "nic1"),
        ("gpu1", "nic2"),
        ("gpu2", "nic1"),
        ("gpu2", "nic2"),
        ("storage1", "nic1"),
        ("storage2", "nic1"),
    ]
    assert rows[1] == {
        "host": "gpu1",
        "group": "gpu",
        "nic": "ConnectX-7",
        "port": "nic2",
        "bond": "",
        "speed": "400G",
        "address": "10.2.2.1/31",
        "gateway": "10.2.2.0",
        "mtu": "9216",
        "switch": "leaf2",
        "switch_port": "Ethernet0",
        "tos": "106",
        "dscp": "26",
        "cnp_dscp": "48",
        "trust": "dscp",
        "pfc": "3",
        "dcqcn": "true",
        "rdma_mtu": "4096",
    }


def test_rows_are_in_the_order_of_names_and_numbers() -> None:
    hosts = [row["host"] for row in table("hosts", fabric("reference-256"))]
    assert hosts[:5] == ["gpu1", "gpu1", "gpu2", "gpu2", "gpu3"]
    assert hosts[-1] == "gpu32"
    shuffled = replace(fabric(), links=fabric().links[::-1], hosts=fabric().hosts[::-1], devices=fabric().devices[::-1])
    assert list(nodrop.rack(shuffled)) == list(nodrop.rack(fabric()))


def test_what_is_not_known_is_empty() -> None:
    hosts = tuple(replace(one, tos=UNKNOWN, trust=UNKNOWN, nic=UNKNOWN, pfc_priorities=()) for one in fabric().hosts)
    links = tuple(replace(one, length_m=UNKNOWN, media=None) for one in fabric().links)
    bare = replace(fabric(), hosts=hosts, links=links)
    row = table("hosts", bare)[0]
    assert [row[name] for name in ("tos", "dscp", "trust", "nic", "pfc")] == [""] * 5
    row = table("cabling", bare)[0]
    assert (row["media"], row["length_m"], row["speed"]) == ("", "", "400G")


def test_nothing_is_taken_for_a_formula() -> None:
    def named(host: Host) -> Host:
        return replace(host, nic='=HYPERLINK("http://x","y"),a')

    said = table("hosts", replace(fabric(), hosts=tuple(map(named, fabric().hosts))))[0]["nic"]
    assert said == '\'=HYPERLINK("http://x","y"),a'
    for text in ("=1", "+1", "-1", "@a", " =1", "\t=1", "\r=1", "＝1"):
        assert not escape_csv_cell(text).lstrip(" ").startswith(("=", "+", "-", "@", "＝")), text
        assert not any(char in escape_csv_cell(text) for char in "\t\r\n")
    assert escape_csv_cell("leaf1 a-b=c") == "leaf1 a-b=c"


def test_build_writes_them_beside_the_configurations(tmp_path: Any) -> None:
    intent = tmp_path / "lab.yaml"
    intent.write_text((nodrop.resources.resource_folder("intents") / "two-by-two.yaml").read_text())
    done = run("build", str(intent), "-o", str(tmp_path / "out"))
    assert (done.code, "4 devices, 20 files" in done.err) == (0, True)
    for one in nodrop.rack(fabric()):
        assert (tmp_path / "out" / one.path).read_text() == one.text
    linted = run("lint", str(tmp_path / "out"))
    assert (linted.code, "4 devices" in linted.out, "csv" in linted.out + linted.err) == (0, True, False)
    (tmp_path / "out" / "plan" / "hosts.csv").unlink()
    assert "plan/hosts.csv: is missing" in run("build", str(intent), "-o", str(tmp_path / "out"), "--check").err


def test_split_ports_are_told_by_panel_and_split() -> None:
    rows = table("cabling", fabric("rail-256"))
    leaf1 = [(row["a_device"], row["b_port"], row["b_panel"]) for row in rows if row["b_device"] == "leaf1"]
    assert leaf1[:3] == [("gpu1", "Ethernet0", "1/1"), ("gpu2", "Ethernet4", "1/2"), ("gpu3", "Ethernet8", "2/1")]
