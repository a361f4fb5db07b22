"""A disk on which a run can be ended at any operation, as if the machine had been switched off there."""

import errno
import os
from pathlib import Path

from nodrop.publish import Disk
from nodrop.publish.disk import MARKER


class Stopped(BaseException):
    """The run ends here; like a kill, no handler of ours may take it for an error."""


class StoppingDisk(Disk):
    """Counts operations and stops before the one numbered `last` (from 0), or in the middle of it where it has one.

    Once stopped it refuses everything, so that no `finally` of the code under test can tidy up.
    """

    def __init__(self, *, exchange: bool = True, last: int | None = None, torn: bool = False) -> None:
        self.offers_exchange, self.last, self.torn = exchange, last, torn
        self.done: list[str] = []
        self.stopped = False

    def _step(self, name: str) -> bool:
        """Whether this operation is to be torn; raises where the run ends before it."""
        ends = self.stopped or len(self.done) == self.last
        if ends and not (self.torn and not self.stopped and name in ("write_file", "remove_tree")):
            self.stopped = True
            raise Stopped
        self.done.append(name)
        return ends

    def mkdir(self, path: Path, mode: int | None = None) -> None:
        self._step("mkdir")
        super().mkdir(path, mode)

    def write_file(self, path: Path, data: bytes, mode: int, *, sync: bool) -> None:
        if self._step("write_file"):
            path.write_bytes(data[: len(data) // 2])
            self._end()
        super().write_file(path, data, mode, sync=sync)

    def mark(self, folder: Path) -> None:
        self._step("mark")
        super().mark(folder)

    def unmark(self, folder: Path) -> None:
        self._step("unmark")
        super().unmark(folder)

    def link(self, source: Path, path: Path) -> None:
        self._step("link")
        super().link(source, path)

    def fsync_dir(self, path: Path) -> None:
        self._step("fsync_dir")
        super().fsync_dir(path)

    def sync_filesystem(self, path: Path) -> None:
        self._step("sync_filesystem")
        super().sync_filesystem(path)

    def rename(self, source: Path, path: Path) -> None:
        self._step("rename")
        super().rename(source, path)

    def exchange(self, one: Path, other: Path) -> None:
        self._step("exchange")
        if not self.offers_exchange:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        super().exchange(one, other)

    def remove_tree(self, path: Path) -> None:
        if self._step("remove_tree"):
            for file in sorted(path.rglob("*"))[::2]:
                if file.is_file() and file.name != MARKER:  # which is removed last
                    file.unlink()
            self._end()
        super().remove_tree(path)

    def remove_empty(self, path: Path) -> None:
        self._step("remove_empty")
        super().remove_empty(path)

    def lock(self, path: Path) -> int | None:
        self._step("lock")
        return super().lock(path)

    def unlock(self, path: Path, handle: int) -> None:
        try:
            self._step("unlock")
        except Stopped:
            os.close(handle)  # the kernel does this for a run that dies; the file stays
            raise
        super().unlock(path, handle)

    def _end(self) -> None:
        self.stopped = True
        raise Stopped


class FailingDisk(Disk):
    """A disk whose named operation fails with this error, every time."""

    def __init__(self, operation: str, code: int) -> None:
        def fail(*arguments: object, **named: object) -> None:
            path = next((str(argument) for argument in arguments if isinstance(argument, Path)), None)
            raise OSError(code, os.strerror(code), path)

        setattr(self, operation, fail)
