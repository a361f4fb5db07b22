"""Rules are found by where they lie, `folder/area/name.yaml`; whatever is wrong with any file is told at once."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from nodrop.errors import InputProblems, Problem
from nodrop.fabric.subject import natural
from nodrop.fabric.types import nearest
from nodrop.formats.places import read_limited
from nodrop.lint.rule import AREAS, Rule
from nodrop.lint.rule_loader import MAX_BYTES, collecting, loads_rule
from nodrop.resources import home

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def load_rules(folders: Sequence[Path], beside: Sequence[Rule] = ()) -> tuple[Rule, ...]:
    """The rules of all folders and those `beside` them, by name; InputProblems holds the faults of all their files."""
    problems: list[Problem] = []
    rules: list[Rule] = list(beside)
    for path in [path for folder in folders for path in _files(folder, problems)]:
        with collecting(problems):
            raw = read_limited(path, str(path), MAX_BYTES)
            rules.append(loads_rule(raw, str(path), name=path.stem, area=path.parent.name))
    problems += _same_names(rules)
    if problems:
        raise InputProblems(problems)
    return tuple(sorted(rules, key=lambda rule: rule.name))


def _files(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    """The rule files of a folder; one that lies or is called wrong is a problem, for it would have no effect."""
    if not folder.is_dir():
        problems.append(Problem(path=str(folder), found="no such folder", expected="a folder of rules"))
    for path in sorted(folder.rglob("*.y*ml"), key=lambda path: natural(str(path))):
        if (fault := _misplaced(path.relative_to(folder))) is None:
            yield path
        else:
            found, expected, hint = fault
            problems.append(Problem(path=str(path), found=found, expected=expected, hint=hint))


def _misplaced(path: Path) -> tuple[str, str, str] | None:
    if path.suffix != ".yaml":
        return f"a file called `{path.name}`", "the ending .yaml", ""
    if len(path.parts) != 2:
        return "a rule in no area", "folder/area/name.yaml", ""
    if path.parts[0] not in AREAS:
        return f"no area `{path.parts[0]}`", "", nearest(path.parts[0], AREAS)
    if not _NAME.fullmatch(path.stem):
        return f"a rule called `{path.stem}`", "the fault in lower case, words joined by `-`", ""
    return None


def _same_names(rules: Sequence[Rule]) -> Iterator[Problem]:
    """A name, former names included, means one rule."""
    first: dict[str, Rule] = {}
    for rule in rules:
        for name in dict.fromkeys((rule.name, *rule.aliases)):
            if first.setdefault(name, rule) is not rule:
                yield Problem(path=rule.path, found=f"a second rule `{name}`", hint=f"first in {first[name].path}")


def of_files(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Those that `nodrop lint` judges by: what is wrong with files, and between them."""
    return tuple(rule for rule in rules if not rule.routed)


def of_routing(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Those that `nodrop validate` judges by: what the control plane does, and all else about routing."""
    return tuple(rule for rule in rules if rule.routed or rule.area == "routing")


@cache
def shipped() -> tuple[Rule, ...]:
    """The rules that come with nodrop."""
    return load_rules((home("rules"),))
