"""One file written as a whole or not at all: a reader gets the old text or the new one, never a part."""

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from nodrop.publish.landing import OutputPlace, make_folder_above_output, open_folder_of_output

_DESCRIPTOR_BY_PATH = {"/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR_PATH_PATTERN = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")


class NotRegularFile(OSError):
    """The place of an output is taken by something that is no regular file."""

    def __init__(self) -> None:
        message = "not a regular file; for a pipe name its descriptor, as >(command) and /dev/fd/3 do"
        super().__init__(errno.EINVAL, message)


def replace_file(path: Path, data: bytes) -> None:
    """Give the file at `path` this content; OSError or ValueError if that fails, and then it is as it was.

    A file keeps its mode, a new one gets 0666 less the umask. A link in a repository, or below the working
    directory, is refused (`landing`), and so is an entry that is not a regular file, which is never waited for. A file
    in a folder that takes no new one is written to: there the old text may be lost if the writing fails. Open
    descriptors (/dev/stdout, /dev/fd/3) and character devices below /dev are written to as they are.
    """
    stream = _open_descriptor_or_device(path)
    if stream is not None:
        with os.fdopen(stream, "wb") as file:
            file.write(data)
        return
    with open_folder_of_output(path) as place:
        status = place.status()
        if status is not None and not stat.S_ISREG(status.st_mode):
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            raise NotRegularFile
        _replace_file(place, status, data)


def write_new_file(path: Path, data: bytes, *, overwrite: bool = False) -> None:
    """Write a file that is not there yet, or a generated one `overwrite` itself, and the folders above it.

    OSError where it cannot be, FileExistsError where a file is there, which stays as it is. No link is followed.
    """
    with open_folder_of_output(path, make_folder_above_output) as place:
        status = place.status()
        if overwrite and status is not None and stat.S_ISREG(status.st_mode):
            _replace_file(place, status, data)
            return
        if status is not None:
            raise FileExistsError
        handle, draft = place.create_hidden_draft(0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            os.link(draft.name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        finally:
            draft.remove()


def _replace_file(place: OutputPlace, there: os.stat_result | None, data: bytes) -> None:
    try:
        handle, draft = place.create_hidden_draft(0o666)
    except PermissionError:
        if there is None:
            raise
        _overwrite_file(place, data)
        return
    try:
        with os.fdopen(handle, "wb") as file:
            if there is not None:
                with suppress(PermissionError):  # FAT has no modes to set
                    os.fchmod(handle, stat.S_IMODE(there.st_mode))
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(draft.name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        draft.remove()
        raise


def _overwrite_file(place: OutputPlace, data: bytes) -> None:
    with os.fdopen(place.open(os.O_WRONLY | os.O_NONBLOCK), "wb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularFile
        file.truncate(0)
        file.write(data)


def _open_descriptor_or_device(path: Path) -> int | None:
    """Return an open descriptor, or a character device of the system, that a path names by its own name; else None.

    A descriptor is the user's, and open already: it is no name that anybody else could put something under.
    """
    name = os.path.abspath(path)  # noqa: PTH100 -- as it is named: what a link leads to is no name
    match = _DESCRIPTOR_PATH_PATTERN.fullmatch(name)
    number = int(match[1]) if match else _DESCRIPTOR_BY_PATH.get(name)
    if number is not None:
        return os.dup(number)
    if not name.startswith("/dev/"):
        return None
    with open_folder_of_output(path) as place:
        status = place.status()
        if status is None or not stat.S_ISCHR(status.st_mode):
            return None
        handle = place.open(os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        os.set_blocking(handle, True)
        return handle
