"""Ports that cables of two fabrics end at: a port takes one cable.

A cable that both fabrics state, with the same two ends, is one cable and joins them. Switches of the same name in both
fabrics are two switches, whose ports are not compared.
"""

from collections.abc import Iterator, Mapping

from nodrop.analyses import Hit
from nodrop.analyses._beside import Beside, beside, some
from nodrop.model.fabric import End, Link
from nodrop.model.index import Index
from nodrop.model.subject import Subject, link, natural

BESIDE = True


def find(index: Index) -> Iterator[Hit]:
    """Yield a hit for each host or switch with ports that cables of an earlier fabric end at."""
    for other in beside(index):
        if not other.same_names(index):
            continue
        theirs = {end: cable for cable in other.fabric.links for end in (cable.a, cable.b)}
        twice: dict[str, list[tuple[str, Link, Link]]] = {}
        for cable in index.fabric.links:
            for end in (cable.a, cable.b):
                known = theirs.get(end)
                if known is not None and {known.a, known.b} != {cable.a, cable.b} and not _two(end, index, other):
                    twice.setdefault(end.node, []).append((end.port, cable, known))
        for node in sorted(twice, key=natural):
            yield _hit(node, twice[node], other)


def _two(end: End, index: Index, other: Beside) -> bool:
    return end.node in index.devices and end.node in other.index.devices


def _hit(node: str, rows: list[tuple[str, Link, Link]], other: Beside) -> Hit:
    rows.sort(key=lambda row: natural(row[0]))
    _, mine, theirs = rows[0]
    return Hit(
        subject=link(mine.a, mine.b),
        facts={
            "node": node,
            "ports": some(port for port, _, _ in rows),
            "count": len(rows),
            "cable": f"{mine.a} to {mine.b}",
            "known": f"{theirs.a} to {theirs.b}",
            "other": other.name,
        },
        related=((other.subject(*_read_end(theirs, other.index.devices)), "the other cable"),),
        discriminator=f"{other.name} {node}",
    )


def _read_end(cable: Link, devices: Mapping[str, object]) -> Subject:
    """Return the port of a cable that a file describes, the first where two are."""
    return tuple(next((end for end in (cable.a, cable.b) if end.node in devices), cable.a))
