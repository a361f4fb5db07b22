"""eBGP with policies at every session: the routes that a device originates, accepts and passes on.

A session uses a link's addresses and carries their family, or uses the interface and carries both (RFC 8950); either
names the neighbor's AS number, so a cable in a wrong port brings up none. bgpd has router advertisements sent for
the sessions over interfaces by itself (FRR, bgpd/bgp_zebra.c, bgp_zebra_initiate_radv). Switches of the top tier share
one AS number, so a path down and up again (a valley, where lossless traffic can deadlock) is rejected as a loop
(RFC 7938 §5.2).
Every import honours GRACEFUL_SHUTDOWN (RFC 8326).
"""

from collections.abc import Iterator, Mapping

from nodrop.design.addressing import AddressPlan, AddressPoolRange
from nodrop.design.boxes import PlannedSwitch
from nodrop.design.external_routing import ExternalRouting
from nodrop.design.policies import (
    POLICY_NAMES_BY_FAMILY,
    SEQUENCE_STEP,
    SHUTDOWN_ROUTE_MAP,
    accept_rules,
    number_prefix_rules,
)
from nodrop.design.ports import PortCables, platform_port_name
from nodrop.design.splits import SplitPort
from nodrop.intent.external import ExternalNeighbor
from nodrop.model.addresses import AddressFamily
from nodrop.model.policy_values import BANDWIDTH_BY_PATH_COUNT, LINK_BANDWIDTH
from nodrop.model.routing import (
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.subject import natural_sort_key

GRACEFUL_SHUTDOWN_COMMUNITY = "graceful-shutdown"
SET_BANDWIDTH_BY_PATH_COUNT = (LINK_BANDWIDTH, BANDWIDTH_BY_PATH_COUNT)
"""The number of equal paths as the link bandwidth of a route (RFC 10005; FRR's "Weighted ECMP using BGP link
bandwidth", which SONiC's template sets for `wcmp_enabled`). bgpd weighs paths if all equal ones have it."""
GRACEFUL_RESTART_S = 240
SELECT_DEFER_S = 45
"""SONiC's own times of a graceful restart (sonic-buildimage dockers/docker-fpm-frr/frr/bgpd/bgpd.main.conf.j2 and
files/image_config/constants/constants.yml)."""


_IPV6_CARRIED = Ipv6Unicast(
    active=True,
    import_policy=POLICY_NAMES_BY_FAMILY["ipv6"].accept,
    export_policy=POLICY_NAMES_BY_FAMILY["ipv6"].send,
)
_IPV6_NOT_CARRIED = Ipv6Unicast()


def design_bgp(
    address_plan: AddressPlan,
    node: PlannedSwitch,
    cables: PortCables,
    asns: Mapping[str, int],
    control_dscp: int | None,
    *,
    external: Mapping[str, ExternalNeighbor],
    drained: bool,
    weighted: bool,
    bfd: bool,
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
    outside = ExternalRouting(address_plan, external, cables)
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
            for prefix_list in (
                *outside.prefix_lists(family),
                *_prefix_lists(address_plan, node, family, prefixes[family], outside),
            )
        ),
        community_lists=(CommunityList(name=SHUTDOWN_ROUTE_MAP, rules=(("permit", (GRACEFUL_SHUTDOWN_COMMUNITY,)),)),),
        as_path_lists=outside.path_lists(),
        route_maps=tuple(
            sorted(
                (
                    route_map
                    for family in prefixes
                    for route_map in (
                        *outside.route_maps(family),
                        *_route_maps(node, family, outside, numbered=bool(address_plan.links), weighted=weighted),
                    )
                ),
                key=lambda route_map: route_map.name,
            )
        ),
        neighbors=tuple(
            sorted(
                (*_build_neighbors(address_plan, node, cables, asns, bfd=bfd), *outside.neighbors()),
                key=lambda neighbor: natural_sort_key(neighbor.key),
            )
        ),
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
    plan: AddressPlan, node: PlannedSwitch, cables: PortCables, asns: Mapping[str, int], *, bfd: bool
) -> Iterator[BgpNeighbor]:
    """Yield the sessions with other switches."""
    names, families = POLICY_NAMES_BY_FAMILY["ipv4"], plan.families
    for wire in cables.values():
        if wire.peer is None:
            continue
        peer, port = wire.peer
        ends: tuple[str | None, ...] = wire.far_addresses or (None,)
        for address in ends:
            old = "ipv4" in families if address is None else ":" not in address
            new = "ipv6" in families if address is None else not old
            yield BgpNeighbor(
                address=address,
                interface=platform_port_name(node, SplitPort(*wire.port, wire.splits)) if address is None else None,
                remote_asn=asns[peer.name],
                description=f"{peer.name} port {port}",
                active=old,
                bfd=bfd,
                import_policy=names.accept if old else None,
                export_policy=names.send if old else None,
                ipv6=_IPV6_CARRIED if new else _IPV6_NOT_CARRIED,
            )


def _prefix_lists(
    address_plan: AddressPlan,
    node: PlannedSwitch,
    family: AddressFamily,
    networks: tuple[str, ...],
    outside: ExternalRouting,
) -> tuple[PrefixList, ...]:
    names = POLICY_NAMES_BY_FAMILY[family]
    rules: list[tuple[str, str, int | None, int | None]] = [
        ("permit", str(pool), pool.bits, None) for pool in address_plan.loopbacks if pool.family == family
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
            rules.append(("permit", str(pool), block.prefix_length, block.prefix_length))
    rules += outside.prefixes_in_fabric(family)
    fabric = PrefixList(name=names.fabric, family=family, rules=number_prefix_rules(rules))
    if node.tier or not networks:
        return (fabric,)
    own_prefix_list = PrefixList(
        name=names.own,
        family=family,
        rules=number_prefix_rules(("permit", network, None, None) for network in networks),
    )
    return (fabric, own_prefix_list)


def _route_maps(
    node: PlannedSwitch, family: AddressFamily, outside: ExternalRouting, *, numbered: bool, weighted: bool
) -> tuple[RouteMap, ...]:
    """Return the policies for accepted and for sent routes.

    If the neighbors of a family have their own addresses, routes use these: a link-local address is resolved on
    no port that has another. If paths are weighted, a switch above the hosts' sends with each route how many equal
    paths it has; routes of the switches next to hosts have one way on, and need no weight.
    """
    names = POLICY_NAMES_BY_FAMILY[family]
    of_fabric = (names.match, names.fabric)
    accept = RouteMap(name=names.accept, rules=accept_rules(of_fabric, global_next_hops=numbered and family == "ipv6"))
    passed = (names.match, names.own) if node.tier == 0 else of_fabric
    weights = (SET_BANDWIDTH_BY_PATH_COUNT,) if weighted and node.tier else ()
    send = RouteMap(
        name=names.send,
        rules=(
            RouteMapRule(sequence=SEQUENCE_STEP, action="permit", matches=(passed,), sets=weights),
            *outside.send_rules(family, SEQUENCE_STEP),
        ),
    )
    return (accept, send)
