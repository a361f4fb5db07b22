"""Objects of a repository: an object that git returns for a name is accepted only if it has that name.

The name of an object is a hash of its kind, size and content (SHA-1 or SHA-256). It is computed here again: a chain
from the commit through trees to a blob is therefore the content that the commit's name stands for, regardless of the
store's file that it came from.
Format of trees and commits: git's Documentation/gitformat-*.txt and `git help hash-object`.
"""

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from nodrop.errors import InputProblems, Problem
from nodrop.revisions.asking import GitClient

_OBJECT_NAMES_PER_BATCH = 50
"""How many names are written before answers are read: at most 3,250 bytes, which the smallest pipe (4,096) takes."""
_OBJECT_HEADER_LINE = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) (blob|tree|commit|tag) ([0-9]+)\n")
_TREE_ENTRY_PATTERN = re.compile(rb"([0-7]{5,6}) ([^\0]+)\0")
_COMMIT_TREE_LINE = re.compile(rb"tree ([0-9a-f]{40}|[0-9a-f]{64})\n")
_SHA1_DIGITS = 40
_TREE, _LINK, _SUBMODULE = "40000", "120000", "160000"
_PARTIAL_CLONE_HINT = (
    "a partial clone leaves out what it has not shown; `git fetch --refetch` with no filter brings all"
)


class GitTreeEntry(NamedTuple):
    """An entry of a tree: a file, a symbolic link or a submodule, according to its mode."""

    mode: str
    oid: str

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link, whose target is its content."""
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        """Whether it is a commit of another repository."""
        return self.mode == _SUBMODULE


class ForgedGitObject(InputProblems):
    """The repository holds an object under a name that is not its own."""


class GitObjectReader:
    """Objects of a repository by their names, from one process of git."""

    def __init__(self, asked: GitClient) -> None:
        self._asked = asked
        self._process: subprocess.Popen[bytes] | None = None

    def content(self, blob: GitTreeEntry, display: str) -> bytes:
        """Return the content of a blob that messages call `display`; InputProblems where the clone does not have it.

        Forged where the clone holds something else under its name.
        """
        (raw,) = self._read_objects("blob", [blob.oid], [display])
        if raw is None:
            fault = f"the clone does not have what stood there (blob {blob.oid[:12]})"
            raise InputProblems([Problem(path=display, found=fault, hint=_PARTIAL_CLONE_HINT)])
        return raw

    def files(self, commit: str) -> dict[bytes, GitTreeEntry]:
        """Return files, links and submodules of a commit by path; InputProblems where a tree is not in the clone."""
        (raw,) = self._read_objects("commit", [commit], [""])
        head = None if raw is None else _COMMIT_TREE_LINE.match(raw)
        if head is None:
            raise InputProblems([_missing_object_problem("commit", commit)])
        blob: dict[bytes, GitTreeEntry] = {}
        level = [(b"", head[1].decode())]
        while level:
            below: list[tuple[bytes, str]] = []
            names = [oid for _, oid in level]
            for (folder, oid), tree in zip(level, self._read_objects("tree", names, [""] * len(names)), strict=True):
                if tree is None:
                    raise InputProblems([_missing_object_problem("tree", oid)])
                for mode, name, inner in _tree_entries(tree, oid):
                    if mode == _TREE:
                        below.append((folder + name + b"/", inner))
                    else:
                        blob[folder + name] = GitTreeEntry(mode, inner)
            level = below
        return blob

    def _read_objects(self, kind: str, oids: Sequence[str], displays: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of objects of one kind; None of one that is missing, or of another kind."""
        for at in range(0, len(oids), _OBJECT_NAMES_PER_BATCH):
            batch = oids[at : at + _OBJECT_NAMES_PER_BATCH]
            answers = self._read_kinds_and_contents(batch)
            for oid, display, (actual_kind, raw) in zip(
                batch, displays[at : at + _OBJECT_NAMES_PER_BATCH], answers, strict=True
            ):
                if actual_kind == kind and git_object_id(kind, raw, len(oid)) != oid:
                    fault = f"the content of the {kind} {oid[:12]} does not fit its name"
                    hint = "the repository is damaged or forged: clone it again"
                    raise ForgedGitObject([Problem(path=display or "--base", found=fault, hint=hint)])
                yield raw if actual_kind == kind else None

    def _read_kinds_and_contents(self, oids: Sequence[str]) -> list[tuple[str, bytes]]:
        """Return kind and content of objects, "" for the kind of a missing one; after a failure each is asked alone."""
        try:
            return self._exchange_with_git(oids)
        except (OSError, EOFError):
            self.close()
        if len(oids) == 1:
            return [("", b"")]
        return [answer for oid in oids for answer in self._read_kinds_and_contents([oid])]

    def _exchange_with_git(self, oids: Iterable[str]) -> list[tuple[str, bytes]]:
        if self._process is None:
            self._process = self._asked.start_command_process("cat-file", "--batch")
        questions, answers = self._process.stdin, self._process.stdout
        assert questions is not None
        assert answers is not None
        questions.write("".join(f"{oid}\n" for oid in oids).encode())
        questions.flush()
        exchanges = []
        for _ in oids:
            line = answers.readline()
            if not line.endswith(b"\n"):
                raise EOFError
            head = _OBJECT_HEADER_LINE.fullmatch(line)
            if head is None:
                exchanges.append(("", b""))
                continue
            size = int(head[3])
            raw = answers.read(size + 1)
            if len(raw) <= size:
                raise EOFError
            exchanges.append((head[2].decode(), raw[:-1]))
        return exchanges

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            process.wait()


@contextmanager
def open_git_objects(asked: GitClient) -> Iterator[GitObjectReader]:
    """Give the objects of a repository, as long as the context lasts."""
    objects = GitObjectReader(asked)
    try:
        yield objects
    finally:
        objects.close()


def git_object_id(kind: str, content: bytes, digits: int) -> str:
    """Return the name of an object in hexadecimal: 40 digits for SHA-1, 64 for SHA-256."""
    hasher = hashlib.sha1(usedforsecurity=False) if digits == _SHA1_DIGITS else hashlib.sha256()
    hasher.update(b"%s %d\0" % (kind.encode(), len(content)))
    hasher.update(content)
    return hasher.hexdigest()


def _tree_entries(tree: bytes, oid: str) -> Iterator[tuple[str, bytes, str]]:
    """Yield mode, name and object of a tree's entries; InputProblems if no checkout can have such a tree."""
    at, width = 0, len(oid) // 2
    while at < len(tree):
        entry = _TREE_ENTRY_PATTERN.match(tree, at)
        end = 0 if entry is None else entry.end() + width
        if entry is None or end > len(tree):
            raise InputProblems([Problem(path="--base", found=f"the tree {oid[:12]} is cut short or no tree")])
        name = entry[2]
        if name in (b".", b"..", b".git") or b"/" in name:
            fault = f"{name.decode('utf-8', 'backslashreplace')!r} in the tree {oid[:12]} is no name of a file"
            raise InputProblems([Problem(path="--base", found=fault)])
        yield entry[1].decode().lstrip("0"), name, tree[entry.end() : end].hex()
        at = end


def _missing_object_problem(kind: str, oid: str) -> Problem:
    return Problem(path="--base", found=f"the clone does not have the {kind} {oid[:12]}", hint=_PARTIAL_CLONE_HINT)
