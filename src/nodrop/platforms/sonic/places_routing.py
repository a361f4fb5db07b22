"""Places of routing in the tables of CONFIG_DB: BGP of bgpcfgd and of the management framework, static routes."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from nodrop.platforms.kit.bindings import places
from nodrop.platforms.sonic.bgp_rows import DEFAULT, FAMILIES, FAMILY, PATHS, PROCESS, SESSION
from nodrop.platforms.sonic.document import LOCALHOST
from nodrop.platforms.sonic.policy_rows import MATCHES, SETS
from nodrop.platforms.sonic.read_bgp import SESSIONS
from nodrop.syntax.shapes import mapping_at
from nodrop.units import whole_number

Path = tuple[str, ...]
Tables = Callable[[str], Mapping[str, object]]
"""Returns the rows of a table, by key."""

_LISTS = {"community_lists": "COMMUNITY_SET", "as_path_lists": "AS_PATH_SET"}
_MEMBERS = {"community_lists": "community_member", "as_path_lists": "as_path_set_member"}


def routing_paths(line_head: str, path: Path, table: Tables) -> Iterator[Path]:
    """Yield the paths at which a part of `@bgp`, `@neighbors`, `@vrf_bgp` or `@static_routes` may stand."""
    if line_head == "@static_routes":
        yield from _static_route_paths(path, table)
    elif line_head == "@vrf_bgp":
        yield from _process_paths(_step(path, 0), path[1:], table)
        yield ("BGP_GLOBALS", _step(path, 0))
    elif line_head == "@neighbors":
        yield from _session_paths(DEFAULT, path, table)
    else:
        yield from _process_paths(DEFAULT, path, table)
    if line_head != "@static_routes":
        yield ("BGP_GLOBALS", DEFAULT)
        yield (*LOCALHOST, "bgp_asn")


def _process_paths(vrf: str, path: Path, table: Tables) -> Iterator[Path]:
    field, key = _step(path, 0), _step(path, 1)
    if field == "neighbors":
        yield from _session_paths(vrf, path[1:], table)
    elif field in ("prefix_lists", "route_maps", *_LISTS):
        yield from _policy_paths(field, path[1:], table)
    elif field == "networks":
        rows = [key for key in table("BGP_GLOBALS_AF_NETWORK") if key.startswith(f"{vrf}|")]
        yield from (("BGP_GLOBALS_AF_NETWORK", row) for row in nth(key, rows))
    elif field == "redistributions":
        word, _, source = key.partition("-")
        yield ("ROUTE_REDISTRIBUTE", f"{vrf}|{source}|bgp|{word}")
    for family, row in PATHS.items():
        if row.field == field:
            yield from _stated_columns(table, ("BGP_GLOBALS_AF", f"{vrf}|{FAMILIES[family]}"), row.where)
    yield from _stated_columns(table, ("BGP_GLOBALS", vrf), places(PROCESS, field))
    if field == "router_id" and "bgp_router_id" in mapping_at(table("DEVICE_METADATA"), "localhost"):
        yield (*LOCALHOST, "bgp_router_id")


def _session_paths(vrf: str, path: Path, table: Tables) -> Iterator[Path]:
    key, field = _step(path, 0), _step(path, 1)
    family, inner = ("ipv6", _step(path, 2)) if field == "ipv6" else ("ipv4", field)
    of_family = ("BGP_NEIGHBOR_AF", f"{vrf}|{key}|{FAMILIES[family]}")
    yield from _stated_columns(table, of_family, places(FAMILY, inner))
    if field == "ipv6":
        yield of_family
    for name in SESSIONS:
        for row in (f"{vrf}|{key}", *([key] if vrf == DEFAULT else [])):
            yield from _stated_columns(table, (name, row), places(SESSION, field))
            yield (name, row)


def _policy_paths(field: str, path: Path, table: Tables) -> Iterator[Path]:
    """Yield where a list or map, or one of its rules, stands."""
    name, rule, inner = _step(path, 0), _step(path, 2), _step(path, 3)
    if field in _LISTS:
        yield (_LISTS[field], name, _MEMBERS[field])
        yield (_LISTS[field], name)
    elif field == "prefix_lists":
        rows = [key for key in table("PREFIX") if key.startswith(f"{name}|")]
        numbered = [key for key in rows if key.split("|")[1] == rule]
        yield from (("PREFIX", key, "action") for key in numbered if inner == "action")
        yield from (("PREFIX", key) for key in numbered)
        yield ("PREFIX_SET", name)
    else:
        row = f"{name}|{rule}"
        columns: Path = ("route_operation",) if inner == "action" else ()
        for rows_of, word in ((MATCHES, "matches"), (SETS, "sets")):
            if inner == word:
                columns = tuple(column for binding in rows_of for column in binding.where)
        yield from _stated_columns(table, ("ROUTE_MAP", row), columns)
        yield ("ROUTE_MAP", row)
        yield from (("ROUTE_MAP", key) for key in table("ROUTE_MAP") if key.startswith(f"{name}|"))
        yield ("ROUTE_MAP_SET", name)


def _static_route_paths(path: Path, table: Tables) -> Iterator[Path]:
    prefix, field = _step(path, 0), _step(path, 1)
    keys = [key for key in table("STATIC_ROUTE") if key.rpartition("|")[2] == prefix or not path]
    column = field if field == "distance" else "nexthop"
    yield from (("STATIC_ROUTE", key, column) for key in keys)
    yield from (("STATIC_ROUTE", key) for key in keys)
    yield ("STATIC_ROUTE",)


def _stated_columns(table: Tables, row: tuple[str, str], columns: Path) -> Iterator[Path]:
    """Yield the columns that a row has, of those that can state a fact."""
    stated = mapping_at(table(row[0]), row[1])
    yield from ((*row, column) for column in columns if column in stated)


def _step(path: Path, number: int) -> str:
    """Return a step of a path, empty if it ends before."""
    return path[number] if number < len(path) else ""


def nth(position: str, table_lines: Sequence[str]) -> Sequence[str]:
    """Return the row at a position, if there is one."""
    number = whole_number(position)
    return table_lines[number : number + 1] if number is not None else ()
