"""Outcomes of unchanged fabrics, which are not checked again, by everything that they depend on.

The text of lines is not kept: who shows one reads it again, from the file that was read a moment ago.
"""

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields, make_dataclass, replace
from io import BytesIO
from pathlib import Path
from types import GenericAlias
from typing import Any, get_type_hints

from nodrop import fabric_readings, judging
from nodrop.cache import Store
from nodrop.engine.suppressions import today
from nodrop.errors import InputProblems
from nodrop.inputs import FabricInputs, FileText
from nodrop.judging import CheckSettings
from nodrop.locate import FILE_CHANGED_NOTE_KIND, split_text_lines
from nodrop.model.identifiers import identifiers_of
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN
from nodrop.opening import content_digest
from nodrop.reading_cache import MODEL_CLASSES, DeviceReadings
from nodrop.results.outcome import FabricOutcome
from nodrop.syntax.json import MAX_JSON_BYTES
from nodrop.syntax.packed import CannotPackValue, PackerOfClasses, classes_of
from nodrop.syntax.places import read_regular_file

_STORED_FIELDS = tuple(
    attr.name for attr in fields(FabricOutcome) if attr.name not in ("files", "in_order", "line", "own", "work")
)
_TYPE_BY_FIELD = get_type_hints(FabricOutcome)
_StoredOutcome: Any = make_dataclass(
    "_Kept", [(name, _TYPE_BY_FIELD[name]) for name in _STORED_FIELDS], frozen=True, slots=True
)
"""What is kept of an outcome."""
_STORED_CLASSES = classes_of([_StoredOutcome])
_PACKING_TABLE = PackerOfClasses(dict.fromkeys((*MODEL_CLASSES, *_STORED_CLASSES)), (UNKNOWN,))
_STORED_TYPE = GenericAlias(tuple, (_StoredOutcome, tuple[tuple[str, int], ...]))
"""What is kept, and the lines that were at hand."""


def check_or_recall_outcome(
    source: FabricInputs | FileText,
    settings: CheckSettings,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> FabricOutcome:
    """Check one fabric, or recall its outcome; its devices are read by the executor if there is one.

    An intent is checked each time, and so is what statistics are asked for of.
    """
    if not isinstance(source, FabricInputs) or settings.store is None or settings.statistics:
        reading = fabric_readings.read_fabric_or_intent(source, settings, executor, progress=progress)
        return _check_reading(reading, source, settings, progress)
    runs = DeviceReadings(source.bundles, executor, settings.store, progress)
    key = _outcome_key(source, settings, settings.store, runs)
    if key is not None and runs.all_kept_before:
        outcome = _load_outcome(settings.store, key, source, runs)
        if outcome is not None:
            return judging.record_site_rules_in_outcome(outcome, settings)
    reading = fabric_readings.read_fabric_or_intent(source, settings, cached_runs=runs)
    new_outcome = _check_reading(reading, source, settings, progress)
    if key is not None and key == _outcome_key(
        source, settings, settings.store, runs
    ):  # nothing has changed in between
        _store_outcome(settings.store, key, new_outcome)
    return new_outcome


def _check_reading(
    reading: Reading, source: FabricInputs | FileText, settings: CheckSettings, progress: Callable[[str], None] | None
) -> FabricOutcome:
    """Return the results of the rules for a fabric, with the identifiers for comparing it with others."""
    outcome = judging.run_rules(reading, judging.chosen_rules(settings), settings, progress=progress)
    return replace(outcome, identifiers=identifiers_of(reading.fabric), an_intent=isinstance(source, FileText))


def check_rule_names_in_settings(settings: CheckSettings) -> None:
    """Raise InputProblems where the settings name missing rules, unless they were found good before."""
    key_parts = None if settings.store is None else _settings_key_parts(settings)
    key = None if key_parts is None or settings.store is None else settings.store.entry_name("settings", *key_parts)
    if settings.store is None or key is None:
        judging.chosen_rules(settings)
    elif settings.store.get(key) is None:
        judging.chosen_rules(settings)
        settings.store.put(key, b"good")


def _load_outcome(store: Store, key: str, inputs: FabricInputs, cached_runs: DeviceReadings) -> FabricOutcome | None:
    """Return the outcome kept under a key; None where nothing was kept, or it cannot be decoded."""

    def decode(packed: bytes) -> FabricOutcome:
        stored_outcome, shown = _PACKING_TABLE.unpack(packed, _STORED_TYPE)
        field_values = {name: getattr(stored_outcome, name) for name in _STORED_FIELDS}
        line = _LinesReadOnRequest(_files_by_name(inputs, cached_runs), frozenset(shown))
        return FabricOutcome(**field_values, line=line)

    outcome = store.recall(key, decode)
    if outcome is None:
        return None
    day = today().isoformat()
    is_of_today = all(fabric.days is None or fabric.days[0] <= day <= fabric.days[1] for fabric in outcome.settled)
    return outcome if is_of_today else None


def _store_outcome(store: Store, key: str, outcome: FabricOutcome) -> None:
    """Keep an outcome, unless it contains something that will not recur."""
    if outcome.crashed or any(note.kind == FILE_CHANGED_NOTE_KIND for note in outcome.notes):
        return
    try:
        packed = _PACKING_TABLE.pack(
            (
                _StoredOutcome(*(getattr(outcome, name) for name in _STORED_FIELDS)),
                tuple(sorted(_available_line_places(outcome))),
            )
        )
    except CannotPackValue:
        return
    store.put(key, packed)


def _available_line_places(outcome: FabricOutcome) -> set[tuple[str, int]]:
    """Return the lines that an outcome has available, by file and number."""
    findings = (*outcome.findings, *outcome.hidden)
    located = [finding.located for finding in findings]
    located += [related.located for finding in findings for related in finding.related]
    places = {
        (location.file, location.span.line)
        for location in located
        if location is not None and location.span is not None
    }
    return {place for place in places if outcome.line(*place) is not None}


def _files_by_name(inputs: FabricInputs, cached_runs: DeviceReadings) -> dict[str, tuple[Path, str | None]]:
    """Return where each file of a fabric lies, and its digest, by the name under which it is shown."""
    digests = iter([one for bundle_digests in cached_runs.file_digests_by_device or () for one in bundle_digests])
    switches = [(text, next(digests)) for bundle in inputs.bundles for _, text in bundle.files]
    texts = [*inputs.stated, *(text for bundle in inputs.hosts for _, text in bundle.files)]
    text_digests = [(text, _digest_text(text)) for text in texts]
    return {text.display: (text.path, one) for text, one in (*switches, *text_digests) if text.path is not None}


@dataclass(frozen=True, slots=True)
class _LinesReadOnRequest:
    """Lines of files, read on request; None where a line was not available before, or the file has changed."""

    files: dict[str, tuple[Path, str | None]]
    shown: frozenset[tuple[str, int]]
    _texts: dict[str, Sequence[str]] = field(default_factory=dict)

    def __call__(self, file: str, line: int) -> str | None:
        """Return a line, counted from 1."""
        if (file, line) not in self.shown:
            return None
        if file not in self._texts:
            self._texts[file] = self._read_unchanged_lines(file)
        lines = self._texts[file]
        return lines[line - 1] if line <= len(lines) else None

    def _read_unchanged_lines(self, file: str) -> Sequence[str]:
        path, stored_digest = self.files.get(file, (None, None))
        try:
            raw = FileText(display=file, path=path).read_bytes(MAX_JSON_BYTES)
        except InputProblems:
            return ()
        return split_text_lines(raw) if content_digest(raw) == stored_digest else ()


def _outcome_key(
    inputs: FabricInputs, settings: CheckSettings, store: Store, cached_runs: DeviceReadings
) -> str | None:
    """Return the key of a fabric's outcome; None where something that it depends on has no bytes to compare."""
    texts = [*inputs.stated, *(text for bundle in inputs.hosts for _, text in bundle.files)]
    digests = [_digest_text(text) for text in texts]
    key_parts = _settings_key_parts(settings)
    if cached_runs.file_digests_by_device is None or None in digests or key_parts is None:
        return None
    names = [
        (bundle.name, bundle.platform, *((name, text.display) for name, text in bundle.files), *bundle_digests)
        for bundle, bundle_digests in zip(
            (*inputs.bundles, *inputs.hosts),
            (*cached_runs.file_digests_by_device, *((),) * len(inputs.hosts)),
            strict=True,
        )
    ]
    stages = [(stage.state.display, *(text.display for text in stage.texts)) for stage in inputs.stages]
    facts = ([text.display for text in inputs.stated], digests, _day_for_cache_key(settings), stages)
    chunks = (
        _pickle_collecting_paths((inputs.problems, inputs.notes), set()),
        *(ascii(row).encode() for row in (facts, *names)),
    )
    return store.entry_name("outcome", *key_parts, *chunks)


def _settings_key_parts(settings: CheckSettings) -> tuple[bytes, bytes] | None:
    """Return the settings and the contents of the files that they name; None where these cannot be read."""
    paths: set[Path] = set()
    settings_bytes = _pickle_collecting_paths(replace(settings, store=None), paths)
    contents = _digest_paths(paths - settings.config.held.keys())
    return None if contents is None else (settings_bytes, contents)


def _day_for_cache_key(settings: CheckSettings) -> str:
    """Return the day, where what comes of a fabric may depend on it."""
    return today().isoformat() if settings.config.suppress or settings.config.harmless else ""


def _digest_text(text: FileText) -> str | None:
    try:
        return content_digest(text.read_bytes(MAX_JSON_BYTES)) if text.path is not None else None
    except InputProblems:
        return None


def _pickle_collecting_paths(value: object, paths: set[Path]) -> bytes:
    """Return bytes that differ where a value does, and note all paths in it; they are never read back."""
    written = BytesIO()
    pickler = _PathNotingPickler(written, paths)
    pickler.fast = True  # by content, not by which parts are one object
    pickler.dump(value)
    return written.getvalue()


class _PathNotingPickler(pickle.Pickler):
    """Notes the paths in its output."""

    def __init__(self, into: BytesIO, paths: set[Path]) -> None:
        super().__init__(into, protocol=5)
        self._paths = paths

    def persistent_id(self, value: object) -> None:
        """Note a path; nothing has a separate name."""
        if isinstance(value, Path):
            self._paths.add(value)


def _digest_paths(paths: Iterable[Path]) -> bytes | None:
    """Return the contents of the paths in settings: files, and rules in folders; None where they cannot be read."""
    try:
        file_digests = [
            (str(path), content_digest(read_regular_file(path, str(path), MAX_JSON_BYTES)))
            for path in sorted(_expand_rule_folders(paths))
        ]
    except (InputProblems, OSError):
        return None
    return ascii(file_digests).encode()


def _expand_rule_folders(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
        for folder, _, names in os.walk(path):
            yield from (Path(folder, name) for name in names if name.endswith((".yaml", ".yml")))
