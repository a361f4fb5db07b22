"""Routing of a device that NVUE cannot express: refused with the model path that prevents it.

Ranges are those of the NVUE command reference (5.14 and 5.16) and of `nv list-commands`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE, MAX_UINT32
from nodrop.model import policy_values
from nodrop.model.addresses import ADDRESS_BITS
from nodrop.model.fabric import Device
from nodrop.model.routing import AsPathList, Bgp, BgpNeighbor, CommunityList, PrefixList, RouteMap, StaticRoute
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit import bindings
from nodrop.platforms.kit.expressible import BGP_FIELDS_SHARED_BY_VRFS as OF_ALL_VRFS
from nodrop.platforms.kit.expressible import (
    check_distinct,
    check_range,
    check_row_names_and_order,
    check_session_far_end,
    reason_unwritable_text,
    unsupported_error,
)
from nodrop.platforms.nvue import communities as known_communities
from nodrop.platforms.nvue.bindings_bgp import (
    GLOBAL_BGP_BINDINGS,
    PROCESS_BINDINGS,
    PROCESS_OR_GLOBAL_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
)
from nodrop.platforms.nvue.names import reason_not_a_name
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.units import parse_whole_number

NVUE_WORD_BY_ROUTE_MAP_MATCH = {
    "as-path": "as-path-list",
    "community": "community-list",
    "interface": "interface",
    "ip next-hop prefix-list": "ip-nexthop-list",
    "ip address prefix-list": "ip-prefix-list",
    "ipv6 address prefix-list": "ip-prefix-list",
    "tag": "tag",
}
"""What a route map can match, in FRR's words and in NVUE's, in the order of a file."""
NVUE_WORD_BY_ROUTE_MAP_SET = {
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

_COMMUNITY_PATTERN = re.compile(r"[0-9]{1,5}:[0-9]{1,5}")
_LARGEST_RULE = 65535
_BGP_ORIGINS = ("egp", "igp", "incomplete")


def check_routing(device: Device) -> None:
    """Raise UnsupportedByPlatform where NVUE has no setting for a part of the routing."""
    _check_routes(require_fact(device.static_routes))
    if isinstance(device.extra_lines, tuple) and device.extra_lines:
        raise unsupported_error(["extra_lines"], "NVUE writes the routing daemon's configuration by itself")
    bgp, other_bgps = require_fact(device.bgp), require_fact(device.vrf_bgp)
    if bgp is not None:
        if bgp.vrf is not None:
            raise unsupported_error(["bgp", "vrf"], "the process of another VRF is in `vrf_bgp`")
        bindings.check_fields(GLOBAL_BGP_BINDINGS, bgp, "bgp")
        _check_prefix_lists(bgp.prefix_lists)
        _check_community_lists(bgp.community_lists)
        _check_as_path_lists(bgp.as_path_lists)
        _check_route_maps(bgp.route_maps)
        _check_process(bgp, "bgp")
    check_row_names_and_order(other_bgps, "vrf_bgp", order=lambda process: natural_sort_key(process.key))
    for vrf_process in other_bgps:
        if bgp is None:
            raise unsupported_error(["vrf_bgp"], "need a BGP process in the default VRF, which is missing")
        _check_vrf_process(vrf_process, bgp)


_SWITCH_WIDE_BGP_FIELDS = (
    "suppress_fib_pending",
    "graceful_restart",
    "restart_s",
    "select_defer_s",
    "graceful_shutdown",
)
"""What NVUE has below `router bgp`, for all VRFs."""


def _check_vrf_process(vrf_process: Bgp, bgp: Bgp) -> None:
    """Check the process of a separate VRF."""
    path = ("vrf_bgp", vrf_process.key)
    _check_name(vrf_process.key, *path)
    if vrf_process.key == "default":
        raise unsupported_error(path, "the process of the default VRF is `bgp`")
    for name in (*OF_ALL_VRFS, *(row.field for row in GLOBAL_BGP_BINDINGS)):
        if getattr(vrf_process, name) != getattr(bgp, name):
            raise unsupported_error((*path, name), "NVUE has this once for all VRFs")
    if vrf_process.router_id is None and bgp.router_id is not None:
        raise unsupported_error((*path, "router_id"), "a VRF without a router id has that of the switch")
    _check_process(vrf_process, *path)


def _check_name(name: str, *path: object) -> None:
    if reason := reason_not_a_name(name):
        raise unsupported_error(path, reason)


def _check_routes(routes: tuple[StaticRoute, ...]) -> None:
    for vrf in {route.vrf for route in routes} - {None}:
        _check_name(str(vrf), "static_routes")
        if vrf == "default":
            raise unsupported_error(["static_routes"], "the default VRF has no name")
    check_distinct(
        [
            f"{static_route.vrf} {static_route.prefix} via {static_route.next_hop} {static_route.distance}"
            for static_route in routes
        ],
        "static_routes",
    )
    _check_order(
        routes,
        lambda row: (row.prefix, row.next_hop, row.distance, natural_sort_key(row.vrf or "default")),
        "static_routes",
    )
    for route in routes:
        check_range(route.distance, 1, MAX_ADMINISTRATIVE_DISTANCE, "static_routes", route.prefix, "distance")
        if nvue_next_hop_type(route.next_hop) == "interface" and nvue_port(route.next_hop) is None:
            raise unsupported_error(
                ["static_routes", route.prefix, "next_hop"], f"{route.next_hop} is no port of the switch"
            )


def _check_order(table_rows: Sequence[object], order: Callable[[Any], Any], *path: object) -> None:
    if list(table_rows) != sorted(table_rows, key=order):
        raise unsupported_error(path, "are not in the order in which they would be read back")


def nvue_next_hop_type(next_hop: str) -> str:
    """Return what NVUE calls a kind of next hop."""
    if next_hop == "blackhole":
        return "blackhole"
    if ":" in next_hop:
        return "ipv6-address"
    return "ipv4-address" if next_hop.replace(".", "").isdecimal() else "interface"


def _check_process(bgp: Bgp, *path: object) -> None:
    bindings.check_fields((*PROCESS_OR_GLOBAL_BINDINGS, *PROCESS_BINDINGS), bgp, *path)
    check_distinct(bgp.networks, *path, "networks")
    _check_order(bgp.networks, lambda network: (":" in network, network), *path, "networks")
    check_row_names_and_order(bgp.redistributions, *path, "redistributions")
    for row in bgp.redistributions:
        if row.policy is not None:
            _check_name(row.policy, *path, "redistributions", row.key, "policy")
    neighbors = require_fact(bgp.neighbors)
    check_row_names_and_order(neighbors, *path, "neighbors", order=lambda peer: natural_sort_key(peer.key))
    for neighbor in neighbors:
        _check_neighbor(neighbor, *path, "neighbors", neighbor.key)


def _check_prefix_lists(lists: tuple[PrefixList, ...]) -> None:
    check_distinct([row.name for row in lists], "bgp", "prefix_lists")
    _check_order(lists, lambda one: (one.family, one.name), "bgp", "prefix_lists")
    for prefix_list in lists:
        path = ("bgp", "prefix_lists", prefix_list.name)
        _check_name(prefix_list.name, *path)
        if not prefix_list.rules:
            raise unsupported_error((*path, "rules"), "a list without rules is no list")
        check_row_names_and_order(prefix_list.rules, *path, "rules", order=lambda rule: rule.sequence)
        for rule in prefix_list.rules:
            where = (*path, "rules", rule.sequence)
            check_range(rule.sequence, 1, _LARGEST_RULE, *where, "sequence")
            check_range(rule.ge, 0, ADDRESS_BITS[prefix_list.family], *where, "ge")
            check_range(rule.le, 0, ADDRESS_BITS[prefix_list.family], *where, "le")
            if (":" in rule.prefix) != (prefix_list.family == "ipv6"):
                raise unsupported_error((*where, "prefix"), f"{rule.prefix} is not {prefix_list.family}")


def _check_community_lists(lists: tuple[CommunityList, ...]) -> None:
    check_row_names_and_order(lists, "bgp", "community_lists")
    for community_list in lists:
        path = ("bgp", "community_lists", community_list.name)
        _check_name(community_list.name, *path)
        if community_list.expanded:
            raise unsupported_error((*path, "expanded"), "NVUE has no expressions of communities")
        if not community_list.rules or not all(communities for _, communities in community_list.rules):
            raise unsupported_error((*path, "rules"), "a rule names a community, and a list has a rule")
        for _, communities in community_list.rules:
            _check_communities(communities, *path, "rules")


def _check_communities(communities: tuple[str, ...], *path: object) -> None:
    check_distinct(communities, *path)
    for community in communities:
        if community not in known_communities.NVUE_COMMUNITY_BY_NAME and not _COMMUNITY_PATTERN.fullmatch(community):
            raise unsupported_error(path, f"{community!r} is no community")
        if (name := known_communities.community_name(community)) != community:
            raise unsupported_error(path, f"{community} is read back by its name, {name}")


def _check_as_path_lists(lists: tuple[AsPathList, ...]) -> None:
    check_row_names_and_order(lists, "bgp", "as_path_lists")
    for path_list in lists:
        path = ("bgp", "as_path_lists", path_list.name)
        _check_name(path_list.name, *path)
        if not path_list.rules:
            raise unsupported_error((*path, "rules"), "a list without rules is no list")
        for _, expression in path_list.rules:
            if reason := reason_unwritable_text(expression):
                raise unsupported_error((*path, "rules"), reason)


def _check_route_maps(maps: tuple[RouteMap, ...]) -> None:
    check_row_names_and_order(maps, "bgp", "route_maps")
    for route_map in maps:
        path = ("bgp", "route_maps", route_map.name)
        _check_name(route_map.name, *path)
        if not route_map.rules:
            raise unsupported_error((*path, "rules"), "a route map without rules is no route map")
        check_row_names_and_order(route_map.rules, *path, "rules", order=lambda rule: rule.sequence)
        for rule in route_map.rules:
            where = (*path, "rules", rule.sequence)
            check_range(rule.sequence, 1, _LARGEST_RULE, *where, "sequence")
            for field, words in (("matches", NVUE_WORD_BY_ROUTE_MAP_MATCH), ("sets", NVUE_WORD_BY_ROUTE_MAP_SET)):
                attributes = [attribute for attribute, _ in getattr(rule, field)]
                _check_attributes(attributes, words, *where, field)
            for attribute, value in rule.matches:
                _check_match(attribute, value, *where, "matches")
            for attribute, value in rule.sets:
                _check_set_value(attribute, value, *where, "sets")


def _check_attributes(attributes: list[str], values_by_word: dict[str, str], *path: object) -> None:
    for attribute in attributes:
        if attribute not in values_by_word:
            raise unsupported_error(path, f"{attribute!r} is not one of {', '.join(values_by_word)}")
    ours = [values_by_word[attribute] for attribute in attributes]
    check_distinct(ours, *path)
    if attributes != sorted(attributes, key=list(values_by_word).index):
        raise unsupported_error(
            path, f"are not in the order in which they would be read back: {', '.join(values_by_word)}"
        )


def _check_match(attribute: str, value: str, *path: object) -> None:
    if attribute == "tag":
        _check_number(value, 1, *path)
    else:
        _check_name(value, *path)


def _check_set_value(attribute: str, value: str, *path: object) -> None:
    if reason := reason_unwritable_text(value):
        raise unsupported_error(path, reason)
    if attribute in ("local-preference", "weight"):
        _check_number(value, 0, *path)
    elif attribute in ("tag", "as-path prepend"):
        _check_number(value, 1, *path)
    elif attribute == "community":
        if "additive" in value.split():
            raise unsupported_error(path, "communities that are added to those of a route are not written")
        _check_communities(tuple(value.split()), *path)
    elif attribute == "origin" and value not in _BGP_ORIGINS:
        raise unsupported_error(path, f"{value!r} is not one of {', '.join(_BGP_ORIGINS)}")
    elif attribute == "src" and policy_values.parse_source_address(value) is None:
        raise unsupported_error(path, f"{value!r} is no address")
    elif attribute == "extcommunity bandwidth" and policy_values.parse_link_bandwidth(value) is None:
        raise unsupported_error(path, f"{value!r} is no link bandwidth")
    elif attribute == "extcommunity bandwidth" and value[:1].isdigit() and " " in value:
        raise unsupported_error(path, "a number that is non-transitive is not written")
    elif attribute == "ip next-hop" and nvue_next_hop_type(value) != "ipv4-address":
        raise unsupported_error(path, f"{value!r} is no IPv4 address")


def _check_number(value: str, min_value: int, *path: object) -> None:
    number = parse_whole_number(value, MAX_UINT32)
    if number is None or str(number) != value or number < min_value:
        raise unsupported_error(path, f"{value!r} is not from {min_value} to {MAX_UINT32}")


def _check_neighbor(neighbor: BgpNeighbor, *path: object) -> None:
    check_session_far_end(neighbor, *path)
    bindings.check_fields((*SESSION_BINDINGS, *SESSION_FAMILY_BINDINGS), neighbor, *path)
    bindings.check_fields(SESSION_FAMILY_BINDINGS, neighbor.ipv6, *path, "ipv6")
