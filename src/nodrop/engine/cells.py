"""Items that must get the same verdict, found without checking them: those that share all the parts that a rule reads.

640,000 ports of two designs are two cells for a rule that reads `interface.qos` only; it is evaluated twice, and the
result applies to every member. Parts of the model are distinguished by identity, which costs nothing and is safe,
because equal parts are one object (contract 9.16) and parts that are not cost an evaluation; numbers and texts are
distinguished by value.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from nodrop.engine.nodes import ModelPath
from nodrop.engine.scopes import Scope, ScopeItem, ScopeItems, UnknownItems
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.types import fields_of, source_fields_of

_UNKNOWN_KEY = object()
"""Stands for UNKNOWN in keys, where a comparison with a number of equal hash would raise."""


class GroupingColumn(NamedTuple):
    """One thing that a rule reads of an item: a part of it, or a field of that part, by value or by identity."""

    part: int
    field: str
    by_value: bool


EACH_ITEM_ALONE = (GroupingColumn(-1, "", by_value=False),)
"""The columns of a rule that checks an item as a whole: no two are alike."""


class ItemGroup(NamedTuple):
    """One thing to check: `item` stands for all that lie at `places` among `scope_items`, each with `row` behind it."""

    item: ScopeItem
    items: ScopeItems
    places: Sequence[int]
    row: ScopeItem = ()

    def members(self) -> Iterator[ScopeItem]:
        """All items with this verdict."""
        return (self.items[place] + self.row for place in self.places)


class ItemGroups:
    """The items of one fabric by scope, and by their parts that are read; rules that read the same share the work."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._items: dict[object, tuple[ScopeItems, list[UnknownItems]]] = {}
        self._cells: dict[object, list[Sequence[int]]] = {}

    def groups_of_scope_items(
        self, scope: Scope, chosen: tuple[GroupingColumn, ...]
    ) -> Iterator[ItemGroup | UnknownItems]:
        """Return the cases of a scope for a rule that reads these columns, and the items that cannot be checked."""
        if scope.items not in self._items:
            self._items[scope.items] = scope.items(self._index)
        items, gaps = self._items[scope.items]
        if (scope.items, chosen) not in self._cells:
            self._cells[scope.items, chosen] = group_positions_by_columns(items, items.places, chosen)
        cells = self._cells[scope.items, chosen]
        yield from gaps
        if scope.rows:
            yield from _qos_rows_of_cells(scope.rows, items, cells)
        else:
            yield from (ItemGroup(items[cell[0]], items, cell) for cell in cells)


def split_by_columns(item_group: ItemGroup, grouping_columns: tuple[GroupingColumn, ...]) -> Iterator[ItemGroup]:
    """Return a case in parts whose members are equal in these columns too."""
    for cell in group_positions_by_columns(item_group.items, item_group.places, grouping_columns):
        yield ItemGroup(item_group.items[cell[0]] + item_group.row, item_group.items, cell, item_group.row)


def grouping_columns(scope: Scope, reads: Iterable[ModelPath]) -> tuple[GroupingColumn, ...]:
    """Return the key that groups items; for rows, the identity of their QoS."""
    part_names, found_columns = list(scope.parts), set[GroupingColumn]()
    own_name = "interface" if scope.rows else scope.name
    for name, *attributes in reads:
        if name not in part_names or (scope.rows and name == part_names[-1]):
            continue
        owner = scope.parts[name]
        for field in (attributes and source_fields_of(owner, attributes[0])) or ("",):
            if not field and name == own_name:
                return EACH_ITEM_ALONE
            found_columns.add(
                GroupingColumn(part_names.index(name), field, bool(field) and fields_of(owner)[field].is_scalar)
            )
    if scope.rows:
        found_columns.add(GroupingColumn(part_names.index("interface"), "qos", by_value=False))
    return tuple(sorted(found_columns))


def group_positions_by_columns(
    scope_items: ScopeItems, places: Sequence[int], grouping_columns: Sequence[GroupingColumn]
) -> list[Sequence[int]]:
    """Return the places in groups that are equal in the chosen columns, in the order of their first members."""
    if not grouping_columns or len(places) < 2:
        return [places] if places else []
    if grouping_columns == EACH_ITEM_ALONE:
        return [(place,) for place in places]
    keys = [_column_keys(scope_items, places, column) for column in grouping_columns]
    cells: defaultdict[Hashable, list[int]] = defaultdict(list)
    for key, place in zip(zip(*keys, strict=True) if len(keys) > 1 else keys[0], places, strict=True):
        cells[key].append(place)
    return list(cells.values())


def _column_keys(items: ScopeItems, places: Sequence[int], column: GroupingColumn) -> Iterable[Hashable]:
    column_parts: Iterable[object] = items.columns[column.part]
    if places is not items.places:
        column_parts = map(items.columns[column.part].__getitem__, places)
    if column.field:
        column_parts = map(attrgetter(column.field), column_parts)
    if column.by_value:
        return [_UNKNOWN_KEY if column_part is UNKNOWN else column_part for column_part in column_parts]
    return map(id, column_parts)


def _qos_rows_of_cells(
    attribute: str, scope_items: ScopeItems, cells: Iterable[Sequence[int]]
) -> Iterator[ItemGroup | UnknownItems]:
    """Return the rows of each cell's QoS, which all its ports share."""
    for cell in cells:
        item = scope_items[cell[0]]
        qos = item[1].qos
        rows = qos if qos is None or isinstance(qos, Unknown) else getattr(qos, attribute)
        if isinstance(rows, Unknown):
            missing = "interface.qos" if rows is qos else f"interface.qos.{attribute}"
            sizes = Counter(scope_items[place][0].name for place in cell)
            yield from (UnknownItems(missing, name, count=size) for name, size in sizes.items())
        else:
            yield from (ItemGroup((*item, row), scope_items, cell, (row,)) for row in rows or ())
