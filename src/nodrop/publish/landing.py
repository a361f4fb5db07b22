"""Where an output goes: a folder opened below its root, and a name in it that is not a link.

The root of an output is the top of the repository that it is named in, else the working directory. Below it no link
leads out, and the output itself is not a link; above it, and elsewhere, links are the user's and are followed. A link
of another user, where all users may write, is followed nowhere. The folder is found and opened in one walk from
descriptor to descriptor, so an entry that is swapped meanwhile leads nowhere else.
"""

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nodrop.syntax.root import FOLDER_OPEN_FLAGS, InputRoot, topmost_repository_of_path

_FOLDER_OPEN_FLAGS = FOLDER_OPEN_FLAGS | os.O_NOFOLLOW
_MAX_DRAFT_NAME_TRIES = 100
_UNNAMED_FILE_FLAG = getattr(os, "O_TMPFILE", os.O_DIRECTORY)
_NO_UNNAMED_FILE_ERRNOS = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)
"""Errors of open(2) where a file system or kernel has no files without a name, and of link(2) without /proc."""


class OutputIsLink(OSError):
    """The output is a link below the root."""

    def __init__(self) -> None:
        super().__init__(errno.ELOOP, "a link, which nothing is written through; remove it or give another name")


@dataclass(frozen=True, slots=True)
class OutputPlace:
    """A folder, open, and a name in it."""

    folder: int
    name: str
    above: str = ""
    """The real path that the folder had when it was opened, where that is known."""

    def status(self) -> os.stat_result | None:
        """Return the stat result of the name, not followed; None if it does not exist."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the file of the name; never through a link."""
        return os.open(self.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self.folder)

    def sibling(self, name: str) -> "OutputPlace":
        """Return another name in the same folder."""
        return OutputPlace(self.folder, name, self.above)

    def create_hidden_draft(self, mode: int) -> tuple[int, "OutputPlace"]:
        """Make a new hidden file next to this one, and return it open; the umask takes from its mode."""
        for _ in range(_MAX_DRAFT_NAME_TRIES):
            new_landing = self.sibling(f".{self.name[:40]}.{secrets.token_hex(8)}")
            with suppress(FileExistsError):
                return new_landing.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), new_landing
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    def create_whole_file(self, data: bytes) -> int:
        """Make a file that has its content from the first moment, and return it open; FileExistsError if there is one.

        It is a file without a name until it is whole; where the system has none (O_TMPFILE), it is written after it is
        made.
        """
        try:
            handle = os.open(".", os.O_RDWR | _UNNAMED_FILE_FLAG | os.O_CLOEXEC, 0o666, dir_fd=self.folder)
            try:
                os.write(handle, data)
                os.link(f"/proc/self/fd/{handle}", self.name, dst_dir_fd=self.folder)
            except BaseException:
                os.close(handle)
                raise
        except OSError as error:
            if error.errno not in _NO_UNNAMED_FILE_ERRNOS:
                raise
            handle = self.open(os.O_RDWR | os.O_CREAT | os.O_EXCL)
            try:
                os.write(handle, data)
            except BaseException:
                os.close(handle)
                self.remove()
                raise
        return handle

    def remove(self) -> None:
        """Remove the file of the name, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.folder)


def make_folder_above_output(landing: OutputPlace) -> None:
    """Make a folder above an output; another run may be making the same one."""
    with suppress(FileExistsError):
        os.mkdir(landing.name, dir_fd=landing.folder)


@contextmanager
def open_folder_of_output(path: Path, make: Callable[[OutputPlace], None] | None = None) -> Iterator[OutputPlace]:
    """Open the folder that an output goes to; OSError if a link is in the way, ValueError if it can have no name.

    `make` makes each folder that is missing above it; without it that is a FileNotFoundError. An output without a
    folder above it, which only `/` is, is called `.`.
    """
    with _open_nearest_folder_of_output(path) as (folder, names_below, above):
        at = os.open(".", _FOLDER_OPEN_FLAGS, dir_fd=folder)
        try:
            for name in names_below[:-1]:
                if make is None:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
                make(OutputPlace(at, name))
                below = os.open(name, _FOLDER_OPEN_FLAGS, dir_fd=at)
                os.close(at)
                at = below
            yield OutputPlace(at, names_below[-1], os.path.join(above, *names_below[:-1]))  # noqa: PTH118
        finally:
            os.close(at)


def resolve_real_output_path(path: Path) -> str:
    """Return where an output really goes, without links; LinkLeadsOut or OutputIsLink where one is below the root."""
    with _open_nearest_folder_of_output(path) as (_, names_below, above):
        return os.path.join(above, *names_below)  # noqa: PTH118


@contextmanager
def _open_nearest_folder_of_output(path: Path) -> Iterator[tuple[int, list[str], str]]:
    """Go to an output, and give the last folder above it that is there, open, the names below it, and its real path.

    The output is the last of the names.
    """
    absolute = os.path.abspath(path)  # noqa: PTH100
    root = _find_output_root(absolute)
    if root is None:
        with InputRoot("/", "/").walk_below_root(absolute, missing=True) as (folders, names, missing_names):
            if missing_names or not names:
                yield folders[-1], missing_names or ["."], "/" + "/".join(names)
            else:
                yield folders[len(names) - 1], names[-1:], "/" + "/".join(names[:-1])
        return
    above, name = os.path.split(absolute)
    with root.walk_below_root(above, missing=True) as (folders, names, missing_names):
        if not missing_names and len(folders) == len(names):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        status = None if missing_names else OutputPlace(folders[-1], name).status()
        if status is not None and stat.S_ISLNK(status.st_mode):
            raise OutputIsLink
        yield folders[-1], [*missing_names, name], os.path.join(os.path.realpath(root.top), *names)  # noqa: PTH118


def _find_output_root(absolute: str) -> InputRoot | None:
    """Return what no link leads an output out of; None outside of a repository and of the working directory.

    The root itself is such an output.
    """
    if (top := topmost_repository_of_path(absolute)) is not None:
        return None if absolute == top else InputRoot(top, "the repository", _open_repository_top(top))
    working_directory = os.getcwd()  # noqa: PTH109
    if working_directory in ("/", absolute) or not absolute.startswith(f"{working_directory}/"):
        return None
    return InputRoot(working_directory, "the working directory", os.open(".", _FOLDER_OPEN_FLAGS))


def _open_repository_top(top: str) -> int | None:
    """Open the top of a repository; None where one may not enter what lies above the working directory."""
    try:
        with InputRoot("/", "/").walk_below_root(top) as (folders, _, _):
            return os.open(".", _FOLDER_OPEN_FLAGS, dir_fd=folders[-1])
    except PermissionError:
        return None
