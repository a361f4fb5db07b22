"""Numbered eBGP with policies at every session: what a device originates, accepts and passes on.

Spines share one AS number, so that a path down and up again (a valley, by which lossless traffic can deadlock) is
rejected as a loop (RFC 7938 §5.2). Every import honours GRACEFUL_SHUTDOWN (RFC 8326).
"""

from collections.abc import Mapping

from nodrop.design.addressing import Plan, dotted
from nodrop.design.boxes import LEAF, Node
from nodrop.design.ports import Wires
from nodrop.fabric.routing import (
    Bgp,
    BgpNeighbor,
    CommunityList,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)

FABRIC, OWN, SHUTDOWN = "FABRIC", "OWN", "GSHUT"
IMPORT, EXPORT = "FABRIC-IN", "FABRIC-OUT"
GRACEFUL_SHUTDOWN = "graceful-shutdown"
DRAINED_PREFERENCE = "0"
SEQUENCE_STEP = 10


def bgp(
    plan: Plan, node: Node, cables: Wires, asns: Mapping[str, int], control_dscp: int | None, *, drained: bool
) -> Bgp:
    """Return a device's BGP: its own prefixes out of the leaves, those of the fabric through the spines.

    It takes as many equal paths as it has ports, so that a switch more in the fabric changes nothing here. One that
    is drained keeps its sessions and marks all it sends, and the others route around it.
    """
    loopback = dotted(plan.loopback(node))
    networks = (f"{loopback}/32", *((str(plan.endpoint_block(node)),) if node.role == LEAF else ()))
    return Bgp(
        asn=asns[node.name],
        router_id=loopback,
        networks=tuple(sorted(networks)),
        maximum_paths=node.paths,
        multipath_relax=True,
        session_dscp=control_dscp,
        default_ipv4_unicast=False,
        graceful_shutdown=drained,
        prefix_lists=_prefix_lists(plan, node, networks),
        community_lists=(CommunityList(name=SHUTDOWN, rules=(("permit", (GRACEFUL_SHUTDOWN,)),)),),
        route_maps=_route_maps(node),
        neighbors=_neighbors(cables, asns),
    )


def static_routes(plan: Plan, node: Node) -> tuple[StaticRoute, ...]:
    """Return what keeps a leaf's endpoint block in its routing table while ports come and go."""
    return (StaticRoute(prefix=str(plan.endpoint_block(node)), next_hop="blackhole"),) if node.role == LEAF else ()


def _neighbors(cables: Wires, asns: Mapping[str, int]) -> tuple[BgpNeighbor, ...]:
    sessions = [(wire.far_address, *wire.peer) for wire in cables.values() if wire.peer]
    return tuple(
        BgpNeighbor(
            address=dotted(address),
            remote_asn=asns[peer.name],
            description=f"{peer.name} port {port}",
            import_policy=IMPORT,
            export_policy=EXPORT,
        )
        for address, peer, port in sorted(sessions, key=lambda session: session[0])
    )


def _prefix_lists(plan: Plan, node: Node, networks: tuple[str, ...]) -> tuple[PrefixList, ...]:
    loopbacks, endpoints = str(plan.loopbacks), str(plan.endpoints)
    block_length = plan.endpoint_block(node).prefix_length
    fabric = PrefixList(
        name=FABRIC,
        family="ipv4",
        rules=(
            PrefixRule(sequence=SEQUENCE_STEP, action="permit", prefix=loopbacks, ge=32),
            PrefixRule(sequence=2 * SEQUENCE_STEP, action="permit", prefix=endpoints, ge=block_length, le=block_length),
        ),
    )
    if node.role != LEAF:
        return (fabric,)
    own = PrefixList(
        name=OWN,
        family="ipv4",
        rules=tuple(
            PrefixRule(sequence=SEQUENCE_STEP * number, action="permit", prefix=prefix)
            for number, prefix in enumerate(networks, 1)
        ),
    )
    return (fabric, own)


def _route_maps(node: Node) -> tuple[RouteMap, ...]:
    of_fabric = ("ip address prefix-list", FABRIC)
    accept = RouteMap(
        name=IMPORT,
        rules=(
            RouteMapRule(
                sequence=SEQUENCE_STEP,
                action="permit",
                matches=(("community", SHUTDOWN), of_fabric),
                sets=(("local-preference", DRAINED_PREFERENCE),),
            ),
            RouteMapRule(sequence=2 * SEQUENCE_STEP, action="permit", matches=(of_fabric,)),
        ),
    )
    passed = ("ip address prefix-list", OWN) if node.role == LEAF else of_fabric
    send = RouteMap(name=EXPORT, rules=(RouteMapRule(sequence=SEQUENCE_STEP, action="permit", matches=(passed,)),))
    return (accept, send)
