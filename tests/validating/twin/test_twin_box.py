"""The tree of processes in which a twin runs: what it returns and raises, and that nothing is left of it."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import box
from support.patience import within
from support.twin_functions import double, litter, look, unavailable, wrong
from support.twin_runs import needed


@pytest.fixture(autouse=True)
def _can() -> None:
    needed()


def test_what_a_function_tells_and_returns_comes_back() -> None:
    told: list[str] = []
    assert box.call_in_sandbox(double, 21, progress=told.append) == 42
    assert told == ["working", "still"]


def test_what_a_function_raises_is_raised() -> None:
    with pytest.raises(ServiceUnavailable, match="no daemon"):
        box.call_in_sandbox(unavailable)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        box.call_in_sandbox(wrong)


def test_it_sees_its_own_processes_network_and_files_alone() -> None:
    processes, interfaces, files, who = box.call_in_sandbox(look)
    assert processes[0] == 1
    assert len(processes) < 5
    assert interfaces == ["lo"]
    assert {"nodrop", "netns"} <= set(files) <= {"mount", "nodrop", "netns"}
    assert who == 0


def test_its_files_are_gone_with_it() -> None:
    box.call_in_sandbox(litter)
    assert [folder for folder in ("/run/nodrop", "/var/tmp/nodrop-litter") if Path(folder).exists()] == []


def test_it_ends_with_whoever_asked_for_it_however_that_ends() -> None:
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        mark = f"nodrop-twin-test-{os.getpid()}"  # other runs of the tests have sleepers too
        asking = subprocess.Popen(
            [sys.executable, "-c", _SLEEPING, mark],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with asking:
            try:
                assert asking.stdout is not None
                assert asking.stdout.readline() == "asleep\n"
                assert within(partial(sleep_there, mark, 2))
                asking.send_signal(number)
                asking.wait(20)
            finally:
                asking.kill()
        assert within(partial(sleep_there, mark, 0)), number


_SLEEPING = textwrap.dedent(
    """
    import signal, sys
    from nodrop.validating.twin import box
    from support import twin_functions
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    box.call_in_sandbox(twin_functions.sleep, sys.argv[1], progress=lambda line: print(line, flush=True))
    """
)


def sleepers(mark: str) -> Iterator[int]:
    """The processes that `sleep` started."""
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                words = (path / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words and b"sleep 600" in words:
                yield int(path.name)


def sleep_there(mark: str, number: int) -> bool:
    return len(list(sleepers(mark))) == number
