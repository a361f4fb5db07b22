"""Short lists of many parts of a fabric: their names, their kinds, and how many.

A running number is in brackets, and only brackets mean a run, since no valid name contains one:

    leaf[1-4], leaf9                leaf1, leaf2, leaf3, leaf4 and leaf9
    Ethernet[0-248 by 8]            Ethernet0, Ethernet8, Ethernet16 … Ethernet248
    swp[1-32]s[0-3]                 each of swp1 to swp32 with each of s0 to s3
    leaf[08-12]                     leaf08, leaf09, leaf10, leaf11 and leaf12

Every number of a run is present, and no other. Three numbers with a step of 1 make a run, or four with any other step;
fewer are listed. Names with a colon (IPv6 addresses, links) are listed, since their digits need not be decimal. A name
with anything but letters, digits and `. _ / @ % + ~ - :` is in quotes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple

from nodrop.engine.finding import Finding
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key, natural_sort_key
from nodrop.report.escape import escape_terminal

_UNQUOTED_NAME_PATTERN = re.compile(r"[\w./@%+~:-]+")
_NAME_IN_TEXT_PATTERN = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_NUMBER_PATTERN = re.compile(r"([0-9]{1,9})")
_SINGULAR_BY_QUEUE_FIELD = {"queues": "queue", "priority_groups": "priority group"}
_SINGULAR_BY_FABRIC_FIELD = {"links": "link", "classes": "class"}
_MAX_LISTED_NAMES = 8


def escape_or_quote_name(text: str) -> str:
    """One part of a subject as a list may hold it."""
    return text if _UNQUOTED_NAME_PATTERN.fullmatch(text) else '"' + escape_terminal(text).replace('"', '\\"') + '"'


def finding_message_with_device(finding: Finding) -> str:
    """Return the message of a finding, after its device (`leaf1: …`) unless the message names that.

    For reports that show a message without its subject.
    """
    device = finding.device
    if not device or device in _NAME_IN_TEXT_PATTERN.findall(finding.message):
        return finding.message
    return f"{escape_or_quote_name(device)}: {finding.message}"


def subject_label(subject: Subject, device_name: str | None = None) -> str:
    """Return the name of a part on its device, or in the fabric: `Ethernet8`, `Ethernet8 queue 3`, `10.1.0.1`.

    A link is called as its port `on` a device, where it has one there.
    """
    match subject:
        case (root, "links", ends) if (
            root == FABRIC_HEAD and device_name and (port := _link_port_on_device(ends, device_name))
        ):
            return escape_or_quote_name(port)
        case (only,):
            return "the fabric" if only == FABRIC_HEAD else escape_or_quote_name(only)
        case (_, port, "qos", ("queues" | "priority_groups") as queues, index):
            return f"{escape_or_quote_name(port)} {_SINGULAR_BY_QUEUE_FIELD[queues]} {escape_or_quote_name(index)}"
        case (_, area, _, *_) if area.startswith("@") or subject[0] == FABRIC_HEAD:
            return "/".join(map(escape_or_quote_name, subject[2:]))
        case _:
            return "/".join(map(escape_or_quote_name, subject[1:]))


def _link_port_on_device(ends: str, device: str) -> str:
    """Return the port of a link on a device; empty where it has none there, or both ends."""
    ports = [end.port for end in ends_of_cable_key(ends) if end.node == device]
    return ports[0] if len(ports) == 1 else ""


def subject_kind(subject: Subject) -> str:
    """Return the kind of a part, in the singular: device, port, queue, neighbor, link, class …"""
    match subject:
        case (only,):
            return "fabric" if only == FABRIC_HEAD else "device"
        case (root, area, *_) if root == FABRIC_HEAD:
            return _SINGULAR_BY_FABRIC_FIELD.get(area, "part")
        case (_, area, *_) if area.startswith("@"):
            return area[1:].replace("_", " ").removesuffix("s") or "part"
        case (_, _):
            return "port"
        case (_, _, "qos", ("queues" | "priority_groups") as queues, _):
            return _SINGULAR_BY_QUEUE_FIELD[queues]
        case _:
            return "part"


def format_count(number: int, noun: str) -> str:
    """`1 port`, `2 ports`, `2 classes`, `2 prefixes`, `2 switches`."""
    ending = "" if number == 1 else "es" if noun.endswith(("s", "x", "ch")) else "s"
    return f"{number} {noun}{ending}"


def format_counts_by_kind(subjects: Iterable[Subject], within: Iterable[str] = repeat("")) -> list[str]:
    """Return the number of each kind but devices, the commonest kind first; `within` gives each subject's fabric."""
    kinds = Counter(subject_kind(subject) for _, subject in set(zip(within, subjects, strict=False)))
    return [
        format_count(number, noun) for noun, number in sorted(kinds.items(), key=_count_sort_key) if noun != "device"
    ]


def format_name_list(part_names: Iterable[str]) -> str:
    """Names, numbers that run drawn together; of a long list the beginning, and how many names it leaves out."""
    entries = collapse_names(part_names)
    text = ", ".join(entry.text for entry in entries[:_MAX_LISTED_NAMES])
    more_count = sum(entry.names for entry in entries[_MAX_LISTED_NAMES:])
    return f"{text} and {more_count} more" if more_count else text


class NameRun(NamedTuple):
    """A name, or several drawn together, and how many they are."""

    text: str
    names: int
    first: str


def collapse_names(part_names: Iterable[str]) -> list[NameRun]:
    """Collapse names into entries by the rules at the top of this module; each name counts once."""
    shapes: dict[tuple[str, ...], list[tuple[_NumberRun, ...]]] = {}
    for each in dict.fromkeys(part_names):
        pieces = _NUMBER_PATTERN.split(each) if ":" not in each and not each.startswith('"') else [each]
        numbers = tuple(_NumberRun(text, text, 1) for text in pieces[1::2])
        shapes.setdefault(tuple(pieces[::2]), []).append(numbers)
    entries = [_name_run_of_row(shape, row) for shape, rows in shapes.items() for row in _merge_rows_into_runs(rows)]
    return sorted(entries, key=lambda entry: (natural_sort_key(entry.first), entry.text))


class _NumberRun(NamedTuple):
    text: str
    first: str
    numbers: int


def _name_run_of_row(shape: tuple[str, ...], row: tuple[_NumberRun, ...]) -> NameRun:
    names = 1
    for run in row:
        names *= run.numbers
    return NameRun(
        _interleave_numbers(shape, [run.text for run in row]),
        names,
        _interleave_numbers(shape, [run.first for run in row]),
    )


def _interleave_numbers(shape: tuple[str, ...], numbers: Sequence[str]) -> str:
    return "".join(word + number for word, number in zip(shape, [*numbers, ""], strict=True))


def _merge_rows_into_runs(rows: list[tuple[_NumberRun, ...]]) -> list[tuple[_NumberRun, ...]]:
    """Rows of equal length, with runs made in the last column first; rows that differ elsewhere are never joined."""
    for column in reversed(range(len(rows[0]))):
        alike: dict[tuple[tuple[_NumberRun, ...], tuple[_NumberRun, ...]], list[str]] = {}
        for row in rows:
            alike.setdefault((row[:column], row[column + 1 :]), []).append(row[column].text)
        rows = [
            (*before, run, *after)
            for (before, after), texts in alike.items()
            for run in _split_numbers_into_runs(texts)
        ]
    return rows


def _split_numbers_into_runs(texts: list[str]) -> list[_NumberRun]:
    texts = sorted(texts, key=lambda text: (int(text), text))
    runs, start = [], 0
    while start < len(texts):
        end, step = _end_and_step_of_run(texts, start)
        first_text, last = texts[start], texts[end - 1]
        stride = "" if step == 1 else f" by {step}"
        runs.append(
            _NumberRun(first_text if end == start + 1 else f"[{first_text}-{last}{stride}]", first_text, end - start)
        )
        start = end
    return runs


def _end_and_step_of_run(texts: list[str], start: int) -> tuple[int, int]:
    """Where the run that begins at `start` ends, exclusive, and its step; a number alone where there is no run."""
    if start + 1 == len(texts):
        return start + 1, 1
    first_number, width, end = int(texts[start]), len(texts[start]), start + 1
    step = int(texts[end]) - first_number
    while end < len(texts) and step and texts[end] == str(first_number + step * (end - start)).zfill(width):
        end += 1
    return (end, step) if end - start >= (3 if step == 1 else 4) else (start + 1, 1)


def _count_sort_key(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]
