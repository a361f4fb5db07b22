"""How one tree replaces another, and how the next run finishes the swap of a run that died.

    .DIR.nodrop-new   the new tree before it is in place, or the old one before removal, marked as such (`disk.MARKER`)
    .DIR.nodrop-old   the whole old tree, during the moment between two renames, where names cannot be exchanged
    .DIR.nodrop-lock  held while a build into DIR runs

They are next to DIR, on its file system. When a run ends, DIR, or while it is missing `.DIR.nodrop-old`, is whole.
Entries under these names that nodrop has not made are neither moved nor removed: those that it made belong to the user
who runs it, and have a marker, or a manifest and nothing that this does not list. Only a build settles the leftovers of
another one.

Others may be able to rename entries there, as in a shared folder. So each folder is opened once, then checked,
filled and emptied by its descriptor. After each rename the name has to be that folder's, or the rename is undone.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nodrop.errors import InputProblems
from nodrop.publish.disk import (
    DRAFT_MARKER_FILE,
    DRAFT_MARKER_FILE_CONTENT,
    UNSUPPORTED_OPERATION_ERRNOS,
    DiskWriter,
    ForeignEntry,
)
from nodrop.publish.held import HeldFolder, NotPlainFile, stale_handle_error
from nodrop.publish.landing import OutputPlace, open_folder_of_output
from nodrop.publish.names import IsOutputNameOfCommand
from nodrop.publish.tree import ExistingOutputTree, survey_replaceable_folder


@dataclass(frozen=True, slots=True)
class OutputTreePlace:
    """The place of a tree, in an open folder, and the names next to it that only nodrop uses."""

    tree: OutputPlace

    @property
    def new_tree_place(self) -> OutputPlace:
        """The tree that comes or goes."""
        return self._reserved_sibling("new")

    @property
    def old_tree_place(self) -> OutputPlace:
        """The old tree between two renames."""
        return self._reserved_sibling("old")

    @property
    def lock_file_place(self) -> OutputPlace:
        """The file that is locked."""
        return self._reserved_sibling("lock")

    def _reserved_sibling(self, suffix: str) -> OutputPlace:
        return self.tree.sibling(f".{self.tree.name}.nodrop-{suffix}")


@contextmanager
def open_output_tree_place(
    directory: Path, make: Callable[[OutputPlace], None] | None = None
) -> Iterator[OutputTreePlace]:
    """Give the place of a folder, as an output has it (`landing`)."""
    with open_folder_of_output(directory, make) as tree:
        yield OutputTreePlace(tree)


@contextmanager
def hold_lock(place: OutputTreePlace, disk: DiskWriter) -> Iterator[int | None]:
    """Hold the place's lock, and give the owner that files made here have; None when another run holds it."""
    handle = disk.try_lock(place.lock_file_place)
    try:
        yield None if handle is None else os.fstat(handle).st_uid
    finally:
        if handle is not None:
            disk.unlock_and_remove_lock(place.lock_file_place, handle)


def open_leftovers(place: OutputTreePlace, file_names: IsOutputNameOfCommand, owner: int) -> list[HeldFolder]:
    """Open the leftovers of an earlier run next to a tree.

    NotOurs if an entry there belongs to another user, or was made by no command that gives files these
    names.
    """
    found_leftovers = []
    for name in (place.new_tree_place, place.old_tree_place):
        status = name.status()
        if status is None:
            continue
        if status.st_uid != owner:
            raise ForeignEntry(name.name, status.st_uid)
        remaining_folder = HeldFolder.of(name) if stat.S_ISDIR(status.st_mode) else None
        if (
            remaining_folder is None
            or remaining_folder.status().st_uid != owner
            or not _is_nodrop_leftover(remaining_folder, file_names)
        ):
            raise ForeignEntry(name.name)
        found_leftovers.append(remaining_folder)
    return found_leftovers


def settle_interrupted_swap(place: OutputTreePlace, ours: Sequence[HeldFolder], disk: DiskWriter) -> None:
    """Leave one whole tree and nothing next to it, after a swap that stopped at any point.

    The caller holds the lock, and `ours` is all that nodrop made. An OSError if anything else is next to it.
    """
    if place.tree.status() is None and (old := _find_folder_at_name(ours, place.old_tree_place)) is not None:
        _rename_folder(old, place.old_tree_place, place.tree, disk)
        disk.fsync_folder(place.tree.folder)
    remove_leftovers(place, ours, disk)


def remove_leftovers(place: OutputTreePlace, ours: Sequence[HeldFolder], disk: DiskWriter) -> None:
    """Remove the entries that nodrop made next to the tree.

    A tree is removed under the name `.nodrop-new` only; one called `.nodrop-old` is therefore whole at any time.
    """
    if (new := _find_folder_at_name(ours, place.new_tree_place)) is not None:
        _mark_and_remove_folder(new, place.new_tree_place, disk)
    if (old := _find_folder_at_name(ours, place.old_tree_place)) is not None:
        _rename_folder(old, place.old_tree_place, place.new_tree_place, disk)
        _mark_and_remove_folder(old, place.new_tree_place, disk)


def _find_folder_at_name(ours: Sequence[HeldFolder], name: OutputPlace) -> HeldFolder | None:
    """Return which of these folders has a name; None where nothing has it, an OSError where anything else has."""
    if name.status() is None:
        return None
    for folder in ours:
        if folder.is_at(name):
            return folder
    raise stale_handle_error()


def _rename_folder(folder: HeldFolder, name: OutputPlace, to: OutputPlace, disk: DiskWriter) -> None:
    """Rename a folder; an OSError, and nothing is renamed, where the name was another's."""
    disk.rename(name, to)
    if not folder.is_at(to):
        disk.rename(to, name)
        raise stale_handle_error()


def _mark_and_remove_folder(folder: HeldFolder, name: OutputPlace, disk: DiskWriter) -> None:
    disk.mark_removable(folder)
    disk.remove_tree(name, folder)


def _is_nodrop_leftover(folder: HeldFolder, names: IsOutputNameOfCommand) -> bool:
    """Whether nodrop made an entry next to a tree: it is marked, empty, or holds only what its manifest lists."""
    try:
        far_names = folder.names()
        if DRAFT_MARKER_FILE in far_names:
            return _has_draft_mark(folder, alone=far_names == [DRAFT_MARKER_FILE])
        standing = survey_replaceable_folder(folder, names, display=folder.path)
        return not standing.edited_files(folder, standing.listed, {})
    except (OSError, InputProblems):
        return False


def _has_draft_mark(folder: HeldFolder, *, alone: bool) -> bool:
    """Whether a folder has the mark of a draft; where it is `alone`, its writing may have been cut short."""
    with suppress(NotPlainFile):
        status = folder.at(DRAFT_MARKER_FILE).status()
        if status is None or status.st_size > len(DRAFT_MARKER_FILE_CONTENT):
            return False
        _, mark_bytes = folder.read_file(DRAFT_MARKER_FILE)
        return mark_bytes == DRAFT_MARKER_FILE_CONTENT or (alone and DRAFT_MARKER_FILE_CONTENT.startswith(mark_bytes))
    return False


def make_draft_folder(place: OutputTreePlace, owner: int, disk: DiskWriter, mode: int | None) -> HeldFolder:
    """Make the folder of a new tree, marked as nodrop's before anything is in it; with `mode`, exactly of that."""
    disk.mkdir(place.new_tree_place)
    draft = HeldFolder.of(place.new_tree_place)
    if draft is None or draft.status().st_uid != owner or draft.names():
        raise stale_handle_error()
    disk.mark_removable(draft, mode)
    return draft


class CreatedParentFolders:
    """The folders that are made above a tree, which go with the block unless they are `kept`."""

    def __init__(self, disk: DiskWriter) -> None:
        self._disk = disk
        self._made: list[OutputPlace] = []
        self.kept = False

    def make(self, place: OutputPlace) -> None:
        """Make a folder; another build may be making the same one."""
        with suppress(FileExistsError):
            self._disk.mkdir(place)
            self._made.append(OutputPlace(os.dup(place.folder), place.name))
        self._disk.fsync_folder(place.folder)

    def __enter__(self) -> "CreatedParentFolders":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            for place in () if self.kept else reversed(self._made):
                self._disk.remove_empty(place)
        for place in self._made:
            os.close(place.folder)


def swap_trees(
    place: OutputTreePlace,
    new_files: HeldFolder,
    old_files: HeldFolder | None,
    standing: ExistingOutputTree,
    disk: DiskWriter,
) -> None:
    """Put the new tree in place. An absent or empty folder is renamed over, which fails if it was filled meanwhile.

    An OSError if either of them was replaced by another; that is not moved, or is moved back.
    """
    if not new_files.is_at(place.new_tree_place):
        raise stale_handle_error()
    if old_files is None or standing.manifest is None:
        _rename_folder(new_files, place.new_tree_place, place.tree, disk)
        return
    try:
        disk.exchange(place.new_tree_place, place.tree)
    except OSError as error:
        if error.errno not in UNSUPPORTED_OPERATION_ERRNOS:
            raise
        _rename_folder(old_files, place.tree, place.old_tree_place, disk)
        _rename_folder(new_files, place.new_tree_place, place.tree, disk)
        return
    if not (new_files.is_at(place.tree) and old_files.is_at(place.new_tree_place)):
        disk.exchange(place.new_tree_place, place.tree)
        raise stale_handle_error()
