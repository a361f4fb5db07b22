"""Work in processes: the same bytes and words as without, and whatever goes wrong in one arrives whole."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import nodrop as verbs
from nodrop import parallel
from nodrop.engine.rules import shipped_rules
from nodrop.errors import InputProblems, Problem, ServiceUnavailable, UnsupportedByPlatform
from nodrop.model.qos import QosProfile
from nodrop.parallel import count_processors, map_chunks, process_pool_for_devices
from nodrop.resources import resource_folder
from support.command import SCRIPT, Done, nodrop
from support.patience import END_S, within

LARGE = (resource_folder("intents") / "reference-256.yaml").read_text()
LATE_MARKS = ("min: 150kB, max: 1500kB", "min: 48MB, max: 52MB")
UNKNOWN_MODEL = ("model: SN4700", "model: SN9999")
OVER_ALL = sorted(rule.name for rule in shipped_rules() if rule.beside)
PROBLEM = Problem(path="leaf1", line=3, found="this", expected="that")


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with process_pool_for_devices(parallel.MIN_DEVICES_FOR_PROCESSES, jobs=2) as executor:
        assert executor is not None
        yield executor


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def square(number: int) -> int:
    return number * number


def process_of(_: int) -> int:
    time.sleep(0.02)
    return os.getpid()


def folder_of(_: int) -> str:
    return str(Path.cwd())


class Odd(Exception):
    """An exception that cannot be made from what it says."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def fails(kind: str) -> str:
    if kind == "problems":
        raise InputProblems([PROBLEM, PROBLEM])
    if kind == "unsupported":
        raise UnsupportedByPlatform("leaf1/qos", "no such queue")
    if kind == "odd":
        raise Odd(1, 2)
    if kind == "crash":
        raise ZeroDivisionError("in the works")
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return kind


class TestMapChunks:
    @pytest.mark.parametrize("chunk", [1, 3, 50])
    def test_results_come_in_the_order_of_the_items(self, pool: Executor, chunk: int) -> None:
        assert list(map_chunks(square, range(20), executor=pool, chunk=chunk)) == [n * n for n in range(20)]
        assert list(map_chunks(square, [], executor=pool, chunk=chunk)) == []

    def test_other_processes_do_the_work(self, pool: Executor) -> None:
        workers = set(map_chunks(process_of, range(20), executor=pool, chunk=1))
        assert len(workers) == 2
        assert os.getpid() not in workers

    def test_without_an_executor_this_process_does_it_one_by_one(self) -> None:
        seen = map_chunks(fails, ["fine", "problems"], executor=None)
        assert next(seen) == "fine"
        with pytest.raises(InputProblems):
            next(seen)

    def test_any_executor_will_do(self) -> None:
        with ThreadPoolExecutor(2) as threads:
            assert list(map_chunks(square, range(5), executor=threads, chunk=2)) == [0, 1, 4, 9, 16]

    def test_what_was_raised_arrives_whole(self, pool: Executor) -> None:
        with pytest.raises(InputProblems) as wrong:
            list(map_chunks(fails, ["fine", "problems"], executor=pool))
        assert wrong.value.problems == (PROBLEM, PROBLEM)
        with pytest.raises(UnsupportedByPlatform) as refused:
            list(map_chunks(fails, ["unsupported"], executor=pool))
        assert (refused.value.path, refused.value.reason) == ("leaf1/qos", "no such queue")
        with pytest.raises(ZeroDivisionError, match="in the works") as crash:
            list(map_chunks(fails, ["crash"], executor=pool))
        assert "in fails" in str(crash.value.__cause__), "where it was raised is told"
        with pytest.raises(RuntimeError, match=r"(?s)in fails.*Odd: 1 and 2"):
            list(map_chunks(fails, ["odd"], executor=pool))
        assert list(map_chunks(fails, ["fine"], executor=pool)) == ["fine"], "and the processes go on"

    def test_what_comes_before_a_fault_is_given(self, pool: Executor) -> None:
        seen = map_chunks(fails, ["one", "two", "problems", "three"], executor=pool, chunk=1)
        assert [next(seen), next(seen)] == ["one", "two"]
        with pytest.raises(InputProblems):
            next(seen)

    def test_a_process_that_is_killed(self) -> None:
        with (
            process_pool_for_devices(parallel.MIN_DEVICES_FOR_PROCESSES, jobs=2) as executor,
            pytest.raises(ServiceUnavailable, match="--jobs"),
        ):
            list(map_chunks(fails, ["fine", "killed"], executor=executor, chunk=1))


def interrupted_over(executor: Executor | None) -> None:
    """Be interrupted while a process has more work to do than a test waits for."""
    assert executor is not None
    assert executor.submit(square, 2).result() == 4
    executor.submit(time.sleep, 2 * END_S)
    raise KeyboardInterrupt


class TestProcesses:
    @pytest.mark.parametrize(("devices", "jobs"), [(parallel.MIN_DEVICES_FOR_PROCESSES - 1, 2), (10_000, 1), (0, None)])
    def test_are_not_started_where_they_are_of_no_use(self, devices: int, jobs: int | None) -> None:
        with process_pool_for_devices(devices, jobs=jobs) as executor:
            assert executor is None

    def test_are_done_without_where_the_system_has_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: object, **__: object) -> None:
            raise OSError("no semaphores")

        monkeypatch.setattr(parallel, "ProcessPoolExecutor", refused)
        with process_pool_for_devices(parallel.MIN_DEVICES_FOR_PROCESSES, jobs=2) as executor:
            assert list(map_chunks(square, [2, 3], executor=executor)) == [4, 9]

    def test_work_in_the_folder_of_this_process(self) -> None:
        with process_pool_for_devices(parallel.MIN_DEVICES_FOR_PROCESSES, jobs=2) as executor:
            assert list(map_chunks(folder_of, [1], executor=executor)) == [str(Path.cwd())]

    def test_end_with_the_block_also_in_the_middle_of_their_work(self) -> None:
        begun = time.monotonic()
        with (
            pytest.raises(KeyboardInterrupt),
            process_pool_for_devices(parallel.MIN_DEVICES_FOR_PROCESSES, jobs=2) as executor,
        ):
            interrupted_over(executor)
        assert time.monotonic() - begun < END_S

    def test_a_container_has_as_many_processors_as_it_may_use(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limit = tmp_path / "cpu.max"
        monkeypatch.setattr(parallel, "_CGROUP_CPU_LIMIT_FILE", limit)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
        for text, count in (("max 100000\n", 64), ("150000 100000\n", 2), ("1000 100000\n", 1), ("", 64)):
            limit.write_text(text)
            assert count_processors() == count
        limit.unlink()
        assert count_processors() == 64


def write_pods(count: int, **faults: tuple[str, str]) -> list[str]:
    """Write intents of six switches each; `faults` are texts to replace in some, by their names.

    The pods are copies of one fabric, so what fabrics have in common is not checked.
    """
    Path("nodrop.yaml").write_text(f"severity: {{{', '.join(f'{rule}: off' for rule in OVER_ALL)}}}\n")
    names = [f"pod{number}" for number in range(count)]
    for name in names:
        text = LARGE.replace("fabric: reference-256", f"fabric: {name}")
        assert name in text
        old, new = faults.get(name, ("", ""))
        assert old in text
        Path(f"{name}.yaml").write_text(text.replace(old, new) if old else text)
    return [f"{name}.yaml" for name in names]


def tree(top: str) -> dict[str, bytes]:
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in Path(top).rglob("*") if path.is_file()}


def both(*arguments: str) -> tuple[Done, dict[str, bytes]]:
    """Run a command in this process and in two, the output folder being `out`: the same in words and bytes."""
    done = [(nodrop(*arguments, "--jobs", "1"), tree("out"))]
    for path in sorted(Path("out").rglob("*"), reverse=True) if arguments[0] == "build" else ():
        path.unlink() if path.is_file() else path.rmdir()
    with mock.patch.object(parallel, "MIN_DEVICES_FOR_PROCESSES", 2), counted() as pools:
        done.append((nodrop(*arguments, "--jobs", "2"), tree("out")))
    assert pools == [2]
    assert done[0] == done[1]
    return done[0]


class counted:  # noqa: N801 -- reads as a function
    """Count the processes that are started."""

    def __enter__(self) -> list[int]:
        self._pools: list[int] = []

        def pool(workers: int, **named: object) -> Executor:
            self._pools.append(workers)
            return real(workers, **named)  # type: ignore[arg-type]

        real = parallel.ProcessPoolExecutor
        self._patch = mock.patch.object(parallel, "ProcessPoolExecutor", pool)
        self._patch.start()
        return self._pools

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


def test_a_site_is_built_the_same_in_one_process_and_in_two() -> None:
    intents = write_pods(4)
    done, files = both("build", *intents, "-o", "out")
    assert (done.code, done.err) == (0, "out: 24 devices, 104 files (104 written, 0 unchanged)\n")
    assert {name.partition("/")[0] for name in files} == {".nodrop.json", "pod0", "pod1", "pod2", "pod3"}
    assert sorted(path.name for path in Path().iterdir()) == sorted(["nodrop.yaml", "out", *intents])


@pytest.mark.slow
def test_a_site_with_faults_is_told_the_same_in_one_process_and_in_two() -> None:
    intents = write_pods(5, pod1=LATE_MARKS, pod3=LATE_MARKS)
    done, files = both("build", *intents, "-o", "out")
    assert (done.code, files) == (1, {})
    assert done.err.startswith("nothing was written to out: findings reach --fail-on warning")
    assert "::: out/pod1/leaf1/config_db.json:" in done.out
    done, files = both("build", *intents, "-o", "out", "--write-anyway", "--format", "json")
    assert (done.code, len(files)) == (1, 5 * 26 + 1)
    found = {finding["file"].split("/")[1] for finding in json.loads(done.out)["findings"]}
    assert found == {"pod1", "pod3"}
    linted, _ = both("lint", "out", "--format", "json")
    assert (linted.code, undecided(linted.out)) == (1, undecided(done.out))


def undecided(out: str) -> Any:
    """What a report says, but for where the intents decide it, and which files were read: `build` reads none."""
    said = json.loads(out)
    del said["files"]
    for finding in said["findings"]:
        finding["related"] = [one for one in finding["related"] if not one["file"].startswith("pod")]
    return said


def test_what_cannot_be_built_is_told_of_all_intents_at_once() -> None:
    intents = write_pods(5, pod1=UNKNOWN_MODEL, pod2=LATE_MARKS, pod3=UNKNOWN_MODEL)
    Path("pod4.yaml").write_text("nodrop: 1\nfabric: pod4\n")
    done, files = both("build", *intents, "-o", "out")
    assert (done.code, files, done.err) == (2, {}, "nothing was written to out\n")
    for said in ("pod1.yaml:", "pod3.yaml:", "pod4.yaml:1:1: "):
        assert f"error: {said}" in done.out
    assert "[ecn-never-before-pfc]" in done.out
    assert not Path("out").exists()


@pytest.mark.slow
def test_check_tells_the_same_drift_in_one_process_and_in_two() -> None:
    intents = write_pods(3)
    assert nodrop("build", *intents, "-o", "out").code == 0
    Path("out/pod1/leaf1/frr.conf").unlink()
    config = Path("out/pod2/leaf2/config_db.json")
    config.write_text(config.read_text().replace('"detection_time": "200"', '"detection_time": "300"', 1))
    Path("out/pod0/notes").write_text("mine")
    with mock.patch.object(parallel, "MIN_DEVICES_FOR_PROCESSES", 2):
        done = [nodrop("build", *intents, "-o", "out", "--check", "--jobs", jobs) for jobs in ("1", "2")]
    assert done[0] == done[1]
    assert done[0].code == 1
    told = [line.partition(":")[2].partition(": ")[0] for line in done[0].err.splitlines()]
    assert [one.strip().split(":")[0] for one in told] == [
        "out/pod0/notes",
        "out/pod1/leaf1/frr.conf",
        "out/pod2/leaf2/config_db.json",
    ]


@pytest.mark.slow
def test_a_site_is_changed_in_place_and_only_where_it_changes() -> None:
    intents = write_pods(3)
    both("build", *intents, "-o", "out")
    before = {path: path.stat().st_ino for path in Path("out").rglob("*.conf")}
    changed = Path("pod1.yaml").read_text().replace("max: 1500kB", "max: 1600kB")
    Path("pod1.yaml").write_text(changed)
    with mock.patch.object(parallel, "MIN_DEVICES_FOR_PROCESSES", 2):
        done = nodrop("build", *intents, "-o", "out", "--jobs", "2")
    assert (done.code, done.err) == (0, "out: 18 devices, 78 files (6 written, 72 unchanged)\n")
    assert {path: path.stat().st_ino for path in before} == before
    edited = Path("out/pod2/leaf1/frr.conf")
    edited.write_text(edited.read_text() + "! mine\n")
    now = tree("out")
    Path("pod0.yaml").write_text(changed.replace("fabric: pod1", "fabric: pod0"))
    with mock.patch.object(parallel, "MIN_DEVICES_FOR_PROCESSES", 2):
        done = nodrop("build", *intents, "-o", "out", "--jobs", "2")
    assert done.code == 2
    assert "out/pod2/leaf1/frr.conf: was changed since nodrop wrote it" in done.err
    assert tree("out") == now
    assert sorted(path.name for path in Path().iterdir()) == sorted(["nodrop.yaml", "out", *intents])


def test_devices_of_one_fabric_are_read_in_processes_and_share_their_profiles() -> None:
    assert nodrop("build", *write_pods(1), "-o", "out").code == 0
    alone = verbs.read(["out"])
    with process_pool_for_devices(parallel.MIN_DEVICES_FOR_PROCESSES, jobs=2) as executor:
        together = verbs.read(["out"], executor=executor)
    assert alone == together
    profiles = [port.qos for device in together.fabric.devices for port in device.interfaces]
    assert len({id(one) for one in profiles}) == len({one for one in profiles if isinstance(one, QosProfile)})
    both("lint", "out")


def ends(group: int) -> bool:
    """Whether every process of a group ends."""

    def gone() -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False

    return within(gone)


def hear_interrupts() -> None:
    """Begin as from a terminal: what a shell runs in the background is begun with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.slow
def test_an_interrupted_site_leaves_nothing_and_no_process() -> None:
    intents = write_pods(40)
    command = [sys.executable, "-c", SCRIPT, "build", *intents, "-o", "out", "--jobs", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=hear_interrupts
    ) as running:
        assert within(lambda: Path(".out.nodrop-new/pod0").exists() or running.poll() is not None, pause_s=0.01)
        assert running.poll() is None
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=END_S)
    assert (running.returncode, out, err) == (130, b"", b"\n")
    assert sorted(path.name for path in Path().iterdir()) == sorted(["nodrop.yaml", *intents])
    assert ends(running.pid)


@pytest.mark.slow
def test_processes_do_not_outlive_a_build_that_is_killed() -> None:
    intents = write_pods(40)
    command = [sys.executable, "-c", SCRIPT, "build", *intents, "-o", "out", "--jobs", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as running:
        assert within(Path(".out.nodrop-new/pod0").exists, pause_s=0.01)
        running.kill()
    assert ends(running.pid)
    assert nodrop("build", *intents[:2], "-o", "out").code == 0
    assert sorted(path.name for path in Path().iterdir()) == sorted(["nodrop.yaml", "out", *intents])
