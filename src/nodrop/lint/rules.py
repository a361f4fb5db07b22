"""Rules are found by where they lie, `folder/area/name.yaml`; whatever is wrong with any file is told at once."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from nodrop.errors import InputProblems, Problem
from nodrop.fabric.subject import natural
from nodrop.fabric.types import nearest
from nodrop.formats.places import read_limited
from nodrop.formats.yaml import parse
from nodrop.lint.rule import AREAS, Rule
from nodrop.lint.rule_loader import MAX_BYTES, collecting, loads_rule
from nodrop.lint.suppressions import KINDS
from nodrop.resources import home

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""How a rule may be called."""


def load_rules(folders: Sequence[Path]) -> tuple[Rule, ...]:
    """The rules of all folders, sorted by name; InputProblems holds the faults of all their files."""
    problems: list[Problem] = []
    rules: list[Rule] = []
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
        found = "a file" if folder.exists() else "no such folder"
        problems.append(Problem(path=str(folder), found=found, expected="a folder of rules"))
        return
    paths = sorted(folder.rglob("*.y*ml"), key=lambda path: natural(str(path)))
    if not paths:
        problems.append(Problem(path=str(folder), found="no rule in it", expected="files folder/area/name.yaml"))
    for path in paths:
        if (fault := _misplaced(path.relative_to(folder), folder.name)) is None:
            yield path
        else:
            found, expected, hint = fault
            problems.append(Problem(path=str(path), found=found, expected=expected, hint=hint))


def _misplaced(path: Path, folder: str) -> tuple[str, str, str] | None:
    if path.suffix != ".yaml":
        return f"a file called `{path.name}`", "the ending .yaml", ""
    if len(path.parts) != 2:
        hint = f"give the folder that {folder} is in" if len(path.parts) == 1 and folder in AREAS else ""
        return "a rule in no area", "folder/area/name.yaml", hint
    if path.parts[0] not in AREAS:
        return f"no area `{path.parts[0]}`", "", nearest(path.parts[0], AREAS)
    if not NAME.fullmatch(path.stem):
        return f"a rule called `{path.stem}`", "the fault in lower case, words joined by `-`", ""
    return None


def _same_names(rules: Sequence[Rule]) -> Iterator[Problem]:
    """A name, former names included, means one rule."""
    first: dict[str, Rule] = {}
    for rule in rules:
        for keys, name in named(rule):
            if first.setdefault(name, rule) is not rule:
                line, column = place(rule, keys)
                found, hint = f"a second rule `{name}`", f"first in {origin(first[name])}"
                yield Problem(path=rule.path, line=line, column=column, found=found, hint=hint)


def named(rule: Rule) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """All names of a rule, each once, with the keys where it stands: its own is that of its file."""
    yield (), rule.name
    yield from ((("aliases", at), name) for at, name in enumerate(rule.aliases) if name != rule.name)


def place(rule: Rule, keys: Sequence[str | int], *, of: Literal["key", "value"] = "value") -> tuple[int, int]:
    """Line and column of a key of a rule's file, or of its value; InputProblems where the file is gone."""
    raw = read_limited(Path(rule.path), rule.path, MAX_BYTES)
    return parse(raw, rule.path, max_bytes=MAX_BYTES).place(keys, of=of)


def of_files(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Those that `nodrop lint` judges by: what is wrong with files, and between them."""
    return tuple(rule for rule in rules if not rule.routed)


def of_routing(rules: Sequence[Rule], *, observed: bool = False) -> tuple[Rule, ...]:
    """Those that `nodrop validate` judges by: what the control plane does, all else about routing, and suppressions.

    Those about what other validators have `observed` are among them where one was asked.
    """
    kept = (rule for rule in rules if rule.routed or rule.area == "routing" or rule.remark in KINDS)
    return tuple(rule for rule in kept if observed or not rule.observed)


def is_shipped(path: str) -> bool:
    """Whether the file of a rule comes with nodrop; any other is of a site's own folders."""
    return Path(path).is_relative_to(home("rules"))


def origin(rule: Rule) -> str:
    """Where a rule lies: of a shipped one within nodrop (rules/pfc/name.yaml), of another as its folder was given."""
    path = Path(rule.path)
    return path.relative_to(home("rules").parent).as_posix() if is_shipped(rule.path) else rule.path


@cache
def shipped() -> tuple[Rule, ...]:
    """The rules that come with nodrop."""
    return load_rules((home("rules"),))
