"""Adverts from one router to another: sets of destinations, each with the attributes that they share.

A set of destinations is a number whose bit n stands for class n of `destinations.Destinations`. The AS number at the
origin of a path is written `PLACEHOLDER_ORIGIN_ASN` if one router alone has that number and it alone originates the
class: paths to different leaves are then one value, and one set of destinations.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nodrop.routing.prefixes import Address

PLACEHOLDER_ORIGIN_ASN = 0
"""The AS number of whoever originates a destination; no router has 0 (RFC 7607)."""
DEFAULT_PREFERENCE = 100
"""LOCAL_PREF of a route that nobody gives another (FRR, bgpd/bgp_attr.h, BGP_DEFAULT_LOCAL_PREF)."""
IGP, EGP, INCOMPLETE = 0, 1, 2
NOT_EXPORTED_COMMUNITIES = frozenset({"no-export", "no-advertise", "local-AS"})
"""Communities with which a route goes to no other AS (RFC 1997)."""


class IbgpOrMultihopSource(NamedTuple):
    """How a route was learned that is not of another AS at the far end of a link; in an advert, what goes with it."""

    internal: bool = True
    """Whether a router of the own AS told it."""
    client: bool = False
    """Whether that router is a client of this one, a route reflector (RFC 4456)."""
    hop: Address | None = None
    """Its next hop; None is the address of the router that told it, at the far end of a link."""
    originator: int | None = None
    """The router id of the router that brought a reflected route into the AS."""
    clusters: tuple[int, ...] = ()
    """The clusters that a reflected route went through."""
    prefers_global: bool = False
    """Whether a route map prefers its global next hop to the link-local one, while it is imported."""


class PathAttributes(NamedTuple):
    """The attributes of a route (RFC 4271, section 5), with `weight`, which no router announces to another."""

    path: tuple[int, ...] = ()
    preference: int = DEFAULT_PREFERENCE
    origin: int = IGP
    med: int | None = None
    communities: frozenset[str] = frozenset()
    weight: int = 0
    tag: int = 0
    interface: str = ""
    """The leg over which a connected route goes, while its redistribution is decided."""
    learned: IbgpOrMultihopSource | None = None
    """None if it was learned from another AS at the far end of a link, or is originated."""
    keeps_hop: bool = False
    """Whether a route map marked its next hop as `unchanged` when it was imported."""


class AdvertPart(NamedTuple):
    """Destinations that have the same attributes."""

    attributes: PathAttributes
    bits: int


def may_be_exported(attributes: PathAttributes) -> bool:
    """Whether a route with these attributes may go to another AS."""
    return not attributes.communities or not attributes.communities & NOT_EXPORTED_COMMUNITIES


def restrict_parts(routes: Iterable[AdvertPart], destination_bits: int) -> tuple[AdvertPart, ...]:
    """Parts as far as they are about these destinations."""
    return tuple(
        [
            AdvertPart(attributes, overlap)
            for attributes, route_bits in routes
            if (overlap := route_bits & destination_bits)
        ]
    )


def destinations_of_parts(routes: Iterable[AdvertPart]) -> int:
    """All destinations of some parts."""
    bits = 0
    for route in routes:
        bits |= route.bits
    return bits


class RouteAdvert:
    """All announcements of a router to a neighbor; equal ones are one object, and results from it are computed once."""

    __slots__ = ("bits", "number", "numbers", "parts")

    def __init__(self, number: int, routes: tuple[AdvertPart, ...]) -> None:
        self.number, self.parts = number, routes
        self.numbers = frozenset(asn for route in routes for asn in route.attributes.path)
        self.bits = destinations_of_parts(routes)


class AdvertCache:
    """The adverts of a computation, one object for each content."""

    def __init__(self) -> None:
        self._known: dict[frozenset[tuple[PathAttributes, int]], RouteAdvert] = {}

    def of(self, routes: Iterable[AdvertPart]) -> RouteAdvert:
        """Return the advert of these parts; those with equal attributes become one, those without bits none."""
        merged: dict[PathAttributes, int] = {}
        for attributes, bits in routes:
            if bits:
                known_bits = merged.setdefault(attributes, bits)
                if known_bits is not bits:
                    merged[attributes] = known_bits | bits
        return self._intern_advert(merged)

    def without_parts(self, advert: RouteAdvert, dropped_parts: Sequence[AdvertPart]) -> RouteAdvert:
        """Return an advert of this computation without some of its parts."""
        if not dropped_parts:
            return advert
        dropped = {attributes for attributes, _ in dropped_parts}
        return self._intern_advert({attributes: bits for attributes, bits in advert.parts if attributes not in dropped})

    def restrict_advert(self, advert: RouteAdvert, destination_bits: int) -> RouteAdvert:
        """Return an advert of another computation, as far as it is about these destinations."""
        if not advert.bits & destination_bits:
            return self._intern_advert({})
        return self._intern_advert(
            {attributes: both for attributes, own in advert.parts if (both := own & destination_bits)}
        )

    def _intern_advert(self, merged: dict[PathAttributes, int]) -> RouteAdvert:
        key = frozenset(merged.items())
        advert = self._known.get(key)
        if advert is None:
            advert = self._known[key] = RouteAdvert(
                len(self._known), tuple(AdvertPart(*fields) for fields in merged.items())
            )
        return advert
