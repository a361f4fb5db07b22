"""Leaves that refuse routes to others because their own AS number stands in the path."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import dropped_routes_of
from nodrop.model.index import Index

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield each such leaf once, with an example."""
    reported_routers: set[int] = set()
    for reach, drop in dropped_routes_of(index):
        if drop.kind != "loop" or not drop.lost or drop.router in reported_routers:
            continue
        reported_routers.add(drop.router)
        router = reach.plane.routers[drop.router]
        prefix = reach.prefixes(drop.lost)[0]
        owners = [reach.plane.routers[row[0]] for row in reach.world.origins[prefix]]
        asn = 0 if router.bgp is None else router.bgp.asn
        yield AnalysisHit(
            subject=(*router.bgp_subject, "asn"),
            facts={"device": router.name, "asn": asn, "prefix": str(prefix), "owner": owners[0].name},
            related=tuple(((*owner.bgp_subject, "asn"), "the switch that announces it") for owner in owners[:1]),
        )
