"""Loopback addresses, prefixes of links and of hosts, and AS numbers that two fabrics have in common.

Fabrics that no cable joins exchange no routes, so each may have the same numbers. Fabrics that cables between their
switches join are one network; of such a cable, the prefix is at both ends. Prefixes of hosts must also differ where a
host has cables in both fabrics, because the host has both in one routing table. A loopback address that is one of
several of a switch and not its router id is an anycast address and may repeat.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from nodrop.analyses import AnalysisHit
from nodrop.analyses._beside import (
    OtherFabric,
    abbreviate_phrases,
    earlier_overlapping_fabrics,
    undescribed_cabled_nodes,
)
from nodrop.model.identifiers import AddressOrNumberRange, IdentifierKind, find_addresses_and_as_numbers
from nodrop.model.index import Index
from nodrop.model.subject import FABRIC_HEAD, Subject

NEEDS_OTHER_FABRICS = True


def find(index: Index, *, joined: bool) -> Iterator[AnalysisHit]:
    """Yield a hit for each kind of number and each earlier fabric with which it overlaps.

    Compared are fabrics that are `joined`, or those that are not.
    """
    other_fabrics = earlier_overlapping_fabrics(index)
    own_numbers = _identifiers_by_kind(index) if other_fabrics else {}
    for fabric in other_fabrics:
        hosts = (
            set(undescribed_cabled_nodes(fabric.index)) & set(undescribed_cabled_nodes(index))
            if fabric.do_names_mean_same_device(index)
            else set()
        )
        for kind, known_numbers in sorted(_identifiers_by_kind(fabric.index).items()):
            one_network = fabric.joined or (kind == "host prefixes" and bool(hosts))
            if one_network is joined and kind in own_numbers:
                yield from _overlap_hits(
                    kind,
                    own_numbers[kind],
                    known_numbers,
                    fabric,
                    _cable_end_pairs(index) | _cable_end_pairs(fabric.index),
                )


class _PlacedNumber(NamedTuple):
    """A number or prefix, where it stands, and its text there."""

    span: AddressOrNumberRange
    subject: Subject
    text: str


def _identifiers_by_kind(index: Index) -> dict[IdentifierKind, list[_PlacedNumber]]:
    numbers: dict[IdentifierKind, list[_PlacedNumber]] = {}
    for holding in find_addresses_and_as_numbers(index.fabric):
        rows = numbers.setdefault(holding.kind, [])
        rows += (_PlacedNumber(span, holding.subject, text) for text, span in holding.texts_with_ranges())
    return numbers


def _cable_end_pairs(index: Index) -> set[frozenset[Subject]]:
    return {frozenset({(link.a.node, link.a.port), (link.b.node, link.b.port)}) for link in index.fabric.links}


def _overlap_hits(
    kind: str,
    own_numbers: list[_PlacedNumber],
    other_numbers: list[_PlacedNumber],
    other_fabric: OtherFabric,
    cables: set[frozenset[Subject]],
) -> Iterator[AnalysisHit]:
    """Yield a hit with all overlaps of a kind but those of the two ends of a cable, placed at the first."""
    known_numbers = sorted(other_numbers)
    starts = [known_number.span[:2] for known_number in known_numbers]
    furthest: list[_PlacedNumber] = list(accumulate(known_numbers, _number_with_later_end))
    words: dict[str, tuple[_PlacedNumber, _PlacedNumber]] = {}
    for number in own_numbers:
        version, low, high = number.span
        at = bisect_right(starts, (version, high))
        while at and _last_number_of(furthest[at - 1]) >= (version, low):
            at -= 1
            ends = frozenset({number.subject[:2], known_numbers[at].subject[:2]})
            if _last_number_of(known_numbers[at]) >= (version, low) and ends not in cables:
                words.setdefault(number.text, (number, known_numbers[at]))
                break
    if not words:
        return
    first_number, far_number = next(iter(words.values()))
    yield AnalysisHit(
        subject=(FABRIC_HEAD,),
        at=first_number.subject,
        facts={"kind": kind, "values": abbreviate_phrases(words), "other": other_fabric.name},
        related=((other_fabric.subject_of_part(*far_number.subject), "the same there"),),
        discriminator=f"{other_fabric.name} {kind}",
    )


def _number_with_later_end(number: _PlacedNumber, other_number: _PlacedNumber) -> _PlacedNumber:
    return max(number, other_number, key=_last_number_of)


def _last_number_of(number: _PlacedNumber) -> tuple[int, int]:
    version, _, high = number.span
    return version, high
