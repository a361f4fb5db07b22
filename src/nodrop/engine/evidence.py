"""The assumptions of a reading in addition to its files, to make a finding only as sure and as severe as they allow."""

from collections.abc import Iterable
from typing import Literal

from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject

EvidenceTopic = Literal["classes", "mode", "release", "side", "default"]
"""What nodrop may have taken for true although nobody states it: classes and mode of the fabric, the release of a
switch, what is at the far end of a port, and a documented default or the text of a template in place of a value."""

TOPIC_LABELS: dict[EvidenceTopic, str] = {
    "classes": "the classes",
    "mode": "the mode",
    "release": "the release",
    "side": "what is at the far end of the port",
    "default": "the value",
}

_DEFAULTS = "it also depends on settings that the file leaves to a default"
"""The doubt of a finding that rests on a whole device or port, of which some parts are defaults."""


class ReadingEvidence:
    """The basis of a reading in addition to its files: documented defaults, and assumptions where nothing is stated."""

    def __init__(self, reading: Reading, index: Index) -> None:
        self._index = index
        self._derived: dict[str, dict[Subject, str]] = {}
        for subject, reason in reading.derived.items():
            self._derived.setdefault(subject[0], {})[subject] = reason
        self._assumed: dict[str, str] = {}
        for assumption in reading.assumed:
            self._assumed.setdefault(
                _fabric_key_of_fact(assumption.fact),
                f"{assumption.fact} = {assumption.value} is assumed: {assumption.reason}",
            )

    def doubt(
        self, topics: frozenset[str], subjects: Iterable[Subject], parent_subjects: Iterable[Subject] = ()
    ) -> str:
        """Return why what rests on these topics and subjects, or on parents of these, is likely at most."""
        assumed = next((self._assumed[topic] for topic in sorted(topics) if topic in self._assumed), "")
        return assumed or (self._find_default(subjects, parent_subjects) if self._derived else "")

    def assumption(self, topic: EvidenceTopic, subject_path: Subject) -> str:
        """Return the assumption of nodrop about a topic for the part `at`; "" if it is stated or does not concern that
        part.
        """
        match topic:
            case "default":
                return self._find_default([subject_path], ())
            case "release":
                device = self._index.devices.get(subject_path[0])
                unknown = device is not None and isinstance(device.version, Unknown)
                return f"the release of {subject_path[0]} is not stated" if unknown else ""
            case "side":
                port = self._index.interface(subject_path[0], subject_path[1]) if len(subject_path) > 1 else None
                unknown = port is not None and isinstance(port.side, Unknown)
                return f"nothing says what is at the far end of {subject_path[1]}" if unknown else ""
        return self._assumed.get(topic, "")

    def _find_default(self, on: Iterable[Subject], under: Iterable[Subject]) -> str:
        for subject in on:
            derived = self._derived.get(subject[0], {})
            for end in range(1, len(subject) + 1):
                if subject[:end] in derived:
                    return derived[subject[:end]]
        has_default = any(path[: len(top)] == top for top in under for path in self._derived.get(top[0], {}))
        return _DEFAULTS if has_default else ""


def _fabric_key_of_fact(fact: str) -> str:
    """Return the key of `fabric:` that would state the assumed fact; traffic is stated as a class."""
    word = fact.partition(".")[0].partition("/")[0]
    return "classes" if word == "RDMA" else word
