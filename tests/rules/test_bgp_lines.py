"""The acceptance list of BGP lines: `lint --fail-on unknown` fails at each fault, and is silent at harmless changes."""

from collections import Counter

import pytest

from support.listed_faults import cases, changed, is_found, quick_first
from support.single_faults import Fault

CASES = cases("data/acceptance/bgp_lines.yaml")
FAULTS = tuple(case for case in CASES if case.row["at"])
HARMLESS = tuple(case for case in CASES if not case.row["at"])


@pytest.mark.parametrize("case", quick_first(FAULTS))
def test_lint_fails_and_names_the_device_of_the_fault(case: Fault) -> None:
    assert is_found(case) is ("not_found_yet" not in case.row), sorted(changed(case).lines)


@pytest.mark.parametrize("case", quick_first(HARMLESS))
def test_lint_reports_nothing_new_of_a_harmless_change(case: Fault) -> None:
    assert (not changed(case).lines) is ("reported_yet" not in case.row), sorted(changed(case).lines)


def test_every_case_says_what_decides_it() -> None:
    families = Counter(case.row["of"] for case in FAULTS)
    assert min(families.values()) >= 8, families
    assert len(families) >= 12
    assert families.total() >= 90
    assert len(HARMLESS) >= 20
    assert all(case.row["of"] == "harmless" for case in HARMLESS)
    assert [case.name for case in CASES if not case.row.get("shown")] == []
    assert [case.name for case in FAULTS if "reported_yet" in case.row] == []
    assert [case.name for case in HARMLESS if "not_found_yet" in case.row] == []
    assert len({case.name for case in CASES}) == len(CASES)
