"""Single faults in clean builds: each is found by the rule that must find it, from as little as it takes to see it.

The faults are listed in tests/data/faults; those that a fresh reader chose, in fresh.yaml, are counted apart by
`make faults`.
"""

import pytest

from nodrop.engine.rules import shipped_rules
from support.single_faults import RELEASES, WORDS, Fault, faults, outcome


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_the_fault_is_found_by_its_rule(fault: Fault) -> None:
    assert outcome(fault).missed == ()


def test_every_fault_changes_its_build_and_names_a_rule() -> None:
    known = {rule.name for rule in shipped_rules()}
    for fault in faults():
        assert fault.row["rule"] in known, fault.name
        assert fault.row["from"] in WORDS, fault.name


def test_there_are_faults_of_every_kind_on_both_platforms() -> None:
    kinds = {(fault.row["of"].split()[0], fault.row["fault"]) for fault in faults()}
    counted = {kind: sum(of == kind for of, _ in kinds) for kind, _ in kinds}
    assert counted["gap"] == 30
    assert counted["fresh"] == 15
    assert {row.split()[1] for row in {fault.row["of"] for fault in faults()} if row.startswith("incident")} == {
        str(number) for number in range(1, 13)
    }
    assert {fault.platform for fault in faults()} == set(RELEASES)
    assert len(kinds) >= 80
