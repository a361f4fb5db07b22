"""Items that must get the same verdict, found without checking them: those that share all the parts that a rule reads.

640,000 ports of two designs are two cells for a rule that reads `interface.qos` only; it is evaluated twice, and the
result applies to every member. Parts of the model are distinguished by identity, which costs nothing and is safe,
because equal parts are one object (contract 9.16) and parts that are not cost an evaluation; numbers and texts are
distinguished by value.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from nodrop.engine.nodes import Path
from nodrop.engine.scopes import Gap, Item, Items, Scope
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.types import fields, sources

_NOT_KNOWN = object()
"""Stands for UNKNOWN in keys, where a comparison with a number of equal hash would raise."""


class Column(NamedTuple):
    """One thing that a rule reads of an item: a part of it, or a field of that part, by value or by identity."""

    part: int
    field: str
    by_value: bool


EACH = (Column(-1, "", by_value=False),)
"""The columns of a rule that looks at an item as a whole: no two are alike."""


class Case(NamedTuple):
    """One thing to judge: `item` stands for all that lie at `places` among `items`, each with `row` behind it."""

    item: Item
    items: Items
    places: Sequence[int]
    row: Item = ()

    def members(self) -> Iterator[Item]:
        """All items that the verdict holds for."""
        return (self.items[place] + self.row for place in self.places)


class Cells:
    """The items of one fabric by scope, and by their parts that are read; rules that read the same share the work."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._items: dict[object, tuple[Items, list[Gap]]] = {}
        self._cells: dict[object, list[Sequence[int]]] = {}

    def cases(self, scope: Scope, chosen: tuple[Column, ...]) -> Iterator[Case | Gap]:
        """Return the cases of a scope for a rule that reads these columns, and the items that cannot be checked."""
        if scope.items not in self._items:
            self._items[scope.items] = scope.items(self._index)
        items, gaps = self._items[scope.items]
        if (scope.items, chosen) not in self._cells:
            self._cells[scope.items, chosen] = group_places(items, items.places, chosen)
        cells = self._cells[scope.items, chosen]
        yield from gaps
        if scope.rows:
            yield from _rows(scope.rows, items, cells)
        else:
            yield from (Case(items[cell[0]], items, cell) for cell in cells)


def alike(case: Case, chosen: tuple[Column, ...]) -> Iterator[Case]:
    """Return a case in parts whose members are equal in these columns too."""
    for cell in group_places(case.items, case.places, chosen):
        yield Case(case.items[cell[0]] + case.row, case.items, cell, case.row)


def columns(scope: Scope, reads: Iterable[Path]) -> tuple[Column, ...]:
    """Return the key that groups items; for rows, the identity of their QoS."""
    part_names, found_columns = list(scope.parts), set[Column]()
    own_name = "interface" if scope.rows else scope.name
    for name, *attributes in reads:
        if name not in part_names or (scope.rows and name == part_names[-1]):
            continue
        owner = scope.parts[name]
        for field in (attributes and sources(owner, attributes[0])) or ("",):
            if not field and name == own_name:
                return EACH
            found_columns.add(Column(part_names.index(name), field, bool(field) and fields(owner)[field].is_scalar))
    if scope.rows:
        found_columns.add(Column(part_names.index("interface"), "qos", by_value=False))
    return tuple(sorted(found_columns))


def group_places(items: Items, places: Sequence[int], chosen: Sequence[Column]) -> list[Sequence[int]]:
    """Return the places in groups that are equal in the chosen columns, in the order of their first members."""
    if not chosen or len(places) < 2:
        return [places] if places else []
    if chosen == EACH:
        return [(place,) for place in places]
    keys = [_column_keys(items, places, column) for column in chosen]
    cells: defaultdict[Hashable, list[int]] = defaultdict(list)
    for key, place in zip(zip(*keys, strict=True) if len(keys) > 1 else keys[0], places, strict=True):
        cells[key].append(place)
    return list(cells.values())


def _column_keys(items: Items, places: Sequence[int], column: Column) -> Iterable[Hashable]:
    column_parts: Iterable[Any] = items.columns[column.part]
    if places is not items.places:
        column_parts = map(items.columns[column.part].__getitem__, places)
    if column.field:
        column_parts = map(attrgetter(column.field), column_parts)
    if column.by_value:
        return [_NOT_KNOWN if column_part is UNKNOWN else column_part for column_part in column_parts]
    return map(id, column_parts)


def _rows(attribute: str, items: Items, cells: Iterable[Sequence[int]]) -> Iterator[Case | Gap]:
    """Return the rows of each cell's QoS, which all its ports share."""
    for cell in cells:
        item = items[cell[0]]
        qos = item[1].qos
        rows = qos if qos is None or isinstance(qos, Unknown) else getattr(qos, attribute)
        if isinstance(rows, Unknown):
            missing = "interface.qos" if rows is qos else f"interface.qos.{attribute}"
            sizes = Counter(items[place][0].name for place in cell)
            yield from (Gap(missing, name, count=size) for name, size in sizes.items())
        else:
            yield from (Case((*item, row), items, cell, (row,)) for row in rows or ())
