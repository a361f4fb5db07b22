"""How one tree takes the place of another, and how the next run ends what a run that died has begun.

    .DIR.nodrop-new   a tree on its way in, or the old one on its way out, marked as such (`disk.MARKER`)
    .DIR.nodrop-old   the whole old tree, for the moment between two renames, where names cannot be exchanged
    .DIR.nodrop-lock  held while a build into DIR runs

They stand beside DIR, on its file system. Whenever a run ends, DIR, or while it is missing `.DIR.nodrop-old`, is whole.
What nodrop has not made under these names is neither moved nor removed: what it made has a marker, or a manifest and
nothing that this does not list. Only a build settles what another one left.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nodrop.errors import InputProblems
from nodrop.publish.disk import MARK, MARKER, NOT_OFFERED, Disk
from nodrop.publish.landing import resolved
from nodrop.publish.names import Names
from nodrop.publish.tree import Standing, survey


class NotOurs(Exception):
    """Something stands beside a tree under a name of nodrop's that nodrop did not make."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.name)
        self.name = path.name


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tree stands, and the names beside it that only nodrop uses."""

    tree: Path
    new: Path
    old: Path
    lock: Path

    @classmethod
    def of(cls, directory: Path) -> "Place":
        """The place of the folder itself, as an output has it (`landing.resolved`)."""
        tree = Path(resolved(directory))
        new, old, lock = (tree.parent / f".{tree.name}.nodrop-{what}" for what in ("new", "old", "lock"))
        return cls(tree, new, old, lock)


@contextmanager
def locked(place: Place, disk: Disk) -> Iterator[bool]:
    """Hold the place's lock; False when another run holds it, which is not waited for."""
    handle = disk.lock(place.lock)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            disk.unlock(place.lock, handle)


def require_ours(place: Place, names: Names) -> None:
    """Raise NotOurs where something stands beside a tree that no command has made which gives files these names."""
    for left in (place.new, place.old):
        if os.path.lexists(left) and not is_ours(left, names):
            raise NotOurs(left)


def settle(place: Place, disk: Disk) -> None:
    """Leave one whole tree and nothing beside it, wherever a swap has stopped.

    The caller holds the lock, and nodrop made what stands beside it.
    """
    if os.path.lexists(place.old) and not os.path.lexists(place.tree):
        disk.rename(place.old, place.tree)
        disk.fsync_dir(place.tree.parent)
    clear(place, disk)


def clear(place: Place, disk: Disk) -> None:
    """Remove what nodrop made beside the tree.

    A tree is removed under the name `.nodrop-new` only, so that one called `.nodrop-old` is whole at any time.
    """
    if os.path.lexists(place.new):
        _remove(place.new, disk)
    if os.path.lexists(place.old):
        disk.rename(place.old, place.new)
        _remove(place.new, disk)


def _remove(folder: Path, disk: Disk) -> None:
    disk.mark(folder)
    disk.remove_tree(folder)


def is_ours(folder: Path, names: Names) -> bool:
    """Whether nodrop made what stands beside a tree: it is marked, empty, or holds what its manifest lists alone."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return False
        there = {entry.name for entry in folder.iterdir()}
        if MARKER in there:
            return _is_mark(folder / MARKER, alone=there == {MARKER})
        standing = survey(folder, names, display=str(folder))
        return not standing.edited(folder, standing.listed, {})
    except (OSError, InputProblems):
        return False


def _is_mark(path: Path, *, alone: bool) -> bool:
    """Whether a file is the mark of a draft; where it is `alone`, its writing may have been cut short."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > len(MARK):
        return False
    said = path.read_bytes()
    return said == MARK or (alone and MARK.startswith(said))


def make_folders(folder: Path, disk: Disk) -> list[Path]:
    """Make the folder and those above it, as far as they are missing; return those made, the innermost last."""
    made = []
    for path in reversed([path for path in (folder, *folder.parents) if not os.path.lexists(path)]):
        with suppress(FileExistsError):  # another build may be making the same ones
            disk.mkdir(path)
            made.append(path)
        disk.fsync_dir(path.parent)
    return made


def swap(place: Place, old: Standing, disk: Disk) -> None:
    """Put the new tree in place. What was absent or empty is renamed over, which fails if it was filled meanwhile."""
    if old.manifest is None:
        disk.rename(place.new, place.tree)
        return
    try:
        disk.exchange(place.new, place.tree)
    except OSError as error:
        if error.errno not in NOT_OFFERED:
            raise
        disk.rename(place.tree, place.old)
        disk.rename(place.new, place.tree)
