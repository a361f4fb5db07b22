"""The output tree of a build: replaced as a whole or not at all, and never at the cost of a file of the user's."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from nodrop.errors import InputProblems, Problem
from nodrop.publish.disk import DISK, Disk
from nodrop.publish.swap import Place, build, locked, make_folders, settle, swap
from nodrop.publish.tree import (
    MANIFEST,
    Manifest,
    digest,
    first_difference,
    folders_of,
    is_file,
    require_plain,
    shown,
    survey,
    unchanged_since,
    walk,
)

__all__ = ["DISK", "MANIFEST", "Disk", "Drift", "Published", "check", "digest", "publish", "recover"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a build did to the output tree, by file."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One way in which a folder is not what a build would leave there."""

    path: str
    kind: Literal["missing", "differs", "unexpected"]
    line: int | None = None
    """The first line that differs; None where there are no lines to compare."""


def publish(
    directory: Path,
    files: Mapping[str, bytes],
    *,
    inputs: Mapping[str, str],
    display: str,
    disk: Disk = DISK,
    overwrite_edited: bool = False,
) -> Published:
    """Let `directory` hold exactly these files and the manifest, in one step that is on the disk when this returns.

    Refused with InputProblems, and then nothing has changed: a folder with anything in it that is not listed in its
    manifest, a listed file edited by hand (unless `overwrite_edited`), a folder that another build is writing, one that
    the system does not let us replace. A link to a folder stays a link. `inputs` maps names as the user wrote them,
    none of them absolute, to `digest`s; each of `files` is fetched twice at most.
    """
    require_plain(files)
    if absolute := sorted(name for name in inputs if PurePosixPath(name).is_absolute()):
        raise ValueError(f"an absolute path would make builds differ between machines: {absolute[0]!r}")
    digests = {path: digest(files[path]) for path in files}
    manifest = Manifest(inputs=inputs, files=digests).to_bytes()
    place, display = Place.of(directory), display.rstrip("/")
    with _in_words(place, display):
        _require_replaceable(place, display)
        make_folders(place.tree.parent, disk)
        with locked(place, disk) as held:
            if not held:
                raise _refused(display, "another nodrop build is writing it", "wait until that has ended")
            try:
                settle(place, disk)
            except OSError as error:
                raise _unsettled(place, display, error) from error
            _require_folder(place, display)
            old = survey(place.tree, digests, display=display, overwrite_edited=overwrite_edited)
            same = frozenset(path for path, there in old.digests.items() if there == digests.get(path))
            if manifest == old.manifest and same == files.keys():
                return Published(written=(), unchanged=tuple(sorted(same)), removed=())
            try:
                build(place, files, manifest, old, same, disk)
                if old.manifest is not None and not unchanged_since(place.tree, old):
                    raise _refused(display, "was changed by somebody else while the build ran", "build again")
                swap(place, old, disk)
            except BaseException:
                with suppress(OSError):
                    settle(place, disk)
                raise
            _leave_nothing(place, display, disk)
            return Published(
                written=tuple(sorted(files.keys() - same)),
                unchanged=tuple(sorted(same)),
                removed=tuple(sorted(old.present - files.keys())),
            )


def recover(directory: Path, disk: Disk = DISK) -> None:
    """Make the folder whole again if a build was cut short, and clear what it left beside it; at once if none was.

    Whoever is about to read the folder calls this too. It leaves a build that is still running alone, and a reader who
    may not write beside a folder that is whole is not bothered with what lies there.
    """
    place = Place.of(directory)
    if not any(os.path.lexists(path) for path in (place.old, place.new, place.lock)):
        return
    try:
        with locked(place, disk) as held:
            if held:
                settle(place, disk)
    except OSError as error:
        if os.path.lexists(place.old) and not os.path.lexists(place.tree):
            raise _unsettled(place, str(directory), error) from error


def check(directory: Path, files: Mapping[str, bytes], *, display: str) -> tuple[Drift, ...]:
    """Compare the folder, byte by byte, with what a build of these files would leave there; nothing is changed.

    What the manifest says of the inputs is taken as it stands: other inputs that give the same files are no drift.
    """
    require_plain(files)
    recover(directory)
    place, display = Place.of(directory), display.rstrip("/")
    with _in_words(place, display):
        if not os.path.lexists(place.tree):
            return tuple(Drift(path=path, kind="missing") for path in sorted([*files, MANIFEST]))
        _require_folder(place, display)
        said = _said(place.tree / MANIFEST)
        found = dict(walk(place.tree, folders_of([*files, *said.files])))
        digests = {path: digest(files[path]) for path in files}
        manifest = Manifest(inputs=said.inputs, files=digests).to_bytes()
        drifts = []
        for path in sorted({*files, *found, MANIFEST}):
            if path not in found:
                drifts.append(Drift(path=path, kind="missing"))
            elif path not in files and path != MANIFEST:
                drifts.append(Drift(path=shown(path), kind="unexpected"))
            elif not is_file(found[path]):
                drifts.append(Drift(path=path, kind="differs"))
            elif (there := (place.tree / path).read_bytes()) != (built := files.get(path, manifest)):
                drifts.append(Drift(path=path, kind="differs", line=first_difference(there, built)))
        return tuple(drifts)


def _said(manifest: Path) -> Manifest:
    """What a manifest says; nothing, where it cannot be read as one."""
    try:
        return Manifest.from_bytes(manifest.read_bytes())
    except (ValueError, FileNotFoundError, IsADirectoryError):
        return Manifest(inputs={}, files={})


def _unsettled(place: Place, display: str, error: OSError) -> InputProblems:
    """What to do by hand where an earlier build was cut short and this run is not let clear up after it."""
    if os.path.lexists(place.old) and not os.path.lexists(place.tree):
        hint = f"the tree as it was is whole: rename {place.old.name} beside it to {place.tree.name}"
    else:
        hint = f"remove {place.new.name} beside it by hand"
    return _refused(display, f"an earlier build was cut short, and clearing up after it fails: {_reason(error)}", hint)


def _leave_nothing(place: Place, display: str, disk: Disk) -> None:
    """Make the swap last, and remove the tree that it replaced."""
    try:
        disk.fsync_dir(place.tree.parent)
        settle(place, disk)
    except OSError as error:
        found = f"holds the new build, but the tree that it replaced could not be removed: {_reason(error)}"
        raise _refused(display, found, f"remove {place.new.name} beside it by hand") from error


def _require_folder(place: Place, display: str) -> None:
    with suppress(FileNotFoundError):
        if not stat.S_ISDIR(place.tree.lstat().st_mode):
            raise _refused(display, "is not a folder", "give a new or an empty folder")


def _require_replaceable(place: Place, display: str) -> None:
    """Refuse what cannot be renamed, or not without pulling the floor from under the user's shell."""
    if os.path.ismount(place.tree):
        raise _refused(display, "is a mount point, which cannot be replaced", "build into a folder inside it")
    here = Path.cwd()
    if place.tree in (here, *here.parents):
        found = "is or holds the working directory, and a build replaces the whole folder"
        raise _refused(display, found, "build from outside the folder")


_REASONS = {
    errno.EBUSY: "it is a mount point or in use",
    errno.EXDEV: "the file system cannot rename it; does it come from an image layer of a container?",
    errno.EEXIST: "it was filled by somebody else while the build ran, or two names in it differ only in case",
    errno.ENOTEMPTY: "it was filled by somebody else while the build ran",
}
"""Where the system's own words would not help."""


def _reason(error: OSError) -> str:
    code = error.errno or errno.EIO
    return _REASONS.get(code) or os.strerror(code).lower()


@contextmanager
def _in_words(place: Place, display: str) -> Iterator[None]:
    """Say what the system refuses as a problem of the folder, or of the file in it, by the name that the user gave."""
    try:
        yield
    except OSError as error:
        path = Path(os.fsdecode(error.filename or ""))
        inside = next((path.relative_to(root) for root in (place.tree, place.new) if path.is_relative_to(root)), Path())
        name = f"{display}/{shown(inside.as_posix())}" if inside.parts else display
        found = f"cannot be read or written: {_reason(error)}"
        raise _refused(name, found, "nothing was touched; mend this or give another folder") from error


def _refused(path: str, found: str, hint: str) -> InputProblems:
    return InputProblems([Problem(path=path, found=found, hint=hint)])
