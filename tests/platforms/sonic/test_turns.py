"""Patches in turn: one for each port that is shut, so that the updater sorts each in seconds, and no moves."""

import json
from copy import deepcopy
from typing import Any

import pytest

from nodrop.model.change import EditResult
from nodrop.platforms.sonic.edit import edit_between_file_versions
from nodrop.platforms.sonic.patch import diff_tables
from nodrop.platforms.sonic.turns import _find_rows_moved_to_other_keys as find_moved_rows
from nodrop.platforms.sonic.turns import _intermediate_tables as intermediate_tables
from nodrop.platforms.sonic.turns import _rows_by_table as rows_by_table
from nodrop.platforms.sonic.turns import _tables_port_by_port as tables_port_by_port
from nodrop.platforms.sonic.turns import tables_after_each_patch
from support.json_text import applied
from support.sonic_configs import NAME
from support.sonic_gcu import OTHER, PORT, TIMES, switch


def patched(old: dict[str, Any], new: dict[str, Any]) -> EditResult:
    one = edit_between_file_versions(
        *({"config_db.json": json.dumps(tables, indent=2).encode()} for tables in (old, new)), name=NAME
    )
    assert one is not None
    return one


def paths(one: EditResult) -> dict[str, list[str]]:
    patches = {name: json.loads(text) for name, text in one.forms.items() if name.endswith(".json")}
    return {name: [f"{step['op']} {step['path']}" for step in steps] for name, steps in patches.items()}


def rescheduled(*ports: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A switch, and the same with another scheduler for the first queue of some ports, in place of one of its own."""
    old = switch("202505")
    old["SCHEDULER"]["scheduler.8"] = {"type": "DWRR", "weight": "8"}
    new = deepcopy(old)
    del new["SCHEDULER"]["scheduler.8"]
    new["SCHEDULER"]["scheduler.9"] = {"type": "DWRR", "weight": "9"}
    for port in ports:
        old["QUEUE"][f"{port}|0"] = {"scheduler": "scheduler.8"}
        new["QUEUE"][f"{port}|0"] = {"scheduler": "scheduler.9"}
    return old, new


def test_ports_change_one_after_the_other_between_what_comes_and_what_goes() -> None:
    old, new = rescheduled(PORT, OTHER)
    one = patched(old, new)
    assert paths(one) == {
        "patch-1.json": ["add /SCHEDULER/scheduler.9"],
        "patch-2.json": ["replace /QUEUE/Ethernet0|0/scheduler"],
        "patch-3.json": ["replace /QUEUE/Ethernet8|0/scheduler"],
        "patch-4.json": ["remove /SCHEDULER/scheduler.8"],
    }
    assert [step.affected for step in one.steps] == [(), (PORT,), (OTHER,), ()]
    assert applied(json.loads(one.patch), old) == new


def test_one_port_is_one_patch() -> None:
    assert list(paths(patched(*rescheduled(PORT)))) == ["patch.json"]


def test_more_than_nine_patches_stay_in_order() -> None:
    """The shell lists them by name."""
    old, new = rescheduled(*(f"Ethernet{number}" for number in range(0, 80, 8)))
    for tables in (old, new):
        tables["PORT"] = {f"Ethernet{n}": tables["PORT"][PORT] | {"lanes": str(n)} for n in range(0, 80, 8)}
    names = list(paths(patched(old, new)))
    assert (names[0], names[-1]) == ("patch-01.json", "patch-12.json")
    assert sorted(names) == names


@pytest.mark.parametrize("then", ["down", "up"])
def test_a_port_that_is_down_is_no_turn_of_its_own(then: str) -> None:
    old, new = rescheduled(PORT, OTHER)
    old["PORT"][OTHER]["admin_status"], new["PORT"][OTHER]["admin_status"] = "down", then
    assert list(paths(patched(old, new))) == ["patch.json"]


def test_a_port_that_goes_down_does_so_in_its_turn() -> None:
    """Its queues are not changed before, for that would shut it twice."""
    old, new = rescheduled(PORT, OTHER)
    new["PORT"][OTHER]["admin_status"] = "down"
    going = ["replace /PORT/Ethernet8/admin_status", "replace /QUEUE/Ethernet8|0/scheduler"]
    assert paths(patched(old, new))["patch-3.json"] == going


def test_a_table_that_is_new_grows_port_by_port() -> None:
    old, new = switch("202505"), switch("202505")
    del old["PORT_QOS_MAP"]
    one = patched(old, new)
    assert [(step.path, step.affected) for step in one.steps] == [
        ("/PORT_QOS_MAP", (PORT,)),
        ("/PORT_QOS_MAP/Ethernet8", (OTHER,)),
    ]
    assert applied(json.loads(one.patch), old) == new


def test_a_watchdog_that_moves_to_another_port_is_taken() -> None:
    """In one patch the updater would make a move of it, and refuse that."""
    old, new = switch("202605"), switch("202605")
    new["PFC_WD"] = {"GLOBAL": {"POLL_INTERVAL": "100"}, OTHER: TIMES}
    one = patched(old, new)
    assert paths(one) == {"patch-1.json": ["add /PFC_WD/Ethernet8"], "patch-2.json": ["remove /PFC_WD/Ethernet0"]}
    assert one.disruption == "none"


@pytest.mark.parametrize("release", ["202505", "202605"])
def test_fec_that_moves_to_another_port_is_taken(release: str) -> None:
    old, new = switch(release), switch(release)
    for tables, port, other in ((old, PORT, OTHER), (new, OTHER, PORT)):
        tables["PORT"][port]["fec"] = "rs"
        tables["PORT"][other].pop("fec", None)
    one = patched(old, new)
    assert paths(one) == {"patch-1.json": ["add /PORT/Ethernet8/fec"], "patch-2.json": ["remove /PORT/Ethernet0/fec"]}
    assert one.disruption == "port bounce"


def test_a_profile_that_is_called_otherwise_is_taken() -> None:
    """Since 202511 rows of BUFFER_PROFILE come and go, and a move between their names is refused."""
    old, new = switch("202605"), switch("202605")
    for tables, name in ((old, "one"), (new, "other")):
        tables["BUFFER_PROFILE"][name] = {"pool": "ingress_lossless_pool", "size": "18432", "dynamic_th": "2"}
    assert paths(patched(old, new)) == {
        "patch-1.json": ["add /BUFFER_PROFILE/other"],
        "patch-2.json": ["remove /BUFFER_PROFILE/one"],
    }


def test_a_table_that_is_none_is_one_turn() -> None:
    """The updater takes nothing then, in whatever order."""
    old, new = rescheduled(PORT, OTHER)
    new["QUEUE"] = ["Ethernet0|0"]
    assert list(tables_after_each_patch(old, new)) == [new]


def test_each_turn_is_as_if_it_was_made_from_the_start() -> None:
    """A turn shares what does not change with the turn before, which makes the cost of all of them grow as ports do."""
    old, new = rescheduled(*(f"Ethernet{number}" for number in range(0, 80, 8)))
    for tables in (old, new):
        tables["PORT"] = {f"Ethernet{n}": tables["PORT"][PORT] | {"lanes": str(n)} for n in range(0, 80, 8)}
    new["QUEUE"] |= {f"Ethernet{n}|{queue}": {"scheduler": "scheduler.9"} for n in (16, 24) for queue in (5, 2)}
    del old["QUEUE"]["Ethernet32|0"], new["QUEUE"]["Ethernet40|0"]
    old["CABLE_LENGTH"] = {"AZURE": {"Ethernet0": "5m"}}
    new["PFC_WD"] = {"Ethernet8": TIMES}
    before, after = rows_by_table(old), rows_by_table(new)
    assert before is not None
    assert after is not None
    ports = [f"Ethernet{number}" for number in range(0, 80, 8)]
    moved = list(find_moved_rows(before, after))
    turns = list(tables_port_by_port(before, after, ports, moved))
    whole = [intermediate_tables(before, after, ports[count:], moved) for count in range(len(ports) + 1)]
    assert turns == whole
    for number, (one, target) in enumerate(zip([*turns, new], [*whole, new], strict=True)):
        states = (old, old) if not number else (turns[number - 1], whole[number - 1])
        assert list(diff_tables(states[0], one)) == list(diff_tables(states[1], target))
    assert all(turn["SCHEDULER"] is turns[0]["SCHEDULER"] for turn in turns[:-1])
