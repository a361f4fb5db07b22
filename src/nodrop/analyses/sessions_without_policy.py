"""Sessions to another AS without a policy, over which nothing passes where RFC 8212 holds."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._naming import names_left_out
from nodrop.analyses._plane import control_plane_of
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.routing.peerings import is_internal_session
from nodrop.routing.routers import SessionSide
from nodrop.routing.words import neighbor_family_statement

NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield each router with such sessions once, at the first of them."""
    plane = control_plane_of(index)
    rows: dict[int, list[tuple[SessionSide, str]]] = {}
    for session in plane.sessions:
        if is_internal_session(plane.routers, session):
            continue
        for side in (session.a, session.b):
            open_ways = []
            for family in session.families:
                config = neighbor_family_statement(side.neighbor, family)
                open_ways += ["import"] if config.import_policy is None and config.import_prefix_list is None else []
                open_ways += ["export"] if config.export_policy is None and config.export_prefix_list is None else []
            if open_ways:
                rows.setdefault(side.router, []).append((side, " and ".join(dict.fromkeys(open_ways))))
    for number, found_rows in rows.items():
        router = plane.routers[number]
        bgp = router.bgp
        if bgp is None or bgp.requires_policy is False:
            continue
        if isinstance(bgp.requires_policy, Unknown):
            yield UndecidedSubject(subject=(router.device.name,), missing="device.bgp.requires_policy")
            continue
        side, directions = found_rows[0]
        count_suffix = f" and {len(found_rows) - 1} more" if len(found_rows) > 1 else ""
        yield AnalysisHit(
            subject=router.subject_of_neighbor(side.neighbor),
            facts={"device": router.name, "session": side.neighbor.key + count_suffix, "ways": directions},
            related=(((*router.bgp_subject, "requires_policy"), "RFC 8212"),),
            left_out=names_left_out([row[0].neighbor.key for row in found_rows]),
        )
