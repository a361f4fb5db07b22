"""The results of nodrop's own control plane, in the shape of other validators' observations."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from nodrop.analyses._aims import is_required_at, may_be_leaf, required_destinations_of
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._fates import explain_acl_doubt, find_packet_fates
from nodrop.analyses._plane import control_plane_of
from nodrop.analyses._targets import MANAGEMENT_VRFS
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.effects import dscps_of_probe_packets
from nodrop.model.fabric import End, Interface, Link
from nodrop.model.identifiers import possible_anycast_addresses
from nodrop.model.index import Index
from nodrop.model.states import Unknown, is_known_off
from nodrop.model.subject import Subject
from nodrop.model.subject import link_subject as link_subject
from nodrop.routing import ControlPlane
from nodrop.routing.failures import AffectedDestinations, FailureAnalysis
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.observation import (
    DELIVERY_FATES,
    DeliveryFate,
    ObservationCheck,
    ValidatorObservation,
    address_item,
    failure_item,
    route_item,
)
from nodrop.routing.prefixes import Address
from nodrop.routing.routers import VrfRouter
from nodrop.routing.routes import FamilyRoutes
from nodrop.routing.stand_ins import index_with_stand_ins
from nodrop.routing.static_routes import readable_static_routes

NODROP_OBSERVER_NAME: Final = "nodrop"
_PHRASE_BY_SESSION_DOWN_REASON: Final[Mapping[str, str]] = {
    "shutdown": "shut down",
    "no-subnet": "no port in its subnet",
    "no-member": "an interface without ports",
    "no-route": "no route to the address",
    "source": "from another address than the other end expects",
    "static": "a static route sends its packets to another next hop",
    "passive": "both ends wait for the other",
    "hops": "its TTL is too low for the distance",
    "password": "another password",
    "port-down": "port down",
    "nobody": "no device has the address",
    "cabled-elsewhere": "the cable leads to another device",
    "limit": "more prefixes than maximum-prefix allows",
    "missing-there": "no statement at the other end",
    "asn": "another AS number",
    "router-id": "the other end has the same router id",
    "families": "no family in common",
    "filtered": "an access list drops {what}",
}
NOT_READ_REASON: Final = "the configuration of the other end was not read"
_FAILURE_CHECKS: Final[tuple[ObservationCheck, ...]] = ("failures", "recoveries")


def compute_observation(index: Index) -> ValidatorObservation:
    """Return the result of the built-in computation for every check, the same object for one index.

    The items of the other validators are the same: each validator sees them, or gives the reason why not.
    """
    index = index_with_stand_ins(index)
    return index.compute_once("computed", lambda: _add_failure_losses(index, compute_intact_observation(index)))


def compute_intact_observation(index: Index) -> ValidatorObservation:
    """Return the result for every check of the fabric as it is, without failures and recoveries."""
    index = index_with_stand_ins(index)
    return index.compute_once("computed, intact", lambda: _ObservationBuilder(index).observation())


def _add_failure_losses(index: Index, intact: ValidatorObservation) -> ValidatorObservation:
    lost = dict(_losses_by_failure(index))
    unseen = dict(intact.unseen)
    if doubt := explain_acl_doubt(index):
        unseen |= {check: {(): doubt} for check in _FAILURE_CHECKS}
    if gap := unseen.get("routes", {}).get(()):
        unseen |= {check: {(): gap} for check in _FAILURE_CHECKS}
    seen = {**intact.seen, "failures": lost, "recoveries": dict.fromkeys(lost, "as before")}
    return replace(intact, seen=seen, unseen=unseen)


class _ObservationBuilder:
    """One fabric, check by check."""

    def __init__(self, index: Index) -> None:
        self.index, self.plane = index, control_plane_of(index)
        self.seen: dict[ObservationCheck, dict[Subject, Hashable]] = {}
        self.said: dict[tuple[ObservationCheck, Subject], str] = {}
        self.unseen: dict[ObservationCheck, dict[Subject, str]] = defaultdict(dict)

    def observation(self) -> ValidatorObservation:
        """Return the observation of the intact fabric."""
        self.seen["configuration"] = {(device.name,): "whole" for device in self.index.fabric.devices}
        self._record_links_and_packets()
        self._record_session_states()
        self.seen["addresses"] = {**dict(_address_owners(self.plane)), **dict(_router_id_owners(self.plane))}
        tables = self.seen["routes"] = {}
        for family in ADDRESS_FAMILIES:
            if family in self.plane.families or any(
                any(readable_static_routes(router, family)) for router in self.plane.routers
            ):
                tables.update(_next_hops_by_route(self.plane, self.plane.of(family)))
        self._record_reachability()
        for gap in self.plane.gaps:
            for check in ("routes", "reach"):
                self.unseen[check][()] = f"nodrop does not compute {gap.what} of {gap.subject[0]}"
        return ValidatorObservation(by=NODROP_OBSERVER_NAME, seen=self.seen, said=self.said, unseen=self.unseen)

    def _record_reachability(self) -> None:
        first, *_ = dscps_of_probe_packets(self.index.fabric)
        worst: dict[Subject, DeliveryFate] = {}
        for item, dscp, fate, to, doubt in find_packet_fates(self.index, self.plane):
            if DELIVERY_FATES.index(fate) < DELIVERY_FATES.index(worst.setdefault(item, "delivered")):
                worst[item] = fate
                self.said["reach", item] = f"to {to}" if dscp == first else f"DSCP {dscp} to {to}"
            if doubt:
                self.unseen["reach"].setdefault(item, doubt)
        self.seen["reach"] = dict(worst)

    def _record_links_and_packets(self) -> None:
        links: dict[Subject, Hashable] = {}
        packets: dict[Subject, Hashable] = {}
        for joint in find_routed_cables(self.index, self.plane):
            link = joint.links[0]
            if joint.at_a.ports != (joint.at_a.name,) or joint.at_b.ports != (joint.at_b.name,):
                continue
            item = link_subject(link.a, link.b)
            links[item] = "up" if are_ends_in_one_subnet_or_unnumbered(joint) else "down"
            sizes = [_mtu_of_port(self.index.interface(*end)) for end in (link.a, link.b)]
            if None in sizes:
                self.unseen["packets"][item] = "the configuration does not say the MTU of both ends"
            else:
                packets[item] = (
                    "crosses" if is_reached_both_ways(self.index, joint) and sizes[0] == sizes[1] else "lost"
                )
        self.seen |= {"links": links, "packets": packets}

    def _record_session_states(self) -> None:
        sessions: dict[Subject, Hashable] = {}
        for session in self.plane.sessions:
            for side in (session.a, session.b):
                sessions[self.plane.routers[side.router].subject_of_neighbor(side.neighbor)] = "up"
        for down in self.plane.down:
            item = down.router.subject_of_neighbor(down.neighbor)
            if down.reason == "unread":
                outside = down.facts["node"] in self.index.external_nodes
                reason = "the neighbor is outside the fabric" if outside else NOT_READ_REASON
                self.unseen["sessions"][item] = reason
            elif down.reason == "may-be-filtered":
                at = f"access list {down.facts['list']} of {down.facts['where']}"
                self.unseen["sessions"][item] = f"it is not known whether {at} drops BGP"
            else:
                sessions[item] = "down"
                self.said["sessions", item] = _PHRASE_BY_SESSION_DOWN_REASON[down.reason].format(**down.facts)
        self.seen["sessions"] = sessions


def _mtu_of_port(port: Interface | None) -> int | None:
    """Return the MTU of a port, in bytes; None where it is not known."""
    return None if port is None or isinstance(port.mtu_bytes, Unknown) else port.mtu_bytes


class RoutedCable(NamedTuple):
    """What routes at both ends of cables, which are ports or bundles: each with its router."""

    a: VrfRouter
    at_a: RoutedInterface
    b: VrfRouter
    at_b: RoutedInterface
    links: tuple[Link, ...]


def find_routed_cables(index: Index, plane: ControlPlane) -> list[RoutedCable]:
    """Return the cables between switches that route at both ends, except those that are shut or for management."""
    return index.compute_once("joints", lambda: list(_find_routed_cables(index, plane)))


def _find_routed_cables(index: Index, plane: ControlPlane) -> Iterator[RoutedCable]:
    places: dict[tuple[str, str], tuple[VrfRouter, RoutedInterface]] = {}
    for router in plane.routers:
        for leg in router.legs:
            if (
                router.vrf not in MANAGEMENT_VRFS
                and leg.subject[1:2] != ("@vlans",)
                and _has_address_or_session(index, router, leg)
            ):
                places.update(dict.fromkeys(((router.device.name, port) for port in leg.ports), (router, leg)))
    found_links: dict[tuple[Subject, Subject], list[Link]] = {}
    for link in index.fabric.links:
        a, b = places.get(link.a), places.get(link.b)
        if a is not None and b is not None and not (_is_port_shut(index, link.a) or _is_port_shut(index, link.b)):
            found_links.setdefault((a[1].subject, b[1].subject), []).append(link)
    for links in found_links.values():
        yield RoutedCable(*places[links[0].a], *places[links[0].b], tuple(links))


def _is_port_shut(index: Index, end: End) -> bool:
    port = index.interface(*end)
    return port is not None and is_known_off(port.enabled)


def _has_address_or_session(index: Index, router: VrfRouter, leg: RoutedInterface) -> bool:
    port = index.interface(router.device.name, leg.name)
    return (
        bool(leg.addresses)
        or leg.name in router.neighbors_by_interface
        or (port is not None and port.link_local is True)
    )


def are_ends_in_one_subnet_or_unnumbered(joint: RoutedCable) -> bool:
    """Whether both ends are each other's next router: in one subnet, or found by router advertisements."""
    if joint.at_a.name in joint.a.neighbors_by_interface and joint.at_b.name in joint.b.neighbors_by_interface:
        return True
    return any(
        subnet.contains_address(other_address) and other_address != own_address
        for own_address, subnet in zip(joint.at_a.addresses, joint.at_a.subnets, strict=True)
        for other_address in joint.at_b.addresses
    )


def is_reached_both_ways(index: Index, joint: RoutedCable) -> bool:
    """Whether packets get from each end to the other: in one subnet at both, or between link-local addresses."""
    ends = ((joint.a, joint.at_a), (joint.b, joint.at_b))
    if all(_has_ipv6_link_local(index, router, leg) for router, leg in ends):
        return True
    near, far = joint.at_a, joint.at_b
    return any(
        own_address != other_address and subnet.contains_address(other_address) and prefix.contains_address(own_address)
        for own_address, subnet in zip(near.addresses, near.subnets, strict=True)
        for other_address, prefix in zip(far.addresses, far.subnets, strict=True)
    )


def _has_ipv6_link_local(index: Index, router: VrfRouter, routed_interface: RoutedInterface) -> bool:
    """Return whether a leg has a link-local address; a leg with a session over it does unless its port forbids it."""
    port = index.interface(router.device.name, routed_interface.name)
    stated = None if port is None else port.link_local
    return routed_interface.name in router.neighbors_by_interface if isinstance(stated, Unknown) else stated is True


def _address_owners(plane: ControlPlane) -> Iterator[tuple[Subject, tuple[str, ...]]]:
    """Yield the addresses of the default VRF, each with those that have it.

    VLANs' gateways are left out, and addresses of loopbacks that several have as anycast: they may have several.
    """
    alone: set[Address] = set()
    owners: defaultdict[Address, set[str]] = defaultdict(set)
    for router in plane.routers:
        shared = possible_anycast_addresses(router.device)
        for leg in router.legs if router.vrf is None else ():
            for address in leg.addresses if leg.ports or not router.is_stand_in else ():
                if address.is_link_local or leg.subject[1] == "@vlans" or (leg.ports and leg.ports != (leg.name,)):
                    continue
                if leg.ports or str(address) not in shared:
                    alone.add(address)
                owners[address].add(f"{router.device.name}:{leg.name}")
    for owner in sorted(owners):
        if owner in alone or len(owners[owner]) == 1:
            yield address_item(str(owner)), tuple(sorted(owners[owner]))


def _router_id_owners(plane: ControlPlane) -> Iterator[tuple[Subject, tuple[str, ...]]]:
    """Yield the router ids that are stated, each with the devices that have it in their default VRF."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for router in plane.routers:
        if router.vrf is None and router.bgp is not None and router.bgp.router_id:
            owners[router.bgp.router_id].add(router.device.name)
    for owner in sorted(owners):
        yield address_item(f"router id {owner}"), tuple(sorted(owners[owner]))


def _next_hops_by_route(plane: ControlPlane, routes: FamilyRoutes) -> Iterator[tuple[Subject, frozenset[str]]]:
    for router in plane.routers:
        if router.vrf in MANAGEMENT_VRFS:
            continue
        for route in routes.routes(router.number):
            if route.source != "connected":
                hops = frozenset({"discard"}) if route.discard else frozenset(hop.leg for hop in route.hops)
                yield route_item(router.device, str(route.prefix), router.vrf), hops


def reach_items_with_other_fate_than_dscp(index: Index, dscp: int) -> frozenset[Subject]:
    """Return the items of `reach` whose worst fate is not that of packets of a DSCP."""
    found_fates: defaultdict[Subject, dict[int, DeliveryFate]] = defaultdict(dict)
    for row in find_packet_fates(index, control_plane_of(index)):
        found_fates[row.item][row.dscp] = row.fate
    return frozenset(
        item
        for item, by_dscp in found_fates.items()
        if dscp in by_dscp and by_dscp[dscp] != min(by_dscp.values(), key=DELIVERY_FATES.index)
    )


def leaves_by_destination_prefix(index: Index) -> Mapping[str, frozenset[str]]:
    """Return the prefixes that count when failures are tried, by leaf: those of hosts and of the leaves themselves.

    Leaves announce them. A failure loses those of them that a leaf had a route to and has none to any more, except the
    failed device's own. A spine's own loopback is no loss: the only cable to it may fail.
    """
    return index.compute_once("destinations of leaves", lambda: _leaves_by_required_prefix(index))


def _leaves_by_required_prefix(index: Index) -> Mapping[str, frozenset[str]]:
    plane = control_plane_of(index)
    devices_by_prefix: defaultdict[str, set[str]] = defaultdict(set)
    for aim in required_destinations_of(index):
        if may_be_leaf(plane.routers[aim.router]):
            devices_by_prefix[str(aim.prefix)].add(plane.routers[aim.router].device.name)
    return {prefix: frozenset(devices) for prefix, devices in devices_by_prefix.items()}


def _losses_by_failure(index: Index) -> Iterator[tuple[Subject, frozenset[tuple[str, str]]]]:
    """Yield a failure of every kind, the first of those that are alike, with its losses."""
    lost: dict[str, set[tuple[str, str]]] = {}
    counted = leaves_by_destination_prefix(index)
    for reach in route_propagations_of(index):
        failures = FailureAnalysis(reach.plane, reach.routes)

        def find_lost_prefixes(
            rows: tuple[AffectedDestinations, ...], reach: RoutePropagation = reach
        ) -> Iterator[tuple[str, str]]:
            for row in rows:
                router = reach.plane.routers[row.router]
                for lost_prefix in reach.prefixes(row.bits) if may_be_leaf(router) else ():
                    if is_required_at(index, router, lost_prefix):
                        yield router.device.name, str(lost_prefix)

        for device in failures.equivalent_devices:
            if device in index.external_nodes:
                continue
            rows = find_lost_prefixes(failures.outcome_without_device(device).unreachable)
            lost.setdefault(device, set()).update(
                (router, prefix) for router, prefix in rows if counted.get(prefix, frozenset({device})) != {device}
            )
        for link in failures.equivalent_links:
            rows = find_lost_prefixes(failures.outcome_without_links(link).unreachable)
            name = link_subject(link.a, link.b)[-1]
            lost.setdefault(name, set()).update((router, prefix) for router, prefix in rows if prefix in counted)
    for failure_name in sorted(lost, key=lambda name: (":" in name, name)):
        yield failure_item(failure_name), frozenset(lost[failure_name])
