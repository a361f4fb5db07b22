"""Deviations of the built-in computation from the demands of cables and tiers, checked as for other validators."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping

from nodrop.analyses import Hit
from nodrop.analyses._aims import RequiredDestination, aims
from nodrop.analyses._computed import compute_observation, joints
from nodrop.analyses._expected import ObservedFault, faults
from nodrop.analyses._naming import abbreviate_list, format_observed_value, item_name, item_place
from nodrop.analyses._plane import control_plane_of
from nodrop.model.index import Index
from nodrop.model.subject import FABRIC, Subject, cable_ends
from nodrop.routing.observation import ObservationCheck

RESTS_ON = frozenset({"cables", "roles", "hosts"})
ROUTED = True
FAILURES = True

_CHECKS: tuple[ObservationCheck, ...] = ("links", "packets", "sessions", "addresses", "reach")


def find(index: Index) -> Iterator[Hit]:
    """Yield unexpected results, once per subject: sessions, neighbors, full-size packets, owners, destinations.

    The fact `devices` names all devices where another rule may find the cause: those of the fault, and for
    sessions and destinations the switches next to them. Subnets that no switch announces are no destinations here.
    """
    own_observation = compute_observation(index)
    holders = _announced_aims(index)
    adjacent = _adjacent_devices(index)
    groups: defaultdict[tuple[ObservationCheck, Subject, Hashable], list[ObservedFault]] = defaultdict(list)
    for fault in faults(index, own_observation):
        if fault.check not in _CHECKS or own_observation.blind(fault.check, fault.item):
            continue
        subject = item_place(index, fault.item)[0]
        if fault.check == "reach":
            if (aim := holders.get(fault.item[3])) is None:
                continue
            subject = (control_plane_of(index).routers[aim.router].device.name, "@bgp")
        groups[fault.check, subject, fault.seen].append(fault)
    for (check, subject, _), rows in groups.items():
        devices = {device for row in rows for device in _devices(subject, row)}
        if check in ("sessions", "reach"):
            devices |= {near for device in devices for near in adjacent.get(device, ())}
        names = list(dict.fromkeys(item_name(row.item) for row in rows))
        message = own_observation.said.get((check, rows[0].item), "")
        yield Hit(
            subject=subject,
            at=item_place(index, rows[0].item)[1] if check != "reach" else None,
            facts={
                "what": f"{_SUBJECTS[check]} {abbreviate_list(names, 2)}{f' ({message})' if message else ''}",
                "seen": format_observed_value(rows[0].seen),
                "expected": format_observed_value(rows[0].expected),
                "devices": ", ".join(sorted(devices)),
            },
            discriminator=f"{check} {format_observed_value(rows[0].seen)}",
        )


_SUBJECTS: Mapping[ObservationCheck, str] = {
    "links": "neighbors over",
    "packets": "full-size packets over",
    "sessions": "the session from",
    "addresses": "the owner of",
    "reach": "packets from",
}


def _announced_aims(index: Index) -> Mapping[str, RequiredDestination]:
    """Return the destinations that are announced, by their prefix."""
    plane = control_plane_of(index)
    announced = {prefix for family in plane.families for prefix in plane.of(family).world.origins}
    return {str(aim.prefix): aim for aim in aims(index) if aim.prefix in announced}


def _adjacent_devices(index: Index) -> Mapping[str, set[str]]:
    """Return the devices that are cabled to each device."""
    adjacent_devices: defaultdict[str, set[str]] = defaultdict(set)
    for joint in joints(index, control_plane_of(index)):
        a, b = joint.a.device.name, joint.b.device.name
        adjacent_devices[a].add(b)
        adjacent_devices[b].add(a)
    return adjacent_devices


def _devices(subject: Subject, fault: ObservedFault) -> Iterator[str]:
    """Yield the devices at which a fault shows."""
    for subject_path in (subject, fault.item):
        if subject_path[0] != FABRIC:
            yield subject_path[0]
        else:
            yield from (end.node for end in cable_ends(subject_path[-1]))
    if isinstance(fault.seen, tuple):
        yield from (str(owner).partition(":")[0] for owner in fault.seen)
