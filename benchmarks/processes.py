"""A command of nodrop as a process of its own: what it prints, and what it and all that it starts take.

CPU is that of the whole tree of processes; memory is theirs together, what they share counted once.
"""

import ctypes
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_COMMAND = [sys.executable, "-c", "from nodrop.cli.main import main; main()"]
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_BETWEEN_LOOKS_S = 0.1
_LOOKING_SHARE = 0.05
"""How much of the time looks may take: one at 10 GB takes 0.1 s, and the process waits for it at its page tables."""


@dataclass(frozen=True)
class Run:
    """How a command ended, what it said, and what it took: seconds, CPU and that of the system, MiB at most."""

    code: int
    out: str
    err: str
    figures: Mapping[str, float]


def run(folder: Path, *arguments: str) -> Run:
    """Run nodrop in a folder."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    running = subprocess.Popen(
        [*_COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    memory = Memory(running.pid)
    out, err = running.communicate()
    seconds = time.perf_counter() - begun
    memory.end()
    wait_for_all()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {
        "seconds": seconds,
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "system_s": after.ru_stime - before.ru_stime,
        "peak_mib": memory.peak_kib / 1024,
    }
    return Run(running.returncode, out.decode(), err.decode(), figures)


def wait_for_all() -> None:
    """Wait for what the command has left behind, which is ours to wait for, so that its CPU is counted too."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return


class Memory:
    """Looks at the memory of all processes of a session, what they share counted once, and keeps the largest sum."""

    def __init__(self, session: int) -> None:
        self._session, self._ended, self.peak_kib = session, threading.Event(), 0
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        pause_s = _BETWEEN_LOOKS_S
        while not self._ended.wait(pause_s):
            begun = time.perf_counter()
            self.peak_kib = max(
                self.peak_kib, sum(self._proportional_kib(path) for path in Path("/proc").glob("[0-9]*"))
            )
            pause_s = max(_BETWEEN_LOOKS_S, (time.perf_counter() - begun) / _LOOKING_SHARE)

    def _proportional_kib(self, process: Path) -> int:
        try:
            if os.getsid(int(process.name)) != self._session:
                return 0
            lines = (process / "smaps_rollup").read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
