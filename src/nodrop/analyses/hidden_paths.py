"""Static routes that take over from BGP and leave some of its paths to hosts and loopbacks unused."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.model.index import Index
from nodrop.model.routing import StaticRoute, format_next_hop
from nodrop.model.states import known_rows
from nodrop.routing.paths import PathStart, PathWalk
from nodrop.routing.prefixes import Address, Prefix, parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import RouterRoute

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield static routes to prefixes that others announce, or to a part of them, over fewer legs than BGP has.

    Those that drop packets to hosts, or send them round in a circle, have separate rules. One to a part of what a
    neighbor outside announces, such as the default route, is the switch's own affair.
    """
    for reach in route_propagations_of(index):
        announced = [
            (target.kind, reach.announced.longest_covering_prefix(target.prefix, target.router))
            for target in reach.targets
        ]
        wanted_prefixes = {
            found_prefix for kind, found_prefix in announced if found_prefix is not None and kind != "outside"
        }
        outside = {found_prefix for kind, found_prefix in announced if kind == "outside"}
        hosts = {found_prefix for kind, found_prefix in announced if kind == "hosts"}
        for number in reach.world.speakers:
            for own_prefix, rows in _group_static_routes(reach.plane.routers[number]).items():
                route = reach.routes.non_bgp_routes(number).get(own_prefix)
                if route is None or route.source != "static":
                    continue
                around = [
                    covering_prefix
                    for covering_prefix in reach.announced.find_covering_prefixes(own_prefix)
                    if covering_prefix in wanted_prefixes or (covering_prefix == own_prefix and own_prefix in outside)
                ]
                if around and not (route.discard and around[-1] in hosts):
                    yield from _hidden_path_hits(reach, number, route, around[-1], rows)


def _group_static_routes(router: VrfRouter) -> Mapping[Prefix, Sequence[tuple[int, StaticRoute]]]:
    """Return the static routes of a router with their positions, by prefix."""
    static_routes: defaultdict[Prefix, list[tuple[int, StaticRoute]]] = defaultdict(list)
    for at, row in enumerate(known_rows(router.device.static_routes)):
        if row.vrf == router.vrf and (to := parse_prefix(row.prefix)) is not None:
            static_routes[to].append((at, row))
    return static_routes


def _hidden_path_hits(
    reach: RoutePropagation, number: int, route: RouterRoute, to: Prefix, rows: Sequence[tuple[int, StaticRoute]]
) -> Iterator[AnalysisHit]:
    bit = 1 << reach.world.destinations.class_of[to]
    entry = reach.state.table(number).entry_of_class(bit.bit_length() - 1)
    if entry is None or bit & reach.destinations_announced_by(number):
        return
    learned = {hop.leg for hop in reach.routes.next_hops_at_links(number, entry.hops)}
    taken = learned & {hop.leg for hop in route.hops}
    start, to_first = PathStart(number, None), Address(route.prefix.family, route.prefix.first)
    if taken == learned or any(path.outcome == "loop" for path in PathWalk(reach.plane, start, to_first).ways):
        return
    router = reach.plane.routers[number]
    yield AnalysisHit(
        subject=(router.device.name, "@static_routes", str(rows[0][0])),
        facts={
            "device": router.name,
            "vrf": router.vrf or "default",
            "prefix": str(route.prefix),
            "via": ", ".join(row.next_hop for _, row in rows),
            "hop": ", ".join(format_next_hop(row) for _, row in rows),
            "used": len(taken),
            "paths": len(learned),
            "to": str(to),
        },
        discriminator=str(route.prefix),
    )
