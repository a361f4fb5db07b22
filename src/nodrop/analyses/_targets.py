"""What traffic goes to: the subnets of hosts and the loopbacks of switches, with the routers that have them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from nodrop.analyses._plane import control_plane_of
from nodrop.model.addresses import ADDRESS_BITS
from nodrop.model.index import Index
from nodrop.routing import ControlPlane
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.prefixes import Prefix, network_address, parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import FamilyRoutes

MANAGEMENT_VRFS = ("mgmt", "management")


TargetKind = Literal["hosts", "loopback", "outside"]


class RoutedTarget(NamedTuple):
    """A subnet of hosts, the address of a loopback or one outside the fabric, at the router that has it."""

    prefix: Prefix
    router: int
    leg: RoutedInterface
    kind: TargetKind


def host_and_loopback_targets(index: Index) -> tuple[RoutedTarget, ...]:
    """Return the targets of routers with BGP: working legs that lead to no switch and carry no session, and loopbacks.

    Those of stand-ins are the addresses in what a neighbor outside announces.

    Of loopbacks only addresses without a separate network, which are the addresses that reach switches.
    """
    return index.compute_once("targets", lambda: tuple(_find_host_and_loopback_targets(index, control_plane_of(index))))


def _find_host_and_loopback_targets(index: Index, plane: ControlPlane) -> Iterator[RoutedTarget]:
    for router in plane.routers:
        if router.bgp is None or router.vrf in MANAGEMENT_VRFS:
            continue
        for leg in router.legs:
            loopback = leg.least == 0
            if not plane.up[router.number][leg.name] or (not loopback and _leads_to_switch(index, router, leg)):
                continue
            kind: TargetKind = "outside" if router.is_stand_in else "loopback" if loopback else "hosts"
            for address, subnet in zip(leg.addresses, leg.subnets, strict=True):
                if not address.is_link_local and (not loopback or subnet.length == ADDRESS_BITS[subnet.family]):
                    yield RoutedTarget(subnet, router.number, leg, kind)


def bridged_host_targets(index: Index) -> tuple[RoutedTarget, ...]:
    """Return the subnets of hosts in VLANs that also reach other switches; their legs have the ports to hosts alone."""
    return index.compute_once(
        "bridged targets", lambda: tuple(_find_bridged_host_targets(index, control_plane_of(index)))
    )


def _find_bridged_host_targets(index: Index, plane: ControlPlane) -> Iterator[RoutedTarget]:
    for router in plane.routers:
        if router.bgp is None or router.vrf in MANAGEMENT_VRFS:
            continue
        for leg in router.legs:
            if len(leg.ports) < 2 or leg.subject[1:2] != ("@vlans",) or not plane.up[router.number][leg.name]:
                continue
            ports = tuple(port for port in leg.ports if not _is_cabled_to_switch(index, router, port))
            carries = leg.name in router.neighbors_by_interface or not router.subnets_with_neighbors.isdisjoint(
                leg.subnets
            )
            if carries or not 0 < len(ports) < len(leg.ports):
                continue
            for address, subnet in zip(leg.addresses, leg.subnets, strict=True):
                if not address.is_link_local:
                    yield RoutedTarget(subnet, router.number, leg._replace(ports=ports), "hosts")


def _is_cabled_to_switch(index: Index, router: VrfRouter, port: str) -> bool:
    end = index.far_end(router.device.name, port)
    return end is not None and (end.node in index.devices or end.node in index.external_nodes)


def _leads_to_switch(index: Index, router: VrfRouter, leg: RoutedInterface) -> bool:
    if leg.name in router.neighbors_by_interface:
        return True
    if any(_is_cabled_to_switch(index, router, port) for port in leg.ports):
        return True
    return not router.subnets_with_neighbors.isdisjoint(leg.subnets)


class AnnouncedPrefixes:
    """The prefixes that each router puts into BGP, in one family."""

    def __init__(self, routes: FamilyRoutes) -> None:
        self.of: defaultdict[int, set[Prefix]] = defaultdict(set)
        for found_prefix, rows in routes.world.origins.items():
            for row in rows:
                self.of[row[0]].add(found_prefix)
        sum_bits = 0
        for number, speaker in routes.world.speakers.items():
            sum_bits |= routes.state.originated_aggregate_bits(number) if speaker.summaries else 0
        members = routes.world.destinations.prefixes_by_class
        sums = {member for place, own_members in enumerate(members) if sum_bits >> place & 1 for member in own_members}
        self.prefixes = frozenset(routes.world.origins.keys() | sums)
        """What anybody announces, aggregates too."""
        self._lengths = sorted({announced_prefix.length for announced_prefix in self.prefixes}, reverse=True)

    def longest_covering_prefix(self, inner: Prefix, router: int) -> Prefix | None:
        """Return the longest prefix announced by a router that contains another."""
        own_prefixes = self.of.get(router, ())
        return next(
            (
                covering_prefix
                for covering_prefix in self.find_covering_prefixes(inner)
                if covering_prefix in own_prefixes
            ),
            None,
        )

    def find_covering_prefixes(self, inner: Prefix) -> Iterator[Prefix]:
        """Yield the announced prefixes, of any router, that contain a prefix, the longest first."""
        for length in self._lengths:
            if length <= inner.length:
                wider = Prefix(inner.family, network_address(inner.family, inner.first, length), length)
                if wider in self.prefixes:
                    yield wider


def network_statement_positions(router: VrfRouter) -> Mapping[Prefix, int]:
    """Return the prefixes of a router's network statements, with their positions."""
    found_networks: dict[Prefix, int] = {}
    for position, text in enumerate(() if router.bgp is None else router.bgp.networks):
        if (network := parse_prefix(text)) is not None:
            found_networks.setdefault(network, position)
    return found_networks
