"""The wheel carries templates, rules, intents, profiles and schemas, and works far from the checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.places import ROOT

WHEELHOUSE = Path(sys.prefix) / "wheelhouse"

pytestmark = pytest.mark.wheel


def run(*command: str | Path, cwd: Path | str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, install it without a network into an environment of its own, return its `bin`."""
    if not WHEELHOUSE.is_dir():
        pytest.skip("no wheelhouse beside this Python; `make test` makes it")
    top = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", top / "dist", ROOT, cwd=top)
    (wheel,) = (top / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", top / "venv", cwd=top)
    run(top / "venv/bin/pip", "install", "-q", "--no-index", "--find-links", WHEELHOUSE, wheel, cwd=top)
    return top / "venv/bin"


@pytest.mark.slow
def test_the_main_job_from_the_root_folder(installed: Path, tmp_path: Path) -> None:
    program = "import nodrop.resources as r; print(r.resource_folder('intents'))"
    where = run(installed / "python", "-c", program, cwd="/").strip()
    assert where.endswith("nodrop/data/intents")
    intent = f"{where}/two-by-two.yaml"
    assert "4 switches" in run(installed / "nodrop", "show", intent, cwd="/")
    run(installed / "nodrop", "build", intent, "-o", tmp_path / "build", cwd="/")
    assert "no findings in 4 devices" in run(installed / "nodrop", "lint", tmp_path / "build", cwd="/")
    built = {path.relative_to(tmp_path / "build") for path in (tmp_path / "build").rglob("*.conf")}
    assert built == {Path(f"{name}/frr.conf") for name in ("leaf1", "leaf2", "spine1", "spine2")}


@pytest.mark.slow
def test_all_shipped_data_is_in_it(installed: Path) -> None:
    code = (
        "from nodrop.resources import resource_folder; top = resource_folder({0!r});"
        "print(*sorted(str(path.relative_to(top)) for path in top.rglob('*.*')))"
    )
    for name in ("templates", "rules", "intents", "profiles", "schemas"):
        there = run(installed / "python", "-c", code.format(name), cwd="/").split()
        assert there == sorted(str(path.relative_to(ROOT / name)) for path in (ROOT / name).rglob("*.*"))
