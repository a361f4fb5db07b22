"""Changes of the model in given documents of any platform: made, read again, and reported.

A platform draws the result of a change in its own files. The result is read, and must be the old device with the
changes and nothing else, or the change is left to be done by hand. Values that the switch computes from the changes
follow, and are reported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from nodrop.errors import InputProblems
from nodrop.identity import IdentitySet
from nodrop.limits import MAX_EDIT_TRIAL_BYTES, MAX_EDIT_TRIALS, MIN_EDIT_TRIALS
from nodrop.model.change import FILE_SETTING_AREA, Change, EditResult, ManualChange
from nodrop.model.compare import ModelDifference, differences
from nodrop.model.edit import ABSENT, find_value, get_value, set_value
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.fields import names_of_fields_with_columns
from nodrop.model.qos import QosProfile
from nodrop.model.reading import DeviceReading, Remark, Source
from nodrop.model.spelling import describe_value
from nodrop.model.states import Unknown, UnknownFact
from nodrop.model.subject import Subject, matches
from nodrop.model.subject import subject_text as subject_text
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.entry_order import sort_lists_and_entries

ConfigFiles = Mapping[str, bytes]
ReadDevice = Callable[[str, Sequence[tuple[Source, bytes]]], DeviceReading]

MOST_DIFFERING_FIELDS_SHOWN = 2
"""Fields of a part of the model, of which a message says how they differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaskedChange:
    """A setting in changed files that nobody asked for: where, and its value there."""

    subject: Subject
    difference: ModelDifference
    old: DeviceReading
    new: DeviceReading
    wanted: Sequence[Subject]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformEditFunctions:
    """The platform's functions for editing."""

    read: ReadDevice
    impossible: Callable[[Change], str | None]
    """Says why no file can be changed so, whatever it says."""
    together: Callable[[Device, Device, Sequence[Subject]], Device]
    """Returns the new device with what changes along with subjects, given the old one."""
    draw: Callable[[ConfigFiles, DeviceReading, Device], Iterator[ConfigFiles]]
    """Yields files that may say the new device, the best first; ValueError where there are none."""
    follows: Callable[[UnaskedChange], bool]
    """Whether the switch computes it from changed facts."""
    spelling: frozenset[str]
    """Kinds of remarks about how a whole file is subject_text."""
    correct: Callable[[ConfigFiles, Sequence[Change]], ConfigFiles]
    """Returns files with settings changed that the model has no place for; ValueError where that cannot be done."""
    meaning: frozenset[str] = frozenset()
    """Kinds of remarks about the content of valid files, which a change may cause: rules report them."""


def sources_of_files(config_files: ConfigFiles) -> list[tuple[Source, bytes]]:
    """Return files, given by canonical name, as a reader takes them: shown under that name."""
    return [(Source(name=file, display=file), raw) for file, raw in config_files.items()]


def as_manual_steps(
    changes: Iterable[Change],
    line: Callable[[Change], str],
    commands: Callable[[Change], tuple[str, ...]] = lambda _: (),
    ports: Callable[[Change], tuple[str, ...]] = lambda _: (),
) -> EditResult:
    """Leave read-only files unchanged, and give for each change the manual step, what to type, and all its ports."""
    return EditResult(
        by_hand=tuple(
            ManualChange(change=change, line=line(change), commands=commands(change), ports=ports(change))
            for change in changes
        )
    )


@lru_cache(maxsize=4)  # the edits for the findings of a switch begin with the same files
def _read_files(
    read: Callable[[str, Sequence[tuple[Source, bytes]]], DeviceReading],
    name: str,
    files: tuple[tuple[str, bytes], ...],
) -> DeviceReading:
    return read(name, sources_of_files(dict(files)))


class RetryBudget:
    """How often changes of one switch may be tried again in parts, over all edits that are given it."""

    def __init__(self, bundle: ConfigFiles, most: int = MAX_EDIT_TRIALS) -> None:
        """Allow the fewer trials, the larger the files are, and no more than `most`."""
        size = sum(map(len, bundle.values())) or 1
        self._left = min(most, max(MIN_EDIT_TRIALS, MAX_EDIT_TRIAL_BYTES // size))

    def spend(self) -> bool:
        """Take one trial; return whether there was one left."""
        self._left -= 1
        return self._left >= 0


class EditState:
    """A device's files as changed so far, and the reading of them."""

    def __init__(
        self, bundle: ConfigFiles, name: str, means: PlatformEditFunctions, budget: RetryBudget | None = None
    ) -> None:
        """Raise InputProblems where the files cannot be read; without a budget, the edit gets a separate budget."""
        self.bundle: ConfigFiles = dict(bundle)
        self._name, self._means = name, means
        self._budget = budget or RetryBudget(bundle)
        self.reading = self.first = self._read_bundle(self.bundle)
        if self.reading.problems:
            raise InputProblems(list(self.reading.problems))

    def _read_bundle(self, config_files: ConfigFiles) -> DeviceReading:
        return _read_files(self._means.read, self._name, tuple(config_files.items()))

    def make_or_yield_manual(self, changes: Sequence[Change]) -> Iterator[ManualChange]:
        """Make changes, together if possible; yield those that cannot be made.

        Trying all of them together is free; trying parts of them uses the budget.
        """
        if not changes:
            return
        impossible = self._means.impossible
        why = next((text for change in changes if (text := impossible(change))), None) or self._make_all_or_none(
            changes
        )
        if why is None:
            return
        if len(changes) == 1:
            yield ManualChange(change=changes[0], line=f"{subject_text(changes[0].subject)}: {why}")
            return
        middle = len(changes) // 2
        for half in (changes[:middle], changes[middle:]):
            if self._budget.spend():
                yield from self.make_or_yield_manual(half)
            else:
                reason = "not tried, for too many changes of this switch cannot be made together"
                yield from (
                    ManualChange(change=change, line=f"{subject_text(change.subject)}: {reason}") for change in half
                )

    def apply_changes(self, changes: Sequence[Change]) -> tuple[ManualChange, ...]:
        """Make changes as far as possible; return the rest, without those that follow from the changes made.

        Settings that only the document has come first: what the model has is read from it again.
        """
        corrections = [change for change in changes if change.subject[1] == FILE_SETTING_AREA]
        why = self._correct_settings_or_explain(corrections) if corrections else None
        refused = [] if why is None else corrections
        others = [change for change in changes if change.subject[1] != FILE_SETTING_AREA]
        by_hand = (
            hand for hand in tuple(self.make_or_yield_manual(others)) if not self._has_applied_change(hand.change)
        )
        return (
            *(ManualChange(change=change, line=f"{subject_text(change.subject)}: {why}") for change in refused),
            *by_hand,
        )

    def _correct_settings_or_explain(self, corrections: Sequence[Change]) -> str | None:
        """Change settings of the document, all or none; return why they cannot be changed."""
        try:
            bundle = self._means.correct(self.bundle, corrections)
        except ValueError as error:
            return str(error)
        reading = self._read_bundle(bundle)
        if (fault := self._new_fault(reading)) is None:
            self.bundle, self.reading = bundle, reading
        return fault

    def _has_applied_change(self, change: Change) -> bool:
        """Whether the files now have the value required by a change, and did not before."""
        before, fabric = (
            Fabric(name="", mode="lossless", devices=(device_reading.device,))
            for device_reading in (self.first, self.reading)
        )
        try:
            target_value = get_value(set_value(fabric, change.subject, change.new), change.subject)
            return is_equal(get_value(fabric, change.subject), target_value) and not is_equal(
                _value_or_none(before, change.subject), target_value
            )
        except ValueError:
            return False

    def _make_all_or_none(self, changes: Sequence[Change]) -> str | None:
        """Make the changes, all or none; return why they cannot be made."""
        old = self.reading.device
        why: str | None = None
        try:
            new = apply_changes_to_device(old, changes, self._means)
            names = ([interface.name for interface in device.interfaces] for device in (old, new))
            if len({tuple(port_names) for port_names in names}) > 1:
                return "ports come and go with their breakout, and get all of their settings again"
            for bundle in self._means.draw(self.bundle, self.reading, new):
                reading = self._read_bundle(bundle)
                unlike = self._unwanted_difference(reading, new, changes)
                if unlike is None:
                    self.bundle, self.reading = bundle, reading
                    return None
                why = why or unlike
        except UnknownFact as error:
            return why or str(error) or "not all that it depends on is known"
        except ValueError as error:
            return why or str(error).removeprefix(f"{subject_text(changes[0].subject)}: ")
        return why

    def _unwanted_difference(self, reading: DeviceReading, new: Device, changes: Sequence[Change]) -> str | None:
        """Return the unwanted content of the changed files; None where there is nothing."""
        if (fault := self._new_fault(reading)) is not None:
            return fault
        subjects = [change.subject for change in changes]
        touched = WantedSubjects(subjects)
        for difference in differences(new, reading.device):
            at = subject_of_path_in_device(new.name, difference.path)
            deviation = UnaskedChange(subject=at, difference=difference, old=self.reading, new=reading, wanted=subjects)
            if touched.is_inside_or_around_wanted(at) or not self._means.follows(deviation):
                label, value, expected_text = (
                    subject_text(at),
                    describe_value(difference.b),
                    describe_value(difference.a),
                )
                return f"{label} would be {value}, not {expected_text}"
        return None

    def _new_fault(self, reading: DeviceReading) -> str | None:
        """Return the fault that the text of changed files has and did not have before; None where there is none."""
        if reading.problems:
            return f"the file could not be read any more: {reading.problems[0].found}"
        known_faults = {self._fault_key(remark) for remark in self.reading.remarks}
        for remark in reading.remarks:
            if remark.kind not in self._means.meaning and self._fault_key(remark) not in known_faults:
                fact_texts = filter(None, (value.lstrip("; ") for value in remark.facts.values()))
                return f"the file would have a fault ({remark.kind}: {', '.join(fact_texts)})"
        return None

    def _fault_key(self, remark: Remark) -> tuple[str, ...]:
        """Return the key for comparing remarks as the same fault; a file with odd text has one."""
        return (remark.kind,) if remark.kind in self._means.spelling else (remark.kind, *remark.facts.values())

    def find_side_changes(self, changes: Sequence[Change], by_hand: Sequence[ManualChange]) -> Iterator[Change]:
        """Yield the differences in addition to the changes that were made."""
        manual = IdentitySet(hand_edit.change for hand_edit in by_hand)
        touched = WantedSubjects(change.subject for change in changes if change not in manual)
        name = self.first.device.name
        for difference in differences(self.first.device, self.reading.device):
            at = subject_of_path_in_device(name, difference.path)
            if not touched.is_inside_or_around_wanted(at):
                yield Change(subject=at, old=difference.a, new=difference.b)


def apply_changes_to_device(device: Device, changes: Sequence[Change], means: PlatformEditFunctions) -> Device:
    """Return the device with the changes, and what goes along with them; ValueError where one does not fit."""
    fabric = Fabric(name="", mode="lossless", devices=(device,))
    for change in changes:
        _check_old_value(fabric, change)
        fabric = set_value(fabric, change.subject, change.new)
    return means.together(device, fabric.devices[0], [change.subject for change in changes])


def _check_old_value(fabric: Fabric, change: Change) -> None:
    if isinstance(change.old, Unknown):
        return
    current_value = _value_or_none(fabric, change.subject)
    rows = list(
        islice(filter(_is_known_difference, differences(current_value, change.old)), MOST_DIFFERING_FIELDS_SHOWN + 1)
    )
    if rows:
        contrast = _describe_contrast(current_value, change.old, rows)
        raise ValueError(f"it is {contrast}, for which the change was made")


def _is_known_difference(difference: ModelDifference) -> bool:
    """Whether a difference is of the whole value, or of fields in it that both sides know."""
    return not difference.path or not any(isinstance(side, Unknown) for side in (difference.a, difference.b))


def _describe_contrast(found: object, expected: object, rows: Sequence[ModelDifference]) -> str:
    """Return a value and the expected one; of parts of the model of one kind, the first fields that differ."""
    if not all(row.path for row in rows):
        return f"{describe_value(found)}, not {describe_value(expected)}"
    shown = rows[:MOST_DIFFERING_FIELDS_SHOWN]
    texts = [f"{'/'.join(row.path)} {describe_value(row.a)}, not {describe_value(row.b)}" for row in shown]
    return f"{describe_value(found)} with {'; '.join(texts)}{'; and more' if len(rows) > len(shown) else ''}"


def _value_or_none(fabric: Fabric, subject: Subject) -> object:
    value = find_value(fabric, subject)
    return None if value is ABSENT else value


def is_equal(old_value: object, new_value: object) -> bool:
    """Whether two parts of the model are equal; UNKNOWN is only itself."""
    if old_value is new_value:
        return True
    return not isinstance(old_value, Unknown) and not isinstance(new_value, Unknown) and bool(old_value == new_value)


def with_rebuilt_ports(
    old_device: Device,
    new_device: Device,
    subjects: Sequence[Subject],
    port: Callable[[Interface, Interface, str, Sequence[Subject]], Interface],
) -> Device:
    """Return the new device with each port as `port` makes it from the old one, and lists in the order of files.

    `port` is given the subjects that may be in that port.
    """
    were = {interface.name: interface for interface in old_device.interfaces}
    globs = [subject for subject in subjects if any("*" in part or "?" in part for part in subject[:2])]
    subjects_by_port: dict[str, list[Subject]] = {}
    for subject in subjects:
        subjects_by_port.setdefault(subject[1] if len(subject) > 1 else "", []).append(subject)
    servers = {name: getattr(new_device, name) for name in names_of_fields_with_columns(Device, unordered=True)}
    return replace_fields(
        new_device,
        interfaces=tuple(
            port(
                were.get(interface.name, interface),
                interface,
                old_device.name,
                [*subjects_by_port.get(interface.name, ()), *globs],
            )
            for interface in new_device.interfaces
        ),
        access_lists=new_device.access_lists
        if isinstance(new_device.access_lists, Unknown)
        else sort_lists_and_entries(new_device.access_lists),
        **{name: tuple(sorted(names)) for name, names in servers.items() if isinstance(names, tuple)},
    )


def copy_pause_to_other_direction(
    old_port: Interface,
    new_port: Interface,
    device: str,
    subjects: Sequence[Subject],
    may_directions_differ: Callable[[object], bool],
) -> Interface:
    """Return a port with pause in both directions again, if only one of them was changed.

    `may_directions_differ` returns, given the new priorities of one direction, whether the other can stay as it is.
    """
    if (
        is_equal(old_port.qos, new_port.qos)
        or not isinstance(old_port.qos, QosProfile)
        or not isinstance(new_port.qos, QosProfile)
    ):
        return new_port
    qos, at = new_port.qos, (device, new_port.name, "qos")
    if not is_equal(old_port.qos.pfc_rx_priorities, old_port.qos.pfc_tx_priorities):
        return new_port
    directions = ("pfc_rx_priorities", "pfc_tx_priorities")
    for direction, opposite in (directions, directions[::-1]):
        value = getattr(new_port.qos, direction)
        moved = not is_equal(getattr(old_port.qos, direction), value)
        if (
            moved
            and not may_directions_differ(value)
            and not any(matches(subject[: len(at) + 1], (*at, opposite)) for subject in subjects)
        ):
            qos = replace_fields(qos, **{opposite: value})
    return replace_fields(new_port, qos=qos)


class WantedSubjects:
    """Wanted subjects, which may have globs, to ask which other subjects are a part of one of them or around one."""

    def __init__(self, subjects: Iterable[Subject]) -> None:
        """Keep those without globs by their parts: asking costs as much for a thousand of them as for one."""
        every = set(subjects)
        self._globs = [subject for subject in every if any("*" in part or "?" in part for part in subject)]
        self._whole = every.difference(self._globs)
        self._around = {subject[:length] for subject in self._whole for length in range(len(subject))}

    def is_inside_or_around_wanted(self, subject: Subject) -> bool:
        """Whether a subject is a part of a wanted one, or one is a part of it."""
        if subject in self._around or any(subject[:length] in self._whole for length in range(len(subject) + 1)):
            return True
        return any(_is_part_of_other(subject, wanted) for wanted in self._globs)


def _is_part_of_other(subject_path: Subject, wanted_subject: Subject) -> bool:
    """Whether one of two subjects is a part of the other; the wanted one may have globs."""
    length = min(len(subject_path), len(wanted_subject))
    return matches(wanted_subject[:length], subject_path[:length])


def subject_of_path_in_device(device: str, path: Subject) -> Subject:
    """Return the subject of a path inside a device."""
    head, *subpath = path or ("",)
    if head == "interfaces":
        return (device, *subpath)
    if head == "bgp" and subpath[:1] == ["neighbors"]:
        return (device, "@neighbors", *subpath[1:])
    return (device, f"@{head}", *subpath)
