"""Runs of `nodrop twin` that are interrupted at random moments, and what they leave behind; `python … 20` runs so many.

What belongs to a run is known by a mark in its environment, which all its processes inherit: others may run twins too.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Final

from nodrop.resources import resource_folder
from support.command import SCRIPT
from support.patience import END_S

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_FOLDERS: Final = ("/run", "/run/netns", "/var/tmp", "/sys/class/net")
_MARK: Final = "NODROP_TWIN_MARK"


def processes(mark: str) -> dict[int, str]:
    """The processes that have a mark, by number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{_MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "comm").read_text().strip()
        except OSError:
            continue
    return found


def spaces(numbers: dict[int, str]) -> set[str]:
    """The namespaces that processes are in, and this one is not."""
    found = set()
    for number in numbers:
        for kind in ("net", "mnt", "pid", "user"):
            try:
                there = Path(f"/proc/{number}/ns/{kind}").readlink()
            except OSError:
                continue
            if there != Path(f"/proc/self/ns/{kind}").readlink():
                found.add(str(there))
    return found


def existing() -> set[str]:
    """All namespaces that any process is in."""
    return spaces({int(folder.name): "" for folder in Path("/proc").glob("[0-9]*")})


def outside() -> set[str]:
    """The files and interfaces that there are where a twin could leave some."""
    return {str(path) for folder in _FOLDERS if Path(folder).is_dir() for path in Path(folder).iterdir()}


def interrupted(
    intent: str, after_s: float, by: signal.Signals, folder: Path, least: int = 0
) -> tuple[int, dict[str, object]]:
    """Run a twin in an empty folder and interrupt it, so long after it has that many processes.

    Return how many it had then, and what is left of it.
    """
    mark, before = uuid.uuid4().hex, outside()
    command = [
        sys.executable,
        "-u",
        "-c",
        SCRIPT,
        "twin",
        "--no-cache",
        str(resource_folder("intents") / f"{intent}.yaml"),
    ]
    env = {**os.environ, _MARK: mark, "TMPDIR": str(folder)}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as running:
        while running.poll() is None and len(processes(mark)) < least:
            time.sleep(0.05)
        time.sleep(after_s)
        had = processes(mark)
        own = spaces(had)
        running.send_signal(by)
        running.wait()
    end = time.monotonic() + END_S
    while (left := _left(mark, own, folder, before)) and time.monotonic() < end:
        time.sleep(0.1)
    return len(had), left


def _left(mark: str, own: set[str], folder: Path, before: set[str]) -> dict[str, object]:
    """What is left of a run: processes, namespaces, files and interfaces."""
    found = {
        "processes": processes(mark),
        "namespaces": own & existing(),
        "files": sorted(str(path) for path in folder.rglob("*")),
        "outside": sorted(outside() - before),
    }
    return {name: what for name, what in found.items() if what}


def main(runs: int, intent: str, longest_s: float, seed: str) -> None:
    """Interrupt some runs and print what became of each; exit 1 where anything is left."""
    chance, bad = random.Random(seed), 0
    for number in range(1, runs + 1):
        after_s, by = chance.uniform(0, longest_s), SIGNALS[number % len(SIGNALS)]
        with tempfile.TemporaryDirectory() as folder:
            had, left = interrupted(intent, after_s, by, Path(folder))
        bad += bool(left)
        state = f"{had} processes" if had else "it had ended"
        print(f"run {number}: {by.name} after {after_s:.1f} s, {state}; left: {left or 'nothing'}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "reference-256", 45, "interrupted")
