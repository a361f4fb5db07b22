"""Single failures after which packets still go up and then down: these need no separate graph.

Where every session joins two tiers, each channel leads up or down. If no router sends up what it gets from above, the
packets in a channel up wait for one that begins in a higher tier, or for one down, and those in a channel down for one
that begins in a lower tier. No circle can form, whatever the QoS maps are. `routing/failures.py` computes from the
state before which routers begin to send up what they get from above.
"""

from collections.abc import Iterable, Mapping

from nodrop.model.addresses import AddressFamily
from nodrop.model.fabric import Link
from nodrop.proofs.forwarding import Forwarding
from nodrop.proofs.invariants import DeadlockFreedomConditions
from nodrop.routing.failures import FailureAnalysis, FailureOutcome
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.static_routes import is_discard_route, readable_static_routes
from nodrop.routing.tiers import TierDirections, tier_of_device

FailureOutcomes = Mapping[AddressFamily, FailureOutcome]


class HarmlessFailureCheck:
    """Decides of single failures whether packets of hosts go up and then down after them."""

    def __init__(self, forwarding: Forwarding, invariants: DeadlockFreedomConditions) -> None:
        plane = forwarding.plane
        self.analyses: dict[AddressFamily, FailureAnalysis] = {}
        """By family; none where a condition does not hold, and no failure is known to be harmless."""
        self._hosts = forwarding.host_destination_bits_by_family()
        if _forwards_between_tiers_alone(forwarding, invariants) and all(
            _routes_go_up_then_down(forwarding, plane.of(family), self._hosts[family]) for family in plane.families
        ):
            self.analyses = {family: FailureAnalysis(plane, plane.of(family)) for family in plane.families}

    def outcomes_without_links(self, links: Iterable[Link]) -> FailureOutcomes:
        """Return what becomes of each family if these cables fail; nothing where that is not known."""
        cut = tuple(links)
        return {family: one.outcome_without_links(*cut) for family, one in self.analyses.items()}

    def outcomes_without_device(self, name: str) -> FailureOutcomes:
        """Return what becomes of each family if a switch fails; nothing where that is not known."""
        return {family: one.outcome_without_device(name) for family, one in self.analyses.items()}

    def is_harmless(self, outcomes: FailureOutcomes) -> bool:
        """Whether no packet goes down and up again after a failure; false where that is not known."""
        return bool(outcomes) and all(
            outcome.valleys_searched
            and not outcome.unstable
            and not any(row.bits & self._hosts[family] for row in outcome.valleys)
            for family, outcome in outcomes.items()
        )


def _forwards_between_tiers_alone(forwarding: Forwarding, invariants: DeadlockFreedomConditions) -> bool:
    """Whether routers forward by BGP between tiers alone, and no prefix of hosts is inside another one."""
    plane = forwarding.plane
    if invariants.outer or any(obstacle.reason != "passes" for obstacle in invariants.obstacles):
        return False
    for routes in map(plane.of, plane.families):
        if routes.state.unstable or any(speaker.summaries for speaker in routes.world.speakers.values()):
            return False
        for router in plane.routers:
            if any(not is_discard_route(route) for route, _ in readable_static_routes(router, routes.family)):
                return False
    return True


def _routes_go_up_then_down(forwarding: Forwarding, routes: FamilyRoutes, hosts: int) -> bool:
    """Whether packets enter at the lowest tier, all sessions join two tiers, and no router sends up what came down."""
    world, tiers = routes.world, TierDirections(routes.world)
    table, local = routes.state.table, routes.state.originated_parts
    for number, speaker in world.speakers.items():
        if len(tiers.uplink_positions(number)) + len(tiers.downlink_positions(number)) < len(speaker.links):
            return False
        if number in forwarding.entries and tier_of_device(speaker.router.device) != 0:
            return False
    valleys = {
        number: bits for number in world.speakers if (bits := tiers.valley_destinations(number, table, local) & hosts)
    }
    over = tiers.destinations_by_router_pair(hosts, table, local) if valleys else {}
    return not any(bits & tiers.destinations_from_above(number, over) for number, bits in valleys.items())
