"""Cables between switches that both route, over which neither end has a BGP session, not even one that is down."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._plane import control_plane_of
from nodrop.model.index import Index
from nodrop.model.states import is_known_off
from nodrop.model.subject import FABRIC_HEAD

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the cables between two BGP processes that no neighbor statement of either end goes over."""
    plane = control_plane_of(index)
    used = {
        (plane.routers[side.router].device.name, port)
        for session in plane.sessions
        for side in (session.a, session.b)
        for port in side.leg.ports
    }
    used |= {(down.router.device.name, port) for down in plane.down if down.leg is not None for port in down.leg.ports}
    speaking = {router.device.name for router in plane.routers if router.bgp is not None}
    for link in index.fabric.links:
        ends = (link.a, link.b)
        if not all(end.node in speaking for end in ends) or any(end in used for end in ends):
            continue
        ports = [index.interface(*end) for end in ends]
        if not any(port is not None and is_known_off(port.enabled) for port in ports):
            yield AnalysisHit(
                subject=(FABRIC_HEAD, "links", f"{link.a}--{link.b}"),
                at=ends[0],
                facts={"a": str(link.a), "b": str(link.b)},
            )
