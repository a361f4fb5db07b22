"""README.md: short, and what it names exists; its consoles run in test_docs_consoles.py."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs_site.picture import terminal_svg, without_rule_counts
from nodrop.cli import main as cli
from nodrop.platforms.nvue import delivery as nvue
from nodrop.platforms.nvue.releases import RELEASES as NVUE_RELEASES
from nodrop.platforms.sonic.delivery import apply_script
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE as SONIC_RELEASES
from support.command import nodrop
from support.places import ROOT

TEXT = (ROOT / "README.md").read_text()
PICTURE = ROOT / "docs/pictures/lint-stock-switch.svg"


def test_it_is_one_page() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_the_picture_is_what_lint_prints(update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    done = nodrop("lint", "stock-switch", "--color", "always")
    assert done.code == 1
    text = terminal_svg("nodrop lint stock-switch", without_rule_counts(done.out))
    if update_golden:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(text)
    assert re.search(r": 32 errors, \d+ warnings?, \d+ notes?", text), (
        "the last line is there, without the number of rules"
    )
    assert PICTURE.read_text() == text, "make golden"
    assert f"]({PICTURE.relative_to(ROOT)})" in TEXT


def test_targets_options_commands_and_links_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"\bmake ([a-z-]+)", TEXT))
    assert {"demo", "docs", "help", "test"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets), targets
    known = "".join(nodrop(name, "--help").out for name in cli.nodrop.list_commands(None))
    known += apply_script("202505") + nvue.apply_script("5.16", "SN5600")
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT)) - {"--version", "--help"}:
        assert option in known, option
    for command in re.findall(r"`nodrop ([a-z][a-z-]*)", TEXT):
        assert nodrop(command, "--help").code == 0, command
    for link in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / link).exists(), link


def test_releases_are_those_that_are_built() -> None:
    rows = dict(re.findall(r"^\| ([\w ]+) \| yes \| yes \| (.*) \|$", TEXT, re.MULTILINE))
    assert rows["SONiC"].endswith(f"build: {min(SONIC_RELEASES)} to {max(SONIC_RELEASES)}, master")
    assert rows["Cumulus Linux with NVUE"] == f"{NVUE_RELEASES[0]} to {NVUE_RELEASES[-1]}"


@pytest.mark.slow
def test_the_demo_finds_the_fault_of_each_platform(tmp_path: Path) -> None:
    start = "from nodrop.cli.main import main; main()"
    program = tmp_path / "nodrop"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{start}" "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(["sh", ROOT / "scripts/demo.sh", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error[pfc-without-watchdog]: leaf2: Ethernet0 obeys pause on priority 3" in done.stdout
    assert "warning[fabric-pfc-without-watchdog]: spine1: swp1, a link between switches" in done.stdout
