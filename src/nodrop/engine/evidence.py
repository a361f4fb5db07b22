"""The assumptions of a reading in addition to its files, to make a finding only as sure and as severe as they allow."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Literal, NamedTuple

from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject
from nodrop.model.subject import subject_text as subject_text

EvidenceTopic = Literal["classes", "mode", "release", "side", "default"]
"""What nodrop may have taken for true although nobody states it: classes and mode of the fabric, the release of a
switch, what is at the far end of a port, and a documented default or the text of a template in place of a value."""

FABRIC_TOPICS: frozenset[EvidenceTopic] = frozenset({"classes", "mode"})
"""Those about the whole fabric, which are in `Reading.assumed`."""

TOPIC_LABELS: dict[EvidenceTopic, str] = {
    "classes": "the classes",
    "mode": "the mode",
    "release": "the release",
    "side": "what is at the far end of the port",
    "default": "the value",
}


class ReadingEvidence:
    """The basis of a reading in addition to its files: documented defaults, and assumptions where nothing is stated."""

    def __init__(self, reading: Reading, index: Index) -> None:
        self._index = index
        self._reading = reading
        self._by_part: dict[str, dict[str, list[_DocumentedDefault]]] = {}
        self._below: dict[tuple[Subject, str, frozenset[str]], list[_DocumentedDefault]] = {}
        self._assumed: dict[str, str] = {}
        for assumption in reading.assumed:
            self._assumed.setdefault(
                _fabric_key_of_fact(assumption.fact),
                f"{assumption.fact} = {assumption.value} is assumed: {assumption.reason}",
            )

    @cached_property
    def _defaults_by_switch(self) -> Mapping[str, Mapping[Subject, str]]:
        """The reasons of documented defaults, by switch and subject."""
        by_switch: dict[str, dict[Subject, str]] = {}
        for subject, reason in self._reading.derived.items():
            by_switch.setdefault(subject[0], {})[subject] = reason
        return by_switch

    def explain_doubt(
        self,
        topics: frozenset[str],
        subjects: Iterable[Subject],
        parent_subjects: Iterable[Subject] = (),
        names_read: frozenset[str] = frozenset(),
    ) -> str:
        """Return why what rests on these topics and subjects, or on parents of these, is likely at most.

        Of the defaults below parents, those of fields in `names_read` count, and of other ports of a switch only where
        its list of ports is read too.
        """
        assumed = next((self._assumed[topic] for topic in sorted(topics) if topic in self._assumed), "")
        if assumed or not self._defaults_by_switch:
            return assumed
        subjects, parents = tuple(subjects), tuple(parent_subjects)
        ports = {part[1] for part in (*subjects, *parents) if len(part) > 1 and not part[1].startswith("@")}
        own = next(iter(ports)) if len(ports) == 1 else ""
        below = (self._find_default_below(parent, own, names_read) for parent in parents)
        return self._reason_of_default(subjects) or next(filter(None, below), "")

    def assumption(self, topic: EvidenceTopic, subject_path: Subject) -> str:
        """Return the assumption of nodrop about a topic for the part `at`; "" if it is stated or does not concern that
        part.
        """
        match topic:
            case "default":
                return self._reason_of_default([subject_path])
            case "release":
                device = self._index.devices.get(subject_path[0])
                unknown = device is not None and isinstance(device.version, Unknown)
                return f"the release of {subject_path[0]} is not stated" if unknown else ""
            case "side":
                port = self._index.interface(subject_path[0], subject_path[1]) if len(subject_path) > 1 else None
                unknown = port is not None and isinstance(port.side, Unknown)
                return f"nothing says what is at the far end of {subject_path[1]}" if unknown else ""
        return self._assumed.get(topic, "")

    def _reason_of_default(self, subjects: Iterable[Subject]) -> str:
        """Return the reason of the default that one of the subjects is, or is part of; "" if none is."""
        for subject in subjects:
            derived = self._defaults_by_switch.get(subject[0], {})
            for end in range(1, len(subject) + 1):
                if subject[:end] in derived:
                    return derived[subject[:end]]
        return ""

    def _find_default_below(self, parent: Subject, own_port: str, names_read: frozenset[str]) -> str:
        """Return the default of a field below a part, and how many others there are; "" if there is none."""
        parts = ("",) if "interfaces" in names_read else tuple(dict.fromkeys((own_port or "@", "@")))
        by_part = (self._find_documented_defaults_below(parent, part, names_read) for part in parts)
        return _describe_defaults([rows for rows in by_part if rows])

    def _find_documented_defaults_below(
        self, parent: Subject, part: str, names_read: frozenset[str]
    ) -> list["_DocumentedDefault"]:
        """Return the defaults of fields below a parent on a port, on `@` (other parts of the switch), or on all."""
        key = (parent, part, names_read)
        if key not in self._below:
            by_part = self._defaults_by_part(parent[0])
            rows = by_part.get(part, ()) if part else sorted(chain.from_iterable(by_part.values()))
            self._below[key] = [
                row
                for row in rows
                if row.subject[: len(parent)] == parent and _may_path_be_read(row.subject[len(parent) :], names_read)
            ]
        return self._below[key]

    def _defaults_by_part(self, device: str) -> dict[str, list["_DocumentedDefault"]]:
        """Return the defaults of a switch by port, those of its other parts under `@`."""
        if device not in self._by_part:
            by_part = self._by_part[device] = {}
            for position, (subject, reason) in enumerate(self._defaults_by_switch.get(device, {}).items()):
                part = subject[1] if len(subject) > 1 and not subject[1].startswith("@") else "@"
                by_part.setdefault(part, []).append(_DocumentedDefault(position, subject, reason))
        return self._by_part[device]


class _DocumentedDefault(NamedTuple):
    """A documented default: its position among those of the switch, its subject, and the reason."""

    position: int
    subject: Subject
    reason: str


def _describe_defaults(by_part: Sequence[Sequence[_DocumentedDefault]]) -> str:
    """Return the first of all defaults, and how many others there are; the rows of each part are in order."""
    if not by_part:
        return ""
    first = min(rows[0] for rows in by_part)
    others = sum(map(len, by_part)) - 1
    more = f", as are {others} more settings" if others > 1 else ", as is 1 more setting" if others else ""
    return f"{subject_text(first.subject)} is a default{more}: {first.reason}"


def _may_path_be_read(path: Subject, names_read: frozenset[str]) -> bool:
    """Whether a path below a part is of a field that may be read: a row belongs to its part."""
    fields = [part for part in path if not part.isdigit()]
    return not fields or fields[-1].removeprefix("@") in names_read


def _fabric_key_of_fact(fact: str) -> str:
    """Return the key of `fabric:` that would state the assumed fact; traffic is stated as a class."""
    word = fact.partition(".")[0].partition("/")[0]
    return "classes" if word == "RDMA" else word
