"""The meaning of a configuration at a place, in the words of the model: the part of the fabric there."""

import dataclasses
import re
from collections.abc import Iterator

from nodrop import platforms
from nodrop.engine.finding import FileLocation
from nodrop.errors import InputProblems
from nodrop.inputs import FabricInputs
from nodrop.locate import LocatedPart
from nodrop.model.fabric import Device, Interface
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject
from nodrop.model.types import key_of
from nodrop.report.explained import render_explanation as explained
from nodrop.syntax.json import MAX_JSON_BYTES
from nodrop.syntax.places import Span

_LINES_SEARCHED_ABOVE = 60
"""How far above a place the port is looked for that it is about."""


def explain_value_at_position(
    reading: Reading, inputs: FabricInputs, file: str, line: int, column: int
) -> tuple[str, Span] | None:
    """Return what stands at a line and column, from 1, as `nodrop explain --at` has it; None where nothing is known.

    Of the parts that stand there (of the switch as such, or of the port that is named there or above) it is the one
    that covers the least; of several, the one around the others.
    """
    names = [name for name, sources in reading.sources.items() if any(source.display == file for source in sources)]
    device = next((candidate for candidate in reading.fabric.devices if candidate.name in names), None)
    bundle = next((one for one in inputs.bundles if any(text.display == file for _, text in one.files)), None)
    if device is None or bundle is None:
        return None
    try:
        texts = {name: text.read_bytes(MAX_JSON_BYTES) for name, text in bundle.files}
    except InputProblems:
        return None
    file_name = next(name for name, text in bundle.files if text.display == file)
    where = platforms.make_place_finder(bundle.platform, texts)
    port = _find_port_at_line(device, texts[file_name].decode("utf-8", "replace").splitlines(), line)
    candidates = [
        (_span_size(place.span), len(subject), subject, place.span)
        for subject in _subjects_on_device(device, port)
        if (place := where(subject)) is not None
        and place.file == file_name
        and _span_contains(place.span, line, column)
    ]
    if not candidates:
        return None
    _, _, subject, span = min(candidates)
    stands = LocatedPart(part=subject, located=FileLocation(file=file, span=span), line=None)
    return explained(reading, subject, stands), span


def _find_port_at_line(device: Device, lines: list[str], line: int) -> Interface | None:
    """Return the port that is named in a line, or in the nearest above it."""
    names = {port.name: port for port in device.interfaces}
    for text in reversed(lines[max(0, line - _LINES_SEARCHED_ABOVE) : line]):
        for word in re.findall(r"[\w./-]+", text):
            if word in names:
                return names[word]
    return None


def _subjects_on_device(device: Device, port: Interface | None) -> Iterator[Subject]:
    for field in dataclasses.fields(device):
        if field.name != "interfaces":
            yield from _walk_parts((device.name, f"@{field.name}"), getattr(device, field.name))
    for place, neighbor in enumerate(device.neighbors):
        yield from _walk_parts((device.name, "@neighbors", key_of(neighbor, place)), neighbor)
    if port is not None:
        for field in dataclasses.fields(port):
            yield from _walk_parts((device.name, port.name, field.name), getattr(port, field.name))


def _walk_parts(subject: Subject, value: object) -> Iterator[Subject]:
    """Yield a part and those inside of it."""
    yield subject
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _walk_parts((*subject, field.name), getattr(value, field.name))
    elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
        for place, row in enumerate(value):
            yield from _walk_parts((*subject, key_of(row, place)), row)


def _span_contains(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) < (span.end_line, span.end_column)


def _span_size(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column
