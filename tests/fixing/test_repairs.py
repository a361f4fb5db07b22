"""Fixes of findings: what they change ends the fault and nothing else, or it is said why no file is changed.

Each fault of tests/data/faults is put into a clean build, its findings' changes are made in the device's files, and the
files are read and linted again. What is not repaired is listed in not_repaired.txt beside this module; rules for errors
that have no fix are in tests/rules/no_fix.yaml, with the reasons.
"""

from pathlib import Path

import pytest

from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.fixing import fix
from nodrop.inputs import find_inputs
from nodrop.judging import CheckSettings
from support.places import TESTS
from support.repaired_faults import Repair, repair
from support.single_faults import Fault, faults, inject, outcome, read_faults

TABLE = TESTS / "fixing" / "not_repaired.txt"
REPAIRS: dict[str, Repair] = {}
"""What became of each fault, for the tests that look at all of them."""


def repaired(fault: Fault) -> Repair:
    if fault.name not in REPAIRS:
        REPAIRS[fault.name] = repair(outcome(fault))
    return REPAIRS[fault.name]


def why_not(rule: str) -> str:
    """Why a rule has no fix, as the table of those says; nothing where it has one."""
    return {name: row["because"] for row in read_faults("rules/no_fix.yaml") for name in row["rules"]}.get(rule, "")


@pytest.mark.slow
@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_a_fix_ends_the_fault_and_changes_nothing_else(fault: Fault) -> None:
    made = repaired(fault)
    assert made.left == () or not made.changes or made.by_hand
    assert made.new == ()
    assert made.astray == ()
    if not made.done:
        assert f"{fault.name}: " in TABLE.read_text()


@pytest.mark.slow
def test_what_is_not_repaired_is_listed_with_its_reason(update_golden: bool) -> None:
    lines = []
    for fault in faults():
        made = repaired(fault)
        if not made.done:
            lines.append(f"{fault.name}: {fault.row['rule']}: {fault.row.get('unrepaired', made.word)}\n")
    if update_golden:
        TABLE.write_text("".join(lines))
    assert TABLE.read_text() == "".join(lines)


@pytest.mark.slow
def test_exactly_the_faults_are_left_whose_value_nothing_determines() -> None:
    left = {fault.name for fault in faults() if not repaired(fault).done}
    assert left == {fault.name for fault in faults() if "unrepaired" in fault.row}


def test_every_rule_for_errors_has_a_fix_or_a_reason() -> None:
    without = {
        rule.name for rule in shipped_rules() if rule.severity == "error" and not rule.changes_switch_configurations
    }
    known = {rule.name for rule in shipped_rules() if not rule.changes_switch_configurations}
    listed = [name for row in read_faults("rules/no_fix.yaml") for name in row["rules"]]
    assert without - set(listed) == set()
    assert set(listed) - known == set()
    assert len(listed) == len(set(listed))
    assert all(row["because"] for row in read_faults("rules/no_fix.yaml"))


@pytest.mark.slow
def test_every_fault_without_a_change_has_a_reason() -> None:
    fixed = {rule.name for rule in shipped_rules() if rule.changes_switch_configurations}
    silent = {fault.row["rule"] for fault in faults() if not repaired(fault).changes}
    assert {rule for rule in silent - fixed if not why_not(rule)} == set()


@pytest.mark.slow
def test_changes_come_from_rules_that_say_so() -> None:
    by_name = {rule.name: rule for rule in shipped_rules()}
    for fault in faults():
        for one in outcome(fault).verdict.findings:
            assert one.fix is not None
            assert not one.fix.changes or by_name[one.rule].changes_switch_configurations, one.rule
            assert not one.fix.safe or by_name[one.rule].fix_safe, one.rule


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
@pytest.mark.nightly
def test_nodrop_fix_makes_what_a_fix_says(fault: Fault, tmp_path: Path) -> None:
    """What a fix is said to do, `nodrop fix --unsafe` does, in files as users have them and past all other rules."""
    known = {rule.name for rule in select_lint_rules(shipped_rules())}
    if f"{fault.name}: " in TABLE.read_text() or fault.row["rule"] not in known:
        return
    for name, text in inject(fault).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    settings = CheckSettings(
        select=(fault.row["rule"],), strictness=fault.row.get("strictness", "regular"), whole=False
    )
    for one in find_inputs([str(tmp_path)]).fabrics():
        made = fix(one, settings, unsafe=True)
        assert {finding.rule for finding in made.made} == {fault.row["rule"]}
        assert [(each.reason, each.text) for each in made.remaining] == []
        assert made.rewritten
