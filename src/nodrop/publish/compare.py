"""How a folder differs from the result of a build; nothing is changed."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodrop.publish.held import HeldFolder, NotPlainFile
from nodrop.publish.refusal import errors_as_problems, make_refusal, require_folder_or_absent
from nodrop.publish.swap import open_output_tree_place
from nodrop.publish.tree import (
    MANIFEST_FILE,
    Manifest,
    content_digest,
    first_differing_line,
    is_plain_file,
    parent_folders_of,
    printable_path,
    read_manifest_bytes,
    require_safe_paths,
    walk_files_of_folder,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFolderDifference:
    """One difference between a folder and the result of a build."""

    path: str
    kind: Literal["missing", "differs", "unexpected"]
    line: int | None = None
    """The first line that differs; None where there are no lines to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDigestsAndDifferences:
    """The digests of some files, and for those whose place holds something else the first line (from 1) to differ."""

    digests: Mapping[str, str]
    lines: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFolder:
    """A folder to compare files with. It is small, and can be sent to the process that makes the files."""

    directory: Path
    display: str

    def put(self, files: Mapping[str, bytes]) -> FileDigestsAndDifferences:
        """Compare these files with what stands in their places."""
        require_safe_paths(files)
        digests = {path: content_digest(files[path]) for path in files}
        lines = {}
        with errors_as_problems(self.display):
            folder = self._open_output_folder()
            for path in files:
                with suppress(FileNotFoundError, NotADirectoryError, NotPlainFile):
                    if folder is not None and (current_data := folder.read_file(path)[1]) != files[path]:
                        lines[path] = first_differing_line(current_data, files[path])
        return FileDigestsAndDifferences(digests=digests, lines=lines)

    def drifts(self, comparisons: Sequence[FileDigestsAndDifferences]) -> tuple[BuildFolderDifference, ...]:
        """Return how the folder differs from the result of a build of all the parts.

        The manifest's digests of the inputs are taken as they are: other inputs that give the same files are no drift.
        """
        digests = {path: data for part in comparisons for path, data in part.digests.items()}
        lines = {path: line for part in comparisons for path, line in part.lines.items()}
        require_safe_paths(digests)
        with errors_as_problems(self.display):
            folder = self._open_output_folder()
            if folder is None:
                return tuple(
                    BuildFolderDifference(path=path, kind="missing") for path in sorted([*digests, MANIFEST_FILE])
                )
            old_manifest = _manifest_or_empty(folder)
            status = dict(walk_files_of_folder(folder, parent_folders_of([*digests, *old_manifest.files])))
            if MANIFEST_FILE in status and is_plain_file(status[MANIFEST_FILE]):
                manifest = Manifest(inputs=old_manifest.inputs, files=digests).to_bytes()
                if (bytes_there := _manifest_bytes_or_empty(folder)) != manifest:
                    lines[MANIFEST_FILE] = first_differing_line(bytes_there, manifest)
        drifts = []
        for path in sorted({*digests, *status, MANIFEST_FILE}):
            if path not in status:
                drifts.append(BuildFolderDifference(path=path, kind="missing"))
            elif path not in digests and path != MANIFEST_FILE:
                drifts.append(BuildFolderDifference(path=printable_path(path), kind="unexpected"))
            elif not is_plain_file(status[path]):
                drifts.append(BuildFolderDifference(path=path, kind="differs"))
            elif path in lines:
                drifts.append(BuildFolderDifference(path=path, kind="differs", line=lines[path]))
        return tuple(drifts)

    def _open_output_folder(self) -> HeldFolder | None:
        """Open the folder; None where there is none."""
        with suppress(FileNotFoundError), open_output_tree_place(self.directory) as place:
            require_folder_or_absent(place, self.display)
            return HeldFolder.of(place.tree)
        return None


def begin_comparison(directory: Path, *, display: str) -> ComparedFolder:
    """Begin a comparison; InputProblems where a build that was interrupted has left no folder."""
    display = display.rstrip("/")
    with errors_as_problems(display), suppress(FileNotFoundError), open_output_tree_place(directory):
        pass
    if hint := interrupted_build_hint(directory):
        raise make_refusal(display, "no such folder", hint)
    return ComparedFolder(directory=directory, display=display)


def compare_with_build(
    directory: Path, files: Mapping[str, bytes], *, display: str
) -> tuple[BuildFolderDifference, ...]:
    """Compare the folder, byte by byte, with the result of a build of these files."""
    require_safe_paths(files)
    compared = begin_comparison(directory, display=display)
    return compared.drifts([compared.put(files)])


def interrupted_build_hint(directory: Path) -> str | None:
    """Return the next step if an interrupted build left a folder missing; None if no build was interrupted.

    Nothing is moved: only a build does that.
    """
    with suppress(OSError, ValueError), open_output_tree_place(directory) as place:
        if place.tree.status() is None and place.old_tree_place.status() is not None:
            name, old = place.tree.name, place.old_tree_place.name
            return f"a build of {name} was interrupted; run `nodrop build` again, or rename {old} beside it to {name}"
    return None


def _manifest_bytes_or_empty(folder: HeldFolder) -> bytes:
    """Return the text of a folder's manifest; nothing, where it is too large for one."""
    try:
        return read_manifest_bytes(MANIFEST_FILE, folder.handle)
    except ValueError:
        return b""


def _manifest_or_empty(folder: HeldFolder) -> Manifest:
    """Return the content of a folder's manifest; none where it cannot be read as one."""
    try:
        return Manifest.from_bytes(read_manifest_bytes(MANIFEST_FILE, folder.handle))
    except (ValueError, OSError):
        return Manifest(inputs={}, files={})
