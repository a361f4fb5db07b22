"""Where a route ends that should go on: what policies and loop rejection take away between two routers.

A route should go down from every router that has it, and up from one that has it from below or from itself; one that
came down and goes up again (a valley) is no loss.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from nodrop.analyses._plane import of
from nodrop.analyses._targets import Announced, Target, targets
from nodrop.model.index import Index
from nodrop.routing import ControlPlane
from nodrop.routing.adverts import Advert, Part, together
from nodrop.routing.prefixes import BITS, FAMILIES, Family, Prefix
from nodrop.routing.speakers import Link
from nodrop.routing.tiers import rank


class Drop(NamedTuple):
    """Destinations that a router takes away on a session: what it does not tell, or not take (`inbound`).

    `loop` ones it does not take for its own AS number in their paths. `lost` are those that a leaf then lacks.
    """

    router: int
    link: Link
    kind: Literal["inbound", "outbound", "loop"]
    bits: int
    lost: int


class Reach:
    """Who has a route to what in one family, and where routes end."""

    def __init__(self, index: Index, plane: ControlPlane, family: Family) -> None:
        self.plane, self.routes = plane, plane.of(family)
        self.world, self.state = self.routes.world, self.routes.state
        self.announced = Announced(self.routes)
        self.targets: tuple[Target, ...] = tuple(one for one in targets(index) if one.prefix.family == family)
        self.hosts = self._classes("hosts")
        """The classes of what hosts are announced in."""
        self.wanted = self.hosts | self._classes("loopback")
        """The classes of what hosts and loopbacks are announced in."""
        self.ranks = {number: rank(one.router.device) for number, one in self.world.speakers.items()}
        self._ways_of: dict[int, tuple[dict[int, int], int]] = {}
        self._taken: dict[tuple[int, int, int, int], tuple[int, int]] = {}

    def _classes(self, kind: str) -> int:
        found = (self.announced.covering(one.prefix, one.router) for one in self.targets if one.kind == kind)
        return self.world.destinations.bits({one for one in found if one is not None})

    def own(self, number: int) -> int:
        """Return what a router announces itself."""
        return together(self.state.local(number))

    def has(self, number: int) -> int:
        """Return what a router has a route to."""
        return self.state.table(number).bits | self.own(number)

    def drops(self) -> Iterator[Drop]:
        """Yield what is taken away, session by session."""
        lacked = 0
        for number, tier in self.ranks.items():
            if tier in (0, None):
                lacked |= self.wanted & ~self.has(number)
        for number, speaker in self.world.speakers.items():
            missing = self.wanted & ~self.has(number)
            leaf = self.ranks[number] in (0, None)
            for link, whom in zip(speaker.links, speaker.hears, strict=True):
                there = self.world.speakers[link.far].links[link.far_position]
                told = self.state.tells(*whom)
                should = self.wanted & ~self.own(number) & self.should(link.far, number, missing)
                lost = missing if leaf else missing & lacked
                kept = should & ~_bits(told)
                if kept := kept & ~self._covered(number, link, kept):
                    yield Drop(link.far, there, "outbound", kept, kept & lost)
                loop, refused = self._refused(number, link, told)
                if leaf and (loop & should & missing):
                    yield Drop(number, link, "loop", loop & should, loop & should & missing)
                refused &= should
                if refused := refused & ~self._covered(number, link, refused):
                    yield Drop(number, link, "inbound", refused, refused & lost)

    def ways(self, number: int) -> tuple[dict[int, int], int]:
        """Return what a router reaches over each neighbor, and what over one above; without its own."""
        if number not in self._ways_of:
            self._ways_of[number] = self._ways(number)
        return self._ways_of[number]

    def _ways(self, number: int) -> tuple[dict[int, int], int]:
        links, above, others = self.world.speakers[number].links, 0, ~self.own(number)
        over: dict[int, int] = {}
        own = self.ranks[number]
        for entry in self.state.table(number).entries:
            for far in {links[hop].far for hop in entry.hops}:
                over[far] = over.get(far, 0) | (entry.bits & others)
                tier = self.ranks[far]
                if own is not None and tier is not None and tier > own:
                    above |= entry.bits & others
        return over, above

    def should(self, number: int, far: int, missing: int) -> int:
        """Return the destinations that one router should tell another: of those that it has from elsewhere.

        Where one of them has no tier, only what the other misses counts.
        """
        over, above = self.ways(number)
        has = self.has(number) & ~over.get(far, 0)
        own, there = self.ranks[number], self.ranks[far]
        if own is None or there is None:
            return has & missing
        if own == there:
            return 0
        return has & ~above if there > own else has

    def _refused(self, number: int, link: Link, told: tuple[Advert, ...]) -> tuple[int, int]:
        """Return what a router refuses of the routes that it hears: for its AS number, and by its policy."""
        asn = self.world.speakers[number].bgp.asn
        loop = refused = 0
        for advert in told:
            key = (advert.number, link.inbound.number, asn if asn in advert.numbers else 0, link.repeats)
            if key not in self._taken:
                left = tuple(one for one in advert.parts if one.attributes.path.count(asn) <= link.repeats)
                own = advert.bits & ~together(left)
                passed: list[Part] = link.inbound.parts(left, together(left))
                self._taken[key] = own, advert.bits & ~own & ~together(passed)
            loop |= self._taken[key][0]
            refused |= self._taken[key][1]
        return loop, refused

    def _covered(self, number: int, link: Link, bits: int) -> int:
        """Of some destinations, those for which a router has a wider route over a link instead."""
        if not bits:
            return 0
        covered = []
        for one in self.prefixes(bits):
            for wider in self.announced.around(one):
                if wider != one and (route := self.routes.route(number, wider)) is not None:
                    if any(hop.router == link.far for hop in route.hops):
                        covered.append(one)
                    break
        return self.world.destinations.bits(covered)

    def prefixes(self, bits: int) -> list[Prefix]:
        """Return the prefixes of some classes, those of loopbacks last."""
        members = self.world.destinations.members
        found: list[Prefix] = []
        while bits:
            low = bits & -bits
            found += members[low.bit_length() - 1]
            bits ^= low
        return sorted(found, key=lambda one: (one.length == BITS[one.family], one))


def _bits(told: tuple[Advert, ...]) -> int:
    bits = 0
    for advert in told:
        bits |= advert.bits
    return bits


def reaches(index: Index) -> list[Reach]:
    """Return who has a route to what, for each family that a session carries."""
    plane = of(index)
    return index.keep(
        "reaches", lambda: [Reach(index, plane, family) for family in FAMILIES if family in plane.families]
    )


def drops(index: Index) -> list[tuple[Reach, Drop]]:
    """Return all that is taken away, the same to every rule."""
    return index.keep("drops", lambda: list(_drops(index)))


def _drops(index: Index) -> Iterator[tuple[Reach, Drop]]:
    unknown = {gap.subject[0] for gap in of(index).gaps}
    for reach in reaches(index):
        for one in reach.drops():
            if reach.plane.routers[one.router].device.name not in unknown:
                yield reach, one
