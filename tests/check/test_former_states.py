"""Former states out of git: whatever is in the repository, nothing in it is changed or run, and faults are named."""

import os
import subprocess
from pathlib import Path

import pytest

from check.test_check_command import Git, commit, configurations, git, of_json, written
from command import nodrop, unwatched

__all__ = ["configurations", "git"]


def told(*words: str | Path) -> str:
    done = nodrop("check", *words)
    assert done.code == 2
    return done.err


def test_a_revision_that_there_is_not(configurations: Git) -> None:
    assert told("--base", "mian") == "error: --base mian: no such revision (did you mean `main`?)\n"
    assert "`git fetch origin main` brings a branch that is not here" in told("--base", "origin/main")
    assert "no such revision" in told("--base", "--output=x")
    assert not Path("x").exists()


def test_a_shallow_clone_says_how_deep_to_fetch(
    configurations: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unwatched("Ethernet224")
    commit(configurations)
    configurations("checkout", "-q", "main")
    written("build/leaf2/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    commit(configurations)
    url = f"file://{Path.cwd()}"
    configurations("clone", "-q", "--depth", "1", "-b", "topic", url, str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    configurations("fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
    said = told("--base", "origin/main")
    assert "the clone is shallow" in said
    assert "`git fetch --unshallow`" in said
    assert "`fetch-depth: 0`" in said
    assert "`GIT_DEPTH: 0`" in said
    assert nodrop("check", "--base", "origin/main", "--exact").code == 1
    configurations("fetch", "-q", "--unshallow", "origin")
    assert len(of_json("--base", "origin/main")["findings"]) == 1


def test_no_repository_no_commit_no_work_tree(git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "the repository has no commits yet" in told("--base", "main")
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    git("init", "-q", "--bare")
    assert "a bare repository, which has no files to check" in told("--base", "main")
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    assert "in no git repository (--base takes a revision, such as origin/main, or a folder" in told("--base", "main")


def test_no_git(configurations: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert told("--base", "main") == (
        "error: --base: there is no `git` to ask for a revision (install git, or give --base a folder with the files as"
        " they were)\n"
    )


def test_a_repository_of_somebody_else(configurations: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    said = told("--base", "main")
    assert "git does not read a repository of another owner" in said
    assert "git config --global --add safe.directory" in said


def test_where_git_dir_says_and_from_a_folder_inside(configurations: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    unwatched("Ethernet224")
    whole = of_json("--base", "main", "build")
    top = Path.cwd()
    monkeypatch.chdir("build")
    assert len(of_json("--base", "main", ".")["findings"]) == len(whole["findings"]) == 1
    monkeypatch.chdir("leaf1")
    monkeypatch.setenv("GIT_DIR", str(top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(top))
    assert len(of_json("--base", "main", top / "build")["findings"]) == 1


def test_nothing_is_written_and_nothing_runs_that_the_repository_configures(
    configurations: Git, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\necho $0 >>{ran}\ncat\n")
    script.chmod(0o755)
    Path(".gitattributes").write_text("*.json filter=evil diff=evil\n*.yaml filter=evil\n")
    for key in ("filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv"):
        configurations("config", key, str(script))
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "core.alternateRefsCommand"):
        configurations("config", key, str(script))
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        hook = Path(".git/hooks", name)
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(script.read_text())
        hook.chmod(0o755)
    unwatched("Ethernet224")
    os.utime("build/leaf2/config_db.json")
    before = _all(Path(".git"))
    assert nodrop("check", "--base", "main").code == 1
    assert _all(Path(".git")) == before
    assert not ran.exists()


def _all(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_links_lead_where_they_led(configurations: Git) -> None:
    Path("other").mkdir()
    Path("other/leaf9.json").symlink_to("../build/leaf1/config_db.json")
    Path("whole").symlink_to("build")
    commit(configurations)
    configurations("checkout", "-q", "-b", "after")
    written("build/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    made = of_json("--base", "topic", "other")
    assert [one["name"] for one in made["fabrics"][0]["plan"]["devices"]] == ["leaf1"]
    through = of_json("--base", "topic", "whole")
    assert [one["name"] for one in through["fabrics"][0]["plan"]["devices"]] == ["leaf1"]


def test_names_that_shells_and_git_quote(configurations: Git) -> None:
    odd = os.fsdecode(b"\xff \"a\\b\tc'\n")
    Path("build/leaf1").rename(f"build/{odd}")
    commit(configurations)
    unwatched("Ethernet224", path=f"build/{odd}/config_db.json")
    made = of_json("--base", "HEAD")
    assert [one["name"] for one in made["fabrics"][0]["plan"]["devices"]] == ["leaf1"]
    assert len(made["findings"]) == 1


def test_submodules_are_what_they_were(configurations: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Path.cwd()
    (tmp_path / "outer").mkdir()
    monkeypatch.chdir(tmp_path / "outer")
    configurations("init", "-q", "-b", "main")
    configurations("submodule", "--quiet", "add", str(site), "site")
    commit(configurations)
    monkeypatch.chdir("site")
    unwatched("Ethernet224")
    configurations("commit", "-q", "-a", "-m", "unwatched")
    monkeypatch.chdir("..")
    made = of_json("--base", "main")
    assert [one["name"] for one in made["fabrics"][0]["plan"]["devices"]] == ["leaf1"]
    assert len(made["findings"]) == 1


def test_what_a_partial_clone_left_out_is_a_problem_of_the_state_before(configurations: Git) -> None:
    written("build/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    oid = configurations("rev-parse", "main:build/leaf1/config_db.json")
    Path(".git/objects", oid[:2], oid[2:]).unlink()
    made = of_json("--base", "main")
    (problem,) = made["problems_before"]
    assert problem["file"] == "build/leaf1/config_db.json"
    assert f"the clone does not have what stood there (blob {oid[:12]})" in problem["message"]


def test_a_repository_of_sha_256(git: Git, two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    if subprocess.run(("git", "init", "-q", "-b", "main", "--object-format=sha256"), check=False).returncode:
        pytest.skip("a git without SHA-256")
    subprocess.run(("cp", "-r", str(two_by_two), "build"), check=True)
    commit(git)
    assert of_json("--base", "main")["same"] == ["build"]
    unwatched("Ethernet224")
    assert len(of_json("--base", "main")["findings"]) == 1
