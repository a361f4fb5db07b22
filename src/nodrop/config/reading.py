"""From a nodrop.yaml or a pyproject.toml to how findings are judged; every fault names line and column."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from nodrop import stated
from nodrop.config.schema import ConfigFile, FailOn
from nodrop.config.toml import table
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.declared import Declared
from nodrop.fabric.spelling import read
from nodrop.fabric.subject import matches
from nodrop.fabric.types import nearest
from nodrop.formats.places import read_limited
from nodrop.formats.yaml import Document, parse
from nodrop.inputs import STDIN, is_intent
from nodrop.intent.load import validated
from nodrop.lint.engine import Override
from nodrop.lint.rule import Rule, Strictness
from nodrop.lint.suppressions import Suppression
from nodrop.stated.profile import load_profile, names

FILE = "nodrop.yaml"
PYPROJECT = "pyproject.toml"
MAX_BYTES = 8_000_000
_REPOSITORY = ".git"
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a file says about judging; every part is empty where it, or the file, is missing.

    Paths in it begin where the file lies: `rules` and `baseline` are such paths already.
    """

    path: Path | None = None
    rules: tuple[Path, ...] = ()
    strictness: Strictness | None = None
    fail_on: FailOn | None = None
    severity: Mapping[str, Override] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    declared: Declared = field(default_factory=Declared)
    """What is stated of the fabric, and the profile."""
    suppress: tuple[Suppression, ...] = ()
    baseline: Path | None = None
    exclude: tuple[str, ...] = ()
    places: Mapping[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    """Lines and columns of the rules and options that it names."""

    @property
    def excludes(self) -> Callable[[Path], bool] | None:
        """Return what tells whether a file or folder is not looked into; None where everything is."""
        return self._excludes if self.exclude and self.path is not None else None

    def _excludes(self, path: Path) -> bool:
        """Whether a pattern fits a file or folder: by its name, or by its path from the folder of this file."""
        assert self.path is not None
        below = os.path.relpath(path.absolute(), self.path.parent.absolute())
        parts = PurePath(below).parts
        return any(_fits(pattern, parts) for pattern in self.exclude)

    def check(self, rules: Iterable[Rule]) -> None:
        """Raise InputProblems where a severity or an option is of no rule, or the option is none of its rule."""
        known = {name: rule for rule in rules for name in (rule.name, *rule.aliases)}
        problems = [
            self._problem((key, name), f"no rule `{name}`", nearest(name, known))
            for key, table in (("severity", self.severity), ("options", self.options))
            for name in table
            if name not in known
        ]
        for name, values in self.options.items():
            options = {option.name: option for option in known[name].options} if name in known else {}
            for option, value in values.items() if name in known else ():
                if option not in options:
                    hint = nearest(option, options) or "it has none"
                    problems.append(self._problem(("options", name, option), f"no option `{option}` of {name}", hint))
                    continue
                try:
                    read(options[option].type, value)
                except ValueError as error:
                    problems.append(self._problem(("options", name, option), str(error)))
        if problems:
            raise InputProblems(problems)

    def _problem(self, keys: tuple[str, ...], found: str, hint: str = "") -> Problem:
        line, column = self.places.get(keys, (None, None))
        said, _, expected = found.partition("; expected ")
        where = ".".join(keys)
        shown = str(self.path)
        return Problem(path=shown, line=line, column=column, where=where, found=said, expected=expected, hint=hint)


def _fits(pattern: str, parts: tuple[str, ...]) -> bool:
    """Whether a pattern fits a path: its name, where the pattern has no slash; else all of it."""
    wanted = tuple(part for part in pattern.split("/") if part not in ("", "."))
    return matches(wanted, parts if "/" in pattern.rstrip("/") else parts[-1:])


def find(inputs: Sequence[str]) -> Path | None:
    """Return the nearest file above what a command looks at, no higher than the repository; None where there is none.

    The search begins in the folder that all inputs lie in; standard input lies in the working directory. A
    pyproject.toml counts where it has the table [tool.nodrop], and gives way to a nodrop.yaml beside it.
    """
    here = _common(inputs)
    for folder in (here, *here.parents):
        for name in (FILE, PYPROJECT):
            path = folder / name
            if os.path.isfile(path) and _counts(path):  # noqa: PTH113 -- Path's own raises where one may not enter
                return _shown(path)
        if os.path.lexists(folder / _REPOSITORY):
            return None
    return None


def _common(inputs: Sequence[str]) -> Path:
    folders = [Path("." if text == STDIN else text) for text in inputs] or [Path()]
    absolute = [os.path.abspath(one if os.path.isdir(one) else one.parent) for one in folders]  # noqa: PTH100, PTH112
    return Path(os.path.commonpath(absolute))


def _shown(path: Path) -> Path:
    """Return a path as a user would write it: from the working directory, where it lies below that or close by."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return Path(relative) if relative.count("..") <= 2 else path


def _counts(path: Path) -> bool:
    """Whether a file of this name is one of ours: an intent may be called so, and most projects have no such table."""
    try:
        raw = read_limited(path, str(path), MAX_BYTES)
    except InputProblems:
        return path.name == FILE
    return not is_intent(raw) if path.name == FILE else b"nodrop" in raw and table(raw, str(path)) is not None


def load(path: Path) -> Config:
    """Read a configuration; InputProblems holds every fault of its text and schema."""
    return loads(read_limited(path, str(path), MAX_BYTES), path)


def loads(raw: bytes, path: Path) -> Config:
    """Read a configuration from its text, as if it lay at `path`."""
    shown = str(path)
    document = _document(raw, path)
    file = validated(document, ConfigFile)
    folder = path.parent
    declared = stated.declared(document, file.fabric, ("fabric",))
    profile = None if file.profile is None else load_profile(_beside(folder, file.profile))
    return Config(
        path=path,
        rules=tuple(folder / one for one in file.rules),
        strictness=file.strictness,
        fail_on=file.fail_on,
        severity=file.severity,
        options=file.options,
        declared=Declared(profile=profile).over(declared),
        suppress=tuple(_suppressions(document, file, shown)),
        baseline=None if file.baseline is None else folder / file.baseline,
        exclude=file.exclude,
        places=dict(_places(document, file)),
    )


def _document(raw: bytes, path: Path) -> Document:
    if path.suffix != ".toml":
        return parse(raw, str(path))
    found = table(raw, str(path))
    if found is None:
        raise InputProblems([Problem(path=str(path), found="no table [tool.nodrop]", expected="one")])
    return found


def _beside(folder: Path, profile: str) -> str:
    return profile if profile in names() else str(folder / profile)


def _suppressions(document: Document, file: ConfigFile, shown: str) -> Iterable[Suppression]:
    lines = _LINE_END.split(document.text) if file.suppress else []
    for index, one in enumerate(file.suppress):
        line, column = document.place(("suppress", index, "rule"))
        text = lines[line - 1]
        yield Suppression(
            rule=one.rule,
            at=one.at,
            reason=one.reason,
            until=one.until,
            file=shown,
            line=line,
            column=column,
            end_column=column + len(one.rule) if text.startswith(one.rule, column - 1) else 0,
            text=text,
        )


def _places(document: Document, file: ConfigFile) -> Iterable[tuple[tuple[str, ...], tuple[int, int]]]:
    named: list[tuple[str, ...]] = [("severity", name) for name in file.severity]
    named += [("options", name) for name in file.options]
    named += [("options", name, option) for name, values in file.options.items() for option in values]
    for keys in named:
        yield keys, document.place(keys, of="key")
