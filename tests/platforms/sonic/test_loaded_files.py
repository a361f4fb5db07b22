"""What a switch loads holds tables as JSON and nothing else; what a terminal printed may hold more."""

import json
from pathlib import Path
from typing import Any

import pytest

from nodrop.model.compare import differences
from nodrop.model.reading import DeviceReading, Source
from nodrop.platforms.sonic.reader import read_device
from support.sonic_configs import stock

TABLES: dict[str, Any] = stock()
TEXT = json.dumps(TABLES, indent=4)
ROWS = {f"{table}|{key}": row for table, rows in TABLES.items() for key, row in rows.items()}
OTHERWISE = {
    "a prompt before": (f"admin@sw1:~$ show run\n{TEXT}\n", 1, "admin@sw1"),
    "another document before": (f"# {json.dumps(stock(PORT={}))}\n{TEXT}\n", 1, "#"),
    "a prompt after": (f"{TEXT}\nadmin@sw1:~$ \n", TEXT.count("\n") + 2, "admin@sw1"),
    "a byte order mark": (f"\ufeff{TEXT}", 1, "byte order mark"),
    "tables of a namespace": (json.dumps({"localhost": TABLES}), 1, "localhost"),
    "rows of a dump": (json.dumps(ROWS), 1, "rows of a dump"),
}
REFUSED = {
    "two documents": (f"{TEXT}\n{TEXT}\n", TEXT.count("\n") + 2),
    "no number": (TEXT.replace('"9100"', "NaN", 1), None),
    "a comment": (TEXT.replace("{\n", "{\n// x\n", 1), 2),
}


def given(text: str, display: str) -> DeviceReading:
    return read_device("sw1", [(Source(name="config_db.json", display=display, path=Path(display)), text.encode())])


@pytest.mark.parametrize("name", ["config_db.json", "build/sw1/config_db.json"])
@pytest.mark.parametrize("case", OTHERWISE)
def test_a_file_that_a_switch_loads_is_tables_alone(case: str, name: str) -> None:
    text, line, found = OTHERWISE[case]
    (problem,) = given(text, name).problems
    assert (problem.path, problem.line, found in problem.found) == (name, line, True), problem
    assert problem.expected != ""


@pytest.mark.parametrize("case", OTHERWISE)
def test_what_a_terminal_printed_is_read_as_before(case: str) -> None:
    plain, reading = given(TEXT, "config_db.json"), given(OTHERWISE[case][0], "answers/sw1.json")
    assert reading.problems == ()
    assert list(differences(plain.device, reading.device)) == []


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_program_reads_is_refused_under_any_name(case: str) -> None:
    text, line = REFUSED[case]
    for name in ("config_db.json", "sw1.json"):
        problems = given(text, name).problems
        assert len(problems) == 1
        assert line is None or problems[0].line == line


def test_of_a_key_that_stands_twice_the_last_counts_as_on_a_switch() -> None:
    text = TEXT.rstrip()[:-1] + ', "PORT": {}}'
    reading = given(text, "config_db.json")
    assert reading.device.interfaces == given(json.dumps(json.loads(text)), "config_db.json").device.interfaces
    assert [one.kind for one in reading.remarks].count("duplicate-key") == 1
