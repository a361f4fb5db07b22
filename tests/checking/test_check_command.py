"""`nodrop check` as a pipeline runs it: a repository of git, a change in it, and what is told of that."""

import json
import shutil
from pathlib import Path

import pytest

from nodrop import fabric_readings
from nodrop.inputs import DeviceFiles, FabricInputs, FileText
from nodrop.model.reading import DeviceReading, Reading
from nodrop.opening import read_device_files
from nodrop.routing.observation import DifferingFlow
from nodrop.validating.batfish.comparing import PacketDifference
from support.check_repositories import Git, built_pods, commit, of_json, written
from support.command import built, nodrop, unwatched


def test_nothing_has_changed(configurations: Git) -> None:
    done = nodrop("check", "--base", "main")
    commit = configurations("rev-parse", "--short=12", "main")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"since main ({commit}): no new finding; nothing changes; 1 fabric as before\n"


def test_a_new_finding_of_files_that_nobody_has_committed(configurations: Git) -> None:
    unwatched("Ethernet224")
    done = nodrop("check", "--base", "main")
    assert done.code == 1
    assert "error[watchdog-missing-fabric]" in done.out or "watchdog" in done.out
    assert "--> build/leaf1/config_db.json:" in done.out
    assert done.out.splitlines()[-1].endswith(": 1 new warning; 1 switch changed; no traffic impact expected")


def test_what_a_change_does_to_the_reach_of_a_pause(configurations: Git) -> None:
    """Without PFC on its two uplinks a leaf takes no pause from the spines, nor sends any; with it again, it does."""
    file = Path("build/leaf1/config_db.json")
    tables = json.loads(file.read_text())
    for port in ("Ethernet224", "Ethernet232", "Ethernet240", "Ethernet248"):
        tables["PORT_QOS_MAP"].get(port, {}).pop("pfc_enable", None)
    file.write_text(json.dumps(tables))
    lines = nodrop("check", "--base", "main").out.splitlines()
    assert "  one NIC that pauses for ever freezes 3 fewer host ports (2, before: 5)" in lines
    commit(configurations)
    configurations("checkout", "-q", "main", "--", "build")
    back = nodrop("check", "--base", "HEAD").out.splitlines()
    assert back[back.index("proofs") + 1] == "  one NIC that pauses for ever freezes 3 more host ports (5, before: 2)"
    (fabric,) = of_json("--base", "HEAD")["fabrics"]
    assert (fabric["claims"]["old"]["frozen_host_ports"], fabric["claims"]["new"]["frozen_gpus"]) == (2, 16)
    assert "freezes 3 more host ports" in nodrop("check", "--base", "HEAD", "--format", "markdown").out


def test_what_was_found_before_is_counted_and_what_is_mended_is_told(configurations: Git) -> None:
    unwatched("Ethernet224", "Ethernet232")
    commit(configurations)
    fine = configurations("rev-parse", "main")
    before = of_json("--base", fine)
    again = of_json("--base", "HEAD")
    assert before["summary"] == {"changed": 1, "new": 2, "fixed": 0, "suppressed": 0, "unchanged": 0}
    assert again["summary"] == {"changed": 0, "new": 0, "fixed": 0, "suppressed": 0, "unchanged": 0}
    configurations("checkout", "-q", fine, "--", "build")
    after = of_json("--base", "HEAD")
    assert after["summary"] == {"changed": 1, "new": 0, "fixed": 2, "suppressed": 0, "unchanged": 0}
    assert nodrop("check", "--base", "HEAD").code == 0


def test_of_a_large_fabric_no_more_is_read_and_judged_than_the_change_can_matter_to(
    configurations: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    unwatched("Ethernet224")
    whole = of_json("--base", "main")
    read: list[str] = []

    def watched(bundle: DeviceFiles) -> DeviceReading:
        read.append(bundle.name)
        return read_device_files(bundle)

    monkeypatch.setattr("nodrop.reading_cache.read_device_files", watched)
    monkeypatch.setattr("nodrop.checking.check.MAX_DEVICES_FOR_ROUTING", 3)
    monkeypatch.setattr("nodrop.checking.both_policies.MAX_DEVICES_FOR_ROUTING", 3)
    near = of_json("--base", "main", "--no-cache")
    assert near["findings"] == whole["findings"] != []
    assert (whole["summary"]["unchanged"], near["summary"]["unchanged"]) == (0, None)
    assert sorted(read) == ["leaf1", "leaf1", "leaf2", "spine1", "spine2"]


def test_a_suppressed_finding_is_neither_fixed_nor_told(configurations: Git) -> None:
    unwatched("Ethernet224")
    (rule,) = {one["rule"] for one in of_json("--base", "main")["findings"]}
    commit(configurations)
    Path("nodrop.yaml").write_text(f"suppress:\n- {{rule: {rule}, at: '**', reason: tried}}\n")
    written("build/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    made = of_json("--base", "HEAD")
    assert rule not in {one["rule"] for one in made["findings"]}
    assert made["notes"] == []
    assert [(one["rule"], one["severity"], one["message"]) for one in made["blockers"]] == [
        (
            "policy-changed",
            "note",
            f"nodrop.yaml: changes suppress; 1 finding of before would be hidden: {rule} at leaf1/Ethernet224",
        )
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


def test_a_comment_links_rules_to_the_pages_that_the_base_states(configurations: Git) -> None:
    Path("nodrop.yaml").write_text("rule_pages: https://docs.example.net/rules/{rule}.html\n")
    commit(configurations)
    Path("nodrop.yaml").write_text("rule_pages: https://elsewhere.example/{rule}\n")
    unwatched("Ethernet232")
    comment = nodrop("check", "--base", "HEAD", "--format", "markdown").out
    (rule,) = {one["rule"] for one in of_json("--base", "HEAD")["findings"]}
    assert f"[`{rule}`](https://docs.example.net/rules/{rule}.html)" in comment
    assert "elsewhere.example" not in comment


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
    assert done.out.endswith(": no new finding; nothing changes; 1 fabric as before\n")
    shutil.rmtree("moved")
    gone = nodrop("check", "--base", "main")
    assert gone.out.startswith("== build; gone\n\nreach: 22 cabled ports")
    assert "\n- leaf1, leaf2, spine1, spine2 removed" in gone.out
    named = nodrop("check", "--base", "main", "build")
    assert named.out.startswith("== build; gone\n\nreach: 22 cabled ports")
    assert "\n- leaf1, leaf2, spine1, spine2 removed" in named.out


def test_one_of_two_copies_of_a_folder_takes_its_place(configurations: Git) -> None:
    configurations("mv", "build", "first")
    shutil.copytree("first", "second")
    for name in ("first", "second"):
        written(f"{name}/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    fabrics = of_json("--base", "main")["fabrics"]
    assert [(one["name"], one["former_name"]) for one in fabrics] == [("first", "build"), ("second", None)]


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
    every = "leaf1, leaf2, spine1, spine2"
    told = f"build is out of date with intents/fabric.yaml: {every} different; run `nodrop build`"
    assert told in " ".join(stale.out.split())
    built("intents/fabric.yaml", "build")
    done = nodrop("check", "--base", "HEAD")
    assert done.code == 0
    assert done.out.count("queue 3: ECN minimum: 150 kB -> 200 kB") == 1
    assert "== intents/fabric.yaml; its build in build is up to date" in done.out
    edited = Path("build/leaf1/config_db.json").read_text()
    commit(intent)
    Path("build/leaf1/config_db.json").write_text(edited.replace('"mtu": "9216"', '"mtu": "9100"'))
    assert "build is out of date with intents/fabric.yaml: leaf1 different" in nodrop("check", "--base", "HEAD").out


def unfit(*words: str) -> list[tuple[str, str, list[str], list[str], list[str]]]:
    told = of_json(*words)["outdated_builds"]
    return [(one["intent"], one["build"], one["missing"], one["extra"], one["differing"]) for one in told]


def test_pods_with_switches_of_the_same_names_are_held_against_their_own_builds(pods: Git) -> None:
    written("intents/pod2.yaml", "min: 150kB", "min: 200kB")
    every = ["leaf1", "leaf2", "spine1", "spine2"]
    assert unfit("--base", "HEAD") == [("intents/pod2.yaml", "build/pod2", [], [], every)]
    built_pods()
    made = of_json("--base", "HEAD")
    assert (made["outdated_builds"], made["unchanged_fabrics"]) == ([], ["intents/pod1.yaml"])
    assert [(one["name"], one["matching_builds"]) for one in made["fabrics"]] == [("intents/pod2.yaml", ["build/pod2"])]


def test_of_an_intent_and_its_build_one_is_as_before_and_of_no_switches_nothing(pods: Git) -> None:
    assert of_json("--base", "HEAD")["unchanged_fabrics"] == ["intents/pod1.yaml", "intents/pod2.yaml"]
    assert nodrop("check", "--base", "HEAD").out.endswith("; 2 fabrics as before\n")
    written("build/pod2/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    assert of_json("--base", "HEAD")["unchanged_fabrics"] == ["intents/pod1.yaml"]
    shutil.rmtree("build")
    shutil.rmtree("intents")
    assert of_json("--base", "HEAD")["unchanged_fabrics"] == []


def test_a_folder_without_switches_is_no_fabric(git: Git) -> None:
    Path("notes.txt").write_text("nothing yet\n")
    commit(git)
    done = nodrop("check", "--base", "main", ".")
    assert "as before" not in done.out


def test_a_build_without_the_switch_that_its_intent_has_now(pods: Git) -> None:
    written("intents/pod1.yaml", "leaves: {ids: 1-2", "leaves: {ids: 1-3")
    ((intent, build, missing, extra, differ),) = unfit("--base", "HEAD")
    assert (intent, build, missing, extra) == ("intents/pod1.yaml", "build/pod1", ["leaf3"], [])
    assert {"spine1", "spine2"} <= set(differ)
    built_pods()
    pods("checkout", "-q", "intents")
    assert unfit("--base", "HEAD")[0][2:4] == ([], ["leaf3"])


def test_a_fabric_that_is_called_otherwise_and_not_built_again(pods: Git) -> None:
    written("intents/pod1.yaml", "fabric: pod1", "fabric: row1")
    assert unfit("--base", "HEAD") == []
    written("intents/pod1.yaml", "min: 150kB", "min: 200kB")
    assert [one[:2] for one in unfit("--base", "HEAD")] == [("intents/pod1.yaml", "build/pod1")]


def test_a_pod_that_comes_or_goes_beside_one_with_the_same_names_is_told(pods: Git) -> None:
    shutil.copy("intents/pod1.yaml", "intents/pod3.yaml")
    written("intents/pod3.yaml", "fabric: pod1", "fabric: pod3")
    built_pods()
    (come,) = of_json("--base", "HEAD")["fabrics"]
    assert (come["name"], come["former_name"], come["matching_builds"]) == ("intents/pod3.yaml", None, ["build/pod3"])
    pods("add", "-A")
    pods("commit", "-q", "-m", "a third")
    Path("intents/pod3.yaml").unlink()
    built_pods()
    told = [(one["name"], one["removed"]) for one in of_json("--base", "HEAD")["fabrics"]]
    assert told == [("intents/pod3.yaml", True)]


def test_the_intent_of_a_build_comes_with_a_change_of_it(pods: Git, tmp_path: Path) -> None:
    pods("rm", "-q", "-r", "--cached", "intents")
    pods("commit", "-q", "-m", "builds alone")
    shutil.copytree("build", tmp_path / "as it was")
    assert of_json("--base", "HEAD")["fabrics"] == []
    written("intents/pod1.yaml", "min: 150kB", "min: 200kB")
    built_pods()
    for base in ("HEAD", tmp_path / "as it was"):
        done = nodrop("check", "--base", base)
        assert done.out.count("queue 3: ECN minimum: 150 kB -> 200 kB") == 1
        assert "added" not in done.out
    (told,) = of_json("--base", "HEAD")["fabrics"]
    assert told["name"] == "build/pod1"


def test_a_build_that_is_gone_whole_while_its_intent_stays(pods: Git) -> None:
    every = ["leaf1", "leaf2", "spine1", "spine2"]
    gone = [(f"intents/pod{number}.yaml", f"build/pod{number}", every, [], []) for number in (1, 2)]
    Path("build/pod2").rename("elsewhere")
    assert unfit("--base", "HEAD") == []
    shutil.rmtree("elsewhere")
    assert unfit("--base", "HEAD") == gone[1:]
    shutil.rmtree("build")
    assert unfit("--base", "HEAD") == gone
    done = nodrop("check", "--base", "HEAD")
    assert done.code == 1
    assert "build/pod1 is out of date with intents/pod1.yaml: leaf1, leaf2, spine1, spine2 missing" in done.out
    Path("intents/pod1.yaml").unlink()
    assert unfit("--base", "HEAD") == gone[1:]


def test_a_build_that_states_no_name_is_held_against_its_own_intent(pods: Git) -> None:
    shutil.rmtree("build/pod2")
    Path("build/pod1/fabric.yaml").unlink()
    commit(pods)
    written("intents/pod2.yaml", "min: 150kB", "min: 200kB")
    assert unfit("--base", "HEAD") == []
    written("intents/pod1.yaml", "min: 150kB", "min: 200kB")
    assert [one[0] for one in unfit("--base", "HEAD")] == ["intents/pod1.yaml", "intents/pod2.yaml"]
    pods("checkout", "-q", "intents")
    shutil.rmtree("build")
    assert [one[0] for one in unfit("--base", "HEAD")] == ["intents/pod1.yaml"]


def test_of_a_switch_whose_file_cannot_be_read_nothing_is_told_but_that(pods: Git) -> None:
    file = Path("build/pod1/leaf2/config_db.json")
    file.write_bytes(file.read_bytes()[:1000])
    written("build/pod1/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    done = nodrop("check", "--base", "HEAD")
    assert (done.code, "error: build/pod1/leaf2/config_db.json:" in done.out) == (2, True)
    made = of_json("--base", "HEAD")
    told = {one["name"]: one for one in made["fabrics"]}
    assert [one["name"] for one in told["build/pod1"]["plan"]["devices"]] == ["leaf1"]
    assert [one for one in told["build/pod1"]["routing"]["changes"] if one["check"] == "sessions"] == []
    assert unfit("--base", "HEAD") == [("intents/pod1.yaml", "build/pod1", [], [], ["leaf1"])]
    pods("checkout", "-q", "build/pod1/leaf1")
    assert unfit("--base", "HEAD") == []
    assert nodrop("check", "--base", "HEAD").code == 2


def test_a_first_build_with_a_file_that_cannot_be_read_is_told(intent: Git) -> None:
    built("intents/fabric.yaml", "build")
    Path("build/leaf2/config_db.json").write_text("{")
    done = nodrop("check", "--base", "main")
    assert (done.code, "build/leaf2/config_db.json:1" in done.out) == (2, True)


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
    assert nodrop("check", "--base", "../before").out.splitlines()[-1].startswith("since ../before: 1 new warning; ")


def test_before_the_first_push_there_was_nothing(intent: Git, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    made = of_json("--base", f"{tmp_path}/nothing")
    assert [(one["name"], one["former_name"], one["removed"]) for one in made["fabrics"]] == [
        ("intents/fabric.yaml", None, False)
    ]
    assert {one["kind"] for one in made["fabrics"][0]["plan"]["devices"]} == {"added"}


def test_a_commit_that_is_named_by_its_number_is_named_once(configurations: Git) -> None:
    number = configurations("rev-parse", "main")
    assert nodrop("check", "--base", number).out.startswith(f"since {number[:12]}: no new finding; nothing")


def test_markdown_has_the_verdict_and_the_new_findings_first_each_cause_once(configurations: Git) -> None:
    written("build/leaf1/config_db.json", '"10": "2"', '"10": "3"')
    commit = configurations("rev-parse", "--short=12", "main")
    page = nodrop("check", "--base", "main", "--format", "markdown").out.splitlines()
    worst = "worst: traffic-affecting (leaf1)"
    decision = "### nodrop: ❌ blocked by error storage-in-rdma-class on leaf1"
    assert page[0].split("; ") == [decision, "7 new errors, 1 new warning", "1 switch changed", worst]
    assert page[2].startswith("- 🔴 **new error** `storage-in-rdma-class`: ")
    assert "(build/leaf1/config_db.json:" in page[2]
    assert page[3].startswith("  - what to do: ")
    assert page[4] == "  - also ends: `class-changes-along-path` (1)"
    legend = "🔴 error, loss or removed · 🟡 warning or changed · 🔵 note · 🟢 added"
    assert page[-1] == f"<sub>compared with main (`{commit}`)<br>{legend}</sub>"


def test_patches_of_the_change(configurations: Git) -> None:
    written("build/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    nodrop("check", "--base", "main", "--patch", "../patch")
    assert sorted(path.name for path in Path("../patch").iterdir()) == [".nodrop.json", "PATCHES.txt", "leaf1"]


def test_nothing_to_look_at(git: Git) -> None:
    Path("readme.txt").write_text("nothing\n")
    commit(git)
    done = nodrop("check", "--base", "main")
    assert (done.code, done.err) == (3, "nothing to check\n")


def test_batfish_says_which_packets_fare_differently(configurations: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def difference(old: Reading, new: Reading, service: str, *, progress: object) -> PacketDifference:
        del progress
        asked.append((len(old.fabric.devices), len(new.fabric.devices), service))
        flow = DifferingFlow(
            source="leaf1",
            port="",
            prefix="10.0.0.3/32",
            destination="10.0.0.3",
            old="ACCEPTED",
            new="NO_ROUTE",
            lost=True,
        )
        return PacketDifference(flows=(flow,), notes=("as Batfish has it",))

    monkeypatch.setattr("nodrop.validating.batfish.compare_builds", difference)
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
    before = fabric_readings.read_fabric_or_intent

    def counted(what: FabricInputs | FileText, *given: object, **named: object) -> Reading:
        read.append(what.folder_of_fabric if isinstance(what, FabricInputs) else what.display)
        return before(what, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(fabric_readings, "read_fabric_or_intent", counted)
    made = of_json("--base", "main")
    assert read == ["pod1", "pod1"]
    assert made["unchanged_fabrics"] == ["pod0", "pod2"]


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


def test_rules_of_routing_run_whether_or_not_routes_are_compared(configurations: Git) -> None:
    written("build/leaf1/frr.conf", "  network 10.2.1.0/24\n", "")
    assert nodrop("lint", "build").code == 1
    for routing in ("--routing", "--no-routing"):
        told = [one["rule"] for one in of_json("--base", "main", routing)["findings"]]
        assert told == ["hosts-not-announced"], "files decide it, and it is reported once"


@pytest.mark.parametrize("word", ["pfc-without-watchdog", "watchdog", "cable-without-session", "routing"])
@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize("routing", ["--routing", "--no-routing"])
def test_words_of_files_and_of_routing_choose_rules_whether_or_not_routes_are_worked_out(
    configurations: Git, option: str, word: str, routing: str
) -> None:
    unwatched("Ethernet0")
    done = nodrop("check", "--base", "HEAD", routing, option, word)
    told = "pfc-without-watchdog" in done.out
    assert (done.code, told) == (
        (1, True) if (option == "--ignore") != (word in ("pfc-without-watchdog", "watchdog")) else (0, False)
    )
    assert nodrop("check", "--base", "HEAD", routing, option, "nosuch").code == 2


def test_a_file_that_cannot_be_written_keeps_no_other_report_back(configurations: Git) -> None:
    unwatched("Ethernet0")
    done = nodrop("check", "--base", "HEAD", "--format", "json=there/is/no/such/folder.json", "--format", "text")
    assert (done.code, "pfc-without-watchdog" in done.out) == (2, True)
    assert "cannot write there/is/no/such/folder.json" in done.err


def test_a_folder_of_patches_is_no_fabric(configurations: Git) -> None:
    unwatched("Ethernet0")
    first = nodrop("check", "--base", "HEAD", "--patch", "patch")
    again = nodrop("check", "--base", "HEAD", "--patch", "patch")
    assert (again.code, again.out) == (first.code, first.out)


def test_a_build_is_not_replaced_by_patches(configurations: Git) -> None:
    unwatched("Ethernet0")
    before = Path("build/leaf2/config_db.json").read_bytes()
    done = nodrop("check", "--base", "HEAD", "--patch", "build")
    assert (done.code, "holds what another command of nodrop wrote" in done.err) == (2, True)
    assert Path("build/leaf2/config_db.json").read_bytes() == before


def test_the_first_push_to_a_remote_passes_the_hook_and_only_that(
    configurations: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    unwatched("Ethernet224")
    assert nodrop("check", "--base", "origin/main").code == 2
    monkeypatch.setenv("PRE_COMMIT_REMOTE_NAME", "origin")
    first = nodrop("check", "--base", "origin/main")
    assert (first.code, first.out) == (0, "")
    assert first.err == "nothing checked: origin has no branch yet, so this push has no former state\n"
    assert nodrop("check", "--base", "other/main").code == 2
    configurations("update-ref", "refs/remotes/origin/dev", "HEAD")
    assert nodrop("check", "--base", "origin/main").code == 2
    configurations("update-ref", "refs/remotes/origin/main", "main")
    assert nodrop("check", "--base", "origin/main").code == 1


def test_the_comment_begins_with_the_decision_and_its_cause(configurations: Git) -> None:
    passing = nodrop("check", "--base", "main", "--format", "markdown")
    assert passing.out.startswith("### nodrop: \N{WHITE HEAVY CHECK MARK} passes; no new finding; nothing changes")
    unwatched("Ethernet224")
    blocked = nodrop("check", "--base", "main", "--format", "markdown")
    assert blocked.code == 1
    head = "### nodrop: \N{CROSS MARK} blocked by warning fabric-pfc-without-watchdog on leaf1; 1 new warning"
    assert blocked.out.startswith(head)
    allowed = nodrop("check", "--base", "main", "--format", "markdown", "--fail-on", "error")
    assert (allowed.code, allowed.out.splitlines()[0].count("passes")) == (0, 1)
