"""Random values of the fields that a table of rows binds: a number or flag is drawn because it has a row."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from nodrop.model.types import attributes_of
from nodrop.platforms.kit.bindings import AnyFieldBinding, NumberRangeCheck
from support.random_routing import maybe


def scalars(rows: Iterable[AnyFieldBinding], kind: type[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Strategies for the flags and numbers that rows of a class write, by field: all values that they do not refuse."""
    found: dict[str, st.SearchStrategy[Any]] = {}
    for row in (one for one in rows if one.encode is not None):
        type_ = attributes_of(kind)[row.field]
        ranges = [one for one in row.refuses if isinstance(one, NumberRangeCheck)]
        if type_.scalars == {bool}:
            found[row.field] = st.booleans()
        elif type_.scalars == {int} and ranges:
            (limits,) = ranges
            numbers = st.integers(limits.low, limits.high)
            if limits.others:
                numbers |= st.sampled_from(sorted(limits.others))
            found[row.field] = maybe(numbers) if type_.none else numbers
    return found
