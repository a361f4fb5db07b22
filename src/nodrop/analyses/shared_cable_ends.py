"""Ports that cables of two fabrics end at: a port takes one cable.

A cable that both fabrics state, with the same two ends, is one cable and joins them. Switches of the same name in both
fabrics are two switches, whose ports are not compared.
"""

from collections.abc import Iterator, Mapping

from nodrop.analyses import AnalysisHit
from nodrop.analyses._beside import OtherFabric, abbreviate_phrases, earlier_overlapping_fabrics
from nodrop.model.fabric import End, Link
from nodrop.model.index import Index
from nodrop.model.subject import Subject, link_subject, natural_sort_key

NEEDS_OTHER_FABRICS = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield a hit for each host or switch with ports that cables of an earlier fabric end at."""
    for other_overlapping_fabric in earlier_overlapping_fabrics(index):
        if not other_overlapping_fabric.do_names_mean_same_device(index):
            continue
        other_links_by_end = {
            end: cable for cable in other_overlapping_fabric.fabric.links for end in (cable.a, cable.b)
        }
        twice: dict[str, list[tuple[str, Link, Link]]] = {}
        for cable in index.fabric.links:
            for end in (cable.a, cable.b):
                known_link = other_links_by_end.get(end)
                if (
                    known_link is not None
                    and {known_link.a, known_link.b} != {cable.a, cable.b}
                    and not _is_switch_in_both(end, index, other_overlapping_fabric)
                ):
                    twice.setdefault(end.node, []).append((end.port, cable, known_link))
        for node in sorted(twice, key=natural_sort_key):
            yield _build_hit(node, twice[node], other_overlapping_fabric)


def _is_switch_in_both(end: End, index: Index, other_fabric: OtherFabric) -> bool:
    return end.node in index.devices and end.node in other_fabric.index.devices


def _build_hit(node: str, rows: list[tuple[str, Link, Link]], other_fabric: OtherFabric) -> AnalysisHit:
    rows.sort(key=lambda row: natural_sort_key(row[0]))
    _, own_link, other_link = rows[0]
    return AnalysisHit(
        subject=link_subject(own_link.a, own_link.b),
        facts={
            "node": node,
            "ports": abbreviate_phrases(port for port, _, _ in rows),
            "count": len(rows),
            "cable": f"{own_link.a} to {own_link.b}",
            "known": f"{other_link.a} to {other_link.b}",
            "other": other_fabric.name,
        },
        related=(
            (
                other_fabric.subject_of_part(*_find_described_end(other_link, other_fabric.index.devices)),
                "the other cable",
            ),
        ),
        discriminator=f"{other_fabric.name} {node}",
    )


def _find_described_end(cable: Link, devices: Mapping[str, object]) -> Subject:
    """Return the port of a cable that a file describes, the first where two are."""
    return tuple(next((end for end in (cable.a, cable.b) if end.node in devices), cable.a))
