"""Classes of single failures with the same effect but for names: those that exchanges of switches take to one another.

Exchanges say nothing where routes hang on more than sessions, prefixes and the length of paths: then each cable and
switch is alone in its class.
"""

from collections.abc import Iterable
from functools import cached_property

from nodrop.model.addresses import AddressFamily
from nodrop.model.fabric import End
from nodrop.proofs.exchanges import AlikeCables
from nodrop.proofs.forwarding import Forwarding
from nodrop.proofs.invariants import DeadlockFreedomConditions
from nodrop.proofs.tie_order import TieBreakOrderCheck
from nodrop.proofs.traffic import TrafficAtRouters
from nodrop.routing import ControlPlane
from nodrop.routing.adverts import PathAttributes
from nodrop.routing.agreement import may_reach_neighbor_over_routers
from nodrop.routing.failed import FailedState
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.policy import GRACEFUL_SHUTDOWN_COMMUNITY
from nodrop.routing.prefix_limits import has_prefix_limit
from nodrop.routing.speakers import BgpSpeaker, FamilySpeakers


class AlikeFailures:
    """The classes of the failures of single cables and switches of a fabric."""

    def __init__(self, traffic: TrafficAtRouters, invariants: DeadlockFreedomConditions) -> None:
        """Find them; `has_classes` is whether exchanges say anything about the fabric."""
        self._traffic, self._plane = traffic, traffic.forwarding.plane
        self._hosts = traffic.forwarding.host_destination_bits_by_family()
        self.has_classes = _does_as_path_length_decide_routes(
            self._plane, invariants
        ) and is_independent_of_neighbor_order(traffic.forwarding)
        self._numbers = {router.device.name: router.number for router in self._plane.routers if router.bgp is not None}

    @cached_property
    def _cables(self) -> AlikeCables:
        fixed = frozenset(
            number
            for family in self._plane.families
            for routes in (self._plane.of(family),)
            for analysis in (FailureAnalysis(self._plane, routes),)
            for number in routes.world.speakers
            if analysis.can_originated_routes_depend_on_ports(number)
        )
        return AlikeCables(self._traffic, fixed)

    def failure_class_of_switch(self, name: str) -> object | None:
        """Return what switches of one class have in common; None for one without a class."""
        number = self._numbers.get(name)
        return ("switch", self._cables.class_of_router(number)) if self.has_classes and number is not None else None

    def failure_class_of_cables(self, cables: Iterable[frozenset[End]]) -> object | None:
        """Return what cables, by their ends, have in common that fail alike; None for those without a class."""
        classes = [self._cables.class_of_cable(ends) for ends in cables] if self.has_classes else [None]
        known = [one for one in classes if one is not None]
        return ("cables", tuple(sorted(known))) if len(known) == len(classes) else None

    def is_neighbor_order_irrelevant_after(self, family: AddressFamily, failed: FailedState) -> bool:
        """Whether forwarding after a failure is the same in any order of neighbors."""
        order = self._tie_break_checks_by_family[family]
        bits = failed.bits & self._hosts[family]
        return not failed.unstable and order.is_neighbor_order_without_effect(
            bits, failed.table_after, failed.originated_parts, failed.dead
        )

    @cached_property
    def _tie_break_checks_by_family(self) -> dict[AddressFamily, TieBreakOrderCheck]:
        return {family: TieBreakOrderCheck(self._plane.of(family).world) for family in self._plane.families}


def is_independent_of_neighbor_order(forwarding: Forwarding) -> bool:
    """Whether forwarding is the same in any order of neighbors, in one state of a fabric."""
    hosts = forwarding.host_destination_bits_by_family()
    return all(
        not routes.state.unstable
        and TieBreakOrderCheck(routes.world).is_neighbor_order_without_effect(
            hosts[routes.family], routes.state.table, routes.state.originated_parts
        )
        for routes in map(forwarding.plane.of, forwarding.plane.families)
    )


def _does_as_path_length_decide_routes(plane: ControlPlane, invariants: DeadlockFreedomConditions) -> bool:
    """Whether sessions, prefixes and the length of AS paths decide all routes, whatever fails."""
    off_routes = ("static", "inside", "default", "tunnel", "flood")
    if invariants.outer or any(one.reason in off_routes for one in invariants.obstacles):
        return False
    if plane.unsettled.disputed or plane.unsettled.barely_over or plane.unsettled.restless:
        return False
    for session in plane.sessions:
        sides = (session.a, session.b)
        if session.far or any(
            may_reach_neighbor_over_routers(plane.routers[side.router], side.neighbor) for side in sides
        ):
            return False
    if any(has_prefix_limit(neighbor) for router in plane.routers for neighbor in router.neighbors):
        return False
    return all(_has_only_plain_speakers_and_policies(plane.of(family).world) for family in plane.families)


def _has_only_plain_speakers_and_policies(world: FamilySpeakers) -> bool:
    policies = {
        policy
        for speaker in world.speakers.values()
        for link in speaker.links
        for policy in (link.inbound, link.outbound)
    }
    return (
        not world.keeps
        and not world.tied
        and all(policy.decides_by_prefix for policy in policies)
        and all(map(_uses_and_installs_equal_paths, world.speakers.values()))
    )


def _uses_and_installs_equal_paths(speaker: BgpSpeaker) -> bool:
    """Whether a router uses its shortest paths together, and installs what it uses."""
    bgp = speaker.bgp
    return (
        speaker.limits.relaxed
        and bgp.maximum_med is None
        and not speaker.peers
        and not speaker.summaries
        and speaker.installs == -1
        and all(_has_no_med_path_or_communities(attributes) for attributes, _ in speaker.local)
    )


def _has_no_med_path_or_communities(attributes: PathAttributes) -> bool:
    return attributes.med is None and attributes.communities <= {GRACEFUL_SHUTDOWN_COMMUNITY} and not attributes.path
