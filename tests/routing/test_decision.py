"""Which route a router uses, and which it uses together with it."""

from collections.abc import Mapping
from itertools import count

import pytest

from nodrop.routing.adverts import EGP, INCOMPLETE, Advert, Attributes, Part
from nodrop.routing.decision import Limits, Table, decide

A = Attributes(path=(1,))
PLAIN = Limits(relaxed=True, most=None)
STRICT = Limits(relaxed=False, most=None)


def heard(*links: Mapping[int, Attributes] | None) -> list[tuple[Advert, ...]]:
    """What comes over each link: the attributes of sets of destinations; None over one that is down."""
    numbers = count()
    known: dict[tuple[Part, ...], Advert] = {}
    found = []
    for link in links:
        parts = tuple(Part(attributes, bits) for bits, attributes in (link or {}).items())
        if parts not in known:
            known[parts] = Advert(next(numbers), parts)
        found.append(() if link is None else (known[parts],))
    return found


def rows(table: Table) -> set[tuple[int, tuple[int, ...], Attributes]]:
    return {(entry.bits, entry.hops, entry.attributes) for entry in table.entries}


def hops(limits: Limits, *offers: Attributes) -> tuple[int, ...]:
    """Over which links a destination is reached that is offered over each with these attributes."""
    (entry,) = decide(heard(*({1: one} for one in offers)), limits).entries
    return entry.hops


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(Attributes((1, 2, 3), weight=1, preference=1), Attributes((1,), preference=900), id="weight"),
        pytest.param(Attributes((1, 2, 3), preference=200), Attributes((1,)), id="preference"),
        pytest.param(Attributes((1,), origin=INCOMPLETE), Attributes((1, 2)), id="length of the path"),
        pytest.param(Attributes((1,), med=900), Attributes((1,), origin=EGP), id="IGP before EGP"),
        pytest.param(Attributes((1,), origin=EGP), Attributes((1,), origin=INCOMPLETE), id="EGP before incomplete"),
        pytest.param(Attributes((1, 2), med=5), Attributes((1, 3), med=6), id="MED of one neighboring AS"),
        pytest.param(Attributes((1, 2)), Attributes((1, 3), med=6), id="no MED counts as 0"),
    ],
)
def test_the_order_of_what_makes_a_route_better(better: Attributes, worse: Attributes) -> None:
    assert hops(PLAIN, worse, better) == (1,)
    assert hops(PLAIN, better, worse) == (0,)


def test_meds_of_two_neighboring_ases_are_compared_only_where_it_is_said() -> None:
    one, other = Attributes((1,), med=5), Attributes((2,), med=6)
    assert hops(PLAIN, one, other) == (0, 1)
    assert hops(PLAIN._replace(always_med=True), one, other) == (0,)


def test_the_least_med_of_each_neighboring_as_is_kept() -> None:
    found = hops(PLAIN, Attributes((1,), med=7), Attributes((2,), med=9), Attributes((1,), med=8), Attributes((2,)))
    assert found == (0, 3)


def test_paths_that_differ_are_used_together_only_where_that_is_said() -> None:
    """FRR uses those of one neighboring AS together, however their paths go on (bgpd/bgp_route.c)."""
    offers = [Attributes((1, 9)), Attributes((2, 9)), Attributes((1, 8)), Attributes((7, 9))]
    assert hops(PLAIN, *offers) == (0, 1, 2, 3)
    assert hops(STRICT._replace(neighbors=(1, 2, 1, 1)), *offers) == (0, 2, 3)


def test_what_is_told_on_is_of_the_neighbor_that_wins_the_tie() -> None:
    table = decide(heard({1: Attributes((2, 9))}, {1: Attributes((1, 9))}), PLAIN)
    assert rows(table) == {(1, (0, 1), Attributes((2, 9)))}


def test_no_more_paths_than_the_limit() -> None:
    offers = [A, A, A]
    assert hops(PLAIN._replace(most=1), *offers) == (0,)
    assert hops(PLAIN._replace(most=2), *offers) == (0, 1)
    assert hops(PLAIN._replace(most=8), *offers) == (0, 1, 2)


def test_destinations_are_decided_one_by_one() -> None:
    """Each is reached over those that offer it best, however the offers overlap."""
    longer = Attributes((1, 2))
    table = decide(heard({0b0111: A}, {0b0110: A, 0b1000: longer}, {0b1111: longer}, None), PLAIN)
    assert rows(table) == {(0b0001, (0,), A), (0b0110, (0, 1), A), (0b1000, (1, 2), longer)}
    assert table.bits == 0b1111
    assert table.entry(1).hops == (0, 1)  # type: ignore[union-attr]
    assert table.entry(4) is None


def test_a_med_is_not_told_on_and_some_communities_keep_a_route_at_home() -> None:
    table = decide(
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
    assert set(table.passed) == {Part(A, 0b0001), Part(A._replace(communities=frozenset({"65000:1"})), 0b1000)}
    assert table.bits == 0b1111
