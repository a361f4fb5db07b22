"""Convergence: routers announce the routes that they use to one another until nobody has anything new to announce.

Routers that hear the same and treat it alike share one table, and an advert under one policy is made once.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Self

from nodrop.model.routing import Bgp
from nodrop.routing.adverts import (
    DEFAULT_PREFERENCE,
    IGP,
    PLACEHOLDER_ORIGIN_ASN,
    AdvertCache,
    AdvertPart,
    IbgpOrMultihopSource,
    PathAttributes,
    RouteAdvert,
    destinations_of_parts,
    may_be_exported,
    restrict_parts,
)
from nodrop.routing.decision import HeardAdverts, LearnedTable, decide_best_paths
from nodrop.routing.inside import (
    accept_ibgp_or_multihop_parts,
    announce_to_ibgp_neighbor,
    decide_internal_paths,
    drop_self_resolving_host_routes,
)
from nodrop.routing.originating import LOCAL_WEIGHT, default_local_preference
from nodrop.routing.policy import (
    GRACEFUL_SHUTDOWN_COMMUNITY,
    CompiledPolicy,
    add_shutdown_community,
    drain_attributes,
)
from nodrop.routing.prefixes import Prefix
from nodrop.routing.speakers import BgpSpeaker, FamilySpeakers, SpeakerLink
from nodrop.routing.tiers import tier_of_device

_MAX_TURNS_PER_ROUTER: Final = 400
"""After how many turns of each router those that still change are taken to do so for ever (RFC 4264)."""
_EMPTY_LEARNED_TABLE = LearnedTable(())


class AdvertResultCache:
    """Results made from adverts in one world, each once: imports, tables and onward announcements.

    One created with `beside` reuses the imports of the other, and its results from these are forgotten with it.
    """

    def __init__(self, world: FamilySpeakers, beside: "AdvertResultCache | None" = None) -> None:
        self.world, self.adverts = world, AdvertCache()
        self._heard = self.adverts if beside is None else beside.adverts
        self._tables: dict[tuple[object, ...], LearnedTable] = {}
        self._imports: dict[tuple[int, int, int, int, bool], RouteAdvert] = {} if beside is None else beside._imports
        self._numbers: dict[tuple[HeardAdverts, ...], frozenset[int]] = {}
        self._exports: dict[tuple[object, ...], RouteAdvert] = {}

    @property
    def table_count(self) -> int:
        """How many tables are made; routers that are alike share theirs."""
        return len(self._tables)

    @property
    def import_count(self) -> int:
        """How many imports are made; routers that take an advert alike share one."""
        return len(self._imports)

    def table(self, speaker: BgpSpeaker, heard: tuple[HeardAdverts, ...]) -> LearnedTable:
        """Return the table that a router computes from the adverts of its neighbors."""
        numbers = self._numbers.get(heard)
        if numbers is None:
            numbers_by_advert = {advert.number: advert.numbers for pieces in heard for advert in pieces}
            numbers = self._numbers[heard] = frozenset().union(*numbers_by_advert.values())
        own_asn = speaker.bgp.asn if speaker.bgp.asn in numbers else 0
        drained = speaker.bgp.graceful_shutdown
        key = (speaker.shape, own_asn, drained, heard)
        found_table = self._tables.get(key)
        if found_table is None:
            accepted = [
                tuple([self.import_advert(link, advert, own_asn, drained=drained) for advert in pieces])
                for link, pieces in zip(speaker.links, heard, strict=True)
            ]
            new_table = (
                decide_internal_paths(speaker, accepted)
                if speaker.peers
                else decide_best_paths(accepted, speaker.limits)
            )
            found_table = self._tables[key] = new_table
        return found_table

    def import_advert(self, link: SpeakerLink, advert: RouteAdvert, asn: int, *, drained: bool) -> RouteAdvert:
        """Return the parts of an advert that remain without loops and after the import policy.

        Routers that differ by an AS number that is in no path of the advert share the result.
        """
        if asn not in advert.numbers:
            asn = 0
        key = (advert.number, link.inbound.number, asn, link.repeats, drained)
        found_advert = self._imports.get(key)
        if found_advert is None:
            if not drained and _is_imported_unchanged(link.inbound, advert):
                looping = [part for part in advert.parts if asn and part.attributes.path.count(asn) > link.repeats]
                found_advert = self._heard.without_parts(advert, looping)
            else:
                found_advert = self._heard.of(self._import_parts(link, advert, asn, drained=drained))
            self._imports[key] = found_advert
        return found_advert

    def _import_parts(self, link: SpeakerLink, advert: RouteAdvert, asn: int, *, drained: bool) -> list[AdvertPart]:
        routes = advert.parts
        if asn:
            routes = tuple([route for route in routes if route.attributes.path.count(asn) <= link.repeats])
        peering = link.inbound.peering
        if peering is not None:
            routes = tuple(accept_ibgp_or_multihop_parts(routes, peering))
        valid_routes = link.inbound.apply_to_routes(routes, advert.bits)
        if link.inbound.next_hops_may_be_off_link:
            valid_routes = list(drop_self_resolving_host_routes(valid_routes, self._class_bits))
        if (drained or any(attributes.communities for attributes, _ in valid_routes)) and not (
            peering is not None and peering.internal
        ):
            valid_routes = [
                AdvertPart(_lower_preference_when_drained(attributes, drained=drained), bits)
                for attributes, bits in valid_routes
            ]
        return valid_routes

    def compute_adverts(
        self,
        speaker: BgpSpeaker,
        local_parts: tuple[AdvertPart, ...],
        learned_table: LearnedTable,
        outbound: CompiledPolicy,
    ) -> HeardAdverts:
        """Return the adverts for a neighbor: routes that the router originates, and the best that it has learned.

        The two are separate pieces: routers that learned the same announce the same for it, even if they originate
        different routes. The route of default-originate is marked too while the router is drained (FRR,
        bgpd/bgp_updgrp_adv.c, subgroup_default_originate).
        """
        summed, hidden = (
            self.aggregates_and_hidden_bits(speaker, local_parts, learned_table) if speaker.summaries else ((), 0)
        )
        own_bits = destinations_of_parts((*local_parts, *summed))
        default = None
        if outbound.default is not None:
            default = outbound.default.default_route_attributes(own_bits | learned_table.bits)
            hidden |= 1 << self.world.destinations.class_of[self.world.default]
        hides = (own_bits | speaker.unnamed | hidden) & learned_table.bits
        if outbound.peering is not None:
            return self._build_ibgp_adverts(
                speaker, (*restrict_parts(local_parts, ~hidden), *summed), learned_table, hides, default, outbound
            )
        exported_routes = tuple([route for route in local_parts if may_be_exported(route.attributes)])
        if hidden:
            exported_routes = restrict_parts(exported_routes, ~hidden)
        exported_routes += summed
        bgp = speaker.bgp
        who = (bgp.asn, bgp.graceful_shutdown, bgp.maximum_med)
        first_advert = self._export_advert((*who, exported_routes), exported_routes, own_bits, speaker, outbound)
        key = (*who, learned_table, hides)
        learned, learned_bits = learned_table.passed, learned_table.bits & ~hides
        if hides and learned_bits & outbound.reach and (*key, outbound.number) not in self._exports:
            learned = tuple([AdvertPart(learned_attributes, bits & ~hides) for learned_attributes, bits in learned])
        remaining_advert = self._export_advert(key, learned, learned_bits, speaker, outbound)
        pieces = [piece for piece in (first_advert, remaining_advert) if piece.bits]
        if default is not None:
            bit = 1 << self.world.destinations.class_of[self.world.default]
            attributes = add_shutdown_community(default) if bgp.graceful_shutdown else default
            pieces.append(self.adverts.of(self._prepend_asn([AdvertPart(attributes, bit)], bgp, outbound)))
        return tuple(pieces)

    def _build_ibgp_adverts(
        self,
        speaker: BgpSpeaker,
        own_routes: tuple[AdvertPart, ...],
        table: LearnedTable,
        hides: int,
        default: PathAttributes | None,
        outbound: CompiledPolicy,
    ) -> HeardAdverts:
        """Return the adverts for a neighbor of the same AS, which are made for each router by itself."""
        bgp = speaker.bgp
        routes = [
            *announce_to_ibgp_neighbor(speaker, own_routes, table, hides, outbound, drained=bgp.graceful_shutdown)
        ]
        if default is not None:
            given_attributes = add_shutdown_community(default) if bgp.graceful_shutdown else default
            bit = 1 << self.world.destinations.class_of[self.world.default]
            routes.append(AdvertPart(given_attributes._replace(learned=IbgpOrMultihopSource()), bit))
        if bgp.maximum_med is not None:
            routes = [AdvertPart(attributes._replace(med=bgp.maximum_med), bits) for attributes, bits in routes]
        advert = self.adverts.of(routes)
        return (advert,) if advert.bits else ()

    def _class_bits(self, prefix: Prefix) -> int:
        """Return the class of a prefix, as a set."""
        return self.world.destinations.class_bits_of_prefixes((prefix,))

    def aggregates_and_hidden_bits(
        self, speaker: BgpSpeaker, local: tuple[AdvertPart, ...], table: LearnedTable
    ) -> tuple[tuple[AdvertPart, ...], int]:
        """Return the aggregates that a router originates, and the destinations that it does not announce for them.

        Their origin is the worst of those inside (FRR, bgpd/bgp_route.c, bgp_aggregate_route).
        """
        has = destinations_of_parts(local) | table.bits
        worse = [*((route.attributes.origin, route.bits) for route in local), *speaker.worse, *table.worse.items()]
        aggregates, hidden = [], 0
        for own_bits, inside, only in speaker.summaries:
            if has & inside:
                origin = max((origin for origin, bits in worse if bits & inside), default=IGP)
                attributes = PathAttributes(
                    weight=LOCAL_WEIGHT, origin=origin, preference=default_local_preference(speaker.bgp)
                )
                attributes = drain_attributes(attributes) if speaker.bgp.graceful_shutdown else attributes
                aggregates.append(AdvertPart(attributes, own_bits))
                hidden |= inside if only else 0
        return tuple(aggregates), hidden

    def _export_advert(
        self,
        key: tuple[object, ...],
        routes: tuple[AdvertPart, ...],
        destination_bits: int,
        speaker: BgpSpeaker,
        outbound: CompiledPolicy,
    ) -> RouteAdvert:
        advert = self._exports.get((*key, outbound.number))
        if advert is None:
            new_routes = outbound.apply_to_routes(routes, destination_bits)
            if speaker.bgp.graceful_shutdown:
                new_routes = [
                    AdvertPart(add_shutdown_community(attributes), own_bits) for attributes, own_bits in new_routes
                ]
            advert = self.adverts.of(self._prepend_asn(new_routes, speaker.bgp, outbound))
            self._exports[(*key, outbound.number)] = advert
        return advert

    def _prepend_asn(self, routes: Iterable[AdvertPart], bgp: Bgp, outbound: CompiledPolicy) -> Iterable[AdvertPart]:
        """Put the own AS number before each path, at an origin that need not be named `IGP_ORIGIN`."""
        hidden, before = self.world.hidden, outbound.named or (bgp.asn,)
        for attributes, bits in routes:
            if bgp.maximum_med is not None:
                attributes = attributes._replace(med=bgp.maximum_med)
            path = attributes.path
            if not path and attributes.weight and (alone := bits & hidden):
                yield AdvertPart(_attributes_for_ebgp(attributes, (PLACEHOLDER_ORIGIN_ASN,), outbound), alone)
                bits ^= alone
            yield AdvertPart(_attributes_for_ebgp(attributes, (*before, *path), outbound), bits)


def _is_imported_unchanged(inbound: CompiledPolicy, advert: RouteAdvert) -> bool:
    """Whether a router that is not drained takes the routes of an advert as they are, but for those with loops."""
    if inbound.next_hops_may_be_off_link or not inbound.passes_all_unchanged(advert.parts, advert.bits):
        return False
    return not any(GRACEFUL_SHUTDOWN_COMMUNITY in attributes.communities for attributes, _ in advert.parts)


def _attributes_for_ebgp(attributes: PathAttributes, path: tuple[int, ...], outbound: CompiledPolicy) -> PathAttributes:
    """Return what goes to another AS: no preference, no weight, no tag, and no next hop but one of the route map."""
    new = PathAttributes(path, DEFAULT_PREFERENCE, attributes.origin, attributes.med, attributes.communities)
    learned = attributes.learned if outbound.told_hops else None
    return new if learned is None or learned.hop is None else new._replace(learned=learned)


def _lower_preference_when_drained(attributes: PathAttributes, *, drained: bool) -> PathAttributes:
    """Return the preference of a route with GRACEFUL_SHUTDOWN after import, or of any route of a drained router.

    Without a route map too (FRR, bgpd/bgp_route.c, bgp_update; RFC 8326).
    """
    if GRACEFUL_SHUTDOWN_COMMUNITY in attributes.communities:
        return attributes._replace(preference=0)
    return drain_attributes(attributes) if drained else attributes


class ConvergedState:
    """The learned and announced routes of every router, after convergence."""

    def __init__(self, makers: AdvertResultCache) -> None:
        self.makers, self.world = makers, makers.world
        self.tables: dict[int, LearnedTable] = {}
        self._advertised: dict[int, dict[int, HeardAdverts]] = {}
        self.unstable: frozenset[int] = frozenset()
        """Routers that go on changing their mind."""

    def table(self, number: int) -> LearnedTable:
        """Return the table that a router has learned."""
        return self.tables.get(number, _EMPTY_LEARNED_TABLE)

    def originated_parts(self, number: int) -> tuple[AdvertPart, ...]:
        """Return the routes that a router originates."""
        return self.world.speakers[number].local

    def accepted_destination_bits(self, number: int, position: int) -> int:
        """Return the destinations that a router has a route to over one of its links, used or not."""
        return destinations_of_parts(self.accepted_routes(number, position))

    def accepted_routes(self, number: int, position: int) -> Iterator[AdvertPart]:
        """Yield the routes that a router has over one of its links, used or not."""
        speaker = self.world.speakers[number]
        adverts = self._heard(speaker)[position]
        link, bgp = speaker.links[position], speaker.bgp
        for advert in adverts:
            asn = bgp.asn if bgp.asn in advert.numbers else 0
            yield from self.makers.import_advert(link, advert, asn, drained=bgp.graceful_shutdown).parts

    def prefixes_without_reached_next_hop(self, number: int) -> Iterator[Prefix]:
        """Yield prefixes whose learned paths a router does not use: their next hops are not reached.

        The route map of default-originate is asked about these too, but only when another path changes (FRR,
        bgpd/bgp_updgrp_adv.c, subgroup_default_originate; bgpd/bgp_route.c, bgp_process_main_one).
        """
        speaker = self.world.speakers.get(number)
        used_bits = (
            destinations_of_parts(self.originated_parts(number)) | self.table(number).bits if speaker is not None else 0
        )
        for position in range(len(speaker.links) if speaker is not None else 0):
            unused_bits = self.accepted_destination_bits(number, position) & ~used_bits
            for class_number, members in enumerate(self.world.destinations.prefixes_by_class if unused_bits else ()):
                yield from members if unused_bits >> class_number & 1 else ()

    def originated_aggregate_bits(self, number: int) -> int:
        """Return the aggregates that a router originates."""
        speaker = self.world.speakers[number]
        if not speaker.summaries:
            return 0
        return destinations_of_parts(
            self.makers.aggregates_and_hidden_bits(speaker, self.originated_parts(number), self.table(number))[0]
        )

    def sent_adverts(self, number: int, outbound: int) -> HeardAdverts:
        """Return the adverts of a router under a policy."""
        return self._advertised.get(number, {}).get(outbound, ())

    def is_session_up(self, session: int) -> bool:
        """Whether a session is there."""
        return True

    def converge_from(self, first_routers: Iterable[int]) -> Self:
        """Let routers talk, one after the other, until nothing changes; those go first that hear something new."""
        speakers = self.world.speakers
        first_numbers = set(first_routers)
        waiting = deque(sorted(first_numbers))
        queued = set(waiting)
        patience = _MAX_TURNS_PER_ROUTER * (len(speakers) + 1)
        while waiting and patience:
            patience -= 1
            number = waiting.popleft()
            queued.discard(number)
            speaker = speakers[number]
            table = self.makers.table(speaker, self._heard(speaker))
            if table is self.table(number) and number not in first_numbers:
                continue
            first_numbers.discard(number)
            self.tables[number] = table
            for far in self._announce_changes(speaker, table):
                if far not in queued:
                    queued.add(far)
                    waiting.append(far)
        self.unstable = frozenset(queued)
        return self

    def _heard(self, speaker: BgpSpeaker) -> tuple[HeardAdverts, ...]:
        """Return the adverts that a router hears, link by link."""
        return tuple([self.sent_adverts(*whom) for whom in speaker.hears])

    def _announce_changes(self, speaker: BgpSpeaker, table: LearnedTable) -> list[int]:
        """Announce new routes to the neighbors; return the neighbors that hear anything new."""
        number = speaker.router.number
        local = self.originated_parts(number)
        adverts: dict[int, HeardAdverts] = {}
        changed: dict[int, bool] = {}
        hearing: dict[int, None] = {}
        for link in speaker.links:
            policy = link.outbound.number
            if policy not in adverts:
                adverts[policy] = self.makers.compute_adverts(speaker, local, table, link.outbound)
                changed[policy] = self.sent_adverts(number, policy) != adverts[policy]
            if changed[policy] and self.is_session_up(link.session):
                hearing[link.far] = None
        self._advertised[number] = adverts
        return list(hearing)


class ConvergedDestinationShare(ConvergedState):
    """What becomes of some destinations, by themselves: no router's choice for one hangs on another."""

    def __init__(self, makers: AdvertResultCache, bits: int) -> None:
        super().__init__(makers)
        self._bits = bits

    def originated_parts(self, number: int) -> tuple[AdvertPart, ...]:
        """Return the routes to these destinations that a router originates."""
        return restrict_parts(self.world.speakers[number].local, self._bits)


class CombinedConvergedState(ConvergedState):
    """What becomes of all destinations, put together from shares of them."""

    def __init__(self, makers: AdvertResultCache, shares: Sequence[ConvergedDestinationShare]) -> None:
        super().__init__(makers)
        self._shares = shares
        self._together: dict[tuple[LearnedTable, ...], LearnedTable] = {}
        self.unstable = frozenset().union(*(share.unstable for share in shares))

    def table(self, number: int) -> LearnedTable:
        """Return the table that a router has learned; routers with the same shares have the same whole."""
        known_table = self.tables.get(number)
        if known_table is not None:
            return known_table
        tables = tuple([share.table(number) for share in self._shares])
        found_table = self._together.get(tables)
        if found_table is None:
            found_table = self._together[tables] = LearnedTable(
                tuple(entry for table in tables for entry in table.entries)
            )
        self.tables[number] = found_table
        return found_table

    def sent_adverts(self, number: int, outbound: int) -> HeardAdverts:
        """Return the adverts of a router under a policy."""
        adverts = self._advertised.setdefault(number, {})
        found_adverts = adverts.get(outbound)
        if found_adverts is None:
            found_adverts = adverts[outbound] = tuple(
                [piece for share in self._shares for piece in share.sent_adverts(number, outbound)]
            )
        return found_adverts


def converge_world(family_world: FamilySpeakers) -> ConvergedState:
    """Return what every router of a world has learned in the end.

    Destinations of each tier are computed by themselves: of those that leaves originate all spines of a pod learn the
    same, however their own and those of their neighbors above differ.
    """
    makers = AdvertResultCache(family_world)
    if family_world.tied:
        return ConvergedDestinationShare(makers, family_world.all_class_bits).converge_from(family_world.speakers)
    shares: dict[int | None, int] = {}
    for speaker in family_world.speakers.values():
        tier = tier_of_device(speaker.router.device)
        shares[tier] = shares.get(tier, 0) | destinations_of_parts(speaker.local)
    taken = 0
    new_shares = []
    for bits in shares.values():
        share = ConvergedDestinationShare(makers, bits & ~taken)
        taken |= bits
        new_shares.append(
            share.converge_from(number for number in family_world.speakers if share.originated_parts(number))
        )
    return CombinedConvergedState(makers, new_shares)
