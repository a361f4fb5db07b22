"""One file written as a whole or not at all: whoever reads it meets the old text or the new one, never a part."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from nodrop.publish.landing import Landing, is_stream, landing


def replace_file(path: Path, data: bytes) -> None:
    """Let `path` be a file of this content; OSError or ValueError where it cannot be, and then it is as it was.

    A file keeps its mode, a new one has what the umask leaves of 0666. A link in a repository, or below the working
    directory, is refused (`landing`). What is no regular file (a pipe, a terminal) is written to, and so is a file in a
    folder that takes no new one: there the old text may be lost where the writing fails.
    """
    if is_stream(path):
        path.write_bytes(data)
        return
    with landing(path) as place:
        there = place.status()
        if there is not None and not stat.S_ISREG(there.st_mode):
            _overwrite(place, data)
            return
        try:
            handle, draft = place.draft(0o666)
        except PermissionError:
            if there is None:
                raise
            _overwrite(place, data)
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


def write_new(path: Path, data: bytes, *, over: bool = False) -> None:
    """Write a file that is not there yet, or a generated one `over` itself, and the folders above it.

    OSError where it cannot be, FileExistsError where a file is there, which stays as it is. No link is followed.
    """
    with landing(path, make_folders=True) as place:
        if over:
            replace_file(path, data)
            return
        if place.status() is not None:
            raise FileExistsError
        handle, draft = place.draft(0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            os.link(draft.name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        finally:
            draft.remove()


def _overwrite(place: Landing, data: bytes) -> None:
    with os.fdopen(place.open(os.O_WRONLY | os.O_TRUNC), "wb") as file:
        file.write(data)
