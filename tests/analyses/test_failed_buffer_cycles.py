"""Circles of buffers that form after failures alone: the finding, its change, and a search that ends at its limit."""

import pytest

from clos import two_tier
from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses.failed_buffer_cycles import find
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.proofs.claims import prove_claims
from nodrop.report.claims import describe_claim_changes, describe_deadlock
from support.lossless_fabrics import lossless

TRANSIT = lossless(two_tier(4, 2, shared=False, filtered=False))
"""Leaves that tell a spine what they heard from the other one, which has another AS number."""


def hits(fabric: Fabric) -> list[AnalysisHit | UndecidedSubject]:
    return list(find(Index(fabric)))


def test_the_circle_the_failures_and_the_change_are_named() -> None:
    (hit,) = hits(TRANSIT)
    assert isinstance(hit, AnalysisHit)
    assert hit.facts == {
        "failed": "l1:e0 to s1:e0 and l2:e1 to s2:e1",
        "switches": "l3, s2, l4, s1",
        "buffers": 4,
        "change": "give s1, s2 one AS number",
    }
    assert hit.related[0][1] == "fails too"


@pytest.mark.parametrize(
    "fabric",
    [lossless(two_tier(4, 2)), lossless(two_tier(4, 2, shared=False, filtered=True)), lossless(TRANSIT, None)],
    ids=["one AS number", "leaves announce their own", "lossy"],
)
def test_no_circle_forms(fabric: Fabric) -> None:
    assert hits(fabric) == []


def test_a_search_that_ends_at_its_limit_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.analyses.failed_buffer_cycles._MOST_STATES", 1)
    (found,) = hits(lossless(two_tier(4, 3, shared=False, filtered=False)))
    assert isinstance(found, UndecidedSubject)
    assert found.missing == "routes after two failures, more than 1 states"


def test_claims_of_two_states_are_compared_after_failures() -> None:
    safe, transit = prove_claims(Index(lossless(two_tier(4, 2)))), prove_claims(Index(TRANSIT))
    assert (describe_deadlock(safe), describe_deadlock(transit)) == (
        "not possible, whatever fails",
        "possible after failures",
    )
    assert next(describe_claim_changes(safe, transit)) == (
        "deadlock: possible after failures (before: not possible, whatever fails)"
    )


def test_claims_say_that_the_search_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodrop.proofs.claims._MOST_STATES", 1)
    found = prove_claims(Index(lossless(two_tier(4, 3, shared=False, filtered=False))))
    assert (found.search_cut, found.searched_failures) == (True, 0)
    assert describe_deadlock(found) == (
        "not possible as cabled; the search ended at its limit; more failures were not checked"
    )
