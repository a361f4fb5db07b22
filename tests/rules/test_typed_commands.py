"""The commands that a finding prints end it: typed on a copy of the files and read again, with nothing new found.

What types them (`support/typed_commands.py`) knows the commands of switches and nothing of rules and fixes. Findings of
tests/data/faults that print no commands are about what a fix leaves to the owner. In the bad examples of rules, nothing
may stay empty either, and the switch must be as after the fix.
"""

from collections.abc import Mapping

import pytest

from nodrop.advising import add_fix_commands
from nodrop.engine.example_setup import TIER_CHANGES_BY_PLATFORM
from nodrop.engine.finding import FixCommands
from nodrop.engine.rules import select_file_rules, shipped
from nodrop.engine.verdicts import judge
from support.places import TESTS
from support.single_faults import Fault, faults, inject, outcome, reading_of
from support.typed_commands import NotKnown
from support.typed_trials import Examples, first_cases, type_all

TABLE = TESTS / "rules" / "not_ended_by_commands.txt"
EXAMPLES = {platform: TESTS / "rules" / f"not_ended_examples_{platform}.txt" for platform in TIER_CHANGES_BY_PLATFORM}
LEAST_EXAMPLES = {"sonic": 230, "nvue": 180}
"""Examples whose findings print commands, at least."""
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
    rules = (*select_file_rules(shipped()), *(rule for rule in shipped() if rule.failures))
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


@pytest.mark.slow
@pytest.mark.parametrize("platform", TIER_CHANGES_BY_PLATFORM)
def test_the_commands_of_examples_end_them_as_their_fixes_do(
    platform: str, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    """The table has what is left or new, which mostly is what an example has besides its fault."""
    examples, lines, count = Examples(monkeypatch), [], 0
    for rule in shipped():
        for name, trial in examples.try_rule(rule, platform):
            count += bool(trial.printed)
            lines += [f"{rule.name}: {name}: {failure}\n" for failure in trial.failures]
    table = EXAMPLES[platform]
    if update_golden:
        table.write_text("".join(lines))
    assert table.read_text() == "".join(lines)
    assert count >= LEAST_EXAMPLES[platform]
