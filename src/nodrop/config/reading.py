"""From a nodrop.yaml or a pyproject.toml to how findings are judged; every fault names line and column."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TypeVar

from nodrop import context
from nodrop.config.schema import ConfigFile, FailOn, HarmlessUnknownLine, SuppressedFindings
from nodrop.config.toml import parse_nodrop_table
from nodrop.context.profile import MAX_PROFILE_BYTES as MAX_PROFILE_BYTES
from nodrop.context.profile import load_profile, loads_profile, shipped_profile_names
from nodrop.engine import baseline
from nodrop.engine.declared_lines import DeclaredHarmlessLine
from nodrop.engine.rule import Rule, Strictness
from nodrop.engine.rule_loader import MAX_RULE_BYTES as MAX_RULE_BYTES
from nodrop.engine.rules import OverridingTexts, is_rule_file_name
from nodrop.engine.suppressions import Suppression
from nodrop.engine.verdicts import SeverityOverride
from nodrop.errors import InputProblems, Problem
from nodrop.inputs import NAMED_FILE_PATH_EXPECTED, STDIN_ARGUMENT, DiskWithHeldTexts, is_intent
from nodrop.intent.load import validate_document
from nodrop.limits import MAX_TEXT_BYTES
from nodrop.model.declared import DeclaredFacts
from nodrop.model.profile import Profile
from nodrop.model.reading import Note
from nodrop.model.spelling import parse_value
from nodrop.model.subject import matches
from nodrop.model.types import known_word_hint
from nodrop.syntax.places import split_lines
from nodrop.syntax.root import GIT_FOLDER
from nodrop.syntax.yaml import DocumentWithPlaces, parse_yaml

CONFIG_FILE = "nodrop.yaml"
PYPROJECT_FILE = "pyproject.toml"
MAX_CONFIG_BYTES = MAX_TEXT_BYTES

_Row = TypeVar("_Row", SuppressedFindings, HarmlessUnknownLine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings of a file for checks; every part is empty if it, or the file, is missing.

    Paths in it begin in the file's folder: `rules` and `baseline` are such paths already.
    """

    path: Path | None = None
    rules: tuple[Path, ...] = ()
    strictness: Strictness | None = None
    fail_on: FailOn | None = None
    severity: Mapping[str, SeverityOverride] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    declared: DeclaredFacts = field(default_factory=DeclaredFacts)
    """What is stated of the fabric, and the profile."""
    profile: Path | None = None
    """The file of the profile; None where it is a shipped one, or there is none."""
    suppress: tuple[Suppression, ...] = ()
    harmless: tuple[DeclaredHarmlessLine, ...] = ()
    baseline: Path | None = None
    held: OverridingTexts = field(default_factory=dict)
    """Texts of the rules and the baseline, where these are not what lies there now: those of a former state."""
    exclude: tuple[str, ...] = ()
    rule_pages: str | None = None
    """Where the site publishes the rule pages; `{rule}` stands for a rule's name."""
    places: Mapping[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    """Lines and columns of the rules and options that it names."""

    @property
    def notes_for_intents(self) -> tuple[Note, ...]:
        """The note that facts of a fabric are not used where it is built from an intent; none without such facts."""
        if replace(self.declared, profile=None) == DeclaredFacts():
            return ()
        message = "`fabric` of the configuration is not used for an intent, which states all of its fabric itself"
        return (Note(kind="facts-not-used", message=message, file=str(self.path)),)

    @property
    def excludes(self) -> Callable[[Path], bool] | None:
        """Return a predicate for files and folders to skip; None if nothing is skipped."""
        return self._is_path_excluded if self.exclude and self.path is not None else None

    def _is_path_excluded(self, path: Path) -> bool:
        """Whether a pattern fits a file or folder: by its name, or by its path from the folder of this file."""
        assert self.path is not None
        below = os.path.relpath(path.absolute(), self.path.parent.absolute())
        path_parts = PurePath(below).parts
        return any(_fits_pattern(pattern, path_parts) for pattern in self.exclude)

    def check_severity_and_options(self, rules: Iterable[Rule]) -> None:
        """Raise InputProblems where a severity or an option is of no rule, or the option is none of its rule."""
        known_rules = {name: rule for rule in rules for name in (rule.name, *rule.aliases)}
        problems = [
            self._problem_at_keys((key, name), f"no rule `{name}`", known_word_hint(name, known_rules))
            for key, table in (("severity", self.severity), ("options", self.options))
            for name in table
            if name not in known_rules
        ]
        for name, values in self.options.items():
            options = {option.name: option for option in known_rules[name].options} if name in known_rules else {}
            for option, value in values.items() if name in known_rules else ():
                if option not in options:
                    hint = known_word_hint(option, options) or "it has none"
                    problems.append(
                        self._problem_at_keys(("options", name, option), f"no option `{option}` of {name}", hint)
                    )
                    continue
                try:
                    parse_value(options[option].type, value)
                except ValueError as error:
                    problems.append(self._problem_at_keys(("options", name, option), str(error)))
        if problems:
            raise InputProblems(problems)

    def _problem_at_keys(self, keys: tuple[str, ...], message: str, hint: str = "") -> Problem:
        line, column = self.places.get(keys, (None, None))
        fault, _, expected = message.partition("; expected ")
        where = ".".join(keys)
        shown = str(self.path)
        return Problem(path=shown, line=line, column=column, where=where, found=fault, expected=expected, hint=hint)


def _fits_pattern(pattern: str, path_parts: tuple[str, ...]) -> bool:
    """Whether a pattern fits a path: its name, where the pattern has no slash; else all of it."""
    wanted_patterns = tuple(segment for segment in pattern.split("/") if segment not in ("", "."))
    return matches(wanted_patterns, path_parts if "/" in pattern.rstrip("/") else path_parts[-1:])


def find_config_file(
    inputs: Sequence[str], disk: DiskWithHeldTexts | None = None, within: Callable[[Path], bool] | None = None
) -> Path | None:
    """Return the nearest file above the inputs of a command, no higher than the repository; None if there is none.

    The search begins in the folder that contains all inputs; standard input is in the working directory. It ends
    below the first folder that is not `within` the tree; the default is the folder of the repository. A pyproject.toml
    counts if it has the table [tool.nodrop], and gives way to a nodrop.yaml in the same folder.
    """
    disk = disk or DiskWithHeldTexts()
    common_folder = _common_folder(inputs, disk)
    for folder in (common_folder, *common_folder.parents):
        if within is not None and not within(folder):
            return None
        for name in (CONFIG_FILE, PYPROJECT_FILE):
            path = folder / name
            if disk.is_folder(folder) and disk.is_file(path) and _is_config_file(path, disk):
                return _shorten_path(path)
        if within is None and os.path.lexists(folder / GIT_FOLDER):
            return None
    return None


def _common_folder(inputs: Sequence[str], disk: DiskWithHeldTexts) -> Path:
    folders = [Path("." if text == STDIN_ARGUMENT else text) for text in inputs] or [Path()]
    absolute = [os.path.abspath(folder if disk.is_folder(folder) else folder.parent) for folder in folders]  # noqa: PTH100
    return Path(os.path.commonpath(absolute))


def _shorten_path(path: Path) -> Path:
    """Return a path as a user would write it: from the working directory, where it lies below that or close by."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return Path(relative) if relative.count("..") <= 2 else path


def _is_config_file(path: Path, disk: DiskWithHeldTexts) -> bool:
    """Whether a file of this name is one of ours: an intent may be called so, and most projects have no such table."""
    try:
        raw = disk.text(path).read_bytes(MAX_CONFIG_BYTES)
    except InputProblems:
        return path.name == CONFIG_FILE
    return (
        not is_intent(raw)
        if path.name == CONFIG_FILE
        else b"nodrop" in raw and parse_nodrop_table(raw, str(path)) is not None
    )


def load(path: Path, disk: DiskWithHeldTexts | None = None) -> Config:
    """Read a configuration; InputProblems holds every fault of its text and schema."""
    return loads((disk or DiskWithHeldTexts()).text(path).read_bytes(MAX_CONFIG_BYTES), path, disk)


def loads(file_content: bytes, path: Path, disk: DiskWithHeldTexts | None = None) -> Config:
    """Read a configuration from its text, as if it lay at `path`; the files that it names are those of the `disk`.

    InputProblems where one of these files lies outside the repository, or the profile cannot be read.
    """
    shown = str(path)
    document = _parse_document(file_content, path)
    file = validate_document(document, ConfigFile)
    declared = context.parse_declared_facts(document, file.fabric, ("fabric",))
    named_files = _NamedFiles(document, path, disk or DiskWithHeldTexts())
    rules = tuple(named_files.path(rule, "rules", at) for at, rule in enumerate(file.rules))
    known_path = None if file.baseline is None else named_files.path(file.baseline, "baseline")
    own_path = (
        None
        if file.profile is None or file.profile in shipped_profile_names()
        else named_files.path(file.profile, "profile")
    )
    named_files.raise_if_outside_repository()
    profile = (
        None
        if file.profile is None
        else named_files.profile(own_path)
        if own_path is not None
        else load_profile(file.profile)
    )
    return Config(
        path=path,
        rules=rules,
        strictness=file.strictness,
        fail_on=file.fail_on,
        severity=file.severity,
        options=file.options,
        declared=DeclaredFacts(profile=profile).completed_from(declared),
        suppress=tuple(_read_suppressions(document, file, shown)),
        harmless=tuple(_declared_lines(document, file, shown)),
        profile=own_path,
        baseline=known_path,
        held=named_files.read_former_rules_and_baseline(rules, known_path),
        exclude=file.exclude,
        rule_pages=file.rule_pages,
        places=dict(_key_positions(document, file)),
    )


def _parse_document(file_content: bytes, path: Path) -> DocumentWithPlaces:
    if path.suffix != ".toml":
        return parse_yaml(file_content, str(path))
    document = parse_nodrop_table(file_content, str(path))
    if document is None:
        raise InputProblems([Problem(path=str(path), found="no table [tool.nodrop]", expected="one")])
    return document


class _NamedFiles:
    """The files that a configuration names: they must be below its repository, even if links lead there."""

    def __init__(self, document: DocumentWithPlaces, path: Path, disk: DiskWithHeldTexts) -> None:
        self._document, self._path, self._disk = document, path, disk
        self._problems: list[Problem] = []

    def path(self, name: str, *keys: str | int) -> Path:
        """Return where a file lies that a key names; one outside the repository is a problem."""
        if fault_text := self._disk.explain_path_outside_repository(self._path.parent, name):
            self._problems.append(self._document.problem(keys, fault_text, NAMED_FILE_PATH_EXPECTED))
        return self._path.parent / name

    def raise_if_outside_repository(self) -> None:
        """Raise InputProblems where a path led out of the repository."""
        if self._problems:
            raise InputProblems(self._problems)

    def profile(self, path: Path) -> Profile:
        """Return the profile in a file."""
        if not self._disk.is_former:
            return load_profile(str(path), self._disk.confining_root_of_path(path))
        return loads_profile(self._disk.text(path).read_bytes(MAX_PROFILE_BYTES), str(path), path.stem)

    def read_former_rules_and_baseline(self, rules: Sequence[Path], known_path: Path | None) -> OverridingTexts:
        """Return the texts of rules and baseline, of a former state; what lies there now is read when it is needed."""
        if not self._disk.is_former:
            return {}
        base_texts = {folder: dict(self._read_rule_files(self._disk, folder)) for folder in rules}
        if known_path is not None:
            base_texts[known_path] = {"": self._disk.text(known_path).read_bytes(baseline.MAX_BASELINE_BYTES)}
        return base_texts

    def _read_rule_files(self, disk: DiskWithHeldTexts, folder: Path) -> Iterable[tuple[str, bytes]]:
        for path in rule_files_below(disk, folder):
            yield os.path.relpath(path, folder), disk.text(path).read_bytes(MAX_RULE_BYTES)


def rule_files_below(disk: DiskWithHeldTexts, folder: Path) -> Iterator[Path]:
    """Yield the files of a folder of rules that are called as rule files are; links to folders are not followed."""
    pending = [folder] if disk.is_folder(folder) else []
    while pending:
        path = pending.pop()
        for entry in disk.entries(path):
            if entry.name.startswith("."):
                continue
            if entry.kind == "folder":
                pending.append(path / entry.name)
            elif entry.kind == "file" and is_rule_file_name(entry.name):
                yield path / entry.name


def _read_suppressions(document: DocumentWithPlaces, file: ConfigFile, shown: str) -> Iterable[Suppression]:
    for suppress, (line, column, end_column, text) in _locate_fields(document, "suppress", file.suppress, "rule"):
        yield Suppression(
            rule=suppress.rule,
            at=suppress.at,
            reason=suppress.reason,
            until=suppress.until,
            file=shown,
            line=line,
            column=column,
            end_column=end_column,
            text=text,
        )


def _declared_lines(document: DocumentWithPlaces, file: ConfigFile, shown_value: str) -> Iterable[DeclaredHarmlessLine]:
    for declared_line, (line, column, end_column, text) in _locate_fields(document, "harmless", file.harmless, "line"):
        yield DeclaredHarmlessLine(
            pattern=tuple(declared_line.line.split()),
            at=declared_line.at,
            reason=declared_line.reason,
            until=declared_line.until,
            file=shown_value,
            line=line,
            column=column,
            end_column=end_column,
            text=text,
        )


def _locate_fields(
    document: DocumentWithPlaces, key: str, table_rows: Sequence[_Row], field: str
) -> Iterator[tuple[_Row, tuple[int, int, int, str]]]:
    """Yield rows with the line and the columns of a field, from 1, and its text; the end is 0 where it is not plain."""
    lines = split_lines(document.text) if table_rows else []
    for index, row in enumerate(table_rows):
        line, column = document.line_and_column((key, index, field))
        text, word = lines[line - 1], getattr(row, field)
        yield row, (line, column, column + len(word) if text.startswith(word, column - 1) else 0, text)


def _key_positions(document: DocumentWithPlaces, file: ConfigFile) -> Iterable[tuple[tuple[str, ...], tuple[int, int]]]:
    key_paths: list[tuple[str, ...]] = [("severity", name) for name in file.severity]
    key_paths += [("options", name) for name in file.options]
    key_paths += [("options", name, option) for name, values in file.options.items() for option in values]
    for keys in key_paths:
        yield keys, document.line_and_column(keys, of="key")
