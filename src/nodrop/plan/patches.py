"""What takes each switch of a plan from its old files to the new ones: the forms of its own tools, and what is left.

A patch is worked out in the old files, whoever wrote them. What its platform does not change there, but the new tree
has as a file of its own (a routing daemon's), is given whole; what is still different then is to be done by hand.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.fabric.change import ByHand, Change, Edit
from nodrop.fabric.edit import get_value
from nodrop.fabric.fabric import Device, Fabric
from nodrop.fabric.reading import Reading, Source
from nodrop.fabric.subject import text
from nodrop.parallel import map_chunks
from nodrop.plan.effects import bundle, uncomputed
from nodrop.plan.model import DeviceChange, Plan
from nodrop.platforms.editing import same

BY_HAND = "by-hand.txt"
STEPS = "patch.json"
"""The steps where a platform has no form of its own: RFC 6902."""
_CHUNK = 8
Bundle = Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What to give to one switch: files by name, among them what is to be done by hand, line by line."""

    device: str
    files: Mapping[str, bytes]
    result: Mapping[str, bytes] = field(default_factory=dict)
    """The switch's own files once that is done, but for what is by hand."""
    by_hand: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    name: str
    platform: str
    old: Bundle | None
    new: Bundle | None
    changes: tuple[Change, ...] = ()


def patches(plan: Plan, old: Reading, new: Reading, executor: Executor | None = None) -> Iterator[Patch]:
    """Yield the patch of every switch that comes, goes or changes; an executor works on several at a time."""
    tasks: list[_Task] = []
    for one in plan.devices:
        if one.kind != "changed":
            yield _of_whole(one, bundle(new, one.name))
            continue
        assert one.old is not None
        before, after = bundle(old, one.name), bundle(new, one.name)
        changes = tuple(uncomputed(one))
        tasks.append(_Task(name=one.name, platform=one.old.platform, old=before, new=after, changes=changes))
    yield from map_chunks(_made, tasks, executor=executor, chunk=_CHUNK)


def _of_whole(one: DeviceChange, new: Bundle | None) -> Patch:
    """Return the files of a switch that comes or runs another system, or what is done with one that goes."""
    lines = {
        "added": ("these are the files of a new switch, whole",),
        "removed": ("the new tree has no such switch: drain it, and take its cables away once nothing needs them",),
    }.get(one.kind, ("the switch gets another operating system: install it, then load these files, whole",))
    if new is None and one.kind != "removed":
        lines = ("the files of the new tree are not as they were read; ask for the patch again",)
    files = {} if one.kind == "removed" else dict(new or {})
    left = () if one.kind == "added" and new is not None else lines
    return Patch(device=one.name, files=files | _left(left), result=files, by_hand=left)


def _left(lines: Sequence[str]) -> dict[str, bytes]:
    return {BY_HAND: "".join(f"{line}\n" for line in lines).encode()} if lines else {}


def _made(task: _Task) -> Patch:
    """Return what takes a switch's files to what the changes say."""
    edit = _edited(task)
    if edit is None or task.old is None:
        lines = [f"{text(change.subject)}: nodrop does not change these files" for change in task.changes]
        return Patch(device=task.name, files=_left(lines), by_hand=tuple(lines))
    patched = platforms.reader(task.platform).FILES[0]
    result = {**task.old, **edit.files}
    files = {name: form.encode() for name, form in (edit.forms or _steps(edit)).items()}
    whole = {name: raw for name, raw in edit.files.items() if name != patched}
    if edit.by_hand and task.new is not None:
        whole |= {name: raw for name, raw in task.new.items() if name != patched and result.get(name) != raw}
    if edit.disruption == "refused" and patched in edit.files:
        whole[patched] = edit.files[patched]
    result |= whole
    refused = [f"refused as a whole, load {patched} instead: {why}" for why in _refusals(edit) if patched in whole]
    left = tuple(dict.fromkeys([*refused, *(one.line for one in _not_there(edit.by_hand, task, result))]))
    return Patch(device=task.name, files=files | whole | _left(left), result=result, by_hand=left)


def _refusals(edit: Edit) -> Iterator[str]:
    """Yield why a switch's own tool does not take the steps."""
    return (step.reason for step in edit.steps if step.disruption == "refused")


def _steps(edit: Edit) -> dict[str, str]:
    return {STEPS: edit.patch} if edit.steps else {}


def _edited(task: _Task) -> Edit | None:
    editor = platforms.editor(task.platform)
    if editor is None or task.old is None:
        return None
    try:
        return editor.edit(task.old, task.changes, name=task.name)
    except InputProblems:
        return None


def _not_there(by_hand: Sequence[ByHand], task: _Task, result: Bundle) -> Iterator[ByHand]:
    """Yield what the files do not say even once they are given whole."""
    if not by_hand:
        return
    files = [(Source(name=name, display=name), raw) for name, raw in result.items()]
    fabric = _alone(platforms.reader(task.platform).read(task.name, files).device)
    for one in by_hand:
        try:
            there = same(get_value(fabric, one.change.subject), one.change.new)
        except ValueError:
            there = one.change.new is None
        if not there:
            yield one


def _alone(device: Device) -> Fabric:
    return Fabric(name="", mode="lossless", devices=(device,))
