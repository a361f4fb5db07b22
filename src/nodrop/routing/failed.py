"""What becomes of the routes once sessions are dead: only who hears something else than before decides again."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from nodrop.routing.adverts import AdvertPart, restrict_parts
from nodrop.routing.convergence import AdvertResultCache, ConvergedState
from nodrop.routing.decision import HeardAdverts, LearnedTable
from nodrop.routing.speakers import BgpSpeaker, FamilySpeakers


class RouteTableChange(NamedTuple):
    """Changes of a router's table: destinations that are lost, and those that are reached over fewer links.

    `weaker` has destinations, the number of links now and the number before. `gains` is whether any link is used for a
    destination that did not use it before.
    """

    lost: int
    weaker: tuple[tuple[int, int, int], ...]
    gains: bool


def change_between_learned_tables(table_before: LearnedTable, learned_table: LearnedTable) -> RouteTableChange:
    """Return what becomes of a router that had one table and has another."""
    new_keys = {(entry.hops, entry.bits) for entry in learned_table.entries}
    old_keys = {(entry.hops, entry.bits) for entry in table_before.entries}
    new = [entry for entry in learned_table.entries if (entry.hops, entry.bits) not in old_keys]
    weaker: list[tuple[int, int, int]] = []
    gains = bool(learned_table.bits & ~table_before.bits)
    for old in table_before.entries:
        if (old.hops, old.bits) in new_keys:
            continue
        for entry in new:
            if common_bits := old.bits & entry.bits:
                if len(entry.hops) < len(old.hops):
                    weaker.append((common_bits, len(entry.hops), len(old.hops)))
                gains = gains or not set(entry.hops) <= set(old.hops)
    return RouteTableChange(table_before.bits & ~learned_table.bits, tuple(weaker), gains)


class FailureResultCache:
    """Results for some destinations, for every failure that changes the announcements of these and no others."""

    def __init__(self, world: FamilySpeakers, bits: int) -> None:
        self.bits, self.makers = bits, AdvertResultCache(world)
        self.within: dict[HeardAdverts, HeardAdverts] = {}
        self.advertised: dict[tuple[int, int], HeardAdverts] = {}
        """What was advertised before, by router and policy."""
        self.before: dict[LearnedTable, LearnedTable] = {}
        self.changes: dict[tuple[LearnedTable, LearnedTable], RouteTableChange] = {}
        """By two tables, of which one is in `table_before` and the other in `makers`."""

    def table_change(self, before: LearnedTable, table: LearnedTable) -> RouteTableChange:
        """Return the routes that a router loses between two tables; many routers have the same two."""
        key = (before, table)
        found_change = self.changes.get(key)
        if found_change is None:
            found_change = self.changes[key] = change_between_learned_tables(before, table)
        return found_change


class FailedState(ConvergedState):
    """The state of `bits`, the destinations with changed announcements, once sessions are dead.

    Other destinations keep the routes that they have in `base`, except next hops that are gone.
    """

    def __init__(
        self,
        base: ConvergedState,
        dead: frozenset[int],
        local: Mapping[int, tuple[AdvertPart, ...]],
        cache: FailureResultCache,
    ) -> None:
        super().__init__(cache.makers)
        self._base, self.dead, self._changed, self.bits = base, dead, local, cache.bits
        self._known, self._within, self._before = cache, cache.within, cache.before
        self._listeners: set[int] = set()

    def table_before(self, number: int) -> LearnedTable:
        """Return the routes of a router to these destinations before the failure."""
        table = self._base.table(number)
        found_table = self._before.get(table)
        if found_table is None:
            entries = (entry._replace(bits=entry.bits & self.bits) for entry in table.entries if entry.bits & self.bits)
            found_table = self._before[table] = LearnedTable(tuple(entries))
        return found_table

    def table_after(self, number: int) -> LearnedTable:
        """Return the routes of a router to these destinations after convergence."""
        table = self.tables.get(number)
        return self.table_before(number) if table is None else table

    def originated_parts(self, number: int) -> tuple[AdvertPart, ...]:
        """Return those of these destinations that a router originates."""
        return restrict_parts(self._changed.get(number, self.world.speakers[number].local), self.bits)

    def sent_adverts(self, number: int, outbound: int) -> HeardAdverts:
        """Return the adverts of these destinations that a router sends under a policy."""
        own_adverts = self._advertised.get(number)
        if own_adverts is not None and outbound in own_adverts:
            return own_adverts[outbound]
        base_adverts = self._base.sent_adverts(number, outbound)
        found_adverts = self._within.get(base_adverts)
        if found_adverts is None:
            adverts = self.makers.adverts
            pieces = [adverts.restrict_advert(advert, self.bits) for advert in base_adverts]
            found_adverts = self._within[base_adverts] = tuple([piece for piece in pieces if piece.bits])
        return found_adverts

    def is_session_up(self, session: int) -> bool:
        """Whether a session is still there."""
        return session not in self.dead

    def _heard(self, speaker: BgpSpeaker) -> tuple[HeardAdverts, ...]:
        """Return the adverts that a router hears, link by link; inlined, as most of the time is spent here."""
        adverts_by_router, before = self._advertised, self._known.advertised
        link_adverts = []
        for whom in speaker.hears:
            own_adverts = adverts_by_router.get(whom[0])
            heard = before.get(whom) if own_adverts is None else own_adverts[whom[1]]
            if heard is None:
                heard = before[whom] = self.sent_adverts(*whom)
            link_adverts.append(heard)
        if not self.dead.isdisjoint(speaker.sessions):
            for position, link in enumerate(speaker.links):
                if link.session in self.dead:
                    link_adverts[position] = ()
        return tuple(link_adverts)

    def converge_from(self, begin: Iterable[int]) -> Self:
        """Let routers talk as before; those that pass nothing of this on decide at the end."""
        super().converge_from(begin)
        alike: dict[int, tuple[HeardAdverts, ...]] = {}
        for number in sorted(self._listeners):
            speaker = self.world.speakers[number]
            if not self.dead.isdisjoint(speaker.sessions):
                heard = self._heard(speaker)
            elif (heard := alike.get(speaker.sources, ())) == ():
                heard = alike[speaker.sources] = self._heard(speaker)
            self.tables[number] = self.makers.table(speaker, heard)
        return self

    def _announce_changes(self, speaker: BgpSpeaker, table: LearnedTable) -> list[int]:
        speakers, telling = self.world.speakers, []
        for far in super()._announce_changes(speaker, table):
            if speakers[far].reach & self.bits:
                telling.append(far)
            else:
                self._listeners.add(far)
        return telling
