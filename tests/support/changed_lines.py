"""Where the first finding of a fault points, and which lines the fault changed: what is seen first in a report."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from nodrop import platforms
from nodrop.engine.finding import Finding
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.folding import mark_findings_explained_by_others
from nodrop.locate import add_finding_places
from nodrop.results.outcome import group_findings, select_shown_groups, separate_explained_groups
from support.single_faults import Fault, inject, outcome, reading_of, written

_NAMES = re.compile(r"\b(?:Ethernet|swp)\d+\b")
"""Names of ports: what is left of a port's row that went are its other rows."""


@dataclass(frozen=True)
class FirstPlace:
    """The first finding of a report, and whether it points at a line that the fault changed."""

    finding: Finding | None
    is_changed: bool
    changed: tuple[tuple[str, int], ...]


@cache
def first_place(fault: Fault) -> FirstPlace:
    """Return where the first finding of a fault is; a finding at the row of a removed setting counts."""
    files = inject(fault)
    changed = tuple(_changed_lines(written(fault.fabric), files))
    reading = reading_of(fault, files)
    folded = mark_findings_explained_by_others(
        outcome(fault).verdict.findings, reading, select_lint_rules(shipped_rules()), judge
    )
    located = add_finding_places(folded, reading, platforms.make_place_finder).findings
    causes, _ = separate_explained_groups(group_findings(located))
    first = next((group[0] for group in select_shown_groups(causes)), None)
    if first is None or first.located is None or first.located.span is None:
        return FirstPlace(first, False, changed)
    at = first.located.file
    around = _around(files[at].splitlines(), first.located.span.line - 1) if at in files else []
    lines = {*range(first.located.span.line, first.located.span.end_line + 1), *(number for number, _ in around[:1])}
    return FirstPlace(first, any(file == at and line in lines for file, line in changed), changed)


def _changed_lines(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yield (file, line) of all lines of new files that are different, of the rows that they are in, and of the places
    that are left of what went: the lines around it, and those that name what was in it.
    """
    for file, text in new.items():
        if text == old.get(file):
            continue
        lines = text.splitlines()
        before, after = _normal_lines(old.get(file, "")), _normal_lines(text)
        for tag, first, last, start, end in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
            if tag == "delete":
                gone = {name for line in before[first:last] for name in _NAMES.findall(line)}
                near = {number for number, _ in _around(lines, start)} | {start, start + 1}
                named = {number for number, line in enumerate(lines, 1) if gone & set(_NAMES.findall(line))}
                yield from ((file, number) for number in sorted(near | named))
            elif tag != "equal":
                numbers = range(start + 1, end + 1)
                yield from ((file, number) for number in numbers)
                yield from ((file, number) for number, _ in _around(lines, start)[:1])


def _around(lines: Sequence[str], at: int) -> list[tuple[int, str]]:
    """Return the lines that the line behind `at` is inside of, the nearest first, with their numbers."""
    found = []
    indent = len(lines[at]) - len(lines[at].lstrip()) if at < len(lines) else 0
    for number in range(at, 0, -1):
        line = lines[number - 1]
        own = len(line) - len(line.lstrip())
        if line.strip() and own < indent:
            found.append((number, line))
            indent = own
    return found


def _normal_lines(text: str) -> list[str]:
    return [line.strip().rstrip(",") for line in text.splitlines()]
