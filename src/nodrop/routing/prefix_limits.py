"""Sessions over which more prefixes are accepted than an end allows."""

from collections.abc import Iterable, Iterator, Sequence

from nodrop.model.routing import BgpNeighbor
from nodrop.routing.convergence import ConvergedState
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routers import BgpSession, SessionSide
from nodrop.routing.words import neighbor_family_statement


def has_prefix_limit(neighbor: BgpNeighbor) -> bool:
    """Return whether a neighbor statement limits the prefixes that it accepts."""
    return neighbor.maximum_prefix is not None or neighbor.ipv6.maximum_prefix is not None


def sessions_over_limit(
    worlds: Iterable[ConvergedState], sessions: Sequence[BgpSession]
) -> dict[int, tuple[SessionSide, int, int]]:
    """Return the sessions over which an end accepts more prefixes than it allows: that end, its limit, and how many."""
    excess_by_session: dict[int, tuple[SessionSide, int, int]] = {}
    for state in worlds:
        family, members = state.world.family, state.world.destinations.prefixes_by_class
        for number, speaker in state.world.speakers.items():
            for position, link in enumerate(speaker.links):
                session = sessions[link.session]
                side = session.a if session.a.router == number else session.b
                most = neighbor_family_statement(side.neighbor, family).maximum_prefix
                if most is None:
                    continue
                bits = state.accepted_destination_bits(number, position)
                prefix_count = sum(len(prefixes) for place, prefixes in enumerate(members) if bits >> place & 1)
                if prefix_count > most:
                    excess_by_session[link.session] = side, most, prefix_count
    return excess_by_session


def find_sides_keeping_lost_routes(
    before: Sequence[ConvergedState],
    after: Sequence[ConvergedState],
    sessions_before: Sequence[BgpSession],
    sessions: Sequence[BgpSession],
) -> Iterator[SessionSide]:
    """Yield the ends of sessions whose neighbor may keep routes that a session brought until it went over its limit.

    bgpd announces its table to a new neighbor after 1.3 s; until then it withdraws nothing from it, and afterwards only
    what is in the table. A route that a refresh announced meanwhile stays, if it is gone (FRR before 10.3,
    bgpd/bgp_updgrp_adv.c, group_announce_route_walkcb and subgroup_announce_table). A route map at either end asks for
    a refresh at the start (bgpd/bgp_routemap.c, bgp_route_map_process_update).
    """
    for first, last in zip(before, after, strict=True):
        family = first.world.family
        for number, speaker in first.world.speakers.items():
            lost = _learned_prefixes(first, number) - _learned_prefixes(last, number)
            lost_bits = first.world.destinations.class_bits_of_prefixes(lost) if lost else 0
            for link in speaker.links if lost_bits else ():
                session = sessions_before[link.session]
                near, far = (session.a, session.b) if session.a.router == number else (session.b, session.a)
                told = (advert.bits for advert in first.sent_adverts(number, link.outbound.number))
                has_map = (
                    neighbor_family_statement(near.neighbor, family).export_policy is not None
                    or neighbor_family_statement(far.neighbor, family).import_policy is not None
                )
                if has_map and session in sessions and any(bits & lost_bits for bits in told):
                    yield near


def _learned_prefixes(state: ConvergedState, number: int) -> set[Prefix]:
    """Return the prefixes that a router has learned."""
    bits, members = state.table(number).bits, state.world.destinations.prefixes_by_class
    return {prefix for place, prefixes in enumerate(members) if bits >> place & 1 for prefix in prefixes}
