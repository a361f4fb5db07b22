"""The hooks as pre-commit runs them, installed from a repository of nodrop, in the example repository, by git."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.gitops import EXAMPLE, environment, git, site
from support.own_repository import TAG, offline, repository

pytestmark = pytest.mark.wheel
URL = "https://github.com/your-org/nodrop"


@dataclass(kw_only=True)
class Site:
    """The example repository with the hooks in it, and a server to push to."""

    root: Path
    environment: dict[str, str]

    def git(self, *words: str) -> tuple[int, str]:
        """Run git with its hooks; return how it ended and what was said."""
        done = subprocess.run(
            ("git", *words),
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
        )
        return done.returncode, done.stdout

    def commit(self, *options: str) -> tuple[int, dict[str, str], str]:
        """Commit all that has changed; return how that ended, what became of each hook, and all that was said."""
        self.git("add", "-A")
        code, said = self.git("commit", "-q", "-m", "x", *options)
        return code, dict(re.findall(r"^(nodrop[^.]*?)\.+(?:\(.*?\))?(\w+)$", said, flags=re.MULTILINE)), said

    def write(self, path: str, old: str, new: str) -> None:
        """Replace a text in a file, which has it."""
        text = (self.root / path).read_text()
        assert old in text
        (self.root / path).write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def fabrics(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Clone the hooks from where the example says they are, install them without a network, and let git run them."""
    top = tmp_path_factory.mktemp("pre-commit")
    hooks = repository(top / "nodrop")
    (top / "home").mkdir()
    (top / "home" / ".gitconfig").write_text(f'[url "file://{hooks}"]\n\tinsteadOf = {URL}\n')
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PIP_", "GIT_", "NODROP_", "XDG_"))
    }
    variables |= {name: value for name, value in environment().items() if name.startswith(("GIT_AUTHOR", "GIT_COMM"))}
    variables |= {"HOME": str(top / "home"), "PRE_COMMIT_HOME": str(top / "cache"), **offline()}
    made = Site(root=site(top / "site"), environment=variables)
    git(top, "init", "-q", "--bare", "-b", "main", "server.git")
    git(made.root, "remote", "add", "origin", top / "server.git")
    git(made.root, "push", "-q", "-u", "origin", "main")
    command = [Path(sys.executable).parent / "pre-commit", "install", "--install-hooks"]
    done = subprocess.run(command, cwd=made.root, env=variables, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return made


@pytest.fixture
def clean(fabrics: Site) -> Site:
    """The repository as its server has it."""
    git(fabrics.root, "checkout", "-q", "-B", "main", "origin/main")
    git(fabrics.root, "checkout", "-q", "-B", "topic")
    return fabrics


def test_the_example_names_the_release_that_is_tested_here() -> None:
    said = (EXAMPLE / ".pre-commit-config.yaml").read_text()
    assert f"repo: {URL}\n    rev: {TAG}\n" in said


@pytest.mark.slow
def test_an_intent_without_its_build_is_not_committed(clean: Site) -> None:
    clean.write("intents/pod1.yaml", "min: 150kB", "min: 200kB")
    code, hooks, said = clean.commit()
    assert (code, hooks) == (
        1,
        {"nodrop build --check": "Failed", "nodrop lint": "Skipped", "nodrop test-rules": "Skipped"},
    )
    assert "build/pod1/leaf1/config_db.json:" in said
    git(clean.root, "reset", "-q", "--hard")


@pytest.mark.slow
def test_a_fault_is_neither_committed_nor_pushed(clean: Site) -> None:
    clean.write("build/pod1/leaf1/config_db.json", '"26": "3"', '"26": "0"')
    code, hooks, said = clean.commit()
    assert (code, hooks["nodrop build --check"], hooks["nodrop lint"]) == (1, "Failed", "Failed")
    assert "error[rdma-dscp-in-lossy-class]" in said
    assert clean.commit("--no-verify")[0] == 0
    code, said = clean.git("push", "-q", "origin", "topic")
    assert code == 1
    assert re.search(r"^nodrop check\.+Failed$", said, flags=re.MULTILINE)
    assert "error[rdma-dscp-in-lossy-class]" in said
    assert git(clean.root, "ls-remote", "origin", "topic") == ""


@pytest.mark.slow
def test_a_commit_that_only_deletes_is_held_against_the_intents(clean: Site) -> None:
    (clean.root / "build" / "pod1" / "leaf1" / "frr.conf").unlink()
    code, hooks, said = clean.commit()
    assert (code, hooks["nodrop build --check"]) == (1, "Failed")
    assert "drift: build/pod1/leaf1/frr.conf: is missing" in said
    git(clean.root, "reset", "-q", "--hard")


@pytest.mark.slow
def test_what_is_nothing_to_the_hooks_passes_and_so_do_rules_that_hold(clean: Site) -> None:
    clean.write("README.md", "# A repository", "# The repository")
    clean.write("rules/watchdog/site-watchdog-too-slow.yaml", "why:", "why: ")
    code, hooks, said = clean.commit()
    assert (code, hooks) == (
        0,
        {"nodrop build --check": "Passed", "nodrop lint": "Passed", "nodrop test-rules": "Passed"},
    ), said
    assert clean.git("push", "-q", "origin", "topic")[0] == 0


@pytest.mark.slow
def test_every_hook_runs_with_what_it_has_by_itself(clean: Site, tmp_path: Path) -> None:
    """Namely without `args`, which nodrop-build alone cannot be."""
    manifest = (Path(clean.root).parents[0] / "nodrop" / ".pre-commit-hooks.yaml").read_text()
    hooks = [name for name in re.findall(r"^- id: (\S+)$", manifest, flags=re.MULTILINE) if name != "nodrop-build"]
    config = tmp_path / "config.yaml"
    ids = "".join(f"  - id: {name}\n" for name in hooks)
    config.write_text(f"repos:\n- repo: {URL}\n  rev: {TAG}\n  hooks:\n{ids}")
    command = (Path(sys.executable).parent / "pre-commit", "run", "-c", config, "--all-files", "--hook-stage", "manual")
    done = subprocess.run(command, cwd=clean.root, env=clean.environment, capture_output=True, check=False, text=True)
    assert re.findall(r"^nodrop ([\w-]+)\.+(\w+)$", done.stdout, flags=re.MULTILINE) == [
        *(("lint", "Passed"), ("fix", "Passed"), ("test-rules", "Passed"), ("check", "Passed"))
    ], done.stdout + done.stderr
