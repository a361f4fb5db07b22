"""Numbered eBGP with policies at every session: what a device originates, accepts and passes on.

Spines share one AS number, so that a path down and up again (a valley, by which lossless traffic can deadlock) is
rejected as a loop (RFC 7938 §5.2). Every import honours GRACEFUL_SHUTDOWN (RFC 8326).
"""

from nodrop.design.addressing import Plan, dotted
from nodrop.design.layout import LEAF, Layout, Node
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
from nodrop.intent.schema import Intent

FABRIC, OWN, SHUTDOWN = "FABRIC", "OWN", "GSHUT"
IMPORT, EXPORT = "FABRIC-IN", "FABRIC-OUT"
GRACEFUL_SHUTDOWN = "graceful-shutdown"
DRAINED_PREFERENCE = "0"
SEQUENCE_STEP = 10


def bgp(intent: Intent, layout: Layout, plan: Plan, node: Node, asns: dict[str, int], control_dscp: int | None) -> Bgp:
    """Return a device's BGP: its own prefixes out of the leaves, those of the fabric through the spines."""
    loopback = dotted(plan.loopback(node))
    networks = (f"{loopback}/32", *((plan.endpoint_block(node),) if node.role == LEAF else ()))
    neighbors = _neighbors(layout, plan, node, asns)
    return Bgp(
        asn=asns[node.name],
        router_id=loopback,
        networks=tuple(sorted(networks)),
        maximum_paths=max(len(neighbors), 1),
        multipath_relax=True,
        session_dscp=control_dscp,
        default_ipv4_unicast=False,
        prefix_lists=_prefix_lists(intent, plan, node, networks),
        community_lists=(CommunityList(name=SHUTDOWN, rules=(("permit", (GRACEFUL_SHUTDOWN,)),)),),
        route_maps=_route_maps(node),
        neighbors=neighbors,
    )


def static_routes(plan: Plan, node: Node) -> tuple[StaticRoute, ...]:
    """Return what keeps a leaf's endpoint block in its routing table while ports come and go."""
    return (StaticRoute(prefix=plan.endpoint_block(node), next_hop="blackhole"),) if node.role == LEAF else ()


def _neighbors(layout: Layout, plan: Plan, node: Node, asns: dict[str, int]) -> tuple[BgpNeighbor, ...]:
    sessions = []
    for cable in layout.cables_of(node):
        low = plan.link(cable)
        up = node is cable.lower
        peer, port, address = (cable.upper, cable.upper_port, low + 1) if up else (cable.lower, cable.lower_port, low)
        sessions.append(
            (
                address,
                BgpNeighbor(
                    address=dotted(address),
                    remote_asn=asns[peer.name],
                    description=f"{peer.name} port {port.panel}",
                    import_policy=IMPORT,
                    export_policy=EXPORT,
                ),
            )
        )
    return tuple(neighbor for _, neighbor in sorted(sessions, key=lambda session: session[0]))


def _prefix_lists(intent: Intent, plan: Plan, node: Node, networks: tuple[str, ...]) -> tuple[PrefixList, ...]:
    loopbacks, endpoints = intent.addressing.loopbacks[0], intent.addressing.endpoints[0]
    block_length = plan.endpoint_block_length
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
