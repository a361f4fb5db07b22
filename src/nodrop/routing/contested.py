"""Static routes whose use depends on timing, because BGP may have a route to the same prefix."""

from collections.abc import Callable, Iterator

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.routing.originating import may_learn_local_weight_route, redistributes_static_routes
from nodrop.routing.prefixes import Prefix, parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.speakers import FamilySpeakers
from nodrop.routing.static_routes import (
    BgpRouteSource,
    bgp_administrative_distance,
    is_discard_route,
    readable_static_routes,
)


def find_timing_dependent_static_routes(
    router: VrfRouter, bgp: Bgp, world: Callable[[AddressFamily], FamilySpeakers]
) -> Iterator[tuple[StaticRoute, str]]:
    """Yield these static routes with the reason, for prefixes that others announce or that are aggregated.

    Of two routes of one distance zebra takes the one that came last (FRR, zebra/zebra_rib.c, rib_choose_best). One that
    is announced, and loses to BGP once it is not, never comes back: bgpd's own route wins over all others, but is
    there only while zebra uses the static one (bgpd/bgp_nht.c, bgp_process_nexthop_update; zebra/redistribute.c). One
    that drops its packets is there before any session, and no failure ends it.
    """
    for family in ADDRESS_FAMILIES:
        ours = {bgp_administrative_distance(bgp, family, source) for source in _possible_bgp_sources(router, bgp)}
        for route, found_prefix in readable_static_routes(router, family):
            if route.distance < min(ours) or not world(family).is_originated_elsewhere(found_prefix, router.number):
                continue
            is_own = any(number == router.number for number, *_ in world(family).origins.get(found_prefix, ()))
            if is_own and is_discard_route(route) and not _may_prefer_other_bgp_route(bgp, found_prefix):
                continue
            if route.distance in ours:
                yield route, "routes of BGP with the distance of static ones"
            elif is_own and _announces_only_while_route_used(router, bgp, found_prefix):
                yield route, "static routes that are announced and that BGP may take over from"


def _announces_only_while_route_used(router: VrfRouter, bgp: Bgp, found_prefix: Prefix) -> bool:
    """Whether a router announces a prefix only while its static route is used."""
    return redistributes_static_routes(router, found_prefix.family) or (
        bgp.import_check is not False and any(parse_prefix(network) == found_prefix for network in bgp.networks)
    )


def _may_prefer_other_bgp_route(bgp: Bgp, found_prefix: Prefix) -> bool:
    """Whether bgpd may prefer another route to a prefix that it originates: one that it learned, or an aggregate."""
    return may_learn_local_weight_route(bgp) or any(
        parse_prefix(aggregate.prefix) == found_prefix for aggregate in bgp.aggregates
    )


def _possible_bgp_sources(router: VrfRouter, bgp: Bgp) -> Iterator[BgpRouteSource]:
    """Yield where routes of BGP may come from: from the own AS only where a neighbor may be in it."""
    yield from ("external", "aggregate")
    if any(neighbor.remote_asn in (None, "internal", bgp.asn) for neighbor in router.neighbors):
        yield "internal"
