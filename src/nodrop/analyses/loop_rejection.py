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
    shared = Counter((speaker.bgp.asn, rank(speaker.device)) for speaker in plane.routers if speaker.bgp is not None)
    for router in plane.routers:
        if router.bgp is None:
            continue
        asn, tier = router.bgp.asn, rank(router.device)
        sharing_count = shared[asn, tier] - 1
        if sharing_count and tier in (0, None):
            continue
        rows = list(_taking(router))
        if rows:
            key, field = rows[0]
            count_suffix = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
            alike = (
                f"which {sharing_count} more of its tier {'have' if sharing_count > 1 else 'has'}"
                if sharing_count
                else "its own alone"
            )
            yield Hit(
                subject=(*router.at(key), *field.split("/")),
                facts={"device": router.name, "session": key.key + count_suffix, "asn": asn, "alike": alike},
            )


def _taking(router: Router) -> Iterator[tuple[BgpNeighbor, str]]:
    for neighbor in router.neighbors:
        for family in FAMILIES:
            if neighbor.enabled and of_family(neighbor, family).allowas_in:
                yield neighbor, "allowas_in" if family == "ipv4" else "ipv6/allowas_in"
                break
