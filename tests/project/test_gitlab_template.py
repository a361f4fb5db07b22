"""ci/nodrop.gitlab-ci.yml as GitLab's runner takes it: which pipelines run it, the state before, reports, the note."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.gitlab import Notes, Run, api, run, template, wanted
from support.gitops import committed, environment, git, site
from support.own_repository import offline, repository
from support.places import ROOT

TEMPLATE = template(ROOT / "ci" / "nodrop.gitlab-ci.yml")
GIT = {name: value for name, value in environment().items() if name.startswith("GIT_")}
RECORDER = """#!/bin/sh
printf '%s\\n' "$@" >"$RECORDED"
for word; do case $word in
  markdown=*) echo '### nodrop: told' >"${word#*=}" ;;
  json=*) echo "{\\"summary\\": {\\"changed\\": $CHANGED}}" >"${word#*=}" ;;
esac; done
exit "$CODE"
"""
MERGE_REQUEST = {
    "CI_PIPELINE_SOURCE": "merge_request_event",
    "CI_DEFAULT_BRANCH": "main",
    "CI_MERGE_REQUEST_IID": "7",
    "CI_MERGE_REQUEST_PROJECT_ID": "42",
    "CI_COMMIT_BEFORE_SHA": "0" * 40,
}
PUSH = {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is checked out, whose files nobody is to run."""
    root = tmp_path / "project"
    git(tmp_path, "init", "-q", "-b", "main", root)
    for module in ("json", "urllib", "venv"):
        (root / f"{module}.py").write_text("raise SystemExit('Python runs a file of the change')\n")
    committed(root, "first")
    return root


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A folder on the path with a nodrop that notes its words, ends as it is told, and reports no more than that."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "nodrop").write_text(RECORDER)
    (folder / "nodrop").chmod(0o755)
    return folder


class Runner:
    """Jobs of a project, in which nodrop is that of a folder."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project, self.recorded = project, folder / "recorded"
        path = f"{folder}:{os.environ['PATH']}"
        self.known = {**GIT, "PATH": path, "RECORDED": str(self.recorded), "CODE": "0", "CHANGED": "1"}

    def run(self, given: Mapping[str, str], shell: str = "bash", **own: str) -> Run:
        """Run the job with what GitLab gives it, and variables of the project."""
        return run(TEMPLATE, "nodrop-check", self.project, {**self.known, **given}, shell, **own)

    def words(self, given: Mapping[str, str], shell: str = "bash", **own: str) -> list[str]:
        """Return the words that nodrop is run with."""
        done = self.run(given, shell, **own)
        assert done.code == 0, done.log
        return self.recorded.read_text().splitlines()

    def base(self, given: Mapping[str, str], **own: str) -> list[str]:
        """Return the words that say what is compared with."""
        words = self.words(given, **own)
        assert words[:2] == ["check", "--base"]
        return words[2 : words.index("--format")]


@pytest.fixture
def runner(project: Path, bin_folder: Path) -> Runner:
    """Jobs in the project, with the nodrop that notes its words."""
    return Runner(project, bin_folder)


def test_it_runs_for_merge_requests_and_pushes_to_the_default_branch() -> None:
    rules = TEMPLATE["nodrop-check"]["rules"]
    assert wanted(rules, MERGE_REQUEST)
    assert wanted(rules, PUSH)
    assert not wanted(rules, PUSH | {"CI_COMMIT_BRANCH": "topic"})
    assert not wanted(rules, PUSH | {"CI_PIPELINE_SOURCE": "schedule"})


def test_a_merge_request_is_compared_with_where_it_left_or_with_what_it_was_merged_with(runner: Runner) -> None:
    left = MERGE_REQUEST | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "1" * 40, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": ""}
    assert runner.base(left) == ["1" * 40, "--exact"]
    assert runner.base(left | {"CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "2" * 40}) == ["2" * 40, "--exact"]
    assert runner.base(left, NODROP_BASE="origin/main") == ["origin/main"]


def test_a_push_is_compared_with_what_was_there(runner: Runner, project: Path, tmp_path: Path) -> None:
    """It may not be there any more: pushed by force, the branch has another history."""
    git(tmp_path, "clone", "-q", "--bare", project, "server.git")
    git(tmp_path / "server.git", "config", "uploadpack.allowAnySHA1InWant", "true")
    git(project, "remote", "add", "origin", tmp_path / "server.git")
    before = git(project, "commit-tree", "HEAD^{tree}", "-m", "gone")
    git(project, "push", "-q", "origin", f"{before}:refs/heads/kept")
    shutil.rmtree(project / ".git")
    git(tmp_path, "init", "-q", project)
    git(project, "remote", "add", "origin", tmp_path / "server.git")
    committed(project, "anew")
    assert runner.base(PUSH | {"CI_COMMIT_BEFORE_SHA": before}) == [before, "--exact"]
    assert git(project, "cat-file", "-t", before) == "commit"
    assert (project / "nodrop-report" / "codequality.json").read_text() == "[]\n"
    (nothing,) = runner.base(PUSH | {"CI_COMMIT_BEFORE_SHA": "0" * 40})
    assert nothing.endswith("/nothing")
    done = runner.run(PUSH | {"CI_PIPELINE_SOURCE": "web", "CI_COMMIT_BEFORE_SHA": "0" * 40})
    assert (done.code, done.log) == (2, "a pipeline of web has no state before it: set NODROP_BASE\n")


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_variables_are_words_and_nothing_else(runner: Runner, tmp_path: Path, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    evil = "$(touch pwned) `touch pwned`'\"; touch pwned; #"
    words = runner.words(
        MERGE_REQUEST,
        shell,
        NODROP_BASE="main",
        NODROP_FAIL_ON=evil,
        NODROP_PATHS=f"pod 1\n\n  --help\n{evil}",
        NODROP_ARGUMENTS=f"--profile={evil}\n--no-routing",
    )
    expected = ["--fail-on", evil, f"--profile={evil}", "--no-routing", "--", "pod 1", "--help", evil]
    assert words[words.index("--fail-on") :] == expected
    assert not list(tmp_path.rglob("pwned"))


@pytest.fixture
def notes() -> Iterator[Notes]:
    """A merge request with notes of others, one of which looks like nodrop's, on a server."""
    made = Notes()
    made.add(2, "Why?")
    made.add(1, "a note of the same bot about something else")
    made.add(3, "<!-- nodrop check: nodrop-check -->\nnot by nodrop")
    with api(made):
        yield made


def test_the_note_is_written_once_and_then_kept_up_to_date(runner: Runner, notes: Notes) -> None:
    theirs = json.loads(json.dumps(notes.notes))
    given = MERGE_REQUEST | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD", "CI_API_V4_URL": notes.url}
    assert runner.run(given | {"CHANGED": "0"}, NODROP_TOKEN=notes.token).code == 0
    assert notes.notes == theirs
    assert runner.run(given | {"CODE": "1"}, NODROP_TOKEN=notes.token).code == 1
    assert [one["body"] for one in notes.notes[3:]] == ["<!-- nodrop check: nodrop-check -->\n### nodrop: told\n"]
    notes.notes[3]["body"] = "<!-- nodrop check: nodrop-check -->\nof yesterday"
    assert runner.run(given | {"CHANGED": "0"}, NODROP_TOKEN=notes.token).code == 0
    assert [one["body"] for one in notes.notes[3:]] == ["<!-- nodrop check: nodrop-check -->\n### nodrop: told\n"]
    assert notes.notes[:3] == theirs


def test_a_note_that_cannot_be_written_is_told_and_changes_no_verdict(runner: Runner, notes: Notes) -> None:
    given = MERGE_REQUEST | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD", "CI_API_V4_URL": notes.url}
    done = runner.run(given, NODROP_TOKEN="wrong")
    assert (done.code, len(notes.notes)) == (0, 3)
    assert "HTTP Error 401" in done.log
    assert "the note could not be written: NODROP_TOKEN is to have the scope api, and the role Reporter" in done.log
    assert runner.run(given).log == ""


@pytest.mark.slow
def test_a_merge_request_that_breaks_a_fabric_is_stopped_with_its_reports(tmp_path: Path) -> None:
    root = site(tmp_path / "project")
    base = git(root, "rev-parse", "HEAD")
    file = root / "build" / "pod1" / "leaf1" / "config_db.json"
    file.write_text(re.sub(r'"PFC_WD": \{.*?\n    \}', '"PFC_WD": {}', file.read_text(), flags=re.DOTALL))
    committed(root, "without watchdogs")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {**GIT, **MERGE_REQUEST, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "PATH": path}
    given |= {"PYTHONPATH": str(ROOT / "src"), "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    done = run(TEMPLATE, "nodrop-check", root, given)
    assert done.code == 1, done.log
    report = root / "nodrop-report"
    assert f"<sub>compared with `{base[:12]}`" in (report / "report.md").read_text()
    told = json.loads((report / "codequality.json").read_text())
    assert {one["location"]["path"] for one in told} == {"build/pod1/leaf1/config_db.json"}
    assert 'name="pfc-without-watchdog"' in (report / "junit.xml").read_text()
    assert (report / "patches" / "leaf1").is_dir()
    artifacts = TEMPLATE["nodrop-check"]["artifacts"]
    assert artifacts["paths"] == ["nodrop-report/"]
    assert all((root / path).is_file() for path in artifacts["reports"].values())


def real(base: str, **more: str) -> Mapping[str, str]:
    """Return what a merge request is given, with the nodrop of this environment on its path."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    own = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    return {**GIT, **MERGE_REQUEST, **own, **more}


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["exclude: [leaf1]\n", "fail_on: never\n"])
def test_a_merge_request_does_not_bring_the_policy_by_which_it_passes(tmp_path: Path, policy: str) -> None:
    root = site(tmp_path / "project")
    base = git(root, "rev-parse", "HEAD")
    file = root / "build" / "pod1" / "leaf1" / "config_db.json"
    file.write_text(re.sub(r'"PFC_WD": \{.*?\n    \}', '"PFC_WD": {}', file.read_text(), flags=re.DOTALL))
    (root / "nodrop.yaml").write_text(policy)
    committed(root, "without watchdogs, and nothing to see")
    done = run(TEMPLATE, "nodrop-check", root, real(base))
    assert done.code == 1, done.log
    assert "error[policy-changed]: nodrop.yaml: changes" in done.log
    assert "policy-changed" in (root / "nodrop-report" / "codequality.json").read_text()


def test_reports_are_written_through_no_link_of_the_change(runner: Runner, project: Path, tmp_path: Path) -> None:
    given = MERGE_REQUEST | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD"}
    (tmp_path / "outside").mkdir()
    (project / "nodrop-report").symlink_to(tmp_path / "outside")
    assert runner.run(given).code == 0, "a leftover that nobody committed is replaced"
    assert not (project / "nodrop-report").is_symlink()
    shutil.rmtree(project / "nodrop-report")
    (project / "nodrop-report").symlink_to(tmp_path / "outside")
    committed(project, "a link")
    done = runner.run(given)
    assert (done.code, "nodrop-report is in the repository" in done.log) == (2, True)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_fork_gets_nothing_of_the_cache(runner: Runner) -> None:
    given = MERGE_REQUEST | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD", "CI_PROJECT_ID": "42"}
    assert "--no-cache" not in runner.words(given)
    assert "--no-cache" not in runner.words(given | {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "42"})
    assert "--no-cache" in runner.words(given | {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "77"})


@pytest.mark.slow
def test_nodrop_is_installed_where_the_image_has_none(project: Path, tmp_path: Path) -> None:
    base = git(project, "rev-parse", "HEAD")
    path = ":".join(one for one in os.environ["PATH"].split(":") if not (Path(one) / "nodrop").exists())
    given = {**GIT, **offline(), **MERGE_REQUEST, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "PATH": path}
    (tmp_path / "temp").mkdir()
    given |= {"TMPDIR": str(tmp_path / "temp")}
    of_nodrop = repository(tmp_path / "nodrop").as_uri()
    done = run(TEMPLATE, "nodrop-check", project, given, NODROP_REPOSITORY=of_nodrop)
    assert done.code == 3, done.log
    starts = ("nothing to check", "patches of 0 switches are in nodrop-report/patches", f"since {base[:12]}: ")
    assert all(line.startswith(starts) for line in done.log.splitlines()), done.log
    assert list((tmp_path / "temp").iterdir()) == []
