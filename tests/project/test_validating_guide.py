"""docs/validating.md: its commands run as they stand, and its table is one that nodrop prints."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

import nodrop.validating
from nodrop.report.agreement import CHECK_TITLES
from support.command import nodrop as run
from support.places import ROOT

GUIDE = (ROOT / "docs" / "validating.md").read_text()


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    return [text for its, text in found if its == language]


COMMANDS = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines() if line[:1] == "$"]
ASKING = [line for block in blocks("sh") for line in block.splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_ask_nobody_run_as_they_stand(command: str, repository: Path) -> None:
    program, *words = shlex.split(command)
    assert program == "nodrop"
    assert run(*words).code == 0
    if "-o" in words:
        assert any((repository / words[words.index("-o") + 1]).iterdir())


@pytest.mark.parametrize("command", ASKING)
def test_commands_that_ask_others_are_such_as_there_are(
    command: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", repository / "examples")
    shutil.copytree(repository / "build", repository / "build-before")
    asked: list[object] = []
    monkeypatch.setattr(nodrop.validating, "run_validators", lambda *_, **given: asked.append(given) or ())
    program, *words = shlex.split(command)
    if program == "nodrop":
        assert run(*words).code == 0
        assert len(asked) == 1
    else:
        assert [program, words[0]] == ["docker", "compose"]
        assert (repository / words[words.index("-f") + 1]).is_file()


def test_images_of_the_lab_are_named_as_the_command_takes_them(repository: Path) -> None:
    named = re.findall(r"--image \S+=[^\s`]+", GUIDE)
    words = [word for one in named for word in one.split()]
    assert named
    assert run("export", "containerlab", "build", "-o", "lab", *words).code == 0


def test_the_table_is_one_that_is_printed() -> None:
    (table,) = blocks("")
    rows = [re.split(r"\s{2,}", line.strip())[0] for line in table.splitlines()]
    head = rows.index("check")
    assert rows[head + 1 : head + 1 + len(CHECK_TITLES)] == list(CHECK_TITLES.values())
