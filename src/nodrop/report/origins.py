"""Origin of a value, in words: the line that states it, the default or formula behind it, or who could supply it."""

from collections.abc import Callable, Iterator

from nodrop import platforms
from nodrop.engine.unknowns import advise_on_missing_fact
from nodrop.errors import InputProblems
from nodrop.locate import LocatedPart, place_of
from nodrop.model import subject
from nodrop.model.edit import get_value
from nodrop.model.reading import IntentDecision, Reading
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject
from nodrop.report.explained import is_computed_by_switch

_FIELD_BY_FABRIC_YAML_KEY = {"cables": "links"}
"""What a key that an owner states is called in the fabric."""

DescribeKeySource = Callable[[str], str]
"""Says who stated a key of the fabric (`mode`, `classes`, …) and where; nothing where nobody did."""

_FABRIC_YAML_KEY_BY_ASSUMED_FACT = {"mode": "mode", "RDMA": "classes"}
"""The key under which one would state what was assumed."""
_FABRIC_YAML_KEY_BY_FIELD = {"links": "cables", "devices": "roles"}


def explain_value_origins(
    reading: Reading, subject_path: Subject, path: str, value: object, stated_by: DescribeKeySource
) -> Iterator[str]:
    """Yield in words where the value of a part comes from; `path` is the part's name in rules."""
    if isinstance(value, Unknown):
        yield f"unknown: in no file; supply {advise_on_missing_fact(path)}"
        return
    decision = reading.decided(subject_path) if reading.decided is not None else None
    if decision is not None:
        yield _format_decision(decision)
        return
    for length in range(len(subject_path), 0, -1):
        if reason := reading.derived.get(subject_path[:length]):
            yield f"derived: {reason}"
            break
    if is_computed_by_switch(reading, subject_path, _value_or_none(reading, subject_path)):
        yield "derived: computed by the switch and by nodrop; no file states it"
    if reading.decided is not None:
        yield "a default of the design: no key of the intent states it"
    elif subject_path[0] == FABRIC_HEAD:
        key = subject_path[1] if len(subject_path) > 1 else ""
        yield from explain_fabric_key_origins(reading, _FABRIC_YAML_KEY_BY_FIELD.get(key, key), stated_by)
    else:
        yield from _describe_file_origin(reading, subject_path, value)


def _format_decision(decision: IntentDecision) -> str:
    return f"{decision.message} ({decision.file}:{decision.span.line}:{decision.span.column})"


def _value_or_none(reading: Reading, subject_path: Subject) -> object:
    try:
        return get_value(reading.fabric, subject_path)
    except ValueError:
        return None


def explain_fabric_key_origins(reading: Reading, key: str, stated_by: DescribeKeySource) -> Iterator[str]:
    """Yield the origin of a key of the fabric (`mode`, `classes`, …): the assumption, who stated it, or nobody."""
    assumed = [
        candidate for candidate in reading.assumed if _FABRIC_YAML_KEY_BY_ASSUMED_FACT.get(candidate.fact) == key
    ]
    for assumption in assumed:
        yield f"assumed: {assumption.fact} is {assumption.value}, because: {assumption.reason}"
    if assumed:
        return
    if reading.decided is not None:
        decision = (
            reading.decided((FABRIC_HEAD, _FIELD_BY_FABRIC_YAML_KEY.get(key, key)))
            if key not in ("roles", "models")
            else None
        )
        yield _format_decision(decision) if decision else "stated by the intent, or what it leaves to its default"
    elif by := stated_by(key):
        yield f"stated: {by}"
    elif key == "cables":
        yield "concluded from shared subnets, neighbor tables and descriptions"
    else:
        yield "not stated: the default in effect"


def _describe_file_origin(reading: Reading, at: Subject, value: object) -> Iterator[str]:
    if len(at) == 3 and at[2] == "side":
        yield "follows from what the port's cable leads to"
    try:
        stands = place_of(at, reading, platforms.make_place_finder)
    except InputProblems as error:
        yield str(error.problems[0])
        return
    yield from _describe_source_line(stands, at, value)


def _describe_source_line(stands: LocatedPart | None, at: Subject, value: object) -> Iterator[str]:
    if stands is None:
        yield "no file that was read states it"
        return
    place = stands.located.describe()
    line = f"  {stands.line.strip()}" if stands.line is not None else ""
    if value is None:
        around = f"; {subject.subject_text(stands.part)} is" if stands.part != at else "; it would stand"
        yield f"absent: nothing states it{around} at {place}{line}"
    elif stands.part == at:
        yield f"stated: {place}{line}"
    else:
        yield f"stated: {place}, with {subject.subject_text(stands.part)}{line}"
