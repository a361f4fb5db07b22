"""One file written as a whole or not at all: whoever reads it meets the old text or the new one, never a part."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Let `path` be a file of this content; OSError or ValueError where it cannot be, and then it is as it was.

    A link is followed, and a file keeps its mode. What is no regular file (a pipe, a terminal) is written to, and so is
    a file in a folder that takes no new one: there the old text may be lost where the writing fails.
    """
    real = Path(os.path.realpath(path))
    mode = _mode(real)
    if mode is not None and not stat.S_ISREG(mode):
        real.write_bytes(data)
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{real.name[:40]}.", dir=real.parent)
    except PermissionError:
        if mode is None:
            raise
        real.write_bytes(data)
        return
    made = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            with suppress(PermissionError):  # FAT has no modes to set
                os.fchmod(handle, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
            file.write(data)
            file.flush()
            os.fsync(handle)
        made.replace(real)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _umask() -> int:
    """Return which permissions new files of this process lack; there is no way to ask but to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
