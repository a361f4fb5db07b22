"""Tables whose effect is not known: neither read nor harmless; data in tables.yaml."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

from nodrop.formats.shapes import value_at
from nodrop.formats.yaml import parse
from nodrop.platforms.sonic.config import Config
from nodrop.platforms.sonic.schema import release_of, schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Harmless:
    """Why a table changes nothing that is checked, and the source.

    With `when`, that is so where each of these fields has one of these values, of which the first is SONiC's default;
    with `rows`, the other rows are harmless in any case.
    """

    because: str
    source: str
    when: Mapping[str, tuple[str, ...]]
    rows: frozenset[str]

    def covers(self, rows: object) -> bool:
        """Return whether the rows of a table are harmless."""
        if not self.when:
            return True
        if not isinstance(rows, Mapping):
            return False
        return all(self._covers_row(row) for key, row in rows.items() if not self.rows or key in self.rows)

    def _covers_row(self, row: object) -> bool:
        return isinstance(row, Mapping) and all(
            row.get(field, values[0]) in values for field, values in self.when.items()
        )


@cache
def _facts() -> Mapping[str, Any]:
    path = Path(__file__).with_name("tables.yaml")
    return cast("Mapping[str, Any]", parse(path.read_bytes(), path.name).data)


@cache
def tables_read() -> frozenset[str]:
    """Return the tables that readers read."""
    return frozenset(chain.from_iterable(_facts()["read"]))


@cache
def harmless_tables() -> Mapping[str, Harmless]:
    """Return the harmless tables, by name."""
    return {
        table: Harmless(
            because=group["because"],
            source=group["source"],
            when={field: tuple(values) for field, values in group.get("when", {}).items()},
            rows=frozenset(group.get("rows", ())),
        )
        for group in _facts()["harmless"]
        for table in chain.from_iterable(group["tables"])
    }


def unknown_tables(config: Config) -> Iterator[str]:
    """Yield the tables with rows whose effect is not known.

    Tables that the release does not have are reported by other rules.
    """
    of_release = schema(release_of(value_at(config.data, "VERSIONS", "DATABASE", "VERSION")))
    for table, rows in config.data.items():
        if rows and table not in tables_read() and of_release.table(table) is not None:
            known = harmless_tables().get(table)
            if known is None or not known.covers(rows):
                yield table
