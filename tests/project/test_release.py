"""What a tag becomes: `scripts/check_release.py` refuses a wrong one, and the workflow runs nothing that can move."""

import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from support.places import ROOT

find_differences = runpy.run_path(str(ROOT / "scripts" / "check_release.py"), run_name="release")["find_differences"]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The files that state a version, as a released commit has them."""
    for name in ("pyproject.toml", "Containerfile", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace("## 0.1.0 - unreleased", "## 0.1.0 - 2026-11-28"))
    return tmp_path


def test_the_tag_of_a_dated_version_is_taken(source: Path) -> None:
    assert list(find_differences("v0.1.0", source)) == []


@pytest.mark.parametrize(
    ("tag", "differences"),
    [
        ("0.1.0", ["the tag is 0.1.0; expected v and three numbers, such as v0.1.0"]),
        ("v0.1", ["the tag is v0.1; expected v and three numbers, such as v0.1.0"]),
        (
            "v0.2.0",
            [
                "pyproject.toml: version is 0.1.0; the tag is v0.2.0",
                "Containerfile: the label of the version is 0.1.0; the tag is v0.2.0",
                "CHANGELOG.md: the newest version is 0.1.0; the tag is v0.2.0",
            ],
        ),
    ],
)
def test_another_tag_is_refused(source: Path, tag: str, differences: list[str]) -> None:
    assert list(find_differences(tag, source)) == differences


def test_a_version_without_a_date_is_not_released(source: Path) -> None:
    shutil.copy(ROOT / "CHANGELOG.md", source)
    (source / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 - unreleased\n")
    (difference,) = find_differences("v0.1.0", source)
    assert difference == "CHANGELOG.md: 0.1.0 has no date but `unreleased`; expected YYYY-MM-DD"


def steps() -> list[dict[str, Any]]:
    workflow = YAML(typ="safe").load(WORKFLOW.read_text())
    assert workflow["permissions"] == {}
    assert list(workflow["jobs"]) == ["build", "publish", "image"]
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_the_workflow_uses_commits() -> None:
    for step in steps():
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step
        assert "${{" not in step.get("run", ""), "texts reach a script through its environment"


def test_only_the_jobs_that_publish_may_write() -> None:
    jobs = YAML(typ="safe").load(WORKFLOW.read_text())["jobs"]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert {name: job.get("environment") for name, job in jobs.items()} == {
        "build": None, "publish": "release", "image": "release",
    }  # fmt: skip


def test_what_the_workflow_runs_is_there() -> None:
    named = {name for step in steps() for name in re.findall(r"(?:scripts/[\w.]+|\.ci/run)", step.get("run", ""))}
    assert named == {"scripts/check_release.py", "scripts/release.txt", "scripts/runtime.txt", ".ci/run"}
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_image_is_built_on_the_digest_that_its_tag_has_that_day() -> None:
    (step,) = [step for step in steps() if step.get("id") == "image"]
    assert "@" not in step["env"]["BASE"]
    assert 'podman pull --quiet "$BASE"' in step["run"]
    assert "base=$(podman image inspect --format '{{index .RepoDigests 0}}' \"$BASE\")" in step["run"]
    assert '--build-arg "BASE=$base"' in step["run"]
