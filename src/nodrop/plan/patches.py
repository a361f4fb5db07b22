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
from nodrop.fabric.compare import differences
from nodrop.fabric.edit import get_value
from nodrop.fabric.fabric import Device, Fabric
from nodrop.fabric.reading import Reading, Source
from nodrop.fabric.spelling import said
from nodrop.fabric.states import UNKNOWN, Unknown
from nodrop.fabric.subject import Subject, text
from nodrop.parallel import map_chunks
from nodrop.plan.effects import bundle, once, uncomputed
from nodrop.plan.model import DeviceChange, Part, Plan
from nodrop.platforms.editing import same, subject_of, touch

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
    by_hand: tuple[ByHand, ...] = ()
    """What is known already to be made by no patch."""


def patches(plan: Plan, old: Reading, new: Reading, executor: Executor | None = None) -> Iterator[Patch]:
    """Yield the patch of every switch that comes, goes or changes; an executor works on several at a time."""
    tasks: list[_Task] = []
    lines = _lines(plan)
    for one in plan.devices:
        if one.kind != "changed":
            yield _of_whole(one, bundle(new, one.name))
            continue
        assert one.old is not None
        before, after = bundle(old, one.name), bundle(new, one.name)
        every, known = uncomputed(one), lines.get(one.name, {})
        tasks.append(
            _Task(
                name=one.name,
                platform=one.old.platform,
                old=before,
                new=after,
                changes=tuple(change for change in every if change.subject not in known),
                by_hand=tuple(
                    ByHand(change=change, line=known[change.subject]) for change in every if change.subject in known
                ),
            )
        )
    yield from map_chunks(_made, tasks, executor=executor, chunk=_CHUNK)


def _lines(plan: Plan) -> Mapping[str, Mapping[Subject, str]]:
    """Return what to do by hand, by switch and part, of facts that no patch makes."""
    found: dict[str, dict[Subject, str]] = {}
    for block in plan.told:
        entries = [
            (entry, fact.effect) for fact in block.facts if fact.effect.means == "by hand" for entry in fact.entries
        ]
        for name in block.devices if entries else ():
            for entry, effect in entries:
                part = Part(block.ports, (entry,))
                for change in DeviceChange(name=name, kind="changed", old=None, new=None, parts=(part,)).changes():
                    line = f"{text(change.subject)}: {'; '.join(effect.by_hand)}"
                    found.setdefault(name, {})[change.subject] = line
    return found


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
    """Return what takes a switch's files to what the changes say, and to nothing else."""
    old, edit = task.old, _edited(task, task.changes)
    if edit is None or old is None:
        lines = [one.line for one in task.by_hand]
        lines += [f"{text(change.subject)}: nodrop does not change these files" for change in task.changes]
        return Patch(device=task.name, files=_left(lines), by_hand=tuple(lines))
    edit, astray = _straight(task, old, edit)
    patched = _patched(task, old)
    result = {**old, **edit.files}
    files = {name: form.encode() for name, form in (edit.forms or _steps(edit)).items()}
    whole = {name: raw for name, raw in edit.files.items() if name != patched}
    left = list(_not_there((*edit.by_hand, *task.by_hand), task, result))
    if left and task.new is not None:
        besides = {name: raw for name, raw in task.new.items() if name != patched and result.get(name) != raw}
        then = list(_not_there(left, task, {**result, **besides}))
        if len(then) < len(left):
            left, whole = then, {**whole, **besides}
    result |= whole
    lines = [*(one.line for one in left), *astray]
    if edit.disruption == "refused" and patched in edit.files:
        whole[patched] = edit.files[patched]
        why = once([step.reason for step in edit.steps if step.disruption == "refused"])
        lines.insert(0, f"refused as a whole, load {patched} instead: {'; '.join(why)}")
    lines = list(dict.fromkeys(lines))
    if (left or astray) and task.new is not None and patched in task.new:
        whole[patched] = task.new[patched]
        lines.append(f"or load {patched}, which is that of the new tree, whole, and nothing else of this")
    return Patch(device=task.name, files=files | whole | _left(lines), result=result, by_hand=tuple(lines))


def _patched(task: _Task, old: Bundle) -> str:
    """Return the file that a switch's own tool changes."""
    usual = platforms.reader(task.platform).FILES[0]
    return usual if usual in old else next(iter(old), usual)


def _steps(edit: Edit) -> dict[str, str]:
    return {STEPS: edit.patch} if edit.steps else {}


def _edited(task: _Task, changes: Sequence[Change]) -> Edit | None:
    editor = platforms.editor(task.platform)
    if editor is None or task.old is None:
        return None
    try:
        return editor.edit(task.old, changes, name=task.name) if changes else Edit()
    except InputProblems:
        return None


def _straight(task: _Task, old: Bundle, edit: Edit) -> tuple[Edit, list[str]]:
    """Return an edit by which nothing changes along that stays in the new files, and what still does.

    A platform takes what stands in one field with a change for meant as well (both directions of pause) unless it is
    told otherwise: then what is to stay is among the changes.
    """
    astray = list(_astray(task, old, edit))
    if not astray:
        return edit, []
    again = _edited(task, [*task.changes, *astray])
    if again is not None and len(again.by_hand) <= len(edit.by_hand):
        return again, [_said(change) for change in _astray(task, old, again)]
    return edit, [_said(change) for change in astray]


def _said(change: Change) -> str:
    return f"{text(change.subject)}: the patch changes it along with others, and it is to stay {said(change.new)}"


def _astray(task: _Task, old: Bundle, edit: Edit) -> Iterator[Change]:
    """Yield what is not as the new files have it, though it was no change, with what it is to be."""
    if task.new is None:
        return
    wanted, was = _read(task, task.new), _read(task, old)
    now = _read(task, {**old, **edit.files})
    meant = [change.subject for change in (*task.changes, *(one.change for one in task.by_hand))]
    before = {found.path for found in differences(was, wanted, whole_lists=True)}
    for found in differences(now, wanted, whole_lists=True):
        at = subject_of(task.name, found.path)
        silent = isinstance(found.a, Unknown) or isinstance(found.b, Unknown)
        if not silent and found.path not in before and not any(touch(at, one) for one in meant):
            yield Change(subject=at, old=UNKNOWN, new=found.b)


def _read(task: _Task, files: Bundle) -> Device:
    return (
        platforms.reader(task.platform)
        .read(task.name, [(Source(name=name, display=name), raw) for name, raw in files.items()])
        .device
    )


def _not_there(by_hand: Sequence[ByHand], task: _Task, result: Bundle) -> Iterator[ByHand]:
    """Yield what the files do not say even so."""
    if not by_hand:
        return
    fabric = Fabric(name="", mode="lossless", devices=(_read(task, result),))
    for one in by_hand:
        try:
            there = same(get_value(fabric, one.change.subject), one.change.new)
        except ValueError:
            there = one.change.new is None
        if not there:
            yield one
