"""`nodrop check` on a hostile change: nothing that the change brings along says what was before."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from nodrop.inputs import DiskWithHeldTexts
from nodrop.revisions import open_base_state
from support.check_repositories import Git, commit, of_json, written_before
from support.command import Done, nodrop, unwatched
from support.hostile_repositories import BASES, BROKEN, CASES, EVIL, Attack, forge, put, store


@pytest.fixture
def broken(configurations: Git) -> Git:
    """A site whose change has one new fault."""
    unwatched("Ethernet224")
    return configurations


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_was_before_is_answered_by_the_repository_of_the_working_directory(
    case: Callable[[Git], Attack], broken: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path.cwd())  # back to it afterwards
    main = Path(".git/refs/heads/main").absolute()
    attack = case(broken)
    for name, value in attack.environment.items():
        monkeypatch.setenv(name, value)
    done = nodrop("check", "--base", attack.base, *attack.paths)
    assert done.code == attack.code, done
    assert attack.says in done.out + done.err
    if attack.code == 1:
        assert re.search(r" \d new warnings?", done.out)
        assert main.read_text()[:12] in done.out


@pytest.mark.parametrize(("base", "says"), BASES, ids=[base[:20] or "nothing" for base, _ in BASES])
def test_a_base_that_is_none_is_refused_at_once(
    base: str, says: str, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("build/leaf1").mkdir(parents=True)
    Path(BROKEN).write_text("{}")
    commit(git)
    git("checkout", "-q", "-b", "topic")
    monkeypatch.setattr(DiskWithHeldTexts, "entries", None)
    began = time.process_time()
    done = nodrop("check", "--base", base)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert len(done.err) < 500
    assert time.process_time() - began < 2


def test_a_path_longer_than_a_name_can_be_was_not_there(configurations: Git, tmp_path: Path) -> None:
    shutil.copytree("build", tmp_path / "before/build")
    for base in ("main", "../before"):
        for path in ("x" * 300, ("x" * 200 + "/") * 25, "../" + "x" * 300):
            assert nodrop("check", "--base", base, path).code == 2


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_the_name_of_every_object_is_computed_anew(
    kind: str, git: Git, two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / kind).mkdir()
    monkeypatch.chdir(tmp_path / kind)
    if subprocess.run(("git", "init", "-q", "-b", "main", f"--object-format={kind}"), check=False).returncode:
        pytest.skip("a git without SHA-256")
    shutil.copytree(two_by_two, "build")
    commit(git)
    unwatched("Ethernet224")
    assert nodrop("check", "--base", "main").code == 1
    oid = git("rev-parse", f"main:{BROKEN}")
    assert len(oid) == {"sha1": 40, "sha256": 64}[kind]
    forge(Path(".git/objects"), oid, "blob", Path(BROKEN).read_bytes())
    done = nodrop("check", "--base", "main")
    assert (done.code, done.out) == (2, "")
    assert f"{BROKEN}: the content of the blob {oid[:12]} does not fit its name" in done.err


def test_a_link_that_led_out_of_the_tree_is_not_followed(configurations: Git, tmp_path: Path) -> None:
    shutil.copytree("build/leaf1", tmp_path / "outside")
    path = Path(BROKEN)
    now = path.read_bytes()
    path.unlink()
    path.symlink_to(os.path.relpath(tmp_path / "outside/config_db.json", path.parent))
    commit(configurations)
    path.unlink()
    path.write_bytes(now.replace(b'"mtu": "9216"', b'"mtu": "9100"'))
    made = of_json("--base", "HEAD")
    (problem,) = [one for one in made["base_problems"] if one["file"] == BROKEN]
    assert problem["message"].startswith("a link that leads out of the repository")
    assert "9216" not in str(made["fabrics"])


def test_a_folder_link_that_led_out_of_the_tree_is_not_followed(configurations: Git, tmp_path: Path) -> None:
    shutil.copytree("build", tmp_path / "outside")
    Path("led").symlink_to("../outside")
    commit(configurations)
    Path("led").unlink()
    shutil.copytree("build", "led")
    made = of_json("--base", "HEAD", "led")
    assert [one["message"].split(" (")[0] for one in made["base_problems"] if one["file"] == "led"] == [
        "a link that leads out of the repository"
    ]
    assert made["unchanged_fabrics"] == []


@pytest.mark.parametrize("target", ["leaf1", "leaf1/config_db.json"])
def test_a_link_that_leads_out_of_a_base_folder_is_not_followed(
    target: str, configurations: Git, tmp_path: Path
) -> None:
    shutil.copytree("build", tmp_path / "before/build")
    outside, link = tmp_path / "outside", tmp_path / "before/build" / target
    link.rename(outside)
    link.symlink_to(outside)
    made = of_json("--base", tmp_path / "before", f"build/{target}")
    assert made["unchanged_fabrics"] == []
    assert [one["file"] for one in made["base_problems"]] == [f"build/{target}"]
    assert made["base_problems"][0]["message"].startswith(f"a link that leads out of {tmp_path}/before")


def test_a_file_of_now_is_not_looked_for_behind_a_link_out_of_the_tree(configurations: Git, tmp_path: Path) -> None:
    shutil.copytree("build/leaf1", tmp_path / "outside")
    shutil.rmtree("build/leaf1")
    Path("build/leaf1").symlink_to(tmp_path / "outside")
    with open_base_state(("build",), "main") as (former, _):
        assert former.text(Path(BROKEN)).path != Path(BROKEN)
        assert not former.is_unchanged(former.text(Path(BROKEN)))


def test_attributes_of_the_change_do_not_hide_what_they_make_of_a_file(configurations: Git) -> None:
    """The blob is as before, and git's index says so, but another text lies there: the change has it encoded anew."""
    Path(".gitattributes").write_text(f"{BROKEN} text working-tree-encoding=UTF-16\n")
    commit(configurations)
    Path(BROKEN).unlink()
    configurations("checkout", "--", BROKEN)
    assert Path(BROKEN).read_bytes().startswith((b"\xff\xfe", b"\xfe\xff"))
    written_before(configurations, 60)
    assert configurations("status", "--short") == ""
    done = nodrop("check", "--base", "main")
    assert done.code == 2
    assert f"{BROKEN}:1:1: UTF-16 text" in done.out + done.err


def test_attributes_that_are_those_of_before_do_not_make_files_be_read(configurations: Git) -> None:
    Path(".gitattributes").write_text(f"{BROKEN} text working-tree-encoding=UTF-16\n")
    commit(configurations)
    Path(BROKEN).unlink()
    configurations("checkout", "--", BROKEN)
    written_before(configurations, 60)
    assert of_json("--base", "HEAD")["unchanged_fabrics"] == ["build"]


def test_what_nobody_wants_to_be_asked_of_a_file_is_looked_at_nonetheless(broken: Git) -> None:
    broken("update-index", "--assume-unchanged", BROKEN)
    assert nodrop("check", "--base", "main").code == 1


@pytest.mark.parametrize("where", ["embedded", "own"])
def test_no_command_of_a_configuration_runs(
    where: str, broken: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git is one that fetches what is missing whatever GIT_NO_LAZY_FETCH says, as those before 2.39.4 do."""
    ran = tmp_path / "ran"
    evil = _script(tmp_path / "run", f"echo run >>{ran}")
    lines = ["[core]", *(f"{key} = {evil}" for key in ("fsmonitor", "pager", "sshCommand", "askPass", "editor"))]
    lines += ["hooksPath = hooks", f"attributesFile = {tmp_path / 'attributes'}"]
    lines += ["[protocol]", "allow = always", '[protocol "ext"]', "allow = always"]
    lines += ['[remote "origin"]', "promisor = true", "partialclonefilter = blob:none", f'url = "ext::{evil} %s"']
    lines += ['[filter "evil"]', f"smudge = {evil}", f"clean = {evil}", '[diff "evil"]', f"textconv = {evil}"]
    lines += ["[credential]", f"helper = {evil}", "[extensions]", "partialclone = origin"]
    (tmp_path / "attributes").write_text("* filter=evil diff=evil\n")
    oid = broken("rev-parse", f"main:{BROKEN}")
    if where == "embedded":
        store(Path("build"), Path("build"), config="\n".join(lines).replace("[extensions]\npartialclone = origin", ""))
        for tree in sorted(Path("build/objects").glob("??/*"))[::2]:
            tree.unlink()
    else:
        with Path(".git/config").open("a") as config:
            config.write("\n".join(lines) + "\n")
        broken("config", "core.repositoryFormatVersion", "1")
        Path(".git/objects", oid[:2], oid[2:]).unlink()
    hook = _script(Path(".git/hooks/post-index-change"), f"echo hook >>{ran}")
    assert hook.exists()
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    _script(tmp_path / "bin/git", f'unset GIT_NO_LAZY_FETCH\nexec {real} "$@"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    done = nodrop("check", "--base", "main", "build")
    assert not ran.exists()
    assert done.code == 1
    assert ("the clone does not have what stood there" in done.out + done.err) == (where == "own")


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_worktree_and_a_submodule_are_repositories_too(
    configurations: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Path.cwd()
    configurations("worktree", "add", "-q", "../beside", "-b", "beside")
    configurations("clone", "-q", "--bare", ".", "../bare/.bare")
    configurations("-C", "../bare/.bare", "worktree", "add", "-q", "../work", "main")
    Path("../bare/.git").write_text("gitdir: ./.bare\n")
    (tmp_path / "outer").mkdir()
    configurations("-C", "../outer", "init", "-q", "-b", "main")
    configurations("-C", "../outer", "submodule", "--quiet", "add", str(site), "inner")
    for at in ("beside", "bare/work", "outer/inner", "outer/inner/build"):
        monkeypatch.chdir(tmp_path / at)
        top = Path("..") if at.endswith("build") else Path()
        unwatched("Ethernet224", path=str(top / BROKEN))
        assert len(of_json("--base", "HEAD", ".")["findings"]) == 1, at
        configurations("checkout", "-q", "-f", ".")


def test_a_clone_in_a_work_tree_is_a_repository_of_its_own(broken: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    broken("clone", "-q", "-b", "main", ".", "inner")
    monkeypatch.chdir("inner")
    assert nodrop("check", "--base", "HEAD").code == 0
    unwatched("Ethernet224")
    assert len(of_json("--base", "HEAD")["findings"]) == 1


def test_a_git_directory_in_the_work_tree_is_not_asked(broken: Git) -> None:
    Path(".git").rename(EVIL)
    Path(".git").write_text(f"gitdir: {EVIL}\n")
    done = nodrop("check", "--base", "main")
    assert (done.code, done.out) == (2, "")
    assert "lies among the files of the work tree" in done.err


def test_a_repository_ends_where_git_may_not_look_further_up(
    broken: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd()))
    assert nodrop("check", "--base", "main").code == 1
    monkeypatch.chdir("build")
    done = nodrop("check", "--base", "main", ".")
    assert (done.code, "in no git repository" in done.err) == (2, True)


def test_an_annotated_tag_is_its_commit(broken: Git) -> None:
    broken("tag", "-a", "-m", "before", "before", "main")
    assert nodrop("check", "--base", "before").code == 1


def test_a_tree_of_many_folders_is_read_whole(broken: Git) -> None:
    """More folders than fit into one go at git."""
    objects, top = Path(".git/objects"), broken("rev-parse", "main^{tree}")
    folders, many = [], b""
    for number in range(3000):
        blob = put(objects, "blob", b"x") if not folders else folders[0]
        folders.append(blob)
        inner = put(objects, "tree", b"100644 %d\0" % number + bytes.fromhex(blob))
        many += b"40000 %05d\0" % number + bytes.fromhex(inner)
    build = broken("rev-parse", "main:build")
    tree = put(
        objects,
        "tree",
        b"40000 build\0" + bytes.fromhex(build) + b"40000 many\0" + bytes.fromhex(put(objects, "tree", many)),
    )
    base = broken("commit-tree", "-m", "many", tree)
    assert tree != top
    assert nodrop("check", "--base", base, "--exact", "build").code == 1
    assert f"note: {EVIL}" not in nodrop("check", "--base", base, "--exact").out


@pytest.fixture
def site_of(two_by_two: Path) -> Iterator[Callable[[int], Path]]:
    """Make a site of a user, in a folder that everybody may enter."""
    if os.geteuid() != 0:
        pytest.skip("another user's files can be made by root alone")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)

        def made(owner: int) -> Path:
            root = Path(tempfile.mkdtemp(dir=folder))
            root.chmod(0o755)
            shutil.copytree(two_by_two, root / "build")
            words = ("git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@example.com")
            for one in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "as it is")):
                subprocess.run((*words, *one), check=True, capture_output=True)
            unwatched("Ethernet224", path=str(root / BROKEN))
            store(root / "build", root / "build")
            for path in (root, *root.rglob("*")):
                os.chown(path, owner, owner)
            return root

        yield made


def _as_user(user: int, *words: str) -> Done:
    """Run a command as a user; modules are loaded already, as that one may not be able to read them."""
    answers, answer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.write(answer, json.dumps(asdict(nodrop(*words))).encode())
        finally:
            os._exit(0)
    os.close(answer)
    with os.fdopen(answers) as file:
        said = file.read()
    os.waitpid(child, 0)
    return Done(**json.loads(said))


@pytest.mark.parametrize(("user", "owner"), [(65534, 65534), (0, 0), (65534, 0), (0, 65534)])
def test_git_trusts_the_owners_that_it_trusts_everywhere(
    user: int, owner: int, site_of: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SUDO_UID", "GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    site = site_of(owner)
    words = ("check", "--base", "main", "build")
    monkeypatch.chdir(site_of(os.geteuid()))
    assert nodrop(*words).code == 1
    monkeypatch.chdir(site)
    if user != owner:
        done = _as_user(user, *words)
        assert (done.code, done.out) == (2, "")
        assert "git does not read a repository of another owner" in done.err
        assert f"git config --global --add safe.directory {site}" in done.err
        given = {"COUNT": "1", "KEY_0": "user.name", "VALUE_0": "*", "KEY_1": "safe.directory", "VALUE_1": str(site)}
        for name, value in given.items():
            monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
        assert _as_user(user, *words) == done
        monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    done = _as_user(user, *words)
    assert (done.code, "1 new warning" in done.out) == (1, True), done


def test_above_a_git_directory_that_cannot_be_read_no_other_is_looked_for(
    site_of: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(65534)
    shutil.copytree(site / "build", site / "inner/build")
    store(site / "inner/.git", site / "inner")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (site / "inner/.git").chmod(0o700)
    monkeypatch.chdir(site / "inner")
    assert nodrop("check", "--base", "main", "build").code == 0
    done = _as_user(65534, "check", "--base", "main", "build")
    assert (done.code, done.out) == (2, "")
    assert "inner/.git: permission denied" in done.err


@pytest.mark.parametrize(
    "pointer", ["", "gitdir:", "gitdir: nowhere\n", "../.git", "gitdir: ..\n", "gitdir: a\0b", "gitdir: " + "x/" * 9000]
)
def test_a_file_that_names_no_git_directory_is_an_error(
    pointer: str, configurations: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("build/.git").write_text(pointer)
    assert nodrop("check", "--base", "main", "build").code == 0
    monkeypatch.chdir("build")
    done = nodrop("check", "--base", "main", ".")
    assert (done.code, done.out) == (2, "")
    assert "build/.git: " in done.err
