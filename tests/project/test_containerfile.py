"""Containerfile: what it is made of, who runs in it, and its build as far as that goes without an engine."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from dockerfile_parse import DockerfileParser

from support.gitops import EXAMPLE
from support.own_repository import TAG, offline
from support.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


class Step(NamedTuple):
    """One instruction."""

    name: str
    value: str


def stages() -> list[list[Step]]:
    """Return the instructions of each stage, FROM first."""
    with (ROOT / "Containerfile").open("rb") as file:
        steps = [Step(one["instruction"], one["value"]) for one in DockerfileParser(fileobj=file).structure]
    starts = [number for number, step in enumerate(steps) if step.name == "FROM"]
    return [steps[start:end] for start, end in zip(starts, [*starts[1:], len(steps)], strict=True)]


WHEEL, FINAL = stages()


def values(stage: list[Step], name: str) -> list[str]:
    return [step.value for step in stage if step.name == name]


def copied(stage: list[Step]) -> Iterator[tuple[list[str], str]]:
    """Yield what is copied from the project, and where to."""
    for value in values(stage, "COPY"):
        *sources, target = value.split()
        if not value.startswith("--from"):
            yield sources, target


def test_it_is_given_what_it_copies_and_nothing_else() -> None:
    rows = [row for row in (ROOT / ".containerignore").read_text().splitlines() if not row.startswith("#")]
    sources = [source for each, _ in copied(WHEEL) for source in each]
    assert rows == ["*", *(f"!{source}" for source in sources), "**/__pycache__"]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert list(copied(FINAL)) == []


def test_nobody_is_root_in_it_and_nodrop_is_what_runs() -> None:
    assert values(FINAL, "USER") == ["65532:65532"]
    assert [step.name for step in FINAL if step.name in ("RUN", "USER")] == ["RUN", "USER"]
    assert values(FINAL, "ENTRYPOINT") == ['["nodrop"]']
    assert "COPY --from=wheel /opt/nodrop /opt/nodrop" in [f"{step.name} {step.value}" for step in FINAL]
    assert values(FINAL, "ENV")[0].startswith("PATH=/opt/nodrop/bin:")


def test_its_base_is_named_by_digest_or_refused() -> None:
    lines = (ROOT / "Containerfile").read_text().splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "ARG BASE", "no default"
    assert {value.split()[0] for stage in (WHEEL, FINAL) for value in values(stage, "FROM")} == {"${BASE}"}
    assert WHEEL[1] == ("ARG", "BASE")
    check = values(WHEEL, "RUN")[0]
    digest = f"python@sha256:{'0' * 64}"
    for base, code in (("", 2), ("python:3.13", 2), (digest, 0)):
        done = subprocess.run(["sh", "-c", check], env={"BASE": base}, capture_output=True, check=False, text=True)
        assert (done.returncode, done.stderr) == (
            code,
            f"BASE is {base}; expected NAME@sha256:DIGEST\n" if code else "",
        )


def test_it_is_labelled_with_the_release_that_pipelines_name() -> None:
    (labels,) = values(FINAL, "LABEL")
    assert f'org.opencontainers.image.version="{PROJECT["version"]}"' in labels
    assert f'org.opencontainers.image.licenses="{PROJECT["license"]}"' in labels
    assert f"v{PROJECT['version']}" == TAG
    files = [
        *(EXAMPLE / name for name in (".github/workflows/nodrop.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml")),
        *(ROOT / name for name in ("ci/nodrop.gitlab-ci.yml", "docs/pipelines.md")),
    ]
    names = re.compile(r"(?:nodrop@| rev: | ref: |VERSION: )(v[\w.]+)")
    named = {path.name: set(names.findall(path.read_text())) for path in files}
    assert named == {path.name: {TAG} for path in files}


@pytest.mark.slow
def test_the_first_stage_makes_a_nodrop_that_works(tmp_path: Path) -> None:
    """Run below a folder instead of the root: what it is given to copy is all that the wheel needs."""
    base = f"python@sha256:{'0' * 64}"
    variables = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "BASE": base, **offline()}
    top = tmp_path / "root"
    here = top / "source"
    here.mkdir(parents=True)
    for step in WHEEL:
        if step.name == "COPY":
            *sources, target = step.value.split()
            for source in sources:
                subprocess.run(["cp", "-r", ROOT / source, here / target], check=True)
        elif step.name == "RUN":
            command = re.sub(r"(?<![\w./-])/(?=(build|wheel|opt)\b)", f"{top}/", step.value)
            (top / "opt").mkdir(exist_ok=True)
            done = subprocess.run(
                ["sh", "-c", command], cwd=here, env=variables, capture_output=True, check=False, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr
    nodrop = [top / "opt/nodrop/bin/nodrop", "--version"]
    done = subprocess.run(nodrop, capture_output=True, check=True, text=True, env={"PATH": ""})
    assert done.stdout == f"nodrop {PROJECT['version']}\n"
    assert not (top / "opt/nodrop/bin/pip").exists()
