"""Routers as BGP sees them in one family: the routes that they originate, their links, and the policies of these."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.limits import MAX_DISTANCE
from nodrop.model.routing import Aggregate, Bgp, PrefixRule
from nodrop.routing.adverts import Attributes, Part, together
from nodrop.routing.agreement import needs_link
from nodrop.routing.decision import Entry, Limits
from nodrop.routing.destinations import Destinations, Shape
from nodrop.routing.legs import Leg
from nodrop.routing.originating import announced, legs_under
from nodrop.routing.peerings import internal, kept_hops, next_hop, peering
from nodrop.routing.policy import Policy
from nodrop.routing.prefixes import BITS, Address, Family, Prefix, address, prefix
from nodrop.routing.resolving import Resolver
from nodrop.routing.routers import Router, Session, Side
from nodrop.routing.words import Reader, Words, of_family, shapes

_LAST = 1 << 128
"""Behind all addresses."""


class Link(NamedTuple):
    """A session as one router sees it: its far end, this router's position there, and the policies both ways."""

    session: int
    far: int
    far_position: int
    inbound: Policy
    outbound: Policy
    repeats: int
    """How often the own AS number may be in a path (allowas-in)."""
    tie: tuple[int, int] = (0, 0)
    """The router id and the address by which the neighbor wins a tie."""
    hop: Address | None = None
    """The next hop of its routes as others see it, where the router tells any to its own AS; None for link-local."""
    follows: bool = True
    """Whether its routes follow others than connected ones to their next hops."""


class Summary(NamedTuple):
    """An aggregate as bits of classes: its own, and those of the prefixes inside it."""

    own: int
    inside: int
    only: bool
    """Whether those inside it are not announced."""


class _Joined(NamedTuple):
    """One end of a session, sorted by the tie that its neighbor wins."""

    tie: tuple[int, int]
    session: int
    own: Side
    far: Side
    words: tuple[Words, Words]
    hop: Address | None


class Speaker:
    """A router with BGP."""

    def __init__(self, router: Router, bgp: Bgp) -> None:
        self.router, self.bgp = router, bgp
        self.links: tuple[Link, ...] = ()
        self.sessions: frozenset[int] = frozenset()
        self.hears: tuple[tuple[int, int], ...] = ()
        """Of each link who speaks over it, and under which policy."""
        self.shape = 0
        """Routers of one shape make the same table of the same adverts."""
        self.sources = 0
        """Routers with the same sources hear the same, link by link."""
        self.reach = 0
        """The destinations of which it can tell anybody anything; -1 is all."""
        self.limits = Limits(bgp.multipath_relax, None)
        self.local: tuple[Part, ...] = ()
        self.worse: tuple[tuple[int, int], ...] = ()
        """Return the origins of redistributed routes, with their destinations."""
        self.summaries: tuple[Summary, ...] = ()
        self.installs = self.installs_sums = -1
        """The destinations of which it installs a route that it has learned, or an aggregate; -1 is all."""
        self.unnamed = 0
        """The destinations at whose paths' end its AS number stands unnamed: it hears none of them from others."""
        self.installs_internal = -1
        """The destinations of which it installs a route from its own AS; -1 is all."""
        self.peers = False
        """Whether it has sessions in its AS, or over several hops."""
        self.resolver: Resolver | None = None
        """Finds next hops that are not at the far end of a link, where it can hear any."""

    def installed(self, entry: Entry) -> int:
        """Return the destinations that it installs from routes learned like this one; -1 is all."""
        return self.installs_internal if entry.is_internal else self.installs


class World:
    """All speakers of a family, with the classes of destinations and the policies between them."""

    def __init__(
        self,
        family: Family,
        own_routers: Sequence[Router],
        sessions: Sequence[Session],
        up: Sequence[Mapping[str, bool]],
    ) -> None:
        self.family = family
        self._policies: dict[Words, Policy] = {}
        readers = self._readers = {one.number: Reader(one.bgp, family) for one in own_routers if one.bgp is not None}
        sides = list(_sides_of_sessions(sessions, family))
        words = []
        for number, near, far in sides:
            session = sessions[number]
            inside = internal(own_routers, session)
            far_away = session.far
            peer = (
                peering(own_routers[near.router], near, family, inside=inside, far=far_away)
                if inside or far_away
                else None
            )
            reader = readers[near.router]
            local = own_routers[near.router].local_asn(near.neighbor)
            shown = own_routers[far.router].shown_asn(far.neighbor)
            words.append(
                (
                    reader.inbound(near.neighbor, peer, local),
                    reader.outbound(near.neighbor, shown, peer, local),
                )
            )
        peered = {near.router for (_, near, _), (inbound, _) in zip(sides, words, strict=True) if inbound.peering}
        hops = [next_hop(near, far, family) if near.router in peered else None for _, near, far in sides]
        kept_addresses = (
            kept_hops(
                (near.router, inbound.peering, hop)
                for (_, near, _), (inbound, _), hop in zip(sides, words, hops, strict=True)
            )
            if peered
            else set()
        )
        self.keeps = bool(kept_addresses)
        """Whether any router can hear of next hops that are not at the far ends of its links."""
        worse: dict[int, dict[Prefix, int]] = {own_router.number: {} for own_router in own_routers}
        rows = {
            one.number: announced(one, readers[one.number], family, up[one.number], worse[one.number])
            for one in own_routers
            if one.bgp
        }
        named_lists = {rules: None for pair in words for policy_words in pair for rules in shapes(policy_words)}
        installs = {
            own_router.number: readers[own_router.number].of(name, external=False)
            for own_router in own_routers
            if own_router.bgp is not None and (name := _route_install_policy(own_router.bgp, family)) is not None
        }
        named_lists |= {rules: None for install in installs.values() for rules in shapes(install)}
        summaries = {
            own_router.number: [
                (row, aggregate)
                for row in own_router.bgp.aggregates
                if (aggregate := prefix(row.prefix)) is not None and aggregate.family == family
            ]
            for own_router in own_routers
            if own_router.bgp is not None
        }
        named_lists |= {
            _longer_prefix_list(aggregate): None for rows_of in summaries.values() for _, aggregate in rows_of
        }
        named_lists |= {_host_prefix_list(hop): None for hop in sorted(kept_addresses)}
        origins: defaultdict[Prefix, list[tuple[int, Attributes, tuple[Leg, ...]]]] = defaultdict(list)
        for router in own_routers:
            over = legs_under(router, family) if router.number in rows else {}
            for found_prefix, attributes in rows.get(router.number, {}).items():
                origins[found_prefix].append((router.number, attributes, over.get(found_prefix, ())))
        self.origins = {origin_prefix: tuple(rows) for origin_prefix, rows in origins.items()}
        new_origins: defaultdict[Prefix, tuple[object, ...]] = defaultdict(tuple, self.origins)
        for number, rows_of in summaries.items():
            for row, aggregate_prefix in rows_of:
                new_origins[aggregate_prefix] += (("aggregate", number, row),)
        told_default = any(outbound.default is not None for _, outbound in words)
        self.default = Prefix(family, 0, 0)
        if told_default:
            new_origins[self.default] += (("default",),)
        self._made = dict(new_origins)
        self.tied = new_origins.keys() != self.origins.keys() or told_default or any(summaries.values()) or self.keeps
        """Whether a router's choice for one destination can hang on another."""
        self.destinations = Destinations(family, new_origins, named_lists)
        self.speakers = {one.number: Speaker(one, one.bgp) for one in own_routers if one.bgp is not None}
        plain = self.tied or any(policy_words.reads_paths for pair in words for policy_words in pair)
        self.hidden = 0 if plain else self._hidden()
        for number, speaker in self.speakers.items():
            speaker.local = self._make_local_parts(number, rows[number])
            speaker.unnamed = together(speaker.local) & self.hidden
            speaker.limits = _multipath_limits(speaker.bgp, family)
            speaker.summaries = tuple(
                self._make_aggregate_summary(row, aggregate) for row, aggregate in summaries[number]
            )
            if speaker.summaries:
                bits = self.destinations.bits
                speaker.worse = tuple((origin, bits((network,))) for network, origin in worse[number].items())
            speaker.installs, speaker.installs_internal, speaker.installs_sums = self._installed_destinations(
                speaker.bgp, installs.get(number)
            )
        self._join(sides, words, hops)
        for number in peered if self.keeps else ():
            speaker = self.speakers[number]
            follows = tuple([link.follows for link in speaker.links])
            speaker.resolver = Resolver(speaker.router, family, up[number], self.destinations, follows)

    def _installed_destinations(self, bgp: Bgp, words: Words | None) -> tuple[int, ...]:
        """Return the destinations that a router installs from other ASes, from its AS, and from aggregates."""
        passed = -1
        if words is not None:
            passed = together(Policy(-1, words, self.destinations).parts((Part(Attributes(), self.every),), self.every))
        distances = bgp.distances if self.family == "ipv4" else bgp.distances_ipv6
        if distances is None:
            return passed, passed, passed
        return tuple([0 if distance == MAX_DISTANCE else passed for distance in distances])

    def _make_aggregate_summary(self, row: Aggregate, found_prefix: Prefix) -> Summary:
        inside = self.destinations.permitted(_longer_prefix_list(found_prefix))
        return Summary(1 << self.destinations.class_of[found_prefix], inside, row.summary_only)

    @property
    def every(self) -> int:
        """All classes of destinations."""
        return (1 << self.destinations.count) - 1

    def is_offered(self, found_prefix: Prefix, to: int) -> bool:
        """Whether another router originates exactly this prefix, or anybody aggregates it."""
        return any(row[0] != to for row in self._made.get(found_prefix, ()) if isinstance(row, tuple))

    def local(self, number: int, up: Mapping[str, bool]) -> tuple[Part, ...]:
        """Return the routes that a router originates while its legs are in another state than at first."""
        router = self.speakers[number].router
        return self._make_local_parts(number, announced(router, self._readers[number], self.family, up))

    def _make_local_parts(self, number: int, rows: Mapping[Prefix, Attributes]) -> tuple[Part, ...]:
        by_attributes: defaultdict[Attributes, list[Prefix]] = defaultdict(list)
        for found_prefix, attributes in rows.items():
            by_attributes[attributes].append(found_prefix)
        bits = self.destinations.bits
        return tuple(Part(attributes, bits(prefixes)) for attributes, prefixes in by_attributes.items())

    def _hidden(self) -> int:
        """Return the classes without an AS number of their origin: the only router with its number originates them."""
        holders = Counter(speaker.bgp.asn for speaker in self.speakers.values())
        alone = {number for number, speaker in self.speakers.items() if holders[speaker.bgp.asn] == 1}
        return self.destinations.bits(
            found_prefix for found_prefix, rows in self.origins.items() if len(rows) == 1 and rows[0][0] in alone
        )

    def policy(self, words: Words) -> Policy:
        """Return the policy of these words, one object for equal ones."""
        found_policy = self._policies.get(words)
        if found_policy is None:
            found_policy = self._policies[words] = Policy(len(self._policies), words, self.destinations)
        return found_policy

    def _join(
        self, sides: list[tuple[int, Side, Side]], words: list[tuple[Words, Words]], hops: list[Address | None]
    ) -> None:
        """Give every speaker its links, in the order of precedence of their neighbors in a tie."""
        rows: defaultdict[int, list[_Joined]] = defaultdict(list)
        for (session, own_side, far), pair, hop in zip(sides, words, hops, strict=True):
            rows[own_side.router].append(_Joined(self._tie_break_key(own_side, far), session, own_side, far, pair, hop))
        position: dict[tuple[int, int], int] = {}
        for number, found_rows in rows.items():
            found_rows.sort(key=lambda row: (row.tie, row.session))
            position.update({(number, row.session): place for place, row in enumerate(found_rows)})
        kinds: dict[object, int] = {}
        for number, joined_rows in rows.items():
            speaker = self.speakers[number]
            speaker.links = tuple(
                Link(
                    session,
                    far.router,
                    position[far.router, session],
                    self.policy(inbound),
                    self.policy(outbound),
                    _allowed_as_repeats(near_side, self.family),
                    tie,
                    hop,
                    not needs_link(speaker.router, near_side.neighbor),
                )
                for tie, session, near_side, far, (inbound, outbound), hop in joined_rows
            )
            speaker.peers = any(link.inbound.peering is not None for link in speaker.links)
            speaker.sessions = frozenset(link.session for link in speaker.links)
            for link in speaker.links:
                speaker.reach |= link.outbound.reach
                if link.outbound.default is not None:
                    speaker.reach |= 1 << self.destinations.class_of[self.default]
            if not speaker.limits.relaxed:
                asns = tuple(self._first(row) for row in joined_rows)
                speaker.limits = speaker.limits._replace(neighbors=asns)
            alone = number if speaker.peers else None
            kind = (speaker.limits, tuple((link.inbound.number, link.repeats) for link in speaker.links), alone)
            speaker.shape = kinds.setdefault(kind, len(kinds))
        for speaker in self.speakers.values():
            speaker.hears = tuple(
                (link.far, self.speakers[link.far].links[link.far_position].outbound.number) for link in speaker.links
            )
            speaker.sources = kinds.setdefault(speaker.hears, len(kinds))

    def _first(self, row: _Joined) -> int:
        """Return the AS number with which paths that come over a link begin."""
        shown = row.words[0].shown
        if shown is not None and shown.prepends:
            return shown.asn
        return self.speakers[row.far.router].router.shown_asn(row.far.neighbor)

    def _tie_break_key(self, own_side: Side, far: Side) -> tuple[int, int]:
        """Return the sort key of a neighbor in a tie: its router id, then its address; over an interface link-local.

        Link-local ones come behind all others (FRR, lib/sockunion.c, sockunion_cmp); their own order is not known.
        """
        speaker = self.speakers[far.router]
        named_address = address(speaker.bgp.router_id or "")
        peer: Address | None = address(own_side.neighbor.address or "")
        return (0 if named_address is None else named_address.number, _LAST if peer is None else peer.number)


def _sides_of_sessions(sessions: Iterable[Session], family: Family) -> Iterator[tuple[int, Side, Side]]:
    for number, session in enumerate(sessions):
        if family in session.families:
            yield number, session.a, session.b
            yield number, session.b, session.a


def _allowed_as_repeats(own_side: Side, family: Family) -> int:
    return of_family(own_side.neighbor, family).allowas_in or 0


def _route_install_policy(bgp: Bgp, family: Family) -> str | None:
    return bgp.installed_policy if family == "ipv4" else bgp.installed_policy_ipv6


def _longer_prefix_list(found_prefix: Prefix) -> Shape:
    """Return a list that permits the longer prefixes inside one."""
    longest = BITS[found_prefix.family]
    if found_prefix.length == longest:
        return (PrefixRule(sequence=5, action="deny", prefix="any"),)
    return (PrefixRule(sequence=5, action="permit", prefix=str(found_prefix), ge=found_prefix.length + 1, le=longest),)


def _host_prefix_list(hop: Address) -> Shape:
    """Return a list that permits the host route of a next hop."""
    prefix = Prefix(hop.family, hop.number, BITS[hop.family])
    return (PrefixRule(sequence=5, action="permit", prefix=str(prefix)),)


def _multipath_limits(bgp: Bgp, family: Family) -> Limits:
    most, inside = bgp.maximum_paths, bgp.maximum_paths_internal
    if family == "ipv6":
        most, inside = bgp.maximum_paths_ipv6, bgp.maximum_paths_internal_ipv6
    return Limits(bgp.multipath_relax, most, bgp.always_compare_med, most_internal=inside)
