"""`nodrop.drift`: a plan from the running state to the intended one, without the switches' automatic additions."""

from collections import Counter
from dataclasses import replace

from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Fabric
from nodrop.model.fields import names_of_fields_with_columns
from nodrop.model.reading import Reading
from nodrop.plan.fact_groups import group_facts, row_attributes
from nodrop.plan.facts import compare_fabric_facts
from nodrop.plan.model import ChangedAndUnstatedEntries, DeviceChange, DifferingEntry, Drift, PortGroupChange
from nodrop.plan.outside_drift import find_unmodeled_drift_and_self_written
from nodrop.plan.planning import build_plan, compare_devices
from nodrop.platforms.kit.own_additions import is_added_by_switch


def drift(running_reading: Reading, wanted_reading: Reading) -> Drift:
    """Return the differences between the running state and the intended one.

    Switches with the same name are compared. Facts missing on one side are no drift, and are listed separately
    (`unsaid` of the plan); the switch's automatic additions, as its platform's table has them, are no drift either
    (`own`, `own_outside`).
    """
    device_changes = compare_devices(running_reading, wanted_reading)
    split_changes = [
        _separate_self_written_parts(device_change)
        for device_change in device_changes
        if device_change.kind in ("changed", "replaced")
    ]
    kept_device_changes = [
        device_change
        for device_change, _ in split_changes
        if device_change.parts or device_change.not_compared or device_change.kind == "replaced"
    ]
    aside = [replace(device_change, parts=added) for device_change, added in split_changes if added]
    beside, own_beside = find_unmodeled_drift_and_self_written(running_reading, wanted_reading, device_changes)
    return Drift(
        plan=build_plan(
            running_reading,
            wanted_reading,
            kept_device_changes,
            _fabric_differences(running_reading, wanted_reading),
            beside,
        ),
        uncollected=tuple(device_change.name for device_change in device_changes if device_change.kind == "added"),
        foreign=tuple(device_change.name for device_change in device_changes if device_change.kind == "removed"),
        automatic=tuple(group_facts(aside)),
        automatic_outside_model=tuple(own_beside),
    )


def declared_facts_of(fabric: Fabric) -> DeclaredFacts:
    """Return the facts of a fabric that no switch file can contain, to state them for the running fabric."""
    return DeclaredFacts(
        name=fabric.name,
        mode=fabric.mode,
        classes=fabric.classes or None,
        roles={device.name: device.role for device in fabric.devices if isinstance(device.role, str)},
        models={device.name: device.model for device in fabric.devices if isinstance(device.model, str)},
        cables=fabric.links or None,
        hosts=fabric.hosts or None,
        external=fabric.external or None,
        policy=fabric.policy,
    )


def _separate_self_written_parts(change: DeviceChange) -> tuple[DeviceChange, tuple[PortGroupChange, ...]]:
    """Return the differences on a switch, and the parts that it wrote by itself."""
    assert change.old is not None
    platform = change.old.platform
    drifting_parts, added = [], []
    for changed_part in change.parts:
        of_port = bool(changed_part.ports)
        own_entries = [
            entry
            for entry in changed_part.entries
            if is_added_by_switch(platform, entry.path, of_port, entry.old, entry.new)
        ]
        remaining_entries = tuple(
            entry for entry in changed_part.entries if entry not in own_entries and not _differs_only_in_order(entry)
        )
        drifting_parts += [PortGroupChange(changed_part.ports, remaining_entries)] if remaining_entries else []
        added += [PortGroupChange(changed_part.ports, tuple(own_entries))] if own_entries else []
    return replace(change, parts=tuple(drifting_parts)), tuple(added)


def _differs_only_in_order(entry: DifferingEntry) -> bool:
    """Whether both sides have the same items in another order where order has no meaning: that of rows with a name."""
    sides = (entry.old, entry.new)
    if not all(isinstance(side, tuple) for side in sides):
        return False
    names = entry.path[-1] in row_attributes() and all(isinstance(name, str) for side in sides for name in side)
    return (names or entry.path[-1] in names_of_fields_with_columns(unordered=True)) and Counter(entry.old) == Counter(
        entry.new
    )


def _fabric_differences(running: Reading, wanted_reading: Reading) -> ChangedAndUnstatedEntries:
    """Return the differences of cables and of NICs; a file of a host that only one side has is not compared."""
    entries, unsaid = compare_fabric_facts(running, wanted_reading)
    return tuple(entry for entry in entries if not _is_one_sided_nic(entry)), unsaid


def _is_one_sided_nic(entry: DifferingEntry) -> bool:
    return entry.path[0] == "nics" and len(entry.path) == 2 and (entry.old is None or entry.new is None)
