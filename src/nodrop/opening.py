"""The files of one device, opened and read by its platform's reader."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from nodrop import platforms
from nodrop.errors import InputProblems, Problem
from nodrop.inputs import DeviceFiles, FileText
from nodrop.inputs.contents import MAYBE_TRUNCATED_NOTE_KIND, is_json
from nodrop.limits import MAX_REMARKS_PER_SWITCH, MAX_TEXT_BYTES
from nodrop.model.allowing import parse_allow_comments
from nodrop.model.reading import (
    FAULTS_NOT_LISTED_NOTE_KIND,
    AllowComment,
    DeviceReading,
    HostReading,
    Note,
    Remark,
    Source,
)
from nodrop.syntax.json import MAX_JSON_BYTES

OpenedFiles = tuple[list[tuple[Source, bytes]], list[Problem]]
"""Sources with their bytes, and why there are no more of them."""


def content_digest(file_content: bytes) -> str:
    """Return the digest that detects a changed file."""
    return hashlib.blake2b(file_content, digest_size=16).hexdigest()


def open_files(files: Iterable[tuple[str, FileText]], max_bytes: int = MAX_JSON_BYTES) -> OpenedFiles:
    """Open files; a file that cannot be opened, or has more than `max_bytes`, is a problem.

    Files other than JSON are read in Python, line by line, and may have `MAX_TEXT_BYTES` at most.
    """
    opened_files: list[tuple[Source, bytes]] = []
    problems: list[Problem] = []
    for name, text in files:
        try:
            raw = text.read_bytes(max_bytes if name.endswith(".json") else min(max_bytes, MAX_TEXT_BYTES))
        except InputProblems as error:
            problems.extend(error.problems)
            continue
        inline_bytes = raw if text.path is None else None
        source = Source(
            name=name,
            display=text.display,
            path=text.path,
            held=inline_bytes,
            digest=content_digest(raw),
            root=text.root,
        )
        opened_files.append((source, raw))
    return opened_files, problems


def read_device_files(bundle: DeviceFiles) -> DeviceReading:
    """Read one device; a file that cannot be opened is a problem of the reading."""
    return read_device_from_open_files(bundle, *open_files(bundle.files))


def read_device_from_open_files(
    bundle: DeviceFiles, bundles: Sequence[tuple[Source, bytes]], problems: Sequence[Problem]
) -> DeviceReading:
    """Read one device whose files are open."""
    reading = apply_allow_comments(
        _note_remark_limit(platforms.reader(bundle.platform).read_device(bundle.name, bundles)),
        bundle.platform,
        bundles,
    )
    if cut := truncation_notes(bundles):
        reading = replace(reading, notes=(*reading.notes, *cut))
    return replace(reading, problems=(*problems, *reading.problems)) if problems else reading


def truncation_notes(opened_files: Iterable[tuple[Source, bytes]]) -> list[Note]:
    """Return a note for each text of lines whose last line has no end: what comes after it may be lost.

    Every program that prints a configuration ends its last line; JSON that is cut short cannot be parsed.
    """
    message = "its end: the last line has no line end, so the file may be cut short"
    return [
        Note(kind=MAYBE_TRUNCATED_NOTE_KIND, message=message, file=source.display)
        for source, raw in opened_files
        if raw and raw[-1:] not in (b"\n", b"\r") and not source.name.endswith(".json") and not is_json(raw)
    ]


def _note_remark_limit(reading: DeviceReading) -> DeviceReading:
    """Return a reading with a note where its reader stopped listing faults."""
    if len(reading.remarks) < MAX_REMARKS_PER_SWITCH:
        return reading
    message = f"its files have {MAX_REMARKS_PER_SWITCH:,} faults or more: further ones are not listed"
    note = Note(kind=FAULTS_NOT_LISTED_NOTE_KIND, message=message, device=reading.device.name)
    return replace(reading, notes=(*reading.notes, note))


_AnyReading = TypeVar("_AnyReading", DeviceReading, HostReading)


def apply_allow_comments(
    reading: _AnyReading, platform: str, opened_files: Iterable[tuple[Source, bytes]]
) -> _AnyReading:
    """Return a reading with what comments in its files allow, and remarks about those that only seem to."""
    name = reading.device.name if isinstance(reading, DeviceReading) else reading.name
    allows: list[AllowComment] = []
    remarks: list[Remark] = []
    for source, raw in opened_files:
        if comments := platforms.nodrop_comments(platform, source.name, raw):
            allowed, wrong = parse_allow_comments(comments, source.name, (name,))
            allows += allowed
            remarks += wrong
    if not allows and not remarks:
        return reading
    return replace(reading, allowed=tuple(allows), remarks=(*reading.remarks, *remarks))
