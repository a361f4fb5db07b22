"""What lies on the disk, but for texts that stand for files: those of an editor, or of standard input."""

import os
from collections.abc import Mapping
from pathlib import Path

from nodrop.inputs.model import Text

HEAD_BYTES = 65_536


class Disk:
    """Files, of which some are held in memory, be they on the disk too or not."""

    def __init__(self, held: Mapping[str, bytes] | None = None) -> None:
        """`held` are texts by the paths that they stand for."""
        self._held = {os.path.abspath(path): raw for path, raw in (held or {}).items()}  # noqa: PTH100

    def holds(self, path: Path | str) -> bool:
        """Whether a text stands for the file."""
        return bool(self._held) and os.path.abspath(path) in self._held  # noqa: PTH100

    def is_file(self, path: Path) -> bool:
        """Whether a path leads to a file; False, where Path's own method raises, in a folder one may not enter."""
        return self.holds(path) or os.path.isfile(path)  # noqa: PTH113

    def head(self, path: Path) -> bytes:
        """Return the first bytes of a file; none where it cannot be read."""
        if self.holds(path):
            return self.text(path).held[:HEAD_BYTES]
        try:
            with path.open("rb") as file:
                return file.read(HEAD_BYTES)
        except OSError:
            return b""

    def text(self, path: Path, display: str | None = None) -> Text:
        """Return a file as a text to be read, shown by its path."""
        shown = str(path) if display is None else display
        if self.holds(path):
            return Text(display=shown, held=self._held[os.path.abspath(path)])  # noqa: PTH100
        return Text(display=shown, path=path)


def is_folder(path: Path) -> bool:
    """Whether a path leads to a folder."""
    return os.path.isdir(path)  # noqa: PTH112
