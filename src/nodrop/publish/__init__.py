"""The output tree of a build: replaced as a whole or not at all, and never at the cost of a file that is not nodrop's.

    .DIR.nodrop-new   a tree on its way in, or the old one on its way out: rubbish for whoever holds the lock
    .DIR.nodrop-old   the whole old tree, for the moment between two renames, where names cannot be exchanged
    .DIR.nodrop-lock  held while a build into DIR runs

They stand beside DIR, on its file system. Whenever a run ends, DIR or (DIR missing) `.DIR.nodrop-old` is a whole tree.
"""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from nodrop.errors import InputProblems, Problem
from nodrop.publish.disk import DISK, NO_EXCHANGE, Disk
from nodrop.publish.tree import (
    MANIFEST,
    Manifest,
    Standing,
    digest,
    file_mode,
    first_difference,
    folders_of,
    is_file,
    require_plain,
    shown,
    survey,
    unchanged_since,
    walk,
)

__all__ = ["DISK", "MANIFEST", "Disk", "Drift", "Manifest", "Published", "check", "digest", "publish", "recover"]

_MANY = 64
"""From so many files and folders on, one sync of the file system is cheaper than one for each."""


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
    """The first line that differs; None where lines cannot be compared."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tree stands, and the names beside it that only nodrop uses."""

    tree: Path

    @property
    def new(self) -> Path:
        return self._beside("new")

    @property
    def old(self) -> Path:
        return self._beside("old")

    @property
    def lock(self) -> Path:
        return self._beside("lock")

    def _beside(self, what: str) -> Path:
        return self.tree.with_name(f".{self.tree.name}.nodrop-{what}")


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
    digests = {path: digest(files[path]) for path in sorted(files)}
    manifest = Manifest(inputs=inputs, files=digests).to_bytes()
    place, display = _place(directory), display.rstrip("/") or display
    with _in_words(place, display):
        _require_replaceable(place, display)
        _make_folders(place.tree.parent, disk)
        with _lock(place, disk) as held:
            if not held:
                raise _refused(display, "another nodrop build is writing it", "wait until it has ended")
            _settle(place, disk)
            old = survey(place.tree, digests, display=display, overwrite_edited=overwrite_edited)
            same = {path for path in old.digests.keys() - old.other_modes if digests.get(path) == old.digests[path]}
            done = Published(
                written=tuple(sorted(files.keys() - same)),
                unchanged=tuple(sorted(same)),
                removed=tuple(sorted(old.digests.keys() - files.keys())),
            )
            if done.written or done.removed or manifest != old.manifest:
                _replace(place, old, done, {**files, MANIFEST: manifest}, display, disk)
            return done
