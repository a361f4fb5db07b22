"""Cables whose two ends have addresses in different subnets, or in one subnet of different lengths."""

from collections.abc import Iterator
from functools import cache
from ipaddress import ip_interface

from nodrop.analyses import Hit
from nodrop.fabric.fabric import Interface
from nodrop.fabric.index import Index
from nodrop.fabric.states import Unknown
from nodrop.fabric.subject import FABRIC

RESTS_ON = frozenset({"cables"})


def find(index: Index) -> Iterator[Hit]:
    """Yield the cables between switches whose ends share no subnet of a family that both have addresses of."""
    for link in index.fabric.links:
        a, b = index.interface(*link.a), index.interface(*link.b)
        if a is None or b is None or isinstance(a.addresses, Unknown) or isinstance(b.addresses, Unknown):
            continue
        for version in (4, 6) if a.addresses and b.addresses else ():
            here, there = _subnets(a.addresses, version), _subnets(b.addresses, version)
            if here and there and not here & there and _routed(a) and _routed(b):
                yield Hit(
                    subject=(FABRIC, "links", f"{link.a}--{link.b}"),
                    at=(link.a.node, link.a.port, "addresses"),
                    facts={
                        "a": str(link.a),
                        "a_subnet": ", ".join(sorted(here)),
                        "b": str(link.b),
                        "b_subnet": ", ".join(sorted(there)),
                    },
                    related=(((link.b.node, link.b.port, "addresses"), "the other end"),),
                    discriminator=str(version),
                )


def _routed(port: Interface) -> bool:
    """Whether a port is on, as far as is known."""
    return isinstance(port.enabled, Unknown) or port.enabled


@cache
def _subnets(addresses: tuple[str, ...], version: int) -> frozenset[str]:
    found = set()
    for text in addresses:
        try:
            one = ip_interface(text)
        except ValueError:
            continue
        alone = one.network.prefixlen == one.network.max_prefixlen  # borrowed from a loopback
        if one.version == version and not one.is_link_local and not alone:
            found.add(str(one.network))
    return frozenset(found)
