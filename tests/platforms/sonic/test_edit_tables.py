"""Changes of BGP in SONiC's tables: the rows that change, as a patch, and what is left to be done by hand."""

from functools import cache
from typing import Any

import pytest

import nodrop
from nodrop import platforms
from nodrop.model.change import Change, EditResult
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import parse_subject
from nodrop.platforms.sonic.edit import edit
from nodrop.platforms.sonic.edit import edit_between_file_versions as edit_between
from support.designs import build, shipped
from support.plan_pairs import reading_of

TABLES = {"routing.delivery": "tables"} | {f"topology.{tier}.version": "202511" for tier in ("leaves", "spines")}
PEER = "10.1.1.225"
ROW = 2
"""How many slashes the path of a row has."""


@cache
def files(**changes: Any) -> dict[str, bytes]:
    fabric = build(shipped("two-by-two", TABLES | {key.replace("__", "."): value for key, value in changes.items()}))
    leaf: Device = fabric.device("leaf1")
    config, *_ = platforms.writer_of_platform("sonic").write(leaf, Index(fabric))
    return {config.path: config.text.encode()}


def edited(**changes: Any) -> EditResult:
    wanted = [Change(subject=("leaf1", *parse_subject(one)), old=UNKNOWN, new=value) for one, value in changes.items()]
    return edit(files(), wanted, name="leaf1")


def steps(made: EditResult) -> list[tuple[str, str, Any, str]]:
    return [(one.op, one.path, one.value, one.disruption) for one in made.steps]


SESSION, FAMILY = f"/BGP_NEIGHBOR/default|{PEER}", f"/BGP_NEIGHBOR_AF/default|{PEER}|ipv4_unicast"
EDITS: list[tuple[str, Any, list[tuple[str, str, Any, str]]]] = [
    (f"@neighbors/{PEER}/remote_asn", 65001, [("replace", f"{SESSION}/asn", "65001", "none")]),
    (f"@neighbors/{PEER}/bfd", True, [("add", f"{SESSION}/bfd", "true", "none")]),
    (f"@neighbors/{PEER}/enabled", False, [("replace", f"{SESSION}/admin_status", "down", "none")]),
    (f"@neighbors/{PEER}/import_policy", None, [("remove", f"{FAMILY}/route_map_in", None, "none")]),
    ("@bgp/graceful_shutdown", True, [("add", "/BGP_GLOBALS/default/graceful_shutdown", "true", "none")]),
    ("@bgp/maximum_paths", 8, [("replace", "/BGP_GLOBALS_AF/default|ipv4_unicast/max_ebgp_paths", "8", "none")]),
]


@pytest.mark.parametrize(("subject", "value", "expected"), EDITS, ids=[case[0] for case in EDITS])
def test_an_edit_changes_the_columns_that_say_it(subject: str, value: Any, expected: list[Any]) -> None:
    made = edited(**{subject: value})
    assert made.by_hand == ()
    assert steps(made) == expected
    assert set(made.files) == {"config_db.json"}


def test_what_no_table_says_is_left_to_be_done_by_hand() -> None:
    (one,) = edited(**{"@bgp/requires_policy": False}).by_hand
    assert "bgp/requires_policy: no table has a column for it; use routing.delivery: frr.conf" in one.line


def between(**changes: Any) -> EditResult:
    made = edit_between(files(), files(**changes), name="leaf1")
    assert made is not None
    return made


def test_a_session_more_is_two_rows_of_a_patch() -> None:
    made = between(topology__uplinks__per_spine="3", topology__leaves__ports__uplinks="27-32")
    rows = [one for one in made.steps if one.path.startswith("/BGP_NEIGHBOR") and one.path.count("/") == ROW]
    assert {one.path.split("/")[1] for one in rows} == {"BGP_NEIGHBOR", "BGP_NEIGHBOR_AF"}
    assert {(one.op, one.disruption) for one in rows} == {("add", "none")}
    assert "patch.json" in " ".join(made.forms)
    assert "changes.vtysh" not in made.forms


def test_another_as_number_of_the_switch_needs_a_restart_of_bgp() -> None:
    made = between(routing__asn__leaves="4200200000+")
    (one,) = [one for one in made.steps if one.path == "/BGP_GLOBALS/default/local_asn"]
    assert (one.disruption, one.affected) == ("service restart", ("bgp",))


def test_another_delivery_restarts_bgp_and_is_no_patch() -> None:
    other = TABLES | {"routing.delivery": "frr.conf"}
    plan = nodrop.plan(reading_of("sonic", other), reading_of("sonic", TABLES))
    (fact,) = [fact for told in plan.changes for fact in told.facts if fact.entries[0].path == ("routing_tables",)]
    assert (fact.entries[0].new, fact.effect.risk, fact.effect.method) == (True, "service restart", "by hand")
    assert edit_between(files(), files(routing__delivery="frr.conf"), name="leaf1") is None
