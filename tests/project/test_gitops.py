"""examples/gitops: a site's repository, whose builds are as its intents have them and pass its own gate."""

import re
import shutil
from pathlib import Path

import pytest

from nodrop.checking.policy import POLICY_FILES
from nodrop.config import load
from support.command import nodrop
from support.gitops import EXAMPLE, site

pytestmark = pytest.mark.xdist_group("examples/gitops")
BUILD = EXAMPLE / "build"


@pytest.fixture(scope="session")
def rebuilt(tmp_path_factory: pytest.TempPathFactory, update_golden: bool) -> Path:
    """What the intents of the example come to today, built in a copy of it that is a repository of its own."""
    root = site(tmp_path_factory.mktemp("gitops") / "site")
    shutil.rmtree(root / "build", ignore_errors=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("NODROP_NO_CACHE", "1")
        done = nodrop("build", *sorted(Path("intents").glob("*.yaml")), "-o", "build")
    assert done.code == 0, done
    if update_golden:
        shutil.rmtree(BUILD, ignore_errors=True)
        shutil.copytree(root / "build", BUILD)
    return root / "build"


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_build_is_what_the_intents_come_to(rebuilt: Path) -> None:
    there, made = files(BUILD), files(rebuilt)
    assert sorted(there) == sorted(made), "make golden"
    assert [name for name in made if there[name] != made[name]] == [], "make golden"


def test_the_site_passes_its_own_gate_and_every_suppression_hides_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site(tmp_path / "site"))
    done = nodrop("lint", ".", "--strictness", "auditor", "--fail-on", "note")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(
        r"\d+ rules skipped: .+\nno findings in 16 devices, 512 interfaces, \d+ rules: 16 suppressed\n", done.out
    )


def owner(path: str) -> str:
    """Return who has to approve a change of a file: the last row of CODEOWNERS that fits it counts."""
    found = ""
    for row in (EXAMPLE / "CODEOWNERS").read_text().splitlines():
        pattern, *owners = row.split("#")[0].split() or [""]
        name = pattern.rstrip("/")
        parts = path.split("/")
        if name and name in (parts[:-1] if pattern.endswith("/") else parts[-1:]):
            (found,) = owners
    return found


@pytest.mark.parametrize("folder", ["", "build/pod1/"])
@pytest.mark.parametrize("name", POLICY_FILES)
def test_every_file_that_decides_what_passes_has_owners_of_its_own(name: str, folder: str) -> None:
    assert owner(f"{folder}{name}") == "@example/network-leads"


def test_what_nodrop_yaml_names_and_the_pipelines_have_the_same_owners() -> None:
    named = [f"{folder}/watchdog/x.yaml" for folder in load(EXAMPLE / "nodrop.yaml").rules]
    pipelines = [".github/workflows/nodrop.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml", "CODEOWNERS"]
    named = [path.removeprefix(f"{EXAMPLE}/") for path in named]
    for path in (*named, "profiles/site.yaml", *pipelines):
        assert owner(path) == "@example/network-leads", path
    assert owner("build/pod1/leaf1/config_db.json") == owner("intents/pod1.yaml") == "@example/network"


def test_its_own_rules_pass_their_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)
    done = nodrop("test-rules", "rules", "--mutants")
    assert done.code == 0, done
    assert "watchdog/site-watchdog-too-slow" in done.out
