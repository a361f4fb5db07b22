"""Router ids that two routers have."""

from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._plane import of
from nodrop.model.index import Index
from nodrop.model.states import known_rows
from nodrop.model.subject import Subject
from nodrop.routing.routers import Router

ROUTED = True
REPAIRS = True


def find(index: Index) -> Iterator[Hit]:
    """Yield each router whose id an earlier one has; an address that both have on a loopback is another rule's."""
    first_routers: dict[str, Router] = {}
    for router in of(index).routers:
        own = None if router.bgp is None else router.bgp.router_id
        if own is None:
            continue
        earlier = first_routers.setdefault(own, router)
        if earlier.device is router.device or (_has(router, own) and _has(earlier, own)):
            continue
        yield Hit(
            subject=(*router.subject, "router_id"),
            facts={"device": router.name, "router_id": own, "other": earlier.name},
            changes=tuple(_own(index, router)),
            related=(((*earlier.subject, "router_id"), "the same router id"),),
        )


def _own(index: Index, router: Router) -> Iterator[tuple[Subject, object]]:
    """Yield the router id that a router's own loopback makes, where no other has it."""
    taken = {one.bgp.router_id for one in of(index).routers if one.bgp is not None}
    own = [text.partition("/")[0] for loopback in known_rows(router.device.loopbacks) for text in loopback.addresses]
    free = [one for one in own if ":" not in one and one not in taken]
    yield from (((*router.subject, "router_id"), one) for one in free[:1])


def _has(router: Router, own: str) -> bool:
    return any(str(address) == own for leg in router.legs if leg.least == 0 for address in leg.addresses)
