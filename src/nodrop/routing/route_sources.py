"""From which addresses a switch sends its packets by routes of BGP: `set src` of route maps."""

from collections.abc import Iterator

from nodrop.model.routing import Bgp, RouteMapRule
from nodrop.routing.prefixes import Address, AddressFamily, address
from nodrop.routing.routers import Router
from nodrop.routing.routes import RouterRoute


def find_foreign_source_rules(
    router: Router, bgp: Bgp, family: AddressFamily, name: str | None
) -> Iterator[RouteMapRule]:
    """Yield the rules of a route map that have packets sent from an address of the family that a router does not have.

    The kernel refuses such a route (Linux, net/ipv4/fib_semantics.c, fib_check_nh and fib_valid_prefsrc).
    """
    own_addresses = {str(ip) for leg in router.legs for ip in leg.addresses if ip.family == family}
    for route_map in bgp.route_maps:
        for rule in route_map.rules if route_map.name == name else ():
            source_address = address(dict(rule.sets).get("src", ""))
            if "src" in dict(rule.sets) and str(source_address) not in own_addresses:
                yield rule


def packet_sources(router: Router, route: RouterRoute) -> tuple[frozenset[Address], ...]:
    """Return the source addresses of a router's packets over a route, one set for each way that they may take.

    They are the addresses of the leg that packets leave by, or the one that a route map of zebra gives to routes of
    BGP (Linux, net/ipv4/route.c, ip_route_output_key_hash_rcu; FRR, zebra/zebra_routemap.c, set_src).
    """
    family = route.prefix.family
    legs = dict.fromkeys(hop.leg for hop in route.hops)
    of_legs = [frozenset(ip for ip in router.by_name[leg].addresses if ip.family == family) for leg in legs]
    bgp = router.bgp if route.source == "bgp" else None
    name = None if bgp is None else bgp.installed_policy if family == "ipv4" else bgp.installed_policy_ipv6
    rules = (rule for one in (() if bgp is None else bgp.route_maps) if one.name == name for rule in one.rules)
    ways: list[frozenset[Address]] = []
    for rule in rules if name is not None else ():
        source_address = address(dict(rule.sets).get("src", ""))
        if rule.action == "permit":
            ways += of_legs if source_address is None else [frozenset({source_address})]
        if not rule.matches:
            break
    return tuple(ways or of_legs)
