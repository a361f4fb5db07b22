"""What single failures do to hosts, computed once for all rules: of each cable and switch that can hit any."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses._cuts import UnavoidableRouters
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.model.fabric import Link
from nodrop.model.index import Index
from nodrop.routing.failures import AffectedDestinations, FailureAnalysis, FailureOutcome


class FailureCase(NamedTuple):
    """A failure of a cable or a switch, and whom it hits."""

    reach: RoutePropagation
    link: Link | None
    device: str
    lost: tuple[AffectedDestinations, ...]
    """Hosts that a leaf no longer reaches."""
    valleys: tuple[AffectedDestinations, ...]
    """Hosts to which a way goes down and up again."""


def harmful_failure_cases(index: Index) -> list[FailureCase]:
    """Return the failures that hit anybody, those of cables first."""
    return index.compute_once("failed", lambda: list(_find_harmful_failure_cases(index)))


def _find_harmful_failure_cases(index: Index) -> Iterator[FailureCase]:
    for reach in route_propagations_of(index):
        if reach.state.unstable:
            continue
        cuts = UnavoidableRouters(reach)
        names = {number: reach.plane.routers[number].device.name for number in reach.world.speakers}
        devices = dict.fromkeys(
            names[number] for number in sorted(cuts.routers) if not reach.plane.routers[number].is_stand_in
        )
        pairs = {frozenset((names[router_number], names[far_number])) for router_number, far_number in cuts.pairs}
        failures = FailureAnalysis(reach.plane, reach.routes)
        for link in failures.links if devices or pairs else ():
            ends = {link.a.node, link.b.node}
            if not ends.isdisjoint(devices) or frozenset(ends) in pairs:
                yield from failure_case_if_harmful(reach, failures.outcome_without_links(link), link)
        for device in devices:
            yield from failure_case_if_harmful(reach, failures.outcome_without_device(device), None, device)


def failure_case_if_harmful(
    route_reach: RoutePropagation, outcome: FailureOutcome, link: Link | None, device: str = ""
) -> Iterator[FailureCase]:
    """Yield a failure if it hits hosts; a router that is no leaf only forwards, and its loss alone is no failure."""
    lost = tuple(
        loss._replace(bits=bits)
        for loss in outcome.unreachable
        if route_reach.ranks[loss.router] in (0, None)
        and (bits := loss.bits & route_reach.hosts & route_reach.wanted_by(loss.router))
    )
    valleys = tuple(
        valley._replace(bits=bits) for valley in outcome.valleys if (bits := valley.bits & route_reach.hosts)
    )
    if lost or valleys:
        yield FailureCase(route_reach, link, device, lost, valleys)
