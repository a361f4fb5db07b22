"""Router ids that two routers have."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._plane import control_plane_of
from nodrop.model.index import Index
from nodrop.model.states import known_rows
from nodrop.model.subject import Subject
from nodrop.routing.routers import VrfRouter

NEEDS_ROUTING = True
GIVES_CHANGES = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield each router whose id an earlier one has; an address that both have on a loopback is another rule's."""
    first_routers: dict[str, VrfRouter] = {}
    for router in control_plane_of(index).routers:
        router_id = None if router.bgp is None else router.bgp.router_id
        if router_id is None:
            continue
        earlier = first_routers.setdefault(router_id, router)
        if earlier.device is router.device or (
            _has_loopback_address(router, router_id) and _has_loopback_address(earlier, router_id)
        ):
            continue
        yield AnalysisHit(
            subject=(*router.bgp_subject, "router_id"),
            facts={"device": router.name, "router_id": router_id, "other": earlier.name},
            changes=tuple(_changes_to_loopback_router_id(index, router)),
            related=(((*earlier.bgp_subject, "router_id"), "the same router id"),),
        )


def _changes_to_loopback_router_id(index: Index, router: VrfRouter) -> Iterator[tuple[Subject, object]]:
    """Yield the router id that a router's own loopback makes, where no other has it."""
    taken = {
        other_router.bgp.router_id for other_router in control_plane_of(index).routers if other_router.bgp is not None
    }
    addresses = [
        text.partition("/")[0] for loopback in known_rows(router.device.loopbacks) for text in loopback.addresses
    ]
    free = [
        loopback_address
        for loopback_address in addresses
        if ":" not in loopback_address and loopback_address not in taken
    ]
    yield from (((*router.bgp_subject, "router_id"), free_address) for free_address in free[:1])


def _has_loopback_address(router: VrfRouter, router_id: str) -> bool:
    return any(str(address) == router_id for leg in router.legs if leg.least == 0 for address in leg.addresses)
