"""`nodrop plan` as a person runs it: two paths, an exit code, formats, and patches in a folder."""

import json
from pathlib import Path

import pytest

from nodrop.cli.patching import write_switch_folders
from nodrop.resources import resource_folder
from support.command import built, nodrop, unwatched

INTENT = resource_folder("intents") / "two-by-two.yaml"


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The intent with other thresholds."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "new.yaml"
    path.write_text(INTENT.read_text().replace("min: 150kB", "min: 200kB"))
    return path


def test_an_intent_and_its_build_are_one(other: Path) -> None:
    built(INTENT, "build")
    done = nodrop("plan", INTENT, "build")
    assert (done.code, done.out, done.err) == (0, "nothing changes\n", "")


def test_a_script_that_stops_at_1_asks_for_0(other: Path) -> None:
    done = nodrop("plan", INTENT, other, "--no-exit-code")
    assert done.code == 0
    assert "changed" in done.out


def test_changes_are_exit_code_1_whatever_stands_on_either_side(other: Path) -> None:
    built(INTENT, "old")
    built(other, "new")
    pages = {nodrop("plan", *pair).out for pair in ((INTENT, other), ("old", other), (INTENT, "new"), ("old", "new"))}
    assert len(pages) == 1
    assert "queue 3: ECN minimum: 150 kB -> 200 kB" in pages.pop()
    assert nodrop("plan", "old", "new").code == 1


def test_formats_to_files(other: Path) -> None:
    done = nodrop(
        "plan", INTENT, other, "--format", "json=plan.json", "--format", "markdown=plan.md", "--format", "text"
    )
    assert done.code == 1
    assert json.loads(Path("plan.json").read_text())["plans"][0]["summary"]["changed"] == 4
    assert Path("plan.md").read_text().startswith("**4 switches changed; no traffic impact expected**")
    assert "4 switches changed; no traffic impact expected" in done.out


@pytest.mark.usefixtures("other")
def test_several_patches_of_one_switch_are_told() -> None:
    """A watchdog that moves to another port comes in one patch and goes in the next: neither is overlooked."""
    for folder, port in (("old", "Ethernet8"), ("new", "Ethernet0")):
        built(INTENT, folder)
        unwatched(port, path=f"{folder}/leaf1/config_db.json")
        Path(folder, ".nodrop.json").unlink()
    done = nodrop("plan", "old", "new", "--patch", "patch")
    assert done.err == "patches of 1 switch are in patch; 1 switch with several, in turn: see PATCHES.txt\n"
    assert {path.name for path in Path("patch/leaf1").iterdir()} == {"patch-1.json", "patch-2.json"}


def test_patches_take_a_folder_for_each_switch(other: Path) -> None:
    done = nodrop("plan", INTENT, other, "--patch", "patch")
    assert done.code == 1
    assert done.err == "patches of 4 switches are in patch\n"
    assert sorted(path.name for path in Path("patch").iterdir()) == [
        ".nodrop.json",
        "PATCHES.txt",
        "leaf1",
        "leaf2",
        "spine1",
        "spine2",
    ]
    (line,) = Path("patch/leaf1/commands.sh").read_text().splitlines()
    assert line.startswith("sudo ecnconfig -p AZURE_LOSSLESS ")
    Path("patch/mine.txt").write_text("")
    again = nodrop("plan", INTENT, other, "--patch", "patch")
    assert (again.code, "mine.txt" in again.err) == (2, True)


@pytest.mark.slow
def test_the_description_of_patches_says_how_to_apply_and_keep_them(tmp_path: Path) -> None:
    write_switch_folders(str(tmp_path / "patch"), [((), "leaf1", {"patch.json": b"[]"}, {})])
    about = (tmp_path / "patch" / "PATCHES.txt").read_text()
    for command in ("sudo config apply-patch", "sudo config save -y", "nv config apply", "nv config save"):
        assert command in about


@pytest.mark.parametrize("name", ["PATCHES.txt", "leaf1", "patch.json", "plan", "fabric.yaml", "hosts", "1"])
def test_a_fabric_may_have_any_name_that_is_given_to_files(other: Path, name: str) -> None:
    """The name comes from a file, and becomes a folder among others."""
    for folder, changed in (("old", INTENT), ("new", other)):
        Path(folder).mkdir()
        for fabric in (name, "two"):
            text = changed.read_text().replace("fabric: two-by-two", f"fabric: {fabric}")
            Path(folder, f"{fabric}.intent.yaml").write_text(text)
    done = nodrop("plan", "old", "new", "--patch", "patch")
    assert (done.code, done.err) == (1, "patches of 8 switches are in patch\n")
    expected = "PATCHES.txt.2" if name == "PATCHES.txt" else name
    assert {path.name for path in Path("patch").iterdir()} == {".nodrop.json", "PATCHES.txt", "two", expected}
    assert {path.name for path in Path("patch", expected).iterdir()} == {"leaf1", "leaf2", "spine1", "spine2"}
    assert Path("patch/PATCHES.txt").read_text().startswith("Patches of nodrop")


def test_folders_that_a_patch_is_in_are_no_two_things(tmp_path: Path) -> None:
    """A stage and a switch, a switch and a file of another, a fabric and a switch may have one name."""
    out = tmp_path / "out"
    given = {"patch.json": b"[]"}
    write_switch_folders(
        str(out),
        [
            ((), "3", given, {}),
            (("3",), "patch.json", given, {}),
            (("3",), "leaf1", given, {}),
            (("PATCHES.txt", "3"), "leaf1", given, {}),
            (("PATCHES.txt", "3"), "leaf/1", given, {}),
            (("a b", "3"), ".nodrop.json", given, {}),
            ((), "a-b", given, {}),
        ],
    )
    assert {str(path.parent.relative_to(out)) for path in out.rglob("*/patch.json") if path.is_file()} == {
        "3",
        "3.2/patch.json",
        "3.2/leaf1",
        "PATCHES.txt.2/3/leaf1",
        "PATCHES.txt.2/3/leaf-1",
        "a-b/3/nodrop.json",
        "a-b.2",
    }


def test_what_cannot_be_read_is_exit_code_2(other: Path) -> None:
    Path("broken").mkdir()
    Path("broken/config_db.json").write_text("{")
    done = nodrop("plan", INTENT, "broken")
    assert (done.code, "config_db.json" in done.out + done.err) == (2, True)
    assert nodrop("plan", INTENT, "nothing.yaml").code == 2
    assert nodrop("plan", INTENT, other, "--patch", "").code == 2


def test_a_path_with_nothing_to_read_is_an_error_and_no_plan(other: Path) -> None:
    built(INTENT, "build")
    (other.parent / "empty").mkdir()
    missing = "error: nosuch: no such file or folder\n"
    for pair, error in (
        (("build", "nosuch"), missing),
        (("nosuch", "build"), missing),
        (("build", "empty"), "error: empty: no configuration; expected files of switches, or an intent\n"),
    ):
        done = nodrop("plan", *pair)
        assert (done.code, done.out, done.err) == (2, "", error)


def test_fabrics_of_one_name_are_held_side_by_side(other: Path) -> None:
    for folder, changed in (("old", INTENT), ("new", other)):
        Path(folder).mkdir()
        Path(folder, "a.yaml").write_text(changed.read_text())
        Path(folder, "b.yaml").write_text(INTENT.read_text().replace("fabric: two-by-two", "fabric: twin"))
    Path("new/c.yaml").write_text(INTENT.read_text().replace("fabric: two-by-two", "fabric: third"))
    done = nodrop("plan", "old", "new", "--format", "json", "--patch", "patch")
    assert done.code == 1
    said = {one["new"]: one["summary"] for one in json.loads(done.out)["plans"]}
    assert {name: (one["added"], one["changed"]) for name, one in said.items()} == {
        "third": (4, 0),
        "twin": (0, 0),
        "two-by-two": (0, 4),
    }
    assert sorted(str(path.parent) for path in Path("patch").glob("*/*/commands.sh")) == [
        f"patch/two-by-two/{name}" for name in ("leaf1", "leaf2", "spine1", "spine2")
    ]
    page = nodrop("plan", "old", "new").out
    assert [line for line in page.splitlines() if line.startswith("==")] == [
        "== third",
        "== twin",
        "== two-by-two",
    ]
    assert "#### twin\n\n**nothing changes**\n" in nodrop("plan", "old", "new", "--format", "markdown").out


def test_an_intent_and_its_build_in_one_tree_are_one_fabric(other: Path) -> None:
    for folder, changed in (("old", INTENT), ("new", other)):
        Path(folder).mkdir()
        Path(folder, "intent.yaml").write_text(changed.read_text())
        built(changed, f"{folder}/build")
    done = nodrop("plan", "old", "new", "--format", "json")
    assert (done.code, len(json.loads(done.out)["plans"])) == (1, 1)


def test_two_fabrics_of_one_name_are_refused(other: Path) -> None:
    Path("twice").mkdir()
    for name in ("a", "b"):
        Path("twice", f"{name}.yaml").write_text(INTENT.read_text())
    done = nodrop("plan", INTENT, "twice")
    assert (done.code, "two fabrics called two-by-two" in done.err) == (2, True)


def test_switches_below_the_same_spines_are_in_no_pod_of_the_first(tmp_path: Path) -> None:
    text = (resource_folder("intents") / "storage-leaves.yaml").read_text()
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(text)
    new.write_text(text.replace("min: 150kB", "min: 200kB"))
    order = nodrop("plan", old, new).out.partition("\nrollout order\n")[2]
    assert "2. leaf[2-8], store1, store2: share a switch above them with leaf1\n" in order
