"""Sessions that carry one family of addresses and not the other, which both ends route or originate."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.model.addresses import AddressFamily
from nodrop.model.index import Index
from nodrop.routing.routers import BgpSession, SessionSide
from nodrop.routing.words import neighbor_family_statement

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True
GIVES_CHANGES = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield each router with such sessions once for a family, at the first that it does not activate.

    Where a second session over the same leg carries the other family, or is down, that is another matter; so is a
    session over several hops, whose leg carries none. One to a neighbor outside has the family that is stated of its
    link, which need not be that of another link to it.
    """
    for reach in route_propagations_of(index):
        family, plane = reach.routes.family, reach.plane
        carrying = [side for peering in plane.sessions if family in peering.families for side in (peering.a, peering.b)]
        speaking = {side.router for side in carrying}
        speaking |= {number for number in reach.world.speakers if reach.destinations_announced_by(number)}
        covered = {(side.router, side.leg.name) for side in carrying}
        covered |= {(failure.router.number, failure.leg.name) for failure in plane.down if failure.leg is not None}
        rows: dict[int, list[SessionSide]] = {}
        for session in plane.sessions:
            if (
                session.far
                or any(plane.routers[side.router].is_stand_in for side in (session.a, session.b))
                or not session.families
                or family in session.families
                or (session.a.router, session.a.leg.name) in covered
            ):
                continue
            if {session.a.router, session.b.router} <= speaking:
                for side in _sides_without_family(session, family):
                    rows.setdefault(side.router, []).append(side)
        for number, sides in rows.items():
            router = plane.routers[number]
            count_suffix = f" and {len(sides) - 1} more" if len(sides) > 1 else ""
            first_neighbor = sides[0].neighbor
            field = ("active",) if family == "ipv4" else ("ipv6", "active")
            yield AnalysisHit(
                subject=router.bgp_subject,
                at=(*router.subject_of_neighbor(first_neighbor), *field),
                facts={
                    "device": router.name,
                    "session": first_neighbor.key + count_suffix,
                    "family": "IPv4" if family == "ipv4" else "IPv6",
                    "sessions": ", ".join(side.neighbor.key for side in sides),
                },
                discriminator=family,
                left_out=names_left_out([side.neighbor.key for side in sides]),
                changes=tuple(
                    ((*router.subject_of_neighbor(side.neighbor), *field), True)
                    for side in sides
                    if not neighbor_family_statement(side.neighbor, family).active
                ),
            )


def _sides_without_family(session: BgpSession, family: AddressFamily) -> Iterator[SessionSide]:
    """Return the ends that do not activate a family; both where they do and next hops keep it out."""
    off = [side for side in (session.a, session.b) if not neighbor_family_statement(side.neighbor, family).active]
    yield from off or (session.a, session.b)
