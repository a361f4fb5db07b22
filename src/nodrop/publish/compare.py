"""How a folder differs from what a build would leave there; nothing is changed."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodrop.publish.disk import DISK, Disk
from nodrop.publish.refusal import in_words, require_folder, unsettled
from nodrop.publish.swap import Place, locked, settle
from nodrop.publish.tree import (
    MANIFEST,
    Manifest,
    digest,
    first_difference,
    folders_of,
    is_file,
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
                if (there := (place.tree / MANIFEST).read_bytes()) != manifest:
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
    """Begin a comparison; a build that was cut short is mended first."""
    recover(directory)
    return Comparison(directory=directory, display=display.rstrip("/"))


def check(directory: Path, files: Mapping[str, bytes], *, display: str) -> tuple[Drift, ...]:
    """Compare the folder, byte by byte, with what a build of these files would leave there."""
    require_plain(files)
    compared = comparison(directory, display=display)
    return compared.drifts([compared.put(files)])


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
            raise unsettled(place, str(directory), error) from error


def _said(manifest: Path) -> Manifest:
    """What a manifest says; nothing, where it cannot be read as one."""
    try:
        return Manifest.from_bytes(manifest.read_bytes())
    except (ValueError, FileNotFoundError, IsADirectoryError):
        return Manifest(inputs={}, files={})
