"""A tree on its way in, put together in parts by as many processes as one likes; one swap then puts it in place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from nodrop.errors import InputProblems
from nodrop.publish.disk import DEFAULT_DISK_WRITER, DiskWriter, ForeignEntry
from nodrop.publish.held import HeldFolder, put_path_into_os_errors
from nodrop.publish.names import IsOutputNameOfCommand
from nodrop.publish.refusal import (
    describe_errno,
    errors_as_problems,
    make_foreign_file_refusal,
    make_refusal,
    make_unsettled_build_refusal,
    require_folder_or_absent,
    require_replaceable,
)
from nodrop.publish.swap import (
    CreatedParentFolders,
    OutputTreePlace,
    hold_lock,
    make_draft_folder,
    open_leftovers,
    open_output_tree_place,
    remove_leftovers,
    settle_interrupted_swap,
    swap_trees,
)
from nodrop.publish.tree import (
    MANIFEST_FILE,
    ExistingOutputTree,
    Manifest,
    content_digest,
    edited_file_problem,
    file_mode,
    has_mode,
    is_unchanged_since,
    parent_folders_of,
    require_safe_paths,
    survey_replaceable_folder,
)

_MIN_FILES_FOR_SYNCFS = 64
"""From so many files and folders on, one sync of the file system is cheaper than one for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTreeChanges:
    """The changes of a build to the output tree, by file."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PutFilesResult:
    """What became of the files of a part: their digests, and which of them already stood in the old tree."""

    digests: Mapping[str, str]
    same: frozenset[str]
    edited: frozenset[str]
    """Those in whose place the old tree has what a person changed."""
    folders: frozenset[str]
    """Those made in the new tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTreeDraftPart:
    """Room for some files in the new tree. It is small, and can be sent to the process that makes the files."""

    new: HeldFolder
    old: HeldFolder | None
    display: str
    standing: ExistingOutputTree
    """Of the old tree, as far as this part goes."""
    disk: DiskWriter
    private: bool = False
    """Whether what is written may hold secrets, and is for its owner alone."""

    def put(self, files: Mapping[str, bytes]) -> PutFilesResult:
        """Write the files that the old tree does not have just so; no other part has a file of the same name."""
        require_safe_paths(files)
        with errors_as_problems(self.display):
            digests = {path: content_digest(files[path]) for path in files}
            listed_paths = self.standing.listed.keys() & files.keys()
            same = frozenset(path for path in sorted(listed_paths) if self._old_file_matches(path, files[path]))
            new = sorted(files.keys() - same)
            edited = self.standing.edited_files(self.old, sorted(listed_paths - same), digests)
            folders = sorted(parent_folders_of(new))
            for folder in folders:
                make_folder(self.new, folder, self.disk, private=self.private)
            sync = len(new) + len(folders) <= _MIN_FILES_FOR_SYNCFS
            for path in new:
                mode = file_mode(path, private=self.private)
                with put_path_into_os_errors(path):
                    self.disk.write_file(self.new.at(path), files[path], mode, sync=sync)
        return PutFilesResult(digests=digests, same=same, edited=edited, folders=frozenset(folders))

    def _old_file_matches(self, path: str, data: bytes) -> bool:
        """Whether the old tree has just this file."""
        assert self.old is not None, "it has files"
        status, old_data = self.old.read_file(path)
        return old_data == data and has_mode(status, file_mode(path, private=self.private))


def make_folder(new_files: HeldFolder, folder: str, disk: DiskWriter, *, private: bool) -> None:
    """Make a folder of the new tree."""
    with put_path_into_os_errors(folder):
        disk.mkdir(new_files.at(folder), 0o700 if private else 0o777)


class OutputTreeDraft:
    """The new tree that replaces the current one in a folder."""

    def __init__(
        self,
        place: OutputTreePlace,
        display: str,
        new: HeldFolder,
        old: HeldFolder | None,
        standing: ExistingOutputTree,
        disk: DiskWriter,
        *,
        overwrite_edited: bool,
        private: bool,
    ) -> None:
        self._place, self._display, self._new, self._old = place, display, new, old
        self._standing, self._disk = standing, disk
        self._overwrite_edited, self._private = overwrite_edited, private
        self.done = False
        """Whether the folder holds what was put; else there is nothing left of that."""

    def part_for_prefix(self, prefix: str = "") -> OutputTreeDraftPart:
        """Give room for files whose names begin so."""
        return OutputTreeDraftPart(
            new=self._new,
            old=self._old,
            display=self._display,
            standing=self._standing.part_with_prefix(prefix),
            disk=self._disk,
            private=self._private,
        )

    def publish(self, puts: Sequence[PutFilesResult], inputs: Mapping[str, str]) -> OutputTreeChanges:
        """Replace the folder's content with exactly the files that were put, and the manifest.

        This is one step, on the disk afterwards. `inputs` maps names that are the same on any machine (`paths.lasting`)
        to `digest`s. Edited files are refused.
        """
        require_relative_input_names(inputs)
        old = self._standing
        digests = {path: data for put in puts for path, data in put.digests.items()}
        require_safe_paths(digests)
        same = frozenset[str]().union(*(put.same for put in puts))
        with errors_as_problems(self._display):
            self._refuse_edited_files(puts, digests)
            manifest = Manifest(inputs=inputs, files=digests).to_bytes()
            if manifest != old.manifest or same != digests.keys():
                new_folders = frozenset[str]().union(*(put.folders for put in puts))
                self._complete_tree(digests, same, new_folders, manifest)
                if self._old is not None and old.manifest is not None and not is_unchanged_since(self._old, old):
                    message = "changed while the build ran"
                    raise make_refusal(self._display, message, "build again")
                swap_trees(self._place, self._new, self._old, old, self._disk)
                self.done = True
                self._remove_replaced_tree()
        self.done = True
        return OutputTreeChanges(
            written=tuple(sorted(digests.keys() - same)),
            unchanged=tuple(sorted(same)),
            removed=tuple(sorted(old.listed.keys() - digests.keys())),
        )

    def _refuse_edited_files(self, puts: Iterable[PutFilesResult], digests: Mapping[str, str]) -> None:
        if self._overwrite_edited:
            return
        edited = self._standing.edited_files(self._old, sorted(self._standing.listed.keys() - digests.keys()), {})
        if edited := edited.union(*(put.edited for put in puts)):
            raise InputProblems([edited_file_problem(path, self._display) for path in edited])

    def _complete_tree(
        self, digests: Mapping[str, str], same: frozenset[str], new_folders: frozenset[str], manifest: bytes
    ) -> None:
        """Add files that are neither new nor changed, and the manifest, and make all of it safe from a power cut.

        A file of the old tree gets a second name. If that fails it is copied: a link only saves room and time, and
        not every file system or owner allows one.
        """
        new, old, disk = self._new, self._old, self._disk
        mode = partial(file_mode, private=self._private)
        folders = sorted(parent_folders_of(digests))
        at_once = len(digests) + len(folders) >= _MIN_FILES_FOR_SYNCFS
        for folder in folders:
            if folder not in new_folders:
                make_folder(new, folder, disk, private=self._private)
        for path in sorted(same):
            assert old is not None, "it has files"
            with put_path_into_os_errors(path):
                try:
                    disk.add_hard_link(old.at(path), new.at(path))
                except OSError:
                    disk.write_file(new.at(path), old.read_file(path)[1], mode(path), sync=not at_once)
        disk.write_file(new.at(MANIFEST_FILE), manifest, mode(MANIFEST_FILE), sync=not at_once)
        disk.unmark_removable(new)  # from now on its manifest says whose it is
        if at_once:
            disk.sync_filesystem(new.handle)
        else:
            for folder in (*reversed(folders), ""):
                disk.fsync_folder(new.open_subfolder(folder))

    def _remove_replaced_tree(self) -> None:
        """Make the swap last, and remove the tree that it replaced."""
        try:
            self._disk.fsync_folder(self._place.tree.folder)
            remove_leftovers(self._place, self._new_and_old_tree(), self._disk)
        except OSError as error:
            message = (
                f"holds the new build, but the tree that it replaced could not be removed: {describe_errno(error)}"
            )
            hint = f"remove {self._place.new_tree_place.name} beside it by hand"
            raise make_refusal(self._display, message, hint) from error

    def leave_one_whole_tree(self) -> None:
        """Leave one whole tree, as far as the system allows; the old one stays next to anything others put there."""
        tree, ours = self._place.tree, self._new_and_old_tree()
        with suppress(OSError):
            if tree.status() is not None and not any(folder.is_at(tree) for folder in ours):
                ours = [self._new]
            settle_interrupted_swap(self._place, ours, self._disk)

    def _new_and_old_tree(self) -> list[HeldFolder]:
        """Return the trees that may be next to the folder."""
        return [self._new] if self._old is None else [self._new, self._old]


@contextmanager
def open_draft(
    directory: Path,
    names: IsOutputNameOfCommand,
    *,
    display: str,
    disk: DiskWriter = DEFAULT_DISK_WRITER,
    overwrite_edited: bool = False,
    mark: str | None = None,
    private: bool = False,
) -> Iterator[OutputTreeDraft]:
    """Keep a folder for one build, which begins here and has replaced it when the block ends, or has changed nothing.

    Raises InputProblems for a folder with anything in it that is not listed in its manifest, one that another build
    is writing, one that the system does not let us replace, one that a link leads to (`landing`), and with a `mark` one
    that holds files of nodrop's, but none of that name. `names` are those that the command gives to files; `private`
    files may hold secrets, and are for their owner alone.
    """
    display = display.rstrip("/")
    with ExitStack() as stack:
        with errors_as_problems(display):
            folders = stack.enter_context(CreatedParentFolders(disk))
            place = stack.enter_context(open_output_tree_place(directory, folders.make))
            require_replaceable(place, display)
            try:
                owner = stack.enter_context(hold_lock(place, disk))
                if owner is None:
                    raise make_refusal(display, "another nodrop build is writing it", "wait until that has ended")
                ours = open_leftovers(place, names, owner)
            except ForeignEntry as error:
                raise make_foreign_file_refusal(place, display, error) from None
            try:
                settle_interrupted_swap(place, ours, disk)
            except OSError as error:
                raise make_unsettled_build_refusal(place, display, error) from error
            require_folder_or_absent(place, display)
            old = HeldFolder.of(place.tree)
            standing = survey_replaceable_folder(old, names, display=display, mark=mark)
            mode = None if standing.mode is None else standing.mode | 0o700
            new = make_draft_folder(place, owner, disk, 0o700 if private else mode)
        draft = OutputTreeDraft(
            place, display, new, old, standing, disk, overwrite_edited=overwrite_edited, private=private
        )
        try:
            yield draft
        finally:
            folders.kept = draft.done
            draft.leave_one_whole_tree()


def require_relative_input_names(inputs: Mapping[str, str]) -> None:
    """Refuse, as a bug of the caller, names of inputs that would make builds differ between machines."""
    if absolute := sorted(name for name in inputs if PurePosixPath(name).is_absolute()):
        raise ValueError(f"an absolute path would make builds differ between machines: {absolute[0]!r}")
