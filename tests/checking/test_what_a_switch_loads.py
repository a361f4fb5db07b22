"""What a change adds beside a switch's configuration, or around it, does not stand in for what the switch loads."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.check_repositories import Git, commit
from support.command import nodrop
from support.policy_cases import FRR, LEAF, MISSING

FOLDER = Path(LEAF).parent
NOT_LOADED = ("buffers.json", "qos.json", "golden_config_db.json")


def told() -> tuple[int, list[tuple[str, str]], list[str]]:
    """Return how a check against main ends, its verdicts on what is not checked, and its problems."""
    ended = nodrop("check", "--base", "main", "--no-routing", "--format", "json")
    made = json.loads(ended.out)
    stops = [(one["severity"], one["message"]) for one in made["blockers"] if one["rule"] == MISSING]
    return ended.code, stops, [str(one) for one in made["problems"]]


def tables() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(LEAF).read_text())
    return found


def split(*layers: str, **kept: Any) -> None:
    """Take the watchdogs out of config_db.json, but for what is `kept`, and state them in files beside it."""
    config = tables()
    watchdogs = {"PFC_WD": config.pop("PFC_WD")}
    Path(LEAF).write_text(json.dumps(config | kept))
    for layer in layers:
        (FOLDER / layer).write_text(json.dumps(watchdogs))


@pytest.mark.parametrize("layers", [("init_cfg.json",), ("init_cfg.json", "buffers.json")], ids=" ".join)
def test_a_new_file_does_not_state_what_config_db_loses(configurations: Git, layers: tuple[str, ...]) -> None:
    split(*layers)
    code, stops, _ = told()
    assert (code, {severity for severity, _ in stops}) == (1, {"error"})
    for word in ("leaf1", "PFC_WD", "config_db.json", "init_cfg.json"):
        assert any(word in message for _, message in stops), word


def test_a_new_file_does_not_state_values_otherwise(configurations: Git) -> None:
    split("golden_config_db.json", PFC_WD={"Ethernet0": {"action": "forward", "detection_time": "5000"}})
    ended = nodrop("check", "--base", "main", "--no-routing", "--format", "json")
    (said,) = [one["message"] for one in json.loads(ended.out)["findings"] if one["rule"] == "file-not-loaded"]
    assert (ended.code, said.startswith("golden_config_db.json: PFC_WD ")) == (1, True)


@pytest.mark.parametrize("layer", NOT_LOADED)
def test_what_a_file_says_that_no_switch_loads_counts_for_nothing(configurations: Git, layer: str) -> None:
    split(layer)
    ended = nodrop("check", "--base", "main", "--no-routing")
    assert (ended.code, "pfc-without-watchdog" in ended.out, f"{layer}: PFC_WD" in ended.out) == (1, True, True)


def test_a_file_that_says_the_same_takes_over_in_a_later_change_no_more_easily(configurations: Git) -> None:
    configurations("checkout", "-q", "main")
    (FOLDER / "init_cfg.json").write_text(json.dumps({"PFC_WD": tables()["PFC_WD"]}))
    commit(configurations)
    configurations("checkout", "-q", "-B", "topic")
    split()
    code, stops, _ = told()
    assert (code, "init_cfg.json" in stops[0][1]) == (1, True)


def test_a_file_that_stated_tables_before_may_state_them_still(configurations: Git) -> None:
    configurations("checkout", "-q", "main")
    split("init_cfg.json")
    commit(configurations)
    configurations("checkout", "-q", "-B", "topic")
    watchdogs = json.loads((FOLDER / "init_cfg.json").read_text())
    watchdogs["PFC_WD"]["Ethernet0"]["detection_time"] = "201"
    (FOLDER / "init_cfg.json").write_text(json.dumps(watchdogs))
    assert told()[1] == []


def test_a_switch_called_otherwise_is_no_way_around(configurations: Git) -> None:
    split("init_cfg.json")
    config = tables()
    config["DEVICE_METADATA"]["localhost"]["hostname"] = "leaf9"
    Path(LEAF).write_text(json.dumps(config))
    FOLDER.rename("build/leaf9")
    code, stops, _ = told()
    assert (code, any("leaf9" in said and "init_cfg.json" in said for _, said in stops)) == (1, True)


def running(text: str) -> None:
    Path(LEAF).write_text(json.dumps(tables() | {"bgpraw": text}))


def altered() -> None:
    path = Path(FRR)
    path.write_text(path.read_text().replace("maximum-paths 32", "maximum-paths 1"))


def test_what_frr_runs_does_not_hide_a_file_that_says_otherwise(configurations: Git) -> None:
    running(Path(FRR).read_text())
    altered()
    code, _, problems = told()
    assert code == 2
    (said,) = [one for one in problems if "bgpraw" in one]
    assert (LEAF in said, "frr.conf" in said) == (True, True)


def test_what_frr_runs_does_not_stand_in_for_a_file_that_goes(configurations: Git) -> None:
    running(Path(FRR).read_text())
    Path(FRR).unlink()
    code, stops, _ = told()
    assert (code, any("leaf1" in said and "bgpraw" in said for _, said in stops)) == (1, True)


@pytest.mark.parametrize("before", [True, False])
def test_text_around_the_tables_is_a_problem(configurations: Git, before: bool) -> None:
    text = Path(LEAF).read_text().rstrip()
    less = tables()
    del less["PFC_WD"]
    Path(LEAF).write_text(f"# {json.dumps(less)}\n{text}\n" if before else f"{text}\nadmin@leaf1:~$ \n")
    code, _, problems = told()
    assert (code, len(problems), LEAF in problems[0]) == (2, 1, True)


def test_an_empty_folder_that_is_left_is_no_submodule(configurations: Git) -> None:
    shutil.rmtree(FOLDER)
    FOLDER.mkdir()
    code, stops, _ = told()
    assert (code, [severity for severity, _ in stops]) == (0, ["note"])
    configurations("rm", "-rq", str(FOLDER))
    assert not FOLDER.exists()
    assert told()[:2] == (code, stops)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_configuration_in_another_encoding_is_found(configurations: Git, encoding: str) -> None:
    raw = Path(LEAF).read_text().encode(encoding)
    shutil.rmtree(FOLDER)
    Path("leaf1.txt").write_bytes(raw)
    code, stops, problems = told()
    if encoding == "utf-32":
        assert (code, stops[0][0], "leaf1.txt holds its configuration" in stops[0][1]) == (1, "error", True)
    else:
        assert (code, any("leaf1.txt" in one for one in problems)) == (2, True)


def test_a_file_that_is_no_text_is_no_sign_of_a_deletion(configurations: Git) -> None:
    shutil.rmtree(FOLDER)
    Path("kept.bin").write_bytes(bytes(range(256)))
    code, stops, _ = told()
    assert (code, stops[0][0], "kept.bin, which is no text" in stops[0][1]) == (1, "error", True)


def test_faults_that_are_not_listed_do_not_hide_new_ones(configurations: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("platforms.sonic.config", "opening"):
        monkeypatch.setattr(f"nodrop.{module}.MAX_REMARKS_PER_SWITCH", 5)
    Path(LEAF).write_text(json.dumps({f"A_{number}": {"x": {}} for number in range(9)} | tables()))
    code, stops, _ = told()
    assert (code, any("leaf1" in said and "5 faults" in said for _, said in stops)) == (1, True)
    assert "5 faults" in nodrop("lint", "build").out
    commit(configurations)
    configurations("branch", "-f", "main")
    Path(LEAF).write_text(json.dumps({"A_9": {"x": {}}} | tables()))
    assert told()[1] == []
