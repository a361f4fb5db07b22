"""The file of a cabling sheet that an intent names: CSV, or YAML with the cables as a list."""

from collections.abc import Callable
from dataclasses import dataclass

from nodrop.errors import Problem
from nodrop.syntax.places import Lines, decode_utf8
from nodrop.syntax.yaml import DocumentWithPlaces, parse_yaml

YAML_ENDINGS = (".yaml", ".yml")

OpenSheetFile = Callable[[str], tuple[str, bytes]]
"""Returns the displayed path and the content of a file, by its path from the folder of the intent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CableSheetFile:
    """A cabling sheet in its own file."""

    path: str
    """As problems name it."""
    content: bytes
    cables: str | tuple[str, ...]
    """The text of the CSV, or the texts of the list."""
    document: DocumentWithPlaces | None
    """The YAML; None for CSV."""
    lines: Lines

    @classmethod
    def of_csv(cls, path: str, content: bytes) -> "CableSheetFile":
        """Return the sheet in a CSV file; raise InputProblems where that is not UTF-8."""
        text = decode_utf8(content, path)
        return cls(path=path, content=content, cables=text, document=None, lines=Lines(text))

    @classmethod
    def of_yaml(
        cls, path: str, content: bytes, read: Callable[[DocumentWithPlaces], tuple[str, ...]]
    ) -> "CableSheetFile":
        """Return the sheet in a YAML file, whose cables `read` returns; raise InputProblems as that does."""
        document = parse_yaml(content, path)
        return cls(path=path, content=content, cables=read(document), document=document, lines=Lines(document.text))

    def problem(self, index: int, fault: str, expected: str = "", hint: str = "") -> Problem:
        """Return a problem of a row of the list, or of a line of the CSV, counted from 0."""
        if self.document is not None:
            return self.document.problem(("cables", index), fault, expected, hint)
        return Problem(
            path=self.path,
            line=index + 1,
            column=1,
            found=fault,
            expected=expected,
            hint=hint,
            quoted_line=self.lines.text(index + 1),
        )
