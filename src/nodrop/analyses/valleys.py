"""Ways to hosts that go down and up again while all is well, and routes that never settle."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.model.index import Index
from nodrop.routing.tiers import TierDirections

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True


def find(index: Index, *, unsettled: bool) -> Iterator[AnalysisHit]:
    """Yield switches that send up what comes from above, or those whose routes never settle (`unsettled`)."""
    for reach in route_propagations_of(index):
        yield from _unstable_route_hits(reach) if unsettled else _valley_hits(reach)


def _unstable_route_hits(reach: RoutePropagation) -> Iterator[AnalysisHit]:
    numbers = sorted(reach.state.unstable)
    if not numbers:
        return
    routers = [reach.plane.routers[number] for number in numbers]
    count_suffix = f" and {len(routers) - 1} more" if len(routers) > 1 else ""
    yield AnalysisHit(
        subject=routers[0].bgp_subject,
        facts={"devices": routers[0].name + count_suffix, "family": _render_family(reach)},
        related=tuple((router.bgp_subject, "also keeps changing its best path") for router in routers[1:3]),
        left_out=names_left_out([router.name for router in routers]),
        discriminator=reach.routes.family,
    )


def _render_family(route_reach: RoutePropagation) -> str:
    return "IPv4" if route_reach.routes.family == "ipv4" else "IPv6"


def _valley_hits(reach: RoutePropagation) -> Iterator[AnalysisHit]:
    if reach.state.unstable:
        return
    tiers = TierDirections(reach.world)
    table, local = reach.state.table, reach.state.originated_parts
    bottom_bits = {number: _upward_route_bits(reach, tiers, number) & reach.hosts for number in reach.world.speakers}
    over = tiers.destinations_by_router_pair(reach.hosts, table, local) if any(bottom_bits.values()) else {}
    for number, speaker in reach.world.speakers.items():
        bits = bottom_bits[number] & tiers.destinations_from_above(number, over)
        if not bits:
            continue
        prefixes = reach.prefixes(bits)
        entries = [entry for entry in reach.state.table(number).entries if entry.bits & bits]
        up = next(hop for hop in entries[0].hops if hop in tiers.uplink_positions(number))
        router = reach.plane.routers[number]
        link = speaker.links[up]
        shown = reach.prefixes(entries[0].bits & bits)[0]
        count_suffix = f" and {len(prefixes) - 1} more" if len(prefixes) > 1 else ""
        yield AnalysisHit(
            subject=router.subject_of_neighbor(reach.plane.side(number, link.session).neighbor),
            facts={
                "device": router.name,
                "far": reach.plane.routers[link.far].name,
                "prefix": f"{shown}{count_suffix}",
            },
            discriminator=reach.routes.family,
            left_out=names_left_out([prefix for prefix in prefixes if prefix != shown], 0),
        )


def _upward_route_bits(reach: RoutePropagation, tiers: TierDirections, number: int) -> int:
    """Return the routes that a router sends up although a router above sends them to it."""
    links = reach.world.speakers[number].links
    got = 0
    for far in {links[position].far for position in tiers.uplink_positions(number)}:
        got |= reach.destinations_reached_over(far, number)
    return got & reach.destinations_reached_from_above(number)
