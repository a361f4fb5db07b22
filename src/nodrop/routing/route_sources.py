"""From which addresses a switch sends its packets by routes of BGP: `set src` of route maps."""

from collections.abc import Iterator

from nodrop.model.routing import Bgp, RouteMapRule
from nodrop.routing.prefixes import Family, address
from nodrop.routing.routers import Router


def foreign_sources(router: Router, bgp: Bgp, family: Family, name: str | None) -> Iterator[RouteMapRule]:
    """Yield the rules of a route map that have packets sent from an address of the family that a router does not have.

    The kernel refuses such a route (Linux, net/ipv4/fib_semantics.c, fib_check_nh and fib_valid_prefsrc).
    """
    own_addresses = {str(ip) for leg in router.legs for ip in leg.addresses if ip.family == family}
    for route_map in bgp.route_maps:
        for rule in route_map.rules if route_map.name == name else ():
            source_address = address(dict(rule.sets).get("src", ""))
            if "src" in dict(rule.sets) and str(source_address) not in own_addresses:
                yield rule
