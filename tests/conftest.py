"""What all tests share: hypothesis profiles, and the option that writes snapshots anew.

`pytest --update-golden` runs the tests that take `update_golden` and no others: they rewrite their snapshots. Only this
module reads the option, so that `make golden` finds every snapshot; tests/project/test_golden_changes.py checks it.
`pytest --hypothesis-profile=deep` tries 1,000 examples, with a random seed that hypothesis prints.
"""

import gc
import os
import shutil
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from nodrop.resources import resource_folder
from support.layers import PARTS, part, part_of, unit

settings.register_profile(
    "ci", derandomize=True, max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", settings.get_profile("ci"), max_examples=100)
settings.register_profile("deep", settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write snapshots and golden files anew")
    words = f"run one of {PARTS} parts of the nightly tests: 0 to {PARTS - 1}, or the hash of a commit"
    parser.addoption("--part", type=part, metavar="NUMBER", help=words)


def pytest_configure() -> None:
    """Disable garbage collection while pytest collects tests: it frees nothing there and takes half of the time."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark unit tests, leave out nightly tests of other parts than the chosen one, and select those of snapshots."""
    for item in items:
        if unit(item):
            item.add_marker("unit")
    chosen = config.option.part
    if chosen is not None:
        left = [item for item in items if item.get_closest_marker("nightly") and part_of(item.nodeid) != chosen]
        config.hook.pytest_deselected(items=left)
        gone = set(left)
        items[:] = [item for item in items if item not in gone]
    if config.getoption("--update-golden"):
        _select_snapshots(config, items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how to repeat the run of a part."""
    if config.option.part is not None:
        number = config.option.part
        words = f"part {number} of the {PARTS} of the nightly tests; repeat: make test-nightly PART={number}"
        terminalreporter.write_line(words)


@pytest.fixture(autouse=True)
def _no_process_in_unit_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a unit test that starts a process after all: by a name that `support.layers` does not follow."""
    if request.node.get_closest_marker("unit"):
        monkeypatch.setattr("subprocess.Popen.__init__", _refuse)


def _refuse(_self: object, args: object, **_options: object) -> None:
    pytest.fail(f"a unit test starts a process: {args}")


def pytest_collection_finish() -> None:
    """Enable garbage collection for objects that the tests make; seldom, for most are freed without it."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)  # as `nodrop` itself
    gc.enable()


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether snapshots are to be written rather than compared with."""
    return bool(request.config.getoption("--update-golden"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not collect a module without a test that is asked for: collection takes longer than most tests.

    With --update-golden that is one without a snapshot, with `-m nightly` one that does not have this word.
    """
    if not (collection_path.name.startswith("test_") and collection_path.suffix == ".py"):
        return None
    words = ["update_golden"] if config.getoption("--update-golden") else []
    words += ["nightly"] if config.getoption("markexpr") == "nightly" else []
    text = collection_path.read_text() if words else ""
    return None if all(word in text for word in words) else True


def _select_snapshots(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests that write snapshots, slow ones first."""
    snapshots = [item for item in items if "update_golden" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=[item for item in items if item not in snapshots])
    # The slowest ones wait for real daemons; they are collected last.
    slow = [item for item in reversed(snapshots) if item.get_closest_marker("slow")]
    items[:] = slow + [item for item in snapshots if item not in slow]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """In a process of several, report of a test that passes only so: with its set-up and its end, a test costs double.

    Who asks for durations or for JUnit's XML gets all reports.
    """
    options = item.config.option
    if not hasattr(item.config, "workerinput") or options.durations is not None or options.xmlpath:
        return None
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """For longer tests, run one process more than there are processors: many wait, for daemons and for shells."""
    marks = config.getoption("markexpr")
    return None if "not slow" in marks or "unit" in marks else (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """With --update-golden, run all tests of a module in one process, whatever --dist says."""
    if not config.getoption("--update-golden"):
        return None
    from support.snapshot_groups import ByGroup

    return ByGroup(config, log)


@pytest.fixture(scope="session")
def two_by_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the intent two-by-two, into which nobody writes."""
    from support.command import built

    out = tmp_path_factory.mktemp("two-by-two") / "build"
    built(resource_folder("intents") / "two-by-two.yaml", out)
    return out


@pytest.fixture
def repository(two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with that build in it, to work in and to change."""
    shutil.copytree(two_by_two, tmp_path / "build")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on how the terminal is set that runs it, or on what another has left behind."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM", "NO_HYPERLINK", "FORCE_HYPERLINK", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NODROP_NO_CACHE", "1")


@pytest.fixture
def kept_rules(
    plain_environment: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the processes that a test starts recall the shipped rules: to parse them takes half of what most do."""
    own = tmp_path_factory.getbasetemp()
    run = own.parent if own.name.startswith("popen-") else own
    monkeypatch.delenv("NODROP_NO_CACHE")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(run / "kept-rules" / name.lower()))
