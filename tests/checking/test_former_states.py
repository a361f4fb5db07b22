"""Former states out of git: whatever is in the repository, nothing in it is changed or run, and faults are named."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nodrop.inputs import DiskWithHeldTexts
from nodrop.revisions import tree
from nodrop.revisions.folder import former_state_of_folder
from nodrop.revisions.git import open_repository
from nodrop.revisions.tree import former_state_of_revision
from support.check_repositories import Git, commit, of_json, written, written_before
from support.command import nodrop, unwatched


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
    main = configurations("ls-remote", url, "refs/heads/main").split()[0]
    said = told("--base", main, "--exact")
    assert f"--base {main}: no such revision" in said
    assert "the clone is shallow: fetch the history: `git fetch --unshallow`" in said
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


def test_a_repository_of_somebody_else(configurations: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/git"
    script.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {shutil.which("git")} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent), prepend=os.pathsep)
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


def test_pipes_where_files_were_are_never_waited_for(configurations: Git, tmp_path: Path) -> None:
    shutil.copytree("build", tmp_path / "before" / "build")
    path = Path("build/leaf1/config_db.json")
    path.unlink()
    os.mkfifo(path)
    for base in ("topic", "../before"):
        done = nodrop("check", "--base", base)
        assert (done.code, "build/leaf1/config_db.json: a pipe" in done.out) == (2, True)
    shutil.copy("../before/build/leaf1/config_db.json", "leaf1.json")
    path.unlink()
    shutil.move("leaf1.json", path)
    former = Path("../before", path)
    former.unlink()
    os.mkfifo(former)
    done = nodrop("check", "--base", "../before")
    assert (done.code, "build/leaf1/config_db.json: a pipe" in done.out) == (0, True)


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
    (problem,) = made["base_problems"]
    assert problem["file"] == "build/leaf1/config_db.json"
    assert f"the clone does not have what stood there (blob {oid[:12]})" in problem["message"]


def test_a_repository_of_sha_256(git: Git, two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    if subprocess.run(("git", "init", "-q", "-b", "main", "--object-format=sha256"), check=False).returncode:
        pytest.skip("a git without SHA-256")
    subprocess.run(("cp", "-r", str(two_by_two), "build"), check=True)
    commit(git)
    assert of_json("--base", "main")["unchanged_fabrics"] == ["build"]
    unwatched("Ethernet224")
    assert len(of_json("--base", "main")["findings"]) == 1


def looked_into(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return which files have to be read to know whether they have changed since the revision."""
    found: set[str] = set()
    oid = tree._object_id_of_file

    def watched(path: Path, digits: int) -> str:
        found.add(path.name)
        return oid(path, digits)

    repository = open_repository([])
    with (
        monkeypatch.context() as patched,
        former_state_of_revision(repository, repository.commit_of_revision("main")) as former,
    ):
        patched.setattr(tree, "_object_id_of_file", watched)
        for path in sorted(path for path in Path("build/leaf1").iterdir() if path.is_file()):
            here = former.is_unchanged(former.text(path))
            assert here == (path.read_bytes() == repository.output_of_command("show", f"main:{path}"))
    return found


def test_what_the_index_knows_is_not_read(configurations: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    written_before(configurations, 60)
    assert looked_into(monkeypatch) == set()
    path = Path("build/leaf1/frr.conf")
    then = path.stat()
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=(then.st_atime_ns, then.st_mtime_ns))
    assert looked_into(monkeypatch) == {"frr.conf"}


def test_what_may_have_been_written_after_the_index_is_read(
    configurations: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    written_before(configurations, -60)
    assert looked_into(monkeypatch) == {"config_db.json", "frr.conf"}


def unlike(*words: str | Path) -> list[str]:
    """Return what is told where a folder is no former state of what is named."""
    return told(*words).splitlines()


def test_a_base_is_something_else_than_the_files_of_now(configurations: Git) -> None:
    assert unlike("--base", "") == [
        'error: --base "": an empty base (--base takes a revision, such as origin/main, or a folder with the files as'
        " they were, such as ./before)"
    ]
    for itself in (".", "./", Path.cwd(), "build/.."):
        (line,) = unlike("--base", itself)
        assert "that is the working directory, with the files of now (give a revision, such as origin/main, or" in line


def test_a_folder_stands_for_the_working_directory(
    configurations: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree("build", "old")
    shutil.copytree("build", tmp_path / "before" / "build")
    stands = "the folder represents the working directory"
    here, before = Path.cwd(), tmp_path / "before"
    assert unlike("--base", "old/", "build") == [
        f"error: --base old: build is not in it (expected old/build: {stands})"
    ]
    meant = "did you mean --base ../before/?"
    for path in ("build", here / "build"):
        assert unlike("--base", "../before/build", path) == [
            f"error: --base ../before/build: {path} is not in it (expected ../before/build/build: {stands}; {meant})"
        ]
    assert of_json("--base", before, "build")["unchanged_fabrics"] == ["build"]
    assert of_json("--base", before, here / "build")["unchanged_fabrics"] == [str(here / "build")]
    shutil.copytree("build", "twin")
    assert nodrop("check", "--base", before, "build", "twin").code != 2
    monkeypatch.chdir("old")
    (line,) = unlike("--base", before, here / "build")
    assert line == (
        f"error: {here}/build: not below the working directory, which {before} represents (run it in the folder that"
        " the base is a former state of)"
    )


def test_links_to_folders_are_followed_in_a_folder_as_they_are_now(configurations: Git, tmp_path: Path) -> None:
    before = tmp_path / "before"
    for top in (Path(), before):
        (top / "real").mkdir(parents=True)
        shutil.copytree("build/leaf1", top / "real" / "leaf1")
        (top / "led").symlink_to("real")
    written("real/leaf1/config_db.json", '"mtu": "9216"', '"mtu": "9100"')
    former, now = former_state_of_folder(before, ["led"]), DiskWithHeldTexts()
    for path in (Path(), Path("led"), Path("led/leaf1")):
        own = [one for one in now.entries(path) if one.name not in ("build", ".git", ".gitignore")]
        assert former.entries(path) == own
    made = of_json("--base", before, "led")
    assert [(one["former_name"], one["name"]) for one in made["fabrics"]] == [("led/leaf1", "led/leaf1")]
    assert [(one["name"], one["kind"]) for one in made["fabrics"][0]["plan"]["devices"]] == [("leaf1", "changed")]


def test_equal_bytes_in_a_folder_have_not_changed(
    configurations: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("nodrop.yaml").write_text("fail_on: error\n")
    shutil.copytree("build", tmp_path / "before" / "build")
    shutil.copy("nodrop.yaml", tmp_path / "before")
    unwatched("Ethernet224")
    assert of_json("--base", "../before")["notes"] == []
    former = former_state_of_folder(Path("../before"), ["."])
    for device, here in (("leaf1", False), ("leaf2", True)):
        path = Path(f"build/{device}/config_db.json")
        assert former.is_unchanged(former.text(path)) is here
        assert former.text(path).path == (path if here else Path("../before") / path)
    shutil.copytree("../before/build", "build", dirs_exist_ok=True)
    monkeypatch.setattr("nodrop.checking.check.plan", None)
    assert of_json("--base", "../before")["unchanged_fabrics"] == ["build"]


def test_a_configuration_of_nodrop_that_is_gone_still_counts(configurations: Git) -> None:
    Path("nodrop.yaml").write_text("fail_on: error\n")
    commit(configurations)
    assert of_json("--base", "HEAD", "--no-config")["blockers"] == []
    Path("nodrop.yaml").unlink()
    (note,) = of_json("--base", "HEAD")["blockers"]
    assert (note["file"], note["severity"]) == ("nodrop.yaml", "note")
    assert note["message"] == ("nodrop.yaml: is deleted, and with it fail_on; nothing that is new would pass by it")


def test_what_a_sparse_checkout_leaves_out_is_not_told_as_removed(configurations: Git) -> None:
    configurations("sparse-checkout", "set", "--no-cone", "/*", "!/build/leaf2", "!/build/spine1/frr.conf")
    assert not Path("build/leaf2").exists()
    unwatched("Ethernet224")
    made = of_json("--base", "main")
    assert [(one["name"], one["kind"]) for one in made["fabrics"][0]["plan"]["devices"]] == [("leaf1", "changed")]
    assert [one["message"] for one in made["notes"]] == [
        "4 files are not checked out (sparse checkout), and left out of both states"
    ]
    assert of_json("--base", "main", "build/leaf1")["notes"] == []
    Path("build/spine1/frr.conf").write_text("frr defaults datacenter\n")
    assert [one["message"].split(" (")[0] for one in of_json("--base", "main")["notes"]] == [
        "3 files are not checked out"
    ]
    assert "note: 3 files are not checked out (sparse checkout)" in nodrop("check", "--base", "main").out
    page = nodrop("check", "--base", "main", "--format", "markdown").out
    assert "\n- note: 3 files are not checked out (sparse checkout)" in page
