"""`nodrop build`: what it writes, what it refuses to touch, and what it says about it."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from nodrop import judging
from nodrop.cli.build import _encode_files
from nodrop.platforms.kit.artifact import Artifact
from nodrop.publish import MANIFEST_FILE, PutFilesResult, content_digest
from nodrop.publish.draft import OutputTreeDraftPart
from nodrop.resources import resource_folder
from nodrop.results.outcome import FabricOutcome
from support.command import Done, built, nodrop, process

SMALL = (resource_folder("intents") / "two-by-two.yaml").read_text()
LARGE = (resource_folder("intents") / "reference-256.yaml").read_text()
LATE_MARKS = {"min: 150kB, max: 1500kB": "min: 48MB, max: 52MB"}
"""A fault that an intent can have: marking begins only after senders have been paused."""


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_intent(path: str = "intent.yaml", text: str = SMALL, **changes: str) -> str:
    """Write an intent; `changes` are texts to replace, by what replaces them."""
    for new, old in changes.items():
        assert old in text
        text = text.replace(old, new)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
    return path


def faulty(path: str = "faulty.yaml") -> str:
    ((old, new),) = LATE_MARKS.items()
    assert old in SMALL
    return write_intent(path, SMALL.replace(old, new))


def tree(top: str | Path = ".") -> dict[str, bytes]:
    """Every file below a folder, those with a dot too."""
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in Path(top).rglob("*") if path.is_file()}


def test_the_first_build_writes_all_and_says_what() -> None:
    write_intent()
    done = nodrop("build", "intent.yaml", "-o", "out")
    skipped, totals = done.out.splitlines()
    assert (done.code, done.err) == (0, "out: 4 devices, 20 files (20 written, 0 unchanged)\n")
    assert totals == f"no findings in 4 devices, 128 interfaces, {rules()} rules"
    assert skipped.endswith(" 5 for nodrop validate, 1 for another mode")
    devices = ("leaf1", "leaf2", "spine1", "spine2")
    assert tree("out").keys() == {
        MANIFEST_FILE,
        "fabric.yaml",
        *(f"plan/{name}.csv" for name in ("addresses", "cabling", "hosts")),
        *(f"hosts/ConnectX-7.{kind}" for kind in ("nccl.env", "service", "sh", "yaml")),
        *(f"{device}/{file}" for device in devices for file in ("config_db.json", "frr.conf", "apply/apply.sh")),
    }
    assert sorted(path.name for path in Path().iterdir()) == ["intent.yaml", "out"], "nothing is left beside it"


def test_files_are_in_the_draft_before_the_rules_run_and_leave_nothing_if_these_find_faults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the texts of all files would be in memory beside the routes that rules compute."""
    steps: list[tuple[str, int]] = []
    run_rules, put = judging.run_rules, OutputTreeDraftPart.put

    def put_and_note(part: OutputTreeDraftPart, files: Mapping[str, bytes]) -> PutFilesResult:
        steps.append(("put", len(files)))
        return put(part, files)

    def run_and_note(*arguments: Any) -> FabricOutcome:
        steps.append(("rules", len(tree(".out.nodrop-new"))))
        return run_rules(*arguments)

    monkeypatch.setattr(OutputTreeDraftPart, "put", put_and_note)
    monkeypatch.setattr(judging, "run_rules", run_and_note)
    assert nodrop("build", faulty(), "-o", "out").code == 1
    assert [step for step, _ in steps] == ["put", "rules"]
    assert steps[0][1] == 20
    assert steps[1][1] >= 20
    assert not Path("out").exists()


def test_texts_of_artifacts_become_bytes_in_order_and_leave_the_list() -> None:
    artifacts = [
        Artifact(device="leaf1", path="frr.conf", text="é"),
        Artifact(device="", path="fabric.yaml", text="a"),
    ]
    assert list(_encode_files(artifacts, "pod/").items()) == [
        ("pod/leaf1/frr.conf", "é".encode()),
        ("pod/fabric.yaml", b"a"),
    ]
    assert artifacts == []


def test_folders_of_a_device_are_no_devices() -> None:
    """The staged way to a configuration lies in a folder beside it."""
    line = 'spines: {ids: 1-2, model: SN4700, platform: sonic, version: "202505"}'
    assert line in SMALL
    write_intent(text=SMALL.replace(line, 'spines: {ids: 1-2, model: SN4700, platform: nvue, version: "5.14"}'))
    done = nodrop("build", "intent.yaml", "-o", "out")
    assert (done.code, done.err.partition(" files")[0].rpartition(", ")[0]) == (0, "out: 4 devices")
    assert Path("out/spine1/apply/apply.sh").is_file()


def rules() -> int:
    return int(json.loads(nodrop("lint", "intent.yaml", "--format", "json").out)["summary"]["rules"])


@pytest.mark.parametrize(("repository", "name"), [(".git", "site/intent.yaml"), ("none", "intent.yaml")])
def test_the_manifest_names_the_intent_and_nothing_of_this_machine(repository: str, name: str) -> None:
    Path(repository).mkdir()
    write_intent("site/intent.yaml")
    for given in (Path("site/intent.yaml"), Path("site/intent.yaml").absolute(), Path("site/../site/intent.yaml")):
        built(given, "out")
        manifest = json.loads(Path("out", MANIFEST_FILE).read_text())
        assert manifest["inputs"] == {name: content_digest(SMALL.encode())}
        assert manifest["files"] == {
            path: content_digest(data) for path, data in tree("out").items() if path != MANIFEST_FILE
        }


def test_the_manifest_names_intents_of_one_name_by_their_folders() -> None:
    for hall in ("east", "west"):
        write_intent(f"{hall}/intent.yaml", SMALL.replace("fabric: ", f"fabric: {hall}-"))
    built(Path("east/intent.yaml").absolute(), "out", "west/intent.yaml", "--ignore", "topology")
    manifest = json.loads(Path("out", MANIFEST_FILE).read_text())
    assert list(manifest["inputs"]) == ["east/intent.yaml", "west/intent.yaml"]


def test_building_again_writes_nothing() -> None:
    write_intent()
    built("intent.yaml", "out")
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in Path("out").rglob("*")}
    done = nodrop("build", "intent.yaml", "-o", "out")
    assert (done.code, done.err) == (0, "out: 4 devices, 20 files (0 written, 20 unchanged)\n")
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in Path("out").rglob("*")} == before


def test_a_change_writes_what_changed_and_removes_what_is_gone() -> None:
    write_intent("intent.yaml", LARGE)
    built("intent.yaml", "out")
    write_intent("intent.yaml", SMALL)
    done = nodrop("build", "intent.yaml", "-o", "out")
    assert (done.code, done.err) == (0, "out: 4 devices, 20 files (16 written, 4 unchanged, 6 removed)\n")
    built("intent.yaml", "fresh")
    assert tree("out") == tree("fresh")
    write_intent("intent.yaml", SMALL, **{"length: 31m": "length: 30m"})
    done = nodrop("build", "intent.yaml", "-o", "out")
    assert (done.code, done.err) == (0, "out: 4 devices, 20 files (6 written, 14 unchanged)\n")


def test_output_with_a_slash_and_folders_that_are_missing() -> None:
    write_intent()
    done = nodrop("build", "intent.yaml", "-o", "some/where/out/")
    assert (done.code, done.err) == (0, "some/where/out: 4 devices, 20 files (20 written, 0 unchanged)\n")
    assert nodrop("lint", "some/where/out").code == 0


def test_check_where_all_is_as_built() -> None:
    write_intent()
    built("intent.yaml", "out")
    before = tree("out")
    done = nodrop("build", "intent.yaml", "-o", "out", "--check")
    assert (done.code, done.err) == (0, "out: 20 files are what the intents say\n")
    assert tree("out") == before


def edit(path: str, change: Callable[[str], str]) -> None:
    Path(path).write_text(change(Path(path).read_text()))


def test_check_tells_every_drift_with_its_line_and_changes_nothing() -> None:
    write_intent()
    built("intent.yaml", "out")
    config = Path("out/leaf1/config_db.json").read_text()
    line = next(n for n, text in enumerate(config.splitlines(), 1) if '"detection_time"' in text)
    edit("out/leaf1/config_db.json", lambda text: text.replace('"detection_time": "200"', '"detection_time": "300"', 1))
    Path("out/leaf2/frr.conf").unlink()
    Path("out/notes.txt").write_text("mine")
    before = tree()
    done = nodrop("build", "intent.yaml", "-o", "out", "--check")
    assert done.code == 1
    assert done.err.splitlines() == [
        f"drift: out/leaf1/config_db.json:{line}: differs from the build",
        "drift: out/leaf2/frr.conf: is missing",
        "drift: out/notes.txt: is not of the build",
    ]
    assert tree() == before


def test_check_of_a_changed_intent_and_of_a_folder_that_is_not_there() -> None:
    write_intent()
    built("intent.yaml", "out")
    write_intent("intent.yaml", SMALL, **{"length: 31m": "length: 30m"})
    done = nodrop("build", "intent.yaml", "-o", "out", "--check")
    assert done.code == 1
    assert re.search(r"^drift: out/fabric.yaml:\d+: differs from the build$", done.err, re.MULTILINE)
    done = nodrop("build", "intent.yaml", "-o", "nowhere", "--check")
    assert done.code == 1
    assert "drift: nowhere/leaf1/config_db.json: is missing\n" in done.err
    assert not Path("nowhere").exists()


def test_check_tells_findings_and_drift() -> None:
    built(faulty(), "out", "--fail-on", "never")
    clean = nodrop("build", "faulty.yaml", "-o", "out", "--check")
    assert (clean.code, clean.err) == (1, "out: 20 files are what the intents say\n")
    assert "[ecn-never-before-pfc]" in clean.out
    assert nodrop("build", "faulty.yaml", "-o", "out", "--check", "--fail-on", "never").code == 0


def places(text: str, arrow: str) -> list[str]:
    """The places of findings in a report, behind an arrow."""
    lines = (line.strip() for line in text.splitlines())
    return [line.removeprefix(arrow) for line in lines if line.startswith(arrow)]


def test_findings_that_reach_the_threshold_stop_a_build() -> None:
    write_intent()
    built("intent.yaml", "out")
    before = tree("out")
    done = nodrop("build", faulty(), "-o", "out")
    assert done.code == 1
    assert "error[ecn-never-before-pfc]" in done.out
    assert "\n   --> faulty.yaml:" in done.out
    assert done.err == "nothing was written to out: findings reach --fail-on warning (--write-anyway writes it)\n"
    assert tree("out") == before
    done = nodrop("build", "faulty.yaml", "-o", "out", "--write-anyway")
    assert (done.code, "written" in done.err) == (1, True)
    assert tree("out") != before
    linted = nodrop("lint", "out")
    assert linted.code == 1
    assert places(linted.out, "-->") == places(done.out, ":::"), "those of the files that were written"
    assert "--> faulty.yaml:" in done.out
    assert "decided here: classes.rdma.ecn.min\n" in done.out


UNKNOWN = """
extra:
  leaf1: {lines: [router bgp, " bgp dampening", exit, "zebra nexthop kernel enable"]}
  spine: {tables: {PBH_HASH_FIELD: {f: {hash_field: INNER_IP_PROTOCOL, sequence_id: "1"}}}}
"""
DECLARATIONS = """harmless:
  - line: PBH_HASH_FIELD
    reason: (why it changes nothing that you check)
  - line: bgp dampening
    at: leaf1
    reason: (why it changes nothing that you check)
  - line: zebra nexthop kernel enable
    at: leaf1
    reason: (why it changes nothing that you check)
"""


def test_additions_of_unknown_effect_are_written_once_they_are_declared() -> None:
    write_intent("added.yaml", SMALL + UNKNOWN)
    done = nodrop("build", "added.yaml", "-o", "out")
    first, second, declarations = done.err.split("\n", 2)
    assert first == "nothing was written to out: nodrop does not know what `extra` changes with the lines above"
    assert second == "if they change nothing that you check, declare them in nodrop.yaml:"
    assert sorted(declarations.split("  - ")) == sorted(DECLARATIONS.split("  - "))
    assert (done.code, Path("out").exists()) == (1, False)
    assert "unknown[unknown-line]: added.yaml:" in done.out
    assert nodrop("build", "added.yaml", "-o", "out", "--write-anyway").code == 0
    assert nodrop("build", "added.yaml", "-o", "out", "--check").code == 1

    Path("nodrop.yaml").write_text(declarations)
    done = nodrop("build", "added.yaml", "-o", "out")
    assert (done.code, "4 lines declared harmless" in done.out) == (0, True)
    assert " bgp dampening\nexit\nzebra nexthop kernel enable\n" in Path("out/leaf1/frr.conf").read_text()
    assert nodrop("build", "added.yaml", "-o", "out", "--check").code == 0


def test_a_fabric_file_beside_an_intent_is_not_ignored_silently() -> None:
    Path("site").mkdir()
    Path("site/fabric.yaml").write_text("mode: lossy\n")
    write_intent("site/pod.yaml")
    done = nodrop("build", "site/pod.yaml", "-o", "out")
    assert done.code == 0
    assert "not read: site/fabric.yaml: beside an intent, which states all of its fabric itself" in done.out
    assert nodrop("build", "site/pod.yaml", "-o", "out", "--fail-on", "unknown").code == 1


def test_a_threshold_that_is_not_reached_lets_a_build_pass() -> None:
    done = nodrop("build", faulty(), "-o", "out", "--fail-on", "never")
    assert (done.code, Path("out/leaf1").is_dir()) == (0, True)
    done = nodrop("build", faulty(), "-o", "other", "--ignore", "ecn-never-before-pfc")
    assert (done.code, Path("other/leaf1").is_dir()) == (0, True)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda: Path("out/notes.txt").write_text("mine"), "out/notes.txt: was not written by nodrop"),
        (
            lambda: Path("out/leaf1/frr.conf.orig").write_text("mine"),
            "out/leaf1/frr.conf.orig: was not written by nodrop",
        ),
        (lambda: edit("out/leaf1/frr.conf", str.upper), "out/leaf1/frr.conf: was changed since nodrop wrote it"),
        (lambda: Path("out", MANIFEST_FILE).unlink(), f"out: is not empty and has no {MANIFEST_FILE}"),
        (lambda: Path("out", MANIFEST_FILE).write_text("{"), f"out/{MANIFEST_FILE}: is damaged: not JSON"),
    ],
)
def test_what_a_person_put_there_is_never_lost(prepare: Callable[[], object], said: str) -> None:
    write_intent()
    built("intent.yaml", "out")
    prepare()
    before = tree()
    write_intent("changed.yaml", SMALL, **{"length: 31m": "length: 30m"})
    done = nodrop("build", "changed.yaml", "-o", "out")
    assert done.code == 2
    assert said in done.err
    assert "nothing was touched" in done.err
    Path("changed.yaml").unlink()
    assert tree() == before


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("intent.yaml", "intent.yaml: is not a folder"),
        ("intent.yaml/out", "cannot be read or written: not a directory"),
        (".", ".: is or holds the working directory"),
        ("/", "is a mount point"),
        ("/proc/out", "cannot be read or written"),
    ],
)
def test_output_that_cannot_be_a_folder(output: str, said: str) -> None:
    write_intent()
    done = nodrop("build", "intent.yaml", "-o", output)
    assert (done.code, sorted(path.name for path in Path().iterdir())) == (2, ["intent.yaml"])
    assert said in done.err


def test_several_intents_get_a_folder_each_and_are_linted_each_for_itself() -> None:
    write_intent("one.yaml")
    write_intent("two.yaml", LARGE)
    done = nodrop("build", "one.yaml", "two.yaml", "-o", "out", "--ignore", "topology")
    assert (done.code, done.err) == (0, "out: 10 devices, 46 files (46 written, 0 unchanged)\n")
    assert "no findings in 10 devices, 320 interfaces" in done.out
    for intent, fabric in (("one.yaml", "two-by-two"), ("two.yaml", "reference-256")):
        built(intent, "single")
        assert {name: data for name, data in tree("single").items() if name != MANIFEST_FILE} == tree(f"out/{fabric}")
        shutil.rmtree("single")
    for paths in (["out"], ["out/two-by-two", "out/reference-256"], sorted(map(str, Path("out").glob("[!.]*")))):
        assert nodrop("lint", *paths, "--ignore", "topology") == Done(0, done.out, "")


def test_several_intents_of_which_one_is_faulty() -> None:
    write_intent("one.yaml")
    write_intent("two.yaml", "nodrop: 1\nfabric: other\n")
    write_intent("three.yaml", "- no intent\n")
    done = nodrop("build", "one.yaml", "two.yaml", "three.yaml", "missing.yaml", "-o", "out")
    assert (done.code, done.err, Path("out").exists()) == (2, "nothing was written to out\n", False)
    for said in ("two.yaml:1:1: ", "three.yaml: no intent", "missing.yaml: no such file or folder"):
        assert f"error: {said}" in done.out


def test_two_fabrics_of_one_name_are_refused() -> None:
    write_intent("one.yaml")
    write_intent("two.yaml", LARGE, **{"fabric: two-by-two": "fabric: reference-256"})
    for intents in (("one.yaml", "two.yaml"), ("one.yaml", "one.yaml")):
        done = nodrop("build", *intents, "-o", "out")
        assert (done.code, Path("out").exists()) == (2, False)
        assert f"error: {intents[1]}:" in done.out
        assert "fabric: two-by-two, which is the name of the fabric of one.yaml too" in done.out


def test_a_design_that_cannot_be_is_refused_with_its_places() -> None:
    write_intent("intent.yaml", SMALL, **{"model: SN9999": "model: SN4700"})
    done = nodrop("build", "intent.yaml", "-o", "out")
    assert (done.code, done.err, Path("out").exists()) == (2, "nothing was written to out\n", False)
    assert re.search(r"^error: intent\.yaml:\d+:\d+: topology\.spines\.model: .*SN9999", done.out, re.MULTILINE)


@pytest.mark.slow
def test_builds_are_equal_whatever_the_hashes() -> None:
    write_intent("intent.yaml", LARGE)
    seen = []
    for seed in ("0", "1"):
        done = process("build", "intent.yaml", "-o", "out", env={"PYTHONHASHSEED": seed})
        seen.append((done, tree("out")))
        shutil.rmtree("out")
    assert seen[0] == seen[1]
    assert seen[0][0].code == 0


def test_a_build_says_nothing_of_this_machine(tmp_path: Path) -> None:
    write_intent()
    done = nodrop("build", "intent.yaml", "-o", "out")
    texts = [done.out, done.err, *(data.decode() for data in tree("out").values())]
    assert not any(str(tmp_path) in text or str(Path.home()) + "/" in text for text in texts)
    assert not any(re.search(r"\b20[2-9]\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b(?!:)", text) for text in texts)


def test_an_interrupted_build_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    write_intent()
    built("intent.yaml", "out")
    before = tree()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nodrop.publish.draft.swap_trees", interrupted)
    write_intent("intent.yaml", LARGE)
    assert nodrop("build", "intent.yaml", "-o", "out").code == 130
    write_intent()
    assert tree() == before


def test_the_next_build_mends_one_that_was_cut_short_between_two_renames() -> None:
    write_intent()
    built("intent.yaml", "out")
    Path("out").rename(".out.nodrop-old")
    assert nodrop("lint", "out").code == 2
    built("intent.yaml", "out")
    assert nodrop("lint", "out/leaf1").code == 0
    assert sorted(path.name for path in Path().iterdir()) == ["intent.yaml", "out"]


def test_linting_clears_nothing_beside_a_folder_that_is_there() -> None:
    write_intent()
    built("intent.yaml", "out")
    Path(".out.nodrop-new").mkdir()
    assert nodrop("lint", "out").code == 0
    assert Path(".out.nodrop-new").is_dir()
