"""The example repository as tests work in it: a copy, and git without anybody's own configuration."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.places import ROOT

EXAMPLE = ROOT / "examples" / "gitops"
_NAMED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES")
_CONFIG = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "x",
    "GIT_AUTHOR_EMAIL": "x@example.com",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "x",
    "GIT_COMMITTER_EMAIL": "x@example.com",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}
"""Commits have the same names on every machine."""


def environment() -> Mapping[str, str]:
    """Return the environment in which git is nobody's own."""
    return {name: value for name, value in os.environ.items() if name not in _NAMED} | _CONFIG


def git(root: Path, *words: str | Path) -> str:
    """Run git in a folder, and return what it prints."""
    command = ("git", "-C", root, *words)
    done = subprocess.run(command, capture_output=True, check=False, env=environment(), text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout.strip()


def committed(root: Path, message: str) -> str:
    """Commit all that lies there, and return the commit's name."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
    return git(root, "rev-parse", "HEAD")


def site(root: Path) -> Path:
    """Make a folder the example as a repository of its own, with all of it committed on the branch main."""
    shutil.copytree(EXAMPLE, root)
    git(root, "init", "-q", "-b", "main")
    committed(root, "two pods")
    return root
