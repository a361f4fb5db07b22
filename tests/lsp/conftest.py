"""Files that the tests of the language server open."""

import shutil
from pathlib import Path

import pytest

from nodrop.resources import resource_folder
from support.command import nodrop


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest fabric, built."""
    out = tmp_path_factory.mktemp("lsp") / "build"
    assert nodrop("build", str(resource_folder("intents") / "two-by-two.yaml"), "-o", str(out)).code == 0
    return out


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Path:
    """A repository with that build in it, to work in."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(built, tmp_path / "build")
    shutil.copy(resource_folder("intents") / "two-by-two.yaml", tmp_path / "intent.yaml")
    return tmp_path
