"""The one seam through which an output tree is changed: each method is one step, and a test may end the run at any."""

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from nodrop.publish.held import HeldFolder, stale_handle_error
from nodrop.publish.landing import OutputPlace

UNSUPPORTED_OPERATION_ERRNOS = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
"""What is answered where the system, or one file system of it, does not have an operation."""

DRAFT_MARKER_FILE = ".nodrop-draft"
DRAFT_MARKER_FILE_CONTENT = b"Made by `nodrop build` on the way to a new tree, and removed by the next one.\n"
"""What stands first in a tree on its way in, and in one on its way out: nodrop made it and may remove it."""

LOCK_FILE_CONTENT = b"Held by `nodrop build` while it runs, and removed by it.\n"
"""What a lock's file holds that nodrop made; any other stays."""

_CREATE_NEW_FLAGS = os.O_CREAT | os.O_EXCL
_RENAME_EXCHANGE = 2  # linux/fs.h


class ForeignEntry(Exception):
    """An entry next to a tree has one of nodrop's names, but nodrop did not make it, or another user did."""

    def __init__(self, name: str, owner: int | None = None) -> None:
        super().__init__(name)
        self.name, self.owner = name, owner


class DiskWriter:
    """Every operation that changes the disk. Reading is none of them: a run that ends at a read has changed nothing.

    All are relative to open folders and follow no link, so nobody who swaps names meanwhile can redirect them.
    """

    def mkdir(self, place: OutputPlace, mode: int = 0o777) -> None:
        """Make one folder, less the umask."""
        os.mkdir(place.name, mode, dir_fd=place.folder)

    def write_file(self, place: OutputPlace, data: bytes, mode: int, *, sync: bool) -> None:
        """Write a file that was not there, less the umask; with `sync`, return once it would outlive a power cut."""
        with os.fdopen(place.open(os.O_WRONLY | _CREATE_NEW_FLAGS, mode), "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())

    def mark_removable(self, folder: HeldFolder, mode: int | None = None) -> None:
        """Mark a folder as made by nodrop; its owner may then remove it; it may be marked already.

        With `mode`, it has that mode, regardless of the umask.
        """
        current_mode = stat.S_IMODE(folder.status().st_mode)
        wanted_mode = current_mode | 0o700 if mode is None else mode
        if wanted_mode != current_mode:
            os.fchmod(folder.handle, wanted_mode)
        marker = folder.at(DRAFT_MARKER_FILE)
        if marker.status() is None:  # a full disk has no room for a second one, not even for a moment
            with suppress(FileExistsError):
                os.close(marker.create_whole_file(DRAFT_MARKER_FILE_CONTENT))

    def unmark_removable(self, folder: HeldFolder) -> None:
        """Take out of a folder that it may be removed."""
        os.unlink(DRAFT_MARKER_FILE, dir_fd=folder.handle)

    def write_draft(self, file: BinaryIO, data: bytes) -> None:
        """Write a draft of a file, and return once it would outlive a power cut."""
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

    def copy_owner_and_mode(self, draft: int, place: OutputPlace) -> None:
        """Give an open file the owner, mode and attributes of another; PermissionError where only root could."""
        source = place.open(os.O_RDONLY | os.O_NONBLOCK)
        try:
            status, found_status = os.fstat(draft), os.fstat(source)
            if (status.st_uid, status.st_gid) != (found_status.st_uid, found_status.st_gid):
                os.fchown(draft, found_status.st_uid, found_status.st_gid)
            os.fchmod(draft, stat.S_IMODE(found_status.st_mode))
            _copy_extended_attributes(source, draft)
        finally:
            os.close(source)

    def replace_file_with_draft(self, draft: OutputPlace, place: OutputPlace) -> None:
        """Let a draft take the place of a file in its folder, in one step."""
        os.replace(draft.name, place.name, src_dir_fd=draft.folder, dst_dir_fd=place.folder)

    def add_hard_link(self, source: OutputPlace, place: OutputPlace) -> None:
        """Let a file have a second name."""
        os.link(source.name, place.name, src_dir_fd=source.folder, dst_dir_fd=place.folder, follow_symlinks=False)

    def fsync_folder(self, folder: int) -> None:
        """Return once the names in an open folder would outlive a power cut."""
        with _reopen_folder(folder) as handle:
            try:
                os.fsync(handle)
            except OSError as error:
                if (
                    error.errno not in UNSUPPORTED_OPERATION_ERRNOS
                ):  # CIFS and some FUSE systems have no fsync of a folder
                    raise

    def sync_filesystem(self, folder: int) -> None:
        """Return once everything written to the file system of this folder would outlive a power cut."""
        try:
            _call_libc("syncfs", folder)
        except OSError as error:
            if error.errno not in UNSUPPORTED_OPERATION_ERRNOS:
                raise
            os.sync()

    def rename(self, source: OutputPlace, place: OutputPlace) -> None:
        """Move within a folder, in one step; a folder replaces nothing but an empty folder."""
        os.rename(source.name, place.name, src_dir_fd=source.folder, dst_dir_fd=place.folder)

    def exchange(self, landing: OutputPlace, other_landing: OutputPlace) -> None:
        """Let two names change places, in one step; an OSError of NOT_OFFERED where that does not exist."""
        names = os.fsencode(landing.name), os.fsencode(other_landing.name)
        _call_libc("renameat2", landing.folder, names[0], other_landing.folder, names[1], _RENAME_EXCHANGE)

    def remove_tree(self, place: OutputPlace, folder: HeldFolder) -> None:
        """Remove a folder that has this name, and all below it, its marker last; links are never followed.

        The content removed is that of the folder that was opened, even if another folder has its name by now.
        """
        with os.scandir(folder.handle) as scandir_iterator:
            entries = [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in scandir_iterator
                if entry.name != DRAFT_MARKER_FILE
            ]
        for name, is_folder in entries:
            if is_folder:
                shutil.rmtree(name, dir_fd=folder.handle)
            else:
                os.unlink(name, dir_fd=folder.handle)
        folder.at(DRAFT_MARKER_FILE).remove()
        if not folder.is_at(place):
            raise stale_handle_error()
        os.rmdir(place.name, dir_fd=place.folder)

    def remove_empty(self, place: OutputPlace) -> None:
        """Remove a folder that holds nothing; an OSError where it does."""
        os.rmdir(place.name, dir_fd=place.folder)

    def try_lock(self, place: OutputPlace) -> int | None:
        """Take the lock of this name, and return the handle that `unlock` wants; None when another run holds it.

        The kernel lets go when a run dies, so a file left behind locks nobody out. NotOurs where the name is no file,
        or another user's.
        """
        while True:
            handle, is_locked = _open_lock_file(place), False
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The last holder may have removed the file since it was opened; then the next run would lock another.
                is_locked = _is_still_at_name(handle, place)
            except BlockingIOError:
                return None
            finally:
                if not is_locked:
                    os.close(handle)
            if is_locked:
                return handle

    def unlock_and_remove_lock(self, place: OutputPlace, handle: int) -> None:
        """Remove the lock's file, and only then let go: the next process that gets it sees that it is gone.

        A file without the content that nodrop writes into a lock belongs to another program, and stays.
        """
        try:
            if os.pread(handle, len(LOCK_FILE_CONTENT) + 1, 0) == LOCK_FILE_CONTENT and _is_still_at_name(
                handle, place
            ):
                place.remove()
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)  # closing is not enough while a forked child shares the handle
            os.close(handle)


DEFAULT_DISK_WRITER = DiskWriter()


@contextmanager
def _reopen_folder(folder: int) -> Iterator[int]:
    """Open a folder again, since it may be open without the right to read it."""
    handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


def _open_lock_file(place: OutputPlace) -> int:
    """Open the file of a lock, and make it where there is none."""
    while True:
        with suppress(FileExistsError):
            return place.create_whole_file(LOCK_FILE_CONTENT)
        status = place.status()
        if status is None:
            continue
        if not stat.S_ISREG(status.st_mode):
            raise ForeignEntry(place.name)
        if status.st_uid != os.geteuid():
            raise ForeignEntry(place.name, status.st_uid)
        with suppress(FileNotFoundError):
            return place.open(os.O_RDWR | os.O_NONBLOCK)


def _copy_extended_attributes(source: int, target: int) -> None:
    """Give an open file the extended attributes of another, as far as the system has and allows them."""
    try:
        for name in os.listxattr(source):
            with suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))
    except OSError as error:
        if error.errno not in UNSUPPORTED_OPERATION_ERRNOS:
            raise


def _is_still_at_name(handle: int, place: OutputPlace) -> bool:
    """Whether the open file is still the one of this name."""
    status = place.status()
    return status is not None and os.path.samestat(os.fstat(handle), status)


def _call_libc(name: str, *arguments: int | bytes) -> None:
    """Call a function of the C library that Python does not offer; ENOSYS where there is no way to it."""
    try:
        import ctypes

        function = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (ImportError, AttributeError):  # a Python built without libffi; a C library without the function
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
