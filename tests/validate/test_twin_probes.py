"""The tree of a twin from within: code that has taken over one of its processes gets nothing of the host."""

from pathlib import Path

import pytest

import twin_probes
from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import box
from nodrop.validating.twin.inside import MEMORY_BYTES
from nodrop.validating.twin.own_root import FILES_BYTES
from twin_user import USERS, as_user, prepare
from twins import needed


@pytest.fixture(autouse=True)
def _can() -> None:
    needed()


@pytest.mark.parametrize("user", USERS)
def test_nothing_of_the_host_is_in_reach(tmp_path: Path, user: str) -> None:
    canary = tmp_path / "canary"
    canary.write_text("precious")
    prepare(tmp_path, user)
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    got = as_user(user, tmp_path, "twin_probes:run")
    assert got.value is not None, got.errors
    assert {probe: what for probe, what in got.value.items() if what} == {}
    assert len(got.value) > 50
    assert canary.read_text() == "precious"
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.slow
def test_processes_and_memory_are_limited() -> None:
    assert 0 < box.call(twin_probes.forks, 300, processes=100) < 100
    assert box.call(twin_probes.memory, 2 * MEMORY_BYTES) is False
    assert box.call(twin_probes.memory, 1 << 30) is True


@pytest.mark.slow
def test_files_are_limited() -> None:
    had = box.call(twin_probes.disk, 4 << 30)
    assert 0 < had <= FILES_BYTES


def test_an_answer_is_data_and_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ServiceUnavailable, match="answer"):
        box.call(twin_probes.forged)
    assert list(tmp_path.iterdir()) == []
