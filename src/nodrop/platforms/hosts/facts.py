"""Common parts of the forms of host files: facts with their places, by NIC."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodrop.syntax.places import Span
from nodrop.units import parse_whole_number

PRIORITY_COUNT = 8
"""Priorities of Ethernet (IEEE 802.1Q)."""


class NicFact(NamedTuple):
    """A value, where it stands, and where it is a default the reason."""

    value: Any
    span: Span
    default: str = ""


class HostFileRemark(NamedTuple):
    """Something readable but wrong in the text: the kind of remark, what fills the rule's message, the place."""

    kind: str
    facts: Mapping[str, str]
    span: Span


class HostFileNote(NamedTuple):
    """An observation that is no fault: an unknown part of a command, or why rules do not apply."""

    kind: str
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class HostFileContent:
    """The content of a file: facts by part and by field of `Nic`, the NICs that they apply to, and observations."""

    parts: dict[str, dict[str, NicFact]] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    pci_addresses: tuple[str, ...] = ()
    node_selector: tuple[str, ...] = ()
    noticed: list[HostFileRemark] = field(default_factory=list)
    notes: list[HostFileNote] = field(default_factory=list)
    part_models: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The NICs that a part is about, where that is not what the file is meant for."""
    by_command: set[str] = field(default_factory=set)
    """The NICs that the commands of the file are made for."""

    def record_fact(self, nic_part: str, name: str, value: object, span: Span, default: str = "") -> None:
        """Note a fact; a later one counts."""
        self.parts.setdefault(nic_part, {})[name] = NicFact(value, span, default)


class HostFileKind(NamedTuple):
    """A form of host file: a test that recognises it, and its parser."""

    shows: Callable[[str], bool]
    parse: Callable[[str], tuple[HostFileContent, ...]]
    printed: bool = False
    """Whether a command printed it, so that a change of it sets nothing."""
    then: str = "run {name} on the host again"
    """What puts a change of the file, `{name}`, into effect."""


APPLY_TO_CLUSTER = "apply it to the cluster, as `kubectl apply -f {name}` does"
"""What puts a change of a resource of Kubernetes into effect."""


def line_span(number: int, line: str) -> Span:
    """Return the span of the text on a line, counted from 1."""
    text = line.rstrip()
    start = len(text) - len(text.lstrip())
    return Span(number, start + 1, number, max(len(text), start + 1) + 1)


def parse_priority_on_off_list(file_text: str) -> tuple[int, ...] | None:
    """Return the priorities that a list of eight switches turns on (`0,0,0,1,0,0,0,0`); None where it is no such."""
    words = file_text.replace(",", " ").split()
    if len(words) != PRIORITY_COUNT or any(word not in ("0", "1") for word in words):
        return None
    return tuple(priority for priority, word in enumerate(words) if word == "1")


def parse_number(file_text: str) -> int | None:
    """Return a whole number of at most nine digits; None where it is none."""
    return parse_whole_number(file_text, 10**9 - 1)


def word_after(line_words: Sequence[str], *names_text: str) -> str:
    """Return the word behind the first of these words, or its value behind `=`; nothing where there is none."""
    for at, word in enumerate(line_words):
        name, equals, value = word.partition("=")
        if name in names_text:
            return value if equals else (line_words[at + 1] if at + 1 < len(line_words) else "")
    return ""


def parse_byte(file_text: str) -> int | None:
    """Return a number of one byte, decimal or hexadecimal; None where it is none."""
    try:
        byte_value = int(file_text, 0) if len(file_text) <= 9 else -1
    except ValueError:
        return None
    return byte_value if 0 <= byte_value <= 255 else None
