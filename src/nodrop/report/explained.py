"""The values of a fabric at a subject, and their origin: the output of `nodrop explain --at`."""

import dataclasses
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nodrop.locate import LocatedPart
from nodrop.model import subject
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.edit import get_value
from nodrop.model.fabric import Device, Interface
from nodrop.model.fields import label_of, unit_of
from nodrop.model.qos import PriorityGroup
from nodrop.model.reading import Reading
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject
from nodrop.model.types import key_of
from nodrop.report.buffering import reference_xoffs, xoff_parts
from nodrop.report.document_text import render_lines
from nodrop.report.names import format_count, subject_kind
from nodrop.report.table import TABLE_WIDTH_CHARACTERS, wrap_text
from nodrop.results.outcome import FabricOutcome, group_findings, location_to_correct, separate_explained_groups
from nodrop.units import show_speed

_MAX_INLINE_CHARACTERS = 68
_SUMMARY_INDENT = 7
_MAX_SUMMARY_ENTRY_LINES = 3
"""How many lines of the summary each of its entries takes at most."""
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z])([A-Z])")
_KEY_PATH_BY_ASSUMED_FACT = {"mode": ("mode",), "RDMA": ("classes",)}
"""The part of the fabric that an assumption is about."""


def render_explanation(
    reading: Reading, at: Subject, stands: LocatedPart | None, outcome: FabricOutcome | None = None
) -> str:
    """Return the values and findings at a subject, as lines; ValueError if the fabric has no such part.

    The first lines, at most ten, are a summary. Without an outcome, it leaves out the findings.
    """
    value = get_value(reading.fabric, at)
    origin = tuple(_describe_origin(reading, at, value, stands))
    lines = (
        *_summary(at, value, origin, stands),
        *(_summarize_findings(at, reading, outcome) if outcome is not None else ()),
        *_explanation_lines(reading, at, value, origin, stands),
    )
    return render_lines(lines)


def _summary(at: Subject, value: object, origin: Iterable[str], stands: LocatedPart | None) -> Iterator[str]:
    """Yield the kind of a part, and the text that states it."""
    yield _cut_line(f"{subject.subject_text(at)}: {_describe_kind_and_main_facts(at, value)}")
    origins = list(origin)
    if stands is not None and stands.line is not None and origins:
        origins[-1] += f": {stands.line.strip()}"
    yield from _summary_entry("from", origins)


def _summarize_findings(at: Subject, reading: Reading, outcome: FabricOutcome) -> Iterator[str]:
    """Yield the worst finding at a part or below, and what to do about it."""
    findings = [finding for finding in outcome.findings if finding.concerns(at, shortest=len(at))]
    groups, under = separate_explained_groups(group_findings(findings))
    if not groups:
        yield from _summary_entry("found", [f"nothing, by {format_count(outcome.rules, 'rule')}"])
        return
    first = groups[0][0]
    others = len(groups) + sum(map(len, under.values())) - 1
    more = f" (and {others} more: `nodrop lint`)" if others else ""
    yield from _summary_entry("found", [f"{first.severity}[{first.rule}]: {first.message}{more}"])
    if first.fix is not None:
        typed = next((commands.lines for commands in first.fix.commands), ())
        place = location_to_correct(first) if reading.decided is not None else None
        where = f" ({place.describe(column=False)})" if place is not None and place.span is not None else ""
        yield from _summary_entry("to do", [first.fix.text + where], commands=typed[: _MAX_SUMMARY_ENTRY_LINES - 1])


def _describe_kind_and_main_facts(at: Subject, value: object) -> str:
    """Return the kind of a part, with its few main facts; of a field, its label and value."""
    facts: tuple[object, ...] = ()
    match value:
        case Device():
            facts = (value.model, value.platform, value.version, value.role)
        case Interface():
            speed = show_speed(value.speed_mbps) if isinstance(value.speed_mbps, int) else None
            lanes = f"on {format_count(value.lanes, 'lane')}" if isinstance(value.lanes, int) else None
            side = {"host": "to a host", "fabric": "to a switch"}.get(str(value.side))
            facts = (" ".join(filter(None, (speed, lanes))), side)
        case _ if not dataclasses.is_dataclass(value):
            unit = unit_of(at[-1]) if isinstance(value, int) else ""
            return f"{label_of(at[-1].removeprefix('@'))}: {format_model_value(value)} {unit}".rstrip()
    kind = label_of(at[-1][1:]) if at[-1].startswith("@") else subject_kind(at)
    words = _CAMEL_CASE_BOUNDARY.sub(r" \1", type(value).__name__).lower().strip() if kind == "part" else kind
    known = (str(fact) for fact in facts if fact and not isinstance(fact, Unknown))
    return ", ".join(("switch" if kind == "device" else words, *known))


def _summary_entry(head: str, sentences: Iterable[str], commands: Sequence[str] = ()) -> Iterator[str]:
    """Yield sentences behind their head, and commands below, in three lines at most."""
    indent, most = " " * _SUMMARY_INDENT, _MAX_SUMMARY_ENTRY_LINES - len(commands)
    lines = [line for sentence in sentences for line in wrap_text(sentence, indent, f"{indent}  ")]
    if len(lines) > most:
        lines[most - 1 :] = [_cut_line(f"{lines[most - 1]} ...")]
    lines[:1] = [f"{head:<{_SUMMARY_INDENT}}{line.strip()}" for line in lines[:1]]
    yield from lines
    yield from (_cut_line(f"{indent}{command}") for command in commands)


def _cut_line(line: str) -> str:
    """Return a line that is no longer than a page is wide, with dots where its end is missing."""
    return line if len(line) <= TABLE_WIDTH_CHARACTERS else f"{line[: TABLE_WIDTH_CHARACTERS - 4]} ..."


def _explanation_lines(
    reading: Reading, at: Subject, value: object, origin: Iterable[str], stands: LocatedPart | None
) -> Iterator[str]:
    yield ""
    yield "Where it comes from"
    for sentence in origin:
        yield from wrap_text(sentence, "  ", "    ")
    if stands is not None and stands.line is not None:
        yield f"    {stands.line.strip()[: TABLE_WIDTH_CHARACTERS - 4]}"
    yield ""
    yield "Value"
    for line in _field_lines(value):
        yield from wrap_text(line, "  ", "    ")
    yield from _headroom_lines(reading, at)


def _field_lines(value: object) -> Iterator[str]:
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
    if len(own_spelling) <= _MAX_INLINE_CHARACTERS or not isinstance(value, tuple) or hasattr(value, "_fields"):
        return (
            own_spelling
            if len(own_spelling) <= 4 * _MAX_INLINE_CHARACTERS
            else f"{len(dataclasses.fields(value))} parts"
        )
    if any(map(dataclasses.is_dataclass, value)):
        names = ", ".join(key_of(row, place) for place, row in enumerate(value))
        return f"{len(value)} rows: {textwrap.shorten(names, _MAX_INLINE_CHARACTERS, placeholder=' ...')}"
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


def _describe_origin(reading: Reading, at: Subject, value: object, stands: LocatedPart | None) -> Iterator[str]:
    """Yield in words where a value comes from: computed, taken from a default, assumed, read."""
    if is_computed_by_switch(reading, at, value):
        yield "sizes: computed by the switch and by nodrop; no file states them"
    for length in range(len(at), 0, -1):
        if reason := reading.derived.get(at[:length]):
            yield f"derived: {reason}"
            break
    if at[0] == FABRIC_HEAD:
        assumed = [
            candidate for candidate in reading.assumed if _KEY_PATH_BY_ASSUMED_FACT.get(candidate.fact) == at[1:2]
        ]
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
    place = stands.located.describe()
    yield place if stands.part == at else f"{place}, which states {subject.subject_text(stands.part)}"


def is_computed_by_switch(reading: Reading, subject_path: Subject, value: object) -> bool:
    """Whether a part, or one around it, is a headroom or a pool's size that the switch computes."""
    candidates: list[object] = [value]
    for length in range(len(subject_path) - 1, 1, -1):
        try:
            candidates.append(get_value(reading.fabric, subject_path[:length]))
        except ValueError:
            continue
    return any(isinstance(candidate, Headroom | BufferPool) and candidate.computed for candidate in candidates)


def _headroom_lines(reading: Reading, subject_path: Subject) -> Iterator[str]:
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
    terms = xoff_parts(device, port) if computed else None
    if terms is not None:
        yield ""
        yield "What xoff is made of, bytes (xoff = the sum of the first five × cell_occupancy + the rest)"
        yield from (f"  {name}: {term}" for name, term in terms.items())
    yield ""
    yield f"What xoff is held against with a cable of {_format_whole_value(port.cable_length_m)} m, bytes"
    yield from (f"  {name}: {_format_whole_value(bound)}" for name, bound in reference_xoffs(device, port).items())
