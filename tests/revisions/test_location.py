"""Where a repository is, and the names and trees of its objects: without asking git."""

import hashlib
import os
from pathlib import Path

import pytest

from nodrop.errors import InputProblems
from nodrop.revisions import location
from nodrop.revisions.asking import RepositoryPlace
from nodrop.revisions.location import find_repository, locate_submodule
from nodrop.revisions.objects import _tree_entries, git_object_id


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder in it, which is the working directory."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"):
        monkeypatch.delenv(name, raising=False)
    top = Path(os.path.realpath(tmp_path)) / "site"
    git_dir(top / ".git")
    (top / "pod").mkdir()
    monkeypatch.chdir(top / "pod")
    monkeypatch.setattr(location, "_refuse_untrusted", lambda git_dir, top: None)  # asks git whose it is
    return top


def git_dir(path: Path) -> Path:
    for name in ("objects", "refs"):
        (path / name).mkdir(parents=True)
    (path / "HEAD").write_text("ref: refs/heads/main\n")
    return path


def refused(*paths: str) -> list[str]:
    with pytest.raises(InputProblems) as caught:
        find_repository(paths)
    return [problem.found for problem in caught.value.problems]


def test_the_repository_around_the_working_directory(here: Path) -> None:
    assert find_repository(["."]) == RepositoryPlace(top=here, git_dir=here / ".git", common=here / ".git")


def test_a_path_outside_the_work_tree_is_refused(here: Path) -> None:
    (here.parent / "other").mkdir()
    assert len(refused("../../other", ".", "../../other/file")) == 2


def test_no_repository_is_found_above_a_ceiling(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(here))
    assert refused() == ["in no git repository"]


def test_a_bare_repository_is_not_taken_for_one(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(git_dir(here.parent / "bare.git"))
    assert refused() != ["in no git repository"]


def test_a_linked_work_tree_has_its_objects_elsewhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = here / ".git" / "worktrees" / "second"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/second\n")
    (own / "commondir").write_text("../..\n")
    second = here.parent / "second"
    second.mkdir()
    (second / ".git").write_text(f"gitdir: {own}\n")
    monkeypatch.chdir(second)
    assert find_repository([]) == RepositoryPlace(top=second, git_dir=own, common=here / ".git")


@pytest.mark.parametrize("text", ["", "gitdir: ", "gitdir: /nowhere", "worktree: .git"])
def test_a_file_that_names_no_git_directory_is_refused(here: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "pod" / ".git").write_text(text)
    assert refused() == ["a file that names no git directory"]


def test_a_submodule_counts_where_git_puts_it(here: Path) -> None:
    outer = RepositoryPlace(top=here, git_dir=here / ".git", common=here / ".git")
    assert locate_submodule(outer, here / "pod") is None
    inside = git_dir(here / ".git" / "modules" / "pod")
    (here / "pod" / ".git").write_text("gitdir: ../.git/modules/pod\n")
    assert locate_submodule(outer, here / "pod") == RepositoryPlace(top=here / "pod", git_dir=inside, common=inside)
    (here / "pod" / ".git").write_text(f"gitdir: {git_dir(here.parent / 'elsewhere')}\n")
    with pytest.raises(InputProblems, match="not below that of the repository"):
        locate_submodule(outer, here / "pod")


def test_objects_have_the_names_that_git_gives_them() -> None:
    assert git_object_id("blob", b"", 40) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert git_object_id("blob", b"hello\n", 40) == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert git_object_id("tree", b"", 40) == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert git_object_id("blob", b"x", 64) == hashlib.sha256(b"blob 1\0x").hexdigest()


def entry(mode: str, name: bytes, byte: int = 1) -> bytes:
    return mode.encode() + b" " + name + b"\0" + bytes([byte]) * 20


def test_a_tree_is_read_entry_by_entry() -> None:
    tree = entry("100644", b"frr.conf") + entry("40000", b"hosts", 2)
    assert list(_tree_entries(tree, "a" * 40)) == [("100644", b"frr.conf", "01" * 20), ("40000", b"hosts", "02" * 20)]


@pytest.mark.parametrize(
    "tree",
    [
        *(entry("100644", name) for name in (b".", b"..", b".git", b"a/b")),
        entry("100644", b"cut")[:-1],
        b"no tree",
    ],
)
def test_a_tree_that_no_checkout_can_have_is_refused(tree: bytes) -> None:
    with pytest.raises(InputProblems):
        list(_tree_entries(tree, "a" * 40))
