"""Tables whose effect is not known: neither read nor harmless; data in tables.yaml."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.platforms.sonic.bgp_rows import (
    MAXIMUM_PATHS_BINDINGS,
    PROCESS_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
    BgpBinding,
)
from nodrop.platforms.sonic.config import DeviceTables
from nodrop.platforms.sonic.schema import release_of_database_version, schema_of_release
from nodrop.platforms.sonic.tables import EMPTY_ROW_FIELD
from nodrop.syntax.shapes import value_at
from nodrop.syntax.yaml import parse_yaml
from nodrop.units import parse_whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmlessTable:
    """Why a table changes nothing that is checked, and the source.

    With `when`, that is so if each of these fields has one of these values, the first of them SONiC's default;
    with `rows`, the other rows are harmless in any case. With `only`, no other row is harmless.
    """

    because: str
    source: str
    when: Mapping[str, tuple[str, ...]]
    rows: frozenset[str]
    only: frozenset[str]

    def has_harmless_rows(self, rows: object) -> bool:
        """Return whether the rows of a table are harmless."""
        if self.only and not (isinstance(rows, Mapping) and self.only.issuperset(rows)):
            return False
        if not self.when:
            return True
        if not isinstance(rows, Mapping):
            return False
        return all(self._is_harmless_row(row) for key, row in rows.items() if not self.rows or key in self.rows)

    def _is_harmless_row(self, table_row: object) -> bool:
        return isinstance(table_row, Mapping) and all(
            table_row.get(field, values[0]) in values for field, values in self.when.items()
        )


@cache
def _read_table_facts() -> Mapping[str, Any]:
    path = Path(__file__).with_name("tables.yaml")
    return cast("Mapping[str, Any]", parse_yaml(path.read_bytes(), path.name).data)


@cache
def tables_with_a_reader() -> frozenset[str]:
    """Return the tables that readers read."""
    return frozenset(chain.from_iterable(_read_table_facts()["read"]))


@cache
def harmless_tables() -> Mapping[str, HarmlessTable]:
    """Return the harmless tables, by name."""
    return {
        table: HarmlessTable(
            because=group["because"],
            source=group["source"],
            when={field: tuple(values) for field, values in group.get("when", {}).items()},
            rows=frozenset(group.get("rows", ())),
            only=frozenset(group.get("only", ())),
        )
        for group in _read_table_facts()["harmless"]
        for table in chain.from_iterable(group["tables"])
    }


@cache
def unreleased_table_subjects() -> Mapping[str, str]:
    """Return the subject of each table that SONiC has designed, and whose YANG model no known release has."""
    return {table: group["about"] for group in _read_table_facts()["designed"] for table in group["tables"]}


_BINDINGS_BY_TABLE: Mapping[str, Iterable[BgpBinding]] = {
    "BGP_GLOBALS": PROCESS_BINDINGS,
    "BGP_GLOBALS_AF": tuple(MAXIMUM_PATHS_BINDINGS.values()),
    "BGP_GLOBALS_AF_NETWORK": (),
    "BGP_GLOBALS_AF_AGGREGATE_ADDR": (),
    "BGP_NEIGHBOR": SESSION_BINDINGS,
    "BGP_NEIGHBOR_AF": SESSION_FAMILY_BINDINGS,
    "BGP_PEER_GROUP": SESSION_BINDINGS,
    "BGP_PEER_GROUP_AF": SESSION_FAMILY_BINDINGS,
    "ROUTE_REDISTRIBUTE": (),
}
"""The tables of frrcfgd, with the rows that read their columns."""


@cache
def _known_frrcfgd_columns() -> Mapping[str, frozenset[str]]:
    """Return the columns of each table of frrcfgd that are read or harmless."""
    table_columns = {
        table: {EMPTY_ROW_FIELD, *chain.from_iterable(row.where for row in rows)}
        for table, rows in _BINDINGS_BY_TABLE.items()
    }
    for group in _read_table_facts()["columns"]:
        for table, columns in group["tables"].items():
            table_columns[table] |= set(columns)
    return {table: frozenset(columns) for table, columns in table_columns.items()}


def unknown_frrcfgd_columns(config: DeviceTables) -> Iterator[tuple[str, str, str]]:
    """Yield (table, row, column) of columns that frrcfgd turns into lines of FRR, and whose effect is not known.

    Columns that the release does not have are reported by other rules.
    """
    of_release = schema_of_release(
        release_of_database_version(value_at(config.data, "VERSIONS", "DATABASE", "VERSION"))
    )
    for table, known_columns in _known_frrcfgd_columns().items():
        far_table = of_release.table(table)
        for key, row in config.rows(table).items() if far_table is not None else ():
            for column, value in row.items():
                if column == "send_community" and value != "none":
                    continue
                if column not in known_columns and value != "false":
                    yield table, key, column


def unmodeled_bgpcfgd_columns(config: DeviceTables, sessions: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (table, row, column) of the effects of rows under bgpcfgd that the model does not have.

    These are the VRF where a static route finds its next hop (sonic-buildimage
    src/sonic-bgpcfgd/bgpcfgd/managers_static_rt.py), a distance that is not a number, and routes that are reflected
    to a session of `sessions`
    (dockers/docker-fpm-frr/frr/bgpd/templates/general/instance.conf.j2).
    """
    for key, row in config.rows("STATIC_ROUTE").items():
        vrf = key.rpartition("|")[0] or "default"
        if not set(row.get("nexthop-vrf", "").split(",")) <= {"", vrf}:
            yield "STATIC_ROUTE", key, "nexthop-vrf"
        distances = row.get("distance", "").split(",")
        if any(word and parse_whole_number(word, MAX_ADMINISTRATIVE_DISTANCE) is None for word in distances):
            yield "STATIC_ROUTE", key, "distance"
    for table in sessions:
        for key, row in config.rows(table).items():
            if row.get("rrclient", "0") not in ("0", ""):
                yield table, key, "rrclient"


def tables_of_unknown_effect(config: DeviceTables) -> Iterator[str]:
    """Yield the tables with rows whose effect is not known.

    Tables that the release does not have are reported by other rules, save those that a later build can have.
    """
    of_release = schema_of_release(
        release_of_database_version(value_at(config.data, "VERSIONS", "DATABASE", "VERSION"))
    )
    for table, rows in config.data.items():
        if not rows or table in tables_with_a_reader():
            continue
        if of_release.table(table) is not None:
            known_harmless_table = harmless_tables().get(table)
            if known_harmless_table is None or not known_harmless_table.has_harmless_rows(rows):
                yield table
        elif of_release.may_be_later_build and table in unreleased_table_subjects():
            yield table
