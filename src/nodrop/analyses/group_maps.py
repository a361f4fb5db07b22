"""Maps to priority groups that pause the wrong traffic: once for each map, at the row that decides it.

Ports of a switch whose maps have the same rows are taken for users of one map.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.model import effects
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.pausing import (
    PRIORITY_GROUP_MAPS,
    ExpectedMapRow,
    find_classes_with_group_queue_mismatch,
    lossless_priority_groups_shared_by_tcs,
    priority_group_of_pfc_priority,
)
from nodrop.model.purposes import STORAGE_PURPOSES, TCP_STORAGE
from nodrop.model.qos import NumberMap, QosProfile
from nodrop.model.states import UnknownFact, is_known_off
from nodrop.units import show_ids

RESTS_ON_WITH = {"classes": frozenset({True})}
GIVES_CHANGES = True
READS_NEARBY_FACTS = True

_SEPARATELY_REPORTED_PURPOSES = STORAGE_PURPOSES | TCP_STORAGE | {"inband", "control", "cnp"}
"""Purposes of classes for which separate rules report a lossless group that they share."""


class _GroupMapFault(NamedTuple):
    why: str
    row: ExpectedMapRow


def find(index: Index, *, shared: bool) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the maps that let several traffic classes fill a group that pauses, or a pause stop other traffic.

    The first if `shared`, else the second. Facts: why, expected (the right value of the row) and
    ports (how many have the map).
    """
    faults: dict[QosProfile, tuple[_GroupMapFault, ...] | str] = {}
    for device in index.fabric.devices:
        yield from _group_map_hits(index, device, shared, faults)


def _group_map_hits(
    index: Index, device: Device, shared: bool, faults: dict[QosProfile, tuple[_GroupMapFault, ...] | str]
) -> Iterator[AnalysisHit | UndecidedSubject]:
    users: dict[tuple[_GroupMapFault, NumberMap], list[str]] = {}
    missing: dict[str, None] = {}
    for ports in index.groups_of_alike_ports(device):
        qos = ports[0].qos
        if not isinstance(qos, QosProfile) or is_known_off(ports[0].enabled):
            continue
        if qos not in faults:
            faults[qos] = _find_map_faults(index.fabric, qos, shared)
        profile_faults = faults[qos]
        if isinstance(profile_faults, str):
            missing.setdefault(profile_faults)
            continue
        for fault in profile_faults:
            users.setdefault((fault, getattr(qos, fault.row.field)), []).extend(port.name for port in ports)
    yield from (UndecidedSubject(subject=(device.name,), missing=path) for path in missing)
    for (fault, _), names in users.items():
        row = ("qos", fault.row.field, str(fault.row.key))
        yield AnalysisHit(
            subject=(device.name, names[0], *row),
            facts={"why": fault.why, "expected": fault.row.expected, "ports": len(names)},
            also=tuple((device.name, name) for name in names[1:]),
            changes=tuple(((device.name, name, *row), fault.row.expected) for name in names),
        )


def _find_map_faults(fabric: Fabric, qos: QosProfile, shared: bool) -> tuple[_GroupMapFault, ...] | str:
    """Return the faults of a profile's maps, one for each row, or the path of the missing fact that would decide it."""
    try:
        by_row: dict[ExpectedMapRow, _GroupMapFault] = {}
        for fault in _shared_group_faults(fabric, qos) if shared else _misplaced_priority_faults(qos):
            by_row.setdefault(fault.row, fault)
        return tuple(by_row.values())
    except UnknownFact as unknown:
        return str(unknown)


def _misplaced_priority_faults(qos: QosProfile) -> Iterator[_GroupMapFault]:
    for tc, priority, _, row in find_classes_with_group_queue_mismatch(qos):
        if row is not None and row.field in PRIORITY_GROUP_MAPS:
            enters, paused = effects.priority_group_of_tc(qos, tc), priority_group_of_pfc_priority(qos, priority)
            why = f"traffic class {tc} fills priority group {enters}, but group {paused} pauses priority {priority}"
            yield _GroupMapFault(why, row)


def _shared_group_faults(fabric: Fabric, qos: QosProfile) -> Iterator[_GroupMapFault]:
    """Yield groups of several classes, without those that other rules report."""
    intended = {
        effects.tc_of_dscp(qos, dscp)
        for traffic_class in fabric.classes
        if traffic_class.lossless is True
        for dscp in traffic_class.dscp
    }
    reported_tcs = {
        effects.tc_of_dscp(qos, dscp)
        for traffic_class in fabric.classes
        if traffic_class.purpose in _SEPARATELY_REPORTED_PURPOSES
        for dscp in traffic_class.dscp
    }
    elsewhere = (reported_tcs - intended) | {
        misplaced_row.tc for misplaced_row in find_classes_with_group_queue_mismatch(qos)
    }
    for group, tcs in lossless_priority_groups_shared_by_tcs(qos):
        crowd = tuple(tc for tc in tcs if tc not in elsewhere)
        if len(crowd) > 1:
            guest = next((tc for tc in crowd if tc != group and tc not in intended), crowd[-1])
            needs_own_group = (
                group == 0 or guest in intended or effects.pausing_priorities_of_priority_group(qos, guest)
            )
            why = f"traffic classes {show_ids(crowd)} fill priority group {group}"
            yield _GroupMapFault(why, ExpectedMapRow("tc_to_priority_group", guest, guest if needs_own_group else 0))
