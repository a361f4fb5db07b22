"""The tree of a twin from within: code that has taken over one of its processes gets nothing of the host."""

import platform
from pathlib import Path

import pytest

from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import answers, box
from nodrop.validating.twin.filtering import ALLOWED_SOCKET_FAMILIES, SYSCALL_NUMBERS
from nodrop.validating.twin.inside import MAX_PROCESS_MEMORY_BYTES
from nodrop.validating.twin.own_root import MAX_WRITTEN_BYTES
from support import twin_probes
from support.twin_runs import needed
from support.twin_user import USERS, as_user, prepare


@pytest.fixture(autouse=True)
def _can() -> None:
    needed()


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS)
def test_nothing_of_the_host_is_in_reach(tmp_path: Path, user: str) -> None:
    canary = tmp_path / "canary"
    canary.write_text("precious")
    prepare(tmp_path, user)
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    got = as_user(user, tmp_path, "support.twin_probes:run")
    assert got.value is not None, got.errors
    assert {probe: what for probe, what in got.value.items() if what} == {}
    assert len(got.value) > 50
    assert canary.read_text() == "precious"
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.slow
def test_processes_and_memory_are_limited() -> None:
    assert 0 < box.call_in_sandbox(twin_probes.forks, 300, processes=100) < 100
    assert box.call_in_sandbox(twin_probes.memory, 2 * MAX_PROCESS_MEMORY_BYTES) is False
    assert box.call_in_sandbox(twin_probes.memory, 1 << 30) is True


@pytest.mark.slow
def test_files_are_limited() -> None:
    had = box.call_in_sandbox(twin_probes.disk, 4 << 30)
    assert 0 < had <= MAX_WRITTEN_BYTES


def test_an_answer_is_data_and_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ServiceUnavailable, match="answer"):
        box.call_in_sandbox(twin_probes.forged)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (1, (1 << 64) - 1),
        (4, 100),
        *(
            pytest.param(*answer, marks=pytest.mark.nightly)
            for answer in ((1, 1 << 62), (4, 3 << 30), (4, 1 << 62), (4, (1 << 64) - 1))
        ),
    ],
)
def test_an_answer_that_lies_about_its_kind_or_size_is_not_read(kind: int, size: int) -> None:
    with pytest.raises(ServiceUnavailable, match="no answer"):
        box.call_in_sandbox(twin_probes.lied, kind, size)


def test_what_a_tree_tells_is_limited() -> None:
    told: list[int] = []
    with pytest.raises(ServiceUnavailable, match="tells more"):
        box.call_in_sandbox(twin_probes.talks, 64, progress=lambda line: told.append(len(line)))
    assert 0 < sum(told) <= answers.MAX_PROGRESS_BYTES
    assert box.call_in_sandbox(twin_probes.talks, 8) == "done"


_filtered = pytest.mark.skipif(
    platform.machine() not in SYSCALL_NUMBERS, reason="there is no filter for this architecture"
)


@_filtered
def test_sockets_are_of_the_families_that_a_twin_needs() -> None:
    assert box.call_in_sandbox(twin_probes.families) == sorted(ALLOWED_SOCKET_FAMILIES)


@_filtered
def test_calls_that_no_daemon_needs_are_refused() -> None:
    numbers = SYSCALL_NUMBERS[platform.machine()].refused
    assert box.call_in_sandbox(twin_probes.refused_calls, [*numbers, 0x40000000 | numbers[0]]) == ["EPERM"] * 14 + [
        "ENOSYS"
    ]
