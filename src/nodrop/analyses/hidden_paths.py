"""Static routes that take over from BGP and leave some of its paths to hosts and loopbacks unused."""

from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._drops import Reach, reaches
from nodrop.model.index import Index
from nodrop.model.states import those_known
from nodrop.routing.control_plane import Route
from nodrop.routing.paths import Start, Walk
from nodrop.routing.prefixes import Address, Prefix, prefix

RESTS_ON = frozenset({"cables", "roles"})
ROUTED = True


def find(index: Index) -> Iterator[Hit]:
    """Yield static routes to what others announce, or to a part of it, over fewer legs than BGP has.

    Those that drop packets to hosts, or send them round in a circle, have rules to themselves.
    """
    for reach in reaches(index):
        announced = [(one.kind, reach.announced.covering(one.prefix, one.router)) for one in reach.targets]
        wanted = sorted({found for _, found in announced if found is not None})
        hosts = {found for kind, found in announced if kind == "hosts"}
        for number in reach.world.speakers:
            for own, route in reach.routes.own(number).items():
                if route.source != "static" or reach.routes.route(number, own) != route:
                    continue
                to = next((found for found in wanted if found.covers(own)), None)
                if to is not None and not (route.discard and to in hosts):
                    yield from _hits(reach, number, route, to)


def _hits(reach: Reach, number: int, route: Route, to: Prefix) -> Iterator[Hit]:
    bit = 1 << reach.world.destinations.class_of[to]
    entry = reach.state.table(number).entry(bit.bit_length() - 1)
    if entry is None or bit & reach.own(number):
        return
    learned = {hop.leg for hop in reach.routes.hops(number, entry.hops)}
    taken = learned & {hop.leg for hop in route.hops}
    start, to_first = Start(number, None), Address(route.prefix.family, route.prefix.first)
    if taken == learned or any(way.outcome == "loop" for way in Walk(reach.plane, start, to_first).ways):
        return
    router = reach.plane.routers[number]
    rows = list(enumerate(those_known(router.device.static_routes)))
    own = [(at, row) for at, row in rows if row.vrf == router.vrf and prefix(row.prefix) == route.prefix]
    yield Hit(
        subject=(router.device.name, "@static_routes", str(own[0][0])),
        facts={
            "device": router.name,
            "prefix": str(route.prefix),
            "via": ", ".join(row.next_hop for _, row in own),
            "used": len(taken),
            "paths": len(learned),
            "to": str(to),
        },
        discriminator=str(route.prefix),
    )
