"""A folder held open: all reads and writes below it are in that very folder, even if its name is reused meanwhile."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from nodrop.publish.landing import OutputPlace

_FOLDER_OPEN_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

FileIdentity = tuple[int, int]
NOT_PLAIN_FILE_REASON = "is no longer the plain file that nodrop wrote"


class NotPlainFile(OSError):
    """What stands under the name of a file is none: a folder, a link, a pipe or a device."""

    def __init__(self) -> None:
        super().__init__(errno.EINVAL, NOT_PLAIN_FILE_REASON)


class HeldFolderError(OSError):
    """An error of a file in a folder that is held; its `filename` is the path from there."""


def file_identity(status: os.stat_result) -> FileIdentity:
    """Return what no two files or folders share while both exist."""
    return status.st_dev, status.st_ino


def stale_handle_error() -> OSError:
    """Return the error of a name that no longer leads to the opened file or folder."""
    return OSError(errno.ESTALE, os.strerror(errno.ESTALE))


class HeldFolder:
    """A folder, open; in another process it is opened by its path, and has to be the same one.

    The last folder below it that was asked for stays open, for files are written and read folder by folder.
    """

    def __init__(self, path: str, identity: FileIdentity, handle: int | None = None) -> None:
        """`path` is the real path that it has; `handle` its descriptor, which is closed with this."""
        self.path, self.identity = path, identity
        self._handle = handle
        self._below: tuple[str, int] | None = None

    @classmethod
    def of(cls, place: OutputPlace) -> "HeldFolder | None":
        """Open the folder of a name; None where there is nothing, an OSError where it is no folder or a link."""
        try:
            handle = place.open(_FOLDER_OPEN_FLAGS)
        except FileNotFoundError:
            return None
        return cls(os.path.join(place.above, place.name), file_identity(os.fstat(handle)), handle)  # noqa: PTH118

    def __reduce__(self) -> tuple[type["HeldFolder"], tuple[str, FileIdentity]]:
        return HeldFolder, (self.path, self.identity)

    def __del__(self) -> None:
        for handle in (self._handle, self._below and self._below[1]):
            if handle is not None:
                with suppress(OSError):
                    os.close(handle)

    @property
    def handle(self) -> int:
        """The descriptor; OSError where the path leads to another folder by now."""
        if self._handle is None:
            try:
                handle = os.open(self.path, _FOLDER_OPEN_FLAGS)
            except OSError:
                raise stale_handle_error() from None
            if file_identity(os.fstat(handle)) != self.identity:
                os.close(handle)
                raise stale_handle_error()
            self._handle = handle
        return self._handle

    def status(self) -> os.stat_result:
        """Return the stat result of the folder."""
        return os.fstat(self.handle)

    def names(self) -> list[str]:
        """Return the names in the folder."""
        return os.listdir(self.handle)  # noqa: PTH208 -- a descriptor has no path

    def is_at(self, place: OutputPlace) -> bool:
        """Whether this folder has a name."""
        status = place.status()
        return status is not None and file_identity(status) == self.identity

    def open_subfolder(self, path: str) -> int:
        """Return the descriptor of a folder below it, reached without links, until another one is asked for."""
        if not path:
            return self.handle
        if self._below is not None and self._below[0] == path:
            return self._below[1]
        at = self.handle
        for segment in path.split("/"):
            try:
                below = os.open(segment, _FOLDER_OPEN_FLAGS, dir_fd=at)
            finally:
                if at != self.handle:
                    os.close(at)
            at = below
        if self._below is not None:
            os.close(self._below[1])
        self._below = (path, at)
        return at

    def at(self, path: str) -> OutputPlace:
        """Return where a file or folder below it is, until one in another folder is asked for."""
        above, _, name = path.rpartition("/")
        return OutputPlace(self.open_subfolder(above), name)

    def read_file(self, path: str) -> tuple[os.stat_result, bytes]:
        """Return the status of a file below it, and its bytes; NotPlainFile if it is none. No pipe is waited for."""
        above, _, name = path.rpartition("/")
        with put_path_into_os_errors(path), open_plain_file(name, self.open_subfolder(above)) as file:
            return os.fstat(file.fileno()), file.read()


@contextmanager
def open_plain_file(path: Path | str, folder: int | None = None) -> Iterator[BinaryIO]:
    """Open a file by its path or its name in an open folder; NotPlainFile where it is none. No pipe is waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            raise NotPlainFile from None
        raise
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotPlainFile
        yield file


@contextmanager
def put_path_into_os_errors(path: str) -> Iterator[None]:
    """Let an error name the file by its path from the folder that is held."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, NotPlainFile):
        raise
    except OSError as error:
        raise HeldFolderError(error.errno, error.strerror, path) from error
