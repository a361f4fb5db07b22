"""How a folder differs from the result of a build; nothing is changed."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodrop.publish.held import Held, NotPlain
from nodrop.publish.refusal import in_words, make_refusal, require_folder
from nodrop.publish.swap import placing
from nodrop.publish.tree import (
    MANIFEST,
    Manifest,
    digest,
    first_difference,
    folders_of,
    is_file,
    manifest_bytes,
    printable_path,
    require_safe_paths,
    walk,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One difference between a folder and the result of a build."""

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
    """A folder to compare files with. It is small, and can be sent to the process that makes the files."""

    directory: Path
    display: str

    def put(self, files: Mapping[str, bytes]) -> Compared:
        """Compare these files with what stands in their places."""
        require_safe_paths(files)
        digests = {path: digest(files[path]) for path in files}
        lines = {}
        with in_words(self.display):
            folder = self._open_output_folder()
            for path in files:
                with suppress(FileNotFoundError, NotADirectoryError, NotPlain):
                    if folder is not None and (current_data := folder.read_file(path)[1]) != files[path]:
                        lines[path] = first_difference(current_data, files[path])
        return Compared(digests=digests, lines=lines)

    def drifts(self, comparisons: Sequence[Compared]) -> tuple[Drift, ...]:
        """Return how the folder differs from the result of a build of all the parts.

        The manifest's digests of the inputs are taken as they are: other inputs that give the same files are no drift.
        """
        digests = {path: data for part in comparisons for path, data in part.digests.items()}
        lines = {path: line for part in comparisons for path, line in part.lines.items()}
        require_safe_paths(digests)
        with in_words(self.display):
            folder = self._open_output_folder()
            if folder is None:
                return tuple(Drift(path=path, kind="missing") for path in sorted([*digests, MANIFEST]))
            old_manifest = _manifest_or_empty(folder)
            status = dict(walk(folder, folders_of([*digests, *old_manifest.files])))
            if MANIFEST in status and is_file(status[MANIFEST]):
                manifest = Manifest(inputs=old_manifest.inputs, files=digests).to_bytes()
                if (bytes_there := _read_manifest_bytes(folder)) != manifest:
                    lines[MANIFEST] = first_difference(bytes_there, manifest)
        drifts = []
        for path in sorted({*digests, *status, MANIFEST}):
            if path not in status:
                drifts.append(Drift(path=path, kind="missing"))
            elif path not in digests and path != MANIFEST:
                drifts.append(Drift(path=printable_path(path), kind="unexpected"))
            elif not is_file(status[path]):
                drifts.append(Drift(path=path, kind="differs"))
            elif path in lines:
                drifts.append(Drift(path=path, kind="differs", line=lines[path]))
        return tuple(drifts)

    def _open_output_folder(self) -> Held | None:
        """Open the folder; None where there is none."""
        with suppress(FileNotFoundError), placing(self.directory) as place:
            require_folder(place, self.display)
            return Held.of(place.tree)
        return None


def comparison(directory: Path, *, display: str) -> Comparison:
    """Begin a comparison; InputProblems where a build that was interrupted has left no folder."""
    display = display.rstrip("/")
    with in_words(display), suppress(FileNotFoundError), placing(directory):
        pass
    if hint := interrupted(directory):
        raise make_refusal(display, "no such folder", hint)
    return Comparison(directory=directory, display=display)


def check(directory: Path, files: Mapping[str, bytes], *, display: str) -> tuple[Drift, ...]:
    """Compare the folder, byte by byte, with the result of a build of these files."""
    require_safe_paths(files)
    compared = comparison(directory, display=display)
    return compared.drifts([compared.put(files)])


def interrupted(directory: Path) -> str | None:
    """Return the next step if an interrupted build left a folder missing; None if no build was interrupted.

    Nothing is moved: only a build does that.
    """
    with suppress(OSError, ValueError), placing(directory) as place:
        if place.tree.status() is None and place.old.status() is not None:
            name, old = place.tree.name, place.old.name
            return f"a build of {name} was interrupted; run `nodrop build` again, or rename {old} beside it to {name}"
    return None


def _read_manifest_bytes(folder: Held) -> bytes:
    """Return the text of a folder's manifest; nothing, where it is too large for one."""
    try:
        return manifest_bytes(MANIFEST, folder.handle)
    except ValueError:
        return b""


def _manifest_or_empty(folder: Held) -> Manifest:
    """Return the content of a folder's manifest; none where it cannot be read as one."""
    try:
        return Manifest.from_bytes(manifest_bytes(MANIFEST, folder.handle))
    except (ValueError, OSError):
        return Manifest(inputs={}, files={})
