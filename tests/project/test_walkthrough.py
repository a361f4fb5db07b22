"""A first hour with switches that somebody else configured, in a real pseudo-terminal: `walkthrough.txt`, read.

The terminal is 100 columns wide and understands colors and links; its escapes stand in the golden file as ␛.
"""

import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

from nodrop.resources import resource_folder
from support.command import SCRIPT, built
from support.places import TESTS
from support.snapshots import without_counts

GOLDEN = TESTS / "project" / "walkthrough.txt"
PROGRESS = re.compile(r"(?:\r␛\[K[\w -]*)*\r␛\[K")
"""What a terminal shows of a command that takes long: how long it takes depends on the machine."""
TERMINAL = {"TERM": "xterm-256color", "PYTHONHASHSEED": "0", "NODROP_TODAY": "2027-01-15"}
NOT_HERE = ("NO_COLOR", "FORCE_COLOR", "CI", "COLUMNS", "GITHUB_ACTIONS", "FORCE_HYPERLINK", "NO_HYPERLINK")


@dataclass(frozen=True)
class Terminal:
    """A pseudo-terminal in a folder; what is typed and what is printed stand in `said`."""

    here: Path
    said: list[str]

    def type(self, *args: str, code: int, today: str = "2027-01-15") -> str:
        """Run a command to its end, which must be with this exit code, and return what it printed."""
        main, end = pty.openpty()
        ioctl(end, TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in NOT_HERE}
        environment |= TERMINAL | {"NODROP_TODAY": today, "XDG_CACHE_HOME": str(self.here.parent / "cache")}
        environment |= {"XDG_STATE_HOME": str(self.here.parent / "state")}
        command = [sys.executable, "-c", SCRIPT, *args]
        running = subprocess.Popen(command, stdin=end, stdout=end, stderr=end, cwd=self.here, env=environment)
        os.close(end)
        printed = b"".join(_read(main)).decode().replace("\r\n", "\n")
        os.close(main)
        self.said.append(f"$ nodrop {' '.join(map(_quoted, args))}\n{printed}{_exit(running.wait())}")
        assert running.returncode == code, printed
        return printed

    def note(self, text: str) -> None:
        """Say what happens beside the commands."""
        self.said.append(f"# {text}\n")


def _read(main: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(main, 65_536)
        except OSError:  # the other end is closed
            return
        if not data:
            return
        yield data


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./=:@,+-]+", word) else f"'{word}'"


def _exit(code: int) -> str:
    return f"[exit {code}]\n" if code else ""


def edit(path: Path, table: str, key: str, value: object) -> None:
    """Change a row of a configuration as somebody in an editor would; None takes it away."""
    config = json.loads(path.read_text())
    if value is None:
        del config[table][key]
    else:
        config[table][key] = value
    path.write_text(json.dumps(config, indent=4) + "\n")


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in a repository with backups of four switches, of which two have faults."""
    here = tmp_path / "site"
    (here / ".git").mkdir(parents=True)
    (here / "backups").mkdir()
    built(resource_folder("intents") / "two-by-two.yaml", tmp_path / "build")
    for name in ("leaf1", "leaf2", "spine1", "spine2"):
        shutil.copy(tmp_path / "build" / name / "config_db.json", here / "backups" / f"{name}.json")
    for port in ("Ethernet0", "Ethernet8"):
        edit(here / "backups" / "leaf1.json", "PFC_WD", port, None)
    edit(here / "backups" / "leaf2.json", "WRED_PROFILE", "AZURE_LOSSLESS", MARKS_NOTHING)
    return Terminal(here, [])


MARKS_NOTHING = {
    "ecn": "ecn_none",
    "green_drop_probability": "100",
    "green_max_threshold": "1500000",
    "green_min_threshold": "150000",
    "wred_green_enable": "true",
}
SUPPRESSION = """\
suppress:
  - rule: fabric-pfc-without-watchdog
    at: spine2/Ethernet0
    reason: the port is measured with a traffic generator, ticket NET-1412
    until: 2027-01-31
"""


@pytest.mark.slow
def test_the_first_hour(terminal: Terminal, update_golden: bool) -> None:
    backups = terminal.here / "backups"
    terminal.note("backups/ holds what four switches run")
    assert "pfc-without-watchdog" in terminal.type("lint", "backups", code=1)
    at = ("--at", "leaf1/Ethernet0", "backups")
    assert "backups/leaf1.json" in terminal.type("explain", "pfc-without-watchdog", *at, code=0)
    before = {path.name: path.read_bytes() for path in backups.iterdir()}
    terminal.type("fix", "backups", "--diff", code=1)
    assert {path.name: path.read_bytes() for path in backups.iterdir()} == before
    terminal.type("fix", "backups", code=1)
    changed = [name for name, raw in before.items() if (backups / name).read_bytes() != raw]
    assert changed == ["leaf1.json"]
    terminal.note("what is left is known and planned for; from here on only what is new counts")
    terminal.type("baseline", "backups", code=0)
    terminal.note("nodrop.yaml: baseline: nodrop.baseline.yaml")
    config = terminal.here / "nodrop.yaml"
    config.write_text("baseline: nodrop.baseline.yaml\n")
    assert "in the baseline" in terminal.type("lint", "backups", code=0)
    terminal.note("somebody stops the watchdog of a port of spine2")
    edit(backups / "spine2.json", "PFC_WD", "Ethernet0", None)
    assert "spine2.json" in terminal.type("lint", "backups", code=1)
    terminal.note("nodrop.yaml says why, and until when:")
    config.write_text(config.read_text() + SUPPRESSION)
    terminal.said.append(config.read_text())
    assert "1 suppressed" in terminal.type("lint", "backups", code=0)
    terminal.note("a month later")
    late = terminal.type("lint", "backups", code=1, today="2027-02-01")
    assert "expired-suppression" in late
    assert "fabric-pfc-without-watchdog" in late
    said = "\n".join(terminal.said).replace("\x1b", "␛").replace(str(terminal.here), "/site")
    said = re.sub(r"file://[^/]*", "file://host", said).replace(str(resource_folder("rules").parent), "/nodrop")
    said = PROGRESS.sub("", without_counts(said))
    if update_golden:
        GOLDEN.write_text(said)
    assert GOLDEN.read_text() == said, "make golden"
