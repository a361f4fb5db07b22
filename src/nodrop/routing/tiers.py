"""Which way is up: the rank of a device, and the destinations that a switch sends up again after they came down.

Lossless traffic that goes down and up again (a valley) can wait for itself in a circle, and then stops for good (Hu et
al., Deadlocks in Datacenter Networks, HotNets 2016).
"""

from collections.abc import Callable, Mapping

from nodrop.model.fabric import Device
from nodrop.model.states import Unknown
from nodrop.routing.adverts import AdvertPart, destinations_of_parts
from nodrop.routing.decision import LearnedTable, LearnedTableEntry
from nodrop.routing.speakers import FamilySpeakers

RANK_BY_ROLE = {"leaf": 0, "spine": 1, "superspine": 2, "tier4": 3, "tier5": 4}
"""The tiers of a Clos fabric by their roles, from the hosts up; a device of another role stands in none."""


def tier_of_device(device: Device) -> int | None:
    """Return the tier of a device; None where its role is not known or is none of a Clos fabric."""
    return None if isinstance(device.role, Unknown) else RANK_BY_ROLE.get(device.role)


class TierDirections:
    """The ranks of the routers of a world, and which of their links lead up."""

    def __init__(self, world: FamilySpeakers) -> None:
        self._world = world
        self._ranks: Mapping[int, int | None] = {
            number: tier_of_device(speaker.router.device) for number, speaker in world.speakers.items()
        }
        self._found: dict[int, tuple[frozenset[int], frozenset[int]]] = {}

    def uplink_positions(self, number: int) -> frozenset[int]:
        """Return the positions of a router's links that lead to a higher tier."""
        return self._up_and_down_link_positions(number)[0]

    def downlink_positions(self, number: int) -> frozenset[int]:
        """Return the positions of a router's links that lead to a lower tier."""
        return self._up_and_down_link_positions(number)[1]

    def _up_and_down_link_positions(self, number: int) -> tuple[frozenset[int], frozenset[int]]:
        link_positions = self._found.get(number)
        if link_positions is None:
            own_rank = self._ranks[number]
            up: list[int] = []
            down: list[int] = []
            for position, link in enumerate(self._world.speakers[number].links):
                far_rank = self._ranks[link.far]
                if own_rank is not None and far_rank is not None and far_rank != own_rank:
                    (up if far_rank > own_rank else down).append(position)
            link_positions = self._found[number] = (frozenset(up), frozenset(down))
        return link_positions

    def destinations_by_router_pair(
        self,
        destination_bits: int,
        table_of_router: Callable[[int], LearnedTable],
        local_parts_of: Callable[[int], tuple[AdvertPart, ...]],
    ) -> Mapping[tuple[int, int], int]:
        """Return the destinations by pair of routers between which their traffic goes, sent from the lowest tier."""
        over: dict[tuple[int, int], int] = {}
        seen: dict[int, int] = {}
        known: dict[LearnedTable, list[LearnedTableEntry]] = {}
        waiting = {number: destination_bits for number, tier in self._ranks.items() if tier in (0, None)}
        while waiting:
            number, new = waiting.popitem()
            new &= ~seen.get(number, 0)
            seen[number] = seen.get(number, 0) | new
            new &= ~destinations_of_parts(local_parts_of(number))
            links = self._world.speakers[number].links
            table = table_of_router(number)
            if table not in known:
                known[table] = [entry for entry in table.entries if entry.bits & destination_bits]
            for entry in known[table] if new else ():
                new_bits = entry.bits & new
                for far in {links[hop].far for hop in entry.hops} if new_bits else ():
                    over[number, far] = over.get((number, far), 0) | new_bits
                    if unseen_bits := new_bits & ~seen.get(far, 0):
                        waiting[far] = waiting.get(far, 0) | unseen_bits
        return over

    def destinations_from_above(self, router_number: int, bits_by_pair: Mapping[tuple[int, int], int]) -> int:
        """Return the destinations that reach a router from above, of those that go `bits_by_pair` pairs of routers."""
        links = self._world.speakers[router_number].links
        bits = 0
        for far in {links[position].far for position in self.uplink_positions(router_number)}:
            bits |= bits_by_pair.get((far, router_number), 0)
        return bits

    def valley_destinations(
        self,
        router_number: int,
        table_of_router: Callable[[int], LearnedTable],
        local_parts_of: Callable[[int], tuple[AdvertPart, ...]],
    ) -> int:
        """Return the destinations that a router gets from above and sends up again."""
        up = self.uplink_positions(router_number)
        sent = 0
        for entry in table_of_router(router_number).entries:
            if not up.isdisjoint(entry.hops):
                sent |= entry.bits
        sent &= ~destinations_of_parts(local_parts_of(router_number))
        if not sent:
            return 0
        links = self._world.speakers[router_number].links
        got = 0
        for position in up:
            link = links[position]
            for entry in table_of_router(link.far).entries:
                if entry.bits & sent and link.far_position in entry.hops:
                    got |= entry.bits & ~destinations_of_parts(local_parts_of(link.far))
        return sent & got
