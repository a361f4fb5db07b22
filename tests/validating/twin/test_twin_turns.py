"""Every edge of eleven circles that proofs show: packets of the source and destination take that turn in FRR."""

from collections.abc import Iterator

import pytest

from clos import two_tier
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.proofs.deadlock import DeadlockCheckResult, DependencyGraphNames, check_deadlock
from nodrop.routing import compute_control_plane
from support.lossless_fabrics import links_between, lossless, ring
from support.twin_runs import needed
from support.twin_turns import TwinTurn, turns_taken

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _can() -> None:
    needed()


def turns_of(check: DeadlockCheckResult) -> Iterator[TwinTurn]:
    names = DependencyGraphNames(check.traffic)
    for circle in check.circles:
        for turn, following in zip(circle, (*circle[1:], circle[0]), strict=True):
            yield TwinTurn(
                names.device(turn.source),
                names.first_prefix_of_destination(turn.destination),
                turn.source_dscp,
                names.port_of_buffer(turn.buffer),
                names.port_of_buffer(following.buffer),
            )


LEAVES = lossless(two_tier(6, 2, shared=False, filtered=False))
"""Six leaves that are transit, since each spine has an AS number to itself."""


@pytest.mark.parametrize(
    ("fabric", "failed", "circles"),
    [
        (ring(5), "", 2),
        (ring(6), "", 2),
        (ring(7), "", 2),
        (ring(8), "", 2),
        (LEAVES, "l1-s1 l2-s2", 1),
        (LEAVES, "l1-s1 l2-s2 l3-s1 l4-s2", 2),
    ],
    ids=["ring of 5", "ring of 6", "ring of 7", "ring of 8", "two leaves", "four leaves"],
)
def test_packets_take_each_turn_of_a_circle(fabric: Fabric, failed: str, circles: int) -> None:
    ends = links_between(fabric, failed)
    check = check_deadlock(compute_control_plane(Index(fabric), ends))
    assert len(check.circles) == circles
    turns = list(turns_of(check))
    assert [turn for turn, taken in zip(turns, turns_taken(fabric, ends, turns), strict=True) if not taken] == []
