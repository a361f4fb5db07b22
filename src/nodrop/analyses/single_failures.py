"""Cables and switches without which hosts are not reached, or only over a way that goes down and up again."""

from collections.abc import Iterator

from nodrop.analyses import Hit, Unsettled
from nodrop.analyses._drops import drops
from nodrop.analyses._failed import Case, cases
from nodrop.analyses._plane import of, unsettled
from nodrop.model.index import Index
from nodrop.model.subject import link as subject_of
from nodrop.routing.failures import Loss

RESTS_ON = frozenset({"cables", "hosts", "roles"})
ROUTED = True
FAILURES = True


def find(index: Index, *, what: str) -> Iterator[Hit | Unsettled]:
    """Yield each cable or switch once, with an example of what is `lost` or of a `valley`.

    What a switch announces itself is not missed when it fails. Hosts are not lost to a router, or of one, that has
    lost sessions or routes already: that is told by itself.
    """
    yield from unsettled(of(index))
    told = set()
    hurt = {down.router.number for down in of(index).down}
    hurt |= {number for _, drop in drops(index) for number in (drop.router, drop.link.far)}
    for one in cases(index):
        rows = one.valleys if what == "valley" else [row for row in one.lost if not _explained(one, row, hurt)]
        failed = f"the cable from {one.link.a} to {one.link.b}" if one.link else one.device
        if not rows or failed in told:
            continue
        told.add(failed)
        bits = 0
        for row in rows:
            bits |= row.bits
        prefixes = one.reach.prefixes(bits)
        routers = [one.reach.plane.routers[row.router] for row in rows]
        yield Hit(
            subject=subject_of(one.link.a, one.link.b) if one.link else (one.device,),
            at=tuple(one.link.a) if one.link else None,
            facts={
                "failed": failed,
                "device": routers[0].name + (f" and {len(rows) - 1} more" if len(rows) > 1 else ""),
                "prefix": str(one.reach.prefixes(rows[0].bits)[0])
                + (f" and {len(prefixes) - 1} more" if len(prefixes) > 1 else ""),
            },
        )


def _explained(case: Case, row: Loss, hurt: set[int]) -> bool:
    """Whether a router, or all of those whose hosts it loses, are hurt already."""
    if row.router in hurt:
        return True
    origins = case.reach.world.origins
    return all(number in hurt for prefix in case.reach.prefixes(row.bits) for number, *_ in origins[prefix])
