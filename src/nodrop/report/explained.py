"""The values of a fabric at a subject, and their origin: the output of `nodrop explain --at`."""

import dataclasses
import textwrap
from collections.abc import Iterator
from typing import Any

from nodrop.locate import Stands
from nodrop.model import subject
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.edit import get_value
from nodrop.model.fabric import Interface
from nodrop.model.qos import PriorityGroup
from nodrop.model.reading import Reading
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC, Subject
from nodrop.model.types import key_of
from nodrop.report.buffering import parts, reference_xoffs
from nodrop.report.escape import terminal
from nodrop.report.table import TABLE_COLUMNS, wrap_text

_INLINE = 68
_ASSUMED = {"mode": ("mode",), "RDMA": ("classes",)}
"""The part of the fabric that an assumption is about."""


def render_explanation(reading: Reading, at: Subject, stands: Stands | None) -> str:
    """Return what stands at a subject, as lines; ValueError where the fabric has no such part."""
    value = get_value(reading.fabric, at)
    return "\n".join(line.rstrip() for line in _explanation_lines(reading, at, value, stands)) + "\n"


def _explanation_lines(reading: Reading, at: Subject, value: object, stands: Stands | None) -> Iterator[str]:
    yield terminal(subject.text(at))
    yield ""
    yield "Where it comes from"
    for sentence in _describe_origin(reading, at, value, stands):
        yield from wrap_text(terminal(sentence), "  ", "    ")
    if stands is not None and stands.line is not None:
        yield f"    {terminal(stands.line.strip())[: TABLE_COLUMNS - 4]}"
    yield ""
    yield "Value"
    for line in _value(value):
        yield from wrap_text(terminal(line), "  ", "    ")
    yield from _headroom(reading, at)


def _value(value: object) -> Iterator[str]:
    """Yield the fields of a part, those without a value together at the end."""
    if not dataclasses.is_dataclass(value):
        yield format_model_value(value)
        return
    absent: dict[str, list[str]] = {"none": [], "unknown": []}
    for field in dataclasses.fields(value):
        shown = format_model_value(getattr(value, field.name))
        if shown in absent:
            absent[shown].append(field.name)
        else:
            yield f"{field.name}: {shown}"
    yield from (f"{state}: {', '.join(names)}" for state, names in absent.items() if names)


def format_model_value(value: Any) -> str:
    """Spell a value of the model in one line; of a long list of rows, their names."""
    own_spelling = _format_whole_value(value)
    if len(own_spelling) <= _INLINE or not isinstance(value, tuple) or hasattr(value, "_fields"):
        return own_spelling if len(own_spelling) <= 4 * _INLINE else f"{len(dataclasses.fields(value))} parts"
    if any(map(dataclasses.is_dataclass, value)):
        names = ", ".join(key_of(row, place) for place, row in enumerate(value))
        return f"{len(value)} rows: {textwrap.shorten(names, _INLINE, placeholder=' ...')}"
    return own_spelling


def _format_whole_value(value: object) -> str:
    if isinstance(value, Unknown):
        return "unknown"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if dataclasses.is_dataclass(value):
        stated = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return (
            "{"
            + ", ".join(f"{name}: {_format_whole_value(content)}" for name, content in stated if content is not None)
            + "}"
        )
    if isinstance(value, frozenset):
        return "[" + ", ".join(sorted(map(_format_whole_value, value))) + "]"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return "[" + ", ".join(map(_format_whole_value, value)) + "]"
    return str(value)


def _describe_origin(reading: Reading, at: Subject, value: object, stands: Stands | None) -> Iterator[str]:
    """Yield in words where a value comes from: computed, taken from a default, assumed, read."""
    if is_computed_by_switch(reading, at, value):
        yield "sizes: computed by the switch and by nodrop; no file states them"
    for length in range(len(at), 0, -1):
        if reason := reading.derived.get(at[:length]):
            yield f"derived: {reason}"
            break
    if at[0] == FABRIC:
        assumed = [candidate for candidate in reading.assumed if _ASSUMED.get(candidate.fact) == at[1:2]]
        for assumption in assumed:
            yield f"assumed: {assumption.fact} is {assumption.value}, because: {assumption.reason}"
        if not assumed and at[1:2] == ("links",):
            yield "stated, else concluded from shared subnets, neighbor tables and descriptions at the end below"
        elif not assumed:
            yield "stated: by the intent, a flag, or the fabric.yaml beside the files"
        if stands is None or len(stands.part) == 1:
            return
    if len(at) == 3 and at[2] == "side":
        yield "follows from what the port's cable leads to"
    if stands is None:
        yield "no file that was read states it"
        return
    span = stands.located.span
    place = stands.located.file + (f":{span.line}:{span.column}" if span else "")
    yield place if stands.part == at else f"{place}, which states {subject.text(stands.part)}"


def is_computed_by_switch(reading: Reading, subject_path: Subject, value: object) -> bool:
    """Whether a part, or one around it, is a headroom or a pool's size that the switch computes."""
    candidates: list[object] = [value]
    for length in range(len(subject_path) - 1, 1, -1):
        try:
            candidates.append(get_value(reading.fabric, subject_path[:length]))
        except ValueError:
            continue
    return any(isinstance(candidate, Headroom | BufferPool) and candidate.computed for candidate in candidates)


def _headroom(reading: Reading, subject_path: Subject) -> Iterator[str]:
    """Yield the parts of a headroom and its reference values, at a port's priority group or a part of its buffer."""
    if len(subject_path) < 5 or subject_path[1].startswith("@") or subject_path[2:4] != ("qos", "priority_groups"):
        return
    group = get_value(reading.fabric, subject_path[:5])
    port = get_value(reading.fabric, subject_path[:2])
    device = next(switch for switch in reading.fabric.devices if switch.name == subject_path[0])
    assert isinstance(group, PriorityGroup)
    assert isinstance(port, Interface)
    if not isinstance(group.buffer, BufferProfile) or not isinstance(group.buffer.headroom, Headroom):
        return
    computed = group.buffer.headroom.computed
    terms = parts(device, port) if computed else None
    if terms is not None:
        yield ""
        yield "What xoff is made of, bytes (xoff = the sum of the first five × cell_occupancy + the rest)"
        yield from (f"  {name}: {term}" for name, term in terms.items())
    yield ""
    yield f"What xoff is held against with a cable of {_format_whole_value(port.cable_length_m)} m, bytes"
    yield from (f"  {name}: {_format_whole_value(bound)}" for name, bound in reference_xoffs(device, port).items())
