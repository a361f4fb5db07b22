"""Sessions that take paths with the router's own AS number, where the fabric relies on their refusal."""

from collections import Counter
from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._plane import of
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor
from nodrop.routing.prefixes import FAMILIES
from nodrop.routing.routers import Router
from nodrop.routing.tiers import rank
from nodrop.routing.words import of_family

RESTS_ON = frozenset({"roles"})
ROUTED = True


def find(index: Index) -> Iterator[Hit]:
    """Yield each router with such sessions once, unless it is a leaf that shares its number with other leaves."""
    plane = of(index)
    shared = Counter((one.bgp.asn, rank(one.device)) for one in plane.routers if one.bgp is not None)
    for router in plane.routers:
        if router.bgp is None:
            continue
        asn, tier = router.bgp.asn, rank(router.device)
        others = shared[asn, tier] - 1
        if others and tier in (0, None):
            continue
        rows = list(_taking(router))
        if rows:
            key, field = rows[0]
            more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
            alike = f"which {others} more of its tier {'have' if others > 1 else 'has'}" if others else "its own alone"
            yield Hit(
                subject=(*router.at(key), *field.split("/")),
                facts={"device": router.name, "session": key.key + more, "asn": asn, "alike": alike},
            )


def _taking(router: Router) -> Iterator[tuple[BgpNeighbor, str]]:
    for neighbor in router.neighbors:
        for family in FAMILIES:
            if neighbor.enabled and of_family(neighbor, family).allowas_in:
                yield neighbor, "allowas_in" if family == "ipv4" else "ipv6/allowas_in"
                break
