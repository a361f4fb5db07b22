"""Git, asked and never told: revisions, trees and blobs are read, and nothing of a repository is written or run.

What a repository's configuration would run is kept from running: monitors of the file system, hooks, filters and
textconv (blobs are taken as they are), the fetching of what a partial clone left out. Git's own trust in the owner of a
repository (safe.directory, in the user's or the system's configuration) counts as it does everywhere.
"""

import os
import re
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.fabric.types import nearest

_QUIET = (
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
)
_ENVIRONMENT: Mapping[str, str] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")
"""What says where one repository is, and so where a repository inside it is not."""
REVISION_HINT = "--base takes a revision, such as origin/main, or a folder with the files as they were"
DEEPER = (
    "fetch the history: `git fetch --unshallow` (GitHub Actions: actions/checkout with `fetch-depth: 0`; GitLab: the"
    " variable `GIT_DEPTH: 0`)"
)


class Blob(NamedTuple):
    """An entry of a tree: a file, a symbolic link or a submodule, as its mode says."""

    mode: str
    oid: str

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link, whose target is its content."""
        return self.mode == "120000"

    @property
    def is_submodule(self) -> bool:
        """Whether it is a commit of another repository."""
        return self.mode == "160000"


class Stamp(NamedTuple):
    """What git's index noted of a file when its content was that of a blob."""

    oid: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    def fits(self, path: Path) -> bool:
        """Whether a file has not been written since; the index keeps 32 bits of each number."""
        try:
            now = path.lstat()
        except OSError:
            return False
        found = (now.st_size & _BITS, now.st_mtime_ns, now.st_ctime_ns, now.st_ino & _BITS)
        return stat.S_ISREG(now.st_mode) and found == self[1:]


_BITS = 0xFFFFFFFF
_STAMP = re.compile(
    rb"100(?:644|755) ([0-9a-f]{40,64}) 0\t([^\0]+)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n"
    rb"  dev: \d+\tino: (\d+)\n  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: [0-9a-f]+\n"
)
"""A row of `git ls-files --debug`; one that is written in another way tells nothing, and the file is looked into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository with a work tree."""

    top: Path
    """The work tree, without links in its path."""
    inside: bool = False
    """Whether it is a submodule, which variables of the environment do not speak of."""

    def ask(self, *words: str) -> bytes:
        """Return what a command prints; InputProblems has the first line of what it says against it."""
        return _asked(self.top, words, inside=self.inside)

    def commit(self, revision: str) -> str:
        """Return the commit that a revision names; InputProblems where there is none, with the nearest branch."""
        try:
            return (
                self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
                .decode()
                .strip()
            )
        except InputProblems:
            pass
        problem = Problem(path=f"--base {revision}", found="no such revision", hint=self._hint(revision))
        raise InputProblems([problem]) from None

    def _hint(self, revision: str) -> str:
        names = self.ask("for-each-ref", "--format=%(refname:short)").decode("utf-8", "replace").split()
        shallow = self._is_shallow()
        if not names and not shallow:
            return f"the repository has no commits yet; {REVISION_HINT}"
        remote, slash, branch = revision.partition("/")
        fetch = f"`git fetch {remote} {branch}` brings a branch that is not here" if slash else ""
        if shallow and not slash:
            fetch = f"the clone is shallow: {DEEPER}"
        return "; ".join(one for one in (nearest(revision, names), fetch) if one)

    def base(self, revision: str, *, exact: bool) -> str:
        """Return the commit to compare with: where HEAD left a revision, or that itself if it is to be `exact`."""
        commit = self.commit(revision)
        if exact:
            return commit
        try:
            head = self.commit("HEAD")
        except InputProblems:
            found, hint = (
                "HEAD has no commits yet, so it has left no other branch",
                "--exact compares with the revision",
            )
            raise InputProblems([Problem(path=f"--base {revision}", found=found, hint=hint)]) from None
        try:
            return self.ask("merge-base", commit, head).decode().split()[0]
        except (InputProblems, IndexError):
            pass
        shallow = self._is_shallow()
        exactly = "compare with the revision itself: --exact"
        found = "no commit that it and HEAD have in common"
        found += "; the clone is shallow" if shallow else ""
        hint = f"{DEEPER}, or {exactly}" if shallow else f"the histories are not related: {exactly}"
        raise InputProblems([Problem(path=f"--base {revision}", found=found, hint=hint)])

    def _is_shallow(self) -> bool:
        return self.ask("rev-parse", "--is-shallow-repository").strip() == b"true"

    def tree(self, commit: str) -> dict[bytes, Blob]:
        """Return all files of a commit, by their path from the top."""
        found = {}
        for row in self.ask("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            if row:
                said, _, path = row.partition(b"\t")
                mode, _, oid = said.decode().split(" ")[:3]
                found[path] = Blob(mode, oid)
        return found

    def stamps(self) -> dict[bytes, Stamp]:
        """Return what the index notes of files, but for those that may have been written after it was."""
        try:
            index = self.top / os.fsdecode(self.ask("rev-parse", "--git-path", "index").removesuffix(b"\n"))
            written = index.stat().st_mtime_ns
            rows = self.ask("ls-files", "--stage", "--debug", "-z")
        except (InputProblems, OSError):
            return {}
        found = {}
        for oid, path, *numbers in _STAMP.findall(rows):
            changed_s, changed_ns, modified_s, modified_ns, inode, size = map(int, numbers)
            modified = modified_s * 10**9 + modified_ns
            if modified < written:
                found[path] = Stamp(oid.decode(), size, modified, changed_s * 10**9 + changed_ns, inode)
        return found

    def left_out(self) -> frozenset[bytes]:
        """Return the files of the index that a sparse checkout leaves out, and that do not lie there nonetheless."""
        rows = self.ask("ls-files", "-t", "-z").split(b"\0")
        marked = (row[2:] for row in rows if row.startswith(b"S "))
        return frozenset(path for path in marked if not os.path.lexists(self.top / os.fsdecode(path)))

    @contextmanager
    def blobs(self) -> "Iterator[Blobs]":
        """Give the contents of blobs, as long as the context lasts."""
        words = ("git", *_QUIET, "cat-file", "--batch")
        pipe = subprocess.PIPE
        with subprocess.Popen(
            words,
            cwd=self.top,
            env=_environment(inside=self.inside),
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                yield Blobs(self, process.stdin, process.stdout)
            finally:
                process.stdin.close()
                process.stdout.close()
                process.terminate()


class Blobs:
    """Contents of blobs, from a process that answers one after the other."""

    def __init__(self, repository: Repository, questions: IO[bytes], answers: IO[bytes]) -> None:
        self._repository, self._questions, self._answers = repository, questions, answers

    def content(self, blob: Blob, display: str) -> bytes:
        """Return the content of a blob; InputProblems where the clone does not have it."""
        try:
            self._questions.write(f"{blob.oid}\n".encode())
            self._questions.flush()
            head = self._answers.readline().split()
        except OSError:
            head = []
        if len(head) != 3 or head[1] != b"blob":
            found = f"the clone does not have what stood there (blob {blob.oid[:12]})"
            hint = "a partial clone leaves out what it has not shown; `git fetch --refetch` with no filter brings all"
            raise InputProblems([Problem(path=display, found=found, hint=hint)])
        raw = self._answers.read(int(head[2]))
        self._answers.read(1)
        return raw


def open_repository(folder: Path) -> Repository:
    """Return the repository that a folder lies in, or that GIT_DIR names; InputProblems says why there is none."""
    try:
        if _asked(folder, ("rev-parse", "--is-bare-repository")).strip() == b"true":
            found, hint = "a bare repository, which has no files to check", "run in a work tree: `git worktree add`"
            raise InputProblems([Problem(path=str(folder), found=found, hint=hint)])
        top = os.fsdecode(_asked(folder, ("rev-parse", "--show-toplevel"))).removesuffix("\n")
    except FileNotFoundError:
        raise _no_git() from None
    return Repository(top=Path(os.path.realpath(top)))


def submodule(folder: Path) -> Repository | None:
    """Return the repository of a submodule that is checked out there; None where it is not."""
    try:
        top = os.fsdecode(_asked(folder, ("rev-parse", "--show-toplevel"), inside=True)).removesuffix("\n")
    except InputProblems:
        return None
    here = os.path.realpath(folder)
    return Repository(top=Path(here), inside=True) if os.path.realpath(top) == here else None


def _no_git() -> InputProblems:
    hint = "install git, or give --base a folder with the files as they were"
    return InputProblems([Problem(path="--base", found="there is no `git` to ask for a revision", hint=hint)])


def _environment(*, inside: bool) -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if not (inside and name in _PLACES)}
    return {**given, **_ENVIRONMENT}


def _asked(folder: Path, words: tuple[str, ...], *, inside: bool = False) -> bytes:
    command = ("git", *_QUIET, *words)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=_environment(inside=inside),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        if not folder.is_dir():
            raise InputProblems([Problem(path=str(folder), found="no such folder")]) from None
        raise _no_git() from None
    except (OSError, ValueError) as error:
        raise InputProblems([Problem(path="--base", found=f"git cannot be asked: {error}")]) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace")
        raise InputProblems([_fault(folder, words, said)])
    return done.stdout


def _fault(folder: Path, words: tuple[str, ...], said: str) -> Problem:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((line.removeprefix("fatal: ") for line in lines), f"`git {words[0]}` failed")
    if "dubious ownership" in said:
        command = next((line for line in lines if line.startswith("git config --global --add safe.directory")), "")
        hint = f"if you trust it: `{command}`" if command else "git's safe.directory says whom it trusts"
        return Problem(path=str(folder), found="git does not read a repository of another owner", hint=hint)
    if "not a git repository" in said:
        return Problem(path=str(folder), found="in no git repository", hint=REVISION_HINT)
    return Problem(path=str(folder), found=f"git says: {first}")
