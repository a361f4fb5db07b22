"""Places of routing in the tables of CONFIG_DB: BGP of bgpcfgd and of the management framework, static routes."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from nodrop.platforms.kit.bindings import places_of_field
from nodrop.platforms.sonic.bgp_rows import (
    DEFAULT_VRF,
    MAXIMUM_PATHS_BINDINGS,
    PROCESS_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
    SONIC_WORD_BY_FAMILY,
)
from nodrop.platforms.sonic.document import LOCALHOST_PATH
from nodrop.platforms.sonic.policy_rows import ROUTE_MAP_MATCH_BINDINGS, ROUTE_MAP_SET_BINDINGS
from nodrop.platforms.sonic.read_bgp import SESSION_TABLES
from nodrop.syntax.shapes import mapping_at
from nodrop.units import parse_whole_number

Path = tuple[str, ...]
ReadTable = Callable[[str], Mapping[str, object]]
"""Returns the rows of a table, by key."""

_TABLE_BY_LIST_KIND = {"community_lists": "COMMUNITY_SET", "as_path_lists": "AS_PATH_SET"}
_MEMBER_FIELD_BY_LIST = {"community_lists": "community_member", "as_path_lists": "as_path_set_member"}


def routing_paths(line_head: str, path: Path, table: ReadTable) -> Iterator[Path]:
    """Yield the paths at which a part of `@bgp`, `@neighbors`, `@vrf_bgp` or `@static_routes` may stand."""
    if line_head == "@static_routes":
        yield from _static_route_paths(path, table)
    elif line_head == "@vrf_bgp":
        yield from _process_paths(_path_step(path, 0), path[1:], table)
        yield ("BGP_GLOBALS", _path_step(path, 0))
    elif line_head == "@neighbors":
        yield from _session_paths(DEFAULT_VRF, path, table)
    else:
        yield from _process_paths(DEFAULT_VRF, path, table)
    if line_head != "@static_routes":
        yield ("BGP_GLOBALS", DEFAULT_VRF)
        yield (*LOCALHOST_PATH, "bgp_asn")


def _process_paths(vrf: str, path: Path, table: ReadTable) -> Iterator[Path]:
    field, key = _path_step(path, 0), _path_step(path, 1)
    if field == "neighbors":
        yield from _session_paths(vrf, path[1:], table)
    elif field in ("prefix_lists", "route_maps", *_TABLE_BY_LIST_KIND):
        yield from _policy_paths(field, path[1:], table)
    elif field == "networks":
        rows = [key for key in table("BGP_GLOBALS_AF_NETWORK") if key.startswith(f"{vrf}|")]
        yield from (("BGP_GLOBALS_AF_NETWORK", row) for row in row_at_position(key, rows))
    elif field == "redistributions":
        word, _, source = key.partition("-")
        yield ("ROUTE_REDISTRIBUTE", f"{vrf}|{source}|bgp|{word}")
    for family, row in MAXIMUM_PATHS_BINDINGS.items():
        if row.field == field:
            yield from _stated_columns(table, ("BGP_GLOBALS_AF", f"{vrf}|{SONIC_WORD_BY_FAMILY[family]}"), row.where)
    yield from _stated_columns(table, ("BGP_GLOBALS", vrf), places_of_field(PROCESS_BINDINGS, field))
    if field == "router_id" and "bgp_router_id" in mapping_at(table("DEVICE_METADATA"), "localhost"):
        yield (*LOCALHOST_PATH, "bgp_router_id")


def _session_paths(vrf: str, path: Path, table: ReadTable) -> Iterator[Path]:
    key, field = _path_step(path, 0), _path_step(path, 1)
    family, inner = ("ipv6", _path_step(path, 2)) if field == "ipv6" else ("ipv4", field)
    of_family = ("BGP_NEIGHBOR_AF", f"{vrf}|{key}|{SONIC_WORD_BY_FAMILY[family]}")
    yield from _stated_columns(table, of_family, places_of_field(SESSION_FAMILY_BINDINGS, inner))
    if field == "ipv6":
        yield of_family
    for name in SESSION_TABLES:
        for row in (f"{vrf}|{key}", *([key] if vrf == DEFAULT_VRF else [])):
            yield from _stated_columns(table, (name, row), places_of_field(SESSION_BINDINGS, field))
            yield (name, row)


def _policy_paths(field: str, path: Path, table: ReadTable) -> Iterator[Path]:
    """Yield where a list or map, or one of its rules, stands."""
    name, rule, inner = _path_step(path, 0), _path_step(path, 2), _path_step(path, 3)
    if field in _TABLE_BY_LIST_KIND:
        yield (_TABLE_BY_LIST_KIND[field], name, _MEMBER_FIELD_BY_LIST[field])
        yield (_TABLE_BY_LIST_KIND[field], name)
    elif field == "prefix_lists":
        rows = [key for key in table("PREFIX") if key.startswith(f"{name}|")]
        numbered = [key for key in rows if key.split("|")[1] == rule]
        yield from (("PREFIX", key, "action") for key in numbered if inner == "action")
        yield from (("PREFIX", key) for key in numbered)
        yield ("PREFIX_SET", name)
    else:
        row = f"{name}|{rule}"
        columns: Path = ("route_operation",) if inner == "action" else ()
        for rows_of, word in ((ROUTE_MAP_MATCH_BINDINGS, "matches"), (ROUTE_MAP_SET_BINDINGS, "sets")):
            if inner == word:
                columns = tuple(column for binding in rows_of for column in binding.where)
        yield from _stated_columns(table, ("ROUTE_MAP", row), columns)
        yield ("ROUTE_MAP", row)
        yield from (("ROUTE_MAP", key) for key in table("ROUTE_MAP") if key.startswith(f"{name}|"))
        yield ("ROUTE_MAP_SET", name)


def _static_route_paths(path: Path, table: ReadTable) -> Iterator[Path]:
    prefix, field = _path_step(path, 0), _path_step(path, 1)
    keys = [key for key in table("STATIC_ROUTE") if key.rpartition("|")[2] == prefix or not path]
    column = field if field == "distance" else "nexthop"
    yield from (("STATIC_ROUTE", key, column) for key in keys)
    yield from (("STATIC_ROUTE", key) for key in keys)
    yield ("STATIC_ROUTE",)


def _stated_columns(table: ReadTable, row: tuple[str, str], columns: Path) -> Iterator[Path]:
    """Yield the columns that a row has, of those that can state a fact."""
    stated = mapping_at(table(row[0]), row[1])
    yield from ((*row, column) for column in columns if column in stated)


def _path_step(path: Path, number: int) -> str:
    """Return a step of a path, empty if it ends before."""
    return path[number] if number < len(path) else ""


def row_at_position(position: str, table_lines: Sequence[str]) -> Sequence[str]:
    """Return the row at a position, if there is one."""
    number = parse_whole_number(position)
    return table_lines[number : number + 1] if number is not None else ()
