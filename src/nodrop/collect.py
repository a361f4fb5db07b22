"""From inputs to readings: each device by its platform's reader, then all of a fabric together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import lru_cache
from itertools import count
from pathlib import Path

from nodrop import context, platforms
from nodrop.cache import Store
from nodrop.errors import InputProblems, Problem
from nodrop.inputs import DeviceFiles, FabricInputs, FileText
from nodrop.inputs.contents import DEVICE_NOT_READ_NOTE_KIND, is_blank
from nodrop.inputs.model import DeviceStages
from nodrop.limits import MAX_TEXT_BYTES
from nodrop.model.assemble import ObjectsSharedByStates, assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import DeviceReading, HostReading, Note, Reading, Source
from nodrop.opening import apply_allow_comments, open_files, truncation_notes
from nodrop.platforms import hosts
from nodrop.platforms.kit.artifact import Artifact
from nodrop.reading_cache import DeviceReadings


def read_inputs(
    inputs: FabricInputs,
    declared_context: DeclaredFacts,
    executor: Executor | None = None,
    *,
    default_context: DeclaredFacts | None = None,
    cached_runs: DeviceReadings | None = None,
    cached_readings: Sequence[DeviceReading] | None = None,
    progress: Callable[[str], None] | None = None,
    store: Store | None = None,
    shared: ObjectsSharedByStates | None = None,
    beside: DeclaredFacts | None = None,
) -> Reading:
    """Read the bundles of one fabric, with an executor in its processes, unless they are in `cached_runs` or a store.

    `declared_context` is stronger than the facts next to the files, and `default_context` weaker. The facts given as
    `beside` count instead of those next to the files. `cached_readings` are the readings of the bundles,
    if they have been read before. `progress` receives the progress. The parts `shared` with other
    states of the fabric are made once.
    """
    problems = list(inputs.problems)
    if beside is not None:
        declared_context = declared_context.completed_from(beside)
    for text in inputs.stated if beside is None else ():
        try:
            declared_context = declared_context.completed_from(
                context.loads(text.read_bytes(context.MAX_FABRIC_FILE_BYTES), text.display)
            )
        except InputProblems as error:
            problems.extend(error.problems)
    if default_context is not None:
        declared_context = declared_context.completed_from(default_context)
    readings = []
    notes = list(inputs.notes)
    devices = (
        (cached_runs or DeviceReadings(inputs.bundles, executor, store, progress)).all_readings()
        if cached_readings is None
        else cached_readings
    )
    for bundle, reading in zip(inputs.bundles, devices, strict=True):
        if reading.problems and not reading.device.interfaces:
            problems.extend(reading.problems)
            continue
        readings.append(reading)
        if not reading.device.interfaces:
            notes += _notes_on_device_without_ports(bundle)
    hosts_read = read_hosts(inputs.hosts)
    notes += [note for host in hosts_read for note in host.notes]
    found_reading = assemble_fabric(readings, declared_context, hosts_read, shared)
    return replace(
        found_reading,
        notes=(*notes, *found_reading.notes),
        problems=(*problems, *found_reading.problems),
        assumed=found_reading.assumed if readings or inputs.hosts else (),
        stages={stage.state.display: _stage_sources(stage) for stage in inputs.stages},
    )


def _stage_sources(stage: DeviceStages) -> tuple[Source, ...]:
    """Return the stages beside a device's state that can be opened."""
    opened_files, _ = open_files((text.display, text) for text in stage.texts)
    return tuple(source for source, _ in opened_files)


def find_stage_files_contradicting_devices(inputs: FabricInputs) -> list[Problem]:
    """Return why stages next to devices result in settings that differ from the devices' files."""
    problems: list[Problem] = []
    for stage in inputs.stages:
        staged = platforms.find_staged_module(stage.platform)
        try:
            state = stage.state.read_bytes(MAX_TEXT_BYTES)
            texts = {text.display: text.read_bytes(MAX_TEXT_BYTES) for text in stage.texts}
        except InputProblems as error:
            problems += error.problems
        else:
            problems += (
                staged.report_stages_unlike_state(state, stage.state.display, texts) if staged is not None else ()
            )
    return problems


def _notes_on_device_without_ports(bundle: DeviceFiles) -> list[Note]:
    """Return the notes on a device that names no port: its files are not read where they state nothing at all."""
    opened_files, _ = open_files(bundle.files)
    if all(is_blank(raw) for _, raw in opened_files):
        message = "empty: contains no configuration"
        return [
            Note(kind=DEVICE_NOT_READ_NOTE_KIND, message=message, file=source.display) for source, _ in opened_files
        ]
    file = bundle.files[0][1].display
    return [Note(kind="no-ports", message="names no port, so nothing about ports is checked", file=file)]


def read_hosts(bundles: Iterable[DeviceFiles]) -> list[HostReading]:
    """Read the NIC facts in files, grouped by name."""
    return [_read_host(bundle.name, dict(bundle.files)) for bundle in group_host_files(bundles)]


def group_host_files(bundles: Iterable[DeviceFiles]) -> list[DeviceFiles]:
    """Return the files of hosts, one bundle for each name; of files with the same name a later one gets a number."""
    files: dict[str, dict[str, FileText]] = {}
    for bundle in bundles:
        texts = files.setdefault(bundle.name, {})
        for name, text in bundle.files:
            number = next(number for number in count(1) if _append_number(name, number) not in texts)
            texts[_append_number(name, number)] = text
    return [
        DeviceFiles(name=name, platform=platforms.HOSTS_PLATFORM, files=tuple(host_texts.items()))
        for name, host_texts in files.items()
    ]


def _append_number(name: str, number: int) -> str:
    return name if number == 1 else f"{name}.{number}"


def _read_host(host: str, files: Mapping[str, FileText]) -> HostReading:
    read, problems = open_files(files.items(), hosts.MAX_HOST_FILE_BYTES)
    reading = apply_allow_comments(hosts.read_host(host, read), platforms.HOSTS_PLATFORM, read)
    return replace(reading, problems=(*problems, *reading.problems), notes=(*truncation_notes(read), *reading.notes))


def read_host_artifacts(artifacts: Iterable[Artifact], parent_folder: str) -> tuple[HostReading, ...]:
    """Read the rendered files of hosts as `read_hosts` reads them from a disk."""
    own_files = (file for file in artifacts if not file.device and file.path.startswith(f"{hosts.HOSTS_FOLDER}/"))
    return _read_host_artifacts(tuple(own_files), parent_folder)


@lru_cache(maxsize=32)  # states of one fabric, and examples of rules, mostly have the same hosts
def _read_host_artifacts(artifacts: tuple[Artifact, ...], parent_folder: str) -> tuple[HostReading, ...]:
    bundles = []
    for artifact in artifacts:
        path, raw = Path(artifact.path), artifact.text.encode()
        if hosts.may_be_host_file(path.suffix) and hosts.has_nic_settings(raw):
            text = FileText(display=f"{parent_folder}/{path}" if parent_folder else str(path), held=raw)
            files = ((path.name, text),)
            bundles.append(
                DeviceFiles(name=hosts.host_name_of_path(path), platform=platforms.HOSTS_PLATFORM, files=files)
            )
    return tuple(read_hosts(bundles))


def read_build(
    artifacts: Sequence[Artifact],
    platform_of: Mapping[str, str],
    parent_folder: str,
    shared: ObjectsSharedByStates | None = None,
) -> Reading:
    """Read the files of a whole build, fabric.yaml and host files included, without touching a disk.

    Parts that are `shared` with other states are made once.
    """
    devices = [artifact for artifact in artifacts if artifact.device]
    readings = tuple(read_artifacts(devices, platform_of, parent_folder))
    return assemble_build(artifacts, readings, parent_folder, shared)


def assemble_build(
    artifacts: Sequence[Artifact],
    readings: Sequence[DeviceReading],
    parent_folder: str,
    shared: ObjectsSharedByStates | None = None,
) -> Reading:
    """Return the reading of a whole build whose switches have been read."""
    text = next(artifact.text for artifact in artifacts if artifact.path == context.FABRIC_FILE)
    hosts_read = read_host_artifacts(artifacts, parent_folder)
    return assemble_fabric(readings, parse_rendered_fabric_yaml(text), hosts_read, shared)


def read_artifacts(
    artifacts: Iterable[Artifact], platform_of: Mapping[str, str], parent_folder: str
) -> Iterator[DeviceReading]:
    """Read rendered artifacts as `read_bundle` reads files, without touching a disk."""
    by_device: dict[str, list[Artifact]] = {}
    for artifact in artifacts:
        by_device.setdefault(artifact.device, []).append(artifact)
    for device, own_artifacts in by_device.items():
        yield _read_artifacts(
            platform_of[device], device, f"{parent_folder}/{device}" if parent_folder else device, tuple(own_artifacts)
        )


@lru_cache(maxsize=128)  # of states of one fabric, and of examples of rules, most switches are the same
def _read_artifacts(platform: str, device: str, folder: str, own_artifacts: tuple[Artifact, ...]) -> DeviceReading:
    reader = platforms.reader(platform)
    opened: list[tuple[Source, bytes]] = []
    for artifact in own_artifacts:
        if artifact.path in (*reader.CANONICAL_FILES, *reader.COMPANION_FILES):
            raw, display = artifact.text.encode(), f"{folder}/{artifact.path}"
            opened.append((Source(name=artifact.path, display=display, held=raw), raw))
    return apply_allow_comments(reader.read_device(device, opened), platform, opened)


@lru_cache(maxsize=32)
def parse_rendered_fabric_yaml(text: str) -> DeclaredFacts:
    """Read the text of a fabric.yaml that was rendered; the result is shared, and nobody changes it."""
    return context.loads(text.encode(), context.FABRIC_FILE)
