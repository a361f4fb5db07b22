"""A sample of the acceptance list of access lists in the twin: it shows what is recorded, and what is computed."""

import pytest

from support.listed_faults import cases
from support.single_faults import Fault
from support.twin_lists import different, seen, words
from support.twin_runs import needed

CASES = [case for case in cases("data/acceptance/access_lists.yaml") if "twin" in case.row]
SAMPLE = list({(case.platform, case.row["of"], case.row["twin"][:12]): case for case in CASES}.values())
"""One case of each platform, kind and beginning of what is shown."""


@pytest.mark.nightly
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in SAMPLE])
def test_the_twin_shows_what_is_recorded_and_computed(case: Fault) -> None:
    needed()
    own, twin = seen(case)
    assert different(own, twin) == {}
    assert words(twin) == case.row["twin"]


def test_faults_of_bgp_and_data_are_recorded_and_harmless_lists_show_nothing() -> None:
    recorded = {case.name for case in CASES}
    built = [case for case in cases("data/acceptance/access_lists.yaml") if case.platform in ("sonic", "nvue")]
    assert {case.name for case in built} == recorded
    assert len(SAMPLE) >= 12
    for case in CASES:
        shows = "session ends down" in case.row["twin"] or "packets " in case.row["twin"]
        if case.row["of"] == "harmless":
            assert not shows, case.name
        elif case.row["of"] in ("BGP", "data"):
            assert shows or case.row["twin"].startswith("not applied: "), case.name
