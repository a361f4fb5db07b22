"""Rules are found by their place, `folder/area/name.yaml`; all faults of all files are reported at once."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from nodrop.engine.areas import rule_area_names
from nodrop.engine.rule import Rule
from nodrop.engine.rule_loader import MAX_RULE_BYTES, collect_problems, parse_rule
from nodrop.engine.suppressions import SUPPRESSION_REMARK_KINDS
from nodrop.errors import InputProblems, Problem
from nodrop.model.subject import natural_sort_key
from nodrop.model.types import known_word_hint
from nodrop.resources import resource_folder
from nodrop.syntax.places import read_regular_file
from nodrop.syntax.root import InputRoot
from nodrop.syntax.yaml import parse_yaml

RULE_NAME_PATTERN = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
"""How a rule may be called."""


OverridingTexts = Mapping[Path, Mapping[str, bytes]]
"""Texts that count instead of those that lie at a path: of a file under "", of a folder by the path below it."""


def load_rules(
    folders: Sequence[Path], texts_by_folder: OverridingTexts | None = None, files: Sequence[Path] = ()
) -> tuple[Rule, ...]:
    """Return the rules of all folders and single files, sorted by name; InputProblems holds the faults of all of them.

    Of a folder that is `texts_by_folder`, these texts are read, and nothing that lies there.
    """
    problems: list[Problem] = []
    rules: list[Rule] = []
    for folder in folders:
        root = InputRoot(os.path.abspath(folder), "the folder")  # noqa: PTH100 -- it may be a link, and none below leads out
        for path, text in _find_rule_files(folder, (texts_by_folder or {}).get(folder), problems):
            with collect_problems(problems):
                raw = read_regular_file(path, str(path), MAX_RULE_BYTES, root) if text is None else text
                rule = parse_rule(raw, str(path), name=path.stem, area=path.parent.name)
                rules.append(rule if text is None else replace(rule, held=text))
    for path in files:
        area = Path(os.path.abspath(path)).parent  # noqa: PTH100 -- where a link lies, not where it leads
        if problem := _check_rule_path(path, Path(area.name, path.name), area.parent.name):
            problems.append(problem)
            continue
        with collect_problems(problems):
            raw = read_regular_file(path, str(path), MAX_RULE_BYTES)
            rules.append(parse_rule(raw, str(path), name=path.stem, area=area.name))
    problems += _duplicate_name_problems(rules)
    if problems:
        raise InputProblems(problems)
    return tuple(sorted(rules, key=lambda rule: rule.name))


def _find_rule_files(
    folder: Path, texts_by_name: Mapping[str, bytes] | None, problems: list[Problem]
) -> Iterator[tuple[Path, bytes | None]]:
    """Yield the rule files of a folder; a wrong place or name is a problem, as the file would have no effect."""
    if texts_by_name is None and not os.path.isdir(folder):  # noqa: PTH112 -- Path's own raises
        found_text = "a file" if os.path.lexists(folder) else "no such folder"
        problems.append(Problem(path=str(folder), found=found_text, expected="a folder of rules"))
        return
    names = sorted(find_rule_file_names(folder) if texts_by_name is None else texts_by_name, key=natural_sort_key)
    if not names:
        problems.append(Problem(path=str(folder), found="no rule in it", expected="files folder/area/name.yaml"))
    for name in names:
        path = folder / name
        if problem := _check_rule_path(path, Path(name), folder.name):
            problems.append(problem)
        else:
            yield path, None if texts_by_name is None else texts_by_name[name]


def find_rule_file_names(folder: Path) -> Iterator[str]:
    """Yield the files of a folder that are called as rule files are, by the path below it; links are not followed."""
    for directory, _, names in os.walk(folder):
        below = os.path.relpath(directory, folder)
        yield from (os.path.normpath(f"{below}/{name}") for name in names if is_rule_file_name(name))


def is_rule_file_name(name: str) -> bool:
    """Whether a file is called as rule files are, or nearly so."""
    return name.endswith("ml") and ".y" in name


def _check_rule_path(path: Path, below: Path, folder: str) -> Problem | None:
    """Return the fault of a path `below` a folder of rules; None if the path is area/name.yaml."""
    if below.suffix != ".yaml":
        return Problem(path=str(path), found=f"a file called `{below.name}`", expected="the ending .yaml")
    if len(below.parts) != 2:
        hint = f"give the folder that {folder} is in" if len(below.parts) == 1 and folder in rule_area_names() else ""
        return Problem(path=str(path), found="a rule in no area", expected="folder/area/name.yaml", hint=hint)
    if below.parts[0] not in rule_area_names():
        return Problem(
            path=str(path), found=f"no area `{below.parts[0]}`", hint=known_word_hint(below.parts[0], rule_area_names())
        )
    if not RULE_NAME_PATTERN.fullmatch(below.stem):
        expected = "the fault in lower case, words joined by `-`"
        return Problem(path=str(path), found=f"a rule called `{below.stem}`", expected=expected)
    return None


def _duplicate_name_problems(rules: Sequence[Rule]) -> Iterator[Problem]:
    """Yield a problem for each name, former names included, that two rules have."""
    first_rules: dict[str, Rule] = {}
    for rule in rules:
        for keys, name in locate_rule_names(rule):
            if first_rules.setdefault(name, rule) is not rule:
                line, column = locate_rule_key(rule, keys)
                found_text, hint = f"a second rule `{name}`", f"first in {rule_origin(first_rules[name])}"
                yield Problem(path=rule.path, line=line, column=column, found=found_text, hint=hint)


def locate_rule_names(rule: Rule) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """All names of a rule, each once, with the keys where it stands: its own is that of its file."""
    yield (), rule.name
    yield from ((("aliases", at), name) for at, name in enumerate(rule.aliases) if name != rule.name)


def locate_rule_key(
    rule: Rule, key_path: Sequence[str | int], *, of: Literal["key", "value"] = "value"
) -> tuple[int, int]:
    """Line and column of a key of a rule's file, or of its value; InputProblems where the file is gone."""
    raw = read_regular_file(Path(rule.path), rule.path, MAX_RULE_BYTES) if rule.held is None else rule.held
    return parse_yaml(raw, rule.path, max_bytes=MAX_RULE_BYTES).line_and_column(key_path, of=of)


def select_lint_rules(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return those that files decide, routing included: what `nodrop lint` and `nodrop build` check by."""
    return tuple(rule for rule in rules if not (rule.failures or rule.observed))


def select_validate_rules(rules: Sequence[Rule], *, observed: bool = False) -> tuple[Rule, ...]:
    """Return those that `nodrop validate` checks by: routing and failures, what fabrics share, and suppressions.

    Those about what other validators have `observed` are among them where one was asked.
    """
    kept_rules = (
        rule
        for rule in rules
        if rule.routed or rule.area == "routing" or rule.beside or rule.remark in SUPPRESSION_REMARK_KINDS
    )
    return tuple(rule for rule in kept_rules if observed or not rule.observed)


def is_shipped_rule_path(path: str) -> bool:
    """Whether the file of a rule comes with nodrop; any other is of a site's own folders."""
    return Path(path).is_relative_to(resource_folder("rules"))


def rule_origin(rule: Rule) -> str:
    """Where a rule lies: of a shipped one within nodrop (rules/pfc/name.yaml), of another as its folder was given."""
    path = Path(rule.path)
    return (
        path.relative_to(resource_folder("rules").parent).as_posix() if is_shipped_rule_path(rule.path) else rule.path
    )


def load_shipped_rules() -> tuple[Rule, ...]:
    """Return the rules that come with nodrop, from their files."""
    return load_rules((resource_folder("rules"),))


def shipped_rules(load: Callable[[], tuple[Rule, ...]] = load_shipped_rules) -> tuple[Rule, ...]:
    """Return the rules that come with nodrop: what `load` returned to the first call in this process."""
    if not _shipped_rules_of_process:
        _shipped_rules_of_process.append(load())
    return _shipped_rules_of_process[0]


_shipped_rules_of_process: list[tuple[Rule, ...]] = []
