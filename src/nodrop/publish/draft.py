"""A tree on its way in, put together in parts by as many processes as one likes; one swap then puts it in place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from nodrop.errors import InputProblems
from nodrop.publish.disk import DISK, Disk
from nodrop.publish.names import Names
from nodrop.publish.refusal import (
    in_words,
    not_ours,
    placed,
    reason,
    refused,
    require_folder,
    require_replaceable,
    unsettled,
)
from nodrop.publish.swap import NotOurs, Place, clear, locked, make_folders, require_ours, settle, swap
from nodrop.publish.tree import (
    MANIFEST,
    Manifest,
    Standing,
    digest,
    edited_problem,
    file_mode,
    folders_of,
    has_mode,
    require_plain,
    survey,
    unchanged_since,
)

_MANY = 64
"""From so many files and folders on, one sync of the file system is cheaper than one for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a build did to the output tree, by file."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """What became of the files of a part: their digests, and which of them already stood in the old tree."""

    digests: Mapping[str, str]
    same: frozenset[str]
    edited: frozenset[str]
    """Those in whose place the old tree has what a person changed."""
    folders: frozenset[str]
    """Those made in the new tree; its root is the empty name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Room for some files in the new tree. It is small, and can be sent to the process in which the files are made."""

    place: Place
    display: str
    standing: Standing
    """Of the old tree, as far as this part goes."""
    disk: Disk
    private: bool = False
    """Whether what is written may hold secrets, and is for its owner alone."""

    def put(self, files: Mapping[str, bytes]) -> Put:
        """Write the files that the old tree does not have just so; no other part has a file of the same name."""
        require_plain(files)
        with in_words(self.place, self.display):
            digests = {path: digest(files[path]) for path in files}
            there = self.standing.listed.keys() & files.keys()
            same = frozenset(path for path in there if self._stands(path, files[path]))
            new = sorted(files.keys() - same)
            edited = self.standing.edited(self.place.tree, there - same, digests)
            folders = ["", *sorted(folders_of(new))] if new else []
            for folder in folders:
                make_folder(self.place, folder, self.standing, self.disk, private=self.private)
            sync = len(new) + len(folders) <= _MANY
            for path in new:
                mode = file_mode(path, private=self.private)
                self.disk.write_file(self.place.new / path, files[path], mode, sync=sync)
        return Put(digests=digests, same=same, edited=edited, folders=frozenset(folders))

    def _stands(self, path: str, data: bytes) -> bool:
        """Whether the old tree has just this file."""
        old = self.place.tree / path
        return has_mode(old, file_mode(path, private=self.private)) and old.read_bytes() == data


def make_folder(place: Place, folder: str, old: Standing, disk: Disk, *, private: bool) -> None:
    """Make a folder of the new tree; its root has the permissions of the old one, and may have been made by others.

    Nothing is in it before it is marked as nodrop's.
    """
    if folder:
        disk.mkdir(place.new / folder, 0o700 if private else None)
        return
    mode = None if old.mode is None else old.mode | 0o700
    if private:
        mode = 0o700
    with suppress(FileExistsError):
        disk.mkdir(place.new, mode)
    disk.mark(place.new)


class Draft:
    """The tree that is to take the place of the one that stands in a folder."""

    def __init__(
        self, place: Place, display: str, old: Standing, disk: Disk, *, overwrite_edited: bool, private: bool
    ) -> None:
        self._place, self._display, self._old, self._disk = place, display, old, disk
        self._overwrite_edited, self._private = overwrite_edited, private
        self.done = False
        """Whether the folder holds what was put; else there is nothing left of that."""

    def part(self, prefix: str = "") -> Part:
        """Give room for files whose names begin so."""
        old = self._old.only(prefix)
        return Part(place=self._place, display=self._display, standing=old, disk=self._disk, private=self._private)

    def publish(self, puts: Sequence[Put], inputs: Mapping[str, str]) -> Published:
        """Let the folder hold exactly what was put, and the manifest, in one step that is on the disk afterwards.

        `inputs` maps names that are so on any machine (`paths.lasting`) to `digest`s. What was edited is refused.
        """
        require_relative(inputs)
        place, old, disk = self._place, self._old, self._disk
        digests = {path: data for put in puts for path, data in put.digests.items()}
        require_plain(digests)
        same = frozenset[str]().union(*(put.same for put in puts))
        with in_words(place, self._display):
            self._refuse_edited(puts, digests)
            manifest = Manifest(inputs=inputs, files=digests).to_bytes()
            if manifest != old.manifest or same != digests.keys():
                made = frozenset[str]().union(*(put.folders for put in puts))
                self._complete(digests, same, made, manifest)
                if old.manifest is not None and not unchanged_since(place.tree, old):
                    found = "was changed by somebody else while the build ran"
                    raise refused(self._display, found, "build again")
                swap(place, old, disk)
                self.done = True
                self._leave_nothing()
        self.done = True
        return Published(
            written=tuple(sorted(digests.keys() - same)),
            unchanged=tuple(sorted(same)),
            removed=tuple(sorted(old.listed.keys() - digests.keys())),
        )

    def _refuse_edited(self, puts: Iterable[Put], digests: Mapping[str, str]) -> None:
        if self._overwrite_edited:
            return
        edited = self._old.edited(self._place.tree, self._old.listed.keys() - digests.keys(), {})
        if edited := edited.union(*(put.edited for put in puts)):
            raise InputProblems([edited_problem(path, self._display) for path in edited])

    def _complete(
        self, digests: Mapping[str, str], same: frozenset[str], made: frozenset[str], manifest: bytes
    ) -> None:
        """Add what is neither new nor changed, and the manifest, and make all of it safe from a power cut.

        A file of the old tree gets a second name. Where that fails it is copied: a link only saves room and time, and
        not every file system or owner allows one.
        """
        place, disk = self._place, self._disk
        mode = partial(file_mode, private=self._private)
        folders = sorted(folders_of(digests))
        at_once = len(digests) + len(folders) >= _MANY
        for folder in ("", *folders):
            if folder not in made:
                make_folder(place, folder, self._old, disk, private=self._private)
        for path in sorted(same):
            try:
                disk.link(place.tree / path, place.new / path)
            except OSError:
                data = (place.tree / path).read_bytes()
                disk.write_file(place.new / path, data, mode(path), sync=not at_once)
        disk.write_file(place.new / MANIFEST, manifest, mode(MANIFEST), sync=not at_once)
        disk.unmark(place.new)  # from now on its manifest says whose it is
        if at_once:
            disk.sync_filesystem(place.new)
        else:
            for folder in (*reversed(folders), ""):
                disk.fsync_dir(place.new / folder)

    def _leave_nothing(self) -> None:
        """Make the swap last, and remove the tree that it replaced."""
        try:
            self._disk.fsync_dir(self._place.tree.parent)
            clear(self._place, self._disk)
        except OSError as error:
            found = f"holds the new build, but the tree that it replaced could not be removed: {reason(error)}"
            hint = f"remove {self._place.new.name} beside it by hand"
            raise refused(self._display, found, hint) from error


@contextmanager
def drafting(
    directory: Path,
    names: Names,
    *,
    display: str,
    disk: Disk = DISK,
    overwrite_edited: bool = False,
    mark: str | None = None,
    private: bool = False,
) -> Iterator[Draft]:
    """Keep a folder for one build, which begins here and has replaced it when the block ends, or has changed nothing.

    Refused with InputProblems: a folder with anything in it that is not listed in its manifest, one that another build
    is writing, one that the system does not let us replace, one that a link leads to (`landing`), and with a `mark` one
    that holds files of nodrop's, but none of that name. `names` are those that the command gives to files; what is
    `private` may hold secrets, and is for its owner alone.
    """
    display = display.rstrip("/")
    place = placed(directory, display)
    with ExitStack() as stack:
        with in_words(place, display):
            require_replaceable(place, display)
            made = make_folders(place.tree.parent, disk)
            stack.callback(_unmake, made, disk)
            if not stack.enter_context(locked(place, disk)):
                raise refused(display, "another nodrop build is writing it", "wait until that has ended")
            try:
                require_ours(place, names)
                settle(place, disk)
            except OSError as error:
                raise unsettled(place, display, error) from error
            except NotOurs as error:
                raise not_ours(place, display, error) from None
            require_folder(place, display)
            old = survey(place.tree, names, display=display, mark=mark)
        draft = Draft(place, display, old, disk, overwrite_edited=overwrite_edited, private=private)
        try:
            yield draft
        finally:
            if draft.done:
                made.clear()
            else:
                with suppress(OSError):
                    settle(place, disk)


def _unmake(folders: list[Path], disk: Disk) -> None:
    """Remove folders that were made for nothing, as far as nobody else has use for them."""
    with suppress(OSError):
        while folders:
            disk.remove_empty(folders.pop())


def require_relative(inputs: Mapping[str, str]) -> None:
    """Refuse, as a bug of the caller, names of inputs that would make builds differ between machines."""
    if absolute := sorted(name for name in inputs if PurePosixPath(name).is_absolute()):
        raise ValueError(f"an absolute path would make builds differ between machines: {absolute[0]!r}")
