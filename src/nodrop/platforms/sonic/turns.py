"""The configurations that a running switch passes through, patch by patch, to let its updater sort each quickly.

The Generic Config Updater orders a patch itself (sonic-utilities generic_config_updater/patch_sorter.py, DfsSorter): at
each of its steps it tries the remaining changes, and checks the result against the YANG models, whole. It takes changes
that need a shut port only once the port is down, so most tries fail: that grows with the square of the ports. A patch
for each port is sorted in a second or two, for any number of ports.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from nodrop.platforms.sonic.gcu import gcu_facts
from nodrop.platforms.sonic.patch import REFERENCED_TABLES, PatchTree

_PORT_TABLE = "PORT"
_RowFields = Mapping[str, object]
_RowsByTable = Mapping[str, Mapping[str, _RowFields]]


def tables_after_each_patch(old_tables: PatchTree, new_tables: PatchTree) -> Iterator[PatchTree]:
    """Yield the configuration after each patch, the last of them `new`.

    There is one patch if at most one port is shut. Else all changes that need no shut port come first; then ports
    change, one after the other; and objects that nothing names any more go last. So does a value that goes from one row
    and comes in another: in one patch the updater makes a move of the two (jsonpatch, `make_patch`), which it takes for
    no guarded table.
    """
    before, after = _rows_by_table(old_tables), _rows_by_table(new_tables)
    if before is not None and after is not None:
        shut = gcu_facts()["shut_for"]
        changed = dict.fromkeys(_port_of_key(key) for table in shut for key in _find_changed_keys(before, after, table))
        ports = [port for port in changed if before.get(_PORT_TABLE, {}).get(port, {}).get("admin_status") == "up"]
        kept_moved_rows = list(_find_rows_moved_to_other_keys(before, after))
        if len(ports) > 1 or kept_moved_rows:
            yield from _tables_port_by_port(before, after, ports, kept_moved_rows)
    yield new_tables


def _tables_port_by_port(
    old: _RowsByTable, new: _RowsByTable, ports: Sequence[str], kept_paths: Sequence[Sequence[str]]
) -> Iterator[PatchTree]:
    """Yield the configuration with no port changed yet, then after each port, sharing all that has no change."""
    state = _intermediate_tables(old, new, ports, kept_paths)
    yield state
    if not ports:
        return
    last = _intermediate_tables(old, new, (), kept_paths)
    going, coming = _keys_by_port(state), _keys_by_port(last)
    for port in ports[:-1]:
        changed: dict[str, Mapping[str, _RowFields]] = {}
        for table in {**going.get(port, {}), **coming.get(port, {})}:
            gone = going.get(port, {}).get(table, ())
            rows = {key: row for key, row in state.get(table, {}).items() if key not in gone} if gone else None
            come = {key: last[table][key] for key in coming.get(port, {}).get(table, ())}
            changed[table] = {**(state.get(table, {}) if rows is None else rows), **come}
        every = {**state, **changed}
        state = {table: every[table] for table in {**old, **new} if every.get(table)}
        yield state
    yield last


def _keys_by_port(tables: _RowsByTable) -> Mapping[str, Mapping[str, Collection[str]]]:
    """Return the keys of the rows of each port that change with it, by port and table, in their order."""
    keys_by_port: dict[str, dict[str, dict[str, None]]] = {}
    for table in (_PORT_TABLE, *gcu_facts()["shut_for"]):
        for key in tables.get(table, {}):
            keys_by_port.setdefault(_port_of_key(key), {}).setdefault(table, {})[key] = None
    return keys_by_port


def _intermediate_tables(
    old: _RowsByTable, new: _RowsByTable, waiting: Collection[str], kept_paths: Sequence[Sequence[str]]
) -> _RowsByTable:
    """Return the configuration with some ports still unchanged, and the objects that are kept for the end."""
    tables: dict[str, dict[str, _RowFields]] = {}
    waiting = frozenset(waiting)
    for table in {**old, **new}:
        before, after = old.get(table, {}), new.get(table, {})
        tables[table] = {**before, **after} if table in REFERENCED_TABLES else dict(after)
        if table == _PORT_TABLE or table in gcu_facts()["shut_for"]:
            tables[table] = {key: row for key, row in tables[table].items() if _port_of_key(key) not in waiting}
            tables[table] |= {key: row for key, row in before.items() if _port_of_key(key) in waiting}
    for table, key, *fields in kept_paths:
        row = old[table][key]
        tables[table][key] = {**tables[table].get(key, {}), **{field: row[field] for field in fields or row}}
    return {table: rows for table, rows in tables.items() if rows}


def _find_rows_moved_to_other_keys(old_rows: _RowsByTable, new_rows: _RowsByTable) -> Iterator[Sequence[str]]:
    """Yield the rows of guarded tables and the fields of ports that go while the same comes in another row."""
    for table in dict.fromkeys(rule["table"] for rule in gcu_facts()["guarded"]):
        before, after = old_rows.get(table, {}), new_rows.get(table, {})
        come = [row for key, row in after.items() if key not in before]
        yield from ((table, key) for key, row in before.items() if key not in after and row in come)
    before, after = old_rows.get(_PORT_TABLE, {}), new_rows.get(_PORT_TABLE, {})
    for field in gcu_facts()["supported_only"]:
        put = [row[field] for key, row in after.items() if field in row and field not in before.get(key, {})]
        gone = [key for key, row in before.items() if field in row and field not in after.get(key, {})]
        yield from ((_PORT_TABLE, key, field) for key in gone if before[key][field] in put)


def _find_changed_keys(old_rows: _RowsByTable, new_rows: _RowsByTable, table_name: str) -> Iterator[str]:
    before, after = old_rows.get(table_name, {}), new_rows.get(table_name, {})
    return (key for key in {**before, **after} if before.get(key) != after.get(key))


def _rows_by_table(tables: PatchTree) -> _RowsByTable | None:
    """Return tables that all consist of rows, and all rows of fields; None if one does not."""
    rows_by_table: dict[str, Mapping[str, _RowFields]] = {}
    for table, rows in tables.items():
        if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
            return None
        rows_by_table[table] = rows
    return rows_by_table


def _port_of_key(key: str) -> str:
    return key.partition("|")[0]
