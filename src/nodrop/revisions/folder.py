"""What lies in another folder as a former state: that folder stands for the working directory."""

import os
from collections.abc import Sequence
from pathlib import Path

from nodrop.errors import InputProblems, Problem, describe_os_failure
from nodrop.inputs import DiskWithHeldTexts, FileText, FolderEntry
from nodrop.revisions.asking import REVISION_HINT
from nodrop.revisions.state import FormerTree
from nodrop.syntax.root import InputRoot, LinkLeadsOut


class _FormerFolder(FormerTree):
    """The files of a folder, read where they lie, and shown as if they lay in the working directory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Path(os.path.realpath(".")))
        self._folder, self._disk = folder, DiskWithHeldTexts()
        self._root = InputRoot(os.path.abspath(folder), str(folder))  # noqa: PTH100 -- links to it are the user's own
        self._now: dict[str, bool] = {}
        """Of which files the bytes are those that lie at the same path now."""

    def path_in_folder(self, path: Path | str) -> Path | None:
        """Return where a path is in the folder.

        None where it is not below the working directory, or a link leads out of the folder, which is a problem.
        """
        key = self.path_from_top(path)
        if key is None:
            return None
        folder = self._folder / key
        try:
            self._root.status(folder)
        except LinkLeadsOut:
            problem = Problem(path=str(path), found=f"a link that leads out of {self._folder}, so it is not followed")
            if problem not in self.problems:
                self.problems.append(problem)
            return None
        except (OSError, ValueError):
            pass  # as is told when it is read
        return folder

    def is_unchanged(self, text: FileText) -> bool:
        """Whether a text of this state has the bytes that lie there now."""
        return self._matches_current_file(Path(text.display))

    def _matches_current_file(self, path: Path) -> bool:
        folder_path = self.path_in_folder(path)
        if folder_path is None:
            return False
        if str(path) not in self._now:
            self._now[str(path)] = _have_same_bytes(self.text_in_base_folder(folder_path), super().text(path))
        return self._now[str(path)]

    def is_folder(self, path: Path) -> bool:
        """Whether a path led to a folder."""
        folder_path = self.path_in_folder(path)
        return folder_path is not None and self._disk.is_folder(folder_path)

    def is_file(self, path: Path) -> bool:
        """Whether a path led to a file, or is a link that leads out of the folder, behind which there may be one."""
        folder_path = self.path_in_folder(path)
        if folder_path is None:
            return self.path_from_top(path) is not None
        return self._disk.is_file(folder_path)

    def entries(self, folder: Path) -> list[FolderEntry]:
        """Return the former entries of a folder, by name; OSError if it cannot be read."""
        path = self.path_in_folder(folder)
        return [] if path is None else self._disk.entries(path)

    def head(self, path: Path) -> bytes:
        """Return the first bytes that a file had."""
        folder_path = self.path_in_folder(path)
        return b"" if folder_path is None else self._disk.head(folder_path)

    def text(self, path: Path, display: str | None = None) -> FileText:
        """Return a file as a text to be read, shown by the path that it has now."""
        shown = str(path) if display is None else display
        folder_path = self.path_in_folder(path)
        if folder_path is None:
            return FileText(display=shown)
        return (
            super().text(path, shown)
            if self._matches_current_file(path)
            else self.text_in_base_folder(folder_path, shown)
        )

    def text_in_base_folder(self, path: Path, display: str = "") -> FileText:
        """Return a file of the folder as a text; no link may lead out of the folder."""
        return FileText(display=display or str(path), path=path, root=self._root)


def former_state_of_folder(folder: Path, paths: Sequence[str]) -> FormerTree:
    """Return the contents of a folder, as if it were the working directory.

    InputProblems if it is the working directory or one above, if a path is outside, or if the folder has files but none
    of the present paths: it then belongs to another folder. An empty folder means that nothing existed before.
    """
    named_path = f"--base {folder}"
    try:
        empty = not any(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        raise InputProblems([Problem(path=named_path, found="no such folder", hint=REVISION_HINT)]) from None
    except OSError as error:
        raise InputProblems([Problem(path=named_path, found=describe_os_failure(error))]) from None
    if _is_working_directory_or_above(folder):
        fault = "the working directory lies in it, with the files of now"
        fault = "that is the working directory, with the files of now" if folder.samefile(".") else fault
        hint = "give a revision, such as origin/main, or another folder, with the files as they were"
        raise InputProblems([Problem(path=named_path, found=fault, hint=hint)])
    former, disk = _FormerFolder(folder), DiskWithHeldTexts()
    outside = [path for path in paths if former.path_from_top(path) is None]
    if outside:
        fault = f"not below the working directory, which {folder} represents"
        hint = "run it in the folder that the base is a former state of"
        raise InputProblems([Problem(path=path, found=fault, hint=hint) for path in outside])
    existing_paths = [path for path in paths if disk.explain_missing_path(path) is None]
    if existing_paths and not empty and all(former.explain_missing_path(path) is not None for path in paths):
        raise InputProblems(
            [
                _path_not_in_base_problem(named_path, folder, former.path_from_top(path) or "", path)
                for path in existing_paths
            ]
        )
    return former


def _path_not_in_base_problem(named_path: str, folder: Path, key: str, path: str) -> Problem:
    hint = f"expected {folder / key}: the folder represents the working directory"
    above = next(
        (parent for parent in folder.parents if (parent / key).exists() and not _is_working_directory_or_above(parent)),
        None,
    )
    hint += f"; did you mean --base {above}/?" if above is not None else ""
    return Problem(path=named_path, found=f"{path} is not in it", hint=hint)


def _is_working_directory_or_above(folder: Path) -> bool:
    path = Path.cwd()
    return any(folder.samefile(parent) for parent in (path, *path.parents))


def _have_same_bytes(text: FileText, other_text: FileText) -> bool:
    """Whether two files have the same bytes."""
    try:
        with text.open_stream() as (stream, size), other_text.open_stream() as (other_stream, other_size):
            return size == other_size and stream.read() == other_stream.read()
    except InputProblems:
        return False
