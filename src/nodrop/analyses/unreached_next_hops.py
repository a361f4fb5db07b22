"""Next hops that route maps give imported or announced routes, and that the router which hears them does not reach."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.analyses._plane import control_plane_of, undecided_subjects_of_gaps
from nodrop.model.index import Index
from nodrop.model.subject import Subject
from nodrop.routing.control_plane import UnusableSetNextHop
from nodrop.routing.next_hop_policy import find_rules_with_next_hop
from nodrop.routing.words import neighbor_family_statement

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True


class _UnusableSessionRoutes(NamedTuple):
    """The routes that a session brings and that the router does not use, and the router that announces them."""

    row: UnusableSetNextHop
    far: str
    bits: int


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the rules of route maps whose next hop leaves routes unused, with a prefix and a neighbor as an example."""
    plane = control_plane_of(index)
    rows = list(plane.unreached_next_hops())
    if rows:
        yield from undecided_subjects_of_gaps(plane)
    for reach in route_propagations_of(index) if rows else ():
        losses: dict[Subject, list[_UnusableSessionRoutes]] = {}
        for row in rows:
            if not row.is_certain or row.hop.family != reach.routes.family:
                continue
            if (at := _find_next_hop_rule(reach, row)) is not None and (
                loss := _find_routes_unusable_for_next_hop(reach, row)
            ) is not None:
                losses.setdefault(at, []).append(loss)
        yield from (_build_hit(reach, at, found) for at, found in losses.items())


def _find_next_hop_rule(reach: RoutePropagation, row: UnusableSetNextHop) -> Subject | None:
    """Return the rule of a route map that sets a next hop."""
    router = reach.plane.routers[row.setter.router]
    setter = neighbor_family_statement(row.setter.neighbor, row.hop.family)
    policy = setter.import_policy if row.setter is row.side else setter.export_policy
    rules = () if router.bgp is None or policy is None else find_rules_with_next_hop(router.bgp, policy, row.hop)
    found = next(iter(rules), None)
    return None if found is None else (*router.bgp_subject, "route_maps", found[0], "rules", str(found[1].sequence))


def _find_routes_unusable_for_next_hop(
    reach: RoutePropagation, row: UnusableSetNextHop
) -> _UnusableSessionRoutes | None:
    """Return the routes with the next hop that come over its session."""
    number = row.side.router
    for position, link in enumerate(reach.world.speakers[number].links):
        if reach.plane.side(number, link.session) == row.side:
            bits = 0
            for attributes, part_bits in reach.state.accepted_routes(number, position):
                if attributes.learned is not None and attributes.learned.hop == row.hop:
                    bits |= part_bits
            return _UnusableSessionRoutes(row, reach.plane.routers[link.far].name, bits) if bits else None
    return None


def _build_hit(reach: RoutePropagation, at: Subject, losses: list[_UnusableSessionRoutes]) -> AnalysisHit:
    row, bits = losses[0].row, 0
    for loss in losses:
        bits |= loss.bits
    router, prefixes = reach.plane.routers[row.side.router], reach.prefixes(bits)
    fars = list(dict.fromkeys(loss.far for loss in losses))
    return AnalysisHit(
        subject=at,
        facts={
            "device": router.name,
            "prefix": _abbreviate_names([str(prefix) for prefix in prefixes]),
            "far": _abbreviate_names(fars),
            "hop": str(row.hop),
            "cause": _describe_why_next_hop_is_unusable(row),
        },
        related=tuple(
            (
                reach.plane.routers[loss.row.setter.router].subject_of_neighbor(loss.row.setter.neighbor),
                "a session with this policy",
            )
            for loss in losses
        ),
        discriminator=str(row.hop),
        left_out=names_left_out(prefixes),
    )


def _describe_why_next_hop_is_unusable(row: UnusableSetNextHop) -> str:
    if row.is_own:
        return "is its own address"
    return "is on no link" if row.is_near else "has no route"


def _abbreviate_names(names: list[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
