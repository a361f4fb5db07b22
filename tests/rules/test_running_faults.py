"""The acceptance list of what runs and of routing: `lint` finds each fault, and nothing in harmless changes."""

from collections import Counter

import pytest

from support.running_faults import cases, found, new
from support.single_faults import Fault

FAULTS = tuple(case for case in cases() if case.row["at"])
HARMLESS = tuple(case for case in cases() if not case.row["at"])


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.name)
def test_lint_names_the_device_of_the_fault(case: Fault) -> None:
    assert found(case) is ("not_found_yet" not in case.row), sorted(new(case))


@pytest.mark.parametrize("case", HARMLESS, ids=lambda case: case.name)
def test_lint_finds_nothing_in_a_harmless_change(case: Fault) -> None:
    assert new(case) == frozenset()


def test_every_case_says_what_decides_it() -> None:
    families = Counter(case.row["of"] for case in FAULTS)
    assert min(families.values()) >= 8, families
    assert families.total() >= 60
    assert len(HARMLESS) >= 20
    assert all(case.row["of"] == "harmless" for case in HARMLESS)
    assert [case.name for case in cases() if not case.row.get("shown")] == []
    assert len({case.name for case in cases()}) == len(cases())
