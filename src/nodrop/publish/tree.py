"""The content of an output folder: its manifest, the files that nodrop wrote there, and other files."""

import io
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.publish.held import NOT_PLAIN_FILE_REASON, HeldFolder, NotPlainFile, open_plain_file
from nodrop.publish.names import IsOutputNameOfCommand

MANIFEST_FILE = ".nodrop.json"
_MANIFEST_VERSION = 1
_MAX_MANIFEST_BYTES = 64_000_000
"""Bytes of a manifest: of more than 300,000 files."""
_PATH_SEGMENT_PATTERN = re.compile(r"[A-Za-z0-9._@+=-]+")

FileStatSignature = tuple[int, int, int, int]


def content_digest(data: bytes) -> str:
    """Return the digest that manifests hold, of inputs and of files alike."""
    return blake2b(data, digest_size=32).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The inputs and outputs of a build: name → digest. Equal builds have equal bytes, on every machine."""

    inputs: Mapping[str, str]
    files: Mapping[str, str]

    def to_bytes(self) -> bytes:
        """Return the manifest as it is written, sorted."""
        inputs, files = dict(sorted(self.inputs.items())), dict(sorted(self.files.items()))
        return json.dumps({"version": _MANIFEST_VERSION, "inputs": inputs, "files": files}, indent=2).encode() + b"\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> "Manifest":
        """Read what `to_bytes` wrote; ValueError, in words for the user, if it is anything else."""
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            raise ValueError("is damaged: not JSON") from None
        if (
            not isinstance(document, dict)
            or document.get("version") != _MANIFEST_VERSION
            or type(document["version"]) is not int
        ):
            raise ValueError(f"is not of version {_MANIFEST_VERSION}, the one that this nodrop knows")
        inputs, files = _require_digests(document.get("inputs")), _require_digests(document.get("files"))
        if MANIFEST_FILE in files:
            raise ValueError("is damaged: it lists itself")
        return cls(inputs=inputs, files=files)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingOutputTree:
    """A folder that may be replaced, as it stands: nothing in it would be lost."""

    mode: int | None = None
    """Of the folder itself; None when there is none."""
    manifest: bytes | None = None
    """None when the folder is absent or empty."""
    listed: Mapping[str, str]
    """The files that are there and that the manifest lists, with the digests that it gives."""
    signatures: Mapping[str, FileStatSignature]
    folders: frozenset[str] = frozenset()

    def part_with_prefix(self, prefix: str) -> "ExistingOutputTree":
        """Return what part of a build has to know: the folder's mode, and the listed files whose names begin so."""
        listed = {path: file_digest for path, file_digest in self.listed.items() if path.startswith(prefix)}
        return ExistingOutputTree(mode=self.mode, listed=listed, signatures={})

    def edited_files(self, root: HeldFolder | None, paths: Iterable[str], new: Mapping[str, str]) -> frozenset[str]:
        """Those of the listed files `paths` that were changed since nodrop wrote them, and not into the `new` ones."""
        if root is None:
            return frozenset()
        pairs = ((path, content_digest(root.read_file(path)[1])) for path in paths)
        return frozenset(path for path, file_digest in pairs if file_digest not in (self.listed[path], new.get(path)))


def survey_replaceable_folder(
    root: HeldFolder | None, file_names: IsOutputNameOfCommand, *, display: str, mark: str | None = None
) -> ExistingOutputTree:
    """Check the folder that the build replaces, and refuse if that would lose files that nodrop has not written.

    With a `mark`, a file of that name has to be listed, if any is. Files that the manifest lists under a name that the
    command gives to no file (`file_names`) were not written by it.

    A listed file that was deleted is no loss. Edits are detected once the new content is known; if the folder is
    refused anyway, they are reported as well.
    """
    if root is None:
        return ExistingOutputTree(listed={}, signatures={})
    mode = stat.S_IMODE(root.status().st_mode)
    entries = sorted(root.names())
    if not entries:
        return ExistingOutputTree(mode=mode, listed={}, signatures={})
    if MANIFEST_FILE not in entries:
        raise InputProblems([_foreign_entries_problem(entries, display)])
    data, claimed = _read_manifest(root, display)
    if mark is not None and claimed and mark not in claimed:
        message = f"holds what another command of nodrop wrote, without {mark}"
        hint = "give a new or an empty folder; nothing was touched"
        raise InputProblems([Problem(path=display, found=message, hint=hint)])
    listed = {path: file_digest for path, file_digest in claimed.items() if file_names(path)}
    stats = dict(walk_files_of_folder(root, parent_folders_of(listed)))
    ours = {path: listed[path] for path, status in stats.items() if path in listed and is_plain_file(status)}
    standing = ExistingOutputTree(
        mode=mode,
        manifest=data,
        listed=ours,
        signatures={path: _file_signature(status) for path, status in stats.items()},
        folders=parent_folders_of(listed),
    )
    if foreign := stats.keys() - ours - {MANIFEST_FILE}:
        problems = [
            _foreign_file_problem(path, display, listed=path in listed, claimed=path in claimed) for path in foreign
        ]
        raise InputProblems(
            [*problems, *(edited_file_problem(path, display) for path in standing.edited_files(root, ours, {}))]
        )
    return standing


def is_unchanged_since(root: HeldFolder, standing: ExistingOutputTree) -> bool:
    """Whether the folder still is what `survey_replaceable_folder` saw: the same entries, none of them written to."""
    return {
        path: _file_signature(status) for path, status in walk_files_of_folder(root, standing.folders)
    } == standing.signatures


def walk_files_of_folder(root: HeldFolder, folders: frozenset[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below `root` but the folders named, which are entered. Nothing else is, so a link leads nowhere."""
    pending = [""]
    while pending:
        prefix = pending.pop()
        with os.scandir(root.open_subfolder(prefix.rstrip("/"))) as entries:
            statuses = [(prefix + entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        for path, status in statuses:
            if path in folders and stat.S_ISDIR(status.st_mode):
                pending.append(path + "/")
            else:
                yield path, status


def parent_folders_of(paths: Iterable[str]) -> frozenset[str]:
    """Every folder that these files need, without the root."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


def require_safe_paths(paths: Iterable[str]) -> None:
    """Refuse, as a bug of the caller, names that could leave the folder or that take another's place."""
    names = frozenset(paths)
    for path in sorted(names):
        segments = path.split("/")
        if not all(_PATH_SEGMENT_PATTERN.fullmatch(segment) and segment not in (".", "..") for segment in segments):
            raise ValueError(f"not a plain relative path: {path!r}")
        if segments[-1].casefold() == MANIFEST_FILE:
            raise ValueError(f"the name of the manifest is taken: {path!r}")
    if clash := sorted(names & parent_folders_of(names)):
        raise ValueError(f"both a file and a folder: {clash[0]!r}")


def file_mode(path: str, *, private: bool) -> int:
    """Return the permissions of a file that nodrop writes, before the umask takes some: scripts can be run.

    A `private` file is for its owner alone, because it may hold secrets.
    """
    full_mode = 0o777 if path.endswith(".sh") else 0o666
    return full_mode & 0o700 if private else full_mode


def has_mode(status: os.stat_result, mode: int) -> bool:
    """Whether a file has such permissions, with any umask: it can be run if it should, and by nobody else."""
    bits = stat.S_IMODE(status.st_mode)
    return bits & 0o600 == 0o600 and bool(bits & 0o100) == bool(mode & 0o100) and not bits & ~mode


def is_plain_file(status: os.stat_result) -> bool:
    """Whether this is a plain file: no folder, link or device."""
    return stat.S_ISREG(status.st_mode)


def first_differing_line(old_data: bytes, new_data: bytes) -> int:
    """Return the first line, from 1, where two different texts differ."""
    pairs = enumerate(zip_longest(io.BytesIO(old_data), io.BytesIO(new_data)), 1)
    return next(number for number, (left_line, right) in pairs if left_line != right)


def printable_path(path: str) -> str:
    """Return a name found on the disk, fit to be printed with any content."""
    return path if path.isprintable() else ascii(path)


def read_manifest_bytes(path: Path | str, folder: int | None = None) -> bytes:
    """Return the text of a manifest, by its path or its name in an open folder.

    ValueError, in words for the user, where it is no plain file or too large for a manifest.
    """
    try:
        with open_plain_file(path, folder) as file:
            data, size = file.read(_MAX_MANIFEST_BYTES + 1), os.fstat(file.fileno()).st_size
    except NotPlainFile:
        raise ValueError(NOT_PLAIN_FILE_REASON) from None
    if len(data) > _MAX_MANIFEST_BYTES:
        raise ValueError(f"has {size:,} bytes, and no build has a manifest of more than {_MAX_MANIFEST_BYTES:,}")
    return data


def _read_manifest(root: HeldFolder, display: str) -> tuple[bytes, Mapping[str, str]]:
    """Return the manifest's bytes and the files that it lists; InputProblems if it cannot be read."""
    try:
        data = read_manifest_bytes(MANIFEST_FILE, root.handle)
        return data, Manifest.from_bytes(data).files
    except ValueError as error:
        hint = "restore it, or delete the folder if nothing in it is yours; nothing was touched"
        raise InputProblems([Problem(path=f"{display}/{MANIFEST_FILE}", found=str(error), hint=hint)]) from None


def _foreign_entries_problem(entries: list[str], display: str) -> Problem:
    names = ", ".join(printable_path(entry) for entry in entries[:3])
    suffix = f" and {len(entries) - 3} more" if len(entries) > 3 else ""
    message = f"is not empty and has no {MANIFEST_FILE}, so nodrop did not write it: {names}{suffix}"
    return Problem(path=display, found=message, hint="give a new or an empty folder; nothing was touched")


def _foreign_file_problem(path: str, display: str, *, listed: bool, claimed: bool) -> Problem:
    message = "was not written by nodrop"
    if listed:
        message = NOT_PLAIN_FILE_REASON
    elif claimed:
        message = f"is listed in {MANIFEST_FILE}, but this command gives no file that name"
    hint = "move it out of the folder, which a build replaces as a whole; nothing was touched"
    return Problem(path=f"{display}/{printable_path(path)}", found=message, hint=hint)


def edited_file_problem(path: str, display: str) -> Problem:
    """Return what to do about a file that a person changed."""
    hint = "carry the change into the intent, then delete this file and build again; nothing was touched"
    return Problem(path=f"{display}/{path}", found="was changed since nodrop wrote it", hint=hint)


def _file_signature(status: os.stat_result) -> FileStatSignature:
    return (status.st_ino, status.st_size, status.st_mtime_ns, stat.S_IFMT(status.st_mode))


def _require_digests(value: object) -> dict[str, str]:
    if isinstance(value, dict) and all(isinstance(word, str) for word in value.values()):
        return value
    raise ValueError("is damaged: `inputs` and `files` do not map names to digests")
