"""Many findings in few lines: equal ones of one fabric and of many, and more causes than anyone reads."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from nodrop.resources import resource_folder
from support.command import built, nodrop

Config = dict[str, Any]
PODS = 10


def no_watchdog(config: Config) -> None:
    del config["PFC_WD"]["Ethernet0"]


def misspelt(config: Config) -> None:
    config["PORT"]["Ethernet8"]["mtuu"] = "9216"


def never_marks(config: Config) -> None:
    for profile in config["WRED_PROFILE"].values():
        profile["ecn"] = "ecn_none"


def small_mtu(config: Config) -> None:
    config["PORT"]["Ethernet224"]["mtu"] = "1500"


def no_fec(config: Config) -> None:
    config["PORT"]["Ethernet232"]["fec"] = "none"


FAULTS: Mapping[Callable[[Config], None], str] = {
    no_watchdog: "pfc-without-watchdog",
    misspelt: "unknown-field",
    never_marks: "ecn-inert",
    small_mtu: "mtu-mismatch",
    no_fec: "pam4-without-rs-fec",
}


def edit(path: Path, change: Callable[[Config], object]) -> None:
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config, indent=4))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten pods of which each leaf1 has each fault, and so has one switch of each five."""
    here = tmp_path_factory.mktemp("site")
    for number in range(PODS):
        pod = here / f"pod{number:02}"
        if number:
            shutil.copytree(here / "sound", pod)
        else:
            built(resource_folder("intents") / "two-by-two.yaml", pod)
            shutil.copytree(pod, here / "sound")
        for at, fault in enumerate(FAULTS):
            edit(pod / f"leaf{1 + (number + at) % 2}/config_db.json", fault)
    shutil.rmtree(here / "sound")
    return here


def heads(text: str) -> list[str]:
    return re.findall(r"^(?:error|warning|note)\[([\w-]+)\]", text, re.MULTILINE)


def test_five_faults_many_times_over_fit_seventy_lines(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pods are copies, with the same addresses: findings of these are left out."""
    monkeypatch.chdir(site)
    done = nodrop("lint", ".", "--ignore", "management-address-in-two-fabrics,numbers-repeat-in-separate-fabrics")
    assert sorted(set(heads(done.out))) == sorted(FAULTS.values())
    assert len(heads(done.out)) == len(FAULTS)
    assert len(done.out.splitlines()) <= 70, "five findings, each with what to type"
    assert max(map(len, done.out.splitlines())) <= 160


@pytest.mark.slow
def test_equal_findings_of_fabrics_whose_switches_are_called_alike_are_told_apart(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site)
    text = nodrop("lint", ".").out
    watchdogs = text.partition("error[pfc-without-watchdog]")[2].partition("\n\n")[0]
    assert "--> pod00/leaf1/config_db.json:" in watchdogs
    assert watchdogs.endswith("= the same in pod[01-09] (9 other fabrics, 9 devices, 9 ports)")
    marks = text.partition("error[ecn-inert]")[2].partition("\n\n")[0]
    assert "--> pod00/leaf1/config_db.json:" in marks
    here, outside = marks.splitlines()[-2:]
    assert here.endswith("= 6 more of the same on leaf1: Ethernet8, Ethernet16, Ethernet[224-248 by 8]")
    assert outside.endswith("= the same in pod[01-09] (9 other fabrics, 9 devices, 63 ports)")
    assert "in pod[00-09]" not in text
    links = text.partition("error[mtu-mismatch]")[2].partition("\n\n")[0]
    assert "(9 other fabrics, 9 devices, 9 links)" in links


def test_one_fabric_is_told_as_ever(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    assert "fabrics" not in nodrop("lint", "pod00").out


@pytest.mark.slow
def test_beyond_twenty_causes_the_end_is_a_count_for_each_rule(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(site / "pod00", "pod")

    def restless(config: Config) -> None:
        for at, row in enumerate(row for port, row in config["PFC_WD"].items() if port != "GLOBAL"):
            row["detection_time"] = str(4400 + at)
        for port in range(0, 256, 8):
            config["PORT"][f"Ethernet{port}"]["mtu"] = str(2000 + port)

    for leaf in ("leaf1", "leaf2"):
        edit(Path(f"pod/{leaf}/config_db.json"), restless)
    done = nodrop("lint", "pod")
    assert len(heads(done.out)) == 20
    *_, counted, totals = done.out.strip().split("\n\n")
    first, *rows = counted.splitlines()
    assert re.fullmatch(r"20 of \d+ different findings are shown; -v lists all\. By rule:", first)
    numbers = {name: int(number) for name, number in re.findall(r"\[([\w-]+)\]: (\d+) findings?", counted)}
    everything = json.loads(nodrop("lint", "pod", "--format", "json").out)["findings"]
    expected: dict[str, int] = {}
    for finding in everything:
        expected[finding["rule"]] = expected.get(finding["rule"], 0) + 1
    assert numbers == expected
    assert len(rows) == len(expected)
    assert sum(numbers.values()) == sum(map(int, re.findall(r"(\d+) (?:error|warning|note)s?\b", totals)))
    assert len(heads(nodrop("lint", "pod", "-v").out)) > 20
