"""Repairs what a fault breaks, as the fix of its finding says: the device's files are edited, read and linted again."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from nodrop import platforms
from nodrop.engine.finding import FabricVerdict, Finding
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems
from nodrop.model.change import Change, EditResult
from nodrop.model.subject import FABRIC_HEAD
from nodrop.model.subject import subject_text as subject_text
from nodrop.platforms.hosts import edit as hosts
from nodrop.syntax.yaml import parse_yaml
from support.single_faults import Fault, Outcome, inject, reading_of

NOTHING = "no change is known"


@dataclass(frozen=True)
class Repair:
    """What became of the changes that the findings of a fault carry."""

    fault: Fault
    changes: tuple[Change, ...]
    by_hand: tuple[str, ...]
    """What no file was changed for, and why."""
    left: tuple[str, ...]
    """Where the rule still finds its fault."""
    new: tuple[str, ...]
    """What is found that was not before."""
    lines: tuple[tuple[str, str], ...]
    """The lines that are different, by file: those that went and those that came."""
    astray: tuple[str, ...]
    """Lines that are different though they say nothing that is."""

    @property
    def done(self) -> bool:
        """Whether files were changed and the fault is gone from them."""
        return bool(self.lines) and not self.left and not self.new and not self.by_hand

    @property
    def word(self) -> str:
        """What a table says of it."""
        if self.done:
            return "repaired"
        if not self.changes:
            return NOTHING
        if self.by_hand:
            return f"by hand: {self.by_hand[0]}"
        return f"BROKEN: left {', '.join(self.left)}; new {', '.join(self.new)}"


def repair(found: Outcome) -> Repair:
    """Return what the changes of a fault's findings come to; they are made in files as users have them."""
    fault, before = found.fault, _of(found.fault, found.verdict)
    changes = tuple(dict.fromkeys(each for one in before for each in (one.fix.changes if one.fix else ())))
    files, lines, by_hand, astray = inject(fault), [], [], []
    given: defaultdict[str, list[Change]] = defaultdict(list)
    for change in changes:
        given[change.subject[0]].append(change)
    for device, wanted in given.items():
        made = _edited(fault, files, device, wanted)
        by_hand += [each.line for each in made.by_hand]
        for name, raw in made.files.items():
            new = raw.decode()
            path = next(path for path in (f"{device}/{name}", f"hosts/{name}") if path in files)
            old = files[path]
            lines += [(path, line) for line in _different(old, new)]
            astray += _astray(old, new) if name.endswith((".json", ".yaml")) else ()
            files[path] = new
    rules = (*select_lint_rules(shipped_rules()), *(rule for rule in shipped_rules() if rule.failures))
    after = judge(reading_of(fault, files), rules, strictness=fault.row.get("strictness", "regular")) if lines else None
    now = after.findings if after else ()
    were = {(one.rule, one.subject) for one in found.verdict.findings}
    return Repair(
        fault=fault,
        changes=changes,
        by_hand=tuple(by_hand),
        left=tuple(subject_text(one.subject) for one in (_of(fault, after) if after else before)),
        new=tuple(f"{one.rule} at {subject_text(one.subject)}" for one in now if (one.rule, one.subject) not in were),
        lines=tuple(lines),
        astray=tuple(astray),
    )


def _of(fault: Fault, verdict: FabricVerdict) -> list[Finding]:
    return [one for one in verdict.findings if one.rule == fault.row["rule"]]


def _edited(fault: Fault, files: dict[str, str], device: str, changes: list[Change]) -> EditResult:
    """Return the edit of one device's files, or of the files of hosts that are meant for a NIC."""
    if any(name.startswith(f"hosts/{device}.") for name in files):
        return hosts.edit(
            {name.partition("/")[2]: text.encode() for name, text in files.items() if name.startswith("hosts/")},
            changes,
            name=device,
        )
    editor = None if device == FABRIC_HEAD else platforms.find_editor(fault.platform)
    own = {name.partition("/")[2]: text.encode() for name, text in files.items() if name.startswith(f"{device}/")}
    bundle = {name: raw for name, raw in own.items() if "/" not in name}
    if editor is None or not bundle:
        raise ValueError(f"{fault.name}: changes of {device}, which has no files")
    try:
        return editor.edit(bundle, changes, name=device)
    except InputProblems as error:
        raise ValueError(f"{fault.name}: {error}") from None


def _different(old: str, new: str) -> list[str]:
    a, b = ([line.strip().rstrip(",") for line in text.splitlines()] for text in (old, new))
    found = []
    for tag, start, end, first, last in SequenceMatcher(a=a, b=b, autojunk=False).get_opcodes():
        if tag != "equal":
            found += [f"- {line}" for line in a[start:end]] + [f"+ {line}" for line in b[first:last]]
    return found


def _astray(old: str, new: str) -> Iterator[str]:
    """Yield the lines that went or came whose words are in no setting that is different; brackets have none."""
    words = {word for path in _settings(old) ^ _settings(new) for word in path}
    for line in _different(old, new):
        said = re.findall(r"[^\s\"'{}\[\]]+", line[2:])
        if said and not any(word in words or word.rstrip(":") in words for word in said):
            yield line


def _settings(text: str) -> set[tuple[str, ...]]:
    """The settings of a JSON or YAML text, each as the way to it and its value."""
    return set(_paths(parse_yaml(text.encode(), "file").data, ()))


def _paths(part: Any, way: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(part, dict) and part:
        for key, value in part.items():
            yield from _paths(value, (*way, str(key)))
    elif isinstance(part, list):
        if any(isinstance(value, dict | list) for value in part):
            for value in part:
                yield from _paths(value, way)
        else:
            yield (*way, *map(str, part))
    else:
        yield (*way, str(part))
