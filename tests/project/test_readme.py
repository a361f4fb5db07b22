"""README.md is run as it stands: its files are written, its commands run in order, their output compared."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodrop import load
from nodrop.cli import main as cli
from nodrop.intent.schema import Intent
from nodrop.platforms.nvue import delivery as nvue
from nodrop.platforms.sonic.delivery import apply_script
from support.command import nodrop
from support.documented_commands import Block, commands, pattern, run
from support.places import ROOT

README = ROOT / "README.md"


def blocks() -> Iterator[Block]:
    text = README.read_text()
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        before = text[: found.start()].strip().rpartition("\n\n")[2]
        yield Block(found[1], found[2], before, text[: found.start()].count("\n") + 1)


def file_of(block: Block) -> str:
    """The file that a block of YAML is, named last in the paragraph before it."""
    return re.findall(r"`([\w-]+\.yaml)`", block.before)[-1]


def test_all_of_it_works_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "intents/refused/reference-256-literal.yaml", tmp_path)
    ran = 0
    for block in blocks():
        if block.language == "yaml":
            Path(file_of(block)).write_text(block.text)
        elif block.language == "console":
            for command, output in commands(block):
                printed = run(command)
                ran += 1
                assert re.fullmatch(pattern(output), printed), f"README.md:{block.line}: {command}\n{printed}"
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed_by_python:
                exec(block.text, {})
            lines = printed_by_python.getvalue().splitlines()
            assert lines[0].startswith("warning class-changes-along-path leaf1 rdma (DSCP 26) lands")
            assert lines[1].startswith("error rdma-dscp-in-lossy-class leaf1 DSCP 26 of RDMA lands")
    assert ran >= 15
    stated = nodrop("lint", "leaf7.json")
    assert stated.code == 1
    assert "assumed" not in stated.out, "the fabric.yaml is found"


def test_the_editor_is_told_of_a_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    intent = next(block for block in blocks() if block.language == "yaml")
    Path(file_of(intent)).write_text(intent.text)
    shell = next(block.text for block in blocks() if "yaml-language-server" in block.text)
    Path("nodrop.schema.json").write_text(nodrop("schema", "intent").out)
    subprocess.run(["sh", "-euc", shell.splitlines()[1]], check=True)
    text = Path("lab.yaml").read_text()
    assert text == f"# yaml-language-server: $schema=nodrop.schema.json\n{intent.text}"
    assert nodrop("show", "lab.yaml").code == 0


def test_the_keys_of_an_intent_are_those_of_the_schema() -> None:
    part = README.read_text().partition("The keys of an intent:")[2].partition("\n\n`nodrop schema")[0]
    assert re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) == list(Intent.model_fields)


def test_the_intents_to_start_from_are_those_that_are_shipped() -> None:
    rows = re.findall(
        r"^\| \[`([\w-]+)`\]\(intents/([\w-]+)\.yaml\) \| `([\w-]+)` \|", README.read_text(), re.MULTILINE
    )
    modes = {path.stem: str(load(path).mode) for path in (ROOT / "intents").glob("*.yaml")}
    assert {name: mode for name, _, mode in rows} == modes
    assert [name for name, _, _ in rows] == [file for _, file, _ in rows]


def test_targets_options_rules_and_links_exist() -> None:
    text = README.read_text()
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"\bmake ([a-z-]+)", text)) - {"it"}
    assert {"setup", "test", "check", "demo", "bench", "golden", "test-slow", "help"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets), targets
    known = "".join(nodrop(name, "--help").out for name in cli.nodrop.list_commands(None))
    known += apply_script("202505") + nvue.apply_script("5.16", "SN5600")
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--version", "--help"}:
        assert option in known, option
    for command in re.findall(r"`nodrop ([a-z][a-z-]*)", text):
        assert nodrop(command, "--help").code == 0, command
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / link).exists(), link
    anchors = {
        re.sub(r"[^a-z -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^## (.+)$", text, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) == anchors


def test_exit_codes_are_those_of_the_program() -> None:
    from nodrop.cli import main

    codes = re.findall(r"^\| (\d+) \|", README.read_text(), re.MULTILINE)
    assert list(map(int, codes)) == [0, main.FOUND, main.WRONG, main.NOTHING, main.FAILED]


@pytest.mark.slow
def test_the_demo_finds_the_fault_of_each_platform(tmp_path: Path) -> None:
    start = "from nodrop.cli.main import main; main()"
    program = tmp_path / "nodrop"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{start}" "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(["sh", ROOT / "scripts/demo.sh", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error[pfc-without-watchdog]: Ethernet0 obeys pause on priority 3" in done.stdout
    assert "warning[fabric-pfc-without-watchdog]: swp1, a link between switches" in done.stdout
