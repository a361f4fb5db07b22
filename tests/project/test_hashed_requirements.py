"""scripts/*.txt with hashes: versions of constraints.txt, all that nodrop needs, used wherever nodrop is installed."""

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.places import ROOT

HASHED = ("build", "docs", "release", "runtime")
INSTALLERS = ("action.yml", "ci/nodrop.gitlab-ci.yml", "Containerfile", ".github/workflows/release.yml", "Makefile")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def pins(path: Path) -> dict[str, str]:
    """Return the version that a file of requirements gives each package."""
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", path.read_text(), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def requirements(name: str) -> list[str]:
    """Return the entries of a hashed file, each on one line."""
    lines = (ROOT / "scripts" / f"{name}.txt").read_text().replace("\\\n", "").splitlines()
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def needed(names: set[str]) -> set[str]:
    """Return packages and all that they need on this machine, from what is installed."""
    seen: set[str] = set()
    waiting = set(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        seen.add(name)
        found = [Requirement(text) for text in requires(name) or []]
        waiting |= {
            canonicalize_name(each.name) for each in found if each.marker is None or each.marker.evaluate({"extra": ""})
        } - seen
    return seen


@pytest.mark.parametrize("name", HASHED)
def test_every_requirement_has_a_version_and_hashes(name: str) -> None:
    entries = requirements(name)
    assert entries
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("name", HASHED)
def test_versions_are_those_of_developing(name: str) -> None:
    pinned, hashed = pins(ROOT / "constraints.txt"), pins(ROOT / "scripts" / f"{name}.txt")
    shared = hashed.keys() & pinned.keys()
    assert {package: hashed[package] for package in shared} == {package: pinned[package] for package in shared}


def test_all_that_nodrop_needs_is_there() -> None:
    asked = {Requirement(text).name for text in PROJECT["project"]["dependencies"]}
    assert set(pins(ROOT / "scripts" / "runtime.txt")) == needed(asked)


def test_the_wheel_is_built_with_what_pyproject_names() -> None:
    (backend,) = PROJECT["build-system"]["requires"]
    hashed = pins(ROOT / "scripts" / "build.txt")
    assert f"hatchling=={hashed['hatchling']}" == backend
    assert set(hashed) >= needed({"build", "hatchling"})


@pytest.mark.parametrize("name", INSTALLERS)
def test_what_is_installed_is_hashed_or_nodrop_itself(name: str) -> None:
    text = re.sub(r" \\\n\s*", " ", (ROOT / name).read_text())
    commands = re.findall(r"pip\"?(?: --python \S+)? (?:install|download) [^\n]*", text)
    assert commands
    for command in commands:
        if "--require-hashes --only-binary :all:" in command:
            assert re.search(r"(?:-r|--requirement) ", command), command
        else:
            assert "--no-deps" in command, command


def test_the_head_of_each_file_says_how_it_is_made() -> None:
    assert "\nrequirements: setup ## " in (ROOT / "Makefile").read_text()
    for name in HASHED:
        assert (ROOT / "scripts" / f"{name}.txt").read_text().splitlines()[1] == "#    make requirements"
