"""Whether the order in which neighbors win ties decides anything about forwarding, in one state of a fabric.

Of routes that are equally good a router uses all, unless it may use fewer, and announces one. Which one matters only to
a router whose AS number is in some of the paths and not in others, and to which the route would be as good as its own.
Where routes only get worse from router to router, a path that leads over the router itself is never as good. So only
routers that share an AS number count, and of these the ones behind the best by two hops or more, though a neighbor has
a route: for them every path must lead over the number. That is so if policies let no route of the destination reach
their neighbors over others.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from nodrop.routing.adverts import AdvertPart, destinations_of_parts
from nodrop.routing.decision import LearnedTable
from nodrop.routing.speakers import FamilySpeakers, SpeakerLink

_Rank = tuple[int, int]
"""The preference, from the best on, and the length of the path: 0 for destinations of the router itself."""
_OWN: _Rank = (-1 << 32, 0)


class TieBreakOrderCheck:
    """The routers of a world that share AS numbers."""

    def __init__(self, world: FamilySpeakers) -> None:
        self._world = world
        holders: defaultdict[int, list[int]] = defaultdict(list)
        for number, speaker in world.speakers.items():
            holders[speaker.bgp.asn].append(number)
        self._shared = [numbers for numbers in holders.values() if len(numbers) > 1]
        self._limited = [
            (number, most)
            for number, speaker in world.speakers.items()
            if (most := speaker.limits.most) is not None and most < len(speaker.links)
        ]

    def is_neighbor_order_without_effect(
        self,
        bits: int,
        table_of: Callable[[int], LearnedTable],
        local_parts_of: Callable[[int], tuple[AdvertPart, ...]],
        dead: frozenset[int] = frozenset(),
    ) -> bool:
        """Whether routers forward packets to some destinations alike in any order; False where that is not known."""
        for number, most in self._limited:
            if any(len(entry.hops) >= most and entry.bits & bits for entry in table_of(number).entries):
                return False
        for members in self._shared:
            behind = {}
            for number, late in self._find_routers_farther_than_same_asn(members, bits, table_of, local_parts_of):
                if offered := late & self._destinations_offered_to(number, late, table_of, local_parts_of, dead):
                    behind[number] = offered
            if behind and not self._are_other_ways_over_same_asn(frozenset(members), behind, local_parts_of, dead):
                return False
        return True

    def _find_routers_farther_than_same_asn(
        self,
        members: list[int],
        bits: int,
        table_of: Callable[[int], LearnedTable],
        local_parts_of: Callable[[int], tuple[AdvertPart, ...]],
    ) -> Iterator[tuple[int, int]]:
        """Yield routers of one AS number with the destinations from which another of them is much less far."""
        found: list[Mapping[_Rank, int]] = []
        every: defaultdict[_Rank, int] = defaultdict(int)
        for number in members:
            ranks: defaultdict[_Rank, int] = defaultdict(int)
            own = destinations_of_parts(local_parts_of(number)) & bits
            ranks[_OWN] = own
            for entry in table_of(number).entries:
                if inside := entry.bits & bits & ~own:
                    ranks[-entry.attributes.preference, len(entry.attributes.path)] |= inside
            for rank, inside in ranks.items():
                every[rank] |= inside
            found.append(ranks)
        behind: defaultdict[int, int] = defaultdict(int)
        covered = 0
        for rank in sorted(every):
            best = every[rank] & ~covered
            covered |= best
            for number, known in zip(members, found, strict=True) if best else ():
                near = known.get(rank, 0) | known.get((rank[0], rank[1] + 1), 0)
                if late := best & ~near:
                    behind[number] |= late
        yield from behind.items()

    def _destinations_offered_to(
        self,
        number: int,
        bits: int,
        table_of: Callable[[int], LearnedTable],
        local_parts_of: Callable[[int], tuple[AdvertPart, ...]],
        dead: frozenset[int],
    ) -> int:
        """Return those of some destinations that any neighbor has and may announce to a router."""
        offered = 0
        for link in self._world.speakers[number].links:
            if link.session not in dead and bits & ~offered:
                back = self._world.speakers[link.far].links[link.far_position]
                if passed := bits & ~offered & self._destinations_passed_over_link(back):
                    offered |= passed & (table_of(link.far).bits | destinations_of_parts(local_parts_of(link.far)))
        return offered

    def _are_other_ways_over_same_asn(
        self,
        members: frozenset[int],
        behind: Mapping[int, int],
        local_parts_of: Callable[[int], tuple[AdvertPart, ...]],
        dead: frozenset[int],
    ) -> bool:
        """Whether all other ways of some routers to destinations lead over routers with the same AS number."""
        speakers = self._world.speakers
        every = 0
        for bits in behind.values():
            every |= bits
        offered: dict[int, int] = {}
        waiting = {
            number: own
            for number in speakers
            if number not in members and (own := destinations_of_parts(local_parts_of(number)) & every)
        }
        while waiting:
            now, waiting = waiting, {}
            for number, new in now.items():
                new &= ~offered.get(number, 0)
                offered[number] = offered.get(number, 0) | new
                for link in speakers[number].links if new else ():
                    if link.session not in dead and link.far not in members:
                        passed = new & self._destinations_passed_over_link(link) & ~offered.get(link.far, 0)
                        if passed:
                            waiting[link.far] = waiting.get(link.far, 0) | passed
        for number, bits in behind.items():
            for link in speakers[number].links:
                if link.session not in dead and offered.get(link.far, 0) & bits:
                    back = speakers[link.far].links[link.far_position]
                    if offered[link.far] & bits & self._destinations_passed_over_link(back):
                        return False
        return True

    def _destinations_passed_over_link(self, link: SpeakerLink) -> int:
        """Return the destinations that the policies of both ends let pass over a link, from its router on."""
        return link.outbound.reach & self._world.speakers[link.far].links[link.far_position].inbound.reach
