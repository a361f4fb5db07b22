"""Files of the user's, replaced where they stand: each is the old one or the new one, whatever happens."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.publish.disk import DISK, Disk
from nodrop.publish.tree import MANIFEST, Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A file, how to show it, what it held when it was read, and what it is to hold."""

    path: Path
    display: str
    old: bytes
    new: bytes


def replace_files(files: Sequence[Replacement], *, disk: Disk = DISK) -> None:
    """Replace files, all or none of them unless the run is ended in the middle; each is replaced in one step.

    A link stays one, what it leads to is replaced; mode, owner and attributes stay. InputProblems where a file is
    another than was read or may not be replaced so, and then nothing has changed.
    """
    drafts: list[tuple[Path, Path]] = []
    try:
        for file in files:
            try:
                drafts.append(_drafted(file, disk))
            except OSError as error:
                found = f"cannot be replaced: {(error.strerror or str(error)).lower()}"
                raise InputProblems([Problem(path=file.display, found=found)]) from None
        for file in files:
            _require_unchanged(file)
        while drafts:
            draft, path = drafts[0]
            disk.rename(draft, path)
            drafts.pop(0)
            disk.fsync_dir(path.parent)
    finally:
        for draft, _ in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _drafted(file: Replacement, disk: Disk) -> tuple[Path, Path]:
    """Write the new text beside a file; return where, and where the file itself is, links followed."""
    path = Path(os.path.realpath(file.path))
    draft = path.with_name(f".{path.name[:200]}.{os.getpid()}.nodrop")
    try:
        disk.write_file(draft, file.new, 0o600, sync=True)
        disk.take_after(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    return draft, path


def _require_unchanged(file: Replacement) -> None:
    try:
        there = file.path.read_bytes()
    except OSError:
        there = None
    if there != file.old:
        found, hint = "changed since it was read", "nothing was written; run it again"
        raise InputProblems([Problem(path=file.display, found=found, hint=hint)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The folder of a build, and the names of what it was built from."""

    folder: Path
    inputs: tuple[str, ...]


def built_from(path: Path) -> Built | None:
    """Return the build that a file belongs to; None where it is of none."""
    here = Path(os.path.realpath(path))
    for folder in here.parents:
        with suppress(OSError, ValueError):
            manifest = Manifest.from_bytes((folder / MANIFEST).read_bytes())
            if here.relative_to(folder).as_posix() in manifest.files:
                return Built(folder=folder, inputs=tuple(sorted(manifest.inputs)))
    return None
