"""The line that says how far a long command is: on a terminal, not before it is missed, and gone in the end."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nodrop.resources import resource_folder
from support.command import SCRIPT, built

PATIENCE = "import nodrop.cli.output as output; output._PATIENCE_S = {seconds}; output._PAUSE_S = 0.0; "


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("progress") / "build"
    built(resource_folder("intents") / "two-by-two.yaml", out)
    return out


def on_a_terminal(
    *args: str, seconds: float, term: str = "xterm", code: int = 0, together: bool = False
) -> tuple[bytes, bytes]:
    """What a command prints, and what a terminal on its standard error gets; on one that shows both `together`, all."""
    main, end = pty.openpty()
    command = [sys.executable, "-c", PATIENCE.format(seconds=seconds) + SCRIPT, *args]
    out = end if together else subprocess.PIPE
    done = subprocess.run(command, stdout=out, stderr=end, env={**os.environ, "TERM": term}, check=False)
    assert done.returncode == code
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
    assert b"rules skipped: " in out.partition(b"\n")[0], "what is printed is what is printed without it"
    assert out.partition(b"\n")[2].startswith(b"no findings")


@pytest.mark.parametrize(
    ("args", "seconds", "term"),
    [
        pytest.param((), 60, "xterm", id="soon"),
        pytest.param(("-q",), 0, "xterm", id="-q", marks=pytest.mark.slow),
        pytest.param((), 0, "dumb", id="dumb", marks=pytest.mark.slow),
    ],
)
def test_it_is_not_there(build: Path, args: tuple[str, ...], seconds: float, term: str) -> None:
    assert on_a_terminal("lint", str(build), *args, seconds=seconds, term=term)[1] == b""


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(("check", "build", "--base", "./before"), id="check"),
        pytest.param(("drift", "build", "before/build"), id="drift", marks=pytest.mark.slow),
    ],
)
def test_it_is_gone_before_the_report(
    args: tuple[str, ...], build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("build", "before/build"):
        shutil.copytree(build, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    changed = Path("build/leaf1/config_db.json")
    changed.write_text(changed.read_text().replace('"mtu": "9216"', '"mtu": "9100"', 1))
    _, said = on_a_terminal(*args, "--no-cache", "--color", "never", seconds=0, code=1, together=True)
    assert b"comparing" in said
    assert b"9216" in said.rpartition(b"\r\x1b[K")[2]
