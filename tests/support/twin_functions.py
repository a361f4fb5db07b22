"""Functions that run inside the process tree of a twin, found there by name."""

import os
import subprocess
import time
from pathlib import Path

from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import box


def double(tell: box.ReportProgress, number: int) -> int:
    tell("working")
    tell("still")
    print("what programs print is no answer")
    return 2 * number


def unavailable(_tell: box.ReportProgress) -> None:
    raise ServiceUnavailable("no daemon")


def wrong(_tell: box.ReportProgress) -> float:
    return 1 / 0


def look(_tell: box.ReportProgress) -> tuple[list[int], list[str], list[str], int]:
    processes = sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    interfaces = sorted(line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:])
    return processes, interfaces, sorted(path.name for path in Path("/run").iterdir()), os.geteuid()


def litter(_tell: box.ReportProgress) -> None:
    Path("/var/tmp/nodrop-litter").touch()
    Path("/run/nodrop/litter").touch()


def sleep(tell: box.ReportProgress, mark: str) -> None:
    """Start what outlives its parent, and then do nothing."""
    for _ in range(2):
        subprocess.Popen(["sh", "-c", f"sleep 600; : {mark}"], start_new_session=True)
    tell("asleep")
    time.sleep(600)
