"""pg_profile_lookup.ini beside a config_db.json: its rows count instead of those that the SKU is known to ship."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nodrop.errors import InputProblems
from nodrop.hardware.bounds import find_xoff_bounds, headroom_rows
from nodrop.model.buffers import HeadroomRow
from nodrop.model.fabric import Device, Interface, Port
from nodrop.model.reading import DeviceReading, Source
from nodrop.model.states import UNKNOWN, UnknownFact
from nodrop.platforms.sonic.headroom_table import read_headroom_table
from nodrop.platforms.sonic.reader import read_device
from support.command import nodrop
from support.sonic_configs import stock

TABLE = """\
# speed cable size    xon   xoff  threshold xon_offset

 400000   5m    1248   2288  53248   -3      2288
 100000   40m  19456  19456  16384   1
 400000   5m    1248   2288  53504   -3      2288
"""
ROWS = (
    HeadroomRow(100_000, 40, 19456, 19456, 16384, 1),
    HeadroomRow(400_000, 5, 1248, 2288, 53504, -3, 2288),
)


def with_cable(length: str, hwsku: str = "ACS-MSN4700") -> dict[str, Any]:
    config = stock(CABLE_LENGTH={"AZURE": {"Ethernet0": length, "Ethernet8": "5m"}})
    config["DEVICE_METADATA"]["localhost"]["hwsku"] = hwsku
    config["BUFFER_PG"] = {key: row for key, row in config["BUFFER_PG"].items() if not key.endswith("|3-4")}
    return config


def read(config: dict[str, Any], table: str | None) -> DeviceReading:
    files = {"config_db.json": json.dumps(config)} | ({} if table is None else {"pg_profile_lookup.ini": table})
    sources = [
        (Source(name=name, display=f"sw1/{name}", held=text.encode()), text.encode()) for name, text in files.items()
    ]
    return read_device("sw1", sources)


def xoffs(device: Device) -> dict[int, Any]:
    groups: Any = device.interfaces[0].qos.priority_groups  # type: ignore[union-attr]
    return {group.index: group.buffer.headroom.xoff_bytes for group in groups if group.buffer.headroom}


def test_a_table_is_read_as_buffermgrd_reads_it() -> None:
    assert read_headroom_table(TABLE.encode(), "t") == ROWS
    assert read_headroom_table(b"# nothing\n", "t") == ()


@pytest.mark.parametrize(
    "line", ["400000 5m 1248 2288 53248", "400000 5 1 1 1 1", "400G 5m 1 1 1 1", "1 1m 1 1 1 1 1 1"]
)
def test_a_line_that_is_no_row_is_a_problem_with_its_place(line: str) -> None:
    with pytest.raises(InputProblems) as caught:
        read_headroom_table(f"# head\n{line}\n".encode(), "sw1/t.ini")
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == ("sw1/t.ini", 2)


def test_the_groups_that_buffermgrd_adds_have_the_row_of_the_table_beside() -> None:
    shipped = read(with_cable("5m"), None)
    assert (shipped.device.headroom_table, xoffs(shipped.device)) == (UNKNOWN, {3: 38912, 4: 38912})
    own = read(with_cable("5m"), TABLE)
    assert (own.device.headroom_table, xoffs(own.device)) == (ROWS, {3: 53504, 4: 53504})
    assert xoffs(read(with_cable("5m", "of-nobody"), TABLE).device) == {3: 53504, 4: 53504}, "no model is needed"
    assert xoffs(read(with_cable("40m"), TABLE).device) == {}, "the shipped table has the row, and this one does not"


def test_a_table_that_cannot_be_read_is_a_problem_and_counts_for_nothing() -> None:
    reading = read(with_cable("5m"), "400000\n")
    assert [problem.path for problem in reading.problems] == ["sw1/pg_profile_lookup.ini"]
    assert (reading.device.headroom_table, xoffs(reading.device)) == (UNKNOWN, {3: 38912, 4: 38912})


@pytest.mark.parametrize(("table", "found"), [(None, False), (TABLE, True), ("# empty\n", True)])
def test_a_cable_without_a_row_in_the_table_beside_is_found(tmp_path: Path, table: str | None, found: bool) -> None:
    (tmp_path / "config_db.json").write_text(json.dumps(with_cable("40m")))
    if table is not None:
        (tmp_path / "pg_profile_lookup.ini").write_text(table)
    report = json.loads(nodrop("lint", str(tmp_path), "--format", "json", "--no-config").out)
    findings = [finding for finding in report["findings"] if finding["rule"] == "cable-not-in-table"]
    assert ("sw1/Ethernet0" in [finding["subject"] for finding in findings]) is found


@pytest.mark.parametrize(
    ("version", "table", "known"),
    [
        ("version_1_0_1", None, None),
        ("version_4_0_3", None, None),
        ("version_202305_01", None, UNKNOWN),
        ("version_1_0_1", TABLE, ROWS),
    ],
)
def test_the_table_of_a_release_before_those_known_is_not_todays(version: str, table: str | None, known: Any) -> None:
    config = with_cable("5m")
    config["VERSIONS"] = {"DATABASE": {"VERSION": version}}
    own = read(config, table).device.headroom_table
    assert own is known or own == known


def test_a_headroom_of_an_older_release_is_held_against_the_lesser_of_todays_row_and_formula() -> None:
    """In 2018 the table of ACS-MSN2700 had 30720 for 10G and 300 m (sonic-buildimage 58d8302b53), now 36864."""
    port = Interface(name="Ethernet0", port=Port(1), lanes=1, speed_mbps=10_000, mtu_bytes=9100)
    device = Device(name="sw1", platform="sonic", model="SN2700", hwsku=None, buffer_model="traditional")
    todays, former = (
        find_xoff_bounds(replace(device, headroom_table=table), port, length_m=300) for table in (UNKNOWN, None)
    )
    assert (todays.value_switch_would_take, todays.does_row_decide, todays.does_newer_row_decide) == (
        36864,
        True,
        False,
    )
    assert (former.value_switch_would_take, former.does_row_decide, former.does_newer_row_decide) == (
        former.formula,
        False,
        False,
    )
    assert former.formula == min(former.formula or 0, 30719)
    short = find_xoff_bounds(
        replace(device, headroom_table=None), replace(port, speed_mbps=100_000, lanes=4), length_m=40
    )
    assert (short.value_switch_would_take, short.does_row_decide, short.does_newer_row_decide) == (
        38912,
        False,
        True,
    ), "less than by the formula"
    with pytest.raises(UnknownFact):
        headroom_rows(replace(device, headroom_table=None))


@pytest.mark.parametrize(
    ("xoff", "lost"), [("60000", ", which has 53.5 kB of headroom, not 60 kB"), ("50000", ""), (None, "")]
)
def test_a_profile_that_is_replaced_by_one_with_as_much_headroom_loses_none(xoff: str | None, lost: str) -> None:
    config = with_cable("5m")
    mine = {"pool": "ingress_lossless_pool", "size": "86016", "dynamic_th": "0"}
    config["BUFFER_PROFILE"]["mine"] = mine if xoff is None else {**mine, "xon": "19456", "xoff": xoff}
    config["BUFFER_PG"]["Ethernet0|3-4"] = {"profile": "mine"}
    assert {one.facts["lost"] for one in read(config, TABLE).remarks if one.kind == "replaced-profile"} == {lost}
