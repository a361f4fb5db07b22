"""Samples of the acceptance lists of access lists in the twin: it shows what is recorded, and what is computed."""

import json
from dataclasses import replace

import pytest

from support.access_sites import files, reading
from support.listed_faults import cases
from support.single_faults import Fault
from support.twin_lists import different, naming, seen, seen_of, words
from support.twin_runs import needed

CASES = [case for case in cases("data/acceptance/access_lists.yaml") if "twin" in case.row]
SAMPLE = list({(case.platform, case.row["of"], case.row["twin"][:12]): case for case in CASES}.values())
"""One case of each platform, kind and beginning of what is shown."""


WHOLE = cases("data/acceptance/access_lists_twin.yaml")
"""Faults of four systems in whole fabrics."""
FIRST = list({case.platform: case for case in reversed(WHOLE)}.values())
"""Of each system the first one, in which a port drops RoCEv2."""
OTHERS = list({(case.platform, case.row["of"]): case for case in WHOLE if case not in FIRST}.values())
"""Of each system one more of each kind."""
HIDDEN = {"data: RoCEv2 from an uplink to a host is dropped (cumulus)"}
"""Faults by conditions that the twin lacks, which it names."""
_PERMITS = {
    "sonic": ('"DROP"', '"FORWARD"'),
    "nvue": ('{"deny": {}}', '{"permit": {}}'),
    "cumulus": ("-j DROP", "-j ACCEPT"),
    "onyx": ("deny udp", "permit udp"),
}


def permitting(case: Fault) -> Fault:
    """Return a case whose entry lets pass what it dropped."""
    old, new = _PERMITS[case.platform]
    said = json.dumps(case.row[case.platform])
    assert said.count(old) == 1
    return replace(case, row={**case.row, case.platform: json.loads(said.replace(old, new))})


@pytest.mark.nightly
@pytest.mark.parametrize("case", [pytest.param(case, id=case.platform) for case in FIRST])
def test_the_twin_finds_the_loss_at_the_entry_of_each_system(case: Fault) -> None:
    needed()
    with reading(files(case)) as dropping:
        own, twin = seen_of(dropping)
    assert different(own, twin) == {}
    assert naming(twin, case.row["entry"])
    assert "denied" in set(twin.seen["reach"].values())
    with reading(files(permitting(case))) as silent:
        own, twin = seen_of(silent)
    assert different(own, twin) == {}
    assert words(twin) == "nothing"
    assert set(twin.seen["reach"].values()) == {"delivered"}


@pytest.mark.nightly
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in OTHERS])
def test_the_twin_shows_a_fault_of_a_whole_fabric(case: Fault) -> None:
    needed()
    with reading(files(case)) as found:
        own, twin = seen_of(found)
    assert different(own, twin) == {}
    assert words(twin) == case.row["twin"]
    assert bool(naming(twin, case.row["entry"])) is ("packets denied: " in case.row["twin"])


def test_most_faults_of_whole_fabrics_are_recorded_as_shown() -> None:
    hidden = {case.name for case in WHOLE if not case.row["twin"].startswith(("packets denied: ", "8 session ends "))}
    assert hidden == HIDDEN
    assert {case.platform for case in OTHERS} == {case.platform for case in FIRST} == set(_PERMITS)


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
