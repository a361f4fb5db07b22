"""How a folder differs from what a build would leave there; nothing is changed."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodrop.publish.refusal import in_words, placed, refused, require_folder
from nodrop.publish.swap import Place
from nodrop.publish.tree import (
    MANIFEST,
    Manifest,
    digest,
    first_difference,
    folders_of,
    is_file,
    manifest_bytes,
    require_plain,
    shown,
    walk,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One way in which a folder is not what a build would leave there."""

    path: str
    kind: Literal["missing", "differs", "unexpected"]
    line: int | None = None
    """The first line that differs; None where there are no lines to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The digests of some files, and for those whose place holds something else the first line (from 1) to differ."""

    digests: Mapping[str, str]
    lines: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A folder to compare files with. It is small, and can be sent to the process in which the files are made."""

    directory: Path
    display: str

    def put(self, files: Mapping[str, bytes]) -> Compared:
        """Compare these files with what stands in their places."""
        require_plain(files)
        place = Place.of(self.directory)
        digests = {path: digest(files[path]) for path in files}
        lines = {}
        with in_words(place, self.display):
            for path in files:
                with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
                    if (there := (place.tree / path).read_bytes()) != files[path]:
                        lines[path] = first_difference(there, files[path])
        return Compared(digests=digests, lines=lines)

    def drifts(self, parts: Sequence[Compared]) -> tuple[Drift, ...]:
        """Tell how the folder differs from what a build of all the parts would leave there.

        What the manifest says of the inputs is taken as it stands: other inputs that give the same files are no drift.
        """
        place = Place.of(self.directory)
        digests = {path: data for part in parts for path, data in part.digests.items()}
        lines = {path: line for part in parts for path, line in part.lines.items()}
        require_plain(digests)
        with in_words(place, self.display):
            if not os.path.lexists(place.tree):
                return tuple(Drift(path=path, kind="missing") for path in sorted([*digests, MANIFEST]))
            require_folder(place, self.display)
            said = _said(place.tree / MANIFEST)
            found = dict(walk(place.tree, folders_of([*digests, *said.files])))
            if MANIFEST in found and is_file(found[MANIFEST]):
                manifest = Manifest(inputs=said.inputs, files=digests).to_bytes()
                if (there := _bytes_of(place.tree / MANIFEST)) != manifest:
                    lines[MANIFEST] = first_difference(there, manifest)
        drifts = []
        for path in sorted({*digests, *found, MANIFEST}):
            if path not in found:
                drifts.append(Drift(path=path, kind="missing"))
            elif path not in digests and path != MANIFEST:
                drifts.append(Drift(path=shown(path), kind="unexpected"))
            elif not is_file(found[path]):
                drifts.append(Drift(path=path, kind="differs"))
            elif path in lines:
                drifts.append(Drift(path=path, kind="differs", line=lines[path]))
        return tuple(drifts)


def comparison(directory: Path, *, display: str) -> Comparison:
    """Begin a comparison; InputProblems where a build that was interrupted has left no folder."""
    display = display.rstrip("/")
    placed(directory, display)
    if hint := interrupted(directory):
        raise refused(display, "no such folder", hint)
    return Comparison(directory=directory, display=display)


def check(directory: Path, files: Mapping[str, bytes], *, display: str) -> tuple[Drift, ...]:
    """Compare the folder, byte by byte, with what a build of these files would leave there."""
    require_plain(files)
    compared = comparison(directory, display=display)
    return compared.drifts([compared.put(files)])


def interrupted(directory: Path) -> str | None:
    """Return what to do where a build of a folder was interrupted, so that it is missing; None where none was.

    Nothing is moved: only a build does that.
    """
    try:
        place = Place.of(directory)
    except (OSError, ValueError):
        return None
    if os.path.lexists(place.tree) or not os.path.lexists(place.old):
        return None
    return (
        f"a build of {place.tree.name} was interrupted; run `nodrop build` again, or rename {place.old.name} beside it "
        f"to {place.tree.name}"
    )


def _bytes_of(manifest: Path) -> bytes:
    """The text of a manifest; nothing, where it is too large for one."""
    try:
        return manifest_bytes(manifest)
    except ValueError:
        return b""


def _said(manifest: Path) -> Manifest:
    """What a manifest says; nothing, where it cannot be read as one."""
    try:
        return Manifest.from_bytes(manifest_bytes(manifest))
    except (ValueError, OSError):
        return Manifest(inputs={}, files={})
