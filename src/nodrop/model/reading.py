"""The result of a reader: devices, remarks about the text, and the source of everything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from nodrop.errors import Problem
from nodrop.model.change import CommandsForCase
from nodrop.model.fabric import Device, End, Fabric, Mode, PortSide, TrafficClass
from nodrop.model.nics import Nic
from nodrop.model.subject import Subject
from nodrop.syntax.places import Span
from nodrop.syntax.root import InputRoot

IntentDecisionBasis = Literal["stated", "default", "whole"]


class FilePlace(NamedTuple):
    """Where something stands: a source by its canonical name within the device (`config_db.json`), and the span."""

    file: str
    span: Span


class FileCorrection(NamedTuple):
    """A setting of a file whose right value its reader knows: its subject below the device, its value and that one.

    A setting that is not there, or is to go, has the value None.
    """

    keys: Subject
    old: object
    new: object


class Remedy(NamedTuple):
    """A reader's knowledge of how to correct a fault of its text."""

    corrections: tuple[FileCorrection, ...] = ()
    """What in the file ends it, where the rest of the file determines that."""
    parts: tuple[Subject, ...] = ()
    """The parts of the model, below the device, that a shared row sets: siblings may have the right values."""
    choices: tuple[CommandsForCase, ...] = ()
    """What to type in each case, where only the owner knows which it is."""
    modes: tuple[Mode, ...] = ()
    """The modes of a fabric for which the corrections are right; empty where they are right in any fabric."""


NO_REMEDY = Remedy()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something readable but wrong in the text itself; a rule with `remark: kind` makes a finding of it.

    `subject` begins with the device; `facts` fill the rule's message. `names` are words in them that only identify the
    row: remarks that differ in these alone have one cause.
    """

    kind: str
    subject: Subject
    place: FilePlace | None
    facts: Mapping[str, str] = field(default_factory=dict)
    secret: bool = False
    """Whether the line there holds a secret, which no report repeats."""
    names: tuple[str, ...] = ()
    at: Subject | None = None
    """The part to point at, where that is not the subject and has no `place`."""
    remedy: Remedy = NO_REMEDY


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowComment:
    """That one rule's findings in some lines of a file are all right, why, until when, and where that is written."""

    rule: str
    reason: str
    until: str | None
    """The last day on which it holds, as ISO 8601 has it."""
    file: str
    """The file's canonical name within the device; of an intent, the name under which it is shown."""
    span: Span
    lines: tuple[int, int]
    around: str
    """A digest of the first of these lines and of what it stands in: equal where the same part of a file is meant."""


UNKNOWN_LINE_NOTE_KIND = "unknown-line"
"""The kind of the note about a line that is neither in the model nor known to be harmless: its effect is not known."""
DECLARED_HARMLESS_LINE_NOTE_KIND = "declared-line"
"""The kind that such a note has where the site declares the line harmless (`engine/declared_lines.py`)."""
ROUTES_NOT_COMPUTED_NOTE_KIND = "not-computed"
"""The kind of the note that a device has routes which nobody computes: `about` is `EVPN` or `LEAKS`."""
NOT_COMPUTED_TEXT_START = "not computed: "
"""The start of what a verdict lacks if nodrop does not compute it, so that no file can supply it."""
EVPN, LEAKS = "EVPN", "leaks between VRFs"
FAULTS_NOT_LISTED_NOTE_KIND = "not-listed"
"""The kind of the note that a switch has more faults than are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Information for the user, never about a fault: a table that was not understood, a device that was renamed.

    One of the kind `UNKNOWN_LINE_NOTE_KIND` becomes an unknown verdict, too (`engine/unknowns.py`).
    """

    kind: str
    message: str
    device: str | None = None
    file: str | None = None
    line: int | None = None
    about: str = ""
    """Of an unknown line, what it sets, without names and values: lines with an equal one are one verdict.

    Of routes that nobody computes, their kind.
    """
    text: str = ""
    """Of an unknown line, all of it but secrets: what a site's declarations are held against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """Something inferred because nobody stated it."""

    fact: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleMode:
    """A mode that some switches may have, and the traffic classes with it; a switch of several has one of them."""

    mode: Mode
    classes: tuple[TrafficClass, ...]
    devices: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that was read: its canonical name, how to show it, and its text, either held or to be read again.

    A build holds its text in memory; files are reopened when a place is asked for and lose their places if their
    digest (blake2b, hex) has changed since.
    """

    name: str
    display: str
    path: Path | None = None
    held: bytes | None = None
    digest: str = ""
    root: InputRoot | None = field(default=None, compare=False, repr=False)
    """What the file lies in, so that it is opened again as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CableEvidence:
    """A neighbor as a device's own file names it: evidence for a link."""

    local_port: str
    remote: End
    evidence: str
    side: PortSide | None = None
    """What kind of device the file says that the neighbor is; None where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceReading:
    """One device as its files describe it. `derived` maps a subject to the documented default that filled it."""

    device: Device
    called: str | None = None
    """What its folder or file is called, where the files state a name that somebody chose; else None."""
    sources: tuple[Source, ...] = ()
    cables: tuple[CableEvidence, ...] = ()
    remarks: tuple[Remark, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    derived: Mapping[Subject, str] = field(default_factory=dict)
    allowed: tuple[AllowComment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReading:
    """The NIC settings of a host, as its files state them; a name may also mean a NIC model, or all hosts."""

    name: str
    nics: tuple[Nic, ...] = ()
    sources: tuple[Source, ...] = ()
    remarks: tuple[Remark, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    derived: Mapping[Subject, str] = field(default_factory=dict)
    allowed: tuple[AllowComment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentDecision:
    """Where an intent decides a part of the fabric: the path of its keys, and the line and span where that stands.

    `how` is `stated`, or `default` where none of the keys that decide the part is stated: then the place is that of the
    nearest key around `keys`. It is `whole` where the part is a switch or a port as such.
    """

    keys: tuple[str | int, ...]
    how: IntentDecisionBasis
    file: str
    span: Span
    line: str

    @property
    def message(self) -> str:
        """Return the message of a report about the place."""
        path = ".".join(map(str, self.keys))
        match self.how:
            case "stated":
                return f"decided here: {path}"
            case "default":
                return f"left to its default: {path} would be stated here"
            case "whole":
                return f"stated here: {path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All inputs of one command as one fabric, and the facts about the reading itself."""

    fabric: Fabric
    sources: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    derived: Mapping[Subject, str] = field(default_factory=dict)
    assumed: tuple[Assumption, ...] = ()
    possible: tuple[PossibleMode, ...] = ()
    """The possible modes, where not all switches have that of the fabric."""
    decided: Callable[[Subject], IntentDecision | None] | None = None
    """Of what an intent was built into: where it decides a part, if it does."""
    allowed: Mapping[str, tuple[AllowComment, ...]] = field(default_factory=dict)
    """By device or host, what comments in its files allow; by an empty name, what those in an intent do."""
    written: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Lines of the intent that remarks and what it allows stand in, by its name as it is shown and their number."""
    stages: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    """By the file with the state of a device, as it is shown: the files beside it that lead to the same state."""

    @property
    def modes(self) -> frozenset[Mode]:
        """The modes that switches have or may have."""
        return frozenset(possible_mode.mode for possible_mode in self.possible) or frozenset({self.fabric.mode})

    @property
    def secret_lines(self) -> frozenset[tuple[str, str, int]]:
        """The lines that no report repeats: (device, canonical name of the file, line)."""
        secret_places = ((remark.subject[0], remark.place) for remark in self.remarks if remark.secret)
        return frozenset((device, place.file, place.span.line) for device, place in secret_places if place is not None)
