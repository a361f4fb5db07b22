"""Pull requests on the example repository, with real git: what their authors do, and what their reviewers are told.

Each story has a folder in story/: `told.txt` has the commands and their exit codes, `comment.md` is the comment
of the pull request, `patch/` what the switches' own tools take; files there that are those of the new tree, whole, are
named in `told.txt`. `pytest --update-golden` writes them anew; they are to be read as the reviewer would.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.command import nodrop
from support.gitops import committed, git, site
from support.marked import slow
from support.places import TESTS
from support.snapshots import without_counts

pytestmark = pytest.mark.xdist_group("examples/gitops")

GOLDEN = TESTS / "project" / "story"
COMMIT = "0123456789ab"
"""What stands in golden files for the commit that a change is held against."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """A pull request: what its author changes, and whether the builds are made anew."""

    change: Callable[[], None]
    build: tuple[str, ...] | None = ()
    """Options of `nodrop build`; None where the author forgets it, or has no intents."""
    plain: bool = False
    """Whether the repository has configurations alone, and nobody's intents."""


def put(path: str, *edits: tuple[str, str]) -> None:
    """Change a text of a file, which has each of the old ones once."""
    text = Path(path).read_text()
    for old, new in edits:
        assert text.count(old) == 1, (path, old)
        text = text.replace(old, new)
    Path(path).write_text(text)


def ecn_thresholds() -> None:
    put("intents/pod1.yaml", ("ecn: {min: 150kB, max: 1500kB", "ecn: {min: 200kB, max: 2MB"))


def ecn_thresholds_of_both_pods() -> None:
    ecn_thresholds()
    put("intents/pod2.yaml", ("ecn: {min: 150kB, max: 1500kB", "ecn: {min: 200kB, max: 2MB"))


def leaf_added() -> None:
    edits = ("leaves: {ids: 1-2", "leaves: {ids: 1-3"), ("{ids: 1-6, gpus", "{ids: 1-9, gpus")
    put("intents/pod1.yaml", *edits, ("{ids: 1-2, nic", "{ids: 1-3, nic"))


def watchdog_broken() -> None:
    put("intents/pod2.yaml", ("hosts: {detection: 200ms}", "hosts: {detection: 500ms}"))
    put("intents/pod2.yaml", ("fabric: {detection: 600ms}", "fabric: off"))


def storage_in_rdma() -> None:
    put("intents/pod1.yaml", ("storage: {dscp: 10,", "storage: {dscp: [10, 26],"))


def spine_drained() -> None:
    text = Path("intents/pod2.yaml").read_text()
    Path("intents/pod2.yaml").write_text(text + "devices: {spine9: {drained: true}}  # new optics, NET-1500\n")


def map_edited() -> None:
    put("configs/leaf1/config_db.json", ('"10": "2"', '"10": "3"'))


def ports_unwatched() -> None:
    config = json.loads(Path("configs/leaf2/config_db.json").read_text())
    for port in ("Ethernet192", "Ethernet200"):
        del config["PFC_WD"][port]
    Path("configs/leaf2/config_db.json").write_text(json.dumps(config, indent=4) + "\n")


def device_deleted() -> None:
    shutil.rmtree("configs/spine2")


def folder_renamed() -> None:
    Path("configs").rename("row7")


STORIES = {
    "ecn-thresholds": Story(change=ecn_thresholds),
    "ecn-thresholds-of-both-pods": Story(change=ecn_thresholds_of_both_pods),
    "leaf-added": Story(change=leaf_added),
    "watchdog-broken": Story(change=watchdog_broken, build=("--write-anyway",)),
    "storage-in-rdma": Story(change=storage_in_rdma),
    "spine-drained": Story(change=spine_drained),
    "build-forgotten": Story(change=spine_drained, build=None),
    "map-edited": Story(change=map_edited, build=None, plain=True),
    "ports-unwatched": Story(change=ports_unwatched, build=None, plain=True),
    "device-deleted": Story(change=device_deleted, build=None, plain=True),
    "folder-renamed": Story(change=folder_renamed, build=None, plain=True),
}


@cache
def told(name: str) -> dict[str, str]:
    """Return what a story comes to, file by file."""
    story = STORIES[name]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = site(Path(folder) / "site")
        patch.chdir(root)
        patch.setenv("NODROP_NO_CACHE", "1")
        if story.plain:
            without_intents(root)
        base = git(root, "rev-parse", "main")[:12]
        git(root, "switch", "-q", "-c", "topic")
        story.change()
        said = []
        if story.build is not None:
            said += ran("build", *map(str, sorted(Path("intents").iterdir())), "-o", "build", *story.build)
        committed(root, name)
        markdown = "markdown=../comment.md"
        said += ran("check", "--base", "main", "--format", "text", "--format", markdown, "--patch", "../patch")
        comment = Path("../comment.md").read_text()
        files = {"comment.md": comment.replace(base, COMMIT)}
        for path in sorted(Path("../patch").rglob("*")):
            if path.is_file() and path.name not in (".nodrop.json", "PATCHES.txt"):
                at = path.relative_to("../patch")
                whole = [one for one in Path().rglob(path.name) if one.read_bytes() == path.read_bytes()]
                if whole:
                    said.append(f"patch/{at.as_posix()} is {min(one.as_posix() for one in whole)}")
                else:
                    files[f"patch/{at.as_posix()}"] = path.read_text()
        files["told.txt"] = "\n".join(said).replace(base, COMMIT) + "\n"
        return files


def without_intents(root: Path) -> None:
    """Make the repository that of a site without intents: configurations as its switches have them."""
    shutil.move(root / "build" / "pod1", root / "configs")
    for name in ("build", "intents", "rules", "configs/plan", "configs/hosts"):
        shutil.rmtree(root / name)
    put("nodrop.yaml", ("rules: [rules]  # rules of our own, beside those of nodrop\n", ""))
    committed(root, "configurations alone")


def ran(*words: str) -> list[str]:
    """Run nodrop and return the command, what it prints, and its exit code."""
    done = nodrop(*words)
    printed = without_counts(f"{done.out}{done.err}")
    return [f"$ nodrop {' '.join(words)}", *printed.splitlines(), f"exit {done.code}", ""]


@pytest.fixture(scope="session", autouse=True)
def written_anew(update_golden: bool) -> None:
    if update_golden:
        made = {story: told(story) for story in STORIES}
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for story, files in made.items():
            for name, text in files.items():
                (GOLDEN / story / name).parent.mkdir(parents=True, exist_ok=True)
                (GOLDEN / story / name).write_text(text)


@pytest.mark.parametrize("story", [*list(STORIES)[:3], *slow(*list(STORIES)[3:])])
def test_story(story: str) -> None:
    there = {
        path.relative_to(GOLDEN / story).as_posix(): path for path in (GOLDEN / story).rglob("*") if path.is_file()
    }
    assert sorted(there) == sorted(told(story))
    for name, path in there.items():
        assert path.read_text() == told(story)[name], f"{path}; look at it, and write it anew with --update-golden"


def test_no_story_without_golden_files() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(STORIES)
