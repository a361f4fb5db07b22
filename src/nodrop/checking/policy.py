"""The policy that a change is checked by, and the change's edits to that policy.

Policy decides which findings fail: nodrop.yaml or [tool.nodrop] with the rules, the profile and the baseline
that it names, comments that allow findings, and the owner's wishes in a fabric.yaml. A check takes it from the
base, to keep a change from bringing the policy that lets it pass.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from nodrop.config import CONFIG_FILE, Config, find_config_file, load
from nodrop.config.reading import PYPROJECT_FILE, rule_files_below
from nodrop.context import FABRIC_FILE as FABRIC
from nodrop.engine.baseline import BASELINE_FILE as BASELINE
from nodrop.errors import InputProblems, Problem
from nodrop.inputs import PATCHES_FILE, DiskWithHeldTexts, FabricInputs
from nodrop.judging import CheckSettings
from nodrop.model.declared import DeclaredFacts
from nodrop.revisions import FormerTree

POLICY_FILES = (CONFIG_FILE, PYPROJECT_FILE, BASELINE, FABRIC, PATCHES_FILE)
"""Names of the files that decide what is checked and what fails, besides rules, profiles and comments."""
_MAX_POLICY_FILE_BYTES = 64_000_000
_POLICY_KEYS = ("rules", "strictness", "fail_on", "severity", "options", "profile", "baseline", "exclude")
_DECLARED_POLICY_KEYS = ("mode", "classes", "policy")

PolicyKind = Literal["config", "rule", "profile", "baseline", "fabric", "comment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPolicy:
    """How findings are made, and the severity that fails."""

    settings: CheckSettings
    fail_on: str = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFileChange:
    """A changed policy file: the change, in words that follow the file's name, and its line."""

    file: str
    kind: PolicyKind
    what: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPair:
    """The policy that both states are checked by, and the one that the change would have."""

    held: CheckPolicy
    proposed: CheckPolicy | None = None
    """None where it is the same, or cannot be read."""
    before: DeclaredFacts = field(default_factory=DeclaredFacts)
    """What the former configuration states of the fabric."""
    now: DeclaredFacts = field(default_factory=DeclaredFacts)
    """What the present configuration states of the fabric, with the policy that is held."""
    changes: tuple[PolicyFileChange, ...] = ()
    work: bool = False
    """Whether the working tree decides."""
    problems: tuple[Problem, ...] = ()
    """Why the former policy cannot be read."""
    wrong: tuple[Problem, ...] = ()
    """Why the present policy cannot be read."""

    def settings_for_state(self, *, old: bool) -> CheckSettings:
        """Return the settings for reading a state."""
        declared = self.before if old else self.now
        return replace(self.held.settings, config=replace(self.held.settings.config, declared=declared))


def same_policy_for_both_states(settings: CheckSettings, fail_on: str = "warning") -> PolicyPair:
    """Return the one policy that both states have."""
    declared = settings.config.declared
    return PolicyPair(held=CheckPolicy(settings=settings, fail_on=fail_on), before=declared, now=declared)


def resolve_policies(
    paths: Sequence[str],
    former_tree: FormerTree,
    make_policy: Callable[[Config], CheckPolicy],
    *,
    named: Config | None = None,
    work: bool = False,
) -> PolicyPair:
    """Return the policy that a change is checked by: that of the base, or of the working tree if `work`.

    `make_policy` makes a policy of a configuration. A `named` configuration counts for both states. If the base has
    none, or an unreadable one, nodrop's defaults count. Raise InputProblems if the policy that counts is unreadable.
    """
    problems: list[Problem] = []
    if named is not None:
        policy = make_policy(named)
        base = _load_former_config(named.path, former_tree, problems)
        before = replace(base.declared, profile=named.declared.profile)
        return PolicyPair(held=policy, before=before, now=named.declared, problems=tuple(problems), work=work)
    base = _load_former_config(
        find_config_file(paths, former_tree, _make_former_path_test(former_tree)), former_tree, problems
    )
    if work:
        new = _load_present_config(paths, None)
        before = replace(base.declared, profile=new.declared.profile)
        changes = tuple(_policy_changes(base, new, former_tree))
        return PolicyPair(
            held=make_policy(new), before=before, now=new.declared, changes=changes, work=True, problems=tuple(problems)
        )
    try:
        policy = make_policy(base)
    except InputProblems as error:
        problems += error.problems
        base = Config()
        policy = make_policy(base)
    wrong: tuple[Problem, ...] = ()
    new, proposed = base, None
    try:
        new = _load_present_config(paths, former_tree)
        changes = tuple(_policy_changes(base, new, former_tree))
        proposed = make_policy(new) if changes else None
    except InputProblems as error:
        wrong, changes = tuple(error.problems), ()
    current_declared = replace(new.declared.with_policy_of(base.declared), profile=base.declared.profile)
    return PolicyPair(
        held=policy,
        proposed=proposed,
        before=base.declared,
        now=current_declared,
        changes=changes,
        problems=tuple(problems),
        wrong=wrong,
    )


def _load_former_config(path: Path | None, former: FormerTree, problems: list[Problem]) -> Config:
    if path is None or former.path_from_top(path) is None or not former.is_file(path):
        return Config()
    try:
        return load(path, former)
    except InputProblems as error:
        problems += error.problems
        return Config()


def _make_former_path_test(former: FormerTree) -> Callable[[Path], bool]:
    return lambda folder: former.path_from_top(folder) is not None


def _load_present_config(paths: Sequence[str], former: FormerTree | None) -> Config:
    path = find_config_file(paths) if former is None else find_config_file(paths, within=_make_former_path_test(former))
    return Config() if path is None else load(path)


def _policy_changes(old: Config, new: Config, former: FormerTree) -> Iterator[PolicyFileChange]:
    """Yield the files of a policy whose decisions differ."""
    path = new.path or old.path
    if path is not None and (keys := _changed_policy_keys(old, new)):
        gone = new.path is None
        description = f"is deleted, and with it {_join_with_and(keys)}" if gone else f"changes {_join_with_and(keys)}"
        yield PolicyFileChange(
            file=str(path), kind="config", what=description, line=None if gone else first_changed_line(former, path)
        )
    files, before = _find_policy_files(new, DiskWithHeldTexts()), _find_policy_files(old, former)
    for file in sorted(files.keys() | before.keys()):
        kind = (before | files)[file]
        if file not in files or not Path(file).is_file():
            yield PolicyFileChange(file=str(file), kind=kind, what=f"this {kind} no longer counts")
        elif file not in before:
            yield PolicyFileChange(file=str(file), kind=kind, what=f"this {kind} is new", line=1)
        elif not former.is_unchanged(former.text(file)):
            yield PolicyFileChange(
                file=str(file), kind=kind, what=f"this {kind} changes", line=first_changed_line(former, file)
            )


def _changed_policy_keys(old: Config, new: Config) -> list[str]:
    keys = [key for key in _POLICY_KEYS if getattr(old, key) != getattr(new, key)]
    if old.declared.profile != new.declared.profile and old.profile == new.profile is None:
        keys.append("profile")
    suppressions = [
        [(suppression.rule, suppression.at, suppression.reason, suppression.until) for suppression in config.suppress]
        for config in (old, new)
    ]
    keys += ["suppress"] if suppressions[0] != suppressions[1] else []
    lines = [
        [
            (declared_line.pattern, declared_line.at, declared_line.reason, declared_line.until)
            for declared_line in config.harmless
        ]
        for config in (old, new)
    ]
    keys += ["harmless"] if lines[0] != lines[1] else []
    return keys + [f"fabric.{key}" for key in changed_wanted_keys(old.declared, new.declared)]


def changed_wanted_keys(old_declared: DeclaredFacts, new_declared: DeclaredFacts) -> list[str]:
    """Return the keys of the owner's wishes for a fabric that differ; roles of switches without a wish are facts."""
    keys = [key for key in _DECLARED_POLICY_KEYS if getattr(old_declared, key) != getattr(new_declared, key)]
    return keys + (
        ["roles"] if any(new_declared.roles.get(name) != role for name, role in old_declared.roles.items()) else []
    )


def fabric_policy_change(
    key_names: Sequence[str], inputs: FabricInputs, was: FabricInputs, former_tree: FormerTree
) -> PolicyFileChange:
    """Return the change of the facts stated next to the files of a fabric."""
    if not inputs.stated:
        description = f"is deleted, and with it {_join_with_and(key_names)}"
        return PolicyFileChange(file=was.stated[0].display, kind="fabric", what=description)
    file = inputs.stated[0].display
    line = first_changed_line(former_tree, Path(file))
    return PolicyFileChange(file=file, kind="fabric", what=f"changes {_join_with_and(key_names)}", line=line)


def _find_policy_files(config: Config, disk: DiskWithHeldTexts) -> dict[Path, PolicyKind]:
    """Return the files that a configuration names, each with its kind."""
    files: dict[Path, PolicyKind] = {path: "rule" for folder in config.rules for path in rule_files_below(disk, folder)}
    for path, kind in ((config.profile, "profile"), (config.baseline, "baseline")):
        if path is not None:
            files[path] = "profile" if kind == "profile" else "baseline"
    return files


def first_changed_line(former_tree: FormerTree, path: Path) -> int:
    """Return the first line of a file that is not as it was, 1 where that cannot be found."""
    texts = []
    for text in (former_tree.text(path), DiskWithHeldTexts().text(path)):
        try:
            texts.append(text.read_bytes(_MAX_POLICY_FILE_BYTES).decode("utf-8", "replace").splitlines())
        except InputProblems:
            return 1
    old, new = texts
    same = next(
        (at for at, (old_line, new_line) in enumerate(zip(old, new, strict=False)) if old_line != new_line), len(old)
    )
    return max(1, min(same + 1, len(new)))


def _join_with_and(words: Iterable[str]) -> str:
    *leading_words, last = words
    return f"{', '.join(leading_words)} and {last}" if leading_words else last


def is_excluded(config: Config, paths: Sequence[str], files: Iterable[str]) -> bool:
    """Whether a configuration excludes one of the files, or a folder that it lies in below the named paths."""
    excludes = config.excludes
    if excludes is None:
        return False
    named_paths = {os.path.abspath(path) for path in paths}  # noqa: PTH100
    for file in files:
        parent = Path(os.path.abspath(file))  # noqa: PTH100
        while str(parent) not in named_paths and parent != parent.parent:
            if excludes(parent):
                return True
            parent = parent.parent
    return False
