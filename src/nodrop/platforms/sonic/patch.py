"""The difference of two config_db.json as a patch (RFC 6902), in an order that can be applied."""

from collections.abc import Iterator, Mapping

from nodrop.model.change import PatchStep

PatchTree = Mapping[str, object]
"""Tables by name, or rows, or fields, of any shape."""
REFERENCED_TABLES = (
    "DEVICE_METADATA", "VERSIONS", "BUFFER_POOL", "BUFFER_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN", "DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "TC_TO_DSCP_MAP", "SCHEDULER", "WRED_PROFILE",
    "PORT",
)  # fmt: skip
"""Tables whose rows others name: what is new in them comes first, and what goes from them last."""


def diff_tables(old_tables: PatchTree, new_tables: PatchTree) -> Iterator[PatchStep]:
    """Yield what makes `new` of `old`: rows that others name first, rows that go before those that take their place.

    A table without rows is none: a switch does not have it, and the updater takes no patch that leaves one behind.
    """
    old_tables, new_tables = (
        {table: rows for table, rows in side.items() if rows != {}} for side in (old_tables, new_tables)
    )
    tables = [table for table in REFERENCED_TABLES if table in new_tables or table in old_tables]
    tables += [table for table in {**old_tables, **new_tables} if table not in REFERENCED_TABLES]
    last: list[PatchStep] = []
    for table in tables:
        before, after = old_tables.get(table), new_tables.get(table)
        if before is after or before == after:
            continue
        if not isinstance(before, dict) or not isinstance(after, dict):
            step = _build_step((table,), old_tables, new_tables)
            (last if step.op == "remove" else []).append(step)
            if step.op != "remove":
                yield step
            continue
        gone = [_build_step((table, key), before, after) for key in before if key not in after]
        if table in REFERENCED_TABLES:
            last += gone
        else:
            yield from gone
        for key, row in after.items():
            if row is None or before.get(key) is not row:
                yield from _row_steps((table, key), before, row, after)
    yield from reversed(last)


def _row_steps(
    at: tuple[str, ...], before: Mapping[str, object], row: object, after: Mapping[str, object]
) -> Iterator[PatchStep]:
    was = before.get(at[-1])
    if was == row:
        return
    if not isinstance(was, dict) or not isinstance(row, dict):
        yield _build_step(at, before, after)
        return
    for field in {**was, **row}:
        if was.get(field) != row.get(field):
            yield _build_step((*at, field), was, row)


def _build_step(at: tuple[str, ...], before: PatchTree, after: PatchTree) -> PatchStep:
    path = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in at)
    if at[-1] not in after:
        return PatchStep(op="remove", path=path)
    return PatchStep(op="replace" if at[-1] in before else "add", path=path, value=after[at[-1]])


def split_path(path: str) -> list[str]:
    """Return the keys of a path: table, row, field."""
    return [key.replace("~1", "/").replace("~0", "~") for key in path.split("/")[1:]]
