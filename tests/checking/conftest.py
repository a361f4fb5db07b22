"""What tests of `nodrop check` share: repositories of git."""

import shutil
import subprocess
from pathlib import Path

import pytest

from nodrop.resources import resource_folder
from support.check_repositories import INTENT, Git, built_pods, commit, written


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """A repository in the working directory, without anybody's own configuration, and git to work in it."""
    (tmp_path / "site").mkdir()
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))):
        monkeypatch.setenv(name, value)
    (tmp_path / "gitconfig").write_text('[user]\nname = x\nemail = x@example.com\n[protocol "file"]\nallow = always\n')
    monkeypatch.chdir(tmp_path / "site")

    def run(*words: str) -> str:
        done = subprocess.run(("git", *words), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    run("init", "-q", "-b", "main")
    return run


@pytest.fixture
def configurations(git: Git, two_by_two: Path) -> Git:
    """A repository with the files of four switches on the branch main, worked on in the branch topic."""
    shutil.copytree(two_by_two, "build")
    commit(git)
    git("checkout", "-q", "-b", "topic")
    return git


@pytest.fixture
def intent(git: Git) -> Git:
    """A repository with an intent on the branch main, worked on in the branch topic."""
    Path("intents").mkdir()
    shutil.copy(INTENT, "intents/fabric.yaml")
    commit(git)
    git("checkout", "-q", "-b", "topic")
    return git


@pytest.fixture
def pods(intent: Git) -> Git:
    """A repository with the intents of two pods whose switches are called alike, and what both come to."""
    for number in (1, 2):
        shutil.copy("intents/fabric.yaml", f"intents/pod{number}.yaml")
        written(f"intents/pod{number}.yaml", "fabric: two-by-two", f"fabric: pod{number}")
        written(f"intents/pod{number}.yaml", "10.0.0.0/16", f"10.{number}0.0.0/16")
    Path("intents/fabric.yaml").unlink()
    built_pods()
    commit(intent)
    return intent


@pytest.fixture
def intents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `old` with an intent, and the working directory with RDMA in another DSCP."""
    monkeypatch.chdir(tmp_path)
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
    Path("old").mkdir()
    Path("old/fabric.yaml").write_text(text)
    moved = text.replace("rdma:    {dscp: 26", "rdma:    {dscp: 24").replace("storage: {dscp: 10", "storage: {dscp: 26")
    Path("fabric.yaml").write_text(f"{moved}hosts: {{tos: 98}}\n")
    return tmp_path
