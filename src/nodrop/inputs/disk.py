"""What lies on the disk, but for texts that stand for files; or what lay there, at a former state of the same tree."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Literal

from nodrop.errors import InputProblems, Problem
from nodrop.inputs.model import FileText
from nodrop.paths import find_path_fault
from nodrop.syntax.places import open_regular_file
from nodrop.syntax.root import GIT_FOLDER, InputRoot, LinkLeadsOut, find_containment_root, topmost_repository_of_path

FILE_HEAD_BYTES = 65_536

FolderEntryKind = Literal["file", "folder", "link", "outside"]


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """The entry of a folder: its name and its kind; a `link` leads to a folder and is not followed.

    An entry that leads `outside` of the root is neither followed nor read; `root` names that.
    """

    name: str
    kind: FolderEntryKind
    root: str = ""


class DiskWithHeldTexts:
    """Files, some of them held in memory, whether or not they are on the disk too."""

    is_former = False
    """Whether these are the files of a former state, not those that lie there now."""

    def __init__(self, texts_by_path: Mapping[str, bytes] | None = None) -> None:
        """`texts_by_path` are texts by the paths that they stand for."""
        self._held = {os.path.abspath(path): raw for path, raw in (texts_by_path or {}).items()}  # noqa: PTH100
        self._roots: dict[str, InputRoot] = {}
        """By folder, or file that was named: what no link leads out of."""
        self._repositories: dict[str, str | None] = {}

    def is_held_in_memory(self, path: Path | str) -> bool:
        """Whether a text stands for the file."""
        return bool(self._held) and os.path.abspath(path) in self._held  # noqa: PTH100

    def explain_missing_path(self, path: str) -> Problem | None:
        """Return why a path that was named leads nowhere; None where it leads to something."""
        if self.is_held_in_memory(path):
            return None
        return find_path_fault(path, self._register_root(path) if path else None)

    def is_folder(self, path: Path) -> bool:
        """Whether a path leads to a folder."""
        try:
            return S_ISDIR(self.confining_root_of_path(path).status(path).st_mode)
        except (OSError, ValueError):
            return False

    def is_file(self, path: Path) -> bool:
        """Whether a path leads to a file, or out of the root, which is reported when it is read."""
        if self.is_held_in_memory(path):
            return True
        try:
            return S_ISREG(self.confining_root_of_path(path).status(path).st_mode)
        except LinkLeadsOut:
            return True
        except (OSError, ValueError):
            return False

    def entries(self, folder: Path) -> list[FolderEntry]:
        """Return the content of a folder, by name; OSError where it cannot be read."""
        handle = self.confining_root_of_path(folder).open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(handle) as scandir_iterator:
                entries = [
                    (entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)) for entry in scandir_iterator
                ]
        finally:
            os.close(handle)
        return [
            self._entry_behind_link(folder / name) if is_link else FolderEntry(name, "folder" if is_folder else "file")
            for name, is_link, is_folder in sorted(entries)
        ]

    def head(self, path: Path) -> bytes:
        """Return the first bytes of a file; none where it cannot be read, or is no regular file."""
        if self.is_held_in_memory(path):
            return self.text(path).held[:FILE_HEAD_BYTES]
        try:
            with open_regular_file(path, str(path), root=self.confining_root_of_path(path)) as (file, _):
                return file.read(FILE_HEAD_BYTES)
        except InputProblems:
            return b""

    def text(self, path: Path, display: str | None = None) -> FileText:
        """Return a file as a text to be read, shown by its path."""
        shown = str(path) if display is None else display
        if self.is_held_in_memory(path):
            return FileText(display=shown, held=self._held[os.path.abspath(path)])  # noqa: PTH100
        return FileText(display=shown, path=path, root=self.confining_root_of_path(path))

    def intent(self, path: Path, display: str | None = None) -> FileText:
        """Return an intent as a text to be read, which can open the files that it names."""
        return replace(self.text(path, display), disk=self)

    def explain_path_outside_repository(self, folder: Path, name: str) -> str:
        """Return why a file of a folder must not name a path, which leads out of the repository; else nothing."""
        if os.path.isabs(name):  # noqa: PTH117
            return f"{name}, an absolute path"
        return "" if self.is_inside_repository(folder, name) else f"{name}, which leads out of the repository"

    def is_inside_repository(self, folder: Path, name: str) -> bool:
        """Whether a name that a file of a folder states leads to a place in the file's repository.

        Neither its words nor links lead out of it. Without a repository, it is the working directory if the folder lies
        in it, else the folder itself.
        """
        try:
            real_folder = os.path.realpath(folder)
            tree = Path(_find_boundary_folder(real_folder))
            leads = [Path(os.path.normpath(Path(real_folder, name))), Path(os.path.realpath(folder / name))]
        except ValueError:  # no name that a file can have
            return False
        return all(lead.is_relative_to(tree) and GIT_FOLDER not in lead.relative_to(tree).parts for lead in leads)

    def confining_root_of_path(self, path: Path | str) -> InputRoot:
        """Return the root that no link below it leads out of: the named path that contains this path, else its
        surroundings.
        """
        absolute = at = os.path.abspath(path)  # noqa: PTH100
        while (root := self._roots.get(at)) is None:
            above = os.path.dirname(at)  # noqa: PTH120
            if above == at:
                root = self._find_folder_root(absolute)
                break
            at = above
        folder = os.path.dirname(absolute)  # noqa: PTH120
        if at not in (absolute, folder) and folder in root:
            self._roots[folder] = root
        return root

    def _find_folder_root(self, absolute: str) -> InputRoot:
        """Return the root of a path that nobody named, such as a file next to or above a named path: its folder at
        least.
        """
        folder = absolute if os.path.isdir(absolute) and not os.path.islink(absolute) else os.path.dirname(absolute)  # noqa: PTH112, PTH114, PTH120
        return self._register_root(folder)

    def _register_root(self, path: Path | str) -> InputRoot:
        """Return the root of a path that was named, which the paths below it belong to from now on."""
        absolute = os.path.abspath(path)  # noqa: PTH100
        folder = os.path.dirname(absolute)  # noqa: PTH120
        if folder not in self._repositories:
            self._repositories[folder] = topmost_repository_of_path(folder)
        is_top = os.path.lexists(f"{absolute}/{GIT_FOLDER}")
        root = find_containment_root(path, None if is_top else self._repositories[folder])
        return self._roots.setdefault(root.top, root)

    def _entry_behind_link(self, path: Path) -> FolderEntry:
        """Return where a link leads to."""
        try:
            status = self.confining_root_of_path(path).status(path)
        except LinkLeadsOut:
            return FolderEntry(path.name, "outside", self.confining_root_of_path(path).shown)
        except OSError:
            return FolderEntry(path.name, "file")
        return FolderEntry(path.name, "link" if S_ISDIR(status.st_mode) else "file")


def find_named_intent(path: str) -> FileText:
    """Return the intent that a user named; InputProblems gives the reason why there is no such file."""
    disk = DiskWithHeldTexts()
    if (wrong := disk.explain_missing_path(path)) is not None:
        raise InputProblems([wrong])
    return disk.intent(Path(path), path)


def _find_boundary_folder(folder: str) -> str:
    """Return the folder that must contain all that a file of a folder names; neither path has links."""
    if repository := topmost_repository_of_path(folder):
        return repository
    working = os.path.realpath(".")
    return working if Path(folder).is_relative_to(working) else folder
