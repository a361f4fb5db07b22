"""The one seam through which an output tree is changed: each method is one step, and a test may end the run at any."""

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from nodrop.publish.landing import Landing

NOT_OFFERED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
"""What is answered where the system, or one file system of it, does not have an operation."""

MARKER = ".nodrop-draft"
MARK = b"Made by `nodrop build` on the way to a new tree, and removed by the next one.\n"
"""What stands first in a tree on its way in, and in one on its way out: nodrop made it and may remove it."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # linux/fcntl.h, linux/fs.h


class Disk:
    """Every operation that changes the disk. Reading is none of them: a run that ends at a read has changed nothing."""

    def mkdir(self, path: Path, mode: int | None = None) -> None:
        """Make one folder; with `mode`, exactly so, whatever the umask."""
        path.mkdir()
        if mode is not None:
            path.chmod(mode)

    def write_file(self, path: Path, data: bytes, mode: int, *, sync: bool) -> None:
        """Write a file that was not there, less the umask; with `sync`, return once it would outlive a power cut."""
        with os.fdopen(os.open(path, _NEW, mode), "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())

    def mark(self, folder: Path) -> None:
        """Say in a folder that nodrop made it and may remove it, which its owner may then do; it may say so already."""
        if not os.access(folder, os.W_OK | os.X_OK):
            folder.chmod(0o700)
        handle = os.open(folder / MARKER, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(MARK)

    def unmark(self, folder: Path) -> None:
        """Take out of a folder that it may be removed."""
        (folder / MARKER).unlink()

    def write_draft(self, file: BinaryIO, data: bytes) -> None:
        """Write a draft of a file, and return once it would outlive a power cut."""
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

    def take_after(self, draft: int, place: Landing) -> None:
        """Give an open file the owner, mode and attributes of another; PermissionError where only root could."""
        source = place.open(os.O_RDONLY | os.O_NONBLOCK)
        try:
            now, found = os.fstat(draft), os.fstat(source)
            if (now.st_uid, now.st_gid) != (found.st_uid, found.st_gid):
                os.fchown(draft, found.st_uid, found.st_gid)
            os.fchmod(draft, stat.S_IMODE(found.st_mode))
            _copy_attributes(source, draft)
        finally:
            os.close(source)

    def put(self, draft: Landing, place: Landing) -> None:
        """Let a draft take the place of a file in its folder, in one step."""
        os.replace(draft.name, place.name, src_dir_fd=draft.folder, dst_dir_fd=place.folder)

    def fsync_folder(self, place: Landing) -> None:
        """Return once the names in an open folder would outlive a power cut."""
        with _opened(".", place.folder) as handle:
            _fsync_folder(handle)

    def link(self, source: Path, path: Path) -> None:
        """Let `path` be a second name of the file `source`."""
        path.hardlink_to(source)

    def fsync_dir(self, path: Path) -> None:
        """Return once the names in this folder would outlive a power cut."""
        with _opened(path) as handle:
            _fsync_folder(handle)

    def sync_filesystem(self, path: Path) -> None:
        """Return once everything written to the file system of this folder would outlive a power cut."""
        with _opened(path) as handle:
            try:
                _call("syncfs", handle)
            except OSError as error:
                if error.errno not in NOT_OFFERED:
                    raise
                os.sync()

    def rename(self, source: Path, path: Path) -> None:
        """Move within a folder, in one step; a folder replaces nothing but an empty folder."""
        source.rename(path)

    def exchange(self, one: Path, other: Path) -> None:
        """Let two names change places, in one step; an OSError of NOT_OFFERED where that does not exist."""
        _call("renameat2", _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and all below it, what marks it last; links are removed, never followed."""
        with os.scandir(path) as found:
            entries = [entry for entry in found if entry.name != MARKER]
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)  # noqa: PTH108
        (path / MARKER).unlink(missing_ok=True)
        path.rmdir()

    def remove_empty(self, path: Path) -> None:
        """Remove a folder that holds nothing; an OSError where it does."""
        path.rmdir()

    def lock(self, path: Path) -> int | None:
        """Take the lock of this name, and return the handle that `unlock` wants; None when another run holds it.

        The kernel lets go when a run dies, so a file left behind locks nobody out.
        """
        while True:
            handle, held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), False
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The last holder may have removed the file since it was opened; then the next run would lock another.
                held = _is_at(handle, path)
            except BlockingIOError:
                return None
            finally:
                if not held:
                    os.close(handle)
            if held:
                return handle

    def unlock(self, path: Path, handle: int) -> None:
        """Remove the lock's file, and only then let go: whoever gets it afterwards sees that it is gone.

        A file that holds anything is somebody else's, and stays.
        """
        try:
            if os.fstat(handle).st_size == 0:
                path.unlink(missing_ok=True)
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)  # closing is not enough while a forked child shares the handle
            os.close(handle)


DISK = Disk()


@contextmanager
def _opened(folder: Path | str, above: int | None = None) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=above)
    try:
        yield handle
    finally:
        os.close(handle)


def _copy_attributes(source: int, target: int) -> None:
    """Give an open file the extended attributes of another, as far as the system has and allows them."""
    try:
        for name in os.listxattr(source):
            with suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))
    except OSError as error:
        if error.errno not in NOT_OFFERED:
            raise


def _fsync_folder(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in NOT_OFFERED:  # CIFS and some FUSE systems have no fsync of a folder
            raise


def _is_at(handle: int, path: Path) -> bool:
    """Whether the open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _call(name: str, *arguments: int | bytes) -> None:
    """Call a function of the C library that Python does not offer; ENOSYS where there is no way to it."""
    try:
        import ctypes

        function = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (ImportError, AttributeError):  # a Python built without libffi; a C library without the function
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
