"""Objects that are shared are recognized without a comparison."""

from nodrop.model.object_cache import ObjectCache, distinct_objects


def test_a_result_is_computed_once_for_each_object() -> None:
    asked: list[list[int]] = []

    def total(numbers: list[int]) -> int:
        asked.append(numbers)
        return sum(numbers)

    totals, first, equal = ObjectCache(total), [1, 2], [1, 2]
    assert [totals(first), totals(first), totals(equal)] == [3, 3, 3]
    assert [numbers is first for numbers in asked] == [True, False]


def test_an_object_is_held_so_that_no_later_one_gets_its_result() -> None:
    lengths = ObjectCache[list[int], int](len)
    assert [lengths([0] * size) for size in range(100)] == [*range(100)]


def test_distinct_objects_keep_the_order_of_first_appearance() -> None:
    first, equal = [1], [1]
    assert list(map(id, distinct_objects([equal, first, equal]))) == [id(equal), id(first)]
