"""Another fabric, one part of it changed: `set_value(fabric, ("leaf1", "Ethernet0", "qos", "pfc_watchdog"), None)`.

A subject leads to the part, as written in contract 9.5. A part of it may be a glob and then means every match; from
there on, rows where the path ends early are skipped. Parts shared by value stay shared: one changed profile of 64 ports
is one new profile. Values are those of the model, or as YAML writes them (`spelling`).
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from nodrop.identity import IdentityKey
from nodrop.model.fabric import Fabric, Link
from nodrop.model.spelling import describe_value, parse_row, parse_value
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject, matches_part, natural_sort_key
from nodrop.model.subject import subject_text as subject_text
from nodrop.model.types import (
    ValueType,
    attributes_of,
    fields_of,
    is_property,
    key_of,
    known_word_hint,
    owner_label,
    source_fields_of,
    type_of,
)

_STORED_PATH_BY_ATTRIBUTE: Mapping[str, Subject] = {"neighbors": ("bgp", "neighbors")}
"""Attributes of a device that a subject names directly though they are stored deeper."""


class _AbsentType:
    """The type of ABSENT."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _AbsentType()
"""What `find_value` and `find_part` return where a way leads nowhere: None and UNKNOWN are values."""


def set_value(fabric: Fabric, subject: Subject, value: object) -> Fabric:
    """Return the fabric with `value` at `subject`; ValueError names the word of either that does not fit, and why.

    A row that does not exist yet is added where its key is the last part of the subject; a row set to None is removed.
    """
    edit = _FabricEdit(_steps_to_subject(subject, _STORED_PATH_BY_ATTRIBUTE), value)
    try:
        changed: Fabric = edit.edited_part(fabric, type_of(Fabric), edit.steps)
    except ValueError as error:
        raise ValueError(f"{subject_text(subject)}: {error}") from None
    if not edit.places:
        raise ValueError(f"{subject_text(subject)}: nothing fits the pattern")
    return changed


def set_part(node: object, steps: Subject, value: object) -> Any:
    """Return a part of the model with `value` where `steps` lead; ValueError where they lead nowhere."""
    return _FabricEdit(steps, value).edited_part(node, type_of(type(node)), steps)


def get_value(fabric: Fabric, subject: Subject) -> object:
    """Return the value at `subject`, properties included; ValueError where there is no such part."""
    try:
        return get_part(fabric, _steps_to_subject(subject, {}))
    except ValueError as error:
        raise ValueError(f"{subject_text(subject)}: {error}") from None


def find_value(fabric: Fabric, subject: Subject) -> object:
    """Return the value at `subject`, properties included; ABSENT where there is no such part."""
    return find_part(fabric, _steps_to_subject(subject, {}))


def get_part(node: object, path_steps: Subject) -> object:
    """Return what attributes and keys lead to from a part of the model; ValueError where there is nothing."""
    for step in path_steps:
        inside = _child_at_step(node, step)
        if inside is ABSENT:
            raise ValueError(_why_absent(node, step))
        node = inside
    return node


def find_part(node: object, path_steps: Subject) -> Any:
    """Return what attributes and keys lead to from a part of the model; ABSENT where there is nothing.

    Who only asks whether something is there need not wait for a search for what may be meant.
    """
    for step in path_steps:
        node = _child_at_step(node, step)
        if node is ABSENT:
            break
    return node


def _steps_to_subject(subject: Subject, stored: Mapping[str, Subject]) -> Subject:
    """Return the attributes and keys that lead from the fabric to a subject."""
    match subject:
        case (root, *rest) if root == FABRIC_HEAD:
            return tuple(rest)
        case (device, area, *rest) if area.startswith("@"):
            return ("devices", device, *stored.get(area[1:], (area[1:],)), *rest)
        case (device, port, *rest):
            return ("devices", device, "interfaces", port, *rest)
        case _:
            return ("devices", *subject)


def _child_at_step(node: Any, step: str) -> object:
    """Return the child that a step leads to; of rows with the same key, the last one."""
    if node is None or isinstance(node, Unknown):
        return ABSENT
    if not _is_row_tuple(node):
        return getattr(node, step) if step in attributes_of(type(node)) else ABSENT
    places = range(len(node) - 1, -1, -1)
    return next((node[place] for place in places if key_of(node[place], place) == step), ABSENT)


def _why_absent(node: Any, step: str) -> str:
    if node is None or isinstance(node, Unknown):
        return f"{describe_value(node)} has no `{step}`"
    if not _is_row_tuple(node):
        return _describe_missing_attribute(type(node), step, attributes_of(type(node)))
    return _describe_absent_key(step, list(dict.fromkeys(key_of(each, place) for place, each in enumerate(node))))


class _FabricEdit:
    """One change that is applied to the fabric; `places` counts its places."""

    def __init__(self, steps: Subject, value: object) -> None:
        self.steps, self.value = steps, value
        self.places = 0
        self._lenient = len(steps) - next((at for at, step in enumerate(steps) if _is_glob(step)), len(steps))
        self._done: dict[tuple[IdentityKey[object], int], object] = {}
        self._read: dict[ValueType, object] = {}

    def edited_part(self, node: Any, kind: ValueType, steps: Subject) -> Any:
        """Return what `node`, held by a field of type `kind`, becomes; equal parts become the same."""
        if not steps:
            self.places += 1
            if kind not in self._read:
                self._read[kind] = parse_value(kind, self.value)
            return self._read[kind]
        if node is None or isinstance(node, Unknown):
            return self._allow_missing_after_glob(
                node, steps, f"{describe_value(node)} has no `{steps[0]}`; give the whole"
            )
        key = (IdentityKey(node), len(steps))
        if key not in self._done:
            self._done[key] = (
                self._change_rows_named_by_step(node, kind, steps)
                if _is_row_tuple(node)
                else self._change_fields(node, steps)
            )
        return self._done[key]

    def _change_fields(self, node: Any, steps: Subject) -> object:
        """Return a value of the model with the field that the first step names changed, or each that its glob fits."""
        known_types = fields_of(type(node))
        names = [name for name in known_types if matches_part(steps[0], name)]
        if not _is_glob(steps[0]):
            _require_settable_attribute(type(node), steps[0], known_types)
        news = {name: self.edited_part(getattr(node, name), known_types[name], steps[1:]) for name in names}
        return node._replace(**news) if hasattr(node, "_fields") else dataclasses.replace(node, **news)

    def _change_rows_named_by_step(
        self, rows: tuple[object, ...], kind: ValueType, steps: Subject
    ) -> tuple[object, ...]:
        """Rows with those changed that the first step names."""
        element = kind.element or ValueType(anything=True)
        keys = [key_of(each, place) for place, each in enumerate(rows)]
        chosen = [matches_part(steps[0], key) for key in keys]
        if not any(chosen):
            return self._insert_new_row(rows, element, steps, keys)
        pairs = zip(rows, keys, chosen, strict=True)
        if len(steps) > 1:
            return tuple(
                self.edited_part(node, element, steps[1:]) if is_chosen else node for node, _, is_chosen in pairs
            )
        self.places += sum(chosen)
        if self.value is None and not element.none:
            return tuple(each for each, _, is_chosen in pairs if not is_chosen)
        return tuple(self._parse_row(element, key) if is_chosen else each for each, key, is_chosen in pairs)

    def _insert_new_row(
        self, rows: tuple[object, ...], element: ValueType, steps: Subject, keys: list[str]
    ) -> tuple[Any, ...]:
        """Rows and a new one in its order, where the subject ends with its key; plain lists go on at their end."""
        key = steps[0]
        has_place = bool(element.owners) or (key == str(len(rows)) and not element.none)
        if len(steps) > 1 or _is_glob(key) or self.value is None or not has_place:
            return tuple(self._allow_missing_after_glob(rows, steps, _describe_absent_key(key, keys)))
        self.places += 1
        new = self._parse_row(element, key)
        at = sum(_row_sort_key(each) <= _row_sort_key(new) for each in rows) if element.owners else len(rows)
        return (*rows[:at], new, *rows[at:])

    def _parse_row(self, element: ValueType, key: str) -> Any:
        return parse_row(element.owners[0], self.value, key) if element.owners else parse_value(element, self.value)

    def _allow_missing_after_glob(self, node: object, steps: Subject, why: str) -> Any:
        """Leave alone what lies after a glob; anywhere else the way must not end."""
        if len(steps) > self._lenient:
            raise ValueError(why)
        return node


def _require_settable_attribute(owner: type[object], name: str, known_types: Mapping[str, ValueType]) -> None:
    if name in known_types:
        return
    if is_property(owner, name):
        stored = " and ".join(f"`{field}`" for field in sorted(source_fields_of(owner, name)))
        raise ValueError(f"`{name}` is computed from {stored}; set that")
    raise ValueError(_describe_missing_attribute(owner, name, known_types))


def _describe_missing_attribute(owner: type[object], name: str, known_types: Mapping[str, ValueType]) -> str:
    hint = known_word_hint(name, known_types)
    return f"{owner_label(owner)} has no `{name}`{f' ({hint})' if hint else ''}"


def _describe_absent_key(key: str, keys: list[str]) -> str:
    return f"there is no `{key}` ({known_word_hint(key, keys)})" if keys else f"there is no `{key}`, nor any other"


def _is_row_tuple(node: object) -> bool:
    return isinstance(node, tuple) and not hasattr(node, "_fields")


def _is_glob(step: str) -> bool:
    return "*" in step or "?" in step


def _row_sort_key(each: object) -> Any:
    return (each.a, each.b) if isinstance(each, Link) else natural_sort_key(key_of(each, 0))
