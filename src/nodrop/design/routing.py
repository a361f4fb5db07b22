"""eBGP with policies at every session: the routes that a device originates, accepts and passes on.

A session uses a link's addresses and carries their family, or uses the interface and carries both (RFC 8950); either
names the neighbor's AS number, so a cable in a wrong port brings up none. bgpd has router advertisements sent for
the sessions over interfaces by itself (FRR, bgpd/bgp_zebra.c, bgp_zebra_initiate_radv). Switches of the top tier share
one AS number, so a path down and up again (a valley, where lossless traffic can deadlock) is rejected as a loop
(RFC 7938 §5.2).
Every import honours GRACEFUL_SHUTDOWN (RFC 8326).
"""

from collections.abc import Mapping
from typing import NamedTuple

from nodrop.design.addressing import AddressFamily, AddressPlan, AddressPoolRange
from nodrop.design.boxes import PlannedSwitch
from nodrop.design.ports import PortCables, platform_port_name
from nodrop.design.splits import SplitPort
from nodrop.model.routing import (
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.subject import natural_sort_key

SHUTDOWN_ROUTE_MAP = "GSHUT"
GRACEFUL_SHUTDOWN_COMMUNITY = "graceful-shutdown"
DRAINED_LOCAL_PREFERENCE = "0"
SET_PREFER_GLOBAL_NEXT_HOP = ("ipv6 next-hop", "prefer-global")
SET_BANDWIDTH_BY_PATH_COUNT = ("extcommunity bandwidth", "num-multipaths")
"""The number of equal paths as the link bandwidth of a route (RFC 10005; FRR's "Weighted ECMP using BGP link
bandwidth", which SONiC's template sets for `wcmp_enabled`). bgpd weighs paths if all equal ones have it."""
SEQUENCE_STEP = 10
GRACEFUL_RESTART_S = 240
SELECT_DEFER_S = 45
"""SONiC's own times of a graceful restart (sonic-buildimage dockers/docker-fpm-frr/frr/bgpd/bgpd.main.conf.j2 and
files/image_config/constants/constants.yml)."""


class _PolicyNames(NamedTuple):
    """How the policies of a family are called."""

    fabric: str
    own: str
    accept: str
    send: str
    match: str


_POLICY_NAMES_BY_FAMILY: Mapping[AddressFamily, _PolicyNames] = {
    "ipv4": _PolicyNames("FABRIC", "OWN", "FABRIC-IN", "FABRIC-OUT", "ip address prefix-list"),
    "ipv6": _PolicyNames("FABRIC6", "OWN6", "FABRIC6-IN", "FABRIC6-OUT", "ipv6 address prefix-list"),
}
_IPV6_CARRIED = Ipv6Unicast(
    active=True,
    import_policy=_POLICY_NAMES_BY_FAMILY["ipv6"].accept,
    export_policy=_POLICY_NAMES_BY_FAMILY["ipv6"].send,
)
_IPV6_NOT_CARRIED = Ipv6Unicast()


def design_bgp(
    address_plan: AddressPlan,
    node: PlannedSwitch,
    cables: PortCables,
    asns: Mapping[str, int],
    control_dscp: int | None,
    *,
    drained: bool,
    weighted: bool,
) -> Bgp:
    """Return a device's BGP: its own prefixes out of the leaves, those of the fabric through the spines.

    It takes as many equal paths as it has ports, so one switch more in the fabric changes nothing here. A drained
    device keeps its sessions and marks all that it sends, and the others route around it. Each announces only routes
    that its hardware has, so no packets come before their route. Leaves restart gracefully, because there is no other
    way to their hosts. A spine does not: the others of its tier carry its traffic, and stale routes would keep it
    there.
    """
    groups = sorted({wire.group for wire in cables.values()} & address_plan.vlans.keys())
    subnets = tuple(block for group in groups for block in address_plan.vlan_blocks(group, node))
    is_lowest = node.tier == 0
    prefixes = {family: _originated_prefixes(address_plan, node, family, subnets) for family in address_plan.families}
    return Bgp(
        asn=asns[node.name],
        router_id=address_plan.router_id(node),
        networks=tuple(network for networks in prefixes.values() for network in networks),
        maximum_paths=node.paths if "ipv4" in prefixes else None,
        maximum_paths_ipv6=node.paths if "ipv6" in prefixes else None,
        multipath_relax=True,
        session_dscp=control_dscp,
        default_ipv4_unicast=False,
        suppress_fib_pending=True,
        graceful_restart=is_lowest,
        preserve_forwarding=is_lowest,
        restart_s=GRACEFUL_RESTART_S if is_lowest else None,
        select_defer_s=SELECT_DEFER_S if is_lowest else None,
        graceful_shutdown=drained,
        prefix_lists=tuple(
            prefix_list
            for family in prefixes
            for prefix_list in _prefix_lists(address_plan, node, family, prefixes[family])
        ),
        community_lists=(CommunityList(name=SHUTDOWN_ROUTE_MAP, rules=(("permit", (GRACEFUL_SHUTDOWN_COMMUNITY,)),)),),
        route_maps=tuple(
            route_map
            for family in prefixes
            for route_map in _route_maps(node, family, numbered=bool(address_plan.links), weighted=weighted)
        ),
        neighbors=_build_neighbors(address_plan, node, cables, asns),
    )


def _originated_prefixes(
    plan: AddressPlan, node: PlannedSwitch, family: AddressFamily, subnets: tuple[AddressPoolRange, ...]
) -> tuple[str, ...]:
    """Return the prefixes that a device announces: its loopback, and its hosts' of a leaf, VLANs included."""
    of_family = [network for network in plan.loopback(node) if (":" in network) == (family == "ipv6")]
    if node.tier == 0:
        of_family += [str(block) for block in (*plan.endpoint_blocks(node), *subnets) if block.family == family]
    return tuple(sorted(of_family))


def design_blackhole_routes(address_plan: AddressPlan, node: PlannedSwitch) -> tuple[StaticRoute, ...]:
    """Return what keeps a leaf's endpoint blocks in its routing table while ports come and go."""
    blocks = sorted(map(str, address_plan.endpoint_blocks(node))) if node.tier == 0 else ()
    return tuple(StaticRoute(prefix=block, next_hop="blackhole") for block in blocks)


def _build_neighbors(
    plan: AddressPlan, node: PlannedSwitch, cables: PortCables, asns: Mapping[str, int]
) -> tuple[BgpNeighbor, ...]:
    names, families = _POLICY_NAMES_BY_FAMILY["ipv4"], plan.families
    neighbors = []
    for wire in cables.values():
        if wire.peer is None:
            continue
        peer, port = wire.peer
        ends: tuple[str | None, ...] = wire.far_addresses or (None,)
        for address in ends:
            old = "ipv4" in families if address is None else ":" not in address
            new = "ipv6" in families if address is None else not old
            neighbors.append(
                BgpNeighbor(
                    address=address,
                    interface=platform_port_name(node, SplitPort(*wire.port, wire.splits)) if address is None else None,
                    remote_asn=asns[peer.name],
                    description=f"{peer.name} port {port}",
                    active=old,
                    import_policy=names.accept if old else None,
                    export_policy=names.send if old else None,
                    ipv6=_IPV6_CARRIED if new else _IPV6_NOT_CARRIED,
                )
            )
    return tuple(sorted(neighbors, key=lambda neighbor: natural_sort_key(neighbor.key)))


def _prefix_lists(
    address_plan: AddressPlan, node: PlannedSwitch, family: AddressFamily, networks: tuple[str, ...]
) -> tuple[PrefixList, ...]:
    names = _POLICY_NAMES_BY_FAMILY[family]
    rules: list[tuple[AddressPoolRange, int, int | None]] = [
        (pool, pool.bits, None) for pool in address_plan.loopbacks if pool.family == family
    ]
    of_hosts = [
        (pool, block) for pool, block in zip(address_plan.endpoints, address_plan.endpoint_blocks(node), strict=True)
    ]
    of_hosts += [
        pair
        for group, pools in address_plan.vlans.items()
        for pair in zip(pools, address_plan.vlan_blocks(group, node), strict=True)
    ]
    for pool, block in of_hosts:
        if pool.family == family:
            rules.append((pool, block.prefix_length, block.prefix_length))
    fabric = PrefixList(
        name=names.fabric,
        family=family,
        rules=tuple(
            PrefixRule(sequence=SEQUENCE_STEP * number, action="permit", prefix=str(pool), ge=least, le=most)
            for number, (pool, least, most) in enumerate(rules, 1)
        ),
    )
    if node.tier or not networks:
        return (fabric,)
    own_prefix_list = PrefixList(
        name=names.own,
        family=family,
        rules=tuple(
            PrefixRule(sequence=SEQUENCE_STEP * number, action="permit", prefix=prefix)
            for number, prefix in enumerate(networks, 1)
        ),
    )
    return (fabric, own_prefix_list)


def _route_maps(node: PlannedSwitch, family: AddressFamily, *, numbered: bool, weighted: bool) -> tuple[RouteMap, ...]:
    """Return the policies for accepted and for sent routes.

    If the neighbors of a family have their own addresses, routes use these: a link-local address is resolved on
    no port that has another. If paths are weighted, a switch above the hosts' sends with each route how many equal
    paths it has; routes of the switches next to hosts have one way on, and need no weight.
    """
    names = _POLICY_NAMES_BY_FAMILY[family]
    of_fabric = (names.match, names.fabric)
    always = (SET_PREFER_GLOBAL_NEXT_HOP,) if numbered and family == "ipv6" else ()
    accept = RouteMap(
        name=names.accept,
        rules=(
            RouteMapRule(
                sequence=SEQUENCE_STEP,
                action="permit",
                matches=(("community", SHUTDOWN_ROUTE_MAP), of_fabric),
                sets=(*always, ("local-preference", DRAINED_LOCAL_PREFERENCE)),
            ),
            RouteMapRule(sequence=2 * SEQUENCE_STEP, action="permit", matches=(of_fabric,), sets=always),
        ),
    )
    passed = (names.match, names.own) if node.tier == 0 else of_fabric
    weights = (SET_BANDWIDTH_BY_PATH_COUNT,) if weighted and node.tier else ()
    send = RouteMap(
        name=names.send,
        rules=(RouteMapRule(sequence=SEQUENCE_STEP, action="permit", matches=(passed,), sets=weights),),
    )
    return (accept, send)
