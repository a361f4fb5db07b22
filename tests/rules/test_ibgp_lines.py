"""The acceptance list of iBGP and leaking: `lint --fail-on unknown` fails at each fault, and is silent at the rest."""

import pytest

from support.listed_faults import cases, changed, is_found, quick_first
from support.single_faults import Fault

CASES = cases("data/acceptance/ibgp_lines.yaml")
FAULTS = tuple(case for case in CASES if case.row["at"])
HARMLESS = tuple(case for case in CASES if not case.row["at"])


@pytest.mark.parametrize("case", quick_first(FAULTS))
def test_lint_fails_and_names_the_device_of_the_fault(case: Fault) -> None:
    assert is_found(case) is ("not_found_yet" not in case.row), sorted(changed(case).lines)


@pytest.mark.parametrize("case", quick_first(HARMLESS))
def test_lint_reports_nothing_new_of_a_harmless_change(case: Fault) -> None:
    assert not changed(case).lines, sorted(changed(case).lines)


def test_an_as_without_a_route_reflector_is_named_as_the_cause() -> None:
    (case,) = [one for one in FAULTS if one.row["fault"] == "leaves and spines are in one AS without reflectors"]
    what = (
        "spine1 does not pass on 10.2.1.0/24 and 3 more to leaf1 and 1 more "
        "(internal BGP without a route reflector), leaving no route"
    )
    assert any(what in line for line in changed(case).lines), sorted(changed(case).lines)
