"""The files of one device, opened and read by its platform's reader."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from nodrop import platforms
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.reading import DeviceReading, Source
from nodrop.formats.json import MAX_BYTES
from nodrop.inputs import Bundle, Text

Opened = tuple[list[tuple[Source, bytes]], list[Problem]]
"""Sources with their bytes, and why there are no more of them."""


def digest(raw: bytes) -> str:
    """Return the digest by which a changed file is told."""
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def opened(files: Iterable[tuple[str, Text]], max_bytes: int = MAX_BYTES) -> Opened:
    """Open files; one that cannot be, or has more than `max_bytes`, is a problem."""
    found: list[tuple[Source, bytes]] = []
    problems: list[Problem] = []
    for name, text in files:
        try:
            raw = text.read(max_bytes)
        except InputProblems as error:
            problems.extend(error.problems)
            continue
        held = raw if text.path is None else None
        found.append((Source(name=name, display=text.display, path=text.path, held=held, digest=digest(raw)), raw))
    return found, problems


def read_bundle(bundle: Bundle) -> DeviceReading:
    """Read one device; a file that cannot be opened is a problem of the reading."""
    return read_opened(bundle, *opened(bundle.files))


def read_opened(bundle: Bundle, found: Sequence[tuple[Source, bytes]], problems: Sequence[Problem]) -> DeviceReading:
    """Read one device of which the files are open."""
    reading = platforms.reader(bundle.platform).read(bundle.name, found)
    return replace(reading, problems=(*problems, *reading.problems)) if problems else reading
