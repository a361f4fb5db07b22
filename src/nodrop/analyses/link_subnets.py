"""Cables whose two ends have addresses in different subnets, or in one subnet of different lengths."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily
from nodrop.model.index import Index
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.model.subject import FABRIC_HEAD
from nodrop.routing.prefixes import Prefix, parse_prefix

RESTS_ON = frozenset({"cables"})
READS_NEARBY_FACTS = True

_LINK_LOCAL_PREFIXES = tuple(filter(None, map(parse_prefix, ("169.254.0.0/16", "fe80::/10"))))


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the cables between switches whose ends share no subnet of a family that both have addresses of."""
    for link in index.fabric.links:
        a, b = index.interface(*link.a), index.interface(*link.b)
        if a is None or b is None or isinstance(a.addresses, Unknown) or isinstance(b.addresses, Unknown):
            continue
        ours, other_prefixes = (set(map(parse_prefix, known_rows(port.addresses))) for port in (a, b))
        if ours == other_prefixes or not ours or not other_prefixes:
            continue
        for family in ADDRESS_FAMILIES:
            prefixes, far_prefixes = (
                _subnets_of_family(found_prefixes, family) for found_prefixes in (ours, other_prefixes)
            )
            if (
                prefixes
                and far_prefixes
                and not prefixes & far_prefixes
                and not is_known_off(a.enabled)
                and not is_known_off(b.enabled)
            ):
                yield AnalysisHit(
                    subject=(FABRIC_HEAD, "links", f"{link.a}--{link.b}"),
                    at=(link.a.node, link.a.port, "addresses"),
                    facts={
                        "a": str(link.a),
                        "a_subnet": ", ".join(sorted(map(str, prefixes))),
                        "b": str(link.b),
                        "b_subnet": ", ".join(sorted(map(str, far_prefixes))),
                    },
                    related=(((link.b.node, link.b.port, "addresses"), "the other end"),),
                    discriminator=family.removeprefix("ipv"),
                )


def _subnets_of_family(prefixes: set[Prefix | None], family: AddressFamily) -> set[Prefix]:
    """Return the subnets of a family, without link-local ones and addresses borrowed from a loopback."""
    own_prefixes = {
        subnet
        for subnet in prefixes
        if subnet is not None and subnet.family == family and subnet.length < ADDRESS_BITS[family]
    }
    return {subnet for subnet in own_prefixes if not any(wide.covers(subnet) for wide in _LINK_LOCAL_PREFIXES)}
