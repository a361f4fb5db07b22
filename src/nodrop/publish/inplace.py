"""The user's files, replaced in place: each is the old one or the new one, even after a failure."""

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from nodrop.errors import InputProblems, Problem, describe_os_failure
from nodrop.publish.disk import DEFAULT_DISK_WRITER, DiskWriter
from nodrop.publish.landing import OutputIsLink, OutputPlace, open_folder_of_output
from nodrop.publish.tree import MANIFEST_FILE, Manifest, read_manifest_bytes
from nodrop.syntax.root import LinkLeadsOut


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReplacement:
    """A file, how to show it, its content when it was read, and its new content."""

    path: Path
    display: str
    old: bytes
    new: bytes


def replace_files(files: Sequence[FileReplacement], *, disk: DiskWriter = DEFAULT_DISK_WRITER) -> None:
    """Replace files, all or none of them unless the run is ended in the middle; each is replaced in one step.

    Mode, owner and attributes stay. InputProblems where a file is another than was read, is a link (`landing`) or may
    not be replaced so, and then nothing has changed.
    """
    with ExitStack() as stack:
        drafts: list[tuple[OutputPlace, OutputPlace]] = []
        for file in files:
            try:
                place = stack.enter_context(open_folder_of_output(file.path))
                drafts.append((_write_draft_beside(file, place, stack, disk), place))
            except OSError as error:
                refusal = _describe_replace_failure(error)
                raise InputProblems([Problem(path=file.display, found=refusal)]) from None
        for file, (_, place) in zip(files, drafts, strict=True):
            _require_unchanged(file, place)
        for draft, place in drafts:
            disk.replace_file_with_draft(draft, place)
            disk.fsync_folder(place.folder)


def _describe_replace_failure(error: OSError) -> str:
    if isinstance(error, OutputIsLink | LinkLeadsOut):
        return str(error.strerror)
    return f"cannot be replaced: {describe_os_failure(error)}"


def _write_draft_beside(file: FileReplacement, place: OutputPlace, stack: ExitStack, disk: DiskWriter) -> OutputPlace:
    """Write the new text next to a file, until the end of the stack, and return its place."""
    handle, draft = place.create_hidden_draft(0o600)
    stack.callback(_remove_draft, draft)
    with os.fdopen(handle, "wb") as out:
        disk.write_draft(out, file.new)
        disk.copy_owner_and_mode(handle, place)
    return draft


def _remove_draft(draft: OutputPlace) -> None:
    with suppress(OSError):
        draft.remove()


def _require_unchanged(file: FileReplacement, landing: OutputPlace) -> None:
    try:
        with os.fdopen(landing.open(os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:
            current_data = opened.read()
    except OSError:
        current_data = None
    if current_data != file.old:
        message, hint = "changed since it was read", "nothing was written; run it again"
        raise InputProblems([Problem(path=file.display, found=message, hint=hint)])


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFolderWithInputs:
    """The folder of a build, and the names of the inputs that it was built from."""

    folder: Path
    inputs: tuple[str, ...]


def build_folder_of_file(path: Path) -> BuildFolderWithInputs | None:
    """Return the build that a file belongs to; None where it is of none."""
    real_path = Path(os.path.realpath(path))
    for folder in real_path.parents:
        with suppress(OSError, ValueError):
            manifest = Manifest.from_bytes(read_manifest_bytes(folder / MANIFEST_FILE))
            if real_path.relative_to(folder).as_posix() in manifest.files:
                return BuildFolderWithInputs(folder=folder, inputs=tuple(sorted(manifest.inputs)))
    return None
