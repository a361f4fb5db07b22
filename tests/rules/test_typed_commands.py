"""The commands that a finding prints end it: typed on a copy of the files and read again, with nothing new found.

What types them (`support/typed_commands.py`) knows the commands of switches and nothing of rules and fixes. Findings of
tests/data/faults that print no commands are about what a fix leaves to the owner.
"""

from collections.abc import Mapping

import pytest

from nodrop.advising import with_commands
from nodrop.engine.finding import Commands
from nodrop.engine.rules import select_file_rules, shipped
from nodrop.engine.verdicts import judge
from support.places import TESTS
from support.single_faults import Fault, faults, inject, outcome, reading_of
from support.typed_commands import NotKnown, type_commands

TABLE = TESTS / "rules" / "not_ended_by_commands.txt"
LEAST_PRINTED = 140
"""Faults whose findings print commands, at least."""


def _printed(fault: Fault, files: Mapping[str, str]) -> list[Commands]:
    """Return the commands of the findings of the rule that must find a fault, each once."""
    findings = with_commands(outcome(fault).verdict.findings, reading_of(fault, files))
    own = [finding.fix for finding in findings if finding.rule == fault.row["rule"] and finding.fix]
    return list({(each.device, each.lines): each for fix in own for each in fix.commands}.values())


def _type_all(printed: list[Commands], files: Mapping[str, str]) -> dict[str, str]:
    new = dict(files)
    for commands in printed:
        if commands.language == "hosts":
            of_hosts = {name: text for name, text in new.items() if name.startswith("hosts/")}
            new |= type_commands(commands.language, commands.lines, of_hosts)
            continue
        head = f"{commands.device}/"
        own = {name.removeprefix(head): text for name, text in new.items() if name.startswith(head)}
        own = {name: text for name, text in own.items() if "/" not in name}
        new |= {f"{head}{name}": text for name, text in type_commands(commands.language, commands.lines, own).items()}
    return new


def _failure(fault: Fault, files: Mapping[str, str], printed: list[Commands]) -> str:
    """Return what commands leave or bring about; nothing where they end the fault."""
    try:
        new = _type_all(printed, files)
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
