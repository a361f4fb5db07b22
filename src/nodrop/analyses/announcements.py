"""Prefixes that a router should put into BGP and does not: network statements without effect, hosts and loopbacks."""

from collections.abc import Iterable, Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.analyses._targets import RoutedTarget, network_statement_positions
from nodrop.model.addresses import AddressFamily, interface_of, network_of
from nodrop.model.edit import find_value
from nodrop.model.index import Index
from nodrop.model.subject import Subject
from nodrop.routing.prefixes import parse_prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.static_routes import is_discard_route, readable_static_routes

GIVES_CHANGES = True
RESTS_ON = frozenset({"cables", "hosts", "roles"})
NEEDS_ROUTING = True


def find(index: Index, *, what: str) -> Iterator[AnalysisHit]:
    """Yield `networks` statements whose prefix is not in the table, or `hosts` or a `loopback` that nothing announces.

    Hosts and loopbacks are reported if others of the tier announce theirs, once for each router. A router that
    announces a loopback may have further ones for itself: those are reported if others announce a loopback of the same
    name.
    """
    reaches = route_propagations_of(index)
    if what == "networks":
        for reach in reaches:
            yield from _ineffective_network_hits(index, reach)
        return
    missing = [row for reach in reaches for row in _missing_announcement_hits(reach, what)]
    prefixes: dict[Subject, set[str]] = {}
    for router, targets, family in missing:
        prefixes.setdefault(router.bgp_subject, set()).update(_prefixes_to_announce(router, targets, family))
    for router, targets, family in missing:
        yield _missing_announcement_hit(router, targets, family, what, prefixes[router.bgp_subject])


def _ineffective_network_hits(index: Index, reach: RoutePropagation) -> Iterator[AnalysisHit]:
    for router in reach.plane.routers:
        if router.bgp is None or router.bgp.import_check is not True or router.unknown_leg_fact_path:
            continue
        for idle_prefix, position in _ineffective_networks(reach, router):
            subject: Subject = (*router.bgp_subject, "networks", str(position))
            changes = _host_subnet_change(index, router, router.bgp.networks[position])
            yield AnalysisHit(
                subject=subject,
                at=changes[0][0] if changes else subject,
                facts={"device": router.name, "prefix": router.bgp.networks[position]},
                related=((subject, "announced here"),) if changes else (),
                discriminator=str(idle_prefix),
                changes=changes,
            )


def _host_subnet_change(index: Index, router: VrfRouter, network: str) -> tuple[tuple[Subject, object], ...]:
    """Return the change that gives a port or VLAN the announced subnet, if hosts have that and it has another part."""
    wanted = network_of(network)
    stated = (interface_of(address) for host in index.fabric.hosts for port in host.ports for address in port.addresses)
    if wanted is None or not any(own is not None and own.network == wanted for own in stated):
        return ()
    changes: list[tuple[Subject, object]] = []
    for subject in dict.fromkeys(leg.subject for leg in router.legs):
        place = (*subject, "addresses")
        found = find_value(index.fabric, place)
        addresses: tuple[str, ...] = found if isinstance(found, tuple) else ()
        for old in addresses:
            own = interface_of(old)
            if own is not None and own.version == wanted.version and own.ip in wanted and own.network != wanted:
                new = f"{own.ip}/{wanted.prefixlen}"
                changes.append((place, tuple(new if other == old else other for other in addresses)))
    return tuple(changes) if len(changes) == 1 else ()


def _ineffective_networks(reach: RoutePropagation, router: VrfRouter) -> Iterator[tuple[object, int]]:
    """Yield network statements whose prefix is neither that of a leg, even one that is down, nor of a static route."""
    known_prefixes = {subnet for leg in router.legs for subnet in leg.subnets}
    known_prefixes |= {found_prefix for _, found_prefix in readable_static_routes(router, reach.routes.family)}
    for network, position in network_statement_positions(router).items():
        if network.family == reach.routes.family and network not in known_prefixes:
            yield network, position


def _missing_announcement_hits(
    reach: RoutePropagation, kind: str
) -> Iterator[tuple[VrfRouter, list[RoutedTarget], AddressFamily]]:
    """Yield the routers with prefixes that nothing announces, those prefixes, and the address family."""
    open_: dict[int, list[RoutedTarget]] = {}
    announced_legs: set[tuple[int | None, str]] = set()
    telling: set[int] = set()
    for target in reach.targets:
        if target.kind != kind or target.router not in reach.ranks:
            continue
        if reach.announced.longest_covering_prefix(target.prefix, target.router) is not None:
            announced_legs |= {(reach.ranks[target.router], ""), (reach.ranks[target.router], target.leg.name)}
            telling.add(target.router)
        else:
            open_.setdefault(target.router, []).append(target)
    for number, rows in open_.items():
        router, tier = reach.plane.routers[number], reach.ranks[number]
        another = kind == "loopback" and number in telling
        remaining_targets = [
            row
            for row in rows
            if (tier, row.leg.name if another else "") in announced_legs
            and not _is_missing_announcement_explained(reach, router, row)
        ]
        if remaining_targets:
            yield router, remaining_targets, reach.routes.family


def _prefixes_to_announce(router: VrfRouter, targets: Iterable[RoutedTarget], family: AddressFamily) -> set[str]:
    """Return the prefixes that announce targets: of a static route to blackhole for the aggregate, where one covers."""
    static_routes = readable_static_routes(router, family)
    aggregates = [prefix for route, prefix in static_routes if prefix.length and is_discard_route(route)]
    aggregates.sort(key=lambda prefix: -prefix.length)
    covering = (next((wide for wide in aggregates if wide.covers(row.prefix)), row.prefix) for row in targets)
    return {str(prefix) for prefix in covering}


def _missing_announcement_hit(
    router: VrfRouter, targets: list[RoutedTarget], family: AddressFamily, kind: str, prefixes: set[str]
) -> AnalysisHit:
    """Return the hit for the missing prefixes of a family; one change announces the `prefixes` of all families.

    The order of network statements has no effect; sorted ones stay so.
    """
    stated = router.bgp.networks if router.bgp is not None else ()
    statements = (*stated, *sorted(prefixes - set(stated)))
    statements = tuple(sorted(statements)) if list(stated) == sorted(stated) else statements
    return AnalysisHit(
        subject=router.bgp_subject,
        at=(*router.bgp_subject, "networks"),
        facts={
            "device": router.name,
            "prefix": str(targets[0].prefix),
            "leg": targets[0].leg.name,
            "more": f" and {len(targets) - 1} more" if len(targets) > 1 else "",
            "prefixes": ", ".join(sorted(_prefixes_to_announce(router, targets, family))),
        },
        related=((targets[0].leg.subject, "where it is"),),
        discriminator=f"{kind} {family}",
        left_out=names_left_out([target.prefix for target in targets]),
        changes=(((*router.bgp_subject, "networks"), statements),) if router.bgp is not None else (),
    )


def _is_missing_announcement_explained(reach: RoutePropagation, router: VrfRouter, target: RoutedTarget) -> bool:
    """Whether a statement is there though without effect, or another router announces more than a default route."""
    texts = () if router.bgp is None else router.bgp.networks
    if any((stated := parse_prefix(text)) is not None and stated.covers(target.prefix) for text in texts):
        return True
    return any(wider.length for wider in reach.announced.find_covering_prefixes(target.prefix))
