"""Fixing in memory: what is made, what is refused and why, what is to be typed, and what comes of a second run."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nodrop.config import Config
from nodrop.engine.example_setup import EXAMPLES, build_port_name_table, rename_ports
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.judging import CheckSettings
from nodrop.model.edit import set_value
from nodrop.model.subject import parse_subject
from support.fixed_files import after, fixed, found, left
from support.places import TESTS
from support.single_faults import clean, faults, inject, written

RULE = """\
severity: warning
scope: interface
assert: interface.qos.pfc_watchdog.action != "forward"
message: "{{ interface.name }} forwards"
why: it is here for a test
fix: do not
set: {interface.qos.pfc_watchdog.action: '"alert"'}
references: [none]
since: "0.1"
examples:
  bad: [{model: {leaf1/Ethernet0/qos/pfc_watchdog/action: forward}, at: [leaf1/Ethernet0]}]
  good: [{model: {}}]
"""
"""A rule whose fix another rule would find fault with."""


def built(platform: str, changes: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of two-by-two with changes of the model, by subject."""
    release = {"sonic": "202505", "nvue": "5.16"}[platform]
    fabric = clean("two-by-two", platform, release, "{}")
    fabric = rename_ports(fabric, build_port_name_table(fabric, EXAMPLES))
    for subject, value in changes.items():
        fabric = set_value(fabric, parse_subject(subject), value)
    fabric = replace(fabric, devices=tuple(map(fill_in_computed_buffer_sizes, fabric.devices)))
    return written(rename_ports(fabric, build_port_name_table(fabric, platform)))


UNWATCHED = {"leaf1/Ethernet0/qos/pfc_watchdog": None, "spine2/Ethernet0/qos/pfc_watchdog": None}


def lines(text: str | bytes) -> Counter[str]:
    """Return how often a text has each line, but for a comma at its end."""
    text = text.decode() if isinstance(text, bytes) else text
    return Counter(line.removesuffix(",") for line in text.splitlines())


@pytest.mark.parametrize(
    ("platform", "port", "added"),
    [
        (
            "sonic",
            "Ethernet0",
            ['        "Ethernet0": {', '            "action": "drop"', '            "detection_time": "200"'],
        ),
        ("nvue", "swp1", ["          pfc-watchdog:", "            state: enable"]),
    ],
)
def test_what_is_fixed_is_in_its_file_and_all_other_lines_stay(platform: str, port: str, added: list[str]) -> None:
    broken = built(platform, UNWATCHED)
    made = fixed(broken, unsafe=False)
    assert {(one.rule, one.subject) for one in made.made} == {
        ("fabric-pfc-without-watchdog", ("spine2", port)),
        ("pfc-without-watchdog", ("leaf1", port)),
    }
    assert left(made) == []
    assert len(made.files) == 2
    new = made.files[next(name for name in made.files if "leaf1" in name)]
    old = broken[next(name.removeprefix("net/") for name in made.files if "leaf1" in name)]
    assert not lines(old) - lines(new) - Counter({'            "pfcwd_sw_enable": ""': 1})
    assert set(added) <= set(lines(new) - lines(old))


@pytest.mark.parametrize("platform", ["sonic", "nvue"])
def test_a_second_run_changes_nothing_and_finds_the_same(platform: str) -> None:
    broken = built(platform, UNWATCHED | {"leaf2/Ethernet0/qos/dscp_to_tc/26": 0})
    once = fixed(broken)
    again = fixed(after(broken, once))
    assert once.files
    assert again.files == {}
    assert found(again) == found(once)


def test_a_fix_that_brings_something_new_about_is_refused_and_the_others_are_made(tmp_path: Path) -> None:
    (tmp_path / "watchdog").mkdir()
    (tmp_path / "watchdog" / "forwards.yaml").write_text(RULE)
    changes = {"leaf1/Ethernet8/qos/pfc_watchdog/action": "forward", "leaf1/Ethernet0/qos/pfc_watchdog": None}
    settings = CheckSettings(config=Config(rules=(tmp_path,)), ignore=("watchdog-only-alerts",))
    made = fixed(built("sonic", changes), settings=settings)
    assert [(one.rule, one.subject) for one in made.made] == [("pfc-without-watchdog", ("leaf1", "Ethernet0"))]
    assert left(made) == [("forwards", "leaf1/Ethernet8", "refused")]
    assert "watchdog-only-alerts would appear at leaf1/Ethernet8: the watchdog of Ethernet8" in made.remaining[0].text


def test_what_a_fix_brings_to_light_is_fixed_with_it() -> None:
    broken = built("sonic", {"spine2/Ethernet0/enabled": False, "spine2/Ethernet0/qos/pfc_watchdog": None})
    made = fixed(broken)
    assert [(one.rule, one.subject) for one in made.made] == [
        ("planned-port-down", ("spine2", "Ethernet0")),
        ("session-over-shut-port", ("spine2", "@neighbors", "10.1.1.240")),
    ]
    assert left(made) == []
    config = json.loads(made.files["net/spine2/config_db.json"])
    wanted = json.loads(built("sonic", {})["spine2/config_db.json"])
    assert wanted["PORT"]["Ethernet0"].pop("pfc_asym") == "off"  # the default, which no shut port states
    assert config == wanted


def test_a_guess_that_a_fix_would_change_is_something_new() -> None:
    config = json.loads(built("sonic", {})["leaf1/config_db.json"])
    config["PFC_WD"]["Ethernet0"]["action"] = "alert"
    made = fixed({"leaf1/config_db.json": json.dumps(config)})
    assert [(one.fact, one.value) for one in made.outcome.assumed] == [("mode", "lossless"), ("RDMA", "DSCP 26")]
    assert [one.rule for one in made.made] == ["watchdog-only-alerts"]


def test_devices_that_call_themselves_alike_are_each_fixed_in_their_own_file() -> None:
    config = json.loads(built("sonic", {})["leaf1/config_db.json"])
    one = json.dumps(config)
    config["PFC_WD"]["Ethernet224"]["action"] = "alert"
    files = {"a/config_db.json": one, "b/config_db.json": json.dumps(config)}
    made = fixed(files, settings=CheckSettings(select=("watchdog-only-alerts",)))
    assert list(made.files) == ["net/b/config_db.json"]
    assert json.loads(made.files["net/b/config_db.json"]) == json.loads(one)


@pytest.mark.parametrize("name", ['leaf"1', "leaf 1", "../leaf1", "le\u202eaf", "leaf/1%2F", "{{ x }}"])
def test_hostile_names_are_fixed_like_any_other(name: str) -> None:
    config = json.loads(built("sonic", {})["leaf1/config_db.json"])
    config["DEVICE_METADATA"]["localhost"]["hostname"] = name
    config["PFC_WD"]["Ethernet0"]["action"] = "alert"
    made = fixed({"x/config_db.json": json.dumps(config)})
    assert [one.rule for one in made.made] == ["watchdog-only-alerts"]
    assert json.loads(made.files["net/x/config_db.json"])["PFC_WD"]["Ethernet0"]["action"] == "drop"


def test_of_a_platform_that_is_only_read_every_command_is_told_with_its_line() -> None:
    raw = (TESTS / "platforms" / "onyx" / "bad.txt").read_bytes()
    line = b"   interface ethernet 1/31-1/32 qos map dscp 24-25,27-31 to switch-priority 0\n"
    assert line in raw
    made = fixed({"bad.txt": raw.replace(line, line + line.replace(b"1/31-1/32", b"1/1-1/4"))})
    assert made.files == {}
    typed = {one.finding.subject: one for one in made.remaining if one.finding.rule == "pfc-without-watchdog"}
    one = typed["leaf2", "Eth1/1"]
    assert one.reason == "by hand"
    assert one.text.endswith("type `interface ethernet 1/1 pfc-wd`")
    assert one.finding.located is not None
    assert one.finding.located.file == "net/bad.txt"
    several = next(one for one in made.remaining if one.finding.rule == "rdma-dscp-in-lossy-class")
    assert several.finding.fix is not None
    assert len(several.text.split("\n")) == len(several.finding.fix.changes) > 1


@pytest.mark.slow
def test_over_faults_of_all_kinds_nothing_new_is_found_and_a_second_run_changes_nothing() -> None:
    for fault in faults()[:: len(faults()) // 12]:
        broken = inject(fault)
        made = fixed(broken)
        again = fixed(after(broken, made))
        assert again.files == {}, fault.name
        assert found(again) == found(made), fault.name
        assert not found(made) - unfixed(broken), fault.name


def unfixed(files: Mapping[str, str]) -> Counter[tuple[str, tuple[str, ...]]]:
    """Return what is found in files as they are."""
    every = fixed(files, unsafe=False)
    return found(every) + Counter((one.rule, one.subject) for one in every.made)


def test_comments_and_layout_of_other_lines_stay() -> None:
    text = built("nvue", UNWATCHED)["leaf1/startup.yaml"]
    commented = re.sub(r"(?m)^( +)qos:$", r"\1qos:  # ours, see NET-14", text)
    made = fixed({**built("nvue", UNWATCHED), "leaf1/startup.yaml": "# by hand\n\n" + commented})
    new = made.files["net/leaf1/startup.yaml"].decode()
    kept = [line for line in new.splitlines() if line.strip() not in ("pfc-watchdog:", "state: enable")]
    old = ("# by hand\n\n" + commented).splitlines()
    assert [line for line in old if line.strip() not in ("pfc-watchdog:", "state: enable")] == kept


def test_files_that_no_patch_reaches_go_with_it_whole() -> None:
    fault = next(one for one in faults() if one.name == "nvidia 4: one AS number on leaf and spine (sonic)")
    made = fixed(inject(fault))
    (patch,) = made.patches
    assert sorted(made.files) == ["net/spine1/config_db.json", "net/spine1/frr.conf"]
    assert patch.complete_files == ("frr.conf",)
    assert patch.files["frr.conf"].encode() == made.files["net/spine1/frr.conf"]
    assert [step["path"] for step in json.loads(patch.files["patch.json"])] == ["/DEVICE_METADATA/localhost/bgp_asn"]
