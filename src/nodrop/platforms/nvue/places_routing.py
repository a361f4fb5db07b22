"""Where a part of the routing stands in an NVUE file."""

from collections.abc import Iterator, Mapping, Sequence

from nodrop.platforms.nvue.read_routing import DEFAULT, FAMILIES, process
from nodrop.platforms.nvue.read_values import View
from nodrop.platforms.nvue.tree import Path
from nodrop.units import whole_number

ROUTING = ("@bgp", "@neighbors", "@vrf_bgp", "@static_routes")
"""The parts of a device that are routing."""
_SHARED: Mapping[str, Path] = {
    "asn": ("router", "bgp", "autonomous-system"),
    "router_id": ("router", "bgp", "router-id"),
    "graceful_shutdown": ("router", "bgp", "graceful-shutdown"),
}
"""What is said once for the processes of all VRFs, or of one where that VRF says nothing."""
_FIELDS: Mapping[str, Path] = {
    "asn": ("autonomous-system",),
    "router_id": ("router-id",),
    "maximum_paths": (*FAMILIES[0], "multipaths", "ebgp"),
    "maximum_paths_ipv6": (*FAMILIES[1], "multipaths", "ebgp"),
    "multipath_relax": ("path-selection", "multipath", "aspath-ignore"),
    "compare_router_id": ("path-selection", "routerid-compare"),
    "always_compare_med": ("path-selection", "med", "compare-always"),
}
_NEIGHBOR: Mapping[str, tuple[Path, ...]] = {
    "remote_asn": (("remote-as",),),
    "description": (("description",),),
    "extended_next_hop": (("capabilities", "extended-nexthop"),),
    "update_source": (("update-source",), ("capabilities", "source-address")),
    "ebgp_multihop": (("multihop-ttl",),),
    "active": ((*FAMILIES[0], "state"), (*FAMILIES[0], "enable")),
    "import_policy": ((*FAMILIES[0], "policy", "inbound", "route-map"),),
    "export_policy": ((*FAMILIES[0], "policy", "outbound", "route-map"),),
    "import_prefix_list": ((*FAMILIES[0], "policy", "inbound", "prefix-list"),),
    "export_prefix_list": ((*FAMILIES[0], "policy", "outbound", "prefix-list"),),
    "next_hop_self": ((*FAMILIES[0], "nexthop-setting"),),
    "enabled": (("shutdown",),),
    "hold_s": (("timers", "hold"),),
    "bfd": (("bfd", "enable"), ("bfd", "profile"), ("bfd",)),
    "allowas_in": ((*FAMILIES[0], "aspath", "allow-my-asn", "occurrences"), (*FAMILIES[0], "aspath", "allow-my-asn")),
}
_POLICIES = {
    "prefix_lists": "prefix-list",
    "community_lists": "community-list",
    "as_path_lists": "as-path-list",
    "route_maps": "route-map",
}
_POLICY_FIELDS: Mapping[str, tuple[Path, ...]] = {
    "action": (("action",),),
    "prefix": (("match",),),
    "matches": (("match",),),
    "sets": (("set",),),
}


def routing_paths(top: View, head: str, part: Path) -> Iterator[Path]:
    """Yield the paths that say a part of the routing, the most exact first."""
    if head == "@static_routes":
        yield from _route_paths(top, *(*part, "", "")[:2])
    elif head == "@vrf_bgp":
        yield from _bgp_paths(top, "".join(part[:1]), part[1:])
    else:
        yield from _bgp_paths(top, DEFAULT, part if head == "@bgp" else ("neighbors", *part))


def _route_paths(top: View, key: str, field: str) -> Iterator[Path]:
    routes = [
        ("vrf", vrf, "router", "static", prefix, "via", hop)
        for vrf, inside in top.below("vrf").items()
        for prefix, route in inside.below("router", "static").items()
        for hop in route.texts("via")
    ]
    routes.sort(key=lambda path: (path[4], path[6]))
    for path in at(key, routes):
        yield path[:5] if field == "prefix" else path
    yield ("vrf", DEFAULT, "router", "static")


def _bgp_paths(top: View, vrf: str, part: Path) -> Iterator[Path]:
    own = process(vrf)
    field, key, *rest = (*part, "", "")
    if field in _FIELDS:
        yield (*own, *_FIELDS[field])
    if field in _SHARED:
        yield _SHARED[field]
    elif field == "networks":
        node = top.below(*own)
        found = [(*own, *family, "network", one) for family in FAMILIES for one in node.below(*family).texts("network")]
        found.sort(key=lambda path: (":" in path[-1], path[-1]))
        yield from at(key, found)
    elif field == "redistributions":
        family, _, source = key.partition("-")
        row = (*own, *FAMILIES[family == "ipv6"], "redistribute", source)
        if rest[:1] == ["policy"]:
            yield (*row, "route-map")
        yield row
        yield row[:-1]
    elif field == "neighbors" and key:
        yield from _neighbor_paths(top, own, key, *rest)
    elif field in _POLICIES:
        yield from _policy_paths(_POLICIES[field], key, [word for word in rest if word])
    yield own
    yield ("router", "bgp")


def _policy_paths(kind: str, name: str, inner: list[str]) -> Iterator[Path]:
    if len(inner) > 1 and inner[0] == "rules":
        rule: Path = ("router", "policy", kind, name, "rule", inner[1])
        for word in _POLICY_FIELDS.get("".join(inner[2:3]), ()):
            yield (*rule, *word)
        yield rule
    yield ("router", "policy", kind, name)


def _neighbor_paths(top: View, own: Path, key: str, field: str, *inside: str) -> Iterator[Path]:
    neighbor = (*own, "neighbor", key)
    group = top.below(*own, "neighbor", key).text("peer-group")
    for node in (neighbor, (*own, "peer-group", group or "")):
        if field == "ipv6":
            said = (path[2:] for path in _NEIGHBOR.get("".join(inside[:1]), ()) if path[:2] == FAMILIES[0])
            yield from ((*node, *FAMILIES[1], *path) for path in said)
            yield (*node, *FAMILIES[1])
        yield from ((*node, *path) for path in _NEIGHBOR.get(field, ()))
    yield neighbor


def at(position: str, rows: Sequence[Path]) -> Sequence[Path]:
    """Return the row at a position, if there is one."""
    number = whole_number(position)
    return rows[number : number + 1] if number is not None else ()
