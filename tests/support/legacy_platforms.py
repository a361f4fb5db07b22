"""Older forms of Spectrum configurations: their files as made by hand, read, and the findings of each as text."""

from pathlib import Path

import nodrop
from nodrop import platforms
from nodrop.locate import add_finding_places
from nodrop.model.fabric import Interface
from nodrop.model.qos import QosProfile
from nodrop.model.reading import DeviceReading, FilePlace, Source
from nodrop.model.states import require_fact
from nodrop.model.subject import subject_text


def read(platform: str, **files: str) -> DeviceReading:
    """Read a device from texts, given by canonical name with dots as two underscores."""
    bundle = [
        (Source(name=name.replace("__", "."), display=name.replace("__", ".")), said.encode())
        for name, said in files.items()
    ]
    return platforms.reader(platform).read_device("sw1", bundle)


def port(reading: DeviceReading, name: str) -> Interface:
    """A port by name."""
    (found,) = (one for one in reading.device.interfaces if one.name == name)
    return found


def qos(reading: DeviceReading, name: str) -> QosProfile:
    """What a port does with traffic."""
    found = require_fact(port(reading, name).qos)
    assert found is not None
    return found


def line_at(place: FilePlace | None, raw: bytes) -> str:
    """The line at which something stands."""
    assert place is not None
    return raw.decode().split("\n")[place.span.line - 1]


def remarks(reading: DeviceReading) -> list[tuple[str, int | None]]:
    """Each remark's kind and line."""
    return [(one.kind, one.place.span.line if one.place else None) for one in reading.remarks]


def notes(reading: DeviceReading) -> list[tuple[int | None, str]]:
    """Each note's line and text."""
    return [(one.line, one.message) for one in reading.notes]


def findings(path: Path) -> str:
    """All findings of a file or folder, a line each, in the order of their places."""
    reading = nodrop.read([str(path)])
    verdict = nodrop.lint(reading)
    rows = []
    for one in add_finding_places(verdict.findings, reading, platforms.make_place_finder).findings:
        place = one.located
        span = place.span if place else None
        assert place is not None, one.rule
        assert span is not None, one.rule
        said = f"{one.severity}[{one.rule}] {subject_text(one.subject)}: {one.message}"
        rows.append((Path(place.file).name, span.line, said))
    rows += [(Path(one.file or "").name, one.line or 0, f"note: {one.message}") for one in reading.notes]
    return "".join(f"{file}:{line}: {said}\n" for file, line, said in sorted(rows))


def same(path: Path, found: str, *, update: bool) -> None:
    """Compare with a golden file, or write it anew."""
    if update:
        path.write_text(found)
    assert found == path.read_text()
