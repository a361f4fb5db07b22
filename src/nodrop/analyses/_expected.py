"""The expected observation of a fabric, from its cables and tiers alone, and how a validator's observation differs.

A fault explained by one check is not reported again by the next: if a session was seen down, no path over it is missed.
"""

from collections import defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from nodrop.analyses._aims import LongestPrefixLookup, is_required_at, may_be_leaf, required_destinations_of
from nodrop.analyses._computed import (
    NODROP_OBSERVER_NAME,
    RoutedCable,
    compute_observation,
    find_routed_cables,
    leaves_by_destination_prefix,
)
from nodrop.analyses._plane import control_plane_of
from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.model.index import Index
from nodrop.model.subject import Subject, ends_of_cable_key
from nodrop.model.subject import link_subject as link_subject
from nodrop.routing import ControlPlane
from nodrop.routing.observation import OBSERVATION_CHECKS, ObservationCheck, ValidatorObservation, route_item
from nodrop.routing.prefixes import Address, Prefix, parse_prefix
from nodrop.routing.tiers import tier_of_device

EXPECTED_STATE_BY_CHECK: Final[Mapping[ObservationCheck, Hashable]] = {
    "configuration": "whole",
    "links": "up",
    "packets": "crosses",
    "sessions": "up",
    "reach": "delivered",
    "failures": frozenset[tuple[str, str]](),
    "recoveries": "as before",
}
"""What every item of a check should be; addresses should have one owner, and routes the ports that cables allow."""

NOTHING_SEEN: Final = "nothing"
"""What is seen of an item of which a validator neither says what it sees nor why it does not."""


class ObservedFault(NamedTuple):
    """An item that is not seen as it should be."""

    check: ObservationCheck
    item: Subject
    seen: Hashable
    expected: Hashable


def find_observed_faults(index: Index, observation: ValidatorObservation) -> list[ObservedFault]:
    """Return the unexpected items of a validator's observation, in the order of the checks.

    Items are those of the built-in computation too; the built-in computation may be that of the intact fabric alone.
    """
    key = f"faults {observation.by}: {' '.join(observation.seen)}"
    return index.compute_once(key, lambda: list(_ObservationComparison(index, observation).faults()))


def is_as_expected(
    check: ObservationCheck, checked_subject: Subject, value: Hashable, expected: Mapping[Subject, Hashable]
) -> bool:
    """Whether an item is seen as it should be; `expected` are the ports that routes should have."""
    if check == "addresses":
        return isinstance(value, tuple) and len(value) == 1
    if check == "routes":
        should = expected.get(checked_subject, frozenset())
        return isinstance(value, frozenset) and isinstance(should, frozenset) and should <= value
    return value == EXPECTED_STATE_BY_CHECK[check]


class _ObservationComparison:
    """One observation against what should be."""

    def __init__(self, index: Index, seen: ValidatorObservation) -> None:
        self.index, self.seen, self.plane = index, seen, control_plane_of(index)

    def faults(self) -> Iterator[ObservedFault]:
        """Yield them."""
        own_observation = self.seen if self.seen.by == NODROP_OBSERVER_NAME else compute_observation(self.index)
        routes = expected_ports_by_route(self.index, self.seen)
        hurt: set[str] = set()
        for check in OBSERVATION_CHECKS:
            values = self.seen.seen.get(check, {})
            for item in dict.fromkeys((*own_observation.seen.get(check, {}), *values)):
                if item not in values and self.seen.reason_unseen(check, item):
                    continue
                value = values.get(item, NOTHING_SEEN)
                if check == "sessions" and own_observation.reason_unseen(check, item):
                    continue  # towards what was not read, where nobody can see who answers
                if check == "routes" and (item not in routes or value == NOTHING_SEEN):
                    continue  # whether there is a route at all is a matter of reach
                if check == "reach" and value != "loop" and route_item(item[0], item[3], item[2]) not in routes:
                    continue  # no way is left: what is down was told
                if check == "failures" and isinstance(value, frozenset):
                    value = frozenset(pair for pair in value if not self._is_loss_already_reported(pair, hurt))
                if not is_as_expected(check, item, value, routes):
                    hurt |= _devices_with_narrowed_paths(check, item)
                    yield ObservedFault(
                        check, item, value, EXPECTED_STATE_BY_CHECK.get(check, routes.get(item, "one owner"))
                    )

    def _is_loss_already_reported(self, lost: tuple[str, str], hurt: set[str]) -> bool:
        """Whether a leaf that loses a prefix, or all routers that announce it, have been reported already."""
        leaf, prefix = lost
        return leaf in hurt or leaves_by_destination_prefix(self.index).get(prefix, frozenset()) <= hurt


def _devices_with_narrowed_paths(check: ObservationCheck, checked_subject: Subject) -> set[str]:
    """Whose ways a fault narrows before anything else fails."""
    if check == "links":
        return {end.node for end in ends_of_cable_key(checked_subject[2])}
    return {checked_subject[0]} if check in ("configuration", "sessions", "routes", "reach") else set()


def expected_ports_by_route(index: Index, observation: ValidatorObservation) -> Mapping[Subject, frozenset[str]]:
    """Return the ports that leaves should use towards their destinations: all shortest paths without valley.

    To a switch above the leaves no path leads through its siblings, which are those of its tier with a switch below in
    common: they have its AS number (RFC 7938, section 5.2.1), so that BGP rejects such a path as a loop.

    Cables over which the observation has no session, or whose ends it does not see as neighbors, carry nothing; nothing
    goes through a switch that asks to be routed around. A key is an item of the observation: the target's route, or the
    target itself.
    """
    key = f"expected {observation.by}"
    return index.compute_once(key, lambda: _compute_expected_ports_by_route(index, observation))


class LegToNeighbor(NamedTuple):
    """A leg that leads from a router to another, and whether that stands above, below, or in no order to it."""

    leg: str
    far: int
    up: bool
    down: bool


def _compute_expected_ports_by_route(index: Index, observation: ValidatorObservation) -> dict[Subject, frozenset[str]]:
    plane = control_plane_of(index)
    has_stand_ins = any(router.is_stand_in for router in plane.routers)
    cables = find_routed_cables(index, plane)
    sessions_down = _neighbors_with_sessions_down(plane, observation)
    usable = [
        joint
        for joint in cables
        if joint.a.bgp is not None and joint.b.bgp is not None and _may_carry_session(joint, observation, sessions_down)
    ]
    links_by_family = {
        family: _links_between_routers(joint for joint in usable if _may_carry_family(joint, family))
        for family in (ADDRESS_FAMILIES if has_stand_ins else ADDRESS_FAMILIES[:1])
    }
    owners: defaultdict[Prefix, list[int]] = defaultdict(list)
    for aim in required_destinations_of(index):
        owners[aim.prefix].append(aim.router)
    leaves = [router for router in plane.routers if may_be_leaf(router)]
    passing = {
        router.number: router.bgp is not None and not router.bgp.graceful_shutdown and not router.is_stand_in
        for router in plane.routers
    }
    found_expected_routes: dict[Subject, frozenset[str]] = {}
    tables = _observed_route_tables(observation)
    legs_by_group: dict[tuple[AddressFamily, tuple[int, ...]], dict[int, frozenset[str]]] = {}
    siblings = _find_sibling_routers(cables)
    samples: defaultdict[Prefix, set[Address]] = defaultdict(set)
    for aim in required_destinations_of(index):
        samples[aim.prefix].update(aim.samples)
    for to, holders in owners.items():
        group = tuple(sorted(holders))
        key = (to.family if has_stand_ins else ADDRESS_FAMILIES[0], group)
        if key not in legs_by_group:
            beside = dict.fromkeys((far for holder in group for far in siblings.get(holder, ())), False)
            legs_by_group[key] = shortest_legs_to_owners(group, links_by_family[key[0]], {**passing, **beside})
        for router in leaves:
            legs = legs_by_group[key].get(router.number)
            if legs is None or router.number in group or plane.routers[group[0]].vrf != router.vrf:
                continue
            if not is_required_at(index, router, to):
                continue
            table = tables.get((router.device.name, router.vrf or ""))
            rows = [table(address) for address in sorted(samples[to])] if table else [None]
            for used in dict.fromkeys(to if row is None else row[0] for row in rows):
                item = route_item(router.device, str(used), router.vrf)
                found_expected_routes[item] = (
                    legs & found_expected_routes[item] if item in found_expected_routes else legs
                )
            found_expected_routes.setdefault(route_item(router.device, str(to), router.vrf), legs)
    return found_expected_routes


def _links_between_routers(cables: Iterable[RoutedCable]) -> Mapping[int, list[LegToNeighbor]]:
    """Return the links of each router over some cables."""
    links: defaultdict[int, list[LegToNeighbor]] = defaultdict(list)
    for joint in cables:
        for near, leg, far in ((joint.a, joint.at_a, joint.b), (joint.b, joint.at_b, joint.a)):
            own_rank, far_rank = tier_of_device(near.device), tier_of_device(far.device)
            if own_rank is None or far_rank is None:
                links[near.number].append(LegToNeighbor(leg.name, far.number, up=True, down=True))
            elif own_rank != far_rank:
                links[near.number].append(
                    LegToNeighbor(leg.name, far.number, up=far_rank > own_rank, down=far_rank < own_rank)
                )
    return links


def _may_carry_family(joint: RoutedCable, family: AddressFamily) -> bool:
    """Whether a cable may carry routes of a family: one to a neighbor outside only those of its addresses."""
    outside = next((leg for router, leg in ((joint.a, joint.at_a), (joint.b, joint.at_b)) if router.is_stand_in), None)
    return outside is None or any(address.family == family for address in outside.addresses)


def _find_sibling_routers(cables: Iterable[RoutedCable]) -> dict[int, set[int]]:
    """Return the routers of each router's tier that have a router below in common with it, itself included."""
    uppers_by_lower: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for cable in cables:
        for low, high in ((cable.a, cable.b), (cable.b, cable.a)):
            low_rank, high_rank = tier_of_device(low.device), tier_of_device(high.device)
            if low_rank is not None and high_rank is not None and low_rank < high_rank:
                uppers_by_lower[low.number][high.number] = high_rank
    siblings: defaultdict[int, set[int]] = defaultdict(set)
    for alike in {tuple(sorted(uppers.items())) for uppers in uppers_by_lower.values()}:
        for number, own_rank in alike:
            siblings[number].update(far for far, far_rank in alike if far_rank == own_rank)
    return siblings


def _neighbors_with_sessions_down(plane: ControlPlane, seen: ValidatorObservation) -> set[tuple[int, str]]:
    """Return the interfaces and addresses of neighbors whose sessions are down, each with the number of its router."""
    down = {subject for subject, state in seen.seen.get("sessions", {}).items() if state == "down"}
    return {
        (router.number, text)
        for router in (plane.routers if down else ())
        for neighbor in router.neighbors
        if router.subject_of_neighbor(neighbor) in down
        for text in (neighbor.interface, neighbor.address)
        if text is not None
    }


def _may_carry_session(
    joint: RoutedCable, seen: ValidatorObservation, sessions_down: Container[tuple[int, str]]
) -> bool:
    links = seen.seen.get("links", {})
    if all(links.get(link_subject(link.a, link.b)) == "down" for link in joint.links):
        return False
    if not sessions_down:
        return True
    return not any(
        (router.number, text) in sessions_down
        for router, leg, far_leg in ((joint.a, joint.at_a, joint.at_b), (joint.b, joint.at_b, joint.at_a))
        for text in (leg.name, *map(str, far_leg.addresses))
    )


def _observed_route_tables(seen: ValidatorObservation) -> Mapping[tuple[str, str], LongestPrefixLookup]:
    """Return the routes that were seen, by device and VRF."""
    rows: defaultdict[tuple[str, str], dict[Prefix, object]] = defaultdict(dict)
    for (device, _, vrf, text), hops in seen.seen.get("routes", {}).items():
        if (found_prefix := parse_prefix(text)) is not None:
            rows[device, vrf][found_prefix] = hops
    return {key: LongestPrefixLookup(own_rows) for key, own_rows in rows.items()}


def shortest_legs_to_owners(
    owners: tuple[int, ...], adjacencies: Mapping[int, list[LegToNeighbor]], passing: Mapping[int, bool]
) -> dict[int, frozenset[str]]:
    """Return the legs that every router should use towards given owners: over the fewest cables, never up again."""
    far = len(passing) + 1
    falling = dict.fromkeys(owners, 0)
    edge = list(owners)
    while edge:  # who stands above, step by step
        after = []
        for number in edge:
            for link in adjacencies.get(number, ()) if passing[number] or number in owners else ():
                if link.up and link.far not in falling:
                    falling[link.far] = falling[number] + 1
                    after.append(link.far)
        edge = after
    least = dict(falling)
    edge = sorted(least, key=least.__getitem__)
    while edge:  # and who hears of it from above
        after = []
        for number in edge:
            for link in adjacencies.get(number, ()) if passing[number] or number in owners else ():
                if link.down and least[number] + 1 < least.get(link.far, far):
                    least[link.far] = least[number] + 1
                    after.append(link.far)
        edge = after
    legs_by_router: dict[int, frozenset[str]] = {}
    for number, distance in least.items():
        legs = set()
        for link in adjacencies.get(number, ()):
            if not (passing[link.far] or link.far in owners):
                continue
            far_distance = falling.get(link.far, far) if link.down and not link.up else least.get(link.far, far)
            if far_distance + 1 == distance:
                legs.add(link.leg)
        if legs:
            legs_by_router[number] = frozenset(legs)
    return legs_by_router
