"""A former state of a tree as a disk: the same paths, with what lay there then.

A file that has not changed is the one that lies there now, so that what was worked out of it holds for both; the others
are put into a scratch folder when somebody asks for them, and shown under the paths that they had.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nodrop.errors import InputProblems, Problem
from nodrop.former.git import Blob, Blobs, Repository, submodule
from nodrop.inputs import Disk, Entry, Text
from nodrop.inputs.disk import HEAD_BYTES

_HOPS = 16
"""How many links are followed."""
_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A blob of a repository, which may be a submodule."""

    blob: Blob
    blobs: Blobs


_Here = Path | _Held
"""Where a file is: on the disk, or in a repository."""


class Former(Disk):
    """The files that lay below a folder; paths are those of now."""

    def __init__(self, top: Path, files: Mapping[str, _Here], scratch: Path) -> None:
        """`files` go by path from `top`, which has no links in its own."""
        super().__init__()
        self._top, self._files, self._scratch = top, files, scratch
        self._known: dict[str, Path | None] = {}
        self._below: dict[str, dict[str, bool]] = {"": {}}
        self.problems: list[Problem] = []
        """What could not be had of the state as it was."""
        for path in files:
            self._enter(path)

    def _enter(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        is_folder = False
        while True:
            known = self._below.setdefault(folder, {})
            if name in known or not name:
                return
            known[name] = is_folder
            if not folder:
                return
            folder, _, name = folder.rpartition("/")
            is_folder = True

    def key(self, path: Path | str) -> str | None:
        """Return a path from the top, "" of that itself; None where it lies elsewhere."""
        known, top = os.path.abspath(path), str(self._top)  # noqa: PTH100 -- links in it are those of now
        if known == top or known.startswith(top + os.sep):
            return known[len(top) + 1 :]
        at, names = Path(known), list[str]()
        while at != at.parent:
            if at.exists() and Path(os.path.realpath(at)) == self._top:
                return "/".join(reversed(names))
            names.append(at.name)
            at = at.parent
        return None

    def is_now(self, text: Text) -> bool:
        """Whether a text of this state is the very file that lies there now."""
        key = self.key(text.display)
        if key is None:
            return False
        there = self._resolved(key)
        return isinstance(there, str) and text.path == self._top / there and self._files.get(there) != text.path

    def fault(self, path: str) -> Problem | None:
        """Return why a path led nowhere."""
        if self.is_folder(Path(path)) or self.is_file(Path(path)):
            return None
        return Problem(path=path, found="no such file or folder before")

    def is_folder(self, path: Path) -> bool:
        """Whether a path led to a folder."""
        key = self.key(path)
        return key is not None and self._resolved(key) in self._below

    def is_file(self, path: Path) -> bool:
        """Whether a path led to a file."""
        key = self.key(path)
        if key is None:
            return False
        found = self._resolved(key)
        return os.path.isfile(found) if isinstance(found, Path) else found in self._files  # noqa: PTH113

    def entries(self, folder: Path) -> list[Entry]:
        """Return what a folder held, by name, without what begins with a dot."""
        key = self.key(folder) or ""
        key = str(self._resolved(key))
        found = []
        for name, is_folder in sorted(self._below.get(key, {}).items()):
            if not name.startswith("."):
                own = f"{key}/{name}" if key else name
                leads = not is_folder and self._resolved(own) in self._below
                found.append(Entry(name, "folder" if is_folder else "link" if leads else "file"))
        return found

    def head(self, path: Path) -> bytes:
        """Return the first bytes that a file had."""
        there = self._path(path)
        try:
            with (there or path).open("rb") as file:
                return file.read(HEAD_BYTES) if there else b""
        except OSError:
            return b""

    def text(self, path: Path, display: str | None = None) -> Text:
        """Return a file as a text to be read, shown by the path that it had."""
        shown = str(path) if display is None else display
        there = self._path(path)
        return Text(display=shown) if there is None else Text(display=shown, path=there)

    def _resolved(self, key: str) -> str | Path:
        """Follow links, also those among the folders above; of one that leads out of the tree, return where."""
        for _ in range(_HOPS):
            at = self._link_in(key)
            here = self._files.get(at)
            if not isinstance(here, _Held):
                return key
            target = os.fsdecode(here.blobs.content(here.blob, at))
            leads = Path(os.path.normpath(self._top / Path(at).parent / target), *key[len(at) :].split("/"))
            if not leads.is_relative_to(self._top):
                return leads
            key = "/".join(leads.relative_to(self._top).parts)
        return key

    def _link_in(self, key: str) -> str:
        """Return the first part of a path that is a link; "" where none is."""
        here = self._files.get(key)
        if key in self._below or isinstance(here, Path) or (here is not None and not here.blob.is_link):
            return ""
        parts = key.split("/")
        for number in range(1, len(parts) + 1):
            held = self._files.get(prefix := "/".join(parts[:number]))
            if isinstance(held, _Held) and held.blob.is_link:
                return prefix
        return ""

    def _path(self, path: Path) -> Path | None:
        """Return where the content is that a file had; None where that is not to be had, which is a problem."""
        key = self.key(path)
        if key is None:
            return None
        if key not in self._known:
            self._known[key] = self._found(self._resolved(key), str(path))
        return self._known[key]

    def _found(self, key: str | Path, display: str) -> Path | None:
        if isinstance(key, Path):
            return key
        here = self._files.get(key)
        if not isinstance(here, _Held):
            return here
        now = self._top / key
        if _oid(now, len(here.blob.oid)) == here.blob.oid:
            return now
        scratch = self._scratch / here.blob.oid
        if not scratch.exists():
            try:
                raw = here.blobs.content(here.blob, display)
            except InputProblems as error:
                self.problems.extend(error.problems)
                return None
            if raw.startswith(_POINTER):
                found, hint = (
                    "what stood there is with Git LFS",
                    "--base takes a folder with the files as they were, too",
                )
                self.problems.append(Problem(path=display, found=found, hint=hint))
                return None
            scratch.write_bytes(raw)
        return scratch


def _oid(path: Path, digits: int) -> str:
    """Return the name that git would give the content of a file, by SHA-1 or SHA-256; "" where it is no file."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if path.is_symlink() or not stat.S_ISREG(status.st_mode):
                return ""
            raw = file.read()
    except OSError:
        return ""
    made = hashlib.sha1(usedforsecurity=False) if digits == 40 else hashlib.sha256()
    made.update(b"blob %d\0" % len(raw))
    made.update(raw)
    return made.hexdigest()


@contextmanager
def of_revision(repository: Repository, commit: str) -> Iterator[Former]:
    """Give the tree of a commit; what is taken out of it is gone with the context."""
    with ExitStack() as open_ones, TemporaryDirectory(prefix="nodrop-") as scratch:
        files: dict[str, _Here] = {}
        problems: list[Problem] = []
        pending = [("", repository, commit)]
        while pending:
            prefix, at, one = pending.pop()
            blobs = open_ones.enter_context(at.blobs())
            for raw, blob in at.tree(one).items():
                path = prefix + os.fsdecode(raw)
                if not blob.is_submodule:
                    files[path] = _Held(blob=blob, blobs=blobs)
                elif (inner := submodule(repository.top / path)) is not None:
                    try:
                        inner.commit(blob.oid)
                    except InputProblems:
                        problems.append(_missing(path, blob.oid))
                    else:
                        pending.append((f"{path}/", inner, blob.oid))
        former = Former(repository.top, files, Path(scratch))
        former.problems += problems
        yield former


def _missing(path: str, oid: str) -> Problem:
    found = f"the submodule does not have the commit that it was at ({oid[:12]})"
    return Problem(path=path, found=found, hint=f"`git -C {path} fetch origin {oid}` brings it")


@contextmanager
def of_folder(folder: Path) -> Iterator[Former]:
    """Give what lies in a folder, as if the working directory were that."""
    files: dict[str, _Here] = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one != ".git"]
        for name in names:
            path = Path(here, name)
            files["/".join(path.relative_to(folder).parts)] = path
    yield Former(Path(os.path.realpath(".")), files, folder)
