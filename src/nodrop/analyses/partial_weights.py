"""Equal paths of which some have a link bandwidth and others have none, so a router does not weigh them.

A route has the link bandwidth that the import policy gives it, or else the export policy at the other end. bgpd weighs
paths only if all equal ones have one (FRR bgpd/bgp_mpath.c, bgp_path_info_mpath_chkwtd); one that passes a received
route on without a policy that sets it may pass a sum of others' values on.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.model.index import Index
from nodrop.model.policy_values import LINK_BANDWIDTH
from nodrop.model.routing import Bgp, RouteMapRule
from nodrop.model.subject import Subject
from nodrop.routing.decision import LearnedTableEntry
from nodrop.routing.policy_gaps import is_prefix_in_lists
from nodrop.routing.prefixes import Prefix
from nodrop.routing.routers import SessionSide
from nodrop.routing.words import neighbor_family_statement

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True


class _SessionWithoutLinkBandwidth(NamedTuple):
    """A session whose routes come without link bandwidth, and the policy that could set one."""

    name: str
    subject: Subject
    session: Subject


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield each policy without a link bandwidth beside others with one, once each, with the most paths."""
    best_hits: dict[Subject, tuple[int, AnalysisHit]] = {}
    if not any(map(_has_link_bandwidth, _bgp_processes_of_fabric(index))):
        return
    for reach in route_propagations_of(index):
        finder = _LinkBandwidthFinder(reach)
        for number, speaker in reach.world.speakers.items():
            choices = {entry.hops: entry for entry in reach.state.table(number).entries if len(entry.hops) > 1}
            for entry in reach.state.table(number).entries if finder.varies else choices.values():
                for hit in finder.hits(number, entry) if len(entry.hops) > 1 and speaker.links else ():
                    if hit.subject not in best_hits or best_hits[hit.subject][0] < len(entry.hops):
                        best_hits[hit.subject] = len(entry.hops), hit
    yield from (hit for _, hit in best_hits.values())


def _bgp_processes_of_fabric(index: Index) -> Iterator[Bgp]:
    for device in index.fabric.devices:
        yield from device.known_bgp_processes


def _has_link_bandwidth(bgp: Bgp) -> bool:
    return any(_sets_bandwidth(rule) for route_map in bgp.route_maps for rule in route_map.rules)


def _sets_bandwidth(rule: RouteMapRule) -> bool:
    return any(kind == LINK_BANDWIDTH for kind, _ in rule.sets)


class _LinkBandwidthFinder:
    """Which paths of a family have a link bandwidth."""

    def __init__(self, reach: RoutePropagation) -> None:
        self._reach = reach
        self._rules: Mapping[int, Mapping[str, tuple[RouteMapRule, ...]]] = {
            number: {route_map.name: route_map.rules for route_map in speaker.bgp.route_maps}
            for number, speaker in reach.world.speakers.items()
        }
        self.varies = any(
            0 < sum(map(_sets_bandwidth, permits)) < len(permits)
            for maps in self._rules.values()
            for rules in maps.values()
            if (permits := [rule for rule in rules if rule.action == "permit"])
        )
        """Whether a policy sets a link bandwidth on some routes only."""

    def hits(self, number: int, entry: LearnedTableEntry) -> Iterator[AnalysisHit]:
        """Yield the sessions whose routes have no link bandwidth though other equal paths of a router have one."""
        reach, speaker = self._reach, self._reach.world.speakers[number]
        bits = entry.bits & reach.wanted
        prefixes = reach.prefixes(bits) if self.varies else reach.prefixes(bits & -bits)
        for prefix in prefixes:
            weights = [self._has_path_link_bandwidth(number, position, prefix) for position in entry.hops]
            if None in weights or True not in weights or False not in weights:
                continue
            for position, weighed in zip(entry.hops, weights, strict=True):
                if not weighed:
                    link = speaker.links[position]
                    lacking = self._session_and_policy_without_bandwidth(
                        reach.plane.side(link.far, link.session), link.far
                    )
                    yield AnalysisHit(
                        subject=lacking.subject,
                        facts={
                            "device": lacking.subject[0],
                            "policy": lacking.name,
                            "chooser": reach.plane.routers[number].name,
                            "weighed": weights.count(True),
                            "paths": len(weights),
                            "prefix": str(prefix),
                        },
                        related=((lacking.session, "a session with this policy"),),
                    )

    def _has_path_link_bandwidth(self, number: int, position: int, prefix: Prefix) -> bool | None:
        """Return whether a path to a prefix has a link bandwidth; None if nodrop cannot compute that."""
        link = self._reach.world.speakers[number].links[position]
        near, far = self._reach.plane.side(number, link.session), self._reach.plane.side(link.far, link.session)
        family = self._reach.routes.family
        imported = self._does_policy_set_link_bandwidth(
            number, neighbor_family_statement(near.neighbor, family).import_policy, prefix
        )
        if imported is not False:
            return imported
        return self._does_policy_set_link_bandwidth(
            link.far, neighbor_family_statement(far.neighbor, family).export_policy, prefix
        )

    def _does_policy_set_link_bandwidth(self, number: int, policy: str | None, prefix: Prefix) -> bool | None:
        """Return whether a policy of a router sets a link bandwidth on a route that it permits; None if unknown."""
        rules = () if policy is None else self._rules[number].get(policy, ())
        if any(kind in ("call", "on-match") for rule in rules for kind, _ in rule.sets):
            return None
        bgp, possible = self._reach.world.speakers[number].bgp, set[bool]()
        for rule in rules:
            lists = [match for match in rule.matches if match[0].endswith("address prefix-list")]
            if not is_prefix_in_lists(bgp, lists, prefix):
                continue
            if rule.action == "permit":
                possible.add(_sets_bandwidth(rule))
            if len(lists) == len(rule.matches):
                break
        return possible.pop() if len(possible) == 1 else None if possible else False

    def _session_and_policy_without_bandwidth(self, side: SessionSide, number: int) -> _SessionWithoutLinkBandwidth:
        router = self._reach.plane.routers[number]
        session = router.subject_of_neighbor(side.neighbor)
        policy = neighbor_family_statement(side.neighbor, self._reach.routes.family).export_policy
        if policy is None:
            return _SessionWithoutLinkBandwidth(f"the session to {session[-1]}", session, session)
        return _SessionWithoutLinkBandwidth(f"route map {policy}", (*router.bgp_subject, "route_maps", policy), session)
