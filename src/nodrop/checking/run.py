"""One run of a check: the readings of either state, and their faults."""

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from nodrop import context, fabric_readings
from nodrop.checking.policy import PolicyPair
from nodrop.checking.policy_changes import NewlyPassingFindings
from nodrop.checking.two_states import FabricSource, fabric_source_name
from nodrop.errors import InputProblems, Problem
from nodrop.identity import IdentityMap
from nodrop.inputs import DeviceFiles, FabricInputs
from nodrop.judging import CheckSettings
from nodrop.model.assemble import ObjectsSharedByStates
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import DeviceReading, Reading
from nodrop.plan.model import ChangeRisk
from nodrop.reading_cache import DeviceReadings

ReportProgress = Callable[[str], None]
ExecutorFactory = Callable[[int], AbstractContextManager[Executor | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """The requests beyond plans and findings; `routing` None computes routing as far as it matters.

    `rollout` asks for the intermediate states, whose hazards block the change only if they are a `gate`; `risk` is the
    least that blocks it.
    """

    routing: bool | None = None
    rollout: bool = True
    gate: bool = True
    risk: ChangeRisk | None = None
    batfish: str | None = None
    platform: str | None = None


@dataclass(slots=True, kw_only=True)
class CheckRun:
    """One run: readings are made once for both what pairs fabrics and what compares them."""

    policies: PolicyPair
    ask: CheckRequest
    progress: ReportProgress
    executor: Executor | None = None
    fabrics: int = 1
    """How many are not as they were."""
    problems: list[Problem] = field(default_factory=list)
    """Of the state of before."""
    wrong: list[Problem] = field(default_factory=list)
    """Of the present state."""
    passed: list[NewlyPassingFindings] = field(default_factory=list)
    """What the policy of the change lets pass, fabric by fabric."""
    _readings: IdentityMap[FabricSource, Reading | None] = field(default_factory=IdentityMap)
    _stated: IdentityMap[FabricInputs, DeclaredFacts | None] = field(default_factory=IdentityMap)
    _shared: ObjectsSharedByStates = field(default_factory=ObjectsSharedByStates)
    _devices: dict[DeviceFiles, DeviceReading] = field(default_factory=dict)
    """What files say that are the same on both sides, or were read for the other."""

    @property
    def settings(self) -> CheckSettings:
        """How both states are checked."""
        return self.policies.held.settings

    def read_facts_declared_beside_files(self, inputs: FabricInputs) -> DeclaredFacts | None:
        """Return the facts stated next to the files of a fabric; None if they cannot be read."""
        if inputs not in self._stated:
            over: DeclaredFacts | None = DeclaredFacts()
            try:
                for text in inputs.stated:
                    over = (over or DeclaredFacts()).completed_from(
                        context.loads(text.read_bytes(context.MAX_FABRIC_FILE_BYTES), text.display)
                    )
            except InputProblems:
                over = None
            self._stated[inputs] = over
        return self._stated[inputs]

    def reread_with_settings(
        self, fabric_source: FabricSource, reading: Reading, settings: CheckSettings, beside: DeclaredFacts | None
    ) -> Reading:
        """Return a fabric that has been read before, by other settings or with other facts stated next to it."""
        if not isinstance(fabric_source, FabricInputs):
            profile = settings.declared.profile or settings.config.declared.profile
            return replace(reading, fabric=replace(reading.fabric, profile=profile))
        stated_now = self.read_facts_declared_beside_files(fabric_source) if beside is None else beside
        return fabric_readings.read_fabric_or_intent(
            fabric_source,
            settings,
            self.executor,
            cached_readings=self._read_devices(fabric_source),
            shared=self._shared,
            declared_context=stated_now,
        )

    def reading(self, fabric_source: FabricSource | None, *, old: bool) -> Reading | None:
        """Return the reading of a fabric; None if there is none, or it cannot be read at all."""
        if fabric_source is None:
            return None
        if fabric_source not in self._readings:
            self.progress(f"reading {fabric_source_name(fabric_source)}")
            try:
                settings = self.policies.settings_for_state(old=old)
                device_readings, beside = (
                    (self._read_devices(fabric_source), self.read_facts_declared_beside_files(fabric_source))
                    if isinstance(fabric_source, FabricInputs)
                    else (None, None)
                )
                source = fabric_readings.read_fabric_or_intent(
                    fabric_source,
                    settings,
                    self.executor,
                    cached_readings=device_readings,
                    shared=self._shared,
                    declared_context=beside,
                )
            except InputProblems as error:
                (self.problems if old else self.wrong).extend(error.problems)
                self._readings[fabric_source] = None
            else:
                self._readings[fabric_source] = source
        return self._readings[fabric_source]

    def _read_devices(self, inputs: FabricInputs) -> list[DeviceReading]:
        """Return the readings of each switch's files; read those that neither side has had yet."""
        fresh = [bundle for bundle in inputs.bundles if bundle not in self._devices]
        read = DeviceReadings(fresh, self.executor, self.settings.store).all_readings()
        self._devices.update(zip(fresh, read, strict=True))
        return [self._devices[bundle] for bundle in inputs.bundles]

    def unreadable_switches(self, fabric_source: FabricSource | None) -> frozenset[str]:
        """Return the switches of a read fabric with a file that could not be read."""
        bundles = fabric_source.bundles if isinstance(fabric_source, FabricInputs) else ()
        bundle_readings = [(bundle.name, self._devices[bundle]) for bundle in bundles if bundle in self._devices]
        return frozenset(
            name
            for called, device_reading in bundle_readings
            if device_reading.problems
            for name in (called, device_reading.device.name)
        )

    def switch_names_of_source(self, text: FabricSource) -> frozenset[str]:
        """Return the names of a fabric's switches."""
        if isinstance(text, FabricInputs):
            return frozenset(bundle.name for bundle in text.bundles)
        try:
            return fabric_readings.switch_names_of_intent(text, self.settings.store)
        except InputProblems:
            return frozenset()
