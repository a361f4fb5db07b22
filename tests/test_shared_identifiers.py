"""What fabrics of one command have in common: found by every command that checks several, with lines on both sides."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nodrop import shared_identifiers
from nodrop.engine.rules import shipped_rules
from nodrop.resources import resource_folder
from support.command import Done, nodrop
from support.gitops import committed, git

BASE = (resource_folder("intents") / "two-by-two.yaml").read_text()
OTHER = {
    "two-by-two": "pod2",
    "spines: {ids: 1-2": "spines: {ids: 3-4",
    "leaves: {ids: 1-2": "leaves: {ids: 3-4",
    "{per_spine: 2,": "{per_spine: 2, spine_slots: 2,",
    "gpu:     {ids: 1-2": "gpu:     {ids: 3-4",
    "storage: {ids: 1-2": "storage: {ids: 3-4",
    "spines: 4200000000": "spines: 4200000001",
    "loopbacks: 10.0.0.0/16, links: 10.1.0.0/16, endpoints: 10.2.0.0/16, oob: 192.168.100.0/24": (
        "loopbacks: 10.10.0.0/16, links: 10.11.0.0/16, endpoints: 10.12.0.0/16, oob: 192.168.101.0/24"
    ),
}
"""What makes of the fabric one that has nothing in common with it."""
NAME, ADDRESS, END, JOINED, APART = (
    "device-name-in-two-fabrics",
    "management-address-in-two-fabrics",
    "cable-end-in-two-fabrics",
    "numbers-repeat-in-joined-fabrics",
    "numbers-repeat-in-separate-fabrics",
)
SITE = "version: 1\n"


def intent(*same: str) -> str:
    """Return the intent of another fabric, which has in common with the first what these words stand for."""
    text = BASE
    for old, new in OTHER.items():
        assert old in text
        if old not in same:
            text = text.replace(old, new)
    return text


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NODROP_NO_CACHE", "1")
    Path("pod1.yaml").write_text(BASE.replace("two-by-two", "pod1"))
    Path("pod2.yaml").write_text(intent())


def found(*words: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Return what a command finds over all fabrics: rule, subject, file, and files related to it."""
    done = nodrop(*words, "--format", "json")
    return [
        (one["rule"], one["subject"], one["file"], tuple(each["file"] for each in one["related"]))
        for one in findings(done)
        if one["rule"] in {rule.name for rule in shipped_rules() if rule.beside}
    ]


def findings(done: Done) -> Any:
    assert done.code in (0, 1), done
    made = json.loads(done.out)
    return made["findings"]


def test_fabrics_with_nothing_in_common_are_never_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        shared_identifiers._FabricReadingCache, "reading", lambda *_: pytest.fail("a fabric is read again")
    )
    Path("nodrop.yaml").write_text(SITE)
    assert found("lint", "pod1.yaml", "pod2.yaml") == []
    assert found("build", "pod1.yaml", "pod2.yaml", "-o", "out") == []


def test_a_build_has_each_name_once() -> None:
    Path("pod2.yaml").write_text(intent("spines: {ids: 1-2", "{per_spine: 2,"))
    every = found("build", "pod1.yaml", "pod2.yaml", "-o", "out")
    assert every == [
        (NAME, name, f"out/pod2/{name}/config_db.json", ("pod2.yaml", "pod1.yaml")) for name in ("spine1", "spine2")
    ]
    assert not Path("out").exists()


@pytest.mark.parametrize("config", [None, SITE])
def test_names_may_repeat_unless_one_nodrop_yaml_makes_the_fabrics_one_site(config: str | None) -> None:
    Path("pod2.yaml").write_text(intent("spines: {ids: 1-2", "{per_spine: 2,"))
    if config is not None:
        Path("nodrop.yaml").write_text(config)
    names = [(rule, subject) for rule, subject, _, _ in found("lint", "pod1.yaml", "pod2.yaml")]
    assert names == ([(NAME, "spine1"), (NAME, "spine2")] if config else [])


def test_a_management_address_is_used_once_whatever_the_sites() -> None:
    """Both lines are told: in the file of the switch, and in that of the other."""
    for pod in ("pod1", "pod2"):
        assert nodrop("build", f"{pod}.yaml", "-o", f"sites/{pod}").code == 0
    file = Path("sites/pod2/leaf4/config_db.json")
    file.write_text(file.read_text().replace("192.168.101.4/24", "192.168.100.2/24"))
    for command in (("lint", "sites"), ("lint", "sites/pod1", "sites/pod2"), ("validate", "sites/pod1", "sites/pod2")):
        (one,) = [one for one in findings(nodrop(*command, "--format", "json")) if one["rule"] == ADDRESS]
        assert one["message"] == (
            "leaf4: management address 192.168.100.2 is also that of leaf2 in fabric pod1; expected a unique address"
        )
        (other,) = one["related"]
        assert (one["file"], other["file"]) == (str(file), "sites/pod1/leaf2/config_db.json")
        assert other["subject"] == "@fabrics/pod1/leaf2/@management/addresses"
        for place in (one, other):
            line = Path(place["file"]).read_text().splitlines()[place["line"] - 1]
            assert "192.168.100.2/24" in line
    text = nodrop("lint", "sites").out
    assert "::: sites/pod1/leaf2/config_db.json" in text
    assert '"eth0|192.168.100.2/24"' in text


def test_a_port_of_a_host_has_one_cable() -> None:
    both = intent().replace("gpu:     {ids: 3-4", "gpu:     {ids: 2").replace("leaf_group: 2,", "leaf_group: 1,")
    Path("pod2.yaml").write_text(both)
    (one,) = findings(nodrop("lint", "pod1.yaml", "pod2.yaml", "--format", "json"))
    assert (one["rule"], one["subject"]) == (END, "@fabric/links/gpu2:nic1--leaf3:Ethernet0")
    assert one["facts"]["ports"] == "nic1, nic2"
    assert one["facts"]["known"] == "gpu2:nic1 to leaf1:Ethernet8"


def cabled(*cables: tuple[str, str]) -> None:
    """Build both pods, and state cables beside the second."""
    for pod in ("pod1", "pod2"):
        assert nodrop("build", f"{pod}.yaml", "-o", f"sites/{pod}").code == 0
    path = Path("sites/pod2/fabric.yaml")
    text = path.read_text()
    rows = "".join(f"  - {a}--{b} 30m DR4\n" for a, b in cables)
    assert "cables:\n" in text
    path.write_text(text.replace("cables:\n", f"cables:\n{rows}"))


def test_numbers_repeat_where_no_cable_joins_the_fabrics() -> None:
    Path("pod2.yaml").write_text(intent("spines: 4200000000"))
    cabled()
    (one,) = findings(nodrop("lint", "sites", "--format", "json"))
    assert (one["rule"], one["severity"], one["facts"]["kind"]) == (APART, "note", "AS numbers")
    assert one["facts"]["values"] == "4200000000"
    assert [place["file"].split("/")[1] for place in (one, *one["related"])] == ["pod2", "pod1"]
    assert nodrop("lint", "sites").code == 0, "a note fails nothing"


def test_numbers_of_fabrics_that_a_cable_joins_are_different() -> None:
    Path("pod2.yaml").write_text(intent("spines: 4200000000"))
    cabled(("leaf1:Ethernet120", "leaf3:Ethernet120"))
    rules = [(rule, subject) for rule, subject, _, _ in found("lint", "sites")]
    assert rules == [(JOINED, "@fabric")]


def test_an_intent_and_its_build_are_one_fabric() -> None:
    Path("nodrop.yaml").write_text(SITE)
    assert nodrop("build", "pod1.yaml", "pod2.yaml", "-o", "out").code == 0
    assert found("lint", ".") == []


def test_switches_that_were_collected_are_those_of_their_fabric() -> None:
    Path("nodrop.yaml").write_text(SITE)
    assert nodrop("build", "pod1.yaml", "-o", "out/pod1").code == 0
    shutil.copytree("out/pod1/leaf1", "running/leaf1")
    assert found("lint", "running", "out") == []
    file = Path("running/leaf1/config_db.json")
    file.write_text(file.read_text().replace("192.168.100.1/24", "192.168.100.77/24"))
    assert NAME in {rule for rule, *_ in found("lint", "running", "out")}, "another switch"


def test_a_finding_over_fabrics_is_suppressed_like_any_other_and_never_called_unused() -> None:
    Path("pod2.yaml").write_text(intent("spines: {ids: 1-2", "{per_spine: 2,"))
    row = f"{{rule: {NAME}, at: 'spine*', reason: 'one of them moves, NET-7'}}"
    Path("nodrop.yaml").write_text(f"{SITE}suppress: [{row}]\n")
    done = json.loads(nodrop("lint", "pod1.yaml", "pod2.yaml", "--format", "json").out)
    assert {(one["rule"], one["suppressed"]["reason"]) for one in done["findings"]} == {
        (NAME, "one of them moves, NET-7")
    }
    assert done["summary"]["suppressed"] == 2
    alone = nodrop("lint", "pod1.yaml")
    assert alone.code == 0
    assert "unused-suppression" not in alone.out


def test_a_baseline_has_what_was_found_over_fabrics() -> None:
    Path("pod2.yaml").write_text(intent("spines: {ids: 1-2", "{per_spine: 2,"))
    Path("nodrop.yaml").write_text(f"{SITE}baseline: nodrop.baseline.yaml\n")
    assert nodrop("baseline", "pod1.yaml", "pod2.yaml").code == 0
    assert NAME in Path("nodrop.baseline.yaml").read_text()
    done = nodrop("lint", "pod1.yaml", "pod2.yaml")
    assert (done.code, "2 in the baseline" in done.out) == (0, True), done


def test_a_change_is_checked_against_fabrics_that_do_not_change() -> None:
    for pod in ("pod1", "pod2"):
        assert nodrop("build", f"{pod}.yaml", "-o", f"build/{pod}").code == 0
    git(Path(), "init", "-q", "-b", "main")
    committed(Path(), "two pods")
    for pod, leaf, old, new in (
        ("pod2", "leaf4", "192.168.101.4/24", "192.168.100.2/24"),
        ("pod1", "leaf2", "192.168.100.2/24", "192.168.101.3/24"),
    ):
        file = Path(f"build/{pod}/{leaf}/config_db.json")
        text = file.read_text()
        file.write_text(text.replace(old, new))
        made = json.loads(nodrop("check", "build", "--base", "HEAD", "--no-routing", "--format", "json").out)
        told = [(one["rule"], one["file"]) for one in made["findings"]]
        assert (ADDRESS, str(file)) in told
        file.write_text(text)
    file = Path("build/pod2/leaf4/config_db.json")
    file.write_text(file.read_text().replace("192.168.101.4/24", "192.168.100.2/24"))
    committed(Path(), "the address of another")
    file = Path("build/pod2/leaf3/config_db.json")
    file.write_text(file.read_text().replace("192.168.101.3/24", "192.168.101.9/24"))
    done = nodrop("check", "build", "--base", "HEAD", "--no-routing")
    assert ADDRESS not in done.out, "it was there before"
