"""The readings of inputs: of a fabric's files, and of the configurations that an intent is built into."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from nodrop.cache import Store
from nodrop.errors import InputProblems, Problem, UnsupportedByPlatform
from nodrop.judging import CheckSettings
from nodrop.model.declared import DeclaredFacts

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from nodrop.inputs import FabricInputs, FileText
    from nodrop.intent.schema import Intent
    from nodrop.model.assemble import ObjectsSharedByStates
    from nodrop.model.reading import DeviceReading, Reading
    from nodrop.platforms.kit.artifact import Artifact
    from nodrop.reading_cache import DeviceReadings


def read_fabric_or_intent(
    source: "FabricInputs | FileText",
    settings: CheckSettings,
    executor: "Executor | None" = None,
    *,
    cached_runs: "DeviceReadings | None" = None,
    cached_readings: "Sequence[DeviceReading] | None" = None,
    shared: "ObjectsSharedByStates | None" = None,
    declared_context: DeclaredFacts | None = None,
    progress: Callable[[str], None] | None = None,
) -> "Reading":
    """Read the files of a fabric, those in `cached_runs`, or `cached_readings`, as they are there; other states use
    the `shared` parts.

    Statements next to the files are read there unless they are given as `declared_context`.

    For an intent, return the configurations that its switches would be given, as if they lay next to the intent.

    An intent itself makes the statements that a configuration would need separately, except for the profile.
    """
    from nodrop.collect import read_inputs
    from nodrop.inputs import FabricInputs

    if isinstance(source, FabricInputs):
        return read_inputs(
            source,
            settings.declared,
            executor,
            default_context=settings.config.declared,
            cached_runs=cached_runs,
            cached_readings=cached_readings,
            shared=shared,
            beside=declared_context,
            store=settings.store,
            progress=progress,
        )
    return attach_profile_to_reading(
        read_intent_as_built(read_intent(source)[1], source.display, shared, settings.store), settings
    )


def attach_profile_to_reading(reading: "Reading", settings: CheckSettings) -> "Reading":
    """Return what an intent is built into, to be held against the profile of the settings."""
    profile = settings.declared.profile or settings.config.declared.profile
    fabric = replace(reading.fabric, profile=profile) if profile else reading.fabric
    return replace(reading, fabric=fabric, notes=(*reading.notes, *settings.config.notes_for_intents))


def read_intent(source_text: "FileText") -> "tuple[bytes, Intent]":
    """Read an intent, and return its text too; a file that is no intent at all is reported in one line."""
    from nodrop.inputs import is_intent
    from nodrop.intent.load import MAX_INTENT_BYTES, loads

    if source_text.path is not None and source_text.path.is_dir():
        hint = "`nodrop import` derives one from configurations"
        raise InputProblems(
            [Problem(path=source_text.display, found="a folder", expected="an intent, which is a file", hint=hint)]
        )
    raw = source_text.read_bytes(MAX_INTENT_BYTES)
    if not is_intent(raw) and b"topology" not in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        hint = "`nodrop lint` checks configurations"
        expected = "an intent, YAML with the key `nodrop: 1`"
        raise InputProblems([Problem(path=source_text.display, found="no intent", expected=expected, hint=hint)])
    return raw, loads(raw, source_text.display, source_text.open_named_file)


def build_and_read_back(
    intent: "Intent", display: str, parent_folder: str, shared: "ObjectsSharedByStates | None" = None
) -> "tuple[tuple[Artifact, ...], Reading]":
    """Return the files that an intent results in, and their content when they are read back as if from `parent_folder`.

    For every part of that, the reading gives the place where the intent decides it. The built fabric is dropped before
    its files are read, because both would be the largest part of what a build needs in memory. Parts that are `shared`
    with other states are made once.
    """
    from nodrop.collect import read_build
    from nodrop.locate import add_intent_decisions

    artifacts, rack, platform_of = _build_files(intent, display)
    reading = read_build(artifacts, platform_of, parent_folder, shared)
    return (*artifacts, *rack), add_intent_decisions(reading, intent)


def _build_files(
    intent: "Intent", display: str, *, with_rack: bool = True
) -> "tuple[tuple[Artifact, ...], tuple[Artifact, ...], dict[str, str]]":
    """Return the files of switches and hosts, those for racks, and the platform of each switch."""
    import nodrop

    fabric = nodrop.build(intent)
    try:
        artifacts = (*nodrop.write(fabric), *nodrop.host_files(fabric))
        rack = tuple(nodrop.rack(fabric)) if with_rack else ()
    except UnsupportedByPlatform as error:
        raise InputProblems([Problem(path=display, where=error.path, found=error.reason)]) from None
    return artifacts, rack, {device.name: device.platform for device in fabric.devices}


def read_intent_as_built(
    intent: "Intent", display: str, shared: "ObjectsSharedByStates | None" = None, store: Store | None = None
) -> "Reading":
    """Return the reading of what an intent is built into, from the store if it was built before.

    Parts that are `shared` with other states are made once.
    """
    from nodrop.collect import assemble_build, read_artifacts
    from nodrop.locate import add_intent_decisions

    built = key = None
    if store is not None:
        from nodrop.built_cache import keep_built_files, key_of_intent, recall_built_files

        key = key_of_intent(store, "built", intent, display)
        built = None if key is None else recall_built_files(store, key)
    if built is None:
        artifacts, _, platform_of = _build_files(intent, display, with_rack=False)
        devices = [artifact for artifact in artifacts if artifact.device]
        built = artifacts, tuple(read_artifacts(devices, platform_of, display))
        if store is not None and key is not None:
            keep_built_files(store, key, built)
    return add_intent_decisions(assemble_build(*built, display, shared), intent)


def switch_names_of_intent(source: "FileText", store: Store | None) -> frozenset[str]:
    """Return the names of the switches of an intent; raise InputProblems where it cannot be built."""
    import nodrop
    from nodrop.built_cache import keep_switch_names, key_of_intent, recall_switch_names

    intent = read_intent(source)[1]
    key = None if store is None else key_of_intent(store, "switches", intent, source.display)
    names = None if store is None or key is None else recall_switch_names(store, key)
    if names is None:
        names = frozenset(device.name for device in nodrop.build(intent).devices)
        if store is not None and key is not None:
            keep_switch_names(store, key, sorted(names))
    return names


def read_fabric_at_path(path: str, settings: CheckSettings | None = None, platform: str | None = None) -> "Reading":
    """Return the reading at one path: configurations, or an intent, read as its switches' configurations.

    With a platform, every file is read as that platform's.
    """
    from nodrop.inputs import find_inputs

    settings = settings or CheckSettings()
    return require_one_fabric_reading(find_inputs((path,), platform, exclude=settings.config.excludes), settings, path)


def require_one_fabric_reading(inputs: "FabricInputs", settings: CheckSettings, named_path: str) -> "Reading":
    """Return the reading of inputs that are one fabric or one intent; else raise InputProblems under the name."""
    if intents := inputs.all_intents():
        text, *other_texts = intents
        if other_texts or inputs.bundles:
            fault_text = "several intents, or an intent and configurations"
            raise InputProblems([Problem(path=named_path, found=fault_text, expected="one fabric")])
        return read_fabric_or_intent(text, settings)
    reading = read_fabric_or_intent(inputs.require_single_fabric(), settings)
    if not reading.fabric.devices:
        why = next((note.message for note in inputs.notes if note.kind == "nothing"), "")
        expected = "files of switches, or an intent"
        nothing = Problem(path=named_path, found="no configuration", expected=expected, hint=why)
        raise InputProblems(reading.problems or [nothing])
    return reading


def readings_of(
    inputs: "FabricInputs", settings: CheckSettings, path: str, executor: "Executor | None" = None
) -> "tuple[Reading, ...]":
    """Return the readings of inputs by fabric: configurations, and each intent as its switches' configurations.

    InputProblems: about all inputs that cannot be built, together, or under the name where there is nothing.
    """
    readings, problems = list["Reading"](), list[Problem]()
    every: list[FabricInputs | FileText] = [*inputs.fabrics(), *inputs.all_intents()]
    for source in every:
        try:
            reading = read_fabric_or_intent(source, settings, executor)
        except InputProblems as error:
            problems += error.problems
            continue
        if reading.fabric.devices or reading.problems:
            readings.append(reading)
    if problems:
        raise InputProblems(problems)
    if not readings:
        raise InputProblems([Problem(path=path, found="no configuration", expected="files of switches, or an intent")])
    return tuple(readings)
