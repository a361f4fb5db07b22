"""Fixes in the bad examples of all rules: each ends what it is for, or a table says what it leaves or brings about."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nodrop import platforms
from nodrop.engine.example_setup import TIER_CHANGES_BY_PLATFORM, PlatformExamples, UnsupportedExample
from nodrop.engine.examples import FabricOnPlatform, build_example_views
from nodrop.engine.finding import Finding
from nodrop.engine.rule import ANY_PLATFORM, Rule, RuleExample
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.change import Change
from nodrop.model.reading import Reading
from nodrop.model.subject import subject_text as subject_text
from nodrop.platforms import hosts
from nodrop.platforms.hosts import edit as hosts_edit
from support.last_reading import LastReading
from support.places import TESTS

TABLE = TESTS / "rules" / "not_repaired_examples.txt"
REASONS = TESTS / "rules" / "unrepaired_examples.yaml"


class Writing(LastReading):
    """What was written last on the way to a reading, and of which fabric."""

    def repaired(self, rule: Rule, view: FabricOnPlatform) -> str:
        """What becomes of an example where the fixes of a rule's findings are made; nothing where all is well."""
        assert self.fabric is not None
        before = _found(rule, view.reading)
        changes = dict.fromkeys(each for one in before if one.rule == rule.name for each in _changes(one))
        if not changes:
            return "no change is known"
        given: defaultdict[str, list[Change]] = defaultdict(list)
        for change in changes:
            given[change.subject[0]].append(change)
        files, by_hand = {}, []
        for device in self.fabric.devices:
            bundle = {one.path: one.text.encode() for one in self.artifacts if one.device == device.name}
            bundle = {name: raw for name, raw in bundle.items() if "/" not in name}
            if editor := platforms.find_editor(device.platform):
                made = editor.edit(bundle, given[device.name], name=device.name)
                by_hand += [one.line for one in made.by_hand]
                files |= {(device.name, name): raw.decode() for name, raw in made.files.items()}
        for host in given.keys() - {device.name for device in self.fabric.devices}:
            own = [one for one in self.artifacts if not one.device and hosts.host_name_of_path(Path(one.path)) == host]
            named = {Path(one.path).name: one for one in own}
            texts = {name: one.text.encode() for name, one in named.items()}
            edit = hosts_edit.edit(texts, given[host], name=host)
            by_hand += [one.line for one in edit.by_hand]
            files |= {
                ("", one.path): edit.files[name].decode() for one in own if (name := Path(one.path).name) in edit.files
            }
        new = [replace(one, text=files.get((one.device, one.path), one.text)) for one in self.artifacts]
        reading = self.read_back(new, self.fabric)
        profile = view.reading.fabric.profile
        after = _found(rule, replace(reading, fabric=replace(reading.fabric, profile=profile)))
        were = {(one.rule, one.subject) for one in before}
        return "; ".join(
            [
                *(f"by hand: {line}" for line in by_hand[:1]),
                *(f"still there: {subject_text(one.subject)}" for one in after if one.rule == rule.name),
                *sorted({f"then found: {one.rule}" for one in after if (one.rule, one.subject) not in were}),
            ]
        )


def _found(rule: Rule, reading: Reading) -> tuple[Finding, ...]:
    rules = [*select_lint_rules(shipped_rules()), *([rule] if rule not in select_lint_rules(shipped_rules()) else [])]
    return judge(reading, rules, strictness="auditor").findings


def _changes(finding: Finding) -> tuple[Change, ...]:
    return finding.fix.changes if finding.fix else ()


def _views(setting: PlatformExamples, example: RuleExample) -> Iterator[Any]:
    try:
        setting.raise_if_example_unsupported(example)
        yield from build_example_views(
            example,
            setting.build_base_fabric,
            setting.read_fabric_from_platform_files,
            setting.views_of_edited_artifacts,
        )
    except (UnsupportedExample, ValueError):
        return


def _reason(rule: Rule, platform: str) -> str:
    """Return why fixes of a rule do not repair an example: stated for examples, else that of missing commands."""
    stated = _reasons().get(rule.name)
    return stated or rule.no_commands.get(platform) or rule.no_commands.get(ANY_PLATFORM) or "?"


@cache
def _reasons() -> dict[str, str]:
    reasons: dict[str, str] = YAML(typ="safe").load(REASONS.read_text())
    return reasons


def _lines(writing: Writing) -> Iterator[str]:
    for rule in shipped_rules():
        for example in rule.examples if rule.changes_switch_configurations else ():
            for platform in TIER_CHANGES_BY_PLATFORM if example.name.startswith("bad") else ():
                for view in _views(PlatformExamples(platform), example):
                    if view.platform == platform and (said := writing.repaired(rule, view)):
                        yield f"{rule.name}: {example.name} on {platform}: {said}; because {_reason(rule, platform)}\n"


@pytest.mark.slow
def test_fixes_repair_the_examples_of_their_rules(monkeypatch: pytest.MonkeyPatch, update_golden: bool) -> None:
    found = "".join(_lines(Writing(monkeypatch)))
    if update_golden:
        TABLE.write_text(found)
    assert TABLE.read_text() == found


def test_every_example_that_is_not_repaired_has_a_reason() -> None:
    rows = TABLE.read_text().splitlines()
    assert [row for row in rows if row.endswith("; because ?") or "; because " not in row] == []
    assert set(_reasons()) <= {row.partition(":")[0] for row in rows}
