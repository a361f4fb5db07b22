"""nodrop's own repository as others install from it: what is shipped, committed and tagged; and pip with no network."""

import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from support.gitops import committed, git
from support.places import ROOT

WHEELHOUSE = Path(sys.prefix) / "wheelhouse"
TAG = "v0.1.0"


def repository(root: Path) -> Path:
    """Make a folder a repository of nodrop, tagged with its release."""
    root.mkdir()
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"]
    for name in (*shipped["include"], "pyproject.toml", ".pre-commit-hooks.yaml", "scripts"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, root / name)
    git(root, "init", "-q", "-b", "main")
    committed(root, "a release")
    git(root, "tag", TAG)
    return root


def offline() -> dict[str, str]:
    """Return the variables by which pip takes all from the wheelhouse; skip where there is none."""
    if not WHEELHOUSE.is_dir():
        pytest.skip("no wheelhouse beside this Python; `make test` makes it")
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(WHEELHOUSE), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
