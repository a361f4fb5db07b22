"""A cabling sheet: the cables of an intent row by row, as its text has them.

As CSV it has a line of column names: two times `device` and `port`, and `length`, `media` and `speed` where rows state
them. `a_` and `b_` before a name, and columns of panel ports, are allowed, so that plan/cabling.csv of a build is a
sheet too. As a list it has one text for each cable, as `cables` of a fabric.yaml.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from nodrop import units
from nodrop.errors import Problem
from nodrop.hardware import nearest_word_hint
from nodrop.intent.schema import WrittenIntent
from nodrop.intent.topology import Cables, CableSheetFileName, CableSheetTopology
from nodrop.syntax.places import sanitize_for_message
from nodrop.units import MalformedText, parse_whole_number

MAX_SHEET_CABLES = 200_000
"""Rows of a sheet: twice the cables of 1,000 switches of 128 ports, each with a switch at both ends."""
MOST_CABLE_LENGTH_M = 100_000

_CABLES_KEY_PATH = ("topology", "cables")
_SHEET_COLUMNS = ("device", "port", "length", "media", "speed", "panel")
_SIDE_PREFIX_PATTERN = re.compile("[ab]_")
_CABLE_ENDS_PATTERN = re.compile(r"([^\s:]{1,255}):(\S{1,255}?)(?:--| -- )([^\s:]{1,255}):(\S{1,255})")
_CABLE_EXAMPLE = "leaf1:swp1--spine1:swp1 30m DR4 400G"


class CableSheetEnd(NamedTuple):
    """An end of a cable, in the words of the sheet."""

    device: str
    port: str

    def __str__(self) -> str:
        return f"{self.device}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CableSheetRow:
    """A cable of a sheet; what its row leaves out has the default of the topology, or is None."""

    a: CableSheetEnd
    b: CableSheetEnd
    length_m: int | None = None
    media: str | None = None
    speed_mbps: int | None = None
    index: int = field(compare=False)
    """Of its text in the list, or of its line in the CSV, from 0."""


class CableSheetRowPlaces:
    """Where the rows of an intent's sheet stand."""

    def __init__(self, intent: WrittenIntent, cables: Cables) -> None:
        self._intent, self._listed = intent, isinstance(cables, tuple)
        self._file = intent.sheet_file if isinstance(cables, CableSheetFileName) else None
        self._first_line = self._first_row_line_of_yaml_block() if isinstance(cables, str) else None

    def problem(self, index: int, fault: str, expected: str = "", hint: str = "") -> Problem:
        """Return a problem of a row, at its line."""
        if self._file is not None:
            return self._file.problem(index, fault, expected, hint)
        if self._listed:
            return self._intent.problem((*_CABLES_KEY_PATH, index), fault, expected, hint)
        problem = self._intent.problem(_CABLES_KEY_PATH, fault, expected, hint)
        if self._first_line is None:
            return replace(problem, found=f"row {index + 1}: {fault}")
        line = self._first_line + index
        return replace(problem, line=line, column=1, quoted_line=self._intent.line_text(line))

    def format_row_place(self, index: int) -> str:
        """Return where a row stands, in words."""
        line = self.problem(index, "").line
        return f"row {index + 1}" if line is None else f"line {line}"

    def _first_row_line_of_yaml_block(self) -> int | None:
        """Return the line of the first row of a literal block (`cables: |`); None for other texts."""
        line = self._intent.problem(_CABLES_KEY_PATH, "").line
        if line is None:
            return None
        lines = self._intent.text.split("\n", line)
        return line + 1 if re.search(r"\|[-+0-9]*[ \t]*(?:#.*)?\r?$", lines[line - 1]) else None


def read_sheet_with_defaults(
    intent: WrittenIntent, sheet: CableSheetTopology, problems: list[Problem]
) -> tuple[CableSheetRow, ...]:
    """Return the cables of a sheet with its defaults; rows that are none are added to `problems`."""
    return tuple(
        replace(
            row,
            length_m=sheet.length if row.length_m is None else row.length_m,
            media=sheet.media if row.media is None else row.media,
            speed_mbps=sheet.speed if row.speed_mbps is None else row.speed_mbps,
        )
        for row in read_sheet_rows(intent, sheet.cables, problems)
    )


def read_sheet_rows(intent: WrittenIntent, cables: Cables, problems: list[Problem]) -> Iterator[CableSheetRow]:
    """Yield the cables of a sheet as stated; rows that are none are added to `problems`."""
    places = CableSheetRowPlaces(intent, cables)
    if isinstance(cables, CableSheetFileName):
        if intent.sheet_file is None:
            problems.append(
                intent.problem((*_CABLES_KEY_PATH, "file"), "a file, of a text without a folder", "the cables here")
            )
            return
        cables = intent.sheet_file.cables
    rows = _read_csv(cables, places, problems) if isinstance(cables, str) else _read_row_list(cables, places, problems)
    for count, row in enumerate(rows):
        if count == MAX_SHEET_CABLES:
            problems.append(
                places.problem(row.index, f"more than {MAX_SHEET_CABLES:,} cables", f"at most {MAX_SHEET_CABLES:,}")
            )
            break
        yield row


def _read_row_list(
    texts: Sequence[str], places: CableSheetRowPlaces, problems: list[Problem]
) -> Iterator[CableSheetRow]:
    for index, text in enumerate(texts):
        ends, *words = text.replace(" -- ", "--").split()
        match = _CABLE_ENDS_PATTERN.fullmatch(ends)
        if match is None:
            problems.append(places.problem(index, sanitize_for_message(text), _CABLE_EXAMPLE))
            continue
        values: dict[str, str] = {}
        for word in words:
            values[_column_of_word(word)] = word
        row = _make_row(
            CableSheetEnd(match[1], match[2]), CableSheetEnd(match[3], match[4]), values, index, places, problems
        )
        if row is not None:
            yield row


def _column_of_word(word: str) -> str:
    """Return the column that a word behind the ends of a cable belongs to."""
    for column, read in _NUMBER_READER_BY_COLUMN:
        try:
            read(word)
        except MalformedText:
            continue
        return column
    return "media"


def _read_csv(text: str, places: CableSheetRowPlaces, problems: list[Problem]) -> Iterator[CableSheetRow]:
    head = text.partition("\n")[0]
    delimiter = next((mark for mark in ",;\t" if mark in head), ",")
    lines = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True, skipinitialspace=True)
    columns: list[str] | None = None
    try:
        for cells in lines:
            index = lines.line_num - 1
            row = [cell.strip() for cell in cells]
            if not any(row) or row[0].startswith("#"):
                continue
            if columns is None:
                columns = _parse_columns(row, index, places, problems)
                if columns is None:
                    return
            elif len(row) != len(columns):
                fault = f"{len(row)} columns"
                problems.append(places.problem(index, fault, f"{len(columns)}, as the first line has"))
            elif (cable := _row_of_cells(columns, row, index, places, problems)) is not None:
                yield cable
    except csv.Error as error:
        problems.append(places.problem(max(lines.line_num - 1, 0), sanitize_for_message(str(error)), "CSV"))
    if columns is None:
        problems.append(places.problem(0, "no line of column names", "device, port, device, port, length, media"))


def _parse_columns(
    cells: Sequence[str], index: int, places: CableSheetRowPlaces, problems: list[Problem]
) -> list[str] | None:
    """Return the meaning of each column; None where the first line does not name the devices and ports."""
    columns = [_SIDE_PREFIX_PATTERN.sub("", cell.lower()).removesuffix("_m") for cell in cells]
    for cell, column in zip(cells, columns, strict=True):
        if column not in _SHEET_COLUMNS:
            expected = f"one of {', '.join(_SHEET_COLUMNS)}"
            problems.append(
                places.problem(
                    index, f"column {sanitize_for_message(cell)}", expected, nearest_word_hint(column, _SHEET_COLUMNS)
                )
            )
            return None
    for column, count in (("device", 2), ("port", 2)):
        if columns.count(column) != count:
            fault = f"{columns.count(column)} columns called {column}"
            problems.append(places.problem(index, fault, "device, port, device, port, length, media"))
            return None
    return columns


def _row_of_cells(
    columns: Sequence[str], cells: Sequence[str], index: int, places: CableSheetRowPlaces, problems: list[Problem]
) -> CableSheetRow | None:
    devices, ports = (
        [cell for column, cell in zip(columns, cells, strict=True) if column == name] for name in ("device", "port")
    )
    if not all((*devices, *ports)):
        problems.append(places.problem(index, "an end without device or port", "a device and a port at both ends"))
        return None
    values = {column: cell for column, cell in zip(columns, cells, strict=True) if cell}
    a, b = map(CableSheetEnd, devices, ports)
    return _make_row(a, b, values, index, places, problems)


def _make_row(
    a: CableSheetEnd,
    b: CableSheetEnd,
    values: Mapping[str, str],
    index: int,
    places: CableSheetRowPlaces,
    problems: list[Problem],
) -> CableSheetRow | None:
    numbers: dict[str, int] = {}
    for column, read in _NUMBER_READER_BY_COLUMN:
        try:
            if column in values:
                numbers[column] = read(values[column])
        except MalformedText as wrong:
            problems.append(places.problem(index, sanitize_for_message(values[column]), wrong.expected))
            return None
    return CableSheetRow(
        a=a,
        b=b,
        length_m=numbers.get("length"),
        media=values.get("media"),
        speed_mbps=numbers.get("speed"),
        index=index,
    )


def _parse_length_m(text: str) -> int:
    length_m = parse_whole_number(text.removesuffix("m"), MOST_CABLE_LENGTH_M)
    if not length_m:
        raise MalformedText(f"a length in whole metres, 1m to {MOST_CABLE_LENGTH_M}m")
    return length_m


_NUMBER_READER_BY_COLUMN: tuple[tuple[str, Callable[[str], int]], ...] = (
    ("length", _parse_length_m),
    ("speed", units.parse_speed_mbps),
)
"""How cells of columns with numbers are read."""
