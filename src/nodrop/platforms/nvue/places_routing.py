"""Where a part of the routing stands in an NVUE file."""

from collections.abc import Iterator, Mapping, Sequence

from nodrop.platforms.kit.bindings import places_of_field
from nodrop.platforms.nvue.bindings_bgp import (
    ALL_SESSIONS_OF_PROCESS_BINDINGS,
    FAMILY_PATHS,
    GLOBAL_BGP_BINDINGS,
    PROCESS_BINDINGS,
    PROCESS_OR_GLOBAL_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
)
from nodrop.platforms.nvue.read_routing import DEFAULT_VRF, bgp_process_path, next_hops_of_route
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path
from nodrop.units import parse_whole_number

ROUTING_DEVICE_PARTS = ("@bgp", "@neighbors", "@vrf_bgp", "@static_routes")
"""The parts of a device that are routing."""
_NVUE_KEY_BY_POLICY_FIELD = {
    "prefix_lists": "prefix-list",
    "community_lists": "community-list",
    "as_path_lists": "as-path-list",
    "route_maps": "route-map",
}
_NVUE_PATHS_BY_POLICY_RULE_FIELD: Mapping[str, tuple[Path, ...]] = {
    "action": (("action",),),
    "prefix": (("match",),),
    "matches": (("match",),),
    "sets": (("set",),),
}


def routing_paths(root_view: ConfigNodeView, line_head: str, path: Path) -> Iterator[Path]:
    """Yield the paths that set a part of the routing, the most exact first."""
    if line_head == "@static_routes":
        yield from _static_route_paths(root_view, *(*path, "", "")[:2])
    elif line_head == "@vrf_bgp":
        yield from _bgp_paths(root_view, "".join(path[:1]), path[1:])
    else:
        yield from _bgp_paths(root_view, DEFAULT_VRF, path if line_head == "@bgp" else ("neighbors", *path))


def _static_route_paths(top: ConfigNodeView, key: str, field: str) -> Iterator[Path]:
    route_rows = [
        (hop, distance, ("vrf", vrf, "router", "static", prefix, *path))
        for vrf, inside in top.below("vrf").items()
        for prefix, route in inside.below("router", "static").items()
        for distance, hop, path in next_hops_of_route(route)
    ]
    route_rows.sort(key=lambda row: (row[2][4], *row[:2]))
    for path in row_at_position(key, [path for *_, path in route_rows]):
        yield path[:5] if field == "prefix" else path[:7] if field == "distance" else path
    yield ("vrf", DEFAULT_VRF, "router", "static")


def _bgp_paths(root_view: ConfigNodeView, vrf: str, field_path: Path) -> Iterator[Path]:
    own_processes = bgp_process_path(vrf)
    field, key, *remaining_words = (*field_path, "", "")
    yield from (
        (*own_processes, *path) for path in places_of_field((*PROCESS_OR_GLOBAL_BINDINGS, *PROCESS_BINDINGS), field)
    )
    yield from (
        ("router", "bgp", *path) for path in places_of_field((*PROCESS_OR_GLOBAL_BINDINGS, *GLOBAL_BGP_BINDINGS), field)
    )
    if field == "networks":
        node = root_view.below(*own_processes)
        rows = [
            (*own_processes, *family, "network", text)
            for family in FAMILY_PATHS
            for text in node.below(*family).texts("network")
        ]
        rows.sort(key=lambda path: (":" in path[-1], path[-1]))
        yield from row_at_position(key, rows)
    elif field == "redistributions":
        family, _, source = key.partition("-")
        row = (*own_processes, *FAMILY_PATHS[family == "ipv6"], "redistribute", source)
        if remaining_words[:1] == ["policy"]:
            yield (*row, "route-map")
        yield row
        yield row[:-1]
    elif field == "neighbors" and key:
        yield from _neighbor_paths(root_view, own_processes, key, *remaining_words)
    elif field in _NVUE_KEY_BY_POLICY_FIELD:
        yield from _policy_paths(_NVUE_KEY_BY_POLICY_FIELD[field], key, [word for word in remaining_words if word])
    yield own_processes
    yield ("router", "bgp")


def _policy_paths(object_kind: str, name: str, inner: list[str]) -> Iterator[Path]:
    if len(inner) > 1 and inner[0] == "rules":
        rule: Path = ("router", "policy", object_kind, name, "rule", inner[1])
        for word in _NVUE_PATHS_BY_POLICY_RULE_FIELD.get("".join(inner[2:3]), ()):
            yield (*rule, *word)
        yield rule
    yield ("router", "policy", object_kind, name)


def _neighbor_paths(root_view: ConfigNodeView, own_path: Path, key: str, field: str, *inside: str) -> Iterator[Path]:
    neighbor = (*own_path, "neighbor", key)
    group = root_view.below(*own_path, "neighbor", key).text("peer-group")
    for node in (neighbor, (*own_path, "peer-group", group or "")):
        if field == "ipv6":
            yield from (
                (*node, *FAMILY_PATHS[1], *path)
                for path in places_of_field(SESSION_FAMILY_BINDINGS, "".join(inside[:1]))
            )
            yield (*node, *FAMILY_PATHS[1])
        yield from ((*node, *path) for path in places_of_field(SESSION_BINDINGS, field))
        yield from ((*node, *FAMILY_PATHS[0], *path) for path in places_of_field(SESSION_FAMILY_BINDINGS, field))
    yield from ((*own_path, *path) for path in places_of_field(ALL_SESSIONS_OF_PROCESS_BINDINGS, field))
    yield neighbor


def row_at_position(position: str, statement_paths: Sequence[Path]) -> Sequence[Path]:
    """Return the row at a position, if there is one."""
    number = parse_whole_number(position)
    return statement_paths[number : number + 1] if number is not None else ()
