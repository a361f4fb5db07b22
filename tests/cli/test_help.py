"""Help texts: short, with examples that work where only the package is installed."""

import os
import re
import shlex
import shutil
from pathlib import Path
from unittest import mock

import click
import pytest

from nodrop.cli.main import nodrop as group
from support.command import nodrop

MAX_LINES = 12
"""Lines of prose in the help of a command, the summary included, as a terminal of 80 columns shows them."""
ELSEWHERE = ("nodrop lsp", "nodrop twin", "--batfish", "--base origin/main", "ssh ")
"""Examples that need a service, a repository, other machines or rights."""


def commands() -> list[list[str]]:
    found: list[list[str]] = [[]]
    for name in group.list_commands(None):  # type: ignore[arg-type]
        command = group.get_command(None, name)  # type: ignore[arg-type]
        found += [[name]]
        if isinstance(command, click.Group):
            found += [[name, inner] for inner in command.list_commands(None)]  # type: ignore[arg-type]
    return found


def help_of(words: list[str]) -> tuple[list[str], list[str]]:
    """The lines of prose of a command's help, and its examples."""
    with mock.patch.dict(os.environ, COLUMNS="80"):
        text = nodrop(*words, "--help").out
    body = re.split(r"^\w[\w ]*:$", text, maxsplit=1, flags=re.MULTILINE)[0].partition("\n\n")[2]
    prose, _, examples = re.sub(r"^  Examples?:$", "\0", body, flags=re.MULTILINE).partition("\0")
    return [line for line in prose.splitlines() if line], [line.strip() for line in examples.splitlines() if line]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_is_short_and_has_an_example(words: list[str]) -> None:
    prose, examples = help_of(words)
    assert len(prose) <= MAX_LINES
    assert examples or words == ["completion"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that examples name, all of them made by commands."""
    top = tmp_path_factory.mktemp("site")
    before = Path.cwd()
    os.chdir(top)
    try:
        assert nodrop("init").code == 0
        assert nodrop("build", "intent.yaml", "-o", "build").code == 0
        assert nodrop("init", "--rule", "hosts/mtu-of-servers").code == 0
    finally:
        os.chdir(before)
    for copy in ("running", "before/build", "configs"):
        shutil.copytree(top / "build", top / copy)
    shutil.copy(top / "build/leaf1/config_db.json", top)
    return top


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [words for words in commands() if words not in (["completion"], ["lsp"], ["twin"])], ids=" ".join
)
def test_examples_run_where_the_package_is_installed(
    words: list[str], site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    shutil.copytree(site, here)
    monkeypatch.chdir(here)
    if words == ["init"]:
        shutil.rmtree(here / "rules")
    if words == []:
        (here / "intent.yaml").unlink()
    for example in help_of(words)[1]:
        if words == ["init"]:
            (here / "intent.yaml").unlink(missing_ok=True)
        command = re.split(r"   | > ", example)[0]
        if not any(needed in command for needed in ELSEWHERE):
            done = nodrop(*shlex.split(command)[1:])
            assert done.code in (0, 1), f"{command}\n{done.out}{done.err}"
            assert "TRACEBACK" not in done.err.upper()
