"""The tree of a commit as a former state.

A file that has changed is put into a scratch folder when it is asked for, and shown under the path that it had.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.inputs import FileText, FolderEntry
from nodrop.revisions.git import IndexStamp, Repository, find_submodule
from nodrop.revisions.objects import ForgedGitObject, GitObjectReader, GitTreeEntry, git_object_id, open_git_objects
from nodrop.revisions.state import FormerTree
from nodrop.syntax.places import open_regular_file

_MAX_LINK_HOPS = 16
"""How many links are followed."""
_LFS_POINTER_START = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True, kw_only=True)
class _HeldBlob:
    """A blob of a repository, which may be a submodule."""

    blob: GitTreeEntry
    objects: GitObjectReader
    stamp: IndexStamp | None = None

    def is_at(self, path: Path) -> bool:
        """Whether its content lies there now."""
        if self.stamp is not None and self.stamp.is_file_unwritten_since(path):
            return self.stamp.oid == self.blob.oid
        return _object_id_of_file(path, len(self.blob.oid)) == self.blob.oid


class _OutsideLink(NamedTuple):
    """A link that leads out of the tree."""

    link: str
    target: str


class _CommitTree(FormerTree):
    """The files of a commit; those of submodules are among them."""

    def __init__(self, top: Path, files: Mapping[str, _HeldBlob], scratch: Path, left_out: frozenset[str]) -> None:
        """Keep `files` by path from `top`, whose path has no links."""
        super().__init__(top, left_out)
        self._files, self._scratch = files, scratch
        self._known: dict[str, Path | None] = {}
        self._now: set[str] = set()
        """Of which files of that state the content lies at the same path now."""
        self._plain: dict[str, bool] = {}
        """Whether the path of a folder has no links now."""
        self._below: dict[str, dict[str, bool]] = {"": {}}
        for path in files:
            self._add_path(path)

    def _add_path(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        is_folder = False
        while True:
            children = self._below.setdefault(folder, {})
            if name in children or not name:
                return
            children[name] = is_folder
            if not folder:
                return
            folder, _, name = folder.rpartition("/")
            is_folder = True

    def is_unchanged(self, text: FileText) -> bool:
        """Whether a text of this state is the very file that lies there now."""
        self._extracted_path(text.display)
        return self.path_from_top(text.display) in self._now

    def is_folder(self, path: Path) -> bool:
        """Whether a path led to a folder."""
        key = self.path_from_top(path)
        return key is not None and self._resolve_path_in_tree(key, str(path)) in self._below

    def is_file(self, path: Path) -> bool:
        """Whether a path led to a file, or is a link that led out of the tree, behind which there may have been one."""
        key = self.path_from_top(path)
        if key is None:
            return False
        resolved_key = self._resolve_path_in_tree(key, str(path))
        return key in self._files if resolved_key is None else resolved_key in self._files

    def entries(self, folder: Path) -> list[FolderEntry]:
        """Return the former entries of a folder, by name."""
        key = self._resolve_links(self.path_from_top(folder) or "")
        if not isinstance(key, str):
            return []
        found_entries = []
        for name, is_folder in sorted(self._below.get(key, {}).items()):
            own_name = f"{key}/{name}" if key else name
            leads = not is_folder and self._resolve_links(own_name) in self._below
            found_entries.append(FolderEntry(name, "folder" if is_folder else "link" if leads else "file"))
        return found_entries

    def head(self, path: Path) -> bytes:
        """Return the first bytes that a file had."""
        content_path = self._extracted_path(path)
        return b"" if content_path is None else super().head(content_path)

    def text(self, path: Path, display: str | None = None) -> FileText:
        """Return a file as a text to be read, shown by the path that it had."""
        shown = str(path) if display is None else display
        content_path = self._extracted_path(path)
        return FileText(display=shown) if content_path is None else super().text(content_path, shown)

    def _resolve_path_in_tree(self, key: str, display: str) -> str | None:
        """Follow links; None if a link leads out of the tree, a problem reported under the name `display`."""
        target = self._resolve_links(key)
        if isinstance(target, str):
            return target
        fault = f"a link that leads out of the repository ({target.link} -> {target.target}), so it is not followed"
        problem = Problem(path=display, found=fault)
        if problem not in self.problems:
            self.problems.append(problem)
        return None

    def _resolve_links(self, key: str) -> "str | _OutsideLink":
        """Follow links, also those among the folders above."""
        for _ in range(_MAX_LINK_HOPS):
            at = self._find_first_link(key)
            file = self._files.get(at)
            if file is None:
                return key
            target = os.fsdecode(file.objects.content(file.blob, at))
            leads = Path(os.path.normpath(self._top / Path(at).parent / target), *key[len(at) :].split("/"))
            if not leads.is_relative_to(self._top):
                return _OutsideLink(at, target)
            key = "/".join(leads.relative_to(self._top).parts)
        return key

    def _find_first_link(self, key: str) -> str:
        """Return the first part of a path that is a link; "" where none is."""
        file = self._files.get(key)
        if key in self._below or (file is not None and not file.blob.is_link):
            return ""
        segments = key.split("/")
        for number in range(1, len(segments) + 1):
            tree_file = self._files.get(prefix := "/".join(segments[:number]))
            if tree_file is not None and tree_file.blob.is_link:
                return prefix
        return ""

    def _extracted_path(self, path: Path | str) -> Path | None:
        """Return where the content is that a file had; None where that is not to be had, which is a problem."""
        key = self.path_from_top(path)
        if key is None:
            return None
        if key not in self._known:
            resolved_key = self._resolve_path_in_tree(key, str(path))
            found_path = None if resolved_key is None else self._extract_file(resolved_key, str(path))
            if (
                resolved_key is not None
                and found_path == self._top / resolved_key
                and (resolved_key == key or os.path.realpath(path) == str(found_path))
            ):
                found_path = Path(path)
                self._now.add(key)
            self._known[key] = found_path
        return self._known[key]

    def _extract_file(self, key: str, display: str) -> Path | None:
        file = self._files.get(key)
        if file is None:
            return None
        path = self._top / key
        if self._has_no_links(key.rpartition("/")[0]) and file.is_at(path):
            return path
        scratch = self._scratch / file.blob.oid
        if not scratch.exists():
            try:
                raw = file.objects.content(file.blob, display)
            except ForgedGitObject:
                raise
            except InputProblems as error:
                self.problems.extend(error.problems)
                return None
            if raw.startswith(_LFS_POINTER_START):
                fault, hint = (
                    "what stood there is with Git LFS",
                    "--base takes a folder with the files as they were, too",
                )
                self.problems.append(Problem(path=display, found=fault, hint=hint))
                return None
            scratch.write_bytes(raw)
        return scratch

    def _has_no_links(self, folder: str) -> bool:
        if folder not in self._plain:
            path = str(self._top / folder)
            self._plain[folder] = os.path.realpath(path) == path
        return self._plain[folder]


def _object_id_of_file(path: Path, digits: int) -> str:
    """Return the name that git would give the content of a file, by SHA-1 or SHA-256; "" where it is no file."""
    try:
        with open_regular_file(path, str(path)) as (file, _):
            if path.is_symlink():
                return ""
            raw = file.read()
    except InputProblems:
        return ""
    return git_object_id("blob", raw, digits)


@contextmanager
def former_state_of_revision(repository: Repository, commit: str) -> Iterator[FormerTree]:
    """Yield the tree of a commit; files extracted from it disappear with the context."""
    with ExitStack() as open_ones, TemporaryDirectory(prefix="nodrop-") as scratch:
        files: dict[str, _HeldBlob] = {}
        left_out: set[str] = set()
        problems: list[Problem] = []
        pending = [("", repository, commit)]
        while pending:
            prefix, at, commit_id = pending.pop()
            objects = open_ones.enter_context(open_git_objects(at.place.git_client()))
            tree = objects.files(commit_id)
            stamps, sparse = at.index_stamps(tree), at.skipped_by_sparse_checkout()
            for raw, blob in tree.items():
                path = prefix + os.fsdecode(raw)
                if raw in sparse:
                    left_out.add(path)
                elif not blob.is_submodule:
                    files[path] = _HeldBlob(blob=blob, objects=objects, stamp=stamps.get(raw))
                else:
                    try:
                        inner = find_submodule(at, repository.top / path)
                    except InputProblems as error:
                        problems += (replace(problem, path=path) for problem in error.problems)
                        continue
                    if inner is None:
                        continue
                    try:
                        inner.commit_of_revision(blob.oid)
                    except InputProblems:
                        problems.append(_missing_commit_problem(path, blob.oid))
                    else:
                        pending.append((f"{path}/", inner, blob.oid))
        former = _CommitTree(repository.top, files, Path(scratch), frozenset(left_out))
        former.problems += problems
        yield former


def _missing_commit_problem(path: str, oid: str) -> Problem:
    fault = f"the submodule does not have the commit that it was at ({oid[:12]})"
    return Problem(path=path, found=fault, hint=f"`git -C {path} fetch origin {oid}` brings it")
