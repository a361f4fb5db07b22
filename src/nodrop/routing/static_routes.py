"""The static routes of a router: where they lead, and whether they are in its routing table."""

from collections.abc import Iterator, Mapping
from typing import Literal

from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.model.states import known_rows
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.prefixes import Prefix, parse_address, parse_prefix
from nodrop.routing.routers import VrfRouter


def readable_static_routes(router: VrfRouter, family: AddressFamily) -> Iterator[tuple[StaticRoute, Prefix]]:
    """Yield the static routes of a router that can be read and used, with their prefixes."""
    for route in known_rows(router.device.static_routes):
        found_prefix = parse_prefix(route.prefix)
        if (
            route.distance < MAX_ADMINISTRATIVE_DISTANCE
            and found_prefix is not None
            and found_prefix.family == family
            and route.vrf == router.vrf
        ):
            yield route, found_prefix


def is_discard_route(route: StaticRoute) -> bool:
    """Whether a static route drops its packets."""
    return route.next_hop.lower() in ("blackhole", "null0", "reject")


def find_outgoing_interface(router: VrfRouter, route: StaticRoute) -> RoutedInterface | None:
    """Return the leg over which a static route goes: as named, or that in whose subnet its next hop is."""
    leg = router.leg_by_name.get(route.next_hop)
    far = parse_address(route.next_hop)
    return leg if leg is not None or far is None else router.leg_towards(far)


def is_static_route_in_table(router: VrfRouter, route: StaticRoute, up: Mapping[str, bool]) -> bool:
    """Whether a static route is in the routing table: it drops, or the leg that it goes over works.

    One whose leg is down can be no source of BGP (FRR, zebra/zebra_nhg.c, nexthop_active_check).
    """
    leg = None if is_discard_route(route) else find_outgoing_interface(router, route)
    return is_discard_route(route) or (leg is not None and up[leg.name])


BgpRouteSource = Literal["external", "internal", "aggregate"]
_DEFAULT_DISTANCE_BY_SOURCE: Mapping[BgpRouteSource, int] = {"external": 20, "internal": 200, "aggregate": 200}
"""Of routes from other ASes, of those from the own AS and of aggregates (FRR, zebra/zebra_router.h)."""


def bgp_administrative_distance(bgp: Bgp, family: AddressFamily, source: BgpRouteSource) -> int:
    """Return the administrative distance of a route of BGP."""
    stated = bgp.distances if family == "ipv4" else bgp.distances_ipv6
    return (
        _DEFAULT_DISTANCE_BY_SOURCE[source]
        if stated is None
        else stated[list(_DEFAULT_DISTANCE_BY_SOURCE).index(source)]
    )
