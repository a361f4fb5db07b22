"""Destinations of a fabric: the addresses of hosts and loopbacks, grouped by the prefix that is announced for them."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._hosts import hosts_with_cabled_ports
from nodrop.analyses._targets import MANAGEMENT_VRFS, RoutedTarget
from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily
from nodrop.model.index import Index
from nodrop.routing import ControlPlane
from nodrop.routing.prefixes import Address, Prefix, network_address, parse_address
from nodrop.routing.routers import VrfRouter
from nodrop.routing.stand_ins import receives_prefix
from nodrop.routing.static_routes import readable_static_routes
from nodrop.routing.tiers import tier_of_device


def may_be_leaf(router: VrfRouter) -> bool:
    """Return whether hosts may be at a router: it is in the lowest tier, or in none."""
    return router.bgp is not None and router.vrf not in MANAGEMENT_VRFS and tier_of_device(router.device) in (0, None)


class RequiredDestination(NamedTuple):
    """A destination of packets: a prefix announced for hosts or a loopback, else their own subnet; with its router."""

    prefix: Prefix
    router: int
    to: tuple[Address, ...]
    """The addresses in it: of hosts whose cables are known, and the router's own where no host's is in its subnet."""
    samples: tuple[Address, ...]
    """Those of them that routers can treat differently, the first of each kind."""
    hosts: bool
    """Whether hosts may be in it, also outside the fabric; else it is a loopback's."""


def required_destinations_of(index: Index) -> list[RequiredDestination]:
    """Return what must be reached, each announced prefix of a router once."""
    return index.compute_once("aims", lambda: list(_find_required_destinations(index)))


def _find_required_destinations(index: Index) -> Iterator[RequiredDestination]:
    hosts = _host_addresses_by_switch(index)
    for reach in route_propagations_of(index):
        kinds = _AddressEquivalence(reach)
        subnets: defaultdict[int, dict[Prefix, RoutedTarget]] = defaultdict(dict)
        for target in reach.targets:
            subnets[target.router].setdefault(target.prefix, target)
        for number, targets_by_prefix in subnets.items():
            to: dict[Prefix, dict[Address, None]] = {}
            inside = _addresses_by_subnet(hosts.get(reach.plane.routers[number].device.name, ()), targets_by_prefix)
            for subnet, target in targets_by_prefix.items():
                shown = reach.announced.longest_covering_prefix(subnet, number) or subnet
                at_router = next(address for address in target.leg.addresses if subnet.contains_address(address))
                to.setdefault(shown, {}).update(dict.fromkeys(inside.get(subnet) or [at_router]))
            for outside in inside.get(None, ()):
                alone = Prefix(outside.family, outside.number, ADDRESS_BITS[outside.family])
                if (prefix := reach.announced.longest_covering_prefix(alone, number)) is not None and prefix in to:
                    to[prefix][outside] = None
            of_hosts = {
                reach.announced.longest_covering_prefix(subnet, number) or subnet
                for subnet, target in targets_by_prefix.items()
                if target.kind != "loopback"
            }
            for shown, addresses in to.items():
                samples = {kinds.equivalence_key_of_address(address): address for address in reversed(addresses)}
                yield RequiredDestination(
                    shown, number, tuple(addresses), tuple(sorted(samples.values())), shown in of_hosts
                )


def _host_addresses_by_switch(index: Index) -> Mapping[str, list[Address]]:
    """Return the addresses of the hosts that are cabled to each switch."""
    addresses: defaultdict[str, list[Address]] = defaultdict(list)
    for _, ports in hosts_with_cabled_ports(index):
        for cabled in ports:
            addresses[cabled.far.node] += [
                known_address for text in cabled.port.addresses if (known_address := parse_address(text)) is not None
            ]
    return addresses


def _addresses_by_subnet(
    addresses: Iterable[Address], subnets: Mapping[Prefix, RoutedTarget]
) -> Mapping[Prefix | None, list[Address]]:
    """Return addresses by their subnet, None for those in no subnet."""
    lookup = LongestPrefixLookup(subnets)
    addresses_by_prefix: defaultdict[Prefix | None, list[Address]] = defaultdict(list)
    for target_address in addresses:
        row = lookup(target_address)
        addresses_by_prefix[row[0] if row else None].append(target_address)
    return addresses_by_prefix


class _AddressEquivalence:
    """Which addresses every router treats alike: in the same routes, and in subnets of the same routers."""

    def __init__(self, reach: RoutePropagation) -> None:
        plane, family = reach.plane, reach.routes.family
        routes = [
            *reach.announced.prefixes,
            *(
                own_prefix
                for plane_router in plane.routers
                for _, own_prefix in readable_static_routes(plane_router, family)
            ),
        ]
        self._routes = LongestPrefixLookup(dict.fromkeys(routes))
        self._subnets: defaultdict[Prefix, list[int]] = defaultdict(list)
        for router in plane.routers:
            for leg in router.legs:
                for subnet in leg.subnets:
                    if subnet.family == family:
                        self._subnets[subnet].append(router.number)
        self._lengths = sorted({subnet.length for subnet in self._subnets})

    def equivalence_key_of_address(self, address: Address) -> Hashable:
        """Return what two addresses have in common that fare alike."""
        route = self._routes(address)
        length = route[0].length if route else -1
        subnets = (
            Prefix(address.family, network_address(address.family, address.number, own_length), own_length)
            for own_length in self._lengths
        )
        return route and route[0], tuple(
            (number, subnet.length > length) for subnet in subnets for number in self._subnets.get(subnet, ())
        )


def required_destinations_per_leaf(
    index: Index, plane: ControlPlane
) -> Iterator[tuple[VrfRouter, RequiredDestination]]:
    """Yield what must be reached from where: all that others have, from every leaf of its VRF.

    Two routers of no known tier may be spines: those with one AS number need no route to one another's loopbacks.
    """
    for router in plane.routers:
        for aim in required_destinations_of(index) if may_be_leaf(router) else ():
            owner = plane.routers[aim.router]
            is_required = is_required_at(index, router, aim.prefix) and (
                aim.hosts or not _may_be_spines_of_one_as(router, owner)
            )
            if owner is not router and owner.vrf == router.vrf and is_required:
                yield router, aim


def is_required_at(index: Index, router: VrfRouter, prefix: Prefix) -> bool:
    """Whether a router has to reach a destination: a neighbor outside only what it receives by its statement."""
    return not router.is_stand_in or receives_prefix(index.fabric, router.device.name, prefix)


def _may_be_spines_of_one_as(router: VrfRouter, other: VrfRouter) -> bool:
    is_tier_unknown = tier_of_device(router.device) is None and tier_of_device(other.device) is None
    return is_tier_unknown and router.bgp is not None and other.bgp is not None and router.bgp.asn == other.bgp.asn


class LongestPrefixLookup:
    """The routes of one router, by the longest prefix."""

    def __init__(self, rows: Mapping[Prefix, object]) -> None:
        self._rows = rows
        self._lengths: dict[AddressFamily, list[int]] = {
            family: sorted({row.length for row in rows if row.family == family}, reverse=True)
            for family in ADDRESS_FAMILIES
        }

    def __call__(self, to: Address) -> tuple[Prefix, object] | None:
        """Return the prefix that contains an address, and its row; None if no route leads there."""
        for length in self._lengths[to.family]:
            prefix = Prefix(to.family, network_address(to.family, to.number, length), length)
            if prefix in self._rows:
                return prefix, self._rows[prefix]
        return None
