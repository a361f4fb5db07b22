"""Static routes that drop packets to hosts of another switch, and subnets of hosts that two switches have."""

from bisect import bisect_left
from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.analyses._separate_subnets import are_surely_separate
from nodrop.analyses._targets import RoutedTarget
from nodrop.model.addresses import ADDRESS_BITS
from nodrop.model.index import Index
from nodrop.model.states import known_rows
from nodrop.routing.prefixes import Prefix, network_address, parse_prefix

RESTS_ON = frozenset({"cables", "hosts"})
NEEDS_ROUTING = True

_VLAN_NAME_START = "VLAN "


def find(index: Index, *, twice: bool) -> Iterator[AnalysisHit]:
    """Yield subnets of hosts at two switches (`twice`), or the routes that drop packets to another switch's hosts."""
    for reach in route_propagations_of(index):
        hosts = sorted((target for target in reach.targets if target.kind == "hosts"), key=lambda target: target.prefix)
        yield from _duplicate_subnet_hits(index, reach, hosts) if twice else _dropping_static_route_hits(reach, hosts)


def _duplicate_subnet_hits(index: Index, reach: RoutePropagation, hosts: list[RoutedTarget]) -> Iterator[AnalysisHit]:
    first_target: dict[tuple[str | None, Prefix], RoutedTarget] = {}
    routers = reach.plane.routers
    for host in hosts:
        earlier = first_target.setdefault((routers[host.router].vrf, host.prefix), host)
        if earlier.router == host.router:
            continue
        vlans = all(target.leg.name.startswith(_VLAN_NAME_START) for target in (earlier, host))
        if vlans and not are_surely_separate(
            index, (routers[earlier.router].device, earlier.leg), (routers[host.router].device, host.leg)
        ):
            continue
        if not vlans and not set(earlier.leg.addresses).isdisjoint(host.leg.addresses):
            continue
        yield AnalysisHit(
            subject=host.leg.subject,
            at=(*host.leg.subject, "addresses"),
            facts={
                "device": routers[host.router].name,
                "leg": host.leg.name,
                "prefix": str(host.prefix),
                "other": routers[earlier.router].name,
                "there": earlier.leg.name,
            },
            related=(((*earlier.leg.subject, "addresses"), "the same subnet"),),
        )


def _dropping_static_route_hits(reach: RoutePropagation, hosts: list[RoutedTarget]) -> Iterator[AnalysisHit]:
    firsts = [host.prefix.first for host in hosts]
    for router in reach.plane.routers:
        if router.bgp is None:
            continue
        positions: dict[Prefix | None, int] = {}
        for at, row in enumerate(known_rows(router.device.static_routes)):
            if row.vrf == router.vrf:
                positions.setdefault(parse_prefix(row.prefix), at)
        for found_prefix, route in reach.routes.non_bgp_routes(router.number).items():
            if not route.discard:
                continue
            end = bisect_left(
                firsts, found_prefix.first + (1 << (ADDRESS_BITS[found_prefix.family] - found_prefix.length))
            )
            inside = hosts[bisect_left(firsts, found_prefix.first) : end]
            gone = [target for target in inside if _drops_target(reach, router.number, found_prefix, target)]
            if gone:
                where = reach.plane.routers[gone[0].router]
                count_suffix = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
                announces = " and announces it" if found_prefix in reach.announced.of.get(router.number, ()) else ""
                yield AnalysisHit(
                    subject=(router.device.name, "@static_routes", str(positions[found_prefix])),
                    facts={
                        "device": router.name,
                        "prefix": str(found_prefix),
                        "announces": announces,
                        "hosts": str(gone[0].prefix) + count_suffix,
                        "owner": where.name,
                    },
                    related=((gone[0].leg.subject, "where they are"),),
                    discriminator=str(found_prefix),
                    left_out=names_left_out([target.prefix for target in gone]),
                )


def _drops_target(reach: RoutePropagation, number: int, dropped: Prefix, target: RoutedTarget) -> bool:
    """Whether a router drops packets to a subnet of another, having no route to it that is longer."""
    routers = reach.plane.routers
    if target.router == number or routers[target.router].vrf != routers[number].vrf:
        return False
    if not dropped.covers(target.prefix):
        return False
    around, own_route_by_prefix = target.prefix, reach.routes.non_bgp_routes(number)
    lengths = [
        length for length in reach.routes.non_bgp_prefix_lengths(number) if dropped.length < length <= around.length
    ]
    wider = [Prefix(around.family, network_address(around.family, around.first, length), length) for length in lengths]
    for covering_prefix in (
        *(wide_prefix for wide_prefix in wider if wide_prefix in own_route_by_prefix),
        *reach.announced.find_covering_prefixes(around),
    ):
        if covering_prefix.length > dropped.length:
            route = reach.routes.route(number, covering_prefix)
            if route is not None and not route.discard:
                return False
    return True
