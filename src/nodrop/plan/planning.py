"""`nodrop.plan`: what lies between two fabrics."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from nodrop.model.reading import Reading
from nodrop.model.subject import natural_sort_key
from nodrop.plan.effects import ChangeEffectFinder
from nodrop.plan.fact_groups import group_facts, merge_entries
from nodrop.plan.facts import DeviceComparison, compare_fabric_facts
from nodrop.plan.model import (
    CHANGE_RISKS,
    ChangedAndUnstatedEntries,
    ChangedFactGroup,
    ChangeEffect,
    ChangeRisk,
    DeviceChange,
    ImpactOfChangesTogether,
    Plan,
    UnmodeledChange,
    worst_risk,
)
from nodrop.plan.order import order_into_stages
from nodrop.plan.outside import devices_keeping_their_os, find_unmodeled_changes


def plan(old_reading: Reading, new_reading: Reading) -> Plan:
    """Return the differences between two fabrics, as they were read or built.

    Facts that one side does not state are no change; they are in `unsaid`. The effects of changes on switches are
    computed from the old switches' own files, which are opened for that where they are not held.
    """
    device_changes = compare_devices(old_reading, new_reading)
    beside = find_unmodeled_changes(old_reading, new_reading, device_changes)
    return build_plan(
        old_reading, new_reading, device_changes, compare_fabric_facts(old_reading, new_reading), beside, exact=True
    )


def compare_devices(old_reading: Reading, new_reading: Reading) -> list[DeviceChange]:
    """Return the switches, by name, that change or that one side describes incompletely."""
    comparing = DeviceComparison(old_reading.derived, new_reading.derived)
    before, after = (
        {device.name: device for device in reading.fabric.devices} for reading in (old_reading, new_reading)
    )
    names = sorted({*before, *after}, key=natural_sort_key)
    device_changes = (comparing.compare_device(before.get(name), after.get(name)) for name in names)
    return [device_change for device_change in device_changes if device_change is not None]


def build_plan(
    old_reading: Reading,
    new_reading: Reading,
    device_changes: Sequence[DeviceChange],
    of_fabric: ChangedAndUnstatedEntries,
    unmodeled_changes: Sequence[UnmodeledChange] = (),
    *,
    exact: bool = False,
) -> Plan:
    """Return the plan for changes of switches and of the stated facts of the fabric; `exact` is as in `Plan`.

    The argument `unmodeled_changes` has the changes in files that are no facts.
    """
    outer: dict[str, ChangeRisk] = {}
    for outside_part in unmodeled_changes:
        outer |= {
            name: worst_risk((outer.get(name, "none"), outside_part.effect.risk)) for name in outside_part.devices
        }
    changes = [
        device_change
        for device_change in device_changes
        if device_change.parts or device_change.kind != "changed" or device_change.name in outer
    ]
    changes = sorted(
        [*changes, *_devices_changed_only_outside_model(old_reading, new_reading, changes, outer)],
        key=lambda device_change: natural_sort_key(device_change.name),
    )
    stated, unsaid = of_fabric
    effects = ChangeEffectFinder(old_reading, changes, new_reading if exact else None, outer)
    facts = [
        *([ChangedFactGroup(devices=(), ports=(), facts=tuple(merge_entries(stated)))] if stated else []),
        *(effects.add_effects(fact) for fact in group_facts(changes)),
    ]
    silent = [
        *([ChangedFactGroup(devices=(), ports=(), facts=tuple(merge_entries(unsaid)))] if unsaid else []),
        *group_facts(device_changes, "not_compared"),
    ]
    worsts: dict[str, ChangeRisk] = {
        device_change.name: worst_risk(
            (effects.effect_of_change_kind(device_change.kind).risk, outer.get(device_change.name, "none"))
        )
        for device_change in changes
    }
    for block in facts:
        block_risk = worst_risk(fact.effect.risk for fact in block.facts)
        for name in block.devices:
            worsts[name] = worst_risk((worsts[name], block_risk))
    together: dict[ChangeEffect, list[str]] = {}
    for change in (device_change for device_change in changes if device_change.parts):
        effect = effects.effect_of_whole_change(change)
        if CHANGE_RISKS.index(effect.risk) > CHANGE_RISKS.index(worsts[change.name]):
            worsts[change.name] = effect.risk
            together.setdefault(effect, []).append(change.name)
        if (moved := effects.effect_of_regrouped_sessions(change)) is not None:
            worsts[change.name] = worst_risk((worsts[change.name], moved.risk))
            together.setdefault(moved, []).append(change.name)
    new_plan = Plan(
        old=old_reading.fabric.name,
        new=new_reading.fabric.name,
        devices=tuple(changes),
        changes=tuple(facts),
        combined_impact=tuple(
            ImpactOfChangesTogether(devices=tuple(names), effect=effect) for effect, names in together.items()
        ),
        outside_model=tuple(unmodeled_changes),
        not_compared=tuple(silent),
        problems=(*old_reading.problems, *new_reading.problems),
        effects=worsts,
        left=effects.left,
        exact=exact,
    )
    return replace(new_plan, order=order_into_stages(changes, new_reading.fabric))


def _devices_changed_only_outside_model(
    old: Reading, new: Reading, changes: Sequence[DeviceChange], names: Collection[str]
) -> Iterator[DeviceChange]:
    """Yield the switches that change only outside of the model."""
    remaining_names = set(names) - {change.name for change in changes}
    return (
        device_change
        for _, device_change in devices_keeping_their_os(old, new, changes)
        if device_change.name in remaining_names
    )
