"""Static routes that send packets round in a circle."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._plane import control_plane_of
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.index import Index
from nodrop.routing.paths import PathStart, PathWalk
from nodrop.routing.prefixes import Address
from nodrop.routing.static_routes import readable_static_routes

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the static routes that send a packet back to a switch that it has left."""
    plane = control_plane_of(index)
    reported_circles: set[frozenset[int]] = set()
    for router in plane.routers:
        for family in ADDRESS_FAMILIES:
            for route, prefix in readable_static_routes(router, family):
                found_route = plane.of(family).non_bgp_routes(router.number).get(prefix)
                if found_route is None or all(hop.router is None for hop in found_route.hops):
                    continue
                walk = PathWalk(plane, PathStart(router.number, None), Address(family, prefix.first))
                for packet_path in walk.ways:
                    circle = packet_path.routers[packet_path.routers.index(packet_path.routers[-1]) :]
                    if packet_path.outcome != "loop" or frozenset(circle) in reported_circles:
                        continue
                    reported_circles.add(frozenset(circle))
                    yield AnalysisHit(
                        subject=(router.device.name, "@static_routes"),
                        at=(router.device.name, "@static_routes", route.prefix),
                        facts={
                            "device": router.name,
                            "prefix": str(prefix),
                            "circle": ", ".join(plane.routers[number].name for number in circle),
                        },
                        discriminator=str(prefix),
                    )
