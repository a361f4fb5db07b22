"""Edits that take a switch to the new files themselves: also to their content that is no fact of the model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.change import EditResult, ManualChange
from nodrop.model.edit import get_value
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.plan.model import CHANGE_RISKS, ChangeRisk
from nodrop.platforms.kit.editing import is_equal, sources_of_files

ConfigFiles = Mapping[str, bytes]


def edit_towards_files(
    platform: str,
    name: str,
    old_files: ConfigFiles,
    new_files: ConfigFiles,
    facts: EditResult,
    *,
    least: ChangeRisk = "none",
) -> EditResult | None:
    """Return the edit that takes old files of a switch to the new ones.

    `facts` is the edit that makes only the facts that change. None where the files differ in parts that no patch
    changes, where the new ones are not those that the facts were read from, or where the edit disturbs the switch more
    than the facts do, and more than `least`, the intended risk: rows that are only renamed in the new files, with the
    same content, do not justify shut ports.
    """
    between = platforms.find_file_diff_editor(platform)
    try:
        edit = between(old_files, new_files, name=name) if between is not None else None
    except InputProblems:
        return None
    if (
        edit is None
        or (facts.files and not edit.files)
        or (not facts.by_hand and _is_more_disruptive(edit, facts, least))
    ):
        return None
    return replace(
        edit, by_hand=tuple(find_pending_manual_steps(facts.by_hand, platform, name, {**old_files, **edit.files}))
    )


def find_pending_manual_steps(
    by_hand: Sequence[ManualChange], platform: str, name: str, files: ConfigFiles
) -> Iterator[ManualChange]:
    """Yield the manual steps whose values are still missing in the files."""
    if not by_hand:
        return
    fabric = Fabric(name="", mode="lossless", devices=(parse_device(platform, name, files),))
    for manual_step in by_hand:
        try:
            value = get_value(fabric, manual_step.change.subject)
            is_present = is_equal(
                *(_without_uncarried_fields(platform, part) for part in (value, manual_step.change.new))
            )
        except ValueError:
            is_present = manual_step.change.new is None
        if not is_present:
            yield manual_step


def _without_uncarried_fields(platform: str, value: object) -> object:
    """Return a value, a whole port without what no file of the platform says."""
    if not isinstance(value, Interface):
        return value
    paths = (path.split("/") for path in platforms.unsupported_paths(platform))
    uncarried_fields = (path[2] for path in paths if path[:2] == ["interfaces", "*"] and len(path) == 3)
    return replace_fields(value, **dict.fromkeys(uncarried_fields, UNKNOWN))


def parse_device(platform: str, name: str, files: ConfigFiles) -> Device:
    """Return the device that the files of a switch describe."""
    return platforms.reader(platform).read_device(name, sources_of_files(files)).device


def _is_more_disruptive(edit: EditResult, facts: EditResult, least: ChangeRisk) -> bool:
    return CHANGE_RISKS.index(edit.disruption) > max(CHANGE_RISKS.index(facts.disruption), CHANGE_RISKS.index(least))
