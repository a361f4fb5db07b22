"""Routes to hosts and loopbacks that a policy takes away where they should go on.

Each policy is told once, with an example: what it takes away, and towards whom or from whom.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses import Hit, Unsettled
from nodrop.analyses._drops import Drop, Reach, drops
from nodrop.analyses._plane import of, unsettled
from nodrop.analyses._refusals import Refusal, refusal
from nodrop.model.index import Index

RESTS_ON = frozenset({"cables", "roles"})
ROUTED = True


class _Row(NamedTuple):
    reach: Reach
    drop: Drop
    refusal: Refusal


def find(index: Index, *, lost: bool) -> Iterator[Hit | Unsettled]:
    """Yield the policies by which a leaf has no route at all to something (`lost`), or has fewer paths to it."""
    yield from unsettled(of(index))
    if "filtered" not in index.kept:
        index.kept["filtered"] = list(_hits(index))
    yield from (hit for gone, hit in index.kept["filtered"] if gone == lost)


def _hits(index: Index) -> Iterator[tuple[bool, Hit]]:
    rows: dict[tuple[str, ...], list[_Row]] = {}
    for reach, drop in drops(index):
        if drop.kind == "loop":
            continue
        neighbor = reach.plane.side(drop.router, drop.link.session).neighbor
        way = "import" if drop.kind == "inbound" else "export"
        prefix = reach.prefixes(drop.lost or drop.bits)[0]
        found = refusal(reach.plane.routers[drop.router], neighbor, way, prefix)
        if found is not None:
            rows.setdefault((*found.at, way), []).append(_Row(reach, drop, found))
    for found_rows in rows.values():
        gone = any(row.drop.lost for row in found_rows)
        yield gone, _hit([row for row in found_rows if row.drop.lost] or found_rows)


def _hit(rows: list[_Row]) -> Hit:
    reach, drop, found = rows[0]
    routers = reach.plane.routers
    bits = 0
    for row in rows:
        bits |= row.drop.lost or row.drop.bits
    prefixes = reach.prefixes(bits)
    fars = list(dict.fromkeys(routers[row.drop.link.far].name for row in rows))
    others = f" and {len(prefixes) - 1} more" if len(prefixes) > 1 else ""
    more = f" and {len(fars) - 1} more" if len(fars) > 1 else ""
    inbound = drop.kind == "inbound"
    neighbor = reach.plane.side(drop.router, drop.link.session).neighbor
    return Hit(
        subject=found.at,
        facts={
            "device": routers[drop.router].name,
            "what": found.what,
            "way": "from" if inbound else "to",
            "far": fars[0] + more,
            "prefix": str(prefixes[0]) + others,
        },
        related=((routers[drop.router].at(neighbor), "a session that it is for"),),
        discriminator="import" if inbound else "export",
    )
