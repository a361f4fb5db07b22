"""The parts that an import could not carry, in few words: facts that are unlike in the same way as one line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.importing.tier_view import TierView
from nodrop.importing.trial_build import DifferenceFromImportedFact, group_differences
from nodrop.model.subject import natural_sort_key
from nodrop.report.names import format_name_list

_MAX_LOSS_LINES = 60
"""Lines, at most; the rest is counted."""
_MAX_VARIANTS = 3
"""In how many ways a fact may be otherwise until one stands for all, as one address does for those of all ports."""

PartsBySwitch = Mapping[str, Sequence[str]]
"""By switch, parts of it: ports, neighbors, pools."""


def render_differences(unlikes: Iterable[DifferenceFromImportedFact], tier_view: TierView) -> tuple[str, ...]:
    """Return a line for each kind of facts that are unlike, with the switches and parts that have it."""
    lines = list(_format_loss_lines(unlikes, tier_view))
    if len(lines) <= _MAX_LOSS_LINES:
        return tuple(lines)
    return (*lines[:_MAX_LOSS_LINES], f"and {len(lines) - _MAX_LOSS_LINES} more kinds of facts")


def _format_loss_lines(unlikes: Iterable[DifferenceFromImportedFact], sight: TierView) -> Iterator[str]:
    facts: dict[tuple[str, str], list[tuple[str, str, PartsBySwitch]]] = {}
    for (path, has, built, key), devices in sorted(group_differences(unlikes).items()):
        facts.setdefault((path, key), []).append((has, built, devices))
    for (path, key), variants in facts.items():
        decides = f" ({key} decides it)" if key else ""
        for has, built, places in variants if len(variants) <= _MAX_VARIANTS else ():
            if path:
                switches = _format_switches_with_parts(places, sight)
                yield f"{switches}: {path} is {has}, this intent gives {built}{decides}"
            else:
                yield f"{_format_switches_with_parts(places, sight)}: {has} here, {built} in the build of this intent"
        if len(variants) > _MAX_VARIANTS:
            has, built, _ = variants[0]
            example = f"such as {has}, where this intent gives {built}"
            place_text = _format_switches_with_parts(_merge_device_parts(part for *_, part in variants), sight)
            yield f"{place_text}: {path} is otherwise, {example}{decides}"


def _merge_device_parts(mappings: Iterable[PartsBySwitch]) -> PartsBySwitch:
    every: dict[str, list[str]] = {}
    for device_parts in mappings:
        for device, part_names in device_parts.items():
            every.setdefault(device, []).extend(part_names)
    return every


def _format_switches_with_parts(devices: PartsBySwitch, tier_view: TierView) -> str:
    """Return switches with their parts, those that have the same parts as one; of very many, how many there are."""
    at: dict[str, list[str]] = {}
    for device, part_names in devices.items():
        at.setdefault(format_name_list(sorted({name for name in part_names if name}, key=natural_sort_key)), []).append(
            device
        )
    if len(at) > _MAX_VARIANTS:
        count = sum(len(device_parts) for device_parts in devices.values())
        return f"{count} places of {_format_place(_original_names(devices, tier_view), '')}"
    return "; ".join(_format_place(_original_names(names, tier_view), parts_text) for parts_text, names in at.items())


def _original_names(names: Iterable[str], sight: TierView) -> list[str]:
    return [sight.was.get(name, name) for name in sorted(names, key=natural_sort_key) if name]


def _format_place(names: list[str], parts_text: str) -> str:
    where = format_name_list(names) if names else "the fabric"
    return f"{where} {parts_text}" if parts_text else where


def describe_changed_switch_names(tier_view: TierView, intent_names: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of a group's switches in their files where the intent names them differently.

    `intent_names` are the intent's names of switches by identity.
    """
    for group in tier_view.groups:
        names_by_box = [(intent_names.get(box.device.name, box.device.name), box.was) for box in group.boxes]
        own_boxes = [(name, was) for name, was in names_by_box if name != was]
        if own_boxes:
            names = ", ".join(f"{name} is {was}" for name, was in own_boxes[:16])
            remainder = f" and {len(own_boxes) - 16} more" if len(own_boxes) > 16 else ""
            yield f"Names of {group.name} switches: {names}{remainder}."
