"""Deviations of the built-in computation from the demands of cables and tiers, checked as for other validators."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

from nodrop.analyses import AnalysisHit
from nodrop.analyses._aims import RequiredDestination, required_destinations_of
from nodrop.analyses._computed import compute_intact_observation, find_routed_cables
from nodrop.analyses._expected import ObservedFault, find_observed_faults
from nodrop.analyses._naming import (
    abbreviate_list,
    describe_cable_ends,
    format_item_name,
    format_observed_value,
    subject_and_part_to_point_at,
)
from nodrop.analyses._plane import control_plane_of
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key
from nodrop.routing.observation import ObservationCheck

RESTS_ON = frozenset({"cables", "roles", "hosts"})
NEEDS_ROUTING = True
REPORTS_STAND_INS = True
NEEDS_FAILURES = True

_REPORTED_CHECKS: tuple[ObservationCheck, ...] = ("links", "packets", "sessions", "addresses", "reach")


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield unexpected results, once per subject: sessions, neighbors, full-size packets, owners, destinations.

    The fact `devices` names all devices where another rule may find the cause: those of the fault, and for
    sessions and destinations the switches next to them. Subnets that no switch announces are no destinations here.
    """
    own_observation = compute_intact_observation(index)
    holders = _announced_destinations_by_prefix(index)
    adjacent = _adjacent_devices(index)
    groups: defaultdict[tuple[ObservationCheck, Subject, Hashable], list[ObservedFault]] = defaultdict(list)
    for fault in find_observed_faults(index, own_observation):
        if fault.check not in _REPORTED_CHECKS or own_observation.reason_unseen(fault.check, fault.item):
            continue
        subject = subject_and_part_to_point_at(index, fault.item)[0]
        if fault.check == "reach":
            if (aim := holders.get(fault.item[3])) is None:
                continue
            subject = (control_plane_of(index).routers[aim.router].device.name, "@bgp")
        groups[fault.check, subject, fault.seen].append(fault)
    for (check, subject, _), rows in groups.items():
        devices = {device for row in rows for device in _devices_of_fault(subject, row)}
        if check in ("sessions", "reach"):
            devices |= {near for device in devices for near in adjacent.get(device, ())}
        message = own_observation.said.get((check, rows[0].item), "")
        yield AnalysisHit(
            subject=subject,
            at=subject_and_part_to_point_at(index, rows[0].item)[1] if check != "reach" else None,
            facts={
                "found": _describe_deviation(index, check, rows, message),
                "remedy": _REMEDY_BY_CHECK[check],
                "devices": ", ".join(sorted(devices)),
            },
            discriminator=f"{check} {format_observed_value(rows[0].seen)}",
        )


_REMEDY_BY_CHECK: Mapping[ObservationCheck, str] = {
    "links": "give both ports addresses of one subnet",
    "packets": "give both ports the larger MTU",
    "sessions": "correct what keeps the session down, at the end that states it",
    "addresses": "give each port a separate address",
    "reach": (
        "announce the prefix at its leaf and let it pass in the policies on the way; `nodrop path SRC DST PATH` "
        "between two hosts shows where packets end"
    ),
}


def _describe_deviation(index: Index, check: ObservationCheck, rows: Sequence[ObservedFault], message: str) -> str:
    """Return what is computed of some items, and what cables and tiers ask for."""
    item, seen = rows[0].item, format_observed_value(rows[0].seen)
    names = abbreviate_list(list(dict.fromkeys(format_item_name(row.item) for row in rows)), 2)
    why = f" ({message})" if message else ""
    match check:
        case "links":
            return f"{describe_cable_ends(index, item)} are no neighbors over their cable{why}"
        case "packets":
            ends = [f"{end.node} {end.port}{_format_mtu_suffix(index, end)}" for end in ends_of_cable_key(item[2])]
            return f"full-size packets do not cross the cable of {' and '.join(ends)}{why}"
        case "addresses":
            return f"{names} belongs to {seen}{why}; expected one owner"
        case "sessions":
            return f"the session of {names} is {seen}{why}; expected up"
    return f"packets from {names}: {seen}{why}; expected delivered"


def _format_mtu_suffix(index: Index, end: End) -> str:
    port = index.interface(*end)
    return f" (MTU {port.mtu_bytes})" if port is not None and isinstance(port.mtu_bytes, int) else ""


def _announced_destinations_by_prefix(index: Index) -> Mapping[str, RequiredDestination]:
    """Return the destinations that are announced, by their prefix."""
    plane = control_plane_of(index)
    announced = {prefix for family in plane.families for prefix in plane.of(family).world.origins}
    return {str(aim.prefix): aim for aim in required_destinations_of(index) if aim.prefix in announced}


def _adjacent_devices(index: Index) -> Mapping[str, set[str]]:
    """Return the devices that are cabled to each device."""
    adjacent_devices: defaultdict[str, set[str]] = defaultdict(set)
    for joint in find_routed_cables(index, control_plane_of(index)):
        a, b = joint.a.device.name, joint.b.device.name
        adjacent_devices[a].add(b)
        adjacent_devices[b].add(a)
    return adjacent_devices


def _devices_of_fault(subject: Subject, fault: ObservedFault) -> Iterator[str]:
    """Yield the devices at which a fault shows."""
    for subject_path in (subject, fault.item):
        if subject_path[0] != FABRIC_HEAD:
            yield subject_path[0]
        else:
            yield from (end.node for end in ends_of_cable_key(subject_path[-1]))
    if isinstance(fault.seen, tuple):
        yield from (str(owner).partition(":")[0] for owner in fault.seen)
