"""Parts of a device's routing that frr.conf cannot express: refused with the model path that prevents it.

The ranges are FRR's (bgpd/bgp_vty.c, lib/filter_cli.c, lib/routemap_cli.c): vtysh refuses a file that leaves them.
"""

import re

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE, MAX_UINT32
from nodrop.model import policy_values
from nodrop.model.addresses import ADDRESS_BITS, is_address_or_prefix
from nodrop.model.fabric import Device
from nodrop.model.routing import AsPathList, Bgp, BgpNeighbor, CommunityList, PrefixList, RouteMap
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.words import is_neighbor_address
from nodrop.platforms.kit import bindings
from nodrop.platforms.kit.expressible import (
    BGP_FIELDS_SHARED_BY_VRFS,
    ScalarCheck,
    check_distinct,
    check_range,
    check_row_names_and_order,
    check_session_far_end,
    reason_unwritable_text,
    unsupported_error,
)

ANY_PREFIX_WORD = "any"
"""What a rule of a prefix list has in place of a prefix, to match every one."""
ROUTE_MAP_MATCHES = (
    "ip address prefix-list",
    "ip next-hop prefix-list",
    "ipv6 address prefix-list",
    "as-path",
    "community",
    "tag",
    "interface",
    "peer",
)
ROUTE_MAP_SETS = (
    "local-preference",
    "metric",
    "community",
    "as-path prepend",
    "ip next-hop",
    "ipv6 next-hop global",
    "ipv6 next-hop",
    "weight",
    "origin",
    "tag",
    "src",
    "extcommunity bandwidth",
)
"""What a route map can match and set, as far as the model goes."""
ROUTE_MAP_FLOW_COMMANDS = ("call", "on-match")
"""Where else a route can be sent, which is said without `set`."""

_CHECK_BY_TEXT_FIELD = {
    row.field: reason_unwritable_text
    for row in frr_rows.SESSION_AND_FAMILY_COMMANDS.rows
    if row.encode and row.where[0].endswith("**")
}
_SCALAR_CHECK_EXCEPT_POLICIES = ScalarCheck(
    "matches", "sets", "as_path_lists", "community_lists", **_CHECK_BY_TEXT_FIELD
)
_SCALAR_CHECK_OF_ALL_FIELDS = ScalarCheck()
_SCALAR_CHECK_EXCEPT_RULES = ScalarCheck("rules")
_AS_PATH_REGEX_PATTERN = re.compile(r"[0-9_^|\[,{}() \]$*+.?\\-]+")
"""What FRR takes in a regular expression of AS paths (bgpd/bgp_filter.c, config_bgp_aspath_validate)."""
_INTERFACE_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
"""A name that Linux gives an interface, without those that look like other words (net/core/dev.c, dev_valid_name)."""
_LARGEST_SEQUENCE = 65535


def expressible_bgp_processes(device: Device) -> tuple[Bgp, ...]:
    """Return the device's BGP processes, that of the default VRF first.

    UnsupportedByPlatform where FRR has no command for a part of the routing.
    """
    bgp, other_bgps = require_fact(device.bgp), require_fact(device.vrf_bgp)
    _SCALAR_CHECK_EXCEPT_POLICIES.check(device.static_routes, "static_routes")
    for route in require_fact(device.static_routes):
        _check_prefix(route.prefix, "static_routes", route.prefix, "prefix")
        check_range(route.distance, 1, MAX_ADMINISTRATIVE_DISTANCE, "static_routes", route.prefix, "distance")
    check_row_names_and_order(other_bgps, "vrf_bgp", order=lambda instance: natural_sort_key(instance.key))
    if bgp is not None and bgp.vrf is not None:
        raise unsupported_error(["bgp", "vrf"], "the process of another VRF is in `vrf_bgp`")
    processes: list[tuple[tuple[str, ...], Bgp]] = [(("vrf_bgp", one.key), one) for one in other_bgps]
    if bgp is not None:
        processes.insert(0, (("bgp",), bgp))
    for path, process in processes:
        _SCALAR_CHECK_EXCEPT_POLICIES.check(process, *path)
        _check_process(process, *path)
    _check_shut_interfaces(require_fact(device.shut_by_daemon))
    if processes:
        _check_routing_policies(processes[0][1])
    for path, process in processes[1 if bgp is not None else 0 :]:
        if process.vrf is None or process.vrf == "default":
            raise unsupported_error(path, "the process of the default VRF is `bgp`")
        for name in BGP_FIELDS_SHARED_BY_VRFS:
            if getattr(process, name) != getattr(processes[0][1], name):
                raise unsupported_error((*path, name), "FRR has this once for all VRFs")
    return tuple(one for _, one in processes)


def _check_shut_interfaces(names: tuple[str, ...]) -> None:
    check_row_names_and_order(names, "shut_by_daemon", order=natural_sort_key)
    for position, name in enumerate(names):
        if not _INTERFACE_NAME_PATTERN.fullmatch(name):
            raise unsupported_error(("shut_by_daemon", position), f"{name!r} is no name of an interface")


def _check_routing_policies(bgp: Bgp) -> None:
    _check_prefix_lists(bgp.prefix_lists)
    _check_community_lists(bgp.community_lists)
    _check_as_path_lists(bgp.as_path_lists)
    _check_route_maps(bgp.route_maps)


def _check_process(bgp: Bgp, *path: object) -> None:
    bindings.check_fields(frr_rows.ALL_PROCESS_COMMANDS.limited, bgp, *path)
    check_row_names_and_order(bgp.redistributions, *path, "redistributions")
    check_row_names_and_order(require_fact(bgp.neighbors), *path, "neighbors", order=lambda _: 0)
    for neighbor in require_fact(bgp.neighbors):
        _check_neighbor(neighbor, *path, "neighbors", neighbor.key)
        if neighbor.remote_asn not in (bgp.asn, "internal"):
            _check_no_reflector_client(neighbor, *path, "neighbors", neighbor.key)


def _check_no_reflector_client(neighbor: BgpNeighbor, *path: object) -> None:
    for where, unicast in (((), neighbor), (("ipv6",), neighbor.ipv6)):
        if unicast.reflector_client:
            reason = "bgpd reflects routes only to clients inside the AS (bgpd/bgpd.c, peer_af_flag_modify)"
            raise unsupported_error((*path, *where, "reflector_client"), reason)


def _check_prefix(prefix: str, *path: object) -> None:
    if not is_address_or_prefix(prefix):
        raise unsupported_error(path, f"{prefix} is not a prefix")


def _check_prefix_lists(lists: tuple[PrefixList, ...]) -> None:
    # The two families may share a name, so that each is looked at by itself.
    for family in ADDRESS_BITS:
        check_row_names_and_order(
            [named_list for named_list in lists if named_list.family == family], "bgp", "prefix_lists"
        )
    check_row_names_and_order([f"{named_list.family} {named_list.name}" for named_list in lists], "bgp", "prefix_lists")
    for prefix_list in lists:
        path = ("bgp", "prefix_lists", prefix_list.name, "rules")
        if not prefix_list.rules:
            raise unsupported_error(path, "a list without rules is no list")
        check_row_names_and_order(prefix_list.rules, *path, order=lambda rule: rule.sequence)
        for rule in prefix_list.rules:
            where = (*path, rule.sequence)
            if rule.prefix != ANY_PREFIX_WORD:
                _check_prefix(rule.prefix, *where, "prefix")
            check_range(rule.sequence, 1, MAX_UINT32, *where, "sequence")
            check_range(rule.ge, 0, ADDRESS_BITS[prefix_list.family], *where, "ge")
            check_range(rule.le, 0, ADDRESS_BITS[prefix_list.family], *where, "le")


def _check_community_lists(lists: tuple[CommunityList, ...]) -> None:
    check_row_names_and_order(lists, "bgp", "community_lists")
    for community_list in lists:
        (_SCALAR_CHECK_EXCEPT_RULES if community_list.expanded else _SCALAR_CHECK_OF_ALL_FIELDS).check(
            community_list, "bgp", "community_lists", community_list.name
        )
        path = ("bgp", "community_lists", community_list.name, "rules")
        if not community_list.rules or not all(communities for _, communities in community_list.rules):
            raise unsupported_error(path, "a rule names a community, and a list has a rule")
        for _, communities in community_list.rules if community_list.expanded else ():
            if len(communities) != 1 or reason_unwritable_text(communities[0]):
                raise unsupported_error(path, f"{' '.join(communities)!r} is no expression of communities")


def _check_as_path_lists(lists: tuple[AsPathList, ...]) -> None:
    check_row_names_and_order(lists, "bgp", "as_path_lists")
    for path_list in lists:
        _SCALAR_CHECK_EXCEPT_RULES.check(path_list, "bgp", "as_path_lists", path_list.name)
        path = ("bgp", "as_path_lists", path_list.name, "rules")
        if not path_list.rules:
            raise unsupported_error(path, "a list without rules is no list")
        for _, expression in path_list.rules:
            if not _AS_PATH_REGEX_PATTERN.fullmatch(expression) or reason_unwritable_text(expression):
                raise unsupported_error(path, f"{expression!r} is no expression of AS paths")


def _check_route_maps(maps: tuple[RouteMap, ...]) -> None:
    check_row_names_and_order(maps, "bgp", "route_maps")
    for route_map in maps:
        path = ("bgp", "route_maps", route_map.name, "rules")
        if not route_map.rules:
            raise unsupported_error(path, "a route map without rules is no route map")
        check_row_names_and_order(route_map.rules, *path, order=lambda rule: rule.sequence)
        for rule in route_map.rules:
            where = (*path, rule.sequence)
            check_range(rule.sequence, 1, _LARGEST_SEQUENCE, *where, "sequence")
            for name, known_attributes in (
                ("matches", ROUTE_MAP_MATCHES),
                ("sets", (*ROUTE_MAP_SETS, *ROUTE_MAP_FLOW_COMMANDS)),
            ):
                check_distinct([attribute for attribute, _ in getattr(rule, name)], *where, name)
                for attribute, value in getattr(rule, name):
                    if attribute not in known_attributes:
                        raise unsupported_error(
                            (*where, name), f"{attribute!r} is not one of {', '.join(known_attributes)}"
                        )
                    if reason := reason_unwritable_text(value):
                        raise unsupported_error((*where, name), reason)
                    if attribute == "call" and value == route_map.name:
                        raise unsupported_error((*where, name), "a route map does not call itself")
                    if attribute == "on-match" and rule.action == "deny":
                        raise unsupported_error((*where, name), "a route that is denied goes nowhere")
                    if attribute == "on-match" and not policy_values.is_valid_route_map_goto(rule.sequence, value):
                        raise unsupported_error(
                            (*where, name), f"{value!r} is not next or goto and the number of a later rule"
                        )


def _check_neighbor(neighbor: BgpNeighbor, *path: object) -> None:
    has_one_end = (neighbor.address is None) != (neighbor.interface is None)
    if has_one_end and is_neighbor_address(neighbor.key) != (neighbor.address is not None):
        kind = "address" if neighbor.interface is None else "interface"
        raise unsupported_error((*path, kind), f"FRR takes {neighbor.key} for something else")
    check_session_far_end(neighbor, *path)
    bindings.check_fields(frr_rows.SESSION_AND_FAMILY_COMMANDS.limited, neighbor, *path)
    bindings.check_fields(frr_rows.SESSION_FAMILY_COMMANDS.limited, neighbor.ipv6, *path, "ipv6")
