"""A former state of a tree as a disk: the same paths, with their former contents.

An unchanged file is the present file, and results computed from it apply to both states.
"""

import os
from abc import ABC, abstractmethod
from pathlib import Path

from nodrop.errors import Problem
from nodrop.inputs import DiskWithHeldTexts, FileText


class FormerTree(DiskWithHeldTexts, ABC):
    """The files that lay below a folder; paths are those of now."""

    is_former = True

    def __init__(self, top: Path, left_out: frozenset[str] = frozenset()) -> None:
        """Keep `top`, which has no links in its path, and `left_out`, whose paths are relative to it."""
        super().__init__()
        self._top = top
        self._keys: dict[str, str | None] = {}
        self.left_out = left_out
        """Files that were there and that nobody wants to lie there now, so that they are in neither state."""
        self.problems: list[Problem] = []
        """What could not be had of the state as it was."""

    def path_from_top(self, path: Path | str) -> str | None:
        """Return a path from the top, "" of that itself; None where it lies elsewhere."""
        text = str(path)
        if text not in self._keys:
            self._keys[text] = self._compute_path_from_top(text)
        return self._keys[text]

    def _compute_path_from_top(self, path: str) -> str | None:
        absolute_path, top = os.path.abspath(path), str(self._top)  # noqa: PTH100 -- links in it are those of now
        if absolute_path == top or absolute_path.startswith(top + os.sep):
            return absolute_path[len(top) + 1 :]
        at, names = Path(absolute_path), list[str]()
        while at != at.parent:
            if os.path.exists(at) and Path(os.path.realpath(at)) == self._top:  # noqa: PTH110 -- raises nothing
                return "/".join(reversed(names))
            names.append(at.name)
            at = at.parent
        return None

    def is_inside_repository(self, folder: Path, name: str) -> bool:
        """Whether a name that a file of a folder states leads to a path below the top."""
        return self.path_from_top(folder / name) is not None

    @abstractmethod
    def is_unchanged(self, text: FileText) -> bool:
        """Whether a text of this state is the very file that lies there now, or has its bytes."""

    def explain_missing_path(self, path: str) -> Problem | None:
        """Return why a path led nowhere."""
        if self.is_folder(Path(path)) or self.is_file(Path(path)):
            return None
        return Problem(path=path, found="no such file or folder before")
