"""From which addresses a switch sends its packets by routes of BGP: `set src` of route maps."""

from collections.abc import Iterator

from nodrop.model.routing import Bgp, RouteMapRule
from nodrop.routing.prefixes import Family, address
from nodrop.routing.routers import Router


def foreign_sources(router: Router, bgp: Bgp, family: Family, name: str | None) -> Iterator[RouteMapRule]:
    """Yield the rules of a route map that have packets sent from an address of the family that a router does not have.

    The kernel refuses such a route (Linux, net/ipv4/fib_semantics.c, fib_check_nh and fib_valid_prefsrc).
    """
    own = {str(one) for leg in router.legs for one in leg.addresses if one.family == family}
    for route_map in bgp.route_maps:
        for rule in route_map.rules if route_map.name == name else ():
            said = address(dict(rule.sets).get("src", ""))
            if "src" in dict(rule.sets) and str(said) not in own:
                yield rule
