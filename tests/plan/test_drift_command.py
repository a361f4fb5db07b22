"""`nodrop drift` as a person runs it: collected folders against an intent, exit codes, formats, and the patch back."""

import json
import shutil
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from nodrop.cli import working
from nodrop.parallel import process_pool_for_devices
from nodrop.resources import resource_folder
from support.as_it_runs import as_it_runs
from support.command import built, nodrop
from support.json_text import applied
from support.places import TESTS

HERE = TESTS / "plan"
INTENT = resource_folder("intents") / "two-by-two.yaml"
SECRET = "Tr0ub4dor"


@pytest.fixture
def collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the switches of the intent show of themselves, in a folder for each."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(INTENT, "intent.yaml")
    built(INTENT, "build")
    chance = Random(3)
    for switch in sorted(path.parent for path in Path("build").glob("*/config_db.json")):
        files = {path.name: path.read_bytes() for path in switch.iterdir() if path.is_file()}
        (tmp_path / "running" / switch.name).mkdir(parents=True)
        for name, raw in as_it_runs("sonic", files, chance).items():
            (tmp_path / "running" / switch.name / name).write_bytes(raw)
    return tmp_path / "running"


def change(switch: Path, table: str, row: str, **fields: str) -> None:
    file = switch / "config_db.json"
    tables = json.loads(file.read_text())
    tables.setdefault(table, {}).setdefault(row, {}).update(fields)
    file.write_text(json.dumps(tables, indent=4))


def drifted(collected: Path) -> None:
    """A watchdog that somebody has turned off, an MTU, a switch that is not there, and one that nobody wants.

    The latter has no ports with an address, so that it is only not wanted.
    """
    leaf = collected / "leaf1"
    file = leaf / "config_db.json"
    tables = json.loads(file.read_text())
    del tables["PFC_WD"]["Ethernet8"]
    file.write_text(json.dumps(tables, indent=4))
    change(leaf, "PORT", "Ethernet0", mtu="9100")
    change(leaf, "TACPLUS", "global", passkey=SECRET)
    shutil.rmtree(collected / "spine2")
    (collected / "leaf9").mkdir()
    file = collected / "leaf9" / "config_db.json"
    file.write_text(json.dumps({"DEVICE_METADATA": {"localhost": {"hostname": "leaf9"}}, "PORT": {}}))


@pytest.mark.parametrize("wanted", ["intent.yaml", "build"])
def test_what_runs_as_it_is_wanted_is_no_drift(collected: Path, wanted: str) -> None:
    done = nodrop("drift", "running", wanted)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == f"no drift: 4 switches as {wanted} has it"
    assert "MAC address" not in done.out
    told = nodrop("drift", "-v", "running", wanted).out
    assert "  MAC address: leaf1, leaf2, spine1, spine2\n" in told
    assert "  ASIC_SENSORS, AUTO_TECHSUPPORT, AUTO_TECHSUPPORT_FEATURE, " in told
    assert nodrop("drift", "-q", "running", wanted).out == ""


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_what_a_person_reads(collected: Path, form: str, update_golden: bool) -> None:
    drifted(collected)
    done = nodrop("drift", "running", "intent.yaml", "--format", form, "--patch", "patch")
    assert done.code == 1
    assert SECRET not in done.out + "".join(path.read_text() for path in Path("patch").rglob("*") if path.is_file())
    assert sorted(path.name for path in Path("patch").iterdir()) == [".nodrop.json", "PATCHES.txt", "leaf1"]
    golden = HERE / "golden" / f"drift.{ {'text': 'txt', 'markdown': 'md', 'json': 'json'}[form] }"
    if update_golden:
        golden.write_text(done.out)
    assert done.out == golden.read_text()


def test_the_patch_leads_back(collected: Path) -> None:
    """The steps, done on the files as they run, leave no drift."""
    change(collected / "leaf1", "PORT", "Ethernet0", mtu="9100")
    assert nodrop("drift", "running", "intent.yaml", "--patch", "patch").code == 1
    steps = json.loads(Path("patch/leaf1/patch.json").read_text())
    file = collected / "leaf1" / "config_db.json"
    file.write_text(json.dumps(applied(steps, json.loads(file.read_text()))))
    assert nodrop("drift", "running", "intent.yaml").code == 0


def test_patches_are_made_by_as_many_processes_as_are_asked_for(
    collected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drifted(collected)
    asked: list[int | None] = []

    def counted(devices: int, *, jobs: int | None, **given: Any) -> AbstractContextManager[Executor | None]:
        asked.append(jobs)
        return process_pool_for_devices(devices, jobs=jobs, **given)

    monkeypatch.setattr(working, "process_pool_for_devices", counted)
    nodrop("drift", "running", "intent.yaml", "--patch", "patch", "-j", "3")
    assert asked == [3, 3]


@pytest.mark.slow
def test_verbose_gives_every_reason_that_a_plan_gives(collected: Path) -> None:
    """Places with values of their own are folded unless it is verbose; and what is done to ports stands with each."""

    def reasons(*args: str) -> list[str]:
        return [line for line in nodrop(*args).out.splitlines() if line.startswith("    = ")]

    change(collected / "leaf1", "PORT", "Ethernet0", mtu="9100")
    change(collected / "leaf2", "PORT", "Ethernet0", mtu="9200")
    change(collected / "leaf2", "NTP_SERVER", "192.0.2.99")
    told = reasons("drift", "-v", "running", "intent.yaml", "--select", "mtu-mismatch")
    assert [line[6:23] for line in told] == ["traffic-affecting", "service restart: ", "traffic-affecting"]
    assert told == [line for line in reasons("plan", "-v", "running", "build") if line in told]


def test_files_may_be_named_one_by_one_or_come_from_a_pipe(collected: Path) -> None:
    done = nodrop("drift", "running/leaf1", "running/leaf2/config_db.json", "intent.yaml")
    assert (done.code, "no running configuration for: spine1, spine2" in done.out) == (1, True)
    piped = nodrop("drift", "-", "intent.yaml", stdin=(collected / "leaf1" / "config_db.json").read_bytes())
    assert (piped.code, "3 switches not collected" in piped.out) == (1, True)


def test_a_finding_of_what_runs_alone_fails_as_far_as_it_is_told_to(collected: Path) -> None:
    """What says the same may still be wrong: a table that stands twice."""
    file = collected / "leaf1" / "config_db.json"
    file.write_text(file.read_text().replace("{", '{"CRM": {},', 1))
    done = nodrop("drift", "running", "intent.yaml")
    assert (done.code, "no drift: 4 switches as intent.yaml has it; 1 " in done.out) == (1, True)
    assert nodrop("drift", "running", "intent.yaml", "--fail-on", "never").code == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("running", "nothing.yaml"), "nothing.yaml"),
        (("nothing", "intent.yaml"), "nothing: no such file or folder"),
        (("empty", "intent.yaml"), "empty: no configuration"),
        (("running", "-"), "name a file or a folder"),
        (("running",), "Missing argument"),
        (("running", "intent.yaml", "--patch", ""), "--patch is empty"),
        (("running", "two"), "several intents"),
    ],
)
def test_what_cannot_be_is_exit_code_2(collected: Path, args: tuple[str, ...], said: str) -> None:
    for folder in ("empty", "two"):
        Path(folder).mkdir()
    for name in ("a.yaml", "b.yaml"):
        shutil.copy("intent.yaml", Path("two", name))
    done = nodrop("drift", *args)
    assert (done.code, said in done.out + done.err) == (2, True), done


def test_what_no_fact_holds_is_drift_too(collected: Path) -> None:
    """A mirror session that somebody has added to two switches: told once, in the exit code, and taken back."""
    for leaf in ("leaf1", "leaf2"):
        change(collected / leaf, "MIRROR_SESSION", "DATA", type="SPAN", dst_port="Ethernet8")
    done = nodrop("drift", "running", "intent.yaml", "--patch", "patch")
    assert done.code == 1
    assert "not covered by nodrop\n  leaf1, leaf2: MIRROR_SESSION: DATA not wanted\n    = unknown: " in done.out
    assert done.out.splitlines()[-1] == "2 switches differ; remediation: unknown (leaf1, leaf2)"
    for leaf in ("leaf1", "leaf2"):
        steps = json.loads(Path("patch", leaf, "patch.json").read_text())
        assert steps == [{"op": "remove", "path": "/MIRROR_SESSION"}]
        assert not Path("patch", leaf, "by-hand.txt").exists()


def test_an_access_list_is_drift_with_its_effect(collected: Path) -> None:
    for leaf in ("leaf1", "leaf2"):
        change(collected / leaf, "ACL_TABLE", "DATA", type="L3", stage="ingress")
    done = nodrop("drift", "running", "intent.yaml", "--patch", "patch")
    assert (done.code, "leaf1, leaf2\n  access list DATA: not wanted (family ipv4)\n" in done.out) == (1, True)
    assert done.out.splitlines()[-1] == "2 switches differ; remediation: traffic-affecting (leaf1, leaf2)"
    for leaf in ("leaf1", "leaf2"):
        assert json.loads(Path("patch", leaf, "patch.json").read_text()) == [{"op": "remove", "path": "/ACL_TABLE"}]
        assert not Path("patch", leaf, "by-hand.txt").exists()


def test_a_file_that_cannot_be_read_is_exit_code_2_and_keeps_no_patch(collected: Path) -> None:
    change(collected / "leaf1", "PORT", "Ethernet0", mtu="9100")
    (collected / "leaf2" / "config_db.json").write_text("{")
    done = nodrop("drift", "running", "intent.yaml", "--patch", "patch")
    assert (done.code, "config_db.json:1" in done.out + done.err) == (2, True)
    assert "Ethernet0" in done.out
    assert not Path("patch").exists()
