"""The effect of a failure on a fabric, by computing all of it again.

That is for fabrics with a router that uses next hops that are not at the far ends of its links: whether it reaches
these depends on the routes of all others.
"""

from collections.abc import Iterator

from nodrop.model.fabric import End
from nodrop.routing.control_plane import ControlPlane
from nodrop.routing.routes import FamilyRoutes, RouterRoute


def routes_after_failure(routes: FamilyRoutes, failed: frozenset[End]) -> FamilyRoutes:
    """Return the routes of a fabric without some ports more."""
    plane = routes.plane
    return ControlPlane(plane.index, failed | plane.failed).of(routes.family)


def find_reduced_routes(
    routes_before: FamilyRoutes, routes: FamilyRoutes, gone: frozenset[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield (router, class as a set, next hops now, next hops before) where a router that is left has fewer.

    Prefixes that a router which is `gone` originates are not missed, nor those that are no longer a matter of BGP.
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
            hops, remaining_hops = (
                _count_next_hops(routes_before.route(number, prefix)),
                _count_next_hops(routes.route(number, prefix)),
            )
            if hops is not None and remaining_hops is not None and remaining_hops < hops:
                yield number, 1 << destinations.class_of[prefix], remaining_hops, hops


def _count_next_hops(route: RouterRoute | None) -> int | None:
    """Return how many next hops a route of BGP has, 0 without a route; None for one of another source."""
    if route is None:
        return 0
    return len(route.hops) if route.source == "bgp" and not route.discard else None
