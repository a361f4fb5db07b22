"""From findings to places: file, line and column, looked up only on devices that have findings."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import islice

from nodrop.design.deciding import IntentKeys, find_addition, find_decision
from nodrop.engine.finding import FileLocation, Finding, RelatedPart
from nodrop.errors import InputProblems, Problem
from nodrop.identity import IdentitySet
from nodrop.intent.schema import Intent
from nodrop.model import subject
from nodrop.model.allowing import parse_allow_comments
from nodrop.model.edit import ABSENT, find_value
from nodrop.model.fabric import Fabric
from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND, FilePlace, IntentDecision, Note, Reading, Source
from nodrop.model.subject import FABRIC_HEAD, Subject, natural_sort_key
from nodrop.platforms import HOSTS_PLATFORM
from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.syntax.comments import find_nodrop_comments
from nodrop.syntax.places import BYTE_ORDER_MARK, has_lone_return, read_regular_file, split_lines

FindPlaceOfPart = Callable[[Subject], FilePlace | None]
"""Where a part of one device stands in its sources."""

PlaceFinderFactory = Callable[[str, Mapping[str, bytes]], FindPlaceOfPart]
"""Makes the `FindPlaceOfPart` of a device from its platform and its sources, by canonical name."""

FILE_CHANGED_NOTE_KIND = "lost-place"
"""The kind of the note that a file has changed since it was read."""

_MAX_SOURCE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class LocatedFindings:
    """Findings with their places, the lines that stand there, and what could not be looked up."""

    findings: tuple[Finding, ...]
    notes: tuple[Note, ...] = ()
    _lines: Mapping[tuple[str, int], str] = field(default_factory=dict)

    def line(self, file: str, line: int) -> str | None:
        """Return the text of a line on which a place begins, by the shown name of its file; else None."""
        return self._lines.get((file, line))


def add_intent_decisions(reading: Reading, intent: Intent) -> Reading:
    """Return the reading of an intent's built files, with the places where the intent decides its parts.

    A line of unknown effect is at the addition (`extra`) that it comes from. The exceptions that the intent's comments
    allow are in the reading, too.
    """
    reading = replace(
        reading,
        decided=partial(find_decision, intent),
        notes=tuple(_place_at_addition(note, intent) for note in reading.notes),
    )
    found_comments = find_nodrop_comments(intent.text.encode(), "yaml")
    if not found_comments or intent.key_positions is None:
        return reading
    allows, remarks = parse_allow_comments(found_comments, intent.path, (FABRIC_HEAD, "suppressions"))
    return replace(
        reading,
        remarks=(*reading.remarks, *remarks),
        allowed={**reading.allowed, "": tuple(allows)},
        written={(intent.path, comment.line): intent.key_positions.line(comment.line) for comment in found_comments},
    )


def _place_at_addition(note: Note, intent: Intent) -> Note:
    """Return the note about an unknown line at the place of the intent that adds the line; any other as it is."""
    if note.kind != UNKNOWN_LINE_NOTE_KIND or note.device is None:
        return note
    decision = find_addition(intent, note.device, note.text)
    return note if decision is None else replace(note, file=decision.file, line=decision.span.line)


def add_finding_places(
    findings: Iterable[Finding],
    reading: Reading,
    locations: PlaceFinderFactory,
    *,
    only: Collection[Finding] | None = None,
) -> LocatedFindings:
    """Fill in the places of findings and of the parts related to them.

    The place of a finding is that of its `at`, else that of the nearest part around it, up to the device; for a finding
    about a link, at the end that was read. Where the row there is shared with sound parts, and sound siblings have
    another one, it is where the port names the row. Sources of a device are loaded once, one device at a time, and
    devices without findings never. A source that has changed since it was read gives no place, but a note. With `only`,
    some of these very findings, the others stay unchanged and cost nothing. Where the fabric was built from an intent,
    the key that decides the part that a finding points at is the first part related to it.
    """
    findings = tuple(findings)
    chosen = IdentitySet(findings if only is None else only)
    aim = _PlaceLookupTargets(reading)
    targets_of_device: dict[str, dict[_LookupTarget, None]] = {}
    for device, target in (
        aimed for finding in findings if finding in chosen for aimed in aim.lookup_targets_of_finding(finding)
    ):
        targets_of_device.setdefault(device, {})[target] = None
    atlas = _PlacesByDevice(reading, locations, _OtherUsersOfRows(findings, reading.fabric))
    for device in sorted(targets_of_device, key=natural_sort_key):
        atlas.look_up_on_device(device, reading.sources[device], targets_of_device[device])
    lines = dict(atlas.lines)

    def locate_finding(finding: Finding) -> Finding:
        location = _fill_locations(finding, aim, atlas.places)
        decision = decision_of(finding, reading)
        if decision is None:
            return location
        lines[decision.file, decision.span.line] = decision.line
        located = FileLocation(file=decision.file, span=decision.span)
        origin = RelatedPart(subject=finding.at, message=decision.message, located=located, decides=True)
        return dataclasses.replace(location, related=(origin, *location.related))

    reported_findings = tuple(locate_finding(finding) if finding in chosen else finding for finding in findings)
    return LocatedFindings(reported_findings, tuple(atlas.notes), lines)


def find_deciding_keys(intent: Intent, fabric_part: Subject) -> tuple[IntentKeys, FileLocation] | None:
    """Return the keys of the intent that decide a part of the fabric built from it, and their place.

    None where no key decides the part, or where the text of the intent is not known.
    """
    found_decision = find_decision(intent, fabric_part)
    return (
        None
        if found_decision is None
        else (found_decision.keys, FileLocation(file=found_decision.file, span=found_decision.span))
    )


def decision_of(finding: Finding, reading: Reading) -> IntentDecision | None:
    """Return where the intent decides the part that a finding points at: for a switch or port as such, its fix's
    change.
    """
    if reading.decided is None or "suppressions" in finding.at[1:2]:
        return None
    bare = len(finding.at) == 1 or (len(finding.at) == 2 and not finding.at[1].startswith("@"))
    changes = finding.fix.changes if finding.fix and bare else ()
    return reading.decided(changes[0].subject if changes else finding.at)


def _place_finder_platform_by_device(reading: Reading) -> Mapping[str, str]:
    """Return by name how the places in files are found; a file that is not a switch's is read as a host's."""
    return dict.fromkeys(reading.sources, HOSTS_PLATFORM) | {
        device.name: device.platform for device in reading.fabric.devices
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedPart:
    """Where a part stands, or the nearest part around it that has a place, and the line there."""

    part: Subject
    located: FileLocation
    line: str | None


def place_of(fabric_part: Subject, reading: Reading, locations: PlaceFinderFactory) -> LocatedPart | None:
    """Return where a part of a fabric stands, a link at the end that was read; None where no file was read for it.

    InputProblems where a file has changed since it was read.
    """
    aimed = _PlaceLookupTargets(reading).target_of_part(
        fabric_part[:3] if fabric_part[0] == subject.FABRIC_HEAD else fabric_part
    )
    if aimed is None:
        return None
    device, fabric_part = aimed
    platform = _place_finder_platform_by_device(reading)[device]
    loaded = [(source, load_unchanged_source(source)) for source in reading.sources[device]]
    find = locations(platform, {source.name: raw for source, raw in loaded})
    displays = {source.name: source.display for source, _ in loaded}
    lines = _visible_lines_of_device(reading.secret_lines, device, loaded)
    for length in range(len(fabric_part), 0, -1):
        if (place := find(fabric_part[:length])) is not None:
            file = displays[place.file]
            return LocatedPart(
                part=fabric_part[:length],
                located=FileLocation(file=file, span=place.span),
                line=lines.get(file, place.span.line) if place.span else None,
            )
    return None


_LookupTarget = Subject | FileLocation
"""What to look up: a part of a device, or a place that is known already and lacks only its line."""


_MAX_SHARED_ROW_CHANGES = 2
"""Changes of a fix that alter a shared row; more replace it by another row."""


_QOS_ROW_FIELDS = ("queues", "priority_groups")
_ROW_SUBJECT_LENGTH = 6
"""How long the subject of a scheduler, of marks or of a buffer is: port, queue and field."""
_ROW_COUNT = 8
_MAX_INDIVIDUAL_PORTS = 4
"""Ports with one fault, up to which each may be bound to a wrong row; of more the row itself is at fault."""
_MAX_ROW_USER_LOOKUPS = 64
"""Parts of a switch, up to which users of their rows are looked for."""


_POOL_FIELD = "pool"
"""The field in which buffer profiles differ: a change of it together with others gives a port another profile."""


def _part_to_change(finding: Finding) -> Subject:
    """Return the part that a fix changes, if all changes are of the port that a finding points at; else that part.

    Of a link that is the part at the end that changes, if only one does.
    One or two changes are of a row of a map or profile; more are of the binding of the port to another one. What is
    around the part that the finding points at says less than that.
    """
    changes = finding.fix.changes if finding.fix is not None else ()
    if finding.subject[:2] == (subject.FABRIC_HEAD, "links") and len({change.subject[:2] for change in changes}) == 1:
        return next(change.subject for change in changes)
    own = [change.subject for change in changes if change.subject[:2] == finding.at[:2]]
    if len(finding.at) < 2 or not own or len(own) < len(changes):
        return finding.at
    rebinds = len(own) > 1 and any(path[-1] == _POOL_FIELD for path in own)
    if len(own) <= _MAX_SHARED_ROW_CHANGES and not rebinds:
        return own[0]
    shared = (at for at, steps in enumerate(zip(*own, strict=False)) if len(set(steps)) > 1)
    around = own[0][: next(shared, min(map(len, own)))]
    return finding.at if finding.at[: len(around)] == around else around


def _subject_length_if_table_row(part: Subject) -> int:
    """Return how long the subject of a scheduler, of marks, of a buffer or of a cable's length is; 0 for others."""
    if part[2:] == ("cable_length_m",):
        return len(part)
    return (
        _ROW_SUBJECT_LENGTH
        if len(part) > _ROW_SUBJECT_LENGTH and part[2] == "qos" and part[3] in _QOS_ROW_FIELDS
        else 0
    )


def _enclosing_parts(part: Subject) -> tuple[Subject, ...]:
    """Return a part and those around it up to its port, the inner first; around a length is what binds its profile."""
    if part[2] == "qos":
        return tuple(part[:length] for length in range(len(part), 1, -1))
    return part, (*part[:2], "qos", "priority_groups"), part[:2]


class _OtherUsersOfRows:
    """Which other parts may share the row of a map, profile or scheduler that findings about few ports point at.

    Only for queues, priority groups and cable lengths. Ports with a finding of the same rule and path are sick, all
    others sound.
    """

    def __init__(self, findings: Iterable[Finding], fabric: Fabric) -> None:
        self._fabric = fabric
        self._devices = {device.name: device for device in fabric.devices}
        self._sick: dict[tuple[str, str, Subject], set[str]] = {}
        self._rules: dict[Subject, list[str]] = {}
        for finding in findings:
            part = _part_to_change(finding)
            if part[0] in self._devices and _subject_length_if_table_row(part):
                self._sick.setdefault((finding.rule, part[0], part[2:]), set()).add(part[1])
                self._rules.setdefault(part, []).append(finding.rule)
        self._asked = Counter(device for _, device, _ in self._sick)

    def sound_siblings_and_row_sharers(self, part: Subject) -> "tuple[list[Subject], list[Subject]] | None":
        """Return up to two sound siblings of a part, and equal parts that may share its row.

        None where no sibling is sound, or so many ports or parts of the switch have findings that none is the odd one.
        """
        sick = {port for rule in self._rules.get(part, ()) for port in self._sick[rule, part[0], part[2:]]}
        if not sick or len(sick) > _MAX_INDIVIDUAL_PORTS or self._asked[part[0]] > _MAX_ROW_USER_LOOKUPS:
            return None
        ports, depth = self._devices[part[0]].interfaces, _subject_length_if_table_row(part)
        own = next((port for port in ports if port.name == part[1]), None)
        sound = [port for port in ports if port.name not in sick]
        alike = [port for port in sound if own is not None and port.side is own.side]
        siblings = [(part[0], port.name, *part[2:]) for port in alike]
        siblings = [sibling for sibling in siblings if self._row_value_as_text(sibling[:depth]) is not ABSENT][:2]
        value = self._row_value_as_text(part[:depth])
        indexes = [(*part[:4], str(index), *part[5:]) for index in range(_ROW_COUNT) if len(part) > _ROW_SUBJECT_LENGTH]
        rest = [(part[0], port.name, *part[2:]) for port in sound if port not in alike]
        others = (other for other in (*indexes, *rest) if other != part)
        equal = (other for other in others if self._row_value_as_text(other[:depth]) == value)
        return (siblings, list(islice(equal, 2))) if siblings else None

    def _row_value_as_text(self, part: Subject) -> object:
        """Return a scheduler, marks, a buffer or a length as text; ABSENT where there is none."""
        value = find_value(self._fabric, part)
        return ABSENT if value is ABSENT or value is None else repr(value)


class _PlaceLookupTargets:
    """On which device to look, and for what."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def lookup_targets_of_finding(self, finding: Finding) -> list[tuple[str, _LookupTarget]]:
        """Everything to look up for one finding."""
        aimed = [self.target_of_finding(finding), *map(self.target_of_related_part, finding.related)]
        return [device_target for device_target in aimed if device_target is not None]

    def target_of_finding(self, finding: Finding) -> tuple[str, _LookupTarget] | None:
        """Return the target of the finding; without a device in it, the finding's whole device."""
        return self._resolve_target(_part_to_change(finding), finding.located, finding.device)

    def target_of_related_part(self, related: RelatedPart) -> tuple[str, _LookupTarget] | None:
        """Return the related places of the finding."""
        return self._resolve_target(related.subject, related.located, None)

    def target_of_part(self, fabric_part: Subject) -> tuple[str, Subject] | None:
        """Return the device to search for a part, and the target to find there."""
        aimed = self._resolve_target(fabric_part, None, None)
        return None if aimed is None or isinstance(aimed[1], FileLocation) else (aimed[0], aimed[1])

    def _resolve_target(
        self, ends: Subject, located: FileLocation | None, device: str | None
    ) -> tuple[str, _LookupTarget] | None:
        sources = self._reading.sources
        if ends[0] not in sources:
            ends = self._known_end_by_link.get(ends) or (device or ends[0],)
        if ends[0] not in sources:
            return None
        if located is None:
            return ends[0], ends
        return (ends[0], located) if located.file in {source.display for source in sources[ends[0]]} else None

    @cached_property
    def _known_end_by_link(self) -> dict[Subject, Subject]:
        """For each link the end that was read, the first where both were."""
        ends = ((link, end) for link in self._reading.fabric.links for end in (link.b, link.a))
        return {
            subject.link_subject(link.a, link.b): (end.node, end.port)
            for link, end in ends
            if end.node in self._reading.sources
        }


class _PlacesByDevice:
    """The places found, device by device."""

    def __init__(self, reading: Reading, where: PlaceFinderFactory, users: _OtherUsersOfRows) -> None:
        self._platforms, self._where, self._secret = (
            _place_finder_platform_by_device(reading),
            where,
            reading.secret_lines,
        )
        self._users = users
        self.places: dict[tuple[str, _LookupTarget], FileLocation] = {}
        self.lines: dict[tuple[str, int], str] = {}
        self.notes: list[Note] = []

    def look_up_on_device(self, device: str, sources: tuple[Source, ...], targets: Iterable[_LookupTarget]) -> None:
        """Look up the targets on one device, then let go of its texts."""
        loaded = [(source, raw) for source in sources if (raw := self._load_source(device, source)) is not None]
        if not loaded:
            return
        file_location = FileLocation(file=sources[0].display, span=None) if len(sources) == 1 else None
        displays = {source.name: source.display for source, _ in loaded}
        place_of = self._where(self._platforms[device], {source.name: raw for source, raw in loaded})
        lines = _visible_lines_of_device(self._secret, device, loaded)
        for target in targets:
            located = (
                target
                if isinstance(target, FileLocation)
                else _locate_nearest_part(place_of, self._row_naming_part_if_row_is_shared(target, place_of), displays)
                or file_location
            )
            if located is not None and located.file in lines.texts:
                self.places[device, target] = located
                self._store_line_text_of_place(located, lines)

    def _row_naming_part_if_row_is_shared(self, part: Subject, place_of: FindPlaceOfPart) -> Subject:
        """Return the part whose place names a row, if the row itself is right for others that share it; else `part`."""
        others = self._users.sound_siblings_and_row_sharers(part)
        if others is None:
            return part
        siblings, equal = others
        for own, *rest in zip(*map(_enclosing_parts, (part, *siblings, *equal)), strict=True):
            place = place_of(own)
            if place not in [place_of(other) for other in rest if other != own]:
                return tuple(own)
        return part

    def _store_line_text_of_place(self, located: FileLocation, lines: "_LinesWithoutSecrets") -> None:
        if located.span is not None and (text := lines.get(located.file, located.span.line)) is not None:
            self.lines[located.file, located.span.line] = text

    def _load_source(self, device: str, source: Source) -> bytes | None:
        try:
            return load_unchanged_source(source)
        except InputProblems as lost:
            message = f"{lost.problems[0].found}; what was found in it has no place"
            self.notes.append(Note(kind=FILE_CHANGED_NOTE_KIND, message=message, device=device, file=source.display))
            return None


def split_text_lines(file_content: bytes) -> list[str]:
    """Return the lines of a text as `syntax.places` counts them, regardless of its content."""
    return split_lines(_decode_text(file_content))


def _decode_text(file_content: bytes) -> str:
    return file_content.decode("utf-8", "surrogateescape").removeprefix(BYTE_ORDER_MARK)


class _LinesWithoutSecrets:
    """The lines of texts but those `hidden` and those that look like a secret's, as `syntax.places` counts lines.

    A text with a carriage return that ends no line has none: readers of lines count them differently there.

    Each text is split when it is first asked for, and each line looked at once: a whole file may be one line.
    """

    def __init__(self, texts: Mapping[str, bytes], hidden: Collection[tuple[str, int]]) -> None:
        self.texts, self._hidden = texts, hidden
        self._lines: dict[str, list[str]] = {}
        self._known: dict[tuple[str, int], str | None] = {}

    def get(self, file: str, line: int) -> str | None:
        if (file, line) not in self._known:
            self._known[file, line] = self._read_visible_line(file, line)
        return self._known[file, line]

    def _read_visible_line(self, file: str, line: int) -> str | None:
        if file not in self._lines:
            text = _decode_text(self.texts[file])
            self._lines[file] = [] if has_lone_return(text) else split_lines(text)
        lines = self._lines[file]
        if line > len(lines) or (file, line) in self._hidden or looks_like_secret(lines[line - 1]):
            return None
        return lines[line - 1]


def _visible_lines_of_device(
    secret: Collection[tuple[str, str, int]], device: str, loaded: Sequence[tuple[Source, bytes]]
) -> _LinesWithoutSecrets:
    """Return the lines of a device's files, except those that hold a secret."""
    displays = {source.name: source.display for source, _ in loaded}
    hidden = {(displays[file], line) for name, file, line in secret if name == device and file in displays}
    return _LinesWithoutSecrets({source.display: raw for source, raw in loaded}, hidden)


def load_unchanged_source(source: Source) -> bytes:
    """Return the text as it was read; InputProblems if it has changed or is gone."""
    if source.held is not None:
        return source.held
    if source.path is None:
        raise InputProblems([Problem(path=source.display, found="not kept since it was read")])
    raw = read_regular_file(source.path, source.display, _MAX_SOURCE_BYTES, source.root)
    if blake2b(raw, digest_size=16).hexdigest() != source.digest:
        raise InputProblems([Problem(path=source.display, found="changed since it was read")])
    return raw


def _locate_nearest_part(
    place_of: FindPlaceOfPart, fabric_part: Subject, displays: Mapping[str, str]
) -> FileLocation | None:
    places = (place_of(fabric_part[:length]) for length in range(len(fabric_part), 0, -1))
    return next(
        (FileLocation(file=displays[place.file], span=place.span) for place in places if place is not None), None
    )


def _fill_locations(
    finding: Finding, aim: _PlaceLookupTargets, places: Mapping[tuple[str, _LookupTarget], FileLocation]
) -> Finding:
    def located(aimed: tuple[str, _LookupTarget] | None, prior_location: FileLocation | None) -> FileLocation | None:
        return prior_location if aimed is None else places.get(aimed)

    related = tuple(
        dataclasses.replace(
            related_part, located=located(aim.target_of_related_part(related_part), related_part.located)
        )
        for related_part in finding.related
    )
    return dataclasses.replace(
        finding, located=located(aim.target_of_finding(finding), finding.located), related=related
    )
