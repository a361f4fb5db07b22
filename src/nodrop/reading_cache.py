"""A cache of device readings, by the names and the bytes of all their files: devices are not read twice.

A run of devices is one entry, because data that their ports share is then stored, and comes back, once. The end of a
run depends on names and not on numbers. One device more or less therefore changes one run and not all that follow.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from nodrop import platforms
from nodrop.cache import Store
from nodrop.errors import Problem
from nodrop.inputs import DeviceFiles
from nodrop.model.change import CommandsForCase
from nodrop.model.fabric import End, Port
from nodrop.model.reading import (
    AllowComment,
    CableEvidence,
    DeviceReading,
    FileCorrection,
    FilePlace,
    Note,
    Remark,
    Remedy,
    Source,
)
from nodrop.model.states import UNKNOWN
from nodrop.model.values import value_classes
from nodrop.opening import OpenedFiles, open_files, read_device_files, read_device_from_open_files
from nodrop.parallel import map_chunks
from nodrop.syntax.packed import CannotPackValue, PackerOfClasses
from nodrop.syntax.places import Span

MEAN_DEVICES_PER_RUN = 40
"""How many devices a run has, on average; one in a thousand has more than 280."""

_MAX_HELD_BYTES_PER_RUN = 64 << 20
"""How much of a run's files is held until it is known whether they have to be read; the others are opened again."""

MODEL_CLASSES = (*value_classes(), End, Port)
"""The classes of the model."""
NOTICE_CLASSES = (AllowComment, CommandsForCase, FileCorrection, Note, FilePlace, Problem, Remark, Remedy, Span)
"""Those of what readers notice."""
READING_CLASSES = (*MODEL_CLASSES, *NOTICE_CLASSES, CableEvidence, DeviceReading)
"""Those of the readings of devices."""
_READING_PACKER = PackerOfClasses(READING_CLASSES, (UNKNOWN,))
_STORED_RUN_TYPE = tuple[tuple[DeviceReading, ...] | tuple[tuple[int, ...], ...], ...]
"""What a run is kept as: its readings, and which of its files each of them used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadingRun:
    """Devices that are read, and kept, together."""

    bundles: tuple[DeviceFiles, ...]
    store: Store


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunResult:
    """The result of a run: the digests of its files by device, and the key that it is kept under, if it can be kept.

    New readings are `packed`, or if that is not possible, in `readings`; for a run that was kept before both are None.
    """

    key: str | None = None
    digests: tuple[tuple[str, ...], ...] = ()
    packed: bytes | None = None
    readings: tuple[DeviceReading, ...] | None = None

    @property
    def is_read_from_cache(self) -> bool:
        """Whether nothing had to be read."""
        return self.packed is None and self.readings is None


class DeviceReadings:
    """The readings of devices, in their order: those that a store has, and the others as they are read now."""

    def __init__(
        self,
        bundles: Sequence[DeviceFiles],
        executor: Executor | None = None,
        store: Store | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """If there is a store, check all files and read those that it does not have, with an executor in its processes.

        `progress` receives the progress.
        """
        self._bundles, self._executor, self._store, self._progress = bundles, executor, store, progress
        self._runs = [_ReadingRun(bundles=run, store=store) for run in split_into_runs(bundles)] if store else []
        self._answers: list[_RunResult] = []
        self._readings: list[tuple[DeviceReading, ...] | None] = []
        self.all_kept_before = True
        """Whether nothing has to be read."""
        answers = map_chunks(_read_run_unless_cached, self._runs, executor=executor, chunk=1)
        done = 0
        for run, answer in zip(self._runs, answers, strict=True):
            self._report_progress(done := done + len(run.bundles))
            self._answers.append(answer)
            self.all_kept_before = self.all_kept_before and answer.is_read_from_cache
            # As soon as one run is new, all will be asked for; until then, it may be that none is.
            self._readings.append(None if self.all_kept_before else _decode_or_read_run(run, answer))

    @property
    def file_digests_by_device(self) -> tuple[tuple[str, ...], ...] | None:
        """The digests of the files by device; None where there is no store, or some cannot be kept."""
        if self._store is None or any(answer.key is None for answer in self._answers):
            return None
        return tuple(digests for answer in self._answers for digests in answer.digests)

    def all_readings(self) -> Iterator[DeviceReading]:
        """Yield the reading of every device."""
        if self._store is None:
            device_readings = map_chunks(read_device_files, self._bundles, executor=self._executor)
            for number, reading in enumerate(device_readings, start=1):
                self._report_progress(number)
                yield reading
        for run, answer, readings in zip(self._runs, self._answers, self._readings, strict=True):
            yield from _decode_or_read_run(run, answer) if readings is None else readings

    def _report_progress(self, done: int) -> None:
        if self._progress is not None:
            self._progress(f"reading: {done} of {len(self._bundles)} devices")


def split_into_runs(bundles: Sequence[DeviceFiles]) -> Iterator[tuple[DeviceFiles, ...]]:
    """Yield the bundles in runs, each ending with a name that ends a run."""
    run: list[DeviceFiles] = []
    for bundle in bundles:
        run.append(bundle)
        name = bundle.files[0][1].display.encode("utf-8", "surrogateescape")
        drawn = int.from_bytes(hashlib.blake2b(name, digest_size=4).digest())
        if drawn % MEAN_DEVICES_PER_RUN == 0:
            yield tuple(run)
            run.clear()
    if run:
        yield tuple(run)


def _read_run_unless_cached(run: _ReadingRun) -> _RunResult:
    """Check the files of a run, and read them unless they are kept."""
    opened_bundles: list[OpenedFiles | None] = []
    digests: list[tuple[str, ...]] = []
    keepable, size = True, 0
    for bundle in run.bundles:
        opened_files, problems = open_files(bundle.files)
        keepable = keepable and not problems and all(source.path is not None for source, _ in opened_files)
        digests.append(tuple(source.digest for source, _ in opened_files))
        size += sum(len(raw) for _, raw in opened_files)
        opened_bundles.append((opened_files, problems) if size <= _MAX_HELD_BYTES_PER_RUN else None)
    key = _cache_key_of_run(run, digests) if keepable else None
    if key is not None and run.store.has(key):
        return _RunResult(key=key, digests=tuple(digests))
    readings, used = [], []
    for bundle, looked_at, file_digests in zip(run.bundles, opened_bundles, digests, strict=True):
        opened_files, problems = looked_at or open_files(bundle.files)
        sources = [source for source, _ in opened_files]
        readings.append(reading := read_device_from_open_files(bundle, opened_files, problems))
        used.append(tuple(map(sources.index, reading.sources)))
        if tuple(source.digest for source in sources) != file_digests:  # changed in between
            key = None
    if key is not None:
        try:
            packed = _READING_PACKER.pack(
                (tuple(replace(device_reading, sources=()) for device_reading in readings), tuple(used))
            )
        except CannotPackValue:
            key = None
        else:
            run.store.put(key, packed)
            return _RunResult(key=key, digests=tuple(digests), packed=packed)
    return _RunResult(readings=tuple(readings))


def _cache_key_of_run(cached_run: _ReadingRun, digests: Sequence[tuple[str, ...]]) -> str:
    """Return the key of a run: the names and display names of its devices and files, and the content of the files."""
    bundle_keys = [
        (bundle.name, bundle.platform, *((name, text.display) for name, text in bundle.files), *file_digests)
        for bundle, file_digests in zip(cached_run.bundles, digests, strict=True)
    ]
    return cached_run.store.entry_name("readings", *(ascii(bundle_key).encode() for bundle_key in bundle_keys))


def _decode_or_read_run(cached_run: _ReadingRun, answer: _RunResult) -> tuple[DeviceReading, ...]:
    """Return the readings of a run; stored readings that cannot be decoded are read again."""
    if answer.readings is not None:
        return answer.readings
    packed = cached_run.store.get(answer.key or "") if answer.packed is None else answer.packed
    try:
        if packed is not None:
            return tuple(_attach_sources(cached_run, answer.digests, *_READING_PACKER.unpack(packed, _STORED_RUN_TYPE)))
    except (TypeError, ValueError, LookupError):
        cached_run.store.drop(answer.key or "")
    return tuple(map(read_device_files, cached_run.bundles))


def _attach_sources(
    run: _ReadingRun,
    digests: tuple[tuple[str, ...], ...],
    readings: Sequence[DeviceReading],
    used: Sequence[tuple[int, ...]],
) -> Iterator[DeviceReading]:
    for bundle, file_digests, reading, indices in zip(run.bundles, digests, readings, used, strict=True):
        platforms.reader(reading.device.platform)  # KeyError where there is none
        sources = [
            Source(name=name, display=text.display, path=text.path, digest=digest, root=text.root)
            for (name, text), digest in zip(bundle.files, file_digests, strict=True)
        ]
        yield replace(reading, sources=tuple(sources[index] for index in indices))
