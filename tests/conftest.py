"""What all tests share: hypothesis profiles, and the option that writes snapshots anew.

`pytest --update-golden` rewrites what snapshot tests compare with; read the difference before committing it.
`pytest --hypothesis-profile=deep` tries twenty times as many examples.
"""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from nodrop.resources import home

settings.register_profile(
    "ci", derandomize=True, max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write snapshots and golden files anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether snapshots are to be written rather than compared with."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def two_by_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the intent two-by-two, into which nobody writes."""
    from command import built

    out = tmp_path_factory.mktemp("two-by-two") / "build"
    built(home("intents") / "two-by-two.yaml", out)
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
