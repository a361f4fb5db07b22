"""Cables and switches without which hosts are not reached, or only over a way that goes down and up again."""

from collections.abc import Iterator

from nodrop.analyses import Hit, Unsettled
from nodrop.analyses._failed import cases
from nodrop.analyses._plane import of, unsettled
from nodrop.fabric.index import Index
from nodrop.fabric.subject import link as subject_of

RESTS_ON = frozenset({"cables", "hosts", "roles"})
ROUTED = True


def find(index: Index, *, what: str) -> Iterator[Hit | Unsettled]:
    """Yield each cable or switch once, with an example of what is `lost` or of a `valley`.

    What a switch announces itself is not missed when it fails.
    """
    yield from unsettled(of(index))
    told = set()
    for one in cases(index):
        rows = one.lost if what == "lost" else one.valleys
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
