"""The commands that a finding prints end it: typed on a copy of the files and read again, with nothing new found.

What types them (`support/typed_commands.py`) knows the commands of switches and nothing of rules and fixes. Findings of
tests/data/faults that print no commands are about what a fix leaves to the owner. In the bad examples of rules, nothing
may stay empty either, and the switch must be as after the fix.
"""

from collections.abc import Mapping

import pytest

from nodrop import platforms
from nodrop.advising import add_fix_commands
from nodrop.engine.example_setup import TIER_CHANGES_BY_PLATFORM
from nodrop.engine.finding import FixCommands
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.reading import Reading, Source
from support.marked import nightly, slow
from support.places import TESTS
from support.single_faults import Fault, faults, inject, outcome, reading_of
from support.typed_commands import NotKnown, type_commands
from support.typed_trials import Examples, first_cases, type_all

TABLE = TESTS / "rules" / "not_ended_by_commands.txt"
EXAMPLES = {platform: TESTS / "rules" / f"not_ended_examples_{platform}.txt" for platform in TIER_CHANGES_BY_PLATFORM}
LEAST_EXAMPLES = {"sonic": 230, "nvue": 180}
"""Examples whose findings print commands, at least."""
READ_ONLY_SAMPLES = {
    ("onyx", "bad.txt"): {"dangling-reference", "pfc-without-watchdog"},
    ("cumulus", "bad"): {"dangling-reference", "pfc-without-watchdog"},
}
"""Files of platforms that are only read, and the rules whose findings in them print commands."""
LEAST_PRINTED = 140
"""Faults whose findings print commands, at least."""


def _printed(fault: Fault, files: Mapping[str, str]) -> list[FixCommands]:
    """Return the commands of the findings of the rule that must find a fault, each once."""
    findings = add_fix_commands(outcome(fault).verdict.findings, reading_of(fault, files))
    own = [finding.fix for finding in findings if finding.rule == fault.row["rule"] and finding.fix]
    return list(first_cases(each for fix in own for each in fix.commands))


def _failure(fault: Fault, files: Mapping[str, str], printed: list[FixCommands]) -> str:
    """Return what commands leave or bring about; nothing where they end the fault."""
    try:
        new = type_all(printed, files)
    except NotKnown as command:
        return f"nothing to do it to: {command}"
    rules = (*select_lint_rules(shipped_rules()), *(rule for rule in shipped_rules() if rule.failures))
    after = judge(reading_of(fault, new), rules, strictness=fault.row.get("strictness", "regular")).findings
    were = {(finding.rule, finding.subject) for finding in outcome(fault).verdict.findings}
    left = ["still found" for finding in after if finding.rule == fault.row["rule"]]
    return ", ".join([*left[:1], *sorted({one.rule for one in after if (one.rule, one.subject) not in were})])


@pytest.mark.slow
def test_the_commands_of_a_finding_end_it_and_nothing_new_is_found(update_golden: bool) -> None:
    lines, count = [], 0
    for fault in faults():
        files = inject(fault)
        if not (printed := _printed(fault, files)):
            continue
        count += 1
        if failure := _failure(fault, files, printed):
            lines.append(f"{fault.name}: {fault.row['rule']}: {failure}\n")
    if update_golden:
        TABLE.write_text("".join(lines))
    assert TABLE.read_text() == "".join(lines)
    assert count >= LEAST_PRINTED


@pytest.mark.parametrize("platform", [*slow("sonic"), *nightly(*TIER_CHANGES_BY_PLATFORM.keys() - {"sonic"})])
def test_the_commands_of_examples_end_them_as_their_fixes_do(
    platform: str, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    """The table has what is left or new, which mostly is what an example has besides its fault."""
    examples, lines, count = Examples(monkeypatch), [], 0
    for rule in shipped_rules():
        for name, trial in examples.try_rule(rule, platform):
            count += bool(trial.printed)
            lines += [f"{rule.name}: {name}: {failure}\n" for failure in trial.failures]
    table = EXAMPLES[platform]
    if update_golden:
        table.write_text("".join(lines))
    assert table.read_text() == "".join(lines)
    assert count >= LEAST_EXAMPLES[platform]


def _sample(platform: str, name: str) -> dict[str, str]:
    path = TESTS / "platforms" / platform / name
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name if path.is_dir() else "running-config.txt": file.read_text() for file in files}


def _read_sample(platform: str, files: Mapping[str, str]) -> Reading:
    bundle = [
        (Source(name=name, display=name, held=text.encode()), text.encode()) for name, text in sorted(files.items())
    ]
    return assemble_fabric([platforms.reader(platform).read_device("sw1", bundle)], DeclaredFacts())


def _languages(files: Mapping[str, str], commands: FixCommands) -> Mapping[str, str]:
    """Return files with frr.conf under its plain name, where the commands are for it."""
    return files if commands.language != "frr" else {"frr.conf": files["frr.conf"]}


@pytest.mark.parametrize(("platform", "name"), READ_ONLY_SAMPLES)
def test_the_commands_for_platforms_that_are_only_read_end_their_findings(platform: str, name: str) -> None:
    files = _sample(platform, name)
    reading = _read_sample(platform, files)
    rules = select_lint_rules(shipped_rules())
    before = judge(reading, rules, strictness="auditor").findings
    typed_rules = set()
    for rule in dict.fromkeys(finding.rule for finding in before):
        own = [finding for finding in add_fix_commands(before, reading) if finding.rule == rule]
        typed = [finding for finding in own if finding.fix and finding.fix.commands]
        new = dict(files)
        for commands in dict.fromkeys(each for one in typed if one.fix for each in first_cases(one.fix.commands)):
            new |= type_commands(commands.language, commands.lines, _languages(new, commands))
        if not typed:
            continue
        typed_rules.add(rule)
        after = judge(_read_sample(platform, new), rules, strictness="auditor").findings
        kept = {(one.subject, one.message) for one in after if one.rule == rule}
        assert kept == {(one.subject, one.message) for one in own if one not in typed}
        assert {one.rule for one in after} <= {one.rule for one in before}
    assert typed_rules == READ_ONLY_SAMPLES[platform, name]
