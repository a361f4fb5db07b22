"""The tables of a given config_db.json while they are changed; rows for several ports or queues are split as needed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from nodrop.platforms.sonic.config import name_in_reference
from nodrop.platforms.sonic.spelling import format_ranges
from nodrop.syntax.shapes import get_or_make_mapping, mapping_at, mapping_or_empty

PortAndIndex = tuple[str, int | None]
"""A port and the queue or priority group of a row; None in tables that know ports only."""
FieldChanges = Mapping[str, str | None]
"""What fields of a row are to say; None takes a field out."""

_INDEX_RANGE_PATTERN = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?")


def _copy_json(data: object) -> object:
    """Return a copy of what a JSON file holds, at a fifth of the cost of `copy.deepcopy`."""
    if isinstance(data, dict):
        return {key: _copy_json(value) if isinstance(value, dict | list) else value for key, value in data.items()}
    return [_copy_json(value) for value in data] if isinstance(data, list) else data


class EditableTables:
    """Tables that can be changed; `data` is the new content of config_db.json."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self.data: dict[str, object] = {table: _copy_json(rows) for table, rows in data.items()}
        self._brackets = any(
            "[" in str(value) and name_in_reference(str(value)) != value for value in _reference_values(data)
        )

    def rows(self, table: str) -> dict[str, dict[str, object]]:
        """Return the rows of a table that have fields at all; nothing where there is no such table."""
        rows = self.data.get(table)
        return {key: row for key, row in rows.items() if isinstance(row, dict)} if isinstance(rows, dict) else {}

    def text(self, table: str, key: str, field: str) -> str | None:
        """Return a field as text, None where it is absent."""
        value = self.rows(table).get(key, {}).get(field)
        if value is None:
            return None
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    def update(self, table_name: str, key: str, fields: Mapping[str, object]) -> None:
        """Set or take out fields of a row, which is added if any field is set."""
        row = self.rows(table_name).get(key)
        if row is None:
            if all(value is None for value in fields.values()):
                return
            row = get_or_make_mapping(self.data, table_name, key)
        for field, value in fields.items():
            if value is None:
                row.pop(field, None)
            else:
                row[field] = value

    def add_empty_row(self, table: str, key: str) -> None:
        """Add a row without fields, if it is not there."""
        get_or_make_mapping(self.data, table, key)

    def remove(self, table: str, key: str) -> None:
        """Remove a row, and its table with the last row, because a table without rows does not exist on a switch."""
        rows = get_or_make_mapping(self.data, table)
        rows.pop(key, None)
        if not rows:
            self.data.pop(table, None)

    def spell_reference(self, table: str, name: str, like: str | None) -> str:
        """Spell a reference as the field did that it stands in, else as the file does."""
        brackets = name_in_reference(like) != like if like else self._brackets
        return f"[{table}|{name}]" if brackets and name != "NULL" else name

    def port_index_cells(self, table: str) -> Iterator[tuple[str, PortAndIndex, dict[str, object]]]:
        """Yield key, cell and row of a table by ports, every cell of every row that is keyed by ports and a range."""
        for key, row in self.rows(table).items():
            for cell in ports_and_indexes_of_key(key):
                yield key, cell, row

    def change_cells(
        self, table_name: str, fields_by_cell: Mapping[PortAndIndex, FieldChanges], *, keep_empty: bool = True
    ) -> None:
        """Give cells other fields: rows are changed as a whole if all their cells are, and split if not.

        A row that is left without fields stays, because it states that the queue exists, unless it is not needed.
        """
        seen: set[PortAndIndex] = set()
        rows: dict[str, object] = {}
        for key, row in mapping_at(self.data, table_name).items():
            cells = ports_and_indexes_of_key(key) if isinstance(row, dict) else ()
            seen.update(cells)
            if not any(cell in fields_by_cell for cell in cells):
                rows[key] = row
                continue
            rows.update(_split_row(key, cells, mapping_or_empty(row), fields_by_cell))
        rows.update(
            _rows_for_uncovered_ports({cell: fields for cell, fields in fields_by_cell.items() if cell not in seen})
        )
        if not keep_empty:
            rows = {key: row for key, row in rows.items() if row}
        if rows:
            self.data[table_name] = rows
        else:
            self.data.pop(table_name, None)

    def remove_cells(self, table_name: str, gone: set[PortAndIndex]) -> None:
        """Remove cells from a table; the rest of their rows stays."""
        if not gone:
            return
        rows: dict[str, object] = {}
        for key, row in mapping_at(self.data, table_name).items():
            cells = ports_and_indexes_of_key(key)
            remaining_cells = [cell for cell in cells if cell not in gone]
            if len(remaining_cells) == len(cells):
                rows[key] = row
            else:
                rows |= {
                    row_key: dict(mapping_or_empty(row)) for row_key in _keys_of_ports_and_indexes(remaining_cells, key)
                }
        if rows:
            self.data[table_name] = rows
        else:
            self.data.pop(table_name, None)


@lru_cache(maxsize=65_536)
def ports_and_indexes_of_key(key: str) -> tuple[PortAndIndex, ...]:
    """Return the cells of a row's key: `Ethernet0,Ethernet4|3-4` is four; none if it is written in another way."""
    ports, bar, span = key.partition("|")
    if not bar:
        return tuple((port, None) for port in ports.split(","))
    match = _INDEX_RANGE_PATTERN.fullmatch(span)
    if not match:
        return ()
    indexes = range(int(match[1]), int(match[2] or match[1]) + 1)
    return tuple((port, index) for port in ports.split(",") for index in indexes)


def _split_row(
    key: str,
    cells: Sequence[PortAndIndex],
    table_row: Mapping[str, object],
    fields_by_cell: Mapping[PortAndIndex, FieldChanges],
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the rows that a row becomes, those that stay as they were first."""
    groups: dict[tuple[tuple[str, str | None], ...], list[PortAndIndex]] = {}
    for cell in sorted(cells, key=lambda cell: cell in fields_by_cell):
        fields = {
            field: value for field, value in fields_by_cell.get(cell, {}).items() if table_row.get(field) != value
        }
        groups.setdefault(tuple(sorted(fields.items())), []).append(cell)
    for fields_of_group, group in groups.items():
        changed = {field: value for field, value in {**table_row, **dict(fields_of_group)}.items() if value is not None}
        keys = (key,) if len(groups) == 1 else tuple(_keys_of_ports_and_indexes(group, key))
        yield from ((row_key, dict(changed)) for row_key in keys)


def _keys_of_ports_and_indexes(cells: Iterable[PortAndIndex], like: str) -> Iterator[str]:
    """Yield keys that write cells; ports share one key only if they did in `like`."""
    by_port: dict[str, list[int]] = {}
    for port, index in cells:
        by_port.setdefault(port, []).extend([] if index is None else [index])
    together: dict[tuple[int, ...], list[str]] = {}
    for port, indexes in by_port.items():
        together.setdefault(tuple(sorted(indexes)), []).append(port)
    in_lists = "," in like.partition("|")[0]
    for indexes_of_all, ports in together.items():
        for name in [",".join(ports)] if in_lists else ports:
            yield from ((f"{name}|{span}" for span in format_ranges(indexes_of_all)) if indexes_of_all else (name,))


def _rows_for_uncovered_ports(
    fields_by_cell: Mapping[PortAndIndex, FieldChanges],
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield rows for cells that no row covers; neighboring queues of a port with the same settings share one."""
    groups: dict[tuple[str, tuple[tuple[str, str | None], ...]], list[PortAndIndex]] = {}
    stated: dict[str, object]
    for cell, fields in fields_by_cell.items():
        groups.setdefault((cell[0], tuple(sorted(fields.items()))), []).append(cell)
    for (_, fields_of_group), cells in groups.items():
        stated = {field: value for field, value in fields_of_group if value is not None}
        yield from ((key, dict(stated)) for key in _keys_of_ports_and_indexes(cells, ""))


def _reference_values(data: Mapping[str, object]) -> Iterator[object]:
    for table in ("PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_PROFILE"):
        for row in mapping_at(data, table).values():
            yield from mapping_or_empty(row).values()
