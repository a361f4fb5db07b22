"""Prefixes put into BGP that do not belong there: the out-of-band network, and cables between switches."""

from collections import defaultdict
from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.analyses._targets import network_statement_positions
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.routing.originating import filter_redistributed_routes
from nodrop.routing.prefixes import Prefix, parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.words import PolicyReader

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True


def find(index: Index, *, what: str) -> Iterator[AnalysisHit]:
    """Yield routers that announce the subnet of their `management` port, or of cables between switches (`links`)."""
    for reach in route_propagations_of(index):
        if what == "links":
            yield from _announced_link_subnet_hits(reach)
            continue
        for router in reach.plane.routers:
            hit = _leaked_management_hit(reach, router)
            if hit is not None:
                yield hit


def _leaked_management_hit(reach: RoutePropagation, router: VrfRouter) -> AnalysisHit | None:
    """Return a management port in the default VRF that is redistributed, as it is connected like any other."""
    port, bgp, family = router.device.management, router.bgp, reach.routes.family
    if bgp is None or isinstance(port, Unknown) or port is None or port.own_vrf or router.vrf is not None:
        return None
    prefixes = (parse_prefix(text) for text in port.addresses)
    subnets = sorted({subnet for subnet in prefixes if subnet is not None and subnet.family == family})
    for row in bgp.redistributions:
        if row.source == "connected" and row.family == family:
            words = PolicyReader(bgp, family).of(row.policy, None, external=False)
            for leaked_prefix, _ in filter_redistributed_routes(dict.fromkeys(subnets, port.interface), words, family):
                return AnalysisHit(
                    subject=(*router.bgp_subject, "redistributions", row.key),
                    facts={"device": router.name, "port": port.interface, "prefix": str(leaked_prefix)},
                    related=(((router.device.name, "@management"), "the management port"),),
                )
    return None


def _announced_link_subnet_hits(route_reach: RoutePropagation) -> Iterator[AnalysisHit]:
    carrying: defaultdict[int, set[str]] = defaultdict(set)
    for session in route_reach.plane.sessions:
        for side in (session.a, session.b):
            carrying[side.router].add(side.leg.name)
    prefixes_by_router: defaultdict[int, list[Prefix]] = defaultdict(list)
    for subnet, rows in route_reach.world.origins.items():
        for number, _, legs in rows:
            if any(leg.name in carrying[number] for leg in legs):
                prefixes_by_router[number].append(subnet)
    for number, announced in sorted(prefixes_by_router.items()):
        router = route_reach.plane.routers[number]
        statements = network_statement_positions(router)
        subnet = min(announced, key=lambda each: (each not in statements, each))
        count_suffix = f" and {len(announced) - 1} more" if len(announced) > 1 else ""
        position = statements.get(subnet)
        path = ("redistributions", f"{subnet.family}-connected") if position is None else ("networks", str(position))
        yield AnalysisHit(
            subject=(*router.bgp_subject, *path),
            facts={"device": router.name, "prefix": str(subnet) + count_suffix},
            discriminator=subnet.family,
            left_out=names_left_out([other for other in announced if other != subnet], 0),
        )
