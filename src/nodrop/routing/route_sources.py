"""From which addresses a switch sends its packets: those of the interface or of others, or `set src`."""

from collections.abc import Iterator, Mapping

from nodrop.model.addresses import ADDRESS_BITS, AddressFamily
from nodrop.model.routing import Bgp, RouteMapRule
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.prefixes import Address, parse_address, parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import RouterRoute

_LABELED_IPV6_PREFIXES = tuple(
    filter(None, map(parse_prefix, ("fc00::/7", "2002::/16", "2001::/32", "2001:10::/28", "3ffe::/16", "fec0::/10")))
)
"""Prefixes whose addresses Linux sends to one another if it can (net/ipv6/addrlabel.c, ip6addrlbl_init_table)."""


def find_set_src_rules_with_foreign_address(
    router: VrfRouter, bgp: Bgp, family: AddressFamily, name: str | None
) -> Iterator[RouteMapRule]:
    """Yield the rules of a route map that have packets sent from an address of the family that a router does not have.

    The kernel refuses such a route (Linux, net/ipv4/fib_semantics.c, fib_check_nh and fib_valid_prefsrc).
    """
    named_maps = [route_map for route_map in bgp.route_maps if route_map.name == name]
    rules = [rule for route_map in named_maps for rule in route_map.rules if "src" in dict(rule.sets)]
    own_addresses = {str(ip) for leg in (router.legs if rules else ()) for ip in leg.addresses if ip.family == family}
    for rule in rules:
        if str(parse_address(dict(rule.sets)["src"])) not in own_addresses:
            yield rule


def packet_source_addresses_by_way(
    router: VrfRouter, route: RouterRoute, to: Address, up: Mapping[str, bool]
) -> tuple[frozenset[Address], ...]:
    """Return the source addresses of a router's packets over a route, one set for each way that they may take.

    They are the addresses of the leg that packets leave by, or the one that a route map of zebra gives to routes of
    BGP (Linux, net/ipv4/route.c, ip_route_output_key_hash_rcu; FRR, zebra/zebra_routemap.c, set_src). `up` gives the
    router's legs that work.
    """
    family = route.prefix.family
    legs = dict.fromkeys(hop.leg for hop in route.hops)
    of_legs = [addresses for leg in legs for addresses in _leg_sources(router, router.leg_by_name[leg], to, up)]
    bgp = router.bgp if route.source == "bgp" else None
    name = None if bgp is None else bgp.installed_policy if family == "ipv4" else bgp.installed_policy_ipv6
    rules = (rule for one in (() if bgp is None else bgp.route_maps) if one.name == name for rule in one.rules)
    ways: list[frozenset[Address]] = []
    for rule in rules if name is not None else ():
        source_address = parse_address(dict(rule.sets).get("src", ""))
        if rule.action == "permit":
            ways += of_legs if source_address is None else [frozenset({source_address})]
        if not rule.matches:
            break
    return tuple(ways or of_legs)


def _leg_sources(
    router: VrfRouter, leg: RoutedInterface, to: Address, up: Mapping[str, bool]
) -> Iterator[frozenset[Address]]:
    """Yield the addresses of packets that leave by a leg: its own, else each that Linux may take from another leg.

    A sub-interface may have addresses that are not in the model.
    """
    own_addresses = frozenset(ip for ip in leg.addresses if ip.family == to.family and not ip.is_link_local)
    if own_addresses:
        yield own_addresses
        return
    found = {
        *_source_addresses_of_other_legs(router, to, up),
        *_source_addresses_of_other_legs(router, to, dict.fromkeys(up, True)),
    }
    yield from (frozenset({ip}) for ip in sorted(found))
    if leg.tag:
        yield frozenset()


def _source_addresses_of_other_legs(router: VrfRouter, to: Address, up: Mapping[str, bool]) -> list[Address]:
    """Return the addresses that Linux may send packets from that leave by a leg without an address of the family.

    For IPv6 it takes the label of the destination, then the most leading bits in common (RFC 6724, section 5; Linux,
    net/ipv6/addrconf.c, ipv6_get_saddr_eval); for IPv4 the address of the first interface, and their order is not
    known (net/ipv4/devinet.c, inet_select_addr).
    """
    candidates = [
        (_rank_source(ip, subnet.length, to), ip)
        for leg in router.legs
        for ip, subnet in zip(leg.addresses, leg.subnets, strict=True)
        if ip.family == to.family and not ip.is_link_local and up[leg.name]
    ]
    best = max((source_rank for source_rank, _ in candidates), default=None)
    return [ip for source_rank, ip in candidates if source_rank == best]


def _rank_source(ip: Address, length: int, to: Address) -> tuple[bool, int]:
    """Return how well an address fits a destination: the label, and bits in common, of the subnet's length at most."""
    if ip.family == "ipv4":
        return True, 0
    return _source_selection_label(ip) == _source_selection_label(to), min(
        length, ADDRESS_BITS["ipv6"] - (ip.number ^ to.number).bit_length()
    )


def _source_selection_label(ip: Address) -> str:
    return next((str(labeled) for labeled in _LABELED_IPV6_PREFIXES if labeled.contains_address(ip)), "")
