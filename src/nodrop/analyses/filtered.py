"""Routes to hosts and loopbacks that a policy removes where they should be passed on.

Each policy is reported once, with an example: the prefix that it removes, and the router on the other side.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._drops import DroppedRoutes, RoutePropagation, dropped_routes_of
from nodrop.analyses._marks import find_blocking_community_marks
from nodrop.analyses._plane import control_plane_of, undecided_subjects_of_gaps
from nodrop.analyses._refusals import find_refusal
from nodrop.model.index import Index
from nodrop.model.subject import Subject

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True


_VERB_FOR_ROUTES_NOT_PASSED_ON = "keeps"
"""What a router does to routes with a community that lets them go no further."""


class _PolicyRouteLoss(NamedTuple):
    """The loss caused by a policy: `what` in the words of a message, and the router, session and part that cause it.

    `deed` is what the router does to the routes, and `remedy` what ends that.
    """

    reach: RoutePropagation
    drop: DroppedRoutes
    deed: str
    remedy: str
    what: str
    at: Subject
    router: int
    session: Subject
    way: str
    bits: int


def find(index: Index, *, lost: bool) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the policies that leave a leaf with no route at all to a destination (`lost`), or with fewer paths."""
    yield from undecided_subjects_of_gaps(control_plane_of(index))
    every = index.compute_once("filtered", lambda: list(_build_hits(index)))
    yield from (hit for gone, hit in every if gone == lost)


def _build_hits(index: Index) -> Iterator[tuple[bool, AnalysisHit]]:
    rows: dict[tuple[str, ...], list[_PolicyRouteLoss]] = {}
    for reach, drop in dropped_routes_of(index):
        for row in _find_loss_causes(reach, drop) if drop.kind != "loop" else ():
            rows.setdefault((*row.at, row.way), []).append(row)
    for found_rows in rows.values():
        gone = [row for row in found_rows if row.bits & row.drop.lost]
        yield bool(gone), _build_hit(gone or found_rows)


def _find_loss_causes(route_reach: RoutePropagation, dropped_routes: DroppedRoutes) -> Iterator[_PolicyRouteLoss]:
    """Yield what takes away the destinations of a drop: marks that keep them here, else the session's policy."""
    bits = dropped_routes.bits
    for mark in (
        find_blocking_community_marks(route_reach, dropped_routes.router, dropped_routes.bits)
        if dropped_routes.kind == "outbound"
        else ()
    ):
        bits &= ~mark.bits
        deed, remedy = _VERB_FOR_ROUTES_NOT_PASSED_ON, f"remove the community from {mark.policy}"
        yield _PolicyRouteLoss(
            route_reach,
            dropped_routes,
            deed,
            remedy,
            mark.what,
            mark.at,
            mark.router,
            mark.related,
            mark.way,
            mark.bits,
        )
    if inside := bits & _unreflected_bits(route_reach, dropped_routes):
        bits &= ~inside
        own_router = route_reach.plane.routers[dropped_routes.router]
        session = own_router.subject_of_neighbor(
            route_reach.plane.side(dropped_routes.router, dropped_routes.link.session).neighbor
        )
        cause = "internal BGP without a route reflector"
        remedy = "make the router a route reflector for the neighbors of its AS"
        yield _PolicyRouteLoss(
            route_reach,
            dropped_routes,
            "does not pass on",
            remedy,
            cause,
            own_router.bgp_subject,
            dropped_routes.router,
            session,
            "export",
            inside,
        )
    if not bits:
        return
    router, direction = (
        route_reach.plane.routers[dropped_routes.router],
        "import" if dropped_routes.kind == "inbound" else "export",
    )
    neighbor = route_reach.plane.side(dropped_routes.router, dropped_routes.link.session).neighbor
    found_refusal = find_refusal(
        router, neighbor, direction, route_reach.prefixes(bits & dropped_routes.lost or bits)[0]
    )
    if found_refusal is not None:
        yield _PolicyRouteLoss(
            route_reach,
            dropped_routes,
            "filters",
            "permit the prefix there, before any entry that denies it",
            found_refusal.what,
            found_refusal.at,
            dropped_routes.router,
            router.subject_of_neighbor(neighbor),
            direction,
            bits,
        )


def _unreflected_bits(reach: RoutePropagation, drop: DroppedRoutes) -> int:
    """Return the destinations that a router has from its AS and announces to no other router of it (RFC 4456)."""
    peering = drop.link.outbound.peering
    if drop.kind != "outbound" or peering is None or peering.client:
        return 0
    bits = 0
    for entry in reach.state.table(drop.router).entries:
        learned = entry.attributes.learned
        if learned is not None and learned.internal and not learned.client:
            bits |= entry.bits
    return bits


def _build_hit(rows: list[_PolicyRouteLoss]) -> AnalysisHit:
    first_row = rows[0]
    routers = first_row.reach.plane.routers
    bits = 0
    for row in rows:
        bits |= row.bits & row.drop.lost or row.bits
    prefixes = first_row.reach.prefixes(bits)
    fars = list(dict.fromkeys(routers[row.drop.link.far].name for row in rows))
    prefix_suffix = f" and {len(prefixes) - 1} more" if len(prefixes) > 1 else ""
    far_suffix = f" and {len(fars) - 1} more" if len(fars) > 1 else ""
    return AnalysisHit(
        subject=first_row.at,
        facts={
            "device": routers[first_row.router].name,
            "deed": first_row.deed,
            "what": first_row.what,
            "remedy": first_row.remedy,
            "way": "to"
            if first_row.drop.kind != "inbound" and first_row.deed != _VERB_FOR_ROUTES_NOT_PASSED_ON
            else "from",
            "far": fars[0] + far_suffix,
            "prefix": str(prefixes[0]) + prefix_suffix,
        },
        related=((first_row.session, "a session with this policy"),),
        discriminator=first_row.way,
    )
