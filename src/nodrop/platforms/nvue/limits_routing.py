"""Routing of a device that NVUE cannot express: refused with the model path that prevents it.

Ranges are those of the NVUE command reference (5.14 and 5.16) and of `nv list-commands`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from nodrop.limits import MAX_32_BITS, MAX_DISTANCE
from nodrop.model import policy_values
from nodrop.model.fabric import Device
from nodrop.model.routing import AsPathList, Bgp, BgpNeighbor, CommunityList, PrefixList, RouteMap, StaticRoute
from nodrop.model.states import require_fact
from nodrop.model.subject import natural
from nodrop.platforms.kit import bindings
from nodrop.platforms.kit.expressible import SHARED as OF_ALL_VRFS
from nodrop.platforms.kit.expressible import (
    check_distinct,
    check_far_end,
    check_range,
    check_rows,
    on_one_line,
    refuse,
)
from nodrop.platforms.nvue import communities as known_communities
from nodrop.platforms.nvue.bindings_bgp import EITHER, FAMILY, PROCESS, SESSION, SHARED
from nodrop.platforms.nvue.names import not_a_name
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.units import whole_number

MATCHES = {
    "as-path": "as-path-list",
    "community": "community-list",
    "interface": "interface",
    "ip next-hop prefix-list": "ip-nexthop-list",
    "ip address prefix-list": "ip-prefix-list",
    "ipv6 address prefix-list": "ip-prefix-list",
    "tag": "tag",
}
"""What a route map can match, in FRR's words and in NVUE's, in the order of a file."""
SETS = {
    "as-path prepend": "as-path-prepend as",
    "community": "community",
    "extcommunity bandwidth": "ext-community-bw",
    "ip next-hop": "ip-nexthop",
    "local-preference": "local-preference",
    "origin": "origin",
    "src": "source-ip",
    "tag": "tag",
    "weight": "weight",
}
"""What a route map can set, in FRR's words and in NVUE's, in the order of a file."""

_COMMUNITY = re.compile(r"[0-9]{1,5}:[0-9]{1,5}")
_LARGEST_RULE = 65535
_LENGTH = {"ipv4": 32, "ipv6": 128}
_ORIGINS = ("egp", "igp", "incomplete")


def check(device: Device) -> None:
    """Raise Unsupported where NVUE has no setting for a part of the routing."""
    _check_routes(require_fact(device.static_routes))
    if isinstance(device.extra_lines, tuple) and device.extra_lines:
        raise refuse(["extra_lines"], "NVUE writes the routing daemon's configuration by itself")
    bgp, other_bgps = require_fact(device.bgp), require_fact(device.vrf_bgp)
    if bgp is not None:
        if bgp.vrf is not None:
            raise refuse(["bgp", "vrf"], "the process of another VRF is in `vrf_bgp`")
        bindings.check(SHARED, bgp, "bgp")
        _check_prefix_lists(bgp.prefix_lists)
        _check_community_lists(bgp.community_lists)
        _check_as_path_lists(bgp.as_path_lists)
        _check_route_maps(bgp.route_maps)
        _check_process(bgp, "bgp")
    check_rows(other_bgps, "vrf_bgp", order=lambda process: natural(process.key))
    for vrf_process in other_bgps:
        if bgp is None:
            raise refuse(["vrf_bgp"], "need a BGP process in the default VRF, which is missing")
        _check_vrf_process(vrf_process, bgp)


_OF_SWITCH = ("suppress_fib_pending", "graceful_restart", "restart_s", "select_defer_s", "graceful_shutdown")
"""What NVUE has below `router bgp`, for all VRFs."""


def _check_vrf_process(vrf_process: Bgp, bgp: Bgp) -> None:
    """Check the process of a separate VRF."""
    path = ("vrf_bgp", vrf_process.key)
    _check_name(vrf_process.key, *path)
    if vrf_process.key == "default":
        raise refuse(path, "the process of the default VRF is `bgp`")
    for name in (*OF_ALL_VRFS, *(row.field for row in SHARED)):
        if getattr(vrf_process, name) != getattr(bgp, name):
            raise refuse((*path, name), "NVUE has this once for all VRFs")
    if vrf_process.router_id is None and bgp.router_id is not None:
        raise refuse((*path, "router_id"), "a VRF without a router id has that of the switch")
    _check_process(vrf_process, *path)


def _check_name(name: str, *path: object) -> None:
    if reason := not_a_name(name):
        raise refuse(path, reason)


def _check_routes(routes: tuple[StaticRoute, ...]) -> None:
    for vrf in {route.vrf for route in routes} - {None}:
        _check_name(str(vrf), "static_routes")
        if vrf == "default":
            raise refuse(["static_routes"], "the default VRF has no name")
    check_distinct(
        [
            f"{static_route.vrf} {static_route.prefix} via {static_route.next_hop} {static_route.distance}"
            for static_route in routes
        ],
        "static_routes",
    )
    _check_order(
        routes, lambda row: (row.prefix, row.next_hop, row.distance, natural(row.vrf or "default")), "static_routes"
    )
    for route in routes:
        check_range(route.distance, 1, MAX_DISTANCE, "static_routes", route.prefix, "distance")
        if via_type(route.next_hop) == "interface" and nvue_port(route.next_hop) is None:
            raise refuse(["static_routes", route.prefix, "next_hop"], f"{route.next_hop} is no port of the switch")


def _check_order(table_rows: Sequence[object], order: Callable[[Any], Any], *path: object) -> None:
    if list(table_rows) != sorted(table_rows, key=order):
        raise refuse(path, "are not in the order in which they would be read back")


def via_type(next_hop: str) -> str:
    """Return what NVUE calls a kind of next hop."""
    if next_hop == "blackhole":
        return "blackhole"
    if ":" in next_hop:
        return "ipv6-address"
    return "ipv4-address" if next_hop.replace(".", "").isdecimal() else "interface"


def _check_process(bgp: Bgp, *path: object) -> None:
    bindings.check((*EITHER, *PROCESS), bgp, *path)
    check_distinct(bgp.networks, *path, "networks")
    _check_order(bgp.networks, lambda network: (":" in network, network), *path, "networks")
    check_rows(bgp.redistributions, *path, "redistributions")
    for row in bgp.redistributions:
        if row.policy is not None:
            _check_name(row.policy, *path, "redistributions", row.key, "policy")
    neighbors = require_fact(bgp.neighbors)
    check_rows(neighbors, *path, "neighbors", order=lambda peer: natural(peer.key))
    for neighbor in neighbors:
        _check_neighbor(neighbor, *path, "neighbors", neighbor.key)


def _check_prefix_lists(lists: tuple[PrefixList, ...]) -> None:
    check_distinct([row.name for row in lists], "bgp", "prefix_lists")
    _check_order(lists, lambda one: (one.family, one.name), "bgp", "prefix_lists")
    for prefix_list in lists:
        path = ("bgp", "prefix_lists", prefix_list.name)
        _check_name(prefix_list.name, *path)
        if not prefix_list.rules:
            raise refuse((*path, "rules"), "a list without rules is no list")
        check_rows(prefix_list.rules, *path, "rules", order=lambda rule: rule.sequence)
        for rule in prefix_list.rules:
            where = (*path, "rules", rule.sequence)
            check_range(rule.sequence, 1, _LARGEST_RULE, *where, "sequence")
            check_range(rule.ge, 0, _LENGTH[prefix_list.family], *where, "ge")
            check_range(rule.le, 0, _LENGTH[prefix_list.family], *where, "le")
            if (":" in rule.prefix) != (prefix_list.family == "ipv6"):
                raise refuse((*where, "prefix"), f"{rule.prefix} is not {prefix_list.family}")


def _check_community_lists(lists: tuple[CommunityList, ...]) -> None:
    check_rows(lists, "bgp", "community_lists")
    for community_list in lists:
        path = ("bgp", "community_lists", community_list.name)
        _check_name(community_list.name, *path)
        if community_list.expanded:
            raise refuse((*path, "expanded"), "NVUE has no expressions of communities")
        if not community_list.rules or not all(communities for _, communities in community_list.rules):
            raise refuse((*path, "rules"), "a rule names a community, and a list has a rule")
        for _, communities in community_list.rules:
            _check_communities(communities, *path, "rules")


def _check_communities(communities: tuple[str, ...], *path: object) -> None:
    check_distinct(communities, *path)
    for community in communities:
        if community not in known_communities.SPELT and not _COMMUNITY.fullmatch(community):
            raise refuse(path, f"{community!r} is no community")
        if (name := known_communities.name(community)) != community:
            raise refuse(path, f"{community} is read back by its name, {name}")


def _check_as_path_lists(lists: tuple[AsPathList, ...]) -> None:
    check_rows(lists, "bgp", "as_path_lists")
    for path_list in lists:
        path = ("bgp", "as_path_lists", path_list.name)
        _check_name(path_list.name, *path)
        if not path_list.rules:
            raise refuse((*path, "rules"), "a list without rules is no list")
        for _, expression in path_list.rules:
            if reason := on_one_line(expression):
                raise refuse((*path, "rules"), reason)


def _check_route_maps(maps: tuple[RouteMap, ...]) -> None:
    check_rows(maps, "bgp", "route_maps")
    for route_map in maps:
        path = ("bgp", "route_maps", route_map.name)
        _check_name(route_map.name, *path)
        if not route_map.rules:
            raise refuse((*path, "rules"), "a route map without rules is no route map")
        check_rows(route_map.rules, *path, "rules", order=lambda rule: rule.sequence)
        for rule in route_map.rules:
            where = (*path, "rules", rule.sequence)
            check_range(rule.sequence, 1, _LARGEST_RULE, *where, "sequence")
            for field, words in (("matches", MATCHES), ("sets", SETS)):
                attributes = [attribute for attribute, _ in getattr(rule, field)]
                _check_attributes(attributes, words, *where, field)
            for attribute, value in rule.matches:
                _check_match(attribute, value, *where, "matches")
            for attribute, value in rule.sets:
                _check_set_value(attribute, value, *where, "sets")


def _check_attributes(attributes: list[str], values_by_word: dict[str, str], *path: object) -> None:
    for attribute in attributes:
        if attribute not in values_by_word:
            raise refuse(path, f"{attribute!r} is not one of {', '.join(values_by_word)}")
    ours = [values_by_word[attribute] for attribute in attributes]
    check_distinct(ours, *path)
    if attributes != sorted(attributes, key=list(values_by_word).index):
        raise refuse(path, f"are not in the order in which they would be read back: {', '.join(values_by_word)}")


def _check_match(attribute: str, value: str, *path: object) -> None:
    if attribute == "tag":
        _check_number(value, 1, *path)
    else:
        _check_name(value, *path)


def _check_set_value(attribute: str, value: str, *path: object) -> None:
    if reason := on_one_line(value):
        raise refuse(path, reason)
    if attribute in ("local-preference", "weight"):
        _check_number(value, 0, *path)
    elif attribute in ("tag", "as-path prepend"):
        _check_number(value, 1, *path)
    elif attribute == "community":
        if "additive" in value.split():
            raise refuse(path, "communities that are added to those of a route are not written")
        _check_communities(tuple(value.split()), *path)
    elif attribute == "origin" and value not in _ORIGINS:
        raise refuse(path, f"{value!r} is not one of {', '.join(_ORIGINS)}")
    elif attribute == "src" and policy_values.source(value) is None:
        raise refuse(path, f"{value!r} is no address")
    elif attribute == "extcommunity bandwidth" and policy_values.link_bandwidth(value) is None:
        raise refuse(path, f"{value!r} is no link bandwidth")
    elif attribute == "extcommunity bandwidth" and value[:1].isdigit() and " " in value:
        raise refuse(path, "a number that is non-transitive is not written")
    elif attribute == "ip next-hop" and via_type(value) != "ipv4-address":
        raise refuse(path, f"{value!r} is no IPv4 address")


def _check_number(value: str, min_value: int, *path: object) -> None:
    number = whole_number(value, MAX_32_BITS)
    if number is None or str(number) != value or number < min_value:
        raise refuse(path, f"{value!r} is not from {min_value} to {MAX_32_BITS}")


def _check_neighbor(neighbor: BgpNeighbor, *path: object) -> None:
    check_far_end(neighbor, *path)
    bindings.check((*SESSION, *FAMILY), neighbor, *path)
    bindings.check(FAMILY, neighbor.ipv6, *path, "ipv6")
