"""docs/editors.md: its settings can be read, name the command that there is, and the schemas that there are."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from nodrop.schemas import USER_FILE_KINDS
from support.places import ROOT

PAGE = (ROOT / "docs" / "editors.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


def test_settings_can_be_read() -> None:
    assert [len(blocks(kind)) for kind in ("json", "toml", "lua", "elisp")] == [3, 1, 1, 1]
    settings, _, zed = map(json.loads, blocks("json"))
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text())
    assert settings.keys() <= package["contributes"]["configuration"]["properties"].keys()
    assert settings["nodrop.path"] == "/opt/nodrop/bin/nodrop"
    for server in zed["lsp"].values():
        assert (Path(server["binary"]["path"]).name, server["binary"]["arguments"]) == ("nodrop", ["lsp"])
    helix = tomllib.loads(*blocks("toml"))
    assert helix["language-server"]["nodrop"] == {
        "command": "nodrop",
        "args": ["lsp"],
        "config": {"strictness": "regular"},
    }
    assert all("nodrop" in one["language-servers"] for one in helix["language"])


@pytest.mark.parametrize("language", ["lua", "elisp"])
def test_brackets_are_balanced(language: str) -> None:
    (text,) = blocks(language)
    for opening, closing in ("()", "{}", "[]"):
        assert text.count(opening) == text.count(closing)


def test_schemas_are_those_that_there_are() -> None:
    named = set(re.findall(r"\.nodrop/([\w.]+\.json)", PAGE))
    assert named == {f"{kind}.schema.json" for kind in USER_FILE_KINDS}
