"""A cache of the files that intents are built into, with their readings, by all that decides about them.

A check builds the intent of the base too, which the check of an earlier change has built as its new state.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from nodrop import context
from nodrop.cache import Store
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Device
from nodrop.model.reading import DeviceReading, Source
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.artifact import Artifact
from nodrop.reading_cache import READING_CLASSES
from nodrop.syntax.packed import CannotPackValue, PackerOfClasses

MAX_BUILT_CHARACTERS = 32 << 20
"""How much text of one intent is kept: that of a hundred large switches."""

BuiltFiles = tuple[tuple[Artifact, ...], tuple[DeviceReading, ...]]
"""The files of switches, hosts and the fabric that an intent is built into, and the readings of the switches."""
_PACKER = PackerOfClasses((*READING_CLASSES, Artifact), (UNKNOWN,))
_StoredNames = tuple[tuple[tuple[str, str], ...], ...]
_StoredBuild = tuple[tuple[Artifact, ...] | tuple[DeviceReading, ...] | _StoredNames, ...]
"""The files, the readings without texts, and the name and display name of each file that a reading used."""


def key_of_intent(store: Store, kind: Literal["built", "switches"], intent: Intent, display: str) -> str | None:
    """Return the key of what an intent is built into, or of its switches: its text, name and sheet of cables decide.

    None where its text is not known. Files with what `extra` adds, which may be secret, are never kept.
    """
    if not intent.text or (kind == "built" and intent.extra):
        return None
    sheet, name = intent.sheet_file, display.encode("utf-8", "surrogateescape")
    parts = (b"", b"") if sheet is None else (sheet.path.encode("utf-8", "surrogateescape"), sheet.content)
    return store.entry_name(kind, name, intent.text.encode(), *parts)


def keep_switch_names(store: Store, key: str, names: Iterable[str]) -> None:
    """Keep the names of an intent's switches."""
    store.put(key, _PACKER.pack(tuple(names)))


def recall_switch_names(store: Store, key: str) -> frozenset[str] | None:
    """Return the names of an intent's switches that are kept under a key; None where none are."""
    return store.recall(key, lambda packed: frozenset(_PACKER.unpack(packed, tuple[str, ...])))


def keep_built_files(store: Store, key: str, built: BuiltFiles) -> None:
    """Keep what an intent was built into, unless that is very large, or its readings have problems."""
    artifacts, readings = built
    if any(reading.problems for reading in readings):
        return
    if sum(len(artifact.text) for artifact in artifacts) > MAX_BUILT_CHARACTERS:
        return
    names = tuple(tuple((source.name, source.display) for source in reading.sources) for reading in readings)
    plain = tuple(replace_fields(artifact, text=str(artifact.text)) for artifact in artifacts)
    try:
        packed = _PACKER.pack((plain, tuple(replace(reading, sources=()) for reading in readings), names))
    except CannotPackValue:
        return
    store.put(key, packed)


def recall_built_files(store: Store, key: str) -> BuiltFiles | None:
    """Return the files and readings that are kept under a key; None where there are none."""
    return store.recall(key, _unpack_built_files)


def _unpack_built_files(packed: bytes) -> BuiltFiles:
    """Return packed files and readings; LookupError or ValueError if they are not those of a build."""
    artifacts, readings, names = _PACKER.unpack(packed, _StoredBuild)
    texts = {(artifact.device, artifact.path): artifact.text for artifact in artifacts}
    if ("", context.FABRIC_FILE) not in texts:
        raise LookupError(context.FABRIC_FILE)
    return tuple(artifacts), tuple(
        replace(reading, sources=tuple(_sources_from_cached_texts(texts, reading.device, own_names)))
        for reading, own_names in zip(readings, names, strict=True)
    )


def _sources_from_cached_texts(
    texts: dict[tuple[str, str], str], device: Device, names: tuple[tuple[str, str], ...]
) -> list[Source]:
    return [Source(name=name, display=display, held=texts[device.name, name].encode()) for name, display in names]
