"""Read-only access to git: the commit that a revision names, and the index's notes on files."""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.model.types import known_word_hint
from nodrop.revisions.asking import REVISION_HINT, RepositoryPlace
from nodrop.revisions.location import find_repository, locate_submodule
from nodrop.revisions.objects import GitTreeEntry

FETCH_HISTORY_HINT = (
    "fetch the history: `git fetch --unshallow` (GitHub Actions: actions/checkout with `fetch-depth: 0`; GitLab: the"
    " variable `GIT_DEPTH: 0`)"
)
_MESSAGE_SEARCH_PATTERN = re.compile(r":/|.*\^\{/", re.DOTALL)
"""A revision that searches messages of commits, which those who write the change under check may write too."""

_REVISION_SUFFIX_PATTERN = re.compile(r"[~^@:]")
"""What ends the name of a ref in a revision; where a name holds `@`, only its beginning is compared."""
_REF_NAMESPACES = ("tags", "heads", "remotes")
"""Where git looks for a name, in this order (gitrevisions(7))."""


class IndexStamp(NamedTuple):
    """What git's index noted of a file when its content was that of a blob."""

    oid: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    def is_file_unwritten_since(self, path: Path) -> bool:
        """Whether a file has not been written since; the index keeps 32 bits of each number."""
        try:
            status = path.lstat()
        except OSError:
            return False
        file_stamp = (
            status.st_size & _LOW_32_BITS,
            status.st_mtime_ns,
            status.st_ctime_ns,
            status.st_ino & _LOW_32_BITS,
        )
        return stat.S_ISREG(status.st_mode) and file_stamp == self[1:]


_LOW_32_BITS = 0xFFFFFFFF
_INDEX_ROW_PATTERN = re.compile(
    rb"([0-7]{6}) ([0-9a-f]{40,64}) [0-3]\t([^\0]+)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n"
    rb"  dev: \d+\tino: (\d+)\n  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: [0-9a-f]+\n"
)
"""A row of `git ls-files --stage --debug`; one that is written in another way tells nothing, and the file is read."""
_SUBMODULE_MODE_PREFIX = b"160000 "
_REGULAR_FILE_MODES = (b"100644", b"100755")
_ATTRIBUTES_FILE = b".gitattributes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository with a work tree."""

    place: RepositoryPlace

    @property
    def top(self) -> Path:
        """The work tree, without links in its path."""
        return self.place.top

    def output_of_command(self, *words: str) -> bytes:
        """Return the output of a command; InputProblems has the first line of its error message."""
        return self.place.git_client().output_of_command(*words)

    def commit_of_revision(self, revision: str) -> str:
        """Return the commit that a revision names; InputProblems where there is none, with the nearest branch."""
        if _MESSAGE_SEARCH_PATTERN.match(revision):
            fault, hint = (
                "a search in messages of commits, which a change can bring along",
                "name a branch, tag or commit",
            )
            raise InputProblems([Problem(path=f"--base {revision}", found=fault, hint=hint)])
        if revision.startswith("^"):
            raise InputProblems([Problem(path=f"--base {revision}", found="no such revision", hint=REVISION_HINT)])
        self._refuse_ambiguous_revision(revision)
        try:
            return self._resolve_commit(revision)
        except InputProblems:
            pass
        names = self.output_of_command("for-each-ref", "--format=%(refname:short)").decode("utf-8", "replace").split()
        fault, hint = "no such revision", self._hint_missing_revision(revision, names)
        if revision in names:
            fault, hint = (
                "git cannot read the commit that it names",
                "the repository is damaged or forged: clone it again",
            )
        raise InputProblems([Problem(path=f"--base {revision}", found=fault, hint=hint)])

    def has_remote_branches(self, remote: str) -> bool:
        """Whether a branch of a remote was ever fetched from it or pushed to it."""
        return bool(
            self.output_of_command(
                "for-each-ref", "--count=1", "--format=%(refname)", f"refs/remotes/{remote}/"
            ).strip()
        )

    def _resolve_commit(self, revision: str) -> str:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        return self.output_of_command(*words).decode().strip()

    def _refuse_ambiguous_revision(self, revision: str) -> None:
        """Refuse a name of several refs with different commits: git prefers a tag, which more people may push."""
        name = _REVISION_SUFFIX_PATTERN.split(revision, maxsplit=1)[0]
        meant = [f"refs/{name}", *(f"refs/{kind}/{name}" for kind in _REF_NAMESPACES), f"refs/remotes/{name}/HEAD"]
        words = self.output_of_command("for-each-ref", "--format=%(refname)", *meant).decode("utf-8", "replace").split()
        commit_by_ref = {ref: self._resolve_commit(ref) for ref in meant if ref in words} if len(words) > 1 else {}
        if len(set(commit_by_ref.values())) > 1:
            fault = f"a name of {len(commit_by_ref)} refs with different commits: {', '.join(commit_by_ref)}"
            hint = f"write the whole name: --base {next(reversed(commit_by_ref))}"
            raise InputProblems([Problem(path=f"--base {revision}", found=fault, hint=hint)])

    def _hint_missing_revision(self, revision: str, names: Sequence[str]) -> str:
        shallow = self._is_shallow()
        if not names and not shallow:
            return f"the repository has no commits yet; {REVISION_HINT}"
        remote, slash, branch = revision.partition("/")
        fetch = f"`git fetch {remote} {branch}` brings a branch that is not here" if slash else ""
        if shallow and not slash:
            fetch = f"the clone is shallow: {FETCH_HISTORY_HINT}"
        return "; ".join(hint for hint in (known_word_hint(revision, names), fetch) if hint)

    def commit_to_compare_with(self, revision: str, *, exact: bool) -> str:
        """Return the commit to compare with: where HEAD left a revision, or the revision itself with `exact`."""
        commit = self.commit_of_revision(revision)
        if exact:
            return commit
        try:
            head = self.commit_of_revision("HEAD")
        except InputProblems:
            fault, hint = (
                "HEAD has no commits yet, so it has left no other branch",
                "--exact compares with the revision",
            )
            raise InputProblems([Problem(path=f"--base {revision}", found=fault, hint=hint)]) from None
        try:
            return self.output_of_command("merge-base", commit, head).decode().split()[0]
        except (InputProblems, IndexError):
            pass
        shallow = self._is_shallow()
        exactly = "compare with the revision itself: --exact"
        fault = "no commit that it and HEAD have in common"
        fault += "; the clone is shallow" if shallow else ""
        hint = f"{FETCH_HISTORY_HINT}, or {exactly}" if shallow else f"the histories are not related: {exactly}"
        raise InputProblems([Problem(path=f"--base {revision}", found=fault, hint=hint)])

    def _is_shallow(self) -> bool:
        return self.output_of_command("rev-parse", "--is-shallow-repository").strip() == b"true"

    def index_stamps(self, files: Mapping[bytes, GitTreeEntry]) -> dict[bytes, IndexStamp]:
        """Return the index's notes on files, except files that may have been written after the index.

        No note counts if a .gitattributes differs from that of the former `files`: the file on disk was then perhaps
        written with another encoding, or with other line ends, than the blob that the index names.
        """
        try:
            written = (self.place.git_dir / "index").stat().st_mtime_ns
            rows = self.output_of_command("ls-files", "--stage", "--debug", "-z")
        except (InputProblems, OSError):
            return {}
        stamp = {}
        attributes = {path: blob.oid for path, blob in files.items() if _is_attributes_file(path)}
        for mode, oid, path, *numbers in _INDEX_ROW_PATTERN.findall(rows):
            if _is_attributes_file(path) and attributes.pop(path, "") != oid.decode():
                return {}
            changed_s, changed_ns, modified_s, modified_ns, inode, size = map(int, numbers)
            modified = modified_s * 10**9 + modified_ns
            if modified < written and mode in _REGULAR_FILE_MODES:
                stamp[path] = IndexStamp(oid.decode(), size, modified, changed_s * 10**9 + changed_ns, inode)
        return {} if attributes else stamp

    def submodules(self) -> frozenset[Path]:
        """Return the folders of the index that stand for other repositories, checked out or not."""
        rows = self.output_of_command("ls-files", "--stage", "-z").split(b"\0")
        links = (row.partition(b"\t")[2] for row in rows if row.startswith(_SUBMODULE_MODE_PREFIX))
        return frozenset(self.top / os.fsdecode(path) for path in links)

    def skipped_by_sparse_checkout(self) -> frozenset[bytes]:
        """Return the files of the index that a sparse checkout leaves out, and that do not lie there nonetheless."""
        rows = self.output_of_command("ls-files", "-t", "-z").split(b"\0")
        marked = (row[2:] for row in rows if row.startswith(b"S "))
        return frozenset(path for path in marked if not os.path.lexists(self.top / os.fsdecode(path)))


def _is_attributes_file(path: bytes) -> bool:
    return path == _ATTRIBUTES_FILE or path.endswith(b"/" + _ATTRIBUTES_FILE)


def open_repository(paths: Sequence[str]) -> Repository:
    """Return the repository of the working directory; InputProblems where there is none, or a path is not in it."""
    return Repository(place=find_repository(paths))


def submodules_here() -> frozenset[Path] | None:
    """Return the submodules of the repository of the working directory; None if git does not report them."""
    try:
        return open_repository([]).submodules()
    except InputProblems:
        return None


def find_submodule(outer: Repository, folder: Path) -> Repository | None:
    """Return the repository of a submodule that is checked out there; None where it is not."""
    place = locate_submodule(outer.place, folder)
    return None if place is None else Repository(place=place)
