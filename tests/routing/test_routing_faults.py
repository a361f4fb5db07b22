"""Faults of routing put into sound configurations: each is caught by the rule that is named, where it stands."""

import pytest

from support.routing_faults import BASES, FAULTS, Fault, found


@pytest.mark.parametrize("name", BASES)
def test_a_sound_fabric_has_no_findings(name: str) -> None:
    assert list(found(Fault(says="", edits=(), caught=(), base=name))) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.says)
def test_a_fault_is_caught_where_it_stands(fault: Fault) -> None:
    seen = list(found(fault))
    named = {rule for rule, _, _ in fault.caught}
    assert {one for one in seen if one[0] in named} == set(fault.caught)
    assert {rule for rule, _, _ in seen} - named == set(fault.besides)
