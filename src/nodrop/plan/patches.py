"""Patches that take each switch of a plan from its old files to the new ones, and the remaining manual steps.

Patches are in the forms of the switch's tools. A patch is computed in the old files, no matter who wrote them. Parts
that the platform does not change there, but that are a separate file in the new tree (a routing daemon's), are given
whole; remaining differences must then be made by hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.change import Change, EditResult, ManualChange
from nodrop.model.compare import differences
from nodrop.model.reading import Reading
from nodrop.model.spelling import describe_value
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, subject_text
from nodrop.parallel import map_chunks
from nodrop.plan.effects import changes_not_computed_by_switch, switch_files_if_unchanged, unique_lines
from nodrop.plan.file_changes import edit_towards_files, find_pending_manual_steps, parse_device
from nodrop.plan.model import ChangeRisk, ChangeScope, DeviceChange, Plan, PortGroupChange, UnmodeledChange, worst_risk
from nodrop.plan.order import number_stages
from nodrop.plan.outside_drift import apply_unmodeled_changes, find_settings_still_differing
from nodrop.plan.shares import ChangesByScope
from nodrop.platforms.kit.editing import WantedSubjects, subject_of_path_in_device

MANUAL_STEPS_FILE = "by-hand.txt"
_PATCH_FILE_PATTERNS = (
    "patch.json",
    "patch-*.json",
    "commands.sh",
    "changes.vtysh",
    "changes.yaml",
    "changes.nv",
    "changes-*.yaml",
    "changes-*.nv",
    MANUAL_STEPS_FILE,
)
"""What the tools of switches take, as patterns of names."""
_SWITCHES_PER_CHUNK = 8
SwitchFiles = Mapping[str, bytes]


def patch_file_patterns() -> tuple[str, ...]:
    """Return the names of all files that a patch of a switch can have, as patterns: steps have a number before them."""
    readers = map(platforms.reader, platforms.platform_names())
    platform_files = dict.fromkeys(
        name for reader in readers for name in (*reader.CANONICAL_FILES, *reader.COMPANION_FILES)
    )
    return (
        *_PATCH_FILE_PATTERNS,
        *(f"[0-9]*-{form}" for form in _PATCH_FILE_PATTERNS),
        *platform_files,
        *platforms.written_file_patterns(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchPatchFiles:
    """The files to give to one switch, by name, including the manual steps line by line."""

    device: str
    files: Mapping[str, bytes]
    turn: str = ""
    """The number of its stage, where switches are changed in several passes."""
    result: Mapping[str, bytes] = field(default_factory=dict)
    """The switch's own files once that is done, but for what is by hand."""
    by_hand: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _PatchTask:
    name: str
    platform: str
    old: SwitchFiles | None
    new: SwitchFiles | None
    changes: tuple[Change, ...] = ()
    by_hand: tuple[ManualChange, ...] = ()
    """What is known already to be made by no patch."""
    turn: str = ""
    outer: Sequence[UnmodeledChange] = ()
    """What changes in the files beside the facts."""
    exact: bool = False
    """Whether the new files are to come out, and not only what the model has of them."""
    least: ChangeRisk = "none"
    """The worst effect of the changes in `manual_steps_by_switch`.

    A patch of whole files may have it too, if there is no patch of facts.
    """


def make_patches(
    plan: Plan, old_reading: Reading, new_reading: Reading, executor: Executor | None = None
) -> Iterator[SwitchPatchFiles]:
    """Yield the patch of every switch that comes, goes or changes; an executor works on several at a time.

    For a switch that is changed in several passes, yield a patch per pass, computed in the result of the previous pass.
    """
    tasks: list[list[_PatchTask]] = []
    lines = manual_steps_by_switch(plan)
    least = _worst_manual_risk_by_switch(plan, lines)
    outer: dict[str, list[UnmodeledChange]] = {}
    for outside_part in plan.outside_model:
        for name in outside_part.devices:
            outer.setdefault(name, []).append(outside_part)
    staged = any(stage.scopes for stage in plan.order)
    shares = ChangesByScope(plan.devices, old_reading.fabric, new_reading.fabric)
    passes: dict[str, list[tuple[str, ChangeScope]]] = {}
    for turn, stage in number_stages(plan.order):
        for name in stage.devices:
            passes.setdefault(name, []).append((turn if staged else "", stage.scope(name)))
    for device in plan.devices:
        if device.kind != "changed":
            yield replace(
                _build_files_of_added_or_removed_switch(device, switch_files_if_unchanged(new_reading, device.name)),
                turn=passes[device.name][0][0],
            )
            continue
        manual_lines = lines.get(device.name, {})
        tasks.append(
            [
                _build_task(shares.change_within_share(device.name, share), turn, old_reading, manual_lines)
                for turn, share in passes[device.name]
            ]
        )
        tasks[-1][-1] = replace(
            tasks[-1][-1],
            new=switch_files_if_unchanged(new_reading, device.name),
            outer=outer.get(device.name, ()),
            exact=plan.exact,
            least=least.get(device.name, "none"),
        )
    for new_map_chunks in map_chunks(_build_patch_sequence, tasks, executor=executor, chunk=_SWITCHES_PER_CHUNK):
        yield from new_map_chunks


def _build_task(
    device_change: DeviceChange, turn: str, old: Reading, manual_lines: Mapping[Subject, str]
) -> _PatchTask:
    assert device_change.old is not None
    every = changes_not_computed_by_switch(device_change)
    return _PatchTask(
        name=device_change.name,
        platform=device_change.old.platform,
        old=switch_files_if_unchanged(old, device_change.name),
        new=None,
        changes=tuple(change for change in every if change.subject not in manual_lines),
        by_hand=tuple(
            ManualChange(change=change, line=manual_lines[change.subject])
            for change in every
            if change.subject in manual_lines
        ),
        turn=turn,
    )


def _build_patch_sequence(tasks: Sequence[_PatchTask]) -> list[SwitchPatchFiles]:
    """Return the patches of one switch, each in the files that the one before leaves."""
    found_patches: list[SwitchPatchFiles] = []
    files = tasks[0].old
    for task in tasks:
        patch = _build_patch(replace(task, old=files))
        files = patch.result or files
        found_patches.append(replace(patch, turn=task.turn))
    return found_patches


def manual_steps_by_switch(plan: Plan) -> Mapping[str, Mapping[Subject, str]]:
    """Return what to do by hand, by switch and part, of facts that no patch makes."""
    lines_by_switch: dict[str, dict[Subject, str]] = {
        name: dict(switch_lines) for name, switch_lines in plan.left.items()
    }
    for block in plan.changes:
        entries = [
            (entry, fact.effect) for fact in block.facts if fact.effect.method == "by hand" for entry in fact.entries
        ]
        for name in block.devices if entries else ():
            for entry, effect in entries:
                changed_part = PortGroupChange(block.ports, (entry,))
                for change in DeviceChange(
                    name=name, kind="changed", old=None, new=None, parts=(changed_part,)
                ).changes():
                    line = f"{subject_text(change.subject)}: {'; '.join(effect.by_hand)}"
                    lines_by_switch.setdefault(name, {})[change.subject] = line
    return lines_by_switch


def _worst_manual_risk_by_switch(
    plan: Plan, remaining_lines: Mapping[str, Mapping[Subject, str]]
) -> Mapping[str, ChangeRisk]:
    """Return the worst effect of the facts that are `remaining_lines`, by switch."""
    risks: dict[str, ChangeRisk] = {}
    for block in plan.changes:
        for name in (name for name in block.devices if name in remaining_lines):
            for fact in block.facts:
                changed_part = PortGroupChange(block.ports, fact.entries)
                changes = DeviceChange(name=name, kind="changed", old=None, new=None, parts=(changed_part,)).changes()
                if any(change.subject in remaining_lines[name] for change in changes):
                    risks[name] = worst_risk((risks.get(name, "none"), fact.effect.risk))
    return risks


def _build_files_of_added_or_removed_switch(device_change: DeviceChange, new: SwitchFiles | None) -> SwitchPatchFiles:
    """Return the files of a switch that comes or runs another system, or the manual steps for one that goes."""
    lines = {
        "added": ("these are the files of a new switch, whole",),
        "removed": ("the new tree has no such switch: drain it, and take its cables away once nothing needs them",),
    }.get(device_change.kind, ("the switch gets another operating system: install it, then load these files, whole",))
    if new is None and device_change.kind != "removed":
        lines = ("the files of the new tree are not as they were read; ask for the patch again",)
    files = {} if device_change.kind == "removed" else dict(new or {})
    remaining_lines = () if device_change.kind == "added" and new is not None else lines
    return SwitchPatchFiles(
        device=device_change.name,
        files=files | _make_manual_steps_file(remaining_lines),
        result=files,
        by_hand=remaining_lines,
    )


def _make_manual_steps_file(lines: Sequence[str]) -> dict[str, bytes]:
    return {MANUAL_STEPS_FILE: "".join(f"{line}\n" for line in lines).encode()} if lines else {}


def _build_patch(task: _PatchTask) -> SwitchPatchFiles:
    """Return the patch that takes a switch's files to the stated changes, and to nothing else."""
    old, edit = task.old, _edit_files(task, task.changes)
    if edit is None or old is None:
        lines = [manual_step.line for manual_step in task.by_hand]
        lines += [f"{subject_text(change.subject)}: nodrop does not change these files" for change in task.changes]
        return SwitchPatchFiles(device=task.name, files=_make_manual_steps_file(lines), by_hand=tuple(lines))
    edit, astray = _undo_side_effects(task, old, edit)
    whole_files = _edit_to_new_files(task, old, edit)
    if whole_files is not None:
        edit, astray = whole_files, []
    patched = platforms.main_config_file(task.platform, old)
    result = {**old, **edit.files}
    files = {name: form.encode() for name, form in edit.forms.items()}
    complete_files = {name: raw for name, raw in edit.files.items() if name != patched}
    remaining_steps = list(find_pending_manual_steps((*edit.by_hand, *task.by_hand), task.platform, task.name, result))
    rewritten = whole_files is not None and task.exact
    if (remaining_steps or rewritten) and task.new is not None:
        besides = {name: raw for name, raw in task.new.items() if name != patched and result.get(name) != raw}
        later_steps = list(find_pending_manual_steps(remaining_steps, task.platform, task.name, {**result, **besides}))
        if len(later_steps) < len(remaining_steps) or rewritten:
            remaining_steps, complete_files = later_steps, {**complete_files, **besides}
    result |= complete_files
    lines = [*(manual_step.line for manual_step in remaining_steps), *astray]
    if edit.disruption == "refused" and patched in edit.files:
        complete_files[patched] = edit.files[patched]
        why = unique_lines([step.reason for step in edit.steps if step.disruption == "refused"])
        lines.insert(0, f"refused as a whole, load {patched} instead: {'; '.join(why)}")
    lines += _unpatched_differences(task, result)
    lines = list(dict.fromkeys(lines))
    if (remaining_steps or astray) and task.new is not None and patched in task.new:
        complete_files[patched] = task.new[patched]
        lines.append(f"or load {patched}, which is that of the new tree, whole, and nothing else of this")
    return SwitchPatchFiles(
        device=task.name,
        files=files | complete_files | _make_manual_steps_file(lines),
        result=result,
        by_hand=tuple(lines),
    )


def _edit_to_new_files(task: _PatchTask, old: SwitchFiles, facts: EditResult) -> EditResult | None:
    """Return the edit that makes the new files, or, for running files, the facts and the other intended settings."""
    if task.new is None or not (task.exact or task.outer):
        return None
    new = (
        task.new if task.exact else apply_unmodeled_changes(task.platform, {**old, **facts.files}, task.new, task.outer)
    )
    least = worst_risk(
        (*(() if facts.files else (task.least,)), *(outside_part.effect.risk for outside_part in task.outer))
    )
    wanted = replace(facts, by_hand=(*facts.by_hand, *task.by_hand))
    return edit_towards_files(task.platform, task.name, old, new, wanted, least=least)


def _unpatched_differences(task: _PatchTask, result: SwitchFiles) -> Iterator[str]:
    """Yield the differences of the new files that are no facts and that no patch makes."""
    if task.new is not None and not task.exact:
        for words in find_settings_still_differing(task.platform, result, task.new, task.outer):
            yield f"{' '.join(words)}: left as it runs, to be set by hand"
        return
    for change in task.outer:
        file = change.at[0]
        if task.new is not None and result.get(file) != task.new.get(file):
            yield f"{' '.join(change.at[1:]) or file}: nodrop changes facts of its model alone here; see the new {file}"


def _edit_files(task: _PatchTask, changes: Sequence[Change]) -> EditResult | None:
    editor = platforms.find_editor(task.platform)
    if editor is None or task.old is None:
        return None
    try:
        return editor.edit(task.old, changes, name=task.name) if changes else EditResult()
    except InputProblems:
        return None


def _undo_side_effects(task: _PatchTask, old: SwitchFiles, edit: EditResult) -> tuple[EditResult, list[str]]:
    """Return an edit without side effects on settings that stay in the new files, and the remaining side effects.

    A platform also changes other settings in the same field as a change (both directions of pause) unless the changes
    include them: then the settings that must stay are among the changes.
    """
    astray = list(_corrections_of_unintended_changes(task, old, edit))
    if not astray:
        return edit, []
    again = _edit_files(task, [*task.changes, *astray])
    if again is not None and len(again.by_hand) <= len(edit.by_hand):
        return again, [
            _describe_stray_change(change) for change in _corrections_of_unintended_changes(task, old, again)
        ]
    return edit, [_describe_stray_change(change) for change in astray]


def _describe_stray_change(change: Change) -> str:
    new = describe_value(change.new)
    return f"{subject_text(change.subject)}: the patch changes it along with others, and it is to stay {new}"


def _corrections_of_unintended_changes(task: _PatchTask, old: SwitchFiles, edit: EditResult) -> Iterator[Change]:
    """Yield the unintended differences from the new files, with the required values."""
    if task.new is None:
        return
    wanted_device, was = (parse_device(task.platform, task.name, files) for files in (task.new, old))
    device = parse_device(task.platform, task.name, {**old, **edit.files})
    meant = WantedSubjects(change.subject for change in (*task.changes, *(step.change for step in task.by_hand)))
    before = {found_difference.path for found_difference in differences(was, wanted_device, whole_lists=True)}
    for difference in differences(device, wanted_device, whole_lists=True):
        at = subject_of_path_in_device(task.name, difference.path)
        silent = isinstance(difference.a, Unknown) or isinstance(difference.b, Unknown)
        if not silent and difference.path not in before and not meant.is_inside_or_around_wanted(at):
            yield Change(subject=at, old=UNKNOWN, new=difference.b)
