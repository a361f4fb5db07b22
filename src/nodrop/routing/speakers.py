"""Routers as BGP sees them in one family: what they originate, and over which links they talk, under which policies."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.limits import MAX_DISTANCE
from nodrop.model.routing import Aggregate, Bgp, PrefixRule
from nodrop.routing.adverts import INCOMPLETE, Attributes, Part, together
from nodrop.routing.decision import Limits
from nodrop.routing.destinations import Destinations, Shape
from nodrop.routing.legs import Leg
from nodrop.routing.policy import Policy
from nodrop.routing.prefixes import BITS, Address, Family, Prefix, address, prefix
from nodrop.routing.routers import Router, Session, Side
from nodrop.routing.static_routes import outlet, statics, usable
from nodrop.routing.words import Reader, Words, of_family, shapes

LOCAL_WEIGHT = 32768
"""Weight of a route that a router originates (FRR, bgpd/bgp_attr.h, BGP_ATTR_DEFAULT_WEIGHT)."""

_LAST = 1 << 128
"""Behind all addresses."""


class Link(NamedTuple):
    """A session as one router sees it: to whom, which position it has there, and what is done in either direction."""

    session: int
    far: int
    far_position: int
    inbound: Policy
    outbound: Policy
    repeats: int
    """How often the own AS number may be in a path (allowas-in)."""


class Summary(NamedTuple):
    """An aggregate as bits of classes: its own, and those of the prefixes inside it."""

    own: int
    inside: int
    only: bool
    """Whether those inside it are not announced."""


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


def announced(
    router: Router,
    reader: Reader,
    family: Family,
    up: Mapping[str, bool],
    origins: dict[Prefix, int] | None = None,
) -> dict[Prefix, Attributes]:
    """Return the routes that a router originates: its networks, if it has a route to them, and redistributed ones.

    `up` says of its legs whether they work. A network statement needs its prefix in the routing table (FRR,
    bgpd/bgp_nexthop.c, bgp_import_check) unless `bgp network import-check` is off. It goes before redistribution,
    unless the route map of that sets a better weight, preference or MED (bgpd/bgp_route.c, bgp_path_info_cmp).
    Where not all legs are known, what may be one of them counts as there. `origins` gets the origins of redistributed
    routes, also of those behind a network statement: an aggregate has the worst of all.
    """
    bgp = router.bgp
    if bgp is None:
        return {}
    connected = {
        subnet: leg.name
        for leg in reversed(router.legs)
        if up[leg.name]
        for subnet in leg.subnets
        if subnet.family == family and not subnet.link_local
    }
    static = {found: "" for route, found in statics(router, family) if usable(router, route, up)}
    rows: dict[Prefix, Attributes] = {}
    for text in bgp.networks:
        found = prefix(text)
        if found is None or found.family != family:
            continue
        if bgp.import_check is not True or found in connected or found in static or router.unsaid:
            rows[found] = Attributes(weight=LOCAL_WEIGHT)
    for row in bgp.redistributions:
        if row.family == family and row.source != "kernel":
            taken = dict(sorted((connected if row.source == "connected" else static).items()))
            for found, attributes in redistributed(taken, reader.of(row.policy, external=False), family):
                if found not in rows or _rank(attributes) < _rank(rows[found]):
                    rows[found] = attributes
                if origins is not None:
                    origins[found] = max(attributes.origin, origins.get(found, 0))
    return rows


def _rank(own: Attributes) -> tuple[int, int, int, int, int]:
    """Return by what one of a router's own routes wins against another of the same prefix, the least first."""
    return -own.weight, -own.preference, len(own.path), own.origin, own.med or 0


def redistributed(taken: Mapping[Prefix, str], words: Words, family: Family) -> Iterator[tuple[Prefix, Attributes]]:
    """Yield what is left of routes of another protocol, by prefix with the leg of connected ones, after the route map.

    `match interface` is asked of that leg (FRR, bgpd/bgp_routemap.c, route_match_interface).
    """
    attributes = Attributes(weight=LOCAL_WEIGHT, origin=INCOMPLETE)
    if words.rules is None:
        yield from ((one, attributes) for one in taken)
        return
    destinations = Destinations(family, {one: (one,) for one in taken}, shapes(words))
    policy = Policy(0, words, destinations)
    over: defaultdict[str, list[Prefix]] = defaultdict(list)
    for one, leg in taken.items():
        over[leg if words.reads_legs else ""].append(one)
    for leg, prefixes in over.items():
        whole = Part(attributes._replace(interface=leg), destinations.bits(prefixes))
        for changed, bits in policy.parts((whole,), whole.bits):
            told = changed._replace(interface="")
            yield from ((one, told) for one in prefixes if bits >> destinations.class_of[one] & 1)


def _over(router: Router, family: Family) -> dict[Prefix, tuple[Leg, ...]]:
    """On which legs it depends whether a router has a prefix, of those that can be down."""
    found = {subnet: [leg] for subnet, leg in router.by_subnet.items()}
    for route, to in statics(router, family):
        if (leg := outlet(router, route)) is not None:
            found.setdefault(to, []).append(leg)
    return {prefix: tuple(legs) for prefix, legs in found.items()}


class World:
    """All speakers of a family, with the classes of destinations and the policies between them."""

    def __init__(
        self, family: Family, own: Sequence[Router], sessions: Sequence[Session], up: Sequence[Mapping[str, bool]]
    ) -> None:
        self.family = family
        self._policies: dict[Words, Policy] = {}
        readers = self._readers = {one.number: Reader(one.bgp, family) for one in own if one.bgp is not None}
        sides = list(_sides(own, sessions, family))
        asn_of = {one.number: one.bgp.asn for one in own if one.bgp is not None}
        words = [
            (
                readers[near.router].inbound(near.neighbor),
                readers[near.router].outbound(near.neighbor, asn_of[far.router]),
            )
            for _, near, far in sides
        ]
        worse: dict[int, dict[Prefix, int]] = {one.number: {} for one in own}
        rows = {
            one.number: announced(one, readers[one.number], family, up[one.number], worse[one.number])
            for one in own
            if one.bgp
        }
        named = {one: None for pair in words for each in pair for one in shapes(each)}
        installs = {
            one.number: readers[one.number].of(name, external=False)
            for one in own
            if one.bgp is not None and (name := _installed_by(one.bgp, family)) is not None
        }
        named |= {one: None for each in installs.values() for one in shapes(each)}
        summaries = {
            one.number: [
                (row, found)
                for row in one.bgp.aggregates
                if (found := prefix(row.prefix)) is not None and found.family == family
            ]
            for one in own
            if one.bgp is not None
        }
        named |= {_inside(found): None for rows_of in summaries.values() for _, found in rows_of}
        origins: defaultdict[Prefix, list[tuple[int, Attributes, tuple[Leg, ...]]]] = defaultdict(list)
        for router in own:
            over = _over(router, family) if router.number in rows else {}
            for found, attributes in rows.get(router.number, {}).items():
                origins[found].append((router.number, attributes, over.get(found, ())))
        self.origins = {found: tuple(rows) for found, rows in origins.items()}
        made: defaultdict[Prefix, tuple[object, ...]] = defaultdict(tuple, self.origins)
        for number, rows_of in summaries.items():
            for row, found in rows_of:
                made[found] += (("aggregate", number, row),)
        told_default = any(outbound.default is not None for _, outbound in words)
        self.default = Prefix(family, 0, 0)
        if told_default:
            made[self.default] += (("default",),)
        self._made = dict(made)
        self.tied = made.keys() != self.origins.keys() or told_default or any(summaries.values())
        """Whether a router's choice for one destination can hang on another."""
        self.destinations = Destinations(family, made, named)
        self.speakers = {one.number: Speaker(one, one.bgp) for one in own if one.bgp is not None}
        plain = self.tied or any(one.reads_paths for pair in words for one in pair)
        self.hidden = 0 if plain else self._hidden()
        for number, speaker in self.speakers.items():
            speaker.local = self._local(number, rows[number])
            speaker.unnamed = together(speaker.local) & self.hidden
            speaker.limits = _limits(speaker.bgp, family)
            speaker.summaries = tuple(self._summary(row, found) for row, found in summaries[number])
            if speaker.summaries:
                bits = self.destinations.bits
                speaker.worse = tuple((origin, bits((found,))) for found, origin in worse[number].items())
            speaker.installs, speaker.installs_sums = self._installed(speaker.bgp, installs.get(number))
        self._join(sides, words)

    def _installed(self, bgp: Bgp, words: Words | None) -> tuple[int, int]:
        """Return what a router installs of routes that it has learned, and of aggregates."""
        passed = -1
        if words is not None:
            passed = together(Policy(-1, words, self.destinations).parts((Part(Attributes(), self.every),), self.every))
        distances = bgp.distances if self.family == "ipv4" else bgp.distances_ipv6
        if distances is None:
            return passed, passed
        return (0 if distances[0] == MAX_DISTANCE else passed), (0 if distances[2] == MAX_DISTANCE else passed)

    def _summary(self, row: Aggregate, found: Prefix) -> Summary:
        inside = self.destinations.permitted(_inside(found))
        return Summary(1 << self.destinations.class_of[found], inside, row.summary_only)

    @property
    def every(self) -> int:
        """All classes of destinations."""
        return (1 << self.destinations.count) - 1

    def is_offered(self, found: Prefix, to: int) -> bool:
        """Whether another router originates exactly this prefix, or anybody aggregates it."""
        return any(row[0] != to for row in self._made.get(found, ()) if isinstance(row, tuple))

    def local(self, number: int, up: Mapping[str, bool]) -> tuple[Part, ...]:
        """Return what a router originates while its legs are in another state than at first."""
        router = self.speakers[number].router
        return self._local(number, announced(router, self._readers[number], self.family, up))

    def _local(self, number: int, rows: Mapping[Prefix, Attributes]) -> tuple[Part, ...]:
        by_attributes: defaultdict[Attributes, list[Prefix]] = defaultdict(list)
        for found, attributes in rows.items():
            by_attributes[attributes].append(found)
        bits = self.destinations.bits
        return tuple(Part(attributes, bits(found)) for attributes, found in by_attributes.items())

    def _hidden(self) -> int:
        """Return the classes without an AS number of their origin: the only router with its number originates them."""
        holders = Counter(speaker.bgp.asn for speaker in self.speakers.values())
        alone = {number for number, speaker in self.speakers.items() if holders[speaker.bgp.asn] == 1}
        return self.destinations.bits(
            found for found, rows in self.origins.items() if len(rows) == 1 and rows[0][0] in alone
        )

    def policy(self, words: Words) -> Policy:
        """Return the policy of these words, one object for equal ones."""
        found = self._policies.get(words)
        if found is None:
            found = self._policies[words] = Policy(len(self._policies), words, self.destinations)
        return found

    def _join(self, sides: list[tuple[int, Side, Side]], words: list[tuple[Words, Words]]) -> None:
        """Give every speaker its links, in the order in which their neighbors win a tie."""
        rows: defaultdict[int, list[tuple[tuple[int, int], int, Side, Side, tuple[Words, Words]]]] = defaultdict(list)
        for (session, own, far), pair in zip(sides, words, strict=True):
            rows[own.router].append((self._tie(own, far), session, own, far, pair))
        position: dict[tuple[int, int], int] = {}
        for number, found in rows.items():
            found.sort(key=lambda row: (row[0], row[1]))
            position.update({(number, row[1]): place for place, row in enumerate(found)})
        kinds: dict[object, int] = {}
        for number, found in rows.items():
            speaker = self.speakers[number]
            speaker.links = tuple(
                Link(
                    session,
                    far.router,
                    position[far.router, session],
                    self.policy(inbound),
                    self.policy(outbound),
                    _repeats(own, self.family),
                )
                for _, session, own, far, (inbound, outbound) in found
            )
            speaker.sessions = frozenset(link.session for link in speaker.links)
            for link in speaker.links:
                speaker.reach |= link.outbound.reach
                if link.outbound.default is not None:
                    speaker.reach |= 1 << self.destinations.class_of[self.default]
            if not speaker.limits.relaxed:
                asns = tuple(self.speakers[link.far].bgp.asn for link in speaker.links)
                speaker.limits = speaker.limits._replace(neighbors=asns)
            kind = (speaker.limits, tuple((link.inbound.number, link.repeats) for link in speaker.links))
            speaker.shape = kinds.setdefault(kind, len(kinds))
        for speaker in self.speakers.values():
            speaker.hears = tuple(
                (link.far, self.speakers[link.far].links[link.far_position].outbound.number) for link in speaker.links
            )
            speaker.sources = kinds.setdefault(speaker.hears, len(kinds))

    def _tie(self, own: Side, far: Side) -> tuple[int, int]:
        """By what a neighbor wins a tie: its router id, then its address; one over an interface has a link-local one.

        Those come behind all others (FRR, lib/sockunion.c, sockunion_cmp); which of several is first is not known.
        """
        there = self.speakers[far.router]
        named = address(there.bgp.router_id or "")
        peer: Address | None = address(own.neighbor.address or "")
        return (0 if named is None else named.number, _LAST if peer is None else peer.number)


def internal(own: Sequence[Router], session: Session) -> bool:
    """Whether a session is between routers of one AS, over which routes go by other rules than are computed here."""
    a, b = own[session.a.router].bgp, own[session.b.router].bgp
    return a is not None and b is not None and a.asn == b.asn


def _sides(own: Sequence[Router], sessions: Iterable[Session], family: Family) -> Iterator[tuple[int, Side, Side]]:
    for number, session in enumerate(sessions):
        if family in session.families and not internal(own, session):
            yield number, session.a, session.b
            yield number, session.b, session.a


def _repeats(own: Side, family: Family) -> int:
    return of_family(own.neighbor, family).allowas_in or 0


def _installed_by(bgp: Bgp, family: Family) -> str | None:
    return bgp.installed_policy if family == "ipv4" else bgp.installed_policy_ipv6


def _inside(found: Prefix) -> Shape:
    """Return a list that permits the longer prefixes inside one."""
    longest = BITS[found.family]
    if found.length == longest:
        return (PrefixRule(sequence=5, action="deny", prefix="any"),)
    return (PrefixRule(sequence=5, action="permit", prefix=str(found), ge=found.length + 1, le=longest),)


def _limits(bgp: Bgp, family: Family) -> Limits:
    most = bgp.maximum_paths if family == "ipv4" else bgp.maximum_paths_ipv6
    return Limits(bgp.multipath_relax, most, bgp.always_compare_med)
