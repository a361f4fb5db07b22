"""A disk on which a run can be ended at any operation, as if the machine had been switched off there."""

import errno
import os
from pathlib import Path

from nodrop.publish import DiskWriter
from nodrop.publish.disk import DRAFT_MARKER_FILE
from nodrop.publish.held import HeldFolder
from nodrop.publish.landing import OutputPlace


class Stopped(BaseException):
    """The run ends here; like a kill, no handler of ours may take it for an error."""


class StoppingDisk(DiskWriter):
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

    def mkdir(self, place: OutputPlace, mode: int = 0o777) -> None:
        self._step("mkdir")
        super().mkdir(place, mode)

    def write_file(self, place: OutputPlace, data: bytes, mode: int, *, sync: bool) -> None:
        if self._step("write_file"):
            super().write_file(place, data[: len(data) // 2], mode, sync=False)
            self._end()
        super().write_file(place, data, mode, sync=sync)

    def mark_removable(self, folder: HeldFolder, mode: int | None = None) -> None:
        self._step("mark")
        super().mark_removable(folder, mode)

    def unmark_removable(self, folder: HeldFolder) -> None:
        self._step("unmark")
        super().unmark_removable(folder)

    def add_hard_link(self, source: OutputPlace, place: OutputPlace) -> None:
        self._step("link")
        super().add_hard_link(source, place)

    def fsync_folder(self, folder: int) -> None:
        self._step("fsync_folder")
        super().fsync_folder(folder)

    def sync_filesystem(self, folder: int) -> None:
        self._step("sync_filesystem")
        super().sync_filesystem(folder)

    def rename(self, source: OutputPlace, place: OutputPlace) -> None:
        self._step("rename")
        super().rename(source, place)

    def exchange(self, one: OutputPlace, other: OutputPlace) -> None:
        self._step("exchange")
        if not self.offers_exchange:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        super().exchange(one, other)

    def remove_tree(self, place: OutputPlace, folder: HeldFolder) -> None:
        if self._step("remove_tree"):
            for file in sorted(Path(folder.path).with_name(place.name).rglob("*"))[::2]:
                if file.is_file() and file.name != DRAFT_MARKER_FILE:  # which is removed last
                    file.unlink()
            self._end()
        super().remove_tree(place, folder)

    def remove_empty(self, place: OutputPlace) -> None:
        self._step("remove_empty")
        super().remove_empty(place)

    def try_lock(self, place: OutputPlace) -> int | None:
        self._step("lock")
        return super().try_lock(place)

    def unlock_and_remove_lock(self, place: OutputPlace, handle: int) -> None:
        try:
            self._step("unlock")
        except Stopped:
            os.close(handle)  # the kernel does this for a run that dies; the file stays
            raise
        super().unlock_and_remove_lock(place, handle)

    def _end(self) -> None:
        self.stopped = True
        raise Stopped


class FailingDisk(DiskWriter):
    """A disk whose named operation fails with this error, every time."""

    def __init__(self, operation: str, code: int) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(code, os.strerror(code))

        setattr(self, operation, fail)
