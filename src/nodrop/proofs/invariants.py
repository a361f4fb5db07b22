"""Conditions on single sessions from which it follows that no failure can form a circle of buffers.

Every router has a level, and every session joins two levels. If no router announces upward what it uses from above,
packets that came down never go up again, whatever has failed: first all buffers on the way up fill, by level, then all
on the way down, against it, and no circle can form (RFC 7938, section 5.2.1, is the case of one AS number above). The
conditions are those of each router and its sessions alone (Lightyear, SIGCOMM 2023).
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nodrop.analyses._targets import AnnouncedPrefixes
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.proofs.forwarding import Forwarding, bit_positions
from nodrop.routing.adverts import destinations_of_parts
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.speakers import BgpSpeaker, SpeakerLink
from nodrop.routing.static_routes import is_discard_route, readable_static_routes
from nodrop.routing.tiers import tier_of_device

ObstacleReason = Literal["no-level", "level", "passes", "outer", "static", "inside", "default", "tunnel", "flood"]


class SessionAnnouncementKind(NamedTuple):
    """The routes that one end of a session announces to the other, as far as policies decide it.

    `passes` are the destinations that pass the policies of both ends, -1 for all. `keeps_path` is whether AS paths
    reach the listener with the announcer's number in front and nothing removed. A listener drops paths that have its
    own number more than `own_as` times.
    """

    passes: int
    keeps_path: bool
    own_as: int


class SessionDirection(NamedTuple):
    """One direction of a session: who announces, who listens, and the number of its kind."""

    announcer: int
    listener: int
    kind: int


class ProofObstacle(NamedTuple):
    """Why a condition does not hold: a router, a neighbor to which it announces, and one that it hears that from."""

    reason: ObstacleReason
    router: int
    to: int | None = None
    heard_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlockFreedomConditions:
    """The conditions of a fabric: levels by router, sessions, what ends where, and what is in the way of the proof."""

    levels: Mapping[int, int]
    kinds: tuple[SessionAnnouncementKind, ...]
    sessions: tuple[SessionDirection, ...]
    ends: Mapping[int, int]
    """The classes that each router originates, as bits."""
    outer: int
    """Announced prefixes that have longer ones of hosts inside them."""
    obstacles: tuple[ProofObstacle, ...]

    @property
    def hold(self) -> bool:
        """Whether no failure of cables or switches can form a circle."""
        return not self.obstacles


def check_any_failure_conditions(forwarding: Forwarding) -> DeadlockFreedomConditions:
    """Return the conditions of a fabric, and which of them do not hold."""
    facts = _SessionFacts(forwarding)
    by_role = _tier_levels_by_router(forwarding, facts)
    found = _check_conditions_with_levels(facts, by_role, forwarding) if by_role.keys() == facts.ends.keys() else None
    if found is not None and found.hold:
        return found
    other = _check_conditions_with_levels(facts, _levels_by_host_distance(forwarding, facts), forwarding)
    return other if found is None or other.hold else found


class _SessionFacts:
    """The sessions of a fabric in all families, with classes numbered as the destinations of the forwarding."""

    def __init__(self, forwarding: Forwarding) -> None:
        self._numbers: dict[SessionAnnouncementKind, int] = {}
        self.sessions: dict[SessionDirection, None] = {}
        self.ends: dict[int, int] = {}
        self.outer = 0
        self.other: list[ProofObstacle] = []
        self.tells_default: set[tuple[int, int]] = set()
        self.other += [ProofObstacle("tunnel", number) for number in sorted({one.near for one in forwarding.tunnels})]
        flooding = {vlan.router for vlan in forwarding.flooded_vlans if vlan.to}
        self.other += [ProofObstacle("flood", number) for number in sorted(flooding)]
        first = 0
        for family in ADDRESS_FAMILIES:
            routes = forwarding.plane.of(family)
            self._add_family_sessions(forwarding, routes, first)
            first += routes.world.destinations.count
        self.kinds = tuple(self._numbers)

    def _add_family_sessions(self, forwarding: Forwarding, routes: FamilyRoutes, first: int) -> None:
        world, outer = routes.world, _classes_around_host_prefixes(forwarding, routes, first)
        relevant = (forwarding.every >> first & world.all_class_bits) | outer
        self.outer |= outer << first
        for number, speaker in world.speakers.items():
            originated = destinations_of_parts(speaker.local)
            for summary in speaker.summaries:
                originated |= summary.own
            self.ends[number] = self.ends.get(number, 0) | originated << first
            if speaker.peers:
                self.other.append(ProofObstacle("inside", number))
            for link in speaker.links:
                kind = _session_kind_of_link(speaker, link, world.speakers[link.far], relevant, first)
                way = SessionDirection(number, link.far, self._numbers.setdefault(kind, len(self._numbers)))
                self.sessions[way] = None
                if link.outbound.default is not None:
                    self.tells_default.add((number, link.far))
        for router in forwarding.plane.routers:
            for route, _ in readable_static_routes(router, routes.family):
                if is_discard_route(route):
                    continue
                used = routes.non_bgp_routes(router.number).values()
                if any(hop.router is not None for one in used if one.source == "static" for hop in one.hops):
                    self.other.append(ProofObstacle("static", router.number))
                break


def _classes_around_host_prefixes(forwarding: Forwarding, routes: FamilyRoutes, first: int) -> int:
    """Return the classes of announced prefixes that have longer ones of hosts inside them.

    Those of neighbors outside alone do not count: over a link to one no buffer waits, as it sends and obeys no pauses.
    """
    announced, class_of, origins = AnnouncedPrefixes(routes), routes.world.destinations.class_of, routes.world.origins
    routers = forwarding.plane.routers
    outer = 0
    for number in bit_positions(forwarding.every >> first & routes.world.all_class_bits):
        for prefix in forwarding.destinations[first + number].prefixes:
            for wider in announced.find_covering_prefixes(prefix):
                is_of_switch = (
                    any(not routers[row[0]].is_stand_in for row in origins.get(wider, ())) or wider not in origins
                )
                if wider != prefix and is_of_switch:
                    outer |= 1 << class_of[wider]
    return outer


def _session_kind_of_link(
    speaker: BgpSpeaker, link: SpeakerLink, far: BgpSpeaker, relevant: int, first: int
) -> SessionAnnouncementKind:
    """Return the kind of a session from a speaker to the far end of one of its links, for `relevant` destinations."""
    heard = far.links[link.far_position]
    reach = link.outbound.reach & heard.inbound.reach
    keeps = not link.outbound.rewrites_as_paths and heard.inbound.shown is None
    return SessionAnnouncementKind(
        -1 if reach & relevant == relevant else (reach & relevant) << first, keeps, heard.repeats
    )


def _tier_levels_by_router(forwarding: Forwarding, facts: _SessionFacts) -> Mapping[int, int]:
    """Return the tiers of routers whose roles have one; neighbors outside are below the leaves."""
    routers = forwarding.plane.routers
    lowest = int(any(routers[number].is_stand_in for number in facts.ends))
    levels: dict[int, int] = {}
    for number in facts.ends:
        tier = tier_of_device(routers[number].device)
        if routers[number].is_stand_in:
            levels[number] = 0
        elif tier is not None:
            levels[number] = lowest + tier
    return levels


def _levels_by_host_distance(forwarding: Forwarding, facts: _SessionFacts) -> Mapping[int, int]:
    """Return the distance of each router to the nearest one with hosts, in sessions."""
    after: dict[int, list[int]] = {}
    for session in facts.sessions:
        after.setdefault(session.announcer, []).append(session.listener)
    levels = dict.fromkeys(forwarding.entries, 0)
    waiting = deque(levels)
    while waiting:
        number = waiting.popleft()
        for far in after.get(number, ()):
            if far not in levels:
                levels[far] = levels[number] + 1
                waiting.append(far)
    return levels


def _check_conditions_with_levels(
    facts: _SessionFacts, levels: Mapping[int, int], forwarding: Forwarding
) -> DeadlockFreedomConditions:
    once = twice = 0
    for bits in facts.ends.values():
        twice |= once & bits
        once |= bits
    obstacles = [*facts.other]
    above: dict[int, list[SessionDirection]] = {}
    heard: dict[int, list[SessionDirection]] = {}
    for session in facts.sessions:
        low, high = levels.get(session.announcer), levels.get(session.listener)
        if low is None or high is None:
            obstacles.append(ProofObstacle("no-level", session.announcer if low is None else session.listener))
        elif low == high:
            obstacles.append(ProofObstacle("level", session.announcer, session.listener))
        elif low < high:
            above.setdefault(session.announcer, []).append(session)
        else:
            heard.setdefault(session.listener, []).append(session)
    for number, sessions in above.items():
        own = facts.ends.get(number, 0)
        obstacles += _upward_leak_obstacles(forwarding, facts, (sessions, heard.get(number, [])), own & ~twice, own)
    return DeadlockFreedomConditions(
        levels=levels,
        kinds=facts.kinds,
        sessions=tuple(facts.sessions),
        ends=facts.ends,
        outer=facts.outer,
        obstacles=tuple(dict.fromkeys(obstacles)),
    )


def _upward_leak_obstacles(
    forwarding: Forwarding,
    facts: _SessionFacts,
    sessions: tuple[list[SessionDirection], list[SessionDirection]],
    alone: int,
    own: int,
) -> Iterator[ProofObstacle]:
    """Yield why a router may announce upward what it uses from above; `alone` is what it alone originates."""
    upward, heard = sessions
    asns = {session.announcer: _asn_of(forwarding, session.announcer) for session in heard}
    for session in upward:
        kind, to = facts.kinds[session.kind], session.listener
        if (session.announcer, to) in facts.tells_default:
            yield ProofObstacle("default", session.announcer, to)
        if kind.passes & own & facts.outer:
            yield ProofObstacle("outer", session.announcer, to)
        foreign, asn = kind.passes & ~alone, _asn_of(forwarding, to)
        for other in heard:
            if not foreign & facts.kinds[other.kind].passes:
                continue
            drops = kind.keeps_path and facts.kinds[other.kind].keeps_path and not kind.own_as
            if asns[other.announcer] != asn or not drops:
                yield ProofObstacle("passes", session.announcer, to, other.announcer)
                break


def _asn_of(forwarding: Forwarding, number: int) -> int:
    bgp = forwarding.plane.routers[number].bgp
    return 0 if bgp is None else bgp.asn
