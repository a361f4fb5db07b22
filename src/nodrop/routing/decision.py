"""The routes that a router uses of those that it hears: the best, and those as good as it.

The order is FRR's (bgpd/bgp_route.c, bgp_path_info_cmp): weight, LOCAL_PREF, length of the AS path, origin, MED among
routes by the same neighboring AS. Routes equal so far are used together, up to `maximum-paths`, and only from neighbors
of one AS unless `bestpath as-path multipath-relax` is set. The route announced onward is that of the neighbor with the
lowest router id and address; FRR keeps the oldest of several unless `bestpath compare-routerid` is set, which no file
can state, and which changes no next hop here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from nodrop.routing.adverts import AdvertPart, PathAttributes, RouteAdvert, may_be_exported
from nodrop.routing.prefixes import Address

_CandidateRoute = TypeVar("_CandidateRoute")


class LearnedTableEntry(NamedTuple):
    """Destinations that a router reaches in one way: the attributes of the best route, and over which neighbors.

    `hops` are positions among the router's links, the first that of the best route. `vias` are their next hops where
    these are not the far ends of the links; it is empty if all are.
    """

    attributes: PathAttributes
    bits: int
    hops: tuple[int, ...]
    vias: tuple[Address | None, ...] = ()

    @property
    def is_internal(self) -> bool:
        """Whether the router's AS announced it."""
        learned = self.attributes.learned
        return learned is not None and learned.internal


class LearnedTable:
    """The routes that a router has learned; routers that heard the same have one table, which equals only itself."""

    __slots__ = ("bits", "entries", "is_settled", "passed", "worse")

    def __init__(self, entries: tuple[LearnedTableEntry, ...], worse: Mapping[int, int] | None = None) -> None:
        self.entries = entries
        self.worse = worse or {}
        """Destinations that anybody offers with another origin than IGP, by that origin."""
        self.is_settled = True
        """Whether the router keeps to it; it does not where the next hops of its routes come and go for ever."""
        self.bits = 0
        for entry in entries:
            self.bits |= entry.bits
        self.passed = tuple(
            AdvertPart(attributes if attributes.med is None else attributes._replace(med=None), bits)
            for attributes, bits, *_ in entries
            if may_be_exported(attributes)
        )
        """What may be told to another AS, in which the MED of a third means nothing (RFC 4271, section 5.1.4)."""

    def entry_of_class(self, number: int) -> LearnedTableEntry | None:
        """Return the entry of a class of destinations."""
        return next((entry for entry in self.entries if entry.bits >> number & 1), None)


class MultipathLimits(NamedTuple):
    """What bounds the use of equal routes."""

    relaxed: bool
    most: int | None
    always_med: bool = False
    neighbors: tuple[int, ...] = ()
    """The AS numbers of the neighbors by link, where only routes of one neighboring AS are used together."""
    most_internal: int | None = None
    """How many routes from the own AS are used together."""


class RouteOffer(NamedTuple):
    """What some links offer alike, all of one rank: destinations, and the attributes of each part of them."""

    parts: tuple[AdvertPart, ...]
    links: tuple[int, ...]


HeardAdverts = tuple[RouteAdvert, ...]
"""What is heard over a link, in pieces that do not overlap; nothing over one that is down."""


class PathChoice(Protocol):
    """A choice among routes that are not all of other ASes at the far ends of links."""

    def reachable_parts(self, advert: RouteAdvert) -> tuple[AdvertPart, ...]:
        """Return the parts of an advert whose next hops can be reached."""
        ...

    def choose_best(self, offers: list[RouteOffer]) -> tuple[AdvertPart, tuple[int, ...], tuple[Address | None, ...]]:
        """Return the best of offers of one part each, and the links and next hops that are used together."""
        ...


def decide_best_paths(
    heard_adverts: Sequence[HeardAdverts], limits: MultipathLimits, choice: PathChoice | None = None
) -> LearnedTable:
    """Return the table of a router that heard these adverts, after import, in the order of its links.

    The order of links is the order of precedence of their neighbors in a tie.
    """
    positions: dict[int, list[int]] = {}
    adverts: dict[int, RouteAdvert] = {}
    for position, pieces in enumerate(heard_adverts):
        for advert in pieces:
            adverts[advert.number] = advert
            positions.setdefault(advert.number, []).append(position)
    ranks: dict[tuple[int, int, int, int], list[RouteOffer]] = {}
    for number, advert in adverts.items():
        links = tuple(positions[number])
        rank_groups: dict[tuple[int, int, int, int], list[AdvertPart]] = {}
        for route in advert.parts if choice is None else choice.reachable_parts(advert):
            attrs = route.attributes
            rank_groups.setdefault((-attrs.weight, -attrs.preference, len(attrs.path), attrs.origin), []).append(route)
        for rank, alike in rank_groups.items():
            ranks.setdefault(rank, []).append(RouteOffer(tuple(alike), links))
    covered = 0
    worse: dict[int, int] = {}
    for route in (offered_route for offers in ranks.values() for offer in offers for offered_route in offer.parts):
        if route.attributes.origin:
            worse[route.attributes.origin] = worse.get(route.attributes.origin, 0) | route.bits
    merged: dict[tuple[PathAttributes, tuple[int, ...], tuple[Address | None, ...]], int] = {}
    for rank in sorted(ranks):
        offers = ranks[rank]
        plain = (
            choice is None
            and limits.relaxed
            and all(offered_route.attributes.med is None for offer in offers for offered_route in offer.parts)
        )
        if not plain:
            offers = [RouteOffer((offered_route,), offer.links) for offer in offers for offered_route in offer.parts]
        for bits, rivals in split_by_offers(offers, covered):
            covered |= bits
            best_routes: tuple[AdvertPart, ...]
            vias: tuple[Address | None, ...] = ()
            if choice is None:
                best_routes, hops = _select_multipath(rivals, limits)
            else:
                best, hops, vias = choice.choose_best(rivals)
                best_routes = (best,)
            for attributes, own_bits in best_routes:
                if common_bits := own_bits & bits:
                    key = (attributes, hops, vias)
                    merged[key] = merged.get(key, 0) | common_bits
    return LearnedTable(
        tuple(LearnedTableEntry(key_attrs, bits, hops, vias) for (key_attrs, hops, vias), bits in merged.items()), worse
    )


def split_by_offers(offers: Iterable[RouteOffer], covered: int) -> list[tuple[int, list[RouteOffer]]]:
    """Destinations that are not covered yet, by who offers them, in sets that do not overlap."""
    found_atoms: list[tuple[int, list[RouteOffer]]] = []
    union = 0
    for offer in offers:
        bits = 0
        for offered_route in offer.parts:
            bits |= offered_route.bits
        bits &= ~covered
        overlap = bits & union
        union |= bits
        bits ^= overlap
        if overlap:
            parted: list[tuple[int, list[RouteOffer]]] = []
            for atom_bits, other_offers in found_atoms:
                common_bits = atom_bits & overlap
                if not common_bits:
                    parted.append((atom_bits, other_offers))
                    continue
                parted.append((common_bits, [*other_offers, offer]))
                if common_bits != atom_bits:
                    parted.append((atom_bits ^ common_bits, other_offers))
            found_atoms = parted
        if bits:
            found_atoms.append((bits, [offer]))
    return found_atoms


def _select_multipath(
    offers: list[RouteOffer], limits: MultipathLimits
) -> tuple[tuple[AdvertPart, ...], tuple[int, ...]]:
    """Return the routes of the neighbor that wins a tie, and the links that are used together."""
    candidates = offers
    if len(offers) > 1:
        candidates = drop_rows_losing_by_med(offers, lambda offer: offer.parts[0].attributes, always=limits.always_med)
    best = min(candidates, key=lambda offer: offer.links[0])
    if len(candidates) < len(offers):
        best_attributes = best.parts[0].attributes
        offers = [
            offer
            for offer in offers
            if is_equal_by_med(offer.parts[0].attributes, best_attributes, always=limits.always_med)
        ]
    hops = sorted(link for offer in offers for link in offer.links)
    if not limits.relaxed:
        asn = limits.neighbors[best.links[0]]
        hops = [link for link in hops if limits.neighbors[link] == asn]
    return best.parts, tuple(hops if limits.most is None else hops[: limits.most])


def is_equal_by_med(attributes: PathAttributes, best: PathAttributes, *, always: bool) -> bool:
    """Whether a route is as good as the best one by MED, so that both are used together.

    It may be worse than another of the same neighboring AS: bgpd compares it with the best of all alone (FRR,
    bgpd/bgp_route.c, bgp_best_selection).
    """
    is_compared = always or attributes.path[:1] == best.path[:1]
    return not is_compared or (attributes.med or 0) == (best.med or 0)


def drop_rows_losing_by_med(
    candidate_rows: list[_CandidateRoute], attributes_of: Callable[[_CandidateRoute], PathAttributes], *, always: bool
) -> list[_CandidateRoute]:
    """Return rows without those that lose by MED to another by the same neighboring AS; no MED counts as 0."""
    given_attributes = [attributes_of(row) for row in candidate_rows]
    if all(attributes.med is None for attributes in given_attributes):
        return candidate_rows
    neighbors = [None if always or not attributes.path else attributes.path[0] for attributes in given_attributes]
    least: dict[int | None, int] = {}
    for attributes, asn in zip(given_attributes, neighbors, strict=True):
        med = attributes.med or 0
        least[asn] = min(least.get(asn, med), med)
    compared = zip(candidate_rows, given_attributes, neighbors, strict=True)
    return [row for row, attributes, asn in compared if (attributes.med or 0) == least[asn]]
