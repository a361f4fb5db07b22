"""Trials of printed commands: typed on a copy of the files that a finding is in, read again, and compared.

The files are those of the bad examples of rules, on the platforms that are written.
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from nodrop import platforms
from nodrop.advising import add_fix_commands
from nodrop.engine.example_setup import PlatformExamples, UnsupportedExample
from nodrop.engine.examples import build_example_views
from nodrop.engine.finding import FabricVerdict, Finding, FixCommands
from nodrop.engine.rule import Rule
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.folding import mark_findings_explained_by_others
from nodrop.model.compare import differences
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject
from support import nvue_replay
from support.last_reading import LastReading
from support.typed_commands import NotKnown, type_commands

_SHOWN = 3
"""Differences of a switch that are named."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Commands that were typed: what the findings of a rule print, and what they leave or bring about."""

    printed: tuple[FixCommands, ...]
    failures: tuple[str, ...]


class Examples(LastReading):
    """The bad examples of rules as files, read and judged again after commands were typed."""

    def try_rule(self, rule: Rule, platform: str) -> Iterator[tuple[str, Trial]]:
        """Yield the trials of a rule's bad examples on a platform, by name of the example."""
        setting = PlatformExamples(platform)
        for example in rule.examples:
            if example.kind != "bad" or example.seen or example.beside:
                continue
            try:
                setting.raise_if_example_unsupported(example)
                views = build_example_views(
                    example,
                    setting.build_base_fabric,
                    setting.read_fabric_from_platform_files,
                    setting.views_of_edited_artifacts,
                )
            except (UnsupportedExample, ValueError):
                continue
            for view in views:
                if view.platform == platform:
                    yield example.name, self._try_reading(rule, view.reading)

    def _try_reading(self, rule: Rule, reading: Reading) -> Trial:
        assert self.fabric is not None
        alone = judge(reading, [rule], strictness="auditor").findings
        if all(one.fix is None for one in alone):  # beside other rules it finds no more
            return Trial((), ())
        before = _judge(rule, reading)
        folded = mark_findings_explained_by_others(before.findings, reading, _rules_with(rule), _judge_as_lint_does)
        own = [finding for finding in add_fix_commands(folded, reading) if finding.rule == rule.name]
        own = [finding for finding in own if not finding.explained_by]
        printed = first_cases(each for one in own if one.fix for each in one.fix.commands)
        if not printed:
            return Trial((), ())
        names = {device.name for device in self.fabric.devices}
        files = {f"{one.device}/{one.path}".removeprefix("/"): one.text for one in self.artifacts}
        try:
            typed = type_all(printed, files)
        except NotKnown as command:
            return Trial(printed, (f"not known: {command}",))
        artifacts = [replace(one, text=typed[f"{one.device}/{one.path}".removeprefix("/")]) for one in self.artifacts]
        after_reading = self.read_back(artifacts, self.fabric)
        profile = reading.fabric.profile
        after = _judge(rule, replace(after_reading, fabric=replace(after_reading.fabric, profile=profile)))
        typed_findings = {finding.subject for finding in own if finding.fix and finding.fix.commands}
        says_check = any(finding.fix and "check again" in finding.fix.text for finding in own)
        foretold = {rule.name for rule in shipped_rules()} if says_check else set[str]()
        failures = [
            *compare(rule, before, after, typed_findings, foretold),
            *leftovers(files, typed),
            *self._unlike_fix(own, files, typed, names),
        ]
        return Trial(printed, tuple(failures))

    def _unlike_fix(
        self, own: Iterable[Finding], files: Mapping[str, str], typed: Mapping[str, str], names: set[str]
    ) -> Iterator[str]:
        """Yield the switches that commands leave unlike the edit of the fix, where that leaves nothing to type."""
        changes: dict[str, list[Any]] = {}
        for finding in own:
            for change in (*finding.fix.changes, *finding.fix.completing) if finding.fix else ():
                if change.subject[0] in names and change not in changes.setdefault(change.subject[0], []):
                    changes[change.subject[0]].append(change)
        assert self.fabric is not None
        platform_of = {device.name: device.platform for device in self.fabric.devices}
        for name, asked in changes.items():
            editor = platforms.find_editor(platform_of[name])
            bundle = {key.partition("/")[2]: text.encode() for key, text in files.items() if key.startswith(f"{name}/")}
            bundle = {key: raw for key, raw in bundle.items() if "/" not in key}
            if editor is None:
                continue
            edit = editor.edit(bundle, asked, name=name)
            if edit.by_hand:
                continue
            fixed = {**files, **{f"{name}/{key}": raw.decode() for key, raw in edit.files.items()}}
            by_fix, by_commands = (self._device(texts, name) for texts in (fixed, typed))
            for difference in islice(differences(by_fix, by_commands), _SHOWN):
                yield f"{name} unlike the fix: {'/'.join(map(str, difference.path))}"

    def _device(self, files: Mapping[str, str], name: str) -> Any:
        artifacts = [replace(one, text=files[f"{one.device}/{one.path}".removeprefix("/")]) for one in self.artifacts]
        assert self.fabric is not None
        return next(d for d in self.read_back(artifacts, self.fabric).fabric.devices if d.name == name)


def first_cases(commands: Iterable[FixCommands]) -> tuple[FixCommands, ...]:
    """Return commands once each; of those for different cases, the first, and none that only show the case."""
    first: dict[str, str] = {}
    chosen: dict[tuple[str, tuple[str, ...]], FixCommands] = {}
    for each in commands:
        if each.condition in ("first check", "else"):
            continue
        other_case = each.condition and first.setdefault(each.device, each.condition) != each.condition
        if not other_case:
            chosen[each.device, each.lines] = each
    return tuple(chosen.values())


_judge_as_lint_does = partial(judge, strictness="auditor")


def _rules_with(rule: Rule) -> list[Rule]:
    rules = select_lint_rules(shipped_rules())
    return [*rules, *([rule] if rule not in rules else [])]


def _judge(rule: Rule, reading: Reading) -> FabricVerdict:
    return _judge_as_lint_does(reading, _rules_with(rule))


def compare(
    rule: Rule,
    before: FabricVerdict,
    after: FabricVerdict,
    typed: Container[Subject] | None = None,
    foretold: Container[str] = (),
) -> Iterator[str]:
    """Yield what is still found of a rule, at the parts `typed` for, and what is found or not known that was not.

    Of the new findings, those of rules that the report has `foretold` are marked.
    """
    left, found = (
        [one for one in verdict.findings if one.rule == rule.name and (typed is None or one.subject in typed)]
        for verdict in (after, before)
    )
    if left:
        yield f"still found: {len(left)} of {len(found)}"
    were = {(one.rule, one.subject) for one in before.findings}
    yield from sorted(
        {
            f"{'new, as said' if one.rule in foretold else 'new'}: {one.severity} {one.rule}"
            for one in after.findings
            if (one.rule, one.subject) not in were
        }
    )
    unknown = {(one.rule, one.missing) for one in before.unknown}
    yield from sorted(
        {f"unknown: {one.rule}: {one.missing}" for one in after.unknown if (one.rule, one.missing) not in unknown}
    )


def leftovers(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield the mappings that have lost all their settings and are still there."""
    for name, text in after.items():
        if text != before.get(name) and name.endswith(("startup.yaml", "config_db.json")):
            read = json.loads if name.endswith(".json") else nvue_replay.settings
            old, new = read(before[name]), read(text)
            yield from (f"left empty in {name}: {' '.join(path)}" for path in _emptied(old, new, ()))


_COLLECTIONS = {"acl", "aggregate-route", "neighbor", "pcp", "static", "traffic-class"}
"""What NVUE names owners' objects below: empty, it sets nothing."""


def _emptied(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    if old and not new and path[-1] not in _COLLECTIONS:
        yield path
    for key, value in new.items():
        yield from _emptied(old.get(key), value, (*path, str(key)))


def type_all(printed: Iterable[FixCommands], files: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a build after commands were typed on its switches and hosts."""
    new = dict(files)
    for commands in printed:
        if commands.language == "hosts":
            of_hosts = {name: text for name, text in new.items() if name.startswith("hosts/")}
            of_hosts = {
                name: text for name, text in of_hosts.items() if name.startswith(f"hosts/{commands.device}/")
            } or of_hosts
            new |= type_commands(commands.language, commands.lines, of_hosts)
            continue
        head = f"{commands.device}/"
        own = {name.removeprefix(head): text for name, text in new.items() if name.startswith(head)}
        own = {name: text for name, text in own.items() if "/" not in name}
        new |= {f"{head}{name}": text for name, text in type_commands(commands.language, commands.lines, own).items()}
    return new
