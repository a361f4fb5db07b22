"""Where an output goes: a folder opened below its root, and a name in it that is no link.

The root of an output is the top of the repository that it is named in, else the working directory. Below it no link
leads out, and the output itself is none; above it, and elsewhere, links are the user's own and are followed.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nodrop.formats.root import Root, repository_of

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_TRIES = 100


class IsLink(OSError):
    """What is to be written is a link below the root."""

    def __init__(self) -> None:
        super().__init__(errno.ELOOP, "a link, which nothing is written through; remove it or give another name")


@dataclass(frozen=True, slots=True)
class Landing:
    """A folder, open, and a name in it."""

    folder: int
    name: str

    def status(self) -> os.stat_result | None:
        """Return what the name is, not followed; None where there is nothing."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the file of the name; never through a link."""
        return os.open(self.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self.folder)

    def draft(self, mode: int) -> tuple[int, "Landing"]:
        """Make a new file beside this one, hidden, and return it open; the umask takes from its mode."""
        for _ in range(_TRIES):
            made = Landing(self.folder, f".{self.name[:40]}.{secrets.token_hex(8)}")
            with suppress(FileExistsError):
                return made.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), made
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def remove(self) -> None:
        """Remove the file of the name, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.folder)


@contextmanager
def landing(path: Path, *, make_folders: bool = False) -> Iterator[Landing]:
    """Open the folder that an output goes to; OSError where a link is in the way, ValueError where it can have no name.

    With `make_folders`, the folders above it are made where they are missing.
    """
    where = Path(resolved(path))
    root = _root(path)
    if make_folders:
        where.parent.mkdir(parents=True, exist_ok=True)
    # Without links now: a root of its own real path opens it so, whatever is swapped meanwhile.
    if root is None:
        folder = os.open(where.parent, _FOLDER)
    else:
        folder = Root(os.path.realpath(root.top), root.shown).open(where.parent, _FOLDER)
    try:
        yield Landing(folder, where.name)
    finally:
        os.close(folder)


def is_stream(path: Path) -> bool:
    """Whether an output is a pipe, a terminal or the like, which is named and written to as it is."""
    try:
        kind = path.stat().st_mode
    except OSError:
        return False
    return _root(path) is None and not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)


def resolved(path: Path) -> str:
    """Return where an output really goes, without links; LeadsOut or IsLink where one is in the way below the root."""
    root = _root(path)
    if root is None:
        return os.path.realpath(path)
    absolute = os.path.abspath(path)  # noqa: PTH100
    if absolute == root.top:
        return os.path.realpath(absolute)
    above, name = os.path.split(absolute)
    where = os.path.join(root.resolved(above), name)  # noqa: PTH118
    if os.path.islink(where):  # noqa: PTH114
        raise IsLink
    return where


def _root(path: Path) -> Root | None:
    """Return what no link leads an output out of; None outside of a repository and of the working directory."""
    absolute = os.path.abspath(path)  # noqa: PTH100
    if (top := repository_of(absolute)) is not None:
        return Root(top, "the repository")
    here = Path.cwd()
    if here == Path("/") or not Path(absolute).is_relative_to(here):
        return None
    return Root(str(here), "the working directory")
