"""Routers as BGP sees them in one family: the routes that they originate, their links, and the policies of these."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.identity import IdentityMap, IdentitySet
from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model.addresses import ADDRESS_BITS, AddressFamily
from nodrop.model.routing import Aggregate, Bgp, PrefixRule
from nodrop.routing.adverts import AdvertPart, PathAttributes, destinations_of_parts
from nodrop.routing.agreement import needs_connected_subnet
from nodrop.routing.decision import LearnedTableEntry, MultipathLimits
from nodrop.routing.destinations import DestinationClasses, PrefixListRules
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.next_hop_tracking import neighbors_reached_without_bgp
from nodrop.routing.originating import fallible_interfaces_by_prefix, originated_routes, prefixes_with_neighbor_next_hop
from nodrop.routing.peerings import (
    announced_next_hop_if_global,
    build_ibgp_or_multihop_peering,
    is_internal_session,
    next_hops_beyond_far_end,
)
from nodrop.routing.policy import CompiledPolicy
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix
from nodrop.routing.resolving import NextHopResolver
from nodrop.routing.routers import BgpSession, SessionSide, VrfRouter
from nodrop.routing.words import (
    PolicyReader,
    SessionPolicy,
    has_ipv4_next_hops,
    neighbor_family_statement,
    prefix_lists_read_by,
)

_SORT_KEY_AFTER_ADDRESSES = 1 << 128
"""Behind all addresses."""


class SpeakerLink(NamedTuple):
    """A session as one router sees it: its far end, this router's position there, and the policies both ways."""

    session: int
    far: int
    far_position: int
    inbound: CompiledPolicy
    outbound: CompiledPolicy
    repeats: int
    """How often the own AS number may be in a path (allowas-in)."""
    tie: tuple[int, int] = (0, 0)
    """The router id and the address by which the neighbor wins a tie."""
    hop: Address | None = None
    """The next hop of its routes as others see it, where the router tells any to its own AS; None for link-local."""
    follows: bool = True
    """Whether its routes follow others than connected ones to their next hops."""


class AggregateBits(NamedTuple):
    """An aggregate as bits of classes: its own, and those of the prefixes inside it."""

    own: int
    inside: int
    only: bool
    """Whether those inside it are not announced."""


class _TiedSessionEnd(NamedTuple):
    """One end of a session, sorted by the tie that its neighbor wins."""

    tie: tuple[int, int]
    session: int
    own: SessionSide
    far: SessionSide
    words: tuple[SessionPolicy, SessionPolicy]
    hop: Address | None


class BgpSpeaker:
    """A router with BGP."""

    def __init__(self, router: VrfRouter, bgp: Bgp) -> None:
        self.router, self.bgp = router, bgp
        self.links: tuple[SpeakerLink, ...] = ()
        self.sessions: frozenset[int] = frozenset()
        self.hears: tuple[tuple[int, int], ...] = ()
        """Of each link who speaks over it, and under which policy."""
        self.shape = 0
        """Routers of one shape make the same table of the same adverts."""
        self.sources = 0
        """Routers with the same sources hear the same, link by link."""
        self.reach = 0
        """The destinations of which it can tell anybody anything; -1 is all."""
        self.limits = MultipathLimits(bgp.multipath_relax, None)
        self.local: tuple[AdvertPart, ...] = ()
        self.worse: tuple[tuple[int, int], ...] = ()
        """Return the origins of redistributed routes, with their destinations."""
        self.summaries: tuple[AggregateBits, ...] = ()
        self.installs = self.installs_sums = -1
        """The destinations of which it installs a route that it has learned, or an aggregate; -1 is all."""
        self.unnamed = 0
        """The destinations at whose paths' end its AS number stands unnamed: it hears none of them from others."""
        self.installs_internal = -1
        """The destinations of which it installs a route from its own AS; -1 is all."""
        self.peers = False
        """Whether it has sessions in its AS, or over several hops."""
        self.resolver: NextHopResolver | None = None
        """Finds next hops that are not at the far end of a link, where it can hear any."""

    @property
    def ebgp_link_next_hops(self) -> frozenset[Address]:
        """The next hops that neighbors of other ASes at the far ends of links name, which no route of BGP leads to."""
        return frozenset(hop for link in self.links if not link.follows for hop in link.inbound.heard_hops)

    def installed_aggregates(self, learned_bits: int) -> int:
        """Return the aggregates that it installs while it has learned these destinations."""
        own_bits, aggregates = destinations_of_parts(self.local) | learned_bits, 0
        for aggregate in self.summaries:
            aggregates |= aggregate.own if own_bits & aggregate.inside else 0
        return aggregates & self.installs_sums

    def installable_destinations(self, entry: LearnedTableEntry) -> int:
        """Return the destinations that it installs from routes learned like this one; -1 is all."""
        return self.installs_internal if entry.is_internal else self.installs


class FamilySpeakers:
    """All speakers of a family, with the classes of destinations and the policies between them."""

    def __init__(
        self,
        family: AddressFamily,
        own_routers: Sequence[VrfRouter],
        sessions: Sequence[BgpSession],
        up: Sequence[Mapping[str, bool]],
    ) -> None:
        self.family = family
        self._policies: dict[SessionPolicy, CompiledPolicy] = {}
        readers = self._readers = {
            one.number: PolicyReader(one.bgp, family) for one in own_routers if one.bgp is not None
        }
        worse: dict[int, dict[Prefix, int]] = {own_router.number: {} for own_router in own_routers}
        rows = {
            one.number: originated_routes(one, readers[one.number], family, up[one.number], worse[one.number])
            for one in own_routers
            if one.bgp
        }
        sides = list(_sides_of_sessions(sessions, family))
        words = []
        inside_by_session = {
            number: is_internal_session(own_routers, session)
            for number, session in enumerate(sessions)
            if family in session.families
        }
        for number, near, far in sides:
            session = sessions[number]
            inside = inside_by_session[number]
            far_away = session.far
            peer = (
                build_ibgp_or_multihop_peering(
                    own_routers[near.router], near, family, inside=inside, is_multihop=far_away
                )
                if inside or far_away
                else None
            )
            reader = readers[near.router]
            local = own_routers[near.router].local_asn(near.neighbor)
            shown = own_routers[far.router].shown_asn(far.neighbor)
            inbound = reader.inbound(near.neighbor, peer, local)
            if peer is None:
                refused = prefixes_with_neighbor_next_hop(
                    own_routers[far.router], far.neighbor, family, rows.get(far.router, {}), up[far.router]
                )
                inbound = inbound._replace(refused=refused) if refused else inbound
            words.append((inbound, reader.outbound(near.neighbor, shown, peer, local)))
        if any(policy_words.told_hops or policy_words.new_hops for policy_words in _distinct_policies(words)):
            words = list(_policies_with_neighbor_set_hops(sides, words))
        if family == "ipv6":
            words = [
                (_with_own_addresses(own_routers[near.router], up[near.router], inbound), outbound)
                for (_, near, _), (inbound, outbound) in zip(sides, words, strict=True)
            ]
        distinct_words = _distinct_policies(words)
        is_any_peered = any(one.peering or one.new_hops or one.heard_hops for one in distinct_words)
        peered = {
            near.router
            for (_, near, _), (inbound, _) in (zip(sides, words, strict=True) if is_any_peered else ())
            if inbound.peering or inbound.new_hops or inbound.heard_hops
        }
        hops = [
            announced_next_hop_if_global(near, far, family) if near.router in peered else None for _, near, far in sides
        ]
        kept_addresses = (
            next_hops_beyond_far_end(
                (near.router, inbound.peering, hop)
                for (_, near, _), (inbound, _), hop in zip(sides, words, hops, strict=True)
            )
            if peered
            else set()
        )
        kept_addresses |= {hop for one in distinct_words for hop in one.new_hops | one.heard_hops}
        self.keeps = bool(kept_addresses)
        """Whether any router can hear of next hops that are not at the far ends of its links."""
        named_lists = {rules: None for one in distinct_words for rules in prefix_lists_read_by(one)}
        installs = {
            own_router.number: readers[own_router.number].of(name, external=False)
            for own_router in own_routers
            if own_router.bgp is not None and (name := _route_install_policy(own_router.bgp, family)) is not None
        }
        named_lists |= {rules: None for install in installs.values() for rules in prefix_lists_read_by(install)}
        summaries = {
            own_router.number: [
                (row, aggregate)
                for row in own_router.bgp.aggregates
                if (aggregate := parse_prefix(row.prefix)) is not None and aggregate.family == family
            ]
            for own_router in own_routers
            if own_router.bgp is not None
        }
        named_lists |= {
            _longer_prefix_list(aggregate): None for rows_of in summaries.values() for _, aggregate in rows_of
        }
        named_lists |= {_host_prefix_list(hop): None for hop in sorted(kept_addresses)}
        origins: defaultdict[Prefix, list[tuple[int, PathAttributes, tuple[RoutedInterface, ...]]]] = defaultdict(list)
        for router in own_routers:
            over = fallible_interfaces_by_prefix(router, family) if router.number in rows else {}
            for found_prefix, attributes in rows.get(router.number, {}).items():
                origins[found_prefix].append((router.number, attributes, over.get(found_prefix, ())))
        self.origins = {origin_prefix: tuple(rows) for origin_prefix, rows in origins.items()}
        new_origins: defaultdict[Prefix, tuple[object, ...]] = defaultdict(tuple, self.origins)
        for number, rows_of in summaries.items():
            for row, aggregate_prefix in rows_of:
                new_origins[aggregate_prefix] += (("aggregate", number, row),)
        told_default = any(one.default is not None for one in distinct_words)
        self.default = Prefix(family, 0, 0)
        if told_default:
            new_origins[self.default] += (("default",),)
        self._made = dict(new_origins)
        self.tied = new_origins.keys() != self.origins.keys() or told_default or any(summaries.values()) or self.keeps
        """Whether a router's choice for one destination can hang on another."""
        unoriginated = {
            network: () for one in distinct_words if one.default is not None for network in one.default.networks
        }
        self.destinations = DestinationClasses(family, unoriginated | new_origins, named_lists)
        self.speakers = {one.number: BgpSpeaker(one, one.bgp) for one in own_routers if one.bgp is not None}
        plain = self.tied or any(one.reads_as_paths for one in distinct_words)
        self.hidden = 0 if plain else self._classes_without_origin_asn()
        for number, speaker in self.speakers.items():
            speaker.local = self._make_local_parts(number, rows[number])
            speaker.unnamed = destinations_of_parts(speaker.local) & self.hidden
            speaker.limits = _multipath_limits(speaker.bgp, family)
            speaker.summaries = tuple(
                self._make_aggregate_summary(row, aggregate) for row, aggregate in summaries[number]
            )
            if speaker.summaries:
                bits = self.destinations.class_bits_of_prefixes
                speaker.worse = tuple((origin, bits((network,))) for network, origin in worse[number].items())
            speaker.installs, speaker.installs_internal, speaker.installs_sums = self._installed_destinations(
                speaker.bgp, installs.get(number)
            )
        self._link_speakers(sides, words, hops)
        for number in peered if self.keeps else ():
            speaker = self.speakers[number]
            follows = tuple([link.follows for link in speaker.links])
            on_links = neighbors_reached_without_bgp(speaker.router) | speaker.ebgp_link_next_hops
            speaker.resolver = NextHopResolver(speaker.router, family, up[number], self.destinations, follows, on_links)

    def _installed_destinations(self, bgp: Bgp, words: SessionPolicy | None) -> tuple[int, ...]:
        """Return the destinations that a router installs from other ASes, from its AS, and from aggregates."""
        passed = -1
        if words is not None:
            passed = destinations_of_parts(
                CompiledPolicy(-1, words, self.destinations).apply_to_routes(
                    (AdvertPart(PathAttributes(), self.all_class_bits),), self.all_class_bits
                )
            )
        distances = bgp.distances if self.family == "ipv4" else bgp.distances_ipv6
        if distances is None:
            return passed, passed, passed
        return tuple([0 if distance == MAX_ADMINISTRATIVE_DISTANCE else passed for distance in distances])

    def _make_aggregate_summary(self, row: Aggregate, found_prefix: Prefix) -> AggregateBits:
        inside = self.destinations.bits_permitted_by(_longer_prefix_list(found_prefix))
        return AggregateBits(1 << self.destinations.class_of[found_prefix], inside, row.summary_only)

    @property
    def all_class_bits(self) -> int:
        """All classes of destinations."""
        return (1 << self.destinations.count) - 1

    def is_originated_elsewhere(self, found_prefix: Prefix, neighbor_number: int) -> bool:
        """Whether another router originates exactly this prefix, or anybody aggregates it."""
        return any(row[0] != neighbor_number for row in self._made.get(found_prefix, ()) if isinstance(row, tuple))

    def originated_parts_with_legs(self, number: int, up: Mapping[str, bool]) -> tuple[AdvertPart, ...]:
        """Return the routes that a router originates while its legs are in another state than at first."""
        router = self.speakers[number].router
        return self._make_local_parts(number, originated_routes(router, self._readers[number], self.family, up))

    def _make_local_parts(self, number: int, rows: Mapping[Prefix, PathAttributes]) -> tuple[AdvertPart, ...]:
        by_attributes: defaultdict[PathAttributes, list[Prefix]] = defaultdict(list)
        for found_prefix, attributes in rows.items():
            by_attributes[attributes].append(found_prefix)
        bits = self.destinations.class_bits_of_prefixes
        return tuple(AdvertPart(attributes, bits(prefixes)) for attributes, prefixes in by_attributes.items())

    def _classes_without_origin_asn(self) -> int:
        """Return the classes without an AS number of their origin: the only router with its number originates them."""
        holders = Counter(speaker.bgp.asn for speaker in self.speakers.values())
        alone = {number for number, speaker in self.speakers.items() if holders[speaker.bgp.asn] == 1}
        return self.destinations.class_bits_of_prefixes(
            found_prefix for found_prefix, rows in self.origins.items() if len(rows) == 1 and rows[0][0] in alone
        )

    def policy(self, words: SessionPolicy) -> CompiledPolicy:
        """Return the policy of these words, one object for equal ones."""
        found_policy = self._policies.get(words)
        if found_policy is None:
            found_policy = self._policies[words] = CompiledPolicy(len(self._policies), words, self.destinations)
        return found_policy

    def _link_speakers(
        self,
        sides: list[tuple[int, SessionSide, SessionSide]],
        words: list[tuple[SessionPolicy, SessionPolicy]],
        hops: list[Address | None],
    ) -> None:
        """Give every speaker its links, in the order of precedence of their neighbors in a tie."""
        rows: defaultdict[int, list[_TiedSessionEnd]] = defaultdict(list)
        for (session, own_side, far), pair, hop in zip(sides, words, hops, strict=True):
            rows[own_side.router].append(
                _TiedSessionEnd(self._tie_break_key(own_side, far), session, own_side, far, pair, hop)
            )
        position: dict[tuple[int, int], int] = {}
        for number, found_rows in rows.items():
            found_rows.sort(key=lambda row: (row.tie, row.session))
            position.update({(number, row.session): place for place, row in enumerate(found_rows)})
        kinds: dict[object, int] = {}
        compiled = IdentityMap[SessionPolicy, CompiledPolicy]()

        def compile_once(policy_words: SessionPolicy) -> CompiledPolicy:
            found_policy = compiled.get(policy_words)
            if found_policy is None:
                found_policy = compiled[policy_words] = self.policy(policy_words)
            return found_policy

        for number, joined_rows in rows.items():
            speaker = self.speakers[number]
            speaker.links = tuple(
                SpeakerLink(
                    session,
                    far.router,
                    position[far.router, session],
                    compile_once(inbound),
                    compile_once(outbound),
                    _allowas_in_count(near_side, self.family),
                    tie,
                    hop,
                    not needs_connected_subnet(speaker.router, near_side.neighbor),
                )
                for tie, session, near_side, far, (inbound, outbound), hop in joined_rows
            )
            speaker.peers = any(link.inbound.next_hops_may_be_off_link for link in speaker.links)
            speaker.sessions = frozenset(link.session for link in speaker.links)
            for link in speaker.links:
                speaker.reach |= link.outbound.reach
                if link.outbound.default is not None:
                    speaker.reach |= 1 << self.destinations.class_of[self.default]
            if not speaker.limits.relaxed:
                asns = tuple(self._first_asn_of_paths(row) for row in joined_rows)
                speaker.limits = speaker.limits._replace(neighbors=asns)
            alone = number if speaker.peers else None
            kind = (speaker.limits, tuple((link.inbound.number, link.repeats) for link in speaker.links), alone)
            speaker.shape = kinds.setdefault(kind, len(kinds))
        for speaker in self.speakers.values():
            speaker.hears = tuple(
                (link.far, self.speakers[link.far].links[link.far_position].outbound.number) for link in speaker.links
            )
            speaker.sources = kinds.setdefault(speaker.hears, len(kinds))

    def _first_asn_of_paths(self, row: _TiedSessionEnd) -> int:
        """Return the AS number with which paths that come over a link begin."""
        shown = row.words[0].shown
        if shown is not None and shown.prepends:
            return shown.asn
        return self.speakers[row.far.router].router.shown_asn(row.far.neighbor)

    def _tie_break_key(self, own_side: SessionSide, far: SessionSide) -> tuple[int, int]:
        """Return the sort key of a neighbor in a tie: its router id, then its address; over an interface link-local.

        Link-local ones come behind all others (FRR, lib/sockunion.c, sockunion_cmp); their own order is not known.
        """
        speaker = self.speakers[far.router]
        named_address = parse_address(speaker.bgp.router_id or "")
        peer: Address | None = parse_address(own_side.neighbor.address or "")
        return (
            0 if named_address is None else named_address.number,
            _SORT_KEY_AFTER_ADDRESSES if peer is None else peer.number,
        )


def _distinct_policies(words: Iterable[tuple[SessionPolicy, SessionPolicy]]) -> Collection[SessionPolicy]:
    """Return the policies of sessions, each object once; most sessions of a router share theirs."""
    return IdentitySet(policy_words for pair in words for policy_words in pair)


def _policies_with_neighbor_set_hops(
    sides: Sequence[tuple[int, SessionSide, SessionSide]], words: Sequence[tuple[SessionPolicy, SessionPolicy]]
) -> Iterator[tuple[SessionPolicy, SessionPolicy]]:
    """Yield the policies of sessions with the next hops that the neighbors' route maps set; the two ends are a pair."""
    told = [frozenset({hop for hop in outbound.told_hops if hop is not None}) for _, outbound in words]
    hearing = {near.router for place, (_, near, _) in enumerate(sides) if told[place ^ 1]}
    for place, ((_, near, _), (inbound, outbound)) in enumerate(zip(sides, words, strict=True)):
        is_external = outbound.peering is None or not outbound.peering.internal
        if near.router in hearing and is_external and has_ipv4_next_hops(near.neighbor):
            outbound = outbound._replace(own_hop=parse_address(near.neighbor.address or ""))
        yield inbound._replace(heard_hops=told[place ^ 1]), outbound


def _with_own_addresses(router: VrfRouter, up: Mapping[str, bool], inbound: SessionPolicy) -> SessionPolicy:
    """Return the import policy of an IPv6 session with the router's addresses, where it can have other next hops."""
    if not inbound.new_hops and not inbound.heard_hops:
        return inbound
    own_addresses = frozenset(own for leg in router.legs if up[leg.name] for own in leg.addresses)
    return inbound._replace(own_addresses=own_addresses)


def _sides_of_sessions(
    sessions: Iterable[BgpSession], family: AddressFamily
) -> Iterator[tuple[int, SessionSide, SessionSide]]:
    for number, session in enumerate(sessions):
        if family in session.families:
            yield number, session.a, session.b
            yield number, session.b, session.a


def _allowas_in_count(own_side: SessionSide, family: AddressFamily) -> int:
    return neighbor_family_statement(own_side.neighbor, family).allowas_in or 0


def _route_install_policy(bgp: Bgp, family: AddressFamily) -> str | None:
    return bgp.installed_policy if family == "ipv4" else bgp.installed_policy_ipv6


def _longer_prefix_list(found_prefix: Prefix) -> PrefixListRules:
    """Return a list that permits the longer prefixes inside one."""
    longest = ADDRESS_BITS[found_prefix.family]
    if found_prefix.length == longest:
        return (PrefixRule(sequence=5, action="deny", prefix="any"),)
    return (PrefixRule(sequence=5, action="permit", prefix=str(found_prefix), ge=found_prefix.length + 1, le=longest),)


def _host_prefix_list(hop: Address) -> PrefixListRules:
    """Return a list that permits the host route of a next hop."""
    prefix = Prefix(hop.family, hop.number, ADDRESS_BITS[hop.family])
    return (PrefixRule(sequence=5, action="permit", prefix=str(prefix)),)


def _multipath_limits(bgp: Bgp, family: AddressFamily) -> MultipathLimits:
    most, inside = bgp.maximum_paths, bgp.maximum_paths_internal
    if family == "ipv6":
        most, inside = bgp.maximum_paths_ipv6, bgp.maximum_paths_internal_ipv6
    return MultipathLimits(bgp.multipath_relax, most, bgp.always_compare_med, most_internal=inside)
