"""What lies on the disk, but for texts that stand for files; or what lay there, at a former state of the same tree."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodrop.errors import InputProblems, Problem
from nodrop.formats.places import regular
from nodrop.inputs.model import Text
from nodrop.paths import fault

HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Entry:
    """What a folder holds: its name and what it is; a `link` leads to a folder and is not followed."""

    name: str
    kind: Literal["file", "folder", "link"]


class Disk:
    """Files, of which some are held in memory, be they on the disk too or not."""

    def __init__(self, held: Mapping[str, bytes] | None = None) -> None:
        """`held` are texts by the paths that they stand for."""
        self._held = {os.path.abspath(path): raw for path, raw in (held or {}).items()}  # noqa: PTH100

    def holds(self, path: Path | str) -> bool:
        """Whether a text stands for the file."""
        return bool(self._held) and os.path.abspath(path) in self._held  # noqa: PTH100

    def fault(self, path: str) -> Problem | None:
        """Return why a path leads nowhere; None where it leads to something."""
        return None if self.holds(path) else fault(path)

    def is_folder(self, path: Path) -> bool:
        """Whether a path leads to a folder."""
        return os.path.isdir(path)  # noqa: PTH112

    def is_file(self, path: Path) -> bool:
        """Whether a path leads to a file; False, where Path's own method raises, in a folder one may not enter."""
        return self.holds(path) or os.path.isfile(path)  # noqa: PTH113

    def entries(self, folder: Path) -> list[Entry]:
        """Return what a folder holds, by name, without what begins with a dot; OSError where it cannot be read."""
        with os.scandir(folder) as found:
            entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda one: one.name)
        return [Entry(one.name, _kind(one)) for one in entries]

    def head(self, path: Path) -> bytes:
        """Return the first bytes of a file; none where it cannot be read, or is no regular file."""
        if self.holds(path):
            return self.text(path).held[:HEAD_BYTES]
        try:
            with regular(path, str(path)) as (file, _):
                return file.read(HEAD_BYTES)
        except InputProblems:
            return b""

    def text(self, path: Path, display: str | None = None) -> Text:
        """Return a file as a text to be read, shown by its path."""
        shown = str(path) if display is None else display
        if self.holds(path):
            return Text(display=shown, held=self._held[os.path.abspath(path)])  # noqa: PTH100
        return Text(display=shown, path=path)


def _kind(entry: "os.DirEntry[str]") -> Literal["file", "folder", "link"]:
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "link" if entry.is_symlink() and os.path.isdir(entry.path) else "file"  # noqa: PTH112
