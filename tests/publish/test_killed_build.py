"""A real `nodrop build`, killed at any moment, leaves one whole tree: the old one or the new one, never a mixture."""

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nodrop.publish import open_draft
from nodrop.resources import resource_folder
from support.command import SCRIPT, built, nodrop

KILLS = 20
INTENTS = ("reference-256", "two-by-two")


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for intent in INTENTS:
        shutil.copy(resource_folder("intents") / f"{intent}.yaml", tmp_path)


def tree(top: str) -> dict[str, bytes | None]:
    """Everything below a folder: bytes of files, None for folders."""
    return {
        path.relative_to(top).as_posix(): path.read_bytes() if path.is_file() else None for path in Path(top).rglob("*")
    }


def killed_build(intent: str, after_report: bool, seconds: float) -> bool:
    """Build into `out` and kill after a time, counted from the start or from when it says what it found."""
    command = [sys.executable, "-u", "-c", SCRIPT, "build", f"{intent}.yaml", "-o", "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        if after_report:
            running.stdout.readline()
        time.sleep(seconds)
        running.kill()
    return running.returncode < 0


@pytest.mark.slow
def test_a_build_that_is_killed_leaves_a_whole_tree() -> None:
    whole = {}
    for intent in INTENTS:
        built(f"{intent}.yaml", f"whole-{intent}")
        whole[intent] = tree(f"whole-{intent}")
    started = time.monotonic()
    built(f"{INTENTS[0]}.yaml", "out")
    took = time.monotonic() - started

    moments = random.Random(20)
    killed = 0
    left: set[str] = set()
    for number in range(KILLS):
        after_report = number % 4 != 0  # it is then that the disk is written to, for some milliseconds only
        seconds = moments.uniform(0, 0.03 if after_report else took)
        intent = INTENTS[(number + 1) % 2]
        killed += killed_build(intent, after_report, seconds)
        left |= {path.name for path in Path().iterdir() if path.name.startswith(".")}
        if number % 2:
            with open_draft(Path("out"), lambda _: True, display="out"):
                pass
        else:
            assert nodrop("lint", "out").code == 0, "a reader too finds a whole tree"
        assert tree("out") in whole.values(), (number, intent, seconds)
        built(f"{intent}.yaml", "out")
        assert tree("out") == whole[intent], (number, intent, seconds)
        assert {path.name for path in Path().iterdir() if path.name.startswith(".")} == set()
    assert killed >= KILLS // 4, "those killed before they can be done, at the least"
    assert left <= {".out.nodrop-new", ".out.nodrop-old", ".out.nodrop-lock"}
