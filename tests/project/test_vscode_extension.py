"""editors/vscode: what its package says is what the language server does, and what the repository keeps of it."""

import json
import re
import subprocess
import tomllib
from pathlib import PurePath

from nodrop import context, platforms
from nodrop.cli import lsp
from nodrop.config import CONFIG_FILE
from nodrop.engine.rule import STRICTNESSES
from nodrop.sizing.first_intent import INTENT_SCHEMA_PATH
from schemastore import FILE_MATCH
from support.places import ROOT

FOLDER = ROOT / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text())
SOURCE = (FOLDER / "src" / "extension.ts").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LANGUAGE_OF = {
    ".conf": "properties", ".json": "json", ".sh": "shellscript", ".toml": "toml", ".txt": "plaintext", ".yaml": "yaml",
}  # fmt: skip
"""What VS Code calls the files of a suffix."""


def test_it_is_of_the_same_release() -> None:
    locked = json.loads((FOLDER / "package-lock.json").read_text())
    versions = {PACKAGE["version"], locked["version"], locked["packages"][""]["version"]}
    assert versions == {PROJECT["version"]}
    assert PACKAGE["license"] == PROJECT["license"]
    assert f"nodrop-{PROJECT['version']}.vsix" in (FOLDER / "README.md").read_text()


def test_it_starts_the_server_that_there_is() -> None:
    settings = PACKAGE["contributes"]["configuration"]["properties"]
    assert settings["nodrop.path"]["default"] in PROJECT["scripts"]
    assert settings["nodrop.path"]["scope"] == "machine", "a folder would say which program runs"
    assert re.findall(r"args: \[(.*?)\]", SOURCE) == ['"lsp"']
    assert lsp.command.callback is not None
    assert settings["nodrop.strictness"]["enum"] == [*STRICTNESSES]
    commands = {each["command"] for each in PACKAGE["contributes"]["commands"]}
    assert commands == set(re.findall(r'registerCommand\("([\w.]+)"', SOURCE))
    used = {f"nodrop.{name}" for name in re.findall(r'settings\.get<string>\("(\w+)"', SOURCE)}
    assert used == settings.keys() - {"nodrop.trace.server"}, "the client library reads the trace itself"


def test_it_sends_the_files_that_the_server_knows() -> None:
    (listed,) = re.findall(r"^const LANGUAGES = (\[.*\]);$", SOURCE, re.MULTILINE)
    readers = [platforms.reader(name) for name in platforms.platform_names()]
    suffixes = {PurePath(name).suffix for reader in readers for name in reader.CANONICAL_FILES} - {""}
    assert suffixes <= LANGUAGE_OF.keys()
    assert set(json.loads(listed)) == {*LANGUAGE_OF.values(), "jsonc"}


def test_it_starts_in_folders_with_files_of_every_platform() -> None:
    names = {event.removeprefix("workspaceContains:**/") for event in PACKAGE["activationEvents"]}
    assert names >= {CONFIG_FILE, context.FABRIC_FILE, INTENT_SCHEMA_PATH}
    rest = names - {CONFIG_FILE, context.FABRIC_FILE, INTENT_SCHEMA_PATH}
    files = {name: set(platforms.reader(name).CANONICAL_FILES) for name in platforms.platform_names()}
    assert rest <= set().union(*files.values())
    assert [name for name, of_platform in files.items() if not rest & of_platform] == []


def test_schemas_belong_to_the_names_that_schemastore_is_given() -> None:
    associated = {
        PurePath(each["url"]).name.removesuffix(".schema.json"): [each["fileMatch"]]
        for each in PACKAGE["contributes"]["yamlValidation"]
    }
    assert associated == FILE_MATCH
    copied = re.findall(r"for \(const kind of (\[.*?\])\)", (FOLDER / "copy.mjs").read_text())
    assert [set(json.loads(kinds)) for kinds in copied] == [set(FILE_MATCH)]


def test_packages_have_hashes_and_no_server() -> None:
    packages = json.loads((FOLDER / "package-lock.json").read_text())["packages"]
    assert [name for name, each in packages.items() if name and "integrity" not in each] == []
    assert [name for name, each in packages.items() if "resolved" in each] == []


def test_what_is_made_is_not_committed() -> None:
    made = ["node_modules/vscode-languageclient/package.json", "dist/extension.js", "nodrop-0.1.0.vsix", "LICENSE"]
    for name in made:
        done = subprocess.run(["git", "check-ignore", "-q", f"editors/vscode/{name}"], cwd=ROOT, check=False)
        assert done.returncode == 0, name
