"""Announcements between routers of one AS, and a router's choice among routes of that AS and of others.

A route from the router's AS keeps its AS path, LOCAL_PREF, MED and next hop. It goes to no other router of the AS,
unless one of the two is a client of a route reflector (FRR, bgpd/bgp_route.c, subgroup_announce_check).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from nodrop.model.addresses import ADDRESS_BITS
from nodrop.routing.adverts import AdvertPart, IbgpOrMultihopSource, PathAttributes, RouteAdvert, destinations_of_parts
from nodrop.routing.decision import (
    HeardAdverts,
    LearnedTable,
    LearnedTableEntry,
    MultipathLimits,
    RouteOffer,
    decide_best_paths,
    drop_rows_losing_by_med,
    is_equal_by_med,
)
from nodrop.routing.policy import CompiledPolicy
from nodrop.routing.prefixes import Address, Prefix
from nodrop.routing.speakers import BgpSpeaker, SpeakerLink
from nodrop.routing.words import IbgpOrMultihopPeering


def accept_ibgp_or_multihop_parts(routes: Iterable[AdvertPart], peering: IbgpOrMultihopPeering) -> Iterator[AdvertPart]:
    """Yield the parts of an advert that a router accepts over a session inside its AS, or over several hops.

    It refuses routes that it has reflected or originated itself (FRR, bgpd/bgp_route.c, bgp_update).
    """
    for attributes, bits in routes:
        learned = attributes.learned or IbgpOrMultihopSource()
        if learned.originator == peering.router_id or peering.cluster in learned.clusters:
            continue
        hop = learned.hop or peering.behind
        learned = learned._replace(internal=peering.internal, client=peering.client, hop=hop)
        yield AdvertPart(attributes._replace(learned=learned), bits)


def drop_self_resolving_host_routes(
    routes: Iterable[AdvertPart], host: Callable[[Prefix], int]
) -> Iterator[AdvertPart]:
    """Yield accepted parts without a host route whose next hop is that host, unless it is from a client.

    `host` returns the class of a prefix, as a set (FRR, bgpd/bgp_nht.c, bgp_find_or_add_nexthop).
    """
    for attributes, bits in routes:
        learned = attributes.learned
        if learned is not None and learned.hop is not None and not learned.client:
            hop = learned.hop
            bits &= ~host(Prefix(hop.family, hop.number, ADDRESS_BITS[hop.family]))
        yield AdvertPart(attributes, bits)


def announce_to_ibgp_neighbor(
    speaker: BgpSpeaker,
    routes: tuple[AdvertPart, ...],
    learned_table: LearnedTable,
    hidden: int,
    outbound: CompiledPolicy,
    *,
    drained: bool,
) -> Iterator[AdvertPart]:
    """Yield a router's announcements to a neighbor of its AS: routes it originates, and its best but the `hidden`."""
    peering = outbound.peering
    assert peering is not None
    for new_route in outbound.apply_to_routes(
        tuple([route for route in routes if _may_be_advertised(route.attributes)]), destinations_of_parts(routes)
    ):
        yield _part_for_ibgp(
            new_route,
            IbgpOrMultihopSource(hop=_next_hop_after_export_policy(new_route, outbound, None)),
            drained=drained,
        )
    for entry in learned_table.entries:
        bits = entry.bits & ~hidden
        learned = entry.attributes.learned
        reflected = entry.is_internal
        if not bits or not _may_be_advertised(entry.attributes):
            continue
        if reflected and not (peering.client or (learned is not None and learned.client)):
            continue
        hop = _announced_next_hop(speaker.links, entry, outbound, reflected=reflected)
        entry_route = AdvertPart(entry.attributes, bits)
        passed = outbound.apply_to_routes((entry_route,), bits)
        if not reflected or learned is None:
            for passed_route in passed:
                told = IbgpOrMultihopSource(hop=_next_hop_after_export_policy(passed_route, outbound, hop))
                yield _part_for_ibgp(passed_route, told, drained=drained)
            continue
        originator = speaker.links[entry.hops[0]].tie[0] if learned.originator is None else learned.originator
        new_learned = IbgpOrMultihopSource(
            hop=hop, originator=originator, clusters=(peering.cluster, *learned.clusters)
        )
        yield _part_for_ibgp(AdvertPart(entry.attributes, destinations_of_parts(passed)), new_learned, drained=drained)


def _next_hop_after_export_policy(
    route: AdvertPart, outbound: CompiledPolicy, default_hop: Address | None
) -> Address | None:
    """Return the next hop of an announced route: that of a route map, which a route may go without, or the default."""
    learned = route.attributes.learned
    return learned.hop if outbound.told_hops and learned is not None else default_hop


def _may_be_advertised(attributes: PathAttributes) -> bool:
    return "no-advertise" not in attributes.communities


def _part_for_ibgp(route: AdvertPart, learned: IbgpOrMultihopSource, *, drained: bool) -> AdvertPart:
    """Return what goes to a router of the AS; one that is drained prefers nothing of it (RFC 8326)."""
    attributes, bits = route
    preference = 0 if drained else attributes.preference
    return AdvertPart(
        PathAttributes(
            attributes.path, preference, attributes.origin, attributes.med, attributes.communities, learned=learned
        ),
        bits,
    )


def _announced_next_hop(
    links: Sequence[SpeakerLink], entry: LearnedTableEntry, outbound: CompiledPolicy, *, reflected: bool
) -> Address | None:
    """Return the next hop that goes with a route; None for the router's own address.

    `next-hop-self` does not replace one that a route map set on import, unless the route goes through another (FRR,
    bgpd/bgp_route.c, subgroup_announce_check, bgp_rmap_nhop_changed).
    """
    peering = outbound.peering
    assert peering is not None
    via = entry.vias[0] if entry.vias else None
    is_kept = not outbound.has_route_map and via in links[entry.hops[0]].inbound.new_hops
    if peering.self_hop and (peering.forced or not reflected) and not is_kept:
        return None
    hop = links[entry.hops[0]].hop if via is None else via
    return hop if hop is not None and (hop.family == "ipv6") is peering.over_ipv6 else None


class InternalPathChoice:
    """Chooses among routes of the own AS and of others, with the metrics of the next hops that are reached."""

    def __init__(self, links: Sequence[SpeakerLink], limits: MultipathLimits, metrics: Mapping[Address, int]) -> None:
        self._links, self._limits, self._metrics = links, limits, metrics

    def reachable_parts(self, advert: RouteAdvert) -> tuple[AdvertPart, ...]:
        """Return the parts of an advert whose next hops can be reached."""
        return tuple(
            [route for route in advert.parts if (hop := _next_hop_of_part(route)) is None or hop in self._metrics]
        )

    def choose_best(self, offers: list[RouteOffer]) -> tuple[AdvertPart, tuple[int, ...], tuple[Address | None, ...]]:
        """Return the best of offers, and the links and next hops that are used together.

        Behind MED come: from another AS before the own one, the nearest next hop, the lowest router id, the shortest
        list of clusters, the lowest address (FRR, bgpd/bgp_route.c, bgp_path_info_cmp).
        """
        every = [(offer.parts[0], link) for offer in offers for link in offer.links]
        always = self._limits.always_med
        rows = drop_rows_losing_by_med(every, lambda row: row[0].attributes, always=always)
        rows = [row for row in rows if not _is_internal_route(row[0])] or rows
        least = min(map(self._hop_metric, rows))
        best, best_link = min(filter(lambda row: self._hop_metric(row) == least, rows), key=self._tie_break_key)
        rows = sorted(
            [
                row
                for row in every
                if is_equal_by_med(row[0].attributes, best.attributes, always=always)
                and (_is_internal_route(row[0]), self._hop_metric(row)) == (_is_internal_route(best), least)
            ],
            key=self._tie_break_key,
        )
        limits = self._limits
        internal = _is_internal_route(best)
        if limits.relaxed:
            equal = rows
        elif internal:
            equal = [row for row in rows if row[0].attributes.path == best.attributes.path]
        else:
            equal = [row for row in rows if limits.neighbors[row[1]] == limits.neighbors[best_link]]
        other_rows = sorted((self._links[link].tie[1], link, route) for route, link in equal if link != best_link)
        used: dict[tuple[int, Address | None], None] = {(best_link, _next_hop_of_part(best)): None}
        shared = {_next_hop_of_part(best)} - {None}
        for _, link, other_route in other_rows:
            hop = _next_hop_of_part(other_route)
            if hop not in shared:
                used[link, hop] = None
                shared |= {hop} - {None}
        taken = list(used)[: limits.most_internal if internal else limits.most]
        vias = tuple([hop for _, hop in taken])
        return best, tuple([link for link, _ in taken]), vias if any(vias) else ()

    def _hop_metric(self, row: tuple[AdvertPart, int]) -> int:
        hop = _next_hop_of_part(row[0])
        return 0 if hop is None else self._metrics[hop]

    def _tie_break_key(self, row: tuple[AdvertPart, int]) -> tuple[int, int, int, int]:
        route, link = row
        router_id, address = self._links[link].tie
        learned = route.attributes.learned
        if learned is None:
            return router_id, 0, address, link
        first_router_id = router_id if learned.originator is None else learned.originator
        return first_router_id, len(learned.clusters), address, link


def decide_internal_paths(speaker: BgpSpeaker, heard_adverts: Sequence[HeardAdverts]) -> LearnedTable:
    """Return the table of a router that hears routes of the same AS, or over several hops.

    A next hop can be reached over a route that has another one itself: those that are reached are found in rounds. A
    table is not settled where they come and go for ever: the best route to a next hop is one over itself, which zebra
    does not use, so that bgpd takes another, over which the next hop is reached, so that it takes the first again.
    """
    resolver, metrics = speaker.resolver, dict[Address, int]()
    table = _decide_with_metrics(speaker, heard_adverts, metrics)
    heard_routes = [heard_route for pieces in heard_adverts for advert in pieces for heard_route in advert.parts]
    hops = {hop for heard_route in heard_routes if (hop := _next_hop_of_part(heard_route)) is not None}
    if not hops or resolver is None:
        return table
    rounds = [metrics]
    while (
        metrics := resolver.next_hop_metrics(
            hops, table, speaker.local, speaker.installable_destinations, speaker.installed_aggregates(table.bits)
        )
    ) not in rounds:
        rounds.append(metrics)
        table = _decide_with_metrics(speaker, heard_adverts, metrics)
    if metrics != rounds[-1]:
        table = _decide_with_metrics(speaker, heard_adverts, metrics)
        table.is_settled = False
    return table


def _decide_with_metrics(
    speaker: BgpSpeaker, heard_adverts: Sequence[HeardAdverts], metrics: Mapping[Address, int]
) -> LearnedTable:
    """Return the table of a router that reaches the next hops with a metric."""
    choice = InternalPathChoice(speaker.links, speaker.limits, metrics)
    return decide_best_paths(heard_adverts, speaker.limits, choice)


def _next_hop_of_part(route: AdvertPart) -> Address | None:
    return None if route.attributes.learned is None else route.attributes.learned.hop


def _is_internal_route(route: AdvertPart) -> bool:
    return route.attributes.learned is not None and route.attributes.learned.internal
