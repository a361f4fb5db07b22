"""What files of a switch set that is no fact of the model, where it changes: by table or part, never with values."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.change import PatchStep
from nodrop.model.compare import differences
from nodrop.model.fabric import Device
from nodrop.model.reading import DeviceReading, Reading, Source
from nodrop.plan.effects import IDLE_PORT_REASON, shape_of_device_change, switch_files_if_unchanged, unique_lines
from nodrop.plan.fact_groups import DeviceMake, platform_release_and_model_of_change
from nodrop.plan.model import ChangeEffect, DeviceChange, UnmodeledChange, worst_risk
from nodrop.platforms.kit.editing import sources_of_files
from nodrop.platforms.kit.settings import DeviceFileSettings, FileSettingDifference, Path, SettingsModule

_UNKNOWN_EFFECT_REASON = "no model of nodrop has it, and no table says what the switch does with it"
_STATES_DEFAULT_REASON = "it states the default, which is in effect without it too"
_SHUT_AFTER_REASON = "the port is shut with this change, and carries nothing then"
_HIDDEN_WORD_MARK = "…"
_SettingOrigin = Literal["model", "default", "rest"]
"""Whether a setting is of the model, states a default that is in effect without it, or is neither."""
AlikeDifferences = tuple[str, DeviceMake, tuple[FileSettingDifference, ...]]
"""What switches share of which the same is told: platform, make and what differs."""
DifferenceHead = tuple[Path, str]
"""A part of a file, and why its settings do not change what the switch does, where that is known."""


def find_unmodeled_changes(
    old_reading: Reading, new_reading: Reading, device_changes: Sequence[DeviceChange]
) -> list[UnmodeledChange]:
    """Return the changes in files that are not facts of the model, those of several switches once.

    Only files whose bytes differ are opened. Where facts of a switch change too, a setting belongs to the model if the
    switch reads differently with it than without it; that is tried on the first switch of each shape of changes.
    """
    switches_by_change: dict[AlikeDifferences, list[str]] = {}
    known_settings = ModeledSettings(recabled=old_reading.fabric.links != new_reading.fabric.links)
    effects: dict[AlikeDifferences, Mapping[DifferenceHead, ChangeEffect]] = {}
    for device, change in devices_keeping_their_os(old_reading, new_reading, device_changes):
        name, platform = device.name, device.platform
        if _have_same_bytes(old_reading.sources.get(name, ()), new_reading.sources.get(name, ())):
            continue
        files = [switch_files_if_unchanged(reading, name) for reading in (old_reading, new_reading)]
        if files[0] is None or files[1] is None:
            continue
        means = platforms.find_settings_reader(platform)
        try:
            opened_sides = DeviceFileSettings(files[0], means), DeviceFileSettings(files[1], means)
        except InputProblems:
            continue
        every = tuple(opened_sides[0].differences(opened_sides[1]))
        beside = tuple(known_settings.find_unmodeled_differences(change, opened_sides, every))
        key = (platform, platform_release_and_model_of_change(change), beside)
        if beside and key not in switches_by_change:
            effects[key] = effects_by_file_part(change, files[0], files[1], beside)
        if beside:
            switches_by_change.setdefault(key, []).append(name)
    return list(group_unmodeled_changes(switches_by_change, effects))


def devices_keeping_their_os(
    old_reading: Reading, new_reading: Reading, device_changes: Sequence[DeviceChange]
) -> Iterator[tuple[Device, DeviceChange]]:
    """Yield each old switch that stays and keeps its system, with its change: empty if not in `device_changes`."""
    changes = {device_change.name: device_change for device_change in device_changes}
    after = {new_device.name: new_device for new_device in new_reading.fabric.devices}
    for device in old_reading.fabric.devices:
        name = device.name
        change = changes.get(name) or DeviceChange(name=name, kind="changed", old=device, new=after.get(name))
        if change.kind == "changed" and change.new is not None:
            yield device, change


def _have_same_bytes(old: Sequence[Source], new: Sequence[Source]) -> bool:
    """Whether files have the same bytes, as far as that is known without opening any."""
    if old is new:
        return True
    return [(source.name, source.digest, source.held) for source in old] == [
        (source.name, source.digest, source.held) for source in new
    ]


class ModeledSettings:
    """Which kinds of settings are of the model, on switches of a make whose changes have one shape."""

    def __init__(self, *, recabled: bool = False, by_facts: bool = False) -> None:
        """Take whether cables of the fabric change, and whether facts cover all of the model in any notation."""
        self._recabled, self._by_facts = recabled, by_facts
        self._kinds: dict[tuple[object, Path], _SettingOrigin] = {}

    def find_unmodeled_differences(
        self,
        change: DeviceChange,
        sides: tuple[DeviceFileSettings, DeviceFileSettings],
        all_differences: Sequence[FileSettingDifference],
    ) -> Iterator[FileSettingDifference]:
        """Yield the differences that are no facts of the model, with why they are harmless, where that is known.

        For a switch without changed facts, all are, except for cables where those of the fabric change. A setting that
        states a default is harmless; on a port that comes into use it is part of the new link, and is left out. Where
        facts cover all of the model, the same meaning in other words belongs to it, too, and cables do not.
        """
        assert change.old is not None
        kinds: dict[Path, set[Path]] = {}
        for difference in all_differences:
            kinds.setdefault(difference.path_without_numbered_names, set()).add(difference.path)
        shape, shut, means = (
            shape_of_device_change(change),
            _idle_port_reasons(change),
            platforms.find_settings_reader(change.old.platform),
        )
        own_readings: dict[int, DeviceReading] = {}
        for kind, paths in kinds.items():
            if (shape, kind) not in self._kinds:
                self._kinds[shape, kind] = self._classify_outside_change(change, sides, paths, own_readings)
        for setting in all_differences:
            origin = self._kinds[shape, setting.path_without_numbered_names]
            words = setting.path[1:]
            if (
                origin == "rest"
                and means is not None
                and not setting.line
                and _states_platform_default(means, sides, setting)
            ):
                origin = "default"
            idle = shut.get(means.interface_of_path(words), "") if means is not None and not setting.line else ""
            if origin == "rest" or (origin == "default" and (self._by_facts or not idle)):
                yield setting._replace(harmless=_STATES_DEFAULT_REASON if origin == "default" else idle)

    def _classify_outside_change(
        self,
        change: DeviceChange,
        sides: tuple[DeviceFileSettings, DeviceFileSettings],
        paths: set[Path],
        own_readings: dict[int, DeviceReading],
    ) -> _SettingOrigin:
        assert change.old is not None
        otherwises = _kinds_of_differences_when_read(change.old.platform, sides, paths, own_readings)
        has_facts = bool(change.parts) or self._by_facts
        if ("facts" in otherwises and has_facts) or (
            "cables" in otherwises and not self._by_facts and (has_facts or self._recabled)
        ):
            return "model"
        if otherwises == {"defaults"}:
            return "model" if self._by_facts else "default"
        return "rest"


def _idle_port_reasons(change: DeviceChange) -> Mapping[str, str]:
    """Return the ports that carry nothing before a change, or after it, with the reason."""
    sides = ((change.new, _SHUT_AFTER_REASON), (change.old, IDLE_PORT_REASON))
    return {
        interface.name: reason
        for device, reason in sides
        if device
        for interface in device.interfaces
        if interface.enabled is False
    }


def _states_platform_default(
    means: SettingsModule, sides: tuple[DeviceFileSettings, DeviceFileSettings], difference: FileSettingDifference
) -> bool:
    """Whether a setting that one side has alone states the default of the platform's schema."""
    file, *words = difference.path
    side = sides[1 if difference.kind == "added" else 0]
    return difference.kind != "changed" and file in side.trees and means.states_default(side.trees[file], tuple(words))


def _kinds_of_differences_when_read(
    platform: str,
    sides: tuple[DeviceFileSettings, DeviceFileSettings],
    paths: set[Path],
    own_readings: dict[int, DeviceReading],
) -> set[Literal["facts", "cables", "defaults"]]:
    """Return the kinds of differences that a switch reads with some settings of the other side, in either direction.

    "defaults" means that the switch reads the same values, but some of them follow from defaults: settings state them.
    `own_readings` keeps what the switch reads of each side as it is, by the side's position.
    """
    otherwises: set[Literal["facts", "cables", "defaults"]] = set()
    for position, (base_side, far_side) in enumerate((sides, sides[::-1])):
        if position not in own_readings:
            own_readings[position] = _read_files(platform, base_side.bundle)
        was, device_reading = (
            own_readings[position],
            _read_files(platform, base_side.files_with_settings_from(far_side, paths)),
        )
        if next(differences(was.device, device_reading.device, whole_lists=True), None) is not None:
            otherwises.add("facts")
        elif was.derived.keys() != device_reading.derived.keys():
            otherwises.add("defaults")
        if was.cables != device_reading.cables:
            otherwises.add("cables")
    return otherwises


def _read_files(platform: str, files: Mapping[str, bytes]) -> DeviceReading:
    return platforms.reader(platform).read_device("", sources_of_files(files))


def effects_by_file_part(
    change: DeviceChange,
    old_files: Mapping[str, bytes],
    new_files: Mapping[str, bytes],
    file_differences: Sequence[FileSettingDifference],
) -> Mapping[DifferenceHead, ChangeEffect]:
    """Return the effect of the platform's own tool on the switch per part; unknown where no table has it."""
    assert change.old is not None
    platform = change.old.platform
    between = platforms.find_file_diff_editor(platform)
    try:
        edit = between(old_files, new_files, name=change.name) if between is not None else None
    except InputProblems:
        edit = None
    effects: dict[DifferenceHead, ChangeEffect] = {}
    for (head, harmless), inside in _differences_by_file_and_table(platform, file_differences).items():
        at = {difference.path[1:] for difference in inside} if harmless else {head[1:]}
        steps = [step for step in edit.steps if _is_under_paths(step, at)] if edit else []
        disturbing = [step for step in steps if step.disruption != "none"]
        if disturbing:
            reasons = unique_lines([step.reason for step in disturbing])
            effects[head, harmless] = ChangeEffect(
                risk=worst_risk(step.disruption for step in disturbing), reasons=reasons
            )
        else:
            effects[head, harmless] = ChangeEffect(
                risk="none" if harmless else "unknown",
                reasons=(harmless or _UNKNOWN_EFFECT_REASON,),
                method="patch" if steps else "unknown",
            )
    return effects


def _is_under_paths(step: PatchStep, paths: Collection[Path]) -> bool:
    """Whether a step is at one of some paths, or below it."""
    words = tuple(word.replace("~1", "/").replace("~0", "~") for word in step.path.split("/")[1:])
    return any(words[: len(path)] == path for path in paths)


def _differences_by_file_and_table(
    platform: str, beside: Sequence[FileSettingDifference]
) -> Mapping[DifferenceHead, list[FileSettingDifference]]:
    """Return differences by the part of a file that they are in, those that are harmless apart."""
    found_differences: dict[DifferenceHead, list[FileSettingDifference]] = {}
    for difference in beside:
        found_differences.setdefault(
            (file_and_table_of_difference(platform, difference), difference.harmless), []
        ).append(difference)
    return found_differences


def file_and_table_of_difference(platform: str, difference: FileSettingDifference) -> Path:
    """Return the file and the table, or part of the configuration, that a difference is in."""
    means = platforms.find_settings_reader(platform)
    return difference.path[: 1 + means.HEAD] if means is not None and not difference.line else difference.path[:1]


def group_unmodeled_changes(
    switches_by_change: Mapping[AlikeDifferences, Sequence[str]],
    effects: Mapping[AlikeDifferences, Mapping[DifferenceHead, ChangeEffect]],
) -> Iterator[UnmodeledChange]:
    """Yield each part of files once, with all switches on which the same of it changes and does the same."""
    switches_by_part: dict[tuple[Path, tuple[FileSettingDifference, ...], ChangeEffect], list[str]] = {}
    for key, names in switches_by_change.items():
        platform, _, beside = key
        for (head, harmless), inside in _differences_by_file_and_table(platform, beside).items():
            keys = tuple(mask_secrets(platform, difference) for difference in inside)
            at = mask_secrets(platform, FileSettingDifference(head, "changed")).path
            switches_by_part.setdefault((at, keys, effects[key][head, harmless]), []).extend(names)
    for (head, keys, effect), names in switches_by_part.items():
        yield UnmodeledChange(devices=tuple(names), at=head, keys=keys, effect=effect)


def mask_secrets(platform: str, difference: FileSettingDifference) -> FileSettingDifference:
    """Return a difference as reports have it: without the words of its path that are secrets."""
    means = platforms.find_settings_reader(platform)
    words = difference.path[1:]
    hidden = (
        _HIDDEN_WORD_MARK if means is not None and means.is_secret_word(words, at) else word
        for at, word in enumerate(words)
    )
    return difference._replace(path=(difference.path[0], *hidden), harmless="")
