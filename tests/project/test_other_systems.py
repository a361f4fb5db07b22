"""macOS as far as Linux can stand for it: Python without what only Linux has; Windows is refused in words."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nodrop.cli import main
from support.gitops import committed, git
from support.places import ROOT

WITHOUT_LINUX = """\
import ctypes, os
for name in ("O_PATH", "O_TMPFILE", "copy_file_range", "eventfd", "getresuid", "memfd_create", "pidfd_open",
             "sched_getaffinity", "setns", "splice", "unshare"):
    if hasattr(os, name):
        delattr(os, name)
class Library(ctypes.CDLL):
    def __getattr__(self, name):
        if name == "syscall":
            raise AttributeError(name)
        return super().__getattr__(name)
ctypes.CDLL = Library
"""


@pytest.fixture
def variables(kept_rules: None, tmp_path: Path) -> dict[str, str]:
    """Variables by which every Python that is started lacks what only Linux has."""
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking" / "sitecustomize.py").write_text(WITHOUT_LINUX)
    return {
        **os.environ,
        "PYTHONPATH": f"{tmp_path / 'lacking'}:{ROOT / 'src'}",
    }


def run(variables: dict[str, str], folder: Path, *words: str) -> str:
    command = [
        sys.executable,
        "-c",
        "import os; assert not hasattr(os, 'O_PATH'); import nodrop.cli.main as m; m.main()",
    ]
    done = subprocess.run([*command, *words], cwd=folder, env=variables, capture_output=True, check=False, text=True)
    assert done.returncode in (0, 1), (words, done)
    return done.stdout


def test_a_fabric_is_built_linted_changed_and_checked(tmp_path: Path, variables: dict[str, str]) -> None:
    site = tmp_path / "site"
    site.mkdir()
    git(site, "init", "-q", "-b", "main")
    run(variables, site, "init", "lab")
    run(variables, site, "build", "lab/intent.yaml", "-o", "build")
    (site / "link").symlink_to("build")
    assert "no findings in 4 devices" in run(variables, site, "lint", "link")
    committed(site, "built")
    path = site / "build/leaf1/config_db.json"
    path.write_text(path.read_text().replace('"pfc_enable": "3"', '"pfc_enable": ""'))
    report = run(variables, site, "check", "--base", "HEAD")
    assert "new errors" in report
    git(site, "checkout", "-q", ".")
    run(variables, site, "build", "lab/intent.yaml", "-o", "build")
    assert "no findings in 4 devices" in run(variables, site, "lint", "build")


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path, variables: dict[str, str]) -> None:
    site = tmp_path / "site"
    site.mkdir()
    git(site, "init", "-q", "-b", "main")
    (tmp_path / "secret.json").write_text("{}")
    (site / "config_db.json").symlink_to("../secret.json")
    command = [sys.executable, "-m", "nodrop", "lint", "."]
    done = subprocess.run(command, cwd=site, env=variables, capture_output=True, check=False, text=True)
    assert (done.returncode, "a link that leads out of the repository" in done.stderr + done.stdout) == (2, True), done


@pytest.mark.slow
def test_what_is_tested_about_links_and_outputs_holds(variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "tests/syntax/test_root.py", "tests/publish/test_landing.py"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


def test_windows_is_refused_in_words(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(main, "_SYSTEM", "nt")
    assert main.run(["--version"]) == 2
    assert capsys.readouterr().err == "error: nodrop runs on Linux and macOS; on Windows, use WSL 2 or the container\n"


@pytest.mark.parametrize("name", ["leaf1/config_db.json", "leaf1/frr.conf"])
def test_line_ends_of_windows_change_no_finding(tmp_path: Path, variables: dict[str, str], name: str) -> None:
    run(variables, tmp_path, "init", "lab")
    run(variables, tmp_path, "build", "lab/intent.yaml", "-o", "build")
    path = tmp_path / "build" / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "no findings in 4 devices" in run(variables, tmp_path, "lint", "build")
