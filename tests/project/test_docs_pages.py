"""Pages of docs/: their links, and tables that say what the program does."""

import re
import runpy
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from docs_site import command_reference, key_reference, pages
from nodrop import load
from nodrop.cli import main as cli
from nodrop.hardware import switches
from nodrop.intent.schema import Intent
from nodrop.platforms import platform_names, platforms_default_first, unsupported_paths
from nodrop.schemas import USER_FILE_KINDS, json_schema
from nodrop.syntax.yaml import parse_yaml
from support.command import nodrop
from support.documented_commands import blocks
from support.places import ROOT

DOCS = ROOT / "docs"
WRITTEN_PAGES = [path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "rules"]


def page(name: str) -> str:
    return (DOCS / name).read_text()


@pytest.mark.parametrize("path", WRITTEN_PAGES, ids=lambda path: path.name)
def test_links_lead_to_files_of_the_repository_and_names_of_references_to_generated_pages(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^()\s]+)\)", text):
        file, _, _ = link.partition("#")
        target = (path.parent / file).resolve() if file and ":" not in file else None
        assert target is None or target.exists(), link
    assert {*re.findall(r"`(reference/[\w-]+\.md)`", text)} <= {*pages.GENERATED}


@pytest.mark.parametrize("path", WRITTEN_PAGES, ids=lambda path: path.name)
def test_lists_are_lists_for_the_site_too(path: Path) -> None:
    """Markdown of the site takes a list only after an empty line, and what belongs to an entry only by 4 spaces."""
    text = re.sub(r"^ *```.*?^ *```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    lines = text.split("\n")
    for before, line in pairwise(lines):
        if re.match(r"(\*|-|1\.) ", line):
            assert not before.strip() or re.match(r"(\*|-|\d+\.) | {2,}", before), f"{path.name}: {line}"


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    there = {str(path.relative_to(DOCS)) for path in WRITTEN_PAGES} | {*pages.TOP_FILES.values(), *pages.GENERATED}
    assert named - {"rules/README.md"} == there


def test_the_keys_of_an_intent_are_those_of_the_schema() -> None:
    part = page("intents.md").partition("## The parts of an intent")[2]
    assert re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) == list(Intent.model_fields)


def test_the_intents_to_start_from_are_those_that_are_shipped() -> None:
    rows = re.findall(
        r"^\| \[`([\w-]+)`\]\(\.\./intents/([\w-]+)\.yaml\) \| `([\w-]+)` \|", page("intents.md"), re.MULTILINE
    )
    modes = {path.stem: str(load(path).mode) for path in (ROOT / "intents").glob("*.yaml")}
    assert {name: mode for name, _, mode in rows} == modes
    assert [name for name, _, _ in rows] == [file for _, file, _ in rows]


def test_exit_codes_are_those_of_the_program() -> None:
    codes = re.findall(r"^\| (\d+) \|", page("output.md"), re.MULTILINE)
    assert list(map(int, codes)) == [0, cli.FOUND, cli.WRONG, cli.NOTHING, cli.FAILED]


def test_the_site_settings_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stated = "".join(block.text for block in blocks(page("configuration.md")) if block.language == "yaml")
    Path("nodrop.yaml").write_text(stated)
    (tmp_path / "leaf7.json").write_bytes((ROOT / "examples/stock-switch/config_db.json").read_bytes())
    done = nodrop("lint", "leaf7.json")
    assert (done.code, done.err) == (1, "")


def test_the_editor_gets_a_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    intent, *others = blocks(page("first-fabric.md"))
    Path("lab.yaml").write_text(intent.text)
    shell = next(block.text for block in others if "yaml-language-server" in block.text)
    Path("nodrop.schema.json").write_text(nodrop("schema", "intent").out)
    subprocess.run(["sh", "-euc", shell.splitlines()[1]], check=True)
    text = Path("lab.yaml").read_text()
    assert text == f"# yaml-language-server: $schema=nodrop.schema.json\n{intent.text}"
    assert nodrop("show", "lab.yaml").code == 0


@pytest.mark.parametrize("kind", sorted({*USER_FILE_KINDS} - {"rule"}))
def test_examples_and_defaults_of_keys_are_values_that_the_schema_takes(kind: str) -> None:
    """An example that is no value of its key would be refused by the editor of whoever copies it."""
    root = json_schema(kind)
    shown = {key.path: key for section in key_reference.sections(kind) for key in section.keys}
    assert {path[0] for path in shown} == {*root["properties"]}
    for path, key in shown.items():
        if key.example and key.value != "mapping" and path[-1] != "kind":
            spec = _spec(root, path)
            example = parse_yaml(f"v: {key.example}".encode(), "example").data["v"]
            Draft202012Validator({**spec, "$defs": root.get("$defs", {})}).validate(_typed(example))


@pytest.mark.parametrize("kind", sorted({*USER_FILE_KINDS} - {"rule"}))
def test_every_key_has_a_meaning(kind: str) -> None:
    keys = [key for section in key_reference.sections(kind) for key in section.keys if key.path[-1] != "kind"]
    assert [".".join(key.path) for key in keys if not key.meaning] == []


def test_topologies_of_every_kind_are_in_the_reference() -> None:
    root = json_schema("intent")
    kinds = {root["$defs"][each["$ref"].rpartition("/")[2]]["properties"]["kind"]["const"] for each in
             root["properties"]["topology"]["oneOf"]}  # fmt: skip
    headings = set(re.findall(r"^## `([^`]+)`(?:, `kind: ([\w-]+)`)?$", key_reference.render("intent"), re.MULTILINE))
    assert {kind for path, kind in headings if path == "topology"} == kinds
    assert {("topology.groups.NAME", "tiers"), ("topology.leaves", "leaf-spine"), ("hosts", "")} <= headings


def _typed(value: object) -> object:
    if isinstance(value, list):
        return [_typed(one) for one in value]
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else value


def _spec(root: dict, path: tuple[str, ...]) -> dict:
    node = root
    for name in path:
        node = _property(root, node, name)
    return node


def _property(root: dict, node: dict, name: str) -> dict:
    for option in _options(root, node):
        named = [*option.get("patternProperties", {}).values(), option.get("additionalProperties")]
        inside = named if name == key_reference.NAME else [option.get("items")] if name == key_reference.ENTRY else []
        for one in inside:
            if isinstance(one, dict):
                return one
        if name in option.get("properties", {}):
            return option["properties"][name]
    raise KeyError(name)


def _options(root: dict, node: dict) -> list[dict]:
    if "$ref" in node:
        node = root["$defs"][node["$ref"].rpartition("/")[2]]
    return [found for one in node.get("anyOf", node.get("oneOf", ())) for found in _options(root, one)] or [node]


def test_every_command_and_option_is_in_the_reference() -> None:
    text = command_reference.render_commands()
    sections = dict(re.findall(r"^## (nodrop [\w -]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert {name.split()[1] for name in sections} == {*cli.nodrop.list_commands(None)}
    help_page = nodrop("lint", "--help").out
    assert set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", help_page, re.MULTILINE)) <= set(
        re.findall(r"--[a-z-]+", sections["nodrop lint"])
    )
    assert (
        "| <code>--fail-on [error&#124;warning&#124;note&#124;unknown&#124;never]</code> |" in sections["nodrop lint"]
    )
    assert re.search(r"^\| <code>--fail-on [^<]*</code> \| .* \| warning \|$", sections["nodrop lint"], re.MULTILINE)


def test_platforms_and_hardware_are_those_of_the_data() -> None:
    generated = pages.generated_pages()
    platforms = generated["reference/platforms.md"]
    assert set(re.findall(r"^## (\w+)$", platforms, re.MULTILINE)) == {*platform_names()}
    for platform in platforms_default_first():
        for path in unsupported_paths(platform):
            assert f"| `{path}` |" in platforms
    boxes = re.findall(r"^\| ([^|]+) \|", generated["reference/hardware.md"].partition("## NICs")[0], re.MULTILINE)
    assert {*switches()} <= {*boxes}


def test_links_of_the_top_folder_lead_to_pages_of_the_site_and_others_become_text() -> None:
    text = (
        "[a](docs/faq.md#x) ![p](docs/pictures/lint-stock-switch.svg) [l](LICENSE) [c](CHANGELOG.md) [u](https://x.y)"
    )
    assert pages.site_links(text, "README.md", ROOT) == (
        "[a](faq.md#x) ![p](pictures/lint-stock-switch.svg) l [c](release-notes.md) [u](https://x.y)"
    )
    assert pages.site_links("[r](../../rules/pfc)", "docs/rules/a.md", ROOT) == "r"
    assert (
        pages.site_links("[g](../gone.md) [h](../faq.md)", "docs/rules/a.md", ROOT) == "[g](../gone.md) [h](../faq.md)"
    )


def test_generated_pages_are_plain() -> None:
    words = runpy.run_path(str(ROOT / "scripts/check_words.py"), run_name="check_words")
    _, avoided = words["phrases"]()
    for name, text in pages.generated_pages().items():
        assert list(words["found"](name, text, {*range(1, len(text.splitlines()) + 1)}, avoided)) == []


def test_names_of_generated_pages_become_links() -> None:
    assert pages.site_links("`reference/json.md` `x.md`", "docs/concepts/a.md", ROOT) == (
        "[JSON outputs](../reference/json.md) `x.md`"
    )


def test_the_workflow_publishes_what_make_docs_builds() -> None:
    workflow = (ROOT / ".github/workflows/docs.yml").read_text()
    (site,) = re.findall(r"^site_dir: (\w+)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert "run: make docs\n" in workflow
    assert f"git --work-tree {site} add" in workflow
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", used) for used in re.findall(r"uses: (\S+)", workflow))
