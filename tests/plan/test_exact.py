"""A patch makes the new files themselves of the old ones, as the switch's own tool applies it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.fabric_readings import build_and_read_back
from nodrop.model.change import worst_disruption
from nodrop.model.fabric import Interface
from nodrop.model.reading import Reading
from nodrop.plan.effects import switch_files_if_unchanged
from nodrop.plan.model import CHANGE_RISKS, Plan
from nodrop.plan.patches import SwitchPatchFiles, make_patches
from nodrop.platforms.frr.changes import find_vtysh_changes
from nodrop.platforms.nvue.edit_between import edit_between_file_versions as edit_nvue_between
from nodrop.platforms.sonic.edit import PATCH, edit_between_file_versions
from nodrop.platforms.sonic.patch import diff_tables
from support import nvue_replay
from support.designs import load, shipped
from support.json_text import applied
from support.plan_pairs import KNOBS, reading, reading_of, steps_of

MORE: tuple[dict[str, Any], ...] = (
    {"classes.rdma.share": "50%", "classes.default.share": "25%"},
    {"endpoints.storage.vlan": {"id": "100", "pool": "10.3.0.0/16"}},
    {"routing.sessions": "unnumbered", "addressing.links": None},
    {"routing.asn": {"spines": "4200000001", "leaves": "4200200000+"}},
    {"endpoints.storage.ids": "1"},
    {"services": {"dns": ["192.0.2.5"], "snmp": {"location": "hall 2"}, "telemetry": {"gnmi": True}}},
)
"""Changes besides those of the pairs: rows that the model names otherwise, or that its editor leaves to a person."""
CASES = [*({knob: value} for knob, values in KNOBS.items() for value in values), *MORE]
SLOW = [pytest.param(one, marks=pytest.mark.slow, id=str(one)) for one in CASES if one not in MORE]


def made(old: Reading, new: Reading) -> Iterator[tuple[Plan, SwitchPatchFiles, dict[str, bytes], dict[str, bytes]]]:
    """The plan and the patch of each switch that changes, with its old files and its new ones."""
    plan = nodrop.plan(old, new)
    kinds = {one.name: one.kind for one in plan.devices}
    for patch in make_patches(plan, old, new):
        before, after = switch_files_if_unchanged(old, patch.device), switch_files_if_unchanged(new, patch.device)
        if kinds[patch.device] == "changed":
            assert before is not None
            assert after is not None
            yield plan, patch, before, after


COLORS = {"g": "green", "y": "yellow", "r": "red"}
ENDS = {"min": "min_threshold", "max": "max_threshold", "drop": "drop_probability"}


def typed(script: str, config: dict[str, Any]) -> dict[str, Any]:
    """What commands make of a configuration (sonic-utilities scripts/ecnconfig: -gmin is green_min_threshold)."""
    for line in script.splitlines():
        sudo, tool, flag, profile, *options = line.split()
        assert (sudo, tool, flag) == ("sudo", "ecnconfig", "-p")
        for option, value in zip(options[::2], options[1::2], strict=True):
            field = f"{COLORS[option[1]]}_{ENDS[option[2:]]}"
            assert field in config["WRED_PROFILE"][profile]
            config["WRED_PROFILE"][profile][field] = value
    return config


@pytest.mark.slow
@pytest.mark.parametrize("wanted", CASES, ids=str)
def test_a_sonic_switch_comes_to_its_new_file(wanted: dict[str, Any]) -> None:
    one, other = reading("sonic"), reading_of("sonic", wanted)
    for pair in ((one, other), (other, one)):
        for plan, patch, before, after in made(*pair):
            steps = steps_of(patch.files)
            old, new = (json.loads(files["config_db.json"]) for files in (before, after))
            assert typed(patch.files.get("commands.sh", b"").decode(), applied(steps, old)) == new, patch.device
            assert [line for line in patch.by_hand if not line.startswith("refused as a whole")] == []
            assert patch.result["frr.conf"] == after["frr.conf"]
            direct = edit_between_file_versions(before, after, name=patch.device)
            assert direct is not None
            assert CHANGE_RISKS.index(plan.effects[patch.device]) >= CHANGE_RISKS.index(worst_disruption(direct.steps))


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [*MORE, *SLOW], ids=str)
def test_an_nvue_switch_comes_to_its_new_file(wanted: dict[str, Any]) -> None:
    try:
        pair = reading("nvue"), reading_of("nvue", wanted)
    except InputProblems:
        return
    for _, patch, before, after in made(*pair):
        old, new = (files["startup.yaml"].decode() for files in (before, after))
        single = nvue_replay.leaves(old) | nvue_replay.leaves(new)
        script, document = (patch.files[name].decode() for name in ("changes.nv", "changes.yaml"))
        assert nvue_replay.played(script, nvue_replay.settings(old), single) == nvue_replay.settings(new)
        assert nvue_replay.patched(document, nvue_replay.settings(old), single) == nvue_replay.settings(new)
        assert patch.by_hand == ()


SMALL_HOSTS = {
    "ids": "1-2", "nic": "ConnectX-6", "spread": "one-leaf", "leaf_group": 1, "leaf_ports": 4, "split": 2,
    "speed": "200G", "media": "AOC", "length": "3m",
}  # fmt: skip


def test_ports_of_an_nvue_switch_are_broken_out_in_two_revisions() -> None:
    """NVUE refuses QoS of parts in the revision that makes them; the rest waits for nothing."""
    old, new = reading("nvue"), reading_of("nvue", {"endpoints.small": SMALL_HOSTS})
    plan = nodrop.plan(old, new)
    (going,) = (
        fact.effect
        for block in plan.changes
        for fact in block.facts
        if any(isinstance(entry.old, Interface) for entry in fact.entries)
    )
    assert (going.risk, going.method) == ("none", "patch")
    leaves = [row for row in made(old, new) if "changes-1.nv" in row[1].files]
    assert [patch.device for _, patch, *_ in leaves] == ["leaf1", "leaf2"]
    for _, patch, before, after in leaves:
        assert set(patch.files) == {f"changes-{number}.{form}" for number in (1, 2) for form in ("nv", "yaml")}
        assert patch.by_hand == ()
        files = {name: raw.decode() for name, raw in patch.files.items()}
        was, wanted = (bundle["startup.yaml"].decode() for bundle in (before, after))
        single = nvue_replay.leaves(was) | nvue_replay.leaves(wanted)
        by_commands = by_documents = nvue_replay.settings(was)
        for number in (1, 2):
            by_commands = nvue_replay.played(files[f"changes-{number}.nv"], by_commands, single)
            by_documents = nvue_replay.patched(files[f"changes-{number}.yaml"], by_documents, single)
        assert by_commands == by_documents == nvue_replay.settings(wanted)
        lines = files["changes-2.nv"].splitlines()
        assert lines
        assert all(line.startswith("nv set interface swp4s0 qos ") for line in lines)
        assert "nv set interface swp4 link breakout 2x lanes-per-port 4" in files["changes-1.nv"].splitlines()
        assert "swp4s0 qos" not in files["changes-1.nv"]


def test_ports_that_were_broken_out_are_put_together_by_hand() -> None:
    old, new = reading_of("nvue", {"endpoints.small": SMALL_HOSTS}), reading("nvue")
    (leaf1, *_) = made(old, new)
    assert any(line.startswith("leaf1/swp4: ports come and go") for line in leaf1[1].by_hand)


def test_a_port_in_use_bounces_when_it_is_broken_out() -> None:
    files = switch_files_if_unchanged(reading("nvue"), "leaf1")
    assert files is not None
    text = files["startup.yaml"].decode()
    broken = text.replace("      swp1:\n", "      swp1:\n        link: {breakout: {2x: {}}}\n", 1)
    edit = edit_nvue_between(files, {"startup.yaml": broken.encode()}, name="leaf1")
    assert edit is not None
    assert [(step.disruption, step.affected) for step in edit.steps] == [("port bounce", ("swp1",))]


def test_names_that_say_the_same_are_not_worth_it_that_ports_are_shut() -> None:
    """A cap that goes is one field; the scheduler's name without a speed would take all queues along."""
    old, new = reading("sonic"), reading_of("sonic", {"classes.cnp.max_rate": None})
    plan = nodrop.plan(old, new)
    assert set(plan.effects.values()) == {"none"}
    for patch in make_patches(plan, old, new):
        assert [step["path"] for step in json.loads(patch.files[PATCH])] == [
            "/SCHEDULER/scheduler.6.400G/cir",
            "/SCHEDULER/scheduler.6.400G/pir",
        ]


def test_what_runs_is_changed_in_what_the_model_says_of_it_alone() -> None:
    """A switch has rows that no fact comes from; a plan that does not make whole files leaves them as they are."""
    old, new = reading("sonic"), reading_of("sonic", {"topology.leaves.ids": "1-3"})
    plan = nodrop.plan(old, new)
    for exact in (True, False):
        for patch in make_patches(replace(plan, exact=exact), old, new):
            tables = {step["path"].split("/")[1] for step in steps_of(patch.files)}
            assert ("DEVICE_NEIGHBOR" in tables) is (exact and patch.device != "leaf3")
            assert ("changes.vtysh" in patch.files) is (exact and patch.device != "leaf3")


def test_a_table_without_rows_is_none() -> None:
    """The switch does not have it, and the updater refuses a patch that leaves one behind."""
    row = {"detection_time": "200"}
    full, empty = {"PFC_WD": {"Ethernet0": row}}, {"PFC_WD": dict[str, Any]()}
    assert [step.operation for step in diff_tables(full, empty)] == [{"op": "remove", "path": "/PFC_WD"}]
    assert [step.operation for step in diff_tables(empty, full)] == [
        {"op": "add", "path": "/PFC_WD", "value": full["PFC_WD"]}
    ]
    assert list(diff_tables(empty, {})) == []


@pytest.mark.parametrize("knob", ["endpoints.storage.split", "hwsku"])
def test_other_lanes_and_another_hwsku_are_for_no_patch(knob: str) -> None:
    old = reading("sonic")
    files = switch_files_if_unchanged(old, "leaf1")
    assert files is not None
    config = json.loads(files["config_db.json"])
    if knob == "hwsku":
        config["DEVICE_METADATA"]["localhost"]["hwsku"] = "Mellanox-SN4700-O32"
    else:
        config["PORT"]["Ethernet16"]["lanes"] = "16,17,18,19"
    assert edit_between_file_versions(files, {**files, "config_db.json": json.dumps(config).encode()}) is None


@pytest.mark.parametrize("name", ["lossy", "trim"])
def test_no_map_is_without_rows(name: str) -> None:
    """libyang 1, with which SONiC reads files up to 202511, refuses the whole file for one."""
    for device in ("leaf1", "spine1"):
        files = switch_files_if_unchanged(build_and_read_back(load(shipped(name)), "intent.yaml", "build")[1], device)
        assert files is not None
        tables = json.loads(files["config_db.json"])
        maps = {table: rows for table, rows in tables.items() if table.endswith("_MAP") or "MAP_" in table}
        assert [(table, row) for table, rows in maps.items() for row in rows if not rows[row]] == []


FRR = """frr defaults datacenter
ip prefix-list OWN seq 10 permit 10.0.0.1/32
ip prefix-list OWN seq 20 permit 10.2.1.0/24
!
route-map IN permit 10
 set local-preference 0
exit
!
router bgp 65001
 bgp router-id 10.0.0.1
 no bgp default ipv4-unicast
 neighbor 10.1.0.1 remote-as 65000
 neighbor 10.1.0.3 remote-as 65000
 neighbor Ethernet8 interface remote-as 65000
 !
 address-family ipv4 unicast
  network 10.0.0.1/32
  neighbor 10.1.0.1 activate
  neighbor 10.1.0.1 route-map IN in
  neighbor 10.1.0.3 activate
 exit-address-family
exit
"""


@pytest.mark.parametrize(
    ("swaps", "lines"),
    [
        ([], []),
        ([("router-id 10.0.0.1", "router-id 10.0.0.9")], ["router bgp 65001", "bgp router-id 10.0.0.9", "exit"]),
        ([(" no bgp default ipv4-unicast\n", "")], ["router bgp 65001", "bgp default ipv4-unicast", "exit"]),
        (
            [(" neighbor 10.1.0.3 remote-as 65000\n", ""), ("  neighbor 10.1.0.3 activate\n", "")],
            ["router bgp 65001", "no neighbor 10.1.0.3", "exit"],
        ),
        (
            [(" neighbor Ethernet8 interface remote-as 65000\n", "")],
            ["router bgp 65001", "no neighbor Ethernet8 interface", "exit"],
        ),
        (
            [("10.1.0.1 remote-as 65000", "10.1.0.1 remote-as 65009")],
            ["router bgp 65001", "neighbor 10.1.0.1 remote-as 65009", "exit"],
        ),
        (
            [("  neighbor 10.1.0.1 route-map IN in\n", "")],
            [
                *("router bgp 65001", "address-family ipv4 unicast", "no neighbor 10.1.0.1 route-map IN in"),
                *("exit-address-family", "exit"),
            ],
        ),
        (
            [("route-map IN permit 10\n set local-preference 0\nexit\n", "")],
            ["no route-map IN permit 10"],
        ),
        (
            [
                ("seq 10 permit 10.0.0.1/32", "seq 10 permit 10.2.1.0/24"),
                ("20 permit 10.2.1.0/24", "20 permit 10.9.0.0/24"),
            ],
            [
                "no ip prefix-list OWN seq 20 permit 10.2.1.0/24",
                "ip prefix-list OWN seq 10 permit 10.2.1.0/24",
                "ip prefix-list OWN seq 20 permit 10.9.0.0/24",
            ],
        ),
    ],
)
def test_lines_for_vtysh(swaps: list[tuple[str, str]], lines: list[str]) -> None:
    new = FRR
    for old_words, new_words in swaps:
        assert old_words in new
        new = new.replace(old_words, new_words)
    said = find_vtysh_changes(FRR, new)
    assert said is not None
    assert said.splitlines() == lines


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("allowas-in", "allowas-in 4", ["neighbor 10.1.0.3 allowas-in 4"]),
        ("timers 3 9", "timers 10 30", ["neighbor 10.1.0.3 timers 10 30"]),
        ("prefix-list A in", "prefix-list B in", ["neighbor 10.1.0.3 prefix-list B in"]),
        (
            "prefix-list A in",
            "prefix-list A out",
            ["no neighbor 10.1.0.3 prefix-list A in", "neighbor 10.1.0.3 prefix-list A out"],
        ),
        ("timers 3 9", "timers connect 5", ["no neighbor 10.1.0.3 timers 3 9", "neighbor 10.1.0.3 timers connect 5"]),
    ],
)
def test_another_value_takes_the_place_of_that_of_the_same_command_only(old: str, new: str, lines: list[str]) -> None:
    key = " neighbor 10.1.0.3 remote-as 65000\n"
    said = find_vtysh_changes(*(FRR.replace(key, f"{key} neighbor 10.1.0.3 {words}\n") for words in (old, new)))
    assert said is not None
    assert [line for line in said.splitlines() if line not in ("router bgp 65001", "exit")] == lines


def test_another_profile_of_frr_is_for_no_line() -> None:
    assert find_vtysh_changes(FRR, FRR.replace("defaults datacenter", "defaults traditional")) is None


GROUP = "router bgp 65001\n neighbor SPINES peer-group\n neighbor 10.0.0.1 remote-as 65100\n{} exit\n"
JOINED = " neighbor 10.0.0.1 peer-group SPINES\n"


def test_lines_for_vtysh_put_a_session_into_a_peer_group_and_take_none_out() -> None:
    """FRR removes the sessions of a group with it, and has no command that takes one out."""
    alone, joined = GROUP.format(""), GROUP.format(JOINED)
    said = find_vtysh_changes(alone, joined)
    assert said is not None
    assert said.splitlines() == ["router bgp 65001", JOINED.strip(), "exit"]
    assert find_vtysh_changes(joined, alone) is None
    assert find_vtysh_changes(joined, "router bgp 65001\n neighbor SPINES peer-group\n exit\n") is not None
