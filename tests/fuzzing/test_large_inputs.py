"""No input of 10 MB takes more than 10 s of an idle processor, or 1 GB of memory, and each ends in words."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import SCRIPT
from support.fuzzing.large import BYTES, LIMITS, NAMES, shapes
from support.fuzzing.trial import write
from support.processor_time import slowness

SECONDS, MEMORY = 10.0, 1 << 30
_AT_LIMIT = [(name, limit * 99 // 100) for name, limit in LIMITS.items()]
"""Formats of which nodrop reads less than 10 MB, with a little less than it reads."""


def ended(words: tuple[str, ...], folder: Path) -> tuple[int, float, int, str]:
    """Run a command in a process of its own; return its code, its seconds, its peak memory and its errors."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(5 * SECONDS), int(5 * SECONDS)))
        resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))

    said = folder.with_suffix(".err")
    with said.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, "NODROP_NO_CACHE": "1"},
            preexec_fn=limited,
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, said.read_text()[-2000:]


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "size"), [*((name, BYTES) for name in NAMES), *_AT_LIMIT])
def test_a_large_input_is_answered_in_time(name: str, size: int, tmp_path: Path) -> None:
    wrong = []
    for number, (shape, files, words) in enumerate(shapes(name, size)):
        folder = tmp_path / str(number)
        write(files, folder)
        code, seconds, peak, errors = ended(words, folder)
        for path in files:
            (folder / path).unlink()
        if seconds > SECONDS:
            seconds /= slowness()
        if code not in (0, 1, 2, 3) or seconds > SECONDS or peak > MEMORY or "Traceback" in errors:
            wrong.append(f"{shape}: exit {code}, {seconds:.1f} s, {peak >> 20} MiB {errors[-300:]}")
    assert wrong == []
