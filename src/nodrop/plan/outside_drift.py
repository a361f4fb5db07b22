"""Settings of running files that differ from the intended ones and are no fact of the model.

They are given by table or part, never with values. Settings alone are compared: a switch shows the lines of a file,
such as FRR's, in another order and with defaults.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.reading import Reading
from nodrop.plan.effects import switch_files_if_unchanged
from nodrop.plan.fact_groups import platform_release_and_model_of_change
from nodrop.plan.model import ChangeEffect, DeviceChange, UnmodeledChange
from nodrop.plan.outside import (
    AlikeDifferences,
    DifferenceHead,
    ModeledSettings,
    devices_keeping_their_os,
    effects_by_file_part,
    file_and_table_of_difference,
    group_unmodeled_changes,
    mask_secrets,
)
from nodrop.platforms.kit.own_additions import is_self_written_setting, switch_writes_at_path
from nodrop.platforms.kit.settings import DeviceFileSettings, FileSettingDifference, Path, SettingsModule


def find_unmodeled_drift_and_self_written(
    running_reading: Reading, wanted_reading: Reading, device_changes: Sequence[DeviceChange]
) -> tuple[list[UnmodeledChange], list[UnmodeledChange]]:
    """Return the drift outside the facts of the model, and the parts that switches wrote there by themselves.

    An intended setting was stated, and is drift wherever it does not run. A setting that only runs is drift unless the
    platform's table has it. The model's facts report settings that the model reads; where those are equal, these are no
    drift: the same in other words.
    """
    known_settings = ModeledSettings(by_facts=True)
    drifting: dict[AlikeDifferences, list[str]] = {}
    own_switches: dict[AlikeDifferences, list[str]] = {}
    effects: dict[AlikeDifferences, Mapping[DifferenceHead, ChangeEffect]] = {}
    for device, change in devices_keeping_their_os(running_reading, wanted_reading, device_changes):
        name, platform = device.name, device.platform
        sides = open_settings_of_both_sides(
            platform, switch_files_if_unchanged(running_reading, name), switch_files_if_unchanged(wanted_reading, name)
        )
        if sides is None:
            continue
        differing, own_differences = _separate_self_written_settings(platform, sides)
        beside = tuple(known_settings.find_unmodeled_differences(change, sides, differing))
        key = (platform, platform_release_and_model_of_change(change), beside)
        if beside:
            if key not in drifting:
                result_files = sides[0].files_with_settings_from(sides[1], {difference.path for difference in beside})
                effects[key] = effects_by_file_part(change, sides[0].bundle, result_files, beside)
            drifting.setdefault(key, []).append(name)
        if own_differences:
            own_switches.setdefault(
                (platform, platform_release_and_model_of_change(change), own_differences), []
            ).append(name)
    unharmed = {
        key: {(file_and_table_of_difference(key[0], difference), ""): ChangeEffect() for difference in key[2]}
        for key in own_switches
    }
    return list(group_unmodeled_changes(drifting, effects)), list(group_unmodeled_changes(own_switches, unharmed))


def open_settings_of_both_sides(
    platform: str, running_files: Mapping[str, bytes] | None, intended_files: Mapping[str, bytes] | None
) -> tuple[DeviceFileSettings, DeviceFileSettings] | None:
    """Return both sides' files, each with all settings in one; None where they have none, or cannot be read."""
    means = platforms.find_settings_reader(platform)
    if means is None or running_files is None or intended_files is None:
        return None
    try:
        (shown_files, runs), (files, wants) = means.merge_files(running_files), means.merge_files(intended_files)
        return DeviceFileSettings(shown_files, means, runs), DeviceFileSettings(files, means, wants)
    except InputProblems:
        return None


def differing_settings(
    platform: str, sides: tuple[DeviceFileSettings, DeviceFileSettings]
) -> Iterator[FileSettingDifference]:
    """Yield the settings that differ, without those that one side does not speak of, and secrets that both have."""
    means = platforms.find_settings_reader(platform)
    if means is None:
        return
    for difference in sides[0].differences(sides[1]):
        file, *words = difference.path
        if (
            not difference.line
            and all(file in side.trees for side in sides)
            and not _is_ignored_difference(means, difference, sides, tuple(words))
        ):
            yield difference


def apply_unmodeled_changes(
    platform: str,
    running_files: Mapping[str, bytes],
    intended_files: Mapping[str, bytes],
    outside_parts: Sequence[UnmodeledChange],
) -> Mapping[str, bytes]:
    """Return running files with the reported settings as intended, as far as they can be changed for that.

    Settings that the software writes by itself, and that run differently, stay: without them, it would not be as it
    was.
    """
    means, sides = (
        platforms.find_settings_reader(platform),
        open_settings_of_both_sides(platform, running_files, intended_files),
    )
    if means is None or sides is None:
        return running_files
    keys = {key for outside_part in outside_parts for key in outside_part.keys}
    differing = (
        difference
        for difference in _separate_self_written_settings(platform, sides)[0]
        if mask_secrets(platform, difference) in keys
    )
    paths = {
        difference.path
        for difference in differing
        if difference.kind != "removed" or not switch_writes_at_path(platform, difference.path[1:])
    }
    try:
        return DeviceFileSettings(running_files, means).files_with_settings_from(sides[1], paths)
    except InputProblems:
        return running_files


def find_settings_still_differing(
    platform: str,
    running_files: Mapping[str, bytes],
    intended_files: Mapping[str, bytes],
    outside_parts: Sequence[UnmodeledChange],
) -> Iterator[Path]:
    """Yield the reported settings that still differ, without the name of the file."""
    sides = open_settings_of_both_sides(platform, running_files, intended_files)
    remaining_differences = (
        {mask_secrets(platform, difference) for difference in _separate_self_written_settings(platform, sides)[0]}
        if sides is not None
        else set()
    )
    for outside_part in outside_parts:
        yield from (key.path[1:] for key in outside_part.keys if sides is None or key in remaining_differences)


def _is_ignored_difference(
    means: SettingsModule,
    difference: FileSettingDifference,
    sides: tuple[DeviceFileSettings, DeviceFileSettings],
    words: Path,
) -> bool:
    trees = [side.trees[difference.path[0]] for side in sides]
    if difference.kind == "changed":
        before, after = (_value_as_tree(_subtree_at(tree, words)) for tree in trees)
        return before == after or means.is_secret_shown_masked(words)
    return not means.states_that_path_is_unset(trees[0 if difference.kind == "added" else 1], words)


def _value_as_tree(value: object) -> object:
    """Return a value as a word with nothing below it, as commands write it."""
    return {value: {}} if isinstance(value, str) else value


def _separate_self_written_settings(
    platform: str, sides: tuple[DeviceFileSettings, DeviceFileSettings]
) -> tuple[tuple[FileSettingDifference, ...], tuple[FileSettingDifference, ...]]:
    """Return the differences, and those that the switch wrote by itself; rows that are both, setting by setting."""
    differing: list[FileSettingDifference] = []
    own_differences: list[FileSettingDifference] = []
    for difference in differing_settings(platform, sides):
        file, *words = difference.path
        runs = None if difference.kind == "added" else _subtree_at(sides[0].trees[file], words)
        if difference.kind == "removed":
            for path, is_own in _split_by_self_written(platform, tuple(words), runs):
                (own_differences if is_own else differing).append(difference._replace(path=(file, *path)))
        elif difference.kind == "changed" and is_self_written_setting(platform, tuple(words), runs, overwrite=True):
            own_differences.append(difference)
        else:
            differing.append(difference)
    return tuple(differing), tuple(own_differences)


def _subtree_at(tree: Any, words: Sequence[str]) -> object:
    for word in words:
        tree = tree[word]
    return tree


def _split_by_self_written(platform: str, path: Path, value: object) -> list[tuple[Path, bool]]:
    """Return the settings at a path and below, merged where all or none are the switch's own, and whether they are."""
    if not isinstance(value, dict) or not value:
        return [(path, is_self_written_setting(platform, path, value))]
    settings = [
        setting for key, inside in value.items() for setting in _split_by_self_written(platform, (*path, key), inside)
    ]
    kinds = {is_own for _, is_own in settings}
    return [(path, kinds.pop())] if len(kinds) == 1 else settings
