"""The pipelines of the example and of docs/pipelines.md: they use what there is, pinned, and their own lines work."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from support.actions import action
from support.gitlab import run, template
from support.gitops import EXAMPLE, site
from support.places import ROOT

GUIDE = ROOT / "docs" / "pipelines.md"
WORKFLOW = EXAMPLE / ".github" / "workflows" / "nodrop.yml"
ACTION = action(ROOT / "action.yml")


def parsed(text: str) -> Any:
    return YAML(typ="safe").load(text)


def blocks(language: str) -> list[str]:
    """Return what the guide shows in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), flags=re.MULTILINE | re.DOTALL)


def jobs() -> Iterator[tuple[str, str, Any]]:
    """Yield the jobs of GitHub of the example and of the guide, each with the text of its workflow."""
    for text in (WORKFLOW.read_text(), *(block for block in blocks("yaml") if "runs-on" in block)):
        yield from ((text, name, job) for name, job in parsed(text)["jobs"].items())


def test_workflows_use_what_the_action_has_and_nothing_that_can_move() -> None:
    seen = []
    for text, name, job in jobs():
        seen.append(name)
        assert parsed(text)["permissions"] == {}
        assert job["permissions"]["contents"] == "read"
        for step in job["steps"]:
            used, _, version = step.get("uses", "").partition("@")
            if used == "your-org/nodrop":
                assert step.get("with", {}).keys() <= ACTION["inputs"].keys()
                assert step["id"] == "nodrop"
            elif used:
                assert re.fullmatch(r"[0-9a-f]{40}", version), step
            assert "${{" not in step.get("run", "")
        assert set(re.findall(r"steps\.nodrop\.outputs\.([\w-]+)", text)) <= ACTION["outputs"].keys()
    assert seen == ["check", "nightly", "nodrop"]


def names(heading: str) -> list[str]:
    """Return the names in the first column of the guide's table that is so headed."""
    table = GUIDE.read_text().partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    return [name for row in table.splitlines()[2:] for name in re.findall(r"`([\w-]+)`", row.split(" | ")[0])]


def test_the_guide_tells_every_input_output_variable_and_hook() -> None:
    assert names("input") == list(ACTION["inputs"])
    assert sorted(names("output")) == sorted(ACTION["outputs"])
    variables = template(ROOT / "ci" / "nodrop.gitlab-ci.yml")["variables"]
    assert sorted(names("variable")) == sorted(variables)
    manifest = {hook["id"]: hook for hook in parsed((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert re.findall(r"^\| `([\w-]+)` \| `(.*?)` \|", GUIDE.read_text(), flags=re.MULTILINE) == [
        (name, hook["entry"]) for name, hook in manifest.items()
    ]


def test_what_the_guide_shows_is_what_the_example_has() -> None:
    hooks = parsed(next(block for block in blocks("yaml") if "hooks:" in block))["repos"][0]["hooks"]
    example = parsed((EXAMPLE / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert [hook for hook in hooks if hook not in example] == []
    included = parsed(next(block for block in blocks("yaml") if "include:" in block))
    assert included["include"] == template(EXAMPLE / ".gitlab-ci.yml")["include"]


@pytest.mark.slow
def test_every_night_the_build_is_held_against_the_intents(tmp_path: Path) -> None:
    *_, last = action(WORKFLOW)["jobs"]["nightly"]["steps"]
    said = {**template(ROOT / "ci" / "nodrop.gitlab-ci.yml"), **template(EXAMPLE / ".gitlab-ci.yml")}
    assert said["nightly"]["script"] == last["run"].splitlines()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "PYTHONPATH": str(ROOT / "src"), "NODROP_NO_CACHE": "1"}
    root = site(tmp_path / "site")
    done = run(said, "nightly", root, environment)
    assert (done.code, "build: 44 files are what the intents say" in done.log) == (0, True), done.log
    (root / "build" / "pod1" / "leaf1" / "frr.conf").unlink()
    done = run(said, "nightly", root, environment)
    assert (done.code, "drift: build/pod1/leaf1/frr.conf" in done.log) == (1, True), done.log
