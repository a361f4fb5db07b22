"""The tree of a twin from within: code that has taken over one of its processes gets nothing of the host."""

import ctypes
import os
import socket
import uuid
from pathlib import Path

import pytest

import twin_probes
from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import box
from twins import needed


@pytest.fixture(autouse=True)
def _can() -> None:
    needed()


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file of the host that nobody may see from a twin."""
    file = tmp_path / "canary"
    file.write_text("precious")
    return file


def test_nothing_of_the_host_is_in_reach(canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_JOB_TOKEN", "secret")
    libc, name, key = ctypes.CDLL(None), f"twin-{uuid.uuid4().hex}", os.getpid() << 8 | 1
    memory = libc.shmget(key, 4096, 0o1666)
    state = canary.stat()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name}")
        listening.listen()
        try:
            got = box.call(twin_probes.probes, str(canary), os.getpid(), name, key)
        finally:
            libc.shmctl(memory, 0, None)
    assert {probe: what for probe, what in got.items() if what} == {}
    assert len(got) > 35
    assert canary.read_text() == "precious"
    assert canary.stat() == state
    assert [path.name for path in canary.parent.iterdir()] == ["canary"]


def test_programs_in_it_reach_no_more(canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_JOB_TOKEN", "secret")
    got = box.call(twin_probes.as_programs, str(canary))
    assert {probe: what for probe, what in got.items() if what} == {}
    assert canary.read_text() == "precious"


def test_processes_and_memory_are_limited() -> None:
    assert box.call(twin_probes.forks, 3 * box.PROCESSES) <= box.PROCESSES
    assert box.call(twin_probes.memory, 2 * box.MEMORY_BYTES) is False
    assert box.call(twin_probes.memory, 1 << 30) is True


def test_files_are_limited() -> None:
    had = box.call(twin_probes.disk, 4 << 30)
    assert 0 < had <= box.FILES_BYTES


def test_an_answer_is_data_and_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ServiceUnavailable, match="answer"):
        box.call(twin_probes.forged)
    assert list(tmp_path.iterdir()) == []
