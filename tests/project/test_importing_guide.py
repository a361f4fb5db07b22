"""docs/importing.md: its commands run in order in a site as it says, and print what stands there."""

import json
import re
import shutil
from pathlib import Path

import pytest

from support.documented_commands import Block, commands, pattern, run
from support.places import ROOT

GUIDE = (ROOT / "docs" / "importing.md").read_text()
BLOCKS = [
    Block(found[1], found[2], "", GUIDE[: found.start()].count("\n") + 1)
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
]
SERVERS = ("192.0.2.10", "192.0.2.11")


@pytest.fixture
def backups(two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site whose files say no model that nodrop knows; leaf2 lost a watchdog and has another time server."""
    monkeypatch.chdir(tmp_path)
    for name in ("leaf1", "leaf2", "spine1", "spine2"):
        shutil.copytree(two_by_two / name, tmp_path / "backups" / name)
        at = tmp_path / "backups" / name / "config_db.json"
        tables = json.loads(at.read_text())
        tables["DEVICE_METADATA"]["localhost"] |= {"hwsku": "Acme-3200", "platform": "x86_64-acme_3200-r0"}
        tables["NTP_SERVER"] = {server: {} for server in (("192.0.2.99",) if name == "leaf2" else SERVERS)}
        tables["BANNER_MESSAGE"] = {"global": {"motd": "hall 2"}}
        if name == "leaf2":
            del tables["PFC_WD"]["Ethernet8"]
        at.write_text(json.dumps(tables, indent=4) + "\n")


@pytest.mark.usefixtures("backups")
def test_all_of_it_works_as_written() -> None:
    ran = []
    for block in BLOCKS:
        for command, output in commands(block):
            printed = run(command)
            assert re.fullmatch(pattern(output), printed), f"importing.md:{block.line}: {command}\n{printed}"
            ran.append(command.split()[1])
    assert {"lint", "baseline", "import", "build", "plan"} <= {*ran}
