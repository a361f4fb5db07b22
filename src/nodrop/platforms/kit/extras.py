"""Additions of an owner to a configuration outside the model: merged last, and kept off modelled settings.

An addition touches the model where the tree has something at its path already, or where the device reads differently
with it. Platforms define how a tree is written and read; nothing here knows a vendor's words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from nodrop.errors import UnsupportedByPlatform
from nodrop.model.compare import differences
from nodrop.model.fabric import Device, Extra
from nodrop.model.fields import names_of_fields_with_columns
from nodrop.model.fields.row import EXTRA_SETTING_KEYS
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject, subject_text
from nodrop.model.types import key_of
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.expressible import json_string_fault, reason_unwritable_text

SettingsTree = dict[str, Any]


class AdditionOverlap(UnsupportedByPlatform):
    """An addition overlaps the model; `model` is the path that it changes, if any, and `others` overlap it too."""

    def __init__(self, path: str, reason: str, model: Subject = (), others: tuple["AdditionOverlap", ...] = ()) -> None:
        super().__init__(path, reason)
        self.model, self.others = model, others

    def __reduce__(self) -> tuple[type["AdditionOverlap"], tuple[str, str, Subject, tuple["AdditionOverlap", ...]]]:  # type: ignore[override]
        return (type(self), (self.path, self.reason, self.model, self.others))


DEVICE_FIELDS_SET_ONLY_BY_ADDITIONS: Mapping[str, None] = dict.fromkeys(
    field_name
    for field_name in names_of_fields_with_columns(Device, key=EXTRA_SETTING_KEYS)
    if not field_name.startswith("extra")
)
"""The fields of a switch that additions alone decide, such as access lists, as they do the hold times of sessions."""


def additions_of_device(device: Device) -> tuple[Extra, ...]:
    """Return a device's additions; none where they are not known. UnsupportedByPlatform where one has no path."""
    extra = known_rows(device.extra)
    for position, addition in enumerate(extra):
        texts = (*addition.path, *(addition.value if isinstance(addition.value, tuple) else (addition.value or "",)))
        if not addition.path or not all(addition.path) or any(map(json_string_fault, texts)):
            raise _build_refusal(addition, position, "is no path and value of texts")
    return extra


def merge_extras(
    device: Device, tree: SettingsTree, spell: Callable[[SettingsTree], str], read: Callable[[str], Device]
) -> str:
    """Return a device's text with its additions; raise Touched, for all of them, where some change a modelled fact."""
    extra = additions_of_device(device)
    together, free = deepcopy(tree), True
    for addition in extra:
        free &= _insert_addition(together, addition)
    written = spell(together)
    base = read(spell(tree))
    if not free or read(written) != base:
        first, *others = [*_refused_additions(extra, tree, base, lambda alone: read(spell(alone)))] or [
            AdditionOverlap("extra", "two of them are in each other's way")
        ]
        first.others = tuple(others)
        raise first
    return written


def _refused_additions(
    extra: Sequence[Extra], tree: SettingsTree, base: Device, read: Callable[[SettingsTree], Device]
) -> Iterator[AdditionOverlap]:
    """Yield the refusal of every addition that, alone, changes how a device reads, or is at a place in use."""
    for position, addition in enumerate(extra):
        alone = deepcopy(tree)
        was_free = _insert_addition(alone, addition)
        if change := explain_addition_refusal(base, read(alone)):
            yield _build_refusal(addition, position, *change)
        elif not was_free:
            yield _build_refusal(addition, position, "is written already, and nothing of the intent changes it")


def explain_addition_refusal(base: Device, device: Device) -> tuple[str, Subject] | None:
    """Return why additions that turn one switch into another are refused, and the first path that they change."""
    difference = None if base == device else next(differences(base, device), None)
    if difference is None:
        return None
    return f"changes {subject_text(difference.path)}, which the intent decides", difference.path


class RoutingLine(NamedTuple):
    """A line of a routing daemon's file, with the commands that open the blocks around it."""

    blocks: tuple[str, ...]
    text: str


def merge_routing_lines(
    written_text: str, lines: Sequence[str], read: Callable[[str], tuple[object, Sequence[str]]]
) -> str:
    """Return the routing daemon's text with the added lines; raise AdditionOverlap, for all of them, where some change
    a fact of the model, or are wrong where they are.

    `read` returns the facts of a text, and of each command that is wrong where it is the reason. A command of unknown
    effect is none of these: the reader of the text notes it.
    """
    if not lines:
        return written_text
    for position, line in enumerate(lines):
        if reason := reason_unwritable_text(line.lstrip(" ")):
            raise AdditionOverlap(f"extra_lines/{position}", reason)
    base_facts, base_faults = read(written_text)
    whole = _append_lines(written_text, lines)
    facts, faults = read(whole)
    if facts == base_facts and len(faults) <= len(base_faults):
        return whole
    kept: list[str] = []
    refused: list[AdditionOverlap] = []
    for position, line in enumerate(lines):
        facts, faults = read(_append_lines(written_text, (*kept, line)))
        if facts == base_facts and len(faults) <= len(base_faults):
            kept.append(line)
            continue
        reason = "changes what the intent decides" if facts != base_facts else faults[-1]
        refused.append(AdditionOverlap(f"extra_lines/{position}", f"`{line.strip()}` {reason}"))
    first, *others = refused
    first.others = tuple(others)
    raise first


def without_session_additions(bgp: Bgp | None | Unknown) -> Bgp | None | Unknown:
    """Return a process without the fields of its sessions that additions alone decide, such as hold times."""
    if isinstance(bgp, Unknown) or bgp is None or isinstance(bgp.neighbors, Unknown):
        return bgp
    blank = dict.fromkeys(names_of_fields_with_columns(BgpNeighbor, key=EXTRA_SETTING_KEYS))
    return replace_fields(bgp, neighbors=tuple(replace_fields(neighbor, **blank) for neighbor in bgp.neighbors))


def _append_lines(written: str, lines: Sequence[str]) -> str:
    return written + "".join(f"{line}\n" for line in ("!", *lines))


def _build_refusal(extra: Extra, position: int, reason: str, model: Subject = ()) -> AdditionOverlap:
    return AdditionOverlap(subject_text(("extra", key_of(extra, position))), reason, model)


def _insert_addition(tree: SettingsTree, extra: Extra) -> bool:
    """Put an addition into a tree, over existing content; return whether its place was free."""
    *outer, last = extra.path
    free = True
    for key in outer:
        if not isinstance(tree.get(key, {}), dict):
            tree[key], free = {}, False
        tree = tree.setdefault(key, {})
    if extra.value is None:
        free &= isinstance(tree.setdefault(last, {}), dict)
        return free
    free &= last not in tree
    tree[last] = list(extra.value) if isinstance(extra.value, tuple) else extra.value
    return free
