"""Equal paths that a router uses only in part, though all lead there over as few cables.

Cables and tiers decide which paths are equal; the attributes of the routes decide why a path is not used. A
drained switch's requests to its neighbors have a separate rule, and a longer way around a part that is down is no
fault.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._expected import LegToNeighbor, shortest_legs_to_owners
from nodrop.model.index import Index
from nodrop.model.routing import BgpNeighbor, Ipv6Unicast
from nodrop.model.subject import Subject
from nodrop.routing.adverts import PathAttributes, destinations_of_parts
from nodrop.routing.originating import default_local_preference
from nodrop.routing.policy import GRACEFUL_SHUTDOWN_COMMUNITY
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routers import VrfRouter
from nodrop.routing.words import neighbor_family_statement

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True
_BGP_ORIGIN_NAMES = ("IGP", "EGP", "incomplete")


class _LinkOffer(NamedTuple):
    """The offer of a link: destinations, with the attributes as they were advertised and as they were accepted."""

    advertised: PathAttributes
    taken: PathAttributes
    bits: int


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield what makes routers use some of equal paths, once each, with the example that has the most."""
    best_hits: dict[Subject, tuple[int, AnalysisHit]] = {}
    for reach in route_propagations_of(index):
        unused = _UnusedPathFinder(reach)
        for number, speaker in reach.world.speakers.items():
            for paths, hit in unused.hits(number) if not speaker.bgp.graceful_shutdown else ():
                if hit.subject not in best_hits or best_hits[hit.subject][0] < paths:
                    best_hits[hit.subject] = paths, hit
    yield from (hit for _, hit in best_hits.values())


class _PreferenceCause(NamedTuple):
    """By which attribute one path is better than another, and whether the `used` one has it from a policy."""

    kind: str
    what: str
    used: bool = False


def _preference_cause(used: _LinkOffer, other_offer: _LinkOffer, default_preference: int) -> _PreferenceCause | None:
    """Return why an offer is used and another not, in the order of FRR's decision; None if no attribute decides.

    `default_preference` is the preference of a route that no policy gives another.
    """
    a, b = used.taken, other_offer.taken
    if a.weight != b.weight:
        return _PreferenceCause("weight", f"weight {a.weight} against {b.weight}", a.weight != 0)
    if GRACEFUL_SHUTDOWN_COMMUNITY in b.communities - a.communities:
        return _PreferenceCause("mark", f"the community {GRACEFUL_SHUTDOWN_COMMUNITY}")
    if a.preference != b.preference:
        cause_text = f"local preference {a.preference} against {b.preference}"
        return _PreferenceCause("preference", cause_text, a.preference != default_preference)
    if len(a.path) != len(b.path):
        return _PreferenceCause("path", f"path length {len(a.path)} against {len(b.path)}")
    if a.origin != b.origin:
        return _PreferenceCause("origin", f"origin {_BGP_ORIGIN_NAMES[a.origin]} against {_BGP_ORIGIN_NAMES[b.origin]}")
    if (a.med or 0) != (b.med or 0):
        return _PreferenceCause("med", f"MED {a.med or 0} against {b.med or 0}")
    return None


class _AttributeOrigin(NamedTuple):
    """Where a route gets an attribute: a router, one of its links, and whether it is received there or announced."""

    number: int
    position: int
    inbound: bool


class _DestinationsOfLinks:
    """What the links of a router offer: destinations of each, asked for what others than given ones offer."""

    def __init__(self, by_link: Sequence[int]) -> None:
        self._by_link = by_link
        self.by_any = self._by_several = 0
        """The destinations that any link offers, and those that more than one does."""
        for bits in by_link:
            self._by_several |= self.by_any & bits
            self.by_any |= bits
        self._beside: dict[tuple[int, ...], int] = {}

    def is_any_beside(self, hops: tuple[int, ...], bits: int) -> bool:
        """Whether a link that is not among `hops` offers any of some destinations."""
        if len(hops) == 1 and not bits & self._by_several:
            return bool(bits & self.by_any & ~self._by_link[hops[0]])
        if hops not in self._beside:
            used = frozenset(hops)
            others = (offered for position, offered in enumerate(self._by_link) if position not in used)
            self._beside[hops] = reduce(or_, others, 0)
        return bool(bits & self._beside[hops])


class _UnusedPathFinder:
    """The links of routers that carry nothing to a destination, though they lead there over as few cables as others."""

    def __init__(self, reach: RoutePropagation) -> None:
        self._reach = reach
        self._offered: dict[tuple[int, int], list[_LinkOffer]] = {}
        self._legs: dict[tuple[int, ...], Mapping[int, frozenset[str]]] = {}
        self._passing = {number: not speaker.bgp.graceful_shutdown for number, speaker in reach.world.speakers.items()}

    @cached_property
    def _ways(self) -> Mapping[int, list[LegToNeighbor]]:
        """The legs of each router to neighbors of other tiers."""
        reach, ways = self._reach, defaultdict[int, list[LegToNeighbor]](list)
        for number, speaker in reach.world.speakers.items():
            own_rank = reach.ranks[number]
            for link in speaker.links:
                rank = reach.ranks[link.far]
                leg = reach.plane.side(number, link.session).leg.name
                if own_rank is None or rank is None:
                    ways[number].append(LegToNeighbor(leg, link.far, up=True, down=True))
                elif own_rank != rank:
                    ways[number].append(LegToNeighbor(leg, link.far, up=rank > own_rank, down=rank < own_rank))
        return ways

    def hits(self, number: int) -> Iterator[tuple[int, AnalysisHit]]:
        """Yield what keeps links of a router unused, with the number of equal paths."""
        reach = self._reach
        links, usual = reach.world.speakers[number].links, default_local_preference(reach.world.speakers[number].bgp)
        should = [
            reach.destinations_to_announce(link.far, number, 0) if self._passing[link.far] else 0 for link in links
        ]
        offered = _DestinationsOfLinks(should)
        expected_bits = reach.wanted & ~reach.destinations_announced_by(number) & offered.by_any
        for entry in reach.state.table(number).entries:
            bits = entry.bits & expected_bits
            if not bits or not entry.hops or len(entry.hops) == len(links):
                continue
            if not offered.is_any_beside(entry.hops, bits):
                continue
            used = next(
                (hop_offer for hop_offer in self._offers_of_link(number, entry.hops[0]) if hop_offer.bits & bits), None
            )
            unused_links: list[tuple[_PreferenceCause, int, int]] = []
            for position, link_should in enumerate(should):
                link_bits = bits & link_should
                if not link_bits or position in entry.hops or used is None:
                    continue
                for offer in self._offers_of_link(number, position):
                    if not (shared_bits := offer.bits & link_bits):
                        continue
                    cause = self._find_own_asn_in_path_cause(number, position, offer) or _preference_cause(
                        used, offer, usual
                    )
                    if cause is not None and (
                        example := self._destination_with_shortest_way(number, position, shared_bits)
                    ):
                        unused_links.append((cause, position, example))
                        break
            paths = len(entry.hops) + len(unused_links)
            for cause, position, example in unused_links:
                at = entry.hops[0] if cause.used else position
                place = self._find_attribute_origin(number, at, example, cause)
                if cause.kind == "mark" and not place.inbound and self._is_drained(place.number):
                    continue
                prefix = reach.prefixes(example)[0]
                yield paths, _build_hit(reach, number, cause, place, prefix, (len(entry.hops), paths))

    def _is_drained(self, router_number: int) -> bool:
        """Whether a router marks all its advertisements to every neighbor, which `switch-drained` reports."""
        state, speaker = self._reach.state, self._reach.world.speakers[router_number]
        adverts = [
            advert for link in speaker.links for advert in state.sent_adverts(router_number, link.outbound.number)
        ]
        return all(
            GRACEFUL_SHUTDOWN_COMMUNITY in route.attributes.communities for advert in adverts for route in advert.parts
        )

    def _offers_of_link(self, number: int, position: int) -> list[_LinkOffer]:
        """Return the offers of a link; the same policy for the same advert is read once."""
        speaker = self._reach.world.speakers[number]
        link = speaker.links[position]
        offers: list[_LinkOffer] = []
        for advert in self._reach.state.sent_adverts(*speaker.hears[position]):
            key = (advert.number, link.inbound.number)
            if key not in self._offered:
                self._offered[key] = [
                    _LinkOffer(advert_part.attributes, taken, bits)
                    for advert_part in advert.parts
                    for taken, bits in link.inbound.apply_to_routes((advert_part,), advert_part.bits)
                ]
            offers += self._offered[key]
        return offers

    def _find_own_asn_in_path_cause(
        self, router_number: int, position: int, offer: _LinkOffer
    ) -> _PreferenceCause | None:
        """Return the cause where a router takes no route over a link for its own AS number in the path."""
        speaker = self._reach.world.speakers[router_number]
        asn = speaker.bgp.asn
        if offer.advertised.path.count(asn) <= speaker.links[position].repeats:
            return None
        return _PreferenceCause("loop", f"its own AS number {asn} is in the path of the others")

    def _destination_with_shortest_way(self, number: int, position: int, bits: int) -> int:
        """Return one of the given destinations that has a shortest way over a link; 0 if there is none."""
        leg = self._reach.plane.side(number, self._reach.world.speakers[number].links[position].session).leg.name
        while bits:
            low = bits & -bits
            bits ^= low
            if leg in self._legs_towards_destination(low).get(number, ()):
                return low
        return 0

    def _legs_towards_destination(self, bit: int) -> Mapping[int, frozenset[str]]:
        world = self._reach.world
        prefix = world.destinations.prefixes_by_class[bit.bit_length() - 1][0]
        owners = tuple(sorted({row[0] for row in world.origins.get(prefix, ())}))
        if owners not in self._legs:
            self._legs[owners] = shortest_legs_to_owners(owners, self._ways, self._passing)
        return self._legs[owners]

    def _find_attribute_origin(self, number: int, position: int, bit: int, cause: _PreferenceCause) -> _AttributeOrigin:
        """Return where a route to a destination that is heard over a link gets what makes it better or worse."""
        state, speakers = self._reach.state, self._reach.world.speakers
        seen: set[int] = set()
        while True:
            seen.add(number)
            offer = next(hop_offer for hop_offer in self._offers_of_link(number, position) if hop_offer.bits & bit)
            if cause.kind in ("weight", "preference", "loop") or _deciding_attribute_value(
                offer.taken, cause
            ) != _deciding_attribute_value(offer.advertised, cause):
                return _AttributeOrigin(number, position, inbound=True)
            link = speakers[number].links[position]
            place = _AttributeOrigin(link.far, link.far_position, inbound=False)
            entry = state.table(link.far).entry_of_class(bit.bit_length() - 1)
            if (
                cause.kind == "med"
                or entry is None
                or bit & destinations_of_parts(state.originated_parts(link.far))
                or link.far in seen
            ):
                return place
            grows = 1 if cause.kind == "path" else 0
            if (
                _deciding_attribute_value(offer.advertised, cause)
                > _deciding_attribute_value(entry.attributes, cause) + grows
            ):
                return place
            number, position = link.far, entry.hops[0]


def _deciding_attribute_value(attributes: PathAttributes, cause: _PreferenceCause) -> int:
    marked = int(GRACEFUL_SHUTDOWN_COMMUNITY in attributes.communities)
    return {"path": len(attributes.path), "origin": attributes.origin, "med": attributes.med or 0, "mark": marked}.get(
        cause.kind, 0
    )


def _build_hit(
    reach: RoutePropagation,
    number: int,
    cause: _PreferenceCause,
    place: _AttributeOrigin,
    example: Prefix,
    paths: tuple[int, int],
) -> AnalysisHit:
    plane = reach.plane
    link = reach.world.speakers[place.number].links[place.position]
    side = plane.side(place.number, link.session)
    router = plane.routers[place.number]
    family_config = neighbor_family_statement(side.neighbor, reach.routes.family)
    name, subject = _name_cause_source(router, router.subject_of_neighbor(side.neighbor), family_config, cause, place)
    return AnalysisHit(
        subject=subject,
        facts={
            "device": router.name,
            "policy": name,
            "chooser": plane.routers[number].name,
            "what": cause.what,
            "used": paths[0],
            "paths": paths[1],
            "prefix": str(example),
        },
        related=((router.subject_of_neighbor(side.neighbor), "a session with this policy"),),
        discriminator="import" if place.inbound else "export",
    )


def _name_cause_source(
    router: VrfRouter,
    session: Subject,
    family_config: BgpNeighbor | Ipv6Unicast,
    cause: _PreferenceCause,
    place: _AttributeOrigin,
) -> tuple[str, Subject]:
    """Return the setting that is the cause, in the words of a message, and its subject."""
    bgp = router.bgp
    if cause.kind == "loop":
        return f"the session to {session[-1]}", session
    if cause.kind == "weight" and family_config.weight:
        return f"the weight of neighbor {session[-1]}", (*session, "weight")
    if cause.kind == "med" and not place.inbound and bgp is not None and bgp.maximum_med is not None:
        return "max-med", (*router.bgp_subject, "maximum_med")
    policy = family_config.import_policy if place.inbound else family_config.export_policy
    if policy is None:
        return f"the session to {session[-1]}", session
    return f"route map {policy}", (*router.bgp_subject, "route_maps", policy)
