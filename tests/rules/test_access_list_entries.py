"""Faults of access lists on four systems: lint reports each at its entry, and nothing of the clean fabrics."""

from collections import Counter

import pytest

from support.access_sites import files, site
from support.listed_faults import cases, quick_first
from support.running_faults import lint
from support.single_faults import Fault

CASES = cases("data/acceptance/access_lists_twin.yaml")


@pytest.mark.parametrize("case", quick_first(CASES))
def test_the_rule_reports_the_entry(case: Fault) -> None:
    _, lines, _ = lint(files(case))
    found = [line for line in lines if f" {case.row['entry']} {case.row['rule']}: " in line]
    assert found, sorted(lines)


@pytest.mark.parametrize("platform", ["cumulus", "onyx"])
def test_a_clean_fabric_has_no_finding_about_lists_and_no_error(platform: str) -> None:
    _, lines, unknown = lint(site(platform), but=frozenset(["warning", "note"]))
    assert not lines
    assert [line for line in unknown if "access-list" in line] == []


def test_each_system_has_ten_faults() -> None:
    assert Counter(case.platform for case in CASES) == dict.fromkeys(("sonic", "nvue", "cumulus", "onyx"), 10)
    assert {case.row["of"] for case in CASES} == {"data", "CNPs", "BGP"}
    assert [case.name for case in CASES if not case.row.get("shown")] == []
