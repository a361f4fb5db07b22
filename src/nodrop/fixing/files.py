"""Fixes in files of switches: changes of the model, drawn by each platform into its own documents, in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property

from nodrop import platforms
from nodrop.collect import group_host_files, read_inputs
from nodrop.engine.finding import Finding
from nodrop.engine.rule import Rule
from nodrop.errors import InputProblems, Problem
from nodrop.fixing.fix_selection import FindingKey, FixTrial, key_of_finding
from nodrop.inputs import DeviceFiles, FabricInputs, FileText
from nodrop.judging import CheckSettings, run_rules
from nodrop.model.change import Change, EditResult
from nodrop.model.reading import DeviceReading, Reading
from nodrop.model.subject import Subject
from nodrop.model.subject import subject_text as subject_text
from nodrop.opening import content_digest, read_device_files
from nodrop.platforms.hosts import edit as hosts
from nodrop.platforms.kit.editing import as_manual_steps
from nodrop.reading_cache import DeviceReadings
from nodrop.results.fixed import RewrittenFile, SwitchPatch
from nodrop.results.outcome import FabricOutcome
from nodrop.syntax.json import MAX_JSON_BYTES

ChangeBatches = Mapping[int, tuple[tuple[Change, ...], ...]]
"""Changes that were made together, one time after the other, by the number of the device's bundle."""


@dataclass(frozen=True)
class FilesDuringFix:
    """The files of a fabric, as far as they are changed, and their content."""

    inputs: FabricInputs
    readings: tuple[DeviceReading, ...]
    reading: Reading
    outcome: FabricOutcome
    judge: "JudgeOfFiles"
    made: ChangeBatches = field(default_factory=dict)
    """What was changed already."""

    def edits_of_fix(self, finding: Finding) -> Sequence[tuple[Subject, object]]:
        """Return the changes of the model that end a finding."""
        return [(change.subject, change.new) for change in finding.fix.changes] if finding.fix else []

    def try_fixes(self, findings: Sequence[Finding]) -> "FixTrial[FilesDuringFix]":
        """Return the files with the fixes of findings, each made whole or not at all."""
        by_hand: dict[FindingKey, str] = {}
        edits: dict[tuple[int, tuple[tuple[Subject, str], ...]], EditResult] = {}
        while True:
            asked = _RequestedChanges(finding for finding in findings if key_of_finding(finding) not in by_hand)
            edits_by_number: dict[int, tuple[list[Change], EditResult]] = {}
            failed: dict[FindingKey, dict[str, None]] = {}
            for name in asked.by_device:
                if name not in self.bundle_number_by_device:
                    line = f"{name} is no switch or host that was read"
                    failed |= {key: {**failed.get(key, {}), line: None} for key in asked.findings_changing_device(name)}
                    continue
                number = self.bundle_number_by_device[name]
                changes = [self._change_by_name_in_files(change, number) for change in asked.by_device[name]]
                memo = (number, tuple((change.subject, repr(change.new)) for change in changes))
                if memo not in edits:
                    edits[memo] = self.edit(number, changes)
                edits_by_number[number] = changes, edits[memo]
                for hand in edits[memo].by_hand:
                    own_change = replace(hand.change, subject=(name, *hand.change.subject[1:]))
                    failed |= {
                        key: {**failed.get(key, {}), hand.line: None} for key in asked.findings_of_change(own_change)
                    }
            if not failed:
                return FixTrial(world=self._apply_file_edits(edits_by_number), by_hand=by_hand)
            by_hand |= {key: "\n".join(lines) for key, lines in failed.items()}

    @cached_property
    def bundle_number_by_device(self) -> Mapping[str, int]:
        """The number of each device's bundle; two devices that call themselves alike have other names in a fabric.

        The bundles of hosts have numbers after those of devices.
        """
        shown = {
            tuple(text.display for _, text in bundle.files): number for number, bundle in enumerate(self.inputs.bundles)
        }
        names = ((device.name, self.reading.sources[device.name]) for device in self.reading.fabric.devices)
        name_numbers = ((name, shown.get(tuple(source.display for source in sources))) for name, sources in names)
        devices = {name: number for name, number in name_numbers if number is not None}
        first = len(self.inputs.bundles)
        return {bundle.name: first + number for number, bundle in enumerate(self._host_bundles)} | devices

    @cached_property
    def _host_bundles(self) -> Sequence[DeviceFiles]:
        return group_host_files(self.inputs.hosts)

    def bundle(self, number: int) -> DeviceFiles:
        """Return the files of a device or host."""
        first = len(self.inputs.bundles)
        return self.inputs.bundles[number] if number < first else self._host_bundles[number - first]

    def is_host(self, number: int) -> bool:
        """Whether a number is that of a host, whose files no tool of a switch takes."""
        return number >= len(self.readings)

    def _change_by_name_in_files(self, change: "Change", number: int) -> Change:
        """Return a change of a device as its own files name it."""
        if self.is_host(number):
            return change
        return replace(change, subject=(self.readings[number].device.name, *change.subject[1:]))

    def read_unchanged_texts(self, number: int) -> dict[str, bytes]:
        """Return the files of a device by canonical name; InputProblems where one is another than was read."""
        sources = () if self.is_host(number) else self.readings[number].sources
        digest_by_name = {source.name: source.digest for source in sources}
        texts = {}
        for name, text in self.bundle(number).files:
            texts[name] = text.read_bytes(MAX_JSON_BYTES)
            if digest_by_name.get(name, "") not in ("", content_digest(texts[name])):
                raise InputProblems([Problem(path=text.display, found="changed since it was read")])
        return texts

    def edit(self, number: int, changes: Sequence[Change], texts: Mapping[str, bytes] | None = None) -> EditResult:
        """Return the result of changes in the files of a device, or in these texts of them."""
        if self.is_host(number):
            return hosts.edit(texts or self.read_unchanged_texts(number), changes, name=self.bundle(number).name)
        editor = platforms.find_editor(self.inputs.bundles[number].platform)
        if editor is None:
            return as_manual_steps(
                changes, lambda change: f"{subject_text(change.subject)}: nodrop does not change such files"
            )
        try:
            return editor.edit(
                texts or self.read_unchanged_texts(number), changes, name=self.readings[number].device.name
            )
        except InputProblems as error:
            reason = str(error.problems[0])
            return as_manual_steps(changes, lambda _: reason)

    def _apply_file_edits(self, edits_by_number: Mapping[int, tuple[list[Change], EditResult]]) -> "FilesDuringFix":
        """Return the files as edits made them, read and judged again."""
        changed = {number: edit.files for number, (_, edit) in edits_by_number.items() if edit.files}
        if not changed:
            return self
        bundles, readings = [*self.inputs.bundles, *self._host_bundles], list(self.readings)
        for number, files in changed.items():
            bundles[number] = _replace_file_texts(bundles[number], files)
            if not self.is_host(number):
                readings[number] = read_device_files(bundles[number])
        inputs = replace(self.inputs, bundles=bundles[: len(readings)], hosts=bundles[len(readings) :])
        changes = {number: (*self.made.get(number, ()), tuple(edits_by_number[number][0])) for number in changed}
        return self.judge.judge_files(inputs, readings, {**self.made, **changes})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOfFiles:
    """The check of files after every step: by `rules`, which are all rules, so nothing new goes unseen."""

    rules: Sequence[Rule]
    settings: CheckSettings

    def judge_files(
        self, inputs: FabricInputs, readings: Sequence[DeviceReading], batches: ChangeBatches
    ) -> FilesDuringFix:
        """Return files with their findings."""
        settings = self.settings
        reading = read_inputs(
            inputs, settings.declared, default_context=settings.config.declared, cached_readings=readings
        )
        return FilesDuringFix(inputs, tuple(readings), reading, self.check_reading(reading, settings), self, batches)

    def check_reading(self, reading: Reading, settings: CheckSettings) -> FabricOutcome:
        """Return the verdict of the rules, with the places that the settings ask for."""
        return run_rules(reading, self.rules, settings)

    def open_documents(self, inputs: FabricInputs, executor: Executor | None = None) -> FilesDuringFix:
        """Return the files of the inputs, with their findings."""
        return self.judge_files(
            inputs, list(DeviceReadings(inputs.bundles, executor, self.settings.store).all_readings()), {}
        )


class _RequestedChanges:
    """The changes that findings ask for, each once, and whose each is."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.by_device: dict[str, list[Change]] = {}
        self._owners: dict[tuple[Subject, str], list[FindingKey]] = {}
        for finding in findings:
            for change in finding.fix.changes if finding.fix else ():
                change_key = (change.subject, repr(change.new))
                if change_key not in self._owners:
                    self.by_device.setdefault(change.subject[0], []).append(change)
                self._owners.setdefault(change_key, []).append(key_of_finding(finding))

    def findings_of_change(self, change: Change) -> list[FindingKey]:
        """Return the findings that a change must end."""
        return self._owners[change.subject, repr(change.new)]

    def findings_changing_device(self, name: str) -> Iterator[FindingKey]:
        """Yield the findings that ask for changes of a device."""
        return (key for change in self.by_device[name] for key in self.findings_of_change(change))


def _replace_file_texts(bundle: DeviceFiles, files: Mapping[str, bytes]) -> DeviceFiles:
    texts = (
        (name, FileText(display=text.display, held=files[name]) if name in files else text)
        for name, text in bundle.files
    )
    return replace(bundle, files=tuple(texts))


def find_rewritten_files(files_before: FilesDuringFix, files_after: FilesDuringFix) -> Iterator[RewrittenFile]:
    """Yield every file that is another now, device by device."""
    secret = files_before.reading.secret_lines
    for device, number in files_before.bundle_number_by_device.items():
        if number not in files_after.made:
            continue
        old, new = files_before.read_unchanged_texts(number), files_after.read_unchanged_texts(number)
        for file, text in files_before.bundle(number).files:
            if old[file] != new[file]:
                private = _unchanged_lines(old[file], new[file]) if files_before.is_host(number) else frozenset()
                yield RewrittenFile(
                    device=device,
                    name=file,
                    display=text.display,
                    path=text.path,
                    old=old[file],
                    new=new[file],
                    hidden=private | {line for name, at, line in secret if (name, at) == (device, file)},
                )


def _unchanged_lines(old: bytes, new: bytes) -> frozenset[int]:
    """Return the numbers of the lines that stay: scripts and variables of hosts may hold any secret there."""
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    return frozenset(number for number, (line, new_line) in enumerate(pairs, 1) if line == new_line)


def build_patches(files_before: FilesDuringFix, files_after: FilesDuringFix) -> Iterator[SwitchPatch]:
    """Yield, per changed switch, the patch that its tools take to reach the present state of its files."""
    for device, number in files_before.bundle_number_by_device.items():
        if number not in files_after.made or files_before.is_host(number):
            continue
        edits = list(_edits_between_files(files_before, files_after, number))
        forms: dict[str, str] = {}
        for place, edit in enumerate(edits, 1):
            number_of = f"{place:0{len(str(len(edits)))}}-" if len(edits) > 1 else ""
            forms |= {f"{number_of}{name}": text for name, text in edit.forms.items()}
        old, new = files_before.read_unchanged_texts(number), files_after.read_unchanged_texts(number)
        patched = platforms.main_config_file(files_before.inputs.bundles[number].platform, old)
        replaced_files = tuple(name for name in new if new[name] != old[name] and name != patched)
        yield SwitchPatch(
            device=device,
            steps=tuple(step for edit in edits for step in edit.steps),
            files=forms | {name: new[name].decode() for name in replaced_files},
            complete_files=replaced_files,
            derived=tuple(change for edit in edits for change in edit.follows),
        )


def _edits_between_files(before: FilesDuringFix, after: FilesDuringFix, number: int) -> Iterator[EditResult]:
    """Yield the edits that lead to a device's files: one, or where all at once leads elsewhere, as they were made."""
    texts, new = before.read_unchanged_texts(number), after.read_unchanged_texts(number)
    at_once = before.edit(number, [change for changes in after.made[number] for change in changes])
    if not at_once.by_hand and {**texts, **at_once.files} == new:
        yield at_once
        return
    for changes in after.made[number]:
        edit = before.edit(number, changes, texts)
        texts = {**texts, **edit.files}
        yield edit
