"""The line that says how far a long command is: on a terminal, not before it is missed, and gone in the end."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from command import SCRIPT, built
from nodrop.resources import home

PATIENCE = "import nodrop.cli.output as output; output._PATIENCE_S = {seconds}; output._PAUSE_S = 0.0; "


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("progress") / "build"
    built(home("intents") / "two-by-two.yaml", out)
    return out


def on_a_terminal(*args: str, seconds: float, term: str = "xterm") -> tuple[bytes, bytes]:
    """What a command prints, and what a terminal on its standard error gets."""
    main, end = pty.openpty()
    command = [sys.executable, "-c", PATIENCE.format(seconds=seconds) + SCRIPT, *args]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=end, env={**os.environ, "TERM": term}, check=True)
    os.close(end)
    said = b""
    try:
        while data := os.read(main, 65_536):
            said += data
    except OSError:  # the other end is closed
        pass
    os.close(main)
    return done.stdout, said


def test_it_says_how_far_it_is_and_goes(build: Path) -> None:
    out, said = on_a_terminal("lint", str(build), "--no-cache", seconds=0)
    assert b"\r\x1b[Kreading: 4 of 4 devices" in said
    assert b"\r\x1b[Kpfc-without-watchdog" in said, "then the rules"
    assert said.endswith(b"\r\x1b[K"), "it is gone in the end"
    assert out.startswith(b"no findings"), "what is printed is what is printed without it"


@pytest.mark.parametrize(
    ("args", "seconds", "term"), [((), 60, "xterm"), (("-q",), 0, "xterm"), ((), 0, "dumb")], ids=["soon", "-q", "dumb"]
)
def test_it_is_not_there(build: Path, args: tuple[str, ...], seconds: float, term: str) -> None:
    assert on_a_terminal("lint", str(build), *args, seconds=seconds, term=term)[1] == b""
