"""Sessions over which more prefixes are accepted than an end allows."""

from collections.abc import Iterable, Sequence

from nodrop.model.routing import BgpNeighbor
from nodrop.routing.convergence import ConvergedState
from nodrop.routing.routers import BgpSession, SessionSide
from nodrop.routing.words import neighbor_family_statement


def limit(neighbor: BgpNeighbor) -> bool:
    """Return whether a neighbor statement limits the prefixes that it accepts."""
    return neighbor.maximum_prefix is not None or neighbor.ipv6.maximum_prefix is not None


def sessions_over_limit(
    worlds: Iterable[ConvergedState], sessions: Sequence[BgpSession]
) -> dict[int, tuple[SessionSide, int, int]]:
    """Return the sessions over which an end accepts more prefixes than it allows: that end, its limit, and how many."""
    excess_by_session: dict[int, tuple[SessionSide, int, int]] = {}
    for state in worlds:
        family, members = state.world.family, state.world.destinations.members
        for number, speaker in state.world.speakers.items():
            for position, link in enumerate(speaker.links):
                session = sessions[link.session]
                side = session.a if session.a.router == number else session.b
                most = neighbor_family_statement(side.neighbor, family).maximum_prefix
                if most is None:
                    continue
                bits = state.accepted(number, position)
                prefix_count = sum(len(prefixes) for place, prefixes in enumerate(members) if bits >> place & 1)
                if prefix_count > most:
                    excess_by_session[link.session] = side, most, prefix_count
    return excess_by_session
