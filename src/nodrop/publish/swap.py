"""How one tree takes the place of another, and how the next run ends what a run that died has begun.

    .DIR.nodrop-new   a tree on its way in, or the old one on its way out: rubbish to whoever holds the lock
    .DIR.nodrop-old   the whole old tree, for the moment between two renames, where names cannot be exchanged
    .DIR.nodrop-lock  held while a build into DIR runs

They stand beside DIR, on its file system. Whenever a run ends, DIR, or while it is missing `.DIR.nodrop-old`, is whole.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nodrop.publish.disk import NOT_OFFERED, Disk
from nodrop.publish.tree import Standing


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tree stands, and the names beside it that only nodrop uses."""

    tree: Path
    new: Path
    old: Path
    lock: Path

    @classmethod
    def of(cls, directory: Path) -> "Place":
        """The place of the folder itself, links followed, so that a link to it stays."""
        tree = Path(os.path.realpath(directory))
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


def settle(place: Place, disk: Disk) -> None:
    """Leave one whole tree and nothing beside it, wherever a swap has stopped; the caller holds the lock.

    A tree is removed under the name `.nodrop-new` only, so that one called `.nodrop-old` is whole at any time.
    """
    if os.path.lexists(place.old) and not os.path.lexists(place.tree):
        disk.rename(place.old, place.tree)
        disk.fsync_dir(place.tree.parent)
    if os.path.lexists(place.new):
        disk.remove_tree(place.new)
    if os.path.lexists(place.old):
        disk.rename(place.old, place.new)
        disk.remove_tree(place.new)


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
