"""Which route a router uses, and which it uses together with it."""

from collections.abc import Mapping
from itertools import count

import pytest

from nodrop.routing.adverts import EGP, INCOMPLETE, AdvertPart, PathAttributes, RouteAdvert
from nodrop.routing.decision import LearnedTable, MultipathLimits, decide_best_paths

A = PathAttributes(path=(1,))
PLAIN = MultipathLimits(relaxed=True, most=None)
STRICT = MultipathLimits(relaxed=False, most=None)


def heard(*links: Mapping[int, PathAttributes] | None) -> list[tuple[RouteAdvert, ...]]:
    """What comes over each link: the attributes of sets of destinations; None over one that is down."""
    numbers = count()
    known: dict[tuple[AdvertPart, ...], RouteAdvert] = {}
    found = []
    for link in links:
        parts = tuple(AdvertPart(attributes, bits) for bits, attributes in (link or {}).items())
        if parts not in known:
            known[parts] = RouteAdvert(next(numbers), parts)
        found.append(() if link is None else (known[parts],))
    return found


def rows(table: LearnedTable) -> set[tuple[int, tuple[int, ...], PathAttributes]]:
    return {(entry.bits, entry.hops, entry.attributes) for entry in table.entries}


def hops(limits: MultipathLimits, *offers: PathAttributes) -> tuple[int, ...]:
    """Over which links a destination is reached that is offered over each with these attributes."""
    (entry,) = decide_best_paths(heard(*({1: one} for one in offers)), limits).entries
    return entry.hops


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(
            PathAttributes((1, 2, 3), weight=1, preference=1), PathAttributes((1,), preference=900), id="weight"
        ),
        pytest.param(PathAttributes((1, 2, 3), preference=200), PathAttributes((1,)), id="preference"),
        pytest.param(PathAttributes((1,), origin=INCOMPLETE), PathAttributes((1, 2)), id="length of the path"),
        pytest.param(PathAttributes((1,), med=900), PathAttributes((1,), origin=EGP), id="IGP before EGP"),
        pytest.param(
            PathAttributes((1,), origin=EGP), PathAttributes((1,), origin=INCOMPLETE), id="EGP before incomplete"
        ),
        pytest.param(PathAttributes((1, 2), med=5), PathAttributes((1, 3), med=6), id="MED of one neighboring AS"),
        pytest.param(PathAttributes((1, 2)), PathAttributes((1, 3), med=6), id="no MED counts as 0"),
    ],
)
def test_the_order_of_what_makes_a_route_better(better: PathAttributes, worse: PathAttributes) -> None:
    assert hops(PLAIN, worse, better) == (1,)
    assert hops(PLAIN, better, worse) == (0,)


def test_meds_of_two_neighboring_ases_are_compared_only_where_it_is_said() -> None:
    one, other = PathAttributes((1,), med=5), PathAttributes((2,), med=6)
    assert hops(PLAIN, one, other) == (0, 1)
    assert hops(PLAIN._replace(always_med=True), one, other) == (0,)


def test_a_med_is_compared_with_that_of_the_best_path_alone() -> None:
    """The second path loses to the fourth, and is used together with the first nevertheless."""
    found = hops(
        PLAIN,
        PathAttributes((1,), med=7),
        PathAttributes((2,), med=9),
        PathAttributes((1,), med=8),
        PathAttributes((2,)),
    )
    assert found == (0, 1, 3)


def test_paths_that_differ_are_used_together_only_where_that_is_said() -> None:
    """FRR uses those of one neighboring AS together, however their paths go on (bgpd/bgp_route.c)."""
    offers = [PathAttributes((1, 9)), PathAttributes((2, 9)), PathAttributes((1, 8)), PathAttributes((7, 9))]
    assert hops(PLAIN, *offers) == (0, 1, 2, 3)
    assert hops(STRICT._replace(neighbors=(1, 2, 1, 1)), *offers) == (0, 2, 3)


def test_what_is_told_on_is_of_the_neighbor_that_wins_the_tie() -> None:
    table = decide_best_paths(heard({1: PathAttributes((2, 9))}, {1: PathAttributes((1, 9))}), PLAIN)
    assert rows(table) == {(1, (0, 1), PathAttributes((2, 9)))}


def test_no_more_paths_than_the_limit() -> None:
    offers = [A, A, A]
    assert hops(PLAIN._replace(most=1), *offers) == (0,)
    assert hops(PLAIN._replace(most=2), *offers) == (0, 1)
    assert hops(PLAIN._replace(most=8), *offers) == (0, 1, 2)


def test_destinations_are_decided_one_by_one() -> None:
    """Each is reached over those that offer it best, however the offers overlap."""
    longer = PathAttributes((1, 2))
    table = decide_best_paths(heard({0b0111: A}, {0b0110: A, 0b1000: longer}, {0b1111: longer}, None), PLAIN)
    assert rows(table) == {(0b0001, (0,), A), (0b0110, (0, 1), A), (0b1000, (1, 2), longer)}
    assert table.bits == 0b1111
    assert table.entry_of_class(1).hops == (0, 1)  # type: ignore[union-attr]
    assert table.entry_of_class(4) is None


def test_a_med_is_not_told_on_and_some_communities_keep_a_route_at_home() -> None:
    table = decide_best_paths(
        heard(
            {
                0b0001: A._replace(med=5),
                0b0010: A._replace(communities=frozenset({"no-export"})),
                0b0100: A._replace(communities=frozenset({"no-advertise", "65000:1"})),
                0b1000: A._replace(communities=frozenset({"65000:1"})),
            }
        ),
        PLAIN,
    )
    assert set(table.passed) == {
        AdvertPart(A, 0b0001),
        AdvertPart(A._replace(communities=frozenset({"65000:1"})), 0b1000),
    }
    assert table.bits == 0b1111
