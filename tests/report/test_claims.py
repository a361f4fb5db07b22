"""Claims about deadlock say up to how many failures they were searched, and when the search was cut."""

import pytest

from nodrop.proofs.claims import DeadlockAndPauseClaims
from nodrop.proofs.proving import DeadlockVerdict
from nodrop.report.claims import SEARCH_CUT_TEXT, describe_claim_changes, describe_deadlock


def claims(
    deadlock: DeadlockVerdict, *, every: bool = False, most: int = 0, cut: bool = False
) -> DeadlockAndPauseClaims:
    return DeadlockAndPauseClaims(
        deadlock=deadlock,
        any_failures=every,
        searched_failures=most,
        search_cut=cut,
        frozen_host_ports=0,
        frozen_gpus=0,
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (claims("free", every=True), "not possible, whatever fails"),
        (claims("free", most=2), "not possible with up to 2 failures"),
        (claims("free", cut=True), f"not possible as cabled; {SEARCH_CUT_TEXT}"),
        (claims("unknown", cut=True), f"not proved, facts are missing; {SEARCH_CUT_TEXT}"),
        (claims("unknown", most=2), "not proved, facts are missing"),
        (claims("free"), "not possible as cabled"),
        (claims("possible"), "possible"),
        (claims("possible-after-failures"), "possible after failures"),
    ],
)
def test_the_words_for_deadlock(found: DeadlockAndPauseClaims, text: str) -> None:
    assert describe_deadlock(found) == text


def test_a_search_that_is_cut_is_a_change() -> None:
    (line,) = describe_claim_changes(claims("free", most=2), claims("free", cut=True))
    assert line == f"deadlock: not possible as cabled; {SEARCH_CUT_TEXT} (before: not possible with up to 2 failures)"
