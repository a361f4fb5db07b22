"""`nodrop check` as a pipeline runs it: a repository of git, a change in it, and what is told of that."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import built, nodrop, unwatched
from nodrop import judging
from nodrop.fabric.reading import Reading
from nodrop.inputs import Inputs, Text
from nodrop.resources import home
from nodrop.routing.observation import Flow
from nodrop.validating.batfish.comparing import Difference

INTENT = home("intents") / "two-by-two.yaml"
Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """A repository in the working directory, without anybody's own configuration, and git to work in it."""
    (tmp_path / "site").mkdir()
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))):
        monkeypatch.setenv(name, value)
    (tmp_path / "gitconfig").write_text('[user]\nname = x\nemail = x@example.com\n[protocol "file"]\nallow = always\n')
    monkeypatch.chdir(tmp_path / "site")

    def run(*words: str) -> str:
        done = subprocess.run(("git", *words), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    run("init", "-q", "-b", "main")
    return run


@pytest.fixture
def configurations(git: Git, two_by_two: Path) -> Git:
    """A repository with the files of four switches on the branch main, worked on in the branch topic."""
    shutil.copytree(two_by_two, "build")
    commit(git)
    git("checkout", "-q", "-b", "topic")
    return git


@pytest.fixture
def intent(git: Git) -> Git:
    """A repository with an intent on the branch main, worked on in the branch topic."""
    Path("intents").mkdir()
    shutil.copy(INTENT, "intents/fabric.yaml")
    commit(git)
    git("checkout", "-q", "-b", "topic")
    return git


def commit(git: Git) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", "as it is")


def written(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def of_json(*words: str | Path) -> Any:
    return json.loads(nodrop("check", *words, "--format", "json").out)


def test_nothing_has_changed(configurations: Git) -> None:
    done = nodrop("check", "--base", "main")
    commit = configurations("rev-parse", "--short=12", "main")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"since main ({commit}): nothing changes; no new finding; 1 fabric as before\n"


def test_a_new_finding_of_files_that_nobody_has_committed(configurations: Git) -> None:
    unwatched("Ethernet224")
    done = nodrop("check", "--base", "main")
    assert done.code == 1
    assert "error[watchdog-missing-fabric]" in done.out or "watchdog" in done.out
    assert "--> build/leaf1/config_db.json:" in done.out
    assert "1 switch: " in done.out.splitlines()[-1]


def test_what_was_found_before_is_counted_and_what_is_mended_is_told(configurations: Git) -> None:
    unwatched("Ethernet224", "Ethernet232")
    commit(configurations)
    fine = configurations("rev-parse", "main")
    before = of_json("--base", fine)
    again = of_json("--base", "HEAD")
    assert before["summary"] == {"new": 2, "fixed": 0, "suppressed": 0, "unchanged": 0}
    assert again["summary"] == {"new": 0, "fixed": 0, "suppressed": 0, "unchanged": 0}
    configurations("checkout", "-q", fine, "--", "build")
    after = of_json("--base", "HEAD")
    assert after["summary"] == {"new": 0, "fixed": 2, "suppressed": 0, "unchanged": 0}
    assert nodrop("check", "--base", "HEAD").code == 0


def test_a_suppressed_finding_is_neither_fixed_nor_told(configurations: Git) -> None:
    unwatched("Ethernet224")
    (rule,) = {one["rule"] for one in of_json("--base", "main")["findings"]}
    commit(configurations)
    Path("nodrop.yaml").write_text(f"suppress:\n- {{rule: {rule}, at: '**', reason: tried}}\n")
    written("build/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    made = of_json("--base", "HEAD")
    assert rule not in {one["rule"] for one in made["findings"]}
    assert made["notes"] == [
        {
            "kind": "config",
            "message": "has changed: both states are judged by its rules, severities and suppressions as they are now",
            "file": "nodrop.yaml",
        }
    ]


def test_formats_of_findings_hold_what_is_new(configurations: Git) -> None:
    unwatched("Ethernet224")
    commit(configurations)
    unwatched("Ethernet232")
    done = nodrop("check", "--base", "HEAD", "--format", "concise")
    assert done.code == 1
    assert "Ethernet232" in done.out
    assert "Ethernet224" not in done.out
    sarif = json.loads(nodrop("check", "--base", "HEAD", "--format", "sarif").out)
    uris = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in sarif["runs"][0]["results"]]
    assert set(uris) == {"build/leaf1/config_db.json"}


def test_a_switch_that_is_gone_and_what_becomes_of_routes(configurations: Git) -> None:
    shutil.rmtree("build/spine2")
    done = nodrop("check", "--base", "main")
    assert "- spine2 removed" in done.out
    assert "  routes of leaf1, leaf2 to 4 prefixes: over 2 paths, 4 before" in done.out
    assert "  failure of spine1: loses 4 destinations of leaves, 0 before" in done.out
    assert "routing: 1 loss" in done.out.splitlines()[-1]
    assert "routing\n" not in nodrop("check", "--base", "main", "--no-routing").out


def test_a_folder_that_is_gone_and_one_that_has_moved(configurations: Git) -> None:
    configurations("mv", "build", "moved")
    done = nodrop("check", "--base", "main")
    assert done.code == 0
    assert "nothing changes; no new finding" in done.out
    shutil.rmtree("moved")
    gone = nodrop("check", "--base", "main")
    assert "== build; gone\n\n- leaf1, leaf2, spine1, spine2 removed" in gone.out
    named = nodrop("check", "--base", "main", "build")
    assert "== build; gone\n\n- leaf1, leaf2, spine1, spine2 removed" in named.out


def test_a_path_that_never_was(configurations: Git) -> None:
    done = nodrop("check", "--base", "main", "nowhere")
    assert done.code == 2
    assert "nowhere: no such file or folder" in done.out


def test_branches_part_and_the_base_is_where_they_did(configurations: Git) -> None:
    written("build/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    commit(configurations)
    configurations("checkout", "-q", "main")
    unwatched("Ethernet224")
    commit(configurations)
    configurations("checkout", "-q", "topic")
    since = of_json("--base", "main")
    assert {one["name"] for one in since["fabrics"][0]["plan"]["devices"]} == {"leaf1"}
    exact = of_json("--base", "main", "--exact")
    whats = [
        {fact["what"] for change in made["fabrics"][0]["plan"]["changes"] for fact in change["facts"]}
        for made in (since, exact)
    ]
    assert whats[0] < whats[1]


def test_an_intent_and_its_build_are_told_once(intent: Git) -> None:
    built("intents/fabric.yaml", "build")
    first = nodrop("check", "--base", "main")
    assert (first.code, first.out.count("added")) == (0, 0)
    commit(intent)
    written("intents/fabric.yaml", "min: 150kB", "min: 200kB")
    stale = nodrop("check", "--base", "HEAD")
    assert stale.code == 1
    assert "build is not what intents/fabric.yaml comes to; `nodrop build` makes it so\ndiffers: leaf1/" in stale.out
    built("intents/fabric.yaml", "build")
    done = nodrop("check", "--base", "HEAD")
    assert done.code == 0
    assert done.out.count("queue 3: ECN minimum: 150 kB -> 200 kB") == 1
    assert "== intents/fabric.yaml; its build in build says the same" in done.out
    edited = Path("build/leaf1/config_db.json").read_text()
    commit(intent)
    Path("build/leaf1/config_db.json").write_text(edited.replace('"mtu": "9216"', '"mtu": "9100"'))
    assert "build is not what intents/fabric.yaml comes to" in nodrop("check", "--base", "HEAD").out


def test_an_intent_that_did_not_load_keeps_nobody_from_mending_it(intent: Git) -> None:
    written("intents/fabric.yaml", "kind: leaf-spine", "kind: leaf-spin")
    commit(intent)
    assert nodrop("check", "--base", "main").code == 2
    written("intents/fabric.yaml", "kind: leaf-spin", "kind: leaf-spine")
    done = nodrop("check", "--base", "HEAD")
    assert done.code == 0
    assert "before: intents/fabric.yaml:" in done.out


def test_a_renamed_intent_is_the_same_fabric(intent: Git) -> None:
    intent("mv", "intents/fabric.yaml", "intents/pod1.yaml")
    written("intents/pod1.yaml", "min: 150kB", "min: 200kB")
    done = nodrop("check", "--base", "main")
    assert "== intents/pod1.yaml, intents/fabric.yaml before\n" in done.out
    assert "queue 3: ECN minimum: 150 kB -> 200 kB" in done.out
    assert "removed" not in done.out


def test_a_folder_is_a_former_state_too(configurations: Git, tmp_path: Path) -> None:
    shutil.copytree("build", tmp_path / "before" / "build")
    unwatched("Ethernet224")
    by_folder, by_revision = of_json("--base", tmp_path / "before"), of_json("--base", "main")
    assert by_folder.pop("base") == str(tmp_path / "before")
    by_revision.pop("base")
    assert by_folder == by_revision
    assert nodrop("check", "--base", "../before").out.splitlines()[-1].startswith("since ../before: 1 switch: ")


def test_markdown_has_the_verdict_and_the_new_findings_first(configurations: Git) -> None:
    unwatched("Ethernet224")
    page = nodrop("check", "--base", "main", "--format", "markdown").out.splitlines()
    assert page[0].startswith("### nodrop: since main (")
    assert "**new " in page[2]
    assert "(build/leaf1/config\\_db.json:" in page[2] or "(build/leaf1/config_db.json:" in page[2]


def test_patches_of_the_change(configurations: Git) -> None:
    written("build/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    nodrop("check", "--base", "main", "--patch", "../patch")
    assert sorted(path.name for path in Path("../patch").iterdir()) == [".nodrop.json", "leaf1"]


def test_nothing_to_look_at(git: Git) -> None:
    Path("readme.txt").write_text("nothing\n")
    commit(git)
    done = nodrop("check", "--base", "main")
    assert (done.code, done.err) == (3, "nothing to look at\n")


def test_batfish_says_which_packets_fare_differently(configurations: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def difference(old: Reading, new: Reading, service: str, *, progress: object) -> Difference:
        del progress
        asked.append((len(old.fabric.devices), len(new.fabric.devices), service))
        flow = Flow(
            start="leaf1", port="", prefix="10.0.0.3/32", to="10.0.0.3", before="ACCEPTED", after="NO_ROUTE", lost=True
        )
        return Difference(flows=(flow,), told=("as Batfish has it",))

    monkeypatch.setattr("nodrop.validating.batfish.difference", difference)
    shutil.rmtree("build/spine2")
    done = nodrop("check", "--base", "main", "--batfish", "127.0.0.1")
    assert asked == [(4, 3, "127.0.0.1")]
    assert "  packets of leaf1 to 10.0.0.3 are lost (Batfish: ACCEPTED before, NO_ROUTE now)\n" in done.out
    assert "  as Batfish has it\n" in done.out


def test_only_what_has_changed_is_read(git: Git, two_by_two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        shutil.copytree(two_by_two, f"pod{number}")
    commit(git)
    unwatched("Ethernet224", path="pod1/leaf1/config_db.json")
    read: list[str] = []
    before = judging.read

    def counted(what: Inputs | Text, *given: object, **named: object) -> Reading:
        read.append(what.name if isinstance(what, Inputs) else what.display)
        return before(what, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "read", counted)
    made = of_json("--base", "main")
    assert read == ["pod1", "pod1"]
    assert made["same"] == ["pod0", "pod2"]


def test_routing_is_worked_out_where_it_may_matter_and_judged(configurations: Git) -> None:
    unwatched("Ethernet224")
    (quiet,) = of_json("--base", "main")["fabrics"]
    assert quiet["routing"]["not_computed"] == "nothing changes that it depends on"
    written("build/leaf1/frr.conf", "remote-as 4200000000", "remote-as 4200000009")
    made = of_json("--base", "main")
    (wrong,) = made["fabrics"]
    assert {one["check"] for one in wrong["routing"]["changes"]} >= {"sessions", "routes"}
    assert {one["new"] for one in wrong["routing"]["changes"] if one["check"] == "sessions"} == {"down"}
    assert "session-with-wrong-asn" in {one["rule"] for one in made["findings"]}


def test_the_rules_of_routing_judge_where_it_is_worked_out(configurations: Git) -> None:
    written("build/leaf1/frr.conf", "  network 10.2.1.0/24\n", "")
    assert nodrop("lint", "build").code == 0
    told = {one["rule"] for one in of_json("--base", "main")["findings"]}
    assert told == {"hosts-not-announced"}
    assert of_json("--base", "main", "--no-routing")["findings"] == []
