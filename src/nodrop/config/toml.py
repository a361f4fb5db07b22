"""The table [tool.nodrop] of a pyproject.toml: its values as YAML's loader gives them, and the lines of its keys."""

import re
import tomllib
from collections.abc import Sequence
from itertools import islice
from typing import Literal

from nodrop.errors import InputProblems, Problem
from nodrop.syntax.places import Lines, decode_utf8
from nodrop.syntax.yaml import DocumentWithPlaces

_ERROR_POSITION_PATTERN = re.compile(r" \(at line (\d+), column (\d+)\)$", re.ASCII)
_NODROP_TABLE_LINE = re.compile(
    r"""^[ \t]*+\[\[?[ \t]*+(?:"tool"|'tool'|tool)[ \t]*+\.[ \t]*+(?:"nodrop"|'nodrop'|nodrop)\b""", re.MULTILINE
)


class TomlTable(DocumentWithPlaces):
    """A document that is a table of TOML."""

    def __init__(self, data: object, path: str, text: str) -> None:
        """`text` is that of the whole file."""
        self.data, self.path, self._text = data, path, text
        self._lines = Lines(text)

    @property
    def text(self) -> str:
        """The text of the whole file."""
        return self._text

    def line_text(self, line: int) -> str | None:
        """Return the text of a line; None where it is not to be quoted."""
        return self._lines.text(line)

    def line_and_column(self, keys: Sequence[str | int], *, of: Literal["key", "value"] = "value") -> tuple[int, int]:
        """Return the line and column of the last of the keys that is found written as a key, else of the table.

        Neither the standard library nor tomlkit gives the place of a key; the search is for its name before `=`, or
        at the end of a header, after the place of the key around it.
        """
        del of
        header = _NODROP_TABLE_LINE.search(self._text)
        at = header.start() if header else 0
        for before, key in zip((None, *keys), keys, strict=False):
            if isinstance(key, int):
                at = self._offset_of_table_entry(str(before), key, at)
                continue
            name = re.escape(key)
            match = re.compile(
                rf"""(?:^|[{{,\[.])[ \t]*(["']?){name}\1[ \t]*(?==|\]|\.)""",
                re.MULTILINE,
            ).search(self._text, at)
            if match is None:
                continue
            at = match.start() + re.match(r"[{,\[.]?\s*", match[0]).end()  # type: ignore[union-attr]
        return self._line_and_column(at)

    def _offset_of_table_entry(self, name: str, number: int, at: int) -> int:
        """Return the offset of an entry of a list whose name is at an offset: a separate table, or in braces."""
        header = re.compile(rf"""^[ \t]*\[\[[^\]\n]*{re.escape(name)}["']?[ \t]*\]\]""", re.MULTILINE)
        line = self._text.rfind("\n", 0, at) + 1
        opening = header if header.match(self._text, line) else re.compile(r"\{")
        opening_offsets = [match.end() - 1 for match in islice(opening.finditer(self._text, line), number + 1)]
        return opening_offsets[number] if number < len(opening_offsets) else at

    def _line_and_column(self, at: int) -> tuple[int, int]:
        line = self._text.count("\n", 0, at) + 1
        return line, at - self._text.rfind("\n", 0, at)


def parse_nodrop_table(file_content: bytes, path: str) -> TomlTable | None:
    """Return the table [tool.nodrop] of a pyproject.toml; None where it has none. InputProblems where it is no TOML."""
    text = decode_utf8(file_content, path)
    try:
        tool = tomllib.loads(text.replace("\r\n", "\n")).get("tool")
    except (ValueError, RecursionError) as error:  # ValueError: also a number of more digits than Python converts
        error_text = str(error)
        where = _ERROR_POSITION_PATTERN.search(error_text)
        line, column = (int(where[1]), int(where[2])) if where else (None, None)
        fault_text = _ERROR_POSITION_PATTERN.sub("", error_text)
        raise InputProblems([Problem(path=path, line=line, column=column, found=fault_text, expected="TOML")]) from None
    nodrop_table = tool.get("nodrop") if isinstance(tool, dict) else None
    return None if nodrop_table is None else TomlTable(_stringify_numbers(nodrop_table), path, text)


def _stringify_numbers(value: object) -> object:
    """Return the same with texts for numbers, as YAML's loader leaves them to the schema."""
    match value:
        case dict():
            return {key: _stringify_numbers(child) for key, child in value.items()}
        case list():
            return [_stringify_numbers(child) for child in value]
        case bool() | str():
            return value
    return str(value)
