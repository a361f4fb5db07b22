"""Who decides what passes: a change is checked by the policy of its base, and says where it would hide something."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from check.test_check_command import Git, commit, configurations, git
from command import nodrop, unwatched
from policy_cases import CASES, FRR, LEAF, MARK, Case, Edit, Link, Move, Remove, Step, Write

__all__ = ["configurations", "git"]


def done(step: Step) -> None:
    """Make one step of a change in the working directory."""
    match step:
        case Write(path, text):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text.replace(MARK, fingerprint()) if MARK in text else text)
        case Edit(path, old, new):
            text = Path(path).read_text()
            assert text.count(old) == 1, (path, old)
            Path(path).write_text(text.replace(old, new))
        case Move(old, new):
            Path(new).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(old, new)
        case Remove(path):
            shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()
        case Link(path, target):
            Path(path).symlink_to(target)


def fingerprint() -> str:
    """Return what a baseline has of the finding of the fault `host`, which lies there."""
    found = nodrop("baseline", "build", "--no-config", "-o", "../made.yaml")
    assert found.code == 0, found
    (line,) = (one for one in Path("../made.yaml").read_text().splitlines() if "leaf1/Ethernet0" in one)
    return line.partition(": ")[2]


def broken(fault: str) -> None:
    """Make a fault of leaf1."""
    match fault:
        case "host":
            unwatched("Ethernet0")
        case "uplink":
            unwatched("Ethernet224")
        case "paths":
            done(Edit(FRR, "maximum-paths 32", "maximum-paths 1"))
        case "slow":
            config = json.loads(Path(LEAF).read_text())
            config["PFC_WD"]["Ethernet0"]["detection_time"] = "250"
            Path(LEAF).write_text(json.dumps(config, indent=4))


def changed(case: Case, git: Git) -> None:
    """Make the base of a case, commit it on the branch main, and change it."""
    git("checkout", "-q", "main")
    for step in case.base:
        done(step)
    if case.base:
        commit(git)
    git("checkout", "-q", "-B", "topic")
    broken(case.fault)
    for step in case.change:
        done(step)


def require(case: Case, *base: str) -> Any:
    """Check the change of a case against its base, and compare what is told with what must be."""
    words = ("check", "--base", *base, *case.words)
    ended = nodrop(*words, "--format", "json=../report.json", "--format", "text")
    made = json.loads(Path("../report.json").read_text())
    told = [*made["findings"], *made["stops"]]
    failing = {one["rule"] for one in told if one["severity"] != "note"}
    assert (ended.code, failing) == (case.code, set(case.rules)), ended.out + ended.err
    severities = {one["rule"]: one["severity"] for one in sorted(told, key=lambda one: one["severity"], reverse=True)}
    if case.severity or (case.verdict not in case.rules):
        assert severities.get(case.verdict, "") == case.severity, ended.out
    said = " ".join(one["message"] for one in told if one["rule"] == case.verdict)
    assert [word for word in case.says if word not in said] == [], said
    assert case.severity == "" or case.verdict in ended.out
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_against_a_revision(configurations: Git, case: Case) -> None:
    changed(case, configurations)
    require(case, "main")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_against_a_folder(configurations: Git, case: Case, tmp_path: Path) -> None:
    changed(case, configurations)
    configurations("worktree", "add", "-q", "--detach", str(tmp_path / "before"), "main")
    require(case, "../before")
