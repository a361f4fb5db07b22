"""`nodrop fix` on files of switches: what it changes, what it leaves and says, and that nothing is half-written."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nodrop as package
from nodrop.resources import resource_folder
from support.command import Done, built, nodrop


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that has left nodrop's hands: without its manifest."""
    here = tmp_path_factory.mktemp("site")
    built(resource_folder("intents") / "two-by-two.yaml", here / "net")
    (here / "net" / ".nodrop.json").unlink()
    return here


@pytest.fixture(autouse=True)
def in_scratch(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a copy of its own."""
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


LEAF = Path("net/leaf1/config_db.json")


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a config_db.json as parsed, in a layout of somebody's own."""
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config, indent=1))


def unwatch(config: dict[str, Any]) -> None:
    """Take the watchdog from Ethernet8."""
    del config["PFC_WD"]["Ethernet8"]


def fixed(*args: str | Path) -> Any:
    """Fix, and return what is told as JSON."""
    return json.loads(nodrop("fix", *args, "--format", "json").out)


def rules(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["rule"], each["subject"]) for each in findings]


def test_a_fix_is_made_in_the_file_and_nothing_else_in_it_changes() -> None:
    edit(LEAF, unwatch)
    before = LEAF.read_text()
    assert nodrop("lint", "net").code == 1
    done = nodrop("fix", "net", "--unsafe")
    assert done == Done(
        0,
        "fixed: net/leaf1/config_db.json: pfc-without-watchdog\n\n1 finding fixed in 1 file\n",
        "",
    )
    after = LEAF.read_text()
    added = ['  "Ethernet8": {', '   "action": "drop",', '   "detection_time": "200",', '   "restoration_time": "400"']
    assert [line for line in after.splitlines() if line in added] != []
    assert json.loads(after)["PFC_WD"].pop("Ethernet8") == {
        "action": "drop",
        "detection_time": "200",
        "restoration_time": "400",
    }
    row = '"Ethernet8": {\n   "action": "drop",\n   "detection_time": "200",\n   "restoration_time": "400"\n  }'
    assert after.count(row) == before.count(row) + 1
    assert nodrop("lint", "net").code == 0


def test_a_second_run_changes_nothing() -> None:
    edit(LEAF, unwatch)
    nodrop("fix", "net", "--unsafe")
    once = LEAF.read_bytes()
    assert nodrop("fix", "net", "--unsafe").out == "fixed 0\n"
    assert LEAF.read_bytes() == once


def test_a_diff_writes_nothing_exits_1_and_is_what_patch_takes(tmp_path: Path) -> None:
    edit(LEAF, unwatch)
    before = LEAF.read_bytes()
    done = nodrop("fix", "net", "--unsafe", "--diff")
    assert done.code == 1
    assert done.out.startswith("--- net/leaf1/config_db.json\n+++ net/leaf1/config_db.json\n@@ -")
    assert done.err == (
        "would fix: net/leaf1/config_db.json: pfc-without-watchdog\n\n1 finding would be fixed in 1 file\n"
    )
    assert LEAF.read_bytes() == before
    Path("patch").write_text(done.out)
    subprocess.run(["patch", "-p0", "-i", "patch"], check=True, capture_output=True)
    assert LEAF.read_bytes() != before
    patched = LEAF.read_bytes()
    LEAF.write_bytes(before)
    nodrop("fix", "net", "--unsafe")
    assert LEAF.read_bytes() == patched


def test_a_diff_of_nothing_exits_0() -> None:
    assert nodrop("fix", "net", "--unsafe", "--diff") == Done(0, "", "fixed 0\n")


def test_a_report_that_cannot_be_written_keeps_no_other_from_it() -> None:
    edit(LEAF, unwatch)
    done = nodrop("fix", "net", "--diff", "--format", "json=missing/one.json", "--format", "json=two.json")
    assert (done.code, "cannot write missing/one.json: no such file or directory" in done.err) == (2, True)
    assert rules(json.loads(Path("two.json").read_text())["fixed"]) == [("pfc-without-watchdog", "leaf1/Ethernet8")]


def test_unsafe_fixes_wait_for_the_option() -> None:
    edit(LEAF, unwatch)
    edit(LEAF, lambda config: config["PFC_WD"]["Ethernet16"].update(action="alert"))
    told = fixed("net")
    assert rules(told["fixed"]) == [("pfc-without-watchdog", "leaf1/Ethernet8")]
    assert [(*each, told["remaining"][0]["obstacle"]["reason"]) for each in rules(told["remaining"])] == [
        ("watchdog-only-alerts", "leaf1/Ethernet16", "unsafe")
    ]
    assert told["summary"] == {
        "fixed": 1,
        "files": 1,
        "remaining": {"unsafe": 1, "refused": 0, "by hand": 0, "generated": 0, "no fix": 0},
    }
    assert json.loads(LEAF.read_text())["PFC_WD"]["Ethernet16"]["action"] == "alert"


def test_only_rules_that_were_chosen_are_fixed() -> None:
    edit(LEAF, unwatch)
    edit(LEAF, lambda config: config["PFC_WD"]["Ethernet16"].update(action="alert"))
    told = fixed("net", "--unsafe", "--ignore", "pfc-without-watchdog")
    assert rules(told["fixed"]) == [("watchdog-only-alerts", "leaf1/Ethernet16")]
    assert told["remaining"] == []
    assert "Ethernet8" not in json.loads(LEAF.read_text())["PFC_WD"]


def test_files_of_a_build_are_left_to_their_intent() -> None:
    Path("two-by-two.yaml").write_bytes((resource_folder("intents") / "two-by-two.yaml").read_bytes())
    built("two-by-two.yaml", "build")
    leaf = Path("build/leaf1/config_db.json")
    edit(leaf, unwatch)
    before = leaf.read_bytes()
    done = nodrop("fix", "build", "--unsafe")
    assert done.code == 1
    assert (
        "not changed: written by nodrop build from two-by-two.yaml; the next build would undo a change here. "
        "Change the intent, or use --edit-generated" in done.out
    )
    assert leaf.read_bytes() == before
    assert nodrop("fix", "build", "--unsafe", "--edit-generated").code == 0
    assert nodrop("lint", "build").code == 0


def test_standard_input_is_fixed_to_standard_output() -> None:
    edit(LEAF, lambda config: config["PFC_WD"]["Ethernet8"].update(action="alert"))
    done = nodrop("fix", "-", "--unsafe", stdin=LEAF.read_bytes())
    nodrop("fix", "net", "--unsafe")
    assert done.out == LEAF.read_text()
    assert "fixed: <stdin>: watchdog-only-alerts" in done.err


def test_what_needs_no_fix_comes_out_of_standard_output_as_it_went_in() -> None:
    raw = LEAF.read_bytes()
    assert nodrop("fix", "-", "--unsafe", stdin=raw).out.encode() == raw


def test_nothing_is_written_through_a_link_and_the_mode_stays() -> None:
    edit(LEAF, unwatch)
    LEAF.chmod(0o640)
    real = LEAF.with_name("real")
    shutil.move(LEAF, real)
    LEAF.symlink_to("real")
    before = real.read_bytes()
    done = nodrop("fix", LEAF, "--unsafe")  # of all of net, `real` is read too, and mended under its own name
    assert done.code == 2
    assert f"{LEAF}: a link, which nothing is written through" in done.out
    assert (LEAF.is_symlink(), real.read_bytes()) == (True, before)
    LEAF.unlink()
    shutil.move(real, LEAF)
    assert nodrop("fix", "net", "--unsafe").code == 0
    assert LEAF.stat().st_mode & 0o777 == 0o640
    assert "Ethernet8" in json.loads(LEAF.read_text())["PFC_WD"]
    assert [path.name for path in Path().glob(".*")] == []


def test_what_is_no_input_is_told() -> None:
    assert nodrop("fix", "nowhere", "--unsafe").code == 2
    Path("bad.json").write_text('{"PORT": {')
    assert nodrop("fix", "bad.json").code == 2
    assert nodrop("fix", "net", "--select", "nothing-of-the-kind").code == 2


def test_a_patch_is_what_the_switch_takes_and_the_files_stay() -> None:
    edit(LEAF, unwatch)
    before = LEAF.read_bytes()
    done = nodrop("fix", "net", "--unsafe", "--patch", "patches")
    assert done.code == 0
    assert done.out == (
        "patched: net/leaf1/config_db.json: pfc-without-watchdog\n"
        "  = 1 step, no traffic impact\n\n"
        "1 finding fixed in patches of 1 switch\n"
    )
    assert LEAF.read_bytes() == before
    row = {"action": "drop", "detection_time": "200", "restoration_time": "400"}
    assert json.loads(Path("patches/leaf1/patch.json").read_text()) == [
        {"op": "add", "path": "/PFC_WD/Ethernet8", "value": row}
    ]
    edit(LEAF, lambda config: config["PFC_WD"].update(Ethernet8=row))
    assert nodrop("fix", "net", "--patch", "patches").out == "fixed 0\n"
    assert [path.name for path in Path("patches").iterdir()] == [".nodrop.json"]


def test_a_patch_tells_what_it_does_to_a_switch_that_runs() -> None:
    edit(LEAF, lambda config: config["PORT"]["Ethernet224"].update(fec="none"))
    told = fixed("net", "--unsafe", "--patch", "patches", "--select", "links")
    assert {each["rule"] for each in told["fixed"]} >= {"pam4-without-rs-fec"}
    (patch,) = told["patches"]
    (step,) = patch["steps"]
    assert (step["path"], step["disruption"], step["affected"]) == (
        "/PORT/Ethernet224/fec",
        "port bounce",
        ["Ethernet224"],
    )
    text = nodrop("fix", "net", "--unsafe", "--select", "links").out
    assert "1 step: port bounce of Ethernet224: " in text


def test_a_file_that_cannot_be_replaced_is_told_and_the_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from nodrop.publish import inplace
    from nodrop.publish.landing import OutputPlace

    edit(LEAF, unwatch)
    edit(Path("net/leaf2/config_db.json"), unwatch)
    real = inplace.DEFAULT_DISK_WRITER.copy_owner_and_mode

    def failing(draft: int, place: OutputPlace) -> None:
        if os.path.samestat(os.fstat(place.folder), LEAF.parent.stat()):
            raise PermissionError(1, "Operation not permitted")
        real(draft, place)

    monkeypatch.setattr(inplace.DEFAULT_DISK_WRITER, "copy_owner_and_mode", failing)
    before = LEAF.read_bytes()
    done = nodrop("fix", "net")
    assert done.code == 2
    assert "net/leaf1/config_db.json: cannot be replaced: operation not permitted" in done.out
    assert "refused: its file was not written" in done.out
    assert LEAF.read_bytes() == before
    assert "Ethernet8" in json.loads(Path("net/leaf2/config_db.json").read_text())["PFC_WD"]


def test_the_other_formats_tell_what_is_left() -> None:
    edit(LEAF, unwatch)
    edit(LEAF, lambda config: config["PFC_WD"]["Ethernet16"].update(action="alert"))
    done = nodrop("fix", "net", "--format", "concise", "--format", "json=told.json")
    assert done.code == 1
    assert [line.split(" (")[-1] for line in done.out.splitlines()] == ["leaf1/Ethernet16)"]
    assert json.loads(Path("told.json").read_text())["summary"]["fixed"] == 1


def test_options_that_contradict_each_other_are_refused() -> None:
    assert nodrop("fix", "net", "--diff", "--patch", "x").code == 2
    assert nodrop("fix", "net", "--patch", "").code == 2


def test_what_is_suppressed_is_left_alone() -> None:
    edit(LEAF, unwatch)
    edit(LEAF, lambda config: config["PFC_WD"].pop("Ethernet16"))
    Path("nodrop.yaml").write_text(
        "suppress:\n- {rule: pfc-without-watchdog, at: leaf1/Ethernet8, reason: a pilot}\n"
        "- {rule: pfc-without-watchdog, at: leaf1/Ethernet16, reason: a pilot, until: 2020-01-31}\n"
    )
    done = nodrop("fix", "net", "--unsafe")
    assert "fixed: net/leaf1/config_db.json: pfc-without-watchdog\n" in done.out
    assert "expired-suppression" in done.out or "unused-suppression" in done.out
    assert done.out.endswith(", 1 suppressed\n")
    watched = json.loads(LEAF.read_text())["PFC_WD"]
    assert "Ethernet16" in watched
    assert "Ethernet8" not in watched


def test_a_suppression_that_a_fix_ends_is_told_and_does_not_refuse_it() -> None:
    edit(LEAF, unwatch)
    edit(LEAF, lambda config: config["PFC_WD"]["Ethernet16"].update(action="alert"))
    Path("nodrop.yaml").write_text(
        "suppress:\n- {rule: qos-differs-between-siblings, at: leaf1/Ethernet8, reason: a pilot}\n"
    )
    done = nodrop("fix", "net", "--unsafe")
    assert "2 findings fixed in 1 file" in done.out
    assert "unused-suppression" in done.out


def test_quiet_prints_what_is_left_alone() -> None:
    edit(LEAF, unwatch)
    assert nodrop("fix", "net", "-q") == Done(0, "", "")
    edit(LEAF, lambda config: config["PFC_WD"]["Ethernet16"].update(action="alert"))
    lines = nodrop("fix", "net", "-q").out.splitlines()
    assert lines[0].startswith("warning[watchdog-only-alerts]: leaf1: the watchdog of Ethernet16 ")
    assert lines[2:] == ["  = can be fixed with --unsafe"]


def test_the_verb_writes_nothing() -> None:
    edit(LEAF, unwatch)
    before = LEAF.read_bytes()
    made = package.fix(["net"])
    assert [one.rule for one in made.made] == ["pfc-without-watchdog"]
    assert list(made.files) == ["net/leaf1/config_db.json"]
    assert LEAF.read_bytes() == before


def test_a_name_of_a_file_that_is_no_utf_8_or_steers_a_terminal_does_no_harm() -> None:
    edit(LEAF, unwatch)
    for name in ("a\x1b[2Jb.json", os.fsdecode(b"a\xff.json")):
        shutil.copy(LEAF, name)
        edit(Path(name), lambda config: config["PFC_WD"]["Ethernet16"].update(action="alert"))
        done = nodrop("fix", name, "--unsafe", "--diff")
        assert "\x1b" not in done.out + done.err
        assert nodrop("fix", name, "--unsafe").code in (0, 1)
        assert json.loads(Path(name).read_text())["PFC_WD"]["Ethernet16"]["action"] == "drop"
