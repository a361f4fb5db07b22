"""The effect of a failure on a fabric, by computing all of it again.

That is for fabrics with a router that uses next hops that are not at the far ends of its links: whether it reaches
these depends on the routes of all others.
"""

from collections.abc import Iterator

from nodrop.model.fabric import End
from nodrop.routing.control_plane import ControlPlane
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routes import FamilyRoutes


def routes_after_failure(routes: FamilyRoutes, failed: frozenset[End]) -> FamilyRoutes:
    """Return the routes of a fabric without some ports more."""
    plane = routes.plane
    return ControlPlane(plane.index, failed | plane.failed).of(routes.family)


def find_routes_with_fewer_hops(
    routes_before: FamilyRoutes, routes: FamilyRoutes, gone: frozenset[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (router, class as a set, next hops now, next hops before) where a router that is left has fewer.

    Prefixes that a router which is `gone` originates are not missed, nor those that static routes lead to. Of a prefix
    at one of a router's ports it is the route that BGP has beside the connected one.
    """
    destinations = routes_before.world.destinations
    other_prefixes = {
        found_prefix
        for found_prefix, rows in routes_before.world.origins.items()
        if any(row[0] in gone for row in rows)
    }
    for number in routes_before.world.speakers:
        for prefix in destinations.prefixes if number not in gone else ():
            if prefix in other_prefixes:
                continue
            hops, remaining_hops = (_count_next_hops(each, number, prefix) for each in (routes_before, routes))
            if hops is not None and remaining_hops is not None and remaining_hops < hops:
                yield number, 1 << destinations.class_of[prefix], remaining_hops, hops


def _count_next_hops(routes: FamilyRoutes, number: int, prefix: Prefix) -> int | None:
    """Return how many next hops BGP has to a prefix, 0 without a route; None where it is another one."""
    route = routes.route(number, prefix)
    if route is not None and route.source == "connected":
        route = routes.learned_route(number, prefix)
    if route is None:
        return 0
    return len(route.hops) if route.source == "bgp" and not route.discard else None
