"""Aggregates that hide networks of hosts, and attract packets to hosts of other switches."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.model.index import Index
from nodrop.routing.adverts import destinations_of_parts

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield aggregates with `summary-only` that hide networks and have others inside that the switch reaches upward.

    An aggregate of all networks below a spine hides them from switches above, as intended.
    """
    for reach in route_propagations_of(index):
        for number in reach.world.speakers:
            yield from _aggregates_hiding_hosts(reach, number)


def _aggregates_hiding_hosts(reach: RoutePropagation, number: int) -> Iterator[AnalysisHit]:
    speaker = reach.world.speakers[number]
    router, own_bits = reach.plane.routers[number], destinations_of_parts(speaker.local)
    active = reach.state.originated_aggregate_bits(number)
    for summary in speaker.summaries:
        if not summary.only or not active & summary.own:
            continue
        above = reach.destinations_reached_from_above(number)
        upstream_bits = reach.wanted & summary.inside & above & ~own_bits
        hidden = reach.wanted & summary.inside & reach.destinations_with_route(number) & ~upstream_bits
        if not upstream_bits or not hidden:
            continue
        prefix = str(reach.world.destinations.prefixes_by_class[summary.own.bit_length() - 1][0])
        names, elsewhere = reach.prefixes(hidden), reach.prefixes(upstream_bits)
        count_suffix = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield AnalysisHit(
            subject=(*router.bgp_subject, "aggregates", prefix),
            facts={
                "device": router.name,
                "aggregate": prefix,
                "hidden": f"{names[0]}{count_suffix}",
                "other": str(elsewhere[0]),
            },
            left_out=names_left_out(names),
        )
